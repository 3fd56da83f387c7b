/* instructions.c - ./dev bench instructions: measures instructions per key on the most important
 * paths, counted by valgrind's callgrind, so that the machine's load and clock rate don't matter.
 *
 * Under callgrind, each row's part of the run becomes a dump named after the row. Without callgrind
 * the program does the same work and prints nothing. Valgrind 3 has no AVX-512, so the AVX2 kernel
 * runs. Filters have a rate of 1 %. Half of the queried keys are present. The counts include the
 * loop and the growth of growing filters, but not the filters' creation. */
#define _POSIX_C_SOURCE 200809L
#include "run.h"

#include "../../tests/keys.h"

#include <string.h>

#if defined(__has_include)
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#endif
#endif
#ifndef CALLGRIND_ZERO_STATS
#define CALLGRIND_ZERO_STATS
#define CALLGRIND_DUMP_STATS_AT(name) (void)(name)
#endif

enum { KEYS = 1 << 16, TEXT_BYTES = 27, LAYERS = 5 };

static int64_t numbers[2 * KEYS];
static char texts[2 * KEYS][TEXT_BYTES + 1];
static petal_key keys[2 * KEYS];
static volatile size_t sink;

enum kind { BLOCKED, CLASSIC, COUNTING, GROWING, WINDOWS, STATIC };
enum call { ADD, CONTAINS, REMOVE };

struct row {
    const char *name;
    enum kind kind;
    enum call call;
    bool is_text;
    size_t batch; /* keys per call; 0: single-key calls */
};

static const struct row rows[] = {
    {"blocked, contains i64", BLOCKED, CONTAINS, false, 0},
    {"blocked, contains 27 bytes", BLOCKED, CONTAINS, true, 0},
    {"blocked, contains i64, batches of 8", BLOCKED, CONTAINS, false, 8},
    {"blocked, contains 27 bytes, batches of 8", BLOCKED, CONTAINS, true, 8},
    {"blocked, contains i64, batches of 4096", BLOCKED, CONTAINS, false, 4096},
    {"blocked, contains 27 bytes, batches of 4096", BLOCKED, CONTAINS, true, 4096},
    {"blocked, add i64", BLOCKED, ADD, false, 0},
    {"blocked, add 27 bytes", BLOCKED, ADD, true, 0},
    {"blocked, add i64, batches of 8", BLOCKED, ADD, false, 8},
    {"blocked, add 27 bytes, batches of 8", BLOCKED, ADD, true, 8},
    {"blocked, add i64, batches of 4096", BLOCKED, ADD, false, 4096},
    {"blocked, add 27 bytes, batches of 4096", BLOCKED, ADD, true, 4096},
    {"classic, contains i64", CLASSIC, CONTAINS, false, 0},
    {"classic, contains i64, batches of 4096", CLASSIC, CONTAINS, false, 4096},
    {"classic, add i64", CLASSIC, ADD, false, 0},
    {"classic, add i64, batches of 4096", CLASSIC, ADD, false, 4096},
    {"counting, contains i64", COUNTING, CONTAINS, false, 0},
    {"counting, contains i64, batches of 4096", COUNTING, CONTAINS, false, 4096},
    {"counting, add i64", COUNTING, ADD, false, 0},
    {"counting, add i64, batches of 4096", COUNTING, ADD, false, 4096},
    {"counting, remove i64", COUNTING, REMOVE, false, 0},
    {"growing to 5 layers, contains i64", GROWING, CONTAINS, false, 0},
    {"growing to 5 layers, contains i64, batches of 4096", GROWING, CONTAINS, false, 4096},
    {"growing to 5 layers, add i64", GROWING, ADD, false, 0},
    {"growing to 5 layers, add i64, batches of 4096", GROWING, ADD, false, 4096},
    {"windows, contains i64", WINDOWS, CONTAINS, false, 0},
    {"windows, contains i64, batches of 4096", WINDOWS, CONTAINS, false, 4096},
    {"windows, add i64", WINDOWS, ADD, false, 0},
    {"windows, add i64, batches of 4096", WINDOWS, ADD, false, 4096},
    {"static, contains i64", STATIC, CONTAINS, false, 0},
    {"static, contains i64, batches of 4096", STATIC, CONTAINS, false, 4096},
};

static petal_batch batch_from(const struct row *row, size_t from, size_t count)
{
    return row->is_text ? batch_of_keys(keys + from, count)
                        : batch_of_numbers(numbers + from, count);
}

static petal_filter *make_static(const struct row *row)
{
    petal_options options = PETAL_OPTIONS_INIT;
    petal_batch batch = batch_from(row, 0, KEYS);
    petal_static_builder *builder;
    petal_filter *filter = NULL;
    petal_error error = {0};
    options.rate = 0.01;
    check(petal_static_create(&options, 1, &builder, &error), &error);
    check(petal_static_add(builder, 0, &batch, &error), &error);
    check(petal_static_finish(builder, NULL, NULL, &filter, &error), &error);
    return filter;
}

static petal_filter *make(const struct row *row)
{
    petal_options options = PETAL_OPTIONS_INIT;
    petal_filter *filter = NULL;
    petal_error error = {0};
    if (row->kind == STATIC) return make_static(row);
    options.rate = 0.01;
    options.capacity = KEYS;
    if (row->kind == CLASSIC) options.scheme = PETAL_SCHEME_CLASSIC;
    if (row->kind == COUNTING) options.scheme = PETAL_SCHEME_COUNTING;
    if (row->kind == GROWING) {
        options.growth = 1;
        options.capacity = KEYS / ((1 << LAYERS) - 1) + 1; /* first layer's */
    }
    if (row->kind == WINDOWS) {
        options.capacity = 0;
        options.window_keys = KEYS;
    }
    check(petal_create(&options, &filter, &error), &error);
    return filter;
}

/* Runs the row's calls for the keys from .. from + KEYS - 1. */
static void call_each(const struct row *row, petal_filter *filter, enum call call, size_t from)
{
    size_t found = 0;
    for (size_t i = from; i < from + KEYS; i++)
        if (call == REMOVE)
            found += petal_remove_i64(filter, numbers[i]) == PETAL_OK;
        else if (row->is_text)
            found += call == ADD ? petal_add(filter, texts[i], TEXT_BYTES) == PETAL_OK
                                 : petal_contains(filter, texts[i], TEXT_BYTES);
        else
            found += call == ADD ? petal_add_i64(filter, numbers[i]) == PETAL_OK
                                 : petal_contains_i64(filter, numbers[i]);
    sink = found;
}

static void call_batches(const struct row *row, petal_filter *filter, enum call call, size_t from)
{
    static uint8_t answers[KEYS];
    petal_error error = {0};
    for (size_t i = from; i < from + KEYS; i += row->batch) {
        petal_batch batch = batch_from(row, i, row->batch);
        check(call == ADD ? petal_add_batch(filter, &batch, NULL, NULL, &error)
                          : petal_contains_batch(filter, &batch, answers, NULL, &error),
              &error);
    }
}

static void count(const struct row *row)
{
    petal_filter *filter = make(row);
    struct row all = *row;
    all.batch = KEYS;
    if (row->call != ADD && row->kind != STATIC) call_batches(&all, filter, ADD, 0);
    size_t from = row->call == CONTAINS ? KEYS / 2 : 0;
    CALLGRIND_ZERO_STATS;
    if (row->batch)
        call_batches(row, filter, row->call, from);
    else
        call_each(row, filter, row->call, from);
    CALLGRIND_DUMP_STATS_AT(row->name);
    petal_free(filter);
}

int main(void)
{
    for (size_t i = 0; i < (size_t)2 * KEYS; i++) {
        numbers[i] = (int64_t)(i * 0x9e3779b97f4a7c15u);
        snprintf(texts[i], sizeof texts[i], "https://example.org/%07zu", i);
        keys[i] = (petal_key){texts[i], TEXT_BYTES};
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) count(&rows[i]);
    return 0;
}
