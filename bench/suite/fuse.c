/* fuse.c - binary fuse filters from FastFilter's xor_singleheader, 3-wise, with 8-bit and 16-bit
 * fingerprints: the most common library for such filters. Its keys are 64-bit numbers; other keys
 * are hashed with XXH3. The library removes duplicates itself. The number of bits per key is fixed,
 * regardless of the request. */
#include "bench.h"

#include <binaryfusefilter.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

struct filter {
    uint64_t *hashes; /* until finish */
    size_t count, room;
    binary_fuse8_t fuse8;
    binary_fuse16_t fuse16;
};

static inline uint64_t hash_of(const struct keys *keys, size_t i)
{
    uint64_t number;
    if (keys->key_bytes != 8) return XXH3_64bits(key_at(keys, i), keys->key_bytes);
    memcpy(&number, key_at(keys, i), sizeof number);
    return number;
}

static void *make(size_t keys, double bits_per_key)
{
    (void)bits_per_key;
    struct filter *made = keys <= UINT32_MAX ? calloc(1, sizeof *made) : NULL;
    if (!made) return NULL;
    made->room = keys;
    made->hashes = malloc(keys * sizeof *made->hashes);
    if (made->hashes) return made;
    free(made);
    return NULL;
}

static void add(void *memory, const struct keys *keys)
{
    struct filter *made = memory;
    for (size_t i = 0; i < keys->count && made->count < made->room; i++)
        made->hashes[made->count++] = hash_of(keys, i);
}

static void require_built(bool built)
{
    if (built) return;
    fprintf(stderr, "bench: binary fuse: the build failed, as its library says some do\n");
    exit(1);
}

/* Defines the functions for one fingerprint width: FUSE(8) and FUSE(16). */
#define FUSE(width) \
    static void finish##width(void *memory) \
    { \
        struct filter *made = memory; \
        uint32_t count = (uint32_t)made->count; \
        require_built(binary_fuse##width##_allocate(count, &made->fuse##width) && \
                      binary_fuse##width##_populate(made->hashes, count, &made->fuse##width)); \
        free(made->hashes); \
        made->hashes = NULL; \
    } \
    static size_t count_found##width(void *memory, const struct keys *keys) \
    { \
        const binary_fuse##width##_t filter = ((struct filter *)memory)->fuse##width; \
        size_t found = 0; \
        for (size_t i = 0; i < keys->count; i++) \
            found += binary_fuse##width##_contain(hash_of(keys, i), &filter); \
        return found; \
    } \
    static double bits##width(void *memory) \
    { \
        return 8.0 * (double)binary_fuse##width##_size_in_bytes( \
                         &((struct filter *)memory)->fuse##width); \
    } \
    static void drop##width(void *memory) \
    { \
        struct filter *made = memory; \
        free(made->hashes); \
        if (made->fuse##width.Fingerprints) binary_fuse##width##_free(&made->fuse##width); \
        free(made); \
    }

FUSE(8)
FUSE(16)

const struct contender INLINED(fuse)[] = {
    {"fuse 8" COMPILER, 0, make, add, finish8, count_found8, NULL, bits8, drop8},
    {"fuse 16" COMPILER, 0, make, add, finish16, count_found16, NULL, bits16, drop16},
    {.name = NULL},
};
