/* threads.c - proves that any number of threads may query one filter concurrently without a lock.
 *
 * Every build finds wrong answers. A build with ThreadSanitizer also finds data races (`./dev tsan
 * unit/threads`). */
#include "support.h"

#include <pthread.h>

#define THREADS 4
#define KEYS 2000u

struct job {
    pthread_t thread;
    const petal_filter *filter;
    uint64_t seed, content_id;
    uint64_t false_negatives, wrong_hashes, wrong_infos, wrong_batches, wrong_images, saves,
        failed_saves;
    const char *path;
};

static void ask_one_by_one(struct job *job)
{
    for (int64_t i = 0; i < KEYS; i++) {
        uint8_t key[8];
        petal_encode_i64(i, key);
        uint64_t hash = petal_hash_key(job->filter, key, 8);
        job->false_negatives += !petal_contains(job->filter, key, 8);
        job->wrong_hashes += !petal_contains_hash(job->filter, hash);
    }
}

static void ask_in_batches(struct job *job)
{
    uint8_t bytes[100][8], found[100];
    petal_key keys[100];
    for (int64_t from = 0; from < KEYS; from += 100) {
        for (int64_t i = 0; i < 100; i++) {
            petal_encode_i64(from + i, bytes[i]);
            keys[i] = (petal_key){bytes[i], 8};
        }
        job->wrong_batches += contains_keys(job->filter, keys, 100, found) != 100;
        job->wrong_batches += !contains_all(job->filter, keys, 100);
    }
}

static void look_inside(struct job *job)
{
    petal_info info = PETAL_INFO_INIT;
    job->wrong_infos += petal_get_info(job->filter, PETAL_ALL_LAYERS, &info, NULL) != PETAL_OK ||
                        content_of(job->filter) != job->content_id;
    petal_status saved = petal_save(job->filter, job->path, NULL, NULL);
    job->saves += saved == PETAL_OK;
    job->failed_saves +=
        saved != PETAL_OK && saved != PETAL_ERR_BUSY; /* BUSY: another thread is saving */
    size_t size = (size_t)petal_serialized_bytes(job->filter, NULL);
    uint8_t *image = malloc(size);
    job->wrong_images +=
        !image || petal_serialize(job->filter, NULL, image, size, NULL) != PETAL_OK;
    free(image);
    petal_filter *copy = NULL;
    job->wrong_images += petal_clone(job->filter, &copy, NULL) != PETAL_OK;
    petal_free(copy);
}

static void *run(void *argument)
{
    struct job *job = argument;
    for (int round = 0; round < 5; round++) {
        ask_one_by_one(job);
        ask_in_batches(job);
        look_inside(job);
    }
    return NULL;
}

/* Queries the filter from all threads. The threads only count, since cmocka's checks work only in
 * the main thread. */
static void ask_from_all_threads(const petal_filter *filter)
{
    struct job jobs[THREADS];
    const char *path = temporary("threads.petal"); /* each save replaces this file */
    memset(jobs, 0, sizeof jobs);
    uint64_t content_id = content_of(filter);
    for (uint64_t i = 0; i < THREADS; i++) {
        jobs[i].filter = filter;
        jobs[i].seed = i;
        jobs[i].content_id = content_id;
        jobs[i].path = path;
        assert_int_equal(pthread_create(&jobs[i].thread, NULL, run, &jobs[i]), 0);
    }
    uint64_t saves = 0;
    for (int i = 0; i < THREADS; i++) pthread_join(jobs[i].thread, NULL);
    for (int i = 0; i < THREADS; i++) saves += jobs[i].saves;
    require_that(saves, >, 0);
    for (int i = 0; i < THREADS; i++)
        require(
            jobs[i].false_negatives + jobs[i].wrong_hashes + jobs[i].wrong_infos +
                    jobs[i].wrong_batches + jobs[i].wrong_images + jobs[i].failed_saves ==
                0,
            "thread %d: %llu false negatives, %llu hashes, %llu infos, %llu batches, %llu images, %llu saves",
            i, (unsigned long long)jobs[i].false_negatives,
            (unsigned long long)jobs[i].wrong_hashes, (unsigned long long)jobs[i].wrong_infos,
            (unsigned long long)jobs[i].wrong_batches, (unsigned long long)jobs[i].wrong_images,
            (unsigned long long)jobs[i].failed_saves);
    petal_filter *saved = NULL;
    petal_error error;
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    options.flags = PETAL_OPEN_LOAD | PETAL_OPEN_VERIFY;
    require_status(PETAL_OK, petal_open(path, &options, &saved, &error), error);
    assert_true(same_image(filter, saved));
    petal_free(saved);
    unlink(path);
}

static void threads_may_ask_a_filter_in_memory(void **state)
{
    (void)state;
    FOR_NATIVE_SCHEMES(scheme)
    {
        petal_filter *filter = make(scheme, 40960, 6, 0);
        add_numbers(filter, 0, KEYS);
        ask_from_all_threads(filter);
        petal_free(filter);
    }
}

static void threads_may_ask_a_map_and_a_view(void **state)
{
    (void)state;
    petal_error error;
    const char *path = temporary("threads-map.petal");
    petal_filter *filter = make(PETAL_SCHEME_BLOCKED, 40960, 6, 0), *map = NULL, *view = NULL;
    add_numbers(filter, 0, KEYS);
    struct bytes image = serialized(filter);
    require_status(PETAL_OK, petal_save(filter, path, NULL, &error), error);
    require_status(PETAL_OK, petal_open(path, NULL, &map, &error), error);
    require_status(PETAL_OK, petal_view(image.data, image.size, NULL, &view, &error), error);
    ask_from_all_threads(map);
    ask_from_all_threads(view);
    petal_free(map);
    petal_free(view);
    petal_free(filter);
    free(image.data);
    unlink(path);
}

/* Threads that use separate filters share nothing, since the library has no mutable global
 * state. */
static void *live_alone(void *argument)
{
    struct job *job = argument;
    for (uint64_t round = 0; round < 20; round++) {
        petal_options options = PETAL_OPTIONS_INIT;
        petal_filter *filter = NULL;
        options.capacity = 500;
        options.rate = 0.02;
        options.seed = job->seed;
        job->wrong_infos += petal_create(&options, &filter, NULL) != PETAL_OK;
        for (int64_t i = 0; i < 500; i++) petal_add_i64(filter, i);
        for (int64_t i = 0; i < 500; i++) job->false_negatives += !petal_contains_i64(filter, i);
        petal_free(filter);
    }
    return NULL;
}

static void threads_may_each_change_a_filter_of_their_own(void **state)
{
    (void)state;
    struct job jobs[THREADS];
    memset(jobs, 0, sizeof jobs);
    for (uint64_t i = 0; i < THREADS; i++) {
        jobs[i].seed = i;
        assert_int_equal(pthread_create(&jobs[i].thread, NULL, live_alone, &jobs[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(jobs[i].thread, NULL);
    for (int i = 0; i < THREADS; i++)
        require_that(jobs[i].false_negatives + jobs[i].wrong_infos, ==, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_may_ask_a_filter_in_memory),
        cmocka_unit_test(threads_may_ask_a_map_and_a_view),
        cmocka_unit_test(threads_may_each_change_a_filter_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
