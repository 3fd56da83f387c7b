/* petal.h - Bloom filters: one C core, one file, every language.
 *
 * A Bloom filter answers "certainly not in the set" or "probably in the set" in a few bits a key. It never
 * misses a key that was added; of the keys that were not, it wrongly says "probably" for a planned fraction, its
 * false-positive rate. This header is the whole contract: what is not said here is not promised.
 *
 *     petal_options o = PETAL_OPTIONS_INIT;
 *     petal_filter *f = NULL;
 *     o.capacity = 1000000;                                     // distinct keys
 *     o.rate = 0.01;                                            // 1 % false positives when they are all in
 *     if (petal_create(&o, &f, NULL) != PETAL_OK) return 1;
 *     petal_add(f, "https://example.com/", 20);
 *     if (petal_contains(f, "https://example.org/", 20)) ...    // probably
 *     petal_save(f, "urls.petal", 0, NULL);
 *     petal_free(f);
 *
 * Conventions
 *   Keys        are bytes: any bytes, any length, the empty key too. petal_encode_*() gives the bytes of numbers.
 *   Sizes       carry their unit in the name. All are 64-bit; a size that would overflow is refused, never wrapped.
 *   Status      PETAL_OK is 0, positive values are success with news, negative values are failures.
 *   petal_error is optional everywhere (NULL: not wanted). It is written on failure only.
 *   Structs     that begin with `struct_size` must be set up with their _INIT macro, so that a program built
 *               against an older header goes on working.
 *   Pointers    must not be NULL unless their comment allows it. A NULL key is allowed where its size is 0.
 *   Ownership   A petal_filter is released by petal_free(). Nothing else returned here is owned by the caller.
 *   Threads     Any number of threads may ask one filter (contains*, hash_key, get_info, save, serialize) at the
 *               same time without a lock, as long as none changes it. Changing calls need exclusive use, but for
 *               adding to a filter that was given to petal_share().
 *               The library has no mutable global state.
 */
#ifndef PETAL_H
#define PETAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(PETAL_SHARED_LIBRARY) && defined(__GNUC__)
#define PETAL_API __attribute__((visibility("default")))
#else
#define PETAL_API
#endif

/* The one place where the version is written; the build, the file and the tool read it from here. */
#define PETAL_VERSION_MAJOR 0
#define PETAL_VERSION_MINOR 1
#define PETAL_VERSION_PATCH 0

/* The version of the library that is linked, such as "0.1.0". Static storage. */
PETAL_API const char *petal_version(void);

/* ------------------------------------------------------------------------------------------------ status */

typedef enum petal_status {
    PETAL_OK = 0,
    PETAL_SEEN = 1,      /* petal_add(): the filter had the key before (or a false positive) */
    PETAL_ABSENT = 2,    /* petal_remove(): the key was certainly not there, and nothing was changed */
    PETAL_UNCHECKED = 3, /* petal_verify(): the filter has no checksums to compare with */

    PETAL_ERR_ARGUMENT = -1,        /* an argument is outside what the call takes */
    PETAL_ERR_UNREACHABLE = -2,     /* no filter of this scheme reaches the rate; the message names the floor */
    PETAL_ERR_LIMIT = -3,           /* a size overflows or is above a documented limit */
    PETAL_ERR_MEMORY = -4,          /* the allocator returned NULL */
    PETAL_ERR_MISMATCH = -5,        /* merge or intersect of unlike filters; the message names the field */
    PETAL_ERR_READ_ONLY = -6,       /* a change of a filter that was opened or viewed for reading */
    PETAL_ERR_UNSUPPORTED = -7,     /* the scheme or the file kind cannot do this */
    PETAL_ERR_IO = -8,              /* a system call failed; see petal_error.system_errno */
    PETAL_ERR_EXISTS = -9,          /* the file exists and was not to be replaced */
    PETAL_ERR_BUSY = -10,           /* another process is changing the file; try again when it has finished */
    PETAL_ERR_NOT_A_FILTER = -11,   /* the bytes are not a petal file at all */
    PETAL_ERR_NEWER = -12,          /* a petal file, made by a version with features this one does not know */
    PETAL_ERR_TRUNCATED = -13,      /* fewer bytes than the header promises */
    PETAL_ERR_DAMAGED = -14,        /* a checksum does not match, or a field is impossible */
    PETAL_ERR_DIRTY = -15,          /* a writer died before it had finished; see PETAL_OPEN_RECOVER */
    PETAL_ERR_SECRET_MISSING = -16, /* a keyed filter, and no secret was given */
    PETAL_ERR_SECRET_WRONG = -17,   /* another secret than the filter's, or one for a filter without */
    PETAL_ERR_FULL = -18,           /* the filter takes no more keys; see petal_add() */
    PETAL_ERR_REPLACED = -19        /* the file was replaced by another meanwhile; see petal_sync() */
} petal_status;

#define PETAL_NO_OFFSET UINT64_MAX

/* Why a call failed. Plain memory of the caller; no ownership. */
typedef struct petal_error {
    petal_status status;
    int system_errno;  /* errno of the system call that failed, or 0 */
    uint64_t offset;   /* byte of the input at which it was noticed, or PETAL_NO_OFFSET */
    char message[240]; /* one line, no newline: what, and what to do. Does not contain the path. */
} petal_error;

/* A short fixed name, such as "damaged". Never NULL. Static storage. */
PETAL_API const char *petal_status_name(petal_status status);

/* ----------------------------------------------------------------------------------------------- choices */

/* How a hash becomes bit positions (docs/format.md has the exact rules). */
typedef enum petal_scheme {
    PETAL_SCHEME_DEFAULT = 0, /* blocked */
    PETAL_SCHEME_BLOCKED = 1, /* k bits in one 64-byte line (or two): one or two cache misses a key */
    PETAL_SCHEME_CLASSIC = 2, /* k bits anywhere: the fewest bits a key, up to k cache misses */
    PETAL_SCHEME_COUNTING =
        3, /* classic with a 4-bit counter for each bit: keys can be removed, for 4 times the memory */

    /* Those of other libraries' filters (docs/formats). A filter gets one by its format, not by options.scheme. */
    PETAL_SCHEME_GUAVA_MITZ64 = 16,
    PETAL_SCHEME_GUAVA_MITZ32 = 17,
    PETAL_SCHEME_SPARK_V1 = 18,
    PETAL_SCHEME_SPARK_V2 = 19,
    PETAL_SCHEME_PARQUET = 20,
    PETAL_SCHEME_REDISBLOOM = 21,
    PETAL_SCHEME_BITS_AND_BLOOMS = 22,
    PETAL_SCHEME_DCSO = 23,
    PETAL_SCHEME_DATASKETCHES = 24,
    PETAL_SCHEME_LEVELDB = 25,
    PETAL_SCHEME_ROCKSDB = 26,
    PETAL_SCHEME_BLOOM_FILTERS = 27,
    PETAL_SCHEME_BLOOMFILTER = 28,
    PETAL_SCHEME_JS_TUTORIAL = 29,
    PETAL_SCHEME_PYBLOOM = 30,
    PETAL_SCHEME_HADOOP = 31,
    PETAL_SCHEME_HBASE = 32,
    PETAL_SCHEME_ORC = 33,
    PETAL_SCHEME_CASSANDRA = 34,
    PETAL_SCHEME_CASSANDRA_BE = 35,
    PETAL_SCHEME_OLDPANDA_PY32 = 36,
    PETAL_SCHEME_OLDPANDA_GO32 = 37,
    PETAL_SCHEME_CASSANDRA_2 = 38
} petal_scheme;

/* How key bytes become a 64-bit hash. */
typedef enum petal_hash {
    PETAL_HASH_DEFAULT = 0, /* xxh3, or siphash where a secret is given */
    PETAL_HASH_XXH3 = 1,    /* XXH3_64bits with a 64-bit seed: fast, not meant to withstand chosen keys */
    PETAL_HASH_SIPHASH = 2, /* SipHash-2-4 under a 128-bit secret: for keys that strangers choose */

    /* Those of other libraries' filters, chosen by the format. */
    PETAL_HASH_MURMUR3_X64_128 = 16,
    PETAL_HASH_MURMUR3_SPARK = 17,
    PETAL_HASH_XXH64 = 18,
    PETAL_HASH_MURMUR64A = 19,
    PETAL_HASH_MURMUR2 = 20,
    PETAL_HASH_BITS_AND_BLOOMS = 21,
    PETAL_HASH_FNV1 = 22,
    PETAL_HASH_DATASKETCHES = 23,
    PETAL_HASH_LEVELDB = 24,
    PETAL_HASH_XXPH3 = 25,
    PETAL_HASH_BLOOM_FILTERS = 26,
    PETAL_HASH_FNV1A_UTF16 = 27,
    PETAL_HASH_JS_TUTORIAL = 28,
    PETAL_HASH_PYBLOOM = 29,
    PETAL_HASH_HADOOP_MURMUR = 30,
    PETAL_HASH_HADOOP_JENKINS = 31,
    PETAL_HASH_HBASE_MURMUR3 = 32,
    PETAL_HASH_HBASE_JENKINS = 33,
    PETAL_HASH_ORC = 34,
    PETAL_HASH_ORC_LONG = 35,
    PETAL_HASH_CASSANDRA = 36,
    PETAL_HASH_HBASE_MURMUR2 = 37
} petal_hash;

/* What keys were before they became bytes: recorded in the file for those who query it later (the tool's
 * --key-type). The library itself takes bytes, and does nothing with this. */
typedef enum petal_key_type {
    PETAL_KEY_TYPE_NONE = 0, /* not recorded: any */
    PETAL_KEY_TYPE_TEXT = 1, /* the bytes themselves */
    PETAL_KEY_TYPE_UTF16LE = 2,
    PETAL_KEY_TYPE_I32 = 3, /* petal_encode_i32() */
    PETAL_KEY_TYPE_I64 = 4,
    PETAL_KEY_TYPE_F64 = 5,
    PETAL_KEY_TYPE_HEX = 6,   /* bytes, written as hex digits */
    PETAL_KEY_TYPE_BASE64 = 7 /* bytes, written in base64 */
} petal_key_type;

/* Where the memory of filters comes from. Both functions must be thread-safe if filters are used from threads. */
typedef struct petal_allocator {
    /* size_bytes of zeroed memory aligned like malloc's, or NULL. Lazily zeroed pages (calloc) keep creating
     * a big filter cheap. */
    void *(*alloc_zeroed)(void *context, size_t size_bytes);
    void (*release)(void *context, void *memory, size_t size_bytes);
    void *context;
} petal_allocator;

/* Why a filter has several layers of bits. */
typedef enum petal_policy {
    PETAL_POLICY_NONE = 0,    /* it has one (or grows by the rules of another library) */
    PETAL_POLICY_GROWING = 1, /* it gets a larger one when the last is full */
    PETAL_POLICY_KEYS = 2,    /* rotating: the keys of the last so many calls of add */
    PETAL_POLICY_TIME = 3     /* rotating: the keys of the last so many milliseconds */
} petal_policy;

#define PETAL_SECRET_BYTES 16
#define PETAL_METADATA_MAX_BYTES 65536

/* What to create. Zero means "not given". One of these ways fixes the size:
 *   capacity and rate           the smallest filter whose rate at `capacity` keys is at most `rate`
 *   capacity and memory_bytes   the best rate that fits
 *   bits and hashes             exactly this (capacity, or capacity and rate, are then only recorded)
 *   capacity and bits           exactly these bits, and the number of hashes with the best rate
 * A rate always needs a capacity, and so does memory_bytes. hashes and lines_per_key may be fixed beside each of them. Whatever
 * has no effect is refused. Filters of other formats know capacity and rate, and bits and hashes.
 * Two kinds of filter have several layers of bits. A key is in when it is in any layer; the rates of the layers add up to
 * `rate` at most.
 *   growth       For sets of unknown size: `capacity` is that of the first layer, and when the last is full a new one is made, for
 *                growth_step times as many keys at growth_ratio times the rate. `rate` holds at any number of keys. A key
 *                that any layer has is not added again. At most 64 layers, and 2^48 bits in each; then adding a new key is
 *                PETAL_ERR_FULL. From 1,000 keys on, by the defaults and at 1 %, that is beyond 10^13 keys.
 *   window_keys  Rotating, "seen in the last N": a key is found for at least the next window_keys calls of add (repeats
 *                count), and forgotten, up to `rate`, after at most a window and one generation more. A ring of generations,
 *                the oldest dropped whole; every add puts the key into the newest, so a key asked for by adding stays in.
 *   window_ms    Rotating, "seen in the last 7 days": the same by a clock that the caller hands in, see petal_advance().
 *                A key is found for at least window_ms, and forgotten, up to `rate`, after at most one span more, that is
 *                window_ms / (generations - 1). window_keys is how many keys a window holds at most; a key counts
 *                once for each generation in which it comes. However unevenly they come, `rate` holds up to there. With
 *                more, `rate` is exceeded and forgetting is late, but no key is dropped early: see petal_is_overfull().
 *                The filter begins with one generation and has at most 2 * generations - 1, each of the same size.
 */
typedef struct petal_options {
    size_t struct_size;
    petal_scheme scheme;
    petal_hash hash;
    uint64_t capacity;      /* distinct keys the filter is rated for */
    double rate;            /* asked false-positive rate at capacity, above 0 and below 1 */
    uint64_t memory_bytes;  /* bytes of bits, at most */
    uint64_t bits;          /* m; blocked rounds up to whole lines of 512 */
    uint32_t hashes;        /* k: blocked 1-16 a line, classic 1-64. With capacity and rate: fixes k, else chosen */
    uint32_t lines_per_key; /* blocked: 1, 2, or 0 for the planner's choice (2 only below a rate of 0.0002) */
    uint64_t seed;          /* of xxh3. Filters can be merged only where the seed is the same */
    const void *secret;     /* PETAL_SECRET_BYTES bytes for siphash, copied; never written to any file */
    const void *metadata;   /* anything of the user's, kept in the file; copied; may be NULL */
    size_t metadata_bytes;  /* at most PETAL_METADATA_MAX_BYTES */
    const petal_allocator *allocator; /* copied; NULL: the system's, with huge pages for big arrays */
    /* Make the filter that another library would make of capacity and rate (or bits and hashes): its scheme and its
     * sizing, to the bit. See petal_format_name(). NULL: Petal's own. */
    const char *format;
    bool growth;             /* with capacity and rate */
    uint32_t growth_step;    /* 2 to 64; 0: 2 */
    double growth_ratio;     /* above 0 and below 1; 0: 0.85, which needs the fewest bits (docs/choosing.md) */
    uint64_t window_keys;    /* with rate, and without capacity */
    uint64_t window_ms;      /* with window_keys */
    uint32_t generations;    /* of a window, 2 to 32; 0: as few as need hardly more than the least memory */
    petal_key_type key_type; /* recorded in the file */
    bool refuse_overfull;    /* adding to an overfull filter is PETAL_ERR_FULL; not recorded in the file */
} petal_options;

#define PETAL_OPTIONS_INIT \
    { \
        sizeof(petal_options), PETAL_SCHEME_DEFAULT, PETAL_HASH_DEFAULT, 0, 0.0, 0, 0, 0, 0, 0, NULL, NULL, 0, NULL, \
            NULL, false, 0, 0.0, 0, 0, 0, PETAL_KEY_TYPE_NONE, false \
    }

/* -------------------------------------------------------------------------------------- what a filter is */

typedef struct petal_filter petal_filter;

/* Everything there is to know about a filter, existing or planned. Unknown doubles are NAN. */
typedef struct petal_info {
    size_t struct_size;
    petal_scheme scheme;
    petal_hash hash;
    uint32_t hashes;        /* k */
    uint32_t lines_per_key; /* blocked: 1 or 2; otherwise 0 */
    uint32_t layers;        /* bit arrays; of several, hashes is that of the newest, and sizes are sums */
    uint64_t bits;          /* m; where counter_bits is not 0, the number of counters */
    uint64_t bytes;         /* of the array in memory and in the file: m bits or counters in whole 64-byte lines */
    uint32_t counter_bits;  /* counting: 4; otherwise 0 */
    uint64_t seed;
    bool keyed;            /* siphash under a secret */
    uint32_t key_id;       /* tells which secret; 0 where not keyed */
    uint64_t capacity;     /* 0: not recorded */
    double target_rate;    /* as asked; NAN: not recorded */
    double predicted_rate; /* of the exact model at `capacity` keys; NAN without a capacity */

    /* Of the bits as they are now. petal_plan() leaves these at zero, NAN and false. */
    /* Keys handed to add, repeats included (growing: without those it had), less those removed; merge sums; a hint. */
    uint64_t items;
    uint64_t bits_set;           /* counting: counters that are not zero */
    uint64_t saturated_counters; /* counting: those that stick at 15; see petal_remove() */
    double fill;                 /* bits_set / bits */
    bool saturated;              /* every bit is set: estimated_items is infinite, estimated_rate 1 */
    /* Certainly more distinct keys than `capacity`: estimated_items is above it by more than 5 sd. With a window of time:
     * a window held more than window_keys. */
    bool overfull;
    double estimated_items;     /* distinct keys, from the bits */
    double estimated_items_low; /* its 95 % interval */
    double estimated_items_high;
    double
        estimated_rate; /* of an absent key, given these very bits; of several layers as if they were independent, which at
                            * rates of 30 % is 1 % too low for filters that grow, and at 1 % as good as exact */
    bool content_id_known; /* false while a writable map has unsynced changes */
    uint64_t content_id;   /* equal for equal parameters and bits, whatever the order of adding */

    const char *scheme_name; /* "blocked", ... static storage */
    const char *hash_name;   /* "xxh3", ... static storage */
    const char
        *format_name; /* the container it came in or was made for; "petal" for new native filters; static storage */

    petal_policy policy;  /* where it is not NONE: target_rate is that of the whole; items are those of the layers */
    uint32_t growth_step; /* growing */
    double growth_ratio;  /* growing */
    uint64_t window_keys; /* rotating; capacity is the same */
    uint64_t window_ms;   /* rotating by time */
    uint64_t clock_ms;    /* rotating by time: the latest time told; 0: none yet */
    uint32_t generations; /* rotating: as planned; `layers` are those there are now */
    petal_key_type key_type;
    bool takes_empty_key; /* false: the foreign scheme does not accept the key of no bytes */
    bool live;            /* opened with PETAL_OPEN_LIVE while another process was changing the file */
    /* Opened with PETAL_OPEN_RECOVER: blocks that differ from their last checksums, changed by the writer that died
     * (or damaged, which cannot be told apart), and how many there are. Otherwise 0. */
    uint64_t recovered_blocks, blocks;
} petal_info;

#define PETAL_INFO_INIT \
    { \
        sizeof(petal_info), PETAL_SCHEME_DEFAULT, PETAL_HASH_DEFAULT, 0, 0, 0, 0, 0, 0, 0, false, 0, 0, 0.0, 0.0, 0, \
            0, 0, 0.0, false, false, 0.0, 0.0, 0.0, 0.0, false, 0, NULL, NULL, NULL, PETAL_POLICY_NONE, 0, 0.0, 0, 0, \
            0, 0, PETAL_KEY_TYPE_NONE, false, false, 0, 0 \
    }

/* One layer of a filter. Unknown doubles are NAN. */
typedef struct petal_layer {
    size_t struct_size;
    uint32_t hashes;
    uint64_t bits;
    uint64_t bytes;
    uint64_t capacity;
    double target_rate;
    /* Growing, and rotating by time: keys that changed its bits; otherwise those handed to add while it was the newest. */
    uint64_t items;
    uint64_t bits_set;
    double estimated_items;
    double estimated_rate;
    uint64_t from_ms, to_ms; /* rotating by time: of its first and last keys, at the widest; 0 while no time is known */
} petal_layer;

#define PETAL_LAYER_INIT \
    { \
        sizeof(petal_layer), 0, 0, 0, 0, 0.0, 0, 0, 0.0, 0.0, 0, 0 \
    }

/* ---------------------------------------------------------------------------------------------- planning */

/* What petal_create() would make of `options`, without making it: m, k, bytes and predicted rate. Takes well
 * under a second at any size. Inverts the exact model of the scheme (docs/format.md), so that the rate at
 * `capacity` keys, averaged over seeds, is the one asked or lower.
 * PETAL_ERR_ARGUMENT, PETAL_ERR_UNREACHABLE (message names the lowest rate there is), PETAL_ERR_LIMIT. */
PETAL_API petal_status petal_plan(const petal_options *options, petal_info *plan, petal_error *error);

/* The rate of the exact model once `keys` distinct keys are in a filter of these parameters (as filled in by
 * petal_plan() or petal_get_info()). 0 at 0 keys. NAN for several layers, and for an info that no filter can have. */
PETAL_API double petal_predict_rate(const petal_info *info, uint64_t keys);

/* The textbook formulas (Bloom 1970; Broder and Mitzenmacher 2004), for teaching and for checking others. They
 * describe an ideal, infinitely large, unblocked filter; planning above does not use them. NAN outside their domain.
 *   petal_textbook_bits    m = -n ln p / (ln 2)^2
 *   petal_textbook_hashes  k = (m / n) ln 2
 *   petal_textbook_rate    p = (1 - e^(-kn/m))^k */
PETAL_API double petal_textbook_bits(double keys, double rate);
PETAL_API double petal_textbook_hashes(double bits, double keys);
PETAL_API double petal_textbook_rate(double bits, double hashes, double keys);

/* -------------------------------------------------------------------------------------------- life cycle */

/* An empty filter in memory, *filter. Pages are touched only as keys arrive. On failure *filter is NULL.
 * Errors: those of petal_plan(), and PETAL_ERR_MEMORY. */
PETAL_API petal_status petal_create(const petal_options *options, petal_filter **filter, petal_error *error);

/* An empty filter in memory with the parameters of `pattern`: scheme, hash, seed or secret, bits, hashes, lines a key, capacity
 * and rate; the metadata is not copied. Filters made like one can be merged, and partial ones merged are, byte for byte, the
 * filter that was given all keys. A filter of several layers is no pattern (PETAL_ERR_UNSUPPORTED). */
PETAL_API petal_status petal_create_like(const petal_filter *pattern, petal_filter **filter, petal_error *error);

/* A private copy in memory, writable even if `filter` is not, with the same parameters, keys and metadata. */
PETAL_API petal_status petal_clone(const petal_filter *filter, petal_filter **copy, petal_error *error);

/* From now on any number of threads may add to the filter (petal_add*) and ask it (petal_contains*) at the same time: no bit is ever
 * lost, and the bits are those of adding one after the other. Of threads that add the same new key at once, one is told that it was
 * new. Everything else (saving, info, merging, ...) still needs the adding to be over.
 * An add takes one atomic operation and may wait a moment for another thread's; asking is as fast as ever. To fill a filter
 * that nobody asks meanwhile, a petal_builder is faster.
 * PETAL_ERR_UNSUPPORTED for filters of several layers, for those that count, and for most foreign schemes. */
PETAL_API petal_status petal_share(petal_filter *filter, petal_error *error);

/* Removes every key. Parameters, capacity, metadata and clock stay. A filter that grows goes back to its first layer, but in a map,
 * where it keeps them all. */
PETAL_API petal_status petal_clear(petal_filter *filter, petal_error *error);

/* Releases the filter; NULL is allowed. A writable map is synced first if it has changes; a caller who must know
 * whether that worked calls petal_sync() before. Memory given to petal_view() stays the caller's. */
PETAL_API void petal_free(petal_filter *filter);

/* -------------------------------------------------------------------------------------- adding and asking */

/* Adds a key. PETAL_OK: the key was certainly new. PETAL_SEEN: every bit was set already, so it was probably there (of
 * several layers: in one of them; a rotating filter has put it into its newest generation all the same). Nothing else
 * on success; petal_is_overfull() tells when a larger filter is due.
 * A key that was not taken is not counted, and keys that are in are found as before:
 *   PETAL_ERR_READ_ONLY    the filter was opened or viewed for reading
 *   PETAL_ERR_FULL         it cannot grow by another layer, or is overfull and was made with refuse_overfull
 *   PETAL_ERR_LIMIT        the next layer is above the memory limit it was opened with
 *   PETAL_ERR_MEMORY       there is no memory for the next layer (nothing else allocates)
 *   PETAL_ERR_UNSUPPORTED  a map cannot grow; the foreign scheme does not accept the empty key
 *   PETAL_ERR_DAMAGED      a map: a block that the key lies in does not match its checksum
 *   PETAL_ERR_IO           a map: the file could not be marked as dirty */
PETAL_API petal_status petal_add(petal_filter *filter, const void *key, size_t key_bytes);

/* False: the key was certainly never added. True: it probably was. */
PETAL_API bool petal_contains(const petal_filter *filter, const void *key, size_t key_bytes);

/* A key of a batch: borrowed bytes. */
typedef struct petal_key {
    const void *data;
    size_t size_bytes;
} petal_key;

/* Like petal_add() for each key in order, but hashes and fetches ahead. was_new[i] is set to 1 or 0 for each key
 * and *new_count to their sum; both may be NULL. Of equal new keys in one batch only the first counts as new.
 * PETAL_OK, or the failures of petal_add(). If the foreign scheme does not accept the empty key and there is one among
 * them, none is added (PETAL_ERR_UNSUPPORTED). */
PETAL_API petal_status petal_add_many(petal_filter *filter, const petal_key *keys, size_t key_count, uint8_t *was_new,
                                      size_t *new_count);

/* Like petal_contains() for each key, but hashes and fetches ahead. found[i] is set to 1 or 0; it may be NULL.
 * Returns how many are probably in. */
PETAL_API size_t petal_contains_many(const petal_filter *filter, const petal_key *keys, size_t key_count,
                                     uint8_t *found);

/* Is any / is each of the keys probably in? Stops as soon as it knows. No keys: any is false, all is true. */
PETAL_API bool petal_contains_any(const petal_filter *filter, const petal_key *keys, size_t key_count);
PETAL_API bool petal_contains_all(const petal_filter *filter, const petal_key *keys, size_t key_count);

/* The 64-bit hash of a key under this filter's hash and seed or secret. Filters with the same ones can share it. */
PETAL_API uint64_t petal_hash_key(const petal_filter *filter, const void *key, size_t key_bytes);

/* The same for a batch: hashes[i] is that of keys[i]. */
PETAL_API void petal_hash_keys(const petal_filter *filter, const petal_key *keys, size_t key_count, uint64_t *hashes);

/* Whether hashes can stand for all keys of this filter, in the calls below: not where its scheme needs more than 64 bits of
 * hash, or takes no empty key. Petal's own schemes say yes. */
PETAL_API bool petal_takes_hashes(const petal_filter *filter);

/* Like the calls above for a hash instead of a key. The hash must be petal_hash_key()'s or another well-mixed
 * 64-bit hash: small integers, pointers or 32-bit hashes would all land in the first line and say "probably"
 * of everything. A key and its petal_hash_key() are the same member. Where a scheme needs more than 64 bits of hash, adding
 * is PETAL_ERR_UNSUPPORTED and the answer is always "probably". */
PETAL_API petal_status petal_add_hash(petal_filter *filter, uint64_t hash);
PETAL_API bool petal_contains_hash(const petal_filter *filter, uint64_t hash);
PETAL_API petal_status petal_add_hashes(petal_filter *filter, const uint64_t *hashes, size_t hash_count,
                                        uint8_t *was_new, size_t *new_count);
PETAL_API size_t petal_contains_hashes(const petal_filter *filter, const uint64_t *hashes, size_t hash_count,
                                       uint8_t *found);

/* The key bytes of numbers, the same in every language: 8 bytes, little-endian; for doubles IEEE-754 with -0 as +0
 * and every NaN as 7ff8000000000000. Text is its UTF-8 bytes without a terminator and needs no helper. */
PETAL_API void petal_encode_i32(int32_t value, uint8_t key[4]); /* 4 bytes: Guava's integerFunnel */
PETAL_API void petal_encode_i64(int64_t value, uint8_t key[8]);
PETAL_API void petal_encode_f64(double value, uint8_t key[8]);

/* Like petal_add() and petal_contains() of petal_encode_*(value). The batches are the fastest way in there is: they hash
 * several numbers at a time. */
PETAL_API petal_status petal_add_i64(petal_filter *filter, int64_t value);
PETAL_API bool petal_contains_i64(const petal_filter *filter, int64_t value);
PETAL_API petal_status petal_add_many_i64(petal_filter *filter, const int64_t *values, size_t value_count,
                                          uint8_t *was_new, size_t *new_count);
PETAL_API size_t petal_contains_many_i64(const petal_filter *filter, const int64_t *values, size_t value_count,
                                         uint8_t *found);
PETAL_API petal_status petal_add_f64(petal_filter *filter, double value);
PETAL_API bool petal_contains_f64(const petal_filter *filter, double value);

/* ----------------------------------------------------------------------------------------------- removing */

/* Takes a key out of a counting filter. PETAL_OK: it was counted down once. PETAL_ABSENT: it was certainly not in, and nothing
 * was changed. PETAL_ERR_UNSUPPORTED: the scheme does not count (all others), or the filter has several layers; and those of
 * petal_add() for a filter that cannot be written.
 *
 * Each petal_add() of a key is undone by one petal_remove() of it: what was added twice is in until it is removed twice. So
 * never leave out an add because petal_contains() says "probably". REMOVE ONLY KEYS THAT WERE ADDED: one that was not may
 * answer "probably" too, at the filter's false-positive rate; removing it takes counts away from other keys, which may
 * then go missing, and the promise that no key is ever missed is void.
 *
 * A counter holds up to 15, and sticks once it is there, since it may stand for more: it is never counted down. No key goes missing
 * by that; but a removed key all of whose counters stick, or are held by others, is still "probably" in. At the rated number of
 * distinct keys 1.6e-15 of all counters stick; a key that was added 15 times makes all of its own stick. petal_info has
 * their number. */
PETAL_API petal_status petal_remove(petal_filter *filter, const void *key, size_t key_bytes);

/* Like petal_remove() for each key in order, but fetches ahead. was_removed[i] is set to 1 or 0 for each key and *removed_count to
 * their sum; both may be NULL. PETAL_OK also where some or all were absent. With no keys it tells whether the filter can do it. */
PETAL_API petal_status petal_remove_many(petal_filter *filter, const petal_key *keys, size_t key_count,
                                         uint8_t *was_removed, size_t *removed_count);

/* Like these two for hashes of keys (see petal_add_hash()), and for numbers. */
PETAL_API petal_status petal_remove_hash(petal_filter *filter, uint64_t hash);
PETAL_API petal_status petal_remove_hashes(petal_filter *filter, const uint64_t *hashes, size_t hash_count,
                                           uint8_t *was_removed, size_t *removed_count);
PETAL_API petal_status petal_remove_i64(petal_filter *filter, int64_t value);
PETAL_API petal_status petal_remove_f64(petal_filter *filter, double value);

/* A counting filter without its counts: *converted is a new filter in memory of PETAL_SCHEME_CLASSIC, a quarter as big, with the same m,
 * k, hash, capacity, items and metadata, whose set bits are the counters that are not zero. Where no counter sticks it is, byte
 * for byte, the classic filter that was given just the keys that are in. Every other pair of schemes is PETAL_ERR_UNSUPPORTED:
 * bits are never translated, which would need the keys. On failure *converted is NULL. */
PETAL_API petal_status petal_convert_scheme(const petal_filter *filter, petal_scheme scheme, petal_filter **converted,
                                            petal_error *error);

/* ------------------------------------------------------------------------------------- building big filters */

/* Several threads that fill one filter, without an atomic operation or a wait for each key: every thread sorts its keys by the
 * region of the filter that their bits lie in, into buffers of its own, and a full buffer goes into its region as one batch, by one
 * thread at a time. The bits are those that petal_add() sets, whatever the order. What is new is not told.
 *
 *     petal_builder_options o = PETAL_BUILDER_OPTIONS_INIT;
 *     petal_builder *b;
 *     o.workers = 2;
 *     petal_builder_create(filter, &o, &b, NULL);
 *     ... thread 0: petal_builder_add(b, 0, keys, 1000) again and again, petal_builder_flush(b, 0) at its end; thread 1 with 1
 *     ... then, when both have ended: petal_builder_finish(b, NULL);
 *
 * Makes no threads: the caller's do the work. Until petal_builder_finish() nothing else may use the filter. */
typedef struct petal_builder petal_builder;

typedef struct petal_builder_options {
    size_t struct_size;
    uint32_t workers;                 /* threads that will add: 1 .. PETAL_BUILDER_MAX_WORKERS */
    const petal_allocator *allocator; /* of the buffers, copied; NULL: that of the filter */
} petal_builder_options;

#define PETAL_BUILDER_MAX_WORKERS 1024u
#define PETAL_BUILDER_OPTIONS_INIT \
    { \
        sizeof(petal_builder_options), 1, NULL \
    }

/* Begins to build; options NULL: one worker. On failure *builder is NULL and the filter is as it was. The buffers take 2 MiB for each
 * of up to eight workers, 4 MiB for each of sixteen or more, twice that with two lines a key; petal_builder_finish() gives them back.
 * Where regions would not be faster, keys are added directly, as by petal_add_many(), and several workers take turns: with
 * one worker, below 4 MiB, for filters that count or grow, and for schemes that count new keys only. PETAL_ERR_ARGUMENT, PETAL_ERR_MEMORY,
 * and those of a filter that cannot be written. A writable map is marked as dirty here, before the first key. */
PETAL_API petal_status petal_builder_create(petal_filter *filter, const petal_builder_options *options,
                                            petal_builder **builder, petal_error *error);

/* Adds keys (or numbers, or hashes: see petal_add_many_i64() and petal_add_hashes()), as worker number `worker`, from 0. One
 * thread at a time may be one worker. The keys are copied as far as needed. Fails with PETAL_ERR_ARGUMENT where there is no
 * such worker, and as petal_add() does; keys of a failed call may be in the filter or not, except that none of them is in
 * if one is an empty key that the foreign scheme does not accept. */
PETAL_API petal_status petal_builder_add(petal_builder *builder, uint32_t worker, const petal_key *keys,
                                         size_t key_count);
PETAL_API petal_status petal_builder_add_i64(petal_builder *builder, uint32_t worker, const int64_t *values,
                                             size_t value_count);
PETAL_API petal_status petal_builder_add_hashes(petal_builder *builder, uint32_t worker, const uint64_t *hashes,
                                                size_t hash_count);

/* Puts what this worker still has in its buffers into the filter. Optional: petal_builder_finish() does it for all, in one thread. */
PETAL_API petal_status petal_builder_flush(petal_builder *builder, uint32_t worker);

/* Ends building: every key that was handed over is in the filter and counted in its items, and the builder is gone. The calls of
 * all workers must have ended, in the sense of C11's "happens before": join the threads. NULL is allowed. Returns the first
 * failure there was in adding, or PETAL_OK. There is no way to abandon but to free the filter after this. */
PETAL_API petal_status petal_builder_finish(petal_builder *builder, petal_error *error);

/* --------------------------------------------------------------------------------------------- set algebra */

/* filter becomes the union: exactly the filter that had been given the keys of both. Items are summed.
 * Counters are added up: a key that is in both has then to be removed as often as it was added to either.
 * PETAL_ERR_MISMATCH unless scheme, hash, seed or secret, bits, hashes and lines a key agree. PETAL_ERR_UNSUPPORTED if
 * one grows, rotates or has several layers, which hold the keys of different times. A refusal changes nothing.
 * PETAL_ERR_BUSY: `other` is the map of a file that another process has just begun to change. Then nothing was changed
 * (it was noticed before), or `filter` has some keys of `other`, but not certainly all. */
PETAL_API petal_status petal_merge(petal_filter *filter, const petal_filter *other, petal_error *error);

/* Like petal_merge(), but filter keeps the bits that both have: every key of both stays in, and the rate is at most
 * the lower one's, though higher than that of a filter made of the common keys alone. Items becomes the
 * smaller of the two. The bits of the others do not all go, so estimated_items is too high: to count the common keys, compare
 * the two filters. Of counters the lower one is kept: a key stays in as often as it is in both, and can be removed so often;
 * counts that two different keys happen to share stay for ever, as false positives. */
PETAL_API petal_status petal_intersect(petal_filter *filter, const petal_filter *other, petal_error *error);

/* An estimate with its 95 % interval: over all seeds of the hash, 95 of 100 such intervals hold the truth. */
typedef struct petal_estimate {
    double value, low, high;
} petal_estimate;

/* How two sets of keys overlap, as far as the bits of their filters tell. Numbers of distinct keys, and shares from 0 to 1. */
typedef struct petal_comparison {
    size_t struct_size;
    bool saturated; /* every bit of the union is set: nothing is known of the overlap but its bounds; values are NAN */
    petal_estimate items_a, items_b, union_items; /* those of a saturated filter are infinite */
    petal_estimate intersection;                  /* |A and B| = |A| + |B| - |A or B|, at least 0 */
    petal_estimate jaccard;                       /* |A and B| / |A or B|; NAN where both are empty */
    petal_estimate containment_a_in_b;            /* |A and B| / |A|; NAN where A is empty */
    petal_estimate containment_b_in_a;            /* |A and B| / |B|; NAN where B is empty */
} petal_comparison;

#define PETAL_COMPARISON_INIT \
    { \
        sizeof(petal_comparison), false, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, \
        { \
            0, 0, 0 \
        } \
    }

/* Estimates how the keys of two filters overlap, from their bits in one pass and without a copy; how often a key was
 * added to a counting filter makes no difference. The estimates are unbiased, but for an overlap that is not told from none:
 * there 0 is the least that is said. The fuller the filters and the smaller the overlap beside the sets, the wider the
 * intervals (docs/format.md, "Rates", derives them).
 * PETAL_ERR_MISMATCH like petal_merge(); PETAL_ERR_UNSUPPORTED for filters of several layers, whose bits cannot be matched. */
PETAL_API petal_status petal_compare(const petal_filter *a, const petal_filter *b, petal_comparison *comparison,
                                     petal_error *error);

/* Sharding: a set too big for one machine is `shards` filters (files, Redis keys), each of the keys of one shard. The shard of a
 * key is the same in every language and for every filter: mulhi64(fmix64(fmix64(g)), shards) with g = XXH3_64bits(key, 0), from
 * 0 to shards - 1 (docs/format.md, "Shards", which also says why). Shards are even: of n keys each has n / shards, give or take
 * a few times its square root. 0 shards are taken for 1.
 * Strangers who choose the keys can aim at one shard; for keyed filters use petal_shard_of_hash(petal_hash_key(filter, ...)),
 * whose g is the secret hash. The hash must be a well-mixed one of 64 bits. */
PETAL_API uint32_t petal_shard_of(const void *key, size_t key_bytes, uint32_t shards);
PETAL_API uint32_t petal_shard_of_hash(uint64_t hash, uint32_t shards);

/* ------------------------------------------------------------------------------------------- looking inside */

/* The kind of a filter, without a look at its bits. */
PETAL_API petal_policy petal_policy_of(const petal_filter *filter);

/* What its keys were before they became bytes, if that is recorded; without a look at its bits. */
PETAL_API petal_key_type petal_key_type_of(const petal_filter *filter);

/* Sets the clock of a filter with a window of time: milliseconds since any epoch, by convention 1970. Generations that
 * are due by it are dropped; that happens here and nowhere else, so tell the time before adding and asking. The filter keeps the
 * latest time, in its file too: an earlier one changes nothing. The first time told is that of all keys added before it.
 * A step of months costs no more than one of a window. Other filters: PETAL_ERR_UNSUPPORTED. PETAL_ERR_ARGUMENT above 2^63 - 1;
 * PETAL_ERR_READ_ONLY. */
PETAL_API petal_status petal_advance(petal_filter *filter, uint64_t now_ms, petal_error *error);

/* Fills in all of *about for the layer of this number: from 0, the oldest, to info.layers - 1, the one that takes new keys. Reads
 * its bits like petal_get_info(). */
PETAL_API petal_status petal_get_layer(const petal_filter *filter, uint32_t layer, petal_layer *about,
                                       petal_error *error);

/* Fills in all of *info. Reads every bit once: about a second for 5 GB in memory. The rate of a blocked
 * filter above 16 MiB comes from a sample of 2^18 lines, which depends on all its bytes. */
PETAL_API petal_status petal_get_info(const petal_filter *filter, petal_info *info, petal_error *error);

/* The form of the scheme that runs on this CPU: "avx512", "avx2", "sse4", "neon" or "generic". All give the same bits. Static storage. */
PETAL_API const char *petal_kernel_name(const petal_filter *filter);

/* Metadata and its size, borrowed until the filter is freed or the metadata set again. NULL where there is none. */
PETAL_API const void *petal_metadata(const petal_filter *filter, size_t *metadata_bytes);

/* Whether the filter certainly holds more distinct keys than its capacity, so that more than the asked rate of absent
 * keys pass: time for a larger one. Judged by the bits, since `items` counts repeats, and so the same however the keys
 * came. The bits are counted at most once per 1/32 of the capacity that `items` has grown or shrunk, and never while
 * items <= capacity; otherwise this is O(1). False for filters without a capacity and for those that grow. Any number
 * of threads may call it. */
PETAL_API bool petal_is_overfull(const petal_filter *filter);

/* The first failure of this filter's calls, with errno and offset: for callers that look at statuses late, and for
 * those of threads. PETAL_OK and an empty message if there was none. Any number of threads may call it. */
PETAL_API petal_status petal_last_error(const petal_filter *filter, petal_error *error);

/* Replaces the metadata (copied). Not for maps (PETAL_ERR_UNSUPPORTED): its place in the file is fixed. */
PETAL_API petal_status petal_set_metadata(petal_filter *filter, const void *metadata, size_t metadata_bytes,
                                          petal_error *error);

/* --------------------------------------------------------------------------------- files and other memory */

#define PETAL_SAVE_NO_REPLACE 1u /* fail with PETAL_ERR_EXISTS if the file exists */
#define PETAL_SAVE_NO_LOCK 2u    /* take no lock: the caller knows that nobody else changes the file */
#define PETAL_SAVE_NEW_OWNER 4u  /* go on if the new file cannot have the owner of the old one */

/* Writes the filter to `path`, which holds either the old file or the whole new one at every moment:
 * a temporary file in the same folder (random name, mode and owner of the old file, readable by nobody
 * else before), fsync, rename, fsync of the folder. Zero blocks become holes if the file system has
 * them. Symbolic links are followed; of a file with several hard links only this name gets the new one.
 * The old file is locked against writers meanwhile. A filter that was opened with PETAL_OPEN_LOCKED from
 * this path uses, and keeps, the lock it has. Saving a writable map onto its own file is petal_sync().
 * Bits that come from a map or view are verified first.
 * On failure the old file is unchanged and nothing is left behind. If only the fsync of the folder
 * fails, which comes last, the new file is there, and error->message says so.
 *   PETAL_ERR_EXISTS       NO_REPLACE was given and the file exists
 *   PETAL_ERR_BUSY         another process is changing the file, or made one at `path` meanwhile
 *   PETAL_ERR_REPLACED     the file at `path` is no longer the one this filter has locked
 *   PETAL_ERR_UNSUPPORTED  the file system has no locks (see NO_LOCK); the path is no regular file
 *   PETAL_ERR_DAMAGED, PETAL_ERR_IO, PETAL_ERR_MEMORY, PETAL_ERR_ARGUMENT */
PETAL_API petal_status petal_save(const petal_filter *filter, const char *path, unsigned flags, petal_error *error);

/* Mode of petal_open(), and flags that may be added to it. */
#define PETAL_OPEN_MAP 0u      /* map read-only: costs no private memory; shared by all who map the file */
#define PETAL_OPEN_WRITABLE 1u /* map for reading and writing in place; one writer at a time */
#define PETAL_OPEN_LOAD 2u     /* verified copy in memory; writable; the file is not touched again */
#define PETAL_OPEN_VERIFY 16u  /* of a map: check every block checksum before returning */
/* With MAP: read a file that another process is changing in place. Bits only rise, so every key of its last
 * sync is found, and of later ones some, unless that process goes on to clear, intersect or remove. Without a
 * writer at work a dirty file is PETAL_ERR_DIRTY as ever.
 * Such a filter answers queries; saving, copying and verifying it are PETAL_ERR_BUSY. */
#define PETAL_OPEN_LIVE 64u
/* With LOAD: keep the file locked against writers until petal_free(), so that a later petal_save() to the same
 * path replaces just what was loaded. PETAL_ERR_BUSY if it is locked. */
#define PETAL_OPEN_LOCKED 128u
/* With WRITABLE or LOCKED: take no lock, for file systems without; the caller sees to it that nobody else writes. */
#define PETAL_OPEN_NO_LOCK 256u
/* With WRITABLE or LOAD: take a dirty file as it is. Bits only ever rise, so every key of a successful sync is there, and
 * of later ones some may be. Counters also fall, but not those of a key that nobody removes: every key of a successful sync is
 * there that was not removed since. Of a key that was added or removed since, some counts may be on disk and others not: add it
 * again, at the price of counts that stay; but never remove it (again), which could take counts from other keys. */
#define PETAL_OPEN_RECOVER 32u

typedef struct petal_open_options {
    size_t struct_size;
    unsigned flags;
    const void *secret;               /* for keyed filters, PETAL_SECRET_BYTES bytes, copied */
    uint64_t max_bytes;               /* refuse larger files with PETAL_ERR_LIMIT; 0: no limit */
    const petal_allocator *allocator; /* copied; NULL: the system's, with huge pages for big arrays */
    const char *format;               /* what the bytes are; NULL: a petal file. Never guessed: see petal_recognize() */
    /* Bytes that opening, and then each growing by a layer, may allocate; maps do not count. More is PETAL_ERR_LIMIT.
     * 0: 1 GiB, or 64 times the bytes given if that is more. UINT64_MAX: no limit. */
    uint64_t memory_limit;
    bool refuse_overfull; /* see petal_options */
} petal_open_options;

#define PETAL_OPEN_OPTIONS_INIT \
    { \
        sizeof(petal_open_options), 0u, NULL, 0, NULL, NULL, 0, false \
    }

/* Opens a filter file. options NULL: map read-only. The header is always verified, the bits on request: opening takes
 * milliseconds at any size. Files of other libraries are opened read-only or loaded; those with packed bits (JSON, gzip) take
 * memory of their own either way. A writable map allocates the file's holes first (no crash on a full disk), marks the
 * file dirty on disk before the first change and clean again in petal_sync(). While mapped, the file
 * must not be truncated by others. A filter that grows cannot do so in a map, and one that rotates is not mapped for writing
 * (PETAL_ERR_UNSUPPORTED): load them, and save them. */
PETAL_API petal_status petal_open(const char *path, const petal_open_options *options, petal_filter **filter,
                                  petal_error *error);

/* Writable maps: makes all changes durable, with their checksums, and marks the file clean. After a failure the
 * filter takes no more changes: what the disk then holds is unknown, but it is either dirty or all of it was written.
 * PETAL_ERR_REPLACED: the changes are durable, but in a file that is no longer the one at its path.
 * Other filters: PETAL_OK, nothing to do. */
PETAL_API petal_status petal_sync(petal_filter *filter, petal_error *error);

/* Checks every block of a mapped or viewed petal file against its checksum; error->offset is the file offset of
 * the first damaged block. PETAL_UNCHECKED: there is nothing to compare with (a filter in memory, another library's
 * file, or a map with changes since its last sync). PETAL_ERR_BUSY: another process is changing the file. */
PETAL_API petal_status petal_verify(const petal_filter *filter, petal_error *error);

/* The file image in memory: its size, and the bytes (exactly that many, the same ones petal_save() writes).
 * PETAL_ERR_ARGUMENT where size_bytes is smaller. */
PETAL_API uint64_t petal_serialized_bytes(const petal_filter *filter);
PETAL_API petal_status petal_serialize(const petal_filter *filter, void *bytes, size_t size_bytes, petal_error *error);

/* The formats there are: the name at a place from 0, or NULL behind the last. "petal", "guava", ... Static storage. */
PETAL_API const char *petal_format_name(size_t place);

/* Which formats these bytes can be, judged by header and length alone: a hint, never proof, since most formats have no
 * magic. Writes up to name_count names (static storage) and returns how many fit; one that is certain comes alone. */
PETAL_API size_t petal_recognize(const void *bytes, size_t size_bytes, const char **names, size_t name_count);

/* Like petal_recognize() for the file at `path`. Failing to open it is a failure; fitting nothing is not. */
PETAL_API petal_status petal_recognize_file(const char *path, const char **names, size_t name_count, size_t *fit_count,
                                            petal_error *error);

/* Like petal_save(), petal_serialized_bytes() and petal_serialize() in another container. The bits stay what they are: a container
 * that cannot hold the filter's scheme is PETAL_ERR_UNSUPPORTED, with the reason. 0 bytes mean the same. */
PETAL_API petal_status petal_save_as(const petal_filter *filter, const char *path, const char *format, unsigned flags,
                                     petal_error *error);
PETAL_API uint64_t petal_serialized_bytes_as(const petal_filter *filter, const char *format);
PETAL_API petal_status petal_serialize_as(const petal_filter *filter, const char *format, void *bytes,
                                          size_t size_bytes, petal_error *error);

/* A Bloom filter inside a Parquet file: one of a column in one row group. The region has the format "parquet". */
#define PETAL_PARQUET_COLUMN_BYTES 256
typedef struct petal_parquet_filter {
    char column[PETAL_PARQUET_COLUMN_BYTES]; /* its path in the schema, "a.b.c", cut to fit and 0-terminated; control
                                              * characters are shown as '?' */
    uint32_t row_group;                      /* from 0 */
    uint32_t column_number;                  /* of the leaf column, from 0: tells columns of equal text apart */
    const char *physical_type; /* "INT64", "BYTE_ARRAY", ...: keys are its plain encoding; static storage */
    uint64_t offset;           /* of the region in the file */
    uint64_t size_bytes;       /* of the region */
    uint64_t blocks;           /* of 32 bytes */
    bool encrypted;            /* the column is: it may have a filter, but not to be read; offset and sizes are 0 */
} petal_parquet_filter;

/* The Bloom filters in the bytes of a whole Parquet file, in the order of its row groups and columns. Writes up to list_count
 * of them (list may be NULL where that is 0) and sets *filter_count to how many there are, 0 on failure. To ask one:
 * petal_view(bytes + list[i].offset, list[i].size_bytes, ...) with options.format "parquet". A key is in the column where it is
 * in the filter of any row group. Safe on hostile bytes. An encrypted footer is PETAL_ERR_UNSUPPORTED. */
PETAL_API petal_status petal_parquet_list(const void *bytes, size_t size_bytes, petal_parquet_filter *list,
                                          size_t list_count, size_t *filter_count, petal_error *error);

/* A filter from a file image: a private copy, verified. PETAL_OPEN_RECOVER applies. Safe on hostile bytes. */
PETAL_API petal_status petal_load_from_memory(const void *bytes, size_t size_bytes, const petal_open_options *options,
                                              petal_filter **filter, petal_error *error);

/* Like petal_load_from_memory(), but read-only and without a copy: `bytes` must stay as they are until petal_free(). */
PETAL_API petal_status petal_view(const void *bytes, size_t size_bytes, const petal_open_options *options,
                                  petal_filter **filter, petal_error *error);

#ifdef __cplusplus
}
#endif
#endif
