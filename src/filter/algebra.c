/* algebra.c - operations on all bits: union, intersection and clearing. Also checks that the bits
 * of two filters have the same meaning. */
#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "filter/permission.h"
#include "filter/rotating.h"

#include <string.h>

static petal_status differ(petal_error *error, const char *field, uint64_t a, uint64_t b)
{
    return petal_fail(error, PETAL_ERR_MISMATCH, "they differ in %s (%llu against %llu)", field,
                      (unsigned long long)a, (unsigned long long)b);
}

petal_status petal_filter_check_shapes_alike(const struct shape *a, const struct shape *b,
                                             petal_error *error)
{
    if (a->bits != b->bits) return differ(error, "bits", a->bits, b->bits);
    if (a->hashes != b->hashes) return differ(error, "hashes", a->hashes, b->hashes);
    if (a->lines_per_key != b->lines_per_key)
        return differ(error, "lines per key", a->lines_per_key, b->lines_per_key);
    return PETAL_OK;
}

petal_status petal_filter_check_kin(const petal_filter *a, const petal_filter *b,
                                    petal_error *error)
{
    if (a->scheme != b->scheme)
        return petal_fail(error, PETAL_ERR_MISMATCH, "they differ in scheme (%s against %s)",
                          a->scheme->name, b->scheme->name);
    if (a->hash != b->hash)
        return petal_fail(error, PETAL_ERR_MISMATCH, "they differ in hash (%s against %s)",
                          a->hash->name, b->hash->name);
    if (a->hash_key.seed != b->hash_key.seed)
        return differ(error, "seed", a->hash_key.seed, b->hash_key.seed);
    if (a->hash->long_seed && memcmp(a->hash_key.secret, b->hash_key.secret, PETAL_LONG_SEED_BYTES))
        return petal_fail(error, PETAL_ERR_MISMATCH, "they differ in seed");
    if (memcmp(a->hash_key.secret, b->hash_key.secret, PETAL_SECRET_BYTES))
        return petal_fail(error, PETAL_ERR_MISMATCH, "they differ in secret (id %08x against %08x)",
                          petal_secret_id(a->hash_key.secret), petal_secret_id(b->hash_key.secret));
    return PETAL_OK;
}

petal_status petal_filter_check_alike(const petal_filter *a, const petal_filter *b,
                                      petal_error *error)
{
    petal_status kin = petal_filter_check_kin(a, b, error);
    if (kin != PETAL_OK) return kin;
    if (a->layer_count != b->layer_count)
        return differ(error, "layers", a->layer_count, b->layer_count);
    for (uint32_t i = 0; i < a->layer_count; i++) {
        petal_status status = petal_filter_check_shapes_alike(&a->layers[i].array.shape,
                                                              &b->layers[i].array.shape, error);
        if (status != PETAL_OK) return status;
    }
    return PETAL_OK;
}

/* The layers of a filter hold keys from different periods. The union of two chains would be fuller
 * than their rates allow, and petal_is_overfull() wouldn't notice. So neither filters with one of
 * Petal's policies nor other libraries' chains can be combined. This includes chains with a single
 * layer, because the union could hold more keys than the layer may hold before the next layer
 * starts. A filter that can never have another layer can be combined. */
static petal_status check_single(const petal_filter *filter, petal_error *error)
{
    if (petal_filter_is_single(filter)) return PETAL_OK;
    return petal_fail(
        error, PETAL_ERR_UNSUPPORTED,
        "filters that grow or rotate cannot be combined by bits; add the keys, or query both");
}

/* Two static filters rarely have the same size. */
static petal_status check_not_static(const petal_filter *filter, petal_error *error)
{
    if (!filter->scheme->is_in_turn) return PETAL_OK;
    return petal_fail(
        error, PETAL_ERR_UNSUPPORTED,
        "static filters are not combined by bits; build one from both lists of keys, or query both");
}

/* Performs the checks for both calls before any bit changes. The checks precede the request for
 * permission to write, because the request marks a map as changed. */
static petal_status prepare(petal_filter *filter, const petal_filter *other, bool lowers,
                            petal_error *error)
{
    petal_status status = petal_filter_check_kin(filter, other, error);
    if (status == PETAL_OK) status = check_not_static(filter, error);
    if (status == PETAL_OK) status = petal_filter_check_alike(filter, other, error);
    if (status == PETAL_OK) status = check_single(filter, error);
    if (status == PETAL_OK) status = check_single(other, error);
    if (status == PETAL_OK) status = petal_filter_may_write(filter, error);
    if (status == PETAL_OK) status = petal_filter_check_bits(filter, error);
    if (status == PETAL_OK) status = petal_filter_check_bits(other, error);
    if (status == PETAL_OK)
        status = lowers ? petal_filter_prepare_lowering(filter, LOWERING_BITS, error)
                        : petal_filter_prepare_write(filter, error);
    if (status != PETAL_OK) return status;
    petal_filter_touch_all(filter);
    petal_filter_settle_items(filter);
    return PETAL_OK;
}

/* Computes to = to | from, or to = to & from. The byte order doesn't matter for bitwise
 * operations. */
static inline __attribute__((always_inline)) void combine(uint8_t *to, const uint8_t *from,
                                                          uint64_t size, bool both)
{
    uint64_t i = 0, old, other;
    for (; i + 8 <= size; i += 8) {
        memcpy(&old, to + i, sizeof old);
        memcpy(&other, from + i, sizeof other);
        other = both ? old & other : old | other;
        /* This loop doesn't write to pages whose bits stay the same. */
        if (other != old) memcpy(to + i, &other, sizeof other);
    }
    for (; i < size; i++) to[i] = (uint8_t)(both ? to[i] & from[i] : to[i] | from[i]);
}

static void merge_layer(const struct scheme_def *scheme, struct layer *layer,
                        const struct layer *other, uint64_t other_items)
{
    uint64_t size = layer->array.size_bytes;
    if (scheme->counters)
        scheme->counters->merge(layer->array.bytes, other->array.bytes, size);
    else
        combine(layer->array.bytes, other->array.bytes, size, false);
    layer->items = saturating_add(layer->items, other_items);
}

static void intersect_layer(const struct scheme_def *scheme, struct layer *layer,
                            const struct layer *other, uint64_t other_items)
{
    uint64_t size = layer->array.size_bytes;
    if (scheme->counters)
        scheme->counters->intersect(layer->array.bytes, other->array.bytes, size);
    else
        combine(layer->array.bytes, other->array.bytes, size, true);
    if (other_items < layer->items) layer->items = other_items;
}

static petal_status merge(petal_filter *filter, const petal_filter *other, petal_error *error)
{
    petal_status status = prepare(filter, other, false, error);
    if (status != PETAL_OK) return status;
    merge_layer(filter->scheme, filter->layers, other->layers, petal_layer_items(other, 0));
    return petal_filter_check_unchanged(other, error);
}

static petal_status intersect(petal_filter *filter, const petal_filter *other, petal_error *error)
{
    petal_status status = prepare(filter, other, true, error);
    if (status != PETAL_OK) return status;
    intersect_layer(filter->scheme, filter->layers, other->layers, petal_layer_items(other, 0));
    return petal_filter_check_unchanged(other, error);
}

petal_status petal_merge(petal_filter *filter, const petal_filter *other, petal_error *error)
{
    petal_error own;
    if (!error) error = &own;
    return petal_filter_note_error(filter, merge(filter, other, error), error);
}

petal_status petal_intersect(petal_filter *filter, const petal_filter *other, petal_error *error)
{
    petal_error own;
    if (!error) error = &own;
    return petal_filter_note_error(filter, intersect(filter, other, error), error);
}

static petal_status clear(petal_filter *filter, petal_error *error)
{
    petal_status status = petal_filter_prepare_lowering(filter, LOWERING_BITS, error);
    if (status != PETAL_OK) return status;
    /* Resets the filter to its initial state, except that a map keeps all its layers and only
     * clears them. */
    bool adds_layers = filter->policy.kind == POLICY_GROWING || filter->policy.kind == POLICY_TIME;
    if (adds_layers && !petal_filter_has_foreign_bits(filter))
        petal_filter_drop_layers(filter, 1, filter->layer_count - 1);
    petal_filter_touch_all(filter);
    petal_filter_settle_items(filter);
    for (uint32_t i = 0; i < filter->layer_count; i++) {
        petal_zero(filter->layers[i].array.bytes, filter->layers[i].array.size_bytes);
        filter->layers[i].items = 0;
    }
    petal_filter_last(filter)->until_ms = petal_rotating_until(&filter->policy);
    return PETAL_OK;
}

petal_status petal_clear(petal_filter *filter, petal_error *error)
{
    petal_error own;
    if (!error) error = &own;
    return petal_filter_note_error(filter, clear(filter, error), error);
}
