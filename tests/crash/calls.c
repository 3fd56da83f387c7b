/* calls.c - proves that if a system call or an allocation fails during a call of the library, the
 * call reports the failure and loses nothing.
 *
 * The program preloads the shim into itself. During one call at a time, the shim makes
 * the nth system call of a kind fail: either only this one, or it and all later ones. If the
 * library call fails, it must return the right status, errno and message, and no filter. Keys that
 * existed before must still exist, in memory and in the file. Descriptors and memory must be
 * released. If changes could not be written, the filter must never report later that they were. The
 * amount is the number of runs per library call, chosen at random; `full` does all runs. */
#define _GNU_SOURCE
#include "lib/control.h"
#include "petal/petal_build.h"
#include "petal/petal_host.h"
#include <dlfcn.h>

/* ---- faults ---------------------------------------------------------------------------------- */

static struct plan {
    enum shim_call call;
    enum shim_action action;
    uint32_t nth;
    int error;
} plan;

static const char *name; /* the scenario's name */
static char fault_text[160];
static uint32_t calls[SHIM_CALLS]; /* number of calls of each kind between begin() and end() */
static bool was_hit;
static uint64_t runs, hits, failures;

/* Faults happen only between begin() and end(). */
static void begin(void)
{
    arm(plan.call, plan.action, plan.nth, plan.error);
}

static void end(void)
{
    control->action = SHIM_COUNT;
    for (int i = 0; i < SHIM_CALLS; i++) calls[i] += atomic_load(&control->seen[i]);
    was_hit = was_hit || atomic_load(&control->hit) > 0;
}

/* Makes one call under a fault and returns its status. *about receives the error. */
#define UNDER_FAULT(status, call) \
    do { \
        begin(); \
        (status) = (call); \
        end(); \
    } while (0)

/* Expects that a failure has the right status and a message. */
static void expect_told(petal_status status, const petal_error *error)
{
    bool is_right =
        status == PETAL_ERR_IO || status == PETAL_ERR_MEMORY || status == PETAL_ERR_UNSUPPORTED;
    failures += status < 0;
    was_hit = was_hit || atomic_load(&control->hit) > 0;
    if (status >= 0) return;
    expect(was_hit, "%s: %s: fails without a fault: %s", fault_text, name,
           petal_status_name(status));
    expect(is_right, "%s: %s: the wrong failure: %s: %s", fault_text, name,
           petal_status_name(status), error ? error->message : "");
    if (!error) return;
    expect(error->status == status && error->message[0] && !strchr(error->message, '\n'),
           "%s: %s: no message", fault_text, name);
    expect(status != PETAL_ERR_IO || error->system_errno == plan.error,
           "%s: %s: errno %d, wanted %d: %s", fault_text, name, error->system_errno, plan.error,
           error->message);
}

/* ---- filters and files ----------------------------------------------------------------------- */

#define OLD_KEYS 100u
#define ALL_KEYS 200u

enum kind { BLOCKED, CLASSIC, COUNTS, GROWS, ROTATES, FOREIGN, KINDS };

static const char *path;
static struct bytes images[KINDS]; /* petal files with the old keys */
static struct bytes dirty;

static petal_options options_of(enum kind kind)
{
    petal_options options = PETAL_OPTIONS_INIT;
    options.rate = 0.001;
    if (kind == ROTATES) options.window_keys = 1000;
    if (kind != ROTATES) options.capacity = kind == GROWS ? 40 : 1000;
    if (kind == CLASSIC) options.scheme = PETAL_SCHEME_CLASSIC;
    if (kind == COUNTS) options.scheme = PETAL_SCHEME_COUNTING;
    if (kind == FOREIGN) options.format = "guava";
    options.growth = kind == GROWS;
    return options;
}

/* Makes the filter without a fault. */
static petal_filter *with_old_keys(enum kind kind)
{
    petal_options options = options_of(kind);
    petal_filter *filter;
    petal_error error;
    if (petal_create(&options, &filter, &error) != PETAL_OK)
        give_up("petal_create: %s", error.message);
    if (add_keys(filter, 0, OLD_KEYS) < 0) give_up("petal_add");
    return filter;
}

static petal_filter *opened(unsigned flags)
{
    petal_filter *filter;
    petal_error error;
    if (open_flags(path, flags, &filter, &error) != PETAL_OK)
        give_up("petal_open: %s", error.message);
    return filter;
}

static void put_file(struct bytes image)
{
    write_file(path, image.data, image.size);
}

static void expect_old_keys(const petal_filter *filter, const char *where)
{
    uint64_t missing = filter ? missing_keys(filter, 0, OLD_KEYS) : OLD_KEYS;
    expect(missing == 0, "%s: %s: %" PRIu64 " old keys missing %s", fault_text, name, missing,
           where);
}

/* Expects that the file at the path is clean, or dirty and recoverable. It must have the old keys,
 * and may have more of the first `keys`. */
static petal_status expect_file(uint64_t keys)
{
    petal_filter *filter;
    petal_error error;
    petal_status status = open_flags(path, PETAL_OPEN_MAP | PETAL_OPEN_VERIFY, &filter, &error),
                 found = status;
    if (status == PETAL_ERR_DIRTY)
        status = open_flags(path, PETAL_OPEN_LOAD | PETAL_OPEN_RECOVER, &filter, &error);
    if (expect(status == PETAL_OK, "%s: %s: the file is \"%s\": %s", fault_text, name,
               petal_status_name(status), error.message)) {
        uint64_t missing = missing_keys(filter, 0, keys);
        expect(missing == 0, "%s: %s: %" PRIu64 " of %" PRIu64 " keys missing in the file",
               fault_text, name, missing, keys);
    }
    petal_free(filter);
    return found;
}

static int files_in_folder(void)
{
    int count = 0;
    DIR *dir = opendir(in_folder("w"));
    while (dir && readdir(dir)) count++;
    if (dir) closedir(dir);
    return count - 2;
}

/* ---- making filters -------------------------------------------------------------------------- */

/* Expects that a call that creates a filter returned either a filter with its old keys or none. */
static void expect_made(petal_status status, petal_filter *made, const petal_error *error,
                        bool has_keys)
{
    expect_told(status, error);
    expect((status == PETAL_OK) == (made != NULL), "%s: %s: \"%s\", and a filter: %d", fault_text,
           name, petal_status_name(status), made != NULL);
    if (made && has_keys) expect_old_keys(made, "in what was made");
    petal_free(made);
}

static void create_one(enum kind kind)
{
    petal_options options = options_of(kind);
    petal_filter *made = NULL;
    petal_error error = {.message = ""};
    petal_status status;
    options.metadata = "about";
    options.metadata_bytes = 5;
    UNDER_FAULT(status, petal_create(&options, &made, &error));
    expect_made(status, made, &error, false);
}

static void create_like_one(enum kind kind)
{
    petal_filter *pattern = with_old_keys(kind), *made = NULL;
    petal_error error = {.message = ""};
    petal_status status;
    UNDER_FAULT(status, petal_create_like(pattern, &made, &error));
    expect_made(status, made, &error, false);
    petal_free(pattern);
}

static void clone_one(enum kind kind)
{
    petal_filter *filter = with_old_keys(kind), *made = NULL;
    petal_error error = {.message = ""};
    petal_status status;
    UNDER_FAULT(status, petal_clone(filter, &made, &error));
    expect_made(status, made, &error, true);
    expect_old_keys(filter, "in the original");
    petal_free(filter);
}

static void clone_map(enum kind kind)
{
    put_file(images[kind]);
    petal_filter *filter = opened(PETAL_OPEN_MAP), *made = NULL;
    petal_error error = {.message = ""};
    petal_status status;
    UNDER_FAULT(status, petal_clone(filter, &made, &error));
    expect_made(status, made, &error, true);
    petal_free(filter);
}

static void load_one(enum kind kind)
{
    petal_filter *made = NULL;
    petal_error error = {.message = ""};
    petal_status status;
    UNDER_FAULT(status, petal_load(images[kind].data, images[kind].size, NULL, &made, &error));
    expect_made(status, made, &error, true);
}

static void view_one(enum kind kind)
{
    petal_filter *made = NULL;
    petal_error error = {.message = ""};
    petal_status status;
    UNDER_FAULT(status, petal_view(images[kind].data, images[kind].size, NULL, &made, &error));
    expect_made(status, made, &error, true);
}

static void convert_one(enum kind kind)
{
    petal_filter *filter = with_old_keys(kind), *made = NULL;
    petal_error error = {.message = ""};
    petal_status status;
    UNDER_FAULT(status, petal_drop_counts(filter, &made, &error));
    expect_made(status, made, &error, true);
    petal_free(filter);
}

static void fold_map(enum kind kind)
{
    put_file(images[kind]);
    petal_filter *filter = opened(PETAL_OPEN_MAP), *made = NULL;
    petal_error error = {.message = ""};
    petal_status status;
    UNDER_FAULT(status, petal_fold(filter, NULL, &made, &error));
    expect_made(status, made, &error, true);
    petal_free(filter);
}

static void open_with(enum kind kind, unsigned flags)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    petal_filter *made = NULL;
    petal_error error = {.message = ""};
    petal_status status;
    put_file(flags & PETAL_OPEN_RECOVER ? dirty : images[kind]);
    options.flags = flags;
    UNDER_FAULT(status, petal_open(path, &options, &made, &error));
    expect_made(status, made, &error, true);
    expect_file(OLD_KEYS);
}

static void open_map(enum kind kind)
{
    open_with(kind, PETAL_OPEN_MAP);
}

static void open_verify(enum kind kind)
{
    open_with(kind, PETAL_OPEN_MAP | PETAL_OPEN_VERIFY);
}

static void open_live(enum kind kind)
{
    open_with(kind, PETAL_OPEN_MAP | PETAL_OPEN_LIVE);
}

static void open_load(enum kind kind)
{
    open_with(kind, PETAL_OPEN_LOAD);
}

static void open_locked(enum kind kind)
{
    open_with(kind, PETAL_OPEN_LOAD | PETAL_OPEN_LOCKED);
}

static void open_writable(enum kind kind)
{
    open_with(kind, PETAL_OPEN_WRITABLE);
}

static void open_recover(enum kind kind)
{
    open_with(kind, PETAL_OPEN_WRITABLE | PETAL_OPEN_RECOVER);
}

/* ---- saving ---------------------------------------------------------------------------------- */

/* Saves the filter. The file must be the old one or the new one. The filter must be unchanged, and
 * a later save must succeed. */
static void save_to(petal_filter *filter, unsigned flags, bool is_there, uint64_t keys)
{
    petal_error error = {.message = ""};
    petal_status status, later;
    UNDER_FAULT(status, petal_save(filter, path, SAVE_WITH(flags), &error));
    expect_told(status, &error);
    bool exists = access(path, F_OK) == 0;
    expect(exists || (status < 0 && !is_there), "%s: %s: the file is gone", fault_text, name);
    if (exists) expect_file(status == PETAL_OK ? keys : is_there ? OLD_KEYS : 0);
    expect(plan.call == SHIM_UNLINK || files_in_folder() == exists,
           "%s: %s: %d files in the folder (%s)", fault_text, name, files_in_folder(),
           error.message);
    expect(missing_keys(filter, 0, keys) == 0, "%s: %s: keys missing in the filter", fault_text,
           name);
    later = petal_save(filter, path, SAVE_WITH(flags & ~PETAL_SAVE_NO_REPLACE), &error);
    expect(later == PETAL_OK, "%s: %s: saved again: %s", fault_text, name, error.message);
    if (later == PETAL_OK) expect_file(keys);
    expect(files_in_folder() == 1, "%s: %s: %d files in the folder after the next save", fault_text,
           name, files_in_folder());
}

static void save_new(enum kind kind)
{
    petal_filter *filter = with_old_keys(kind);
    unlink(path);
    save_to(filter, PETAL_SAVE_NO_REPLACE, false, OLD_KEYS);
    petal_free(filter);
}

static void save_over(enum kind kind)
{
    petal_filter *filter = with_old_keys(kind);
    if (add_keys(filter, OLD_KEYS, ALL_KEYS) < 0) give_up("petal_add");
    put_file(images[kind]);
    save_to(filter, 0, true, ALL_KEYS);
    petal_free(filter);
}

static void save_locked(enum kind kind)
{
    put_file(images[kind]);
    petal_filter *filter = opened(PETAL_OPEN_LOAD | PETAL_OPEN_LOCKED);
    if (add_keys(filter, OLD_KEYS, ALL_KEYS) < 0) give_up("petal_add");
    save_to(filter, 0, true, ALL_KEYS);
    petal_free(filter);
}

static void save_foreign(enum kind kind)
{
    petal_filter *filter = with_old_keys(kind);
    petal_error error = {.message = ""};
    petal_status status;
    unlink(path);
    UNDER_FAULT(status, petal_save(filter, path, SAVE_AS("guava"), &error));
    expect_told(status, &error);
    expect(plan.call == SHIM_UNLINK || files_in_folder() == (access(path, F_OK) == 0),
           "%s: %s: a temporary file is left", fault_text, name);
    petal_free(filter);
}

static void serialize_one(enum kind kind)
{
    petal_filter *filter = with_old_keys(kind);
    petal_error error = {.message = ""};
    petal_status status = PETAL_OK;
    uint64_t size = petal_serialized_bytes(filter, NULL);
    uint8_t *image = calloc(1, size + 1);
    if (!image) give_up("out of memory");
    UNDER_FAULT(status, petal_serialize(filter, NULL, image, size, &error));
    expect_told(status, &error);
    if (status == PETAL_OK)
        expect(size == images[kind].size && memcmp(image, images[kind].data, size) == 0,
               "%s: %s: not the bytes of the file", fault_text, name);
    free(image);
    petal_free(filter);
}

/* ---- changing -------------------------------------------------------------------------------- */

/* Adds keys and syncs. A key counts as stored only if both its add and a later sync succeeded. Once
 * a sync has failed, no later sync may report success. */
static void change_map(enum kind kind, bool is_shared)
{
    put_file(images[kind]);
    petal_filter *filter = opened(PETAL_OPEN_WRITABLE);
    petal_error error = {.message = ""};
    petal_status added, synced, later;
    uint64_t promised = OLD_KEYS;
    if (is_shared && petal_allow_threads(filter, NULL) != PETAL_OK) give_up("petal_allow_threads");
    begin();
    added = add_keys(filter, OLD_KEYS, ALL_KEYS);
    synced = petal_sync(filter, &error);
    end();
    expect_told(added, NULL);
    if (added == PETAL_OK) expect_told(synced, &error);
    if (added < 0) {
        expect(petal_last_error(filter, &error) == added &&
                   (added != PETAL_ERR_IO || error.system_errno == plan.error),
               "%s: %s: petal_last_error: %s, errno %d, wanted %d: %s", fault_text, name,
               petal_status_name(error.status), error.system_errno, plan.error, error.message);
        expect(synced < 0, "%s: %s: keys were refused, and the sync is ok", fault_text, name);
    }
    later = petal_sync(filter, &error);
    /* If the check for a replaced file failed, it may succeed later. If a write failed, later syncs
     * must fail. */
    expect(synced == PETAL_OK || later != PETAL_OK || plan.call == SHIM_STAT,
           "%s: %s: a sync fails, and the next one is ok", fault_text, name);
    if (added == PETAL_OK && later == PETAL_OK) synced = PETAL_OK;
    if (added == PETAL_OK && synced == PETAL_OK) promised = ALL_KEYS;
    expect(missing_keys(filter, 0, promised) == 0, "%s: %s: keys missing in the map", fault_text,
           name);
    petal_free(filter);
    petal_status status = expect_file(promised);
    expect(status == PETAL_OK || synced != PETAL_OK || added != PETAL_OK,
           "%s: %s: synced, and the file is dirty", fault_text, name);
}

static void sync_map(enum kind kind)
{
    change_map(kind, false);
}

static void sync_shared_map(enum kind kind)
{
    change_map(kind, true);
}

static void free_changed_map(enum kind kind)
{
    put_file(images[kind]);
    petal_filter *filter = opened(PETAL_OPEN_WRITABLE);
    if (add_keys(filter, OLD_KEYS, ALL_KEYS) < 0) give_up("petal_add");
    begin();
    petal_free(filter);
    end();
    petal_status status = expect_file(OLD_KEYS);
    if (status == PETAL_OK) expect_file(ALL_KEYS); /* the file claims to be complete */
}

static void clear_map(enum kind kind)
{
    petal_filter *empty;
    petal_status cleared, synced;
    petal_error error = {.message = ""};
    put_file(images[kind]);
    petal_filter *filter = opened(PETAL_OPEN_WRITABLE);
    begin();
    cleared = petal_clear(filter, &error);
    expect_told(cleared, cleared < 0 ? &error : NULL);
    synced = petal_sync(filter, &error);
    end();
    if (cleared == PETAL_OK) expect_told(synced, &error);
    petal_free(filter);
    petal_status status = open_flags(path, PETAL_OPEN_MAP | PETAL_OPEN_VERIFY, &empty, &error);
    expect(status == PETAL_OK || status == PETAL_ERR_DIRTY, "%s: %s: the file is \"%s\"",
           fault_text, name, petal_status_name(status));
    if (status == PETAL_OK && cleared < 0) expect_old_keys(empty, "after a clear that failed");
    petal_free(empty);
}

/* Calls `change` on a map, which removes the old keys or keeps them, and syncs. If the file claims
 * to be clean, it must be in the state before or after the change. */
static void change_by(enum kind kind,
                      petal_status (*change)(petal_filter *, const petal_filter *, petal_error *),
                      uint64_t keys_before, uint64_t keys_after)
{
    put_file(images[kind]);
    petal_filter *filter = opened(PETAL_OPEN_WRITABLE), *other = with_old_keys(kind), *left;
    petal_error error = {.message = ""};
    petal_status changed, synced;
    add_keys(other, OLD_KEYS, ALL_KEYS);
    begin();
    changed = change(filter, other, &error);
    expect_told(changed, changed < 0 ? &error : NULL);
    synced = petal_sync(filter, &error);
    end();
    if (changed == PETAL_OK) expect_told(synced, &error);
    petal_free(filter);
    petal_free(other);
    petal_status status = open_flags(path, PETAL_OPEN_MAP | PETAL_OPEN_VERIFY, &left, &error);
    expect(status == PETAL_OK || status == PETAL_ERR_DIRTY, "%s: %s: the file is \"%s\": %s",
           fault_text, name, petal_status_name(status), error.message);
    uint64_t keys = changed == PETAL_OK ? keys_after : keys_before;
    expect(status == PETAL_OK || changed < 0 || synced < 0, "%s: %s: synced, and dirty", fault_text,
           name);
    expect(!left || missing_keys(left, 0, keys) == 0, "%s: %s: keys missing in the file",
           fault_text, name);
    petal_free(left);
}

static petal_status remove_keys(petal_filter *filter, const petal_filter *other, petal_error *error)
{
    char text[KEY_TEXT];
    petal_status status = PETAL_OK;
    (void)other;
    for (uint64_t i = 0; i < OLD_KEYS && status >= 0; i++)
        status = petal_remove(filter, text, key_text(i, text));
    if (status < 0) petal_last_error(filter, error);
    return status < 0 ? status : PETAL_OK;
}

static void merge_into_map(enum kind kind)
{
    change_by(kind, petal_merge, OLD_KEYS, ALL_KEYS);
}

static void intersect_in_map(enum kind kind)
{
    change_by(kind, petal_intersect, OLD_KEYS, OLD_KEYS);
}

static void remove_in_map(enum kind kind)
{
    change_by(kind, remove_keys, 0, 0);
}

static void save_onto_itself(enum kind kind)
{
    put_file(images[kind]);
    petal_filter *filter = opened(PETAL_OPEN_WRITABLE);
    petal_error error = {.message = ""};
    petal_status status;
    if (add_keys(filter, OLD_KEYS, ALL_KEYS) < 0) give_up("petal_add");
    UNDER_FAULT(status, petal_save(filter, path, NULL, &error));
    expect_told(status, &error);
    petal_free(filter);
    expect_file(status == PETAL_OK ? ALL_KEYS : OLD_KEYS);
    expect(files_in_folder() == 1, "%s: %s: %d files in the folder", fault_text, name,
           files_in_folder());
}

static void verify_one(enum kind kind)
{
    put_file(images[kind]);
    petal_filter *filter = opened(PETAL_OPEN_MAP);
    petal_error error = {.message = ""};
    petal_status status;
    UNDER_FAULT(status, petal_verify(filter, &error));
    expect_told(status, &error);
    petal_free(filter);
}

static void advance_one(enum kind kind)
{
    petal_options options = options_of(kind);
    petal_filter *filter;
    petal_error error = {.message = ""};
    petal_status status, later;
    options.window_ms = 1000;
    if (petal_create(&options, &filter, &error) != PETAL_OK ||
        petal_set_clock(filter, 5000, &error) != PETAL_OK)
        give_up("petal_create: %s", error.message);
    if (add_keys(filter, 0, OLD_KEYS) < 0) give_up("petal_add");
    UNDER_FAULT(status, petal_set_clock(filter, 5400, &error));
    expect_told(status, &error);
    expect_old_keys(filter, "within the window");
    later = add_keys(filter, OLD_KEYS, ALL_KEYS);
    expect(later >= 0 && missing_keys(filter, 0, ALL_KEYS) == 0, "%s: %s: keys missing", fault_text,
           name);
    petal_free(filter);
}

static void add_in_memory(enum kind kind)
{
    petal_filter *filter = with_old_keys(kind);
    petal_status status;
    uint64_t taken = OLD_KEYS;
    begin();
    for (status = PETAL_OK; taken < ALL_KEYS && status >= 0; taken += status >= 0)
        status = add_key(filter, taken);
    end();
    expect_told(status, NULL);
    expect(missing_keys(filter, 0, taken) == 0, "%s: %s: keys missing after an add failed",
           fault_text, name);
    expect(add_keys(filter, taken, ALL_KEYS) >= 0, "%s: %s: adding stays impossible", fault_text,
           name);
    expect(missing_keys(filter, 0, ALL_KEYS) == 0, "%s: %s: keys missing in the end", fault_text,
           name);
    petal_free(filter);
}

static void build_one(enum kind kind)
{
    petal_options wanted = options_of(kind);
    petal_filter *filter;
    petal_builder *builder = NULL;
    petal_batch batch = PETAL_BATCH_INIT;
    petal_error error = {.message = ""};
    petal_status status, added = PETAL_OK;
    char texts[ALL_KEYS][KEY_TEXT];
    petal_key keys[ALL_KEYS];
    for (uint64_t i = 0; i < ALL_KEYS; i++) keys[i] = (petal_key){texts[i], key_text(i, texts[i])};
    wanted.capacity = 4000000; /* more keys than a builder adds directly */
    uint32_t workers = 2;
    if (petal_create(&wanted, &filter, &error) != PETAL_OK)
        give_up("petal_create: %s", error.message);
    add_keys(filter, 0, OLD_KEYS);
    begin();
    status = petal_builder_create(filter, &workers, &builder, &error);
    expect_told(status, status < 0 ? &error : NULL);
    expect((status == PETAL_OK) == (builder != NULL), "%s: %s: a builder in spite of a failure",
           fault_text, name);
    if (builder) {
        batch.layout = PETAL_LAYOUT_POINTERS;
        batch.data = keys + OLD_KEYS;
        batch.count = ALL_KEYS - OLD_KEYS;
        added = petal_builder_add(builder, workers - 1, &batch, NULL);
        status = petal_builder_finish(builder, &error);
    }
    end();
    expect_told(status, status < 0 ? &error : NULL);
    expect(missing_keys(filter, 0, status == PETAL_OK && added == PETAL_OK ? ALL_KEYS : OLD_KEYS) ==
               0,
           "%s: %s: keys missing", fault_text, name);
    petal_free(filter);
}

static void merge_one(enum kind kind)
{
    petal_filter *filter = with_old_keys(kind), *other = with_old_keys(kind);
    petal_error error = {.message = ""};
    petal_status status;
    add_keys(other, OLD_KEYS, ALL_KEYS);
    UNDER_FAULT(status, petal_merge(filter, other, &error));
    expect_told(status, &error);
    expect(missing_keys(filter, 0, status == PETAL_OK ? ALL_KEYS : OLD_KEYS) == 0,
           "%s: %s: keys missing", fault_text, name);
    petal_free(other);
    petal_free(filter);
}

static void compare_one(enum kind kind)
{
    petal_filter *filter = with_old_keys(kind), *other = with_old_keys(kind);
    petal_comparison comparison = PETAL_COMPARISON_INIT;
    petal_error error = {.message = ""};
    petal_status status;
    UNDER_FAULT(status, petal_compare(filter, other, &comparison, &error));
    expect_told(status, &error);
    petal_free(other);
    petal_free(filter);
}

static void describe_one(enum kind kind)
{
    petal_filter *filter = with_old_keys(kind);
    petal_info info = PETAL_INFO_INIT;
    petal_error error = {.message = ""};
    petal_status status;
    UNDER_FAULT(status, petal_get_info(filter, PETAL_ALL_LAYERS, &info, &error));
    expect_told(status, &error);
    petal_free(filter);
}

static void plan_one(enum kind kind)
{
    petal_options options = options_of(kind);
    petal_info info = PETAL_INFO_INIT;
    petal_error error = {.message = ""};
    petal_status status;
    UNDER_FAULT(status, petal_plan(&options, &info, NULL, &error));
    expect_told(status, &error);
}

static void set_metadata_of(enum kind kind)
{
    petal_filter *filter = with_old_keys(kind);
    petal_error error = {.message = ""};
    petal_status status;
    size_t size;
    if (petal_set_metadata(filter, "before", 6, &error) != PETAL_OK)
        give_up("petal_set_metadata: %s", error.message);
    UNDER_FAULT(status, petal_set_metadata(filter, "after it", 8, &error));
    expect_told(status, &error);
    const void *metadata = petal_metadata(filter, &size);
    expect(metadata && size == (status == PETAL_OK ? 8 : 6) &&
               memcmp(metadata, status == PETAL_OK ? "after it" : "before", size) == 0,
           "%s: %s: neither the old metadata nor the new", fault_text, name);
    petal_free(filter);
}

static void share_one(enum kind kind)
{
    petal_filter *filter = with_old_keys(kind);
    petal_error error = {.message = ""};
    petal_status status;
    UNDER_FAULT(status, petal_allow_threads(filter, &error));
    expect_told(status, &error);
    expect(add_keys(filter, OLD_KEYS, ALL_KEYS) >= 0 && missing_keys(filter, 0, ALL_KEYS) == 0,
           "%s: %s: keys missing", fault_text, name);
    petal_free(filter);
}

static void open_auto_one(enum kind kind)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    petal_filter *filter = NULL;
    petal_error error = {.message = ""};
    petal_status status;
    options.format = "auto";
    put_file(images[kind]);
    UNDER_FAULT(status, petal_open(path, &options, &filter, &error));
    expect_told(status, &error);
    petal_free(filter);
}

/* ---- batches --------------------------------------------------------------------------------- */

/* Returns the keys from OLD_KEYS to ALL_KEYS, or the old ones. Valid until the next call. */
static petal_batch batch_of_keys_from(uint64_t from, uint64_t to)
{
    static char texts[ALL_KEYS][KEY_TEXT];
    static petal_key keys[ALL_KEYS];
    petal_batch batch = PETAL_BATCH_INIT;
    for (uint64_t i = from; i < to; i++) keys[i] = (petal_key){texts[i], key_text(i, texts[i])};
    batch.layout = PETAL_LAYOUT_POINTERS;
    batch.data = keys + from;
    batch.count = to - from;
    return batch;
}

/* The keys that the outcome counts must be present. A later call must be able to add the others. */
static void add_batch_in_memory(enum kind kind)
{
    petal_filter *filter = with_old_keys(kind);
    petal_batch batch = batch_of_keys_from(OLD_KEYS, ALL_KEYS);
    petal_batch_outcome outcome = PETAL_BATCH_OUTCOME_INIT;
    petal_error error = {.message = ""};
    petal_status status;
    UNDER_FAULT(status, petal_add_batch(filter, &batch, NULL, &outcome, &error));
    expect_told(status, &error);
    expect(status < 0 || outcome.done == batch.count, "%s: %s: %" PRIu64 " keys done", fault_text,
           name, outcome.done);
    expect(missing_keys(filter, 0, OLD_KEYS + outcome.done) == 0,
           "%s: %s: keys missing after a batch", fault_text, name);
    status = petal_add_batch(filter, &batch, NULL, NULL, &error);
    expect(status >= 0 && missing_keys(filter, 0, ALL_KEYS) == 0, "%s: %s: keys missing in the end",
           fault_text, name);
    petal_free(filter);
}

static petal_status add_a_batch(petal_filter *filter, const petal_filter *other, petal_error *error)
{
    petal_batch batch = batch_of_keys_from(OLD_KEYS, ALL_KEYS);
    (void)other;
    return petal_add_batch(filter, &batch, NULL, NULL, error);
}

static petal_status remove_a_batch(petal_filter *filter, const petal_filter *other,
                                   petal_error *error)
{
    petal_batch batch = batch_of_keys_from(0, OLD_KEYS);
    (void)other;
    petal_status status = petal_remove_batch(filter, &batch, NULL, NULL, error);
    return status < 0 ? status : PETAL_OK;
}

static void add_batch_in_map(enum kind kind)
{
    change_by(kind, add_a_batch, OLD_KEYS, ALL_KEYS);
}

static void remove_batch_in_map(enum kind kind)
{
    change_by(kind, remove_a_batch, 0, 0);
}

/* ---- patches and pieces ---------------------------------------------------------------------- */

static struct {
    uint8_t bytes[1 << 16];
    size_t size;
} patch;

static int32_t gather(void *context, const void *bytes, size_t size_bytes)
{
    (void)context;
    if (size_bytes > sizeof patch.bytes - patch.size) return ENOSPC;
    memcpy(patch.bytes + patch.size, bytes, size_bytes);
    patch.size += size_bytes;
    return 0;
}

static petal_status apply_patch(petal_filter *filter, petal_error *error)
{
    return petal_apply_patch(filter, patch.bytes, patch.size, 0, error);
}

static petal_filter *with_all_keys(enum kind kind)
{
    petal_filter *filter = with_old_keys(kind);
    if (add_keys(filter, OLD_KEYS, ALL_KEYS) < 0) give_up("petal_add");
    return filter;
}

static void diff_one(enum kind kind)
{
    petal_filter *from = with_old_keys(kind), *to = with_all_keys(kind);
    petal_error error = {.message = ""};
    petal_status status;
    patch.size = 0;
    UNDER_FAULT(status, petal_diff(from, to, gather, NULL, &error));
    expect_told(status, &error);
    if (status == PETAL_OK) status = apply_patch(from, &error);
    expect(missing_keys(from, 0, status == PETAL_OK ? ALL_KEYS : OLD_KEYS) == 0,
           "%s: %s: keys missing", fault_text, name);
    petal_free(from);
    petal_free(to);
}

/* Patching is all or nothing. If it fails, a later call must be able to apply the patch. */
static void apply_one(enum kind kind)
{
    petal_filter *filter = with_old_keys(kind), *to = with_all_keys(kind);
    petal_error error = {.message = ""};
    petal_status status;
    patch.size = 0;
    if (petal_diff(filter, to, gather, NULL, &error) != PETAL_OK)
        give_up("petal_diff: %s", error.message);
    UNDER_FAULT(status, apply_patch(filter, &error));
    expect_told(status, &error);
    expect_old_keys(filter, "after a patch");
    if (status < 0) status = apply_patch(filter, &error);
    expect(status == PETAL_OK && missing_keys(filter, 0, ALL_KEYS) == 0,
           "%s: %s: patched later: %s", fault_text, name, error.message);
    petal_free(filter);
    petal_free(to);
}

/* Feeds three pieces to a reader. After a failure, every later call must fail in the same way. */
static void read_one(enum kind kind)
{
    petal_reader *reader = NULL;
    petal_filter *made = NULL;
    petal_error error = {.message = ""};
    struct bytes image = images[kind];
    size_t third = image.size / 3;
    begin();
    petal_status status = petal_reader_create(NULL, 0, &reader, &error);
    for (size_t at = 0, part; status == PETAL_OK && at < image.size; at += part) {
        part = image.size - at < 2 * third ? image.size - at : third;
        status = petal_reader_feed(reader, image.data + at, part, &error);
    }
    petal_status finished = reader ? petal_reader_finish(reader, &made, &error) : status;
    end();
    expect(status == PETAL_OK || finished == status, "%s: %s: %s, and then %s", fault_text, name,
           petal_status_name(status), petal_status_name(finished));
    expect_made(finished, made, &error, true);
    petal_reader_free(reader);
}

/* ---- hosts ----------------------------------------------------------------------------------- */

/* Returns a filter of the same kind without its bits. */
static petal_filter *header_of(enum kind kind)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    petal_filter *header;
    petal_error error;
    options.flags = PETAL_OPEN_HEADER_ONLY;
    if (petal_load(images[kind].data, images[kind].size, &options, &header, &error) != PETAL_OK)
        give_up("HEADER: %s", error.message);
    return header;
}

static petal_status write_all_bits(petal_filter *to, const petal_filter *from, petal_error *error)
{
    petal_info info = PETAL_INFO_INIT;
    petal_status status = petal_get_info(from, PETAL_ALL_LAYERS, &info, error);
    for (uint32_t i = 0; status == PETAL_OK && i < info.layers; i++) {
        const void *bits;
        uint64_t size_bytes;
        status = petal_bits(from, i, &bits, &size_bytes, error);
        if (status == PETAL_OK) status = petal_write_bits(to, i, 0, bits, size_bytes, error);
    }
    return status;
}

static void write_bits_of(enum kind kind)
{
    petal_filter *from = with_old_keys(kind), *to = header_of(kind);
    petal_error error = {.message = ""};
    petal_status status;
    UNDER_FAULT(status, write_all_bits(to, from, &error));
    expect_told(status, &error);
    if (status < 0) status = write_all_bits(to, from, &error);
    expect(status == PETAL_OK, "%s: %s: written later: %s", fault_text, name, error.message);
    expect_old_keys(to, "of the bits that were written");
    petal_free(from);
    petal_free(to);
}

/* The filter must own the block only if it accepted it. */
static void adopt_one(enum kind kind)
{
    petal_filter *from = with_old_keys(kind), *to = header_of(kind);
    petal_error error = {.message = ""};
    petal_status status;
    const void *bits;
    uint64_t size_bytes;
    if (petal_bits(from, 0, &bits, &size_bytes, &error) != PETAL_OK)
        give_up("petal_bits: %s", error.message);
    void *block = calloc(1, size_bytes);
    if (!block) give_up("out of memory");
    memcpy(block, bits, size_bytes);
    UNDER_FAULT(status, petal_adopt_bits(to, 0, block, size_bytes, &error));
    expect_told(status, &error);
    if (status == PETAL_OK)
        expect_old_keys(to, "of the bits that were adopted");
    else
        free(block);
    petal_free(from);
    petal_free(to);
}

static void *move_block(void *context, void *memory, size_t size_bytes)
{
    void *to = malloc(size_bytes);
    (void)context;
    if (!to) return NULL;
    memcpy(to, memory, size_bytes);
    free(memory);
    return to;
}

/* If memory runs out, the array must stay where it is. */
static void relocate_one(enum kind kind)
{
    petal_filter *filter = with_old_keys(kind);
    petal_error error = {.message = ""};
    petal_status status;
    UNDER_FAULT(status, petal_relocate(&filter, move_block, NULL, &error));
    expect(status == PETAL_OK, "%s: %s: %s", fault_text, name, error.message);
    expect(missing_keys(filter, 0, OLD_KEYS) == 0 && add_keys(filter, OLD_KEYS, ALL_KEYS) >= 0 &&
               missing_keys(filter, 0, ALL_KEYS) == 0,
           "%s: %s: keys missing after a move", fault_text, name);
    petal_free(filter);
}

/* Lends the bits of one handle to another handle. */
static void lend_one(enum kind kind)
{
    petal_filter *filter = with_old_keys(kind), *header = header_of(kind);
    petal_error error = {.message = ""};
    petal_info info = PETAL_INFO_INIT;
    const void *bytes = NULL;
    uint64_t size_bytes;
    petal_status status;
    petal_get_info(filter, 0, &info, NULL);
    petal_bits(filter, 0, &bytes, &size_bytes, NULL);
    petal_lent_layer layers[] = {
        {(void *)(uintptr_t)bytes, info.bits, info.hashes, info.lines_per_key, info.capacity,
         info.target_rate, info.items},
        {.bits = info.bits, .hashes = info.hashes, .lines_per_key = info.lines_per_key}};
    UNDER_FAULT(status, petal_lend(header, layers, 2, &error));
    expect(status == PETAL_OK || status == PETAL_ERR_MEMORY, "%s: %s: %s", fault_text, name,
           error.message);
    status = petal_lend(header, layers, 1, &error);
    expect(status == PETAL_OK, "%s: %s: %s", fault_text, name, error.message);
    expect_old_keys(header, "of the bits that were lent");
    petal_free(header);
    petal_free(filter);
}

/* ---- indexes --------------------------------------------------------------------------------- */

static struct bytes index_images[KINDS]; /* of one filter, "old", with the old keys */

static petal_index *new_index(const char *locked_path)
{
    petal_index_options options = PETAL_INDEX_OPTIONS_INIT;
    petal_index *index;
    petal_error error;
    options.locked_path = locked_path;
    if (petal_index_create(&options, &index, &error) != PETAL_OK)
        give_up("petal_index_create: %s", error.message);
    return index;
}

static void add_to(petal_index *index, const char *filter_name, enum kind kind, bool all)
{
    petal_filter *filter = all ? with_all_keys(kind) : with_old_keys(kind);
    petal_error error;
    if (petal_index_add(index, filter_name, filter, &error) != PETAL_OK)
        give_up("petal_index_add: %s", error.message);
    petal_free(filter);
}

static uint64_t filters_in(const petal_index *index)
{
    petal_index_info info = PETAL_INDEX_INFO_INIT;
    return petal_index_get_info(index, &info, NULL) == PETAL_OK ? info.filters : 0;
}

/* Expects that the file has a sound index with at least the first `keys`. */
static void expect_index_file(uint64_t keys)
{
    petal_index *index;
    petal_error error;
    petal_status status = open_index(path, &index, &error);
    if (expect(status == PETAL_OK, "%s: %s: the file is \"%s\": %s", fault_text, name,
               petal_status_name(status), error.message))
        expect(missing_in_index(index, 0, keys) == 0, "%s: %s: keys missing in the index",
               fault_text, name);
    petal_index_free(index);
}

static void index_create_one(enum kind kind)
{
    petal_index_options options = PETAL_INDEX_OPTIONS_INIT;
    petal_index *index = NULL;
    petal_error error = {.message = ""};
    petal_status status;
    put_file(index_images[kind]);
    options.locked_path = path;
    UNDER_FAULT(status, petal_index_create(&options, &index, &error));
    expect_told(status, &error);
    expect((status == PETAL_OK) == (index != NULL), "%s: %s: \"%s\", and an index: %d", fault_text,
           name, petal_status_name(status), index != NULL);
    petal_index_free(index);
    petal_index_free(new_index(path)); /* the lock is gone */
}

/* If a filter isn't added, the index must be unchanged, and a later call must be able to add it. */
static void index_add_one(enum kind kind)
{
    petal_index *index = new_index(NULL);
    petal_filter *filter = with_all_keys(kind);
    petal_error error = {.message = ""};
    petal_status status;
    add_to(index, "old", kind, false);
    UNDER_FAULT(status, petal_index_add(index, "more", filter, &error));
    expect_told(status, &error);
    expect(filters_in(index) == (status == PETAL_OK ? 2 : 1), "%s: %s: %" PRIu64 " filters",
           fault_text, name, filters_in(index));
    expect(missing_in_index(index, 0, status == PETAL_OK ? ALL_KEYS : OLD_KEYS) == 0,
           "%s: %s: keys missing", fault_text, name);
    if (status < 0) status = petal_index_add(index, "more", filter, &error);
    expect(status == PETAL_OK && missing_in_index(index, 0, ALL_KEYS) == 0,
           "%s: %s: added later: %s", fault_text, name, error.message);
    petal_free(filter);
    petal_index_free(index);
}

static void index_add_keys_one(enum kind kind)
{
    petal_index *index = new_index(NULL);
    petal_options options = PETAL_OPTIONS_INIT;
    petal_static_builder *builder;
    petal_batch batch = batch_of_keys_from(OLD_KEYS, ALL_KEYS);
    petal_error error = {.message = ""};
    petal_status status;
    options.rate = 0.001;
    add_to(index, "old", kind, false);
    if (petal_static_create(&options, 1, &builder, &error) != PETAL_OK ||
        petal_static_add(builder, 0, &batch, &error) != PETAL_OK)
        give_up("petal_static_create: %s", error.message);
    UNDER_FAULT(status, petal_index_add_keys(index, "more", builder, &error));
    expect_told(status, &error);
    expect(missing_in_index(index, 0, status == PETAL_OK ? ALL_KEYS : OLD_KEYS) == 0,
           "%s: %s: keys missing", fault_text, name);
    petal_index_free(index);
}

static void index_open_one(enum kind kind)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    petal_index *index = NULL;
    petal_error error = {.message = ""};
    petal_status status;
    options.flags = PETAL_OPEN_VERIFY_ON_USE;
    put_file(index_images[kind]);
    UNDER_FAULT(status, petal_index_open(path, &options, &index, &error));
    expect_told(status, &error);
    expect((status == PETAL_OK) == (index != NULL), "%s: %s: \"%s\", and an index: %d", fault_text,
           name, petal_status_name(status), index != NULL);
    expect(!index || missing_in_index(index, 0, OLD_KEYS) == 0, "%s: %s: keys missing", fault_text,
           name);
    petal_index_free(index);
}

static void index_add_index_one(enum kind kind)
{
    petal_index *index = new_index(NULL), *other;
    petal_error error = {.message = ""};
    petal_status status;
    put_file(index_images[kind]);
    if (open_index(path, &other, &error) != PETAL_OK) give_up("index: %s", error.message);
    UNDER_FAULT(status, petal_index_add_index(index, other, NULL, 0, &error));
    expect_told(status, &error);
    expect(filters_in(index) == (status == PETAL_OK), "%s: %s: %" PRIu64 " filters", fault_text,
           name, filters_in(index));
    expect(status < 0 || missing_in_index(index, 0, OLD_KEYS) == 0, "%s: %s: keys missing",
           fault_text, name);
    petal_index_free(other);
    petal_index_free(index);
}

/* The file must have the old index or the new one. The index in memory must be unchanged. A later
 * call must be able to save it, and freeing it must release the lock. */
static void index_save_to(enum kind kind, bool is_there, bool is_locked)
{
    if (is_there) put_file(index_images[kind]);
    petal_index *index = new_index(is_locked ? path : NULL);
    petal_error error = {.message = ""};
    petal_status status;
    add_to(index, "old", kind, false);
    add_to(index, "more", kind, true);
    UNDER_FAULT(status, petal_index_save(index, path, NULL, &error));
    expect_told(status, &error);
    bool exists = access(path, F_OK) == 0;
    expect(exists || (status < 0 && !is_there), "%s: %s: the file is gone", fault_text, name);
    if (exists) expect_index_file(status == PETAL_OK ? ALL_KEYS : OLD_KEYS);
    expect(plan.call == SHIM_UNLINK || files_in_folder() == exists,
           "%s: %s: %d files in the folder (%s)", fault_text, name, files_in_folder(),
           error.message);
    status = petal_index_save(index, path, NULL, &error);
    expect(status == PETAL_OK, "%s: %s: saved again: %s", fault_text, name, error.message);
    if (status == PETAL_OK) expect_index_file(ALL_KEYS);
    petal_index_free(index);
    petal_index_free(new_index(path));
    expect(files_in_folder() == 1, "%s: %s: %d files in the folder after the next save", fault_text,
           name, files_in_folder());
}

static void index_save_new(enum kind kind)
{
    index_save_to(kind, false, false);
}

static void index_save_over(enum kind kind)
{
    index_save_to(kind, true, false);
}

static void index_save_locked(enum kind kind)
{
    index_save_to(kind, true, true);
}

static void make_index_images(void)
{
    for (enum kind kind = BLOCKED; kind <= CLASSIC; kind++) {
        petal_filter *filter = with_old_keys(kind);
        save_index(filter, path);
        index_images[kind] = read_file(path);
        petal_free(filter);
    }
}

static const struct scenario {
    const char *name;
    void (*run)(enum kind);
    enum kind kinds[KINDS + 1]; /* ends with KINDS */
} scenarios[] = {
    {"petal_plan", plan_one, {BLOCKED, GROWS, ROTATES, FOREIGN, KINDS}},
    {"petal_create", create_one, {BLOCKED, CLASSIC, COUNTS, GROWS, ROTATES, FOREIGN}},
    {"petal_create_like", create_like_one, {BLOCKED, COUNTS, KINDS}},
    {"petal_clone", clone_one, {BLOCKED, COUNTS, GROWS, ROTATES, FOREIGN, KINDS}},
    {"petal_clone of a map", clone_map, {BLOCKED, GROWS, KINDS}},
    {"petal_load_from_memory", load_one, {BLOCKED, COUNTS, GROWS, ROTATES, FOREIGN, KINDS}},
    {"petal_view", view_one, {BLOCKED, GROWS, FOREIGN, KINDS}},
    {"petal_convert_scheme", convert_one, {COUNTS, KINDS}},
    {"petal_fold of a map", fold_map, {BLOCKED, CLASSIC, KINDS}},
    {"petal_open, MAP", open_map, {BLOCKED, GROWS, ROTATES, FOREIGN, KINDS}},
    {"petal_open, VERIFY", open_verify, {BLOCKED, GROWS, KINDS}},
    {"petal_open, LIVE", open_live, {BLOCKED, KINDS}},
    {"petal_open, LOAD", open_load, {BLOCKED, GROWS, ROTATES, FOREIGN, KINDS}},
    {"petal_open, LOCKED", open_locked, {BLOCKED, GROWS, ROTATES, KINDS}},
    {"petal_open, WRITABLE", open_writable, {BLOCKED, COUNTS, GROWS, KINDS}},
    {"petal_open, RECOVER", open_recover, {BLOCKED, KINDS}},
    {"petal_save of a new file", save_new, {BLOCKED, GROWS, ROTATES, KINDS}},
    {"petal_save over a file", save_over, {BLOCKED, COUNTS, GROWS, KINDS}},
    {"petal_save with the lock", save_locked, {BLOCKED, GROWS, KINDS}},
    {"petal_save_as", save_foreign, {FOREIGN, KINDS}},
    {"petal_serialize", serialize_one, {BLOCKED, COUNTS, GROWS, ROTATES, KINDS}},
    {"petal_sync", sync_map, {BLOCKED, CLASSIC, COUNTS, KINDS}},
    {"petal_sync of a shared map", sync_shared_map, {BLOCKED, CLASSIC, KINDS}},
    {"petal_free of a changed map", free_changed_map, {BLOCKED, KINDS}},
    {"petal_clear of a map", clear_map, {BLOCKED, COUNTS, KINDS}},
    {"petal_merge into a map", merge_into_map, {BLOCKED, CLASSIC, COUNTS, KINDS}},
    {"petal_intersect in a map", intersect_in_map, {BLOCKED, COUNTS, KINDS}},
    {"petal_remove in a map", remove_in_map, {COUNTS, KINDS}},
    {"petal_save onto its own map", save_onto_itself, {BLOCKED, COUNTS, KINDS}},
    {"petal_verify", verify_one, {BLOCKED, GROWS, ROTATES, KINDS}},
    {"petal_set_clock", advance_one, {ROTATES, KINDS}},
    {"petal_add", add_in_memory, {BLOCKED, GROWS, ROTATES, KINDS}},
    {"a builder", build_one, {BLOCKED, CLASSIC, KINDS}},
    {"petal_merge", merge_one, {BLOCKED, COUNTS, KINDS}},
    {"petal_compare", compare_one, {BLOCKED, KINDS}},
    {"petal_get_info", describe_one, {BLOCKED, GROWS, ROTATES, KINDS}},
    {"petal_set_metadata", set_metadata_of, {BLOCKED, KINDS}},
    {"petal_allow_threads", share_one, {BLOCKED, CLASSIC, KINDS}},
    {"petal_open, auto", open_auto_one, {BLOCKED, KINDS}},
    {"petal_add_batch", add_batch_in_memory, {BLOCKED, COUNTS, GROWS, ROTATES, KINDS}},
    {"petal_add_batch into a map", add_batch_in_map, {BLOCKED, CLASSIC, COUNTS, KINDS}},
    {"petal_remove_batch in a map", remove_batch_in_map, {COUNTS, KINDS}},
    {"petal_diff", diff_one, {BLOCKED, COUNTS, GROWS, ROTATES, FOREIGN, KINDS}},
    {"petal_apply_patch", apply_one, {BLOCKED, COUNTS, GROWS, ROTATES, FOREIGN, KINDS}},
    {"a reader", read_one, {BLOCKED, COUNTS, GROWS, ROTATES, KINDS}},
    {"petal_write_bits", write_bits_of, {BLOCKED, COUNTS, GROWS, KINDS}},
    {"petal_adopt_bits", adopt_one, {BLOCKED, CLASSIC, COUNTS, KINDS}},
    {"petal_relocate", relocate_one, {BLOCKED, CLASSIC, COUNTS, GROWS, ROTATES, KINDS}},
    {"petal_lend", lend_one, {BLOCKED, CLASSIC, COUNTS, KINDS}},
    {"petal_index_create with a lock", index_create_one, {BLOCKED, KINDS}},
    {"petal_index_add", index_add_one, {BLOCKED, CLASSIC, KINDS}},
    {"petal_index_add_keys", index_add_keys_one, {BLOCKED, KINDS}},
    {"petal_index_open", index_open_one, {BLOCKED, CLASSIC, KINDS}},
    {"petal_index_add_index", index_add_index_one, {BLOCKED, CLASSIC, KINDS}},
    {"petal_index_save of a new file", index_save_new, {BLOCKED, KINDS}},
    {"petal_index_save over a file", index_save_over, {BLOCKED, CLASSIC, KINDS}},
    {"petal_index_save with the lock", index_save_locked, {BLOCKED, KINDS}},
};

/* ---- all faults ------------------------------------------------------------------------------ */

static int open_descriptors(void)
{
    int count = 0;
    DIR *dir = opendir("/proc/self/fd");
    while (dir && readdir(dir)) count++;
    if (dir) closedir(dir);
    return count;
}

static void run_once(const struct scenario *scenario, enum kind kind)
{
    static const char *const actions[] = {"counted", "fails", "fails from there on", "is short",
                                          "waits"};
    int descriptors = open_descriptors();
    uint64_t broken = campaign.broken;
    int64_t live = atomic_load(&control->live), more;
    name = scenario->name;
    was_hit = false;
    memset(calls, 0, sizeof calls);
    snprintf(fault_text, sizeof fault_text, "kind %d, %s %u %s (%s)", (int)kind,
             shim_names[plan.call], plan.nth, actions[plan.action],
             plan.action == SHIM_FAIL || plan.action == SHIM_FAIL_ON ? strerror(plan.error) : "-");
    empty_folder(open(in_folder("w"), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    scenario->run(kind);
    runs++;
    hits += was_hit;
    if (campaign.broken != broken) return; /* printing the report may have allocated memory */
    more = atomic_load(&control->live) - live;
    expect(more == 0, "%s: %s: %" PRId64 " blocks of memory are not given back", fault_text, name,
           more);
    expect(open_descriptors() == descriptors, "%s: %s: %d descriptors are not closed", fault_text,
           name, open_descriptors() - descriptors);
}

struct fault {
    enum shim_call call;
    int errors[5];
};

static const struct fault faults[] = {
    {SHIM_OPEN, {EMFILE, EIO}},
    {SHIM_READ, {EIO, EINTR}},
    {SHIM_WRITE, {EIO, ENOSPC, EDQUOT, EINTR}},
    {SHIM_FSYNC, {EIO, ENOSPC, EDQUOT}},
    {SHIM_MSYNC, {EIO, ENOMEM}},
    {SHIM_MMAP, {ENOMEM}},
    {SHIM_TRUNCATE, {EIO, EFBIG}},
    {SHIM_ALLOCATE, {ENOSPC, EIO, EINTR, EOPNOTSUPP}},
    {SHIM_CLOSE, {EIO, EINTR}},
    {SHIM_RENAME, {EIO, ENOSPC, EACCES}},
    {SHIM_LINK, {EIO, EPERM}},
    {SHIM_UNLINK, {EIO}},
    {SHIM_LOCK, {EIO, ENOLCK, EINTR}},
    {SHIM_MODE, {EPERM, EIO}},
    {SHIM_STAT, {EIO, EACCES}},
    {SHIM_RANDOM, {EIO, EINTR}},
    {SHIM_MALLOC, {ENOMEM}},
};

static uint64_t for_all_faults(const struct scenario *scenario, enum kind kind,
                               const uint32_t there[SHIM_CALLS], double probability)
{
    uint64_t number = 0;
    for (size_t i = 0; i < COUNT(faults); i++)
        for (size_t j = 0; j < COUNT(faults[i].errors) && faults[i].errors[j]; j++)
            for (uint32_t nth = 1; nth <= there[faults[i].call]; nth++)
                for (int lasts = 0; lasts < (faults[i].errors[j] == EINTR ? 1 : 2);
                     lasts++, number++) {
                    plan = (struct plan){faults[i].call, lasts ? SHIM_FAIL_ON : SHIM_FAIL, nth,
                                         faults[i].errors[j]};
                    if (probability > 0 &&
                        (double)random_below(1u << 30) < probability * (1u << 30))
                        run_once(scenario, kind);
                }
    for (uint32_t nth = 1; nth <= there[SHIM_WRITE]; nth++, number++) {
        plan = (struct plan){SHIM_WRITE, SHIM_SHORT, nth, 0};
        if (probability > 0 && (double)random_below(1u << 30) < probability * (1u << 30))
            run_once(scenario, kind);
    }
    return number;
}

static void make_images(void)
{
    petal_error error;
    for (enum kind kind = 0; kind < KINDS; kind++) {
        petal_filter *filter = with_old_keys(kind);
        save_or_give_up(filter, path);
        images[kind] = read_file(path);
        petal_free(filter);
    }
    make_index_images();
    put_file(images[BLOCKED]);
    pid_t pid = fork();
    if (pid == 0) {
        petal_filter *filter;
        bool good = open_flags(path, PETAL_OPEN_WRITABLE, &filter, &error) == PETAL_OK &&
                    add_key(filter, 0) >= 0;
        _exit(good ? 0 : 1);
    }
    waitpid(pid, NULL, 0);
    dirty = read_file(path);
}

/* The shim must be loaded when a program starts, so the program executes itself again. */
static void start_with_shim(char **argv)
{
    struct shim_control *(*find)(void) = NULL;
    void *function = dlsym(RTLD_DEFAULT, "petal_shim_control");
    memcpy(&find, &function, sizeof find);
    if (find && find()) {
        control = find();
        return;
    }
    if (find) give_up("the shim has no page");
    char file[] = "/tmp/petal-shim-XXXXXX", preload[PATH_MAX + 16], page[64];
    int descriptor = mkstemp(file);
    struct shim_control none = {.call = SHIM_NONE};
    if (descriptor < 0 || write(descriptor, &none, sizeof none) != sizeof none)
        give_up("cannot write %s", file);
    snprintf(preload, sizeof preload, "LD_PRELOAD=%s", part_path("shim.so"));
    snprintf(page, sizeof page, "PETAL_SHIM=%s", file);
    putenv(preload);
    putenv(page);
    execv("/proc/self/exe", argv);
    give_up("cannot start again");
}

int main(int argc, char **argv)
{
    uint64_t amount = amount_of(argc, argv, 60, 1000000), all = 0;
    start_with_shim(argv);
    const char *page = getenv("PETAL_SHIM");
    if (page) unlink(page);
    unsetenv("LD_PRELOAD");
    setvbuf(stdout, malloc(BUFSIZ), _IOFBF, BUFSIZ);
    make_folder();
    mkdir(in_folder("w"), 0755);
    path = strdup(in_folder("w/f.petal"));
    make_images();
    for (size_t i = 0; i < COUNT(scenarios); i++) {
        char promise[160];
        for (size_t j = 0; j < KINDS && scenarios[i].kinds[j] != KINDS; j++) {
            uint32_t there[SHIM_CALLS];
            enum kind kind = scenarios[i].kinds[j];
            plan = (struct plan){SHIM_NONE, SHIM_COUNT, 0, 0};
            run_once(&scenarios[i], kind); /* the C library allocates memory in its first run */
            run_once(&scenarios[i], kind);
            memcpy(there, calls, sizeof there);
            uint64_t number = for_all_faults(&scenarios[i], kind, there, 0);
            for_all_faults(&scenarios[i], kind, there,
                           number ? (double)amount / (double)number : 0);
            all += number;
        }
        snprintf(promise, sizeof promise, "%s: a fault is reported, and loses nothing",
                 scenarios[i].name);
        end_case(promise);
    }
    return end_campaign("%zu calls, %" PRIu64 " faults in all, %" PRIu64 " runs, %" PRIu64
                        " with a fault, %" PRIu64 " failures reported",
                        COUNT(scenarios), all, runs, hits, failures);
}
