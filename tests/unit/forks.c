/* forks.c - proves the promises about fork(). A filter on a file belongs to the process that opened
 * it. A forked child can read such a filter but not change it, and doesn't affect the file's lock
 * or state. A filter in memory becomes a private copy in the child. */
#define _GNU_SOURCE
#include "image.h"

#include "petal/petal_build.h"

#include <signal.h>
#include <sys/wait.h>

#define KEYS 5000u

/* A child process uses this instead of cmocka's assertions, which work only in the parent. On
 * failure the child exits with the line number. */
#define must(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "# in the fork, line %d: not so: %s\n", __LINE__, #condition); \
            _exit(1); \
        } \
    } while (0)

static void save_numbers(const char *path, uint32_t scheme)
{
    petal_error error;
    petal_filter *filter = make(scheme, 8 * 8 * BLOCK, 6, 0);
    add_numbers(filter, 0, 100);
    require_status(PETAL_OK, petal_save(filter, path, NULL, &error), error);
    petal_free(filter);
}

/* Runs `part` in a forked child process, and waits until the child exits. */
static void in_fork(void (*part)(petal_filter *filter, const char *path), petal_filter *filter,
                    const char *path)
{
    int status = 0;
    pid_t pid = fork();
    require_that(pid, >=, 0);
    if (pid == 0) {
        part(filter, path);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    require(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the fork ended with %#x",
            (unsigned)status);
}

/* Opens the file in another process while the owner has it open, and returns the status. */
static petal_status status_of_map(const char *path)
{
    return status_of_opening(path, PETAL_OPEN_MAP);
}

static void free_it(petal_filter *filter, const char *path)
{
    (void)path;
    petal_free(filter);
}

static void a_fork_that_frees_leaves_the_file_dirty_and_locked(void **state)
{
    (void)state;
    const char *path = temporary("forks.petal");
    save_numbers(path, PETAL_SCHEME_BLOCKED);
    petal_filter *filter = opened(path, PETAL_OPEN_WRITABLE);
    add_numbers(filter, 100, KEYS);
    struct bytes before = read_file(path);
    in_fork(free_it, filter, path);
    assert_true(file_is(path, before));
    assert_int_equal(status_of_map(path), PETAL_ERR_BUSY); /* dirty, and the writer is alive */
    assert_int_equal(status_of_opening(path, PETAL_OPEN_WRITABLE), PETAL_ERR_BUSY);
    add_numbers(filter, 100 + KEYS, KEYS);
    petal_free(filter);
    filter = opened(path, PETAL_OPEN_MAP | PETAL_OPEN_VERIFY);
    require_numbers(filter, 0, 100 + 2 * KEYS);
    petal_free(filter);
    free(before.data);
    unlink(path);
}

/* The child frees the filter, and then the owner is killed. If the bits don't match their
 * checksums, the header must not mark the file as clean. */
static void after_a_fork_freed_and_the_owner_died_the_file_recovers(void **state)
{
    (void)state;
    const char *path = temporary("forks.petal");
    save_numbers(path, PETAL_SCHEME_BLOCKED);
    pid_t owner = fork();
    if (owner == 0) {
        petal_filter *filter = NULL;
        petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
        options.flags = PETAL_OPEN_WRITABLE;
        must(petal_open(path, &options, &filter, NULL) == PETAL_OK);
        for (int64_t i = 0; i < 1000; i++) must(petal_add_i64(filter, i) >= 0);
        pid_t child = fork();
        if (child == 0) {
            petal_free(filter);
            _exit(0);
        }
        waitpid(child, NULL, 0);
        for (int64_t i = 1000; i < 2000; i++) must(petal_add_i64(filter, i) >= 0);
        raise(SIGKILL);
    }
    int status;
    waitpid(owner, &status, 0);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(status_of_map(path), PETAL_ERR_DIRTY);
    petal_filter *filter = opened(path, PETAL_OPEN_WRITABLE | PETAL_OPEN_RECOVER);
    petal_free(filter);
    filter = opened(path, PETAL_OPEN_MAP | PETAL_OPEN_VERIFY);
    require_numbers(filter, 0, 2000); /* a killed process loses no stores to a map */
    petal_free(filter);
    unlink(path);
}

/* ---- changes --------------------------------------------------------------------------------- */

static bool is_shared;

static void change_it(petal_filter *filter, const char *path)
{
    petal_error error;
    petal_builder *builder;
    uint32_t workers = 1;
    uint8_t results[2];
    int64_t numbers[] = {90001, 90002};
    petal_batch batch = batch_of_numbers(numbers, 2);
    petal_info info = info_of(filter);
    petal_filter *other = NULL;
    must(petal_add_i64(filter, 90000) == PETAL_ERR_READ_ONLY);
    must(petal_add_batch(filter, &batch, results, NULL, &error) == PETAL_ERR_READ_ONLY);
    must(petal_clear(filter, &error) == PETAL_ERR_READ_ONLY);
    must(petal_sync(filter, &error) == PETAL_ERR_READ_ONLY);
    must(petal_freeze(filter, &error) == PETAL_ERR_READ_ONLY);
    must(petal_save(filter, path, NULL, &error) == PETAL_ERR_READ_ONLY);
    must(petal_builder_create(filter, &workers, &builder, &error) == PETAL_ERR_READ_ONLY);
    must(petal_create_like(filter, &other, &error) == PETAL_OK);
    must(petal_add_i64(other, 90003) == PETAL_OK);
    must(petal_merge(filter, other, &error) == PETAL_ERR_READ_ONLY);
    must(petal_intersect(filter, other, &error) == PETAL_ERR_READ_ONLY);
    if (info.counter_bits) {
        must(petal_remove_i64(filter, 1) == PETAL_ERR_READ_ONLY);
        must(petal_remove_batch(filter, &batch, results, NULL, &error) == PETAL_ERR_READ_ONLY);
    } else if (!is_shared) {
        must(petal_allow_threads(filter, &error) == PETAL_ERR_READ_ONLY);
    }
    for (int64_t i = 0; i < 100; i++) must(petal_contains_i64(filter, i));
    must(petal_last_error(filter, &error) == PETAL_ERR_READ_ONLY);
    petal_free(other);
    petal_free(filter);
}

/* Tests three moments: before the first change, after some changes, and after a sync. */
static void a_fork_changes_nothing(void **state)
{
    (void)state;
    petal_error error;
    const char *path = temporary("forks.petal");
    FOR_NATIVE_SCHEMES(scheme)
    {
        save_numbers(path, scheme);
        petal_filter *filter = opened(path, PETAL_OPEN_WRITABLE | PETAL_OPEN_VERIFY_ON_USE);
        for (uint64_t round = 0; round < 3; round++) {
            struct bytes before = read_file(path);
            in_fork(change_it, filter, path);
            assert_true(file_is(path, before));
            free(before.data);
            if (round < 2) add_numbers(filter, 100 + round * 100, 100);
            if (round == 1) require_status(PETAL_OK, petal_sync(filter, &error), error);
        }
        petal_free(filter);
        filter = opened(path, PETAL_OPEN_MAP | PETAL_OPEN_VERIFY);
        require_numbers(filter, 0, 300);
        assert_int_equal(info_of(filter).items, 300);
        petal_free(filter);
    }
    unlink(path);
}

static petal_builder *half_built;

static void go_on_building(petal_filter *filter, const char *path)
{
    petal_error error;
    int64_t numbers[] = {90001, 90002};
    petal_batch batch = batch_of_numbers(numbers, 2);
    (void)path;
    must(petal_builder_add(half_built, 0, &batch, &error) == PETAL_ERR_READ_ONLY);
    must(petal_builder_flush(half_built, 0, &error) == PETAL_ERR_READ_ONLY);
    must(petal_builder_finish(half_built, &error) == PETAL_ERR_READ_ONLY);
    petal_free(filter);
}

static void nor_does_its_builder_or_a_shared_filter(void **state)
{
    (void)state;
    petal_error error;
    static int64_t numbers[100000];
    for (int64_t i = 0; i < 100000; i++) numbers[i] = i;
    petal_batch batch = batch_of_numbers(numbers, 100000);
    const char *path = temporary("forks.petal");
    uint32_t workers = 4;
    petal_filter *filter = make(PETAL_SCHEME_BLOCKED, (uint64_t)8 * 8 << 20, 6, 0);
    require_status(PETAL_OK, petal_save(filter, path, NULL, &error), error);
    petal_free(filter);
    filter = opened(path, PETAL_OPEN_WRITABLE);
    require_status(PETAL_OK, petal_builder_create(filter, &workers, &half_built, &error), error);
    require_that(workers, >, 1);
    require_status(PETAL_OK, petal_builder_add(half_built, 0, &batch, &error), error);
    struct bytes before = read_file(path);
    in_fork(go_on_building, filter, path);
    assert_true(file_is(path, before));
    require_status(PETAL_OK, petal_builder_finish(half_built, &error), error);
    require_status(PETAL_OK, petal_allow_threads(filter, &error), error);
    require_status(PETAL_OK, petal_add_batch(filter, &batch, NULL, NULL, &error), error);
    free(before.data);
    before = read_file(path);
    is_shared = true;
    in_fork(change_it, filter, path);
    is_shared = false;
    assert_true(file_is(path, before));
    petal_free(filter);
    filter = opened(path, PETAL_OPEN_MAP | PETAL_OPEN_VERIFY);
    require_numbers(filter, 0, 100000);
    petal_free(filter);
    free(before.data);
    unlink(path);
}

/* ---- reading in the fork --------------------------------------------------------------------- */

/* The owner keeps adding while the child reads. Blocks that the owner has changed must not be
 * reported as damaged. */
static void a_fork_reads_while_the_owner_adds(void **state)
{
    (void)state;
    int go[2], status;
    char byte = 0;
    const char *path = temporary("forks.petal");
    save_numbers(path, PETAL_SCHEME_BLOCKED);
    petal_filter *filter = opened(path, PETAL_OPEN_WRITABLE | PETAL_OPEN_VERIFY_ON_USE);
    assert_int_equal(pipe(go), 0);
    pid_t pid = fork();
    if (pid == 0) {
        petal_filter *copy = NULL;
        must(read(go[0], &byte, 1) == 1);
        for (int64_t i = 0; i < 100 + KEYS; i++) must(petal_contains_i64(filter, i));
        must(petal_last_error(filter, NULL) == PETAL_OK);
        must(petal_clone(filter, &copy, NULL) == PETAL_ERR_BUSY);
        petal_free(filter);
        _exit(0);
    }
    add_numbers(filter, 100, KEYS);
    assert_int_equal(write(go[1], &byte, 1), 1);
    waitpid(pid, &status, 0);
    require(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the fork ended with %#x",
            (unsigned)status);
    petal_free(filter);
    close(go[0]);
    close(go[1]);
    unlink(path);
}

/* ---- the lock -------------------------------------------------------------------------------- */

static void the_lock_ends_with_its_owner_not_with_forks_of_it(void **state)
{
    (void)state;
    petal_error error;
    const unsigned ways[] = {PETAL_OPEN_WRITABLE, PETAL_OPEN_LOAD | PETAL_OPEN_LOCKED};
    const char *path = temporary("forks.petal");
    for (size_t way = 0; way < 2; way++) {
        save_numbers(path, PETAL_SCHEME_BLOCKED);
        petal_filter *filter = opened(path, ways[way]);
        add_numbers(filter, 100, 10);
        pid_t pid = fork();
        if (pid == 0) {
            pause();
            _exit(0);
        }
        assert_int_equal(status_of_opening(path, PETAL_OPEN_WRITABLE), PETAL_ERR_BUSY);
        if (way == 1) /* the child has no lock on the new file */
            require_status(PETAL_OK, petal_save(filter, path, NULL, &error), error);
        petal_free(filter);
        assert_int_equal(status_of_opening(path, PETAL_OPEN_WRITABLE), PETAL_OK);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        filter = opened(path, PETAL_OPEN_MAP | PETAL_OPEN_VERIFY);
        require_numbers(filter, 0, 110);
        petal_free(filter);
    }
    unlink(path);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void use_the_copy(petal_filter *filter, const char *path)
{
    char elsewhere[PATH_SIZE];
    petal_error error;
    snprintf(elsewhere, sizeof elsewhere, "%s.fork", path);
    must(petal_add_i64(filter, 90000) == PETAL_OK && petal_contains_i64(filter, 90000));
    must(petal_save(filter, elsewhere, NULL, &error) == PETAL_OK);
    must(unlink(elsewhere) == 0);
    petal_free(filter);
}

static void save_the_copy(petal_filter *filter, const char *path)
{
    petal_error error;
    must(petal_add_i64(filter, 90001) == PETAL_OK);
    must(petal_save(filter, path, NULL, &error) == PETAL_ERR_READ_ONLY);
    use_the_copy(filter, path);
}

static void filters_in_memory_are_private_copies(void **state)
{
    (void)state;
    petal_error error;
    const char *path = temporary("forks.petal");
    save_numbers(path, PETAL_SCHEME_BLOCKED);
    petal_filter *memory = opened(path, PETAL_OPEN_LOAD),
                 *locked = opened(path, PETAL_OPEN_LOAD | PETAL_OPEN_LOCKED);
    in_fork(use_the_copy, memory, path);
    in_fork(save_the_copy, locked, path);
    assert_int_equal(petal_contains_i64(memory, 90000) + petal_contains_i64(locked, 90001), 0);
    add_numbers(locked, 100, 50);
    require_status(PETAL_OK, petal_save(locked, path, NULL, &error), error);
    in_fork(save_the_copy, locked, path); /* the path now refers to another file */
    petal_free(memory);
    petal_free(locked);
    petal_filter *filter = opened(path, PETAL_OPEN_MAP | PETAL_OPEN_VERIFY);
    require_numbers(filter, 0, 150);
    petal_free(filter);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fork_that_frees_leaves_the_file_dirty_and_locked),
        cmocka_unit_test(after_a_fork_freed_and_the_owner_died_the_file_recovers),
        cmocka_unit_test(a_fork_changes_nothing),
        cmocka_unit_test(nor_does_its_builder_or_a_shared_filter),
        cmocka_unit_test(a_fork_reads_while_the_owner_adds),
        cmocka_unit_test(the_lock_ends_with_its_owner_not_with_forks_of_it),
        cmocka_unit_test(filters_in_memory_are_private_copies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
