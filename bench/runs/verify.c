/* verify.c - ./dev bench verify FILE KEYS [off|on one|batch PASSES]: measures the cost of
 * PETAL_OPEN_VERIFY_ON_USE. If FILE doesn't exist, it is created with KEYS keys. Each pass queries
 * a million keys, half of them absent, in a freshly opened file: the first pass checks blocks, and
 * later passes find them already checked. Times are CPU time per key, the median of the rounds,
 * with a warm page cache.
 *
 * With the last three arguments, it runs only PASSES passes, for use with a program that counts
 * instructions. */
#define _POSIX_C_SOURCE 200809L
#include "run.h"

#include "../../tests/keys.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

enum { QUERIES = 1 << 20, BATCH = 8192, ROUNDS = 15, PASSES = 4 };

static int64_t keys[QUERIES];
static volatile uint64_t sink;

/* Adds the even numbers, starting at 0. */
static void make(const char *path, uint64_t count)
{
    petal_options options = PETAL_OPTIONS_INIT;
    petal_filter *filter = NULL;
    petal_error error;
    options.capacity = count;
    options.rate = 0.01;
    check(petal_create(&options, &filter, &error), &error);
    for (uint64_t i = 0; i < count; i += BATCH) {
        uint64_t part = count - i < BATCH ? count - i : BATCH;
        for (uint64_t j = 0; j < part; j++) keys[j] = (int64_t)(2 * (i + j));
        petal_batch batch = batch_of_numbers(keys, part);
        check(petal_add_batch(filter, &batch, NULL, NULL, &error), &error);
    }
    check(petal_save(filter, path, NULL, &error), &error);
    petal_free(filter);
}

/* Chooses random keys below twice the count, from a generator with full period. */
static void choose_queries(uint64_t count)
{
    uint64_t state = 1;
    for (size_t i = 0; i < QUERIES; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        keys[i] = (int64_t)((state >> 24) % (2 * count));
    }
}

static void pass(const petal_filter *filter, bool by_batch)
{
    static uint8_t results[BATCH];
    petal_batch_outcome outcome = PETAL_BATCH_OUTCOME_INIT;
    petal_error error;
    uint64_t found = 0;
    for (size_t i = 0; i < QUERIES; i += by_batch ? BATCH : 1) {
        petal_batch batch = batch_of_numbers(keys + i, BATCH);
        if (by_batch)
            check(petal_contains_batch(filter, &batch, results, &outcome, &error), &error);
        found += by_batch ? outcome.positive : petal_contains_i64(filter, keys[i]);
    }
    sink += found;
}

static petal_filter *opened(const char *path, bool on)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    petal_filter *filter = NULL;
    petal_error error;
    options.flags = on ? PETAL_OPEN_VERIFY_ON_USE : 0;
    check(petal_open(path, &options, &filter, &error), &error);
    return filter;
}

static void print_row(const char *path, bool on, bool by_batch)
{
    double first[ROUNDS], later[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        petal_filter *filter = opened(path, on);
        double begin = cpu_ns();
        pass(filter, by_batch);
        double then = cpu_ns();
        for (int i = 1; i < PASSES; i++) pass(filter, by_batch);
        first[round] = (then - begin) / QUERIES;
        later[round] = (cpu_ns() - then) / QUERIES / (PASSES - 1);
        petal_free(filter);
    }
    double of_first = median(first, ROUNDS), of_later = median(later, ROUNDS);
    printf("| %s | %s | %.1f (%.1f..%.1f) | %.2f (%.2f..%.2f) |\n", by_batch ? "batch" : "one",
           on ? "on" : "off", of_first, first[0], first[ROUNDS - 1], of_later, later[0],
           later[ROUNDS - 1]);
}

int main(int count, char **words)
{
    uint64_t keys_in = count > 2 ? (uint64_t)strtod(words[2], NULL) : 0;
    if ((count != 3 && count != 6) || keys_in == 0) {
        fprintf(stderr, "bench verify FILE KEYS [off|on one|batch PASSES]\n");
        return 2;
    }
    if (access(words[1], F_OK) != 0) make(words[1], keys_in);
    choose_queries(keys_in);
    if (count == 6) {
        petal_filter *filter = opened(words[1], strcmp(words[3], "on") == 0);
        for (long i = strtol(words[5], NULL, 10); i > 0; i--)
            pass(filter, strcmp(words[4], "batch") == 0);
        petal_free(filter);
        return 0;
    }
    printf("| keys per call | verify on use | first pass, ns | later passes, ns |\n"
           "| --- | --- | --: | --: |\n");
    for (int way = 0; way < 4; way++) print_row(words[1], way % 2, way / 2);
    return 0;
}
