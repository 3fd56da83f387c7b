/* scheme.h - the second axis: from a hash to bit positions in an array. Each scheme has a file,
 * which exports its row, and a line in scheme_list.h.
 *
 * The generic kernel, in portable C, defines a scheme. Faster kernels must set and test exactly the
 * same bits. The scheme lists its kernels, best first, and one of them is chosen when a filter is
 * created. */
#ifndef PETAL_SCHEME_SCHEME_H
#define PETAL_SCHEME_SCHEME_H

#include "base/divide.h"
#include "base/error.h"
#include "hash/hash.h"
#include "petal/petal.h"
#include "scheme/course.h"
#include "scheme/scheme_list.h"
#include "scheme/stripes.h"

/* The numbers of the foreign schemes. petal.h has those of Petal's own. */
#define SCHEME_NUMBER(LIBRARY, NAME, name, number) PETAL_SCHEME_##NAME = (number),
enum { PETAL_FOREIGN_SCHEMES(SCHEME_NUMBER) };

/* The size and shape of a bit array. The scheme needs nothing else besides the bits. */
struct shape {
    uint32_t scheme;
    uint32_t hashes;        /* k */
    uint32_t lines_per_key; /* blocked: 1 or 2; otherwise 0 */
    uint64_t bits;          /* m */
};

/* The pages of a layer of the static scheme (scheme/static.c). All are alike except the last. */
struct static_page {
    uint32_t buckets, wide_buckets; /* the wide ones are first */
    uint32_t wide_blocks;           /* blocks with one more column */
    uint32_t code_bytes;            /* the offset of the rows */
    uint32_t used_bytes;            /* size of the codes and rows; the rest is zero */
};
struct static_pages {
    struct static_page full, last;
    uint64_t last_number;
    uint64_t inverse; /* for full.buckets: bucket / full.buckets is mulhi64(bucket, inverse) */
};

/* Bits, least significant first in each byte: bit i is bit i % 8 of byte i / 8, unless the scheme
 * says otherwise. The bytes are the same as in the file on every platform. Bits that no key can set
 * are zero. */
struct bit_array {
    struct shape shape;
    uint32_t hash_words; /* number of 64-bit words in a key's hash */
    uint8_t *bytes;
    uint64_t size_bytes;
    struct divisor modulus;    /* for shape.bits, since many schemes reduce by it */
    uint32_t number;           /* the number of the layer, from 0 */
    struct static_pages pages; /* only for the static scheme */
};

/* The arrays of a filter's layers. Each is a member of a layer, so their distance is constant. */
struct arrays {
    const struct bit_array *first;
    size_t stride_bytes;
    uint32_t count;
};

static inline const struct bit_array *array_at(const struct arrays *layers, uint32_t number)
{
    const uint8_t *first = (const uint8_t *)layers->first;
    return (const struct bit_array *)(const void *)(first + number * layers->stride_bytes);
}

/* Tells whether kernels can query all arrays at the same time. In WebAssembly they can't, because
 * code size matters more. */
#ifdef __wasm__
#define PETAL_HAS_ANY 0
#else
#define PETAL_HAS_ANY 1
#endif

/* Some bytes of an array. */
struct stretch {
    uint64_t offset, size_bytes;
};

/* The blocks for which a file has checksums, and their states. A block is checked once: before its
 * first change, so that damaged bits never get a new checksum, or before the first query that reads
 * it (filter/guard.h). From BLOCK_CHECKED on, its bits are sound. */
#define PETAL_BLOCK_BYTES 65536u
enum block_state {
    BLOCK_UNCHECKED = 0,
    BLOCK_WANTED = 1,  /* will change, but is not checked yet */
    BLOCK_DAMAGED = 2, /* a query found that it differs from its checksum */
    BLOCK_CHECKED = 3, /* matches its checksum */
    BLOCK_CHANGED = 4  /* checked, then changed */
};

/* If several threads build a filter by regions (filter/builder.c), they split keys into 64-bit
 * words. Each word sets bits in only one 64-byte line. All words of one kind are added in the same
 * way, and a scheme has up to PETAL_PART_KINDS kinds. */
#define PETAL_PART_KINDS 2u
struct parts {
    uint32_t (*kinds)(const struct shape *shape);
    uint32_t (*words)(const struct shape *shape); /* number of words of each kind per key */
    /* Writes the words and the numbers of their lines: words() of them for each hash. */
    void (*split)(const struct bit_array *array, uint32_t kind, const uint64_t *hashes,
                  size_t count, uint64_t *words, uint64_t *lines);
    void (*add)(const struct bit_array *array, uint32_t kind, const uint64_t *words, size_t count);
};

/* An array above this size is not in the second-level cache, so batches prefetch. In smaller
 * arrays, prefetching costs more than it saves. */
#ifdef __wasm__ /* WebAssembly can't prefetch */
#define PETAL_CACHED_BYTES UINT64_MAX
#else
#define PETAL_CACHED_BYTES ((uint64_t)1 << 20)
#endif

/* One function that computes a key's hash, positions and bits, for a scheme and the hash that it
 * mostly uses. It gives the same answers and bits as the hash followed by the kernel. add counts
 * keys in *items as the scheme does, and returns PETAL_OK or PETAL_SEEN. The functions for many
 * keys (petal_key[], int64_t[]) return the sum of the results. */
struct direct;
typedef size_t direct_many(const struct direct *way, const void *keys, size_t count,
                           uint8_t *results);
struct direct_calls {
    bool (*contains)(const struct direct *way, const void *key, size_t key_bytes);
    bool (*contains_i64)(const struct direct *way, int64_t value);
    petal_status (*add)(const struct direct *way, const void *key, size_t key_bytes);
    petal_status (*add_i64)(const struct direct *way, int64_t value);
    direct_many *contains_many, *contains_many_i64, *add_many, *add_many_i64;
};

/* The functions for one filter, and all the data that they need from it. */
struct direct {
    struct direct_calls calls;
    const struct bit_array *array;
    struct arrays layers; /* the arrays of all layers */
    uint8_t *lines;       /* the bytes of the array, 64 per line */
    uint64_t line_count;
    uint64_t *items;
    const void *table; /* the kernel's own table */
    bool is_near;      /* the array fits into the cache */
    /* How many keys one call may have, for the functions for many keys. It is 0 if there are
     * none. */
    uint32_t max_contains, max_add;
    uint64_t seed, flip; /* flip, flips: computed from the seed for XXH3 (hash.h) */
    struct xxh3_flips flips;
};

/* If new and old keys are mixed, no CPU can predict the answer. So there is no branch on it. */
static inline petal_status status_of_add(bool is_new)
{
    return (petal_status)(PETAL_SEEN - is_new);
}

_Static_assert(PETAL_SEEN - 1 == PETAL_OK, "status_of_add() counts on it");

/* The number of lines whose rates a kernel of `blocked` computes together. */
#define PETAL_RATE_LINES 8u
#define PETAL_RATE_PATTERNS 64u

/* A hash has array->hash_words words, and `hashes` has `count` times as many. */
struct kernel {
    const char *name;
    bool (*usable)(void); /* true if this CPU can run the kernel; NULL if every CPU can */
    bool (*add)(const struct bit_array *array,
                const uint64_t *hash); /* true: some bit was clear before */
    bool (*contains)(const struct bit_array *array, const uint64_t *hash);
    /* Sets results[i] to 1 or 0 for each hash, and returns their sum. Adding gives the same results
     * as adding one by one. */
    size_t (*add_many)(const struct bit_array *array, const uint64_t *hashes, size_t count,
                       uint8_t *results);
    size_t (*contains_many)(const struct bit_array *array, const uint64_t *hashes, size_t count,
                            uint8_t *results);
    /* Like contains and contains_many, for several layers: is the key in any of them? If it is
     * NULL, layers are queried one after the other. */
    bool (*any_contains)(const struct arrays *layers, const uint64_t *hash);
    size_t (*any_contains_many)(const struct arrays *layers, const uint64_t *hashes, size_t count,
                                uint8_t *results);
    /* Like add and add_many, for threads that add to one array concurrently while others query it.
     * They count keys in the stripes. NULL if the scheme doesn't support that. */
    bool (*add_shared)(const struct bit_array *array, struct stripes *stripes,
                       const uint64_t *hash);
    size_t (*add_many_shared)(const struct bit_array *array, struct stripes *stripes,
                              const uint64_t *hashes, size_t count, uint8_t *results);
    /* For a scheme whose layers are tried in turn. It has only these functions, which return an
     * enum turn for one hash and for each of many. */
    uint8_t (*take_turn)(const struct bit_array *array, const uint64_t *hash);
    void (*take_turns)(const struct bit_array *array, const uint64_t *hashes, size_t count,
                       uint8_t *turns);
    const struct parts *parts; /* NULL if keys can't be split */
    /* For `blocked`, this adds the false-positive rate of the bits of each of PETAL_RATE_LINES
     * lines, times PETAL_RATE_PATTERNS, to sums[i]. Every kernel gives the same numbers. */
    void (*add_rates)(const uint8_t *const *lines, uint32_t hashes, double *sums);
    /* Sets the calls and the table for keys with this hash. Returns false if there are none. The
     * member is NULL if there are none for any hash. */
    bool (*direct)(struct direct *way, uint32_t hash);
    /* The same for several layers. Sets the queries for one key. */
    bool (*direct_any)(struct direct *way, uint32_t hash);
};

/* The answer of a layer, if layers are tried in turn. */
enum turn { TURN_ABSENT = 0, TURN_IN = 1, TURN_NEXT = 2 /* ask the next layer */ };

static inline bool kernel_is_usable(const struct kernel *kernel)
{
    return !kernel->usable || kernel->usable();
}

/* Records that the block of a byte is about to change. Returns true if the block must be checked
 * first. It is atomic, since several threads may do this; in that case, all blocks were checked
 * before. The builtin stores through the pointer.
 * NOLINTNEXTLINE(readability-non-const-parameter) */
static inline bool note_change(uint8_t *blocks, uint64_t byte)
{
    uint8_t *block = &blocks[byte / PETAL_BLOCK_BYTES],
            state = __atomic_load_n(block, __ATOMIC_RELAXED);
    if (state == BLOCK_CHANGED) return false;
    bool is_checked = state == BLOCK_CHECKED;
    __atomic_store_n(block, is_checked ? BLOCK_CHANGED : BLOCK_WANTED, __ATOMIC_RELAXED);
    return !is_checked;
}

/* How many counters are not zero, and how many have reached the maximum. */
struct counts {
    uint64_t not_zero, saturated;
};

/* What a scheme also needs if its positions are counters instead of bits. shape.bits is then the
 * number of counters. */
struct counters {
    uint32_t bits; /* size of a counter; counter i starts at bit i * bits of the bytes */
    /* Decrements. Sets results[i] to 1, or to 0 for an absent key, and returns their sum. The
     * effect is the same as removing one key at a time. */
    size_t (*remove_many)(const struct bit_array *array, const uint64_t *hashes, size_t count,
                          uint8_t *results);
    /* These work on whole arrays, in whole lines. */
    struct counts (*count)(const uint8_t *bytes, uint64_t size_bytes);
    /* Counts the counters that are not zero in both. */
    uint64_t (*count_common)(const uint8_t *a, const uint8_t *b, uint64_t size_bytes);
    void (*merge)(uint8_t *to, const uint8_t *from, uint64_t size_bytes); /* sums */
    /* Keeps the lower counter of each two. */
    void (*intersect)(uint8_t *to, const uint8_t *from, uint64_t size_bytes);
    /* The scheme that has the same positions with bits, and the bits of the array in that scheme:
     * one for each nonzero counter. */
    uint32_t bit_scheme;
    void (*to_bits)(const struct bit_array *array, uint8_t *bits); /* `bits` must be zeros */
};

/* Most foreign files store k in 16 to 64 bits. But no real filter has more hashes than this. */
#define PETAL_MOST_HASHES 1024u

/* Layers of RedisBloom are the exception: they halve the rate until there is no lower double, so
 * they have up to 1,075 hashes. A walk (walk.inc) has room for this many. */
#define PETAL_MAX_HASHES 1088u

#define PETAL_MAX_POSITIONS 64u
#define PETAL_MAX_SPLIT 32u

/* A scheme's row. If a member is omitted (0, NULL), it has the default in its comment. */
struct scheme_def {
    uint32_t id;
    const char *name;
    const struct kernel *const *kernels; /* best first, generic last, then NULL */
    /* Finds each place of the array that holds bits of a hash, as the offset of one of its bytes.
     * There are at most PETAL_MAX_HASHES; returns how many. No place crosses the end of a block. */
    uint32_t (*places)(const struct bit_array *array, const uint64_t *hash, uint64_t *bytes);
    /* Only for a walk: writes its k positions. */
    void (*trace)(const struct bit_array *array, const uint64_t *hash, uint64_t *positions);

    /* Optional, for queries by the bytes that a key reads. Writes the positions of bits that are
     * all set if the key is present (for counters: the lowest bit of each nonzero counter). There
     * are at most PETAL_MAX_POSITIONS; returns how many. */
    uint32_t (*positions)(const struct shape *shape, uint64_t hash, uint64_t *positions);
    /* Optional, for querying filters that differ only in m: the part of positions() that does not
     * depend on it. Position i is mulhi64(word, m / fold_bits) * fold_bits + places[i], where the
     * word is words[0] for the first positions, whose number it returns, and words[1] for the
     * others. At most PETAL_MAX_SPLIT. */
    uint32_t (*split)(const struct shape *shape, uint64_t hash, uint64_t words[2],
                      uint16_t *places);
    /* The same if layers are tried in turn. Returns the stretches of the array that a query reads,
     * by number; false: there are no more. No stretch crosses the end of a block. Given the bytes
     * of these stretches in order, the second function returns the layer's answer, an enum turn. */
    bool (*stretch)(const struct bit_array *array, uint64_t hash, uint64_t number,
                    struct stretch *stretch);
    uint8_t (*turn_of_stretches)(const struct bit_array *array, uint64_t hash,
                                 const uint8_t *bytes);

    uint32_t hash_words; /* the hash_def.words of its hashes; 0 means one word per position */
    uint32_t max_hashes; /* for each line of a key */
    uint64_t step_bits;  /* m is a multiple of this */
    uint64_t max_bits;
    /* A key hits a line of this many bits (or a single bit). The number of the line is the high
     * half of a product with the number of lines, and the bits in the line don't depend on that
     * number. So neighbouring lines can be folded (filter/fold.c). 0 if that is not the case. */
    uint32_t fold_bits;
    uint32_t unit_bytes; /* the array's size is a multiple of this; default: 1 */
    /* Position i is bit (i ^ bit_order) of the bytes. It is 0, or 56 for big-endian 64-bit
     * words. */
    uint32_t bit_order;
    const struct counters *counters; /* NULL if a position is a bit */
    /* A key is in only one layer, and layers are tried in turn to find it (kernel.take_turn). Such
     * a filter is built from all its keys and never changes. */
    bool is_in_turn;
    bool counts_new_only; /* items counts only keys that changed a bit, not all added keys */
    /* The original rejects the empty key. Adding it returns PETAL_ERR_UNSUPPORTED, and it is never
     * present. */
    bool no_empty_key;

    /* Normalizes a shape (whole lines, a choice of lines_per_key), or reports why that is
     * impossible. Default: petal_normalize_foreign(). */
    petal_status (*normalize)(const struct scheme_def *self, struct shape *shape,
                              petal_error *error);

    /* The first returns the bytes of an array with a normalized shape, without its final zeros. The
     * second sets what else such an array needs. Default: m bits, or counters, and nothing else. */
    uint64_t (*used_bytes)(const struct shape *shape);
    void (*prepare)(struct bit_array *array);

    /* The exact model. It gives: the rate at `keys` distinct keys, 1 for a full filter; the rate of
     * these bits; the standard deviation of the number of set bits at `keys` distinct keys; the
     * mean number of different bits per key. NAN: no model is good enough. Default: k positions
     * nearly uniform over the first reachable_bits. Computing the rate of given bits may take some
     * time. A filter of several `layers` divides that time among them. */
    double (*rate)(const struct scheme_def *self, const struct shape *shape, double keys);
    double (*rate_of_bits)(const struct scheme_def *self, const struct bit_array *array,
                           uint64_t bits_set, uint64_t layers);
    struct course course; /* COURSE(): how positions depend on each other */
    double (*bits_set_sd)(const struct shape *shape, double keys);
    double (*bits_per_key)(const struct shape *shape);
    uint64_t reachable_bits; /* higher positions are never used; default: all are used */
};

/* Returns the row of a scheme, or NULL. */
const struct scheme_def *petal_scheme_find(uint32_t id);

/* Returns the name of the scheme with that number if this build leaves it out; otherwise NULL. */
const char *petal_scheme_left_out(uint32_t id);

/* Returns the best kernel of a scheme that this CPU can run. */
const struct kernel *petal_scheme_kernel(const struct scheme_def *scheme);

/* Returns the best kernel for a filter that threads change concurrently. Under ThreadSanitizer that
 * is the generic one: C has no atomic vectors, so TSan reports a race if a thread reads a vector
 * while another changes it, although CPUs read each of its words whole. */
const struct kernel *petal_scheme_kernel_shared(const struct scheme_def *scheme);

/* Returns the bits of an array with a normalized shape, without its final zeros. */
uint64_t petal_shape_used_bits(const struct shape *shape);

/* Returns the bytes of an array with a normalized shape. An array of a native scheme consists of
 * whole 64-byte lines. */
uint64_t petal_shape_bytes(const struct shape *shape);

/* Each calls a row's member, or its default. */
petal_status petal_normalize(struct shape *shape, petal_error *error);
double petal_scheme_rate(const struct scheme_def *scheme, const struct shape *shape, double keys);
double petal_scheme_rate_of_bits(const struct scheme_def *scheme, const struct bit_array *array,
                                 uint64_t bits_set, uint64_t layers);
double petal_scheme_bits_set_sd(const struct scheme_def *scheme, const struct shape *shape,
                                double keys);

/* The defaults, for rows that extend them. normalize accepts 1 to max_hashes hashes, and a multiple
 * of step_bits up to max_bits. */
petal_status petal_normalize_foreign(const struct scheme_def *self, struct shape *shape,
                                     petal_error *error);
double petal_uniform_rate(const struct scheme_def *self, const struct shape *shape, double keys);

/* Returns the number of bits that can be set. */
uint64_t petal_scheme_reachable(const struct scheme_def *scheme, uint64_t bits);

/* Returns PETAL_ERR_LIMIT above the scheme's max_bits. */
petal_status petal_check_most_bits(const struct scheme_def *scheme, uint64_t bits,
                                   petal_error *error);

/* Returns true if all bits after the last position are clear. */
bool petal_tail_is_clear(const struct shape *shape, const uint8_t *bytes, uint64_t size_bytes);

/* The same if only the bytes starting at this offset are available. */
bool petal_end_is_clear(const struct shape *shape, uint64_t offset, const uint8_t *end,
                        uint64_t end_bytes);

/* The rows. */
#define SCHEME_ROW(LIBRARY, NAME, name, number) extern const struct scheme_def petal_scheme_##name;
PETAL_SCHEMES(SCHEME_ROW)

#endif
