/* formats.c - every reader of another library's files, given hostile bytes: the first byte picks the format. What opens is asked,
 * described, added to, written back and carried in a petal file; what is refused has one clear line. */
#include <petal/petal.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
    if (!holds) abort();
}

static const char *format_of(uint8_t choice)
{
    size_t count = 1; /* there is petal at least */
    while (petal_format_name(count)) count++;
    return petal_format_name(choice % count);
}

/* Whatever opens can be saved, and is the same filter when it is read again. */
static void check_petal_form(const petal_filter *filter)
{
    petal_filter *back = NULL;
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    size_t size = petal_serialized_bytes(filter);
    uint8_t *bytes = malloc(size + 1);
    require(bytes && petal_serialize(filter, bytes, size, NULL) == PETAL_OK);
    options.flags = PETAL_OPEN_VERIFY;
    require(petal_view(bytes, size, &options, &back, NULL) == PETAL_OK);
    require(petal_contains(back, "key", 3) == petal_contains(filter, "key", 3));
    petal_free(back);
    free(bytes);
}

static void check_own_form(const petal_filter *filter, const char *format)
{
    size_t size = petal_serialized_bytes_as(filter, format);
    uint8_t *bytes = malloc(size + 1);
    if (bytes && size) petal_serialize_as(filter, format, bytes, size, NULL);
    free(bytes);
}

static void use(petal_filter *filter, const char *format)
{
    petal_info info = PETAL_INFO_INIT;
    petal_get_info(filter, &info, NULL);
    require(info.bits_set <= info.bits && info.estimated_rate <= 1);
    check_petal_form(filter);
    check_own_form(filter, format);
    if (petal_add(filter, "key", 3) >= 0) require(petal_contains(filter, "key", 3));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    petal_filter *filter = NULL;
    petal_error error = {0};
    const char *names[8];
    if (size == 0) return 0;
    options.format = format_of(data[0]);
    options.flags = PETAL_OPEN_LOAD;
    if (petal_load_from_memory(data + 1, size - 1, &options, &filter, &error) == PETAL_OK)
        use(filter, options.format);
    else
        require(error.message[0] != '\0' && !strchr(error.message, '\n'));
    petal_free(filter);
    petal_recognize(data + 1, size - 1, names, 8);
    return 0;
}
