/* petal_file.c - fuzz target: opens arbitrary bytes as a petal file and uses the filter; nothing
 * may break.
 *
 * The first byte selects how to open the rest:
 *     bits 0-1   load, view, load and recover, or load and verify
 *     bit 2      first correct the checksums of slots, metadata and origin, as a forger would
 *     bit 3      pass a secret
 *     bit 4      also correct the checksums of the blocks and the content id, so that the forged
 *                file opens
 *     bit 5      the rest is not a file, but describes how to make one and which of its bytes to
 *                change, so that the fuzzer reaches all code even with an empty corpus
 * If a filter opens, it is queried, changed, measured, serialized, and opened again, which must
 * give the same filter. abort() is a finding. */
#include "../tests/keys.h"
#include "input.h"

#define XXH_INLINE_ALL
#include <petal/petal_build.h>
#include <xxhash.h>

static const uint8_t secret[PETAL_SECRET_BYTES] = {0, 1, 2,  3,  4,  5,  6,  7,
                                                   8, 9, 10, 11, 12, 13, 14, 15};

#define LIMIT_BYTES ((uint64_t)16 << 20)

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

/* Stores the checksum of a part of the image, if the part exists. */
static void seal_part(uint8_t *image, size_t size_bytes, uint64_t offset, uint64_t part_bytes,
                      uint8_t *sum)
{
    if (offset <= size_bytes && part_bytes <= size_bytes - offset)
        store(sum, XXH3_64bits(image + offset, (size_t)part_bytes));
}

/* The offsets of a file's parts, computed from its header. slot_bytes is 0 if the header is
 * invalid. */
struct parts {
    size_t slot_bytes;
    uint64_t origin_at, sums_at, payload_at;
    uint32_t layers; /* the header's count, capped at what a slot can hold */
};

static struct parts parts_of(const uint8_t *image, size_t size_bytes)
{
    struct parts parts = {size_bytes > 20 ? (size_t)load(image + 16, 2) : 0, 0, 0, 0, 0};
    if (parts.slot_bytes < 512 || parts.slot_bytes > 4096 || size_bytes < 2 * parts.slot_bytes)
        return (struct parts){0, 0, 0, 0, 0};
    uint64_t room = (parts.slot_bytes - 264) / 56, layers = load(image + 68, 4);
    parts.origin_at = 2 * parts.slot_bytes + ((load(image + 80, 8) & 0xfffff) + 7) / 8 * 8;
    parts.sums_at = load(image + 112, 8);
    parts.payload_at = load(image + 120, 8);
    parts.layers = (uint32_t)(layers < room ? layers : room);
    return parts;
}

/* Recomputes the checksums of metadata and origin in each slot, and then the slot's own checksum.
 * The slot's last 8 bytes contain the XXH3 of all preceding ones, seeded with the slot's number
 * (docs/format.md). */
static void seal(uint8_t *image, size_t size_bytes)
{
    struct parts parts = parts_of(image, size_bytes);
    if (!parts.slot_bytes) return;
    for (uint64_t number = 0; number < 2; number++) {
        uint8_t *slot = image + number * parts.slot_bytes;
        uint64_t metadata_bytes = load(slot + 80, 8) & 0xfffff, origin_bytes = load(slot + 132, 4);
        uint64_t origin_at = 2 * parts.slot_bytes + (metadata_bytes + 7) / 8 * 8;
        seal_part(image, size_bytes, 2 * parts.slot_bytes, metadata_bytes, slot + 88);
        seal_part(image, size_bytes, origin_at, origin_bytes, slot + 136);
        store(slot + parts.slot_bytes - 8,
              XXH3_64bits_withSeed(slot, parts.slot_bytes - 8, number));
    }
}

/* Computes the content id of everything before the blocks: scheme, hash, seed, the secret's check
 * value (for keyed hashes, which have no seed), and the layers' shapes. */
static uint64_t content_start(const uint8_t *slot, uint32_t layers)
{
    uint8_t head[24], shape[16];
    memcpy(head, slot + 40, sizeof head);
    uint64_t id = XXH3_64bits(head, sizeof head);
    for (uint32_t i = 0; i < layers; i++) {
        const uint8_t *layer = slot + 256 + (size_t)i * 56;
        memcpy(shape, layer, 16); /* hashes, lines per key and bits */
        id = XXH3_64bits_withSeed(shape, sizeof shape, id);
    }
    return id;
}

#define BLOCK_BYTES 65536u

/* Recomputes the checksums of the existing blocks, and the content id in both slots. */
static void seal_blocks(uint8_t *image, size_t size_bytes)
{
    struct parts parts = parts_of(image, size_bytes);
    uint64_t number = 0, at = parts.payload_at, id;
    if (!parts.slot_bytes) return;
    id = content_start(image, parts.layers);
    for (uint32_t i = 0; i < parts.layers; i++) {
        uint64_t layer_bytes = load(image + 256 + (size_t)i * 56 + 40, 8);
        if (at > size_bytes || layer_bytes > size_bytes - at) return;
        for (uint64_t from = 0; from < layer_bytes; from += BLOCK_BYTES, number++) {
            uint64_t left = layer_bytes - from, sum_at = parts.sums_at + 8 * number;
            if (sum_at > size_bytes || size_bytes - sum_at < 8) return;
            uint64_t sum = XXH3_64bits_withSeed(
                image + at + from, (size_t)(left < BLOCK_BYTES ? left : BLOCK_BYTES), number);
            store(image + sum_at, sum);
            id = XXH3_64bits_withSeed(image + sum_at, 8, id);
        }
        at = (at + layer_bytes + 63) / 64 * 64;
    }
    for (size_t slot = 0; slot < 2; slot++)
        if (load(image + slot * parts.slot_bytes + 20, 4) == 1) /* the slot is clean */
            store(image + slot * parts.slot_bytes + 72, id);
}

/* ---- files that are made --------------------------------------------------------------------- */

static petal_options take_options(struct input *in)
{
    petal_options options = PETAL_OPTIONS_INIT;
    uint32_t kind = take_below(in, 8), more = take_below(in, 256);
    options.rate = 0.01;
    options.capacity = 1 + take_below(in, 200);
    if (kind < 4) options.scheme = kind;
    if (kind == 4) options.growth = true;
    if (kind == 5 || kind == 6) {
        options.window_keys = options.capacity;
        options.capacity = 0;
        options.generations = 2 + more % 4;
        if (kind == 6) options.window_ms = 1000;
    }
    if (kind == 7) options.format = more & 128 ? "redisbloom" : "guava";
    if (kind < 7 && (more & 3) == 1) options.secret = secret;
    if (kind < 7 && (more & 3) == 2) options.seed = 7;
    if (kind < 3 && (more & 12) == 12) options.bits = 11 + take_below(in, 1u << 15) * 32;
    if (more & 16) options.metadata = "metadata of a file";
    if (more & 16) options.metadata_bytes = take_below(in, 19);
    return options;
}

/* Makes a static filter from numbers, or from hashes that are close to each other. */
static petal_filter *make_static(struct input *in, const petal_options *like)
{
    petal_options options = PETAL_OPTIONS_INIT;
    petal_static_builder *builder;
    petal_filter *filter = NULL;
    int64_t numbers[400];
    uint32_t count = take_below(in, 401);
    options.rate = 1.0 / (2 + take_below(in, 2000));
    options.secret = like->secret;
    for (uint32_t i = 0; i < count; i++) numbers[i] = i;
    petal_batch batch =
        batch_of(count % 2 ? PETAL_LAYOUT_I64 : PETAL_LAYOUT_HASHES, numbers, count);
    must(petal_static_create(&options, 1, &builder, NULL) == PETAL_OK);
    must(petal_static_add(builder, 0, &batch, NULL) == PETAL_OK);
    must(petal_static_finish(builder, NULL, NULL, &filter, NULL) == PETAL_OK);
    for (uint32_t i = 0; i < count; i++)
        must(count % 2 ? petal_contains_i64(filter, numbers[i])
                       : petal_contains_hash(filter, (uint64_t)numbers[i]));
    return filter;
}

static petal_filter *make_filter(struct input *in)
{
    petal_options options = take_options(in);
    petal_filter *filter;
    if (options.format && options.capacity % 2) {
        options.format = NULL;
        return make_static(in, &options);
    }
    if (petal_create(&options, &filter, NULL) != PETAL_OK) return NULL;
    if (options.window_ms) petal_set_clock(filter, 1 + take(in, 2), NULL);
    for (int64_t i = take_below(in, 400); i > 0; i--) (void)petal_add_i64(filter, i);
    return filter;
}

/* Builds the file that the input describes, in memory of exactly its size. Returns NULL if the
 * input doesn't describe a file. */
static uint8_t *make_file(struct input *in, size_t *size_bytes)
{
    petal_filter *filter = make_filter(in);
    if (!filter) return NULL;
    *size_bytes = (size_t)petal_serialized_bytes(filter, NULL);
    uint8_t *image = malloc(*size_bytes);
    must(*size_bytes > 0 && image &&
         petal_serialize(filter, NULL, image, *size_bytes, NULL) == PETAL_OK);
    petal_free(filter);
    return image;
}

/* Most changes are to header fields, and are the same in both slots. */
static void change_bytes(struct input *in, uint8_t *image, size_t size_bytes)
{
    size_t slot_bytes = parts_of(image, size_bytes).slot_bytes;
    while (in->left > 0) {
        uint32_t how = take_below(in, 8);
        uint64_t value = how < 4 ? take_number(in) : take(in, 1);
        size_t field = how < 7 ? take_below(in, 512) : 0,
               at = how < 7 ? field : (size_t)take(in, 3) % size_bytes;
        for (size_t i = 0; i < (how < 2 ? 8u : how < 4 ? 4u : 1u); i++) {
            if (at + i < size_bytes) image[at + i] = (uint8_t)(value >> 8 * i);
            if (how < 6 && slot_bytes && at + i < slot_bytes && slot_bytes + at + i < size_bytes)
                image[slot_bytes + at + i] = (uint8_t)(value >> 8 * i);
        }
    }
}

/* Returns the file to open, in memory of exactly its size, so that a sanitizer finds reads past the
 * end. */
static uint8_t *image_of(const uint8_t *data, size_t size_bytes, uint8_t flags, size_t *image_bytes)
{
    struct input in = {data, size_bytes};
    uint8_t *image = flags & 32 ? make_file(&in, image_bytes) : NULL;
    if (image) {
        change_bytes(&in, image, *image_bytes);
    } else {
        *image_bytes = size_bytes;
        image = malloc(size_bytes + (size_bytes == 0));
        must(image != NULL);
        memcpy(image, data, size_bytes);
    }
    if (flags & 16) seal_blocks(image, *image_bytes);
    if (flags & 4) seal(image, *image_bytes);
    return image;
}

static petal_open_options open_options(uint8_t flags, const petal_allocator *allocator)
{
    static const unsigned ways[4] = {PETAL_OPEN_LOAD, PETAL_OPEN_MAP,
                                     PETAL_OPEN_LOAD | PETAL_OPEN_RECOVER,
                                     PETAL_OPEN_LOAD | PETAL_OPEN_VERIFY};
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    options.flags = ways[flags & 3];
    options.secret = flags & 8 ? secret : NULL;
    options.allocator = allocator;
    options.memory_limit = LIMIT_BYTES;
    return options;
}

static void ask(const petal_filter *filter, const uint8_t *data, size_t size_bytes)
{
    petal_key keys[3] = {{data, size_bytes}, {"key", 3}, {NULL, 0}};
    uint8_t found[3];
    size_t count = contains_keys(filter, keys, 3, found);
    must(count == (size_t)(found[0] + found[1] + found[2]));
    must(found[1] == petal_contains(filter, "key", 3));
    must(contains_any(filter, keys, 3) == (count > 0) &&
         contains_all(filter, keys, 3) == (count == 3));
    (void)petal_contains_hash(filter, count);
    (void)petal_metadata(filter, &count);
}

static void look(const petal_filter *filter)
{
    petal_info info = PETAL_INFO_INIT;
    petal_error error;
    must(petal_get_info(filter, PETAL_ALL_LAYERS, &info, &error) == PETAL_OK);
    petal_stats info_stats = stats_of(filter);
    must(info_stats.bits_set <= info.bits && info_stats.estimated_rate >= 0 &&
         info_stats.estimated_rate <= 1);
    must(info_stats.estimated_items.value >= 0 &&
         info_stats.saturated == (info_stats.bits_set == info.bits));
    must(info_stats.saturated_counters <= (info.counter_bits ? info_stats.bits_set : 0));
    (void)petal_predict_rate(&info, info.capacity);
    (void)!petal_verify(filter, &error);
}

static void must_be_sound(petal_estimate of, double min, double max)
{
    must(of.value != of.value ||
         (of.low >= min && of.low <= of.value && of.value <= of.high && of.high <= max));
}

/* Compares the filter with another one that has the same parameters. */
static void compare(const petal_filter *filter, const petal_filter *other)
{
    petal_comparison of = PETAL_COMPARISON_INIT;
    petal_error error;
    if (petal_compare(filter, other, &of, &error) != PETAL_OK) {
        must(error.status == PETAL_ERR_UNSUPPORTED ||
             error.status == PETAL_ERR_MISMATCH); /* different layers */
        return;
    }
    must_be_sound(of.intersection, 0,
                  of.items_a.high < of.items_b.high ? of.items_a.high : of.items_b.high);
    must_be_sound(of.jaccard, 0, 1);
    must_be_sound(of.containment_a_in_b, 0, 1);
    must_be_sound(of.containment_b_in_a, 0, 1);
}

/* Writes the filter and reads it back, which must preserve every byte. */
static void write_and_read(const petal_filter *filter, const void *with_secret)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    petal_filter *again = NULL;
    petal_error error;
    size_t size = (size_t)petal_serialized_bytes(filter, NULL);
    uint8_t *image = malloc(size), *copy = malloc(size);
    must(size > 0 && image && copy);
    must(petal_serialize(filter, NULL, image, size, &error) == PETAL_OK);
    options.flags = PETAL_OPEN_VERIFY;
    options.secret = with_secret;
    must(petal_load(image, size, &options, &again, &error) == PETAL_OK);
    must(petal_serialized_bytes(again, NULL) == size &&
         petal_serialize(again, NULL, copy, size, &error) == PETAL_OK);
    must(memcmp(image, copy, size) == 0);
    petal_free(again);
    free(image);
    free(copy);
}

/* Adding can fail because the filter is full or its next layer would exceed the limit. But an
 * accepted key must be present. */
static bool add(petal_filter *filter, const void *key, size_t size_bytes)
{
    petal_status status = petal_add(filter, key, size_bytes);
    must(status >= 0 || status == PETAL_ERR_LIMIT || status == PETAL_ERR_FULL);
    must(status < 0 || petal_contains(filter, key, size_bytes));
    return status >= 0;
}

/* Adds batches that make the filter grow or rotate, and advances the clock. The last keys that a
 * batch added must be present. */
static void add_batch(petal_filter *filter)
{
    int64_t keys[600];
    petal_info info = PETAL_INFO_INIT;
    petal_info layer = PETAL_INFO_INIT;
    petal_stats stats = PETAL_STATS_INIT;
    for (int i = 0; i < 600; i++) keys[i] = i;
    petal_status status = add_number_batch(filter, keys, 600, NULL, NULL);
    must(status != PETAL_OK || petal_contains_i64(filter, 599));
    must(petal_get_info(filter, PETAL_ALL_LAYERS, &info, NULL) == PETAL_OK);
    for (uint32_t i = 0; i < info.layers; i++)
        must(petal_get_info(filter, i, &layer, NULL) == PETAL_OK &&
             petal_get_stats(filter, i, &stats, NULL) == PETAL_OK);
    petal_layers_info window = layers_info_of(filter, PETAL_ALL_LAYERS);
    uint64_t later = window.clock_ms + window.window_ms / 2;
    status = petal_set_clock(filter, later, NULL);
    must(status == PETAL_OK ||
         status == (info.policy == PETAL_POLICY_WINDOW_TIME ? PETAL_ERR_ARGUMENT
                                                            : PETAL_ERR_UNSUPPORTED));
    (void)petal_set_clock(filter, INT64_MAX, NULL);
}

/* In a counting filter, a key that was added once more can be removed once more. A copy without
 * counters must contain the same keys. */
static void uncount(petal_filter *filter)
{
    petal_error error;
    petal_filter *bits = NULL;
    if (remove_keys(filter, NULL, 0, NULL, NULL) != PETAL_OK) return;
    must(petal_add(filter, "more", 4) >= 0 && petal_remove(filter, "more", 4) == PETAL_OK);
    petal_status status = petal_remove(filter, "less", 4);
    must(status == PETAL_OK || status == PETAL_ABSENT);
    must(petal_drop_counts(filter, &bits, &error) == PETAL_OK);
    must(petal_contains(bits, "more", 4) == petal_contains(filter, "more", 4));
    must(petal_contains(bits, "less", 4) == petal_contains(filter, "less", 4));
    petal_free(bits);
}

/* Changes a clone of the filter, which must be possible even if the filter is a view. */
static void change(petal_filter *filter, const void *with_secret, const uint8_t *data,
                   size_t size_bytes)
{
    petal_error error;
    petal_filter *copy = NULL;
    must(petal_clone(filter, &copy, &error) == PETAL_OK);
    add(copy, data, size_bytes);
    bool has_key = add(copy, "key", 3);
    compare(filter, copy);
    /* The filter may have grown, and filters with a policy can't be merged. */
    petal_status merged = petal_merge(copy, filter, &error);
    must(merged == PETAL_OK || merged == PETAL_ERR_MISMATCH || merged == PETAL_ERR_UNSUPPORTED);
    must(!has_key || petal_contains(copy, "key", 3));
    add_batch(copy);
    petal_status common = petal_intersect(copy, filter, &error);
    must(common == PETAL_OK || common == PETAL_ERR_MISMATCH || common == PETAL_ERR_UNSUPPORTED);
    uncount(copy);
    write_and_read(copy, with_secret);
    must(petal_clear(copy, &error) == PETAL_OK && !petal_contains(copy, "key", 3));
    petal_free(copy);
}

/* A static filter must refuse every change. */
static void try_to_change(petal_filter *filter)
{
    petal_error error;
    petal_filter *copy = NULL;
    must(petal_clone(filter, &copy, &error) == PETAL_OK);
    must(petal_add(copy, "key", 3) == PETAL_ERR_UNSUPPORTED);
    must(petal_clear(copy, &error) == PETAL_ERR_UNSUPPORTED);
    must(petal_merge(copy, filter, &error) == PETAL_ERR_UNSUPPORTED);
    must(add_number_batch(copy, (const int64_t[]){1}, 1, NULL, NULL) == PETAL_ERR_UNSUPPORTED);
    petal_free(copy);
}

/* Returns true if this is a view whose bits don't match their checksums. Such a view can only be
 * queried. */
static bool is_damaged(const petal_filter *filter)
{
    petal_error error;
    petal_filter *copy = NULL;
    uint8_t *image;
    size_t size = (size_t)petal_serialized_bytes(filter, NULL);
    petal_status status = petal_verify(filter, &error);
    must(status == PETAL_OK || status == PETAL_UNCHECKED || status == PETAL_ERR_DAMAGED);
    if (status != PETAL_ERR_DAMAGED) return false;
    image = malloc(size);
    must(size > 0 && image &&
         petal_serialize(filter, NULL, image, size, NULL) == PETAL_ERR_DAMAGED);
    must(petal_clone(filter, &copy, NULL) == PETAL_ERR_DAMAGED && !copy);
    free(image);
    return true;
}

static void use(petal_filter *filter, const void *with_secret, const uint8_t *data,
                size_t size_bytes)
{
    ask(filter, data, size_bytes);
    look(filter);
    if (is_damaged(filter)) return;
    write_and_read(filter, with_secret);
    petal_info info = PETAL_INFO_INIT;
    must(petal_get_info(filter, PETAL_ALL_LAYERS, &info, NULL) == PETAL_OK);
    if (info.scheme == PETAL_SCHEME_STATIC)
        try_to_change(filter);
    else
        change(filter, with_secret, data, size_bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    if (size_bytes == 0) return 0;
    uint8_t flags = data[0];
    struct budget budget = {.limit = UINT64_MAX};
    petal_allocator allocator = allocator_of(&budget);
    petal_open_options options = open_options(flags, &allocator);
    petal_filter *filter = NULL;
    petal_error error;
    size_t image_bytes;
    uint8_t *image = image_of(data + 1, size_bytes - 1, flags, &image_bytes);
    petal_status status = (flags & 3) == 1
                              ? petal_view(image, image_bytes, &options, &filter, &error)
                              : petal_load(image, image_bytes, &options, &filter, &error);
    must((status == PETAL_OK) == (filter != NULL) && budget.peak <= LIMIT_BYTES);
    if (status == PETAL_OK)
        use(filter, options.secret, data, size_bytes < 64 ? size_bytes : 64);
    else
        must(error.status == status && strlen(error.message) > 0);
    petal_free(filter);
    free(image);
    return 0;
}
