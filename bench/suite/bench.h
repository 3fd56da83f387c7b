/* bench.h - the interface for contenders. A contender is one filter of one library, called in one
 * way; rounds.c runs all contenders in turn.
 *
 * To add a contender, write a row in its library's table (one file per library), with plain loops
 * over the keys. Write the loops in C++ if the library is C++, so that its templates are
 * inlined. */
#ifndef PETAL_BENCH_H
#define PETAL_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Keys of one type, consecutive in memory. A key is an 8-byte number or a 28-character address. */
struct keys {
    const uint8_t *bytes;
    size_t key_bytes; /* of each */
    size_t count;
};

static inline const uint8_t *key_at(const struct keys *keys, size_t i)
{
    return keys->bytes + i * keys->key_bytes;
}

/* Returns the keys as numbers, which is allowed because 8-byte keys are 8-byte aligned. */
static inline const int64_t *as_numbers(const struct keys *keys)
{
    return (const int64_t *)(const void *)keys->bytes;
}

enum { FLOOR = 1, NUMBERS_ONLY = 2 };

struct contender {
    const char *name;
    /* FLOOR marks a measurement of the machine instead of a filter: only the memory access, or only
     * the hash. */
    unsigned flags;
    /* Creates an empty filter for `keys` keys with `bits_per_key` bits per key. Returns NULL if
     * that is impossible. */
    void *(*make)(size_t keys, double bits_per_key);
    void (*add)(void *filter, const struct keys *keys);
    void (*finish)(void *filter); /* called after the last add; may be NULL */
    size_t (*count_found)(void *filter, const struct keys *keys);
    size_t (*add_new)(
        void *filter,
        const struct keys *keys); /* returns the number of new keys; NULL if unsupported */
    double (*bits)(void *filter);
    void (*drop)(void *filter);
};

/* A compiler's inlining decisions can make code up to five times as fast. So CMakeLists.txt
 * compiles each source with inlined code twice, with the build's compiler and with clang. The names
 * of contenders built with clang end in " (clang)". */
#ifdef BENCH_CLANG
#define INLINED(library) library##_clang_contenders
#define COMPILER " (clang)"
#else
#define INLINED(library) library##_contenders
#define COMPILER ""
#endif

/* Each table ends with a row without a name. If a library was not found, its table is not linked:
 * see CMakeLists.txt in this folder. */
extern const struct contender libbloom_contenders[], petal_contenders[], rocksdb_contenders[],
    leveldb_contenders[], floor_contenders[];
extern const struct contender petal_inline_contenders[], petal_inline_clang_contenders[];
extern const struct contender split_block_contenders[], split_block_clang_contenders[];
extern const struct contender boost_contenders[], boost_clang_contenders[];
extern const struct contender rocksdb_inline_contenders[], rocksdb_inline_clang_contenders[];
extern const struct contender fuse_contenders[], fuse_clang_contenders[];

/* Sets options.hashes (of a petal_options) to Petal's choice, which is computed once per size.
 * Other libraries get their k at compile time, and choosing k takes longer than adding 10,000
 * keys. */
void choose_hashes(void *options);

/* Returns zeroed memory. For arrays of at least 4 MB, it is in 2 MB pages if `huge` is set and the
 * system supports them, and otherwise in 4 KB pages. Smaller arrays are in plain memory, because
 * the page size doesn't affect them. Returns NULL if memory runs out. */
void *take_pages(size_t size_bytes, bool huge);
void drop_pages(void *memory, size_t size_bytes);

#ifdef __cplusplus
}
#endif

#endif
