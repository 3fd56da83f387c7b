/* builder.c - proves that building region by region sets the same bits as adding keys one by one,
 * for any number of threads, any filter and any hashes, and that no key is lost.
 *
 * To detect data races, run this test with ThreadSanitizer: `./dev tsan unit/builder`. */
#include "support.h"

#include "petal/petal_build.h"

#include <pthread.h>

#define MAX_WORKERS 4u

/* The number of bits of a large filter. With several workers, filters of at least 4 MiB are built
 * region by region, and this filter is larger. */
#define BIG_BITS ((uint64_t)8 * (5 << 20))

enum way { NUMBERS, KEYS, HASHES };

struct job {
    pthread_t thread;
    petal_builder *builder;
    uint32_t worker;
    uint64_t from, end;
    enum way way;
    bool flush;
    petal_status status;
};

static uint64_t number_of(uint64_t i)
{
    return mix(i + 1);
}

#define PIECE 700u /* doesn't divide any size used in the library */

static petal_status add_piece(struct job *job, uint64_t from, size_t count)
{
    int64_t values[PIECE];
    uint64_t hashes[PIECE];
    uint8_t bytes[PIECE][8];
    petal_key keys[PIECE];
    for (size_t i = 0; i < count; i++) {
        hashes[i] = number_of(from + i);
        values[i] = (int64_t)hashes[i];
        petal_encode_i64(values[i], bytes[i]);
        keys[i] = (petal_key){bytes[i], 8};
    }
    if (job->way == NUMBERS)
        return build_batch(job->builder, job->worker, batch_of_numbers(values, count));
    if (job->way == KEYS) return build_batch(job->builder, job->worker, batch_of_keys(keys, count));
    return build_batch(job->builder, job->worker, batch_of_hashes(hashes, count));
}

static void *run(void *argument)
{
    struct job *job = argument;
    job->status = PETAL_OK;
    for (uint64_t i = job->from; i < job->end && job->status == PETAL_OK; i += PIECE)
        job->status = add_piece(job, i, (size_t)(job->end - i < PIECE ? job->end - i : PIECE));
    if (job->flush && job->status == PETAL_OK)
        job->status = petal_builder_flush(job->builder, job->worker, NULL);
    return NULL;
}

/* Adds the numbers 0 .. count-1 with at most `workers` threads. */
static void build(petal_filter *filter, uint32_t workers, enum way way, uint64_t count)
{
    struct job jobs[MAX_WORKERS];
    petal_builder *builder;
    petal_error error;
    uint32_t max = workers;
    require_status(PETAL_OK, petal_builder_create(filter, &workers, &builder, &error), error);
    require(workers >= 1 && workers <= max, "%u workers of %u", workers, max);
    for (uint32_t i = 0; i < workers; i++) {
        jobs[i] = (struct job){.builder = builder, .worker = i, .way = way, .flush = i % 2 == 0};
        jobs[i].from = count * i / workers;
        jobs[i].end = count * (i + 1) / workers;
        assert_int_equal(pthread_create(&jobs[i].thread, NULL, run, &jobs[i]), 0);
    }
    for (uint32_t i = 0; i < workers; i++) {
        pthread_join(jobs[i].thread, NULL);
        assert_int_equal(jobs[i].status, PETAL_OK);
    }
    require_status(PETAL_OK, petal_builder_finish(builder, &error), error);
}

static void add_plainly(petal_filter *filter, enum way way, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        uint64_t number = number_of(i);
        petal_status status =
            way == HASHES ? petal_add_hash(filter, number) : petal_add_i64(filter, (int64_t)number);
        require(status >= 0, "adding: %s", petal_status_name(status));
    }
}

static void require_same(const petal_filter *built, const petal_filter *plain, const char *what,
                         uint32_t workers)
{
    require(same_image(built, plain), "%s, %u workers: not the filter of plain adding", what,
            workers);
    assert_int_equal(info_of(built).items, info_of(plain).items);
}

/* ---- equal to plain adding ------------------------------------------------------------------- */

static void a_built_filter_is_the_one_of_plain_adding(void **state)
{
    static const struct {
        const char *what;
        uint32_t scheme;
        uint64_t bits;
        uint32_t hashes, lines_per_key;
    } shapes[] = {
        {"one line", PETAL_SCHEME_BLOCKED, BIG_BITS, 6, 1},
        {"two lines", PETAL_SCHEME_BLOCKED, BIG_BITS + 512, 9, 2},
        {"classic", PETAL_SCHEME_CLASSIC, BIG_BITS + 77, 7, 0},
        {"just large enough", PETAL_SCHEME_BLOCKED, 8 * (4 << 20), 6, 1},
        {"just large enough, classic", PETAL_SCHEME_CLASSIC, 8 * (4 << 20), 64, 0},
        {"just too small", PETAL_SCHEME_BLOCKED, 8 * (4 << 20) - 512, 13, 2},
        {"counting", PETAL_SCHEME_COUNTING, (uint64_t)2 * (5 << 20) + 5, 7, 0},
        {"a small one", PETAL_SCHEME_BLOCKED, 100000, 6, 1},
        {"one line in all", PETAL_SCHEME_BLOCKED, 512, 6, 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        petal_filter *plain =
            make(shapes[i].scheme, shapes[i].bits, shapes[i].hashes, shapes[i].lines_per_key);
        add_plainly(plain, NUMBERS, 150001);
        for (uint32_t workers = 1; workers <= MAX_WORKERS; workers++) {
            petal_filter *built =
                make(shapes[i].scheme, shapes[i].bits, shapes[i].hashes, shapes[i].lines_per_key);
            build(built, workers, (enum way)(workers % 2), 150001);
            require_same(built, plain, shapes[i].what, workers);
            petal_free(built);
        }
        petal_free(plain);
    }
}

static void far_more_keys_than_buffers_make_the_same_filter(void **state)
{
    (void)state;
    petal_filter *plain = make(PETAL_SCHEME_BLOCKED, BIG_BITS, 6, 1);
    add_plainly(plain, HASHES, 3000000);
    for (uint32_t workers = 1; workers <= MAX_WORKERS; workers += 3) {
        petal_filter *built = make(PETAL_SCHEME_BLOCKED, BIG_BITS, 6, 1);
        build(built, workers, HASHES, 3000000); /* the hashes occupy 24 MB */
        require_same(built, plain, "hashes", workers);
        petal_free(built);
    }
    petal_free(plain);
}

static void other_libraries_filters_are_built_as_well(void **state)
{
    static const char *const formats[] = {"guava",   "spark",  "parquet", "rocksdb",
                                          "leveldb", "hadoop", "dcso"};
    (void)state;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        petal_options options = PETAL_OPTIONS_INIT;
        options.format = formats[i];
        options.capacity = 4000000; /* above 4 MiB */
        options.rate = 0.01;
        petal_filter *plain = create(&options), *built = create(&options);
        add_plainly(plain, NUMBERS, 60000);
        build(built, 2, KEYS, 60000);
        require_same(built, plain, formats[i], 2);
        petal_free(plain);
        petal_free(built);
    }
}

/* RedisBloom's chains grow, so the builder must add their keys directly: the order of the keys
 * determines the link to which each key is added. */
static void a_filter_that_grows_takes_its_keys_directly(void **state)
{
    (void)state;
    petal_options options = PETAL_OPTIONS_INIT;
    options.format = "redisbloom";
    options.capacity = 1000;
    options.rate = 0.01;
    petal_filter *plain = create(&options), *built = create(&options);
    add_plainly(plain, NUMBERS, 20000);
    build(built, 1, KEYS, 20000);
    require_that(info_of(built).layers, >, 1);
    require_same(built, plain, "redisbloom", 1);
    petal_free(built);
    built = create(&options);
    build(built, 3, NUMBERS, 20000);
    for (uint64_t i = 0; i < 20000; i++)
        assert_true(petal_contains_i64(built, (int64_t)number_of(i)));
    petal_free(plain);
    petal_free(built);
}

/* ---- hostile hashes -------------------------------------------------------------------------- */

struct hostile {
    pthread_t thread;
    petal_builder *builder;
    uint32_t worker;
    uint64_t count;
};

/* Adds hashes that all belong to the first line of the filter. */
static void *add_hostile(void *argument)
{
    struct hostile *job = argument;
    uint64_t hashes[PIECE];
    for (uint64_t i = 0; i < job->count; i += PIECE) {
        for (size_t j = 0; j < PIECE; j++) hashes[j] = i + j;
        build_batch(job->builder, job->worker, batch_of_hashes(hashes, PIECE));
    }
    return NULL;
}

static void hashes_of_one_region_only_cost_time(void **state)
{
    (void)state;
    struct hostile jobs[3];
    uint32_t workers = 3;
    petal_filter *plain = make(PETAL_SCHEME_BLOCKED, 2 * BIG_BITS, 6, 1),
                 *built = make(PETAL_SCHEME_BLOCKED, 2 * BIG_BITS, 6, 1);
    assert_int_equal(petal_builder_create(built, &workers, &jobs[0].builder, NULL), PETAL_OK);
    assert_int_equal(workers, 3);
    for (uint32_t i = 0; i < 3; i++) {
        jobs[i] = (struct hostile){.builder = jobs[0].builder, .worker = i, .count = 700000};
        assert_int_equal(pthread_create(&jobs[i].thread, NULL, add_hostile, &jobs[i]), 0);
    }
    for (uint32_t i = 0; i < 3; i++) pthread_join(jobs[i].thread, NULL);
    assert_int_equal(petal_builder_finish(jobs[0].builder, NULL), PETAL_OK);
    for (uint64_t i = 0; i < 700000; i++) petal_add_hash(plain, i);
    assert_int_equal(info_of(built).items, 3 * 700000);
    require_that(content_of(built), ==, content_of(plain));
    petal_free(plain);
    petal_free(built);
}

/* ---- files ----------------------------------------------------------------------------------- */

static void a_writable_map_is_built_synced_and_verified(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {BIG_BITS, 8 * ((1 << 20) + 100 * 64)};
    const char *path = temporary("built.petal");
    petal_error error;
    for (size_t i = 0; i < 2; i++) {
        petal_filter *plain = make(PETAL_SCHEME_BLOCKED, sizes[i], 9, 2), *map = NULL;
        petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
        require_status(PETAL_OK, petal_save(plain, path, NULL, &error), error);
        options.flags = PETAL_OPEN_WRITABLE;
        require_status(PETAL_OK, petal_open(path, &options, &map, &error), error);
        build(map, 2, NUMBERS, 30000); /* leaves some blocks of the larger filter unchanged */
        build(map, 2, NUMBERS, 3);
        require_status(PETAL_OK, petal_sync(map, &error), error);
        require_status(PETAL_OK, petal_verify(map, &error), error);
        petal_free(map);
        options.flags = PETAL_OPEN_MAP | PETAL_OPEN_VERIFY;
        require_status(PETAL_OK, petal_open(path, &options, &map, &error), error);
        add_plainly(plain, NUMBERS, 30000);
        add_plainly(plain, NUMBERS, 3);
        require_same(map, plain, "a map", 2);
        petal_builder *builder = (petal_builder *)map;
        uint32_t workers = 7;
        assert_int_equal(petal_builder_create(map, &workers, &builder, &error),
                         PETAL_ERR_READ_ONLY);
        assert_null(builder);
        assert_int_equal(workers, 7);
        petal_free(map);
        petal_free(plain);
        unlink(path);
    }
}

/* ---- arguments and memory -------------------------------------------------------------------- */

static void wrong_arguments_are_refused(void **state)
{
    (void)state;
    petal_filter *filter = make(PETAL_SCHEME_BLOCKED, BIG_BITS, 6, 1);
    petal_builder *builder = (petal_builder *)filter;
    petal_batch unset = {0};
    petal_error error;
    uint32_t workers = 0;
    int64_t value = 1;
    assert_int_equal(petal_builder_create(filter, &workers, &builder, NULL), PETAL_ERR_ARGUMENT);
    assert_null(builder);
    assert_int_equal(petal_builder_finish(NULL, NULL), PETAL_OK);

    workers = 1;
    assert_int_equal(petal_builder_create(filter, &workers, &builder, NULL), PETAL_OK);
    assert_int_equal(build_batch(builder, 1, batch_of_numbers(&value, 1)), PETAL_ERR_ARGUMENT);
    assert_int_equal(petal_builder_add(builder, 0, &unset, NULL), PETAL_ERR_ARGUMENT);
    assert_int_equal(build_batch(builder, 0, batch_of_numbers(&value, 1)), PETAL_OK);
    assert_int_equal(build_batch(builder, 0, batch_of_keys(NULL, 0)), PETAL_OK);
    assert_int_equal(petal_builder_flush(builder, 7, NULL), PETAL_ERR_ARGUMENT);
    error.message[0] = 0;
    assert_int_equal(petal_builder_finish(builder, &error), PETAL_ERR_ARGUMENT);
    assert_non_null(strstr(error.message, "worker")); /* reports the first failure */
    assert_true(petal_contains_i64(filter, 1));
    assert_int_equal(info_of(filter).items, 1);
    petal_free(filter);
}

static void keys_that_the_original_refuses_are_refused(void **state)
{
    (void)state;
    petal_options options = PETAL_OPTIONS_INIT;
    petal_builder *builder;
    petal_key keys[2] = {{"a", 1}, {"", 0}};
    uint32_t workers;
    options.format = "datasketches";
    options.hashes = 3;
    for (unsigned big = 0; big < 2; big++) { /* 0 if keys are added directly, 1 if the filter is
                                              * built region by region */
        options.bits = big ? BIG_BITS : 64000;
        petal_filter *filter = create(&options);
        workers = 2;
        assert_int_equal(petal_builder_create(filter, &workers, &builder, NULL), PETAL_OK);
        assert_int_equal(workers, big ? 2 : 1);
        assert_int_equal(build_batch(builder, 0, batch_of_keys(keys, 1)), PETAL_OK);
        assert_int_equal(build_batch(builder, 0, batch_of_keys(keys, 2)), PETAL_ERR_UNSUPPORTED);
        assert_int_equal(petal_builder_finish(builder, NULL), PETAL_ERR_UNSUPPORTED);
        assert_true(petal_contains(filter, "a", 1));
        petal_free(filter);
    }
}

/* ---- too little memory ----------------------------------------------------------------------- */

static void require_use(petal_filter *filter, petal_builder *builder, uint32_t workers,
                        struct counting *count)
{
    static uint64_t hash = 12345;
    uint64_t calls = count->calls, first = ++hash * 0x9e3779b97f4a7c15,
             last = ++hash * 0x9e3779b97f4a7c15;
    assert_int_equal(build_batch(builder, 0, batch_of_hashes(&first, 1)), PETAL_OK);
    assert_int_equal(build_batch(builder, workers - 1, batch_of_hashes(&last, 1)), PETAL_OK);
    assert_int_equal(build_batch(builder, workers, batch_of_hashes(&last, 1)), PETAL_ERR_ARGUMENT);
    assert_int_equal(petal_builder_finish(builder, NULL), PETAL_ERR_ARGUMENT);
    assert_true(petal_contains_hash(filter, first));
    assert_true(petal_contains_hash(filter, last));
    require_that(count->calls, ==, calls);
    require_that(count->bad_releases, ==, 0);
}

/* No matter which allocation fails, nothing may leak and the filter must stay usable. Creating a
 * builder may fail only if the builder itself can't be allocated. */
static void a_failed_allocation_costs_workers_at_most(void **state)
{
    (void)state;
    struct counting count = {0};
    petal_allocator allocator = counting_allocator(&count);
    petal_options options = options_of(PETAL_SCHEME_BLOCKED, BIG_BITS, 6, 1);
    options.allocator = &allocator;
    petal_filter *filter = create(&options);
    petal_builder *builder = NULL;
    petal_error error;
    uint64_t own_blocks = count.live_blocks, fail_at;
    uint32_t workers = 0;
    for (fail_at = 1; workers != 2; fail_at++) {
        workers = 2;
        count.calls = 0;
        count.fail_at = fail_at;
        petal_status status = petal_builder_create(filter, &workers, &builder, &error);
        if (fail_at <= 2) {
            require(status == PETAL_ERR_MEMORY && !builder && workers == 2, "allocation %llu: %s",
                    (unsigned long long)fail_at, petal_status_name(status));
            workers = 0;
        } else {
            require(status == PETAL_OK && workers >= 1, "allocation %llu: %s",
                    (unsigned long long)fail_at, petal_status_name(status));
            require_use(filter, builder, workers, &count);
        }
        require_that(count.live_blocks, ==, own_blocks);
    }
    require_that(fail_at, >, 6); /* 2 allocations are for the builder, the others for regions */
    petal_free(filter);
}

struct limited {
    struct counting count; /* must be first: memory is freed by the counting allocator */
    uint64_t limit_bytes;
};

static void *limited_alloc(void *context, size_t size_bytes)
{
    struct limited *limited = context;
    return limited->count.live_bytes + size_bytes <= limited->limit_bytes
               ? counting_alloc(&limited->count, size_bytes)
               : NULL;
}

/* The builder halves the number of workers until their buffers fit in memory. Each worker needs 65
 * buffers of 16 KiB. A single worker always fits. */
static void workers_are_as_many_as_have_memory(void **state)
{
    (void)state;
    static const struct {
        uint64_t limit_kib;
        uint32_t workers;
    } cases[] = {{64, 1}, {2000, 1}, {2200, 2}, {4000, 2}, {4400, 4}};
    struct limited limited = {.limit_bytes = UINT64_MAX};
    petal_allocator allocator = {limited_alloc, counting_release, &limited};
    petal_options options = options_of(PETAL_SCHEME_BLOCKED, 4 * 2 * 8 << 20, 6, 1);
    options.allocator = &allocator;
    petal_filter *filter = create(&options);
    uint64_t own_bytes = limited.count.live_bytes;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        petal_builder *builder;
        uint32_t workers = 4;
        limited.limit_bytes = own_bytes + cases[i].limit_kib * 1024;
        assert_int_equal(petal_builder_create(filter, &workers, &builder, NULL), PETAL_OK);
        require(workers == cases[i].workers, "%llu KiB: %u workers",
                (unsigned long long)cases[i].limit_kib, workers);
        require_use(filter, builder, workers, &limited.count);
        require_that(limited.count.live_bytes, ==, own_bytes);
    }
    petal_free(filter);
}

/* Tests that a builder can be used after a flush, and that one build can follow another. */
static void flushing_in_between_loses_nothing(void **state)
{
    (void)state;
    petal_filter *plain = make(PETAL_SCHEME_BLOCKED, BIG_BITS, 9, 2),
                 *built = make(PETAL_SCHEME_BLOCKED, BIG_BITS, 9, 2);
    petal_builder *builder;
    for (int round = 0; round < 2; round++) {
        uint32_t workers = 2;
        assert_int_equal(petal_builder_create(built, &workers, &builder, NULL), PETAL_OK);
        for (uint64_t i = 0; i < 40000; i++) {
            int64_t value = (int64_t)(i * 2 + (uint64_t)round);
            petal_add_i64(plain, value);
            build_batch(builder, 0, batch_of_numbers(&value, 1));
            if (i % 10007 == 0) assert_int_equal(petal_builder_flush(builder, 0, NULL), PETAL_OK);
        }
        assert_int_equal(petal_builder_finish(builder, NULL), PETAL_OK);
        require_same(built, plain, "flushed", 1);
    }
    petal_free(plain);
    petal_free(built);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_built_filter_is_the_one_of_plain_adding),
        cmocka_unit_test(far_more_keys_than_buffers_make_the_same_filter),
        cmocka_unit_test(other_libraries_filters_are_built_as_well),
        cmocka_unit_test(a_filter_that_grows_takes_its_keys_directly),
        cmocka_unit_test(hashes_of_one_region_only_cost_time),
        cmocka_unit_test(a_writable_map_is_built_synced_and_verified),
        cmocka_unit_test(wrong_arguments_are_refused),
        cmocka_unit_test(keys_that_the_original_refuses_are_refused),
        cmocka_unit_test(a_failed_allocation_costs_workers_at_most),
        cmocka_unit_test(workers_are_as_many_as_have_memory),
        cmocka_unit_test(flushing_in_between_loses_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
