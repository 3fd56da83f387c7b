/* sizing.h - sizes a filter exactly as another library does, by evaluating the same expressions in
 * the same order. */
#ifndef PETAL_FORMAT_SIZING_H
#define PETAL_FORMAT_SIZING_H

#include "format/format.h"

/* The size requested by the options: n keys and a false-positive rate p, or m bits and k hashes. */
struct request {
    bool by_bits; /* true if bits and hashes are requested, false if keys and rate are */
    uint64_t keys;
    double rate;
    uint64_t bits;
    uint32_t hashes;
};

/* Reads the requested size from the options. Returns PETAL_ERR_ARGUMENT if the options contain
 * neither form. A capacity of 0 is allowed. */
petal_status petal_size_request(const petal_options *options, struct request *request,
                                petal_error *error);

/* Truncates a double to an integer number of bits. Returns PETAL_ERR_LIMIT if the number exceeds
 * `max`. */
petal_status petal_size_bits(double bits, uint64_t max, uint64_t *result, petal_error *error);

/* The default of format_def.plan. Uses the requested bits and hashes, or calls the format's size()
 * for keys and a rate. The number of bits is rounded up to a multiple of the scheme's step. */
petal_status petal_size_plan(const struct format_def *self, const petal_options *options,
                             struct description *about, petal_error *error);

/* Calls the format's plan(), or petal_size_plan() if it has none. */
petal_status petal_format_plan(const struct format_def *format, const petal_options *options,
                               struct description *about, petal_error *error);

/* Uses the formulas of Guava and Spark: m = (long)(-n ln p / (ln 2)^2), for at least 1 key; k =
 * max(1, round(m / n * ln 2)). */
petal_status petal_size_java(uint64_t keys, double rate, struct shape *shape, petal_error *error);

/* Uses the formula of the Go libraries: k = ceil(ln 2 * m / n). */
uint32_t petal_size_hashes(uint64_t bits, uint64_t keys);

/* Sets the only layer of `about` to this shape, with the requested capacity and rate, if the scheme
 * allows the shape. */
petal_status petal_size_layer(const petal_options *options, struct shape *shape,
                              struct description *about, petal_error *error);

#endif
