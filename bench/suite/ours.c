/* ours.c - Petal's own contenders, through petal.h: each scheme, one key per call and in
 * batches. */
#include "bench.h"

#include "../../tests/keys.h"

#include <petal/petal_build.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- making ---------------------------------------------------------------------------------- */

#define PLANS 16u

void choose_hashes(void *options)
{
    static petal_options plans[PLANS]; /* latest plans; the oldest is overwritten */
    static unsigned next;
    petal_options *wanted = options;
    for (unsigned i = 0; i < PLANS; i++)
        if (plans[i].bits == wanted->bits && plans[i].capacity == wanted->capacity &&
            plans[i].scheme == wanted->scheme && plans[i].lines_per_key == wanted->lines_per_key) {
            wanted->hashes = plans[i].hashes;
            return;
        }
    petal_info plan = PETAL_INFO_INIT;
    if (petal_plan(wanted, &plan, NULL, NULL) == PETAL_OK) wanted->hashes = plan.hashes;
    plans[next++ % PLANS] = *wanted;
}

static void *create(petal_options *options, size_t keys, double bits_per_key)
{
    petal_filter *filter;
    options->capacity = keys;
    options->bits = (uint64_t)((double)keys * bits_per_key);
    choose_hashes(options);
    return petal_create(options, &filter, NULL) == PETAL_OK ? filter : NULL;
}

static void *make_blocked(size_t keys, double bits_per_key)
{
    petal_options options = PETAL_OPTIONS_INIT;
    options.lines_per_key = 1;
    return create(&options, keys, bits_per_key);
}

static void *make_two_lines(size_t keys, double bits_per_key)
{
    petal_options options = PETAL_OPTIONS_INIT;
    options.lines_per_key = 2;
    return create(&options, keys, bits_per_key);
}

static void *make_classic(size_t keys, double bits_per_key)
{
    petal_options options = PETAL_OPTIONS_INIT;
    options.scheme = PETAL_SCHEME_CLASSIC;
    return create(&options, keys, bits_per_key);
}

static void *take_small_pages(void *context, size_t size_bytes)
{
    (void)context;
    return take_pages(size_bytes, false);
}

static void release_pages(void *context, void *memory, size_t size_bytes)
{
    (void)context;
    drop_pages(memory, size_bytes);
}

static void *make_in_small_pages(size_t keys, double bits_per_key)
{
    static const petal_allocator allocator = {take_small_pages, release_pages, NULL};
    petal_options options = PETAL_OPTIONS_INIT;
    options.lines_per_key = 1;
    options.allocator = &allocator;
    return create(&options, keys, bits_per_key);
}

/* Parquet's writers create only powers of two, but its readers, including petal_load(), accept any
 * number of blocks. docs/formats/parquet.md describes the header: {numBytes, BLOCK, XXHASH,
 * UNCOMPRESSED}. */
static void *make_parquet(size_t keys, double bits_per_key)
{
    static const uint8_t rest[10] = {0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0, 0x1c, 0x1c};
    double blocks = (double)keys * bits_per_key / 256;
    if (blocks >= 1 << 26) return NULL; /* Parquet stores the size as an int */
    size_t size = 32 * ((size_t)blocks + 1), at = 0;
    uint8_t *image = calloc(1, size + 32);
    if (!image) return NULL;
    image[at++] = 0x15;
    for (uint64_t left = 2 * (uint64_t)size; at == 1 || left > 0; left >>= 7)
        image[at++] = (uint8_t)((left & 127) | (left > 127 ? 128 : 0));
    memcpy(image + at, rest, sizeof rest);
    at += sizeof rest + 3; /* three zero bytes end the structs */
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    petal_filter *filter = NULL;
    options.format = "parquet";
    petal_status status = petal_load(image, at + size, &options, &filter, NULL);
    free(image);
    return status == PETAL_OK ? filter : NULL;
}

/* ---- one key per call ------------------------------------------------------------------------ */

static void add(void *filter, const struct keys *keys)
{
    const int64_t *numbers = as_numbers(keys);
    if (keys->key_bytes == 8)
        for (size_t i = 0; i < keys->count; i++) petal_add_i64(filter, numbers[i]);
    else
        for (size_t i = 0; i < keys->count; i++)
            petal_add(filter, key_at(keys, i), keys->key_bytes);
}

static size_t count_found(void *filter, const struct keys *keys)
{
    const int64_t *numbers = as_numbers(keys);
    size_t found = 0;
    if (keys->key_bytes == 8)
        for (size_t i = 0; i < keys->count; i++) found += petal_contains_i64(filter, numbers[i]);
    else
        for (size_t i = 0; i < keys->count; i++)
            found += petal_contains(filter, key_at(keys, i), keys->key_bytes);
    return found;
}

static size_t add_new(void *filter, const struct keys *keys)
{
    const int64_t *numbers = as_numbers(keys);
    size_t added = 0;
    if (keys->key_bytes == 8)
        for (size_t i = 0; i < keys->count; i++)
            added += petal_add_i64(filter, numbers[i]) != PETAL_SEEN;
    else
        for (size_t i = 0; i < keys->count; i++)
            added += petal_add(filter, key_at(keys, i), keys->key_bytes) != PETAL_SEEN;
    return added;
}

/* ---- batches --------------------------------------------------------------------------------- */

/* Keys are passed in pieces, as a program that reads a stream would pass them. */
#define PIECE 1024u

static size_t fill_piece(const struct keys *keys, size_t from, petal_key piece[PIECE])
{
    size_t count = keys->count - from < PIECE ? keys->count - from : PIECE;
    for (size_t i = 0; i < count; i++)
        piece[i] = (petal_key){key_at(keys, from + i), keys->key_bytes};
    return count;
}

static void add_pieces(void *filter, const struct keys *keys)
{
    petal_key piece[PIECE];
    for (size_t from = 0; from < keys->count; from += PIECE)
        add_key_batch(filter, piece, fill_piece(keys, from, piece), NULL, NULL);
}

static size_t count_found_keys(void *filter, const struct keys *keys)
{
    petal_key piece[PIECE];
    size_t found = 0;
    for (size_t from = 0; from < keys->count; from += PIECE)
        found += contains_keys(filter, piece, fill_piece(keys, from, piece), NULL);
    return found;
}

static size_t add_new_keys(void *filter, const struct keys *keys)
{
    petal_key piece[PIECE];
    size_t added = 0, now;
    for (size_t from = 0; from < keys->count; from += PIECE) {
        add_key_batch(filter, piece, fill_piece(keys, from, piece), NULL, &now);
        added += now;
    }
    return added;
}

static void add_all(void *filter, const struct keys *keys)
{
    if (keys->key_bytes == 8)
        add_number_batch(filter, as_numbers(keys), keys->count, NULL, NULL);
    else
        add_pieces(filter, keys);
}

static size_t count_found_all(void *filter, const struct keys *keys)
{
    if (keys->key_bytes != 8) return count_found_keys(filter, keys);
    return contains_numbers(filter, as_numbers(keys), keys->count, NULL);
}

static size_t add_new_all(void *filter, const struct keys *keys)
{
    size_t added;
    if (keys->key_bytes != 8) return add_new_keys(filter, keys);
    add_number_batch(filter, as_numbers(keys), keys->count, NULL, &added);
    return added;
}

/* Passes eight keys per call, as would a program that has only a few keys at a time. */
static struct keys next_eight(const struct keys *keys, size_t from)
{
    size_t count = keys->count - from < 8 ? keys->count - from : 8;
    return (struct keys){key_at(keys, from), keys->key_bytes, count};
}

static void add_eights(void *filter, const struct keys *keys)
{
    for (size_t from = 0; from < keys->count; from += 8) {
        struct keys eight = next_eight(keys, from);
        add_all(filter, &eight);
    }
}

static size_t count_found_eights(void *filter, const struct keys *keys)
{
    size_t found = 0;
    for (size_t from = 0; from < keys->count; from += 8) {
        struct keys eight = next_eight(keys, from);
        found += count_found_all(filter, &eight);
    }
    return found;
}

static size_t add_new_eights(void *filter, const struct keys *keys)
{
    size_t added = 0;
    for (size_t from = 0; from < keys->count; from += 8) {
        struct keys eight = next_eight(keys, from);
        added += add_new_all(filter, &eight);
    }
    return added;
}

/* ---------------------------------------------------------------------------------------------- */

static double bits(void *filter)
{
    petal_info info = PETAL_INFO_INIT;
    petal_get_info(filter, PETAL_ALL_LAYERS, &info, NULL);
    return (double)info.bits;
}

static void drop(void *filter)
{
    petal_free(filter);
}

/* ---- static filters -------------------------------------------------------------------------- */

/* Creates a static filter for the rate at which it takes the requested number of bits per key. */
struct static_filter {
    petal_static_builder *builder;
    petal_filter *filter; /* after finish */
};

static void *make_static(size_t keys, double bits_per_key)
{
    struct static_filter *made = calloc(1, sizeof *made);
    petal_options options = PETAL_OPTIONS_INIT;
    (void)keys;
    options.rate = exp2(-bits_per_key / 1.0044);
    if (made && petal_static_create(&options, 1, &made->builder, NULL) == PETAL_OK) return made;
    free(made);
    return NULL;
}

static void add_to_static(void *memory, const struct keys *keys)
{
    struct static_filter *made = memory;
    petal_batch batch = PETAL_BATCH_INIT;
    batch.layout = PETAL_LAYOUT_FIXED;
    batch.key_bytes = keys->key_bytes;
    batch.data = keys->bytes;
    batch.count = keys->count;
    if (keys->key_bytes == 8) batch = batch_of_numbers(as_numbers(keys), keys->count);
    petal_static_add(made->builder, 0, &batch, NULL); /* after a failure, finishing fails too */
}

static void finish_static(void *memory)
{
    struct static_filter *made = memory;
    if (petal_static_finish(made->builder, NULL, NULL, &made->filter, NULL) != PETAL_OK) abort();
    made->builder = NULL;
}

static size_t count_found_static(void *memory, const struct keys *keys)
{
    return count_found(((struct static_filter *)memory)->filter, keys);
}

static size_t count_found_static_all(void *memory, const struct keys *keys)
{
    return count_found_all(((struct static_filter *)memory)->filter, keys);
}

static double bits_of_static(void *memory)
{
    return bits(((struct static_filter *)memory)->filter);
}

static void drop_static(void *memory)
{
    struct static_filter *made = memory;
    if (made->builder) (void)!petal_static_finish(made->builder, NULL, NULL, NULL, NULL);
    petal_free(made->filter);
    free(made);
}

#define ONE add, NULL, count_found, add_new, bits, drop
#define BATCH add_all, NULL, count_found_all, add_new_all, bits, drop
#define EIGHTS add_eights, NULL, count_found_eights, add_new_eights, bits, drop
#define KEYS add_pieces, NULL, count_found_keys, add_new_keys, bits, drop

const struct contender petal_contenders[] = {
    {"petal one", 0, make_blocked, ONE},
    {"petal batch", 0, make_blocked, BATCH},
    {"petal batch 8", 0, make_blocked, EIGHTS},
    {"petal batch keys", NUMBERS_ONLY, make_blocked,
     KEYS}, /* passes numbers as bytes; addresses: like `petal batch` */
    {"petal batch 4K", 0, make_in_small_pages, BATCH},
    {"petal 2-line one", 0, make_two_lines, ONE},
    {"petal 2-line batch", 0, make_two_lines, BATCH},
    {"petal classic one", 0, make_classic, ONE},
    {"petal classic batch", 0, make_classic, BATCH},
    {"petal parquet one", 0, make_parquet, ONE},
    {"petal parquet batch", 0, make_parquet, BATCH},
    {"petal static one", 0, make_static, add_to_static, finish_static, count_found_static, NULL,
     bits_of_static, drop_static},
    {"petal static batch", 0, make_static, add_to_static, finish_static, count_found_static_all,
     NULL, bits_of_static, drop_static},
    {.name = NULL},
};
