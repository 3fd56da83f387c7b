/* index_calls.h - the scenarios in calls.c that use indexes: one function per library call. */
#ifndef PETAL_TESTS_INDEX_CALLS_H
#define PETAL_TESTS_INDEX_CALLS_H

#include "call_faults.h"

/* ---- indexes --------------------------------------------------------------------------------- */

static struct bytes index_images[KINDS]; /* indexes that contain only the filter "old" */

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

/* Expects the file to be a valid index that contains at least the first `keys` keys. */
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
    petal_index_free(new_index(path)); /* the lock must have been released */
}

/* If adding a filter fails, the index must be unchanged, and a later call must be able to add the
 * filter. */
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

/* The file must contain either the old or the new index, and the index in memory must be unchanged.
 * A later call must be able to save the index, and freeing the index must release the lock. */
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

#endif
