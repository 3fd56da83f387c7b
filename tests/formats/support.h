/* support.h - helpers that the tests of the individual formats share: functions for filters and
 * files, a counting allocator, and comparison with tables of sizes. */
#ifndef PETAL_TESTS_FORMATS_SUPPORT_H
#define PETAL_TESTS_FORMATS_SUPPORT_H

#include "../keys.h"
#include "../require.h"
#include "../save_as.h"
#include "../values.h"
#include <petal/petal.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Fails with the error's message unless the status equals the expected status. */
static inline void expect_status(petal_status status, petal_status wanted, const petal_error *error)
{
    if (status == wanted) return;
    fail_msg("%s, wanted %s: %s", petal_status_name(status), petal_status_name(wanted),
             status < 0 ? error->message : "");
}

/* ---- bytes ----------------------------------------------------------------------------------- */

struct bytes {
    uint8_t *data;
    size_t size;
};

static inline struct bytes zeros(size_t size)
{
    struct bytes bytes = {calloc(1, size), size};
    assert_non_null(bytes.data);
    return bytes;
}

/* Reads a file from vectors/. */
static inline struct bytes vector(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "vectors/%s", name);
    FILE *file = fopen(path, "rb");
    if (!file) fail_msg("cannot open %s", path);
    struct bytes bytes = {malloc(1 << 20), 0};
    assert_non_null(bytes.data);
    bytes.size = fread(bytes.data, 1, 1 << 20, file);
    fclose(file);
    return bytes;
}

static inline struct bytes written(const petal_filter *filter, const char *format)
{
    petal_error error;
    struct bytes bytes = {NULL, (size_t)petal_serialized_bytes(filter, SAVE_AS(format))};
    require_that(bytes.size, >, 0);
    bytes.data = malloc(bytes.size + 1);
    expect_status(petal_serialize(filter, SAVE_AS(format), bytes.data, bytes.size, &error),
                  PETAL_OK, &error);
    return bytes;
}

static inline void expect_same(struct bytes a, struct bytes b)
{
    assert_int_equal(a.size, b.size);
    assert_memory_equal(a.data, b.data, a.size);
}

/* ---- filters --------------------------------------------------------------------------------- */

static inline petal_filter *planned(const char *format, uint64_t keys, double rate)
{
    petal_options options = PETAL_OPTIONS_INIT;
    petal_filter *filter;
    petal_error error;
    options.format = format;
    options.capacity = keys;
    options.rate = rate;
    expect_status(petal_create(&options, &filter, &error), PETAL_OK, &error);
    return filter;
}

/* Loads a copy of the bytes in a memory block of exactly their size, so that a sanitizer detects
 * reads past the end. */
static inline petal_status load(struct bytes bytes, const char *format, petal_filter **filter,
                                petal_error *error)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    options.format = format;
    uint8_t *exact = malloc(bytes.size ? bytes.size : 1);
    memcpy(exact, bytes.data, bytes.size);
    petal_status status = petal_load(exact, bytes.size, &options, filter, error);
    free(exact);
    return status;
}

static inline petal_filter *loaded(struct bytes bytes, const char *format)
{
    petal_filter *filter;
    petal_error error;
    expect_status(load(bytes, format, &filter, &error), PETAL_OK, &error);
    return filter;
}

static inline petal_filter *loaded_vector(const char *name, const char *format)
{
    struct bytes bytes = vector(name);
    petal_filter *filter = loaded(bytes, format);
    free(bytes.data);
    return filter;
}

/* Checks that the bytes are refused with this status and a message that contains the reason.
 * Returns the error's offset. */
static inline uint64_t expect_refused(struct bytes bytes, const char *format, petal_status wanted,
                                      const char *why)
{
    petal_filter *filter = NULL;
    petal_error error;
    expect_status(load(bytes, format, &filter, &error), wanted, &error);
    if (!strstr(error.message, why)) fail_msg("\"%s\" does not say \"%s\"", error.message, why);
    return error.offset;
}

/* ---- sizes ----------------------------------------------------------------------------------- */

static inline petal_info plan_of(const char *format, uint64_t keys, double rate)
{
    petal_options options = PETAL_OPTIONS_INIT;
    petal_info plan = PETAL_INFO_INIT;
    petal_error error;
    options.format = format;
    options.capacity = keys;
    options.rate = rate;
    expect_status(petal_plan(&options, &plan, NULL, &error), PETAL_OK, &error);
    return plan;
}

/* Checks that planning fails if a rate is given without a number of keys. (Other libraries then
 * assume one key, but in Petal 0 means that no number was given.) */
static inline void expect_no_keys_refused(const char *format, double rate)
{
    petal_options options = PETAL_OPTIONS_INIT;
    petal_info plan = PETAL_INFO_INIT;
    petal_error error = {0};
    options.format = format;
    options.rate = rate;
    expect_status(petal_plan(&options, &plan, NULL, &error), PETAL_ERR_ARGUMENT, &error);
}

/* Compares sizes with a table of another library's sizes. The table consists of a comment line
 * followed by lines of the form "keys rate bits hashes". */
static inline void expect_sizes(const char *format, const char *name, int min_rows)
{
    struct bytes table = vector(name);
    int rows = 0;
    table.data[table.size] = '\0';
    for (char *end = strchr((char *)table.data, '\n') + 1; *end; end += strspn(end, "\n")) {
        uint64_t keys = strtoull(end, &end, 10);
        double rate = strtod(end, &end);
        uint64_t bits = strtoull(end, &end, 10), hashes = strtoull(end, &end, 10);
        rows++;
        if (keys == 0) {
            expect_no_keys_refused(format, rate);
            continue;
        }
        petal_info plan = plan_of(format, keys, rate);
        if (plan.bits != bits || plan.hashes != hashes)
            fail_msg("%s: %llu keys at %g", name, (unsigned long long)keys, rate);
    }
    require_that(rows, >=, min_rows);
    free(table.data);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Counts allocated bytes. The fail_at-th allocation fails; 0 means that none fails. */
struct counting {
    uint64_t calls, fail_at, held_bytes, peak_bytes;
};

static inline void *counting_alloc(void *context, size_t size_bytes)
{
    struct counting *count = context;
    if (++count->calls == count->fail_at) return NULL;
    count->held_bytes += size_bytes;
    if (count->held_bytes > count->peak_bytes) count->peak_bytes = count->held_bytes;
    return calloc(1, size_bytes);
}

static inline void counting_release(void *context, void *memory, size_t size_bytes)
{
    ((struct counting *)context)->held_bytes -= size_bytes;
    free(memory);
}

/* Like load(), but uses the counting allocator. */
static inline petal_status load_counted(struct bytes bytes, const char *format,
                                        struct counting *count, petal_filter **filter,
                                        petal_error *error)
{
    petal_allocator allocator = {counting_alloc, counting_release, count};
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    options.format = format;
    options.allocator = &allocator;
    return petal_load(bytes.data, bytes.size, &options, filter, error);
}

/* Makes each allocation fail in turn, and checks that the error is the only effect. */
static inline void expect_harmless_without_memory(struct bytes bytes, const char *format)
{
    petal_status status = PETAL_ERR_MEMORY;
    for (uint64_t i = 1; status == PETAL_ERR_MEMORY; i++) {
        struct counting count = {.fail_at = i};
        petal_filter *filter = NULL;
        petal_error error;
        status = load_counted(bytes, format, &count, &filter, &error);
        if (status != PETAL_OK) expect_status(status, PETAL_ERR_MEMORY, &error);
        petal_free(filter);
        assert_int_equal(count.held_bytes, 0);
    }
}

#endif
