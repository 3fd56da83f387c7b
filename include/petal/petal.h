/* petal.h - Bloom filters: one C core, one file format, every language.
 *
 * A Bloom filter answers "is this key in the set?" with "certainly not" or "probably", using a few
 * bits per key. It never misses a key that was added. For a key that was not added it wrongly
 * answers "probably" with a planned probability, the false-positive rate. This header is the whole
 * contract: what it does not say is not promised.
 *
 *     petal_options options = PETAL_OPTIONS_INIT;
 *     petal_filter *filter = NULL;
 *     options.capacity = 1000000;   // distinct keys
 *     options.rate = 0.01;          // 1 % false positives once they are all in
 *     if (petal_create(&options, &filter, NULL) != PETAL_OK) return 1;
 *     petal_add(filter, "https://example.com/", 20);
 *     if (petal_contains(filter, "https://example.org/", 20)) ...   // probably
 *     if (petal_save(filter, "urls.petal", NULL, NULL) != PETAL_OK) return 1;
 *     petal_free(filter);
 *
 * That program needs "Status", "Creating", "One key" and petal_save(). The rest is in the order in
 * which most readers need it: batches, files, looking inside, whole filters, several threads,
 * windows, formats, memory and streams, patches. petal_build.h adds filling a filter from several
 * threads, and static filters; petal_index.h one file of many filters; petal_host.h what servers
 * and bindings need; petal_inline.h the inlined hot loop; petal_parquet.h the filters inside
 * Parquet files. If a call was added after version 1.0, its comment says so.
 *
 * Conventions
 *   Keys       Byte strings of any length, including 0. petal_encode_*() turn numbers into bytes.
 *   Sizes      have their unit in the name. They are uint64_t, except that sizes of keys, of
 *              allocations and of pieces of a stream are size_t. A size that would overflow is
 *              refused, never wrapped.
 *   Order      Arguments come in this order: the filter (builder, reader), inputs, outputs, the
 *              error. An array is followed by its size or room, a callback by its context.
 *   Status     PETAL_OK is 0. Positive values mean success with extra information. Negative values
 *              are failures.
 *   Errors     A petal_error pointer may always be NULL. It is written only on failure.
 *   Structs    A struct that starts with `struct_size` can grow in later versions. Initialise it
 *              with its _INIT macro, in a declaration or an assignment. In every field 0 is the
 *              default. The library uses struct_size to stay compatible with programs that were
 *              compiled with an older or newer header: fields that a program does not have keep
 *              their default, and the library does not write them. If a program passes a struct of
 *              a newer header, the call fails with PETAL_ERR_ARGUMENT only if a field that the
 *              library doesn't know is not 0. Structs without struct_size never change.
 *   Pointers   must not be NULL unless their comment allows it. A key may be NULL if its size is 0.
 *   Arrays     A call that returns an array writes at most `room` elements. It reports how many
 *              there are, which may be more: in *count, which is 0 on failure, or as its return
 *              value if it cannot fail. The array may be NULL if `room` is 0.
 *   Ownership  The caller owns a filter that a call returns, and releases it with petal_free().
 *              Other returned strings and pointers are borrowed.
 *   Cost       A call takes constant time (plus the time to hash its keys) unless its comment says
 *              "Cost". There, reading "all bits" means reading petal_info.bytes at memory speed:
 *              about a second for 5 GB in memory.
 *   Threads    While no thread changes a filter, any number of threads may pass it to calls that
 *              take a `const petal_filter`, without a lock. All other calls need exclusive use; so
 *              does saving a writable map to its own file. The exception is adding to a filter
 *              after petal_allow_threads(). The library has no mutable global state.
 *   Processes  Filters in memory are private: after fork() parent and child each have a copy. A
 *              filter that keeps a file open for writing (PETAL_OPEN_WRITABLE, PETAL_OPEN_LOCKED)
 *              belongs to the process that opened it. A forked child may query it and must
 *              petal_free() it, which unmaps and closes it there without a sync. In the child,
 *              changing the map, petal_sync(), builders, and saving to the locked file fail with
 *              PETAL_ERR_READ_ONLY. The parent keeps the lock until it frees the filter. Don't fork
 *              while a thread changes a filter that the child will use.
 */
#ifndef PETAL_H
#define PETAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The only place where the version is written. The build, files and the tool take it from here. */
#define PETAL_VERSION_MAJOR 0
#define PETAL_VERSION_MINOR 1
#define PETAL_VERSION_PATCH 0

/* For the preprocessor: 10203 is 1.2.3. */
#define PETAL_VERSION_NUMBER \
    (PETAL_VERSION_MAJOR * 10000 + PETAL_VERSION_MINOR * 100 + PETAL_VERSION_PATCH)

#define PETAL_QUOTE(x) #x
#define PETAL_QUOTE_VALUE(x) PETAL_QUOTE(x)
#define PETAL_VERSION_STRING \
    PETAL_QUOTE_VALUE(PETAL_VERSION_MAJOR) \
    "." PETAL_QUOTE_VALUE(PETAL_VERSION_MINOR) "." PETAL_QUOTE_VALUE(PETAL_VERSION_PATCH)

/* Define PETAL_SHARED_LIBRARY to build or use the shared library, PETAL_BUILDING to build it. */
#if defined(_WIN32) && defined(PETAL_SHARED_LIBRARY) && defined(PETAL_BUILDING)
#define PETAL_API __declspec(dllexport)
#elif defined(_WIN32) && defined(PETAL_SHARED_LIBRARY)
#define PETAL_API __declspec(dllimport)
#elif defined(PETAL_SHARED_LIBRARY) && defined(__GNUC__)
#define PETAL_API __attribute__((visibility("default")))
#else
#define PETAL_API
#endif

/* Makes compilers warn if the status is not used. It marks calls that make a filter, write one out,
 * or change it as a whole, and calls that are useless without their status (petal_verify(),
 * petal_contains_any(), petal_allow_threads()). The others need it less: petal_last_error() reports
 * failed adds, and petal_builder_finish() reports failures of its workers. */
#if defined(__cplusplus) && __cplusplus >= 201703L
#define PETAL_NODISCARD [[nodiscard]]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L
#define PETAL_NODISCARD [[nodiscard]]
#elif defined(__GNUC__)
#define PETAL_NODISCARD __attribute__((warn_unused_result))
#elif defined(_MSC_VER)
#include <sal.h>
#define PETAL_NODISCARD _Check_return_
#else
#define PETAL_NODISCARD
#endif

/* A struct with struct_size set and everything else 0. In C it is a compound literal, so it also
 * works in an assignment, but not for a static variable. */
#ifdef __cplusplus
template <class T> inline T petal_struct_init()
{
    T made = T();
    made.struct_size = static_cast<uint32_t>(sizeof made);
    return made;
}
#define PETAL_STRUCT_INIT(type) petal_struct_init<type>()
#else
#define PETAL_STRUCT_INIT(type) ((type){.struct_size = (uint32_t)sizeof(type)})
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* -------------------------------------------------------------------------------------- status */

typedef int32_t petal_status;
enum {
    PETAL_OK = 0,
    PETAL_SEEN = 1,      /* petal_add(): the key was probably in the filter already */
    PETAL_ABSENT = 2,    /* petal_remove(): the key was certainly absent; nothing changed */
    PETAL_UNCHECKED = 3, /* petal_verify(): there are no checksums to compare with */

    PETAL_ERR_ARGUMENT = -1,        /* the call does not accept an argument's value */
    PETAL_ERR_UNREACHABLE = -2,     /* no filter of this scheme reaches the rate */
    PETAL_ERR_LIMIT = -3,           /* a size overflows or exceeds a documented limit */
    PETAL_ERR_MEMORY = -4,          /* the allocator returned NULL */
    PETAL_ERR_MISMATCH = -5,        /* two filters differ; the message names the field */
    PETAL_ERR_READ_ONLY = -6,       /* the filter was opened or viewed for reading, or is frozen */
    PETAL_ERR_UNSUPPORTED = -7,     /* the scheme, the format or this build cannot do it */
    PETAL_ERR_IO = -8,              /* a system call failed; see petal_error.system_errno */
    PETAL_ERR_EXISTS = -9,          /* the file exists and must not be replaced */
    PETAL_ERR_BUSY = -10,           /* another process is changing the file; try again later */
    PETAL_ERR_NOT_A_FILTER = -11,   /* the bytes are not a filter in this format */
    PETAL_ERR_NEWER = -12,          /* a petal file with features this version does not know */
    PETAL_ERR_TRUNCATED = -13,      /* fewer bytes than the header promises */
    PETAL_ERR_DAMAGED = -14,        /* a checksum does not match, or a field is impossible */
    PETAL_ERR_DIRTY = -15,          /* a writer died halfway; see PETAL_OPEN_RECOVER */
    PETAL_ERR_SECRET_MISSING = -16, /* the filter is keyed, and no secret was given */
    PETAL_ERR_SECRET_WRONG = -17,   /* another filter's secret, or the filter is not keyed */
    PETAL_ERR_FULL = -18,           /* the filter accepts no more keys; see petal_add() */
    PETAL_ERR_REPLACED = -19        /* the file at the path was replaced; see petal_sync() */
};

#define PETAL_NO_OFFSET UINT64_MAX

/* Why a call failed. The caller provides the struct, which never grows. */
typedef struct petal_error {
    petal_status status;
    int32_t system_errno; /* errno of the system call that failed, or 0 */
    uint64_t offset;      /* byte of the input where the failure was detected, or PETAL_NO_OFFSET */
    char message[240];    /* one line, no newline: what, and what to do; not the path */
} petal_error;

/* A short fixed name, such as "damaged". Never NULL. */
PETAL_API const char *petal_status_name(petal_status status);

/* PETAL_VERSION_STRING and PETAL_VERSION_NUMBER of the linked library, which may be newer than this
 * header. */
PETAL_API const char *petal_version(void);
PETAL_API uint32_t petal_version_number(void);

/* ------------------------------------------------------------------------------------ creating */

typedef struct petal_filter petal_filter;

/* How a hash becomes bit positions (docs/format.md has the rules). Other formats have schemes and
 * hashes of their own. petal_info has their numbers and names; docs/format.md lists them. */
enum {
    PETAL_SCHEME_DEFAULT = 0, /* blocked */
    /* k bits in one 64-byte line, or in two: one or two cache misses per key */
    PETAL_SCHEME_BLOCKED = 1,
    /* k bits anywhere: the fewest bits per key, up to k cache misses */
    PETAL_SCHEME_CLASSIC = 2,
    /* classic with 4-bit counters: keys can be removed; 4 times the size */
    PETAL_SCHEME_COUNTING = 3,
    /* for sets that never change: barely more bits than the rate needs (6.8 at 1 %, blocked 9.9).
     * It collects keys until petal_freeze() builds it; for several threads see petal_build.h */
    PETAL_SCHEME_STATIC = 4
};

/* How the bytes of a key become a hash. */
enum {
    PETAL_HASH_DEFAULT = 0, /* xxh3, or siphash if a secret is given */
    PETAL_HASH_XXH3 = 1,    /* XXH3_64bits with a 64-bit seed: fast, not safe from chosen keys */
    PETAL_HASH_SIPHASH = 2  /* SipHash-2-4 with a 128-bit secret: for keys that strangers choose */
};

/* What the keys were before they became bytes. The file records it for later queries (see the
 * tool's --key-type). The library itself uses only bytes. */
enum {
    PETAL_KEY_TYPE_NONE = 0, /* not recorded */
    PETAL_KEY_TYPE_TEXT = 1, /* the bytes themselves */
    PETAL_KEY_TYPE_UTF16LE = 2,
    PETAL_KEY_TYPE_I32 = 3, /* petal_encode_i32() */
    PETAL_KEY_TYPE_I64 = 4,
    PETAL_KEY_TYPE_F64 = 5,
    PETAL_KEY_TYPE_HEX = 6,   /* bytes, written as hex digits */
    PETAL_KEY_TYPE_BASE64 = 7 /* bytes, written in base64 */
};

/* Where a filter's memory comes from. Both functions must be thread-safe if several threads use
 * filters. Filters made from another filter (petal_clone(), petal_create_like(), petal_fold(),
 * petal_drop_counts()) use its allocator. Whatever `context` points to must outlive them all. Does
 * not grow. */
typedef struct petal_allocator {
    /* Returns size_bytes of zeroed memory aligned like malloc's, or NULL. Memory that the system
     * zeroes on first use (calloc) makes creating a large filter cheap. */
    void *(*alloc_zeroed)(void *context, size_t size_bytes);
    void (*release)(void *context, void *memory, size_t size_bytes);
    void *context;
} petal_allocator;

#define PETAL_SECRET_BYTES 16
#define PETAL_METADATA_MAX_BYTES 65536

/* What to create. One of these combinations determines the size:
 *   capacity and rate           the smallest filter whose rate at `capacity` keys is at most `rate`
 *   capacity and memory_bytes   the best rate that fits
 *   rate and memory_bytes       the largest capacity whose filter of that rate fits
 *   bits and hashes             exactly this (capacity and rate are then only recorded)
 *   capacity and bits           exactly these bits, and the number of hashes with the best rate
 * hashes and lines_per_key may be set with any of them. An option that has no effect is refused.
 * Other formats need a rate with capacity or memory_bytes, or bits and hashes. Filters with several
 * layers need capacity (or window_keys) and rate.
 *
 * Two kinds of filter have several layers of bits. A key is present if any layer contains it. The
 * layers' rates sum to at most `rate`.
 *   growth       For sets of unknown size. `capacity` applies to the first layer. When the newest
 *                layer is full, the filter adds a layer for growth_step times as many keys, at
 *                growth_ratio times the rate. `rate` holds for any number of keys. A key that any
 *                layer contains is not added again. There are at most 64 layers, of at most 2^48
 *                bits; after that, adding a new key fails with PETAL_ERR_FULL.
 *   window_keys  "Seen in the last N". The filter finds a key during at least the next window_keys
 *                adds (repeats count). After at most one window and one generation the key is
 *                forgotten, apart from false positives. The window is a ring of generations; the
 *                oldest is discarded as a whole. An add always writes into the newest generation,
 *                so a key that keeps being added is not forgotten.
 *   window_ms    "Seen in the last 7 days": the same by time; see petal_set_clock(). The filter
 *                finds a key for at least window_ms. After at most window_ms / (generations - 1)
 *                more the key is forgotten, apart from false positives. window_keys is the highest
 *                number of keys in a window; a key counts once for each generation in which it is
 *                added. If more are added, the rate is exceeded (see petal_is_overfull()), but no
 *                key is dropped early. The filter has at most 2 * generations - 1 generations. */
typedef struct petal_options {
    uint32_t struct_size;
    uint32_t scheme;         /* PETAL_SCHEME_ */
    uint32_t hash;           /* PETAL_HASH_ */
    uint32_t key_type;       /* PETAL_KEY_TYPE_, recorded in the file */
    uint64_t capacity;       /* distinct keys to plan for */
    double rate;             /* false-positive rate at capacity, above 0 and below 1 */
    uint64_t memory_bytes;   /* upper limit for the bits, in bytes */
    uint64_t bits;           /* m; blocked rounds up to whole lines of 512 */
    uint32_t hashes;         /* k: 1 to 16 per line (classic: 1 to 64); 0 lets Petal choose */
    uint32_t lines_per_key;  /* blocked: 1 or 2; 0 lets Petal choose (2 only at rates < 0.0002) */
    uint64_t seed;           /* of xxh3. Only filters with equal seeds can be merged */
    const void *secret;      /* PETAL_SECRET_BYTES for siphash; copied; never written to a file */
    const void *metadata;    /* any bytes, kept in the file; copied; may be NULL */
    uint64_t metadata_bytes; /* at most PETAL_METADATA_MAX_BYTES */
    const petal_allocator *allocator; /* copied; NULL for the system's, with huge pages if large */
    /* Make the filter that another library would make for this capacity and rate (or bits and
     * hashes), with its scheme and exactly its size. A name that petal_format_at() returns; NULL
     * means petal. */
    const char *format;
    uint8_t growth;          /* 1 to grow; with capacity and rate */
    uint8_t refuse_overfull; /* 1 if adding to an overfull filter is PETAL_ERR_FULL; not recorded */
    /* 1 prepares the filter for petal_fold(). Blocked and classic, with rate: rounds the number of
     * lines (classic: bits; growth: in the first layer) up to a multiple of 720,720, which all
     * numbers up to 16 divide, or in smaller filters to a multiple of 5,040 or of 60. */
    uint8_t foldable;
    uint8_t reserved[1];  /* 0 */
    uint32_t growth_step; /* 2 to 64; 0 means 2 */
    double growth_ratio;  /* above 0 and below 1; 0 means 0.85, which needs the fewest bits */
    uint64_t window_keys; /* with rate, and without capacity */
    uint64_t window_ms;   /* with window_keys */
    uint32_t generations; /* of a window, 2 to 32; 0 to choose for nearly the least memory */
    uint32_t reserved2;   /* 0 */
} petal_options;
#define PETAL_OPTIONS_INIT PETAL_STRUCT_INIT(petal_options)

/* Creates an empty filter in memory. On failure *filter is NULL.
 *   PETAL_ERR_ARGUMENT        an option is impossible or has no effect, or the options don't
 *                             determine a size
 *   PETAL_ERR_UNREACHABLE     the rate is too low; the message names the lowest that is possible
 *   PETAL_ERR_LIMIT           a size exceeds 2^48 bits per layer or a limit of the foreign format
 *   PETAL_ERR_UNSUPPORTED     this build has no such scheme, hash or format, or the format cannot
 *                             be created
 *   PETAL_ERR_SECRET_MISSING  siphash without a secret
 *   PETAL_ERR_MEMORY
 * A static filter takes a rate and no capacity. Until petal_freeze() it has no bits, but keeps an
 * 8-byte hash of each added key, repeats included. Meanwhile contains returns true, add reports
 * every key as new, and calls that need bits fail with PETAL_ERR_UNSUPPORTED.
 * Cost: the same as petal_plan(). The default allocator zeroes pages as keys arrive; another
 * allocator may zero all bits. */
PETAL_NODISCARD PETAL_API petal_status petal_create(const petal_options *options,
                                                    petal_filter **filter, petal_error *error);

/* Releases the filter; NULL is allowed. A writable map with changes is synced first, in the process
 * that opened it, at the cost of petal_sync(). To find out whether the sync succeeds, call
 * petal_sync() yourself. */
PETAL_API void petal_free(petal_filter *filter);

/* ------------------------------------------------------------------------------------- one key */

/* Adds a key. Returns PETAL_OK if it was certainly new, PETAL_SEEN if all its bits were set
 * already, so it was probably present. (In a filter with several layers, they were set in one of
 * them. A window then still adds it to the newest generation.) After a failure the key is not
 * counted, and every key added before is still found:
 *   PETAL_ERR_READ_ONLY    the filter was opened or viewed for reading, or is frozen
 *   PETAL_ERR_FULL         no further layer is possible; or the filter is overfull and was made
 *                          with refuse_overfull
 *   PETAL_ERR_LIMIT        the next layer exceeds the memory limit that the filter was opened with
 *   PETAL_ERR_MEMORY       the next layer cannot be allocated; nothing else allocates
 *   PETAL_ERR_UNSUPPORTED  a map cannot grow; the foreign scheme does not accept the empty key; or
 *                          the filter has no bits (PETAL_OPEN_HEADER_ONLY)
 *   PETAL_ERR_DAMAGED      a map: a block with bits of the key does not match its checksum
 *   PETAL_ERR_IO           a map: the file could not be marked as dirty
 * petal_last_error() has the details.
 * Cost: constant, except that with window_keys the first key of a generation clears that
 * generation's bits, and that a writable map reads each 64 KiB block before the first change in
 * it. */
PETAL_API petal_status petal_add(petal_filter *filter, const void *key, size_t key_bytes);

/* Returns false if the key is certainly not in the filter, true if it probably is. Also returns
 * true if bits of the key are in a damaged block (PETAL_OPEN_VERIFY_ON_USE); petal_last_error()
 * then returns PETAL_ERR_DAMAGED. */
PETAL_API bool petal_contains(const petal_filter *filter, const void *key, size_t key_bytes);

/* Removes a key from a counting filter. Returns PETAL_OK if it decremented the key's counters,
 * PETAL_ABSENT if the key was certainly absent and nothing changed, and PETAL_ERR_UNSUPPORTED if
 * the scheme has no counters. Otherwise it fails like petal_add().
 *
 * Each petal_remove() undoes one petal_add() of that key: a key that was added twice is found until
 * it has been removed twice. Don't skip petal_add() because petal_contains() returned true: each
 * remove needs an add of its own. REMOVE ONLY KEYS THAT WERE ADDED. Even a key that was not added
 * may seem to be present. Removing it decrements counters of other keys, which may then be missed.
 *
 * A counter that reaches 15 stays there, because the library can't tell how many keys incremented
 * it. No key is missed because of that. But a removed key is still found if each of its counters is
 * stuck at 15 or shared with other keys. At capacity, 1.6e-15 of all counters have reached 15; the
 * counters of a key that was added 15 times have too. petal_get_stats() counts them. */
PETAL_API petal_status petal_remove(petal_filter *filter, const void *key, size_t key_bytes);

/* The same for the key petal_encode_i64(value). */
PETAL_API petal_status petal_add_i64(petal_filter *filter, int64_t value);
PETAL_API bool petal_contains_i64(const petal_filter *filter, int64_t value);
PETAL_API petal_status petal_remove_i64(petal_filter *filter, int64_t value);

/* The 64-bit hash of a key, with this filter's hash function and seed or secret. Filters that share
 * these give the same hash. 0 if the filter lacks its secret (PETAL_OPEN_NO_SECRET). */
PETAL_API uint64_t petal_hash_key(const petal_filter *filter, const void *key, size_t key_bytes);

/* These take a hash in place of a key: the result of petal_hash_key(), or another well-mixed 64-bit
 * hash. Small integers, pointers and 32-bit hashes would all set bits of the first line, and every
 * query would answer "probably". A key and its petal_hash_key() are the same member. If the scheme
 * needs more than 64 bits of hash or rejects the empty key (no PETAL_CAN_HASHES), adding and
 * removing fail with PETAL_ERR_UNSUPPORTED, and contains returns true. */
PETAL_API petal_status petal_add_hash(petal_filter *filter, uint64_t hash);
PETAL_API bool petal_contains_hash(const petal_filter *filter, uint64_t hash);
PETAL_API petal_status petal_remove_hash(petal_filter *filter, uint64_t hash);

/* Convert numbers to key bytes, which are the same in every language: little-endian; doubles in
 * IEEE 754 format, with -0 as +0 and every NaN as 7ff8000000000000. A text's key is its UTF-8 bytes
 * without a terminator. */
PETAL_API void petal_encode_i32(int32_t value, uint8_t key[4]); /* Guava's integerFunnel */
PETAL_API void petal_encode_i64(int64_t value, uint8_t key[8]);
PETAL_API void petal_encode_f64(double value, uint8_t key[8]);

/* ------------------------------------------------------------------------------------- batches */

/* How the keys of a batch lie in memory. */
enum {
    PETAL_LAYOUT_POINTERS = 0,  /* data: petal_key[count] */
    PETAL_LAYOUT_OFFSETS32 = 1, /* key i is data[offsets[i]] up to data[offsets[i + 1]]; uint32_t */
    PETAL_LAYOUT_OFFSETS64 = 2, /* the same with uint64_t */
    PETAL_LAYOUT_FIXED = 3,     /* key i is the key_bytes bytes at data + i * stride */
    PETAL_LAYOUT_I64 = 4,       /* int64_t in native byte order at data + i * stride */
    PETAL_LAYOUT_HASHES = 5     /* uint64_t hashes at data + i * stride; see petal_add_hash() */
};

/* Does not grow. */
typedef struct petal_key {
    const void *data;
    size_t size_bytes;
} petal_key;

typedef struct petal_batch {
    uint32_t struct_size;
    uint32_t layout;     /* PETAL_LAYOUT_ */
    const void *data;    /* borrowed during the call; may be NULL if there are no bytes */
    const void *offsets; /* OFFSETS: count + 1 values, ascending, at most data_bytes */
    uint64_t data_bytes; /* OFFSETS: size of data; 0 means the last offset */
    uint64_t key_bytes;  /* FIXED */
    uint64_t stride;     /* FIXED, I64, HASHES: bytes from one key to the next; 0 means no gap */
    uint64_t count;
} petal_batch;
#define PETAL_BATCH_INIT PETAL_STRUCT_INIT(petal_batch)

typedef struct petal_batch_outcome {
    uint32_t struct_size;
    uint32_t reserved;
    uint64_t done;     /* keys that were added, answered or removed: count on success */
    uint64_t positive; /* how many results are 1 */
} petal_batch_outcome;
#define PETAL_BATCH_OUTCOME_INIT PETAL_STRUCT_INIT(petal_batch_outcome)

/* Calls petal_add(), petal_contains() or petal_remove() for each key in order, but faster, because
 * a batch hashes and fetches ahead. If `results` is not NULL, writes one byte per key: 1 if the key
 * was new (add), is probably present (contains) or was removed (remove), otherwise 0. If a new key
 * occurs twice in a batch, only its first occurrence is new. `outcome` may be NULL.
 *   PETAL_ERR_ARGUMENT     the batch is malformed. If its offsets decrease or exceed the data,
 *                          error->offset is the index of the first such key. No key is processed,
 *                          and results are not written.
 *   PETAL_ERR_UNSUPPORTED  the filter lacks PETAL_CAN_HASHES or PETAL_CAN_REMOVE; or the foreign
 *                          scheme does not accept a key, and error->offset is its index. No key is
 *                          processed.
 *   PETAL_ERR_DAMAGED      contains: a key lies in a damaged block (PETAL_OPEN_VERIFY_ON_USE)
 * and the other failures of petal_add() and petal_remove(). After these, and after
 * PETAL_ERR_DAMAGED, the keys before the first failing one have been processed, the others have
 * not, and error->offset is its index. An empty batch only checks whether the filter supports the
 * operation.
 * Cost: O(keys). */
PETAL_API petal_status petal_add_batch(petal_filter *filter, const petal_batch *batch,
                                       uint8_t *results, petal_batch_outcome *outcome,
                                       petal_error *error);
PETAL_API petal_status petal_contains_batch(const petal_filter *filter, const petal_batch *batch,
                                            uint8_t *results, petal_batch_outcome *outcome,
                                            petal_error *error);
PETAL_API petal_status petal_remove_batch(petal_filter *filter, const petal_batch *batch,
                                          uint8_t *results, petal_batch_outcome *outcome,
                                          petal_error *error);

/* petal_hash_key() of each key. `hashes` must have room for batch->count. To query many filters
 * whose petal_info has equal hash, seed and secret_id, hash the keys once.
 *   PETAL_ERR_ARGUMENT        the batch is malformed; see petal_add_batch()
 *   PETAL_ERR_SECRET_MISSING  the filter lacks its secret (PETAL_OPEN_NO_SECRET)
 * Cost: O(keys). */
PETAL_API petal_status petal_hash_batch(const petal_filter *filter, const petal_batch *batch,
                                        uint64_t *hashes, petal_error *error);

/* Does the filter probably contain any, or all, of the keys? Stops as soon as the answer is known.
 * Without keys, any is false and all is true. *answer is written only with PETAL_OK. Fails like
 * petal_contains_batch().
 * Cost: O(keys). */
PETAL_NODISCARD PETAL_API petal_status petal_contains_any(const petal_filter *filter,
                                                          const petal_batch *batch, bool *answer,
                                                          petal_error *error);
PETAL_NODISCARD PETAL_API petal_status petal_contains_all(const petal_filter *filter,
                                                          const petal_batch *batch, bool *answer,
                                                          petal_error *error);

/* --------------------------------------------------------------------------------------- files */

#define PETAL_SAVE_NO_REPLACE 1u /* fail with PETAL_ERR_EXISTS if the file exists */
#define PETAL_SAVE_NO_LOCK 2u    /* take no lock: nobody else changes the file */
/* continue even if the old file's owner can't be preserved */
#define PETAL_SAVE_NEW_OWNER 4u

/* How petal_save(), petal_write() and petal_serialize() write a filter. They take NULL for the
 * defaults. */
typedef struct petal_save_options {
    uint32_t struct_size;
    uint32_t flags;     /* PETAL_SAVE_; no effect without a file */
    const char *format; /* a name that petal_format_at() returns. NULL means petal */
} petal_save_options;
#define PETAL_SAVE_OPTIONS_INIT PETAL_STRUCT_INIT(petal_save_options)

/* Writes the filter to `path`. Replaces a file atomically: at all times the path refers to either
 * the old file or the complete new one. Writes a temporary file in the same folder (random name;
 * mode and owner of the old file; unreadable to others until it has them), then calls fsync,
 * rename, and fsync of the folder. Blocks of zeros become holes if the file system has them.
 * Follows symbolic links. If the old file has several hard links, only this name gets the new file.
 * The old file is locked against writers during the call. A filter that was opened from this path
 * with PETAL_OPEN_LOCKED uses the lock it has, and keeps it. Saving a writable map to its own file
 * is the same as petal_sync(). Bits of a map or view are verified first. Bits are never translated:
 * a format that cannot hold the filter's scheme refuses it, and says why.
 *
 * On failure the old file is unchanged, and no temporary file remains. The exception is a failed
 * fsync of the folder, which comes last: the new file is then in place, and error->message says so.
 *   PETAL_ERR_ARGUMENT     no such format, an unknown flag, or the options are not initialised
 *   PETAL_ERR_EXISTS       NO_REPLACE, and the file exists
 *   PETAL_ERR_BUSY         another process is changing the file, or created one at `path` during
 *                          the call; or the filter is live
 *   PETAL_ERR_REPLACED     the file at `path` is no longer the one that this filter has locked
 *   PETAL_ERR_UNSUPPORTED  the format cannot hold the filter; the file system has no locks (see
 *                          NO_LOCK); the path is not a regular file; the filter has no bits; this
 *                          build has no files
 *   PETAL_ERR_READ_ONLY    a forked child cannot save to a file that its parent keeps locked
 *   PETAL_ERR_DAMAGED      a block of a map or view does not match its checksum
 *   PETAL_ERR_IO, PETAL_ERR_MEMORY
 * Cost: writes the whole file and waits for the disk. */
PETAL_NODISCARD PETAL_API petal_status petal_save(const petal_filter *filter, const char *path,
                                                  const petal_save_options *options,
                                                  petal_error *error);

/* Modes of petal_open(). */
#define PETAL_OPEN_MAP 0u      /* map for reading: no private memory; processes share the pages */
#define PETAL_OPEN_WRITABLE 1u /* map for reading and writing in place; one writer at a time */
#define PETAL_OPEN_LOAD 2u     /* a verified copy in memory; writable; the file does not change */

/* Flags that may be added to the mode. */

/* MAP, WRITABLE: verify every block before returning. Cost: reads all bits. */
#define PETAL_OPEN_VERIFY 16u
/* WRITABLE, LOAD: accept a dirty file as it is. Every key that was synced is present; keys added
 * later may be. In counting filters every key that was synced and not removed since is present. If
 * a key was added or removed after the last sync, only some of its counters may be on disk. You can
 * add it again, which may leave counters too high. Never remove it (again): that could lower
 * counters of other keys. */
#define PETAL_OPEN_RECOVER 32u
/* MAP: read a file while another process changes it in place. Every key that the process had added
 * by its last sync is found, and some later ones, unless it clears, intersects or removes. If no
 * writer is active, opening a dirty file fails with PETAL_ERR_DIRTY as usual. A live filter answers
 * queries; saving, copying and verifying it fail with PETAL_ERR_BUSY. */
#define PETAL_OPEN_LIVE 64u
/* LOAD: keep the file locked against writers until petal_free(), so that a later petal_save() to
 * the same path replaces exactly what was loaded. PETAL_ERR_BUSY if another process has the lock.
 * After chdir(), save to an absolute path: the same relative path may name another file, and saving
 * to that fails with PETAL_ERR_REPLACED. */
#define PETAL_OPEN_LOCKED 128u
/* WRITABLE, LOCKED: take no lock, for file systems without locks. Make sure that nobody else
 * writes. */
#define PETAL_OPEN_NO_LOCK 256u
/* petal_open(), petal_load(): read only the header; the bytes after it need not be present. The
 * filter has no bits until petal_adopt_bits() or petal_write_bits() (petal_host.h) supply them.
 * Until then petal_get_info() works, contains returns true, and calls that need bits fail with
 * PETAL_ERR_UNSUPPORTED. If too few bytes are given (PETAL_ERR_TRUNCATED), error->offset is the
 * number needed so far. No more of a file is read, unless the format is "auto". Works for petal
 * files and for the first chunk of BF.SCANDUMP (redisbloom). */
#define PETAL_OPEN_HEADER_ONLY 512u
/* HEADER_ONLY: open a keyed filter without its secret, to read what its header says. Such a filter
 * accepts no bits and hashes no keys: those calls fail with PETAL_ERR_SECRET_MISSING, and
 * petal_hash_key() returns 0. */
#define PETAL_OPEN_NO_SECRET 1024u
/* MAP, WRITABLE and petal_view(): never answer from damaged bits. Before the first query that needs
 * a block (64 KiB), the block is compared with its checksum; later queries don't compare it again.
 * Once all blocks are checked, queries cost nothing more. Any number of threads may query. If a
 * block does not match, it is damaged:
 *   - petal_contains*() returns true, never a false "certainly not". From then on
 *     petal_last_error() returns PETAL_ERR_DAMAGED, with the block's offset in the file.
 *   - Batches, petal_contains_any() and petal_contains_all() fail with PETAL_ERR_DAMAGED, and
 *     error->offset is the index of the key. The results for the keys before it are valid.
 *   - petal_get_stats(), petal_compare() and petal_inline_begin() check all blocks first, and fail.
 *   - petal_is_overfull() returns false. petal_content_id() gives the recorded id. petal_bits()
 *     checks nothing.
 * Every mode accepts the flag. It has no effect if there is nothing to compare with, or no need to:
 * LOAD, HEADER_ONLY, other formats, LIVE alongside a writer, a dirty file that is being recovered.
 * petal_file_info.verifies_on_use is 1 if it has an effect. If another process starts to change the
 * file in place after it was opened, a block that differs counts as changed, not as damaged. Takes
 * one byte of memory per block. Without the flag, a map trusts its bits. */
#define PETAL_OPEN_VERIFY_ON_USE 2048u
/* With RECOVER, also accept a clean file whose blocks do not match their checksums, and give them
 * new ones. Damage and additions can't be told apart: keys may be missing, and the new checksums
 * hide it. petal_file_info.recovered_blocks counts the blocks that differ. For files that cannot be
 * rebuilt from their keys. */
#define PETAL_OPEN_RESEAL 4096u

typedef struct petal_open_options {
    uint32_t struct_size;
    uint32_t flags;                   /* a mode, and flags */
    const void *secret;               /* for keyed filters, PETAL_SECRET_BYTES; copied */
    uint64_t max_bytes;               /* refuse larger files with PETAL_ERR_LIMIT; 0: no limit */
    const petal_allocator *allocator; /* copied; NULL: the system's */
    /* The format of the bytes: a name that petal_format_at() returns. NULL means petal. "auto": the
     * one format that petal_recognize() finds. */
    const char *format;
    /* Bytes that opening, and later each new layer, may allocate; maps do not count. 0 means 1 GiB,
     * or 64 times the size of the input if that is more; UINT64_MAX means no limit. */
    uint64_t memory_limit;
    /* petal_view(): petal_free() calls this once to give the bytes back. May be NULL. If
     * petal_view() fails, the caller still owns the bytes, and it is not called. */
    void (*release)(void *context, const void *bytes, uint64_t size_bytes);
    void *release_context;
    uint8_t refuse_overfull; /* see petal_options */
    uint8_t reserved[7];     /* 0 */
} petal_open_options;
#define PETAL_OPEN_OPTIONS_INIT PETAL_STRUCT_INIT(petal_open_options)

/* Opens a filter file. If options is NULL, it must be a petal file, and is mapped for reading. The
 * header is always verified; bits are verified only on request.
 *
 * WARNING: while a file is mapped (MAP, WRITABLE), it must not be truncated: the next access to a
 * page that is gone kills the process with SIGBUS. If that could happen, use PETAL_OPEN_LOAD.
 *
 * MAP and LOAD take files of every format. Packed formats (JSON, gzip) take private memory either
 * way. WRITABLE first allocates the file's holes, so that a full disk cannot end the program later.
 * It marks the file dirty on disk before the first change; petal_sync() marks it clean. A growing
 * filter cannot add layers in a map, and a window cannot be mapped for writing: load and save them
 * instead.
 *
 * On failure *filter is NULL. "All" are failures of petal_open(), petal_load() and petal_view():
 *   all    PETAL_ERR_ARGUMENT        unknown flags, flags that contradict each other, no such
 *                                    format; or several formats fit "auto" (the message has their
 *                                    names)
 *   all    PETAL_ERR_NOT_A_FILTER    the bytes are not in the format, or in none that "auto" finds
 *   all    PETAL_ERR_NEWER           written by a later version, with features unknown to this one
 *   all    PETAL_ERR_TRUNCATED       fewer bytes than the header promises
 *   all    PETAL_ERR_DAMAGED         a checksum does not match, or a field is impossible
 *   all    PETAL_ERR_DIRTY           a writer died before its sync; see PETAL_OPEN_RECOVER
 *   all    PETAL_ERR_SECRET_MISSING  the filter is keyed, and options->secret is NULL
 *   all    PETAL_ERR_SECRET_WRONG    another filter's secret, or the filter is not keyed
 *   all    PETAL_ERR_LIMIT           the input exceeds max_bytes, or opening needs more than
 *                                    memory_limit
 *   all    PETAL_ERR_UNSUPPORTED     this build lacks the scheme, hash, format, or files; the mode
 *                                    does not suit the filter
 *   all    PETAL_ERR_MEMORY
 *   files  PETAL_ERR_IO              a system call failed; error->system_errno
 *   files  PETAL_ERR_BUSY            another process is changing the file, or holds its lock
 *   files  PETAL_ERR_REPLACED        LOCKED, WRITABLE: the file was replaced during the call
 * Cost: MAP: milliseconds at any size. WRITABLE: allocates holes. LOAD, VERIFY and packed formats:
 * reads the whole file. */
PETAL_NODISCARD PETAL_API petal_status petal_open(const char *path,
                                                  const petal_open_options *options,
                                                  petal_filter **filter, petal_error *error);

/* Writable maps: makes all changes durable, with their checksums, and marks the file clean. Other
 * filters: PETAL_OK, nothing to do. After a failure the filter accepts no more changes; the file on
 * disk is either dirty or complete.
 *   PETAL_ERR_IO         the disk failed
 *   PETAL_ERR_REPLACED   the changes are durable, but the file is no longer the one at its path
 *   PETAL_ERR_READ_ONLY  the filter belongs to the parent of this process
 *   PETAL_ERR_DAMAGED    an earlier change found a block that does not match its checksum
 * Cost: reads and writes the blocks that changed, and waits for the disk. */
PETAL_NODISCARD PETAL_API petal_status petal_sync(petal_filter *filter, petal_error *error);

/* Compares every block of a mapped or viewed petal file with its checksum.
 *   PETAL_UNCHECKED    there is nothing to compare with: a filter in memory, a file of another
 *                      format, or a map with changes since its last sync
 *   PETAL_ERR_DAMAGED  error->offset is where the first damaged block starts in the file
 *   PETAL_ERR_BUSY     another process is changing the file
 * Cost: reads all bits. */
PETAL_NODISCARD PETAL_API petal_status petal_verify(const petal_filter *filter, petal_error *error);

/* ------------------------------------------------------------------------------ looking inside */

/* What a filter can do, as a mask. If an ability is missing, its call fails with
 * PETAL_ERR_UNSUPPORTED, or with PETAL_ERR_READ_ONLY if the filter was opened for reading.
 * docs/api.md has a table by kind of filter. */
#define PETAL_CAN_ADD 0x1u
#define PETAL_CAN_REMOVE 0x2u
#define PETAL_CAN_HASHES 0x4u /* hashes in place of keys */
#define PETAL_CAN_MERGE 0x8u  /* petal_merge() into it */
#define PETAL_CAN_INTERSECT 0x10u
#define PETAL_CAN_COMPARE 0x20u
#define PETAL_CAN_CREATE_LIKE 0x40u
#define PETAL_CAN_ALLOW_THREADS 0x80u
#define PETAL_CAN_GROW 0x100u   /* adds layers as keys arrive */
#define PETAL_CAN_WINDOW 0x200u /* forgets old keys; with window_ms: petal_set_clock() */
#define PETAL_CAN_MAP 0x400u    /* once saved as petal, it can be mapped for writing */
#define PETAL_CAN_SAVE 0x800u   /* in the petal format; others may refuse */
#define PETAL_CAN_STATS 0x1000u
#define PETAL_CAN_DROP_COUNTS 0x2000u
#define PETAL_CAN_EMPTY_KEY 0x4000u
#define PETAL_CAN_CLEAR 0x8000u
#define PETAL_CAN_FOLD 0x10000u

/* Why a filter has several layers of bits. */
enum {
    PETAL_POLICY_NONE = 0,        /* it has one (or grows by the rules of another library) */
    PETAL_POLICY_GROWING = 1,     /* it gets a larger one when the newest is full */
    PETAL_POLICY_WINDOW_KEYS = 2, /* window: the keys of the last N calls of add */
    PETAL_POLICY_WINDOW_TIME = 3  /* window: the keys of the last N milliseconds */
};

#define PETAL_ALL_LAYERS UINT32_MAX

/* What the library knows of a filter, or of one of its layers, without reading bits. Unknown
 * doubles are NAN. petal_plan() leaves items and memory_bytes at 0, and sets only the abilities
 * that need no bits. */
typedef struct petal_info {
    uint32_t struct_size;
    uint32_t abilities; /* PETAL_CAN_ */
    uint32_t scheme, hash;
    uint32_t hashes;        /* k; with several layers, the newest layer's */
    uint32_t lines_per_key; /* blocked: 1 or 2; otherwise 0 */
    uint32_t layers;        /* bit arrays; 1 for one layer */
    uint32_t counter_bits;  /* counting: 4; otherwise 0 */
    uint64_t bits;          /* m, or the number of counters; summed over layers */
    uint64_t bytes;         /* of the bits, in whole 64-byte lines; summed over layers */
    uint64_t memory_bytes;  /* all memory allocated for it; maps and borrowed bits do not count */
    uint64_t capacity;      /* 0 if not recorded */
    double target_rate;     /* the rate of the options; NAN: not recorded */
    double predicted_rate;  /* petal_predict_rate() at `capacity`; NAN without a capacity */
    /* Added keys, repeats included (growing: only new ones), minus removed keys. Merging sums it. A
     * hint. */
    uint64_t items;
    uint64_t seed;
    uint64_t metadata_bytes;
    uint32_t secret_id; /* identifies the secret; 0 if not keyed */
    uint32_t key_type;
    uint32_t policy; /* PETAL_POLICY_; petal_get_layers_info() has the details */
    uint8_t keyed;   /* 1 if it uses siphash with a secret */
    uint8_t reserved[3];
    const char *scheme_name; /* "blocked", ...; static storage, as are all names */
    const char *hash_name;   /* "xxh3", ... */
    const char *format_name; /* it was read from, or made for; "petal" if new and native */
    const char *kernel_name; /* in use: "avx512", "avx2", "sse4", "neon", "simd128", "generic" */
} petal_info;
#define PETAL_INFO_INIT PETAL_STRUCT_INIT(petal_info)

/* Fills in *info for one layer (0 is the oldest, layers - 1 the newest, which receives new keys),
 * or for the whole filter (PETAL_ALL_LAYERS). PETAL_ERR_ARGUMENT: there is no such layer, or the
 * struct is not initialised.
 * Cost: O(layers). */
PETAL_API petal_status petal_get_info(const petal_filter *filter, uint32_t layer, petal_info *info,
                                      petal_error *error);

/* How a filter grows or forgets (PETAL_POLICY_). A field that does not apply is 0. */
typedef struct petal_layers_info {
    uint32_t struct_size;
    uint32_t growth_step; /* growing */
    double growth_ratio;  /* growing */
    uint64_t window_keys; /* windows; equal to petal_info.capacity */
    uint64_t window_ms;   /* windows of time */
    uint32_t generations; /* windows: as planned; petal_info.layers is how many there are now */
    uint32_t reserved;
    uint64_t clock_ms; /* windows of time: the latest petal_set_clock(), or 0 */
    /* One layer of a window of time: bounds on the times of its keys. 0 if unknown. */
    uint64_t earliest_ms, latest_ms;
} petal_layers_info;
#define PETAL_LAYERS_INFO_INIT PETAL_STRUCT_INIT(petal_layers_info)

/* Fills in *info for one layer or for all. Fails like petal_get_info(). */
PETAL_API petal_status petal_get_layers_info(const petal_filter *filter, uint32_t layer,
                                             petal_layers_info *info, petal_error *error);

/* What the library knows about the file or view that a filter was opened from. All 0 for a filter
 * that was made in memory, copies included. */
typedef struct petal_file_info {
    uint32_t struct_size;
    uint8_t live; /* 1 if opened with PETAL_OPEN_LIVE while a writer was active */
    /* 1 for a map or view of a petal file, whose blocks petal_verify() compares with their
     * checksums. 0 if there is nothing to compare: a filter in memory (loading has compared them),
     * a file of another format, or one that was dirty or that another process is changing. */
    uint8_t verifiable;
    uint8_t verifies_on_use; /* 1 if PETAL_OPEN_VERIFY_ON_USE has an effect */
    uint8_t reserved;
    /* A map or view: blocks that were not compared with their checksums yet, or found damaged. */
    uint64_t unchecked_blocks;
    /* Opened with PETAL_OPEN_RECOVER: how many blocks were compared with their last checksums, and
     * how many of them differ. */
    uint64_t compared_blocks, recovered_blocks;
    /* The format of the file. To keep the file as it was, save the filter in this format. A petal
     * file may hold a filter of another format (petal_info.format_name). NULL if it was made in
     * memory. */
    const char *format_name;
} petal_file_info;
#define PETAL_FILE_INFO_INIT PETAL_STRUCT_INIT(petal_file_info)

/* Fills in *info. PETAL_ERR_ARGUMENT: the struct is not initialised. */
PETAL_API petal_status petal_get_file_info(const petal_filter *filter, petal_file_info *info,
                                           petal_error *error);

/* An estimate with its 95 % interval: over all seeds of the hash, 95 of 100 such intervals contain
 * the true value. Does not grow. */
typedef struct petal_estimate {
    double value, low, high;
} petal_estimate;

/* What can be estimated from the bits. */
typedef struct petal_stats {
    uint32_t struct_size;
    uint8_t saturated; /* 1 if every bit is set; estimated_items is infinite and estimated_rate 1 */
    uint8_t overfull;  /* 1 if overfull: see petal_is_overfull() */
    uint8_t reserved[2];
    uint64_t bits_set;              /* counting: counters that are not zero */
    uint64_t saturated_counters;    /* counting: those that have reached 15 */
    double fill;                    /* bits_set / bits */
    petal_estimate estimated_items; /* distinct keys */
    /* The share of absent keys that would be found, given exactly these bits. Layers are treated as
     * independent; for growing filters at rates of 30 % that is 1 % too low. For other libraries'
     * filters it is within 6 %. NAN if unknown (docs/formats/README.md, "Rates"). */
    double estimated_rate;
} petal_stats;
#define PETAL_STATS_INIT PETAL_STRUCT_INIT(petal_stats)

/* Fills in *stats for one layer or for all.
 *   PETAL_ERR_ARGUMENT     there is no such layer, or the struct is not initialised
 *   PETAL_ERR_UNSUPPORTED  the filter has no bits
 *   PETAL_ERR_DAMAGED      a block does not match its checksum (PETAL_OPEN_VERIFY_ON_USE)
 * Cost: reads all bits. With AVX2, 5 GB take a second; Parquet's filters take twice as long, and
 * counting filters three times as long. The rate of a blocked filter above 16 MiB comes from a
 * sample of 2^18 lines, which depends on all bytes and takes 0.15 s. The rate of other libraries'
 * filters of up to 4,096 bits takes up to 10 ms. */
PETAL_API petal_status petal_get_stats(const petal_filter *filter, uint32_t layer,
                                       petal_stats *stats, petal_error *error);

/* Sets *content_id to a number that is equal for filters with equal parameters and bits, whatever
 * the order in which keys were added.
 *   PETAL_ERR_BUSY         the filter is live
 *   PETAL_ERR_UNSUPPORTED  the filter has no bits
 *   PETAL_ERR_DAMAGED      a block does not match its checksum (PETAL_OPEN_VERIFY_ON_USE)
 * Cost: constant for a file that was opened and not changed since; otherwise reads all bits. */
PETAL_API petal_status petal_content_id(const petal_filter *filter, uint64_t *content_id,
                                        petal_error *error);

/* True if the filter is known to hold more distinct keys than its capacity. If so, its rate exceeds
 * the planned one, and it is time for a larger filter. The estimate comes from the bits, since
 * `items` counts repeats; so it does not depend on the order of the keys. Returns false for filters
 * without a capacity and for those that grow. Any number of threads may call it.
 *
 * This is about the number of keys, not the rate. In a filter without a secret, someone can choose
 * `capacity` keys that share no bits, and so set up to 1.4 times as many bits as random keys do.
 * The rate is then 1.4^k times the planned one. This call stays false, but estimated_rate shows it.
 * Cost: constant, except that all bits are counted at most once each time `items` has changed by
 * 1/32 of the capacity, and never while items <= capacity. */
PETAL_API bool petal_is_overfull(const petal_filter *filter);

/* The first failure of this filter's calls, with errno and offset: for callers that check only at
 * the end, and for threads. A damaged block of a map takes precedence. If nothing failed, it
 * returns PETAL_OK with an empty message. Takes no lock; any number of threads may call it. */
PETAL_API petal_status petal_last_error(const petal_filter *filter, petal_error *error);

/* The metadata and its size, borrowed until the filter is freed, or until petal_set_metadata(),
 * petal_apply_patch() or petal_relocate() changes it. Returns NULL if there is none. metadata_bytes
 * may be NULL. */
PETAL_API const void *petal_metadata(const petal_filter *filter, uint64_t *metadata_bytes);

/* Replaces the metadata with a copy of these bytes.
 *   PETAL_ERR_LIMIT        more than PETAL_METADATA_MAX_BYTES
 *   PETAL_ERR_UNSUPPORTED  a writable map: the file has no room for it; load and save instead
 *   PETAL_ERR_READ_ONLY, PETAL_ERR_MEMORY
 * Cost: O(metadata_bytes). */
PETAL_API petal_status petal_set_metadata(petal_filter *filter, const void *metadata,
                                          uint64_t metadata_bytes, petal_error *error);

/* Describes the filter that petal_create() would make from these options, without making it: fills
 * in *plan as petal_get_info() would, and *layers, which may be NULL, as petal_get_layers_info()
 * would. It inverts the scheme's exact model (docs/format.md): the rate at `capacity` keys,
 * averaged over seeds, is at most the requested rate. Filters of other formats get the size that
 * their library would choose, by formulas that assume independent positions. Most of them exceed
 * the requested rate below a few thousand keys; plan->predicted_rate is the rate that they have.
 * Fails like petal_create().
 * Cost: about 10 us; 100 us for windows and for a rate with memory_bytes; somewhat more for rates
 * below 1e-6. */
PETAL_API petal_status petal_plan(const petal_options *options, petal_info *plan,
                                  petal_layers_info *layers, petal_error *error);

/* The false-positive rate that the scheme's model predicts for a filter with these parameters that
 * holds `keys` distinct keys. 0 if `keys` is 0. Exact for Petal's own schemes. Other libraries
 * derive positions from two hashes by double hashing; for them the prediction is within 15 %. NAN
 * if that accuracy is not possible (mostly below 50 keys; docs/formats/README.md, "Rates"), for
 * several layers, for an info that no filter can have, and in builds without the model. Cost:
 * microseconds, at worst a millisecond. */
PETAL_API double petal_predict_rate(const petal_info *info, uint64_t keys);

/* ------------------------------------------------------------------------------- whole filters */

/* Creates an empty filter in memory with the parameters of `pattern`: scheme, hash, seed or secret,
 * bits, hashes, lines per key, capacity and rate, but not its metadata. Such filters can be merged;
 * merging partial filters gives, byte for byte, the filter to which all keys were added. On failure
 * *filter is NULL.
 *   PETAL_ERR_UNSUPPORTED     the pattern grows or has several layers
 *   PETAL_ERR_SECRET_MISSING  the pattern lacks its secret (PETAL_OPEN_NO_SECRET)
 *   PETAL_ERR_MEMORY */
PETAL_NODISCARD PETAL_API petal_status petal_create_like(const petal_filter *pattern,
                                                         petal_filter **filter, petal_error *error);

/* Makes a private copy in memory, writable even if `filter` is not, with the same parameters, keys
 * and metadata. Does not touch pages that hold no bits. On failure *copy is NULL.
 *   PETAL_ERR_UNSUPPORTED  the filter has no bits
 *   PETAL_ERR_BUSY         the filter is live
 *   PETAL_ERR_DAMAGED      a block of a map or view does not match its checksum
 *   PETAL_ERR_MEMORY
 * Cost: reads all bits and copies them. */
PETAL_NODISCARD PETAL_API petal_status petal_clone(const petal_filter *filter, petal_filter **copy,
                                                   petal_error *error);

/* Removes every key. Parameters, capacity, metadata and clock stay the same. A growing filter keeps
 * only its first layer, or all layers if it is a map.
 *   PETAL_ERR_UNSUPPORTED  the filter has no bits
 *   PETAL_ERR_READ_ONLY
 *   PETAL_ERR_IO           a map: the file could not be marked as dirty
 * Cost: writes all bits. */
PETAL_NODISCARD PETAL_API petal_status petal_clear(petal_filter *filter, petal_error *error);

/* Makes the filter permanently read-only: later changes fail with PETAL_ERR_READ_ONLY. Syncs a
 * writable map first, and keeps its lock until petal_free(). If the sync fails, nothing is frozen.
 * Fails like petal_sync(). A static filter that collects keys is built, in this thread:
 *   PETAL_ERR_MEMORY  building takes 16 bytes per added key besides the filter. The keys are lost;
 *                     all you can do is petal_free()
 *   PETAL_ERR_LIMIT   more than 2^46 keys
 * Cost: the same as petal_sync(); for a static filter, O(keys), about 0.1 us each. */
PETAL_NODISCARD PETAL_API petal_status petal_freeze(petal_filter *filter, petal_error *error);

/* Makes `filter` the union of both: exactly the filter to which the keys of both were added. Items
 * and counters are summed, so a key that is in both must be removed as many times as it was added
 * to both together. A call that is refused changes nothing.
 *   PETAL_ERR_MISMATCH     scheme, hash, seed or secret, bits, hashes or lines per key differ
 *   PETAL_ERR_UNSUPPORTED  one of them grows, is a window, or has several layers, which hold the
 *                          keys of different times; or has no bits
 *   PETAL_ERR_BUSY         `other` maps a file that another process has begun to change.
 *                          Either nothing changed, or `filter` has some keys of `other`
 *   PETAL_ERR_DAMAGED      a block of a map or view does not match its checksum
 *   PETAL_ERR_READ_ONLY
 *   PETAL_ERR_IO           a map: the file could not be marked as dirty
 * Cost: reads all bits of both, and writes those that change. */
PETAL_NODISCARD PETAL_API petal_status petal_merge(petal_filter *filter, const petal_filter *other,
                                                   petal_error *error);

/* Like petal_merge(), but `filter` keeps only the bits that both have. Every key of both is still
 * present. The rate is at most that of the better filter, but higher than that of a filter made
 * from the common keys alone. Items becomes the smaller number. Bits of keys that only one filter
 * had may survive, so estimated_items is too high: to count the common keys, use petal_compare().
 * Each counter becomes the lower of the two: a key that was added twice to one filter and once to
 * the other can be removed once. A counter raised by different keys in the two filters stays above
 * zero: a permanent false positive. Fails like petal_merge(), and costs the same. */
PETAL_NODISCARD PETAL_API petal_status petal_intersect(petal_filter *filter,
                                                       const petal_filter *other,
                                                       petal_error *error);

/* How two sets of keys overlap. Numbers of distinct keys, and shares from 0 to 1. */
typedef struct petal_comparison {
    uint32_t struct_size;
    /* 1 if every bit of the union is set; then only bounds of the overlap are known, and values are
     * NAN. */
    uint8_t saturated;
    uint8_t reserved[3];
    petal_estimate items_a, items_b, union_items; /* infinite for a saturated filter */
    petal_estimate intersection;                  /* |A and B| = |A| + |B| - |A or B|, at least 0 */
    petal_estimate jaccard;                       /* |A and B| / |A or B|; NAN if both are empty */
    petal_estimate containment_a_in_b;            /* |A and B| / |A|; NAN if A is empty */
    petal_estimate containment_b_in_a;            /* |A and B| / |B|; NAN if B is empty */
} petal_comparison;
#define PETAL_COMPARISON_INIT PETAL_STRUCT_INIT(petal_comparison)

/* Estimates from the bits of two filters how their keys overlap. How often a key was added to a
 * counting filter makes no difference. The estimates are unbiased, except that a negative overlap
 * is reported as 0. The fuller the filters, and the smaller the overlap relative to the sets, the
 * wider the intervals (docs/format.md, "Rates", derives them).
 *   PETAL_ERR_MISMATCH     as for petal_merge()
 *   PETAL_ERR_UNSUPPORTED  one has several layers, whose bits cannot be matched; or has no bits
 *   PETAL_ERR_DAMAGED      a block does not match its checksum (PETAL_OPEN_VERIFY_ON_USE)
 *   PETAL_ERR_ARGUMENT     the struct is not initialised
 * Cost: reads all bits of both once, without a copy. */
PETAL_API petal_status petal_compare(const petal_filter *a, const petal_filter *b,
                                     petal_comparison *comparison, petal_error *error);

/* Makes a classic filter from a counting one, a quarter of the size: *dropped is a new filter in
 * memory with the same m, k, hash, capacity, items and metadata, whose set bits are the counters
 * that are not zero. If no counter has reached 15, it equals, byte for byte, the classic filter
 * with the same keys. On failure *dropped is NULL.
 *   PETAL_ERR_UNSUPPORTED  the scheme does not count; or the filter has no bits
 *   PETAL_ERR_BUSY         the filter is live
 *   PETAL_ERR_DAMAGED      a block of a map or view does not match its checksum
 *   PETAL_ERR_MEMORY
 * Cost: reads all counters, and writes the new filter. */
PETAL_NODISCARD PETAL_API petal_status petal_drop_counts(const petal_filter *filter,
                                                         petal_filter **dropped,
                                                         petal_error *error);

/* How far to fold. All fields may be 0, and the options may be NULL. */
typedef struct petal_fold_options {
    uint32_t struct_size;
    uint8_t by_bits;     /* 1 to use estimated_items instead of items, and record it in *folded */
    uint8_t reserved[3]; /* 0 */
    double rate;         /* maximum rate at `capacity` keys; 0 means the filter's target_rate */
    uint64_t capacity;   /* distinct keys to plan for, at least those in it */
    uint64_t bits;       /* exact size, without capacity: must divide the filter's bits */
} petal_fold_options;
#define PETAL_FOLD_OPTIONS_INIT PETAL_STRUCT_INIT(petal_fold_options)

/* Makes a smaller filter with the same keys, without needing the keys: *folded is a new filter in
 * memory. It equals, byte for byte, a filter of that size, capacity and rate to which the keys were
 * added. Line i of the smaller filter is the union of d neighbouring lines (classic: bits), where d
 * is any whole number that divides the number of lines. So if you don't know the number of keys,
 * create a filter that is too large, with options.foldable, add the keys, and then fold it. The
 * numbers of hashes and of lines per key stay the same. They should suit the rate of the folded
 * filter, which options.foldable ensures.
 *
 * Without `bits`, it uses the largest d that keeps the rate by the scheme's exact model. If only 1
 * does, *folded is a copy of the same size. The number of keys is petal_info.items if the bits
 * agree with it, otherwise petal_stats.estimated_items. The capacity of *folded is the number of
 * keys at which it has the rate. It has the filter's items and metadata. A growing filter can be
 * folded while it has one layer; *folded does not grow.
 *
 * On failure *folded is NULL.
 *   PETAL_ERR_ARGUMENT     the rate is not between 0 and 1, or neither given nor recorded; `bits`
 *                          doesn't divide the filter's bits; or `bits` and `capacity` are both
 *                          given
 *   PETAL_ERR_UNREACHABLE  the filter has too many keys for the rate already
 *   PETAL_ERR_UNSUPPORTED  it counts, is a window, or has several layers; the positions of the
 *                          foreign scheme are remainders (all but parquet and rocksdb); or it has
 *                          no bits
 *   PETAL_ERR_BUSY         the filter is live
 *   PETAL_ERR_DAMAGED      a block of a map or view does not match its checksum
 *   PETAL_ERR_MEMORY
 * Cost: reads all bits twice and writes the new ones. classic: also a few nanoseconds per bit of
 * the new filter. */
PETAL_NODISCARD PETAL_API petal_status petal_fold(const petal_filter *filter,
                                                  const petal_fold_options *options,
                                                  petal_filter **folded, petal_error *error);

/* Sharding: a set that is too large for one machine is spread over `shards` filters (files, Redis
 * keys). A key has the same shard in every language and for every filter:
 * mulhi64(fmix64(fmix64(g)), shards) with g = XXH3_64bits(key, 0), from 0 to shards - 1
 * (docs/format.md, "Shards", says why). Shards are even: each has about 1/shards of the keys,
 * within a few times the square root of that number. 0 shards count as 1. Strangers who choose the
 * keys can aim at one shard; for keyed filters, petal_host.h has petal_shard_of_hash(). */
PETAL_API uint32_t petal_shard_of(const void *key, size_t key_bytes, uint32_t shards);

/* ----------------------------------------------------------------------------- several threads */

/* From now on any number of threads may add to the filter (petal_add*) and query it
 * (petal_contains*) at the same time. No bit is lost, and the result has the same bits as adding
 * the keys one after the other. If threads add the same new key at the same time, one of them gets
 * PETAL_OK. Everything else (saving, merging, ...) must still wait until no thread adds. An add
 * takes one atomic operation, and may wait briefly for another thread. Queries are as fast as
 * before. To fill a filter that nobody queries in the meantime, a petal_builder (petal_build.h) is
 * faster.
 *   PETAL_ERR_UNSUPPORTED  filters of several layers, counting filters, most foreign schemes;
 *                          WebAssembly without threads
 *   PETAL_ERR_READ_ONLY, PETAL_ERR_MEMORY
 *   PETAL_ERR_DAMAGED      a writable map: a block does not match its checksum
 * Cost: constant; a writable map is verified first, which reads all bits. */
PETAL_NODISCARD PETAL_API petal_status petal_allow_threads(petal_filter *filter,
                                                           petal_error *error);

/* ------------------------------------------------------------------------------------- windows */

/* Sets the clock of a time-window filter (options.window_ms): milliseconds since any epoch, by
 * convention 1970. Only this call drops generations that have expired, so call it before adding and
 * querying. The filter and its file keep the latest time; an earlier one changes nothing. Keys
 * added before the first call are dated to it.
 *   PETAL_ERR_UNSUPPORTED  the filter has no window of time, or no bits
 *   PETAL_ERR_ARGUMENT     above 2^63 - 1
 *   PETAL_ERR_READ_ONLY
 * Cost: O(generations), and releasing those that expired. If all expired, it clears the bits of
 * one. */
PETAL_API petal_status petal_set_clock(petal_filter *filter, uint64_t now_ms, petal_error *error);

/* ------------------------------------------------------------------------------------- formats */

#define PETAL_FORMAT_CAN_READ 1u
#define PETAL_FORMAT_CAN_WRITE 2u
#define PETAL_FORMAT_CAN_CREATE 4u    /* options.format */
#define PETAL_FORMAT_CAN_RECOGNIZE 8u /* petal_recognize() may name it */
#define PETAL_FORMAT_CAN_MAP 16u      /* read without a copy */
#define PETAL_FORMAT_HAS_CHECKSUM 32u
#define PETAL_FORMAT_IS_PACKED 64u /* decoded into memory: JSON, gzip, ... */

typedef struct petal_format_info {
    uint32_t struct_size;
    uint32_t abilities; /* PETAL_FORMAT_ */
    const char *name;   /* "guava", ... */
    const char *keys;   /* how its library turns keys into bytes, in a few words */
} petal_format_info;
#define PETAL_FORMAT_INFO_INIT PETAL_STRUCT_INIT(petal_format_info)

/* Fills in *info for one format of this build, from 0. Returns false after the last one. */
PETAL_API bool petal_format_at(uint32_t place, petal_format_info *info);

/* Finds the formats that these bytes could be in, from header and length alone: a hint, not a
 * proof, since most formats have no magic number. Writes up to `room` names and returns how many
 * formats fit. If one is certain, it is the only one. */
PETAL_API uint64_t petal_recognize(const void *bytes, uint64_t size_bytes, const char **names,
                                   uint64_t room);

/* -------------------------------------------------------------------------- memory and streams */

/* The size of the filter's image, which is the size of the file that petal_save() writes with these
 * options. 0 if the format cannot hold the filter.
 * Cost: O(layers); packed formats (PETAL_FORMAT_IS_PACKED) read all bits. */
PETAL_API uint64_t petal_serialized_bytes(const petal_filter *filter,
                                          const petal_save_options *options);

/* Writes that image into memory. Bits of a map or view are verified first.
 *   PETAL_ERR_ARGUMENT     as for petal_save(); or size_bytes is below petal_serialized_bytes()
 *   PETAL_ERR_UNSUPPORTED  the format cannot hold the filter, or the filter has no bits
 *   PETAL_ERR_BUSY         the filter is live
 *   PETAL_ERR_DAMAGED      a block does not match its checksum
 *   PETAL_ERR_MEMORY
 * Cost: reads all bits and writes the image. */
PETAL_NODISCARD PETAL_API petal_status petal_serialize(const petal_filter *filter,
                                                       const petal_save_options *options,
                                                       void *bytes, uint64_t size_bytes,
                                                       petal_error *error);

/* Receives the next bytes of a stream. Anything but 0 stops it. */
typedef int32_t (*petal_sink)(void *context, const void *bytes, size_t size_bytes);

/* Writes that image to `sink`, in order and in pieces of up to 256 KiB. Uses about 20 KiB of memory
 * besides the filter, whatever its size (redisbloom-dump compresses and uses as much as the largest
 * layer). Bits of a map or view are verified first.
 *   PETAL_ERR_IO  the sink stopped the stream; error->system_errno is what it returned
 * and the failures of petal_serialize().
 * Cost: reads all bits, and what the sink costs. */
PETAL_NODISCARD PETAL_API petal_status petal_write(const petal_filter *filter,
                                                   const petal_save_options *options,
                                                   petal_sink sink, void *context,
                                                   petal_error *error);

/* Makes a filter from an image in memory: a private, verified copy. Safe on hostile bytes. Modes
 * and flags work as in petal_open(); RECOVER, RESEAL, HEADER_ONLY and NO_SECRET have an effect.
 * Failures: see the table at petal_open().
 * Cost: reads and copies all bits. */
PETAL_NODISCARD PETAL_API petal_status petal_load(const void *bytes, uint64_t size_bytes,
                                                  const petal_open_options *options,
                                                  petal_filter **filter, petal_error *error);

/* Like petal_load(), but read-only and without a copy. `bytes` must not change until petal_free(),
 * which passes them to options->release.
 * Cost: constant; VERIFY and packed formats read all bits. */
PETAL_NODISCARD PETAL_API petal_status petal_view(const void *bytes, uint64_t size_bytes,
                                                  const petal_open_options *options,
                                                  petal_filter **filter, petal_error *error);

/* ------------------------------------------------------------------------------------- patches
 *
 * A patch turns one filter into another (docs/format.md, "Patches"), for copies that follow a
 * filter as it changes. It encodes the gaps between newly set bits, within a few percent of the
 * entropy: if 1 % more keys were added, the patch has about 3 % of the file's size. Bits that were
 * cleared cost as much. A 64 KiB block never takes more than its own size. The patch also carries
 * items, capacity, metadata, and layers and generations that came and went, but no secret. */

/* Writes to `sink` the patch from `from` to `to`, in order and in pieces of up to 256 KiB. Uses
 * about 80 KiB of memory. Bits of a map or view are verified first.
 *   PETAL_ERR_MISMATCH     they differ in scheme, hash, seed or secret, in how they grow or forget,
 *                          or in the size of a layer: send the whole file instead
 *   PETAL_ERR_IO           the sink stopped the stream; error->system_errno is what it returned
 *   PETAL_ERR_UNSUPPORTED  a filter has no bits
 *   PETAL_ERR_BUSY         a filter is live
 *   PETAL_ERR_DAMAGED      a block does not match its checksum
 *   PETAL_ERR_MEMORY, PETAL_ERR_LIMIT
 * Cost: reads all bits of both filters about three times. */
PETAL_NODISCARD PETAL_API petal_status petal_diff(const petal_filter *from, const petal_filter *to,
                                                  petal_sink sink, void *context,
                                                  petal_error *error);

/* Applies a patch: turns the filter, which must have the content id that the patch was made for,
 * into the filter `to`. The images of the two are then equal, byte for byte. Safe on hostile bytes.
 * The call computes the result block by block and compares its content id before it changes the
 * first bit, so after a failure the filter is unchanged. Besides new layers and metadata, this
 * needs 64 KiB of memory, not a copy of the filter. Needs exclusive use; no builder may be active.
 * memory_limit is the number of bytes that new layers may take. 0 means the limit that the filter
 * was opened with, by default 1 GiB or 64 times its size; UINT64_MAX means no limit.
 *   PETAL_ERR_MISMATCH      the patch is for another content id or another kind of filter, or was
 *                           applied already
 *   PETAL_ERR_NOT_A_FILTER  the bytes are not a patch
 *   PETAL_ERR_TRUNCATED, PETAL_ERR_DAMAGED (error->offset is an offset in the patch)
 *   PETAL_ERR_NEWER         a later version made the patch
 *   PETAL_ERR_LIMIT         new layers exceed memory_limit
 *   PETAL_ERR_UNSUPPORTED   a writable map: load and save instead; or the filter has no bits
 *   PETAL_ERR_READ_ONLY, PETAL_ERR_MEMORY
 * Cost: reads all bits about three times. */
PETAL_NODISCARD PETAL_API petal_status petal_apply_patch(petal_filter *filter, const void *patch,
                                                         uint64_t patch_bytes,
                                                         uint64_t memory_limit, petal_error *error);

#ifdef __cplusplus
}
#endif
#endif
