/* run.h - code that the programs in this folder share: clocks, medians, and exits with a message. A
 * program that includes it defines _POSIX_C_SOURCE first. */
#ifndef PETAL_BENCH_RUN_H
#define PETAL_BENCH_RUN_H

#include <petal/petal.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline double wall_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Returns the CPU time of the calling thread. */
static inline double cpu_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static inline int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts the values in ascending order, and returns their median. */
static inline double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare_doubles);
    return values[count / 2];
}

/* Prints a message and ends the program. The error may be NULL. */
static inline void give_up(const char *what, const petal_error *error)
{
    fprintf(stderr, "bench: %s%s%s\n", what, error ? ": " : "", error ? error->message : "");
    exit(2);
}

static inline void check(petal_status status, const petal_error *error)
{
    if (status < 0) give_up(error->message, NULL);
}

#endif
