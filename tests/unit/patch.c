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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_patch_turns_every_kind_of_filter_into_a_later_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
