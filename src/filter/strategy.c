/* strategy.c - see strategy.h. The strategies of filters of one layer, and the choice. */
#include "filter/strategy.h"

#include "base/checked.h"
#include "base/error.h"
#include "filter/guard.h"
#include "filter/permission.h"

/* ---- looking up ------------------------------------------------------------------------------ */

static bool contains(const petal_filter *filter, const struct probe *probe)
{
    return filter->kernel->contains(&filter->layers->array, probe->words);
}

static size_t contains_piece(const petal_filter *filter, const uint64_t *words, size_t count,
                             uint8_t *results)
{
    return filter->kernel->contains_many(&filter->layers->array, words, count, results);
}

/* ---- plain: nothing but the bits and the count changes --------------------------------------- */

static petal_status add_plainly(petal_filter *filter, const struct probe *probe, petal_error *error)
{
    struct layer *layer = filter->layers;
    (void)error;
    bool is_new = filter->kernel->add(&layer->array, probe->words);
    layer->items = saturating_add(layer->items, is_new | !filter->scheme->counts_new_only);
    return status_of_add(is_new);
}

static petal_status add_piece_plainly(petal_filter *filter, const uint64_t *words, size_t count,
                                      uint8_t *results, struct progress *progress,
                                      petal_error *error)
{
    struct layer *layer = filter->layers;
    (void)error;
    size_t sum = filter->kernel->add_many(&layer->array, words, count, results);
    layer->items = saturating_add(layer->items, filter->scheme->counts_new_only ? sum : count);
    progress->done += count;
    progress->positive += sum;
    return PETAL_OK;
}

static const struct key_strategy plain = {UNLESS_READ_ONLY(add_plainly), contains,
                                          UNLESS_READ_ONLY(add_piece_plainly), contains_piece};

/* ---- careful: a file, or a limit, must be watched -------------------------------------------- */

static petal_status check_room(bool is_overfull, petal_error *error)
{
    if (!is_overfull) return PETAL_OK;
    return petal_fail(error, PETAL_ERR_FULL,
                      "the filter holds more keys than it is rated for; make a larger one");
}

petal_status petal_strategy_may_add(petal_filter *filter, petal_error *error)
{
    petal_status status = check_room(filter->refuse_overfull && petal_is_overfull(filter), error);
    return status == PETAL_OK ? petal_filter_may_write(filter, error) : status;
}

/* How many of the hashes, from the first on, lie in blocks that need no check. */
static size_t count_checked(const petal_filter *filter, struct layer *layer, const uint64_t *words,
                            size_t count)
{
    size_t i = 0;
    if (!layer->blocks) return count;
    while (i < count &&
           petal_filter_note_change(filter, layer, words + i * layer->array.hash_words))
        i++;
    return i;
}

static petal_status prepare(petal_filter *filter, struct layer *layer, const uint64_t *words,
                            petal_error *error)
{
    petal_status status = count_checked(filter, layer, words, 1)
                              ? PETAL_OK
                              : petal_filter_check_wanted(filter, error);
    return status == PETAL_OK ? petal_filter_prepare_write(filter, error) : status;
}

petal_status petal_strategy_add_to_last(petal_filter *filter, const uint64_t *words,
                                        petal_error *error)
{
    struct layer *layer = petal_filter_last(filter);
    petal_status status = PETAL_OK;
    if (layer->blocks || filter->needs_permission) status = prepare(filter, layer, words, error);
    if (status != PETAL_OK) return status;
    bool changed = filter->kernel->add(&layer->array, words);
    if (changed || !petal_filter_counts_new_only(filter))
        layer->items = saturating_add(layer->items, 1);
    return status_of_add(changed);
}

/* A piece is cut where a block must be checked first, so that the keys before a damaged block are
 * in, as they are one by one. */
petal_status petal_strategy_add_piece_to_last(petal_filter *filter, const uint64_t *words,
                                              size_t count, uint8_t *changed,
                                              struct progress *progress, petal_error *error)
{
    struct layer *layer = petal_filter_last(filter);
    bool new_only = petal_filter_counts_new_only(filter);
    petal_status status = PETAL_OK;
    for (size_t done = 0, part; status == PETAL_OK && done < count; done += part) {
        const uint64_t *from = words + done * layer->array.hash_words;
        part = count_checked(filter, layer, from, count - done);
        status = part ? petal_filter_prepare_write(filter, error)
                      : petal_filter_check_wanted(filter, error);
        if (status != PETAL_OK || part == 0) continue;
        size_t sum = filter->kernel->add_many(&layer->array, from, part, changed + done);
        layer->items = saturating_add(layer->items, new_only ? sum : part);
        progress->done += part;
        progress->positive += sum;
    }
    return status;
}

static petal_status add_carefully(petal_filter *filter, const struct probe *probe,
                                  petal_error *error)
{
    petal_status status = petal_strategy_may_add(filter, error);
    return status == PETAL_OK ? petal_strategy_add_to_last(filter, probe->words, error) : status;
}

static petal_status add_piece_carefully(petal_filter *filter, const uint64_t *words, size_t count,
                                        uint8_t *results, struct progress *progress,
                                        petal_error *error)
{
    petal_status status = petal_strategy_may_add(filter, error);
    if (status != PETAL_OK) return status;
    return petal_strategy_add_piece_to_last(filter, words, count, results, progress, error);
}

static const struct key_strategy careful = {UNLESS_READ_ONLY(add_carefully), contains,
                                            UNLESS_READ_ONLY(add_piece_carefully), contains_piece};

/* ---- shared: several threads add ------------------------------------------------------------- */

/* Summing up what all threads have counted is too much for each key: a few keys do, and the others
 * go by what they found. */
#define KEYS_PER_SUM 64u

static bool shared_is_overfull(const petal_filter *filter, uint64_t hash)
{
    return hash % KEYS_PER_SUM == 0 ? petal_is_overfull(filter) : petal_filter_was_overfull(filter);
}

/* Of a map, all blocks were checked when the filter was shared. */
static petal_status prepare_shared(petal_filter *filter, const uint64_t *words, size_t count,
                                   petal_error *error)
{
    (void)count_checked(filter, filter->layers, words, count);
    return petal_filter_prepare_shared(filter, error);
}

static petal_status add_shared(petal_filter *filter, const struct probe *probe, petal_error *error)
{
    struct layer *layer = filter->layers;
    petal_status status =
        check_room(filter->refuse_overfull && shared_is_overfull(filter, *probe->words), error);
    if (status == PETAL_OK) status = prepare_shared(filter, probe->words, 1, error);
    if (status != PETAL_OK) return status;
    return status_of_add(
        filter->kernel->add_shared(&layer->array, &filter->sharing->stripes, probe->words));
}

static petal_status add_piece_shared(petal_filter *filter, const uint64_t *words, size_t count,
                                     uint8_t *results, struct progress *progress,
                                     petal_error *error)
{
    petal_status status = check_room(filter->refuse_overfull && petal_is_overfull(filter), error);
    if (status == PETAL_OK) status = prepare_shared(filter, words, count, error);
    if (status != PETAL_OK) return status;
    progress->positive += filter->kernel->add_many_shared(
        &filter->layers->array, &filter->sharing->stripes, words, count, results);
    progress->done += count;
    return PETAL_OK;
}

static const struct key_strategy shared = {UNLESS_READ_ONLY(add_shared), contains,
                                           UNLESS_READ_ONLY(add_piece_shared), contains_piece};

/* ---- the choice ------------------------------------------------------------------------------ */

void petal_strategy_hash_for(const petal_filter *filter, const struct layer *layer,
                             const void *data, size_t size_bytes, uint64_t *words)
{
    struct hash_key with = filter->hash_key;
    with.hashes = layer->array.shape.hashes;
    with.bits = layer->array.shape.bits;
    filter->hash->compute(&with, size_bytes ? data : "", size_bytes, words);
}

/* A file, or a limit, must be watched. */
static bool needs_care(const petal_filter *filter)
{
    return petal_filter_has_foreign_bits(filter) || filter->needs_permission ||
           filter->refuse_overfull;
}

static const struct key_strategy *choose(const petal_filter *filter)
{
    if (filter->hash->words == 0) return &petal_strategy_hash_per_layer;
    if (petal_filter_rotates(filter)) return &petal_strategy_window;
    if (filter->layer_count > 1 || filter->grow) return &petal_strategy_growing;
    if (PETAL_HAS_THREADS && filter->sharing) return &shared;
    if (needs_care(filter)) return &careful;
    return &plain;
}

/* The ways through one function, for keys of one layer; false: there are none. */
static bool find_direct(const petal_filter *filter, struct direct *way)
{
    *way = (struct direct){.array = &filter->layers->array,
                           .items = &filter->layers->items,
                           .seed = filter->hash_key.seed,
                           .flip = petal_xxh3_seed_flip(filter->hash_key.seed),
                           .flips = petal_xxh3_flips(filter->hash_key.seed)};
    return filter->kernel->direct && filter->layer_count == 1 && !filter->scheme->no_empty_key &&
           filter->policy.kind != POLICY_TIME && /* which looks at the clock */
           filter->kernel->direct(way, filter->hash->id);
}

/* A filter that grows: keys go in directly as long as its one layer has room. */
static petal_status add_until_full(const struct direct *way, const void *key, size_t key_bytes)
{
    const petal_filter *filter = (const petal_filter *)way;
    if (filter->layers->items >= filter->layers->capacity)
        return petal_keys_by_strategy.add(way, key, key_bytes);
    return filter->add_directly(way, key, key_bytes);
}

static petal_status add_until_full_i64(const struct direct *way, int64_t value)
{
    const petal_filter *filter = (const petal_filter *)way;
    if (filter->layers->items >= filter->layers->capacity)
        return petal_keys_by_strategy.add_i64(way, value);
    return filter->add_i64_directly(way, value);
}

/* By the strategy, unless there is a shorter way. */
static void choose_direct(petal_filter *filter)
{
    struct direct *way = &filter->direct;
    struct direct_calls *calls = &way->calls;
    if (!find_direct(filter, way)) {
        *calls = petal_keys_by_strategy;
        return;
    }
    if (!PETAL_IS_READ_ONLY && filter->strategy == &plain) return;
    filter->add_directly = calls->add;
    filter->add_i64_directly = calls->add_i64;
    bool grows = filter->strategy == &petal_strategy_growing && filter->scheme->counts_new_only &&
                 !needs_care(filter) && !PETAL_IS_READ_ONLY;
    calls->add = grows ? add_until_full : petal_keys_by_strategy.add;
    calls->add_i64 = grows ? add_until_full_i64 : petal_keys_by_strategy.add_i64;
    way->max_add = 0;
}

void petal_filter_choose_strategy(petal_filter *filter)
{
    filter->strategy = choose(filter);
    choose_direct(filter);
    petal_guard_stand_before(filter);
}
