/* filter_calls.h - the scenarios in calls.c that use filters: one function per library call. */
#ifndef PETAL_TESTS_FILTER_CALLS_H
#define PETAL_TESTS_FILTER_CALLS_H

#include "call_faults.h"
#include "petal/petal_build.h"
#include "petal/petal_host.h"

/* ---- making filters -------------------------------------------------------------------------- */

/* Expects that a call that creates a filter returned either a filter that contains the old keys or
 * no filter. */
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

/* Saves the filter. The file must be either the old or the new version, the filter must be
 * unchanged, and a later save must succeed. */
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

/* Adds keys and syncs. A key counts as stored only if adding it and a later sync both succeeded.
 * Once a sync has failed, no later sync may report success. */
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
    /* If only the check for a replaced file failed, a later sync may succeed. If a write failed,
     * all later syncs must fail. */
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
    if (status == PETAL_OK) expect_file(ALL_KEYS); /* the file is marked as complete */
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

/* Calls `change` on a map and syncs. If the file is then marked clean, it must be in the state
 * before or after the change. */
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
    wanted.capacity = 4000000; /* too large for a builder to add keys directly */
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

/* Returns a batch of the keys from `from` to `to` - 1. The batch is valid until the next call. */
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

/* The keys that the outcome counts as added must be present. A later call must be able to add the
 * remaining keys. */
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

/* A patch must be applied completely or not at all. If applying it fails, a later call must be able
 * to apply it. */
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

/* Feeds a file to a reader in three pieces. After a failure, every later call must fail with the
 * same error. */
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

/* Returns a filter of this kind that contains only the header, with no bits. */
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

/* The filter must own the memory block only if adopting the block succeeded. */
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

/* If memory runs out, the filter's bits must stay where they are. */
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

/* Lends the bits of one filter handle to another handle. */
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

#endif
