/* layers.c - see layers.h.
 *
 * A key that an older layer has is not added again: it would only fill the last one. So a piece is first asked of the older
 * layers, and what is left goes into the last; but no more at once than that still has room for, so that the filter grows at the
 * very key at which it would grow one by one. Generations work the other way round: every key goes into the newest,
 * which is how it stays remembered, and the older ones only tell whether it was new. */
#include "filter/layers.h"

#include "base/checked.h"
#include "filter/rotating.h"

#include <string.h>

size_t petal_layers_contain(const petal_filter *filter, uint32_t layer_count, const uint64_t *words, size_t count,
                            uint8_t *found)
{
    uint8_t in_one[PETAL_PIECE_WORDS];
    size_t sum = 0;
    memset(found, 0, count);
    for (uint32_t layer = 0; layer < layer_count; layer++) {
        filter->kernel->contains_many(&filter->layers[layer].array, words, count, in_one);
        sum = 0;
        for (size_t i = 0; i < count; i++) sum += found[i] |= in_one[i];
    }
    return sum;
}

petal_status petal_layers_prepare(petal_filter *filter, const uint64_t *words, size_t count)
{
    struct layer *layer = petal_filter_last(filter);
    bool checked = true;
    for (size_t i = 0; layer->blocks && i < count; i++)
        checked &= petal_filter_note_change(filter, layer, words + i * layer->array.hash_words);
    petal_status status = checked ? PETAL_OK : petal_filter_check_wanted(filter, NULL);
    if (status != PETAL_OK) return status;
    return filter->sharing ? petal_filter_prepare_shared(filter) : petal_filter_prepare_write(filter, NULL);
}

size_t petal_layers_add_to_last(petal_filter *filter, const uint64_t *words, size_t count, uint8_t *changed,
                                petal_status *status)
{
    struct layer *layer = petal_filter_last(filter);
    *status = petal_layers_prepare(filter, words, count);
    if (*status < 0) return 0;
    size_t sum = filter->kernel->add_many(&layer->array, words, count, changed);
    layer->items = saturating_add(layer->items, petal_filter_counts_new_only(filter) ? sum : count);
    return sum;
}

static size_t at_most(size_t count, uint64_t room)
{
    return room < count ? (size_t)room : count;
}

/* ---- growing --------------------------------------------------------------------------------------------------------- */

/* Keys of a piece that are still to be added, in order: their hashes, and where they stand in the piece. */
struct waiting {
    uint64_t words[PETAL_PIECE_WORDS];
    uint16_t place[PETAL_PIECE_WORDS];
    size_t from, to;
};

/* Takes out those that were found: found[0] is of the first that waits. */
static void keep_absent(struct waiting *waiting, size_t hash_words, const uint8_t *found)
{
    size_t kept = waiting->from;
    for (size_t i = waiting->from; i < waiting->to; i++) {
        if (found[i - waiting->from]) continue;
        memmove(waiting->words + kept * hash_words, waiting->words + i * hash_words, hash_words * sizeof(uint64_t));
        waiting->place[kept++] = waiting->place[i];
    }
    waiting->to = kept;
}

static void ask_layers(const petal_filter *filter, uint32_t first, uint32_t count, struct waiting *waiting)
{
    uint8_t found[PETAL_PIECE_WORDS];
    for (uint32_t layer = first; layer < first + count && waiting->from < waiting->to; layer++) {
        const uint64_t *words = waiting->words + waiting->from * filter->hash->words;
        if (filter->kernel->contains_many(&filter->layers[layer].array, words, waiting->to - waiting->from, found))
            keep_absent(waiting, filter->hash->words, found);
    }
}

/* How many keys the last layer takes before the filter grows. */
static uint64_t room_in_last(const petal_filter *filter)
{
    const struct layer *last = petal_filter_last(filter);
    if (!filter->grow) return UINT64_MAX;
    return last->items < last->capacity ? last->capacity - last->items : 0;
}

/* Adds the first that wait, at most `room`; returns how many were new. */
static size_t add_waiting(petal_filter *filter, struct waiting *waiting, uint64_t room, uint8_t *was_new,
                          petal_status *status)
{
    uint8_t changed[PETAL_PIECE_WORDS];
    size_t count = at_most(waiting->to - waiting->from, room);
    const uint64_t *words = waiting->words + waiting->from * filter->hash->words;
    size_t sum = petal_layers_add_to_last(filter, words, count, changed, status);
    if (*status < 0) return 0;
    for (size_t i = 0; i < count; i++) was_new[waiting->place[waiting->from + i]] = changed[i];
    waiting->from += count;
    return sum;
}

/* The last layer is full: keys that it has are old ones, and the first that it has not makes the filter grow. A filter of another
 * library may have nothing against more keys than it is rated for; then the key goes in alone. */
static size_t grow_for_waiting(petal_filter *filter, struct waiting *waiting, uint8_t *was_new, petal_status *status)
{
    uint32_t layers = filter->layer_count;
    ask_layers(filter, layers - 1, 1, waiting);
    if (waiting->from == waiting->to) return 0;
    *status = petal_filter_grow(filter);
    return *status >= 0 && filter->layer_count == layers ? add_waiting(filter, waiting, 1, was_new, status) : 0;
}

static size_t add_growing(petal_filter *filter, const uint64_t *words, size_t count, uint8_t *was_new,
                          petal_status *status)
{
    struct waiting waiting;
    size_t sum = 0;
    waiting.from = 0;
    waiting.to = count;
    memcpy(waiting.words, words, count * filter->hash->words * sizeof *words);
    for (size_t i = 0; i < count; i++) waiting.place[i] = (uint16_t)i;
    memset(was_new, 0, count);
    ask_layers(filter, 0, filter->layer_count - 1, &waiting);
    while (*status >= 0 && waiting.from < waiting.to) {
        uint64_t room = room_in_last(filter);
        sum += room ? add_waiting(filter, &waiting, room, was_new, status)
                    : grow_for_waiting(filter, &waiting, was_new, status);
    }
    return sum;
}

/* ---- rotating -------------------------------------------------------------------------------------------------------- */

/* As many as go into the newest generation as it is. */
static size_t add_generation(petal_filter *filter, const uint64_t *words, size_t count, uint8_t *was_new,
                             petal_status *status)
{
    uint8_t changed[PETAL_PIECE_WORDS];
    size_t sum = 0;
    petal_layers_contain(filter, filter->layer_count - 1, words, count, was_new);
    petal_layers_add_to_last(filter, words, count, changed, status);
    if (*status < 0) return 0;
    for (size_t i = 0; i < count; i++) sum += was_new[i] = changed[i] & !was_new[i];
    return sum;
}

static size_t add_rotating(petal_filter *filter, const uint64_t *words, size_t count, uint8_t *was_new,
                           petal_status *status)
{
    size_t sum = 0;
    uint64_t room = 0;
    memset(was_new, 0, count);
    *status = petal_filter_prepare_write(filter, NULL); /* before a generation is begun or dropped */
    for (size_t done = 0, part; *status >= 0 && done < count; done += part) {
        *status = petal_rotating_make_room(filter, &room);
        if (*status < 0) break;
        part = at_most(count - done, room);
        sum += add_generation(filter, words + done * filter->hash->words, part, was_new + done, status);
    }
    return sum;
}

size_t petal_layers_add(petal_filter *filter, const uint64_t *words, size_t count, uint8_t *was_new,
                        petal_status *status)
{
    if (petal_filter_rotates(filter)) return add_rotating(filter, words, count, was_new, status);
    return add_growing(filter, words, count, was_new, status);
}
