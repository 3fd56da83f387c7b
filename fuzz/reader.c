/* reader.c - fuzz target: a stream must give the same filter, or the same error, whether it arrives
 * in pieces or as a whole.
 *
 *     byte 0      the format
 *     byte 1      bit 0: pass a secret; 1: recover; 2: pass the size; 3: a limit of 16 KiB;
 *                 4: the rest describes changes to the image of a filter, longer than any header
 *     byte 2, 3   seed for the sizes of the pieces
 *     the rest    the stream
 *
 * Neither way of reading may allocate more than the memory limit. abort() is a finding. */
#include "input.h"

#include <petal/petal_host.h>

static const uint8_t secret[PETAL_SECRET_BYTES] = {0, 1, 2,  3,  4,  5,  6,  7,
                                                   8, 9, 10, 11, 12, 13, 14, 15};

#define LIMIT_BYTES ((uint64_t)4 << 20)
#define TIGHT_LIMIT_BYTES 16384u
#define READER_BYTES 65536u /* for the reader itself and the file's start */

static const char *format_of(uint8_t number)
{
    petal_format_info about = PETAL_FORMAT_INFO_INIT;
    uint32_t count = 0;
    while (petal_format_at(count, &about)) count++;
    must(count > 0);
    must(petal_format_at(number % count, &about));
    return about.name;
}

/* Returns the next piece's size, which is often one byte and sometimes large. */
static size_t next_piece(uint32_t *seed, size_t left)
{
    *seed = *seed * 1664525u + 1013904223u;
    size_t piece = *seed >> 30 == 0 ? 1 : (*seed >> 8 & 0xfff) + 1;
    return piece < left ? piece : left;
}

static petal_status read_stream(const uint8_t *bytes, size_t size_bytes, uint64_t expected_bytes,
                                const petal_open_options *options, uint32_t seed,
                                petal_filter **filter, petal_error *error)
{
    petal_reader *reader = NULL;
    petal_status status = petal_reader_create(options, expected_bytes, &reader, error);
    *filter = NULL;
    for (size_t at = 0, piece; status == PETAL_OK && at < size_bytes; at += piece) {
        piece = next_piece(&seed, size_bytes - at);
        /* The copy has exactly this size, so that a sanitizer finds reads past the end. */
        uint8_t *copy = malloc(piece);
        must(copy != NULL);
        memcpy(copy, bytes + at, piece);
        status = petal_reader_feed(reader, copy, piece, error);
        free(copy);
    }
    if (status == PETAL_OK) status = petal_reader_finish(reader, filter, error);
    petal_reader_free(reader);
    return status;
}

static void require_same_filter(const petal_filter *a, const petal_filter *b)
{
    size_t size = (size_t)petal_serialized_bytes(a, NULL);
    uint8_t *of_a = malloc(size), *of_b = malloc(size);
    must(size && size == petal_serialized_bytes(b, NULL) && of_a && of_b);
    must(petal_serialize(a, NULL, of_a, size, NULL) == PETAL_OK &&
         petal_serialize(b, NULL, of_b, size, NULL) == PETAL_OK);
    must(memcmp(of_a, of_b, size) == 0);
    free(of_a);
    free(of_b);
}

/* The memory limit may refuse a stream before the reader reaches the error that petal_load()
 * finds. */
static int is_early(petal_status status, uint8_t flags)
{
    return status == PETAL_ERR_LIMIT && (flags & 8);
}

/* If expected_bytes was given, the reader reports an error in the header before it checks the
 * layers' ends. So its error can differ from petal_load()'s. */
static int is_ruled_out(petal_status status, uint8_t flags)
{
    return (flags & 4) &&
           (status == PETAL_ERR_LIMIT || status == PETAL_ERR_DIRTY || status == PETAL_ERR_DAMAGED ||
            status == PETAL_ERR_SECRET_MISSING || status == PETAL_ERR_SECRET_WRONG);
}

static void compare(const uint8_t *bytes, size_t size_bytes, const char *format, uint8_t flags,
                    uint32_t seed)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    petal_filter *loaded = NULL, *read = NULL;
    petal_error of_load = {0}, of_read = {0};
    uint64_t limit = flags & 8 ? TIGHT_LIMIT_BYTES : LIMIT_BYTES;
    struct budget loading = {.limit = UINT64_MAX}, reading = {.limit = UINT64_MAX};
    petal_allocator to_load = allocator_of(&loading), to_read = allocator_of(&reading);
    options.format = format;
    options.flags = flags & 2 ? PETAL_OPEN_LOAD | PETAL_OPEN_RECOVER : PETAL_OPEN_LOAD;
    options.secret = flags & 1 ? secret : NULL;
    options.memory_limit = limit;
    options.allocator = &to_load;
    petal_status status = petal_load(bytes, size_bytes, &options, &loaded, &of_load);
    options.allocator = &to_read;
    petal_status got =
        read_stream(bytes, size_bytes, flags & 4 ? size_bytes : 0, &options, seed, &read, &of_read);
    must(loading.peak <= limit && reading.peak <= 3 * limit + READER_BYTES);
    must((got == PETAL_OK) == (read != NULL));
    if (got != PETAL_OK) must_be_told(&of_read, got);
    if (got != status)
        must(is_early(got, flags) || (status < 0 && is_ruled_out(got, flags)));
    else if (got == PETAL_OK)
        require_same_filter(loaded, read);
    else if (!is_early(got, flags))
        must(of_load.offset == of_read.offset && strcmp(of_load.message, of_read.message) == 0);
    petal_free(loaded);
    petal_free(read);
    must(reading.used == 0);
}

/* Changes the image of a filter at offsets that the input selects. */
static void change(uint8_t *image, size_t size_bytes, const uint8_t *data, size_t data_bytes)
{
    for (; data_bytes >= 4; data += 4, data_bytes -= 4) {
        size_t place = data[0] | (size_t)data[1] << 8;
        if (data[2] & 1) place = size_bytes - 1 - place % size_bytes; /* an offset from the end */
        image[place % size_bytes] ^= data[3];
    }
}

/* Runs compare() on the changed image of a filter, a petal file longer than any header that is read
 * before the bits. */
static void compare_long(const uint8_t *data, size_t size_bytes, uint8_t kind, uint8_t flags,
                         uint32_t seed)
{
    static const char *const formats[] = {"petal", "guava", "leveldb", "redisbloom"};
    petal_options options = PETAL_OPTIONS_INIT;
    petal_filter *filter = NULL;
    options.format = formats[kind % 4];
    options.capacity = 10007;
    options.rate = 0.01;
    options.growth = kind % 4 == 0 && kind & 4;
    options.secret = kind % 4 == 0 && flags & 1 ? secret : NULL;
    must(petal_create(&options, &filter, NULL) == PETAL_OK);
    for (int64_t i = 0; i < 12000; i++) (void)petal_add_i64(filter, i);
    size_t image_bytes = (size_t)petal_serialized_bytes(filter, NULL);
    uint8_t *image = malloc(image_bytes);
    must(image && petal_serialize(filter, NULL, image, image_bytes, NULL) == PETAL_OK);
    change(image, image_bytes, data, size_bytes);
    compare(image, image_bytes - (size_bytes & 3), "petal", flags, seed);
    free(image);
    petal_free(filter);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    if (size_bytes < 4) return 0;
    uint8_t flags = data[1];
    uint32_t seed = data[2] | (uint32_t)data[3] << 8;
    if (flags & 16)
        compare_long(data + 4, size_bytes - 4, data[0], flags, seed);
    else
        compare(data + 4, size_bytes - 4, format_of(data[0]), flags, seed);
    return 0;
}
