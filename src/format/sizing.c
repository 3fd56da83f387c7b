/* sizing.c - see sizing.h. */
#include "format/sizing.h"

#include "base/error.h"

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
    if (!(bits <= (double)most))
        return petal_fail(error, PETAL_ERR_LIMIT, "%.4g bits; this format holds at most %llu", bits,
                          (unsigned long long)most);
    *result = (uint64_t)bits;
    return PETAL_OK;
}

void petal_size_record(const petal_options *options, struct description *about)
{
    about->layers->capacity = options->capacity;
    if (options->rate != 0) about->layers->target_rate = options->rate;
}
