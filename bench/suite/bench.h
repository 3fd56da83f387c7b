/* bench.h - a contender is one filter of one library, called in one way; rounds.c runs all of them
 * in turn.
 *
 * To add one, write a row in its library's table (one file each), with plain loops over the keys.
 * If the library is C++, the loops are C++ too, so that its templates are inlined. */
#ifndef PETAL_BENCH_H
#define PETAL_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Keys of one kind, consecutive in memory: 8 bytes, or the 28 characters of an address. */
struct keys {
    const uint8_t *bytes;
    size_t key_bytes; /* of each */
    size_t count;
};

static inline const uint8_t *key_at(const struct keys *keys, size_t i)
{
    return keys->bytes + i * keys->key_bytes;
}

/* 8-byte keys are 8-byte aligned. */
static inline const int64_t *as_numbers(const struct keys *keys)
{
    return (const int64_t *)(const void *)keys->bytes;
}

enum { FLOOR = 1, NUMBERS_ONLY = 2 };

struct contender {
    const char *name;
    /* FLOOR: not a filter, but the machine's time for the memory access or the hash alone */
    unsigned flags;
    /* Creates an empty filter for that many keys at that many bits per key; NULL if that is
     * impossible. */
    void *(*make)(size_t keys, double bits_per_key);
    void (*add)(void *filter, const struct keys *keys);
    void (*finish)(void *filter); /* after the last add; NULL if there is nothing to do */
    size_t (*count_found)(void *filter, const struct keys *keys);
    size_t (*add_new)(
        void *filter,
        const struct keys *keys); /* adds, and counts absent ones; NULL if unsupported */
    double (*bits)(void *filter);
    void (*drop)(void *filter);
};

/* What a compiler inlines can make the code up to five times as fast. So CMakeLists.txt compiles
 * such a source twice, with the build's compiler and with clang; clang's contenders have other
 * names. */
#ifdef BENCH_CLANG
#define INLINED(library) library##_clang_contenders
#define COMPILER " (clang)"
#else
#define INLINED(library) library##_contenders
#define COMPILER ""
#endif

/* Each table ends with a row without a name. If a library was not found, its table is not linked:
 * see CMakeLists.txt here. */
extern const struct contender libbloom_contenders[], petal_contenders[], rocksdb_contenders[],
    leveldb_contenders[], floor_contenders[];
extern const struct contender petal_inline_contenders[], petal_inline_clang_contenders[];
extern const struct contender split_block_contenders[], split_block_clang_contenders[];
extern const struct contender boost_contenders[], boost_clang_contenders[];
extern const struct contender rocksdb_inline_contenders[], rocksdb_inline_clang_contenders[];
extern const struct contender fuse_contenders[], fuse_clang_contenders[];

/* Sets options.hashes (of a petal_options) to Petal's choice, computed once per size: other
 * libraries get their k at compile time, and choosing takes longer than adding 10,000 keys. */
void choose_hashes(void *options);

/* Zeroed memory in 2 MB pages (if `huge`, and the system has them) or 4 KB ones, for arrays of at
 * least 4 MB. Smaller arrays get plain memory, because page size makes no difference to them. NULL
 * if memory runs out. */
void *take_pages(size_t size_bytes, bool huge);
void drop_pages(void *memory, size_t size_bytes);

#ifdef __cplusplus
}
#endif

#endif
