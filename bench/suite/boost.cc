/* boost.cc - Boost.Bloom (1.89 and newer) in its fastest settings: one key per call and in bulk,
 * with malloc (the default) and in 2 MB pages, which Petal requests.
 *
 * `call` passes one key per function call, as to a library: the argument is a number, or an
 * address's start and length. `one` has an advantage: its loop and the length of addresses are
 * compiled into the program.
 *
 * fm32 is fast_multiblock32 with a stride of one byte, and fm64 is fast_multiblock64, with one AVX2
 * or NEON register per block. The number of bits set per key (K) depends on the bits of memory per
 * key: 7 for up to 11 bits, 8 for up to 18, and otherwise 11. Numbers are hashed with Boost's own
 * hash, text with XXH3. */
#include "bench.h"

#include <boost/bloom/fast_multiblock32.hpp>
#include <boost/bloom/fast_multiblock64.hpp>
#include <boost/bloom/filter.hpp>

#include <cstddef>
#include <memory>
#include <string_view>
#include <type_traits>
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace
{

/* A string with the fixed length of the benchmark's addresses. */
struct address {
    char text[28];
};

struct address_hash {
    using is_avalanching = std::true_type;
    std::size_t operator()(const address &key) const
    {
        return XXH3_64bits(key.text, sizeof key.text);
    }
};

struct text_hash {
    using is_avalanching = std::true_type;
    std::size_t operator()(std::string_view key) const
    {
        return XXH3_64bits(key.data(), key.size());
    }
};

template <typename T> struct huge_pages {
    using value_type = T;
    huge_pages() = default;
    template <typename U> huge_pages(const huge_pages<U> &)
    {
    }
    T *allocate(std::size_t count)
    {
        void *memory = take_pages(count * sizeof(T), true);
        if (!memory) throw std::bad_alloc();
        return static_cast<T *>(memory);
    }
    void deallocate(T *memory, std::size_t count)
    {
        drop_pages(memory, count * sizeof(T));
    }
    bool operator==(const huge_pages &) const
    {
        return true;
    }
    bool operator!=(const huge_pages &) const
    {
        return false;
    }
};

/* A contender's filter: one of several types, chosen by the key type and K. */
struct any_filter {
    virtual ~any_filter() = default;
    virtual void add(const struct keys *keys) = 0;
    virtual std::size_t count_found(const struct keys *keys) = 0;
    virtual std::size_t add_new(const struct keys *keys) = 0;
    virtual double bits() = 0;
};

/* How the contender receives its keys; bulk8 means eight at a time. */
enum class way { one, call, bulk, bulk8 };

template <typename Key, typename Hash, typename Block, std::size_t Stride, typename Allocator,
          way Way>
struct filter_of final : any_filter {
    boost::bloom::filter<Key, 1, Block, Stride, Hash, Allocator> filter;

    explicit filter_of(std::size_t bits) : filter(bits)
    {
    }

    static const Key *first(const struct keys *keys)
    {
        return reinterpret_cast<const Key *>(keys->bytes);
    }

    /* Returns the end of the next piece of keys that is processed in bulk. */
    static const Key *piece_end(const Key *key, const Key *end)
    {
        return Way == way::bulk8 && end - key > 8 ? key + 8 : end;
    }

    void add(const struct keys *keys) override
    {
        const Key *key = first(keys), *end = key + keys->count;
        if (Way == way::one)
            for (; key != end; key++) filter.insert(*key);
        else
            for (const Key *to; key != end; key = to) {
                to = piece_end(key, end);
                filter.insert(key, to);
            }
    }

    std::size_t count_found(const struct keys *keys) override
    {
        const Key *key = first(keys), *end = key + keys->count;
        std::size_t found = 0;
        if (Way == way::one)
            for (; key != end; key++) found += filter.may_contain(*key);
        else
            for (const Key *to; key != end; key = to) {
                to = piece_end(key, end);
                filter.may_contain(key, to, [&found](const Key &, bool is_in) { found += is_in; });
            }
        return found;
    }

    std::size_t add_new(const struct keys *keys) override
    {
        const Key *key = first(keys), *end = key + keys->count;
        std::size_t added = 0;
        for (; key != end; key++) {
            added += !filter.may_contain(*key);
            filter.insert(*key);
        }
        return added;
    }

    double bits() override
    {
        return static_cast<double>(filter.capacity());
    }
};

/* Returns the ith key in the form that a caller would use: a number or a string. */
template <typename Key> Key given(const struct keys *keys, std::size_t i);
template <> std::uint64_t given(const struct keys *keys, std::size_t i)
{
    return reinterpret_cast<const std::uint64_t *>(keys->bytes)[i];
}
template <> std::string_view given(const struct keys *keys, std::size_t i)
{
    return {reinterpret_cast<const char *>(key_at(keys, i)), keys->key_bytes};
}

template <typename Key, typename Hash, typename Block, std::size_t Stride, typename Allocator>
struct filter_of<Key, Hash, Block, Stride, Allocator, way::call> final : any_filter {
    boost::bloom::filter<Key, 1, Block, Stride, Hash, Allocator> filter;

    explicit filter_of(std::size_t bits) : filter(bits)
    {
    }

    __attribute__((noinline)) void insert(Key key)
    {
        filter.insert(key);
    }

    __attribute__((noinline)) bool may_contain(Key key) const
    {
        return filter.may_contain(key);
    }

    void add(const struct keys *keys) override
    {
        for (std::size_t i = 0; i < keys->count; i++) insert(given<Key>(keys, i));
    }

    std::size_t count_found(const struct keys *keys) override
    {
        std::size_t found = 0;
        for (std::size_t i = 0; i < keys->count; i++) found += may_contain(given<Key>(keys, i));
        return found;
    }

    std::size_t add_new(const struct keys *keys) override
    {
        std::size_t added = 0;
        for (std::size_t i = 0; i < keys->count; i++) {
            added += !may_contain(given<Key>(keys, i));
            insert(given<Key>(keys, i));
        }
        return added;
    }

    double bits() override
    {
        return static_cast<double>(filter.capacity());
    }
};

/* The key type is unknown until the first keys arrive. */
template <template <std::size_t> class Block, std::size_t Stride, typename Allocator, way Way>
struct lazy_filter {
    std::size_t keys;
    double bits_per_key;
    std::unique_ptr<any_filter> filter;

    template <typename Key, typename Hash> any_filter *make() const
    {
        auto bits = static_cast<std::size_t>(static_cast<double>(keys) * bits_per_key);
        if (bits_per_key < 11.5)
            return new filter_of<Key, Hash, Block<7>, Stride, Allocator, Way>(bits);
        if (bits_per_key < 18.5)
            return new filter_of<Key, Hash, Block<8>, Stride, Allocator, Way>(bits);
        return new filter_of<Key, Hash, Block<11>, Stride, Allocator, Way>(bits);
    }

    any_filter *of(const struct keys *list)
    {
        if (filter) return filter.get();
        if (list->key_bytes == 8)
            filter.reset(make<std::uint64_t, boost::hash<std::uint64_t>>());
        else if constexpr (Way == way::call)
            filter.reset(make<std::string_view, text_hash>());
        else
            filter.reset(make<address, address_hash>());
        return filter.get();
    }
};

template <template <std::size_t> class Block, std::size_t Stride, typename Allocator, way Way>
constexpr struct contender row(const char *name)
{
    using lazy = lazy_filter<Block, Stride, Allocator, Way>;
    return {
        name,
        0,
        [](size_t keys, double bits_per_key) -> void * {
            return new lazy{keys, bits_per_key, nullptr};
        },
        [](void *filter, const struct keys *keys) {
            static_cast<lazy *>(filter)->of(keys)->add(keys);
        },
        nullptr,
        [](void *filter, const struct keys *keys) {
            return static_cast<lazy *>(filter)->of(keys)->count_found(keys);
        },
        [](void *filter, const struct keys *keys) {
            return static_cast<lazy *>(filter)->of(keys)->add_new(keys);
        },
        [](void *filter) { return static_cast<lazy *>(filter)->filter->bits(); },
        [](void *filter) { delete static_cast<lazy *>(filter); },
    };
}

template <std::size_t K> using block32 = boost::bloom::fast_multiblock32<K>;
template <std::size_t K> using block64 = boost::bloom::fast_multiblock64<K>;
using small = std::allocator<unsigned char>;
using huge = huge_pages<unsigned char>;

} // namespace

extern "C" const struct contender INLINED(boost)[] = {
    row<block32, 1, small, way::one>("boost fm32 one" COMPILER),
    row<block32, 1, small, way::call>("boost fm32 call" COMPILER),
    row<block32, 1, small, way::bulk>("boost fm32 bulk" COMPILER),
    row<block32, 1, small, way::bulk8>("boost fm32 bulk 8" COMPILER),
    row<block32, 1, huge, way::one>("boost fm32 one 2M" COMPILER),
    row<block32, 1, huge, way::bulk>("boost fm32 bulk 2M" COMPILER),
    row<block64, 0, small, way::one>("boost fm64 one" COMPILER),
    row<block64, 0, small, way::call>("boost fm64 call" COMPILER),
    row<block64, 0, small, way::bulk>("boost fm64 bulk" COMPILER),
    row<block64, 0, small, way::bulk8>("boost fm64 bulk 8" COMPILER),
    row<block64, 0, huge, way::bulk>("boost fm64 bulk 2M" COMPILER),
    {},
};
