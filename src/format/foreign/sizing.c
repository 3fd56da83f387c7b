/* sizing.c - see sizing.h. */
#include "format/foreign/sizing.h"

#include "base/checked.h"
#include "base/error.h"
#include "scheme/model.h"

#include <math.h> /* INFINITY, a macro */

petal_status petal_size_request(const petal_options *options, struct request *request,
                                petal_error *error)
{
    *request = (struct request){options->bits != 0, options->capacity, options->rate, options->bits,
                                options->hashes};
    if (request->by_bits) {
        if (options->hashes != 0) return PETAL_OK;
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          "bits without hashes; give both, or keys and a rate");
    }
    if (options->hashes != 0)
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          "%s chooses the hashes itself; leave them out, or give bits too",
                          options->format);
    if (options->rate > 0 && options->rate < 1) return PETAL_OK;
    return petal_fail(error, PETAL_ERR_ARGUMENT,
                      "a false-positive rate must be above 0 and below 1, not %g", options->rate);
}

petal_status petal_size_bits(double bits, uint64_t max, uint64_t *result, petal_error *error)
{
    /* If 1 - p' rounds to 1, ln(1 - p') is 0, and dividing by it yields minus infinity. */
    if (bits < 0) bits = INFINITY;
    if (!(bits <= (double)max))
        return petal_fail(error, PETAL_ERR_LIMIT, "%.4g bits; this format holds at most %llu", bits,
                          (unsigned long long)max);
    *result = (uint64_t)bits;
    return PETAL_OK;
}

uint32_t petal_size_hashes(uint64_t bits, uint64_t keys)
{
    double hashes = petal_model_ceil(PETAL_LN2 * (double)bits / (double)keys);
    return hashes < UINT32_MAX ? (uint32_t)hashes : UINT32_MAX; /* the caller refuses too many
                                                                 * hashes */
}

petal_status petal_size_java(uint64_t keys, double rate, struct shape *shape, petal_error *error)
{
    double n = keys ? (double)keys : 1;
    petal_status status = petal_size_bits(petal_model_optimal_bits(n, rate),
                                          (uint64_t)INT32_MAX * 64, &shape->bits, error);
    if (status != PETAL_OK) return status;
    uint64_t hashes = petal_model_round((double)shape->bits / n * PETAL_LN2);
    shape->hashes = hashes ? (uint32_t)hashes : 1;
    return PETAL_OK;
}

petal_status petal_size_layer(const petal_options *options, struct shape *shape,
                              struct description *about, petal_error *error)
{
    petal_status status = petal_normalize(shape, error);
    if (status != PETAL_OK) return status;
    petal_format_single(about, shape, 0);
    about->layers->capacity = options->capacity;
    if (options->rate != 0) about->layers->target_rate = options->rate;
    return PETAL_OK;
}

petal_status petal_size_plan(const struct format_def *self, const petal_options *options,
                             struct description *about, petal_error *error)
{
    struct request asked;
    petal_status status = petal_size_request(options, &asked, error);
    struct shape shape = {self->scheme, asked.hashes, 0, asked.bits};
    if (status == PETAL_OK && !asked.by_bits)
        status = self->size(asked.keys, asked.rate, &shape, error);
    if (status != PETAL_OK) return status;
    if (!checked_round_up(shape.bits, petal_scheme_find(self->scheme)->step_bits, &shape.bits))
        shape.bits = UINT64_MAX; /* refused below */
    return petal_size_layer(options, &shape, about, error);
}

petal_status petal_format_plan(const struct format_def *format, const petal_options *options,
                               struct description *about, petal_error *error)
{
    about->hash = format->hash;
    about->origin.format = format->id;
    if (format->plan) return format->plan(format, options, about, error);
    if (format->size) return petal_size_plan(format, options, about, error);
    return petal_fail(error, PETAL_ERR_UNSUPPORTED, "%s filters can be read, not created",
                      format->name);
}
