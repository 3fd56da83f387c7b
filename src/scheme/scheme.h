/* scheme.h - the second axis: a hash -> bit positions, in which array. One table row for each scheme.
 *
 * A scheme is defined by its generic kernel, in portable C. Faster kernels must set and test exactly the same bits; they are
 * further rows of the scheme's kernel list, best first, and are chosen once, when a filter is made. */
#ifndef PETAL_SCHEME_SCHEME_H
#define PETAL_SCHEME_SCHEME_H

#include "base/divide.h"
#include "petal/petal.h"
#include "scheme/stripes.h"

/* The size and shape of a bit array: all that its scheme needs to know beside the bits. */
struct shape {
    petal_scheme scheme;
    uint32_t hashes;        /* k */
    uint32_t lines_per_key; /* blocked: 1 or 2; otherwise 0 */
    uint64_t bits;          /* m */
};

/* Bits, least significant first in each byte: bit i is bit i % 8 of byte i / 8, where the scheme does not say otherwise. The
 * bytes are those of the file, on every platform. Bits that no key can set are zero. */
struct bit_array {
    struct shape shape;
    uint32_t hash_words; /* 64-bit words of a key's hash */
    uint8_t *bytes;
    uint64_t size_bytes;
    struct divisor modulus; /* of shape.bits: many schemes reduce by it */
};

/* The blocks that a file has checksums for. Of a file that is changed in place, the state of each is noted: a block is
 * checked once, before its first change, so that damage in it is never sealed as sound by a new checksum. */
#define PETAL_BLOCK_BYTES 65536u
enum block_state {
    BLOCK_UNCHECKED = 0,
    BLOCK_WANTED = 1,  /* about to be changed, but not checked yet */
    BLOCK_CHECKED = 2, /* agrees with its checksum */
    BLOCK_CHANGED = 3  /* checked, and changed since */
};

/* How keys are taken apart where several threads build a filter by regions (filter/builder.c): into words of 64 bits, each of which sets
 * bits of one line of 64 bytes only. Words of one kind are added alike; a scheme has up to PETAL_PART_KINDS kinds. */
#define PETAL_PART_KINDS 2u
struct parts {
    uint32_t (*kinds)(const struct shape *shape);
    uint32_t (*words)(const struct shape *shape); /* of each kind that a key has */
    /* Writes words and the numbers of their lines, words() for each hash. */
    void (*split)(const struct bit_array *array, uint32_t kind, const uint64_t *hashes, size_t count, uint64_t *words,
                  uint64_t *lines);
    void (*add)(const struct bit_array *array, uint32_t kind, const uint64_t *words, size_t count);
};

/* An array above this size is not in the second-level cache: batches then fetch ahead. Below, that costs more than it brings. */
#define PETAL_CACHED_BYTES ((uint64_t)1 << 20)

/* A hash is array->hash_words words; `hashes` are so many times `count`. */
struct kernel {
    const char *name;
    bool (*usable)(void);                                             /* does this CPU have what the kernel needs? */
    bool (*add)(const struct bit_array *array, const uint64_t *hash); /* true: some bit was clear before */
    bool (*contains)(const struct bit_array *array, const uint64_t *hash);
    /* results[i] is 1 or 0 for each hash, and their sum is returned. The results of adding are those of one at a time. */
    size_t (*add_many)(const struct bit_array *array, const uint64_t *hashes, size_t count, uint8_t *results);
    size_t (*contains_many)(const struct bit_array *array, const uint64_t *hashes, size_t count, uint8_t *results);
    /* add and add_many for threads that add to one array at the same time, while others ask it: they count the keys in the
     * stripes. NULL where the scheme has no such thing. */
    bool (*add_shared)(const struct bit_array *array, struct stripes *stripes, const uint64_t *hash);
    size_t (*add_many_shared)(const struct bit_array *array, struct stripes *stripes, const uint64_t *hashes,
                              size_t count, uint8_t *results);
    const struct parts *parts; /* NULL: keys cannot be taken apart */
};

/* Notes that the block of a byte is to change. True: it must be checked before. Atomic, as several threads may do so;
 * then all blocks have been checked. NOLINTNEXTLINE(readability-non-const-parameter): the builtin stores through it */
static inline bool note_change(uint8_t *blocks, uint64_t byte)
{
    uint8_t *block = &blocks[byte / PETAL_BLOCK_BYTES], state = __atomic_load_n(block, __ATOMIC_RELAXED);
    if (state == BLOCK_CHANGED) return false;
    bool is_checked = state == BLOCK_CHECKED;
    __atomic_store_n(block, is_checked ? BLOCK_CHANGED : BLOCK_WANTED, __ATOMIC_RELAXED);
    return !is_checked;
}

/* Numbers of counters: those that are not zero, and those of them that can count no higher. */
struct counts {
    uint64_t not_zero, saturated;
};

/* What a scheme does otherwise whose positions hold counters in place of bits. shape.bits is then the number of counters. */
struct counters {
    uint32_t bits; /* of a counter; counter i begins at bit i * bits of the bytes */
    /* Counts down. results[i] is 1, or 0 for a key that is absent, and their sum is returned; as if one at a time. */
    size_t (*remove_many)(const struct bit_array *array, const uint64_t *hashes, size_t count, uint8_t *results);
    /* Whole arrays, of whole lines. */
    struct counts (*count)(const uint8_t *bytes, uint64_t size_bytes);
    uint64_t (*count_common)(const uint8_t *a, const uint8_t *b, uint64_t size_bytes); /* not zero in both */
    void (*merge)(uint8_t *to, const uint8_t *from, uint64_t size_bytes);              /* sums */
    void (*intersect)(uint8_t *to, const uint8_t *from, uint64_t size_bytes);          /* the lower ones */
    /* The scheme of the same positions with bits, and the array's bits there: those of the counters that are not zero. */
    petal_scheme bit_scheme;
    void (*to_bits)(const struct bit_array *array, uint8_t *bits); /* `bits` are zeroed before */
};

struct scheme_def {
    petal_scheme id;
    const char *name;
    const struct kernel *const *kernels; /* best first, generic last, then NULL */

    /* Brings a shape into the scheme's form (whole lines, a choice of lines_per_key), or says why it can't be. */
    petal_status (*settle)(struct shape *shape, petal_error *error);
    /* Bytes of the array of a settled shape. */
    uint64_t (*array_bytes)(const struct shape *shape);
    /* Position i is bit (i ^ bit_order) of the bytes: 0, or 56 for big-endian words of 64 bits. */
    uint32_t bit_order;
    const struct counters *counters; /* NULL: a position is a bit */
    uint32_t hash_words;             /* of the hashes it goes with: hash_def.words */
    bool counts_new_only;            /* items are keys that changed a bit, not all keys handed to add */
    bool no_empty_key; /* the original takes none: adding it is PETAL_ERR_UNSUPPORTED, and it is never in */
    /* note_change() for the blocks that the bits of a hash lie in. True: some must be checked before. */
    bool (*touch)(const struct bit_array *array, const uint64_t *hash, uint8_t *blocks);

    /* Planning: the hashes worth trying for a rate, the smallest step of `bits`, and the largest `bits`. */
    uint32_t max_hashes; /* for each line a key has */
    uint64_t step_bits;
    uint64_t max_bits;

    /* The exact model: the rate at `keys` distinct keys; 1 for a full filter. */
    double (*rate)(const struct shape *shape, double keys);
    /* The rate of an absent key given these bits. */
    double (*rate_of_bits)(const struct bit_array *array, uint64_t bits_set);
    /* Standard deviation of the number of set bits at `keys` distinct keys. */
    double (*bits_set_sd)(const struct shape *shape, double keys);
    /* Optional: different bits that a key sets in the mean, where that is less than k. */
    double (*bits_a_key)(const struct shape *shape);
};

/* The row of a scheme, or NULL. */
const struct scheme_def *petal_scheme_find(petal_scheme id);

/* The best kernel of a scheme that this CPU can run. */
const struct kernel *petal_scheme_kernel(const struct scheme_def *scheme);

/* The best one for a filter that threads change at the same time. Under ThreadSanitizer that is the generic one: C has no atomic
 * vectors, so a vector that another thread changes is a race to it, though CPUs read each of its words whole. */
const struct kernel *petal_scheme_kernel_shared(const struct scheme_def *scheme);

/* Bytes of the array of a settled shape. The native schemes have whole lines of 64. */
uint64_t petal_shape_bytes(const struct shape *shape);

/* PETAL_ERR_LIMIT above the scheme's max_bits. */
petal_status petal_check_most_bits(const struct scheme_def *scheme, uint64_t bits, petal_error *error);

/* Are all bits behind the last position clear? */
bool petal_tail_is_clear(const struct shape *shape, const uint8_t *bytes, uint64_t size_bytes);

/* array_bytes of whole lines of 64 bytes (the native schemes), of 64-bit words, of bytes. */
uint64_t petal_bytes_of_lines(const struct shape *shape);
uint64_t petal_bytes_of_words(const struct shape *shape);
uint64_t petal_bytes_of_bits(const struct shape *shape);

/* The models of every scheme whose k positions are as good as uniform over the whole array. */
double petal_uniform_rate(const struct shape *shape, double keys);
double petal_uniform_rate_of_bits(const struct bit_array *array, uint64_t bits_set);
double petal_uniform_bits_set_sd(const struct shape *shape, double keys);

/* settle of foreign schemes: bits a multiple of `unit` from 1 to max_bits of the scheme, hashes from 1 to its max_hashes. */
petal_status petal_settle_foreign(const struct shape *shape, uint64_t unit, petal_error *error);

extern const struct scheme_def petal_guava_mitz64, petal_guava_mitz32, petal_spark_v1, petal_spark_v2;
extern const struct scheme_def petal_oldpanda_py32, petal_oldpanda_go32;
extern const struct scheme_def petal_parquet, petal_orc;
extern const struct scheme_def petal_redisbloom, petal_datasketches;
extern const struct scheme_def petal_bits_and_blooms, petal_dcso, petal_leveldb, petal_rocksdb;
extern const struct scheme_def petal_pybloom, petal_hadoop, petal_hbase, petal_cassandra, petal_cassandra_be,
    petal_cassandra_2, petal_bloom_filters, petal_bloomfilter, petal_js_tutorial;

extern const struct scheme_def petal_blocked, petal_classic, petal_counting;

#endif
