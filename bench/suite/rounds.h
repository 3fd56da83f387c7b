/* rounds.h - runs every contender once per round, for one number of keys of one type. */
#ifndef PETAL_BENCH_ROUNDS_H
#define PETAL_BENCH_ROUNDS_H

#include "bench.h"

enum phase { ADD, HIT, MISS, MIX, SEEN, PHASES };
extern const char *const phase_names[PHASES]; /* "add", "hit", "miss", "mixed", "seen" */

#define MAX_ROUNDS 101u
#define MAX_CONTENDERS 64u

struct setting {
    size_t keys;
    bool addresses;
    double bits_per_key;
    unsigned rounds;
    size_t absent; /* number of keys queried for the rate */
};

/* One contender's results. ns[phase][round] is the time per key; an unsupported phase has no
 * rounds. */
struct result {
    const struct contender *contender;
    double ns[PHASES][MAX_ROUNDS];
    unsigned rounds[PHASES];
    double bits_per_key, rate; /* the rate is 0 for a floor */
    size_t absent;             /* number of keys queried for the rate */
    bool present;              /* false if this size or key type is unsupported */
};

struct outcome {
    struct setting setting;
    size_t count;
    struct result results[MAX_CONTENDERS];
};

/* Runs all contenders. Above 10^7 keys, all filters are in memory at the same time, so contenders
 * run, in order, only as long as their filters fit in half of the memory. A lost key ends the
 * program with status 1, and lack of memory ends it with status 2. */
void run_rounds(struct outcome *outcome, const struct contender *const *contenders, size_t count);

struct spread {
    double min, median, max;
};

/* Return the spread of a phase's ns per key, or of its ratio to another contender's within each
 * round. The result is NAN if the phase was not measured. */
struct spread spread_of(const struct result *result, enum phase phase);
struct spread ratio_of(const struct result *above, const struct result *below, enum phase phase);

/* Returns the outcome of the contender with this name, or NULL if it wasn't run. */
const struct result *result_named(const struct outcome *outcome, const char *name);

/* Returns the faster of a contender's builds, NAME or "NAME (clang)", or NULL if neither was
 * run. */
const struct result *faster_build(const struct outcome *outcome, const char *name,
                                  enum phase phase);

/* "10^6", "5x10^9", "12000" */
const char *power_text(size_t keys, char text[32]);

#endif
