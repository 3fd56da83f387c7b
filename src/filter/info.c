/* info.c - what is known of a filter: its parameters, and what its bits tell. */
#include "base/bytes.h"
#include "base/error.h"
#include "filter/content.h"
#include "filter/filter.h"
#include "scheme/model.h"

#include <math.h> /* NAN and INFINITY, macros */

#define NORMAL_95_PERCENT 1.959964 /* a normal variable is within so many standard deviations in 95 of 100 cases */

static void describe(const petal_filter *filter, petal_info *info)
{
    const struct shape *shape = &filter->array.shape;
    info->scheme = shape->scheme;
    info->hash = filter->hash->id;
    info->hashes = shape->hashes;
    info->lines_per_key = shape->lines_per_key;
    info->bits = shape->bits;
    info->bytes = filter->array.size_bytes;
    info->seed = filter->hash_key.seed;
    info->keyed = filter->hash->keyed;
    info->key_id = info->keyed ? petal_secret_id(filter->hash_key.secret) : 0;
    info->capacity = filter->capacity;
    info->target_rate = filter->target_rate;
    info->predicted_rate = filter->capacity ? petal_predict_rate(info, filter->capacity) : NAN;
    info->items = filter->items;
    info->scheme_name = filter->scheme->name;
    info->hash_name = filter->hash->name;
}

static double items_of(const struct shape *shape, double bits_set)
{
    return petal_model_items(bits_set, (double)shape->bits, shape->hashes);
}

/* Number of distinct keys with its interval: the bits one would see 1.96 sd more or less of, turned into keys. */
static void estimate_items(const petal_filter *filter, petal_info *info)
{
    const struct shape *shape = &filter->array.shape;
    double set = (double)info->bits_set;
    info->saturated = info->bits_set == info->bits;
    info->estimated_items = items_of(shape, set);
    double at = info->saturated ? items_of(shape, (double)info->bits - 0.5) : info->estimated_items;
    double slack = NORMAL_95_PERCENT * filter->scheme->bits_set_sd(shape, at);
    info->estimated_items_low = items_of(shape, set - slack - (info->saturated ? 0.5 : 0));
    info->estimated_items_high = items_of(shape, set + slack);
    if (info->saturated) info->estimated_items_high = INFINITY;
}

petal_status petal_get_info(const petal_filter *filter, petal_info *info, petal_error *error)
{
    if (!info || info->struct_size != sizeof *info)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "the info is not set up with PETAL_INFO_INIT");
    *info = (petal_info)PETAL_INFO_INIT;
    describe(filter, info);
    info->bits_set = popcount_bytes(filter->array.bytes, filter->array.size_bytes);
    info->fill = (double)info->bits_set / (double)info->bits;
    estimate_items(filter, info);
    info->estimated_rate = filter->scheme->rate_of_bits(&filter->array, info->bits_set);
    info->content_id_known = filter->content_recorded || !filter->touched;
    if (info->content_id_known)
        info->content_id = filter->content_recorded ? filter->content_id : petal_content_id(filter);
    return PETAL_OK;
}

double petal_predict_rate(const petal_info *info, uint64_t keys)
{
    const struct scheme_def *scheme = petal_scheme_find(info->scheme);
    struct shape shape = {info->scheme, info->hashes, info->lines_per_key, info->bits};
    if (!scheme || scheme->settle(&shape, NULL) != PETAL_OK || shape.bits != info->bits) return NAN;
    return scheme->rate(&shape, (double)keys);
}

const void *petal_metadata(const petal_filter *filter, size_t *metadata_bytes)
{
    if (metadata_bytes) *metadata_bytes = filter->metadata_bytes;
    return filter->metadata;
}

petal_status petal_set_metadata(petal_filter *filter, const void *metadata, size_t metadata_bytes, petal_error *error)
{
    if (filter->close)
        return petal_fail(error, PETAL_ERR_UNSUPPORTED, "metadata of a mapped or viewed filter is fixed; load a copy");
    return petal_filter_set_metadata(filter, metadata, metadata_bytes, error);
}
