/* locks.c - proves the promises about files that several processes use: locks exclude other
 * writers, readers may read while a writer changes the file, a save holds the lock across the
 * rename, temporary files are removed, and damaged bits never get valid checksums. */
#define _GNU_SOURCE /* F_OFD_SETLK */
#include "image.h"

#include "petal/petal_build.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define BLOCKS 8u
#define TEMPORARY ".petal-tmp-"

static petal_filter *with_numbers(uint64_t count)
{
    petal_filter *filter = make(PETAL_SCHEME_BLOCKED, BLOCKS * 8 * BLOCK, 6, 1);
    add_numbers(filter, 0, count);
    return filter;
}

static void save_numbers(const char *path, uint64_t count)
{
    petal_error error;
    petal_filter *filter = with_numbers(count);
    require_status(PETAL_OK, petal_save(filter, path, NULL, &error), error);
    petal_free(filter);
}

/* Zeroes some of a file's bits, like a failing disk. */
static void damage(const char *path, uint64_t offset, size_t size)
{
    static const uint8_t zeros[8192];
    int descriptor = open(path, O_WRONLY);
    require(descriptor >= 0 && size <= sizeof zeros, "cannot open %s", path);
    assert_int_equal(pwrite(descriptor, zeros, size, (off_t)offset), (ssize_t)size);
    close(descriptor);
}

static uint64_t payload_offset(const char *path)
{
    struct bytes file = read_file(path);
    uint64_t offset = (uint64_t)(payload_of(file) - file.data);
    free(file.data);
    return offset;
}

/* ---- locks ----------------------------------------------------------------------------------- */

static void a_file_that_is_changed_in_place_is_not_replaced(void **state)
{
    (void)state;
    petal_error error;
    const char *path = temporary("locks.petal");
    save_numbers(path, 10);
    struct bytes before = read_file(path);
    petal_filter *writer = opened(path, PETAL_OPEN_WRITABLE), *other = with_numbers(5);
    require_status(PETAL_ERR_BUSY, petal_save(other, path, NULL, &error), error);
    assert_true(file_is(path, before));
    assert_int_equal(status_of_opening(path, PETAL_OPEN_WRITABLE), PETAL_ERR_BUSY);
    assert_int_equal(status_of_opening(path, PETAL_OPEN_LOAD | PETAL_OPEN_LOCKED), PETAL_ERR_BUSY);
    assert_int_equal(status_of_opening(path, PETAL_OPEN_MAP),
                     PETAL_OK); /* the writer hasn't changed the file yet */
    petal_free(writer);
    require_status(PETAL_OK, petal_save(other, path, NULL, &error), error);
    petal_free(other);
    free(before.data);
    unlink(path);
}

static void
a_file_that_is_loaded_locked_is_replaced_by_its_holder_only_again_and_again(void **state)
{
    (void)state;
    petal_error error;
    const char *path = temporary("locks.petal");
    save_numbers(path, 10);
    petal_filter *holder = opened(path, PETAL_OPEN_LOAD | PETAL_OPEN_LOCKED),
                 *other = with_numbers(5);
    for (uint64_t round = 0; round < 3; round++) {
        assert_int_equal(status_of_opening(path, PETAL_OPEN_WRITABLE), PETAL_ERR_BUSY);
        assert_int_equal(status_of_opening(path, PETAL_OPEN_LOAD | PETAL_OPEN_LOCKED),
                         PETAL_ERR_BUSY);
        require_status(PETAL_ERR_BUSY, petal_save(other, path, NULL, &error), error);
        add_numbers(holder, 10 + 10 * round, 10);
        require_status(PETAL_OK, petal_save(holder, path, NULL, &error), error);
    }
    petal_free(holder);
    petal_filter *file =
        opened(path, PETAL_OPEN_LOAD | PETAL_OPEN_LOCKED); /* closing released the lock */
    require_numbers(file, 0, 40);
    petal_free(file);
    petal_free(other);
    unlink(path);
}

static void saving_elsewhere_leaves_the_lock_where_it_is(void **state)
{
    (void)state;
    petal_error error;
    const char *path = temporary("locks.petal"), *copy = temporary("copy.petal");
    save_numbers(path, 10);
    petal_filter *holder = opened(path, PETAL_OPEN_LOAD | PETAL_OPEN_LOCKED);
    require_status(PETAL_OK, petal_save(holder, copy, NULL, &error), error);
    assert_int_equal(status_of_opening(copy, PETAL_OPEN_WRITABLE), PETAL_OK);
    assert_int_equal(status_of_opening(path, PETAL_OPEN_WRITABLE), PETAL_ERR_BUSY);
    petal_free(holder);
    unlink(path);
    unlink(copy);
}

static void a_file_that_somebody_moved_away_is_not_taken_for_the_one_that_was_locked(void **state)
{
    (void)state;
    petal_error error;
    const char *path = temporary("locks.petal"), *other_path = temporary("other.petal");
    save_numbers(path, 10);
    save_numbers(other_path, 20);
    petal_filter *holder = opened(path, PETAL_OPEN_LOAD | PETAL_OPEN_LOCKED);
    assert_int_equal(rename(other_path, path), 0); /* like mv, which ignores locks */
    struct bytes before = read_file(path);
    require_status(PETAL_ERR_REPLACED, petal_save(holder, path, NULL, &error), error);
    assert_true(file_is(path, before));
    unlink(path);
    require_status(PETAL_ERR_REPLACED, petal_save(holder, path, NULL, &error), error);
    assert_int_equal(petal_last_error(holder, &error), PETAL_ERR_REPLACED);
    petal_free(holder);
    free(before.data);
}

static void changes_to_a_file_that_was_replaced_meanwhile_are_not_acknowledged(void **state)
{
    (void)state;
    petal_error error;
    const char *path = temporary("locks.petal"), *other_path = temporary("other.petal");
    save_numbers(path, 10);
    save_numbers(other_path, 20);
    petal_filter *writer = opened(path, PETAL_OPEN_WRITABLE);
    add_numbers(writer, 100, 10);
    require_status(PETAL_OK, petal_sync(writer, &error), error);
    assert_int_equal(rename(other_path, path), 0);
    /* All changes were synced before the rename. */
    require_status(PETAL_OK, petal_sync(writer, &error), error);
    add_numbers(writer, 200, 10);
    for (int i = 0; i < 3; i++)
        require_status(PETAL_ERR_REPLACED, petal_sync(writer, &error), error);
    struct bytes before = read_file(path);
    require_status(PETAL_ERR_REPLACED, petal_save(writer, path, NULL, &error),
                   error); /* saving leaves the other file intact */
    assert_true(file_is(path, before));
    require_status(PETAL_OK, petal_save(writer, other_path, NULL, &error),
                   error); /* saving to another path is allowed */
    petal_free(writer);
    free(before.data);
    unlink(path);
    unlink(other_path);
}

static void saving_a_writable_map_onto_its_own_file_is_a_sync(void **state)
{
    (void)state;
    petal_error error;
    struct stat before, after;
    const char *path = temporary("locks.petal");
    save_numbers(path, 10);
    assert_int_equal(stat(path, &before), 0);
    petal_filter *writer = opened(path, PETAL_OPEN_WRITABLE);
    add_numbers(writer, 10, 10);
    require_status(PETAL_ERR_EXISTS,
                   petal_save(writer, path, SAVE_WITH(PETAL_SAVE_NO_REPLACE), &error), error);
    require_status(PETAL_OK, petal_save(writer, path, NULL, &error), error);
    assert_int_equal(status_of_opening(path, PETAL_OPEN_MAP | PETAL_OPEN_VERIFY), PETAL_OK);
    add_numbers(writer, 20, 10); /* the map still uses the saved file */
    require_status(PETAL_OK, petal_sync(writer, &error), error);
    petal_free(writer);
    require_that(stat(path, &after), ==, 0);
    require_that(before.st_ino, ==, after.st_ino);
    petal_filter *file = opened(path, PETAL_OPEN_MAP | PETAL_OPEN_VERIFY);
    require_numbers(file, 0, 30);
    petal_free(file);
    unlink(path);
}

/* Several processes create the same file. One process succeeds, and the file contains its keys; all
 * other processes are refused. */
static void of_several_makers_of_one_file_the_first_wins(void **state)
{
    (void)state;
    enum { MAKERS = 8 };
    const char *path = temporary("locks.petal");
    for (int round = 0; round < 20; round++) {
        int made = 0, status;
        pid_t makers[MAKERS];
        unlink(path);
        for (int i = 0; i < MAKERS; i++) {
            makers[i] = fork();
            require_that(makers[i], >=, 0);
            if (makers[i]) continue;
            petal_filter *filter = with_numbers(10);
            petal_status saved = petal_save(filter, path, SAVE_WITH(PETAL_SAVE_NO_REPLACE), NULL);
            _exit(saved == PETAL_OK ? 0 : saved == PETAL_ERR_EXISTS ? 1 : 2);
        }
        for (int i = 0; i < MAKERS; i++) {
            assert_int_equal(waitpid(makers[i], &status, 0), makers[i]);
            assert_true(WIFEXITED(status));
            require_that(WEXITSTATUS(status), <=, 1);
            made += WEXITSTATUS(status) == 0;
        }
        assert_int_equal(made, 1);
    }
    unlink(path);
}

/* ---- readers beside a writer ----------------------------------------------------------------- */

static void a_file_that_is_being_changed_can_be_read_live(void **state)
{
    (void)state;
    petal_error error;
    petal_filter *copy = NULL;
    uint8_t byte;
    const char *path = temporary("locks.petal"), *elsewhere = temporary("copy.petal");
    save_numbers(path, 100);
    petal_filter *writer = opened(path, PETAL_OPEN_WRITABLE);
    add_numbers(writer, 100, 100);
    assert_int_equal(status_of_opening(path, PETAL_OPEN_MAP), PETAL_ERR_BUSY);
    assert_int_equal(status_of_opening(path, PETAL_OPEN_LOAD), PETAL_ERR_BUSY);
    petal_filter *reader = opened(path, PETAL_OPEN_MAP | PETAL_OPEN_LIVE);
    require_numbers(reader, 0, 200);
    add_numbers(writer, 200, 100);
    require_numbers(reader, 0, 300); /* the reader sees the writer's bits */
    petal_info info = info_of(reader);
    uint64_t id;
    assert_true(file_info_of(reader).live);
    assert_true(!(info.abilities & PETAL_CAN_SAVE));
    require_status(PETAL_ERR_BUSY, petal_content_id(reader, &id, &error), error);
    require_status(PETAL_ERR_BUSY, petal_verify(reader, &error), error);
    require_status(PETAL_ERR_BUSY, petal_clone(reader, &copy, &error), error);
    require_status(PETAL_ERR_BUSY, petal_save(reader, elsewhere, NULL, &error), error);
    require_status(PETAL_ERR_BUSY, petal_serialize(reader, NULL, &byte, 1, &error), error);
    assert_int_equal(petal_add(reader, "x", 1), PETAL_ERR_READ_ONLY);
    assert_int_equal(access(elsewhere, F_OK), -1);
    petal_free(writer);
    petal_free(reader);
    /* The writer has closed the file, so the live map is an ordinary map. */
    reader = opened(path, PETAL_OPEN_MAP | PETAL_OPEN_LIVE);
    assert_true(!file_info_of(reader).live);
    require_status(PETAL_OK, petal_verify(reader, &error), error);
    petal_free(reader);
    unlink(path);
}

static void a_file_whose_bits_are_lowered_cannot_be_read_live(void **state)
{
    (void)state;
    petal_error error;
    const char *path = temporary("locks.petal");
    for (int round = 0; round < 3; round++) {
        uint32_t scheme = round == 0 ? PETAL_SCHEME_COUNTING : PETAL_SCHEME_BLOCKED;
        petal_filter *filter = make(scheme, 100000, 5, 0), *other = make(scheme, 100000, 5, 0);
        add_numbers(filter, 0, 100);
        require_status(PETAL_OK, petal_save(filter, path, NULL, &error), error);
        petal_free(filter);
        petal_filter *writer = opened(path, PETAL_OPEN_WRITABLE);
        petal_status status = round == 0   ? petal_remove_i64(writer, 1)
                              : round == 1 ? petal_clear(writer, &error)
                                           : petal_intersect(writer, other, &error);
        assert_int_equal(status, PETAL_OK);
        assert_int_equal(status_of_opening(path, PETAL_OPEN_MAP | PETAL_OPEN_LIVE), PETAL_ERR_BUSY);
        struct bytes file = read_file(path);
        assert_int_equal(get32(current_slot(file) + AT_STATE), round == 0 ? REMOVING : FALLING);
        free(file.data);
        require_status(PETAL_OK, petal_sync(writer, &error), error);
        assert_int_equal(status_of_opening(path, PETAL_OPEN_MAP | PETAL_OPEN_VERIFY), PETAL_OK);
        petal_free(writer);
        petal_free(other);
        unlink(path);
    }
}

/* Runs `deed` on a writable map of the file, in a child process that dies before it syncs the
 * map. */
static void die_after(const char *path, petal_status (*deed)(petal_filter *filter))
{
    int status;
    pid_t child = fork();
    require_that(child, >=, 0);
    if (child == 0) {
        petal_filter *writer = NULL;
        petal_error error;
        if (open_as(path, PETAL_OPEN_WRITABLE, &writer, &error) != PETAL_OK ||
            deed(writer) != PETAL_OK)
            _exit(1);
        raise(SIGKILL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    require(WIFSIGNALED(status), "the child ended with %d", WEXITSTATUS(status));
}

static petal_status add_one(petal_filter *filter)
{
    return petal_add(filter, "one", 3);
}

static petal_status clear_all(petal_filter *filter)
{
    return petal_clear(filter, NULL);
}

static void
a_dead_writers_file_is_dirty_and_not_live_and_what_it_cleared_is_not_recovered(void **state)
{
    (void)state;
    petal_error error;
    petal_filter *filter = NULL;
    const char *path = temporary("locks.petal");
    save_numbers(path, 100);
    die_after(path, add_one);
    assert_int_equal(status_of_opening(path, PETAL_OPEN_MAP), PETAL_ERR_DIRTY);
    assert_int_equal(status_of_opening(path, PETAL_OPEN_MAP | PETAL_OPEN_LIVE), PETAL_ERR_DIRTY);
    filter = opened(path, PETAL_OPEN_WRITABLE | PETAL_OPEN_RECOVER);
    require_numbers(filter, 0, 100);
    petal_file_info info = file_info_of(filter);
    require_that(info.recovered_blocks, <=, 1);
    require_status(PETAL_OK, petal_sync(filter, &error), error);
    petal_free(filter);
    assert_int_equal(status_of_opening(path, PETAL_OPEN_MAP | PETAL_OPEN_VERIFY), PETAL_OK);
    die_after(path, clear_all);
    assert_int_equal(status_of_opening(path, PETAL_OPEN_MAP), PETAL_ERR_DIRTY);
    require_status(PETAL_ERR_DAMAGED,
                   open_as(path, PETAL_OPEN_WRITABLE | PETAL_OPEN_RECOVER, &filter, &error), error);
    require_status(PETAL_ERR_DAMAGED,
                   open_as(path, PETAL_OPEN_LOAD | PETAL_OPEN_RECOVER, &filter, &error), error);
    unlink(path);
}

/* ---- damage ---------------------------------------------------------------------------------- */

static void a_key_whose_block_is_damaged_is_not_added_and_nothing_is_sealed(void **state)
{
    (void)state;
    petal_error error;
    const char *path = temporary("locks.petal");
    save_numbers(path, 20000);
    uint64_t payload = payload_offset(path);
    damage(path, payload + 3 * BLOCK, 8192);
    petal_filter *writer = opened(path, PETAL_OPEN_WRITABLE);
    int64_t key = 1000000;
    petal_status status = PETAL_OK;
    while (status >= 0 && key < 1100000) status = petal_add_i64(writer, key++);
    assert_int_equal(status, PETAL_ERR_DAMAGED);
    assert_int_equal(petal_last_error(writer, &error), PETAL_ERR_DAMAGED);
    assert_int_equal(error.offset, payload + 3 * BLOCK);
    assert_int_equal(petal_add_i64(writer, key), PETAL_ERR_DAMAGED); /* stops all changes */
    require_status(PETAL_ERR_DAMAGED, petal_clear(writer, &error), error);
    require_status(PETAL_OK, petal_sync(writer, &error), error); /* keeps earlier keys */
    petal_free(writer);
    petal_filter *reader = opened(path, PETAL_OPEN_MAP);
    require_numbers(reader, 1000000, (uint64_t)(key - 1 - 1000000));
    require_status(PETAL_ERR_DAMAGED, petal_verify(reader, &error), error);
    assert_int_equal(error.offset, payload + 3 * BLOCK);
    petal_free(reader);
    unlink(path);
}

static petal_status share(petal_filter *filter, petal_error *error)
{
    return petal_allow_threads(filter, error);
}

static petal_status begin_building(petal_filter *filter, petal_error *error)
{
    petal_builder *builder = NULL;
    uint32_t workers = 1;
    petal_status status = petal_builder_create(filter, &workers, &builder, error);
    petal_status finished = petal_builder_finish(builder, NULL);
    return status == PETAL_OK ? finished : status;
}

static petal_status merge_in(petal_filter *filter, petal_error *error)
{
    petal_filter *other = with_numbers(1);
    petal_status status = petal_merge(filter, other, error);
    petal_free(other);
    return status;
}

static petal_status merge_from(petal_filter *filter, petal_error *error)
{
    petal_filter *other = with_numbers(1);
    petal_status status = petal_merge(other, filter, error);
    petal_free(other);
    return status;
}

static petal_status intersect_in(petal_filter *filter, petal_error *error)
{
    petal_filter *other = with_numbers(1);
    petal_status status = petal_intersect(filter, other, error);
    petal_free(other);
    return status;
}

static petal_status copy_of(petal_filter *filter, petal_error *error)
{
    petal_filter *copy = NULL;
    petal_status status = petal_clone(filter, &copy, error);
    petal_free(copy);
    return status;
}

static petal_status save_elsewhere(petal_filter *filter, petal_error *error)
{
    const char *path = temporary("copy.petal");
    petal_status status = petal_save(filter, path, NULL, error);
    assert_true(status == PETAL_OK || access(path, F_OK) != 0);
    unlink(path);
    return status;
}

static petal_status put_into_memory(petal_filter *filter, petal_error *error)
{
    size_t size = (size_t)petal_serialized_bytes(filter, NULL);
    uint8_t *image = malloc(size);
    petal_status status = petal_serialize(filter, NULL, image, size, error);
    free(image);
    return status;
}

/* Before a call computes new checksums for a file's bits, it compares the bits with the old
 * checksums, in maps and in views. */
static void nothing_seals_damaged_bits(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        petal_status (*deed)(petal_filter *filter, petal_error *error);
        bool writes;
    } deeds[] = {{"share", share, true},
                 {"builder", begin_building, true},
                 {"merge into it", merge_in, true},
                 {"merge from it", merge_from, false},
                 {"intersect", intersect_in, true},
                 {"clone", copy_of, false},
                 {"save", save_elsewhere, false},
                 {"serialize", put_into_memory, false}};
    const char *path = temporary("locks.petal");
    for (size_t i = 0; i < COUNT(deeds); i++)
        for (int is_damaged = 0; is_damaged <= 1; is_damaged++) {
            petal_error error = {PETAL_OK, 0, 0, ""};
            petal_filter *view = NULL;
            save_numbers(path, 20000);
            if (is_damaged) damage(path, payload_offset(path) + 5 * BLOCK + 77, 100);
            struct bytes before = read_file(path);
            petal_filter *map = opened(path, PETAL_OPEN_WRITABLE),
                         *reader = opened(path, PETAL_OPEN_MAP);
            require_status(PETAL_OK, petal_view(before.data, before.size, NULL, &view, &error),
                           error);
            petal_status wanted = is_damaged ? PETAL_ERR_DAMAGED : PETAL_OK;
            if (!deeds[i].writes) {
                require(deeds[i].deed(reader, &error) == wanted, "%s of a map: %s", deeds[i].name,
                        error.message);
                require(deeds[i].deed(view, &error) == wanted, "%s of a view: %s", deeds[i].name,
                        error.message);
            }
            require(deeds[i].deed(map, &error) == wanted, "%s of a writable map: %s", deeds[i].name,
                    error.message);
            if (is_damaged)
                require(file_is(path, before), "%s: the file has changed", deeds[i].name);
            petal_free(map);
            petal_free(reader);
            petal_free(view);
            free(before.data);
        }
    unlink(path);
}

static void damaged_bits_are_not_loaded(void **state)
{
    (void)state;
    petal_error error;
    petal_filter *filter = NULL;
    const char *path = temporary("locks.petal");
    save_numbers(path, 20000);
    damage(path, payload_offset(path) + 2 * BLOCK, 8192);
    require_status(PETAL_ERR_DAMAGED, open_as(path, PETAL_OPEN_LOAD, &filter, &error), error);
    require_status(PETAL_ERR_DAMAGED,
                   open_as(path, PETAL_OPEN_LOAD | PETAL_OPEN_LOCKED, &filter, &error), error);
    struct bytes image = read_file(path);
    assert_int_equal(status_of_loading(image, 0, &error), PETAL_ERR_DAMAGED);
    free(image.data);
    unlink(path);
}

/* Another process clears the file while a copy allocates memory. The bits had already been verified
 * at that time, so the copy must check them again. */
struct meddler {
    petal_filter *writer;
    bool is_armed;
};

static void *meddle_and_allocate(void *context, size_t size)
{
    struct meddler *meddler = context;
    if (meddler->is_armed && size >= BLOCK) {
        assert_int_equal(petal_clear(meddler->writer, NULL), PETAL_OK);
        assert_int_equal(petal_sync(meddler->writer, NULL), PETAL_OK);
        meddler->is_armed = false;
    }
    return calloc(1, size);
}

static void release_plainly(void *context, void *memory, size_t size)
{
    (void)context, (void)size;
    free(memory);
}

static void a_copy_of_bits_that_were_cleared_meanwhile_is_refused(void **state)
{
    (void)state;
    petal_error error;
    petal_filter *reader = NULL, *copy = NULL;
    const char *path = temporary("locks.petal");
    struct meddler meddler = {NULL, false};
    petal_allocator allocator = {meddle_and_allocate, release_plainly, &meddler};
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    options.allocator = &allocator;
    save_numbers(path, 20000);
    require_status(PETAL_OK, petal_open(path, &options, &reader, &error), error);
    meddler.writer = opened(path, PETAL_OPEN_WRITABLE);
    meddler.is_armed = true;
    require_status(PETAL_ERR_BUSY, petal_clone(reader, &copy, &error), error);
    assert_true(!meddler.is_armed);
    assert_true(!copy);
    petal_filter *other = with_numbers(1);
    require_status(PETAL_ERR_BUSY, petal_merge(other, reader, &error), error);
    petal_free(other);
    petal_free(reader);
    petal_free(meddler.writer);
    unlink(path);
}

/* Adds a key to the file at each allocation. */
static void *add_and_allocate(void *context, size_t size)
{
    petal_filter *writer = context;
    if (writer) {
        add_numbers(writer, info_of(writer).items, 1);
        assert_int_equal(petal_sync(writer, NULL), PETAL_OK);
    }
    return calloc(1, size);
}

static void only_who_reads_all_bits_waits_for_a_writer_that_never_rests(void **state)
{
    (void)state;
    static const struct {
        uint32_t flags;
        petal_status wanted;
    } ways[] = {{PETAL_OPEN_MAP, PETAL_OK},
                {PETAL_OPEN_MAP | PETAL_OPEN_VERIFY, PETAL_ERR_BUSY},
                {PETAL_OPEN_LOAD, PETAL_ERR_BUSY}};
    const char *path = temporary("locks.petal");
    for (size_t i = 0; i < COUNT(ways); i++) {
        petal_error error;
        petal_filter *reader = NULL;
        save_numbers(path, 20000);
        petal_filter *writer = opened(path, PETAL_OPEN_WRITABLE);
        petal_allocator allocator = {add_and_allocate, release_plainly, writer};
        petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
        options.allocator = &allocator;
        options.flags = ways[i].flags;
        require_status(ways[i].wanted, petal_open(path, &options, &reader, &error), error);
        petal_free(reader);
        petal_free(writer);
    }
    unlink(path);
}

static void a_link_that_points_elsewhere_now_is_not_followed(void **state)
{
    (void)state;
    petal_error error;
    const char *first = temporary("first.petal"), *second = temporary("second.petal"),
               *link = temporary("link.petal");
    save_numbers(first, 10);
    save_numbers(second, 500);
    assert_int_equal(symlink(first, link), 0);
    petal_filter *holder = opened(link, PETAL_OPEN_LOAD | PETAL_OPEN_LOCKED);
    petal_filter *writer = opened(second, PETAL_OPEN_WRITABLE);
    struct bytes before = read_file(second);
    require_that(unlink(link), ==, 0);
    require_that(symlink(second, link), ==, 0);
    petal_free(writer);
    require_status(PETAL_ERR_REPLACED, petal_save(holder, link, NULL, &error), error);
    assert_true(file_is(second, before));
    require_status(PETAL_OK, petal_save(holder, first, NULL, &error),
                   error); /* the holder's lock is on this file */
    petal_free(holder);
    free(before.data);
    unlink(first);
    unlink(second);
    unlink(link);
}

static void calls_that_change_nothing_leave_the_file_clean(void **state)
{
    (void)state;
    petal_error error;
    const char *path = temporary("locks.petal");
    save_numbers(path, 10);
    struct bytes before = read_file(path);
    petal_filter *writer = opened(path, PETAL_OPEN_WRITABLE),
                 *unlike = make(PETAL_SCHEME_CLASSIC, 1000, 3, 0);
    assert_int_equal(add_key_batch(writer, NULL, 0, NULL, NULL), PETAL_OK);
    assert_int_equal(add_number_batch(writer, NULL, 0, NULL, NULL), PETAL_OK);
    assert_int_equal(add_hash_batch(writer, NULL, 0, NULL, NULL), PETAL_OK);
    require_status(PETAL_ERR_MISMATCH, petal_merge(writer, unlike, &error), error);
    require_status(PETAL_ERR_MISMATCH, petal_intersect(writer, unlike, &error), error);
    assert_int_equal(petal_remove(writer, "x", 1), PETAL_ERR_UNSUPPORTED);
    require_status(PETAL_ERR_UNSUPPORTED, petal_set_clock(writer, 5, &error), error);
    assert_true(file_is(path, before));
    assert_int_equal(status_of_opening(path, PETAL_OPEN_MAP | PETAL_OPEN_VERIFY), PETAL_OK);
    petal_free(writer);
    assert_true(file_is(path, before));
    petal_free(unlike);
    free(before.data);
    unlink(path);
}

/* ---- temporary files ------------------------------------------------------------------------- */

/* Counts the files in a folder whose names start with the prefix of temporary files. Copies the
 * last such name to `name`. */
static int count_temporaries(const char *folder, char name[PATH_SIZE])
{
    int count = 0;
    DIR *entries = opendir(folder);
    require(entries != NULL, "cannot read %s", folder);
    for (struct dirent *entry;
         (entry = readdir(entries)) != NULL;) { /* NOLINT(concurrency-mt-unsafe): one thread */
        if (strncmp(entry->d_name, TEMPORARY, strlen(TEMPORARY)) != 0) continue;
        snprintf(name, PATH_SIZE, "%s/%s", folder, entry->d_name);
        count++;
    }
    closedir(entries);
    return count;
}

struct watch {
    const char *folder;
    mode_t mode;
    int calls, seen;
};

/* An allocator that inspects the folder during a save. It works only with a format that allocates
 * memory while saving. */
static void *watch_and_allocate(void *context, size_t size)
{
    struct watch *watch = context;
    struct stat about;
    char name[PATH_SIZE];
    watch->calls++;
    if (count_temporaries(watch->folder, name) == 1 && stat(name, &about) == 0) {
        watch->seen++;
        watch->mode = about.st_mode & 07777;
    }
    return calloc(1, size);
}

static void release_watched(void *context, void *memory, size_t size)
{
    (void)context, (void)size;
    free(memory);
}

static void a_temporary_file_is_as_private_as_the_one_it_replaces(void **state)
{
    (void)state;
    static const mode_t modes[] = {0600, 0640, 0400, 0};
    petal_error error;
    const char *folder = temporary("folder");
    char path[PATH_SIZE], name[PATH_SIZE];
    struct stat about;
    assert_int_equal(mkdir(folder, 0700), 0);
    snprintf(path, sizeof path, "%s/f.petal", folder);
    for (size_t i = 0; i < COUNT(modes); i++) {
        struct watch watch = {folder, 0, 0, 0};
        petal_allocator allocator = {watch_and_allocate, release_watched, &watch};
        petal_options options = PETAL_OPTIONS_INIT;
        options.format = "redisbloom-dump"; /* compresses, so saving allocates */
        options.capacity = 1000;
        options.rate = 0.01;
        options.allocator = &allocator;
        petal_filter *filter = create(&options);
        save_numbers(path, 5);
        assert_int_equal(chmod(path, modes[i]), 0);
        petal_status status = petal_save(filter, path, SAVE_AS(options.format), &error);
        if (geteuid() == 0 || modes[i] & 0200) {
            require_status(PETAL_OK, status, error);
            require(watch.seen > 0 && watch.mode == modes[i], "the temporary has mode %o",
                    (unsigned)watch.mode);
        }
        require_that(stat(path, &about), ==, 0);
        require_that((about.st_mode & 07777), ==, modes[i]);
        petal_free(filter);
        unlink(path);
    }
    assert_int_equal(count_temporaries(folder, name), 0);
    assert_int_equal(rmdir(folder), 0);
}

static void temporaries_of_the_dead_are_removed_and_those_of_the_living_are_not(void **state)
{
    (void)state;
    const char *folder = temporary("folder");
    char path[PATH_SIZE], name[PATH_SIZE + 64];
    assert_int_equal(mkdir(folder, 0700), 0);
    snprintf(path, sizeof path, "%s/f.petal", folder);
    for (int i = 0; i < 150; i++) {
        snprintf(name, sizeof name, "%s/%s%016x", folder, TEMPORARY, (unsigned)i);
        write_file(name, "stale", 5);
    }
    snprintf(name, sizeof name, "%s/%s%s", folder, TEMPORARY, "ffffffffffffffff");
    int living = open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    require_that(living, >=, 0);
    require_that(fcntl(living, F_OFD_SETLK, &whole), ==, 0);
    char notes[PATH_SIZE + 64];
    snprintf(notes, sizeof notes, "%s/%snotes", folder, TEMPORARY); /* a user's own file */
    write_file(notes, "mine", 4);
    save_numbers(path, 5);
    assert_int_equal(unlink(notes), 0);
    char left[PATH_SIZE];
    assert_int_equal(count_temporaries(folder, left), 1);
    assert_string_equal(left, name);
    close(living);
    save_numbers(path, 6);
    assert_int_equal(count_temporaries(folder, left), 0);
    unlink(path);
    assert_int_equal(rmdir(folder), 0);
}

static void a_saved_file_keeps_its_owner(void **state)
{
    (void)state;
    const char *path = temporary("locks.petal");
    struct stat about;
    save_numbers(path, 5);
    if (geteuid() != 0 || chown(path, 12345, 23456) != 0) {
        unlink(path);
        skip();
    }
    save_numbers(path, 6);
    require_that(stat(path, &about), ==, 0);
    require_that(about.st_uid, ==, 12345);
    require_that(about.st_gid, ==, 23456);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_that_is_changed_in_place_is_not_replaced),
        cmocka_unit_test(
            a_file_that_is_loaded_locked_is_replaced_by_its_holder_only_again_and_again),
        cmocka_unit_test(saving_elsewhere_leaves_the_lock_where_it_is),
        cmocka_unit_test(a_file_that_somebody_moved_away_is_not_taken_for_the_one_that_was_locked),
        cmocka_unit_test(changes_to_a_file_that_was_replaced_meanwhile_are_not_acknowledged),
        cmocka_unit_test(saving_a_writable_map_onto_its_own_file_is_a_sync),
        cmocka_unit_test(of_several_makers_of_one_file_the_first_wins),
        cmocka_unit_test(a_file_that_is_being_changed_can_be_read_live),
        cmocka_unit_test(a_file_whose_bits_are_lowered_cannot_be_read_live),
        cmocka_unit_test(
            a_dead_writers_file_is_dirty_and_not_live_and_what_it_cleared_is_not_recovered),
        cmocka_unit_test(a_key_whose_block_is_damaged_is_not_added_and_nothing_is_sealed),
        cmocka_unit_test(nothing_seals_damaged_bits),
        cmocka_unit_test(damaged_bits_are_not_loaded),
        cmocka_unit_test(a_copy_of_bits_that_were_cleared_meanwhile_is_refused),
        cmocka_unit_test(only_who_reads_all_bits_waits_for_a_writer_that_never_rests),
        cmocka_unit_test(a_link_that_points_elsewhere_now_is_not_followed),
        cmocka_unit_test(calls_that_change_nothing_leave_the_file_clean),
        cmocka_unit_test(a_temporary_file_is_as_private_as_the_one_it_replaces),
        cmocka_unit_test(temporaries_of_the_dead_are_removed_and_those_of_the_living_are_not),
        cmocka_unit_test(a_saved_file_keeps_its_owner),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
