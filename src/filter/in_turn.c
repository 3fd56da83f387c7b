/* in_turn.c - the strategies for filters whose layers are tried in turn, as in the static scheme
 * (scheme/static.c). Such a filter collects keys until it is built, and then never changes. */
#include "base/bytes.h"
#include "filter/permission.h"
#include "filter/static_builder.h"
#include "filter/strategy.h"

/* Queries the layers starting with number `from`. If even the last layer passes a key on, the key
 * is absent. */
static bool later_layer_has(const petal_filter *filter, uint32_t from, const uint64_t *words)
{
    uint8_t turn = TURN_NEXT;
    for (uint32_t i = from; turn == TURN_NEXT && i < filter->layer_count; i++)
        turn = filter->kernel->take_turn(&filter->layers[i].array, words);
    return turn == TURN_IN;
}

static bool contains(const petal_filter *filter, const struct probe *probe)
{
    return later_layer_has(filter, 0, probe->words);
}

/* The first layer decides most queries, so eight answers are examined at a time. */
#define EIGHT ((uint64_t)0x0101010101010101)

static size_t contains_piece(const petal_filter *filter, const uint64_t *words, size_t count,
                             uint8_t *results)
{
    size_t sum = 0, i = 0;
    filter->kernel->take_turns(&filter->layers->array, words, count, results);
    for (; count - i >= 8; i += 8) {
        uint64_t next = load64le(results + i) & EIGHT * TURN_NEXT;
        for (; next; next &= next - 1) {
            size_t at = i + lowest_bit64(next) / 8;
            results[at] = later_layer_has(filter, 1, words + at);
        }
        sum += popcount64(load64le(results + i));
    }
    for (; i < count; i++) {
        if (results[i] == TURN_NEXT) results[i] = later_layer_has(filter, 1, words + i);
        sum += results[i];
    }
    return sum;
}

static petal_status add(petal_filter *filter, const struct probe *probe, petal_error *error)
{
    (void)probe;
    return petal_filter_refuse_static(filter, error);
}

static petal_status add_piece(petal_filter *filter, const uint64_t *words, size_t count,
                              uint8_t *results, /* NOLINT(readability-non-const-parameter) */
                              struct progress *progress, petal_error *error)
{
    (void)words, (void)count, (void)results, (void)progress;
    return petal_filter_refuse_static(filter, error);
}

const struct key_strategy petal_strategy_in_turn = {UNLESS_READ_ONLY(add), contains,
                                                    UNLESS_READ_ONLY(add_piece), contains_piece};

/* ---- before it is built ---------------------------------------------------------------------- */

/* The filter has no bits yet, so every query returns true, and every added key counts as new. */

static petal_status collect(petal_filter *filter, const struct probe *probe, petal_error *error)
{
    petal_status status = petal_static_collect(filter, probe->words, 1, error);
    return status == PETAL_OK ? status_of_add(true) : status;
}

static petal_status collect_piece(petal_filter *filter, const uint64_t *words, size_t count,
                                  uint8_t *results, struct progress *progress, petal_error *error)
{
    petal_status status = petal_static_collect(filter, words, count, error);
    if (status != PETAL_OK) return status;
    memset(results, 1, count);
    progress->done += count;
    progress->positive += count;
    return PETAL_OK;
}

const struct key_strategy petal_strategy_collecting = {
    UNLESS_READ_ONLY(collect), contains, UNLESS_READ_ONLY(collect_piece), contains_piece};
