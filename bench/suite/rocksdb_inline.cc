/* rocksdb_inline.cc - the filter of rocksdb.cc at its best: FastLocalBloomImpl from
 * util/bloom_impl.h, inlined, without the rest of the library and with the cheapest good hash.
 * Building it needs RocksDB's sources (ROCKSDB_SOURCE=FOLDER). */
#include "bench.h"

/* RocksDB's own build also defines this macro. */
#define ROCKSDB_PLATFORM_POSIX
#define OS_LINUX
#include "util/bloom_impl.h"

#include <cstring>
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace
{

using rocksdb::FastLocalBloomImpl;

struct filter {
    uint32_t size_bytes;
    int probes;
    char *lines;
};

inline uint64_t hash_of(const uint8_t *key, size_t key_bytes)
{
    if (key_bytes != 8) return XXH3_64bits(key, key_bytes);
    uint64_t h;
    std::memcpy(&h, key, sizeof h);
    h = (h ^ h >> 33) * 0xff51afd7ed558ccdu;
    h = (h ^ h >> 33) * 0xc4ceb9fe1a85ec53u;
    return h ^ h >> 33;
}

inline uint32_t low(uint64_t hash)
{
    return static_cast<uint32_t>(hash);
}

inline uint32_t high(uint64_t hash)
{
    return static_cast<uint32_t>(hash >> 32);
}

void *make(size_t keys, double bits_per_key)
{
    double bytes = static_cast<double>(keys) * bits_per_key / 8;
    if (bytes >= 4e9) return nullptr;
    auto size = (static_cast<uint32_t>(bytes) / 64 + 1) * 64;
    int probes = FastLocalBloomImpl::ChooseNumProbes(static_cast<int>(bits_per_key * 1000));
    void *lines = take_pages(size, true);
    return lines ? new filter{size, probes, static_cast<char *>(lines)} : nullptr;
}

void add(void *memory, const struct keys *keys)
{
    filter f = *static_cast<filter *>(memory);
    for (size_t i = 0; i < keys->count; i++) {
        uint64_t hash = hash_of(key_at(keys, i), keys->key_bytes);
        FastLocalBloomImpl::AddHash(low(hash), high(hash), f.size_bytes, f.probes, f.lines);
    }
}

size_t count_found(void *memory, const struct keys *keys)
{
    filter f = *static_cast<filter *>(memory);
    size_t found = 0;
    for (size_t i = 0; i < keys->count; i++) {
        uint64_t hash = hash_of(key_at(keys, i), keys->key_bytes);
        found += FastLocalBloomImpl::HashMayMatch(low(hash), high(hash), f.size_bytes, f.probes,
                                                  f.lines);
    }
    return found;
}

constexpr size_t batch = 32;

/* Works like RocksDB's readers for MultiGet, which first hash and prefetch all keys in a batch. */
size_t count_found_batch(void *memory, const struct keys *keys)
{
    filter f = *static_cast<filter *>(memory);
    uint32_t hashes[batch], offsets[batch];
    size_t found = 0;
    for (size_t from = 0; from < keys->count; from += batch) {
        size_t count = keys->count - from < batch ? keys->count - from : batch;
        for (size_t i = 0; i < count; i++) {
            uint64_t hash = hash_of(key_at(keys, from + i), keys->key_bytes);
            FastLocalBloomImpl::PrepareHash(low(hash), f.size_bytes, f.lines, &offsets[i]);
            hashes[i] = high(hash);
        }
        for (size_t i = 0; i < count; i++)
            found +=
                FastLocalBloomImpl::HashMayMatchPrepared(hashes[i], f.probes, f.lines + offsets[i]);
    }
    return found;
}

double bits(void *memory)
{
    return 8.0 * static_cast<filter *>(memory)->size_bytes;
}

void drop(void *memory)
{
    filter *f = static_cast<filter *>(memory);
    drop_pages(f->lines, f->size_bytes);
    delete f;
}

} // namespace

extern "C" const struct contender INLINED(rocksdb_inline)[] = {
    {"rocksdb inline one" COMPILER, 0, make, add, nullptr, count_found, nullptr, bits, drop},
    {"rocksdb inline batch" COMPILER, 0, make, add, nullptr, count_found_batch, nullptr, bits, drop},
    {},
};
