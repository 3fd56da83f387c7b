/* leveldb.cc - LevelDB's Bloom filter through its library, libleveldb. A policy creates a filter
 * from all keys in one call, so the keys are collected first. Collecting them counts as adding, as
 * in a table builder. */
#include "bench.h"

#include <leveldb/filter_policy.h>
#include <leveldb/slice.h>

#include <memory>
#include <string>
#include <vector>

namespace
{

struct filter {
    std::unique_ptr<const leveldb::FilterPolicy> policy;
    std::vector<leveldb::Slice> keys;
    std::string bytes;
};

leveldb::Slice slice_at(const struct keys *keys, size_t i)
{
    return {reinterpret_cast<const char *>(key_at(keys, i)), keys->key_bytes};
}

/* Keys must stay in place until the filter is built, which rounds.c ensures for up to 10^7 keys.
 * LevelDB accepts only whole numbers of bits per key. */
void *make(size_t keys, double bits_per_key)
{
    if (keys > 10000000) return nullptr;
    auto made = std::make_unique<filter>();
    made->policy.reset(leveldb::NewBloomFilterPolicy(static_cast<int>(bits_per_key)));
    made->keys.reserve(keys);
    return made.release();
}

void add(void *memory, const struct keys *keys)
{
    auto &list = static_cast<filter *>(memory)->keys;
    for (size_t i = 0; i < keys->count; i++) list.push_back(slice_at(keys, i));
}

void finish(void *memory)
{
    auto *made = static_cast<filter *>(memory);
    made->policy->CreateFilter(made->keys.data(), static_cast<int>(made->keys.size()),
                               &made->bytes);
    std::vector<leveldb::Slice>().swap(made->keys);
}

size_t count_found(void *memory, const struct keys *keys)
{
    auto *made = static_cast<filter *>(memory);
    leveldb::Slice bytes(made->bytes);
    size_t found = 0;
    for (size_t i = 0; i < keys->count; i++)
        found += made->policy->KeyMayMatch(slice_at(keys, i), bytes);
    return found;
}

double bits(void *memory)
{
    return 8.0 * static_cast<double>(static_cast<filter *>(memory)->bytes.size());
}

void drop(void *memory)
{
    delete static_cast<filter *>(memory);
}

} // namespace

extern "C" const struct contender leveldb_contenders[] = {
    {"leveldb one", 0, make, add, finish, count_found, nullptr, bits, drop},
    {},
};
