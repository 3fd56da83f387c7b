/* strategy.c - see strategy.h. This file defines the strategies for filters with one layer. */
#include "filter/strategy.h"

#include "base/checked.h"
#include "base/error.h"
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

/* ---- plain: only the bits and the count change ----------------------------------------------- */

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

const struct key_strategy petal_strategy_plain = {
    UNLESS_READ_ONLY(add_plainly), contains, UNLESS_READ_ONLY(add_piece_plainly), contains_piece};

/* ---- careful: for files and for limits ------------------------------------------------------- */

static petal_status check_room(bool is_overfull, petal_error *error)
{
    if (!is_overfull) return PETAL_OK;
    return petal_fail(error, PETAL_ERR_FULL,
                      "the filter holds more keys than planned; make a larger one");
}

petal_status petal_strategy_may_add(petal_filter *filter, petal_error *error)
{
    petal_status status = check_room(filter->refuse_overfull && petal_is_overfull(filter), error);
    return status == PETAL_OK ? petal_filter_may_write(filter, error) : status;
}

/* Returns the number of leading hashes whose blocks need no check. */
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

/* Ends a piece before a key whose block must be checked first. So the keys before a damaged block
 * are added, just as if all keys were added one by one. */
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

const struct key_strategy petal_strategy_careful = {UNLESS_READ_ONLY(add_carefully), contains,
                                                    UNLESS_READ_ONLY(add_piece_carefully),
                                                    contains_piece};

/* ---- shared: several threads add ------------------------------------------------------------- */

/* Summing all threads' counts for every key would be too expensive. So the counts are summed for
 * one key in 64, and the other keys reuse the result. */
#define KEYS_PER_SUM 64u

static bool shared_is_overfull(const petal_filter *filter, uint64_t hash)
{
    return hash % KEYS_PER_SUM == 0 ? petal_is_overfull(filter) : petal_filter_was_overfull(filter);
}

/* The blocks of a map need no check, because all of them were checked when sharing began. */
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

const struct key_strategy petal_strategy_shared = {
    UNLESS_READ_ONLY(add_shared), contains, UNLESS_READ_ONLY(add_piece_shared), contains_piece};
