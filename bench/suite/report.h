/* report.h - the report, in each output format. */
#ifndef PETAL_BENCH_REPORT_H
#define PETAL_BENCH_REPORT_H

#include "machine.h"
#include "rounds.h"

#include <stdio.h>

struct missing {
    const char *name, *why;
};

/* All of a run. */
struct run {
    struct machine machine;
    const struct missing *missing; /* ends with one without a name */
    struct outcome **outcomes;
    size_t outcome_count;
    struct outcome **rates; /* the rate alone, at several bits per key */
    size_t rate_count;
    const char *base; /* the contender that times are compared with */
};

/* table.c: as text, while it runs. */
void print_head(const struct run *run, FILE *out);
void print_outcome(const struct outcome *outcome, const char *base, FILE *out);
void print_rates(const struct run *run, FILE *out);

/* json.c: everything, each round too. */
void write_json(const struct run *run, FILE *out);

/* markdown.c: the tables and the goals, for RESULTS.md. */
void write_markdown(const struct run *run, FILE *out);

/* goals.c: what the project set out to reach, and what it did, as a table. */
void write_goals(const struct run *run, FILE *out);

/* chart.c: ns per key against the size of the filter, adding and asking, a file for each kind of
 * keys and bits per key: FOLDER/bench-numbers-10-ask.svg. Draws where there are at least two sizes.
 * False: a file can't be written (it has been said which). */
bool write_charts(const struct run *run, const char *folder);

#endif
