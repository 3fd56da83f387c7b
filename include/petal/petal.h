/* petal.h - Bloom filters, with one C core and one file format for every language.
 *
 * A Bloom filter answers "is this key in the set?" with "certainly not" or "probably", using a few
 * bits per key. It never misses a key that was added. For a key that was not added, it wrongly
 * answers "probably" with a planned probability, the false-positive rate. This header is the
 * complete contract: anything that it does not state is not guaranteed.
 *
 *     petal_options options = PETAL_OPTIONS_INIT;
 *     petal_filter *filter = NULL;
 *     options.capacity = 1000000;   // distinct keys
 *     options.rate = 0.01;          // 1 % false positives when all are added
 *     if (petal_create(&options, &filter, NULL) != PETAL_OK) return 1;
 *     petal_add(filter, "https://example.com/", 20);
 *     if (petal_contains(filter, "https://example.org/", 20)) ...   // probably
 *     if (petal_save(filter, "urls.petal", NULL, NULL) != PETAL_OK) return 1;
 *     petal_free(filter);
 *
 * To understand that program, read "Status", "Creating", "One key" and petal_save(). The other
 * sections follow in the order in which most readers need them: batches, files, looking inside,
 * whole filters, several threads, windows, formats, memory and streams, patches. There are five
 * other headers: petal_build.h for static filters and for filling a filter from several threads,
 * petal_index.h for many filters in one file, petal_host.h for servers and bindings, petal_inline.h
 * for an inlined hot loop, and petal_parquet.h for the filters inside Parquet files. Comments mark
 * calls that were added after version 1.0.
 *
 * Conventions
 *   Keys       A key is a byte string of any length, including 0. petal_encode_*() convert numbers
 *              to keys.
 *   Sizes      The name of a size contains its unit. Sizes are uint64_t, except that the sizes of
 *              keys, allocations and stream pieces are size_t. A size that would overflow is
 *              rejected and never wraps.
 *   Order      Arguments come in this order: the filter (builder, reader), inputs, outputs, the
 *              error. An array is followed by its size or room, a callback by its context.
 *   Status     PETAL_OK is 0. Positive values mean success with extra information. Negative values
 *              are failures.
 *   Errors     A petal_error pointer may always be NULL. It is written only on failure.
 *   Structs    A struct that starts with `struct_size` can grow in later versions. Initialize it
 *              with its _INIT macro, in a declaration or an assignment. For every field, 0 is the
 *              default. The library uses struct_size to stay compatible with programs that were
 *              compiled with an older or newer header: a field that the program does not have keeps
 *              its default, and the library does not write it. If a program passes a struct from a
 *              newer header, the call fails with PETAL_ERR_ARGUMENT only if a field that the
 *              library doesn't know is not 0. Structs without struct_size never change.
 *   Pointers   A pointer must not be NULL unless its comment allows it. A key may be NULL if its
 *              size is 0.
 *   Arrays     A call that returns an array writes at most `room` elements. It reports the
 *              total number, which may exceed `room`, in *count (0 on failure), or as its return
 *              value if the call cannot fail. The array may be NULL if `room` is 0.
 *   Ownership  The caller owns a filter that a call returns, and releases it with petal_free().
 *              All other strings and pointers that calls return are borrowed.
 *   Cost       A call takes constant time (plus the time to hash its keys) unless its comment
 *              states a "Cost". In such comments, reading "all bits" means reading petal_info.bytes
 *              bytes at memory speed, which takes about a second for 5 GB in memory.
 *   Threads    While no thread changes a filter, any number of threads may pass it to calls that
 *              take a `const petal_filter`, without a lock. All other calls require exclusive use
 *              of the filter, and so does saving a writable map to its own file. The only
 *              exception is adding to a filter after petal_allow_threads(). The library has no
 *              mutable global state.
 *   Processes  Filters in memory are private: after fork(), parent and child each own a copy. A
 *              filter that keeps a file open for writing (PETAL_OPEN_WRITABLE, PETAL_OPEN_LOCKED)
 *              belongs to the process that opened it. A forked child may query it and must
 *              call petal_free(), which unmaps and closes the file without a sync. In the child,
 *              changing the map, petal_sync(), builders, and saving to the locked file fail with
 *              PETAL_ERR_READ_ONLY. The parent keeps the lock until it frees the filter. Don't fork
 *              while a thread changes a filter that the child will use.
 */
#ifndef PETAL_H
#define PETAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* This is the only definition of the version. The build, the petal tool, and the code that writes
 * files use it. */
#define PETAL_VERSION_MAJOR 0
#define PETAL_VERSION_MINOR 1
#define PETAL_VERSION_PATCH 0

/* The version as a number, for the preprocessor: 10203 means 1.2.3. */
#define PETAL_VERSION_NUMBER \
    (PETAL_VERSION_MAJOR * 10000 + PETAL_VERSION_MINOR * 100 + PETAL_VERSION_PATCH)

#define PETAL_QUOTE(x) #x
#define PETAL_QUOTE_VALUE(x) PETAL_QUOTE(x)
#define PETAL_VERSION_STRING \
    PETAL_QUOTE_VALUE(PETAL_VERSION_MAJOR) \
    "." PETAL_QUOTE_VALUE(PETAL_VERSION_MINOR) "." PETAL_QUOTE_VALUE(PETAL_VERSION_PATCH)

/* To use the shared library, define PETAL_SHARED_LIBRARY. To build it, also define
 * PETAL_BUILDING. */
#if defined(_WIN32) && defined(PETAL_SHARED_LIBRARY) && defined(PETAL_BUILDING)
#define PETAL_API __declspec(dllexport)
#elif defined(_WIN32) && defined(PETAL_SHARED_LIBRARY)
#define PETAL_API __declspec(dllimport)
#elif defined(PETAL_SHARED_LIBRARY) && defined(__GNUC__)
#define PETAL_API __attribute__((visibility("default")))
#else
#define PETAL_API
#endif

/* Makes compilers warn if a call's status is ignored. It marks calls that create, save or transform
 * a whole filter, and calls that are useless without their status (petal_verify(),
 * petal_contains_any(), petal_allow_threads()). Other calls don't need the warning:
 * petal_last_error() reports failed adds, and petal_builder_finish() reports its workers'
 * failures. */
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

/* Creates a struct whose struct_size is set and whose other fields are 0. In C, this is a compound
 * literal, so it can be used in an assignment, but can't initialize a static variable. */
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

    PETAL_ERR_ARGUMENT = -1,        /* an argument has a value that the call rejects */
    PETAL_ERR_UNREACHABLE = -2,     /* no filter of this scheme can reach the rate */
    PETAL_ERR_LIMIT = -3,           /* a size overflows or exceeds a documented limit */
    PETAL_ERR_MEMORY = -4,          /* the allocator returned NULL */
    PETAL_ERR_MISMATCH = -5,        /* two filters differ; the message names the field */
    PETAL_ERR_READ_ONLY = -6,       /* the filter was opened or viewed for reading, or is frozen */
    PETAL_ERR_UNSUPPORTED = -7,     /* the scheme, format or build does not support the call */
    PETAL_ERR_IO = -8,              /* a system call failed; see petal_error.system_errno */
    PETAL_ERR_EXISTS = -9,          /* the file exists and must not be replaced */
    PETAL_ERR_BUSY = -10,           /* another process is changing the file; try again later */
    PETAL_ERR_NOT_A_FILTER = -11,   /* the bytes are not a filter in this format */
    PETAL_ERR_NEWER = -12,          /* the file uses features that this version does not know */
    PETAL_ERR_TRUNCATED = -13,      /* the input is shorter than its header says */
    PETAL_ERR_DAMAGED = -14,        /* a checksum does not match, or a field is impossible */
    PETAL_ERR_DIRTY = -15,          /* a writer died before its sync; see PETAL_OPEN_RECOVER */
    PETAL_ERR_SECRET_MISSING = -16, /* the filter is keyed, and no secret was given */
    PETAL_ERR_SECRET_WRONG = -17,   /* the secret is another filter's, or the filter is not keyed */
    PETAL_ERR_FULL = -18,           /* the filter accepts no more keys; see petal_add() */
    PETAL_ERR_REPLACED = -19        /* the file at the path was replaced; see petal_sync() */
};

#define PETAL_NO_OFFSET UINT64_MAX

/* Describes why a call failed. The caller provides this struct, which never grows. */
typedef struct petal_error {
    petal_status status;
    int32_t system_errno; /* errno of the system call that failed, or 0 */
    uint64_t offset;      /* input offset at which the failure was detected, or PETAL_NO_OFFSET */
    char message[240];    /* one line, no newline: the problem and its fix, not the path */
} petal_error;

/* Returns the short fixed name of a status, such as "damaged". Never returns NULL. */
PETAL_API const char *petal_status_name(petal_status status);

/* These return PETAL_VERSION_STRING and PETAL_VERSION_NUMBER of the linked library, which may be
 * newer than this header. */
PETAL_API const char *petal_version(void);
PETAL_API uint32_t petal_version_number(void);

/* ------------------------------------------------------------------------------------ creating */

typedef struct petal_filter petal_filter;

/* A scheme turns a hash into bit positions, according to the rules in docs/format.md. Other formats
 * have their own schemes and hashes. petal_info reports their numbers and names, and docs/format.md
 * lists them. */
enum {
    PETAL_SCHEME_DEFAULT = 0, /* blocked */
    /* k bits in one or two 64-byte lines, so one or two cache misses per key */
    PETAL_SCHEME_BLOCKED = 1,
    /* k bits anywhere: fewer bits per key than blocked, but up to k cache misses */
    PETAL_SCHEME_CLASSIC = 2,
    /* classic with 4-bit counters instead of bits: keys can be removed, but it is 4 times as
     * large */
    PETAL_SCHEME_COUNTING = 3,
    /* for sets that never change: uses barely more bits than the rate requires (6.8 per key at 1 %;
     * blocked uses 9.9). A static filter collects keys until petal_freeze() builds it. To build it
     * with several threads, see petal_build.h */
    PETAL_SCHEME_STATIC = 4
};

/* The hash function for keys. */
enum {
    PETAL_HASH_DEFAULT = 0, /* xxh3, or siphash if a secret is given */
    PETAL_HASH_XXH3 = 1,    /* XXH3_64bits with a 64-bit seed: fast, not safe against chosen keys */
    PETAL_HASH_SIPHASH = 2  /* SipHash-2-4 with a 128-bit secret: for keys that strangers choose */
};

/* The type of the keys before they were encoded as bytes. The file records it for later queries
 * (see the tool's --key-type). The library itself handles only bytes. */
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

/* Allocates a filter's memory. Both functions must be thread-safe if several threads use filters
 * with this allocator. A filter made from another filter (petal_clone(), petal_create_like(),
 * petal_fold(), petal_drop_counts()) uses that filter's allocator. The object that `context` points
 * to must outlive all of these filters. This struct never grows. */
typedef struct petal_allocator {
    /* Returns size_bytes of zeroed memory aligned like malloc's, or NULL. Creating a large filter
     * is cheap if the system zeroes the memory on first use, as with calloc. */
    void *(*alloc_zeroed)(void *context, size_t size_bytes);
    void (*release)(void *context, void *memory, size_t size_bytes);
    void *context;
} petal_allocator;

#define PETAL_SECRET_BYTES 16
#define PETAL_METADATA_MAX_BYTES 65536

/* Describes the filter to create. One of these combinations of options determines its size:
 *   capacity and rate           the smallest filter whose rate at `capacity` keys is at most `rate`
 *   capacity and memory_bytes   the lowest rate that fits into memory_bytes
 *   rate and memory_bytes       the largest capacity whose filter fits into memory_bytes
 *   bits and hashes             exactly this filter; capacity and rate are only recorded
 *   capacity and bits           exactly this many bits, with the best number of hashes
 * hashes and lines_per_key may be set with any of these. Options that would have no effect are
 * rejected. Filters of other formats require a rate with capacity or memory_bytes, or bits and
 * hashes. Filters with several layers require capacity (or window_keys) and rate.
 *
 * Two kinds of filter have several layers of bits. A key is present if any layer contains it. The
 * layers' rates sum to at most `rate`.
 *   growth       Use this for sets of unknown size. `capacity` applies to the first layer. When the
 *                newest layer is full, the filter adds a layer for growth_step times as many keys,
 *                at growth_ratio times the rate. The filter keeps `rate` for any number of keys. A
 *                key that is already in one of the layers is not added again. A filter has at most
 *                64 layers of at most 2^48 bits each. When these are full, adding a new key fails
 *                with PETAL_ERR_FULL.
 *   window_keys  Use this to remember the last N keys. A key is found for at least the next
 *                window_keys adds (repeats count). It is forgotten after at most one window
 *                and one generation, apart from false positives. The window is a ring of
 *                generations; the oldest generation is discarded as a whole. An add always writes
 *                to the newest generation, so a key that is added repeatedly is not forgotten.
 *   window_ms    Use this to remember the keys of the last 7 days, for example: like window_keys,
 *                but by time; see petal_set_clock(). A key is found for at least window_ms. It is
 *                forgotten after at most another window_ms / (generations - 1), apart from false
 *                positives. window_keys is the maximum number of keys in a window; a key counts
 *                once for each generation in which it is added. If a window receives more keys, the
 *                filter exceeds its rate (see petal_is_overfull()), but forgets no key early. The
 *                filter has at most 2 * generations - 1 generations. */
typedef struct petal_options {
    uint32_t struct_size;
    uint32_t scheme;         /* PETAL_SCHEME_ */
    uint32_t hash;           /* PETAL_HASH_ */
    uint32_t key_type;       /* PETAL_KEY_TYPE_, recorded in the file */
    uint64_t capacity;       /* number of distinct keys to plan for */
    double rate;             /* false-positive rate at capacity, above 0 and below 1 */
    uint64_t memory_bytes;   /* upper limit for the bits, in bytes */
    uint64_t bits;           /* m, the number of bits; blocked rounds up to a multiple of 512 */
    uint32_t hashes;         /* k: 1 to 16 per line (classic: 1 to 64); 0 lets Petal choose */
    uint32_t lines_per_key;  /* blocked: 1 or 2; 0 lets Petal choose (2 only at rates < 0.0002) */
    uint64_t seed;           /* for xxh3; only filters with equal seeds can be merged */
    const void *secret;      /* for siphash: PETAL_SECRET_BYTES; copied; never written to a file */
    const void *metadata;    /* any bytes, stored in files; copied; may be NULL */
    uint64_t metadata_bytes; /* at most PETAL_METADATA_MAX_BYTES */
    const petal_allocator *allocator; /* copied; NULL: system memory, in huge pages if large */
    /* The name of a format, as returned by petal_format_at(); NULL means petal. The new filter has
     * the scheme and exactly the size that the format's library would choose for this capacity and
     * rate (or bits and hashes). */
    const char *format;
    uint8_t growth;          /* 1: the filter can grow; requires capacity and rate */
    uint8_t refuse_overfull; /* 1: if overfull, adds fail with PETAL_ERR_FULL; not recorded */
    /* 1 prepares the filter for petal_fold(). The scheme must be blocked or classic, and a rate is
     * required. The number of lines (classic: bits; growth: in the first layer) is rounded up to a
     * multiple of 720,720, which is divisible by all numbers up to 16. In smaller filters it is
     * rounded up to a multiple of 5,040 or 60. */
    uint8_t foldable;
    uint8_t reserved[1];  /* 0 */
    uint32_t growth_step; /* capacity relative to the previous layer: 2 to 64; 0 means 2 */
    /* Rate relative to the previous layer, above 0 and below 1. 0 means 0.85, which requires the
     * fewest bits. */
    double growth_ratio;
    uint64_t window_keys; /* keys per window; requires rate; capacity must be 0 */
    uint64_t window_ms;   /* milliseconds per window; requires window_keys */
    uint32_t generations; /* windows: 2 to 32; 0 lets Petal choose, for nearly the least memory */
    uint32_t reserved2;   /* 0 */
} petal_options;
#define PETAL_OPTIONS_INIT PETAL_STRUCT_INIT(petal_options)

/* Creates an empty filter in memory. On failure *filter is NULL.
 *   PETAL_ERR_ARGUMENT        an option is impossible or has no effect, or the options don't
 *                             determine a size
 *   PETAL_ERR_UNREACHABLE     the rate is too low; the message states the lowest possible rate
 *   PETAL_ERR_LIMIT           a size exceeds 2^48 bits per layer or a limit of the foreign format
 *   PETAL_ERR_UNSUPPORTED     this build lacks the scheme, hash or format, or cannot create filters
 *                             of the format
 *   PETAL_ERR_SECRET_MISSING  siphash requires a secret
 *   PETAL_ERR_MEMORY
 * A static filter requires a rate and no capacity. Until petal_freeze(), it has no bits, but stores
 * an 8-byte hash of each added key, repeats included. During that time, petal_contains() returns
 * true, petal_add() reports every key as new, and calls that need bits fail with
 * PETAL_ERR_UNSUPPORTED.
 * Cost: the same as petal_plan(). With the default allocator, pages are zeroed as keys are added;
 * other allocators may zero all bits in this call. */
PETAL_NODISCARD PETAL_API petal_status petal_create(const petal_options *options,
                                                    petal_filter **filter, petal_error *error);

/* Releases the filter; NULL is allowed. In the process that opened it, a writable map with changes
 * is synced first, which costs as much as petal_sync(). To find out whether the sync succeeds, call
 * petal_sync() yourself. */
PETAL_API void petal_free(petal_filter *filter);

/* ------------------------------------------------------------------------------------- one key */

/* Adds a key. Returns PETAL_OK if it was certainly new, and PETAL_SEEN if all its bits were already
 * set, so it was probably present. (In a filter with several layers, PETAL_SEEN means that all its
 * bits were set in one layer. A window still adds such a key to its newest generation.) After a
 * failure, the key is not counted, and every key added before is still found:
 *   PETAL_ERR_READ_ONLY    the filter was opened or viewed for reading, or is frozen
 *   PETAL_ERR_FULL         no further layer is possible; or the filter is overfull and was made
 *                          with refuse_overfull
 *   PETAL_ERR_LIMIT        the next layer exceeds the memory limit that the filter was opened with
 *   PETAL_ERR_MEMORY       the next layer cannot be allocated; adding allocates nothing else
 *   PETAL_ERR_UNSUPPORTED  a map cannot grow; the foreign scheme does not accept the empty key; or
 *                          the filter has no bits (PETAL_OPEN_HEADER_ONLY)
 *   PETAL_ERR_DAMAGED      a map: a block that holds bits of the key does not match its checksum
 *   PETAL_ERR_IO           a map: the file could not be marked as dirty
 * petal_last_error() returns the details.
 * Cost: constant, with two exceptions. With window_keys, the first key of a generation clears the
 * generation's bits. A writable map reads each 64 KiB block before it first changes the block. */
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
 * petal_remove() needs a petal_add() of its own. REMOVE ONLY KEYS THAT WERE ADDED. A key that was
 * not added may still seem to be present. If you remove it, counters of other keys are decremented,
 * and those keys may then be missed.
 *
 * A counter that reaches 15 stays there, because the library can't tell how many keys incremented
 * it. No key is missed because of this, but a removed key is still found if each of its counters is
 * stuck at 15 or shared with other keys. At capacity, 1.6e-15 of all counters have reached 15, and
 * so have the counters of any key that was added 15 times. petal_get_stats() reports the number of
 * such counters. */
PETAL_API petal_status petal_remove(petal_filter *filter, const void *key, size_t key_bytes);

/* Like petal_add(), petal_contains() and petal_remove(), for the key that petal_encode_i64() makes
 * from `value`. */
PETAL_API petal_status petal_add_i64(petal_filter *filter, int64_t value);
PETAL_API bool petal_contains_i64(const petal_filter *filter, int64_t value);
PETAL_API petal_status petal_remove_i64(petal_filter *filter, int64_t value);

/* Returns the 64-bit hash of a key, which depends only on the key and the filter's hash function
 * and seed or secret. Returns 0 if the filter lacks its secret (PETAL_OPEN_NO_SECRET). */
PETAL_API uint64_t petal_hash_key(const petal_filter *filter, const void *key, size_t key_bytes);

/* These calls take a hash in place of a key: the result of petal_hash_key(), or another well-mixed
 * 64-bit hash. Don't pass small integers, pointers or 32-bit hashes: they would all set bits of the
 * first line, and every query would answer "probably". A key and its petal_hash_key() count as the
 * same key, whether it is added, looked up or removed. If the scheme needs more than 64 bits of
 * hash or rejects the empty key (no PETAL_CAN_HASHES), adding and removing fail with
 * PETAL_ERR_UNSUPPORTED, and petal_contains_hash() returns true. */
PETAL_API petal_status petal_add_hash(petal_filter *filter, uint64_t hash);
PETAL_API bool petal_contains_hash(const petal_filter *filter, uint64_t hash);
PETAL_API petal_status petal_remove_hash(petal_filter *filter, uint64_t hash);

/* These convert a number to the bytes of a key, which are the same in every language: the number in
 * little-endian order. Doubles are in IEEE 754 format, with -0 encoded as +0 and every NaN as
 * 7ff8000000000000. For text, use its UTF-8 bytes without a terminator as the key. */
PETAL_API void petal_encode_i32(int32_t value, uint8_t key[4]); /* Guava's integerFunnel */
PETAL_API void petal_encode_i64(int64_t value, uint8_t key[8]);
PETAL_API void petal_encode_f64(double value, uint8_t key[8]);

/* ------------------------------------------------------------------------------------- batches */

/* The layout of a batch's keys in memory. */
enum {
    PETAL_LAYOUT_POINTERS = 0,  /* data: petal_key[count] */
    PETAL_LAYOUT_OFFSETS32 = 1, /* key i: data[offsets[i]] to data[offsets[i + 1] - 1]; uint32_t */
    PETAL_LAYOUT_OFFSETS64 = 2, /* like OFFSETS32, but the offsets are uint64_t */
    PETAL_LAYOUT_FIXED = 3,     /* key i consists of the key_bytes bytes at data + i * stride */
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
    const void *data;    /* borrowed during the call; may be NULL if it has no bytes */
    const void *offsets; /* OFFSETS: count + 1 ascending values of at most data_bytes */
    uint64_t data_bytes; /* OFFSETS: size of data; 0 means the last offset */
    uint64_t key_bytes;  /* FIXED */
    uint64_t stride;     /* FIXED, I64, HASHES: bytes from one key to the next; 0 means no gap */
    uint64_t count;
} petal_batch;
#define PETAL_BATCH_INIT PETAL_STRUCT_INIT(petal_batch)

typedef struct petal_batch_outcome {
    uint32_t struct_size;
    uint32_t reserved;
    uint64_t done;     /* number of keys added, looked up or removed; on success, all */
    uint64_t positive; /* number of results that are 1 */
} petal_batch_outcome;
#define PETAL_BATCH_OUTCOME_INIT PETAL_STRUCT_INIT(petal_batch_outcome)

/* These have the same effect as petal_add(), petal_contains() or petal_remove() for each key in
 * order. They are faster, because they hash keys and fetch bits ahead of time. If `results` is not
 * NULL, they write one byte per key: 1 if the key was new (add), is probably present (contains) or
 * was removed (remove), otherwise 0. If a new key occurs twice in a batch, only its first
 * occurrence is new. `outcome` may be NULL.
 *   PETAL_ERR_ARGUMENT     the batch is malformed. If its offsets decrease or exceed the data,
 *                          error->offset is the index of the first such key. No key is processed,
 *                          and results are not written.
 *   PETAL_ERR_UNSUPPORTED  the filter lacks PETAL_CAN_HASHES or PETAL_CAN_REMOVE; or the foreign
 *                          scheme does not accept a key, and error->offset is its index. No key is
 *                          processed.
 *   PETAL_ERR_DAMAGED      contains: a key has bits in a damaged block (PETAL_OPEN_VERIFY_ON_USE)
 * These calls also fail like petal_add() and petal_remove(). After such a failure, and after
 * PETAL_ERR_DAMAGED, error->offset is the index of the first key that failed. Only the keys before
 * it have been processed. With an empty batch, the call only checks whether the filter supports
 * the operation.
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

/* Computes petal_hash_key() of each key. `hashes` must have room for batch->count hashes. To query
 * many filters with the same hash, seed and secret_id in petal_info, hash the keys only once.
 *   PETAL_ERR_ARGUMENT        the batch is malformed; see petal_add_batch()
 *   PETAL_ERR_SECRET_MISSING  the filter lacks its secret (PETAL_OPEN_NO_SECRET)
 * Cost: O(keys). */
PETAL_API petal_status petal_hash_batch(const petal_filter *filter, const petal_batch *batch,
                                        uint64_t *hashes, petal_error *error);

/* Sets *answer to true if the filter probably contains any key, or all keys, in the batch. Stops as
 * soon as the answer is known. For an empty batch, petal_contains_any() answers false, and
 * petal_contains_all() answers true. *answer is written only if the call returns PETAL_OK. Fails
 * like petal_contains_batch().
 * Cost: O(keys). */
PETAL_NODISCARD PETAL_API petal_status petal_contains_any(const petal_filter *filter,
                                                          const petal_batch *batch, bool *answer,
                                                          petal_error *error);
PETAL_NODISCARD PETAL_API petal_status petal_contains_all(const petal_filter *filter,
                                                          const petal_batch *batch, bool *answer,
                                                          petal_error *error);

/* --------------------------------------------------------------------------------------- files */

#define PETAL_SAVE_NO_REPLACE 1u /* fail with PETAL_ERR_EXISTS if the file exists */
#define PETAL_SAVE_NO_LOCK 2u    /* take no lock; nobody else may change the file */
/* save even if the old file's owner can't be preserved */
#define PETAL_SAVE_NEW_OWNER 4u

/* Specifies how petal_save(), petal_write() and petal_serialize() write a filter. For the defaults,
 * pass NULL. */
typedef struct petal_save_options {
    uint32_t struct_size;
    uint32_t flags;     /* PETAL_SAVE_; no effect without a file */
    const char *format; /* name returned by petal_format_at(); NULL means petal */
} petal_save_options;
#define PETAL_SAVE_OPTIONS_INIT PETAL_STRUCT_INIT(petal_save_options)

/* Writes the filter to `path`. An existing file is replaced atomically: at any time, the path
 * refers to either the old file or the complete new one. The call writes a temporary file with a
 * random name in the same folder, then syncs the file, renames it, and syncs the folder. The
 * temporary file receives the old file's mode and owner; until then, other users can't read it.
 * Blocks of zeros become holes if the file system supports holes. The call follows symbolic links.
 * If the old file has several hard links, only `path` refers to the new file afterwards. The old
 * file is locked against writers during the call. A filter that was opened from this path with
 * PETAL_OPEN_LOCKED already holds the lock, and keeps it. Saving a writable map to its own file is
 * the same as petal_sync(). Bits of a map or view are verified first. Bits are never converted to
 * another scheme: if the format cannot hold the filter's scheme, the call fails, and the message
 * says why.
 *
 * On failure the old file is unchanged, and no temporary file remains. The only exception is the
 * final sync of the folder: if that fails, the new file is already in place, and error->message
 * says so.
 *   PETAL_ERR_ARGUMENT     no such format, an unknown flag, or the options are not initialized
 *   PETAL_ERR_EXISTS       the file exists, and NO_REPLACE is set
 *   PETAL_ERR_BUSY         another process is changing the file, or created one at `path` during
 *                          the call; or the filter is live
 *   PETAL_ERR_REPLACED     the file at `path` is no longer the one that this filter has locked
 *   PETAL_ERR_UNSUPPORTED  the format cannot hold the filter; the file system lacks locks (see
 *                          NO_LOCK); the path is not a regular file; the filter has no bits; this
 *                          build does not support files
 *   PETAL_ERR_READ_ONLY    a forked child cannot save to a file that its parent keeps locked
 *   PETAL_ERR_DAMAGED      a block of a map or view does not match its checksum
 *   PETAL_ERR_IO, PETAL_ERR_MEMORY
 * Cost: writes the whole file and waits for the disk. */
PETAL_NODISCARD PETAL_API petal_status petal_save(const petal_filter *filter, const char *path,
                                                  const petal_save_options *options,
                                                  petal_error *error);

/* Modes of petal_open(). */
#define PETAL_OPEN_MAP 0u      /* map for reading: takes no private memory; processes share pages */
#define PETAL_OPEN_WRITABLE 1u /* map for reading and writing in place; one writer at a time */
#define PETAL_OPEN_LOAD 2u     /* a verified copy in memory; writable; the file does not change */

/* Flags that may be combined with a mode. */

/* MAP, WRITABLE: verify every block before returning. Cost: reads all bits. */
#define PETAL_OPEN_VERIFY 16u
/* WRITABLE, LOAD: accept a dirty file as it is. Every key that was synced is present; keys added
 * later may be missing. In counting filters, every key that was synced and not removed since is
 * present. If a key was added or removed after the last sync, only some of its counters may be on
 * disk. You can add such a key again, though this may leave counters too high. Never remove such a
 * key (again), because that could lower other keys' counters. */
#define PETAL_OPEN_RECOVER 32u
/* MAP: read a file while another process changes it in place. Unless that process clears or
 * intersects the filter or removes keys, every key that it added before its last sync is found;
 * keys added later may be found. If no writer is active, opening a dirty file still fails with
 * PETAL_ERR_DIRTY. A live filter answers queries; calls that save, copy or verify it fail with
 * PETAL_ERR_BUSY. */
#define PETAL_OPEN_LIVE 64u
/* LOAD: keep the file locked against writers until petal_free(), so that a later petal_save() to
 * the same path replaces exactly the file that was loaded. Opening fails with PETAL_ERR_BUSY if
 * another process holds the lock. After chdir(), save to an absolute path: the same relative path
 * may name another file, and saving to that fails with PETAL_ERR_REPLACED. */
#define PETAL_OPEN_LOCKED 128u
/* WRITABLE, LOCKED: take no lock, for file systems without locks. Make sure that nobody else writes
 * to the file. */
#define PETAL_OPEN_NO_LOCK 256u
/* petal_open(), petal_load(): read only the header; the bytes after it need not be present. The
 * filter has no bits until petal_adopt_bits() or petal_write_bits() (petal_host.h) supply them.
 * Until then petal_get_info() works, contains returns true, and calls that need bits fail with
 * PETAL_ERR_UNSUPPORTED. If too few bytes are given (PETAL_ERR_TRUNCATED), error->offset is the
 * number of bytes needed so far. petal_open() reads nothing after the header, unless the format is
 * "auto". The flag works for petal files and for the first chunk of BF.SCANDUMP (redisbloom). */
#define PETAL_OPEN_HEADER_ONLY 512u
/* HEADER_ONLY: open a keyed filter without its secret, to read its header. Calls that would supply
 * bits to such a filter or hash a key fail with PETAL_ERR_SECRET_MISSING, and petal_hash_key()
 * returns 0. */
#define PETAL_OPEN_NO_SECRET 1024u
/* MAP, WRITABLE and petal_view(): never answer from damaged bits. Before the first query that needs
 * a block (64 KiB), the block is compared with its checksum; later queries don't compare it again.
 * Once all blocks have been checked, queries cost nothing extra. Any number of threads may
 * query. A block that does not match its checksum is damaged:
 *   - petal_contains*() returns true, never a false "certainly not". From then on
 *     petal_last_error() returns PETAL_ERR_DAMAGED, with the block's offset in the file.
 *   - Batches, petal_contains_any() and petal_contains_all() fail with PETAL_ERR_DAMAGED, and
 *     error->offset is the index of the key. The results for the keys before it are valid.
 *   - petal_get_stats(), petal_compare() and petal_inline_begin() check all blocks first, and fail.
 *   - petal_is_overfull() returns false. petal_content_id() returns the recorded id.
 *     petal_bits() checks nothing.
 * Every mode accepts the flag. It has no effect if there are no checksums, or if they needn't be
 * compared: LOAD, HEADER_ONLY, other formats, LIVE alongside a writer, a dirty file that is being
 * recovered. petal_file_info.verifies_on_use is 1 if it has an effect. If another process starts to
 * change the file in place after it was opened, a block that differs counts as changed, not as
 * damaged. The flag takes one byte of memory per block. Without it, the bits of a map are
 * trusted. */
#define PETAL_OPEN_VERIFY_ON_USE 2048u
/* With RECOVER, also accept a clean file whose blocks do not match their checksums, and compute new
 * checksums. Damage and additions can't be told apart, so keys may be missing, and the new
 * checksums hide this. petal_file_info.recovered_blocks counts the blocks that differ. Use this
 * flag only for files that cannot be rebuilt from their keys. */
#define PETAL_OPEN_RESEAL 4096u

typedef struct petal_open_options {
    uint32_t struct_size;
    uint32_t flags;                   /* a PETAL_OPEN_ mode, plus flags */
    const void *secret;               /* for keyed filters: PETAL_SECRET_BYTES; copied */
    uint64_t max_bytes;               /* larger inputs fail with PETAL_ERR_LIMIT; 0: no limit */
    const petal_allocator *allocator; /* copied; NULL means the system's */
    /* The format of the bytes: a name returned by petal_format_at(). NULL means petal. "auto" means
     * the one format that petal_recognize() finds. */
    const char *format;
    /* The maximum number of bytes to allocate for opening, and later for each new layer; maps do
     * not count. 0 means 1 GiB or 64 times the size of the input, whichever is larger. UINT64_MAX
     * means no limit. */
    uint64_t memory_limit;
    /* For petal_view() only: petal_free() calls this once to release the bytes. May be NULL. If
     * petal_view() fails, the caller still owns the bytes, and `release` is not called. */
    void (*release)(void *context, const void *bytes, uint64_t size_bytes);
    void *release_context;
    uint8_t refuse_overfull; /* see petal_options */
    uint8_t reserved[7];     /* 0 */
} petal_open_options;
#define PETAL_OPEN_OPTIONS_INIT PETAL_STRUCT_INIT(petal_open_options)

/* Opens a filter file. If `options` is NULL, the file must be in the petal format, and is mapped
 * for reading. The header is always verified; bits are verified only on request.
 *
 * WARNING: a file must not be truncated while it is mapped (MAP, WRITABLE): the next access to a
 * missing page kills the process with SIGBUS. LOAD maps the file only during the call. If a file
 * might be truncated at any time, read it with petal_reader (petal_host.h), which never maps.
 *
 * MAP and LOAD accept files of every format. Packed formats (JSON, gzip) take private memory in
 * both modes. WRITABLE first allocates the file's holes, so that a full disk cannot kill the
 * program later. Before the first change, the filter marks its file on disk as dirty; petal_sync()
 * marks it as clean. A growing filter cannot add layers if it is mapped, and a window cannot be
 * mapped for writing: load and save such filters instead.
 *
 * On failure *filter is NULL. "all" marks failures of petal_open(), petal_load() and petal_view(),
 * and "files" those of petal_open() alone:
 *   all    PETAL_ERR_ARGUMENT        unknown flags, flags that contradict each other, an
 *                                    unknown format; or several formats fit "auto" (the message
 *                                    lists them)
 *   all    PETAL_ERR_NOT_A_FILTER    the bytes are not in the format, or in any that "auto" finds
 *   all    PETAL_ERR_NEWER           the bytes use features of a later version
 *   all    PETAL_ERR_TRUNCATED       the input is shorter than its header says
 *   all    PETAL_ERR_DAMAGED         a checksum does not match, or a field is impossible
 *   all    PETAL_ERR_DIRTY           a writer died before its sync; see PETAL_OPEN_RECOVER
 *   all    PETAL_ERR_SECRET_MISSING  the filter is keyed, and options->secret is NULL
 *   all    PETAL_ERR_SECRET_WRONG    the secret is another filter's, or the filter is not keyed
 *   all    PETAL_ERR_LIMIT           the input exceeds max_bytes, or opening needs more than
 *                                    memory_limit
 *   all    PETAL_ERR_UNSUPPORTED     this build does not support the scheme, hash, format or files;
 *                                    or the mode does not suit the filter
 *   all    PETAL_ERR_MEMORY
 *   files  PETAL_ERR_IO              a system call failed; see error->system_errno
 *   files  PETAL_ERR_BUSY            another process is changing the file, or holds its lock
 *   files  PETAL_ERR_REPLACED        LOCKED, WRITABLE: the file was replaced during the call
 * Cost: MAP: milliseconds at any size. WRITABLE: allocates holes. LOAD, VERIFY and packed formats:
 * reads the whole file. */
PETAL_NODISCARD PETAL_API petal_status petal_open(const char *path,
                                                  const petal_open_options *options,
                                                  petal_filter **filter, petal_error *error);

/* Makes all changes to a writable map durable, with their checksums, and marks its file as clean.
 * For any other filter, does nothing and returns PETAL_OK. After a failure, the filter accepts no
 * more changes; the file on disk is either dirty or complete.
 *   PETAL_ERR_IO         writing to the disk failed
 *   PETAL_ERR_REPLACED   the changes are durable, but the file is no longer the one at its path
 *   PETAL_ERR_READ_ONLY  the filter belongs to this process's parent
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

/* Flags in petal_info.abilities, which show what a filter can do. If an ability is missing, the
 * call that needs it fails with PETAL_ERR_UNSUPPORTED, or with PETAL_ERR_READ_ONLY if the filter
 * was opened for reading. docs/api.md lists the abilities of each kind of filter. */
#define PETAL_CAN_ADD 0x1u
#define PETAL_CAN_REMOVE 0x2u
#define PETAL_CAN_HASHES 0x4u /* accepts hashes in place of keys */
#define PETAL_CAN_MERGE 0x8u  /* petal_merge() can change it */
#define PETAL_CAN_INTERSECT 0x10u
#define PETAL_CAN_COMPARE 0x20u
#define PETAL_CAN_CREATE_LIKE 0x40u
#define PETAL_CAN_ALLOW_THREADS 0x80u
#define PETAL_CAN_GROW 0x100u   /* adds layers as keys are added */
#define PETAL_CAN_WINDOW 0x200u /* forgets old keys; with window_ms: petal_set_clock() */
#define PETAL_CAN_MAP 0x400u    /* once saved in the petal format, it can be mapped for writing */
#define PETAL_CAN_SAVE 0x800u   /* in the petal format; other formats may refuse it */
#define PETAL_CAN_STATS 0x1000u
#define PETAL_CAN_DROP_COUNTS 0x2000u
#define PETAL_CAN_EMPTY_KEY 0x4000u
#define PETAL_CAN_CLEAR 0x8000u
#define PETAL_CAN_FOLD 0x10000u

/* Why a filter has several layers of bits. */
enum {
    PETAL_POLICY_NONE = 0,        /* it has one layer (or grows by another library's rules) */
    PETAL_POLICY_GROWING = 1,     /* it adds a larger layer when the newest is full */
    PETAL_POLICY_WINDOW_KEYS = 2, /* it remembers the keys of the last N adds */
    PETAL_POLICY_WINDOW_TIME = 3  /* it remembers the keys of the last N milliseconds */
};

#define PETAL_ALL_LAYERS UINT32_MAX

/* What the library knows about a filter, or about one of its layers, without reading bits. Unknown
 * doubles are NAN. petal_plan() leaves items and memory_bytes at 0, and sets only the abilities
 * that need no bits. */
typedef struct petal_info {
    uint32_t struct_size;
    uint32_t abilities; /* PETAL_CAN_ */
    uint32_t scheme, hash;
    uint32_t hashes;        /* k; with several layers, the newest layer's */
    uint32_t lines_per_key; /* blocked: 1 or 2; otherwise 0 */
    uint32_t layers;        /* number of bit arrays; 1 in a layer's info */
    uint32_t counter_bits;  /* counting: 4; otherwise 0 */
    uint64_t bits;          /* m, or the number of counters; summed over layers */
    uint64_t bytes;         /* size of the bits, in whole 64-byte lines; summed over layers */
    uint64_t memory_bytes;  /* memory allocated for the filter, without maps or borrowed bits */
    uint64_t capacity;      /* 0 if not recorded */
    double target_rate;     /* requested rate; NAN if not recorded */
    double predicted_rate;  /* petal_predict_rate() at `capacity`; NAN without a capacity */
    /* Added keys, repeats included (growing: only new ones), minus removed keys. petal_merge() adds
     * up both filters' numbers. Use this only as a hint. */
    uint64_t items;
    uint64_t seed;
    uint64_t metadata_bytes;
    uint32_t secret_id; /* identifies the secret; 0 if not keyed */
    uint32_t key_type;
    uint32_t policy; /* PETAL_POLICY_; petal_get_layers_info() has the details */
    uint8_t keyed;   /* 1 if keys are hashed with a secret */
    uint8_t reserved[3];
    const char *scheme_name; /* "blocked", ...; all names are static strings */
    const char *hash_name;   /* "xxh3", ... */
    const char *format_name; /* format it was read from or made for; "petal" if new and native */
    const char *kernel_name; /* in use: "avx512", "avx2", "sse4", "neon", "simd128", "generic" */
} petal_info;
#define PETAL_INFO_INIT PETAL_STRUCT_INIT(petal_info)

/* Fills in *info for one layer (0 is the oldest, layers - 1 the newest, which receives new keys),
 * or for the whole filter (PETAL_ALL_LAYERS). PETAL_ERR_ARGUMENT: there is no such layer, or the
 * struct is not initialized.
 * Cost: O(layers). */
PETAL_API petal_status petal_get_info(const petal_filter *filter, uint32_t layer, petal_info *info,
                                      petal_error *error);

/* Describes how a filter grows or forgets (PETAL_POLICY_). Fields that do not apply are 0. */
typedef struct petal_layers_info {
    uint32_t struct_size;
    uint32_t growth_step; /* growing */
    double growth_ratio;  /* growing */
    uint64_t window_keys; /* windows: keys per window; equals petal_info.capacity */
    uint64_t window_ms;   /* windows of time: milliseconds per window */
    uint32_t generations; /* windows: planned number; petal_info.layers is the current one */
    uint32_t reserved;
    uint64_t clock_ms; /* windows of time: latest time from petal_set_clock(), or 0 */
    /* For one layer of a window of time: lower and upper bounds on its keys' times. 0 if
     * unknown. */
    uint64_t earliest_ms, latest_ms;
} petal_layers_info;
#define PETAL_LAYERS_INFO_INIT PETAL_STRUCT_INIT(petal_layers_info)

/* Fills in *info for one layer or for all. Fails like petal_get_info(). */
PETAL_API petal_status petal_get_layers_info(const petal_filter *filter, uint32_t layer,
                                             petal_layers_info *info, petal_error *error);

/* What the library knows about the file or view that a filter was opened from. For a filter that
 * was made in memory, including copies, all fields are 0. */
typedef struct petal_file_info {
    uint32_t struct_size;
    uint8_t live; /* 1 if opened with PETAL_OPEN_LIVE while a writer was active */
    /* 1 for a map or view of a petal file, whose blocks petal_verify() compares with their
     * checksums. 0 if there is nothing to compare: for a filter in memory (loading has already
     * compared its blocks), a file of another format, a file that was dirty, or one that another
     * process is changing. */
    uint8_t verifiable;
    uint8_t verifies_on_use; /* 1 if PETAL_OPEN_VERIFY_ON_USE has an effect */
    uint8_t reserved;
    /* For a map or view: the number of blocks that have not been compared with their checksums yet,
     * or were found to be damaged. */
    uint64_t unchecked_blocks;
    /* After opening with PETAL_OPEN_RECOVER: the number of blocks that were compared with their
     * last checksums, and how many of these blocks differ. */
    uint64_t compared_blocks, recovered_blocks;
    /* The format of the file. To keep the file as it was, save the filter in this format. A petal
     * file may hold a filter of another format (petal_info.format_name). NULL if the filter was
     * made in memory. */
    const char *format_name;
} petal_file_info;
#define PETAL_FILE_INFO_INIT PETAL_STRUCT_INIT(petal_file_info)

/* Fills in *info. PETAL_ERR_ARGUMENT: the struct is not initialized. */
PETAL_API petal_status petal_get_file_info(const petal_filter *filter, petal_file_info *info,
                                           petal_error *error);

/* An estimate with its 95 % interval: over all seeds of the hash, 95 of 100 such intervals contain
 * the true value. This struct never grows. */
typedef struct petal_estimate {
    double value, low, high;
} petal_estimate;

/* The statistics that petal_get_stats() computes from the bits. */
typedef struct petal_stats {
    uint32_t struct_size;
    uint8_t saturated; /* 1 if every bit is set; estimated_items is infinite and estimated_rate 1 */
    uint8_t overfull;  /* 1 if overfull: see petal_is_overfull() */
    uint8_t reserved[2];
    uint64_t bits_set;              /* counting: number of nonzero counters */
    uint64_t saturated_counters;    /* counting: number of counters that reached 15 */
    double fill;                    /* bits_set / bits */
    petal_estimate estimated_items; /* distinct keys */
    /* The share of absent keys that a query would find, given exactly these bits. Layers are
     * assumed to be independent, which makes the result 1 % too low for growing filters with rates
     * of 30 %. For other libraries' filters, the result is accurate to within 6 %. NAN if unknown
     * (docs/formats/README.md, "Rates"). */
    double estimated_rate;
} petal_stats;
#define PETAL_STATS_INIT PETAL_STRUCT_INIT(petal_stats)

/* Fills in *stats for one layer or for all.
 *   PETAL_ERR_ARGUMENT     there is no such layer, or the struct is not initialized
 *   PETAL_ERR_UNSUPPORTED  the filter has no bits
 *   PETAL_ERR_DAMAGED      a block does not match its checksum (PETAL_OPEN_VERIFY_ON_USE)
 * Cost: reads all bits. With AVX2, 5 GB takes a second; Parquet's filters take twice as long, and
 * counting filters three times as long. The rate of a blocked filter above 16 MiB comes from a
 * sample of 2^18 lines and takes 0.15 s; the hash of all bytes selects the sample. For other
 * libraries' filters of up to 4,096 bits, the rate takes up to 10 ms. */
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

/* Returns true if the filter is known to hold more distinct keys than its capacity. In that case
 * its rate exceeds the planned one, and it is time for a larger filter. The number is estimated
 * from the bits, because `items` counts repeats, so it does not depend on the order of the keys.
 * Returns false for filters that have no capacity, and for those that grow. Any number of threads
 * may call it.
 *
 * The result depends on the number of keys, not on the rate. If a filter has no secret, someone can
 * choose `capacity` keys that share no bits, and so set up to 1.4 times as many bits as random keys
 * would. The rate is then 1.4^k times the planned one, which estimated_rate shows, but this call
 * still returns false.
 * Cost: constant, except that all bits are counted at most once each time `items` has changed by
 * 1/32 of the capacity, and never while items <= capacity. */
PETAL_API bool petal_is_overfull(const petal_filter *filter);

/* Returns the first failure of the calls that add, look up or remove keys, or that change, verify
 * or save the filter, with errno and offset. Calls that describe, copy, compare or serialize the
 * filter do not count. This is for threads, and for callers that check only at the end. A damaged
 * block of a map takes precedence. If no call has failed, returns PETAL_OK and an empty message.
 * Takes no lock, and may be called by any number of threads at once. */
PETAL_API petal_status petal_last_error(const petal_filter *filter, petal_error *error);

/* Returns the metadata and its size, borrowed until the filter is freed, or until
 * petal_set_metadata(), petal_apply_patch() or petal_relocate() changes them. Returns NULL if there
 * is none. metadata_bytes may be NULL. */
PETAL_API const void *petal_metadata(const petal_filter *filter, uint64_t *metadata_bytes);

/* Replaces the metadata with a copy of these bytes.
 *   PETAL_ERR_LIMIT        metadata_bytes exceeds PETAL_METADATA_MAX_BYTES
 *   PETAL_ERR_UNSUPPORTED  a writable map: the file has no room for it; load and save instead
 *   PETAL_ERR_READ_ONLY, PETAL_ERR_MEMORY
 * Cost: O(metadata_bytes). */
PETAL_API petal_status petal_set_metadata(petal_filter *filter, const void *metadata,
                                          uint64_t metadata_bytes, petal_error *error);

/* Describes the filter that petal_create() would make from these options, without making it: fills
 * in *plan as petal_get_info() would, and *layers, which may be NULL, as petal_get_layers_info()
 * would. The call inverts the scheme's exact model (docs/format.md): the rate at `capacity` keys,
 * averaged over seeds, is at most the requested rate. Filters of other formats get the size that
 * their library would choose, by formulas that assume independent positions. Below a few thousand
 * keys, most of these filters exceed the requested rate; plan->predicted_rate is their actual rate.
 * Fails like petal_create().
 * Cost: about 10 us; 100 us for windows and for a rate with memory_bytes; somewhat more for rates
 * below 1e-6. */
PETAL_API petal_status petal_plan(const petal_options *options, petal_info *plan,
                                  petal_layers_info *layers, petal_error *error);

/* Returns the false-positive rate that the scheme's model predicts for a filter with these
 * parameters and `keys` distinct keys, or 0 if `keys` is 0. The prediction is exact for Petal's own
 * schemes. Other libraries derive positions from two hashes by double hashing; for their filters,
 * the prediction is within 15 % of the actual rate. Returns NAN if that accuracy is not possible
 * (mostly below 50 keys; docs/formats/README.md, "Rates"), for several layers, for an info that no
 * filter can have, and in builds without the model. Cost: microseconds, at worst a millisecond. */
PETAL_API double petal_predict_rate(const petal_info *info, uint64_t keys);

/* ------------------------------------------------------------------------------- whole filters */

/* Creates an empty filter in memory with the parameters of `pattern`: scheme, hash, seed or secret,
 * bits, hashes, lines per key, capacity and rate, but not its metadata. Such filters can be merged:
 * if each one holds some of the keys, merging them creates, byte for byte, the filter of all keys.
 * On failure *filter is NULL.
 *   PETAL_ERR_UNSUPPORTED     the pattern grows or has several layers
 *   PETAL_ERR_SECRET_MISSING  the pattern lacks its secret (PETAL_OPEN_NO_SECRET)
 *   PETAL_ERR_MEMORY */
PETAL_NODISCARD PETAL_API petal_status petal_create_like(const petal_filter *pattern,
                                                         petal_filter **filter, petal_error *error);

/* Makes a private copy in memory with the same parameters, keys and metadata. It is writable even
 * if `filter` is not. Pages without set bits are not written. On failure *copy is NULL.
 *   PETAL_ERR_UNSUPPORTED  the filter has no bits
 *   PETAL_ERR_BUSY         the filter is live
 *   PETAL_ERR_DAMAGED      a block of a map or view does not match its checksum
 *   PETAL_ERR_MEMORY
 * Cost: reads all bits and copies them. */
PETAL_NODISCARD PETAL_API petal_status petal_clone(const petal_filter *filter, petal_filter **copy,
                                                   petal_error *error);

/* Removes every key. Parameters, capacity, metadata and clock stay the same. A growing filter keeps
 * only its first layer, but keeps all layers if it is a map.
 *   PETAL_ERR_UNSUPPORTED  the filter has no bits
 *   PETAL_ERR_READ_ONLY
 *   PETAL_ERR_IO           a map: the file could not be marked as dirty
 * Cost: writes all bits. */
PETAL_NODISCARD PETAL_API petal_status petal_clear(petal_filter *filter, petal_error *error);

/* Makes the filter permanently read-only: later changes fail with PETAL_ERR_READ_ONLY. Syncs a
 * writable map first, and keeps its lock until petal_free(). If the sync fails, the filter is not
 * frozen. Fails like petal_sync(). If a static filter is still collecting keys, this thread builds
 * it, which can also fail:
 *   PETAL_ERR_MEMORY  building takes 16 bytes per added key besides the filter. The keys are lost;
 *                     all you can do is petal_free()
 *   PETAL_ERR_LIMIT   the filter has more than 2^46 keys
 * Cost: the same as petal_sync(). Building a static filter takes about 0.1 us per key. */
PETAL_NODISCARD PETAL_API petal_status petal_freeze(petal_filter *filter, petal_error *error);

/* Makes `filter` the union of both filters: its bits are exactly those of a filter to which the
 * keys of both were added. Items and counters are summed, so a key that is in both filters must be
 * removed as many times as it was added to the two together. If the call is refused, nothing
 * changes.
 *   PETAL_ERR_MISMATCH     scheme, hash, seed or secret, bits, hashes or lines per key differ
 *   PETAL_ERR_UNSUPPORTED  a filter grows, is a window, has no bits, or has several layers, which
 *                          hold the keys of different times
 *   PETAL_ERR_BUSY         `other` maps a file that another process has begun to change.
 *                          Either nothing changed, or `filter` has some keys of `other`
 *   PETAL_ERR_DAMAGED      a block of a map or view does not match its checksum
 *   PETAL_ERR_READ_ONLY
 *   PETAL_ERR_IO           a map: the file could not be marked as dirty
 * Cost: reads all bits of both filters, and writes those that change. */
PETAL_NODISCARD PETAL_API petal_status petal_merge(petal_filter *filter, const petal_filter *other,
                                                   petal_error *error);

/* Like petal_merge(), but `filter` keeps only the bits that are set in both filters. Every key that
 * is in both filters is still found. The rate is at most the lower of the two rates, but higher
 * than the rate of a filter made from the common keys alone. `items` becomes the smaller of the two
 * numbers. Bits of keys that only one filter had may survive, so estimated_items is too high: to
 * count the common keys, use petal_compare(). Each counter becomes the lower of the two: a key that
 * was added twice to one filter and once to the other can be removed once. A counter raised by
 * different keys in the two filters stays above zero, and may cause permanent false positives.
 * Fails like petal_merge(), and costs the same. */
PETAL_NODISCARD PETAL_API petal_status petal_intersect(petal_filter *filter,
                                                       const petal_filter *other,
                                                       petal_error *error);

/* Describes how two sets of keys overlap, as numbers of distinct keys and as fractions from 0 to
 * 1. */
typedef struct petal_comparison {
    uint32_t struct_size;
    /* 1 if every bit of the union is set. In that case, only bounds on the overlap are known, and
     * the values are NAN. */
    uint8_t saturated;
    uint8_t reserved[3];
    petal_estimate items_a, items_b, union_items; /* infinite for a saturated filter */
    petal_estimate intersection;                  /* |A and B| = |A| + |B| - |A or B|, at least 0 */
    petal_estimate jaccard;                       /* |A and B| / |A or B|; NAN if both are empty */
    petal_estimate containment_a_in_b;            /* |A and B| / |A|; NAN if A is empty */
    petal_estimate containment_b_in_a;            /* |A and B| / |B|; NAN if B is empty */
} petal_comparison;
#define PETAL_COMPARISON_INIT PETAL_STRUCT_INIT(petal_comparison)

/* Estimates how much the keys of two filters overlap, using their bits. In counting filters, it
 * makes no difference how many times a key was added. The estimates are unbiased, except that a
 * negative overlap is reported as 0. The intervals widen as the filters fill up, and as the overlap
 * shrinks relative to the sets (docs/format.md, "Rates", derives them).
 *   PETAL_ERR_MISMATCH     as for petal_merge()
 *   PETAL_ERR_UNSUPPORTED  a filter has several layers, whose bits cannot be matched, or no bits
 *   PETAL_ERR_DAMAGED      a block does not match its checksum (PETAL_OPEN_VERIFY_ON_USE)
 *   PETAL_ERR_ARGUMENT     the struct is not initialized
 * Cost: reads all bits of both filters once, without copying them. */
PETAL_API petal_status petal_compare(const petal_filter *a, const petal_filter *b,
                                     petal_comparison *comparison, petal_error *error);

/* Makes a classic filter from a counting one, at a quarter of the size: *dropped is a new filter in
 * memory with the same m, k, hash, capacity, items and metadata. A bit is set if the counter is not
 * zero. If no counter has reached 15, *dropped equals, byte for byte, the classic filter with the
 * same keys. On failure *dropped is NULL.
 *   PETAL_ERR_UNSUPPORTED  the scheme has no counters, or the filter has no bits
 *   PETAL_ERR_BUSY         the filter is live
 *   PETAL_ERR_DAMAGED      a block of a map or view does not match its checksum
 *   PETAL_ERR_MEMORY
 * Cost: reads all counters, and writes the new filter. */
PETAL_NODISCARD PETAL_API petal_status petal_drop_counts(const petal_filter *filter,
                                                         petal_filter **dropped,
                                                         petal_error *error);

/* Specifies how far petal_fold() shrinks a filter. All fields may be 0, and the options may be
 * NULL. */
typedef struct petal_fold_options {
    uint32_t struct_size;
    uint8_t by_bits;     /* 1: use estimated_items instead of items, and record it in *folded */
    uint8_t reserved[3]; /* 0 */
    double rate;         /* maximum rate at `capacity` keys; 0 means the filter's target_rate */
    uint64_t capacity;   /* distinct keys to plan for; raised to the number in the filter */
    uint64_t bits;       /* exact size, which must divide the filter's; capacity must be 0 */
} petal_fold_options;
#define PETAL_FOLD_OPTIONS_INIT PETAL_STRUCT_INIT(petal_fold_options)

/* Makes a smaller filter with the same keys, without needing the keys: *folded is a new filter in
 * memory. It equals, byte for byte, a filter of its size, capacity and rate to which the same keys
 * were added. Line i of the smaller filter is the union of d neighbouring lines (classic: bits),
 * where d is any whole number that divides the number of lines. So if you don't know the number of
 * keys, create an oversized filter with options.foldable, add the keys, and then fold it. The
 * numbers of hashes and of lines per key stay the same. They should suit the rate of the folded
 * filter; options.foldable makes sure of that.
 *
 * Without `bits`, the call uses the largest d that keeps the rate according to the scheme's exact
 * model. If d is 1, *folded is a copy of the same size. The number of keys is petal_info.items if
 * the bits agree with it, otherwise petal_stats.estimated_items. The capacity of *folded is the
 * number of keys at which it has that rate. *folded keeps the filter's items and metadata. A
 * growing filter can be folded as long as it has only one layer; *folded does not grow.
 *
 * On failure *folded is NULL.
 *   PETAL_ERR_ARGUMENT     the rate is not between 0 and 1, or neither given nor recorded; `bits`
 *                          doesn't divide the filter's bits; or `bits` is given together with
 *                          `capacity` or `by_bits`
 *   PETAL_ERR_UNREACHABLE  the filter already has too many keys for the rate
 *   PETAL_ERR_UNSUPPORTED  the filter counts, is a window, has several layers or no bits; or its
 *                          foreign scheme computes positions as remainders (all foreign schemes
 *                          except parquet and rocksdb do)
 *   PETAL_ERR_BUSY         the filter is live
 *   PETAL_ERR_DAMAGED      a block of a map or view does not match its checksum
 *   PETAL_ERR_MEMORY
 * Cost: reads all bits twice and writes the new ones. classic: also a few nanoseconds per bit of
 * the new filter. */
PETAL_NODISCARD PETAL_API petal_status petal_fold(const petal_filter *filter,
                                                  const petal_fold_options *options,
                                                  petal_filter **folded, petal_error *error);

/* Returns the shard of a key, for a set that is too large for one machine and is spread over
 * `shards` filters (files, Redis keys). A key belongs to the same shard in every language and for
 * every filter: mulhi64(fmix64(fmix64(g)), shards) with g = XXH3_64bits(key, 0), which is below
 * `shards` (docs/format.md, "Shards", explains the formula). Shards are even: each has about
 * 1/shards of the keys, within a few times the square root of that number. If `shards` is 0, it
 * counts as 1. Strangers who choose the keys can make them all fall into one shard. To prevent
 * this, use keyed filters and petal_shard_of_hash() from petal_host.h. */
PETAL_API uint32_t petal_shard_of(const void *key, size_t key_bytes, uint32_t shards);

/* ----------------------------------------------------------------------------- several threads */

/* After this call, any number of threads may add to the filter (petal_add*) and query it
 * (petal_contains*) at the same time. No bit is lost, and the resulting bits are the same as if the
 * keys had been added one after the other. If several threads add the same new key at the same
 * time, one of the calls returns PETAL_OK. All other calls (saving, merging, ...) must still wait
 * until no thread is adding. Each add then takes an atomic operation, and may wait briefly for
 * another thread. Queries are as fast as before. To fill a filter that nobody queries in the
 * meantime, a petal_builder (petal_build.h) is faster.
 *   PETAL_ERR_UNSUPPORTED  the filter has several layers, counters or (in most cases) a foreign
 *                          scheme; or this is WebAssembly without threads
 *   PETAL_ERR_READ_ONLY, PETAL_ERR_MEMORY
 *   PETAL_ERR_DAMAGED      a writable map: a block does not match its checksum
 * Cost: constant; a writable map is verified first, which reads all bits. */
PETAL_NODISCARD PETAL_API petal_status petal_allow_threads(petal_filter *filter,
                                                           petal_error *error);

/* ------------------------------------------------------------------------------------- windows */

/* Sets the clock of a time-window filter (options.window_ms): milliseconds since any epoch, by
 * convention 1970. Only this call drops generations that have expired, so call it before adding and
 * querying. The filter and its file keep the latest time; an earlier time changes nothing. Keys
 * added before the first call count as added at the time of that call.
 *   PETAL_ERR_UNSUPPORTED  the filter has no window of time, or no bits
 *   PETAL_ERR_ARGUMENT     now_ms is above 2^63 - 1
 *   PETAL_ERR_READ_ONLY
 * Cost: O(generations), plus releasing expired ones. If all have expired, one generation's bits are
 * cleared. */
PETAL_API petal_status petal_set_clock(petal_filter *filter, uint64_t now_ms, petal_error *error);

/* ------------------------------------------------------------------------------------- formats */

#define PETAL_FORMAT_CAN_READ 1u
#define PETAL_FORMAT_CAN_WRITE 2u
#define PETAL_FORMAT_CAN_CREATE 4u    /* options.format */
#define PETAL_FORMAT_CAN_RECOGNIZE 8u /* petal_recognize() may report it */
#define PETAL_FORMAT_CAN_MAP 16u      /* can be read without a copy */
#define PETAL_FORMAT_HAS_CHECKSUM 32u
#define PETAL_FORMAT_IS_PACKED 64u /* decoded into memory: JSON, gzip, ... */
/* Short names for these flags, lowest first: initializers for an array of strings. */
#define PETAL_FORMAT_ABILITY_NAMES \
    "read", "write", "create", "recognize", "map", "checksum", "packed"

typedef struct petal_format_info {
    uint32_t struct_size;
    uint32_t abilities; /* PETAL_FORMAT_ */
    const char *name;   /* "guava", ... */
    const char *keys;   /* how its library encodes keys, in a few words */
} petal_format_info;
#define PETAL_FORMAT_INFO_INIT PETAL_STRUCT_INIT(petal_format_info)

/* Fills in *info for one of this build's formats. `place` counts from 0. Returns false after the
 * last format. */
PETAL_API bool petal_format_at(uint32_t place, petal_format_info *info);

/* Finds the formats that these bytes could be in, from their header and length alone. This is a
 * hint, not a proof, because most formats have no magic number. Writes up to `room` names and
 * returns how many formats fit. If a format is certain, only that one is returned. */
PETAL_API uint64_t petal_recognize(const void *bytes, uint64_t size_bytes, const char **names,
                                   uint64_t room);

/* -------------------------------------------------------------------------- memory and streams */

/* Returns the size of the filter's image, that is, of the file that petal_save() writes with these
 * options. Returns 0 if the format cannot hold the filter.
 * Cost: O(layers); packed formats (PETAL_FORMAT_IS_PACKED) read all bits. */
PETAL_API uint64_t petal_serialized_bytes(const petal_filter *filter,
                                          const petal_save_options *options);

/* Writes the filter's image to memory. Bits of a map or view are verified first.
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

/* Receives the next bytes of a stream. A nonzero return value stops the stream. */
typedef int32_t (*petal_sink)(void *context, const void *bytes, size_t size_bytes);

/* Writes the filter's image to `sink`, in order and in pieces of up to 256 KiB. Takes about 20 KiB
 * of memory, whatever the filter's size. (redisbloom-dump compresses, and takes as much memory as
 * the largest layer.) Bits of a map or view are verified first.
 *   PETAL_ERR_IO  the sink stopped the stream; error->system_errno is the value that it returned
 * The call also fails like petal_serialize().
 * Cost: reads all bits, plus the cost of the sink. */
PETAL_NODISCARD PETAL_API petal_status petal_write(const petal_filter *filter,
                                                   const petal_save_options *options,
                                                   petal_sink sink, void *context,
                                                   petal_error *error);

/* Makes a filter from an image in memory: a private, verified copy. Safe to call with hostile
 * bytes. Modes and flags work as in petal_open(); RECOVER, RESEAL, HEADER_ONLY and NO_SECRET have
 * an effect. The table under petal_open() lists the failures.
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
 * A patch turns one filter into another (docs/format.md, "Patches"). Use patches to update copies
 * of a filter as it changes. A patch encodes the gaps between newly set bits, and its size is
 * within a few percent of the entropy: after adding 1 % more keys, the patch is about 3 % of the
 * file's size. Newly cleared bits take as much space as newly set ones. Encoding a 64 KiB block
 * never takes more space than the block itself. The patch also contains items, capacity, metadata,
 * and the layers and generations that were added or dropped, but no secret. */

/* Writes the patch from `from` to `to` into `sink`, in order and in pieces of up to 256 KiB. Uses
 * about 80 KiB of memory. Bits of a map or view are verified first.
 *   PETAL_ERR_MISMATCH     the filters differ in scheme, hash, seed or secret, in how they grow or
 *                          forget, or in the size of a layer; send the whole file instead
 *   PETAL_ERR_IO           the sink stopped the stream; error->system_errno is its return value
 *   PETAL_ERR_UNSUPPORTED  a filter has no bits
 *   PETAL_ERR_BUSY         a filter is live
 *   PETAL_ERR_DAMAGED      a block does not match its checksum
 *   PETAL_ERR_MEMORY, PETAL_ERR_LIMIT
 * Cost: reads all bits of both filters about three times. */
PETAL_NODISCARD PETAL_API petal_status petal_diff(const petal_filter *from, const petal_filter *to,
                                                  petal_sink sink, void *context,
                                                  petal_error *error);

/* Applies a patch: turns the filter into the filter passed to petal_diff() as `to`. The filter must
 * have the content id that the patch was made for. Afterwards, the images of both filters are
 * equal, byte for byte. Safe to call with hostile bytes. The call computes the result block by
 * block, and compares the result's content id before it changes the first bit, so after a failure
 * the filter is unchanged. Apart from new layers and metadata, this takes 64 KiB of memory, not a
 * copy of the filter. The call requires exclusive use of the filter, and no builder may be active.
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
