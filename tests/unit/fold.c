/* fold.c - proves that a folded filter equals, byte for byte, a filter created at the small size,
 * and that folding chooses the smallest size that keeps the rate. A refused fold changes
 * nothing. */
#include "kinds.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const char secret[] = "0123456789abcdef";

static petal_filter *fold_to(const petal_filter *filter, double rate, uint64_t capacity,
                             uint64_t bits)
{
    petal_fold_options options = PETAL_FOLD_OPTIONS_INIT;
    petal_filter *folded = NULL;
    petal_error error;
    options.rate = rate;
    options.capacity = capacity;
    options.bits = bits;
    require_status(PETAL_OK, petal_fold(filter, &options, &folded, &error), error);
    return folded;
}

/* ---- equal bytes ----------------------------------------------------------------------------- */

static void add_mixed(petal_filter *filter, uint64_t count)
{
    static uint64_t hashes[4096];
    for (uint64_t done = 0, part; done < count; done += part) {
        petal_batch batch = PETAL_BATCH_INIT;
        petal_error error;
        part = count - done < COUNT(hashes) ? count - done : COUNT(hashes);
        for (uint64_t i = 0; i < part; i++) hashes[i] = mix(done + i + 1);
        batch.layout = PETAL_LAYOUT_HASHES;
        batch.data = hashes;
        batch.count = part;
        require_status(PETAL_OK, petal_add_batch(filter, &batch, NULL, NULL, &error), error);
    }
}

/* Folds the filter to `bits` bits. The image must equal that of a filter created with `bits`
 * bits. */
static void require_fold_equals(const petal_filter *large, petal_options options, uint64_t bits,
                                uint64_t keys)
{
    petal_filter *folded = fold_to(large, 0, 0, bits);
    petal_info info = info_of(folded);
    options.bits = bits;
    options.capacity = info.capacity;
    options.rate = isnan(info.target_rate) ? 0 : info.target_rate;
    petal_filter *small = create(&options);
    add_mixed(small, keys);
    require(same_image(folded, small), "%llu to %llu bits, k = %u, %llu keys",
            (unsigned long long)info_of(large).bits, (unsigned long long)bits, info.hashes,
            (unsigned long long)keys);
    petal_free(folded);
    petal_free(small);
}

/* The schemes and shapes that can be folded, and the number of bits per line. */
static const struct kind_of_line {
    uint32_t scheme, hashes, lines_per_key, line_bits;
} line_kinds[] = {
    {PETAL_SCHEME_BLOCKED, 6, 1, 512},  {PETAL_SCHEME_BLOCKED, 16, 1, 512},
    {PETAL_SCHEME_BLOCKED, 1, 1, 512},  {PETAL_SCHEME_BLOCKED, 13, 2, 512},
    {PETAL_SCHEME_BLOCKED, 32, 2, 512}, {PETAL_SCHEME_CLASSIC, 7, 0, 1},
    {PETAL_SCHEME_CLASSIC, 1, 0, 1},    {PETAL_SCHEME_CLASSIC, 64, 0, 1},
};

static void by_every_divisor_of_twenty_sizes_the_bytes_are_those_of_a_small_filter(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {1,   2,   3,   7,    60,   64,   97,   128,  210,  255,
                                     256, 360, 511, 1001, 1024, 2310, 5040, 6561, 8191, 10007};
    for (size_t i = 0; i < COUNT(line_kinds); i++)
        for (size_t s = 0; s < COUNT(sizes); s++) {
            const struct kind_of_line *kind = &line_kinds[i];
            uint64_t lines = sizes[s], bits = lines * kind->line_bits;
            petal_options options =
                options_of(kind->scheme, bits, kind->hashes, kind->lines_per_key);
            options.seed = 5;
            options.metadata = "kept";
            options.metadata_bytes = 4;
            options.rate = s % 2 ? 0.01 : 0;
            options.capacity = 1;
            petal_filter *large = create(&options);
            uint64_t keys = 1 + lines * kind->line_bits / kind->hashes / 20;
            add_mixed(large, keys);
            for (uint64_t d = 1; d <= lines; d++)
                if (lines % d == 0)
                    require_fold_equals(large, options, lines / d * kind->line_bits, keys);
            petal_free(large);
        }
}

static void so_they_are_for_any_number_of_keys_and_any_factor(void **state)
{
    (void)state;
    static const uint64_t numbers[] = {1, 10, 1000, 1000000};
    for (size_t i = 0; i < COUNT(line_kinds); i++)
        for (size_t n = 0; n < COUNT(numbers); n++)
            for (size_t d = 0; d < COUNT(numbers); d++) {
                const struct kind_of_line *kind = &line_kinds[i];
                uint64_t small = numbers[d] > 1000 ? kind->line_bits : 37 * kind->line_bits;
                if (kind->hashes > 16 && numbers[n] * numbers[d] > 1000000000) continue;
                petal_options options =
                    options_of(kind->scheme, small * numbers[d], kind->hashes, kind->lines_per_key);
                petal_filter *large = create(&options);
                add_mixed(large, numbers[n]);
                require_fold_equals(large, options, small, numbers[n]);
                petal_free(large);
            }
}

static void so_they_are_in_parquets_and_rocksdbs_filters(void **state)
{
    (void)state;
    static const struct {
        const char *format;
        uint64_t bits;
        uint32_t hashes;
    } kinds[] = {{"parquet", (uint64_t)256 << 12, 8}, {"rocksdb", (uint64_t)512 * 5040, 6}};
    for (size_t i = 0; i < COUNT(kinds); i++)
        for (uint64_t d = 1; d <= 64; d++) {
            petal_options options = PETAL_OPTIONS_INIT;
            options.format = kinds[i].format;
            options.bits = kinds[i].bits;
            options.hashes = kinds[i].hashes;
            petal_filter *large = create(&options);
            uint64_t bits = info_of(large).bits;
            if (bits / 256 % d || bits / d % (i ? 512 : 256)) {
                petal_free(large);
                continue;
            }
            add_numbers(large, 0, 1000);
            petal_filter *folded = fold_to(large, 0, 0, bits / d);
            options.bits = bits / d;
            petal_filter *small = create(&options);
            add_numbers(small, 0, 1000);
            require_that(info_of(small).bits, ==, bits / d);
            require(same_image(folded, small), "%s by %llu", options.format, (unsigned long long)d);
            require_that(strcmp(info_of(folded).format_name, options.format), ==, 0);
            petal_free(large);
            petal_free(folded);
            petal_free(small);
        }
}

static void a_keyed_filter_folds_with_its_secret(void **state)
{
    (void)state;
    petal_options options = options_of(PETAL_SCHEME_BLOCKED, 512 * 720, 7, 1);
    options.secret = secret;
    petal_filter *large = create(&options);
    add_numbers(large, 0, 2000);
    petal_filter *folded = fold_to(large, 0, 0, 512 * 90);
    options.bits = 512 * 90;
    petal_filter *small = create(&options);
    add_numbers(small, 0, 2000);
    require(same_image(folded, small), "keyed");
    require_numbers(folded, 0, 2000);
    petal_free(large);
    petal_free(folded);
    petal_free(small);
}

/* ---- the size -------------------------------------------------------------------------------- */

static double rate_of_size(petal_info info, uint64_t bits, uint64_t keys)
{
    info.bits = bits;
    return petal_predict_rate(&info, keys);
}

static void it_is_the_smallest_divisor_that_keeps_the_rate(void **state)
{
    (void)state;
    static const double rates[] = {0.1, 0.01, 0.001, 1e-5};
    for (uint32_t scheme = PETAL_SCHEME_BLOCKED; scheme <= PETAL_SCHEME_CLASSIC; scheme++)
        for (size_t r = 0; r < COUNT(rates); r++)
            for (uint64_t keys = 1; keys <= 100000; keys = keys * 7 + 3) {
                petal_options options = PETAL_OPTIONS_INIT;
                options.scheme = scheme;
                options.rate = rates[r];
                options.memory_bytes = 1 << 20;
                options.foldable = 1;
                petal_filter *large = create(&options);
                uint64_t line = scheme == PETAL_SCHEME_BLOCKED ? 512 : 1,
                         lines = info_of(large).bits / line;
                add_mixed(large, keys);
                petal_filter *folded = fold_to(large, 0, 0, 0);
                petal_info info = info_of(folded);
                uint64_t least = info.lines_per_key == 2 ? 64 : 1, best = lines;
                for (uint64_t i = lines; i >= least; i--)
                    if (lines % i == 0 && rate_of_size(info, i * line, keys) <= rates[r]) best = i;
                require_that(info.bits, ==, best * line);
                require_that(info.items, ==, keys);
                require_that(info.target_rate, ==, rates[r]);
                require_that(info.capacity, >=, keys);
                require_that(info.predicted_rate, <=, rates[r]);
                require_that(petal_predict_rate(&info, info.capacity + info.capacity / 1000 + 2), >,
                             rates[r]);
                petal_free(large);
                petal_free(folded);
            }
}

/* The library estimates the number of keys from the bits, and the estimate may be a few keys too
 * high. If a size is just large enough for the keys added, folding must still choose that size. */
static void the_number_of_keys_is_exact_unless_the_bits_contradict_it(void **state)
{
    (void)state;
    petal_options options = PETAL_OPTIONS_INIT;
    options.rate = 0.01;
    options.memory_bytes = 1 << 20;
    options.foldable = 1;
    petal_filter *some = create(&options);
    add_numbers(some, 0, 10000);
    petal_filter *folded = fold_to(some, 0, 0, 0);
    petal_info small = info_of(folded);
    int look_fuller = 0;
    petal_free(folded);
    petal_free(some);
    for (options.seed = 1; options.seed <= 8; options.seed++) {
        petal_filter *filter = create(&options);
        add_numbers(filter, 0, small.capacity);
        folded = fold_to(filter, 0, 0, 0);
        require_that(info_of(folded).bits, ==, small.bits);
        look_fuller += stats_of(filter).estimated_items.value > (double)small.capacity;
        petal_free(folded);
        petal_free(filter);
    }
    require_that(look_fuller, >, 0);
}

/* Repeated keys raise `items`, but folding chooses the size based on the bits. */
static void repeated_keys_count_once(void **state)
{
    (void)state;
    petal_options options = PETAL_OPTIONS_INIT;
    options.rate = 0.01;
    options.memory_bytes = 1 << 20;
    options.foldable = 1;
    petal_filter *once = create(&options), *often = create(&options);
    add_numbers(once, 0, 10000);
    for (int i = 0; i < 5; i++) add_numbers(often, 0, 10000);
    petal_filter *a = fold_to(once, 0, 0, 0), *b = fold_to(often, 0, 0, 0);
    require_that(info_of(a).bits, ==, info_of(b).bits);
    require_that(info_of(b).items, ==, 50000);
    petal_free(once);
    petal_free(often);
    petal_free(a);
    petal_free(b);
}

static void capacity_leaves_room_and_a_rate_may_be_another_one(void **state)
{
    (void)state;
    petal_options options = PETAL_OPTIONS_INIT;
    options.rate = 0.01;
    options.memory_bytes = 1 << 22;
    options.foldable = 1;
    petal_filter *large = create(&options);
    add_numbers(large, 0, 10000);
    petal_filter *tight = fold_to(large, 0, 0, 0), *room = fold_to(large, 0, 50000, 0),
                 *lower = fold_to(large, 0.0001, 0, 0), *few = fold_to(large, 0, 10, 0);
    require_that(info_of(room).bits, >, 4 * info_of(tight).bits);
    require_that(info_of(room).capacity, >=, 50000);
    require_that(info_of(lower).bits, >, info_of(tight).bits);
    require_that(info_of(lower).target_rate, ==, 0.0001);
    require_that(info_of(few).bits, ==, info_of(tight).bits);
    require_numbers(tight, 0, 10000);
    petal_free(large);
    petal_free(tight);
    petal_free(room);
    petal_free(lower);
    petal_free(few);
}

static void a_foldable_size_has_many_divisors_and_fits(void **state)
{
    (void)state;
    for (uint32_t scheme = PETAL_SCHEME_BLOCKED; scheme <= PETAL_SCHEME_CLASSIC; scheme++)
        for (uint64_t memory = 1 << 12; memory <= (uint64_t)1 << 40; memory = memory * 3 + 64) {
            petal_options options = PETAL_OPTIONS_INIT;
            petal_info plan = PETAL_INFO_INIT;
            petal_error error;
            options.scheme = scheme;
            options.rate = 0.01;
            options.memory_bytes = memory;
            options.foldable = 1;
            require_status(PETAL_OK, petal_plan(&options, &plan, NULL, &error), error);
            uint64_t lines = plan.bits / (scheme == PETAL_SCHEME_BLOCKED ? 512 : 1);
            uint64_t unit = lines >= 720720 ? 720720 : lines >= 5040 ? 5040 : lines >= 60 ? 60 : 1;
            require_that(lines % unit, ==, 0);
            require_that(plan.bytes, <=, memory);
            require_that(plan.bytes, >, memory / 2 - 64);
            require_that(plan.predicted_rate, <=, 0.01);
        }
}

static void a_growing_filter_folds_while_it_has_one_layer(void **state)
{
    (void)state;
    petal_options options = PETAL_OPTIONS_INIT;
    petal_error error;
    options.rate = 0.01;
    options.capacity = 100000;
    options.growth = 1;
    options.foldable = 1;
    petal_filter *large = create(&options), *folded = NULL;
    add_numbers(large, 0, 1000);
    folded = fold_to(large, 0, 0, 0);
    require_that(info_of(folded).policy, ==, PETAL_POLICY_NONE);
    require_that(info_of(folded).target_rate, ==, 0.01);
    require_that(info_of(folded).bytes, <, info_of(large).bytes / 50);
    require_numbers(folded, 0, 1000);
    petal_free(folded);
    add_numbers(large, 1000, 300000);
    require_that(info_of(large).layers, >, 1);
    require_that(info_of(large).abilities & PETAL_CAN_FOLD, ==, 0);
    require_status(PETAL_ERR_UNSUPPORTED, petal_fold(large, NULL, &folded, &error), error);
    petal_free(large);
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void require_refused(petal_status wanted, const petal_filter *filter,
                            const petal_fold_options *options)
{
    petal_error error = {PETAL_OK, 0, 0, ""};
    petal_filter *folded = (petal_filter *)&error;
    require_status(wanted, petal_fold(filter, options, &folded, &error), error);
    require_that(folded, ==, NULL);
    require_that(strlen(error.message), >, 20);
}

static void impossible_options_are_refused(void **state)
{
    (void)state;
    petal_options making = options_of(PETAL_SCHEME_BLOCKED, 512 * 60, 6, 1);
    petal_filter *filter = create(&making);
    add_numbers(filter, 0, 100);
    petal_fold_options none = PETAL_FOLD_OPTIONS_INIT;
    require_refused(PETAL_ERR_ARGUMENT, filter, NULL); /* the filter doesn't record a rate */
    static const double rates[] = {-1, 1, 2, NAN, INFINITY};
    for (size_t i = 0; i < COUNT(rates); i++) {
        petal_fold_options options = none;
        options.rate = rates[i];
        require_refused(PETAL_ERR_ARGUMENT, filter, &options);
    }
    static const uint64_t bits[] = {1, 511, 512 * 7, 512 * 60 + 1, 512 * 120, UINT64_MAX, 256 * 60};
    for (size_t i = 0; i < COUNT(bits); i++) {
        petal_fold_options options = none;
        options.bits = bits[i];
        petal_filter *folded = NULL;
        petal_error error;
        if (bits[i] == 256 * 60) { /* a divisor of the size, in whole lines */
            require_status(PETAL_OK, petal_fold(filter, &options, &folded, &error), error);
            petal_free(folded);
            continue;
        }
        require_refused(PETAL_ERR_ARGUMENT, filter, &options);
    }
    petal_fold_options both = none;
    both.bits = 512;
    both.capacity = 5;
    require_refused(PETAL_ERR_ARGUMENT, filter, &both);
    petal_fold_options zero = none;
    zero.struct_size = 0;
    require_refused(PETAL_ERR_ARGUMENT, filter, &zero);
    petal_fold_options low = none;
    low.rate = 1e-9;
    require_refused(PETAL_ERR_UNREACHABLE, filter, &low);
    low.rate = 0.01;
    low.capacity = UINT64_MAX;
    require_refused(PETAL_ERR_UNREACHABLE, filter, &low);
    petal_free(filter);
}

static void a_filter_without_a_clear_bit_is_refused(void **state)
{
    (void)state;
    for (uint32_t scheme = PETAL_SCHEME_BLOCKED; scheme <= PETAL_SCHEME_CLASSIC; scheme++) {
        petal_fold_options options = PETAL_FOLD_OPTIONS_INIT;
        petal_filter *filter = make(scheme, 1024, 6, 0);
        add_numbers(filter, 0, 20000);
        options.rate = 0.01;
        require_refused(PETAL_ERR_UNREACHABLE, filter, &options);
        petal_free(filter);
    }
}

static void what_cannot_be_folded_says_so_and_stays(void **state)
{
    (void)state;
    for (enum kind kind = 0; kind < KIND_COUNT; kind++) {
        petal_filter *filter = kind_filter(kind, NULL), *folded = NULL;
        petal_fold_options options = PETAL_FOLD_OPTIONS_INIT;
        petal_error error = {PETAL_OK, 0, 0, ""};
        struct bytes before = serialized(filter);
        options.rate = 0.9;
        bool can = (info_of(filter).abilities & PETAL_CAN_FOLD) != 0;
        petal_status status = petal_fold(filter, &options, &folded, &error);
        require(can == (status == PETAL_OK), "kind %d: %s", (int)kind, error.message);
        require(can || status == PETAL_ERR_UNSUPPORTED, "kind %d: %s", (int)kind, error.message);
        struct bytes after = serialized(filter);
        require(before.size == after.size && memcmp(before.data, after.data, after.size) == 0,
                "kind %d changed", (int)kind);
        free(before.data);
        free(after.data);
        petal_free(folded);
        petal_free(filter);
    }
}

static void without_memory_it_fails_clean(void **state)
{
    (void)state;
    petal_error error;
    struct counting count = {0};
    petal_allocator allocator = counting_allocator(&count);
    petal_options options = options_of(PETAL_SCHEME_CLASSIC, 10000, 4, 0);
    options.allocator = &allocator;
    options.metadata = "x";
    options.metadata_bytes = 1;
    petal_filter *filter = create(&options);
    petal_fold_options to = PETAL_FOLD_OPTIONS_INIT;
    to.bits = 5000;
    uint64_t before = count.live_blocks, calls = count.calls;
    petal_free(fold_to(filter, 0, 0, 5000));
    uint64_t needed = count.calls - calls;
    for (uint64_t i = 1; i <= needed; i++) {
        petal_filter *made = filter;
        count.fail_at = count.calls + i;
        require_status(PETAL_ERR_MEMORY, petal_fold(filter, &to, &made, &error), error);
        require_that(made, ==, NULL);
        require_that(count.live_blocks, ==, before);
        require_that(count.bad_releases, ==, 0);
    }
    petal_free(filter);
}

static void a_damaged_map_is_not_folded(void **state)
{
    (void)state;
    petal_error error;
    petal_options options = options_of(PETAL_SCHEME_BLOCKED, 512 * 4096, 6, 1);
    options.rate = 0.01;
    options.capacity = 5000;
    petal_filter *filter = create(&options), *map = NULL;
    add_numbers(filter, 0, 5000);
    const char *path = temporary("damaged");
    require_status(PETAL_OK, petal_save(filter, path, NULL, &error), error);
    FILE *file = fopen(path, "r+b");
    require(file != NULL, "opening %s", path);
    fseek(file, -70000, SEEK_END);
    int byte = fgetc(file);
    fseek(file, -70000, SEEK_END);
    fputc(byte ^ 1, file);
    fclose(file);
    require_status(PETAL_OK, petal_open(path, NULL, &map, &error), error);
    require_refused(PETAL_ERR_DAMAGED, map, NULL);
    petal_free(map);
    petal_free(filter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_every_divisor_of_twenty_sizes_the_bytes_are_those_of_a_small_filter),
        cmocka_unit_test(so_they_are_for_any_number_of_keys_and_any_factor),
        cmocka_unit_test(so_they_are_in_parquets_and_rocksdbs_filters),
        cmocka_unit_test(a_keyed_filter_folds_with_its_secret),
        cmocka_unit_test(it_is_the_smallest_divisor_that_keeps_the_rate),
        cmocka_unit_test(the_number_of_keys_is_exact_unless_the_bits_contradict_it),
        cmocka_unit_test(repeated_keys_count_once),
        cmocka_unit_test(capacity_leaves_room_and_a_rate_may_be_another_one),
        cmocka_unit_test(a_foldable_size_has_many_divisors_and_fits),
        cmocka_unit_test(a_growing_filter_folds_while_it_has_one_layer),
        cmocka_unit_test(impossible_options_are_refused),
        cmocka_unit_test(a_filter_without_a_clear_bit_is_refused),
        cmocka_unit_test(what_cannot_be_folded_says_so_and_stays),
        cmocka_unit_test(without_memory_it_fails_clean),
        cmocka_unit_test(a_damaged_map_is_not_folded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
