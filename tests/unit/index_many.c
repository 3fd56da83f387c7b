/* index_many.c - tests an index of 10^4 sets of 1 to 10^4 keys. The index must miss no key, and its
 * answers for each set must equal those of a single filter of the same size, including false
 * positives. The index may be at most 1.15 times as large as the planned filters. */
#include "../amount.h"
#include "kinds.h"

#include "petal/petal_index.h"

#include <math.h>

enum { ABSENT = 500, MEMBERS = 20, RATE_PERCENT = 1 };

/* A set of `count` consecutive numbers, starting with `first`. */
struct set {
    int64_t first;
    uint64_t count;
};

/* The sets' sizes are evenly distributed on a logarithmic scale, and in no particular order. */
static struct set *make_sets(uint64_t count)
{
    struct set *sets = malloc(count * sizeof *sets);
    int64_t next = 0;
    for (uint64_t i = 0; i < count; i++) {
        double place = (double)(i * 7919 % count) / (double)count;
        sets[i] = (struct set){next, (uint64_t)pow(10, 4 * place)};
        next += (int64_t)sets[i].count;
    }
    return sets;
}

static int64_t *numbers_of(struct set set, bool is_backwards)
{
    int64_t *numbers = malloc(set.count * sizeof *numbers);
    for (uint64_t i = 0; i < set.count; i++)
        numbers[i] = set.first + (int64_t)(is_backwards ? set.count - 1 - i : i);
    return numbers;
}

static void add_set(petal_index *index, const char *name, struct set set)
{
    petal_options options = PETAL_OPTIONS_INIT;
    petal_static_builder *builder = NULL;
    petal_error error;
    int64_t *numbers = numbers_of(set, false);
    petal_batch batch = batch_of_numbers(numbers, set.count);
    options.rate = RATE_PERCENT / 100.0;
    require_status(PETAL_OK, petal_static_create(&options, 1, &builder, &error), error);
    require_status(PETAL_OK, petal_static_add(builder, 0, &batch, &error), error);
    require_status(PETAL_OK, petal_index_add_keys(index, name, builder, &error), error);
    free(numbers);
}

static uint64_t planned_bytes(struct set set)
{
    petal_options options = PETAL_OPTIONS_INIT;
    petal_info plan = PETAL_INFO_INIT;
    options.rate = RATE_PERCENT / 100.0;
    options.capacity = set.count;
    require_that(petal_plan(&options, &plan, NULL, NULL), ==, PETAL_OK);
    return plan.bytes;
}

/* Creates a filter that contains the set's keys and has the size that the index chose for the
 * set. */
static petal_filter *make_alone(const petal_index *index, uint64_t number, struct set set)
{
    petal_options options = PETAL_OPTIONS_INIT;
    petal_info info = PETAL_INFO_INIT;
    petal_filter *filter = NULL;
    petal_error error;
    int64_t *numbers = numbers_of(set, true);
    require_that(petal_index_get_filter_info(index, number, &info, NULL), ==, PETAL_OK);
    options.bits = info.bits;
    options.hashes = info.hashes;
    options.lines_per_key = info.lines_per_key;
    require_status(PETAL_OK, petal_create(&options, &filter, &error), error);
    require_that(add_number_batch(filter, numbers, set.count, NULL, NULL), ==, PETAL_OK);
    free(numbers);
    return filter;
}

static petal_index *make_index(const struct set *sets, uint64_t count, const char *path)
{
    petal_index *made = NULL, *index = NULL;
    petal_error error;
    require_status(PETAL_OK, petal_index_create(NULL, &made, &error), error);
    for (uint64_t i = 0; i < count; i++) {
        char name[24];
        snprintf(name, sizeof name, "%llu", (unsigned long long)i);
        add_set(made, name, sets[i]);
    }
    require_status(PETAL_OK, petal_index_save(made, path, NULL, &error), error);
    require_status(PETAL_OK, petal_index_open(path, NULL, &index, &error), error);
    petal_index_free(made);
    return index;
}

static uint64_t *rows_of(const petal_index *index, const int64_t *numbers, size_t count)
{
    petal_index_info info = PETAL_INDEX_INFO_INIT;
    petal_error error;
    require_that(petal_index_get_info(index, &info, NULL), ==, PETAL_OK);
    uint64_t *rows = malloc(count * info.row_words * sizeof *rows);
    petal_batch batch = batch_of_numbers(numbers, count);
    require_status(PETAL_OK, petal_index_query(index, &batch, rows, info.row_words, &error), error);
    return rows;
}

/* Queries up to MEMBERS keys of the set, evenly spaced, including the first and the last. */
static void require_members(const petal_index *index, uint64_t number, struct set set,
                            uint64_t words)
{
    int64_t numbers[MEMBERS];
    size_t count = set.count < MEMBERS ? (size_t)set.count : MEMBERS;
    for (size_t i = 0; i < count; i++)
        numbers[i] =
            set.first + (int64_t)(count > 1 ? i * (set.count - 1) / (count - 1) : set.count - 1);
    uint64_t *rows = rows_of(index, numbers, count);
    for (size_t i = 0; i < count; i++)
        require(rows[i * words + number / 64] >> number % 64 & 1, "filter %llu misses key %lld",
                (unsigned long long)number, (long long)numbers[i]);
    free(rows);
}

static void an_index_of_ten_thousand_sets_answers_as_filters_of_its_sizes_do(void **state)
{
    const uint64_t count = nightly_amount(10000), words = (count + 63) / 64;
    struct set *sets = make_sets(count);
    petal_index *index = make_index(sets, count, temporary("index-many"));
    petal_index_info info = PETAL_INDEX_INFO_INIT;
    int64_t absent[ABSENT];
    uint64_t planned = 0, positives = 0;
    (void)state;
    for (int i = 0; i < ABSENT; i++) absent[i] = -1 - i;
    uint64_t *rows = rows_of(index, absent, ABSENT);
    for (uint64_t f = 0; f < count; f++) {
        petal_filter *alone = make_alone(index, f, sets[f]);
        uint8_t found[ABSENT];
        positives += contains_numbers(alone, absent, ABSENT, found);
        for (uint64_t i = 0; i < ABSENT; i++)
            require((rows[i * words + f / 64] >> f % 64 & 1) == found[i],
                    "filter %llu, absent key %llu: %u alone", (unsigned long long)f,
                    (unsigned long long)i, found[i]);
        require_members(index, f, sets[f], words);
        planned += planned_bytes(sets[f]);
        petal_free(alone);
    }
    /* Requires false positives, because a comparison without them would prove little. */
    require_that(positives, >, count * ABSENT / 1000);
    require_that(petal_index_get_info(index, &info, NULL), ==, PETAL_OK);
    require_that((double)info.bytes, <=, 1.15 * (double)planned);
    require_that(info.groups, <, 300u);
    petal_index_free(index);
    free(rows);
    free(sets);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_index_of_ten_thousand_sets_answers_as_filters_of_its_sizes_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
