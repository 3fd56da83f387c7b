/* patch.c - a patch turns one filter into another, byte for byte, whatever changed; it is close to
 * the entropy of what changed; and no other base, no damage and no forgery changes a filter. The
 * format is that of docs/format.md, "Patches". */
#include "image.h"
#include "kinds.h"

/* Of a patch; its pieces come after slot, metadata and origin. */
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

/* The patch from one to the other works, and gives the same file; both stay as they are. Returns
 * the size of the patch. */
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
    assert_true(id == wanted);
    /* The handle works on: as the other one would. */
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

/* ---- what changes ---------------------------------------------------------------------------- */

static void a_patch_turns_every_kind_of_filter_into_a_later_one(void **state)
{
    (void)state;
    for (enum kind kind = 0; kind < KIND_COUNT; kind++) {
        petal_filter *from = kind_filter(kind, NULL), *to = clone_of(from);
        require_patch(from, to, kind_names[kind]);
        for (unsigned step = 0; step < 8; step++) {
            if (kind == KIND_WINDOW_TIME) petal_advance(to, 120000 + step * 9000, NULL);
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
        petal_clear(to, NULL);
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
    add_numbers(to, 0, 10); /* in already: only items change */
    struct bytes patch = diff(from, to);
    assert_true(patch.size == P_SLOT + SLOT + 16 + PIECE_HEAD);
    free(patch.data);
    require_patch(from, to, "metadata");
    assert_int_equal(petal_set_metadata(to, NULL, 0, NULL), PETAL_OK);
    require_patch(from, to, "no metadata");
    assert_true(petal_metadata(to, &bytes) == NULL && bytes == 0);
    petal_free(to);
    options.bits = info_of(from).bits; /* as that of the plan, but nothing else is recorded */
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

/* Closed generations are the same in both filters: only the newest, and those after it, cost. */
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
            if (by_time) petal_advance(from, 1 + i, NULL);
            add_numbers(from, i, 100);
        }
        petal_filter *to = clone_of(from);
        for (unsigned steps = 1; steps <= 4; steps++) {
            uint64_t at = 90000 + (steps - 1) * 10000;
            for (uint64_t i = at; i < at + 10000; i += 100) {
                if (by_time) petal_advance(to, 1 + i, NULL);
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

/* Of which of the clear bits have risen: the bytes that nobody could do without. */
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

static void measure(const char *name, const petal_options *options, uint64_t keys, uint64_t more,
                    double max_share)
{
    petal_filter *from = create(options);
    add_numbers(from, 0, keys);
    petal_filter *to = clone_of(from);
    add_numbers(to, keys, more);
    struct bytes file = serialized(to), patch = diff(from, to);
    double entropy = entropy_bytes(from, to), ratio = (double)patch.size / entropy,
           share = (double)patch.size / (double)file.size;
    print_message("%-28s %7.2f %% more keys: patch %8zu bytes, entropy %8.0f (%.3f times), file "
                  "%8zu (%.2f %%)\n",
                  name, 100.0 * (double)more / (double)keys, patch.size, entropy, ratio, file.size,
                  100 * share);
    double head =
        P_SLOT + (info_of(to).layers > 4 ? 2 : 1) * SLOT + PIECE_HEAD * info_of(to).layers;
    require((double)patch.size <= head + 1.03 * entropy, "%s: %.0f in the codes", name,
            (double)patch.size - head);
    require(100 * more != keys || ratio <= 1.15, "%s", name);
    require(share <= max_share, "%s", name);
    require_patch(from, to, name);
    free(file.data);
    free(patch.data);
    petal_free(from);
    petal_free(to);
}

/* 1.15 times the entropy is the bound for 1 % more keys. A patch that says almost nothing still has
 * its head, the slot and a piece: 608 bytes and up. Its codes are within 3 %. */
static void patches_are_close_to_the_entropy(void **state)
{
    petal_options options = PETAL_OPTIONS_INIT;
    (void)state;
    options.capacity = 300000;
    options.rate = 0.01;
    for (uint32_t lines = 1; lines <= 2; lines++) {
        options.lines_per_key = lines;
        measure(lines == 1 ? "blocked" : "blocked, 2 lines", &options, 300000, 3000, 0.05);
    }
    measure("blocked", &options, 300000, 300, 0.01);
    measure("blocked", &options, 300000, 30000, 0.20);
    options.lines_per_key = 0;
    options.rate = 0.0001;
    measure("blocked, 1:10,000", &options, 300000, 3000, 0.05);
    options.rate = 0.01;
    options.scheme = PETAL_SCHEME_CLASSIC;
    measure("classic", &options, 300000, 3000, 0.05);
    measure("classic, half full", &options, 150000, 1500, 0.05);
    measure("classic", &options, 300000, 30000, 0.25);
    options.scheme = PETAL_SCHEME_BLOCKED;
    options.growth = 1;
    options.capacity = 10000;
    measure("growing", &options, 300000, 3000, 0.05);
    measure("growing, a new layer", &options, 309000, 3090, 0.05);
    options.scheme = PETAL_SCHEME_CLASSIC;
    measure("growing, classic", &options, 300000, 3000, 0.05);
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
