/* files.c - proves that saving is all or nothing and that a failed open gives the reason. A damaged
 * or incompletely written map is never accepted as clean, even if a writer is killed, a second
 * writer opens the file, or the disk is full. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, mount points */
#define _GNU_SOURCE     /* unshare */
#include "image.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static petal_filter *with_numbers(uint64_t count)
{
    petal_filter *filter = make(PETAL_SCHEME_BLOCKED, 2 * 8 * BLOCK, 6, 1); /* two blocks */
    add_numbers(filter, 0, count);
    return filter;
}

static void save(const petal_filter *filter, const char *path)
{
    petal_error error;
    require_status(PETAL_OK, petal_save(filter, path, NULL, &error), error);
}

static void save_numbers(const char *path, uint64_t count)
{
    petal_filter *filter = with_numbers(count);
    save(filter, path);
    petal_free(filter);
}

/* ---- maps ------------------------------------------------------------------------------------ */

/* Returns 1 if this process maps the file with huge pages where possible, 0 if it doesn't, and -1
 * if the system doesn't report it. */
static int asks_for_huge_pages(const char *path)
{
    FILE *maps = fopen("/proc/self/smaps", "r");
    char line[512];
    int found = -1;
    bool here = false;
    if (!maps) return -1;
    while (found < 0 && fgets(line, sizeof line, maps)) {
        if (strstr(line, path)) here = true;
        if (here && strncmp(line, "VmFlags:", 8) == 0) found = strstr(line, " hg") != NULL;
    }
    fclose(maps);
    return found;
}

static void a_map_of_which_all_is_read_asks_for_huge_pages(void **state)
{
    (void)state;
    const char *path = temporary("files.petal");
    save_numbers(path, 10);
    petal_filter *map = opened(path, PETAL_OPEN_MAP | PETAL_OPEN_VERIFY);
    int whole = asks_for_huge_pages(path);
    petal_free(map);
    map = opened(path, PETAL_OPEN_MAP);
    int some = asks_for_huge_pages(path);
    petal_free(map);
    map = opened(path, PETAL_OPEN_WRITABLE | PETAL_OPEN_VERIFY);
    int writable = asks_for_huge_pages(path);
    petal_free(map);
    unlink(path);
    if (whole < 0 || access("/sys/kernel/mm/transparent_hugepage", F_OK) != 0)
        skip_because("this machine does not show which maps ask for huge pages");
    require_that(whole, ==, 1);
    require_that(some, ==, 0);     /* with huge pages, a query would read 2 MB instead of one
                                    * page */
    require_that(writable, ==, 0); /* with huge pages, a sync would write 2 MB instead of one
                                    * page */
}

/* ---- saving ---------------------------------------------------------------------------------- */

static void a_save_replaces_a_file_or_refuses_to_as_asked(void **state)
{
    (void)state;
    petal_error error;
    const char *path = temporary("files.petal");
    petal_filter *old = with_numbers(10), *new = with_numbers(20);
    struct bytes old_image = serialized(old), new_image = serialized(new);
    require_status(PETAL_OK, petal_save(old, path, SAVE_WITH(PETAL_SAVE_NO_REPLACE), &error),
                   error);
    require_status(PETAL_ERR_EXISTS,
                   petal_save(new, path, SAVE_WITH(PETAL_SAVE_NO_REPLACE), &error), error);
    assert_true(file_is(path, old_image));
    require_status(PETAL_OK, petal_save(new, path, NULL, &error), error);
    assert_true(file_is(path, new_image));
    require_status(PETAL_ERR_ARGUMENT, petal_save(new, path, SAVE_WITH(8), &error), error);
    unlink(path);
    petal_free(old);
    petal_free(new);
    free(old_image.data);
    free(new_image.data);
}

static void a_save_keeps_the_mode_of_the_file_and_follows_links(void **state)
{
    (void)state;
    struct stat about;
    const char *path = temporary("files.petal"), *link_path = temporary("link.petal");
    save_numbers(path, 10);
    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(symlink(path, link_path), 0);
    save_numbers(link_path, 20);
    require_that(lstat(link_path, &about), ==, 0);
    assert_true(S_ISLNK(about.st_mode));
    require_that(stat(path, &about), ==, 0);
    require_that((about.st_mode & 0777), ==, 0640);
    petal_filter *filter = opened(path, PETAL_OPEN_MAP);
    assert_int_equal(info_of(filter).items, 20);
    petal_free(filter);
    unlink(link_path);
    unlink(path);
}

/* The set-user-id and set-group-id bits were granted to the old contents, so a new file must not
 * inherit them. */
static void a_save_drops_the_bits_that_lend_an_owner(void **state)
{
    (void)state;
    struct stat about;
    const char *path = temporary("files.petal");
    save_numbers(path, 10);
    assert_int_equal(chmod(path, 06755), 0);
    save_numbers(path, 20);
    require_that(stat(path, &about), ==, 0);
    require_that((about.st_mode & 07777), ==, 0755);
    unlink(path);
}

static void a_new_file_has_the_mode_that_the_umask_leaves(void **state)
{
    (void)state;
    struct stat about;
    const char *path = temporary("files.petal");
    mode_t before = umask(0027);
    save_numbers(path, 1);
    umask(before);
    require_that(stat(path, &about), ==, 0);
    require_that((about.st_mode & 0777), ==, 0640);
    unlink(path);
}

static void an_open_map_goes_on_seeing_the_file_that_a_save_replaces(void **state)
{
    (void)state;
    const char *path = temporary("files.petal");
    save_numbers(path, 100);
    petal_filter *map = opened(path, PETAL_OPEN_MAP);
    petal_filter *other = make(PETAL_SCHEME_CLASSIC, 1000, 3, 0);
    save(other, path);
    require_numbers(map, 0, 100);
    assert_int_equal(info_of(map).bits, 2 * 8 * BLOCK);
    petal_free(map);
    petal_free(other);
    unlink(path);
}

static void where_a_save_is_impossible_it_says_why(void **state)
{
    (void)state;
    petal_error error;
    petal_filter *filter = with_numbers(1);
    char long_name[600];
    memset(long_name, 'x', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    require_status(PETAL_ERR_IO, petal_save(filter, temporary("missing/f.petal"), NULL, &error),
                   error);
    assert_int_equal(error.system_errno, ENOENT);
    require_status(PETAL_ERR_IO, petal_save(filter, ".", NULL, &error), error);
    assert_int_equal(error.system_errno, EISDIR);
    require_status(PETAL_ERR_IO, petal_save(filter, long_name, NULL, &error), error);
    assert_int_equal(error.system_errno, ENAMETOOLONG);
    require_status(PETAL_ERR_UNSUPPORTED, petal_save(filter, "/dev/null", NULL, &error), error);
    petal_free(filter);
}

/* ---- opening --------------------------------------------------------------------------------- */

static void what_cannot_be_opened_says_why(void **state)
{
    (void)state;
    petal_filter *filter = NULL;
    petal_error error;
    const char *fifo = temporary("fifo"), *text = temporary("text"), *none = temporary("empty");
    assert_int_equal(mkfifo(fifo, 0600), 0);
    write_file(text, "hello\n", 6);
    write_file(none, "", 0);
    for (unsigned mode = PETAL_OPEN_MAP; mode <= PETAL_OPEN_LOAD; mode++) {
        require_status(PETAL_ERR_IO, open_as(temporary("missing"), mode, &filter, &error), error);
        assert_int_equal(error.system_errno, ENOENT);
        require_status(PETAL_ERR_IO, open_as(".", mode, &filter, &error), error);
        assert_int_equal(error.system_errno, EISDIR);
        require_status(PETAL_ERR_UNSUPPORTED, open_as(fifo, mode, &filter, &error),
                       error); /* opening a FIFO doesn't block */
        require_status(PETAL_ERR_NOT_A_FILTER, open_as(text, mode, &filter, &error), error);
        require_status(PETAL_ERR_NOT_A_FILTER, open_as(none, mode, &filter, &error), error);
    }
    unlink(fifo);
    unlink(text);
    unlink(none);
}

/* Runs `deed` in a child process, which must exit with 0. */
static void require_child(int (*deed)(const char *path), const char *path)
{
    int status;
    pid_t child = fork();
    require_that(child, >=, 0);
    if (child == 0) _exit(deed(path));
    assert_int_equal(waitpid(child, &status, 0), child);
    require(WIFEXITED(status) && WEXITSTATUS(status) == 0,
            "the child ended with %x (exit status %d)", (unsigned)status,
            WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

static bool is_refused(petal_status status, const petal_error *error)
{
    return status == PETAL_ERR_IO && error->system_errno == EACCES;
}

/* Runs as another user in a folder not owned by that user. The folder contains a readable file and
 * an unreadable one. */
static int try_without_leave(const char *folder)
{
    petal_filter *filter = NULL;
    petal_error error;
    if (chdir(folder) != 0) return 1;
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) return 2;
    petal_filter *mine = with_numbers(1);
    if (open_as("readable", PETAL_OPEN_MAP, &filter, &error) != PETAL_OK) return 3;
    petal_free(filter);
    filter = NULL;
    if (!is_refused(open_as("readable", PETAL_OPEN_WRITABLE, &filter, &error), &error)) return 4;
    if (!is_refused(open_as("secret", PETAL_OPEN_MAP, &filter, &error), &error)) return 5;
    if (!is_refused(petal_save(mine, "new", NULL, &error), &error)) return 6;
    if (!is_refused(petal_save(mine, "readable", NULL, &error), &error)) return 7;
    petal_free(mine);
    return 0;
}

static void what_may_not_be_read_or_written_says_so(void **state)
{
    (void)state;
    const char *folder = temporary("folder");
    char readable[PATH_SIZE], unreadable[PATH_SIZE];
    assert_int_equal(mkdir(folder, 0755), 0);
    snprintf(readable, sizeof readable, "%s/readable", folder);
    snprintf(unreadable, sizeof unreadable, "%s/secret", folder);
    save_numbers(readable, 5);
    save_numbers(unreadable, 5);
    chmod(readable, 0444);
    chmod(unreadable, 0);
    chmod(folder, 0555);
    struct bytes before = read_file(readable);
    require_child(try_without_leave, folder);
    assert_true(file_is(readable, before));
    chmod(folder, 0755);
    unlink(readable);
    unlink(unreadable);
    assert_int_equal(rmdir(folder), 0);
    free(before.data);
}

static void a_file_above_max_bytes_is_refused(void **state)
{
    (void)state;
    const char *path = temporary("files.petal");
    save_numbers(path, 5);
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    petal_filter *filter = NULL;
    petal_error error;
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    options.max_bytes = (uint64_t)about.st_size - 1;
    require_status(PETAL_ERR_LIMIT, petal_open(path, &options, &filter, &error), error);
    options.max_bytes++;
    require_status(PETAL_OK, petal_open(path, &options, &filter, &error), error);
    petal_free(filter);
    unlink(path);
}

static void damage_is_found_by_verify_and_at_open_when_asked(void **state)
{
    (void)state;
    petal_error error;
    const char *path = temporary("files.petal");
    petal_filter *filter = with_numbers(1000);
    struct bytes image = serialized(filter);
    payload_of(image)[BLOCK + 77] ^= 0x10;
    write_file(path, image.data, image.size);
    for (unsigned mode = PETAL_OPEN_MAP; mode <= PETAL_OPEN_LOAD; mode++)
        assert_int_equal(status_of_opening(path, mode | PETAL_OPEN_VERIFY), PETAL_ERR_DAMAGED);
    petal_filter *map = opened(path, PETAL_OPEN_MAP);
    require_status(PETAL_ERR_DAMAGED, petal_verify(map, &error), error);
    assert_int_equal(error.offset, payload_of(image) + BLOCK - image.data);
    petal_free(map);
    assert_true(file_is(path, image));
    unlink(path);
    free(image.data);
    petal_free(filter);
}

static void a_loaded_filter_leaves_its_file_alone(void **state)
{
    (void)state;
    const char *path = temporary("files.petal");
    save_numbers(path, 50);
    struct bytes before = read_file(path);
    petal_filter *filter = opened(path, PETAL_OPEN_LOAD);
    add_numbers(filter, 50, 50);
    petal_error error;
    require_status(PETAL_OK, petal_sync(filter, &error), error);
    require_status(PETAL_OK, petal_set_metadata(filter, "x", 1, &error), error);
    petal_free(filter);
    assert_true(file_is(path, before));
    unlink(path);
    free(before.data);
}

static void a_read_only_map_refuses_changes(void **state)
{
    (void)state;
    const char *path = temporary("files.petal");
    save_numbers(path, 50);
    petal_filter *map = opened(path, PETAL_OPEN_MAP);
    assert_int_equal(petal_add(map, "x", 1), PETAL_ERR_READ_ONLY);
    assert_int_equal(petal_clear(map, NULL), PETAL_ERR_READ_ONLY);
    assert_int_equal(petal_set_metadata(map, "x", 1, NULL), PETAL_ERR_READ_ONLY);
    require_numbers(map, 0, 50);
    petal_free(map);
    unlink(path);
}

/* ---- writable maps --------------------------------------------------------------------------- */

static void a_writable_map_is_dirty_from_the_first_change_to_the_sync(void **state)
{
    (void)state;
    petal_error error;
    const char *path = temporary("files.petal");
    save_numbers(path, 100);
    petal_filter *map = opened(path, PETAL_OPEN_WRITABLE);
    assert_int_equal(status_of_opening(path, PETAL_OPEN_MAP), PETAL_OK);
    for (uint64_t round = 1; round <= 3; round++) {
        add_numbers(map, 100 * round, 100);
        assert_int_equal(status_of_opening(path, PETAL_OPEN_MAP), PETAL_ERR_BUSY);
        require_status(PETAL_UNCHECKED, petal_verify(map, &error),
                       error); /* a file without checksums can't be verified */
        require_status(PETAL_OK, petal_sync(map, &error), error);
        assert_int_equal(status_of_opening(path, PETAL_OPEN_MAP | PETAL_OPEN_VERIFY), PETAL_OK);
        require_status(PETAL_OK, petal_verify(map, &error), error);
    }
    petal_free(map);
    petal_filter *file = opened(path, PETAL_OPEN_LOAD | PETAL_OPEN_VERIFY),
                 *wanted = with_numbers(400);
    require_that(content_of(file), ==, content_of(wanted));
    require_that(info_of(file).items, ==, 400);
    petal_free(file);
    petal_free(wanted);
    unlink(path);
}

static void freeing_a_writable_map_syncs_it(void **state)
{
    (void)state;
    const char *path = temporary("files.petal");
    save_numbers(path, 0);
    petal_filter *map = opened(path, PETAL_OPEN_WRITABLE);
    add_numbers(map, 0, 300);
    petal_free(map);
    petal_filter *file = opened(path, PETAL_OPEN_MAP | PETAL_OPEN_VERIFY);
    require_numbers(file, 0, 300);
    petal_free(file);
    unlink(path);
}

static void a_writable_map_that_is_not_changed_does_not_change_the_file(void **state)
{
    (void)state;
    petal_error error;
    const char *path = temporary("files.petal");
    save_numbers(path, 100);
    struct bytes before = read_file(path);
    petal_filter *map = opened(path, PETAL_OPEN_WRITABLE | PETAL_OPEN_VERIFY);
    petal_filter *unlike = make(PETAL_SCHEME_CLASSIC, 1000, 5, 0);
    require_numbers(map, 0, 100);
    assert_int_equal(add_key_batch(map, NULL, 0, NULL, NULL),
                     PETAL_OK); /* empty batches and refused keys don't change the file either */
    assert_int_equal(add_number_batch(map, NULL, 0, NULL, NULL), PETAL_OK);
    assert_int_equal(add_hash_batch(map, NULL, 0, NULL, NULL), PETAL_OK);
    require_status(PETAL_ERR_UNSUPPORTED, petal_remove_hash(map, 1), error);
    require_status(PETAL_ERR_MISMATCH, petal_merge(map, unlike, &error), error);
    require_status(PETAL_ERR_MISMATCH, petal_intersect(map, unlike, &error), error);
    require_status(PETAL_ERR_UNSUPPORTED, petal_set_metadata(map, "m", 1, &error), error);
    assert_true(file_is(path, before));
    require_status(PETAL_OK, petal_sync(map, &error), error);
    petal_free(map);
    petal_free(unlike);
    assert_true(file_is(path, before));
    unlink(path);
    free(before.data);
}

/* Makes each kind of change to a map, syncs it, and compares the file with a filter in memory that
 * was changed in the same way. */
static void every_kind_of_change_reaches_the_file(void **state)
{
    (void)state;
    petal_error error;
    const char *path = temporary("files.petal");
    petal_filter *memory = with_numbers(500), *other = with_numbers(0);
    add_numbers(other, 400, 500);
    save(memory, path);
    petal_filter *map = opened(path, PETAL_OPEN_WRITABLE);
    for (int change = 0; change < 6; change++) {
        uint64_t hashes[2] = {change, change + 1000u};
        petal_key keys[2] = {{"one", 3}, {"two", 3}};
        petal_filter *both[2] = {memory, map};
        for (int i = 0; i < 2; i++) {
            if (change == 0)
                assert_int_equal(add_hash_batch(both[i], hashes, 2, NULL, NULL), PETAL_OK);
            if (change == 1)
                assert_int_equal(add_key_batch(both[i], keys, 2, NULL, NULL), PETAL_OK);
            if (change == 2) require_status(PETAL_OK, petal_merge(both[i], other, &error), error);
            if (change == 3)
                require_status(PETAL_OK, petal_intersect(both[i], other, &error), error);
            if (change == 4) require_status(PETAL_OK, petal_clear(both[i], &error), error);
            if (change == 5) require_that(petal_add_i64(both[i], 5), ==, PETAL_OK);
        }
        require_status(PETAL_OK, petal_sync(map, &error), error);
        petal_filter *file = opened(path, PETAL_OPEN_MAP | PETAL_OPEN_VERIFY);
        require(content_of(file) == content_of(memory) &&
                    info_of(file).items == info_of(memory).items,
                "change %d", change);
        petal_free(file);
    }
    petal_free(map);
    petal_free(memory);
    petal_free(other);
    unlink(path);
}

static void a_second_writer_is_told_that_the_file_is_busy(void **state)
{
    (void)state;
    const char *path = temporary("files.petal");
    save_numbers(path, 10);
    petal_filter *map = opened(path, PETAL_OPEN_WRITABLE);
    assert_int_equal(status_of_opening(path, PETAL_OPEN_WRITABLE), PETAL_ERR_BUSY);
    assert_int_equal(status_of_opening(path, PETAL_OPEN_MAP), PETAL_OK);
    petal_free(map);
    assert_int_equal(status_of_opening(path, PETAL_OPEN_WRITABLE), PETAL_OK);
    unlink(path);
}

static void a_keyed_file_is_written_with_its_secret_only(void **state)
{
    (void)state;
    static const uint8_t secret[PETAL_SECRET_BYTES] = {7};
    petal_error error;
    const char *path = temporary("files.petal");
    petal_options making = options_of(PETAL_SCHEME_CLASSIC, 5000, 5, 0);
    making.secret = secret;
    petal_filter *filter = create(&making), *map = NULL;
    save(filter, path);
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    options.flags = PETAL_OPEN_WRITABLE;
    require_status(PETAL_ERR_SECRET_MISSING, petal_open(path, &options, &map, &error), error);
    options.secret = secret;
    require_status(PETAL_OK, petal_open(path, &options, &map, &error), error);
    add_numbers(map, 0, 10);
    petal_free(map);
    options.flags = PETAL_OPEN_MAP | PETAL_OPEN_VERIFY;
    require_status(PETAL_OK, petal_open(path, &options, &map, &error), error);
    require_numbers(map, 0, 10);
    petal_free(map);
    petal_free(filter);
    unlink(path);
}

static void an_open_for_writing_allocates_the_holes_of_the_file(void **state)
{
    (void)state;
    struct stat about;
    const char *path = temporary("files.petal");
    petal_filter *filter =
        make(PETAL_SCHEME_BLOCKED, (uint64_t)8 << 24, 6, 1); /* 16 MiB, one large hole */
    save(filter, path);
    petal_free(filter);
    assert_int_equal(stat(path, &about), 0);
    uint64_t before = (uint64_t)about.st_blocks * 512;
    petal_free(opened(path, PETAL_OPEN_WRITABLE));
    assert_int_equal(stat(path, &about), 0);
    uint64_t after = (uint64_t)about.st_blocks * 512;
    unlink(path);
    if (before > 8u << 20) skip_because("this machine's TMPDIR has no holes");
    require(after >= 16u << 20, "%llu bytes on disk before, %llu after", (unsigned long long)before,
            (unsigned long long)after);
}

/* ---- killed writers -------------------------------------------------------------------------- */

/* What a child process does before it is killed with SIGKILL. */
struct deeds {
    uint64_t synced, unsynced; /* keys */
};

static void die(const char *path, struct deeds deeds)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    petal_filter *map = NULL;
    options.flags = PETAL_OPEN_WRITABLE;
    if (petal_open(path, &options, &map, NULL) != PETAL_OK) _exit(3);
    for (uint64_t i = 0; i < deeds.synced; i++) petal_add_i64(map, (int64_t)i);
    if (deeds.synced && petal_sync(map, NULL) != PETAL_OK) _exit(4);
    for (uint64_t i = 0; i < deeds.unsynced; i++) petal_add_i64(map, (int64_t)(deeds.synced + i));
    kill(getpid(), SIGKILL);
    _exit(5);
}

static void run_and_kill(const char *path, struct deeds deeds)
{
    int status;
    pid_t child = fork();
    require_that(child, >=, 0);
    if (child == 0) die(path, deeds);
    assert_int_equal(waitpid(child, &status, 0), child);
    require(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "the child ended with %x",
            (unsigned)status);
}

static void a_writer_killed_after_its_first_store_leaves_a_dirty_file(void **state)
{
    (void)state;
    const char *path = temporary("files.petal");
    save_numbers(path, 100);
    run_and_kill(path, (struct deeds){0, 1});
    for (unsigned mode = PETAL_OPEN_MAP; mode <= PETAL_OPEN_LOAD; mode++)
        assert_int_equal(status_of_opening(path, mode), PETAL_ERR_DIRTY);
    unlink(path);
}

static void a_writer_killed_before_its_first_store_leaves_the_file_as_it_was(void **state)
{
    (void)state;
    const char *path = temporary("files.petal");
    save_numbers(path, 100);
    struct bytes before = read_file(path);
    run_and_kill(path, (struct deeds){0, 0});
    assert_true(file_is(path, before));
    unlink(path);
    free(before.data);
}

static void a_writer_killed_after_a_sync_leaves_a_good_file(void **state)
{
    (void)state;
    const char *path = temporary("files.petal");
    save_numbers(path, 0);
    run_and_kill(path, (struct deeds){200, 0});
    petal_filter *file = opened(path, PETAL_OPEN_MAP | PETAL_OPEN_VERIFY);
    require_numbers(file, 0, 200);
    petal_free(file);
    unlink(path);
}

static void no_key_of_a_successful_sync_is_lost_by_a_kill(void **state)
{
    (void)state;
    uint64_t seed = 41, random = seed;
    const char *path = temporary("files.petal");
    for (int round = 0; round < 40; round++) {
        struct deeds deeds = {1 + random_below(&random, 300), 1 + random_below(&random, 300)};
        petal_error error;
        save_numbers(path, 0);
        run_and_kill(path, deeds);
        assert_int_equal(status_of_opening(path, PETAL_OPEN_MAP), PETAL_ERR_DIRTY);
        petal_filter *filter =
            opened(path, (round % 2 ? PETAL_OPEN_LOAD : PETAL_OPEN_WRITABLE) | PETAL_OPEN_RECOVER);
        require_numbers(filter, 0, deeds.synced);
        if (round % 2)
            save(filter, path);
        else
            require_status(PETAL_OK, petal_sync(filter, &error), error);
        petal_free(filter);
        filter = opened(path, PETAL_OPEN_MAP | PETAL_OPEN_VERIFY);
        require(petal_contains_i64(filter, (int64_t)deeds.synced - 1), "round %d of seed %llu",
                round, (unsigned long long)seed);
        petal_free(filter);
    }
    unlink(path);
}

static void a_killed_writer_holds_no_lock(void **state)
{
    (void)state;
    const char *path = temporary("files.petal");
    save_numbers(path, 0);
    run_and_kill(path, (struct deeds){5, 5});
    petal_free(opened(path, PETAL_OPEN_WRITABLE | PETAL_OPEN_RECOVER));
    assert_int_equal(status_of_opening(path, PETAL_OPEN_WRITABLE), PETAL_OK);
    unlink(path);
}

/* ---- no room --------------------------------------------------------------------------------- */

/* Saves with a file-size limit, like that of `ulimit -f`. SIGXFSZ is ignored, so writing fails with
 * EFBIG. */
static int save_over_the_limit(const char *path)
{
    struct rlimit limit = {50000, 50000};
    petal_error error;
    petal_options options = options_of(PETAL_SCHEME_BLOCKED, 8 * 200000, 6, 1);
    petal_filter *filter = NULL;
    signal(SIGXFSZ, SIG_IGN);
    if (petal_create(&options, &filter, NULL) != PETAL_OK) return 1;
    for (int64_t i = 0; i < 10000; i++) petal_add_i64(filter, i);
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 2;
    if (petal_save(filter, path, NULL, &error) != PETAL_ERR_IO) return 3;
    if (error.system_errno != EFBIG) return 4;
    petal_free(filter);
    return 0;
}

static void a_save_over_ulimit_f_fails_and_leaves_the_old_file_only(void **state)
{
    (void)state;
    const char *folder = temporary("folder");
    char path[PATH_SIZE];
    assert_int_equal(mkdir(folder, 0700), 0);
    snprintf(path, sizeof path, "%s/files.petal", folder);
    save_numbers(path, 10);
    struct bytes before = read_file(path);
    require_child(save_over_the_limit, path);
    assert_true(file_is(path, before));
    unlink(path);
    assert_int_equal(rmdir(folder), 0); /* fails if the folder is not empty */
    free(before.data);
}

enum { NO_MOUNT = 77 };

static bool write_map(const char *path, unsigned id)
{
    char line[64];
    int size = snprintf(line, sizeof line, "0 %u 1", id), descriptor = open(path, O_WRONLY);
    bool written = descriptor >= 0 && write(descriptor, line, (size_t)size) == size;
    close(descriptor);
    return written;
}

/* Gives this process a mount namespace of its own. Root may create one directly; other users first
 * become root in a user namespace. */
static bool leave_namespace(void)
{
    unsigned user = geteuid(), group = getegid();
    if (unshare(CLONE_NEWNS) == 0) return true;
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
    int descriptor =
        open("/proc/self/setgroups", O_WRONLY); /* otherwise the kernel refuses to map groups */
    bool denied = descriptor >= 0 && write(descriptor, "deny", 4) == 4;
    close(descriptor);
    return denied && write_map("/proc/self/uid_map", user) &&
           write_map("/proc/self/gid_map", group);
}

/* Mounts a 64 KiB file system on `folder`. */
static bool mount_tiny(const char *folder)
{
    if (!leave_namespace() || mount("none", "/", "none", MS_REC | MS_PRIVATE, "") != 0)
        return false;
    return mount("tiny", folder, "tmpfs", 0, "size=65536") == 0;
}

static int save_on_a_full_disk(const char *folder)
{
    char path[PATH_SIZE];
    petal_error error;
    petal_options small = options_of(PETAL_SCHEME_BLOCKED, 8 * 1024, 6, 1),
                  big = options_of(PETAL_SCHEME_BLOCKED, 8 * 100000, 6, 1);
    petal_filter *a = NULL, *b = NULL;
    if (!mount_tiny(folder)) return NO_MOUNT;
    snprintf(path, sizeof path, "%s/files.petal", folder);
    if (petal_create(&small, &a, NULL) || petal_create(&big, &b, NULL)) return 1;
    /* These keys set bits in every page, so the file has no holes. */
    for (int64_t i = 0; i < 10000; i++) petal_add_i64(b, i);
    if (petal_save(a, path, NULL, &error) != PETAL_OK) return 2;
    struct bytes before = read_file(path);
    if (petal_save(b, path, NULL, &error) != PETAL_ERR_IO || error.system_errno != ENOSPC) return 3;
    struct bytes after = read_file(path);
    if (!same_bytes(before, after)) return 4;
    /* Saving succeeds again because the failed save has freed its space. */
    if (petal_save(a, path, NULL, &error) != PETAL_OK) return 5;
    free(before.data);
    free(after.data);
    petal_free(a);
    petal_free(b);
    return 0;
}

/* The sparse file is 1 MiB long, on a 64 KiB disk. Mapping it for writing must fail, because a
 * store to a page without disk space would raise SIGBUS. */
static int write_on_a_full_disk(const char *folder)
{
    char path[PATH_SIZE];
    petal_error error;
    petal_options options = options_of(PETAL_SCHEME_BLOCKED, 8 << 20, 6, 1);
    petal_open_options writing = PETAL_OPEN_OPTIONS_INIT;
    petal_filter *filter = NULL, *map = NULL;
    if (!mount_tiny(folder)) return NO_MOUNT;
    snprintf(path, sizeof path, "%s/files.petal", folder);
    if (petal_create(&options, &filter, NULL)) return 1;
    if (petal_save(filter, path, NULL, &error) != PETAL_OK) return 2;
    writing.flags = PETAL_OPEN_WRITABLE;
    if (petal_open(path, &writing, &map, &error) != PETAL_ERR_IO || error.system_errno != ENOSPC)
        return 3;
    if (petal_open(path, NULL, &map, &error) != PETAL_OK) return 4; /* the file is intact */
    petal_free(map);
    petal_free(filter);
    return 0;
}

static void require_child_on_a_tiny_disk(int (*deed)(const char *folder))
{
    int status;
    const char *folder = temporary("tiny");
    assert_int_equal(mkdir(folder, 0700), 0);
    pid_t child = fork();
    require_that(child, >=, 0);
    if (child == 0) _exit(deed(folder));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(rmdir(folder), 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == NO_MOUNT)
        skip_because(
            "this machine lets no test mount a file system (root or user namespaces needed)");
    require(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ended with %x",
            (unsigned)status);
}

static void a_save_on_a_full_disk_fails_and_leaves_the_old_file_only(void **state)
{
    (void)state;
    require_child_on_a_tiny_disk(save_on_a_full_disk);
}

static void a_writable_map_on_a_full_disk_is_an_error_and_not_a_signal(void **state)
{
    (void)state;
    require_child_on_a_tiny_disk(write_on_a_full_disk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_map_of_which_all_is_read_asks_for_huge_pages),
        cmocka_unit_test(a_save_replaces_a_file_or_refuses_to_as_asked),
        cmocka_unit_test(a_save_keeps_the_mode_of_the_file_and_follows_links),
        cmocka_unit_test(a_save_drops_the_bits_that_lend_an_owner),
        cmocka_unit_test(a_new_file_has_the_mode_that_the_umask_leaves),
        cmocka_unit_test(an_open_map_goes_on_seeing_the_file_that_a_save_replaces),
        cmocka_unit_test(where_a_save_is_impossible_it_says_why),
        cmocka_unit_test(what_cannot_be_opened_says_why),
        cmocka_unit_test(what_may_not_be_read_or_written_says_so),
        cmocka_unit_test(a_file_above_max_bytes_is_refused),
        cmocka_unit_test(damage_is_found_by_verify_and_at_open_when_asked),
        cmocka_unit_test(a_loaded_filter_leaves_its_file_alone),
        cmocka_unit_test(a_read_only_map_refuses_changes),
        cmocka_unit_test(a_writable_map_is_dirty_from_the_first_change_to_the_sync),
        cmocka_unit_test(freeing_a_writable_map_syncs_it),
        cmocka_unit_test(a_writable_map_that_is_not_changed_does_not_change_the_file),
        cmocka_unit_test(every_kind_of_change_reaches_the_file),
        cmocka_unit_test(a_second_writer_is_told_that_the_file_is_busy),
        cmocka_unit_test(a_keyed_file_is_written_with_its_secret_only),
        cmocka_unit_test(an_open_for_writing_allocates_the_holes_of_the_file),
        cmocka_unit_test(a_writer_killed_after_its_first_store_leaves_a_dirty_file),
        cmocka_unit_test(a_writer_killed_before_its_first_store_leaves_the_file_as_it_was),
        cmocka_unit_test(a_writer_killed_after_a_sync_leaves_a_good_file),
        cmocka_unit_test(no_key_of_a_successful_sync_is_lost_by_a_kill),
        cmocka_unit_test(a_killed_writer_holds_no_lock),
        cmocka_unit_test(a_save_over_ulimit_f_fails_and_leaves_the_old_file_only),
        cmocka_unit_test(a_save_on_a_full_disk_fails_and_leaves_the_old_file_only),
        cmocka_unit_test(a_writable_map_on_a_full_disk_is_an_error_and_not_a_signal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
