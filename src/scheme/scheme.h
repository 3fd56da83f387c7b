/* scheme.h - the second axis: a hash -> bit positions, in which array. Each scheme's file exports
 * its row, and scheme_list.h lists them; adding one is one file and one line.
 *
 * A scheme is defined by its generic kernel, in portable C. Faster kernels must set and test
 * exactly the same bits; they are further rows of the scheme's kernel list, best first, and are
 * chosen once, when a filter is made. */
#ifndef PETAL_SCHEME_SCHEME_H
#define PETAL_SCHEME_SCHEME_H

#include "base/divide.h"
#include "base/error.h"
#include "hash/hash.h"
#include "petal/petal.h"
#include "scheme/course.h"
#include "scheme/scheme_list.h"
#include "scheme/stripes.h"

/* The numbers of foreign schemes; those of Petal's own are in petal.h. */
#define SCHEME_NUMBER(LIBRARY, NAME, name, number) PETAL_SCHEME_##NAME = (number),
enum { PETAL_FOREIGN_SCHEMES(SCHEME_NUMBER) };

/* The size and shape of a bit array: all that its scheme needs to know beside the bits. */
struct shape {
    uint32_t scheme;
    uint32_t hashes;        /* k */
    uint32_t lines_per_key; /* blocked: 1 or 2; otherwise 0 */
    uint64_t bits;          /* m */
};

/* The pages of a layer of the static scheme (scheme/static.c): all are alike but the last. */
struct static_page {
    uint32_t buckets, wide_buckets; /* those of wide_buckets come first */
    uint32_t code_bytes;            /* where the rows begin */
    uint32_t used_bytes;            /* codes and rows; zeros follow */
};
struct static_pages {
    struct static_page full, last;
    uint64_t last_number;
    uint64_t inverse; /* of full.buckets: bucket / full.buckets is mulhi64(bucket, inverse) */
};

/* Bits, least significant first in each byte: bit i is bit i % 8 of byte i / 8, where the scheme
 * does not say otherwise. The bytes are those of the file, on every platform. Bits that no key can
 * set are zero. */
struct bit_array {
    struct shape shape;
    uint32_t hash_words; /* 64-bit words of a key's hash */
    uint8_t *bytes;
    uint64_t size_bytes;
    struct divisor modulus;    /* of shape.bits: many schemes reduce by it */
    uint32_t number;           /* of its layer, from 0 */
    struct static_pages pages; /* of the static scheme */
};

/* The blocks that a file has checksums for, and the state of each: a block is checked once, before
 * its first change, so that damage in it never gets a new checksum; or before the first answer from
 * it (filter/guard.h). From BLOCK_CHECKED on its bits are sound. */
#define PETAL_BLOCK_BYTES 65536u
enum block_state {
    BLOCK_UNCHECKED = 0,
    BLOCK_WANTED = 1,  /* about to be changed, but not checked yet */
    BLOCK_DAMAGED = 2, /* differs from its checksum: a query has found that */
    BLOCK_CHECKED = 3, /* agrees with its checksum */
    BLOCK_CHANGED = 4  /* checked, and changed since */
};

/* How keys are taken apart where several threads build a filter by regions (filter/builder.c): into
 * words of 64 bits, each of which sets bits of one line of 64 bytes only. Words of one kind are
 * added alike; a scheme has up to PETAL_PART_KINDS kinds. */
#define PETAL_PART_KINDS 2u
struct parts {
    uint32_t (*kinds)(const struct shape *shape);
    uint32_t (*words)(const struct shape *shape); /* of each kind that a key has */
    /* Writes words and the numbers of their lines, words() for each hash. */
    void (*split)(const struct bit_array *array, uint32_t kind, const uint64_t *hashes,
                  size_t count, uint64_t *words, uint64_t *lines);
    void (*add)(const struct bit_array *array, uint32_t kind, const uint64_t *words, size_t count);
};

/* An array above this size is not in the second-level cache: batches then fetch ahead. Below, that
 * costs more than it brings. */
#ifdef __wasm__ /* which has no way to fetch ahead */
#define PETAL_CACHED_BYTES UINT64_MAX
#else
#define PETAL_CACHED_BYTES ((uint64_t)1 << 20)
#endif

/* The whole way of a key in one function, hash, positions and bits: for a scheme and the hash that
 * it mostly goes with. The same answers and bits as hash and kernel one after the other. add counts
 * the keys in *items as the scheme does, and returns PETAL_OK or PETAL_SEEN. The functions for many
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

/* These functions, for one filter: what they need of it is at hand. */
struct direct {
    struct direct_calls calls;
    const struct bit_array *array;
    uint8_t *lines; /* the array's bytes, of 64 a line */
    uint64_t line_count;
    uint64_t *items;
    const void *table; /* the kernel's own */
    bool is_near;      /* the array is in cache */
    /* Keys that are looked up, or added, by one call of the functions for many. 0: by none. */
    uint32_t max_contains, max_add;
    uint64_t seed, flip; /* flip, flips: what XXH3 makes of the seed (hash.h) */
    struct xxh3_flips flips;
};

/* In a stream of new and old keys nobody can foresee the answer, so there is no branch on it. */
static inline petal_status status_of_add(bool is_new)
{
    return (petal_status)(PETAL_SEEN - is_new);
}

_Static_assert(PETAL_SEEN - 1 == PETAL_OK, "status_of_add() counts on it");

/* A hash is array->hash_words words; `hashes` are that times `count`. */
struct kernel {
    const char *name;
    bool (*usable)(void); /* does this CPU have what the kernel needs? NULL: any has */
    bool (*add)(const struct bit_array *array,
                const uint64_t *hash); /* true: some bit was clear before */
    bool (*contains)(const struct bit_array *array, const uint64_t *hash);
    /* results[i] is 1 or 0 for each hash, and their sum is returned. The results of adding are
     * those of one at a time. */
    size_t (*add_many)(const struct bit_array *array, const uint64_t *hashes, size_t count,
                       uint8_t *results);
    size_t (*contains_many)(const struct bit_array *array, const uint64_t *hashes, size_t count,
                            uint8_t *results);
    /* add and add_many for threads that add to one array at the same time, while others ask it:
     * they count the keys in the stripes. NULL if the scheme has no such thing. */
    bool (*add_shared)(const struct bit_array *array, struct stripes *stripes,
                       const uint64_t *hash);
    size_t (*add_many_shared)(const struct bit_array *array, struct stripes *stripes,
                              const uint64_t *hashes, size_t count, uint8_t *results);
    /* Of a scheme whose layers are tried in turn, which has these and nothing else: an enum turn
     * for a hash, and for each of many. */
    uint8_t (*take_turn)(const struct bit_array *array, const uint64_t *hash);
    void (*take_turns)(const struct bit_array *array, const uint64_t *hashes, size_t count,
                       uint8_t *turns);
    const struct parts *parts; /* NULL: keys cannot be taken apart */
    /* Fills in calls and table for keys with this hash; false if there are none. NULL: there are
     * none at all. */
    bool (*direct)(struct direct *way, uint32_t hash);
};

/* What a layer answers if layers are tried in turn. */
enum turn { TURN_ABSENT = 0, TURN_IN = 1, TURN_NEXT = 2 /* the next layer answers */ };

static inline bool kernel_is_usable(const struct kernel *kernel)
{
    return !kernel->usable || kernel->usable();
}

/* Notes that the block of a byte is to change. True: it must be checked before. Atomic, as several
 * threads may do so; then all blocks have been checked.
 * NOLINTNEXTLINE(readability-non-const-parameter): the builtin stores through it */
static inline bool note_change(uint8_t *blocks, uint64_t byte)
{
    uint8_t *block = &blocks[byte / PETAL_BLOCK_BYTES],
            state = __atomic_load_n(block, __ATOMIC_RELAXED);
    if (state == BLOCK_CHANGED) return false;
    bool is_checked = state == BLOCK_CHECKED;
    __atomic_store_n(block, is_checked ? BLOCK_CHANGED : BLOCK_WANTED, __ATOMIC_RELAXED);
    return !is_checked;
}

/* Numbers of counters: those that are not zero, and those of them that can count no higher. */
struct counts {
    uint64_t not_zero, saturated;
};

/* What a scheme does otherwise whose positions hold counters in place of bits. shape.bits is then
 * the number of counters. */
struct counters {
    uint32_t bits; /* of a counter; counter i begins at bit i * bits of the bytes */
    /* Counts down. results[i] is 1, or 0 for a key that is absent, and their sum is returned; as if
     * one at a time. */
    size_t (*remove_many)(const struct bit_array *array, const uint64_t *hashes, size_t count,
                          uint8_t *results);
    /* Whole arrays, of whole lines. */
    struct counts (*count)(const uint8_t *bytes, uint64_t size_bytes);
    uint64_t (*count_common)(const uint8_t *a, const uint8_t *b,
                             uint64_t size_bytes);                            /* not zero in both */
    void (*merge)(uint8_t *to, const uint8_t *from, uint64_t size_bytes);     /* sums */
    void (*intersect)(uint8_t *to, const uint8_t *from, uint64_t size_bytes); /* the lower ones */
    /* The scheme of the same positions with bits, and the array's bits there: those of the counters
     * that are not zero. */
    uint32_t bit_scheme;
    void (*to_bits)(const struct bit_array *array, uint8_t *bits); /* `bits` are zeroed before */
};

/* k of most foreign files has 16 to 64 bits, but nobody's filter has more than this. */
#define PETAL_MOST_HASHES 1024u

/* Except layers of RedisBloom, which halve the rate until no double is lower: 1,075. A walk
 * (walk.inc) has room for that many. */
#define PETAL_MAX_HASHES 1088u

#define PETAL_MAX_POSITIONS 64u

/* A row. A member that is left out (0, NULL) has the default that is named with it. */
struct scheme_def {
    uint32_t id;
    const char *name;
    const struct kernel *const *kernels; /* best first, generic last, then NULL */
    /* A byte of each place in the array that the bits of a hash lie in, up to PETAL_MAX_HASHES;
     * returns how many. No place reaches over the end of a block. */
    uint32_t (*places)(const struct bit_array *array, const uint64_t *hash, uint64_t *bytes);
    /* Of a walk: its k positions. */
    void (*trace)(const struct bit_array *array, const uint64_t *hash, uint64_t *positions);

    /* Optional: a query by the bytes that it reads. The bits of the array that are all set for a
     * key that is in (counters: the lowest bit of each that is not zero), up to
     * PETAL_MAX_POSITIONS; returns how many. */
    uint32_t (*positions)(const struct shape *shape, uint64_t hash, uint64_t *positions);

    uint32_t hash_words; /* of the hashes it goes with: hash_def.words; 0: one per position */
    uint32_t max_hashes; /* per line of a key */
    uint64_t step_bits;  /* m is a multiple of it */
    uint64_t max_bits;
    /* The place of a key is a line of that many bits (or a bit), whose number is the high half of a
     * product with the number of lines; what is set in it does not depend on that number. So
     * neighbouring lines fold (filter/fold.c). 0: it is not so. */
    uint32_t fold_bits;
    uint32_t unit_bytes; /* the array's size is a multiple of it; default: 1 */
    /* Position i is bit (i ^ bit_order) of the bytes: 0, or 56 for big-endian words of 64 bits. */
    uint32_t bit_order;
    const struct counters *counters; /* NULL: a position is a bit */
    /* A key is in one layer only, found by trying them in turn (kernel.take_turn); such filters are
     * built from all their keys at once, and never change. */
    bool is_in_turn;
    bool counts_new_only; /* items are keys that changed a bit, not all keys handed to add */
    /* the original takes none: adding it is PETAL_ERR_UNSUPPORTED, and it is never in */
    bool no_empty_key;

    /* Brings a shape into the scheme's form (whole lines, a choice of lines_per_key), or says why
     * it can't be. Default: petal_normalize_foreign(). */
    petal_status (*normalize)(const struct scheme_def *self, struct shape *shape,
                              petal_error *error);

    /* The bytes of the array, of a normalized shape, from whose end on all are zero; and what an
     * array of this shape needs beside it. Default: m bits, or counters; nothing. */
    uint64_t (*used_bytes)(const struct shape *shape);
    void (*prepare)(struct bit_array *array);

    /* The exact model: the rate at `keys` distinct keys, 1 for a full filter; the rate of an absent
     * key given these bits; the standard deviation of the number of set bits at `keys` distinct
     * keys; the different bits that a key sets in the mean. NAN: no model is good enough. Default:
     * k positions that are as good as uniform over the first reachable_bits. For the rate of given
     * bits some time is allowed, which a filter of several `layers` shares out to them. */
    double (*rate)(const struct scheme_def *self, const struct shape *shape, double keys);
    double (*rate_of_bits)(const struct scheme_def *self, const struct bit_array *array,
                           uint64_t bits_set, uint64_t layers);
    struct course course; /* how positions hang together: COURSE() */
    double (*bits_set_sd)(const struct shape *shape, double keys);
    double (*bits_per_key)(const struct shape *shape);
    uint64_t reachable_bits; /* positions from here on are never used; default: all are */
};

/* The row of a scheme, or NULL. */
const struct scheme_def *petal_scheme_find(uint32_t id);

/* For numbers without a row: the name of a scheme that this build leaves out, or NULL. */
const char *petal_scheme_left_out(uint32_t id);

/* The best kernel of a scheme that this CPU can run. */
const struct kernel *petal_scheme_kernel(const struct scheme_def *scheme);

/* The best one for a filter that threads change at the same time. Under ThreadSanitizer that is the
 * generic one: C has no atomic vectors, so a vector that another thread changes is a race to it,
 * though CPUs read each of its words whole. */
const struct kernel *petal_scheme_kernel_shared(const struct scheme_def *scheme);

/* The bits of the array of a normalized shape after which all are zero. */
uint64_t petal_shape_used_bits(const struct shape *shape);

/* Bytes of the array of a normalized shape. The native schemes have whole lines of 64. */
uint64_t petal_shape_bytes(const struct shape *shape);

/* The members of a row, or their defaults. */
petal_status petal_normalize(struct shape *shape, petal_error *error);
double petal_scheme_rate(const struct scheme_def *scheme, const struct shape *shape, double keys);
double petal_scheme_rate_of_bits(const struct scheme_def *scheme, const struct bit_array *array,
                                 uint64_t bits_set, uint64_t layers);
double petal_scheme_bits_set_sd(const struct scheme_def *scheme, const struct shape *shape,
                                double keys);

/* The defaults, for rows that add to them: normalize accepts 1 to max_hashes hashes and a multiple
 * of step_bits up to max_bits. */
petal_status petal_normalize_foreign(const struct scheme_def *self, struct shape *shape,
                                     petal_error *error);
double petal_uniform_rate(const struct scheme_def *self, const struct shape *shape, double keys);

/* The bits that can be set. */
uint64_t petal_scheme_reachable(const struct scheme_def *scheme, uint64_t bits);

/* PETAL_ERR_LIMIT above the scheme's max_bits. */
petal_status petal_check_most_bits(const struct scheme_def *scheme, uint64_t bits,
                                   petal_error *error);

/* Are all bits after the last position clear? */
bool petal_tail_is_clear(const struct shape *shape, const uint8_t *bytes, uint64_t size_bytes);

/* The same where only the bytes from this offset on are here. */
bool petal_end_is_clear(const struct shape *shape, uint64_t offset, const uint8_t *end,
                        uint64_t end_bytes);

/* The rows. */
#define SCHEME_ROW(LIBRARY, NAME, name, number) extern const struct scheme_def petal_scheme_##name;
PETAL_SCHEMES(SCHEME_ROW)

#endif
