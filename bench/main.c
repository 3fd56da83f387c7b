/* main.c - ns a key for add, hit and miss, beside other libraries, in one process.
 *
 * Every round runs each contender once, so that a machine that slows down slows all of them; what is compared is the ratio
 * within a round. Printed: the median ns a key with its spread, the median ratio to the first contender with its spread,
 * and beside them bits a key and the measured rate, since speed at another rate is no win. Keys come from a counter through
 * a bijection, so they are all different, and absent ones are disjoint from those added. */
#define _POSIX_C_SOURCE 200809L

#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct contender *const contenders[] = {
    &libbloom_single,      &petal_classic_single, &petal_classic_batch,
    &petal_blocked_single, &petal_blocked_batch,  &petal_blocked_numbers,
};
#define CONTENDERS (sizeof contenders / sizeof *contenders)

enum phase { ADD, HIT, MISS, PHASES };
static const char *const phase_names[PHASES] = {"add", "hit", "miss"};

#define MOST_ROUNDS 101u

/* What one contender did at one size. */
struct result {
    double ns[PHASES][MOST_ROUNDS];
    double bits_per_key, rate;
};

static double now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* SplitMix64's output function: a bijection. */
static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* `count` keys: 8 bytes of a mixed number, or an address of 28 characters with it in hex. */
static uint8_t *make_keys(struct keys *keys, size_t count, bool urls, uint64_t from)
{
    size_t size = urls ? 28 : 8;
    uint8_t *bytes = malloc(count * size + 1);
    if (!bytes) return NULL;
    for (size_t i = 0; i < count; i++) {
        uint64_t number = mix(from + i);
        if (urls)
            snprintf((char *)bytes + i * size, size + 1, "http://a.io/%016llx", (unsigned long long)number);
        else
            memcpy(bytes + i * size, &number, size);
    }
    *keys = (struct keys){bytes, size, count};
    return bytes;
}

/* Small filters are filled and asked so often that a round takes some milliseconds. */
static size_t repeats_for(size_t keys)
{
    return keys < 200000 ? 200000 / keys + 1 : 1;
}

static bool run_round(const struct contender *contender, const struct keys *in, const struct keys *out,
                      double bits_per_key, unsigned round, struct result *result)
{
    size_t repeats = repeats_for(in->count), found = 0;
    double spent[PHASES] = {0};
    for (size_t i = 0; i < repeats; i++) {
        double start = now_ns();
        void *filter = contender->make(in->count, bits_per_key);
        if (!filter) return false;
        contender->add(filter, in);
        double added = now_ns();
        size_t members = contender->count_found(filter, in);
        double hit = now_ns();
        found += contender->count_found(filter, out);
        double missed = now_ns();
        spent[ADD] += added - start;
        spent[HIT] += hit - added;
        spent[MISS] += missed - hit;
        result->bits_per_key = contender->bits(filter) / (double)in->count;
        contender->drop(filter);
        if (members != in->count) {
            fprintf(stderr, "petal-bench: %s lost %zu keys\n", contender->name, in->count - members);
            exit(1);
        }
    }
    double keys = (double)in->count * (double)repeats;
    for (int phase = 0; phase < PHASES; phase++) result->ns[phase][round] = spent[phase] / keys;
    result->rate = (double)found / ((double)out->count * (double)repeats);
    return true;
}

/* ---- reporting ------------------------------------------------------------------------------------------------------- */

struct spread {
    double least, median, most;
};

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static struct spread spread_of(const double *values, unsigned count)
{
    double sorted[MOST_ROUNDS];
    memcpy(sorted, values, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare);
    return (struct spread){sorted[0], sorted[count / 2], sorted[count - 1]};
}

static void print_row(const struct contender *contender, const struct result *mine, const struct result *first,
                      unsigned rounds)
{
    printf("  %-22s %6.2f  %7.3f %%", contender->name, mine->bits_per_key, 100 * mine->rate);
    for (int phase = 0; phase < PHASES; phase++) {
        double ratios[MOST_ROUNDS];
        for (unsigned i = 0; i < rounds; i++) ratios[i] = first->ns[phase][i] / mine->ns[phase][i];
        struct spread ns = spread_of(mine->ns[phase], rounds), ratio = spread_of(ratios, rounds);
        printf("   %7.2f (%.2f..%.2f) %5.2fx (%.2f..%.2f)", ns.median, ns.least, ns.most, ratio.median, ratio.least,
               ratio.most);
    }
    printf("\n");
}

static void run_size(size_t keys, bool urls, double bits_per_key, unsigned rounds)
{
    static struct result results[CONTENDERS];
    struct keys in, out;
    bool present[CONTENDERS];
    uint8_t *added = make_keys(&in, keys, urls, 0), *absent = make_keys(&out, keys, urls, (uint64_t)1 << 40);
    if (!added || !absent) {
        fprintf(stderr, "petal-bench: not enough memory for %zu keys\n", keys);
        exit(2);
    }
    for (size_t i = 0; i < CONTENDERS; i++) present[i] = true;
    for (unsigned round = 0; round < rounds; round++)
        for (size_t i = 0; i < CONTENDERS; i++)
            present[i] = present[i] && run_round(contenders[i], &in, &out, bits_per_key, round, &results[i]);
    printf("\n%zu keys of %s, %u rounds\n  %-22s %6s  %9s", keys, urls ? "28 bytes" : "8 bytes", rounds, "", "bits/key",
           "rate");
    for (int phase = 0; phase < PHASES; phase++)
        printf("   %s: ns (least..most), times %s", phase_names[phase], contenders[0]->name);
    printf("\n");
    for (size_t i = 0; i < CONTENDERS; i++)
        if (present[i]) print_row(contenders[i], &results[i], &results[0], rounds);
    fflush(stdout);
    free(added);
    free(absent);
}

int main(int count, char **arguments)
{
    static const size_t sizes[] = {10000, 1000000, 10000000};
    unsigned rounds = 9;
    double bits_per_key = 10;
    size_t only = 0;
    for (int i = 1; i < count; i++) {
        char *value = i + 1 < count ? arguments[i + 1] : "";
        if (strcmp(arguments[i], "--rounds") == 0)
            rounds = (unsigned)strtoul(value, NULL, 10), i++;
        else if (strcmp(arguments[i], "--bits") == 0)
            bits_per_key = strtod(value, NULL), i++;
        else if (strcmp(arguments[i], "--keys") == 0)
            only = strtoul(value, NULL, 10), i++;
        else
            rounds = 0;
    }
    if (rounds < 1 || rounds > MOST_ROUNDS || !(bits_per_key >= 1)) {
        fprintf(stderr, "usage: ./dev bench [--keys N] [--bits BITS_A_KEY] [--rounds 1..%u]\n", MOST_ROUNDS);
        return 2;
    }
    printf("Ratios above 1x: faster than %s in the same round. All at %g bits a key.\n", contenders[0]->name,
           bits_per_key);
    for (size_t i = 0; i < (only ? 1 : sizeof sizes / sizeof *sizes); i++)
        for (int urls = 0; urls <= 1; urls++) run_size(only ? only : sizes[i], urls, bits_per_key, rounds);
    return 0;
}
