/* sizing.c - see sizing.h. */
#include "format/sizing.h"

#include "base/error.h"
#include "scheme/model.h"

#include <math.h> /* INFINITY, a macro */

petal_status petal_size_request(const petal_options *options, struct request *request, petal_error *error)
{
    *request = (struct request){options->bits != 0, options->capacity, options->rate, options->bits, options->hashes};
    if (request->by_bits) {
        if (options->hashes != 0) return PETAL_OK;
        return petal_fail(error, PETAL_ERR_ARGUMENT, "bits without hashes; give both, or keys and a rate");
    }
    if (options->hashes != 0)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "%s chooses the hashes for a rate; give bits too, or none of them",
                          options->format);
    if (options->rate > 0 && options->rate < 1) return PETAL_OK;
    return petal_fail(error, PETAL_ERR_ARGUMENT, "a false-positive rate is above 0 and below 1, not %g", options->rate);
}

petal_status petal_size_bits(double bits, uint64_t most, uint64_t *result, petal_error *error)
{
    if (bits < 0) bits = INFINITY; /* divided by -ln(1 - p'), where doubles cannot tell 1 - p' from 1 */
    if (!(bits <= (double)most))
        return petal_fail(error, PETAL_ERR_LIMIT, "%.4g bits; this format holds at most %llu", bits,
                          (unsigned long long)most);
    *result = (uint64_t)bits;
    return PETAL_OK;
}

uint32_t petal_size_hashes(uint64_t bits, uint64_t keys)
{
    double hashes = petal_model_ceil(PETAL_LN2 * (double)bits / (double)keys);
    return hashes < UINT32_MAX ? (uint32_t)hashes : UINT32_MAX; /* so many are refused later */
}

petal_status petal_size_layer(const petal_options *options, struct shape *shape, struct description *about,
                              petal_error *error)
{
    petal_status status = petal_scheme_find(shape->scheme)->settle(shape, error);
    if (status != PETAL_OK) return status;
    petal_format_single(about, shape, 0);
    petal_size_record(options, about);
    return PETAL_OK;
}

void petal_size_record(const petal_options *options, struct description *about)
{
    about->layers->capacity = options->capacity;
    if (options->rate != 0) about->layers->target_rate = options->rate;
}
