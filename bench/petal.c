/* petal.c - Petal's own contenders: both schemes, one key a call and in batches. */
#include "bench.h"

#include <petal/petal.h>

#include <stdlib.h>

static void *make(petal_scheme scheme, size_t keys, double bits_per_key)
{
    petal_options options = PETAL_OPTIONS_INIT;
    petal_filter *filter;
    options.scheme = scheme;
    options.capacity = keys;
    options.bits = (uint64_t)((double)keys * bits_per_key);
    return petal_create(&options, &filter, NULL) == PETAL_OK ? filter : NULL;
}

static void *make_blocked(size_t keys, double bits_per_key)
{
    return make(PETAL_SCHEME_BLOCKED, keys, bits_per_key);
}

static void *make_classic(size_t keys, double bits_per_key)
{
    return make(PETAL_SCHEME_CLASSIC, keys, bits_per_key);
}

static void add(void *filter, const struct keys *keys)
{
    for (size_t i = 0; i < keys->count; i++) petal_add(filter, key_at(keys, i), keys->key_bytes);
}

static size_t count_found(void *filter, const struct keys *keys)
{
    size_t found = 0;
    for (size_t i = 0; i < keys->count; i++) found += petal_contains(filter, key_at(keys, i), keys->key_bytes);
    return found;
}

/* Keys are handed over in pieces, as a program that reads a stream would. */
#define PIECE 1024u

static size_t fill_piece(const struct keys *keys, size_t from, petal_key piece[PIECE])
{
    size_t count = keys->count - from < PIECE ? keys->count - from : PIECE;
    for (size_t i = 0; i < count; i++) piece[i] = (petal_key){key_at(keys, from + i), keys->key_bytes};
    return count;
}

static void add_batch(void *filter, const struct keys *keys)
{
    petal_key piece[PIECE];
    for (size_t from = 0; from < keys->count; from += PIECE)
        petal_add_many(filter, piece, fill_piece(keys, from, piece), NULL, NULL);
}

static size_t count_found_batch(void *filter, const struct keys *keys)
{
    petal_key piece[PIECE];
    size_t found = 0;
    for (size_t from = 0; from < keys->count; from += PIECE)
        found += petal_contains_many(filter, piece, fill_piece(keys, from, piece), NULL);
    return found;
}

/* The same keys as numbers: for keys of 8 bytes only. */
static void *make_for_numbers(size_t keys, double bits_per_key)
{
    return make_blocked(keys, bits_per_key);
}

static void add_numbers(void *filter, const struct keys *keys)
{
    if (keys->key_bytes == 8)
        petal_add_many_i64(filter, (const int64_t *)(const void *)keys->bytes, keys->count, NULL, NULL);
    else
        add_batch(filter, keys);
}

static size_t count_found_numbers(void *filter, const struct keys *keys)
{
    if (keys->key_bytes != 8) return count_found_batch(filter, keys);
    return petal_contains_many_i64(filter, (const int64_t *)(const void *)keys->bytes, keys->count, NULL);
}

static double bits(void *filter)
{
    petal_info info = PETAL_INFO_INIT;
    petal_get_info(filter, &info, NULL);
    return (double)info.bits;
}

static void drop(void *filter)
{
    petal_free(filter);
}

const struct contender petal_blocked_single = {"petal blocked", make_blocked, add, count_found, bits, drop};
const struct contender petal_blocked_batch = {"petal blocked, batch", make_blocked, add_batch,
                                              count_found_batch,      bits,         drop};
const struct contender petal_classic_single = {"petal classic", make_classic, add, count_found, bits, drop};
const struct contender petal_classic_batch = {"petal classic, batch", make_classic, add_batch,
                                              count_found_batch,      bits,         drop};
const struct contender petal_blocked_numbers = {
    "petal blocked, numbers", make_for_numbers, add_numbers, count_found_numbers, bits, drop};
