/* ways.c - chooses how keys are added to a filter and looked up in it, from a table indexed by the
 * filter's state.
 *
 *     batches          by the strategy of the filter's row (strategy.c, layers.c, in_turn.c), which
 *                      calls the kernel of its scheme
 *     one key, query   through one function that hashes and tests (`direct` of the kernel, for
 *                      several layers `direct_any`), or by the strategy if there is none
 *     one key, add     like a query, if the row allows that
 *
 * If the filter has a guard, the guard checks blocks before each query. */
#include "base/bytes.h"
#include "filter/batch.h"
#include "filter/guard.h"
#include "filter/strategy.h"
#include "hash/xxh3.h"

struct way {
    const struct key_strategy *strategy;
    enum { ADDS_BY_STRATEGY, ADDS_UNTIL_FULL, ADDS_DIRECTLY } one_key;
};

enum { HASH_PER_LAYER, COLLECTING, IN_TURN, WINDOW, GROWING, SHARED, CAREFUL, PLAIN };

static const struct way ways[] = {
    [HASH_PER_LAYER] = {&petal_strategy_hash_per_layer, ADDS_BY_STRATEGY},
    [COLLECTING] = {&petal_strategy_collecting, ADDS_BY_STRATEGY},
    [IN_TURN] = {&petal_strategy_in_turn, ADDS_BY_STRATEGY},
    [WINDOW] = {&petal_strategy_window, ADDS_BY_STRATEGY},
    [GROWING] = {&petal_strategy_growing, ADDS_UNTIL_FULL},
    [SHARED] = {&petal_strategy_shared, ADDS_BY_STRATEGY},
    [CAREFUL] = {&petal_strategy_careful, ADDS_BY_STRATEGY},
    [PLAIN] = {&petal_strategy_plain, ADDS_DIRECTLY},
};

/* Returns true if checks are needed before a key is added, because the filter has a file or a
 * limit. */
static bool needs_care(const petal_filter *filter)
{
    return petal_filter_has_foreign_bits(filter) || filter->needs_permission ||
           filter->refuse_overfull;
}

static const struct way *choose(const petal_filter *filter)
{
    if (filter->hash->words == 0) return &ways[HASH_PER_LAYER];
    if (filter->builder) return &ways[COLLECTING];
    if (filter->scheme->is_in_turn) return &ways[IN_TURN];
    if (petal_filter_rotates(filter)) return &ways[WINDOW];
    if (filter->layer_count > 1 || filter->grow) return &ways[GROWING];
    if (PETAL_HAS_THREADS && filter->sharing) return &ways[SHARED];
    return needs_care(filter) ? &ways[CAREFUL] : &ways[PLAIN];
}

/* ---- one key --------------------------------------------------------------------------------- */

/* Finds the kernel's functions for one key. Returns false if there are none. */
static bool find_direct(const petal_filter *filter, struct direct *way)
{
    bool (*fill_in)(struct direct *, uint32_t) = filter->layer_count == 1 ? filter->kernel->direct
                                                 : PETAL_HAS_ANY ? filter->kernel->direct_any
                                                                 : NULL;
    *way = (struct direct){.array = &filter->layers->array,
                           .layers = petal_filter_arrays(filter, 0, filter->layer_count),
                           .items = &filter->layers->items,
                           .seed = filter->hash_key.seed,
                           .flip = petal_xxh3_seed_flip(filter->hash_key.seed),
                           .flips = petal_xxh3_flips(filter->hash_key.seed)};
    return fill_in && !filter->scheme->no_empty_key &&
           filter->policy.kind != POLICY_TIME && /* queries of a time window check the clock */
           fill_in(way, filter->hash->id);
}

/* Adds keys directly to a growing filter while its only layer has room. */
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

static void choose_direct(petal_filter *filter, const struct way *way)
{
    struct direct_calls *calls = &filter->direct.calls;
    if (!find_direct(filter, &filter->direct)) {
        *calls = petal_keys_by_strategy;
        return;
    }
    if (way->one_key == ADDS_DIRECTLY && !PETAL_IS_READ_ONLY) return;
    filter->add_directly = calls->add;
    filter->add_i64_directly = calls->add_i64;
    bool until_full = way->one_key == ADDS_UNTIL_FULL && filter->layer_count == 1 &&
                      filter->scheme->counts_new_only && !needs_care(filter) && !PETAL_IS_READ_ONLY;
    calls->add = until_full ? add_until_full : petal_keys_by_strategy.add;
    calls->add_i64 = until_full ? add_until_full_i64 : petal_keys_by_strategy.add_i64;
    filter->direct.max_add = 0;
}

/* ---- one key, guarded ------------------------------------------------------------------------ */

static __attribute__((noinline)) bool contains_checked(const petal_filter *filter, const void *key,
                                                       size_t key_bytes)
{
    bool answer = true;
    petal_error error;
    (void)petal_filter_find_key(filter, key, key_bytes, &answer, &error);
    return answer;
}

static __attribute__((noinline)) bool contains_i64_checked(const petal_filter *filter,
                                                           int64_t value)
{
    uint8_t key[8];
    petal_encode_i64(value, key);
    return contains_checked(filter, key, sizeof key);
}

/* When every block has been checked, the guard costs only one load and one jump. */
static bool contains(const struct direct *way, const void *key, size_t key_bytes)
{
    const petal_filter *filter = (const petal_filter *)way;
    if (!petal_guard_has_work(filter)) return filter->behind_guard.contains(way, key, key_bytes);
    return contains_checked(filter, key, key_bytes);
}

static bool contains_i64(const struct direct *way, int64_t value)
{
    const petal_filter *filter = (const petal_filter *)way;
    if (!petal_guard_has_work(filter)) return filter->behind_guard.contains_i64(way, value);
    return contains_i64_checked(filter, value);
}

static void stand_before(petal_filter *filter)
{
    struct direct_calls *calls = &filter->direct.calls;
    if (!petal_guard_stands(filter)) return;
    filter->behind_guard.contains = calls->contains;
    filter->behind_guard.contains_i64 = calls->contains_i64;
    calls->contains = contains;
    calls->contains_i64 = contains_i64;
}

void petal_filter_choose_strategy(petal_filter *filter)
{
    const struct way *way = choose(filter);
    filter->strategy = way->strategy;
    choose_direct(filter, way);
    stand_before(filter);
}
