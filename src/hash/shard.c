/* shard.c - chooses a key's shard when a set is divided among N filters. See docs/format.md,
 * "Shards".
 *
 *     shard = mulhi64(fmix64(fmix64(g)), N),   g = XXH3_64bits(key, 0)
 *
 * The shard must be independent of the key's position in its filter. Otherwise the keys of a shard
 * would cluster in one part of the filter. The high bits of g choose the line, or the first
 * position. The high bits of fmix64(g) choose the second line in a filter with two lines per key.
 * So the shard is computed with a second round of mixing. */
#include "base/bytes.h"
#include "hash/hash.h"
#include "petal/petal_host.h"

uint32_t petal_shard_of_hash(uint64_t hash, uint32_t shards)
{
    return (uint32_t)mulhi64(fmix64(fmix64(hash)), shards);
}

uint32_t petal_shard_of(const void *key, size_t key_bytes, uint32_t shards)
{
    return petal_shard_of_hash(petal_xxh3(key, key_bytes, 0), shards);
}
