/* index.c - fuzz target: opens arbitrary bytes as an index and uses the index; nothing may break.
 *
 * The first byte selects how to open the rest:
 *     bits 0-1   view, view and verify, view and verify on use, or the same with little memory
 *     bit 2      first correct the checksums of the header and the tables, as a forger would
 *     bit 3      pass a secret
 *     bit 4      also correct the checksums of the blocks, so that the forged file opens
 *     bit 5      the rest is not a file, but describes how to make one and which of its bytes to
 *                change, so that the fuzzer reaches all code even with an empty corpus
 *     bit 6      make a new index without the first filter
 *     bit 7      save the new index and reopen it
 * If an index opens, it is described, queried, and made into a new index of its filters, which must
 * give the same answers. If the target makes an index from filters, it must give their answers,
 * before and after it is saved. abort() is a finding. */
#include "../tests/keys.h"
#include "input.h"

#define XXH_INLINE_ALL
#include <petal/petal_index.h>
#include <unistd.h>
#include <xxhash.h>

static const uint8_t secret[PETAL_SECRET_BYTES] = {7, 6, 5, 4, 3, 2, 1, 0};

#define KEYS 24
#define MAX_MADE 80u
#define LITTLE_BYTES 3000u
#define HANDLE_BYTES 2048u
#define BLOCK_BYTES 65536u

static const int64_t numbers[KEYS] = {0,  1,  2,  3,  4,  5,   6,   7,   8,    9,  16, 17,
                                      19, 23, 64, 65, 81, 100, 127, 128, 1000, -1, -2, INT64_MAX};

static uint64_t load(const uint8_t *from, int bytes)
{
    uint64_t x = 0;
    for (int i = bytes; i-- > 0;) x = x << 8 | from[i];
    return x;
}

static void store(uint8_t *to, uint64_t x)
{
    for (int i = 0; i < 8; i++) to[i] = (uint8_t)(x >> 8 * i);
}

struct image {
    uint8_t *data;
    size_t size;
};

static petal_index_info info_of_index(const petal_index *index)
{
    petal_index_info info = PETAL_INDEX_INFO_INIT;
    must(petal_index_get_info(index, &info, NULL) == PETAL_OK);
    return info;
}

/* ---- checksums ------------------------------------------------------------------------------- */

/* The offsets of the checksums and the rows, computed from the header (docs/index-format.md).
 * `rows` is 0 if the rows would start outside the file. */
struct places {
    size_t sums, rows;
};

static struct places places_of(const struct image *image)
{
    const struct places outside = {0, 0};
    if (image->size < 128) return outside;
    uint64_t filters = load(image->data + 24, 8), groups = load(image->data + 32, 8);
    uint64_t names = load(image->data + 40, 8);
    if (filters > image->size || groups > image->size || names > image->size) return outside;
    uint64_t sums = 128 + groups * 64 + filters * 32 + (names + 7) / 8 * 8, rows = 0;
    for (int tries = 0; tries < 4; tries++) { /* `blocks` and `rows` depend on each other */
        uint64_t blocks =
            rows < image->size ? (image->size - rows + BLOCK_BYTES - 1) / BLOCK_BYTES : 0;
        rows = (sums + blocks * 8 + 4095) / 4096 * 4096;
    }
    if (rows >= image->size) return outside;
    return (struct places){(size_t)sums, (size_t)rows};
}

static void seal_blocks(const struct image *image)
{
    struct places at = places_of(image);
    for (uint64_t i = 0, from = at.rows; at.rows && from < image->size; i++, from += BLOCK_BYTES) {
        size_t bytes = image->size - from < BLOCK_BYTES ? image->size - from : BLOCK_BYTES;
        store(image->data + at.sums + i * 8, XXH3_64bits_withSeed(image->data + from, bytes, i));
    }
}

static void seal(const struct image *image)
{
    struct places at = places_of(image);
    if (image->size < 128) return;
    store(image->data + 16, image->size);
    if (at.rows)
        store(image->data + 112, XXH3_64bits_withSeed(image->data + 128, at.rows - 128, 1));
    store(image->data + 120, XXH3_64bits_withSeed(image->data, 120, 0));
}

/* ---- making one ------------------------------------------------------------------------------ */

static struct image read_file(const char *path)
{
    struct image image = {NULL, 0};
    FILE *file = fopen(path, "rb");
    must(file && fseek(file, 0, SEEK_END) == 0);
    image.size = (size_t)ftell(file);
    image.data = malloc(image.size + 1);
    must(image.data && fseek(file, 0, SEEK_SET) == 0 &&
         fread(image.data, 1, image.size, file) == image.size);
    fclose(file);
    return image;
}

static struct image saved(const petal_index *index)
{
    char path[512];
    petal_save_options options = PETAL_SAVE_OPTIONS_INIT;
    const char *folder = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/petal-fuzz-index.%d", folder ? folder : "/tmp", (int)getpid());
    options.flags = PETAL_SAVE_NO_LOCK;
    must(petal_index_save(index, path, &options, NULL) == PETAL_OK);
    struct image image = read_file(path);
    must(unlink(path) == 0 && image.size == info_of_index(index).bytes);
    return image;
}

static petal_filter *take_filter(struct input *in)
{
    static const uint32_t lines[] = {1, 2, 3, 7, 8, 20, 21, 60, 64};
    petal_options options = PETAL_OPTIONS_INIT;
    petal_filter *filter = NULL;
    uint32_t given = take_below(in, 256);
    options.scheme = given & 1 ? PETAL_SCHEME_CLASSIC : PETAL_SCHEME_BLOCKED;
    options.bits = 512 * (uint64_t)lines[take_below(in, 9)];
    if (options.scheme == PETAL_SCHEME_CLASSIC) options.bits -= take_below(in, 100);
    options.hashes = 1 + take_below(in, 12);
    if ((given & 6) == 6) options.seed = take_below(in, 3);
    if ((given & 24) == 24) options.secret = secret;
    if (given & 32) options.foldable = (given & 64) && options.bits % 512 == 0;
    if (petal_create(&options, &filter, NULL) < 0) return NULL;
    for (uint32_t count = take_below(in, 100), i = 0, from = take_below(in, 50); i < count; i++)
        must(petal_add_i64(filter, from + i) >= 0);
    return filter;
}

static petal_status add_some_keys(petal_index *index, const char *name, uint64_t number,
                                  struct input *in)
{
    static const double rates[] = {0.5, 0.1, 0.01, 1e-3, 1e-6};
    petal_options options = PETAL_OPTIONS_INIT;
    petal_static_builder *builder = NULL;
    int64_t keys[64];
    uint32_t count = take_below(in, 64);
    options.rate = rates[take_below(in, 5)];
    for (uint32_t i = 0; i < count; i++) keys[i] = (int64_t)take(in, 1);
    petal_batch batch = batch_of_numbers(keys, count);
    must(petal_static_create(&options, 1, &builder, NULL) == PETAL_OK &&
         petal_static_add(builder, 0, &batch, NULL) == PETAL_OK);
    petal_status status = petal_index_add_keys(index, name, builder, NULL);
    uint64_t row[MAX_MADE / 64 + 1];
    for (uint32_t i = 0; status == PETAL_OK && i < count; i++) {
        batch = batch_of_numbers(keys + i, 1);
        must(petal_index_query(index, &batch, row, MAX_MADE / 64 + 1, NULL) == PETAL_OK);
        must(row[number / 64] >> number % 64 & 1);
    }
    return status;
}

/* Adds a filter to the index. Both must give the same answers, but if the index folds the filter,
 * it may add false positives. */
static petal_status add_filter(petal_index *index, const char *name, uint64_t number, bool fold,
                               struct input *in)
{
    uint64_t rows[KEYS * (MAX_MADE / 64 + 1)];
    petal_filter *filter = take_filter(in);
    if (!filter) return PETAL_ERR_ARGUMENT;
    petal_status status = petal_index_add(index, name, filter, NULL);
    must(status == PETAL_OK || status == PETAL_ERR_EXISTS || status == PETAL_ERR_MISMATCH);
    petal_batch batch = batch_of_numbers(numbers, KEYS);
    if (status == PETAL_OK)
        must(petal_index_query(index, &batch, rows, MAX_MADE / 64 + 1, NULL) == PETAL_OK);
    for (size_t i = 0; status == PETAL_OK && i < KEYS; i++) {
        bool in_index = rows[i * (MAX_MADE / 64 + 1) + number / 64] >> number % 64 & 1;
        bool in_filter = petal_contains_i64(filter, numbers[i]);
        must(in_index == in_filter || (fold && in_index));
    }
    petal_free(filter);
    return status;
}

static petal_index *take_index(struct input *in)
{
    petal_index_options options = PETAL_INDEX_OPTIONS_INIT;
    petal_index *index = NULL;
    uint32_t given = take_below(in, 256), count = take_below(in, MAX_MADE + 1);
    if (given & 1) options.scheme = PETAL_SCHEME_CLASSIC;
    options.fold = (given & 6) == 6;
    must(petal_index_create(&options, &index, NULL) == PETAL_OK);
    uint64_t filters = 0;
    for (uint32_t i = 0; i < count && in->left > 0; i++) {
        char name[16];
        snprintf(name, sizeof name, "%u", take_below(in, 16) ? i : take_below(in, MAX_MADE));
        petal_status status = take_below(in, 3) ? add_filter(index, name, filters, options.fold, in)
                                                : add_some_keys(index, name, filters, in);
        filters += status == PETAL_OK;
    }
    must(info_of_index(index).filters == filters);
    return index;
}

/* Requires that both indexes have equal rows, except that `b` lacks the first `shift` filters of
 * `a`. */
static void must_answer_alike(const petal_index *a, const petal_index *b, uint64_t shift)
{
    petal_index_info of_a = info_of_index(a), of_b = info_of_index(b);
    uint64_t *rows = calloc(KEYS, (size_t)(of_a.row_words + of_b.row_words) * 8 + 8);
    uint64_t *others = rows + KEYS * of_a.row_words;
    petal_batch batch = batch_of_numbers(numbers, KEYS);
    must(rows && petal_index_query(a, &batch, rows, of_a.row_words, NULL) == PETAL_OK);
    must(petal_index_query(b, &batch, others, of_b.row_words, NULL) == PETAL_OK);
    must(of_a.filters == of_b.filters + shift);
    for (size_t i = 0; i < KEYS; i++)
        for (uint64_t f = shift, g = 0; f < of_a.filters; f++, g++)
            must((rows[i * of_a.row_words + f / 64] >> f % 64 & 1) ==
                 (others[i * of_b.row_words + g / 64] >> g % 64 & 1));
    free(rows);
}

/* Saves the index and opens the file, which must give the same answers. Returns the file's
 * bytes. */
static struct image save_and_open(const petal_index *made)
{
    struct image image = saved(made);
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    petal_index *opened = NULL;
    options.flags = PETAL_OPEN_VERIFY;
    options.secret = info_of_index(made).secret_id ? secret : NULL;
    must(petal_index_view(image.data, image.size, &options, &opened, NULL) == PETAL_OK);
    must_answer_alike(made, opened, 0);
    petal_index_free(opened);
    return image;
}

/* Builds the image that the input describes, and applies the input's changes to the image. */
static struct image made(struct input in)
{
    struct image image = {NULL, 0};
    petal_index *index = take_index(&in);
    if (info_of_index(index).filters > 0) image = save_and_open(index);
    petal_index_free(index);
    for (int changes = 0; image.size > 0 && in.left > 0 && changes < 32; changes++) {
        size_t at = (size_t)(take(&in, 3) % image.size);
        image.data[at] ^= (uint8_t)take(&in, 1);
    }
    return image;
}

/* ---- using it -------------------------------------------------------------------------------- */

static void describe(const petal_index *index)
{
    petal_index_info info = info_of_index(index);
    must(info.filters > 0 && info.opened && info.groups > 0 && info.groups <= info.filters);
    must(info.row_words == (info.filters + 63) / 64);
    for (uint64_t i = 0; i < info.filters; i++) {
        petal_info filter = PETAL_INFO_INIT;
        const char *name = petal_index_name(index, i);
        must(name && name[0] != '\0' && strlen(name) <= PETAL_INDEX_MAX_NAME_BYTES);
        must(petal_index_get_filter_info(index, i, &filter, NULL) == PETAL_OK);
        must(filter.hashes > 0 && filter.bits > 0 && filter.key_type == info.key_type);
    }
    must(!petal_index_name(index, info.filters) && !petal_index_name(index, UINT64_MAX));
}

/* A batch must return the same answers as single queries for its keys. The bits after the last
 * filter must be 0. */
static petal_status query(const petal_index *index, const uint8_t *data, size_t size_bytes)
{
    petal_index_info info = info_of_index(index);
    uint64_t words = info.row_words + 1, *rows = malloc((size_t)(KEYS + 2) * words * 8);
    petal_key key = {data, size_bytes};
    petal_batch one = batch_of_keys(&key, 1), many = batch_of_numbers(numbers, KEYS);
    petal_batch hashes = batch_of_hashes((const uint64_t *)numbers, KEYS);
    petal_error error;
    must(rows);
    petal_status status = petal_index_query(index, &many, rows, words, &error);
    if (status < 0) must_be_told(&error, status);
    for (size_t i = 0; status == PETAL_OK && i < KEYS; i++) {
        uint64_t *row = rows + i * words, *alone = rows + KEYS * words;
        petal_batch single = batch_of_numbers(numbers + i, 1);
        must(petal_index_query(index, &single, alone, words, NULL) == PETAL_OK);
        must(memcmp(row, alone, (size_t)words * 8) == 0 && row[words - 1] == 0);
        if (info.filters % 64) must(row[words - 2] >> info.filters % 64 == 0);
    }
    petal_status other = petal_index_query(index, &one, rows, words, &error);
    must(other == PETAL_OK || other == PETAL_ERR_DAMAGED);
    other = petal_index_query(index, &hashes, rows, words, &error);
    must(other == PETAL_OK || other == PETAL_ERR_DAMAGED || other == PETAL_ERR_MISMATCH);
    must(petal_index_query(index, &many, rows, words - 2, &error) == PETAL_ERR_ARGUMENT);
    free(rows);
    return status;
}

/* Makes a new index of the filters, possibly without the first. */
static void take_apart(const petal_index *index, uint8_t flags, bool is_sound)
{
    petal_index *copy = NULL;
    petal_error error;
    bool without_first = flags & 64;
    const char *first = petal_index_name(index, 0);
    must(petal_index_create(NULL, &copy, NULL) == PETAL_OK);
    petal_status status = petal_index_add_index(copy, index, &first, without_first, &error);
    must(status == PETAL_OK || status == PETAL_ERR_EXISTS || /* a forged file may repeat a name */
         (!is_sound && status == PETAL_ERR_DAMAGED));
    if (status == PETAL_OK && is_sound) must_answer_alike(index, copy, without_first);
    if (status == PETAL_OK && is_sound && (flags & 128) && info_of_index(copy).filters > 0)
        free(save_and_open(copy).data);
    petal_index_free(copy);
}

static void use(const petal_index *index, uint8_t flags, const uint8_t *data, size_t size_bytes,
                const struct budget *budget)
{
    petal_error error;
    uint64_t before = budget->used;
    describe(index);
    petal_status queried = query(index, data, size_bytes < 64 ? size_bytes : 64);
    must(budget->used == before);
    petal_status verified = petal_index_verify(index, &error);
    must(verified == PETAL_OK || verified == PETAL_ERR_DAMAGED);
    must(queried == PETAL_OK || (verified == PETAL_ERR_DAMAGED && queried == verified));
    if ((flags & 3) == 1) must(verified == PETAL_OK);
    take_apart(index, flags, verified == PETAL_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    if (size_bytes == 0) return 0;
    uint8_t flags = data[0];
    struct budget budget = {.limit = UINT64_MAX};
    petal_allocator allocator = allocator_of(&budget);
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    petal_index *index = NULL;
    petal_error error;
    struct image image = {NULL, size_bytes - 1};
    if (flags & 32) {
        image = made((struct input){data + 1, size_bytes - 1});
    } else {
        image.data = malloc(size_bytes);
        must(image.data);
        memcpy(image.data, data + 1, size_bytes - 1);
    }
    if (flags & 16) seal_blocks(&image);
    if (flags & 20) seal(&image);
    options.allocator = &allocator;
    if (flags & 3) options.flags = (flags & 3) == 1 ? PETAL_OPEN_VERIFY : PETAL_OPEN_VERIFY_ON_USE;
    if ((flags & 3) == 3) options.memory_limit = LITTLE_BYTES;
    if (flags & 8) options.secret = secret;
    petal_status status = petal_index_view(image.data, image.size, &options, &index, &error);
    must((status == PETAL_OK) == (index != NULL));
    must(budget.peak <= HANDLE_BYTES + ((flags & 3) == 3 ? LITTLE_BYTES : 64 * image.size));
    if (status == PETAL_OK) {
        use(index, flags, data, size_bytes, &budget);
    } else {
        must_be_told(&error, status);
        must(budget.used == 0);
    }
    petal_index_free(index);
    must(budget.used == 0);
    free(image.data);
    return 0;
}
