/* rocksdb.cc - RocksDB's Bloom filter for table format 5 (FastLocalBloom) through its library,
 * librocksdb, as a table's builder and reader call it: one key per call, and in batches of 32 like
 * MultiGet's.
 *
 * The policy is public, but since RocksDB 7.0 the classes that it returns aren't. So this file
 * declares FilterBitsBuilder and FilterBitsReader as version 7.8 does (the virtual functions must
 * be in the same order), and CMake uses this file only for that version. */
#include "bench.h"

#include <rocksdb/filter_policy.h>
#include <rocksdb/slice.h>
#include <rocksdb/status.h>
#include <rocksdb/table.h>
#include <rocksdb/version.h>

#include <memory>

#if ROCKSDB_MAJOR != 7 || ROCKSDB_MINOR != 8
#error "the classes below are those of RocksDB 7.8"
#endif

namespace rocksdb
{

class FilterBitsBuilder
{
  public:
    virtual ~FilterBitsBuilder() = default;
    virtual void AddKey(const Slice &key) = 0;
    virtual size_t EstimateEntriesAdded() = 0;
    virtual Slice Finish(std::unique_ptr<const char[]> *bytes) = 0;
    virtual Slice Finish(std::unique_ptr<const char[]> *bytes, Status *status) = 0;
    virtual Status MaybePostVerify(const Slice &filter) = 0;
    virtual size_t ApproximateNumEntries(size_t bytes) = 0;
};

class FilterBitsReader
{
  public:
    virtual ~FilterBitsReader() = default;
    virtual bool MayMatch(const Slice &key) = 0;
    virtual void MayMatch(int count, Slice **keys, bool *found) = 0;
};

} // namespace rocksdb

namespace
{

using namespace rocksdb;

struct filter {
    std::unique_ptr<const FilterPolicy> policy;
    BlockBasedTableOptions table;
    std::unique_ptr<FilterBitsBuilder> builder;
    std::unique_ptr<const char[]> bytes;
    Slice built;
    std::unique_ptr<FilterBitsReader> reader;
};

Slice slice_at(const struct keys *keys, size_t i)
{
    return {reinterpret_cast<const char *>(key_at(keys, i)), keys->key_bytes};
}

void *make_by(const FilterPolicy *policy)
{
    auto made = std::make_unique<filter>();
    made->policy.reset(policy);
    made->table.format_version = 5;
    made->builder.reset(made->policy->GetBuilderWithContext(FilterBuildingContext(made->table)));
    return made->builder ? made.release() : nullptr;
}

/* RocksDB creates filters of at most 4 GiB. */
bool fits(size_t keys, double bits_per_key)
{
    return static_cast<double>(keys) * bits_per_key / 8 < 4e9;
}

void *make(size_t keys, double bits_per_key)
{
    return fits(keys, bits_per_key) ? make_by(NewBloomFilterPolicy(bits_per_key)) : nullptr;
}

/* Ribbon filters are configured by the bits per key of a Bloom filter with the same rate; they need
 * 30 % fewer bits. */
void *make_ribbon(size_t keys, double bits_per_key)
{
    return fits(keys, bits_per_key) ? make_by(NewRibbonFilterPolicy(bits_per_key, -1)) : nullptr;
}

void add(void *memory, const struct keys *keys)
{
    auto *builder = static_cast<filter *>(memory)->builder.get();
    for (size_t i = 0; i < keys->count; i++) builder->AddKey(slice_at(keys, i));
}

void finish(void *memory)
{
    auto *made = static_cast<filter *>(memory);
    made->built = made->builder->Finish(&made->bytes);
    made->reader.reset(made->policy->GetFilterBitsReader(made->built));
    made->builder.reset();
}

size_t count_found(void *memory, const struct keys *keys)
{
    auto *reader = static_cast<filter *>(memory)->reader.get();
    size_t found = 0;
    for (size_t i = 0; i < keys->count; i++) found += reader->MayMatch(slice_at(keys, i));
    return found;
}

constexpr size_t batch = 32;

size_t count_found_batch(void *memory, const struct keys *keys)
{
    auto *reader = static_cast<filter *>(memory)->reader.get();
    Slice slices[batch], *pointers[batch];
    bool is_in[batch];
    size_t found = 0;
    for (size_t i = 0; i < batch; i++) pointers[i] = &slices[i];
    for (size_t from = 0; from < keys->count; from += batch) {
        size_t count = keys->count - from < batch ? keys->count - from : batch;
        for (size_t i = 0; i < count; i++) slices[i] = slice_at(keys, from + i);
        reader->MayMatch(static_cast<int>(count), pointers, is_in);
        for (size_t i = 0; i < count; i++) found += is_in[i];
    }
    return found;
}

double bits(void *memory)
{
    return 8.0 * static_cast<double>(static_cast<filter *>(memory)->built.size());
}

void drop(void *memory)
{
    delete static_cast<filter *>(memory);
}

} // namespace

extern "C" const struct contender rocksdb_contenders[] = {
    {"rocksdb one", 0, make, add, finish, count_found, nullptr, bits, drop},
    {"rocksdb batch", 0, make, add, finish, count_found_batch, nullptr, bits, drop},
    {"rocksdb ribbon one", 0, make_ribbon, add, finish, count_found, nullptr, bits, drop},
    {"rocksdb ribbon batch", 0, make_ribbon, add, finish, count_found_batch, nullptr, bits, drop},
    {},
};
