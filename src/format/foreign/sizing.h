/* sizing.h - sizes a filter exactly as another library does, with the same expressions in the same
 * order. */
#ifndef PETAL_FORMAT_SIZING_H
#define PETAL_FORMAT_SIZING_H

#include "format/format.h"

/* What the options request: n keys and a rate p, or m bits and k hashes. */
struct request {
    bool by_bits; /* bits and hashes are given, otherwise keys and rate */
    uint64_t keys;
    double rate;
    uint64_t bits;
    uint32_t hashes;
};

/* Reads the request from the options. Returns PETAL_ERR_ARGUMENT if they request neither. A
 * capacity of 0 is allowed. */
petal_status petal_size_request(const petal_options *options, struct request *request,
                                petal_error *error);

/* Truncates a double to an integer number of bits. Returns PETAL_ERR_LIMIT if it exceeds `max`. */
petal_status petal_size_bits(double bits, uint64_t max, uint64_t *result, petal_error *error);

/* The default of format_def.plan. It uses the requested bits and hashes, or calls the row's size()
 * for keys and a rate. The bits are rounded up to the scheme's step. */
petal_status petal_size_plan(const struct format_def *self, const petal_options *options,
                             struct description *about, petal_error *error);

/* Calls the row's plan(), or that default. */
petal_status petal_format_plan(const struct format_def *format, const petal_options *options,
                               struct description *about, petal_error *error);

/* The formulas of Guava and Spark: m = (long)(-n ln p / (ln 2)^2), for at least 1 key; k = max(1,
 * round(m / n * ln 2)). */
petal_status petal_size_java(uint64_t keys, double rate, struct shape *shape, petal_error *error);

/* The formula of the Go libraries: k = ceil(ln 2 * m / n). */
uint32_t petal_size_hashes(uint64_t bits, uint64_t keys);

/* Makes this shape the only layer of `about`, with the requested capacity and rate, if the scheme
 * allows it. */
petal_status petal_size_layer(const petal_options *options, struct shape *shape,
                              struct description *about, petal_error *error);

#endif
