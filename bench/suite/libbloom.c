/* libbloom.c - jvirkki's libbloom, the C library in Debian: a classic filter with MurmurHash2,
 * sized by a rate. */
#include "bench.h"

#include <bloom.h>
#include <math.h>
#include <stdlib.h>

/* libbloom allocates -ln(rate) / (ln 2)^2 bits per key for a rate, so this file computes the rate
 * from the requested bits. libbloom's numbers of keys and bits are ints. */
static void *make(size_t keys, double bits_per_key)
{
    if (keys > INT32_MAX || (double)keys * bits_per_key >= INT32_MAX) return NULL;
    struct bloom *filter = malloc(sizeof *filter);
    if (filter && bloom_init(filter, (int)keys, exp(-bits_per_key * log(2) * log(2))) == 0)
        return filter;
    free(filter);
    return NULL;
}

static void add(void *filter, const struct keys *keys)
{
    for (size_t i = 0; i < keys->count; i++)
        bloom_add(filter, key_at(keys, i), (int)keys->key_bytes);
}

static size_t count_found(void *filter, const struct keys *keys)
{
    size_t found = 0;
    for (size_t i = 0; i < keys->count; i++)
        found += bloom_check(filter, key_at(keys, i), (int)keys->key_bytes) == 1;
    return found;
}

static size_t add_new(void *filter, const struct keys *keys)
{
    size_t added = 0;
    for (size_t i = 0; i < keys->count; i++)
        added += bloom_add(filter, key_at(keys, i), (int)keys->key_bytes) == 0;
    return added;
}

static double bits(void *filter)
{
    return ((struct bloom *)filter)->bits;
}

static void drop(void *filter)
{
    bloom_free(filter);
    free(filter);
}

const struct contender libbloom_contenders[] = {
    {"libbloom", 0, make, add, NULL, count_found, add_new, bits, drop},
    {.name = NULL},
};
