/* faults.c - proves that neither a failing system call nor a power cut, at any moment, loses data
 * that petal.h promises to keep.
 *
 * This test redefines the calls that write to disk. Each replacement calls the C library's function
 * unless the test makes it fail. After a power cut, each 512-byte sector written since the last
 * msync() may have its old or new contents. The test builds such files and opens them. */
#define _GNU_SOURCE /* RTLD_NEXT */
#define _FILE_OFFSET_BITS 64
#include "support.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define SECTOR 512

/* ---- the calls ------------------------------------------------------------------------------- */

static struct {
    const char *call; /* name of the call that fails, or NULL */
    int nth;          /* the nth call from now fails */
    int error;        /* errno to set; 0: pwrite() writes only half */
    int seen;
} fault;

static void (*before_msync)(const uint8_t *from, size_t size); /* simulates a power cut */

static bool is_to_fail(const char *call)
{
    if (!fault.call || strcmp(call, fault.call) != 0 || ++fault.seen != fault.nth) return false;
    errno = fault.error;
    return true;
}

/* Returns the C library's function of this name, or its 64-bit variant (such as pwrite64) if that
 * is a separate function. */
static void *next_of(const char *name)
{
    char name64[32];
    snprintf(name64, sizeof name64, "%s64", name);
    void *function = dlsym(RTLD_NEXT, name64);
    return function ? function : dlsym(RTLD_NEXT, name);
}

/* Sets a function pointer to the C library's function. ISO C doesn't allow a cast from void * to a
 * function pointer. */
#define FIND(next, name) \
    do { \
        void *address = next_of(name); \
        memcpy(&(next), &address, sizeof(next)); \
    } while (0)

int fsync(int descriptor)
{
    int (*next)(int);
    if (is_to_fail("fsync")) return -1;
    FIND(next, "fsync");
    return next(descriptor);
}

int msync(void *from, size_t size, int flags)
{
    int (*next)(void *, size_t, int);
    if (before_msync) before_msync(from, size);
    if (is_to_fail("msync")) return -1;
    FIND(next, "msync");
    return next(from, size, flags);
}

ssize_t pwrite(int descriptor, const void *bytes, size_t size, off_t offset)
{
    ssize_t (*next)(int, const void *, size_t, off_t);
    if (is_to_fail("pwrite")) {
        if (fault.error) return -1;
        size = (size + 1) / 2;
    }
    FIND(next, "pwrite");
    return next(descriptor, bytes, size, offset);
}

int ftruncate(int descriptor, off_t size)
{
    int (*next)(int, off_t);
    if (is_to_fail("ftruncate")) return -1;
    FIND(next, "ftruncate");
    return next(descriptor, size);
}

int fchmod(int descriptor, mode_t mode)
{
    int (*next)(int, mode_t);
    if (is_to_fail("fchmod")) return -1;
    FIND(next, "fchmod");
    return next(descriptor, mode);
}

int rename(const char *from, const char *to)
{
    int (*next)(const char *, const char *);
    if (is_to_fail("rename")) return -1;
    FIND(next, "rename");
    return next(from, to);
}

int link(const char *from, const char *to)
{
    int (*next)(const char *, const char *);
    if (is_to_fail("link")) return -1;
    FIND(next, "link");
    return next(from, to);
}

int close(int descriptor)
{
    int (*next)(int);
    /* Closes the descriptor even if the call fails, as the real close() does. */
    bool fails = is_to_fail("close");
    int error = errno;
    FIND(next, "close");
    int result = next(descriptor);
    if (!fails) return result;
    errno = error;
    return -1;
}

static bool no_renameat2; /* simulates a system without renameat2() */

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags)
{
    int (*next)(int, const char *, int, const char *, unsigned);
    if (is_to_fail("renameat2")) return -1;
    if (no_renameat2) {
        errno = EINVAL;
        return -1;
    }
    FIND(next, "renameat2");
    return next(from_folder, from, to_folder, to, flags);
}

/* Only fcntl() calls that lock a file can fail. */
int fcntl(int descriptor, int command, ...)
{
    int (*next)(int, int, ...);
    va_list arguments;
    va_start(arguments, command);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    if (command == F_OFD_SETLK && is_to_fail("lock")) return -1;
    FIND(next, "fcntl");
    return next(descriptor, command, argument);
}

int posix_fallocate(int descriptor, off_t offset, off_t size)
{
    int (*next)(int, off_t, off_t);
    if (is_to_fail("posix_fallocate")) return errno;
    FIND(next, "posix_fallocate");
    return next(descriptor, offset, size);
}

/* ---- saving ---------------------------------------------------------------------------------- */

static petal_filter *with_numbers(uint64_t count)
{
    petal_filter *filter = make(PETAL_SCHEME_BLOCKED, 1 << 20, 6, 1); /* two 64 KiB blocks */
    add_numbers(filter, 0, count);
    return filter;
}

/* The paths of a temporary folder and of the file in it. */
struct place {
    char folder[PATH_SIZE], path[PATH_SIZE + 16];
};

static struct place new_place(void)
{
    struct place place;
    snprintf(place.folder, sizeof place.folder, "%s", temporary("folder"));
    snprintf(place.path, sizeof place.path, "%s/f.petal", place.folder);
    require(mkdir(place.folder, 0700) == 0, "cannot make %s", place.folder);
    return place;
}

static void end_place(const struct place *place)
{
    unlink(place->path);
    require(rmdir(place->folder) == 0, "something was left in %s", place->folder);
}

static int files_in(const char *folder)
{
    int count = 0;
    DIR *dir = opendir(folder);
    require(dir != NULL, "cannot read %s", folder);
    while (readdir(dir)) count++; /* NOLINT(concurrency-mt-unsafe): no thread is running */
    closedir(dir);
    return count - 2; /* excluding . and .. */
}

static petal_status save_failing(const petal_filter *filter, const char *path, unsigned flags,
                                 const char *call, int nth, int error_number, petal_error *error)
{
    *error = (petal_error){PETAL_OK, 0, 0, ""};
    fault.call = call;
    fault.nth = nth;
    fault.error = error_number;
    fault.seen = 0;
    petal_status status = petal_save(filter, path, SAVE_WITH(flags), error);
    fault.call = NULL;
    return status;
}

/* Saves over a file repeatedly. On the nth attempt, the nth call to the function `call` fails.
 * Stops when a save makes fewer than n such calls. Returns the number of calls that a save
 * makes. */
static int sweep_save(const struct place *place, const char *call, int error_number,
                      const petal_filter *new)
{
    petal_filter *old = with_numbers(10);
    petal_error error;
    int nth = 0;
    for (;; nth++) {
        require_status(PETAL_OK, petal_save(old, place->path, NULL, &error), error);
        struct bytes before = read_file(place->path);
        petal_status status =
            save_failing(new, place->path, 0, call, nth + 1, error_number, &error);
        struct bytes after = read_file(place->path);
        bool kept = same_bytes(before, after);
        free(before.data);
        free(after.data);
        require(files_in(place->folder) == 1, "%s, call %d: a temporary file is left", call,
                nth + 1);
        if (fault.seen < nth + 1) {
            require(status == PETAL_OK && !kept, "%s without a fault: %s", call, error.message);
            break;
        }
        require(status == PETAL_ERR_IO && error.system_errno == error_number,
                "%s, call %d: %s (%s)", call, nth + 1, petal_status_name(status), error.message);
        /* After the rename, only the folder is synced. If syncing the folder fails, the new file is
         * complete, but a power cut may restore the old one. */
        bool renamed = strcmp(call, "fsync") == 0 && nth == 1;
        require(kept != renamed, "%s, call %d: the old file is %s", call, nth + 1,
                kept ? "there" : "gone");
    }
    petal_free(old);
    return nth;
}

static void a_failing_call_while_saving_leaves_the_old_file_and_nothing_else(void **state)
{
    (void)state;
    static const struct {
        const char *call;
        int errors[3], times;
    } calls[] = {{"pwrite", {EIO, ENOSPC, EDQUOT}, 3},
                 {"ftruncate", {EIO, ENOSPC, EFBIG}, 1},
                 {"fchmod", {EPERM}, 1},
                 {"fsync", {EIO, ENOSPC, EDQUOT}, 2},
                 {"rename", {EACCES, EIO, EXDEV}, 1}};
    struct place place = new_place();
    petal_filter *new = with_numbers(5000);
    for (size_t i = 0; i < COUNT(calls); i++)
        for (size_t j = 0; j < 3 && calls[i].errors[j]; j++) {
            int times = sweep_save(&place, calls[i].call, calls[i].errors[j], new);
            require(times >= calls[i].times, "%s was called %d times", calls[i].call, times);
        }
    petal_free(new);
    end_place(&place);
}

static void a_failing_close_while_saving_is_an_error(void **state)
{
    (void)state;
    struct place place = new_place();
    petal_error error;
    petal_filter *old = with_numbers(10), *new = with_numbers(20);
    require_status(PETAL_OK, petal_save(old, place.path, NULL, &error), error);
    require_status(PETAL_ERR_IO, save_failing(new, place.path, 0, "close", 1, EIO, &error), error);
    petal_filter *file = NULL;
    require_status(PETAL_OK, petal_open(place.path, NULL, &file, &error), error);
    assert_true(same_image(file, old));
    petal_free(file);
    petal_free(old);
    petal_free(new);
    end_place(&place);
}

static void interrupted_and_short_writes_are_gone_on_with(void **state)
{
    (void)state;
    static const int errors[] = {EINTR, 0};
    struct place place = new_place();
    petal_filter *filter = with_numbers(5000);
    struct bytes image = serialized(filter);
    for (size_t i = 0; i < COUNT(errors); i++)
        for (int nth = 1; nth <= 3; nth++) {
            petal_error error;
            require_status(PETAL_OK,
                           save_failing(filter, place.path, 0, "pwrite", nth, errors[i], &error),
                           error);
            struct bytes file = read_file(place.path);
            require(same_bytes(file, image), "write %d, error %d", nth, errors[i]);
            free(file.data);
        }
    free(image.data);
    petal_free(filter);
    end_place(&place);
}

static void a_file_system_without_links_can_be_saved_to_without_replacing(void **state)
{
    (void)state;
    struct place place = new_place();
    petal_error error;
    petal_filter *filter = with_numbers(5);
    unsigned flags = PETAL_SAVE_NO_REPLACE;
    no_renameat2 = true;
    require_status(PETAL_OK, save_failing(filter, place.path, flags, "link", 1, EPERM, &error),
                   error);
    require_status(PETAL_ERR_EXISTS,
                   save_failing(filter, place.path, flags, "link", 1, EPERM, &error), error);
    unlink(place.path);
    require_status(PETAL_ERR_EXISTS,
                   save_failing(filter, place.path, flags, "link", 1, EEXIST, &error), error);
    require_status(PETAL_ERR_BUSY, save_failing(filter, place.path, 0, "link", 1, EEXIST, &error),
                   error);
    assert_int_equal(files_in(place.folder), 0);
    no_renameat2 = false;
    require_status(PETAL_ERR_EXISTS,
                   save_failing(filter, place.path, flags, "renameat2", 1, EEXIST, &error), error);
    require_status(PETAL_ERR_BUSY,
                   save_failing(filter, place.path, 0, "renameat2", 1, EEXIST, &error), error);
    require_status(PETAL_OK, save_failing(filter, place.path, 0, "renameat2", 1, ENOSYS, &error),
                   error);
    unlink(place.path);
    assert_int_equal(files_in(place.folder), 0);
    petal_free(filter);
    end_place(&place);
}

/* ---- writable maps --------------------------------------------------------------------------- */

static petal_status open_as(const char *path, unsigned flags, petal_filter **filter,
                            petal_error *error)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    options.flags = flags;
    return petal_open(path, &options, filter, error);
}

static void a_failing_call_while_opening_to_write_is_an_error(void **state)
{
    (void)state;
    static const struct {
        const char *call;
        int error;
        petal_status wanted;
    } calls[] = {{"lock", EAGAIN, PETAL_ERR_BUSY},
                 {"lock", EACCES, PETAL_ERR_BUSY},
                 {"lock", EINTR, PETAL_OK},
                 {"lock", EIO, PETAL_ERR_IO},
                 {"lock", ENOLCK, PETAL_ERR_UNSUPPORTED},
                 {"posix_fallocate", ENOSPC, PETAL_ERR_IO},
                 {"posix_fallocate", EIO, PETAL_ERR_IO},
                 {"posix_fallocate", EOPNOTSUPP, PETAL_OK}};
    struct place place = new_place();
    petal_error error;
    petal_filter *filter = with_numbers(10);
    require_status(PETAL_OK, petal_save(filter, place.path, NULL, &error), error);
    petal_free(filter);
    for (size_t i = 0; i < COUNT(calls); i++) {
        fault.call = calls[i].call;
        fault.nth = 1;
        fault.error = calls[i].error;
        fault.seen = 0;
        petal_status status = open_as(place.path, PETAL_OPEN_WRITABLE, &filter, &error);
        fault.call = NULL;
        require(status == calls[i].wanted, "%s with errno %d: %s", calls[i].call, calls[i].error,
                petal_status_name(status));
        petal_free(filter);
        require_status(PETAL_OK, open_as(place.path, PETAL_OPEN_WRITABLE, &filter, &error),
                       error); /* the lock was released */
        petal_free(filter);
    }
    end_place(&place);
}

/* Returns a map whose nth msync from now fails. */
static petal_filter *failing_map(const struct place *place, int nth)
{
    petal_error error;
    petal_filter *filter = with_numbers(100), *map = NULL;
    require_status(PETAL_OK, petal_save(filter, place->path, NULL, &error), error);
    petal_free(filter);
    require_status(PETAL_OK, open_as(place->path, PETAL_OPEN_WRITABLE, &map, &error), error);
    fault.call = "msync";
    fault.nth = nth;
    fault.error = EIO;
    fault.seen = 0;
    return map;
}

static void require_poisoned(petal_filter *map)
{
    petal_error error;
    petal_key key = {"later", 5};
    for (int i = 0; i < 3;
         /* Even if the disk works again, its contents are unknown, so the library doesn't retry. */
         i++) {
        assert_int_equal(petal_add(map, "later", 5), PETAL_ERR_IO);
        assert_int_equal(add_key_batch(map, &key, 1, NULL, NULL), PETAL_ERR_IO);
        require_status(PETAL_ERR_IO, petal_clear(map, &error), error);
        require_status(PETAL_ERR_IO, petal_sync(map, &error), error);
    }
    require_numbers(map, 0, 100); /* queries still work */
}

static void when_the_file_cannot_be_marked_dirty_nothing_is_changed(void **state)
{
    (void)state;
    struct place place = new_place();
    petal_error error;
    petal_filter *map = failing_map(&place, 1), *filter = NULL;
    uint64_t before = stats_of(map).bits_set;
    assert_int_equal(petal_add(map, "new", 3), PETAL_ERR_IO);
    fault.call = NULL;
    assert_int_equal(stats_of(map).bits_set, before);
    require_poisoned(map);
    petal_free(map);
    petal_status status = open_as(place.path, PETAL_OPEN_MAP, &filter, &error);
    require(status == PETAL_OK || status == PETAL_ERR_DIRTY, "%s", error.message);
    petal_free(filter);
    require_status(PETAL_OK,
                   open_as(place.path, PETAL_OPEN_LOAD | PETAL_OPEN_RECOVER, &filter, &error),
                   error);
    assert_int_equal(stats_of(filter).bits_set, before);
    petal_free(filter);
    end_place(&place);
}

static void after_a_failed_sync_the_filter_takes_no_changes_and_the_file_stays_dirty(void **state)
{
    (void)state;
    struct place place = new_place();
    petal_error error;
    petal_filter *map = failing_map(&place, 2),
                 *filter = NULL; /* the 1st msync() marks the file dirty, the 2nd writes the bits */
    assert_int_equal(petal_add(map, "new", 3), PETAL_OK);
    require_status(PETAL_ERR_IO, petal_sync(map, &error), error);
    assert_int_equal(error.system_errno, EIO);
    fault.call = NULL;
    require_poisoned(map);
    petal_free(map);
    require_status(PETAL_ERR_DIRTY, open_as(place.path, PETAL_OPEN_MAP, &filter, &error), error);
    end_place(&place);
}

static void a_failed_sync_of_the_clean_header_is_reported_and_leaves_a_consistent_file(void **state)
{
    (void)state;
    struct place place = new_place();
    petal_error error;
    petal_filter *map = failing_map(&place, 3),
                 *filter = NULL; /* only the header is not on disk yet */
    assert_int_equal(petal_add(map, "new", 3), PETAL_OK);
    require_status(PETAL_ERR_IO, petal_sync(map, &error), error);
    fault.call = NULL;
    require_poisoned(map);
    petal_free(map);
    petal_status status = open_as(place.path, PETAL_OPEN_MAP | PETAL_OPEN_VERIFY, &filter, &error);
    require(status == PETAL_OK || status == PETAL_ERR_DIRTY, "%s", error.message);
    if (status == PETAL_OK) assert_true(petal_contains(filter, "new", 3));
    petal_free(filter);
    end_place(&place);
}

static void a_sync_that_fails_while_freeing_leaves_the_file_dirty(void **state)
{
    (void)state;
    struct place place = new_place();
    petal_error error;
    petal_filter *map = failing_map(&place, 2), *filter = NULL;
    assert_int_equal(petal_add(map, "new", 3), PETAL_OK);
    petal_free(map);
    fault.call = NULL;
    require_status(PETAL_ERR_DIRTY, open_as(place.path, PETAL_OPEN_MAP, &filter, &error), error);
    end_place(&place);
}

/* ---- power cuts ------------------------------------------------------------------------------ */

static struct {
    const char *path;
    struct bytes durable; /* contents that msync() has made durable */
    const uint8_t *base;  /* of the map */
    uint64_t removed;     /* keys below this have been removed */
    uint64_t synced;      /* the last successful sync included keys below this */
    uint64_t random;
    int states, clean, dirty;
} power;

/* Returns a file that a power cut could leave: a random selection of the changed sectors is new,
 * and the others are old. */
static struct bytes after_a_cut(struct bytes now)
{
    struct bytes cut = copy_bytes(power.durable.data, power.durable.size);
    uint64_t share = 1 + random_below(&power.random, 4); /* selects how many sectors are lost */
    for (size_t at = 0; at < cut.size; at += SECTOR) {
        size_t size = cut.size - at < SECTOR ? cut.size - at : SECTOR;
        if (random_below(&power.random, 5) < share) memcpy(cut.data + at, now.data + at, size);
    }
    return cut;
}

/* A file that claims to be clean must have the right bits, and every synced key must still be
 * found. */
static void require_survives(struct bytes cut)
{
    petal_filter *filter = NULL;
    petal_error error = {PETAL_OK, 0, 0, ""};
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    options.flags = PETAL_OPEN_VERIFY;
    petal_status status = petal_load(cut.data, cut.size, &options, &filter, &error);
    require(status == PETAL_OK || status == PETAL_ERR_DIRTY, "state %d: %s", power.states,
            error.message);
    power.clean += status == PETAL_OK;
    power.dirty += status == PETAL_ERR_DIRTY;
    if (status == PETAL_ERR_DIRTY) {
        options.flags = PETAL_OPEN_LOAD | PETAL_OPEN_RECOVER;
        status = petal_load(cut.data, cut.size, &options, &filter, &error);
        require(status == PETAL_OK, "state %d: recovery says %s", power.states, error.message);
    }
    if (power.synced > power.removed)
        require_numbers(filter, power.removed, power.synced - power.removed);
    petal_free(filter);
    power.states++;
}

static void cut_the_power(int times)
{
    struct bytes now = read_file(power.path); /* the map's current contents */
    for (int i = 0; i < times; i++) {
        struct bytes cut = after_a_cut(now);
        require_survives(cut);
        free(cut.data);
    }
    free(now.data);
}

/* Simulates a power cut just before msync() starts, and another one right after it has finished. */
static void cut_around_msync(const uint8_t *from, size_t size)
{
    if (!power.base)
        power.base = from; /* the first msync writes the header, from the file's first byte on */
    cut_the_power(10);
    struct bytes now = read_file(power.path);
    size_t at = (size_t)(from - power.base), end = at + size < now.size ? at + size : now.size;
    memcpy(power.durable.data + at, now.data + at, end - at);
    free(now.data);
    cut_the_power(5);
}

/* Adds keys at one end, and removes keys at the other if the filter supports that. */
static void change_between_syncs(petal_filter *map, bool removes, uint64_t *added)
{
    for (uint64_t more = 1 + random_below(&power.random, 60); more > 0; more--) {
        require_that(petal_add_i64(map, (int64_t)(*added)++), >=, 0);
        if (removes && power.removed < power.synced && more % 2) {
            uint64_t key = power.removed++;
            assert_int_equal(petal_remove_i64(map, (int64_t)key), PETAL_OK);
        }
        if (more % 16 == 0) cut_the_power(3);
    }
}

static void cut_power_to(uint32_t scheme)
{
    struct place place = new_place();
    petal_error error;
    uint64_t added = 0;
    petal_filter *filter = make(scheme, 300000, 5, 0), *map = NULL;
    require_status(PETAL_OK, petal_save(filter, place.path, NULL, &error), error);
    petal_free(filter);
    memset(&power, 0, sizeof power);
    power.path = place.path;
    power.random = 43;
    power.durable = read_file(place.path);
    require_status(PETAL_OK, open_as(place.path, PETAL_OPEN_WRITABLE, &map, &error), error);
    before_msync = cut_around_msync;
    for (int round = 0; round < 25; round++) {
        change_between_syncs(map, scheme == PETAL_SCHEME_COUNTING, &added);
        require_status(PETAL_OK, petal_sync(map, &error), error);
        power.synced = added;
        cut_the_power(3);
    }
    before_msync = NULL;
    petal_free(map);
    printf("# %d states after power cuts: %d clean, %d dirty\n", power.states, power.clean,
           power.dirty);
    require_that(power.clean, >, 100);
    require_that(power.dirty, >, 100);
    free(power.durable.data);
    end_place(&place);
}

static void a_power_cut_at_any_moment_loses_no_synced_key_and_is_never_taken_for_good(void **state)
{
    (void)state;
    cut_power_to(PETAL_SCHEME_CLASSIC);
}

static void a_power_cut_loses_no_synced_key_that_was_not_removed(void **state)
{
    (void)state;
    cut_power_to(PETAL_SCHEME_COUNTING);
    require_that(power.removed, >, 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failing_call_while_saving_leaves_the_old_file_and_nothing_else),
        cmocka_unit_test(a_failing_close_while_saving_is_an_error),
        cmocka_unit_test(interrupted_and_short_writes_are_gone_on_with),
        cmocka_unit_test(a_file_system_without_links_can_be_saved_to_without_replacing),
        cmocka_unit_test(a_failing_call_while_opening_to_write_is_an_error),
        cmocka_unit_test(when_the_file_cannot_be_marked_dirty_nothing_is_changed),
        cmocka_unit_test(after_a_failed_sync_the_filter_takes_no_changes_and_the_file_stays_dirty),
        cmocka_unit_test(
            a_failed_sync_of_the_clean_header_is_reported_and_leaves_a_consistent_file),
        cmocka_unit_test(a_sync_that_fails_while_freeing_leaves_the_file_dirty),
        cmocka_unit_test(a_power_cut_at_any_moment_loses_no_synced_key_and_is_never_taken_for_good),
        cmocka_unit_test(a_power_cut_loses_no_synced_key_that_was_not_removed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
