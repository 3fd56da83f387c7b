/* rounds.h - runs every contender once per round, at one size, for one key type. */
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
    size_t absent; /* keys queried for the rate */
};

/* The results of one contender. ns[phase][round]; a phase that it doesn't support has no rounds. */
struct result {
    const struct contender *contender;
    double ns[PHASES][MAX_ROUNDS];
    unsigned rounds[PHASES];
    double bits_per_key, rate; /* rate: 0 for a floor */
    size_t absent;             /* keys queried for the rate */
    bool present;              /* false: not available at this size or for these keys */
};

struct outcome {
    struct setting setting;
    size_t count;
    struct result results[MAX_CONTENDERS];
};

/* Runs them all; above 10^7 keys, where all filters are in memory at once, only the first ones that
 * fit into half of it. A lost key ends the program with status 1, and lack of memory
 * with status 2. */
void run_rounds(struct outcome *outcome, const struct contender *const *contenders, size_t count);

struct spread {
    double min, median, max;
};

/* The spread of the ns per key in a phase; and of its ratio to another contender's within each
 * round. NAN if there is none. */
struct spread spread_of(const struct result *result, enum phase phase);
struct spread ratio_of(const struct result *above, const struct result *below, enum phase phase);

/* Returns NULL if it wasn't run. */
const struct result *result_named(const struct outcome *outcome, const char *name);

/* Returns the faster of a contender's builds, NAME and "NAME (clang)", or NULL if neither was
 * run. */
const struct result *faster_build(const struct outcome *outcome, const char *name,
                                  enum phase phase);

/* "10^6", "5x10^9", "12000" */
const char *power_text(size_t keys, char text[32]);

#endif
