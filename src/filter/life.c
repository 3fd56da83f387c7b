/* life.c - creates, copies and frees filters. */
#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "filter/guard.h"
#include "filter/permission.h"
#include "filter/static_builder.h"

#include <math.h> /* NAN, a macro */
#include <string.h>

static petal_status choose_hash(uint32_t *hash, uint64_t seed, const void *secret,
                                petal_error *error)
{
    if (*hash == PETAL_HASH_DEFAULT) *hash = secret ? PETAL_HASH_SIPHASH : PETAL_HASH_XXH3;
    const struct hash_def *def = petal_hash_find(*hash);
    if (!def)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "there is no hash number %d", (int)*hash);
    if (def->keyed && !secret)
        return petal_fail(error, PETAL_ERR_SECRET_MISSING, "%s needs a secret of %d bytes",
                          def->name, PETAL_SECRET_BYTES);
    if (!def->keyed && secret)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "%s takes a seed, not a secret; use siphash",
                          def->name);
    if (def->keyed && seed != 0)
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          "%s takes a secret, not a seed; leave the seed out", def->name);
    return PETAL_OK;
}

void petal_layer_set_shape(struct layer *layer, const struct shape *shape,
                           const struct hash_def *hash)
{
    void (*prepare)(struct bit_array * array) = petal_scheme_find(shape->scheme)->prepare;
    layer->array.shape = *shape;
    layer->array.modulus = divisor_of(shape->bits);
    layer->array.size_bytes = petal_shape_bytes(shape);
    layer->array.hash_words = hash->words ? hash->words : shape->hashes;
    layer->target_rate = NAN;
    if (prepare) prepare(&layer->array);
}

petal_status petal_filter_new(const struct shape *shapes, uint32_t layer_count, uint32_t hash,
                              uint64_t seed, const void *secret, const petal_allocator *allocator,
                              petal_filter **filter, petal_error *error)
{
    *filter = NULL;
    petal_status status = choose_hash(&hash, seed, secret, error);
    if (status != PETAL_OK) return status;
    petal_filter *made = petal_alloc(allocator, sizeof *made);
    struct layer *layers = petal_alloc(allocator, layer_count * sizeof *layers);
    if (!made || !layers) {
        petal_release(allocator, made, sizeof *made);
        petal_release(allocator, layers, layer_count * sizeof *layers);
        return petal_fail(error, PETAL_ERR_MEMORY, "out of memory");
    }
    made->allocator = *allocator;
    made->layers = layers;
    made->layer_count = made->layer_room = layer_count;
    made->scheme = petal_scheme_find(shapes->scheme);
    made->kernel = petal_scheme_kernel(made->scheme);
    made->hash = petal_hash_find(hash);
    made->hash_key.seed = seed;
    made->memory_limit = UINT64_MAX;
    made->needs_permission = made->scheme->is_in_turn; /* permission is never granted */
    if (secret) memcpy(made->hash_key.secret, secret, PETAL_SECRET_BYTES);
    for (uint32_t i = 0; i < layer_count; i++) {
        layers[i].array.number = i;
        petal_layer_set_shape(&layers[i], &shapes[i], made->hash);
    }
    petal_filter_choose_strategy(made);
    *filter = made;
    return PETAL_OK;
}

uint8_t *petal_layer_bits(const struct layer *layer)
{
    uintptr_t past = (uintptr_t)layer->own_lines % PETAL_LINE_BYTES;
    bool has_room = layer->own_bytes > layer->array.size_bytes;
    return (uint8_t *)layer->own_lines + (past && has_room ? PETAL_LINE_BYTES - past : 0);
}

/* Returns true if a query reads whole lines or large parts of lines. In that case, the array must
 * start on a line boundary. */
static bool reads_lines(const struct scheme_def *scheme)
{
    return scheme->unit_bytes == PETAL_LINE_BYTES || scheme->step_bits > 64;
}

petal_status petal_filter_alloc_layer(petal_filter *filter, struct layer *layer, petal_error *error)
{
    uint64_t size = layer->array.size_bytes,
             room = reads_lines(filter->scheme) ? PETAL_LINE_BYTES : 0;
    if (size <= UINT64_MAX - room) layer->own_lines = petal_alloc(&filter->allocator, size + room);
    if (layer->own_lines) {
        layer->own_bytes = size + room;
        layer->array.bytes = petal_layer_bits(layer);
        return PETAL_OK;
    }
    return petal_fail(error, PETAL_ERR_MEMORY, "out of memory: the filter needs %llu bytes",
                      (unsigned long long)size);
}

petal_status petal_filter_alloc_bits(petal_filter *filter, petal_error *error)
{
    petal_status status = PETAL_OK;
    for (uint32_t i = 0; status == PETAL_OK && i < filter->layer_count; i++)
        status = petal_filter_alloc_layer(filter, &filter->layers[i], error);
    petal_filter_choose_strategy(filter);
    return status;
}

/* The layers in a file may be so large that the next layer would fill all memory. So the size of
 * the next layer is limited. */
static petal_status check_memory_limit(const petal_filter *filter, const struct shape *shape,
                                       petal_error *error)
{
    uint64_t held = 0, needed = petal_shape_bytes(shape);
    for (uint32_t i = 0; i < filter->layer_count; i++)
        held = saturating_add(held, filter->layers[i].array.size_bytes);
    uint64_t limit = petal_memory_limit(filter->memory_limit, held);
    if (needed <= limit) return PETAL_OK;
    return petal_fail(
        error, PETAL_ERR_LIMIT,
        "the next layer takes %llu bytes of memory, the limit is %llu; if you trust the file, raise it "
        "(--memory-limit, options.memory_limit)",
        (unsigned long long)needed, (unsigned long long)limit);
}

static petal_status make_room_for_layer(petal_filter *filter, petal_error *error)
{
    uint64_t old_bytes = filter->layer_room * sizeof *filter->layers,
             new_bytes = old_bytes + sizeof *filter->layers;
    if (filter->layer_count < filter->layer_room) return PETAL_OK;
    struct layer *layers = petal_alloc(&filter->allocator, new_bytes);
    if (!layers) return petal_fail(error, PETAL_ERR_MEMORY, "out of memory");
    memcpy(layers, filter->layers, (size_t)old_bytes);
    petal_release(&filter->allocator, filter->layers, old_bytes);
    filter->layers = layers;
    filter->layer_room++;
    return PETAL_OK;
}

petal_status petal_filter_add_layer(petal_filter *filter, const struct shape *shape,
                                    petal_error *error)
{
    struct layer added = {0};
    if (petal_filter_has_foreign_bits(filter))
        return petal_fail(error, PETAL_ERR_UNSUPPORTED,
                          "a mapped file has no room for one more layer; load it, and save it");
    added.array.number = filter->layer_count;
    petal_layer_set_shape(&added, shape, filter->hash);
    petal_status status = check_memory_limit(filter, shape, error);
    if (status == PETAL_OK) status = petal_filter_alloc_layer(filter, &added, error);
    if (status == PETAL_OK) status = make_room_for_layer(filter, error);
    if (status == PETAL_OK)
        filter->layers[filter->layer_count++] = added;
    else
        petal_release(&filter->allocator, added.own_lines, added.own_bytes);
    petal_filter_choose_strategy(filter);
    return status;
}

void petal_filter_drop_layers(petal_filter *filter, uint32_t from, uint32_t count)
{
    struct layer *gone = filter->layers + from;
    for (uint32_t i = 0; i < count; i++)
        petal_release(&filter->allocator, gone[i].own_lines, gone[i].own_bytes);
    memmove(gone, gone + count, (filter->layer_count - from - count) * sizeof *gone);
    filter->layer_count -= count;
    petal_filter_choose_strategy(filter);
}

static void release_origin(petal_filter *filter)
{
    struct origin *origin = &filter->origin;
    if (origin->far)
        petal_release(&filter->allocator, (uint8_t *)(uintptr_t)origin->far, origin->size_bytes);
    *origin = (struct origin){0};
}

petal_status petal_filter_set_origin(petal_filter *filter, const struct origin *origin,
                                     petal_error *error)
{
    uint8_t *copy = NULL;
    if (origin->size_bytes > PETAL_ORIGIN_NEAR_BYTES) {
        copy = petal_alloc(&filter->allocator, origin->size_bytes);
        if (!copy) return petal_fail(error, PETAL_ERR_MEMORY, "out of memory");
        memcpy(copy, origin->far, origin->size_bytes);
    }
    release_origin(filter);
    filter->origin = *origin;
    filter->origin.far = copy;
    if (filter->hash->long_seed) {
        if (origin->size_bytes < PETAL_LONG_SEED_BYTES)
            return petal_fail(error, PETAL_ERR_DAMAGED,
                              "damaged: the filter's seed of %u bytes is missing; copy it again",
                              PETAL_LONG_SEED_BYTES);
        memcpy(filter->hash_key.secret, origin_bytes(&filter->origin), PETAL_LONG_SEED_BYTES);
    }
    return PETAL_OK;
}

petal_status petal_filter_set_metadata(petal_filter *filter, const void *metadata,
                                       uint64_t metadata_bytes, petal_error *error)
{
    void *copy = NULL;
    if (metadata_bytes > PETAL_METADATA_MAX_BYTES)
        return petal_fail(error, PETAL_ERR_LIMIT, "the metadata has %llu bytes, the limit is %d",
                          (unsigned long long)metadata_bytes, PETAL_METADATA_MAX_BYTES);
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

petal_status petal_filter_check_secret(const petal_filter *filter, petal_error *error)
{
    if (!filter->lacks_secret) return PETAL_OK;
    return petal_fail(
        error, PETAL_ERR_SECRET_MISSING,
        "was opened without its secret (id %08x), for its header alone; open it with the secret",
        filter->secret_id);
}

/* Creates a filter with the same layers as `filter`, but without bits. */
static petal_status clone_frame(const petal_filter *filter, petal_filter **copy, petal_error *error)
{
    const void *secret = filter->hash->keyed ? filter->hash_key.secret : NULL;
    struct shape *shapes = petal_alloc(&filter->allocator, filter->layer_count * sizeof *shapes);
    if (!shapes) return petal_fail(error, PETAL_ERR_MEMORY, "out of memory");
    for (uint32_t i = 0; i < filter->layer_count; i++) shapes[i] = filter->layers[i].array.shape;
    petal_status status =
        petal_filter_new(shapes, filter->layer_count, filter->hash->id, filter->hash_key.seed,
                         secret, &filter->allocator, copy, error);
    petal_release(&filter->allocator, shapes, filter->layer_count * sizeof *shapes);
    if (status == PETAL_OK) (*copy)->memory_limit = filter->memory_limit;
    return status;
}

static void copy_layer(struct layer *to, const struct layer *from, uint64_t items)
{
    petal_copy_to_zeroed(to->array.bytes, from->array.bytes, from->array.size_bytes);
    to->capacity = from->capacity;
    to->target_rate = from->target_rate;
    to->items = items;
    to->until_ms = from->until_ms;
}

petal_status petal_clone(const petal_filter *filter, petal_filter **copy, petal_error *error)
{
    petal_filter *made;
    *copy = NULL;
    petal_status status = petal_filter_check_bits(filter, error);
    if (status == PETAL_OK) status = clone_frame(filter, &made, error);
    if (status != PETAL_OK) return status;
    status = petal_filter_alloc_bits(made, error);
    if (status == PETAL_OK)
        status = petal_filter_set_metadata(made, filter->metadata, filter->metadata_bytes, error);
    if (status == PETAL_OK) status = petal_filter_set_origin(made, &filter->origin, error);
    if (status != PETAL_OK) {
        petal_free(made);
        return status;
    }
    made->key_type = filter->key_type;
    made->refuse_overfull = filter->refuse_overfull;
    made->policy = filter->policy;
    made->grow = filter->grow;
    made->is_fixed = filter->is_fixed;
    petal_filter_choose_strategy(made);
    for (uint32_t i = 0; i < filter->layer_count; i++)
        copy_layer(&made->layers[i], &filter->layers[i], petal_layer_items(filter, i));
    status = petal_filter_check_unchanged(filter, error);
    if (status == PETAL_OK)
        *copy = made;
    else
        petal_free(made);
    return status;
}

bool petal_filter_is_pattern(const petal_filter *filter)
{
    return filter->policy.kind == POLICY_NONE && filter->layer_count == 1 &&
           !filter->scheme->is_in_turn;
}

petal_status petal_create_like(const petal_filter *pattern, petal_filter **filter,
                               petal_error *error)
{
    petal_filter *made = NULL;
    *filter = NULL;
    if (PETAL_IS_READ_ONLY) return petal_refuse_read_only(error);
    petal_status status = petal_filter_refuse_static(pattern, error);
    if (status != PETAL_OK) return status;
    if (!petal_filter_is_pattern(pattern))
        return petal_fail(error, PETAL_ERR_UNSUPPORTED,
                          "a filter that grows or has several layers cannot be a pattern");
    status = petal_filter_check_secret(pattern, error);
    if (status == PETAL_OK) status = clone_frame(pattern, &made, error);
    if (status == PETAL_OK) status = petal_filter_alloc_bits(made, error);
    if (status == PETAL_OK) status = petal_filter_set_origin(made, &pattern->origin, error);
    if (status != PETAL_OK) {
        petal_free(made);
        return status;
    }
    made->key_type = pattern->key_type;
    made->refuse_overfull = pattern->refuse_overfull;
    petal_filter_choose_strategy(made);
    made->layers->capacity = pattern->layers->capacity;
    made->layers->target_rate = pattern->layers->target_rate;
    *filter = made;
    return PETAL_OK;
}

void petal_filter_touch_all(petal_filter *filter)
{
    atomic_store_explicit(&filter->overfull, 0, memory_order_relaxed);
    petal_guard_pass_all(filter, BLOCK_CHANGED);
}

void petal_filter_refuse_changes(petal_filter *filter)
{
    filter->read_only = true;
    filter->needs_permission = true;
    petal_filter_choose_strategy(filter);
}

void petal_free(petal_filter *filter)
{
    if (!filter) return;
    if (filter->store) filter->store->close(filter);
    if (!PETAL_IS_READ_ONLY) petal_static_builder_release(filter);
    petal_allocator memory = filter->allocator;
    for (uint32_t i = 0; i < filter->layer_count; i++)
        petal_release(&memory, filter->layers[i].own_lines, filter->layers[i].own_bytes);
    petal_release(&memory, filter->layers, filter->layer_room * sizeof *filter->layers);
    petal_release(&memory, filter->metadata, filter->metadata_bytes);
    release_origin(filter);
    petal_release(&memory, filter->sharing, sizeof *filter->sharing);
    petal_wipe(filter->hash_key.secret, sizeof filter->hash_key.secret);
    petal_release(&memory, filter, sizeof *filter);
}
