/* importer.h - code shared by the fuzz targets for foreign formats (one target per family of
 * formats). It checks what must hold whenever another library's file is read.
 *
 * A target defines FORMATS, the names in its family, and includes this file. The first byte of an
 * input selects the format, and the rest is the file. If the file is refused, the message must be a
 * single line. If it opens, the filter
 *     - must never need more memory than its limit, even if it grows by a layer,
 *     - must give the same answers when it is loaded, viewed, written in its own format and read
 *       back, or stored in a petal file and read back,
 *     - must accept keys, one by one or in a batch, and find them, even after it has been written
 *       and read back.
 * abort() is a finding. */
#include "../tests/keys.h"
#include "../tests/save_as.h"
#include "input.h"

#define LIMIT_BYTES ((uint64_t)4 << 20)
#define OVERHEAD_BYTES 16384u /* memory per layer, in addition to its bits */
#define KEY_COUNT 40u

/* ---- opening --------------------------------------------------------------------------------- */

typedef petal_status open_call(const void *bytes, size_t size_bytes,
                               const petal_open_options *options, petal_filter **filter,
                               petal_error *error);

/* Opens the bytes within the memory limit. Returns NULL if the library refuses them. */
static petal_filter *open_bounded(open_call *call, const char *format, const uint8_t *bytes,
                                  size_t size_bytes, struct budget *budget)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    petal_allocator allocator = allocator_of(budget);
    petal_error error = {0};
    petal_filter *filter = NULL;
    options.format = format;
    options.allocator = &allocator;
    options.memory_limit = LIMIT_BYTES;
    petal_status status = call(bytes, size_bytes, &options, &filter, &error);
    must((status == PETAL_OK) == (filter != NULL));
    must(budget->peak <= LIMIT_BYTES);
    if (filter) return filter;
    must_be_told(&error, status);
    must(status != PETAL_ERR_MEMORY && budget->used == 0);
    return NULL;
}

/* Opens bytes that the library itself has written, without a memory limit. */
static petal_filter *open_written(const char *format, const uint8_t *bytes, size_t size_bytes)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    petal_filter *filter = NULL;
    options.format = format;
    options.flags = PETAL_OPEN_LOAD | (strcmp(format, "petal") == 0 ? PETAL_OPEN_VERIFY : 0);
    options.memory_limit = UINT64_MAX;
    must(petal_load(bytes, size_bytes, &options, &filter, NULL) == PETAL_OK);
    return filter;
}

/* ---- answers --------------------------------------------------------------------------------- */

/* Requires equal parameters and bits, which imply equal answers. For a few keys, also compares the
 * answers themselves. */
static void require_equal(const petal_filter *a, const petal_filter *b, const petal_key *keys)
{
    uint8_t in_a[KEY_COUNT], in_b[KEY_COUNT];
    petal_info of_a = info_of(a), of_b = info_of(b);
    uint64_t of_a_id = content_of(a);
    uint64_t of_b_id = content_of(b);
    must(of_a_id == of_b_id && of_a.layers == of_b.layers);
    size_t found = contains_keys(a, keys, KEY_COUNT, in_a);
    must(found == contains_keys(b, keys, KEY_COUNT, in_b) && memcmp(in_a, in_b, sizeof in_a) == 0);
    for (size_t i = 0; i < KEY_COUNT; i++)
        must(petal_contains(a, keys[i].data, keys[i].size_bytes) == in_a[i]);
}

static void require_same_again(const petal_filter *filter, const char *format,
                               const petal_key *keys)
{
    uint64_t size = petal_serialized_bytes(filter, SAVE_AS(format));
    uint8_t *bytes = malloc((size_t)size + 1);
    must(size > 0 && bytes &&
         petal_serialize(filter, SAVE_AS(format), bytes, (size_t)size, NULL) == PETAL_OK);
    petal_filter *again = open_written(format, bytes, (size_t)size);
    require_equal(filter, again, keys);
    petal_free(again);
    free(bytes);
}

/* ---- adding ---------------------------------------------------------------------------------- */

static int refuses_growth(petal_status status)
{
    return status == PETAL_ERR_FULL || status == PETAL_ERR_LIMIT;
}

/* Adds a key. The filter may grow by at most one layer, within the limit. */
static petal_status add_bounded(petal_filter *filter, const petal_key *key, struct budget *budget)
{
    uint64_t before = budget->peak = budget->used;
    petal_status status = petal_add(filter, key->data, key->size_bytes);
    must(budget->peak - before <= LIMIT_BYTES + OVERHEAD_BYTES);
    must(status == PETAL_OK || status == PETAL_SEEN || refuses_growth(status) ||
         status == PETAL_ERR_UNSUPPORTED);
    must(status < 0 || petal_contains(filter, key->data, key->size_bytes));
    return status;
}

/* Adds keys one by one to one filter, and in a batch to the other. The filters must then be equal.
 * The last key is empty, which some of the other libraries don't accept. */
static void add_keys(petal_filter *filter, petal_filter *copy, const petal_key *keys,
                     struct budget *budget)
{
    petal_status single = PETAL_OK, batch = add_key_batch(copy, keys, KEY_COUNT - 1, NULL, NULL);
    for (size_t i = 0; i < KEY_COUNT - 1 && single >= 0; i++) {
        single = add_bounded(filter, &keys[i], budget);
        must(single != PETAL_ERR_UNSUPPORTED);
    }
    must(single < 0 ? batch == single : batch >= 0);
    single = add_bounded(filter, &keys[KEY_COUNT - 1], budget);
    must(petal_add(copy, NULL, 0) == single);
}

/* Chooses the first 1 to 30 bytes of the input as keys, and a few fixed keys. The last key is
 * empty. */
static void choose_keys(const uint8_t *data, size_t size, char text[KEY_COUNT][8], petal_key *keys)
{
    for (size_t i = 0; i < KEY_COUNT - 1; i++) {
        keys[i] = (petal_key){text[i], (size_t)snprintf(text[i], 8, "key-%u", (unsigned)i)};
        if (i < 30 && i < size) keys[i] = (petal_key){data, i + 1};
    }
    keys[KEY_COUNT - 1] = (petal_key){NULL, 0};
}

static void use(petal_filter *filter, const char *format, const petal_key *keys,
                struct budget *budget)
{
    petal_filter *copy = NULL;
    require_same_again(filter, format, keys);
    require_same_again(filter, "petal", keys);
    must(petal_clone(filter, &copy, NULL) == PETAL_OK);
    require_equal(filter, copy, keys);
    petal_status merged = petal_merge(copy, filter, NULL);
    must(merged == PETAL_OK || merged == PETAL_ERR_UNSUPPORTED);
    petal_free(copy);
    must(petal_clone(filter, &copy, NULL) == PETAL_OK);
    add_keys(filter, copy, keys, budget);
    require_equal(filter, copy, keys);
    require_same_again(filter, format, keys);
    require_same_again(filter, "petal", keys);
    petal_free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const formats[] = {FORMATS};
    struct budget of_loaded = {.limit = UINT64_MAX}, of_viewed = {.limit = UINT64_MAX};
    char text[KEY_COUNT][8];
    petal_key keys[KEY_COUNT];
    const char *names[8];
    if (size == 0) return 0;
    const char *format = formats[data[0] % (sizeof formats / sizeof *formats)];
    petal_recognize(data + 1, size - 1, names, 8);
    choose_keys(data, size, text, keys);
    petal_filter *loaded = open_bounded(petal_load, format, data + 1, size - 1, &of_loaded);
    petal_filter *viewed = open_bounded(petal_view, format, data + 1, size - 1, &of_viewed);
    must(!loaded || viewed); /* a view needs no more memory than a copy */
    if (loaded) require_equal(loaded, viewed, keys);
    if (loaded) use(loaded, format, keys, &of_loaded);
    petal_free(loaded);
    petal_free(viewed);
    must(of_loaded.used == 0 && of_viewed.used == 0);
    return 0;
}
