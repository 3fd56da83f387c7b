/* growing.c - see growing.h.
 *
 * A key is in the filter if any layer contains it, so the rate of the filter is at most the sum of
 * the layers' rates. Layer i has capacity n * s^i and rate p * (1 - r) * r^i. The sum of the rates
 * stays below p for any number of layers (Almeida, Baquero, Preguica, Hutchison 2007: "Scalable
 * Bloom Filters").
 *
 *     n = 1,000, p = 1 %, s = 2, r = 0.85    capacity     rate       all layers full: keys  rate
 *     layer 0                                1,000        0.150 %    1,000                  0.150 %
 *     layer 1                                2,000        0.128 %    3,000                  0.277 %
 *     layer 2                                4,000        0.108 %    7,000                  0.386 %
 *     layer 13                               8,192,000    0.018 %    16,383,000             0.897 %
 * */
#include "filter/growing.h"

#include "base/checked.h"
#include "base/error.h"
#include "scheme/plan.h"

#define MAX_LAYERS 64u /* the maximum in a file */

petal_status petal_growing_policy(const petal_options *options, struct policy *policy,
                                  petal_error *error)
{
    *policy = (struct policy){
        .kind = POLICY_GROWING,
        .rate = options->rate,
        .first_capacity = options->capacity,
        .step = options->growth_step ? options->growth_step : PETAL_GROWTH_STEP,
        .ratio = options->growth_ratio != 0 ? options->growth_ratio : PETAL_GROWTH_RATIO};
    if (options->capacity == 0 || !(options->rate > 0 && options->rate < 1))
        return petal_fail(
            error, PETAL_ERR_ARGUMENT,
            "a filter that grows needs the keys of its first layer and a rate between 0 and 1");
    if (!petal_growing_is_possible(policy))
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          "a growth step is 2 to %u, its ratio between 0 and 1",
                          PETAL_GROWTH_MAX_STEP);
    return PETAL_OK;
}

bool petal_growing_is_possible(const struct policy *policy)
{
    return policy->first_capacity > 0 && policy->rate > 0 && policy->rate < 1 &&
           policy->step >= 2 && policy->step <= PETAL_GROWTH_MAX_STEP && policy->ratio > 0 &&
           policy->ratio < 1;
}

bool petal_growing_layer(const struct policy *policy, uint32_t number, uint64_t *capacity,
                         double *rate)
{
    *capacity = policy->first_capacity;
    *rate = policy->rate * (1 - policy->ratio);
    /* Computes the power from products alone, so that the result is the same on every platform. */
    for (uint32_t i = 0; i < number; i++) {
        if (!checked_mul(*capacity, policy->step, capacity)) return false;
        *rate *= policy->ratio;
    }
    return true;
}

/* The next layer has the scheme and the number of lines per key that the user chose. */
static petal_status plan_next(const petal_filter *filter, uint64_t *capacity, double *rate,
                              struct shape *shape, petal_error *error)
{
    petal_options options = PETAL_OPTIONS_INIT;
    if (filter->layer_count >= MAX_LAYERS ||
        !petal_growing_layer(&filter->policy, filter->layer_count, capacity, rate))
        return petal_fail(error, PETAL_ERR_FULL,
                          "full: %u layers, and no larger one is possible; make a larger filter",
                          filter->layer_count);
    options.scheme = filter->scheme->id;
    options.capacity = *capacity;
    options.rate = *rate;
    if (petal_plan_shape(&options, shape, error) == PETAL_OK) return PETAL_OK;
    return petal_fail(error, PETAL_ERR_FULL,
                      "full: no layer of this scheme holds %llu keys at a rate of %.3g",
                      (unsigned long long)*capacity, *rate);
}

petal_status petal_growing_grow(petal_filter *filter, petal_error *error)
{
    struct shape shape;
    uint64_t capacity;
    double rate;
    petal_status status = plan_next(filter, &capacity, &rate, &shape, error);
    if (status == PETAL_OK) status = petal_filter_add_layer(filter, &shape, error);
    if (status != PETAL_OK) return status;
    petal_filter_last(filter)->capacity = capacity;
    petal_filter_last(filter)->target_rate = rate;
    return PETAL_OK;
}
