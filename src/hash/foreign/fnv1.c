/* fnv1.c - FNV-1, 64 bits (Fowler, Noll, Vo; public domain). For each byte, FNV-1 multiplies the
 * hash by the prime and then xors in the byte. The better-known FNV-1a xors first. DCSO's library
 * bloom uses FNV-1.
 *
 *     FNV-1("test") = 8c093f7e9fccbf69 */
#include "hash/hash.h"

#define OFFSET_BASIS 0xcbf29ce484222325u
#define PRIME 0x100000001b3u

static void compute(const struct hash_key *with, const void *data, size_t size_bytes,
                    uint64_t *words)
{
    (void)with;
    const uint8_t *at = data;
    uint64_t h = OFFSET_BASIS;
    for (size_t i = 0; i < size_bytes; i++) h = h * PRIME ^ at[i];
    words[0] = h;
}

const struct hash_def petal_hash_fnv1 = {
    .id = PETAL_HASH_FNV1, .name = "fnv1", .words = 1, .compute = compute};
