/* static_spill.c - proves that a static filter with more keys than fit in memory has the same bytes
 * as one built in memory, for any limit, set and number of threads. If the temporary file or an
 * allocation fails, the build returns an error and leaks nothing. The temporary file has no
 * name. */
#include "image.h"

#include "petal/petal_build.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define KIB ((uint64_t)1024)

static uint64_t hashes[200000];

/* ---- sets ------------------------------------------------------------------------------------ */

static uint64_t mixed(uint64_t i)
{
    return mix(i + 1);
}

static uint64_t itself(uint64_t i)
{
    return i;
}

/* Repeated keys are so far apart that they are in different sorted runs. */
static uint64_t repeated(uint64_t i)
{
    return mix(i % 50021);
}

static uint64_t the_same(uint64_t i)
{
    (void)i;
    return 5;
}

/* All of these keys have the same starting bucket in the first layer. */
static uint64_t one_start(uint64_t i)
{
    return UINT64_C(0x123456789a) << 24 | i;
}

/* In the first layer, half of these keys are in one page. */
static uint64_t crowded(uint64_t i)
{
    return i % 2 ? mix(i) : mix(i) >> 20;
}

static uint64_t from_the_top(uint64_t i)
{
    return ~i;
}

static const struct set {
    const char *name;
    uint64_t (*hash)(uint64_t i);
} sets[] = {
    {"mixed", mixed},
    {"consecutive", itself},
    {"repeated", repeated},
    {"the same", the_same},
    {"one start", one_start},
    {"crowded", crowded},
    {"from the top", from_the_top},
};

static void fill(const struct set *set, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) hashes[i] = set->hash(i);
}

/* ---- building -------------------------------------------------------------------------------- */

static petal_static_builder *begin(double rate, uint32_t workers, const petal_allocator *allocator)
{
    petal_options options = PETAL_OPTIONS_INIT;
    petal_static_builder *builder;
    petal_error error;
    options.rate = rate;
    options.allocator = allocator;
    require_status(PETAL_OK, petal_static_create(&options, workers, &builder, &error), error);
    return builder;
}

/* Adds the keys in pieces, which are assigned to the workers in turn. */
static petal_status add(petal_static_builder *builder, uint64_t count, uint32_t workers,
                        petal_error *error)
{
    petal_status status = PETAL_OK;
    for (uint64_t done = 0, piece; status == PETAL_OK && done < count; done += piece) {
        piece = count - done < 777 ? count - done : 777;
        petal_batch batch = batch_of_hashes(hashes + done, piece);
        status = petal_static_add(builder, (uint32_t)(done / 777 % workers), &batch, error);
    }
    return status;
}

struct task_of_thread {
    pthread_t thread;
    petal_task task;
    void *argument;
    uint32_t worker;
};

static void *run_thread(void *context)
{
    struct task_of_thread *own = context;
    own->task(own->argument, own->worker);
    return NULL;
}

static void run_in_threads(void *context, petal_task task, void *argument, uint32_t workers)
{
    struct task_of_thread threads[8];
    (void)context;
    for (uint32_t i = 0; i < workers; i++) {
        threads[i] = (struct task_of_thread){.task = task, .argument = argument, .worker = i};
        assert_int_equal(pthread_create(&threads[i].thread, NULL, run_thread, &threads[i]), 0);
    }
    for (uint32_t i = 0; i < workers; i++) pthread_join(threads[i].thread, NULL);
}

static const char *folder(void)
{
    static const char *made;
    if (!made) {
        made = strdup(temporary("spill"));
        assert_int_equal(mkdir(made, 0700), 0);
    }
    return made;
}

static void require_empty_folder(void)
{
    DIR *dir = opendir(folder());
    assert_non_null(dir);
    for (const struct dirent *entry; (entry = readdir(dir));)
        require(entry->d_name[0] == '.' && !strstr(entry->d_name, "petal"), "%s was left",
                entry->d_name);
    closedir(dir);
}

static petal_filter *in_memory(uint64_t count, double rate)
{
    petal_static_builder *builder = begin(rate, 1, NULL);
    petal_filter *filter;
    petal_error error;
    require_status(PETAL_OK, add(builder, count, 1, &error), error);
    require_status(PETAL_OK, petal_static_finish(builder, NULL, NULL, &filter, &error), error);
    return filter;
}

static petal_filter *spilled(uint64_t count, double rate, uint64_t memory_bytes, uint32_t workers,
                             const petal_allocator *allocator)
{
    petal_static_builder *builder = begin(rate, workers, allocator);
    petal_filter *filter;
    petal_error error;
    require_status(PETAL_OK, petal_static_spill(builder, folder(), memory_bytes, &error), error);
    require_status(PETAL_OK, add(builder, count, workers, &error), error);
    require_empty_folder();
    require_status(
        PETAL_OK,
        petal_static_finish(builder, workers > 1 ? run_in_threads : NULL, NULL, &filter, &error),
        error);
    require_empty_folder();
    return filter;
}

/* ---- the same bytes -------------------------------------------------------------------------- */

static void the_bytes_are_those_of_a_build_in_memory(void **state)
{
    static const uint64_t counts[] = {0, 1, 300, 4096, 4097, 60000, 200000};
    static const uint64_t limits[] = {64, 65, 100, 333, 1024, 3300};
    static const double rates[] = {0.01, 0.5, 1e-6};
    (void)state;
    for (size_t s = 0; s < COUNT(sets); s++)
        for (size_t c = 0; c < COUNT(counts); c++) {
            double rate = rates[(s + c) % COUNT(rates)];
            fill(&sets[s], counts[c]);
            petal_filter *one = in_memory(counts[c], rate);
            for (size_t i = 0; i < COUNT(limits); i++) {
                uint32_t workers = 1 + (uint32_t)(i + c) % 2 * 2;
                petal_filter *other =
                    spilled(counts[c], rate, limits[i] * KIB * workers, workers, NULL);
                require(same_image(one, other), "%s, %" PRIu64 " keys, %" PRIu64 " KiB, %u workers",
                        sets[s].name, counts[c], limits[i], workers);
                petal_free(other);
            }
            petal_free(one);
        }
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Number of bytes currently allocated, and its peak. */
static struct {
    uint64_t held, peak;
} bytes;

static void *measured_alloc(void *context, size_t size_bytes)
{
    (void)context;
    bytes.held += size_bytes;
    if (bytes.held > bytes.peak) bytes.peak = bytes.held;
    return calloc(1, size_bytes);
}

static void measured_release(void *context, void *memory, size_t size_bytes)
{
    (void)context;
    bytes.held -= size_bytes;
    free(memory);
}

static void memory_stays_within_the_limit(void **state)
{
    static const petal_allocator allocator = {measured_alloc, measured_release, NULL};
    static const struct set *const honest[] = {&sets[0], &sets[2]};
    static const uint64_t limits[] = {1300, 1600, 2500};
    (void)state;
    /* 200,000 keys take 3.2 MB in memory, and their filter takes 168 KB at 1 %. A page, its rows,
     * and its share of the count take up to 1.2 MB each. */
    for (size_t s = 0; s < COUNT(honest); s++)
        for (size_t i = 0; i < COUNT(limits); i++) {
            fill(honest[s], 200000);
            bytes.held = bytes.peak = 0;
            petal_free(spilled(200000, 0.01, limits[i] * KIB, 1, &allocator));
            require_that(bytes.held, ==, 0);
            require(bytes.peak <= limits[i] * KIB + 2000 * KIB, "%s, %" PRIu64 " KiB: %" PRIu64,
                    honest[s]->name, limits[i], bytes.peak);
            require(bytes.peak < 200000 * 16, "%s: %" PRIu64, honest[s]->name, bytes.peak);
        }
}

/* Makes each allocation fail in turn. */
static void every_failure_of_memory_is_an_error_and_no_leak(void **state)
{
    petal_status status = PETAL_ERR_MEMORY;
    petal_error error;
    (void)state;
    fill(&sets[0], 60000);
    for (uint64_t limit = 1; status == PETAL_ERR_MEMORY; limit++) {
        struct counting counts = {0};
        petal_allocator allocator = counting_allocator(&counts);
        petal_static_builder *builder = begin(0.01, 1, &allocator);
        petal_filter *filter = NULL;
        counts.fail_at = counts.calls + limit;
        counts.fail_for_ever = true;
        status = petal_static_spill(builder, folder(), 64 * KIB, &error);
        if (status == PETAL_OK) status = add(builder, 60000, 1, &error);
        if (status == PETAL_OK)
            status = petal_static_finish(builder, NULL, NULL, &filter, &error);
        else
            assert_int_equal(petal_static_finish(builder, NULL, NULL, NULL, NULL), PETAL_OK);
        petal_free(filter);
        require_that(counts.live_blocks, ==, 0);
        require_that(counts.bad_releases, ==, 0);
    }
    require_status(PETAL_OK, status, error);
}

/* ---- the file -------------------------------------------------------------------------------- */

/* Builds the filter while no file may become larger than `limit`, so writing fails at that
 * point. */
static petal_status build_with_files_up_to(uint64_t limit, uint32_t workers, petal_error *error)
{
    struct rlimit old, small;
    petal_static_builder *builder = begin(0.01, workers, NULL);
    petal_filter *filter = NULL;
    require_status(PETAL_OK, petal_static_spill(builder, folder(), 64 * KIB * workers, error),
                   *error);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = (struct rlimit){limit, old.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    petal_status added = add(builder, 60000, workers, error);
    petal_status status =
        petal_static_finish(builder, workers > 1 ? run_in_threads : NULL, NULL, &filter, error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    if (added != PETAL_OK) assert_int_equal(status, added);
    assert_true((status == PETAL_OK) == (filter != NULL));
    petal_free(filter);
    require_empty_folder();
    return status;
}

static void every_write_that_fails_is_an_error_that_names_the_folder(void **state)
{
    (void)state;
    fill(&sets[0], 60000);
    signal(SIGXFSZ, SIG_IGN);
    for (uint32_t workers = 1; workers <= 3; workers += 2) {
        petal_status status = PETAL_ERR_IO;
        petal_error error;
        uint64_t limit = 0;
        for (; status == PETAL_ERR_IO; limit += 1000) {
            status = build_with_files_up_to(limit, workers, &error);
            if (status != PETAL_OK)
                require(strstr(error.message, folder()) && strstr(error.message, strerror(EFBIG)),
                        "%s", error.message);
        }
        require_status(PETAL_OK, status, error);
        require_that(limit, >, 60000 * 8); /* some writes have failed */
    }
}

/* Returns the descriptor of the open temporary file, which has no name. */
static int find_file(void)
{
    struct stat about;
    for (int i = 3; i < 256; i++)
        if (fstat(i, &about) == 0 && S_ISREG(about.st_mode) && about.st_nlink == 0) return i;
    return -1;
}

static void a_file_that_is_cut_off_is_an_error(void **state)
{
    (void)state;
    fill(&sets[0], 60000);
    for (off_t size = 0; size < 400000; size += 39999) {
        petal_static_builder *builder = begin(0.01, 1, NULL);
        petal_filter *filter;
        petal_error error;
        require_status(PETAL_OK, petal_static_spill(builder, folder(), 64 * KIB, &error), error);
        require_status(PETAL_OK, add(builder, 60000, 1, &error), error);
        assert_int_equal(ftruncate(find_file(), size), 0);
        require_status(PETAL_ERR_IO, petal_static_finish(builder, NULL, NULL, &filter, &error),
                       error);
        assert_null(filter);
        assert_int_equal(find_file(), -1);
    }
}

static void a_limit_that_is_no_use_is_refused(void **state)
{
    petal_static_builder *builder = begin(0.01, 2, NULL);
    petal_filter *filter;
    petal_error error;
    (void)state;
    fill(&sets[0], 1000);
    require_status(PETAL_ERR_ARGUMENT, petal_static_spill(builder, folder(), 127 * KIB, &error),
                   error);
    require(strstr(error.message, "131072"), "%s", error.message);
    require_status(PETAL_ERR_IO, petal_static_spill(builder, "/no/such", 128 * KIB, &error), error);
    require(strstr(error.message, "/no/such"), "%s", error.message);
    require_status(PETAL_OK, petal_static_spill(builder, folder(), 128 * KIB, &error), error);
    require_status(PETAL_ERR_ARGUMENT, petal_static_spill(builder, folder(), 128 * KIB, &error),
                   error);
    require_status(PETAL_OK, add(builder, 1000, 2, &error), error);
    require_status(PETAL_OK, petal_static_finish(builder, NULL, NULL, &filter, &error), error);
    petal_free(filter);
    builder = begin(0.01, 1, NULL);
    require_status(PETAL_OK, add(builder, 1, 1, &error), error);
    require_status(PETAL_ERR_ARGUMENT, petal_static_spill(builder, folder(), 64 * KIB, &error),
                   error);
    require_status(PETAL_OK, petal_static_finish(builder, NULL, NULL, NULL, &error), error);
    assert_int_equal(find_file(), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bytes_are_those_of_a_build_in_memory),
        cmocka_unit_test(memory_stays_within_the_limit),
        cmocka_unit_test(every_failure_of_memory_is_an_error_and_no_leak),
        cmocka_unit_test(every_write_that_fails_is_an_error_that_names_the_folder),
        cmocka_unit_test(a_file_that_is_cut_off_is_an_error),
        cmocka_unit_test(a_limit_that_is_no_use_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
