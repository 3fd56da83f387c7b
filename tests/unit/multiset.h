/* multiset.h - applies the same random steps to a counting filter, an exact multiset of keys and an
 * exact array of counters. The counters follow docs/format.md, and use no code from src. */
#ifndef PETAL_TESTS_MULTISET_H
#define PETAL_TESTS_MULTISET_H

#include "image.h"
#include "reference.h"

#define COUNTER_MAX 15

struct workload {
    uint64_t counters; /* m */
    uint32_t hashes;
    uint64_t keys;     /* integers, starting with 0 */
    unsigned max_each; /* the maximum number of times a key may be present */
    uint64_t steady;   /* approximate number of present keys, with repeats */
    uint64_t steps, seed;
};

struct multiset {
    const struct workload *work;
    petal_filter *filter;
    uint8_t *times;    /* number of times each key is present */
    uint8_t *counters; /* one byte each */
    uint64_t in, random;
    uint64_t added, removed, refused,
        passed; /* numbers of steps; `passed` counts the false positives */
};

/* ---- counters by the specification ----------------------------------------------------------- */

static inline uint32_t distinct_positions(uint64_t m, uint32_t k, uint64_t hash,
                                          uint64_t *positions)
{
    uint64_t all[MAX_POSITIONS];
    uint32_t count = 0;
    reference_positions(PETAL_SCHEME_COUNTING, m, k, 0, hash, all);
    for (uint32_t i = 0; i < k; i++) {
        bool repeat = false;
        for (uint32_t j = 0; j < count; j++) repeat = repeat || positions[j] == all[i];
        if (!repeat) positions[count++] = all[i];
    }
    return count;
}

static inline bool all_above_zero(const uint8_t *counters, const uint64_t *positions,
                                  uint32_t count)
{
    bool all = true;
    for (uint32_t i = 0; i < count; i++) all = all && counters[positions[i]] > 0;
    return all;
}

static inline void count_by(uint8_t *counters, const uint64_t *positions, uint32_t count, int step)
{
    for (uint32_t i = 0; i < count; i++)
        if (counters[positions[i]] < COUNTER_MAX)
            counters[positions[i]] = (uint8_t)(counters[positions[i]] + step);
}

/* Fails the test unless the filter's bytes equal the expected counters. */
static inline void require_counters(const petal_filter *filter, const uint8_t *counters, uint64_t m)
{
    struct bytes image = serialized(filter);
    const uint8_t *payload = payload_of(image);
    for (uint64_t i = 0; i < m; i++)
        require((payload[i / 2] >> (i % 2 ? 4 : 0) & 15) == counters[i],
                "counter %llu of %llu is %u, not %u", (unsigned long long)i, (unsigned long long)m,
                payload[i / 2] >> (i % 2 ? 4 : 0) & 15, counters[i]);
    free(image.data);
}

/* ---- steps ----------------------------------------------------------------------------------- */

static inline uint64_t hash_of_number(const petal_filter *filter, uint64_t number)
{
    uint8_t key[8];
    petal_encode_i64((int64_t)number, key);
    return petal_hash_key(filter, key, sizeof key);
}

static inline void step_add(struct multiset *set, uint64_t key, const uint64_t *positions,
                            uint32_t count)
{
    petal_status wanted = all_above_zero(set->counters, positions, count) ? PETAL_SEEN : PETAL_OK;
    petal_status status = petal_add_i64(set->filter, (int64_t)key);
    require(status == wanted, "adding %llu: %s", (unsigned long long)key,
            petal_status_name(status));
    count_by(set->counters, positions, count, 1);
    set->times[key]++;
    set->in++;
    set->added++;
}

/* Removes a key. If the key is absent, the filter must refuse to remove it. */
static inline void step_remove(struct multiset *set, uint64_t key, const uint64_t *positions,
                               uint32_t count)
{
    bool is_in = set->times[key] > 0;
    petal_status status = petal_remove_i64(set->filter, (int64_t)key);
    require(status == (is_in ? PETAL_OK : PETAL_ABSENT), "removing %llu: %s",
            (unsigned long long)key, petal_status_name(status));
    set->removed += is_in;
    set->refused += !is_in;
    if (!is_in) return;
    count_by(set->counters, positions, count, -1);
    set->times[key]--;
    set->in--;
}

static inline void step(struct multiset *set)
{
    const struct workload *work = set->work;
    uint64_t key = random_below(&set->random, work->keys), positions[MAX_POSITIONS];
    uint32_t count = distinct_positions(work->counters, work->hashes,
                                        hash_of_number(set->filter, key), positions);
    bool found = petal_contains_i64(set->filter, (int64_t)key);
    require(found == all_above_zero(set->counters, positions, count), "key %llu, seed %llu",
            (unsigned long long)key, (unsigned long long)work->seed);
    require(found || set->times[key] == 0, "false negative: %llu, seed %llu",
            (unsigned long long)key, (unsigned long long)work->seed);
    /* If `steady` keys are present, adding and removing are equally likely. */
    bool adds = random_below(&set->random, 2 * work->steady) >= set->in;
    if (adds && set->times[key] < work->max_each)
        step_add(set, key, positions, count);
    else if (set->times[key] > 0 || !found)
        step_remove(set, key, positions, count);
    else
        set->passed++; /* a false positive: removing the key would damage other keys */
}

/* ---- a whole run ----------------------------------------------------------------------------- */

/* Requires that every present key is found, and that the counters and the filter's reports about
 * them are exact. */
static inline void require_whole(const struct multiset *set)
{
    const struct workload *work = set->work;
    uint64_t not_zero = 0, saturated = 0;
    petal_info info = info_of(set->filter);
    petal_stats info_stats = stats_of(set->filter);
    for (uint64_t key = 0; key < work->keys; key++)
        require(set->times[key] == 0 || petal_contains_i64(set->filter, (int64_t)key),
                "false negative: %llu", (unsigned long long)key);
    require_counters(set->filter, set->counters, work->counters);
    for (uint64_t i = 0; i < work->counters; i++) {
        not_zero += set->counters[i] > 0;
        saturated += set->counters[i] == COUNTER_MAX;
    }
    require_that(info_stats.bits_set, ==, not_zero);
    require_that(info_stats.saturated_counters, ==, saturated);
    require_that(info.items, ==, set->in);
}

static inline uint8_t *zeros(uint64_t count)
{
    uint8_t *bytes = calloc((size_t)count, 1);
    if (!bytes) abort(); /* the static analyzer recognizes only this */
    return bytes;
}

static inline struct multiset new_multiset(const struct workload *work)
{
    struct multiset set = {.work = work, .random = work->seed};
    set.filter = make(PETAL_SCHEME_COUNTING, work->counters, work->hashes, 0);
    set.times = zeros(work->keys);
    set.counters = zeros(work->counters);
    return set;
}

/* Runs the steps. The caller frees the result with set_free(). */
static inline struct multiset run_multiset(const struct workload *work)
{
    struct multiset set = new_multiset(work);
    for (uint64_t i = 1; i <= work->steps; i++) {
        step(&set);
        if (i % (work->steps / 16) == 0) require_whole(&set);
    }
    print_message(
        "# %llu steps: %llu adds, %llu removals, %llu refused, %llu false positives, %llu counters stick\n",
        (unsigned long long)work->steps, (unsigned long long)set.added,
        (unsigned long long)set.removed, (unsigned long long)set.refused,
        (unsigned long long)set.passed,
        (unsigned long long)stats_of(set.filter).saturated_counters);
    return set;
}

static inline void set_free(struct multiset *set)
{
    petal_free(set->filter);
    free(set->times);
    free(set->counters);
}

/* Unless a counter has saturated, the filter must equal one to which only the remaining keys were
 * added, because removed keys leave no trace. */
static inline void require_no_trace(const struct multiset *set)
{
    petal_filter *fresh = make(PETAL_SCHEME_COUNTING, set->work->counters, set->work->hashes, 0);
    assert_int_equal(stats_of(set->filter).saturated_counters, 0);
    for (uint64_t key = 0; key < set->work->keys; key++)
        for (unsigned i = 0; i < set->times[key]; i++) petal_add_i64(fresh, (int64_t)key);
    assert_true(same_image(set->filter, fresh));
    petal_free(fresh);
}

#endif
