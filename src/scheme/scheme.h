/* scheme.h - maps a hash to bit positions in an array. Each scheme has a source file, which exports
 * its row, and a line in scheme_list.h.
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

/* The numbers of the foreign schemes. petal.h defines the numbers of Petal's own schemes. */
#define SCHEME_NUMBER(LIBRARY, NAME, name, number) PETAL_SCHEME_##NAME = (number),
enum { PETAL_FOREIGN_SCHEMES(SCHEME_NUMBER) };

/* The size and shape of a bit array. A scheme needs only this information and the bits. */
struct shape {
    uint32_t scheme;
    uint32_t hashes;        /* k */
    uint32_t lines_per_key; /* 1 or 2 in the blocked scheme; otherwise 0 */
    uint64_t bits;          /* m */
};

/* The pages of a layer in the static scheme (scheme/static.c). All pages except the last have the
 * same layout. */
struct static_page {
    uint32_t buckets, wide_buckets; /* numbers of buckets and of wide buckets, which come first */
    uint32_t wide_blocks;           /* number of blocks with an additional column */
    uint32_t code_bytes;            /* size of the codes, and offset of the rows after them */
    uint32_t used_bytes;            /* size of the codes and rows; the rest of the page is zero */
};
struct static_pages {
    struct static_page full, last;
    uint64_t last_number;
    uint64_t inverse; /* reciprocal of full.buckets: bucket / full.buckets is mulhi64(bucket,
                       * inverse) */
};

/* An array of bits, least significant first in each byte: bit i is bit i % 8 of byte i / 8, unless
 * the scheme specifies another order. The bytes are the same as in the file on every platform. Bits
 * that no key can set are clear. */
struct bit_array {
    struct shape shape;
    uint32_t hash_words; /* number of 64-bit words in a key's hash */
    uint8_t *bytes;
    uint64_t size_bytes;
    struct divisor modulus;    /* divides by shape.bits, since many schemes reduce modulo m */
    uint32_t number;           /* the number of the layer, from 0 */
    struct static_pages pages; /* only used by the static scheme */
};

/* The bit arrays of a filter's layers. Each array is a member of a struct layer, so the arrays are
 * stride_bytes apart. */
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

/* 1 if kernels can query all arrays at the same time. WebAssembly builds omit this code, because
 * code size matters more. */
#ifdef __wasm__
#define PETAL_HAS_ANY 0
#else
#define PETAL_HAS_ANY 1
#endif

/* A range of bytes in an array. */
struct stretch {
    uint64_t offset, size_bytes;
};

/* The blocks for which a file has checksums, and their states. A block is checked once: before its
 * first change, so that damaged bits never receive a new checksum, or before the first query that
 * reads the block (filter/guard.h). In the states BLOCK_CHECKED and BLOCK_CHANGED, the block's bits
 * are sound. */
#define PETAL_BLOCK_BYTES 65536u
enum block_state {
    BLOCK_UNCHECKED = 0,
    BLOCK_WANTED = 1,  /* the block will change, but hasn't been checked yet */
    BLOCK_DAMAGED = 2, /* a query found that the block doesn't match its checksum */
    BLOCK_CHECKED = 3, /* matches its checksum */
    BLOCK_CHANGED = 4  /* checked, then changed */
};

/* If several threads build a filter region by region (filter/builder.c), each key is split into
 * 64-bit words. Each word sets bits in a single 64-byte line. All words of one kind are added in
 * the same way. A scheme has up to PETAL_PART_KINDS kinds of words. */
#define PETAL_PART_KINDS 2u
struct parts {
    uint32_t (*kinds)(const struct shape *shape);
    uint32_t (*words)(const struct shape *shape); /* number of words per key of each kind */
    /* Writes words() words for each hash, and the line number of each word. */
    void (*split)(const struct bit_array *array, uint32_t kind, const uint64_t *hashes,
                  size_t count, uint64_t *words, uint64_t *lines);
    void (*add)(const struct bit_array *array, uint32_t kind, const uint64_t *words, size_t count);
};

/* An array above this size doesn't fit into the second-level cache, so batches prefetch its lines.
 * In smaller arrays, prefetching costs more than it saves. */
#ifdef __wasm__ /* WebAssembly can't prefetch */
#define PETAL_CACHED_BYTES UINT64_MAX
#else
#define PETAL_CACHED_BYTES ((uint64_t)1 << 20)
#endif

/* Functions that compute a key's hash, positions and bits in one step, for a scheme and its usual
 * hash. The answers and bits are the same as with the hash function followed by the kernel. add()
 * counts keys in *items like the scheme, and returns PETAL_OK or PETAL_SEEN. The functions for many
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

/* The direct functions for one filter, and all the data that they need from it. */
struct direct {
    struct direct_calls calls;
    const struct bit_array *array;
    struct arrays layers; /* the arrays of all layers */
    uint8_t *lines;       /* the array's bytes, 64 per line */
    uint64_t line_count;
    uint64_t *items;
    const void *table; /* a table that the kernel uses */
    bool is_near;      /* true if the array fits into the cache */
    /* The maximum number of keys per call to the batch functions, or 0 if the scheme has none. */
    uint32_t max_contains, max_add;
    uint64_t seed, flip; /* `flip` and `flips` are computed from the seed for XXH3 (hash.h) */
    struct xxh3_flips flips;
};

/* Computes the status without a branch, because no CPU can predict the answer if new and old keys
 * are mixed. */
static inline petal_status status_of_add(bool is_new)
{
    return (petal_status)(PETAL_SEEN - is_new);
}

_Static_assert(PETAL_SEEN - 1 == PETAL_OK, "status_of_add() counts on it");

/* The number of lines whose rates a kernel of `blocked` computes together. */
#define PETAL_RATE_LINES 8u
#define PETAL_RATE_PATTERNS 64u

/* A scheme's functions for a set of CPU instructions. A hash has array->hash_words words, and
 * `hashes` contains `count` hashes. */
struct kernel {
    const char *name;
    bool (*usable)(void); /* returns true if this CPU can run the kernel; NULL if every CPU can */
    bool (*add)(const struct bit_array *array,
                const uint64_t *hash); /* returns true if some bit was clear before */
    bool (*contains)(const struct bit_array *array, const uint64_t *hash);
    /* Sets results[i] to 1 or 0 for each hash, and returns their sum. The results of adding are the
     * same as with one call to add() per hash. */
    size_t (*add_many)(const struct bit_array *array, const uint64_t *hashes, size_t count,
                       uint8_t *results);
    size_t (*contains_many)(const struct bit_array *array, const uint64_t *hashes, size_t count,
                            uint8_t *results);
    /* Like contains and contains_many, but for several layers. A key is present if any layer
     * contains it. If these members are NULL, layers are queried one after another. */
    bool (*any_contains)(const struct arrays *layers, const uint64_t *hash);
    size_t (*any_contains_many)(const struct arrays *layers, const uint64_t *hashes, size_t count,
                                uint8_t *results);
    /* Like add and add_many, for threads that add to one array concurrently while others query it.
     * They count keys in the stripes. NULL if the scheme doesn't support concurrent adds. */
    bool (*add_shared)(const struct bit_array *array, struct stripes *stripes,
                       const uint64_t *hash);
    size_t (*add_many_shared)(const struct bit_array *array, struct stripes *stripes,
                              const uint64_t *hashes, size_t count, uint8_t *results);
    /* Only for schemes with layers that are tried in turn, which have no other query functions. The
     * answer is an enum turn for one hash, or for each of `count` hashes. */
    uint8_t (*take_turn)(const struct bit_array *array, const uint64_t *hash);
    void (*take_turns)(const struct bit_array *array, const uint64_t *hashes, size_t count,
                       uint8_t *turns);
    const struct parts *parts; /* NULL if keys can't be split */
    /* Only for `blocked`: for each of PETAL_RATE_LINES lines, adds the false-positive rate of the
     * line's bits, times PETAL_RATE_PATTERNS, to sums[i]. Every kernel computes the same
     * numbers. */
    void (*add_rates)(const uint8_t *const *lines, uint32_t hashes, double *sums);
    /* Sets the direct calls and the table for keys with this hash. Returns false if the kernel has
     * no direct calls for this hash. NULL if it has none for any hash. */
    bool (*direct)(struct direct *way, uint32_t hash);
    /* Like direct, but for several layers. Sets only the queries for one key. */
    bool (*direct_any)(struct direct *way, uint32_t hash);
};

/* A layer's answer if layers are tried in turn. */
enum turn { TURN_ABSENT = 0, TURN_IN = 1, TURN_NEXT = 2 /* the next layer must be queried */ };

static inline bool kernel_is_usable(const struct kernel *kernel)
{
    return !kernel->usable || kernel->usable();
}

/* Records that the block that contains a byte is about to change. Returns true if the block must be
 * checked first. The state is accessed atomically, since several threads may add concurrently; in
 * this case, all blocks have already been checked. The atomic builtin stores through the pointer.
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

/* The number of nonzero counters, and the number of counters that have reached the maximum. */
struct counts {
    uint64_t not_zero, saturated;
};

/* Functions that a scheme also needs if its positions are counters instead of bits. shape.bits is
 * then the number of counters. */
struct counters {
    uint32_t bits; /* size of a counter; counter i starts at bit i * bits of the bytes */
    /* Removes keys by decrementing their counters. Sets results[i] to 1, or to 0 for an absent key,
     * and returns the sum of the results. The effect is the same as removing one key at a time. */
    size_t (*remove_many)(const struct bit_array *array, const uint64_t *hashes, size_t count,
                          uint8_t *results);
    /* The following functions process whole arrays, which consist of whole lines. */
    struct counts (*count)(const uint8_t *bytes, uint64_t size_bytes);
    /* Counts the counters that are nonzero in both arrays. */
    uint64_t (*count_common)(const uint8_t *a, const uint8_t *b, uint64_t size_bytes);
    void (*merge)(uint8_t *to, const uint8_t *from, uint64_t size_bytes); /* sums */
    /* Keeps the lower of each pair of counters. */
    void (*intersect)(uint8_t *to, const uint8_t *from, uint64_t size_bytes);
    /* The scheme with the same positions, but bits instead of counters, and the function that
     * creates its array by setting one bit for each nonzero counter. */
    uint32_t bit_scheme;
    void (*to_bits)(const struct bit_array *array, uint8_t *bits); /* `bits` must be zeroed */
};

/* The maximum number of hashes. Most foreign files store k in 16 to 64 bits, but no real filter has
 * more hashes than this. */
#define PETAL_MOST_HASHES 1024u

/* The maximum number of hashes in a walk (walk.inc). RedisBloom's layers can exceed
 * PETAL_MOST_HASHES: their rates are halved until no smaller double exists, so they have up to
 * 1,075 hashes. */
#define PETAL_MAX_HASHES 1088u

#define PETAL_MAX_POSITIONS 64u
#define PETAL_MAX_SPLIT 32u

/* A scheme's row. If a member is omitted (0, NULL), the default given in its comment applies. */
struct scheme_def {
    uint32_t id;
    const char *name;
    const struct kernel *const *kernels; /* best kernel first, generic kernel last, then NULL */
    /* Finds the places in the array that contain bits of this hash, and writes the offset of one
     * byte of each place. Returns the number of places, at most PETAL_MAX_HASHES. No place crosses
     * a block boundary. */
    uint32_t (*places)(const struct bit_array *array, const uint64_t *hash, uint64_t *bytes);
    /* Only for walks: writes the k positions of a walk. */
    void (*trace)(const struct bit_array *array, const uint64_t *hash, uint64_t *positions);

    /* Optional, for queries that are given only the bytes that a key reads. Writes the positions of
     * bits that are all set if the key is present (for counters: the lowest bit of each nonzero
     * counter). Returns the number of positions, at most PETAL_MAX_POSITIONS. */
    uint32_t (*positions)(const struct shape *shape, uint64_t hash, uint64_t *positions);
    /* Optional, for querying filters that differ only in m: computes the part of positions() that
     * doesn't depend on m. Position i is mulhi64(word, m / fold_bits) * fold_bits + places[i],
     * where the word is words[0] for the first positions and words[1] for the others. Returns the
     * number of positions that use words[0]. A hash has at most PETAL_MAX_SPLIT positions. */
    uint32_t (*split)(const struct shape *shape, uint64_t hash, uint64_t words[2],
                      uint16_t *places);
    /* Like positions(), but for layers that are tried in turn. The first function finds one of the
     * ranges of the array that a query reads, given the range's number. It returns false if the
     * number is too high. No range crosses a block boundary. Given the bytes of these ranges in
     * order, the second function returns the layer's answer, an enum turn. */
    bool (*stretch)(const struct bit_array *array, uint64_t hash, uint64_t number,
                    struct stretch *stretch);
    uint8_t (*turn_of_stretches)(const struct bit_array *array, uint64_t hash,
                                 const uint8_t *bytes);

    uint32_t hash_words; /* hash_def.words of the scheme's hashes; 0 means one word per position */
    uint32_t max_hashes; /* maximum k for each line of a key */
    uint64_t step_bits;  /* m is a multiple of this number */
    uint64_t max_bits;
    /* The number of bits in a line (or 1 for single bits) if filters can be folded (filter/fold.c);
     * otherwise 0. In a foldable scheme, a line's index is the high half of the product of hash
     * bits and the number of lines, and the bits within the line don't depend on the number of
     * lines. So adjacent lines can be combined. */
    uint32_t fold_bits;
    uint32_t unit_bytes; /* the array's size in bytes is a multiple of this; default: 1 */
    /* Position i is bit (i ^ bit_order) of the bytes. bit_order is 0, or 56 for big-endian 64-bit
     * words. */
    uint32_t bit_order;
    const struct counters *counters; /* NULL if each position is a bit */
    /* True if each key is in only one layer, and queries try the layers in turn (kernel.take_turn).
     * Such a filter is built from all its keys, and never changes. */
    bool is_in_turn;
    bool counts_new_only; /* true if `items` counts only keys that changed a bit */
    /* True if the original library rejects the empty key. Adding an empty key then returns
     * PETAL_ERR_UNSUPPORTED, and the empty key is never present. */
    bool no_empty_key;

    /* Normalizes a shape (to whole lines, and by choosing lines_per_key), or reports why the shape
     * is impossible. Default: petal_normalize_foreign(). */
    petal_status (*normalize)(const struct scheme_def *self, struct shape *shape,
                              petal_error *error);

    /* The first function returns the size in bytes of an array with a normalized shape, without its
     * final zeros. The second function sets the other fields that such an array needs. Default: an
     * array of m bits or counters, without other fields. */
    uint64_t (*used_bytes)(const struct shape *shape);
    void (*prepare)(struct bit_array *array);

    /* The functions of the exact model compute the rate with `keys` distinct keys (1 if the filter
     * is full); the rate of the given bits; the standard deviation of the number of set bits with
     * `keys` distinct keys; and the mean number of different bits per key. The result is NAN if no
     * model is good enough. The default assumes k positions that are nearly uniform over the first
     * reachable_bits. Computing the rate of given bits may take some time, which is divided among
     * the layers of a filter if `layers` is above 1. */
    double (*rate)(const struct scheme_def *self, const struct shape *shape, double keys);
    double (*rate_of_bits)(const struct scheme_def *self, const struct bit_array *array,
                           uint64_t bits_set, uint64_t layers);
    struct course course; /* how positions depend on each other; see COURSE() */
    double (*bits_set_sd)(const struct shape *shape, double keys);
    double (*bits_per_key)(const struct shape *shape);
    uint64_t reachable_bits; /* higher positions are never used; default: all positions are used */
};

/* Returns the row of the scheme with this number, or NULL if this build has no such scheme. */
const struct scheme_def *petal_scheme_find(uint32_t id);

/* Returns the name of the scheme with this number if this build leaves the scheme out, and NULL
 * otherwise. */
const char *petal_scheme_left_out(uint32_t id);

/* Returns the best kernel of a scheme that this CPU can run. */
const struct kernel *petal_scheme_kernel(const struct scheme_def *scheme);

/* Returns the best kernel for a filter that threads change concurrently. Under ThreadSanitizer,
 * this is the generic kernel: C has no atomic vectors, so TSan reports a race if a thread reads a
 * vector while another thread changes it, although CPUs read each word of the vector atomically. */
const struct kernel *petal_scheme_kernel_shared(const struct scheme_def *scheme);

/* Returns the number of bits in an array with a normalized shape, without its final zeros. */
uint64_t petal_shape_used_bits(const struct shape *shape);

/* Returns the size in bytes of an array with a normalized shape. An array of a native scheme
 * consists of whole 64-byte lines. */
uint64_t petal_shape_bytes(const struct shape *shape);

/* Each of these functions calls a row's member, or implements the member's default. */
petal_status petal_normalize(struct shape *shape, petal_error *error);
double petal_scheme_rate(const struct scheme_def *scheme, const struct shape *shape, double keys);
double petal_scheme_rate_of_bits(const struct scheme_def *scheme, const struct bit_array *array,
                                 uint64_t bits_set, uint64_t layers);
double petal_scheme_bits_set_sd(const struct scheme_def *scheme, const struct shape *shape,
                                double keys);

/* The default implementations, for rows that extend them. petal_normalize_foreign() accepts 1 to
 * max_hashes hashes, and a multiple of step_bits up to max_bits. */
petal_status petal_normalize_foreign(const struct scheme_def *self, struct shape *shape,
                                     petal_error *error);
double petal_uniform_rate(const struct scheme_def *self, const struct shape *shape, double keys);

/* Returns the number of bits that keys can set in an array of this size. */
uint64_t petal_scheme_reachable(const struct scheme_def *scheme, uint64_t bits);

/* Returns PETAL_ERR_LIMIT if the number of bits exceeds the scheme's max_bits. */
petal_status petal_check_most_bits(const struct scheme_def *scheme, uint64_t bits,
                                   petal_error *error);

/* Returns true if all bits after the last position are clear. */
bool petal_tail_is_clear(const struct shape *shape, const uint8_t *bytes, uint64_t size_bytes);

/* Like petal_tail_is_clear(), but given only the array's bytes from this offset on. */
bool petal_end_is_clear(const struct shape *shape, uint64_t offset, const uint8_t *end,
                        uint64_t end_bytes);

/* The rows of the table of schemes. */
#define SCHEME_ROW(LIBRARY, NAME, name, number) extern const struct scheme_def petal_scheme_##name;
PETAL_SCHEMES(SCHEME_ROW)

#endif
