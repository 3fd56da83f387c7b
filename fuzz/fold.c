/* fold.c - fuzz target: folds any filter with any options, sometimes with failing allocations. A
 * folded filter must contain every key, keep its rate, and equal, byte for byte, a filter created
 * with the smaller size. The original must never change. */
#include "input.h"

#include <math.h>

#define MEMORY_LIMIT ((uint64_t)1 << 18)
#define MAX_KEYS 512

static const uint8_t secret[PETAL_SECRET_BYTES] = {7, 6, 5, 4, 3, 2, 1, 0};

static double take_rate(struct input *in)
{
    static const double notable[] = {0.01, 0.5,       0.1, 0.001, 1e-6,    1e-30, 0x1p-1074,
                                     0,    INFINITY,  1,   -1,    0x1p-53, NAN,   0.9999,
                                     1e-3, 0x1.8p-10, 0.3, 0.02,  1.9e-4};
    return notable[take_below(in, sizeof notable / sizeof *notable)];
}

/* ---- the filter ------------------------------------------------------------------------------ */

static void take_size(struct input *in, petal_options *options)
{
    static const uint16_t divisible[] = {1, 7, 60, 64, 96, 120, 128, 360, 720, 840, 1023};
    options->rate = take_rate(in);
    switch (take_below(in, 4)) {
    case 0: options->capacity = take(in, 2); break;
    case 1: options->memory_bytes = take(in, 3); break;
    default:
        options->bits = (uint64_t)divisible[take_below(in, 11)] * (take_below(in, 2) ? 512 : 1);
        options->hashes = 1 + take_below(in, 20);
    }
}

static petal_options take_options(struct input *in)
{
    static const uint32_t schemes[] = {PETAL_SCHEME_BLOCKED, PETAL_SCHEME_CLASSIC,
                                       PETAL_SCHEME_CLASSIC, PETAL_SCHEME_COUNTING};
    static const char *const formats[] = {"parquet", "rocksdb", "guava"};
    petal_options options = PETAL_OPTIONS_INIT;
    uint32_t given = take_below(in, 256);
    take_size(in, &options);
    if (given & 1) options.scheme = schemes[take_below(in, 4)];
    if ((given & 6) == 6) options.format = formats[take_below(in, 3)];
    if (given & 8) options.foldable = 1;
    if (given & 16) options.seed = take(in, 2);
    if ((given & 96) == 96) options.secret = secret;
    if ((given & 96) == 64) options.lines_per_key = take_below(in, 3);
    if ((given & 128) && options.capacity) options.growth = take_below(in, 2) != 0;
    options.metadata = "kept";
    options.metadata_bytes = take_below(in, 5);
    return options;
}

static int64_t add_keys(petal_filter *filter, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (petal_add_i64(filter, i * i) < 0) return i; /* no memory for another layer */
    return count;
}

static void must_have(const petal_filter *filter, int64_t count)
{
    for (int64_t i = 0; i < count; i++) must(petal_contains_i64(filter, i * i));
}

/* ---- folding --------------------------------------------------------------------------------- */

static petal_fold_options take_fold_options(struct input *in, uint64_t bits)
{
    petal_fold_options options = PETAL_FOLD_OPTIONS_INIT;
    uint32_t given = take_below(in, 256);
    if (given & 1) options.rate = take_rate(in);
    if (given & 2) options.capacity = take_number(in);
    if ((given & 12) == 4) options.bits = take_number(in);
    if ((given & 12) == 8) options.bits = bits / (1 + take_below(in, 64));
    if ((given & 48) == 48) options.by_bits = 1;
    return options;
}

/* In Petal's own schemes, the folded filter must equal a filter that was created with this size and
 * contains the same keys. */
static void must_equal_one_made_small(const petal_filter *folded, const petal_options *large,
                                      int64_t count)
{
    petal_options options = *large;
    petal_filter *small = NULL;
    petal_info info = info_of(folded);
    if (large->format) return;
    options.capacity = options.memory_bytes = 0;
    options.rate = 0;
    options.growth = options.foldable = 0;
    options.bits = info.bits;
    options.hashes = info.hashes;
    options.lines_per_key = info.lines_per_key;
    options.allocator = NULL;
    must(petal_create(&options, &small, NULL) == PETAL_OK);
    must(add_keys(small, count) == count);
    must(content_of(small) == content_of(folded));
    petal_free(small);
}

static void must_be_folded(const petal_filter *folded, const petal_filter *large,
                           const petal_fold_options *options)
{
    petal_info before = info_of(large), after = info_of(folded);
    must(after.bits > 0 && after.bits <= before.bits && before.bits % after.bits == 0);
    must(options->bits == 0 || after.bits == options->bits);
    must(after.scheme == before.scheme && after.hashes == before.hashes &&
         after.lines_per_key == before.lines_per_key && after.seed == before.seed);
    must(after.policy == PETAL_POLICY_NONE && after.layers == 1 &&
         after.key_type == before.key_type);
    must(after.metadata_bytes == before.metadata_bytes);
    must(options->by_bits || after.items == before.items);
    must(options->bits != 0 || after.capacity >= options->capacity);
    if (isnan(after.target_rate)) { /* too small for this rate with any number of keys */
        must(after.capacity == 0);
        return;
    }
    must(after.predicted_rate <= after.target_rate);
    must(options->rate == 0 || after.target_rate == options->rate);
}

static void fold(const petal_filter *large, const petal_options *made_by, struct budget *budget,
                 struct input *in, int64_t count)
{
    petal_fold_options options = take_fold_options(in, info_of(large).bits);
    petal_filter *folded = (petal_filter *)(uintptr_t)1;
    petal_error error = {0};
    uint64_t content = content_of(large), used = budget->used;
    if (take_below(in, 4) == 3) budget->limit = used + take(in, 2);
    petal_status status = petal_fold(large, &options, &folded, &error);
    must(content_of(large) == content);
    if (status == PETAL_OK) {
        must_be_folded(folded, large, &options);
        must_have(folded, count);
        must_equal_one_made_small(folded, made_by, count);
    } else {
        must_be_told(&error, status);
        must(folded == NULL && budget->used == used);
        must(status != PETAL_ERR_MEMORY || budget->limit - used < info_of(large).bytes + 8192);
    }
    petal_free(folded);
    must(budget->used == used);
    budget->limit = MEMORY_LIMIT * 4;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    struct input in = {data, size_bytes};
    struct budget budget = {MEMORY_LIMIT, 0, 0};
    petal_allocator allocator = allocator_of(&budget);
    petal_options options = take_options(&in);
    petal_filter *filter = NULL;
    options.allocator = &allocator;
    if (petal_create(&options, &filter, NULL) == PETAL_OK) {
        int64_t count = add_keys(filter, take_below(&in, MAX_KEYS));
        budget.limit = MEMORY_LIMIT * 4;
        for (int i = 0; i < 4; i++) fold(filter, &options, &budget, &in, count);
        must_have(filter, count);
    }
    petal_free(filter);
    must(budget.used == 0);
    return 0;
}
