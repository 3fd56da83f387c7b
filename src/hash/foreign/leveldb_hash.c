/* leveldb_hash.c - the 32-bit hash of LevelDB's Bloom filters, similar to MurmurHash. Each group of
 * four bytes is a little-endian word. Up to three remaining bytes, which are unsigned, form one
 * more word. (RocksDB's hash is the same, except that it sign-extends the remaining bytes.) */
#include "base/bytes.h"
#include "hash/hash.h"

#define MULTIPLIER 0xc6a4a793u
#define SEED 0xbc9f1d34u

static uint32_t hash(const void *data, size_t size_bytes)
{
    const uint8_t *at = data;
    size_t left = size_bytes;
    uint32_t h = SEED ^ (uint32_t)size_bytes * MULTIPLIER;
    for (; left >= 4; left -= 4, at += 4) {
        h = (h + load32le(at)) * MULTIPLIER;
        h ^= h >> 16;
    }
    if (left == 0) return h;
    h = (h + (uint32_t)load_tail64le(at, left)) * MULTIPLIER;
    return h ^ h >> 24;
}

static void compute(const struct hash_key *with, const void *data, size_t size_bytes,
                    uint64_t *words)
{
    (void)with;
    words[0] = hash(data, size_bytes);
}

const struct hash_def petal_hash_leveldb = {
    .id = PETAL_HASH_LEVELDB, .name = "murmur-leveldb", .words = 1, .compute = compute};
