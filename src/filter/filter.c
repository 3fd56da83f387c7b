/* filter.c - the life cycle of a filter in memory. */
#include "filter/filter.h"

#include "base/error.h"
#include "base/memory.h"
#include "filter/content.h"
#include "scheme/plan.h"

#include <math.h> /* NAN, a macro */
#include <string.h>

static petal_status choose_hash(petal_hash *hash, uint64_t seed, const void *secret, petal_error *error)
{
    if (*hash == PETAL_HASH_DEFAULT) *hash = secret ? PETAL_HASH_SIPHASH : PETAL_HASH_XXH3;
    const struct hash_def *def = petal_hash_find(*hash);
    if (!def) return petal_fail(error, PETAL_ERR_ARGUMENT, "there is no hash number %d", (int)*hash);
    if (def->keyed && !secret)
        return petal_fail(error, PETAL_ERR_SECRET, "%s needs a secret of %d bytes", def->name, PETAL_SECRET_BYTES);
    if (!def->keyed && secret)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "%s takes a seed, not a secret; use siphash", def->name);
    if (def->keyed && seed != 0)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "%s takes a secret, not a seed; leave the seed out", def->name);
    return PETAL_OK;
}

petal_status petal_filter_new(const struct shape *shape, petal_hash hash, uint64_t seed, const void *secret,
                              const petal_allocator *allocator, petal_filter **filter, petal_error *error)
{
    petal_allocator memory = petal_allocator_or_default(allocator);
    *filter = NULL;
    petal_status status = choose_hash(&hash, seed, secret, error);
    if (status != PETAL_OK) return status;
    petal_filter *made = petal_alloc(&memory, sizeof *made);
    if (!made) return petal_fail(error, PETAL_ERR_MEMORY, "out of memory");
    made->allocator = memory;
    made->array.shape = *shape;
    made->array.size_bytes = petal_shape_bytes(shape);
    made->scheme = petal_scheme_find(shape->scheme);
    made->kernel = petal_scheme_kernel(made->scheme);
    made->hash = petal_hash_find(hash);
    made->hash_key.seed = seed;
    if (secret) memcpy(made->hash_key.secret, secret, PETAL_SECRET_BYTES);
    made->target_rate = NAN;
    *filter = made;
    return PETAL_OK;
}

petal_status petal_filter_alloc_bits(petal_filter *filter, petal_error *error)
{
    uint64_t size = filter->array.size_bytes;
    filter->array.bytes = petal_alloc_lines(&filter->allocator, size, &filter->own_lines);
    if (filter->array.bytes) return PETAL_OK;
    return petal_fail(error, PETAL_ERR_MEMORY, "out of memory: the filter needs %llu bytes", (unsigned long long)size);
}

petal_status petal_filter_set_metadata(petal_filter *filter, const void *metadata, size_t metadata_bytes,
                                       petal_error *error)
{
    void *copy = NULL;
    if (metadata_bytes > PETAL_METADATA_MAX_BYTES)
        return petal_fail(error, PETAL_ERR_LIMIT, "metadata of %zu bytes; the limit is %d", metadata_bytes,
                          PETAL_METADATA_MAX_BYTES);
    if (metadata_bytes > 0) {
        copy = petal_alloc(&filter->allocator, metadata_bytes);
        if (!copy) return petal_fail(error, PETAL_ERR_MEMORY, "out of memory");
        memcpy(copy, metadata, metadata_bytes);
    }
    petal_release(&filter->allocator, filter->metadata, filter->metadata_bytes);
    filter->metadata = copy;
    filter->metadata_bytes = metadata_bytes;
    return PETAL_OK;
}

static petal_status check_options(const petal_options *options, petal_error *error)
{
    if (!options || options->struct_size != sizeof *options)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "options are not set up with PETAL_OPTIONS_INIT");
    return PETAL_OK;
}

petal_status petal_plan(const petal_options *options, petal_info *plan, petal_error *error)
{
    struct shape shape;
    if (!plan || plan->struct_size != sizeof *plan)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "the plan is not set up with PETAL_INFO_INIT");
    petal_status status = check_options(options, error);
    petal_hash hash = options ? options->hash : PETAL_HASH_DEFAULT;
    if (status == PETAL_OK) status = choose_hash(&hash, options->seed, options->secret, error);
    if (status == PETAL_OK) status = petal_plan_shape(options, &shape, error);
    if (status != PETAL_OK) return status;
    *plan = (petal_info)PETAL_INFO_INIT;
    plan->scheme = shape.scheme;
    plan->hash = hash;
    plan->hashes = shape.hashes;
    plan->lines_per_key = shape.lines_per_key;
    plan->bits = shape.bits;
    plan->bytes = petal_shape_bytes(&shape);
    plan->seed = options->seed;
    plan->keyed = petal_hash_find(hash)->keyed;
    plan->key_id = plan->keyed ? petal_secret_id(options->secret) : 0;
    plan->capacity = options->capacity;
    plan->target_rate = options->rate != 0 ? options->rate : NAN;
    plan->predicted_rate = options->capacity ? petal_predict_rate(plan, options->capacity) : NAN;
    plan->estimated_items = plan->estimated_items_low = plan->estimated_items_high = plan->estimated_rate = NAN;
    plan->scheme_name = petal_scheme_find(shape.scheme)->name;
    plan->hash_name = petal_hash_find(hash)->name;
    return PETAL_OK;
}

petal_status petal_create(const petal_options *options, petal_filter **filter, petal_error *error)
{
    struct shape shape;
    *filter = NULL;
    petal_status status = check_options(options, error);
    if (status == PETAL_OK) status = petal_plan_shape(options, &shape, error);
    if (status != PETAL_OK) return status;
    petal_filter *made;
    status = petal_filter_new(&shape, options->hash, options->seed, options->secret, options->allocator, &made, error);
    if (status != PETAL_OK) return status;
    status = petal_filter_alloc_bits(made, error);
    if (status == PETAL_OK)
        status = petal_filter_set_metadata(made, options->metadata, options->metadata_bytes, error);
    if (status != PETAL_OK) {
        petal_free(made);
        return status;
    }
    made->capacity = options->capacity;
    if (options->rate != 0) made->target_rate = options->rate;
    *filter = made;
    return PETAL_OK;
}

petal_status petal_clone(const petal_filter *filter, petal_filter **copy, petal_error *error)
{
    petal_filter *made;
    const void *secret = filter->hash->keyed ? filter->hash_key.secret : NULL;
    *copy = NULL;
    petal_status status = petal_filter_new(&filter->array.shape, filter->hash->id, filter->hash_key.seed, secret,
                                           &filter->allocator, &made, error);
    if (status != PETAL_OK) return status;
    status = petal_filter_alloc_bits(made, error);
    if (status == PETAL_OK)
        status = petal_filter_set_metadata(made, filter->metadata, filter->metadata_bytes, error);
    if (status != PETAL_OK) {
        petal_free(made);
        return status;
    }
    memcpy(made->array.bytes, filter->array.bytes, (size_t)filter->array.size_bytes);
    made->capacity = filter->capacity;
    made->target_rate = filter->target_rate;
    made->items = filter->items;
    *copy = made;
    return PETAL_OK;
}

void petal_filter_touch_all(petal_filter *filter)
{
    if (filter->touched) memset(filter->touched, 1, (size_t)petal_block_count(&filter->array));
}

petal_status petal_clear(petal_filter *filter, petal_error *error)
{
    petal_status status = petal_filter_prepare_write(filter, error);
    if (status != PETAL_OK) return status;
    petal_filter_touch_all(filter);
    memset(filter->array.bytes, 0, (size_t)filter->array.size_bytes);
    filter->items = 0;
    return PETAL_OK;
}

void petal_free(petal_filter *filter)
{
    if (!filter) return;
    if (filter->close) filter->close(filter);
    petal_allocator memory = filter->allocator;
    petal_release(&memory, filter->metadata, filter->metadata_bytes);
    petal_release_lines(&memory, filter->own_lines, filter->array.size_bytes);
    memset(filter->hash_key.secret, 0, sizeof filter->hash_key.secret);
    petal_release(&memory, filter, sizeof *filter);
}
