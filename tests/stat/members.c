/* members.c - proves that every added key is found: for every number of hashes k, at every size
 * near powers of two and limits, and after every operation on a filter. Not a single key may be
 * missed. */
#include "statistics.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static uint64_t asked; /* total number of members queried */

/* Checks that all keys added so far are found, one by one and in a batch. */
static void require_all(const petal_filter *filter, const uint64_t *hashes, size_t count,
                        const char *after)
{
    petal_info info = PETAL_INFO_INIT;
    size_t in_batch = contains_hashes(filter, hashes, count, NULL), one_by_one = 0;
    for (size_t i = 0; i < count; i++) one_by_one += petal_contains_hash(filter, hashes[i]);
    asked += 2 * count;
    if (in_batch == count && one_by_one == count) return;
    petal_get_info(filter, PETAL_ALL_LAYERS, &info, NULL);
    require(false,
            "%s: %zu of %zu found one by one, %zu in a batch (%s, m = %llu, k = %u, %u lines)",
            after, one_by_one, count, in_batch, info.scheme_name, (unsigned long long)info.bits,
            info.hashes, info.lines_per_key);
}

/* ---- every k and size ------------------------------------------------------------------------ */

#define KEYS 100

/* Adds keys one by one, and after each key queries all earlier keys again. */
static void add_and_ask(uint32_t scheme, uint64_t bits, uint32_t k, uint32_t lines)
{
    uint64_t hashes[KEYS], random = bits * 131 + k;
    petal_filter *filter = make(scheme, bits, k, lines);
    for (size_t i = 0; i < KEYS; i++) {
        hashes[i] = i == 0 ? 0 : i == 1 ? UINT64_MAX : next_random(&random);
        bool was_in = petal_contains_hash(filter, hashes[i]);
        require(petal_add_hash(filter, hashes[i]) == (was_in ? PETAL_SEEN : PETAL_OK),
                "m = %llu, k = %u", (unsigned long long)bits, k);
        require_all(filter, hashes, i + 1, "after an add");
    }
    petal_free(filter);
}

/* Tests filters of 1 to 70 bits, and of each power of two and its two neighbours. */
static void classic_at_every_k_and_around_every_power_of_two(void **state)
{
    (void)state;
    for (uint32_t k = 1; k <= 64; k++) {
        for (uint64_t bits = 1; bits <= 70; bits++) add_and_ask(PETAL_SCHEME_CLASSIC, bits, k, 0);
        for (uint64_t power = 128; power <= 1 << 22; power *= 2)
            for (uint64_t bits = power - 1; bits <= power + 1; bits++)
                add_and_ask(PETAL_SCHEME_CLASSIC, bits, k, 0);
    }
}

static void blocked_at_every_k_and_around_every_power_of_two(void **state)
{
    (void)state;
    for (uint32_t k = 1; k <= 32; k++)
        for (uint32_t lines_per_key = k > 16 ? 2 : 1; lines_per_key <= (k > 1 ? 2 : 1);
             lines_per_key++) {
            for (uint64_t lines = 1; lines <= 20; lines++)
                add_and_ask(PETAL_SCHEME_BLOCKED, 512 * lines, k, lines_per_key);
            for (uint64_t power = 32; power <= 1 << 13; power *= 2)
                for (uint64_t lines = power - 1; lines <= power + 1; lines++)
                    add_and_ask(PETAL_SCHEME_BLOCKED, 512 * lines, k, lines_per_key);
        }
}

/* ---- everything that a filter can go through ------------------------------------------------- */

#define TRAVELLERS 700

struct journey {
    uint32_t scheme;
    uint64_t bits;
    uint32_t hashes, lines_per_key;
};

static const struct journey journeys[] = {
    {PETAL_SCHEME_CLASSIC, 1, 1, 0},        {PETAL_SCHEME_CLASSIC, 11, 2, 0},
    {PETAL_SCHEME_CLASSIC, 511, 7, 0},      {PETAL_SCHEME_CLASSIC, 513, 64, 0},
    {PETAL_SCHEME_CLASSIC, 524287, 5, 0},   {PETAL_SCHEME_CLASSIC, 524289, 7, 0},
    {PETAL_SCHEME_CLASSIC, 1500000, 10, 0}, {PETAL_SCHEME_BLOCKED, 512, 1, 1},
    {PETAL_SCHEME_BLOCKED, 1024, 16, 1},    {PETAL_SCHEME_BLOCKED, 1536, 2, 2},
    {PETAL_SCHEME_BLOCKED, 523776, 8, 1},   {PETAL_SCHEME_BLOCKED, 524288, 6, 1},
    {PETAL_SCHEME_BLOCKED, 524800, 11, 2},  {PETAL_SCHEME_BLOCKED, 1500160, 32, 2}};

static void require_all_and_free(petal_filter *filter, const uint64_t *hashes, const char *after)
{
    require_all(filter, hashes, TRAVELLERS, after);
    petal_free(filter);
}

static void travel_by_file(const petal_filter *filter, const uint64_t *hashes)
{
    petal_error error;
    const char *path = temporary("members.petal");
    require_status(PETAL_OK, petal_save(filter, path, NULL, &error), error);
    require_all_and_free(opened(path, PETAL_OPEN_MAP | PETAL_OPEN_VERIFY), hashes,
                         "after save and map");
    require_all_and_free(opened(path, PETAL_OPEN_LOAD | PETAL_OPEN_VERIFY), hashes,
                         "after save and load");
    petal_filter *map = opened(path, PETAL_OPEN_WRITABLE | PETAL_OPEN_VERIFY);
    petal_add_hash(map, 12345);
    require_all(map, hashes, TRAVELLERS, "in a writable map");
    require_status(PETAL_OK, petal_sync(map, &error), error);
    petal_add_hash(map, 54321);
    require_all_and_free(map, hashes, "in a writable map after sync");
    require_all_and_free(opened(path, PETAL_OPEN_MAP | PETAL_OPEN_VERIFY), hashes,
                         "after a writable map");
    unlink(path);
}

static void travel_by_memory(const petal_filter *filter, const uint64_t *hashes)
{
    petal_error error;
    petal_filter *other = NULL;
    struct bytes image = serialized(filter);
    require_status(PETAL_OK, petal_view(image.data, image.size, NULL, &other, &error), error);
    require_all_and_free(clone_of(other), hashes, "in a clone of a view");
    require_all_and_free(other, hashes, "in a view");
    require_status(PETAL_OK, petal_load(image.data, image.size, NULL, &other, &error), error);
    require_all_and_free(other, hashes, "after load from memory");
    require_all_and_free(clone_of(filter), hashes, "in a clone");
    free(image.data);
}

/* Adds half of the keys to each of two filters, whose union must contain all the keys. The
 * intersection of two filters with all the keys must also contain all the keys. */
static void travel_by_algebra(const struct journey *journey, const petal_filter *filter,
                              const uint64_t *hashes)
{
    petal_error error;
    uint64_t random = 99;
    petal_filter *a = make(journey->scheme, journey->bits, journey->hashes, journey->lines_per_key),
                 *b = clone_of(a);
    add_hash_batch(a, hashes, TRAVELLERS / 2, NULL, NULL);
    add_hash_batch(b, hashes + TRAVELLERS / 2, TRAVELLERS - TRAVELLERS / 2, NULL, NULL);
    require_status(PETAL_OK, petal_merge(a, b, &error), error);
    require_all(a, hashes, TRAVELLERS, "in a union");
    require_that(content_of(a), ==, content_of(filter));
    petal_free(b);
    b = clone_of(filter);
    for (int i = 0; i < 100; i++) {
        petal_add_hash(a, next_random(&random));
        petal_add_hash(b, next_random(&random));
    }
    require_status(PETAL_OK, petal_intersect(a, b, &error), error);
    require_all_and_free(a, hashes, "in an intersection");
    petal_free(b);
}

static void members_are_found_after_save_load_map_view_clone_merge_and_intersect(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(journeys); i++) {
        const struct journey *journey = &journeys[i];
        uint64_t hashes[TRAVELLERS], random = i;
        petal_filter *filter =
            make(journey->scheme, journey->bits, journey->hashes, journey->lines_per_key);
        for (size_t j = 0; j < TRAVELLERS; j++) hashes[j] = next_random(&random);
        assert_int_equal(add_hash_batch(filter, hashes, TRAVELLERS, NULL, NULL), PETAL_OK);
        travel_by_file(filter, hashes);
        travel_by_memory(filter, hashes);
        travel_by_algebra(journey, filter, hashes);
        petal_free(filter);
    }
}

/* ---- many ------------------------------------------------------------------------------------ */

/* Adds 3 million keys, far more than the capacity, to a filter of each layout. Even an overfull
 * filter must not miss a key. */
static void three_million_members_of_an_overfull_filter_are_all_found(void **state)
{
    (void)state;
    static const struct journey layouts[] = {{PETAL_SCHEME_CLASSIC, 9600001, 7, 0},
                                             {PETAL_SCHEME_BLOCKED, 9600000, 8, 1},
                                             {PETAL_SCHEME_BLOCKED, 9600000, 12, 2}};
    const uint64_t keys = 3000000;
    for (size_t i = 0; i < COUNT(layouts); i++) {
        petal_filter *filter =
            make(layouts[i].scheme, layouts[i].bits, layouts[i].hashes, layouts[i].lines_per_key);
        add_numbers(filter, 0, keys);
        require_numbers(filter, 0, keys);
        asked += keys;
        petal_free(filter);
    }
}

static void no_member_of_more_than_100_million_asked_was_missed(void **state)
{
    (void)state;
    printf("# %llu members asked for, 0 missed\n", (unsigned long long)asked);
    require_that(asked, >, 100000000); /* proves that the tests above ran */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classic_at_every_k_and_around_every_power_of_two),
        cmocka_unit_test(blocked_at_every_k_and_around_every_power_of_two),
        cmocka_unit_test(members_are_found_after_save_load_map_view_clone_merge_and_intersect),
        cmocka_unit_test(three_million_members_of_an_overfull_filter_are_all_found),
        cmocka_unit_test(no_member_of_more_than_100_million_asked_was_missed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
