/* layers.c - the strategies for filters with several layers.
 *
 * If an older layer contains a key, it is not added again, because that would only fill up the last
 * layer. So a piece is first looked up in the older layers, and then the keys that were not found
 * are added to the last layer. No more keys are added than the last layer has room for, so the
 * filter grows at exactly the same key as if keys were added one by one. Generations work
 * differently: every key is added to the newest generation, so that it is remembered longer. The
 * older generations are queried only to find out whether the key is new. */
#include "base/checked.h"
#include "filter/guard.h"
#include "filter/permission.h"
#include "filter/rotating.h"
#include "filter/strategy.h"

#include <string.h>

/* ---- looking up ------------------------------------------------------------------------------ */

/* Returns the first layer of a window that has not expired at the time of the query. Earlier layers
 * expire earlier (rotating.c). */
static uint32_t first_in_window(const petal_filter *filter, uint32_t layer_count)
{
    uint32_t first = 0;
    while (first < layer_count && filter->layers[first].until_ms < filter->cutoff_ms) first++;
    return first;
}

/* Returns true if one of the first `layer_count` layers contains the key. */
static bool layers_have(const petal_filter *filter, uint32_t layer_count, const struct probe *probe)
{
    uint64_t own[PETAL_HASH_MAX_WORDS];
    uint32_t first = first_in_window(filter, layer_count);
    if (PETAL_HAS_ANY && filter->kernel->any_contains) {
        struct arrays layers = petal_filter_arrays(filter, first, layer_count);
        return filter->kernel->any_contains(&layers, probe->words);
    }
    for (uint32_t i = first; i < layer_count; i++) {
        const struct layer *layer = &filter->layers[i];
        if (filter->kernel->contains(&layer->array, petal_probe_words(filter, layer, probe, own)))
            return true;
    }
    return false;
}

static bool contains(const petal_filter *filter, const struct probe *probe)
{
    return layers_have(filter, filter->layer_count, probe);
}

static size_t layers_contain(const petal_filter *filter, uint32_t layer_count,
                             const uint64_t *words, size_t count, uint8_t *found)
{
    uint8_t in_one[PETAL_PIECE_WORDS];
    uint32_t first = first_in_window(filter, layer_count);
    size_t sum = 0;
    if (PETAL_HAS_ANY && filter->kernel->any_contains_many) {
        struct arrays layers = petal_filter_arrays(filter, first, layer_count);
        return filter->kernel->any_contains_many(&layers, words, count, found);
    }
    memset(found, 0, count);
    for (uint32_t layer = first; layer < layer_count; layer++) {
        filter->kernel->contains_many(&filter->layers[layer].array, words, count, in_one);
        sum = 0;
        for (size_t i = 0; i < count; i++) sum += found[i] |= in_one[i];
    }
    return sum;
}

static size_t contains_piece(const petal_filter *filter, const uint64_t *words, size_t count,
                             uint8_t *found)
{
    return layers_contain(filter, filter->layer_count, words, count, found);
}

/* ---- growing --------------------------------------------------------------------------------- */

/* Returns the number of keys that the last layer accepts before the filter grows. */
static uint64_t room_in_last(const petal_filter *filter)
{
    const struct layer *last = petal_filter_last(filter);
    if (!filter->grow) return UINT64_MAX;
    return last->items < last->capacity ? last->capacity - last->items : 0;
}

static petal_status add_growing(petal_filter *filter, const struct probe *probe, petal_error *error)
{
    uint64_t own[PETAL_HASH_MAX_WORDS];
    petal_status status = PETAL_OK;
    if (filter->needs_permission || filter->refuse_overfull)
        status = petal_strategy_may_add(filter, error);
    if (status == PETAL_OK && petal_guard_is_up(filter))
        status = petal_guard_check(filter, probe, error);
    if (status != PETAL_OK) return status;
    if (filter->layer_count > 1 && layers_have(filter, filter->layer_count - 1, probe))
        return PETAL_SEEN;
    if (room_in_last(filter) == 0) {
        if (contains(filter, probe)) return PETAL_SEEN;
        status = filter->grow(filter, error);
    }
    if (status != PETAL_OK) return status;
    const uint64_t *words = petal_probe_words(filter, petal_filter_last(filter), probe, own);
    return petal_strategy_add_to_last(filter, words, error);
}

/* The keys of a piece that have not been added yet, in order: their hashes, and their indices in
 * the piece. */
struct waiting {
    uint64_t words[PETAL_PIECE_WORDS];
    uint16_t place[PETAL_PIECE_WORDS];
    size_t from, to;
};

/* Removes the keys that were found from the waiting keys. found[0] belongs to the first waiting
 * key. */
static void keep_absent(struct waiting *waiting, size_t hash_words, const uint8_t *found)
{
    size_t kept = waiting->from;
    for (size_t i = waiting->from; i < waiting->to; i++) {
        if (found[i - waiting->from]) continue;
        memmove(waiting->words + kept * hash_words, waiting->words + i * hash_words,
                hash_words * sizeof(uint64_t));
        waiting->place[kept++] = waiting->place[i];
    }
    waiting->to = kept;
}

static void look_up_waiting(const petal_filter *filter, uint32_t first, uint32_t count,
                            struct waiting *waiting)
{
    uint8_t found[PETAL_PIECE_WORDS];
    if (PETAL_HAS_ANY && filter->kernel->any_contains_many) {
        struct arrays layers = petal_filter_arrays(filter, first, first + count);
        const uint64_t *words = waiting->words + waiting->from * filter->hash->words;
        if (filter->kernel->any_contains_many(&layers, words, waiting->to - waiting->from, found))
            keep_absent(waiting, filter->hash->words, found);
        return;
    }
    for (uint32_t layer = first; layer < first + count && waiting->from < waiting->to; layer++) {
        const uint64_t *words = waiting->words + waiting->from * filter->hash->words;
        if (filter->kernel->contains_many(&filter->layers[layer].array, words,
                                          waiting->to - waiting->from, found))
            keep_absent(waiting, filter->hash->words, found);
    }
}

/* Adds up to `room` keys, starting with the first waiting key. */
static petal_status add_waiting(petal_filter *filter, struct waiting *waiting, uint64_t room,
                                uint8_t *was_new, struct progress *progress, petal_error *error)
{
    uint8_t changed[PETAL_PIECE_WORDS];
    struct progress part = {0, 0};
    size_t count = at_most(waiting->to - waiting->from, room);
    const uint64_t *words = waiting->words + waiting->from * filter->hash->words;
    petal_status status =
        petal_strategy_add_piece_to_last(filter, words, count, changed, &part, error);
    for (size_t i = 0; i < part.done; i++) was_new[waiting->place[waiting->from + i]] = changed[i];
    waiting->from += (size_t)part.done;
    progress->positive += part.positive;
    return status;
}

/* Handles the waiting keys when the last layer is full. Keys that the layer contains are not new.
 * The first key that it doesn't contain makes the filter grow. Another library's filter may instead
 * accept keys beyond its capacity; in that case, this key is added alone. */
static petal_status grow_for_waiting(petal_filter *filter, struct waiting *waiting,
                                     uint8_t *was_new, struct progress *progress,
                                     petal_error *error)
{
    uint32_t layers = filter->layer_count;
    look_up_waiting(filter, layers - 1, 1, waiting);
    if (waiting->from == waiting->to) return PETAL_OK;
    petal_status status = filter->grow(filter, error);
    return status == PETAL_OK && filter->layer_count == layers
               ? add_waiting(filter, waiting, 1, was_new, progress, error)
               : status;
}

static petal_status add_piece_growing(petal_filter *filter, const uint64_t *words, size_t count,
                                      uint8_t *was_new, struct progress *progress,
                                      petal_error *error)
{
    struct waiting waiting;
    petal_status status = petal_strategy_may_add(filter, error);
    if (status != PETAL_OK) return status;
    waiting.from = 0;
    waiting.to = count;
    memcpy(waiting.words, words, count * filter->hash->words * sizeof *words);
    for (size_t i = 0; i < count; i++) waiting.place[i] = (uint16_t)i;
    memset(was_new, 0, count);
    look_up_waiting(filter, 0, filter->layer_count - 1, &waiting);
    while (status == PETAL_OK && waiting.from < waiting.to) {
        uint64_t room = room_in_last(filter);
        status = room ? add_waiting(filter, &waiting, room, was_new, progress, error)
                      : grow_for_waiting(filter, &waiting, was_new, progress, error);
    }
    progress->done += status == PETAL_OK ? count : waiting.place[waiting.from];
    return status;
}

const struct key_strategy petal_strategy_growing = {
    UNLESS_READ_ONLY(add_growing), contains, UNLESS_READ_ONLY(add_piece_growing), contains_piece};
const struct key_strategy petal_strategy_hash_per_layer = {UNLESS_READ_ONLY(add_growing), contains,
                                                           NULL, NULL};

/* ---- windows --------------------------------------------------------------------------------- */

/* Adds as many of the keys as fit in the newest generation. */
static petal_status add_generation(petal_filter *filter, const uint64_t *words, size_t count,
                                   uint8_t *was_new, struct progress *progress, petal_error *error)
{
    uint8_t changed[PETAL_PIECE_WORDS];
    struct progress part = {.done = 0};
    layers_contain(filter, filter->layer_count - 1, words, count, was_new);
    petal_status status =
        petal_strategy_add_piece_to_last(filter, words, count, changed, &part, error);
    for (size_t i = 0; i < part.done; i++)
        progress->positive += was_new[i] = changed[i] & !was_new[i];
    progress->done += part.done;
    return status;
}

static petal_status add_piece_to_window(petal_filter *filter, const uint64_t *words, size_t count,
                                        uint8_t *was_new, struct progress *progress,
                                        petal_error *error)
{
    uint64_t room = 0;
    petal_status status = petal_strategy_may_add(filter, error);
    /* done before a generation starts or is dropped */
    if (status == PETAL_OK) status = petal_filter_prepare_write(filter, error);
    for (size_t done = 0, part; status == PETAL_OK && done < count; done += part) {
        status = petal_rotating_make_room(filter, &room, error);
        if (status != PETAL_OK) break;
        part = at_most(count - done, room);
        status = add_generation(filter, words + done * filter->hash->words, part, was_new + done,
                                progress, error);
    }
    return status;
}

static petal_status add_to_window(petal_filter *filter, const struct probe *probe,
                                  petal_error *error)
{
    struct progress progress = {0, 0};
    uint8_t was_new;
    petal_status status = add_piece_to_window(filter, probe->words, 1, &was_new, &progress, error);
    return status < 0 ? status : progress.positive ? PETAL_OK : PETAL_SEEN;
}

const struct key_strategy petal_strategy_window = {UNLESS_READ_ONLY(add_to_window), contains,
                                                   UNLESS_READ_ONLY(add_piece_to_window),
                                                   contains_piece};
