/* sharing.c - proves that threads adding to one filter concurrently don't lose any bits, and that
 * threads that query it at the same time find every key that was already present. Run it under
 * ThreadSanitizer too (`./dev tsan unit/sharing`). */
#include "support.h"

#include <pthread.h>

#define THREADS 4
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define KEYS 20000u /* per thread */
#else
#define KEYS 500000u
#endif
#define PIECE 250u

struct job {
    pthread_t thread;
    petal_filter *filter;
    uint64_t first; /* the thread adds KEYS numbers from here on */
    size_t told_new;
    uint64_t failures, misses;
};

/* Adds with one call per key while other threads query. */
static void *add_singly(void *argument)
{
    struct job *job = argument;
    for (uint64_t i = job->first; i < job->first + KEYS; i++) {
        petal_status status = petal_add_i64(job->filter, (int64_t)i);
        job->failures += status < 0;
        job->told_new += status == PETAL_OK;
        job->misses += !petal_contains_i64(job->filter, (int64_t)i);
    }
    return NULL;
}

static void *add_in_batches(void *argument)
{
    struct job *job = argument;
    int64_t values[PIECE];
    uint8_t was_new[PIECE];
    size_t new_count;
    for (uint64_t from = job->first; from < job->first + KEYS; from += PIECE) {
        for (uint64_t i = 0; i < PIECE; i++) values[i] = (int64_t)(from + i);
        job->failures += add_number_batch(job->filter, values, PIECE, was_new, &new_count) < 0;
        job->told_new += new_count;
        job->misses += contains_numbers(job->filter, values, PIECE, NULL) != PIECE;
    }
    return NULL;
}

/* Runs all threads concurrently; `apart` is the distance between the first keys of two threads.
 * Returns the number of keys that were reported as new. */
static size_t add_from_all_threads(petal_filter *filter, void *(*add)(void *), uint64_t apart)
{
    struct job jobs[THREADS];
    size_t told_new = 0;
    memset(jobs, 0, sizeof jobs);
    for (uint64_t i = 0; i < THREADS; i++) {
        jobs[i].filter = filter;
        jobs[i].first = i * apart;
        assert_int_equal(pthread_create(&jobs[i].thread, NULL, add, &jobs[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(jobs[i].thread, NULL);
    for (int i = 0; i < THREADS; i++) {
        require(jobs[i].failures + jobs[i].misses == 0,
                "thread %d: %llu failures, %llu keys missed", i,
                (unsigned long long)jobs[i].failures, (unsigned long long)jobs[i].misses);
        told_new += jobs[i].told_new;
    }
    return told_new;
}

static petal_filter *make_rated(uint32_t scheme, uint32_t lines_per_key)
{
    return make(scheme, (uint64_t)10 * THREADS * KEYS, 6, lines_per_key);
}

static void share(petal_filter *filter)
{
    petal_error error;
    require_status(PETAL_OK, petal_allow_threads(filter, &error), error);
}

static void require_same_as_serial(uint32_t scheme, uint32_t lines_per_key, void *(*add)(void *))
{
    petal_filter *shared = make_rated(scheme, lines_per_key),
                 *serial = make_rated(scheme, lines_per_key);
    share(shared);
    add_from_all_threads(shared, add, KEYS);
    add_numbers(serial, 0, (uint64_t)THREADS * KEYS);
    assert_true(same_image(shared, serial)); /* equal bits and item count */
    require_numbers(shared, 0, (uint64_t)THREADS * KEYS);
    petal_free(shared);
    petal_free(serial);
}

static void shared_adding_sets_the_bits_of_serial_adding(void **state)
{
    (void)state;
    for (uint32_t lines = 1; lines <= 2; lines++) {
        require_same_as_serial(PETAL_SCHEME_BLOCKED, lines, add_singly);
        require_same_as_serial(PETAL_SCHEME_BLOCKED, lines, add_in_batches);
    }
    require_same_as_serial(PETAL_SCHEME_CLASSIC, 0, add_singly);
    require_same_as_serial(PETAL_SCHEME_CLASSIC, 0, add_in_batches);
}

/* With one line per key, a new key is reported as new to exactly one thread. */
static void a_new_key_is_new_to_one_of_the_threads_that_add_it(void **state)
{
    (void)state;
    petal_filter *shared = make_rated(PETAL_SCHEME_BLOCKED, 1);
    share(shared);
    size_t told_new = add_from_all_threads(shared, add_singly, 0);
    require(told_new >= KEYS * 98 / 100 && told_new <= KEYS, "%zu of %u", told_new,
            KEYS); /* false positives are not new */
    require_that(info_of(shared).items, ==, (uint64_t)THREADS * KEYS);
    petal_free(shared);
}

/* In each round all threads start at the same time: one marks the file dirty, and the others wait
 * for it. An earlier version lost counts if one thread held these hashes' stripe to mark the file
 * while threads that had finished marking counted keys in the same stripe. It took 500 rounds on a
 * busy two-core machine to find this bug. */
#define ROUNDS 300u
#define ROUND_KEYS 40u

struct start {
    pthread_t thread;
    petal_filter *filter;
    pthread_barrier_t *barrier;
};

static void *add_to_one_stripe(void *argument)
{
    const struct start *start = argument;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        pthread_barrier_wait(start->barrier);
        for (uint64_t i = 0; i < ROUND_KEYS; i++) petal_add_hash(start->filter, mix(i) << 16);
        pthread_barrier_wait(start->barrier); /* the main thread syncs */
    }
    return NULL;
}

static void no_count_is_lost_while_threads_begin_to_write(void **state)
{
    (void)state;
    petal_error error;
    const char *path = temporary("shared-counts.petal");
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    petal_filter *empty = make(PETAL_SCHEME_CLASSIC, 51200, 6, 0), *map = NULL;
    struct start starts[THREADS];
    pthread_barrier_t barrier;
    options.flags = PETAL_OPEN_WRITABLE;
    require_status(PETAL_OK, petal_save(empty, path, NULL, &error), error);
    require_status(PETAL_OK, petal_open(path, &options, &map, &error), error);
    share(map);
    pthread_barrier_init(&barrier, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++) {
        starts[i].filter = map;
        starts[i].barrier = &barrier;
        assert_int_equal(pthread_create(&starts[i].thread, NULL, add_to_one_stripe, &starts[i]), 0);
    }
    for (uint64_t round = 0; round < ROUNDS; round++) {
        require_status(PETAL_OK, petal_sync(map, &error), error);
        pthread_barrier_wait(&barrier);
        pthread_barrier_wait(&barrier);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(starts[i].thread, NULL);
    pthread_barrier_destroy(&barrier);
    assert_int_equal(info_of(map).items, (uint64_t)ROUNDS * THREADS * ROUND_KEYS);
    petal_free(map);
    petal_free(empty);
    unlink(path);
}

/* The filter has few lines, so threads collide all the time. Each round uses a new filter: when
 * nearly all lines are full, another key soon sets a bit that was lost, and hides the loss. */
#define MEETING_ROUNDS 40u
#define MEETING_KEYS 5000u /* per thread and round */

struct meeting {
    pthread_t thread;
    petal_filter *filter;
    pthread_barrier_t *barrier;
    uint64_t first;
};

static void *add_when_all_are_there(void *argument)
{
    const struct meeting *meeting = argument;
    pthread_barrier_wait(meeting->barrier);
    for (uint64_t i = 0; i < MEETING_KEYS; i++)
        petal_add_i64(meeting->filter, (int64_t)(meeting->first + i));
    return NULL;
}

static void meet(petal_filter *filter, uint64_t first)
{
    pthread_barrier_t barrier;
    struct meeting meetings[THREADS];
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (uint64_t i = 0; i < THREADS; i++) {
        meetings[i] = (struct meeting){.filter = filter, .barrier = &barrier};
        meetings[i].first = first + i * MEETING_KEYS;
        assert_int_equal(
            pthread_create(&meetings[i].thread, NULL, add_when_all_are_there, &meetings[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(meetings[i].thread, NULL);
    pthread_barrier_destroy(&barrier);
}

/* At the end of a round about a third of the bits are set. */
static void threads_that_meet_in_every_line_lose_nothing(void **state)
{
    (void)state;
    static const uint32_t schemes[] = {PETAL_SCHEME_BLOCKED, PETAL_SCHEME_CLASSIC};
    const uint64_t lines = (uint64_t)THREADS * MEETING_KEYS * 6 / 200;
    for (uint64_t round = 0; round < MEETING_ROUNDS; round++) {
        uint64_t first = round * THREADS * MEETING_KEYS;
        petal_filter *shared = make(schemes[round % 2], 512 * lines, 6, 0),
                     *serial = make(schemes[round % 2], 512 * lines, 6, 0);
        share(shared);
        meet(shared, first);
        add_numbers(serial, first, (uint64_t)THREADS * MEETING_KEYS);
        require(same_image(shared, serial), "round %llu: bits were lost",
                (unsigned long long)round);
        petal_free(shared);
        petal_free(serial);
    }
}

static void a_shared_map_is_marked_dirty_once_and_saved_whole(void **state)
{
    (void)state;
    petal_error error;
    const char *path = temporary("shared.petal");
    petal_filter *serial = make_rated(PETAL_SCHEME_BLOCKED, 1), *map = NULL;
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    require_status(PETAL_OK, petal_save(serial, path, NULL, &error), error);
    options.flags = PETAL_OPEN_WRITABLE;
    require_status(PETAL_OK, petal_open(path, &options, &map, &error), error);
    share(map);
    add_from_all_threads(map, add_in_batches, KEYS);
    require_status(PETAL_OK, petal_sync(map, &error), error);
    add_from_all_threads(map, add_singly, KEYS); /* marks the file dirty again */
    petal_free(map);
    add_numbers(serial, 0, (uint64_t)THREADS * KEYS);
    add_numbers(serial, 0, (uint64_t)THREADS * KEYS);
    options.flags = PETAL_OPEN_LOAD | PETAL_OPEN_VERIFY;
    require_status(PETAL_OK, petal_open(path, &options, &map, &error), error);
    require_that(info_of(map).items, ==, (uint64_t)2 * THREADS * KEYS);
    require_that(content_of(map), ==, content_of(serial));
    petal_free(map);
    petal_free(serial);
    unlink(path);
}

static void counts_follow_a_shared_filter_everywhere(void **state)
{
    (void)state;
    petal_error error;
    petal_filter *shared = make_rated(PETAL_SCHEME_BLOCKED, 1),
                 *other = make_rated(PETAL_SCHEME_BLOCKED, 1);
    share(shared);
    share(shared); /* the second call changes nothing */
    add_numbers(shared, 0, 1000);
    add_numbers(other, 500, 1000);
    petal_filter *copy = clone_of(shared);
    require_that(info_of(copy).items, ==, 1000);
    assert_true(same_image(copy, shared));
    require_status(PETAL_OK, petal_merge(other, shared, &error), error);
    require_that(info_of(other).items, ==, 2000);
    require_status(PETAL_OK, petal_merge(shared, copy, &error), error);
    require_that(info_of(shared).items, ==, 2000);
    add_numbers(shared, 0, 10);
    require_status(PETAL_OK, petal_intersect(shared, other, &error), error);
    require_that(info_of(shared).items, ==, 2000);
    require_status(PETAL_OK, petal_clear(shared, &error), error);
    require_that(info_of(shared).items, ==, 0);
    require_that(stats_of(shared).bits_set, ==, 0);
    petal_free(copy);
    petal_free(other);
    petal_free(shared);
}

/* Summing the threads' counts is expensive, so the library does it only for hashes that are
 * multiples of 64. */
static void an_overfull_shared_filter_refuses_keys(void **state)
{
    (void)state;
    petal_options options = PETAL_OPTIONS_INIT;
    options.capacity = 1000;
    options.rate = 0.01;
    options.refuse_overfull = true;
    petal_filter *filter = create(&options);
    uint64_t added = 0;
    share(filter);
    while (added < 3000 && petal_add_hash(filter, mix(added + 1) << 6) >= 0) added++;
    require(added >= 1000 && added < 1500, "%llu keys are taken", (unsigned long long)added);
    assert_int_equal(petal_add_hash(filter, 64), PETAL_ERR_FULL);
    assert_int_equal(petal_add_hash(filter, 65), PETAL_ERR_FULL); /* reuses the result of hash 64 */
    petal_free(filter);
}

static void what_cannot_be_shared_or_written_says_so(void **state)
{
    (void)state;
    petal_error error;
    petal_options options = PETAL_OPTIONS_INIT;
    options.format = "redisbloom"; /* grows by layers */
    options.capacity = 100;
    options.rate = 0.01;
    petal_filter *chain = create(&options);
    options.format = "dcso"; /* counts only new keys */
    petal_filter *dcso = create(&options), *plain = make_rated(PETAL_SCHEME_BLOCKED, 1),
                 *map = NULL;
    const char *path = temporary("shared-read.petal");
    require_status(PETAL_ERR_UNSUPPORTED, petal_allow_threads(chain, &error), error);
    require(strstr(error.message, "a redisbloom filter of several layers"), "%s", error.message);
    require_status(PETAL_ERR_UNSUPPORTED, petal_allow_threads(dcso, &error), error);
    require(!strstr(error.message, "layers"), "%s", error.message);
    require_status(PETAL_OK, petal_save(plain, path, NULL, &error), error);
    require_status(PETAL_OK, petal_open(path, NULL, &map, &error), error);
    require_status(PETAL_ERR_READ_ONLY, petal_allow_threads(map, &error), error);
    require_that(petal_add_i64(map, 1), ==, PETAL_ERR_READ_ONLY);
    petal_free(map);
    petal_free(plain);
    petal_free(dcso);
    petal_free(chain);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shared_adding_sets_the_bits_of_serial_adding),
        cmocka_unit_test(a_new_key_is_new_to_one_of_the_threads_that_add_it),
        cmocka_unit_test(no_count_is_lost_while_threads_begin_to_write),
        cmocka_unit_test(threads_that_meet_in_every_line_lose_nothing),
        cmocka_unit_test(a_shared_map_is_marked_dirty_once_and_saved_whole),
        cmocka_unit_test(counts_follow_a_shared_filter_everywhere),
        cmocka_unit_test(an_overfull_shared_filter_refuses_keys),
        cmocka_unit_test(what_cannot_be_shared_or_written_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
