/* create.c - ./dev bench create [ROUNDS]: measures the cost of creating and freeing a filter, which
 * is mostly planning. A server may create a filter per key. The filters' capacities differ, so that
 * nothing is planned twice. Times are CPU time, the median of the rounds. */
#define _POSIX_C_SOURCE 200809L
#include "run.h"

#include <inttypes.h>

enum { FILTERS = 100, MAX_ROUNDS = 1001 };

static const double rates[] = {0.05, 0.01, 0.003, 0.001, 0.0001};
#define RATES (sizeof rates / sizeof *rates)

enum kind { FIXED, CLASSIC, COUNTING, GROWING, WINDOW };
static const char *const names[] = {"fixed", "classic", "counting", "growing", "window of keys"};

static petal_options options_of(enum kind kind, uint64_t capacity, double rate)
{
    petal_options options = PETAL_OPTIONS_INIT;
    options.rate = rate;
    if (kind == WINDOW)
        options.window_keys = capacity;
    else
        options.capacity = capacity;
    options.growth = kind == GROWING;
    if (kind == CLASSIC) options.scheme = PETAL_SCHEME_CLASSIC;
    if (kind == COUNTING) options.scheme = PETAL_SCHEME_COUNTING;
    return options;
}

/* us per filter. */
static double round_of(enum kind kind, uint64_t capacity, double rate)
{
    double begin = cpu_ns();
    for (uint64_t i = 0; i < FILTERS; i++) {
        petal_options options = options_of(kind, capacity + capacity * i / FILTERS, rate);
        petal_filter *filter;
        petal_error error;
        check(petal_create(&options, &filter, &error), &error);
        petal_free(filter);
    }
    return (cpu_ns() - begin) / FILTERS / 1e3;
}

static void print_row(enum kind kind, uint64_t capacity, long rounds)
{
    static double times[MAX_ROUNDS];
    printf("| %s, %" PRIu64 " to %" PRIu64 " keys |", names[kind], capacity, 2 * capacity);
    for (size_t r = 0; r < RATES; r++) {
        for (long i = 0; i < rounds; i++) times[i] = round_of(kind, capacity, rates[r]);
        printf(" %.1f |", median(times, (size_t)rounds));
    }
    printf("\n");
}

int main(int count, char **words)
{
    long rounds = count > 1 ? strtol(words[1], NULL, 10) : 15;
    if (count > 2 || rounds < 1 || rounds > MAX_ROUNDS) {
        fprintf(stderr, "bench create [ROUNDS]: from 1 to %d\n", MAX_ROUNDS);
        return 2;
    }
    printf("| us of CPU |");
    for (size_t r = 0; r < RATES; r++) printf(" %g %% |", 100 * rates[r]);
    printf("\n| --- | --: | --: | --: | --: | --: |\n");
    for (enum kind kind = FIXED; kind <= WINDOW; kind++) {
        print_row(kind, 100, rounds);
        print_row(kind, 1000, rounds);
        print_row(kind, 100000, rounds);
    }
    return 0;
}
