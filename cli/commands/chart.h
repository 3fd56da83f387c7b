/* chart.h - implements plan --chart, which plots the false-positive rate against the number of keys
 * as an SVG. */
#ifndef PETAL_CLI_CHART_H
#define PETAL_CLI_CHART_H

#include <petal/petal.h>
#include <stdbool.h>
#include <stddef.h>

/* Draws one curve per plan (at most 4, each with a capacity), from no keys to three times the first
 * plan's capacity. A ring marks the first plan's design point. Returns false after reporting an
 * error. */
bool save_chart(const char *path, const petal_info *plans, size_t count, bool force);

#endif
