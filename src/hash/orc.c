/* orc.c - the two hashes of Apache ORC's (and Hive's) Bloom filters.
 *
 * Bytes: one of the two lanes of MurmurHash3 x64 128 as a 64-bit hash of its own, seed 104729; the tail's bytes are unsigned.
 * Longs: Thomas Wang's 64-bit mix, but with arithmetic shifts (Java's >>), so that it differs from Wang's for half of the
 * values. Integers, dates and timestamps are hashed as longs, doubles as the long of the same bits.
 *
 *     hash of the long -1 is 6614246905173314819, of 790302201 it is 1499534499340523007 (ORC's own tests) */
#include "base/bytes.h"
#include "hash/hash.h"

#define SEED 104729u
#define C1 0x87c37b91114253d5u
#define C2 0x4cf5ad432745937fu

static inline uint64_t mix(uint64_t word)
{
    return rotl64(word * C1, 31) * C2;
}

uint64_t petal_orc_of_bytes(const void *data, size_t size_bytes)
{
    const uint8_t *at = data;
    size_t left = size_bytes;
    uint64_t h = SEED;
    for (; left >= 8; left -= 8, at += 8) h = rotl64(h ^ mix(load64le(at)), 27) * 5 + 0x52dce729u;
    return fmix64(h ^ mix(load_tail64le(at, left)) ^ size_bytes); /* mixing zero changes nothing */
}

/* Java's x >> by: the sign fills up. */
static inline uint64_t shift_signed(uint64_t x, unsigned by)
{
    return x >> by | (x >> 63 ? ~(UINT64_MAX >> by) : 0);
}

uint64_t petal_orc_of_long(uint64_t x)
{
    x = ~x + (x << 21);
    x ^= shift_signed(x, 24);
    x *= 265;
    x ^= shift_signed(x, 14);
    x *= 21;
    x ^= shift_signed(x, 28);
    return x + (x << 31);
}
