/* patch.c - proves that a patch turns one filter into another, byte for byte, whatever the
 * difference, and that a patch's size is close to the entropy of the change. A patch that is
 * damaged or forged, or that was made from another filter, must not change the filter.
 * docs/format.md, "Patches", specifies the format. */
#include "image.h"
#include "kinds.h"

#include "petal/petal_host.h"

/* Offsets in a patch. The slot is followed by the metadata, the origin, and the pieces. */
enum {
    P_VERSION = 8,
    P_FEATURES = 12,
    P_BASE = 16,
    P_SLOT_BYTES = 24,
    P_SHIFT = 28,
    P_ZEROS = 32,
    P_SUM = 56,
    P_SLOT = 64,
    PIECE_BLOCKS = 8,
    PIECE_CODES = 16,
    PIECE_CODE_BYTES = 24,
    PIECE_KIND = 28,
    PIECE_PARAMETER = 29,
    PIECE_ZEROS = 30,
    PIECE_HEAD = 32
};

#define BLOCKED PETAL_SCHEME_BLOCKED
#define CLASSIC PETAL_SCHEME_CLASSIC

enum { SAME, RISEN, FLIPPED, RAISED, COUNTED, WHOLE };

/* ---- helpers --------------------------------------------------------------------------------- */

struct sunk {
    struct bytes bytes;
    size_t stop_at, largest;
};

static int32_t sink(void *context, const void *bytes, size_t size_bytes)
{
    struct sunk *to = context;
    uint8_t *longer = realloc(to->bytes.data, to->bytes.size + size_bytes);
    require(longer != NULL, "no memory");
    memcpy(longer + to->bytes.size, bytes, size_bytes);
    to->bytes.data = longer;
    to->bytes.size += size_bytes;
    if (size_bytes > to->largest) to->largest = size_bytes;
    return to->stop_at && to->bytes.size >= to->stop_at ? 28 : 0;
}

static struct bytes diff(const petal_filter *from, const petal_filter *to)
{
    struct sunk out = {{NULL, 0}, 0, 0};
    petal_error error;
    require_status(PETAL_OK, petal_diff(from, to, sink, &out, &error), error);
    struct bytes exact = copy_bytes(out.bytes.data, out.bytes.size);
    free(out.bytes.data);
    return exact;
}

static petal_status apply(petal_filter *filter, struct bytes patch, petal_error *error)
{
    return petal_apply_patch(filter, patch.data, patch.size, 0, error);
}

/* Makes a patch from one filter to the other. The patch must apply to a copy of `from`, and the
 * result must be equal to `to`, byte for byte. Neither filter may change. Returns the patch's
 * size. */
static size_t require_patch(const petal_filter *from, const petal_filter *to, const char *what)
{
    petal_error error;
    struct bytes patch = diff(from, to);
    petal_filter *copy = clone_of(from);
    uint64_t id, wanted;
    petal_status status = apply(copy, patch, &error);
    require(status == PETAL_OK, "%s: %s", what, status < 0 ? error.message : "");
    require(same_image(copy, to), "%s: another result", what);
    assert_int_equal(petal_content_id(copy, &id, NULL), PETAL_OK);
    assert_int_equal(petal_content_id(to, &wanted, NULL), PETAL_OK);
    require_that(id, ==, wanted);
    /* After a patch, the handle must behave like `to`. */
    petal_filter *twin = clone_of(to);
    for (int64_t i = 0; i < 3000; i++)
        require(petal_add_i64(copy, 500000 + i) == petal_add_i64(twin, 500000 + i), "%s: key %lld",
                what, (long long)i);
    require(same_image(copy, twin), "%s: differs after adding", what);
    petal_free(copy);
    petal_free(twin);
    size_t size = patch.size;
    free(patch.data);
    return size;
}

/* ---- changes --------------------------------------------------------------------------------- */

static void a_patch_turns_every_kind_of_filter_into_a_later_one(void **state)
{
    (void)state;
    for (enum kind kind = 0; kind < KIND_COUNT; kind++) {
        petal_filter *from = kind_filter(kind, NULL), *to = clone_of(from);
        require_patch(from, to, kind_names[kind]);
        for (unsigned step = 0; step < 8; step++) {
            if (kind == KIND_WINDOW_TIME) petal_set_clock(to, 120000 + step * 9000, NULL);
            add_numbers(to, 10000 + step * 700, 1 + step * 100);
            require_patch(from, to, kind_names[kind]);
        }
        require_patch(to, from, kind_names[kind]);
        petal_free(from);
        petal_free(to);
    }
}

static void what_fell_is_carried_too(void **state)
{
    (void)state;
    for (enum kind kind = 0; kind < KIND_COUNT; kind++) {
        petal_filter *from = kind_filter(kind, NULL), *to = clone_of(from);
        if (info_of(to).abilities & PETAL_CAN_REMOVE) {
            for (int64_t i = 0; i < 50; i++) petal_remove_i64(to, i);
            require_patch(from, to, "50 removed");
            add_numbers(to, 20000, 50);
            require_patch(from, to, "50 removed, 50 added");
            for (int64_t i = 0; i < 3000; i++) petal_remove_i64(to, i);
            require_patch(from, to, "half removed");
            for (unsigned i = 0; i < 20; i++) petal_add_i64(to, 7);
            require_patch(from, to, "counters that stick");
            require_patch(to, from, "and do not");
        }
        if (info_of(to).abilities & PETAL_CAN_INTERSECT) {
            petal_options options = kind_options(kind);
            petal_filter *other = create(&options);
            add_numbers(other, 100, 5000);
            assert_int_equal(petal_intersect(to, other, NULL), PETAL_OK);
            require_patch(from, to, "intersected");
            petal_free(other);
        }
        assert_int_equal(petal_clear(to, NULL), PETAL_OK);
        require_patch(from, to, "cleared");
        require_patch(to, from, "filled");
        add_numbers(to, 700000, 4000);
        struct bytes file = serialized(to);
        require(require_patch(from, to, "rebuilt") <= file.size * 11 / 10 + 1024, "%s",
                kind_names[kind]);
        free(file.data);
        petal_free(from);
        petal_free(to);
    }
}

static void metadata_items_and_capacity_come_along(void **state)
{
    petal_options options = kind_options(KIND_CLASSIC);
    petal_filter *from = kind_filter(KIND_CLASSIC, NULL), *to = clone_of(from);
    uint64_t bytes;
    (void)state;
    assert_int_equal(petal_set_metadata(to, "of another day", 14, NULL), PETAL_OK);
    add_numbers(to, 0, 10); /* present keys: only `items` changes */
    struct bytes patch = diff(from, to);
    require_that(patch.size, ==, P_SLOT + SLOT + 16 + PIECE_HEAD);
    free(patch.data);
    require_patch(from, to, "metadata");
    assert_int_equal(petal_set_metadata(to, NULL, 0, NULL), PETAL_OK);
    require_patch(from, to, "no metadata");
    require_that(petal_metadata(to, &bytes), ==, NULL);
    require_that(bytes, ==, 0);
    petal_free(to);
    options.bits = info_of(from).bits; /* same size, but no capacity or rate */
    options.hashes = info_of(from).hashes;
    options.capacity = 0;
    options.rate = 0;
    options.key_type = PETAL_KEY_TYPE_I64;
    to = create(&options);
    add_numbers(to, 0, 6000);
    require_patch(from, to, "capacity and key type");
    petal_free(from);
    petal_free(to);
}

static void what_is_not_of_one_kind_has_no_patch(void **state)
{
    petal_error error;
    (void)state;
    for (enum kind a = 0; a < KIND_COUNT; a++) {
        for (enum kind b = 0; b < KIND_COUNT; b++) {
            petal_filter *from = kind_filter(a, NULL), *to = kind_filter(b, NULL);
            struct sunk out = {{NULL, 0}, 0, 0};
            petal_status status = petal_diff(from, to, sink, &out, &error);
            require(status == (a == b ? PETAL_OK : PETAL_ERR_MISMATCH), "%s, %s: %s", kind_names[a],
                    kind_names[b], petal_status_name(status));
            require(a == b || out.bytes.size == 0, "%s, %s", kind_names[a], kind_names[b]);
            free(out.bytes.data);
            petal_free(from);
            petal_free(to);
        }
    }
}

/* ---- layers ---------------------------------------------------------------------------------- */

static void a_filter_that_grew_brings_its_new_layers(void **state)
{
    petal_options options = PETAL_OPTIONS_INIT;
    (void)state;
    options.capacity = 100;
    options.rate = 0.01;
    options.growth = 1;
    petal_filter *from = create(&options), *to = create(&options);
    for (unsigned step = 0; step < 40; step++) {
        add_numbers(to, step * 173, 173);
        require_patch(from, to, "grown");
        require_patch(to, from, "and back");
        if (step % 7 != 3) continue;
        petal_free(from);
        from = clone_of(to);
    }
    assert_true(info_of(to).layers > info_of(from).layers || info_of(to).layers > 5);
    petal_free(from);
    petal_free(to);
}

/* Closed generations are equal in both filters, so the patch contains only the old filter's newest
 * generation and all later ones. */
static void generations_that_went_cost_nothing(void **state)
{
    petal_options options = PETAL_OPTIONS_INIT;
    (void)state;
    for (unsigned by_time = 0; by_time < 2; by_time++) {
        options.window_keys = 80000;
        options.window_ms = by_time ? 80000 : 0;
        options.generations = 9;
        options.rate = 0.01;
        petal_filter *from = create(&options);
        for (uint64_t i = 0; i < 90000; i += 100) {
            if (by_time) petal_set_clock(from, 1 + i, NULL);
            add_numbers(from, i, 100);
        }
        petal_filter *to = clone_of(from);
        for (unsigned steps = 1; steps <= 4; steps++) {
            uint64_t at = 90000 + (steps - 1) * 10000;
            for (uint64_t i = at; i < at + 10000; i += 100) {
                if (by_time) petal_set_clock(to, 1 + i, NULL);
                add_numbers(to, i, 100);
            }
            struct bytes file = serialized(to);
            size_t size = require_patch(from, to, by_time ? "time" : "keys");
            require(size < file.size * (steps + 1) / 7, "%u steps: %zu of %zu bytes", steps, size,
                    file.size);
            free(file.data);
        }
        petal_free(from);
        petal_free(to);
    }
}

/* ---- size ------------------------------------------------------------------------------------ */

static double log2_choose(double n, double k)
{
    return (lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)) / log(2);
}

/* Returns the entropy of choosing the newly set bits among the clear bits, in bytes. No encoding
 * can be shorter. */
static double entropy_bytes(const petal_filter *from, const petal_filter *to)
{
    double bits = 0;
    for (uint32_t i = 0; i < info_of(to).layers; i++) {
        const void *a = NULL, *b = NULL;
        uint64_t size = 0, clear = 0, risen = 0;
        if (i < info_of(from).layers) petal_bits(from, i, &a, &size, NULL);
        petal_bits(to, i, &b, &size, NULL);
        for (uint64_t j = 0; j < size * 8; j++) {
            bool was = a && ((const uint8_t *)a)[j / 8] >> j % 8 & 1,
                 is = ((const uint8_t *)b)[j / 8] >> j % 8 & 1;
            clear += !was;
            risen += is && !was;
        }
        bits += log2_choose((double)clear, (double)risen);
    }
    return bits / 8;
}

/* For 1 % more keys, the bound is 1.15 times the entropy. Even a nearly empty patch has a header, a
 * slot and one piece, which take at least 608 bytes. The codes in the piece are within 3 % of the
 * entropy. */
static const struct growth {
    const char *name;
    uint32_t scheme, lines_per_key;
    double rate;
    uint64_t layer_keys; /* capacity of the first layer, or 0 if the filter doesn't grow */
    uint64_t keys, more;
    double max_share; /* size of the patch as a share of the file */
} growths[] = {
    {"blocked", BLOCKED, 1, 0.01, 0, 300000, 3000, 0.05},
    {"blocked, 2 lines", BLOCKED, 2, 0.01, 0, 300000, 3000, 0.05},
    {"blocked", BLOCKED, 2, 0.01, 0, 300000, 300, 0.01},
    {"blocked", BLOCKED, 2, 0.01, 0, 300000, 30000, 0.20},
    {"blocked, 1:10,000", BLOCKED, 0, 0.0001, 0, 300000, 3000, 0.05},
    {"classic", CLASSIC, 0, 0.01, 0, 300000, 3000, 0.05},
    {"classic, half full", CLASSIC, 0, 0.01, 0, 150000, 1500, 0.05},
    {"classic", CLASSIC, 0, 0.01, 0, 300000, 30000, 0.25},
    {"growing", BLOCKED, 0, 0.01, 10000, 300000, 3000, 0.05},
    {"growing, a new layer", BLOCKED, 0, 0.01, 10000, 309000, 3090, 0.05},
    {"growing, classic", CLASSIC, 0, 0.01, 10000, 300000, 3000, 0.05},
};

static void measure(const struct growth *row)
{
    petal_options options = options_of(row->scheme, 0, 0, row->lines_per_key);
    options.capacity = row->layer_keys ? row->layer_keys : 300000;
    options.growth = row->layer_keys != 0;
    options.rate = row->rate;
    petal_filter *from = create(&options);
    add_numbers(from, 0, row->keys);
    petal_filter *to = clone_of(from);
    add_numbers(to, row->keys, row->more);
    struct bytes file = serialized(to), patch = diff(from, to);
    double entropy = entropy_bytes(from, to), ratio = (double)patch.size / entropy,
           share = (double)patch.size / (double)file.size;
    print_message("%-28s %7.2f %% more keys: patch %8zu bytes, entropy %8.0f (%.3f times), file "
                  "%8zu (%.2f %%)\n",
                  row->name, 100.0 * (double)row->more / (double)row->keys, patch.size, entropy,
                  ratio, file.size, 100 * share);
    double head =
        P_SLOT + (info_of(to).layers > 4 ? 2 : 1) * SLOT + PIECE_HEAD * info_of(to).layers;
    require((double)patch.size <= head + 1.03 * entropy, "%s: %.0f in the codes", row->name,
            (double)patch.size - head);
    require(100 * row->more != row->keys || ratio <= 1.15, "%s", row->name);
    require(share <= row->max_share, "%s", row->name);
    require_patch(from, to, row->name);
    free(file.data);
    free(patch.data);
    petal_free(from);
    petal_free(to);
}

static void patches_are_close_to_the_entropy(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof growths / sizeof *growths; i++) measure(&growths[i]);
}

/* ---- wrong patches --------------------------------------------------------------------------- */

/* Requires that the patch is refused with this status and that the filter stays unchanged. Returns
 * the error's offset. */
static uint64_t require_refusal(petal_filter *filter, struct bytes patch, petal_status wanted,
                                const char *what)
{
    petal_error error;
    struct bytes before = serialized(filter);
    petal_status status = apply(filter, patch, &error);
    require(status == wanted, "%s: %s (%s)", what, petal_status_name(status),
            status < 0 ? error.message : "");
    struct bytes after = serialized(filter);
    require(same_bytes(before, after), "%s: the filter has changed", what);
    require(error.offset == PETAL_NO_OFFSET || error.offset <= patch.size, "%s", what);
    require(strchr(error.message, '\n') == NULL && strlen(error.message) > 10, "%s", what);
    free(before.data);
    free(after.data);
    return error.offset;
}

static petal_filter *small(uint32_t scheme)
{
    petal_filter *filter = make(scheme, scheme == PETAL_SCHEME_COUNTING ? 200 : 1000, 3, 0);
    add_numbers(filter, 0, 50);
    return filter;
}

static petal_filter *more_of(const petal_filter *filter)
{
    petal_filter *more = clone_of(filter);
    add_numbers(more, 100, 10);
    return more;
}

static void a_patch_cut_off_or_changed_anywhere_is_refused(void **state)
{
    (void)state;
    petal_filter *from = small(PETAL_SCHEME_CLASSIC), *to = more_of(from);
    petal_set_metadata(to, "abc", 3, NULL);
    struct bytes patch = diff(from, to);
    for (size_t size = 0; size < patch.size; size++) {
        struct bytes cut = copy_bytes(patch.data, size);
        uint64_t at = require_refusal(
            from, cut, size ? PETAL_ERR_TRUNCATED : PETAL_ERR_NOT_A_FILTER, "cut off");
        require(at == size, "%zu", size);
        free(cut.data);
    }
    for (size_t bit = 0; bit < patch.size * 8; bit++) {
        petal_error error;
        patch.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        petal_status status = apply(from, patch, &error);
        require(status == (bit < 64 ? PETAL_ERR_NOT_A_FILTER : PETAL_ERR_DAMAGED) ||
                    (status == PETAL_ERR_TRUNCATED && bit / 8 >= patch.size - PIECE_HEAD - 64),
                "bit %zu: %s", bit, petal_status_name(status));
        require(error.offset <= bit / 8 || status == PETAL_ERR_TRUNCATED, "bit %zu: %s", bit,
                error.message);
        patch.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    require_refusal(from, (struct bytes){NULL, 0}, PETAL_ERR_NOT_A_FILTER, "nothing");
    struct bytes longer = new_bytes(patch.size + 1);
    memcpy(longer.data, patch.data, patch.size);
    require_that(require_refusal(from, longer, PETAL_ERR_DAMAGED, "longer"), ==, patch.size);
    petal_error error;
    require_status(PETAL_OK, apply(from, patch, &error), error);
    assert_true(same_image(from, to));
    free(longer.data);
    free(patch.data);
    petal_free(from);
    petal_free(to);
}

/* Makes the checksums match the forged fields. */
static void seal_patch(struct bytes patch)
{
    uint64_t slot_bytes = get32(patch.data + P_SLOT_BYTES);
    put64(patch.data + P_SUM, XXH3_64bits(patch.data, P_SUM));
    if (slot_bytes < 512 || P_SLOT + slot_bytes + PIECE_HEAD > patch.size) return;
    uint8_t *slot = patch.data + P_SLOT, *piece = slot + slot_bytes;
    put64(slot + slot_bytes - 8, XXH3_64bits_withSeed(slot, slot_bytes - 8, 0));
    size_t size = 24 + (size_t)get32(piece + PIECE_CODE_BYTES),
           room = (size_t)(patch.data + patch.size - piece) - 8;
    put64(piece, XXH3_64bits_withSeed(piece + 8, size < room ? size : room, 0));
}

#define PIECE (P_SLOT + SLOT) /* without metadata and origin */

static const struct forgery {
    const char *what;
    size_t at, size;
    uint64_t value;
    petal_status status;
    const char *said; /* words of the message */
} forgeries[] = {
    {"version 0", P_VERSION, 4, 0, PETAL_ERR_DAMAGED, "byte 8 (version)"},
    {"version 2", P_VERSION, 4, 2, PETAL_ERR_NEWER,
     "a patch for a newer petal (version 2, features 0)"},
    {"a feature", P_FEATURES, 4, 1, PETAL_ERR_NEWER,
     "a patch for a newer petal (version 1, features 1)"},
    {"another base", P_BASE, 8, 1, PETAL_ERR_MISMATCH,
     "the patch is for content id 0000000000000001"},
    {"no slot", P_SLOT_BYTES, 4, 0, PETAL_ERR_DAMAGED, "byte 24 (size of the slot)"},
    {"a slot of 513", P_SLOT_BYTES, 4, 513, PETAL_ERR_DAMAGED, "byte 24 (size of the slot)"},
    {"a slot of 2^31", P_SLOT_BYTES, 4, 1u << 31, PETAL_ERR_DAMAGED, "byte 24 (size of the slot)"},
    {"a slot beyond the end", P_SLOT_BYTES, 4, 4096, PETAL_ERR_TRUNCATED, "byte 629"},
    {"a reserved field", P_ZEROS, 1, 1, PETAL_ERR_DAMAGED, "byte 32 (reserved field)"},
    {"a reserved field", P_ZEROS + 23, 1, 1, PETAL_ERR_DAMAGED, "byte 55 (reserved field)"},
    {"a shift: the layer is new", P_SHIFT, 4, 1, PETAL_ERR_DAMAGED,
     "byte 576 (the result has another content id)"},
    {"a shift past the layers", P_SHIFT, 4, 2, PETAL_ERR_MISMATCH,
     "the patch makes another kind of filter"},
    {"a shift that wraps", P_SHIFT, 4, UINT32_MAX, PETAL_ERR_MISMATCH,
     "the patch makes another kind of filter"},
    {"slot: magic", P_SLOT, 1, 0, PETAL_ERR_DAMAGED, "byte 64 (header of the result)"},
    {"slot: version", P_SLOT + AT_VERSION, 4, 2, PETAL_ERR_NEWER, "needs a newer petal (format 2"},
    {"slot: its size", P_SLOT + AT_SLOT_BYTES, 4, 1024, PETAL_ERR_DAMAGED,
     "byte 64 (header of the result)"},
    {"slot: dirty", P_SLOT + AT_STATE, 4, DIRTY, PETAL_ERR_DAMAGED,
     "byte 64 (state of the result)"},
    {"slot: state 0", P_SLOT + AT_STATE, 4, 0, PETAL_ERR_DAMAGED, "byte 84 (header of the result)"},
    {"slot: sequence", P_SLOT + AT_SEQUENCE, 8, 3, PETAL_ERR_DAMAGED,
     "byte 64 (state of the result)"},
    {"slot: size of the file", P_SLOT + AT_FILE_BYTES, 8, 1, PETAL_ERR_DAMAGED,
     "byte 176 (header of the result)"},
    {"slot: scheme", P_SLOT + AT_SCHEME, 4, PETAL_SCHEME_COUNTING, PETAL_ERR_DAMAGED,
     "byte 360 (header of the result)"},
    {"slot: a scheme to come", P_SLOT + AT_SCHEME, 4, 9999, PETAL_ERR_NEWER,
     "needs a newer petal (scheme 9999 is not known to this one)"},
    {"slot: keyed", P_SLOT + AT_HASH, 4, PETAL_HASH_SIPHASH, PETAL_ERR_MISMATCH,
     "the patch makes another kind of filter"},
    {"slot: seed", P_SLOT + AT_SEED, 8, 1, PETAL_ERR_MISMATCH,
     "the patch makes another kind of filter"},
    {"slot: a secret", P_SLOT + AT_SECRET_CHECK, 8, 1, PETAL_ERR_DAMAGED,
     "byte 112 (header of the result)"},
    {"slot: no layers", P_SLOT + AT_LAYERS, 4, 0, PETAL_ERR_DAMAGED,
     "byte 132 (header of the result)"},
    {"slot: two layers", P_SLOT + AT_LAYERS, 4, 2, PETAL_ERR_DAMAGED,
     "byte 376 (header of the result)"},
    {"slot: 2^32 - 1 layers", P_SLOT + AT_LAYERS, 4, UINT32_MAX, PETAL_ERR_DAMAGED,
     "byte 132 (header of the result)"},
    {"slot: content id", P_SLOT + AT_CONTENT_ID, 8, 1, PETAL_ERR_DAMAGED,
     "byte 576 (the result has another content id)"},
    {"slot: metadata without end", P_SLOT + AT_METADATA_BYTES, 8, UINT64_MAX, PETAL_ERR_DAMAGED,
     "byte 144 (header of the result)"},
    {"slot: sum of the metadata", P_SLOT + AT_METADATA_SUM, 8, 0, PETAL_ERR_DAMAGED,
     "byte 576 (checksum of the metadata)"},
    {"slot: sum of the origin", P_SLOT + AT_ORIGIN_SUM, 8, 0, PETAL_ERR_DAMAGED,
     "byte 576 (checksum of the origin)"},
    {"slot: another library's", P_SLOT + AT_ORIGIN, 4, 1, PETAL_ERR_MISMATCH,
     "the patch makes another kind of filter"},
    {"slot: policy", P_SLOT + AT_POLICY, 4, 1, PETAL_ERR_DAMAGED,
     "byte 248 (header of the result)"},
    {"slot: bits", P_SLOT + AT_BITS, 8, 1001, PETAL_ERR_MISMATCH,
     "the patch makes another kind of filter"},
    {"slot: hashes", P_SLOT + AT_HASHES, 4, 4, PETAL_ERR_MISMATCH,
     "the patch makes another kind of filter"},
    {"piece: no blocks", PIECE + PIECE_BLOCKS, 8, 0, PETAL_ERR_DAMAGED,
     "byte 576 (impossible piece)"},
    {"piece: two blocks", PIECE + PIECE_BLOCKS, 8, 2, PETAL_ERR_DAMAGED,
     "byte 576 (impossible piece)"},
    {"piece: 2^64 - 1 blocks", PIECE + PIECE_BLOCKS, 8, UINT64_MAX, PETAL_ERR_DAMAGED,
     "byte 576 (impossible piece)"},
    {"piece: no codes", PIECE + PIECE_CODES, 8, 0, PETAL_ERR_DAMAGED,
     "byte 576 (impossible piece)"},
    {"piece: one code", PIECE + PIECE_CODES, 8, 1, PETAL_ERR_DAMAGED,
     "byte 576 (impossible codes)"},
    {"piece: 2^64 - 1 codes", PIECE + PIECE_CODES, 8, UINT64_MAX, PETAL_ERR_DAMAGED,
     "byte 576 (impossible codes)"},
    {"piece: too many bytes", PIECE + PIECE_CODE_BYTES, 4, BLOCK + 1, PETAL_ERR_DAMAGED,
     "byte 600 (size of the codes)"},
    {"piece: 2^32 - 1 bytes", PIECE + PIECE_CODE_BYTES, 4, UINT32_MAX, PETAL_ERR_DAMAGED,
     "byte 600 (size of the codes)"},
    {"piece: bytes past the end", PIECE + PIECE_CODE_BYTES, 4, BLOCK, PETAL_ERR_TRUNCATED,
     "byte 629"},
    {"piece: no bytes", PIECE + PIECE_CODE_BYTES, 4, 0, PETAL_ERR_DAMAGED,
     "byte 576 (impossible codes)"},
    {"piece: same", PIECE + PIECE_KIND, 1, SAME, PETAL_ERR_DAMAGED, "byte 576 (impossible piece)"},
    {"piece: flipped", PIECE + PIECE_KIND, 1, FLIPPED, PETAL_ERR_DAMAGED,
     "byte 576 (the result has another content id)"},
    {"piece: raised", PIECE + PIECE_KIND, 1, RAISED, PETAL_ERR_DAMAGED,
     "byte 576 (impossible piece)"},
    {"piece: counted", PIECE + PIECE_KIND, 1, COUNTED, PETAL_ERR_DAMAGED,
     "byte 576 (impossible piece)"},
    {"piece: whole", PIECE + PIECE_KIND, 1, WHOLE, PETAL_ERR_DAMAGED,
     "byte 576 (impossible piece)"},
    {"piece: a kind to come", PIECE + PIECE_KIND, 1, 6, PETAL_ERR_DAMAGED,
     "byte 576 (impossible piece)"},
    {"piece: r 0", PIECE + PIECE_PARAMETER, 1, 0, PETAL_ERR_DAMAGED, "byte 576 (impossible codes)"},
    {"piece: r 44", PIECE + PIECE_PARAMETER, 1, 44, PETAL_ERR_DAMAGED,
     "byte 576 (impossible codes)"},
    {"piece: r 45", PIECE + PIECE_PARAMETER, 1, 45, PETAL_ERR_DAMAGED,
     "byte 576 (impossible piece)"},
    {"piece: r 255", PIECE + PIECE_PARAMETER, 1, 255, PETAL_ERR_DAMAGED,
     "byte 576 (impossible piece)"},
    {"piece: a reserved field", PIECE + PIECE_ZEROS, 1, 1, PETAL_ERR_DAMAGED,
     "byte 576 (impossible piece)"},
    {"piece: a reserved field", PIECE + PIECE_ZEROS + 1, 1, 1, PETAL_ERR_DAMAGED,
     "byte 576 (impossible piece)"},
    {"codes: other bits", PIECE + PIECE_HEAD, 4, 0, PETAL_ERR_DAMAGED,
     "byte 576 (the result has another content id)"},
    {"codes: all ones", PIECE + PIECE_HEAD, 8, UINT64_MAX, PETAL_ERR_DAMAGED,
     "byte 576 (impossible codes)"},
};

static void a_forged_patch_is_refused_whatever_it_says(void **state)
{
    (void)state;
    petal_filter *from = small(PETAL_SCHEME_CLASSIC), *to = more_of(from);
    struct bytes patch = diff(from, to);
    for (size_t i = 0; i < sizeof forgeries / sizeof *forgeries; i++) {
        const struct forgery *forgery = &forgeries[i];
        struct bytes forged = copy_bytes(patch.data, patch.size);
        petal_error error;
        put_number(forged.data + forgery->at, forgery->size, forgery->value);
        seal_patch(forged);
        (void)apply(from, forged, &error);
        require_refusal(from, forged, forgery->status, forgery->what);
        require(strstr(error.message, forgery->said), "%s: \"%s\", wanted \"%s\"", forgery->what,
                error.message, forgery->said);
        free(forged.data);
    }
    free(patch.data);
    petal_free(from);
    petal_free(to);
}

/* Random bytes of the patch are set to random values, and the checksums are corrected. The patch
 * must be refused unless it still produces the right bits. */
static void random_forgeries_change_nothing(void **state)
{
    uint64_t random = 11;
    (void)state;
    for (unsigned counters = 0; counters < 2; counters++) {
        petal_filter *from = small(counters ? PETAL_SCHEME_COUNTING : PETAL_SCHEME_CLASSIC),
                     *to = more_of(from);
        struct bytes patch = diff(from, to), before = serialized(from), wanted = serialized(to);
        for (unsigned round = 0; round < 40000; round++) {
            struct bytes forged = copy_bytes(patch.data, patch.size);
            for (uint64_t times = 1 + random_below(&random, 3); times; times--) {
                uint64_t at = round % 2 ? PIECE + 8 + random_below(&random, patch.size - PIECE - 8)
                                        : random_below(&random, patch.size);
                forged.data[at] = (uint8_t)next_random(&random);
            }
            seal_patch(forged);
            petal_status status = apply(from, forged, NULL);
            struct bytes after = serialized(from);
            /* The content id doesn't cover items, rates and the key type, so a forger may change
             * them. */
            require(status < 0 ? same_bytes(before, after)
                               : memcmp(after.data + 2 * SLOT, wanted.data + 2 * SLOT,
                                        wanted.size - 2 * SLOT) == 0,
                    "round %u: %s", round, petal_status_name(status));
            if (status == PETAL_OK) {
                petal_free(from);
                from = small(counters ? PETAL_SCHEME_COUNTING : PETAL_SCHEME_CLASSIC);
            }
            free(after.data);
            free(forged.data);
        }
        free(patch.data);
        free(before.data);
        free(wanted.data);
        petal_free(from);
        petal_free(to);
    }
}

/* Replaces the patch's pieces with a single piece that contains these codes. */
static struct bytes with_piece(struct bytes patch, unsigned kind, uint64_t codes, unsigned r,
                               const void *bytes, uint32_t size)
{
    struct bytes made = new_bytes(PIECE + PIECE_HEAD + size);
    memcpy(made.data, patch.data, PIECE);
    put64(made.data + PIECE + PIECE_BLOCKS, 1);
    put64(made.data + PIECE + PIECE_CODES, codes);
    put32(made.data + PIECE + PIECE_CODE_BYTES, size);
    made.data[PIECE + PIECE_KIND] = (uint8_t)kind;
    made.data[PIECE + PIECE_PARAMETER] = (uint8_t)r;
    if (size) memcpy(made.data + PIECE + PIECE_HEAD, bytes, size);
    seal_patch(made);
    return made;
}

static void counters_stay_within_their_bounds(void **state)
{
    /* `ups` has sixteen gaps of 0 with r = 0, and `down` has one gap of 0. */
    static const uint8_t ups[8] = {0}, down[1] = {2};
    (void)state;
    petal_filter *from = make(PETAL_SCHEME_COUNTING, 100, 3, 0), *to = more_of(from);
    struct bytes patch = diff(from, to), forged = with_piece(patch, RAISED, 16, 0, ups, 2);
    require_refusal(from, forged, PETAL_ERR_DAMAGED, "beyond 15");
    free(forged.data);
    forged = with_piece(patch, COUNTED, 1, 0, down, 1);
    require_refusal(from, forged, PETAL_ERR_DAMAGED, "below 0");
    free(forged.data);
    free(patch.data);
    petal_free(from);
    petal_free(to);
}

static void bits_beyond_the_last_stay_clear(void **state)
{
    uint8_t whole[64] = {0};
    (void)state;
    petal_filter *from = make(PETAL_SCHEME_CLASSIC, 500, 3, 0), *to = more_of(from);
    struct bytes patch = diff(from, to);
    for (unsigned bit = 500; bit < 512; bit++) {
        whole[bit / 8] = (uint8_t)(1u << bit % 8);
        struct bytes forged = with_piece(patch, WHOLE, 0, 0, whole, 64);
        require_refusal(from, forged, PETAL_ERR_DAMAGED, "whole");
        free(forged.data);
        whole[bit / 8] = 0;
        uint64_t bits = (uint64_t)bit << 1; /* code: a zero bit, then r = 9 low bits */
        uint8_t code[2] = {(uint8_t)bits, (uint8_t)(bits >> 8)};
        forged = with_piece(patch, RISEN, 1, 9, code, 2);
        require_refusal(from, forged, PETAL_ERR_DAMAGED, "risen");
        free(forged.data);
    }
    free(patch.data);
    petal_free(from);
    petal_free(to);
}

/* Tests two invalid codes: one is longer than the bytes left, and the other points past the end. */
static void codes_lead_nowhere(void **state)
{
    uint8_t ones[1000];
    (void)state;
    memset(ones, 0xff, sizeof ones);
    petal_filter *from = small(PETAL_SCHEME_CLASSIC), *to = more_of(from);
    struct bytes patch = diff(from, to);
    for (unsigned kind = RISEN; kind <= FLIPPED; kind++) {
        for (unsigned r = 0; r <= 44; r++) {
            for (uint32_t size = 0; size < sizeof ones; size += 1 + size / 2) {
                struct bytes forged = with_piece(patch, kind, 1, r, ones, size);
                require_refusal(from, forged, PETAL_ERR_DAMAGED, "ones");
                free(forged.data);
                if (size == 0) continue;
                ones[size - 1] = 0;
                forged = with_piece(patch, kind, 1, r, ones, size);
                require_refusal(from, forged, PETAL_ERR_DAMAGED, "a long gap");
                free(forged.data);
                ones[size - 1] = 0xff;
            }
        }
    }
    free(patch.data);
    petal_free(from);
    petal_free(to);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* A patch may add layers, so a forged patch could request any amount of memory. */
static void new_layers_are_within_the_memory_limit(void **state)
{
    petal_options options = PETAL_OPTIONS_INIT;
    petal_open_options opening = PETAL_OPEN_OPTIONS_INIT;
    petal_error error;
    (void)state;
    options.capacity = 1000;
    options.rate = 0.01;
    options.growth = 1;
    options.growth_step = 64;
    petal_filter *from = create(&options), *to, *opened = NULL;
    add_numbers(from, 0, 900);
    to = clone_of(from);
    add_numbers(to, 900, 200);
    struct bytes patch = diff(from, to), file = serialized(from);
    uint64_t added = info_of(to).bytes - info_of(from).bytes;
    require_that(added, >, 60000);
    require_status(PETAL_ERR_LIMIT,
                   petal_apply_patch(from, patch.data, patch.size, added - 1, &error), error);
    opening.memory_limit = added - 1;
    require_status(PETAL_OK, petal_load(file.data, file.size, &opening, &opened, &error), error);
    require_refusal(opened, patch, PETAL_ERR_LIMIT, "as it was opened");
    require_status(PETAL_OK, petal_apply_patch(opened, patch.data, patch.size, added, &error),
                   error);
    assert_true(same_image(opened, to));
    require_status(PETAL_OK, petal_apply_patch(from, patch.data, patch.size, UINT64_MAX, &error),
                   error);
    petal_free(opened);
    petal_free(from);
    petal_free(to);
    /* The one-kilobyte patch requests 2^48 more bits. */
    put64(patch.data + P_SLOT + AT_LAYER + LAYER_ENTRY + 8, (uint64_t)1 << 48);
    put64(patch.data + P_SLOT + AT_LAYER + LAYER_ENTRY + 40, (uint64_t)1 << 45);
    uint64_t blocks = 1 + ((uint64_t)1 << 29), sums = 1024, payload;
    payload = sums + 8 * blocks;
    payload += (64 - payload % 64) % 64;
    put64(patch.data + P_SLOT + AT_PAYLOAD_OFFSET, payload);
    require_status(PETAL_OK, petal_load(file.data, file.size, NULL, &opened, &error), error);
    put64(patch.data + P_SLOT + AT_FILE_BYTES,
          payload + info_of(opened).bytes + ((uint64_t)1 << 45));
    seal_patch(patch);
    require_refusal(opened, patch, PETAL_ERR_LIMIT, "32 TiB");
    petal_free(opened);
    free(file.data);
    free(patch.data);
}

/* Applying a patch allocates 64 KiB, the new layers, and a description of the result. If an
 * allocation fails, the filter must not change. */
static void without_memory_nothing_changes(void **state)
{
    (void)state;
    for (enum kind kind = 0; kind < KIND_COUNT; kind++) {
        petal_filter *from = kind_filter(kind, NULL), *to = clone_of(from);
        if (kind == KIND_WINDOW_TIME) petal_set_clock(to, 150000, NULL);
        add_numbers(to, 10000, 3000);
        struct bytes patch = diff(from, to), file = serialized(from);
        bool done = false;
        for (uint64_t fail_at = 1; !done; fail_at++) {
            struct counting count = {0};
            petal_allocator allocator = counting_allocator(&count);
            petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
            petal_filter *filter = NULL;
            petal_error error;
            options.allocator = &allocator;
            options.secret = kind_secret(kind);
            require_status(PETAL_OK, petal_load(file.data, file.size, &options, &filter, &error),
                           error);
            uint64_t held = count.live_bytes;
            count.fail_at = count.calls + fail_at;
            count.fail_for_ever = true;
            petal_status status = apply(filter, patch, &error);
            require(status == PETAL_OK || status == PETAL_ERR_MEMORY, "%s", error.message);
            require(same_image(filter, status == PETAL_OK ? to : from), "%s, allocation %d",
                    kind_names[kind], (int)fail_at);
            require(status == PETAL_OK || count.live_bytes == held, "%s", kind_names[kind]);
            done = status == PETAL_OK;
            petal_free(filter);
            require(count.live_blocks == 0 && count.bad_releases == 0, "%s", kind_names[kind]);
        }
        free(file.data);
        free(patch.data);
        petal_free(from);
        petal_free(to);
    }
}

/* ---- the sources of filters and patches ------------------------------------------------------ */

static void a_sink_that_stops_ends_it_and_pieces_are_bounded(void **state)
{
    petal_error error;
    (void)state;
    petal_filter *from = make(PETAL_SCHEME_CLASSIC, 8000000, 3, 0), *to = clone_of(from);
    add_numbers(to, 0, 1000000); /* sets 31 % of the bits */
    struct bytes patch = diff(from, to);
    require_that(patch.size, >, 800000);
    struct sunk out = {{NULL, 0}, 1, 0};
    for (out.stop_at = 1; out.stop_at < patch.size; out.stop_at += 50000) {
        out.bytes.size = 0;
        require_status(PETAL_ERR_IO, petal_diff(from, to, sink, &out, &error), error);
        assert_int_equal(error.system_errno, 28);
        assert_memory_equal(out.bytes.data, patch.data, out.bytes.size);
    }
    require_that(out.largest, <=, 262144);
    free(out.bytes.data);
    require_status(PETAL_ERR_ARGUMENT, petal_diff(from, to, NULL, NULL, &error), error);
    require_patch(from, to, "a third of the bits");
    free(patch.data);
    petal_free(from);
    petal_free(to);
}

static void other_bases_are_refused_by_name(void **state)
{
    petal_error error;
    (void)state;
    petal_filter *from = small(PETAL_SCHEME_CLASSIC), *to = more_of(from), *other = clone_of(from);
    struct bytes patch = diff(from, to);
    add_numbers(other, 1000, 1);
    require_refusal(other, patch, PETAL_ERR_MISMATCH, "another");
    require_refusal(to, patch, PETAL_ERR_MISMATCH, "the result");
    apply(to, patch, &error);
    assert_non_null(strstr(error.message, "applied already"));
    apply(other, patch, &error);
    assert_non_null(strstr(error.message, "content id"));
    assert_int_equal(petal_last_error(other, &error), PETAL_ERR_MISMATCH);
    free(patch.data);
    petal_free(from);
    petal_free(to);
    petal_free(other);
}

static void a_patch_holds_no_secret(void **state)
{
    (void)state;
    petal_filter *from = kind_filter(KIND_KEYED, NULL), *to = clone_of(from);
    petal_options options = kind_options(KIND_KEYED);
    options.secret = "fedcba9876543210";
    petal_filter *other = create(&options);
    add_numbers(to, 6000, 100);
    struct bytes patch = diff(from, to);
    for (size_t i = 0; i + 8 <= patch.size; i++)
        require(memcmp(patch.data + i, kinds_secret, 8) != 0, "at %zu", i);
    require_refusal(other, patch, PETAL_ERR_MISMATCH, "another secret");
    free(patch.data);
    petal_free(from);
    petal_free(to);
    petal_free(other);
}

/* Also tests filters of other libraries, in their own format and as petal files. */
static void filters_of_every_format_have_patches(void **state)
{
    petal_format_info format = PETAL_FORMAT_INFO_INIT;
    unsigned tried = 0;
    (void)state;
    for (uint32_t place = 0; petal_format_at(place, &format); place++) {
        petal_options options = PETAL_OPTIONS_INIT;
        petal_filter *from = NULL;
        options.format = format.name;
        options.capacity = 500;
        options.rate = 0.01;
        if (!(format.abilities & PETAL_FORMAT_CAN_CREATE)) continue;
        if (petal_create(&options, &from, NULL) != PETAL_OK) continue;
        add_numbers(from, 0, 450);
        petal_filter *to = clone_of(from);
        add_numbers(to, 450, 45);
        require_patch(from, to, format.name);
        add_numbers(to, 450, 2000); /* chains grow */
        require_patch(from, to, format.name);
        tried++;
        petal_free(from);
        petal_free(to);
    }
    require_that(tried, >=, 15);
}

static void maps_views_and_shared_filters(void **state)
{
    petal_error error;
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    (void)state;
    petal_filter *from = small(PETAL_SCHEME_CLASSIC), *to = more_of(from), *map = NULL,
                 *view = NULL;
    struct bytes patch = diff(from, to), file = serialized(from);
    const char *path = temporary("map");
    write_file(path, file.data, file.size);
    require_status(PETAL_OK, petal_open(path, NULL, &map, &error), error);
    require_status(PETAL_OK, petal_view(file.data, file.size, NULL, &view, &error), error);
    struct bytes same = diff(map, to);
    assert_true(same_bytes(same, patch));
    free(same.data);
    require_refusal(map, patch, PETAL_ERR_READ_ONLY, "a map");
    require_refusal(view, patch, PETAL_ERR_READ_ONLY, "a view");
    petal_free(map);
    options.flags = PETAL_OPEN_WRITABLE;
    require_status(PETAL_OK, petal_open(path, &options, &map, &error), error);
    require_status(PETAL_ERR_UNSUPPORTED, apply(map, patch, &error), error);
    petal_add_i64(map, 4711);
    petal_free(map);
    require_status(PETAL_OK, petal_open(path, NULL, &map, &error), error);
    assert_true(petal_contains_i64(map, 4711));
    petal_free(map);
    petal_free(view);
    /* A patch must never contain data from damaged blocks. */
    file.data[file.size - 1 - 64 + 5] ^= 1;
    require_status(PETAL_OK, petal_view(file.data, file.size, NULL, &view, &error), error);
    struct sunk out = {{NULL, 0}, 0, 0};
    require_status(PETAL_ERR_DAMAGED, petal_diff(view, to, sink, &out, &error), error);
    require_status(PETAL_ERR_DAMAGED, petal_diff(to, view, sink, &out, &error), error);
    require_that(out.bytes.size, ==, 0);
    petal_free(view);
    /* A shared filter keeps its item count separately, for its threads. */
    assert_int_equal(petal_allow_threads(from, NULL), PETAL_OK);
    require_status(PETAL_OK, apply(from, patch, &error), error);
    assert_true(same_image(from, to));
    assert_int_equal(petal_add_i64(from, 9999), petal_add_i64(to, 9999));
    assert_true(same_image(from, to));
    free(file.data);
    free(patch.data);
    petal_free(from);
    petal_free(to);
}

/* Patches and clients use the content id that the handle reports. After a sync, this id must equal
 * the file's, in every scheme. */
static void a_synced_map_has_the_content_id_of_its_file(void **state)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    petal_error error;
    (void)state;
    options.flags = PETAL_OPEN_WRITABLE;
    FOR_NATIVE_SCHEMES(scheme)
    {
        petal_filter *filter = small(scheme), *map = NULL, *file = NULL;
        const char *path = temporary("synced");
        uint64_t before, id, wanted;
        require_status(PETAL_OK, petal_save(filter, path, NULL, &error), error);
        require_status(PETAL_OK, petal_open(path, &options, &map, &error), error);
        require_status(PETAL_OK, petal_content_id(map, &before, &error), error);
        add_numbers(map, 900000, 10);
        require_status(PETAL_OK, petal_sync(map, &error), error);
        require_status(PETAL_OK, petal_content_id(map, &id, &error), error);
        require_status(PETAL_OK, petal_open(path, NULL, &file, &error), error);
        require_status(PETAL_OK, petal_content_id(file, &wanted, &error), error);
        require(id == wanted && id != before,
                "scheme %u: %016llx after a sync, in the file %016llx", scheme,
                (unsigned long long)id, (unsigned long long)wanted);
        struct bytes patch = diff(filter, map);
        require_status(PETAL_OK, apply(filter, patch, &error), error);
        assert_true(same_image(filter, file));
        free(patch.data);
        petal_free(file);
        petal_free(map);
        petal_free(filter);
        unlink(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_patch_turns_every_kind_of_filter_into_a_later_one),
        cmocka_unit_test(what_fell_is_carried_too),
        cmocka_unit_test(metadata_items_and_capacity_come_along),
        cmocka_unit_test(what_is_not_of_one_kind_has_no_patch),
        cmocka_unit_test(a_filter_that_grew_brings_its_new_layers),
        cmocka_unit_test(generations_that_went_cost_nothing),
        cmocka_unit_test(patches_are_close_to_the_entropy),
        cmocka_unit_test(a_patch_cut_off_or_changed_anywhere_is_refused),
        cmocka_unit_test(a_forged_patch_is_refused_whatever_it_says),
        cmocka_unit_test(random_forgeries_change_nothing),
        cmocka_unit_test(counters_stay_within_their_bounds),
        cmocka_unit_test(bits_beyond_the_last_stay_clear),
        cmocka_unit_test(codes_lead_nowhere),
        cmocka_unit_test(new_layers_are_within_the_memory_limit),
        cmocka_unit_test(without_memory_nothing_changes),
        cmocka_unit_test(a_sink_that_stops_ends_it_and_pieces_are_bounded),
        cmocka_unit_test(other_bases_are_refused_by_name),
        cmocka_unit_test(a_patch_holds_no_secret),
        cmocka_unit_test(filters_of_every_format_have_patches),
        cmocka_unit_test(maps_views_and_shared_filters),
        cmocka_unit_test(a_synced_map_has_the_content_id_of_its_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
