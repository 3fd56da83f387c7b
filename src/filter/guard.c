/* guard.c - see guard.h. */
#include "filter/guard.h"

#include "base/bytes.h"
#include "base/error.h"
#include "filter/batch.h"
#include "filter/content.h"
#include "filter/permission.h"

/* ---- states of blocks ------------------------------------------------------------------------ */

/* The block states can change even if the filter is const: see failure.c. */
static _Atomic uint64_t *unchecked_of(const petal_filter *filter)
{
    return (_Atomic uint64_t *)(uintptr_t)&filter->unchecked;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the builtin stores through it */
void petal_guard_pass(const petal_filter *filter, uint8_t *block, enum block_state state)
{
    if (__atomic_exchange_n(block, (uint8_t)state, __ATOMIC_RELAXED) < BLOCK_CHECKED)
        atomic_fetch_sub_explicit(unchecked_of(filter), 1, memory_order_relaxed);
}

void petal_guard_pass_all(const petal_filter *filter, enum block_state state)
{
    for (uint32_t i = 0; i < filter->layer_count; i++) {
        const struct layer *layer = &filter->layers[i];
        uint64_t blocks = layer->blocks ? petal_block_count(&layer->array) : 0;
        for (uint64_t block = 0; block < blocks; block++)
            petal_guard_pass(filter, &layer->blocks[block], state);
    }
}

static inline bool is_sound(const uint8_t *blocks, uint64_t block)
{
    return __atomic_load_n(&blocks[block], __ATOMIC_RELAXED) >= BLOCK_CHECKED;
}

/* ---- one key --------------------------------------------------------------------------------- */

/* Consecutive positions are often in the same block, which then needs only one check. */
static petal_status check_places(const petal_filter *filter, uint32_t number, const uint64_t *hash,
                                 petal_error *error)
{
    uint64_t bytes[PETAL_MAX_HASHES];
    const struct layer *layer = &filter->layers[number];
    petal_status status = PETAL_OK;
    uint32_t count = filter->scheme->places(&layer->array, hash, bytes);
    for (uint32_t i = 0; status == PETAL_OK && i < count; i++) {
        uint64_t block = bytes[i] / PETAL_BLOCK_BYTES;
        if (!is_sound(layer->blocks, block))
            status = filter->store->check_block(filter, number, block, error);
    }
    return status;
}

/* Returns true if the layer answers the query, in which case no later layer is read. */
static bool answers(const petal_filter *filter, const struct layer *layer, const uint64_t *words)
{
    return filter->scheme->is_in_turn &&
           filter->kernel->take_turn(&layer->array, words) != TURN_NEXT;
}

petal_status petal_guard_check(const petal_filter *filter, const struct probe *probe,
                               petal_error *error)
{
    uint64_t own[PETAL_HASH_MAX_WORDS];
    petal_status status = PETAL_OK;
    bool is_answered = false;
    for (uint32_t i = 0; status == PETAL_OK && !is_answered && i < filter->layer_count; i++) {
        const struct layer *layer = &filter->layers[i];
        const uint64_t *words = petal_probe_words(filter, layer, probe, own);
        status = check_places(filter, i, words, error);
        is_answered = status == PETAL_OK && answers(filter, layer, words);
    }
    return status;
}

size_t petal_guard_check_piece(const petal_filter *filter, const uint64_t *words, size_t count,
                               petal_status *status, petal_error *error)
{
    size_t i = 0;
    for (; i < count; i++) {
        struct probe probe = {.words = words + i * filter->hash->words};
        *status = petal_guard_check(filter, &probe, error);
        if (*status != PETAL_OK) break;
    }
    return i;
}

petal_status petal_guard_check_all(const petal_filter *filter, petal_error *error)
{
    petal_status status = PETAL_OK;
    if (!petal_guard_is_up(filter)) return PETAL_OK;
    for (uint32_t i = 0; i < filter->layer_count; i++) {
        uint64_t blocks = petal_block_count(&filter->layers[i].array);
        for (uint64_t block = 0; status == PETAL_OK && block < blocks; block++)
            if (!is_sound(filter->layers[i].blocks, block))
                status = filter->store->check_block(filter, i, block, error);
    }
    return status;
}
