/* orc_hash.c - the two hashes in the Bloom filters of Apache ORC and Hive.
 *
 * Byte strings are hashed with a single lane of MurmurHash3 x64 128 and seed 104729. The tail's
 * bytes are unsigned. Longs are hashed with Thomas Wang's 64-bit mix, but with arithmetic shifts
 * (Java's >>), so half of all values hash differently than in Wang's original. Integers, dates and
 * timestamps are hashed as longs. A double is hashed as the long with the same bits.
 *
 *     The long -1 has the hash 6614246905173314819, and 790302201 has 1499534499340523007 (from
 *     ORC's own tests). */
#include "base/bytes.h"
#include "hash/hash.h"

#define SEED 104729u
#define C1 0x87c37b91114253d5u
#define C2 0x4cf5ad432745937fu

static inline uint64_t mix(uint64_t word)
{
    return rotl64(word * C1, 31) * C2;
}

static void compute_bytes(const struct hash_key *with, const void *data, size_t size_bytes,
                          uint64_t *words)
{
    (void)with;
    const uint8_t *at = data;
    size_t left = size_bytes;
    uint64_t h = SEED;
    for (; left >= 8; left -= 8, at += 8) h = rotl64(h ^ mix(load64le(at)), 27) * 5 + 0x52dce729u;
    /* Mixing in a zero tail doesn't change the hash. */
    words[0] = fmix64(h ^ mix(load_tail64le(at, left)) ^ size_bytes);
}

const struct hash_def petal_hash_orc = {
    .id = PETAL_HASH_ORC, .name = "murmur3-orc", .words = 1, .compute = compute_bytes};

/* Returns Java's x >> by, which is an arithmetic shift. */
static inline uint64_t shift_signed(uint64_t x, unsigned by)
{
    return x >> by | (x >> 63 ? ~(UINT64_MAX >> by) : 0);
}

static uint64_t hash_of_long(uint64_t x)
{
    x = ~x + (x << 21);
    x ^= shift_signed(x, 24);
    x *= 265;
    x ^= shift_signed(x, 14);
    x *= 21;
    x ^= shift_signed(x, 28);
    return x + (x << 31);
}

/* Hashes a little-endian 8-byte integer, or a 4-byte integer, which is sign-extended. A key of any
 * other size is not an integer, so it is hashed as bytes. */
static void compute_long(const struct hash_key *with, const void *data, size_t size_bytes,
                         uint64_t *words)
{
    if (size_bytes == 8)
        words[0] = hash_of_long(load64le(data));
    else if (size_bytes == 4)
        words[0] = hash_of_long((uint64_t)(int64_t)(int32_t)load32le(data));
    else
        compute_bytes(with, data, size_bytes, words);
}

const struct hash_def petal_hash_orc_long = {
    .id = PETAL_HASH_ORC_LONG, .name = "wang-orc", .words = 1, .compute = compute_long};
