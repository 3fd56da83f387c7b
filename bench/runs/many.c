/* many.c - ./dev bench many [ROUNDS]: compares querying an index of many filters with querying the
 * filters in turn, one key at a time and in batches.
 *
 * The index is saved and mapped, and the filters are in memory. The index and the filters answer
 * the same queries, with the same answers, including false positives. One key in eight is in one of
 * the filters. Times are CPU time per key for querying all filters, the median of the rounds.
 * Ratios are computed within each round: median (min..max). */
#define _POSIX_C_SOURCE 200809L
#include "run.h"

#include "../../tests/keys.h"

#include <petal/petal_index.h>

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

enum { QUESTIONS = 4096, ONE_BY_ONE = 256, MAX_ROUNDS = 101, MAX_FILTERS = 10000 };

static const struct setting {
    uint64_t filters, keys;
    double step; /* each of the first `sizes` filters has `step` times the keys of the previous
                  * one */
    uint64_t sizes;
} settings[] = {
    {64, 10000, 1, 1},     {1024, 10000, 1, 1},     {MAX_FILTERS, 1000, 1, 1},
    {100, 1000, 1.12, 40}, {1000, 1000, 1.06, 100},
};

static petal_filter *filters[MAX_FILTERS];
static int64_t questions[QUESTIONS];
static uint8_t results[QUESTIONS];
static uint64_t *rows, *expected;
static volatile uint64_t sink;

/* Returns key i of a filter, or an absent one. */
static int64_t key_of(uint64_t filter, uint64_t i)
{
    return (int64_t)((filter << 32 | i) * 0x9e3779b97f4a7c15u);
}

static uint64_t keys_of(const struct setting *setting, uint64_t filter)
{
    double keys = (double)setting->keys;
    for (uint64_t i = filter % setting->sizes; i > 0; i--) keys *= setting->step;
    return (uint64_t)keys;
}

/* ---- making ---------------------------------------------------------------------------------- */

static petal_filter *make_filter(uint64_t number, uint64_t count)
{
    petal_options options = PETAL_OPTIONS_INIT;
    petal_filter *filter = NULL;
    petal_error error;
    options.capacity = count;
    options.rate = 0.01;
    check(petal_create(&options, &filter, &error), &error);
    for (uint64_t i = 0; i < count; i++) petal_add_i64(filter, key_of(number, i));
    return filter;
}

/* Creates the filters and an index of them, and maps the index. */
static petal_index *make(const struct setting *setting, double *seconds)
{
    char path[] = "build/bench/many-XXXXXX", name[32];
    petal_index *made = NULL, *opened = NULL;
    petal_error error;
    int file = mkstemp(path);
    if (file < 0) give_up("build/bench has no room for a file", NULL);
    close(file);
    for (uint64_t i = 0; i < setting->filters; i++)
        filters[i] = make_filter(i, keys_of(setting, i));
    double begin = cpu_ns();
    check(petal_index_create(NULL, &made, &error), &error);
    for (uint64_t i = 0; i < setting->filters; i++) {
        snprintf(name, sizeof name, "filter-%" PRIu64, i);
        check(petal_index_add(made, name, filters[i], &error), &error);
    }
    check(petal_index_save(made, path, NULL, &error), &error);
    *seconds = (cpu_ns() - begin) / 1e9;
    petal_index_free(made);
    check(petal_index_open(path, NULL, &opened, &error), &error);
    unlink(path);
    return opened;
}

static void choose_questions(const struct setting *setting)
{
    for (uint64_t i = 0; i < QUESTIONS; i++)
        questions[i] = i % 8 ? key_of(MAX_FILTERS + i, i)
                             : key_of(i * 31 % setting->filters, i % setting->keys);
}

/* ---- asking ---------------------------------------------------------------------------------- */

static double ask_index(const petal_index *index, uint64_t row_words)
{
    petal_batch batch = batch_of_numbers(questions, QUESTIONS);
    petal_error error;
    double begin = cpu_ns();
    check(petal_index_query(index, &batch, rows, row_words, &error), &error);
    return (cpu_ns() - begin) / QUESTIONS;
}

static double ask_one_by_one(const struct setting *setting)
{
    uint64_t found = 0;
    double begin = cpu_ns();
    for (size_t i = 0; i < ONE_BY_ONE; i++)
        for (uint64_t f = 0; f < setting->filters; f++)
            found += petal_contains_i64(filters[f], questions[i]);
    sink += found;
    return (cpu_ns() - begin) / ONE_BY_ONE;
}

static double ask_batches(const struct setting *setting)
{
    petal_batch batch = batch_of_numbers(questions, QUESTIONS);
    petal_error error;
    double begin = cpu_ns();
    for (uint64_t f = 0; f < setting->filters; f++)
        check(petal_contains_batch(filters[f], &batch, results, NULL, &error), &error);
    return (cpu_ns() - begin) / QUESTIONS;
}

static void compare_answers(const struct setting *setting, uint64_t row_words)
{
    petal_batch batch = batch_of_numbers(questions, QUESTIONS);
    petal_error error;
    memset(expected, 0, QUESTIONS * row_words * sizeof *expected);
    for (uint64_t f = 0; f < setting->filters; f++) {
        check(petal_contains_batch(filters[f], &batch, results, NULL, &error), &error);
        for (size_t i = 0; i < QUESTIONS; i++)
            expected[i * row_words + f / 64] |= (uint64_t)results[i] << f % 64;
    }
    if (memcmp(rows, expected, QUESTIONS * row_words * sizeof *rows) != 0)
        give_up("the index's answers differ from those of its filters", NULL);
}

/* ---- a row of the table ---------------------------------------------------------------------- */

static void print_row(const struct setting *setting, long rounds)
{
    static double by_index[MAX_ROUNDS], by_one[MAX_ROUNDS], by_batch[MAX_ROUNDS],
        of_one[MAX_ROUNDS], of_batch[MAX_ROUNDS];
    petal_index_info info = PETAL_INDEX_INFO_INIT;
    petal_error error;
    double seconds;
    petal_index *index = make(setting, &seconds);
    check(petal_index_get_info(index, &info, &error), &error);
    choose_questions(setting);
    rows = calloc(QUESTIONS * info.row_words, sizeof *rows);
    expected = calloc(QUESTIONS * info.row_words, sizeof *expected);
    if (!rows || !expected) give_up("out of memory", NULL);
    for (long i = -1; i < rounds; i++) { /* the first round is a warm-up */
        long at = i < 0 ? 0 : i;
        by_index[at] = ask_index(index, info.row_words);
        by_one[at] = ask_one_by_one(setting);
        by_batch[at] = ask_batches(setting);
        of_one[at] = by_one[at] / by_index[at];
        of_batch[at] = by_batch[at] / by_index[at];
    }
    compare_answers(setting, info.row_words);
    printf("| %" PRIu64 " | %" PRIu64, setting->filters, setting->keys);
    if (setting->sizes > 1) printf(" to %" PRIu64, keys_of(setting, setting->sizes - 1));
    printf(" | %u | %.1f | %.2f | %.3f |", info.groups, (double)info.bytes / 1e6, seconds,
           median(by_index, (size_t)rounds) / 1e3);
    double one = median(of_one, (size_t)rounds), batch = median(of_batch, (size_t)rounds);
    printf(" %.2f | %.3f |", median(by_one, (size_t)rounds) / 1e3,
           median(by_batch, (size_t)rounds) / 1e3);
    printf(" %.1fx (%.1f..%.1f) | %.2fx (%.2f..%.2f) |\n", one, of_one[0], of_one[rounds - 1],
           batch, of_batch[0], of_batch[rounds - 1]);
    fflush(stdout);
    petal_index_free(index);
    for (uint64_t i = 0; i < setting->filters; i++) petal_free(filters[i]);
    free(rows);
    free(expected);
}

int main(int count, char **words)
{
    long rounds = count > 1 ? strtol(words[1], NULL, 10) : 11;
    if (count > 2 || rounds < 1 || rounds > MAX_ROUNDS) {
        fprintf(stderr, "bench many [ROUNDS]: from 1 to %d\n", MAX_ROUNDS);
        return 2;
    }
    printf("| filters | keys of each | groups | MB | made in, s | index, us per key | in turn, one "
           "key | in turn, batches | one key / index | batches / index |\n"
           "| --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |\n");
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) print_row(&settings[i], rounds);
    return 0;
}
