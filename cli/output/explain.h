/* explain.h - prints which bits are read for a key, and their values (check --explain). */
#ifndef PETAL_CLI_EXPLAIN_H
#define PETAL_CLI_EXPLAIN_H

#include <petal/petal.h>
#include <stdio.h>

/* A filter and its file, kept open so that individual bits can be read. */
struct explainer {
    const petal_filter *filter;
    petal_info info;
    int descriptor;
    uint64_t bits_offset; /* in the file */
};

/* Returns false after reporting an error. */
bool explain_open(struct explainer *explainer, const petal_filter *filter, const char *path);
void explain_close(struct explainer *explainer);

/* "bit 3 set, bit 5 clear", or "line 12: word 0 bit 7 set, word 5 bit 30 clear". */
void explain_key(const struct explainer *explainer, const petal_key *key, FILE *out);

#endif
