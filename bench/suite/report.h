/* report.h - the report, in each output format. */
#ifndef PETAL_BENCH_REPORT_H
#define PETAL_BENCH_REPORT_H

#include "machine.h"
#include "rounds.h"

#include <stdio.h>

struct missing {
    const char *name, *why;
};

/* A whole run. */
struct run {
    struct machine machine;
    const struct missing *missing; /* ends with an entry without a name */
    struct outcome **outcomes;
    size_t outcome_count;
    struct outcome **rates; /* for the rates at several bits per key */
    size_t rate_count;
    const char *base; /* contender to compare times with */
};

/* table.c: prints tables as text while the program runs. */
void print_head(const struct run *run, FILE *out);
void print_outcome(const struct outcome *outcome, const char *base, FILE *out);
void print_rates(const struct run *run, FILE *out);

/* json.c: prints everything, including each round. */
void write_json(const struct run *run, FILE *out);

/* markdown.c: prints the tables and the goals for RESULTS.md. */
void write_markdown(const struct run *run, FILE *out);

/* goals.c: prints a table of the project's goals and their outcome. */
void write_goals(const struct run *run, FILE *out);

/* chart.c: draws ns per key against the size of the filter, for adding and querying. Writes one
 * file for each key type and number of bits per key, such as FOLDER/bench-numbers-10-ask.svg. Draws
 * charts only if there are at least two sizes. Returns false after reporting a file that can't be
 * written. */
bool write_charts(const struct run *run, const char *folder);

#endif
