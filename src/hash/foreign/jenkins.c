/* jenkins.c - the 32-bit function hashlittle() from Bob Jenkins' lookup3 (2006, public domain),
 * implemented from its definition. Three lanes absorb twelve bytes at a time, and the last one to
 * twelve bytes receive a final mix. For an empty key, the result is the third lane's initial value.
 * Hadoop and HBase use this hash. */
#include "base/bytes.h"
#include "hash/foreign/hash32.h"

#define BLOCK_BYTES 12u

struct lanes {
    uint32_t a, b, c;
};

static inline struct lanes taken_up(struct lanes l, const uint8_t block[BLOCK_BYTES])
{
    return (struct lanes){l.a + load32le(block), l.b + load32le(block + 4),
                          l.c + load32le(block + 8)};
}

/* Adds the last one to twelve bytes, padded with zeros, to the lanes. */
static inline struct lanes tail_taken_up(struct lanes l, const uint8_t *at, size_t left)
{
    uint64_t low = load_tail64le(at, left < 8 ? left : 8);
    uint32_t high = left > 8 ? (uint32_t)load_tail64le(at + 8, left - 8) : 0;
    return (struct lanes){l.a + (uint32_t)low, l.b + (uint32_t)(low >> 32), l.c + high};
}

static inline struct lanes mixed(struct lanes l)
{
    l.a = (l.a - l.c) ^ rotl32(l.c, 4), l.c += l.b;
    l.b = (l.b - l.a) ^ rotl32(l.a, 6), l.a += l.c;
    l.c = (l.c - l.b) ^ rotl32(l.b, 8), l.b += l.a;
    l.a = (l.a - l.c) ^ rotl32(l.c, 16), l.c += l.b;
    l.b = (l.b - l.a) ^ rotl32(l.a, 19), l.a += l.c;
    l.c = (l.c - l.b) ^ rotl32(l.b, 4), l.b += l.a;
    return l;
}

static inline uint32_t finished(struct lanes l)
{
    l.c = (l.c ^ l.b) - rotl32(l.b, 14);
    l.a = (l.a ^ l.c) - rotl32(l.c, 11);
    l.b = (l.b ^ l.a) - rotl32(l.a, 25);
    l.c = (l.c ^ l.b) - rotl32(l.b, 16);
    l.a = (l.a ^ l.c) - rotl32(l.c, 4);
    l.b = (l.b ^ l.a) - rotl32(l.a, 14);
    return (l.c ^ l.b) - rotl32(l.b, 24);
}

static uint32_t jenkins(const void *data, size_t size_bytes, uint32_t seed)
{
    const uint8_t *at = data;
    uint32_t start = 0xdeadbeefu + (uint32_t)size_bytes + seed;
    struct lanes l = {start, start, start};
    if (size_bytes == 0) return l.c;
    for (; size_bytes > BLOCK_BYTES; size_bytes -= BLOCK_BYTES, at += BLOCK_BYTES)
        l = mixed(taken_up(l, at));
    return finished(tail_taken_up(l, at, size_bytes));
}

static void compute_hadoop(const struct hash_key *with, const void *data, size_t size_bytes,
                           uint64_t *words)
{
    hash32_chain(jenkins, with->hashes, data, size_bytes, words);
}

const struct hash_def petal_hash_hadoop_jenkins = {
    .id = PETAL_HASH_HADOOP_JENKINS, .name = "hadoop-jenkins", .compute = compute_hadoop};

static void compute_hbase(const struct hash_key *with, const void *data, size_t size_bytes,
                          uint64_t *words)
{
    hash32_pair(jenkins, with->seed, data, size_bytes, words);
}

const struct hash_def petal_hash_hbase_jenkins = {
    .id = PETAL_HASH_HBASE_JENKINS, .name = "hbase-jenkins", .words = 1, .compute = compute_hbase};
