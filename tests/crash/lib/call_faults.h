/* call_faults.h - makes system calls and allocations fail inside one call to the library, and
 * checks what the call reports. Also creates the filters and files that calls.c uses. */
#ifndef PETAL_TESTS_CALL_FAULTS_H
#define PETAL_TESTS_CALL_FAULTS_H

#include "control.h"

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

/* Makes one call with the planned fault, and stores its result in `status`. */
#define UNDER_FAULT(status, call) \
    do { \
        begin(); \
        (status) = (call); \
        end(); \
    } while (0)

/* Expects that a failed call returned one of the right statuses and a message. */
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
static struct bytes images[KINDS]; /* petal files that contain the old keys */
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

/* Creates a filter with the old keys, without a fault. */
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

/* Expects that the file at `path` is clean, or dirty and recoverable, and contains at least the
 * first `keys` keys. */
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

#endif
