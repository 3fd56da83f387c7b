/* patch.c - fuzz target: applies arbitrary bytes as a patch, which must not break anything, and
 * makes patches, which must turn one filter into another.
 *
 * The first byte:
 *     bits 0-2   select the base
 *     bit 3      first write the base's id and correct checksums into the patch, as a forger would
 *     bit 4      the rest is not a patch, but describes how to change the base into the result
 * abort() is a finding. */
#include "../tests/keys.h"
#include "input.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#define LIMIT_BYTES ((uint64_t)1 << 20)

static const uint8_t secret[PETAL_SECRET_BYTES] = {0, 1, 2,  3,  4,  5,  6,  7,
                                                   8, 9, 10, 11, 12, 13, 14, 15};

/* ---- bases ----------------------------------------------------------------------------------- */

enum { BLOCKED, CLASSIC, COUNTING, GROWS, KEYS, TIME, KEYED, BLOCKS };

static petal_filter *make_base(unsigned kind)
{
    petal_options options = PETAL_OPTIONS_INIT;
    petal_filter *filter = NULL;
    bool is_window = kind == KEYS || kind == TIME, is_planned = is_window || kind == GROWS;
    options.bits = is_planned ? 0 : kind == BLOCKS ? 600000 : 1009;
    options.hashes = is_planned ? 0 : 5;
    if (is_planned) options.rate = 0.01;
    if (kind == GROWS) options.capacity = 10;
    if (is_window) options.window_keys = 60;
    if (kind == TIME) options.window_ms = 6000;
    options.growth = kind == GROWS;
    if (kind == CLASSIC || kind == BLOCKS) options.scheme = PETAL_SCHEME_CLASSIC;
    if (kind == COUNTING) options.scheme = PETAL_SCHEME_COUNTING;
    if (kind == KEYED) options.secret = secret;
    if (kind == CLASSIC) {
        options.metadata = "metadata";
        options.metadata_bytes = 8;
    }
    must(petal_create(&options, &filter, NULL) == PETAL_OK);
    (void)petal_set_clock(filter, 1000, NULL);
    for (int64_t i = 0; i < 50; i++) must(petal_add_i64(filter, i) >= 0);
    return filter;
}

static uint8_t *image_of(const petal_filter *filter, uint64_t *size_bytes)
{
    *size_bytes = petal_serialized_bytes(filter, NULL);
    uint8_t *image = malloc((size_t)*size_bytes);
    must(image && petal_serialize(filter, NULL, image, *size_bytes, NULL) == PETAL_OK);
    return image;
}

/* Planning takes longer than everything else, so each base is created once, and later loaded from
 * its image. */
static petal_filter *load_base(unsigned kind, const petal_allocator *allocator)
{
    static uint8_t *images[8];
    static uint64_t sizes[8];
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    petal_filter *filter = NULL;
    if (!images[kind]) {
        filter = make_base(kind);
        images[kind] = image_of(filter, &sizes[kind]);
        petal_free(filter);
    }
    options.allocator = allocator;
    options.secret = kind == KEYED ? secret : NULL;
    must(petal_load(images[kind], sizes[kind], &options, &filter, NULL) == PETAL_OK);
    return filter;
}

static bool same(const petal_filter *a, const petal_filter *b)
{
    uint64_t one_bytes, other_bytes;
    uint8_t *one = image_of(a, &one_bytes), *other = image_of(b, &other_bytes);
    bool are_same = one_bytes == other_bytes && memcmp(one, other, (size_t)one_bytes) == 0;
    free(one);
    free(other);
    return are_same;
}

/* ---- sums ------------------------------------------------------------------------------------ */

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

/* Computes the checksums of the patch's parts as docs/format.md specifies. Each piece's checksum is
 * seeded with the number of its first block. */
static void seal(uint8_t *patch, size_t size_bytes, uint64_t base_id)
{
    if (size_bytes < 64) return;
    store(patch + 16, base_id);
    store(patch + 56, XXH3_64bits(patch, 56));
    uint64_t slot_bytes = load(patch + 24, 4), number = 0;
    if (slot_bytes < 512 || slot_bytes > 4096 || 64 + slot_bytes > size_bytes) return;
    uint8_t *slot = patch + 64;
    uint64_t metadata_bytes = load(slot + 80, 8) & 0x1ffff, origin_bytes = load(slot + 132, 4),
             at = 64 + slot_bytes, origin_at = at + (metadata_bytes + 7) / 8 * 8;
    if (at + metadata_bytes <= size_bytes)
        store(slot + 88, XXH3_64bits(patch + at, (size_t)metadata_bytes));
    if (origin_at + origin_bytes <= size_bytes)
        store(slot + 136, XXH3_64bits(patch + origin_at, (size_t)origin_bytes));
    store(slot + slot_bytes - 8, XXH3_64bits(slot, (size_t)slot_bytes - 8));
    for (at = origin_at + (origin_bytes + 7) / 8 * 8; at + 32 <= size_bytes;) {
        uint64_t code_bytes = load(patch + at + 24, 4);
        if (code_bytes > size_bytes - at - 32) return;
        store(patch + at, XXH3_64bits_withSeed(patch + at + 8, 24 + (size_t)code_bytes, number));
        number += load(patch + at + 8, 8);
        at += 32 + code_bytes;
    }
}

/* ---- patches --------------------------------------------------------------------------------- */

/* Whatever the patch contains, the filter must stay usable. It must either be unchanged or match
 * the patch's description. */
static void apply(petal_filter *filter, const petal_filter *twin, const uint8_t *patch,
                  size_t size_bytes)
{
    petal_error error;
    uint64_t id = 0;
    petal_status status = petal_apply_patch(filter, patch, size_bytes, LIMIT_BYTES, &error);
    must(petal_content_id(filter, &id, NULL) == PETAL_OK);
    if (status == PETAL_OK) {
        must(id == load(patch + 64 + 72, 8));
        petal_status added = petal_add(filter, "key", 3);
        must(added >= 0 || added == PETAL_ERR_FULL || added == PETAL_ERR_LIMIT);
        must(added < 0 || petal_contains(filter, "key", 3));
        free(image_of(filter, &id));
    } else {
        must_be_told(&error, status);
        must(error.offset == PETAL_NO_OFFSET || error.offset <= size_bytes);
        must(same(filter, twin));
    }
}

struct bytes {
    uint8_t *data;
    size_t size;
};

static int32_t keep(void *context, const void *bytes, size_t size_bytes)
{
    struct bytes *kept = context;
    kept->data = realloc(kept->data, kept->size + size_bytes);
    must(kept->data);
    memcpy(kept->data + kept->size, bytes, size_bytes);
    kept->size += size_bytes;
    return 0;
}

static void change(petal_filter *filter, struct input *in)
{
    uint64_t clock = 1000;
    while (in->left) {
        uint32_t what = take_below(in, 8), from = take_below(in, 4096), count = take_below(in, 200);
        for (uint32_t i = from; i < from + count && what < 3; i++) petal_add_i64(filter, i);
        for (uint32_t i = from; i < from + count && what == 3; i++) petal_remove_i64(filter, i);
        if (what == 4 && count > 150) must(petal_clear(filter, NULL) == PETAL_OK);
        if (what == 5) (void)petal_set_metadata(filter, "more metadata", count % 14, NULL);
        if (what >= 6) (void)petal_set_clock(filter, clock += from, NULL);
    }
}

/* Makes patches in both directions and applies them. Also applies a patch in which a byte has been
 * changed. */
static void differ(petal_filter *from, struct input *in)
{
    struct bytes there = {NULL, 0}, back = {NULL, 0};
    petal_filter *to = NULL, *twin = NULL;
    must(petal_clone(from, &to, NULL) == PETAL_OK && petal_clone(from, &twin, NULL) == PETAL_OK);
    uint32_t place = take_below(in, 65535), mask = take_below(in, 256);
    change(to, in);
    must(petal_diff(from, to, keep, &there, NULL) == PETAL_OK);
    must(petal_diff(to, from, keep, &back, NULL) == PETAL_OK);
    there.data[place % there.size] ^= (uint8_t)(mask | 1);
    must(petal_apply_patch(from, there.data, there.size, 0, NULL) < 0 && same(from, twin));
    there.data[place % there.size] ^= (uint8_t)(mask | 1);
    must(petal_apply_patch(from, there.data, there.size, 0, NULL) == PETAL_OK && same(from, to));
    must(petal_apply_patch(from, back.data, back.size, 0, NULL) == PETAL_OK && same(from, twin));
    petal_free(to);
    petal_free(twin);
    free(there.data);
    free(back.data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    if (size_bytes == 0) return 0;
    struct budget budget = {.limit = UINT64_MAX};
    petal_allocator allocator = allocator_of(&budget);
    petal_filter *base = load_base(data[0] & 7, &allocator), *twin = NULL;
    struct input in = {data + 1, size_bytes - 1};
    uint64_t id = 0;
    if (data[0] & 16) {
        differ(base, &in);
    } else {
        uint8_t *patch = malloc(size_bytes); /* exactly this size, but at least one byte */
        must(patch && petal_clone(base, &twin, NULL) == PETAL_OK);
        memcpy(patch, data + 1, size_bytes - 1);
        must(petal_content_id(base, &id, NULL) == PETAL_OK);
        if (data[0] & 8) seal(patch, size_bytes - 1, id);
        budget.peak = budget.used;
        uint64_t before = budget.used;
        apply(base, twin, patch, size_bytes - 1);
        must(budget.peak - before <= 2 * LIMIT_BYTES);
        petal_free(twin);
        free(patch);
    }
    petal_free(base);
    must(budget.used == 0);
    return 0;
}
