/* petal.h - Bloom filters: one C core, one file format, every language.
 *
 * A Bloom filter answers "is this key in the set?" with "certainly not" or "probably", using a few
 * bits per key. It never misses a key that was added. Of the keys that were not, it wrongly says
 * "probably" for a planned fraction, the false-positive rate. This header is the whole contract:
 * what it does not say is not promised.
 *
 *     petal_options options = PETAL_OPTIONS_INIT;
 *     petal_filter *filter = NULL;
 *     options.capacity = 1000000;   // distinct keys
 *     options.rate = 0.01;          // 1 % false positives once they are all in
 *     if (petal_create(&options, &filter, NULL) != PETAL_OK) return 1;
 *     petal_add(filter, "https://example.com/", 20);
 *     if (petal_contains(filter, "https://example.org/", 20)) ...   // probably
 *     petal_save(filter, "urls.petal", NULL, 0, NULL);
 *     petal_free(filter);
 *
 * Conventions
 *   Keys       Any bytes, any length, the empty key included. petal_encode_*() turn numbers into
 *              bytes.
 *   Sizes      carry their unit in the name and are 64-bit. A size that would overflow is refused,
 *              never wrapped.
 *   Status     PETAL_OK is 0, positive values mean success with extra information, negative values
 *              are failures.
 *   Errors     A petal_error may be NULL everywhere. It is written on failure only.
 *   Structs    that begin with `struct_size` are initialised with their _INIT macro. The library
 *              uses the size to stay compatible with programs built against older or newer headers:
 *              fields that the program does not know keep their default, which is 0 for every
 *              field, and results that it has no room for are not written. A longer struct is
 *              PETAL_ERR_ARGUMENT only if its unknown fields are not 0.
 *   Pointers   must not be NULL unless their comment allows it. A NULL key is allowed if its size
 *              is 0.
 *   Ownership  petal_free() releases a petal_filter. Strings and pointers returned by other calls
 *              are borrowed.
 *   Processes  A filter that keeps a file for writing (PETAL_OPEN_WRITABLE, PETAL_OPEN_LOCKED)
 *              belongs to the process that opened it. After fork() the child may query it and must
 *              still petal_free() it, which there unmaps and closes, no more; it may not change
 *              the file: changes of a map, petal_sync(), builders, and saving to a file that is
 *              kept locked are PETAL_ERR_READ_ONLY. The lock is the owner's, and ends when that
 *              frees the filter. Filters in memory are private copies. Don't fork while another
 *              thread changes a filter that the child is to use.
 *   Threads    Any number of threads may query one filter (contains*, hash_key, get_info,
 *              get_stats, save, serialize, write) at the same time without a lock, as long as none
 *              changes it. Changes need exclusive use, except adding to a filter that was given to
 *              petal_allow_threads(). The library has no mutable global state.
 */
#ifndef PETAL_H
#define PETAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* PETAL_SHARED_LIBRARY: building or using the shared library; PETAL_BUILDING: building it. */
#if defined(_WIN32) && defined(PETAL_SHARED_LIBRARY) && defined(PETAL_BUILDING)
#define PETAL_API __declspec(dllexport)
#elif defined(_WIN32) && defined(PETAL_SHARED_LIBRARY)
#define PETAL_API __declspec(dllimport)
#elif defined(PETAL_SHARED_LIBRARY) && defined(__GNUC__)
#define PETAL_API __attribute__((visibility("default")))
#else
#define PETAL_API
#endif

/* The only place of the version: the build, the file and the tool read it from here. */
#define PETAL_VERSION_MAJOR 0
#define PETAL_VERSION_MINOR 1
#define PETAL_VERSION_PATCH 0

/* Initialises a struct that begins with struct_size, and sets all other fields to their default. */
#ifdef __cplusplus
} /* a template has no C linkage */
template <class T> inline T petal_struct_init()
{
    T made = T();
    made.struct_size = static_cast<uint32_t>(sizeof made);
    return made;
}
extern "C" {
#define PETAL_STRUCT_INIT(type) petal_struct_init<type>()
#else
#define PETAL_STRUCT_INIT(type) \
    { \
        .struct_size = (uint32_t)sizeof(type) \
    }
#endif

/* -------------------------------------------------------------------------------------- status */

typedef int32_t petal_status;
enum {
    PETAL_OK = 0,
    PETAL_SEEN = 1,      /* petal_add(): the key was probably there already */
    PETAL_ABSENT = 2,    /* petal_remove(): the key was certainly not there; nothing changed */
    PETAL_UNCHECKED = 3, /* petal_verify(): there are no checksums to compare with */

    PETAL_ERR_ARGUMENT = -1,        /* an argument is outside what the call takes */
    PETAL_ERR_UNREACHABLE = -2,     /* no filter of this scheme reaches the rate */
    PETAL_ERR_LIMIT = -3,           /* a size overflows or is above a documented limit */
    PETAL_ERR_MEMORY = -4,          /* the allocator returned NULL */
    PETAL_ERR_MISMATCH = -5,        /* two filters differ; the message names the field */
    PETAL_ERR_READ_ONLY = -6,       /* the filter was opened or viewed for reading */
    PETAL_ERR_UNSUPPORTED = -7,     /* the scheme, the format or this build cannot do it */
    PETAL_ERR_IO = -8,              /* a system call failed; see petal_error.system_errno */
    PETAL_ERR_EXISTS = -9,          /* the file exists and was not to be replaced */
    PETAL_ERR_BUSY = -10,           /* another process is changing the file; try again later */
    PETAL_ERR_NOT_A_FILTER = -11,   /* the bytes are not a filter of the format */
    PETAL_ERR_NEWER = -12,          /* a petal file with features this version does not know */
    PETAL_ERR_TRUNCATED = -13,      /* fewer bytes than the header promises */
    PETAL_ERR_DAMAGED = -14,        /* a checksum does not match, or a field is impossible */
    PETAL_ERR_DIRTY = -15,          /* a writer died halfway; see PETAL_OPEN_RECOVER */
    PETAL_ERR_SECRET_MISSING = -16, /* a keyed filter, and no secret was given */
    PETAL_ERR_SECRET_WRONG = -17,   /* not the filter's secret, or one for a filter without */
    PETAL_ERR_FULL = -18,           /* the filter takes no more keys; see petal_add() */
    PETAL_ERR_REPLACED = -19        /* the file was replaced meanwhile; see petal_sync() */
};

#define PETAL_NO_OFFSET UINT64_MAX

/* Why a call failed. Plain memory of the caller; this struct does not grow. */
typedef struct petal_error {
    petal_status status;
    int32_t system_errno; /* errno of the system call that failed, or 0 */
    uint64_t offset;      /* byte of the input at which it was noticed, or PETAL_NO_OFFSET */
    char message[240];    /* one line, no newline: what, and what to do; not the path */
} petal_error;

/* A short fixed name, such as "damaged". Never NULL. */
PETAL_API const char *petal_status_name(petal_status status);

/* The version of the library that is linked, such as "0.1.0". */
PETAL_API const char *petal_version(void);

/* ------------------------------------------------------------------------------------- options */

typedef struct petal_filter petal_filter;

/* How a hash becomes bit positions (docs/format.md has the rules). Filters of other formats have
 * schemes and hashes of their own: petal_info has their numbers and names, and docs/format.md lists
 * them. */
enum {
    PETAL_SCHEME_DEFAULT = 0, /* blocked */
    PETAL_SCHEME_BLOCKED =
        1, /* k bits in one 64-byte line, or two: one or two cache misses per key */
    PETAL_SCHEME_CLASSIC = 2, /* k bits anywhere: the fewest bits per key, up to k cache misses */
    PETAL_SCHEME_COUNTING =
        3 /* classic with 4-bit counters: keys can be removed, 4 times the size */
};

/* How key bytes become a hash. */
enum {
    PETAL_HASH_DEFAULT = 0, /* xxh3, or siphash if a secret is given */
    PETAL_HASH_XXH3 = 1,    /* XXH3_64bits with a 64-bit seed: fast, not safe from chosen keys */
    PETAL_HASH_SIPHASH = 2  /* SipHash-2-4 with a 128-bit secret: for keys that strangers choose */
};

/* What keys were before they became bytes: recorded in the file for those who query it later (the
 * tool's --key-type). The library takes bytes and does nothing with this. */
enum {
    PETAL_KEY_TYPE_NONE = 0, /* not recorded: any */
    PETAL_KEY_TYPE_TEXT = 1, /* the bytes themselves */
    PETAL_KEY_TYPE_UTF16LE = 2,
    PETAL_KEY_TYPE_I32 = 3, /* petal_encode_i32() */
    PETAL_KEY_TYPE_I64 = 4,
    PETAL_KEY_TYPE_F64 = 5,
    PETAL_KEY_TYPE_HEX = 6,   /* bytes, written as hex digits */
    PETAL_KEY_TYPE_BASE64 = 7 /* bytes, written in base64 */
};

/* Where the memory of filters comes from. Both functions must be thread-safe if several threads use
 * filters. */
typedef struct petal_allocator {
    /* size_bytes of zeroed memory aligned like malloc's, or NULL. Lazily zeroed pages (calloc) keep
     * creating a big filter cheap. */
    void *(*alloc_zeroed)(void *context, size_t size_bytes);
    void (*release)(void *context, void *memory, size_t size_bytes);
    void *context;
} petal_allocator;

#define PETAL_SECRET_BYTES 16
#define PETAL_METADATA_MAX_BYTES 65536

/* What to create. One of these combinations fixes the size:
 *   capacity and rate           the smallest filter whose rate at `capacity` keys is at most `rate`
 *   capacity and memory_bytes   the best rate that fits
 *   rate and memory_bytes       the largest capacity whose filter of that rate fits
 *   bits and hashes             exactly this (capacity and rate are then only recorded)
 *   capacity and bits           exactly these bits, and the number of hashes with the best rate
 * hashes and lines_per_key may be fixed with any of them. An option that has no effect is refused.
 * Filters of other formats take a rate with capacity or memory_bytes, or bits and hashes; those of
 * several layers only capacity (or window_keys) and rate.
 *
 * Two kinds of filter have several layers of bits. A key is present if any layer contains it. The
 * layers' rates sum to at most `rate`.
 *   growth       For sets of unknown size: `capacity` is that of the first layer. When the last
 *                layer is full, a new one is made, for growth_step times as many keys at
 *                growth_ratio times the rate. `rate` holds for any number of keys. A key that any
 *                layer contains is not added again. At most 64 layers, and 2^48 bits in each; after
 *                that, adding a new key is PETAL_ERR_FULL.
 *   window_keys  "Seen in the last N": a key is found for at least the next window_keys calls of
 *                add (repeats count) and forgotten, except at `rate`, after at most a window and
 *                one generation more. The window is a ring of generations; the oldest is discarded
 *                as a whole. Adding writes a key into the newest generation, so a key that keeps
 *                being added is not forgotten.
 *   window_ms    "Seen in the last 7 days": the same by a clock, see petal_set_clock(). A key is
 *                found for at least window_ms and forgotten, except at `rate`, after at most
 *                window_ms / (generations - 1) more. window_keys is the highest number of keys in a
 *                window; a key counts once for each generation in which it comes. With more keys
 *                the rate is exceeded, but no key is dropped early: see petal_is_overfull(). The
 *                filter has at most 2 * generations - 1 generations. */
typedef struct petal_options {
    uint32_t struct_size;
    uint32_t scheme;         /* PETAL_SCHEME_ */
    uint32_t hash;           /* PETAL_HASH_ */
    uint32_t key_type;       /* PETAL_KEY_TYPE_, recorded in the file */
    uint64_t capacity;       /* distinct keys the filter is planned for */
    double rate;             /* false-positive rate at capacity, above 0 and below 1 */
    uint64_t memory_bytes;   /* upper limit of the bits, in bytes */
    uint64_t bits;           /* m; blocked rounds up to whole lines of 512 */
    uint32_t hashes;         /* k: blocked 1 to 16 per line, classic 1 to 64; 0: chosen */
    uint32_t lines_per_key;  /* blocked: 1, 2, or 0: chosen (2 only below a rate of 0.0002) */
    uint64_t seed;           /* of xxh3. Only filters with the same seed can be merged */
    const void *secret;      /* PETAL_SECRET_BYTES for siphash; copied; never written to a file */
    const void *metadata;    /* anything of the user's, kept in the file; copied; may be NULL */
    uint64_t metadata_bytes; /* at most PETAL_METADATA_MAX_BYTES */
    const petal_allocator *allocator; /* copied; NULL: the system's, huge pages for big arrays */
    /* Make the filter that another library would make of capacity and rate (or of bits and hashes):
     * its scheme and its sizing, to the bit. A name of petal_format_at(); NULL: petal. */
    const char *format;
    uint8_t growth;          /* 1: with capacity and rate */
    uint8_t refuse_overfull; /* 1: adding to an overfull filter is PETAL_ERR_FULL; not recorded */
    uint8_t reserved[2];     /* 0 */
    uint32_t growth_step;    /* 2 to 64; 0: 2 */
    double growth_ratio;     /* above 0 and below 1; 0: 0.85, which needs the fewest bits */
    uint64_t window_keys;    /* with rate, and without capacity */
    uint64_t window_ms;      /* with window_keys */
    uint32_t generations;    /* of a window, 2 to 32; 0: chosen, within 1 % of the least memory */
    uint32_t reserved2;      /* 0 */
} petal_options;
#define PETAL_OPTIONS_INIT PETAL_STRUCT_INIT(petal_options)

/* ---------------------------------------------------------------------------------- life cycle */

/* An empty filter in memory, *filter. Pages are touched only as keys arrive. On failure *filter is
 * NULL.
 *   PETAL_ERR_ARGUMENT, PETAL_ERR_UNREACHABLE (the message names the lowest rate that can be
 *   reached), PETAL_ERR_LIMIT, PETAL_ERR_MEMORY, PETAL_ERR_UNSUPPORTED */
PETAL_API petal_status petal_create(const petal_options *options, petal_filter **filter,
                                    petal_error *error);

/* An empty filter in memory with the parameters of `pattern`: scheme, hash, seed or secret, bits,
 * hashes, lines per key, capacity and rate; not its metadata. Such filters can be merged, and
 * merging partial ones gives, byte for byte, the filter that was given all keys.
 * PETAL_ERR_UNSUPPORTED for filters that grow or have several layers. */
PETAL_API petal_status petal_create_like(const petal_filter *pattern, petal_filter **filter,
                                         petal_error *error);

/* A private copy in memory, writable even if `filter` is not, with the same parameters, keys and
 * metadata. Pages without bits are not touched. */
PETAL_API petal_status petal_clone(const petal_filter *filter, petal_filter **copy,
                                   petal_error *error);

/* Releases the filter; NULL is allowed. A writable map with changes is synced first, by the process
 * that opened it; call petal_sync() before if you need to know whether that works. */
PETAL_API void petal_free(petal_filter *filter);

/* ------------------------------------------------------------------------------------- one key */

/* Adds a key. PETAL_OK: it was certainly new. PETAL_SEEN: all its bits were set, so it was probably
 * there. (Of several layers: in one of them; a window has put it into its newest generation all the
 * same.) A key that was not taken is not counted, and keys that are in are found as before:
 *   PETAL_ERR_READ_ONLY    the filter was opened or viewed for reading
 *   PETAL_ERR_FULL         no further layer is possible, or it is overfull and was made with
 *                          refuse_overfull
 *   PETAL_ERR_LIMIT        the next layer is above the memory limit it was opened with
 *   PETAL_ERR_MEMORY       there is no memory for the next layer; nothing else allocates
 *   PETAL_ERR_UNSUPPORTED  a map cannot grow; the foreign scheme does not accept the empty key
 *   PETAL_ERR_DAMAGED      a map: a block that the key lies in does not match its checksum
 *   PETAL_ERR_IO           a map: the file could not be marked as dirty
 * petal_last_error() has the details. */
PETAL_API petal_status petal_add(petal_filter *filter, const void *key, size_t key_bytes);

/* False: the key was certainly never added. True: it probably was; or the file is damaged there
 * (PETAL_OPEN_VERIFY_ON_USE), which petal_last_error() says. */
PETAL_API bool petal_contains(const petal_filter *filter, const void *key, size_t key_bytes);

/* Takes a key out of a counting filter. PETAL_OK: it was counted down once. PETAL_ABSENT: it was
 * certainly not in, and nothing changed. PETAL_ERR_UNSUPPORTED: the scheme does not count; and the
 * failures of petal_add().
 *
 * Each petal_add() of a key is undone by one petal_remove(): what was added twice is in until it is
 * removed twice. Don't skip petal_add() because petal_contains() returned true: each remove needs
 * an add of its own. REMOVE ONLY KEYS THAT WERE ADDED. A key that was not may answer "probably"
 * too; removing it takes counts away from other keys, which may then be missed.
 *
 * A counter holds up to 15 and sticks there, since it may stand for more. No key is missed because
 * of that; but a removed key whose counters all stick, or are held by other keys, still answers
 * "probably". At capacity 1.6e-15 of all counters stick; a key that was added 15 times makes all of
 * its own stick. petal_get_stats() has their number. */
PETAL_API petal_status petal_remove(petal_filter *filter, const void *key, size_t key_bytes);

/* The same for petal_encode_i64(value). */
PETAL_API petal_status petal_add_i64(petal_filter *filter, int64_t value);
PETAL_API bool petal_contains_i64(const petal_filter *filter, int64_t value);
PETAL_API petal_status petal_remove_i64(petal_filter *filter, int64_t value);

/* The 64-bit hash of a key under this filter's hash and seed or secret. Filters with the same ones
 * can share it. */
PETAL_API uint64_t petal_hash_key(const petal_filter *filter, const void *key, size_t key_bytes);

/* The same for a hash in place of a key: petal_hash_key()'s, or another well-mixed 64-bit hash.
 * Small integers, pointers or 32-bit hashes would all land in the first line and answer "probably"
 * to everything. A key and its petal_hash_key() are the same member. If the scheme needs more than
 * 64 bits of hash (no PETAL_CAN_HASHES), adding and removing are PETAL_ERR_UNSUPPORTED, and the
 * answer is true. */
PETAL_API petal_status petal_add_hash(petal_filter *filter, uint64_t hash);
PETAL_API bool petal_contains_hash(const petal_filter *filter, uint64_t hash);
PETAL_API petal_status petal_remove_hash(petal_filter *filter, uint64_t hash);

/* The key bytes of numbers, the same in every language: little-endian; doubles in IEEE-754 with -0
 * as +0 and every NaN as 7ff8000000000000. Text is its UTF-8 bytes without a terminator and needs
 * no helper. */
PETAL_API void petal_encode_i32(int32_t value, uint8_t key[4]); /* Guava's integerFunnel */
PETAL_API void petal_encode_i64(int64_t value, uint8_t key[8]);
PETAL_API void petal_encode_f64(double value, uint8_t key[8]);

/* --------------------------------------------------------------------------------------- files */

#define PETAL_SAVE_NO_REPLACE 1u /* fail with PETAL_ERR_EXISTS if the file exists */
#define PETAL_SAVE_NO_LOCK 2u    /* take no lock: nobody else changes the file */
#define PETAL_SAVE_NEW_OWNER 4u  /* go on if the new file cannot have the owner of the old one */

/* Writes the filter to `path` in this format (NULL: petal). At every moment the path holds either
 * the old file or the whole new one: a temporary file in the same folder (random name, mode and
 * owner of the old file, unreadable to others before), fsync, rename, fsync of the folder. Blocks
 * of zeros become holes if the file system has them. Symbolic links are followed; of a file with
 * several hard links only this name gets the new one. The old file is locked against writers
 * meanwhile. A filter that was opened with PETAL_OPEN_LOCKED from this path uses, and keeps, the
 * lock it has. Saving a writable map onto its own file is petal_sync(). Bits that come from a map
 * or a view are verified first. Bits are never translated: a format that cannot hold the filter's
 * scheme is refused, with the reason.
 *
 * On failure the old file is unchanged and nothing is left beside it. If only the fsync of the
 * folder fails, which comes last, the new file is there, and error->message says so.
 *   PETAL_ERR_EXISTS       NO_REPLACE was given and the file exists
 *   PETAL_ERR_BUSY         another process is changing the file, or made one at `path` meanwhile
 *   PETAL_ERR_REPLACED     the file at `path` is no longer the one this filter has locked
 *   PETAL_ERR_UNSUPPORTED  the format cannot hold the filter; the file system has no locks (see
 *                          NO_LOCK); the path is no regular file; this build has no files
 *   PETAL_ERR_DAMAGED, PETAL_ERR_IO, PETAL_ERR_MEMORY, PETAL_ERR_ARGUMENT */
PETAL_API petal_status petal_save(const petal_filter *filter, const char *path, const char *format,
                                  uint32_t flags, petal_error *error);

/* Modes of petal_open(). */
#define PETAL_OPEN_MAP 0u      /* map for reading: no private memory; shared by all who map it */
#define PETAL_OPEN_WRITABLE 1u /* map for reading and writing in place; one writer at a time */
#define PETAL_OPEN_LOAD 2u     /* a verified copy in memory; writable; the file stays as it is */

/* Flags that may be added to the mode. */

/* Maps: check every block checksum before returning. */
#define PETAL_OPEN_VERIFY 16u
/* WRITABLE or LOAD: accept a dirty file as it is. Bits only rise, so every key of a successful sync
 * is there, and of later keys some may be. Counters also fall, but not those of a key that nobody
 * removes: every key of a successful sync is there that was not removed since. Of a key that was
 * added or removed since, some counts may be on disk and others not: add it again, at the price of
 * counts that stay; but never remove it (again), which could take counts from other keys. */
#define PETAL_OPEN_RECOVER 32u
/* MAP: read a file that another process is changing in place. Bits only rise, so every key of its
 * last sync is found, and of later ones some, unless that process goes on to clear, intersect or
 * remove. Without a writer at work, a dirty file is PETAL_ERR_DIRTY as usual. Such a filter answers
 * queries; saving, copying and verifying it are PETAL_ERR_BUSY. */
#define PETAL_OPEN_LIVE 64u
/* LOAD: keep the file locked against writers until petal_free(), so that a later petal_save() to
 * the same path replaces exactly what was loaded. PETAL_ERR_BUSY if it is locked. After chdir(),
 * save to an absolute path: the same relative one may name another file, which is
 * PETAL_ERR_REPLACED. */
#define PETAL_OPEN_LOCKED 128u
/* WRITABLE or LOCKED: take no lock, for file systems without; make sure that nobody else writes. */
#define PETAL_OPEN_NO_LOCK 256u
/* petal_load() and petal_open(): the header alone; the bytes after it need not be there. The filter
 * has no bits until petal_adopt_bits() or petal_write_bits() gives them: petal_get_info() works,
 * contains is true, and what needs bits is PETAL_ERR_UNSUPPORTED. Of too few bytes
 * (PETAL_ERR_TRUNCATED), error->offset is how many are needed, as far as they tell. No more than
 * that is read of a file, unless the format is "auto". For petal files and what BF.SCANDUMP gives
 * first (redisbloom). */
#define PETAL_OPEN_HEADER_ONLY 512u
/* HEADER: a keyed filter needs no secret, for what its header tells. Without one it takes no bits
 * and hashes no keys: calls that would are PETAL_ERR_SECRET_MISSING, and petal_hash_key() is 0. */
#define PETAL_OPEN_NO_SECRET 1024u
/* With RECOVER: accept a clean file, too, whose blocks do not match their checksums, and give them
 * new ones. Nobody can tell damage from additions there: keys may be missing, and the new checksums
 * hide that. petal_info.recovered_blocks says how many blocks differ. For files that cannot be
 * built again from their keys. */
#define PETAL_OPEN_RESEAL 4096u
/* MAP, WRITABLE and petal_view(): no answer from damaged bits. Before a query is answered, each
 * block that the key lies in (64 KiB, of every layer) is compared with its checksum; once, not for
 * every key. When all blocks are checked this costs nothing more. Any number of threads may query.
 * A block that differs is damaged:
 *   - petal_contains*() returns true, never a false "certainly not", and petal_last_error() is
 *     PETAL_ERR_DAMAGED from then on, with the file offset of the block in error->offset;
 *   - batches, petal_contains_any() and petal_contains_all() fail with PETAL_ERR_DAMAGED, and
 *     error->offset is the index of the key. The keys before it are answered;
 *   - petal_get_stats(), petal_compare() and petal_inline_begin() check all blocks first, and fail.
 *     petal_is_overfull() is false. petal_bits() checks nothing, and petal_content_id() is the
 *     recorded one.
 * Accepted in every mode. It does nothing if there is nothing to compare with or no need to: LOAD
 * and HEADER, other formats, PETAL_OPEN_LIVE beside a writer, a dirty file that is being recovered.
 * petal_info.verifies says whether it is in force. If another process begins to change the file in
 * place after it was opened, a block that differs is taken to be changed, not damaged. One byte of
 * memory for each block; without this flag a map trusts its bits. */
#define PETAL_OPEN_VERIFY_ON_USE 2048u

typedef struct petal_open_options {
    uint32_t struct_size;
    uint32_t flags;                   /* a mode, and flags */
    const void *secret;               /* for keyed filters, PETAL_SECRET_BYTES; copied */
    uint64_t max_bytes;               /* refuse larger files with PETAL_ERR_LIMIT; 0: no limit */
    const petal_allocator *allocator; /* copied; NULL: the system's */
    /* What the bytes are: a name of petal_format_at(). NULL: petal. "auto": the one format that
     * petal_recognize() finds; PETAL_ERR_NOT_A_FILTER if none fits, PETAL_ERR_ARGUMENT with their
     * names if several do. */
    const char *format;
    /* Bytes that opening, and then each growing by a layer, may allocate; maps do not count. More
     * is PETAL_ERR_LIMIT. 0: 1 GiB, or 64 times the bytes given if that is more. UINT64_MAX: no
     * limit. */
    uint64_t memory_limit;
    /* petal_view(): called once, by petal_free(), so that the bytes can be given back. May be NULL.
     * If petal_view() fails, the bytes stay the caller's, and it is not called. */
    void (*release)(void *context, const void *bytes, uint64_t size_bytes);
    void *release_context;
    uint8_t refuse_overfull; /* see petal_options */
    uint8_t reserved[7];     /* 0 */
} petal_open_options;
#define PETAL_OPEN_OPTIONS_INIT PETAL_STRUCT_INIT(petal_open_options)

/* Opens a filter file. options NULL: a petal file, mapped for reading. The header is always
 * verified, the bits on request: opening takes milliseconds at any size. Files of other formats are
 * mapped for reading or loaded; packed ones (JSON, gzip) take memory of their own either way. A
 * writable map allocates the file's holes first (so a full disk cannot end the program), marks the
 * file dirty on disk before the first change and clean again in petal_sync(). While it is mapped,
 * others must not truncate the file. A filter that grows cannot do so in a map, and a window is not
 * mapped for writing (PETAL_ERR_UNSUPPORTED): load them, and save them. */
PETAL_API petal_status petal_open(const char *path, const petal_open_options *options,
                                  petal_filter **filter, petal_error *error);

/* Writable maps: makes all changes durable, with their checksums, and marks the file clean. After a
 * failure the filter takes no more changes: what the disk holds is unknown, but it is either dirty
 * or complete. PETAL_ERR_REPLACED: the changes are durable, but in a file that is no longer the one
 * at its path. Other filters: PETAL_OK, nothing to do. */
PETAL_API petal_status petal_sync(petal_filter *filter, petal_error *error);

/* Checks every block of a mapped or viewed petal file against its checksum; error->offset is the
 * file offset of the first damaged block. PETAL_UNCHECKED: there is nothing to compare with (a
 * filter in memory, a file of another format, or a map with changes since its last sync).
 * PETAL_ERR_BUSY: another process is changing the file. */
PETAL_API petal_status petal_verify(const petal_filter *filter, petal_error *error);

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

typedef struct petal_key {
    const void *data;
    size_t size_bytes;
} petal_key;

typedef struct petal_batch {
    uint32_t struct_size;
    uint32_t layout;     /* PETAL_LAYOUT_ */
    const void *data;    /* borrowed during the call; may be NULL if there are no bytes */
    const void *offsets; /* OFFSETS: count + 1 ascending ones, each at most data_bytes */
    uint64_t data_bytes; /* OFFSETS: size of data. 0: the last offset */
    uint64_t key_bytes;  /* FIXED */
    uint64_t stride;     /* FIXED, I64, HASHES: bytes from one key to the next; 0: no gap */
    uint64_t count;
} petal_batch;
#define PETAL_BATCH_INIT PETAL_STRUCT_INIT(petal_batch)

typedef struct petal_batch_outcome {
    uint32_t struct_size;
    uint32_t reserved;
    uint64_t done;     /* keys that went in, or were answered: count on success */
    uint64_t positive; /* how many results are 1 */
} petal_batch_outcome;
#define PETAL_BATCH_OUTCOME_INIT PETAL_STRUCT_INIT(petal_batch_outcome)

/* petal_add(), petal_contains() and petal_remove() of each key in order, hashing and fetching
 * ahead. results, if not NULL, has a byte per key, all of which are written: add 1 = new, contains
 * 1 = probably, remove 1 = removed, otherwise 0. Of equal new keys in one batch the first counts as
 * new. outcome may be NULL.
 *   PETAL_OK               all keys are done
 *   PETAL_ERR_ARGUMENT     the batch is wrong. If its offsets go backwards or past the data,
 *                          error->offset is the index of the first such key. No key is done, and
 *                          results are not written.
 *   PETAL_ERR_UNSUPPORTED  hashes, without PETAL_CAN_HASHES; removing, without PETAL_CAN_REMOVE; or
 *                          a key to add that the foreign scheme does not accept, of which
 *                          error->offset is the index. No key is done.
 *   PETAL_ERR_DAMAGED      contains: the key lies in damaged bits (PETAL_OPEN_VERIFY_ON_USE); and
 *   the failures of petal_add(): the keys before the first that failed are done, the others are
 *   not, and error->offset is its index.
 * A batch of no keys only finds out whether the filter can do it. */
PETAL_API petal_status petal_add_batch(petal_filter *filter, const petal_batch *batch,
                                       uint8_t *results, petal_batch_outcome *outcome,
                                       petal_error *error);
PETAL_API petal_status petal_contains_batch(const petal_filter *filter, const petal_batch *batch,
                                            uint8_t *results, petal_batch_outcome *outcome,
                                            petal_error *error);
PETAL_API petal_status petal_remove_batch(petal_filter *filter, const petal_batch *batch,
                                          uint8_t *results, petal_batch_outcome *outcome,
                                          petal_error *error);

/* petal_hash_key() of each key: hashes has room for batch->count. */
PETAL_API petal_status petal_hash_batch(const petal_filter *filter, const petal_batch *batch,
                                        uint64_t *hashes, petal_error *error);

/* Is any, or is each, of the keys probably in? Ends as soon as it knows. Without keys, any is false
 * and all is true. *answer is written on PETAL_OK only. */
PETAL_API petal_status petal_contains_any(const petal_filter *filter, const petal_batch *batch,
                                          bool *answer, petal_error *error);
PETAL_API petal_status petal_contains_all(const petal_filter *filter, const petal_batch *batch,
                                          bool *answer, petal_error *error);

/* ------------------------------------------------------------------------------------ planning */

/* What petal_create() would make of the options, without making it: fills in *plan like
 * petal_get_info(). Takes well under a second at any size. Inverts the exact model of the scheme
 * (docs/format.md), so the rate at `capacity` keys, averaged over seeds, is at most the one asked
 * for. Filters of other formats are sized as their library does, whose formulas are for independent
 * positions: below some thousand keys most are wrong more often than asked, and
 * plan->predicted_rate says how often. */
struct petal_info;
PETAL_API petal_status petal_plan(const petal_options *options, struct petal_info *plan,
                                  petal_error *error);

/* The rate of the scheme's model with `keys` distinct keys in a filter of these parameters: 0 for
 * no keys. Exact for Petal's own schemes; those of other libraries, whose keys have two hashes in
 * progression, are within 15 %. NAN where that cannot be kept: mostly below 50 keys
 * (docs/formats/README.md, "Rates"); for several layers, for an info that no filter can have, and
 * in builds without the model. Takes microseconds, at worst a millisecond. */
PETAL_API double petal_predict_rate(const struct petal_info *info, uint64_t keys);

/* The textbook formulas (Bloom 1970; Broder and Mitzenmacher 2004), for teaching and for checking
 * other implementations. They describe an ideal, unblocked filter; planning does not use them. NAN
 * outside their domain.
 *   petal_textbook_bits    m = -n ln p / (ln 2)^2
 *   petal_textbook_hashes  k = (m / n) ln 2
 *   petal_textbook_rate    p = (1 - e^(-kn/m))^k */
PETAL_API double petal_textbook_bits(double keys, double rate);
PETAL_API double petal_textbook_hashes(double bits, double keys);
PETAL_API double petal_textbook_rate(double bits, double hashes, double keys);

/* ------------------------------------------------------------------------------ looking inside */

/* What a filter can do, as a mask. A call whose ability is missing fails with
 * PETAL_ERR_UNSUPPORTED, or PETAL_ERR_READ_ONLY if the filter was opened for reading. docs/api.md
 * has a table by kind of filter. */
#define PETAL_CAN_ADD 0x1u
#define PETAL_CAN_REMOVE 0x2u
#define PETAL_CAN_HASHES 0x4u /* hashes in place of keys */
#define PETAL_CAN_MERGE 0x8u  /* petal_merge() into it */
#define PETAL_CAN_INTERSECT 0x10u
#define PETAL_CAN_COMPARE 0x20u
#define PETAL_CAN_CREATE_LIKE 0x40u /* petal_create_like() */
#define PETAL_CAN_ALLOW_THREADS 0x80u
#define PETAL_CAN_GROW 0x100u   /* gets further layers as keys come */
#define PETAL_CAN_WINDOW 0x200u /* forgets old keys; with window_ms: petal_set_clock() */
#define PETAL_CAN_MAP 0x400u    /* once saved as petal, it can be mapped for writing */
#define PETAL_CAN_SAVE 0x800u   /* in the petal format; others may refuse */
#define PETAL_CAN_STATS 0x1000u
#define PETAL_CAN_DROP_COUNTS 0x2000u
#define PETAL_CAN_EMPTY_KEY 0x4000u
#define PETAL_CAN_CLEAR 0x8000u

/* Why a filter has several layers of bits. */
enum {
    PETAL_POLICY_NONE = 0,        /* it has one (or grows by the rules of another library) */
    PETAL_POLICY_GROWING = 1,     /* it gets a larger one when the last is full */
    PETAL_POLICY_WINDOW_KEYS = 2, /* window: the keys of the last N calls of add */
    PETAL_POLICY_WINDOW_TIME = 3  /* window: the keys of the last N milliseconds */
};

#define PETAL_ALL_LAYERS UINT32_MAX

/* What is known of a filter, or of one of its layers, without looking at its bits. Unknown doubles
 * are NAN. petal_plan() leaves items, memory_bytes and the times at 0, and sets only the abilities
 * that need no bits. */
typedef struct petal_info {
    uint32_t struct_size;
    uint32_t abilities; /* PETAL_CAN_ */
    uint32_t scheme, hash;
    uint32_t hashes;        /* k; of several layers, that of the newest */
    uint32_t lines_per_key; /* blocked: 1 or 2; otherwise 0 */
    uint32_t layers;        /* bit arrays; 1 for one layer */
    uint32_t counter_bits;  /* counting: 4; otherwise 0 */
    uint64_t bits;          /* m, or the number of counters; summed over layers */
    uint64_t bytes;         /* of the bits, in whole 64-byte lines; summed over layers */
    uint64_t memory_bytes;  /* allocated, all included; maps and borrowed bits do not count */
    uint64_t capacity;      /* 0: not recorded */
    double target_rate;     /* as asked for; NAN: not recorded */
    double predicted_rate;  /* petal_predict_rate() at `capacity` keys; NAN without a capacity */
    /* Keys given to add, repeats included (growing: only those that were new), minus those
     * removed. Merging sums them. A hint. */
    uint64_t items;
    uint64_t seed;
    uint64_t metadata_bytes;
    uint32_t secret_id; /* tells secrets apart; 0 if not keyed */
    uint32_t key_type;
    uint32_t policy;      /* PETAL_POLICY_ */
    uint32_t growth_step; /* growing */
    double growth_ratio;  /* growing */
    uint64_t window_keys; /* windows; equal to capacity */
    uint64_t window_ms;   /* windows of time */
    uint64_t clock_ms;    /* windows of time: the latest petal_set_clock(); 0: none yet */
    uint32_t generations; /* windows: as planned; `layers` is how many there are now */
    uint8_t keyed;        /* 1: siphash with a secret */
    uint8_t live;         /* 1: opened with PETAL_OPEN_LIVE while a writer was at work */
    /* 1: a map or view of a petal file, whose blocks petal_verify() compares with their checksums.
     * 0: there is nothing to compare: a filter in memory (a load has compared them), a file of
     * another format, one that was dirty, or that another process is changing. */
    uint8_t verifiable;
    uint8_t verifies; /* 1: PETAL_OPEN_VERIFY_ON_USE is in force */
    /* One layer of a window of time: the times of its first and last keys, at the widest; 0 if no
     * time is known. */
    uint64_t from_ms, to_ms;
    /* Opened with PETAL_OPEN_RECOVER: blocks that differ from their last checksums, and how many
     * blocks there are. Otherwise 0. */
    uint64_t recovered_blocks, blocks;
    const char *scheme_name; /* "blocked", ...; static storage, as are all names */
    const char *hash_name;   /* "xxh3", ... */
    const char *format_name; /* it came in or was made for; "petal" for new native filters */
    const char *kernel_name; /* it runs: "avx512", "avx2", "sse4", "neon", "simd128", "generic" */
    /* Of a map: blocks that were not compared with their checksums yet, or found damaged. */
    uint64_t unchecked_blocks;
} petal_info;
#define PETAL_INFO_INIT PETAL_STRUCT_INIT(petal_info)

/* Fills in *info for the layer of this number (0 is the oldest, layers - 1 takes new keys), or for
 * the whole filter (PETAL_ALL_LAYERS). O(1) per layer. */
PETAL_API petal_status petal_get_info(const petal_filter *filter, uint32_t layer, petal_info *info,
                                      petal_error *error);

/* An estimate with its 95 % interval: over all seeds of the hash, 95 of 100 such intervals contain
 * the true value. */
typedef struct petal_estimate {
    double value, low, high;
} petal_estimate;

/* What the bits say. */
typedef struct petal_stats {
    uint32_t struct_size;
    uint8_t saturated; /* 1: every bit is set; estimated_items is infinite and estimated_rate 1 */
    uint8_t overfull;  /* 1: see petal_is_overfull() */
    uint8_t reserved[2];
    uint64_t bits_set;              /* counting: counters that are not zero */
    uint64_t saturated_counters;    /* counting: those that stick at 15 */
    double fill;                    /* bits_set / bits */
    petal_estimate estimated_items; /* distinct keys */
    /* Of an absent key, given these very bits. Several layers are taken as independent, which at
     * rates of 30 % is 1 % too low for filters that grow. Of other libraries' filters it is within
     * 6 %. NAN if it cannot be told (docs/formats/README.md, "Rates"). */
    double estimated_rate;
} petal_stats;
#define PETAL_STATS_INIT PETAL_STRUCT_INIT(petal_stats)

/* Fills in *stats for one layer or for all. Reads every bit once: with AVX2 about a second for 5 GB
 * in memory, 2 for Parquet's and 3 for counting filters. The rate of a blocked filter above 16 MiB
 * comes from a sample of 2^18 lines, which depends on all its bytes, and takes 0.15 s; that of
 * other libraries' filters of up to 4,096 bits takes up to 10 ms. */
PETAL_API petal_status petal_get_stats(const petal_filter *filter, uint32_t layer,
                                       petal_stats *stats, petal_error *error);

/* Equal for equal parameters and bits, whatever the order of adding. O(1) for files that were
 * opened and not changed since; otherwise it reads every bit. PETAL_ERR_BUSY for a live filter. */
PETAL_API petal_status petal_content_id(const petal_filter *filter, uint64_t *content_id,
                                        petal_error *error);

/* True if the filter certainly holds more distinct keys than its capacity, so that more than the
 * asked rate of absent keys pass: time for a larger one. Estimated from the bits, since `items`
 * counts repeats, and so the same in whatever order the keys came. The bits are counted at most
 * once per 1/32 of the capacity that `items` has grown or shrunk, and never while items <=
 * capacity; otherwise this is O(1). False for filters without a capacity and for those that grow.
 * Any number of threads may call it.
 *
 * It judges the number of keys, not the rate. In a filter without a secret, `capacity` keys that
 * somebody chose to share no bits set up to 1.4 times as many: the rate is then 1.4^k times the one
 * asked, and this stays false. estimated_rate shows it. */
PETAL_API bool petal_is_overfull(const petal_filter *filter);

/* The first failure of this filter's calls, with errno and offset: for callers that look at
 * statuses late, and for threads. Damage of a map's blocks comes before any other failure. PETAL_OK
 * and an empty message if there was none. O(1) and without a lock; any number of threads may call
 * it. */
PETAL_API petal_status petal_last_error(const petal_filter *filter, petal_error *error);

/* Metadata and its size, borrowed until the filter is freed or the metadata set again. NULL if
 * there is none. metadata_bytes may be NULL. */
PETAL_API const void *petal_metadata(const petal_filter *filter, uint64_t *metadata_bytes);

/* Replaces the metadata (copied). PETAL_ERR_UNSUPPORTED for writable maps, since its place in the
 * file is fixed; PETAL_ERR_READ_ONLY. */
PETAL_API petal_status petal_set_metadata(petal_filter *filter, const void *metadata,
                                          uint64_t metadata_bytes, petal_error *error);

/* ------------------------------------------------------------------------------- whole filters */

/* Removes every key. Parameters, capacity, metadata and clock stay. A filter that grows goes back
 * to its first layer, except in a map, where it keeps them all. */
PETAL_API petal_status petal_clear(petal_filter *filter, petal_error *error);

/* From now on any number of threads may add to the filter (petal_add*) and query it
 * (petal_contains*) at the same time: no bit is lost, and the bits are those of adding one after
 * the other. Of threads that add the same new key at the same time, one gets PETAL_OK. Everything
 * else (saving, merging, ...) still needs the adding to be over. An add takes one atomic operation
 * and may wait a moment for another thread's; queries are as fast as before. To fill a filter that
 * nobody queries meanwhile, a petal_builder is faster. PETAL_ERR_UNSUPPORTED for filters of several
 * layers, for those that count, for most foreign schemes, and in WebAssembly without threads;
 * PETAL_ERR_READ_ONLY. */
PETAL_API petal_status petal_allow_threads(petal_filter *filter, petal_error *error);

/* No more changes, for good: syncs a writable map first, and keeps its lock until petal_free().
 * Changes are PETAL_ERR_READ_ONLY from now on. If the sync fails, nothing is frozen. */
PETAL_API petal_status petal_freeze(petal_filter *filter, petal_error *error);

/* filter becomes the union: exactly the filter that had been given the keys of both. Items are
 * summed. Counters are added up: a key that is in both has to be removed as often as it was added
 * to either. PETAL_ERR_MISMATCH unless scheme, hash, seed or secret, bits, hashes and lines per key
 * agree. PETAL_ERR_UNSUPPORTED if one grows, is a window or has several layers, which hold the keys
 * of different times. A refusal changes nothing. PETAL_ERR_BUSY: `other` is the map of a file that
 * another process has just begun to change. Then nothing was changed (it was noticed before), or
 * `filter` has some keys of `other`, but not certainly all. */
PETAL_API petal_status petal_merge(petal_filter *filter, const petal_filter *other,
                                   petal_error *error);

/* Like petal_merge(), but filter keeps the bits that both have: every key of both stays in, and the
 * rate is at most the lower one's, though higher than that of a filter made of the common keys
 * alone. Items becomes the smaller of the two. Some bits of keys that only one filter had stay set,
 * so estimated_items is too high: to count the common keys, compare the two filters. Of counters
 * the lower one is kept: a key stays in as often as it is in both, and can be removed that often;
 * counts that two different keys happen to share stay, as false positives. */
PETAL_API petal_status petal_intersect(petal_filter *filter, const petal_filter *other,
                                       petal_error *error);

/* How two sets of keys overlap, as far as the bits of their filters tell. Numbers of distinct keys,
 * and shares from 0 to 1. */
typedef struct petal_comparison {
    uint32_t struct_size;
    /* 1: every bit of the union is set, so only bounds of the overlap are known; values are NAN. */
    uint8_t saturated;
    uint8_t reserved[3];
    petal_estimate items_a, items_b, union_items; /* infinite for a saturated filter */
    petal_estimate intersection;                  /* |A and B| = |A| + |B| - |A or B|, at least 0 */
    petal_estimate jaccard;                       /* |A and B| / |A or B|; NAN if both are empty */
    petal_estimate containment_a_in_b;            /* |A and B| / |A|; NAN if A is empty */
    petal_estimate containment_b_in_a;            /* |A and B| / |B|; NAN if B is empty */
} petal_comparison;
#define PETAL_COMPARISON_INIT PETAL_STRUCT_INIT(petal_comparison)

/* Estimates how the keys of two filters overlap, from their bits in one pass and without a copy;
 * how often a key was added to a counting filter makes no difference. The estimates are unbiased,
 * except that a negative overlap is reported as 0. The fuller the filters and the smaller the
 * overlap relative to the sets, the wider the intervals (docs/format.md, "Rates", derives them).
 * PETAL_ERR_MISMATCH like petal_merge(); PETAL_ERR_UNSUPPORTED for filters of several layers, whose
 * bits cannot be matched. */
PETAL_API petal_status petal_compare(const petal_filter *a, const petal_filter *b,
                                     petal_comparison *comparison, petal_error *error);

/* A counting filter without its counts: *dropped is a new filter in memory of
 * PETAL_SCHEME_CLASSIC, a quarter of the size, with the same m, k, hash, capacity, items and
 * metadata, whose set bits are the counters that are not zero. If no counter sticks it is, byte for
 * byte, the classic filter that was given just the keys that are in. PETAL_ERR_UNSUPPORTED for
 * other schemes. On failure *dropped is NULL. */
PETAL_API petal_status petal_drop_counts(const petal_filter *filter, petal_filter **dropped,
                                         petal_error *error);

/* Sharding: a set too big for one machine is `shards` filters (files, Redis keys), each with the
 * keys of one shard. The shard of a key is the same in every language and for every filter:
 * mulhi64(fmix64(fmix64(g)), shards) with g = XXH3_64bits(key, 0), from 0 to shards - 1
 * (docs/format.md, "Shards", says why). Shards are even: of n keys each has about n / shards,
 * within a few times its square root. 0 shards count as 1. Strangers who choose the keys can aim at
 * one shard; for keyed filters use petal_shard_of_hash(petal_hash_key(filter, ...)), whose g is the
 * secret hash. The hash must be a well-mixed one of 64 bits. */
PETAL_API uint32_t petal_shard_of(const void *key, size_t key_bytes, uint32_t shards);
PETAL_API uint32_t petal_shard_of_hash(uint64_t hash, uint32_t shards);

/* Sets the clock of a window of time: milliseconds since any epoch, by convention 1970. Generations
 * that are due are dropped; that happens here and nowhere else, so call this before adding and
 * querying. The filter keeps the latest time, in its file too: an earlier one changes nothing. Keys
 * added before the first call are dated to it. A step longer than the window costs no more than
 * clearing the filter. Other filters: PETAL_ERR_UNSUPPORTED. PETAL_ERR_ARGUMENT above 2^63 - 1;
 * PETAL_ERR_READ_ONLY. */
PETAL_API petal_status petal_set_clock(petal_filter *filter, uint64_t now_ms, petal_error *error);

/* Sets the time of queries alone: until the next call, petal_contains*() leave out the generations
 * that petal_set_clock(now_ms) would drop. Bits, clock, items and file stay as they are, so copies
 * that must be equal stay equal, and a filter that was opened for reading has a time, too. An
 * earlier time brings generations back that petal_set_clock() has not dropped; 0 brings back all of
 * them. O(1). Needs exclusive use. Other filters: PETAL_ERR_UNSUPPORTED. PETAL_ERR_ARGUMENT above
 * 2^63 - 1. */
PETAL_API petal_status petal_set_query_clock(petal_filter *filter, uint64_t now_ms,
                                             petal_error *error);

/* ------------------------------------------------------------------------- building big filters */

/* Several threads that fill one filter, without an atomic operation or a wait per key: each sorts
 * its keys by the region of the filter that their bits lie in, into buffers of its own, and a full
 * buffer goes into its region as one batch, by one thread at a time. The bits are those that
 * petal_add() sets, whatever the order. Which keys were new is not known.
 *
 *     petal_builder *builder;
 *     uint32_t workers = 8; // at most
 *     if (petal_builder_create(filter, &workers, &builder, &error) != PETAL_OK) ...
 *     // Start `workers` threads. Thread i, again and again:
 *     petal_builder_add(builder, i, &batch, NULL);
 *     // and at its end:
 *     petal_builder_flush(builder, i, NULL);
 *     // Join the threads, then:
 *     if (petal_builder_finish(builder, &error) != PETAL_OK) ...
 *
 * Makes no threads of its own. Until petal_builder_finish() nothing else may use the filter. */
typedef struct petal_builder petal_builder;

/* *workers: how many threads will add, at most; on return, how many of them are worth having (at
 * least 1): worker numbers are below that. It is 1 if regions would not be faster: for filters
 * below 4 MiB, those that count or grow, and some foreign schemes. The buffers come from the
 * filter's allocator: none for one worker, otherwise 1 to 4 MiB per worker, twice that with two
 * lines per key. If it has not got that, there are fewer workers.
 *   PETAL_ERR_ARGUMENT (no worker), PETAL_ERR_MEMORY, and those of petal_add() for a filter that
 *   cannot be written. A writable map is checked and marked as dirty here. On failure *builder is
 *   NULL, and *workers and the filter are as they were. */
PETAL_API petal_status petal_builder_create(petal_filter *filter, uint32_t *workers,
                                            petal_builder **builder, petal_error *error);

/* Adds keys as worker number `worker`, from 0. Each worker is for one thread at a time. The keys
 * are copied as far as needed. Fails like petal_add_batch(), or with PETAL_ERR_ARGUMENT if there is
 * no such worker. */
PETAL_API petal_status petal_builder_add(petal_builder *builder, uint32_t worker,
                                         const petal_batch *batch, petal_error *error);

/* Puts what this worker still has in its buffers into the filter. Optional: petal_builder_finish()
 * does it for all, in one thread. */
PETAL_API petal_status petal_builder_flush(petal_builder *builder, uint32_t worker,
                                           petal_error *error);

/* Ends building: every key that was handed over is in the filter and counted in its items, and the
 * builder is gone. The calls of all workers must have ended, in the sense of C11's "happens
 * before": join the threads. NULL is allowed. Returns the first failure there was in adding, or
 * PETAL_OK. To abandon a build, free the filter after this. */
PETAL_API petal_status petal_builder_finish(petal_builder *builder, petal_error *error);

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
    const char *keys;   /* how its library makes bytes of keys, in a few words */
} petal_format_info;
#define PETAL_FORMAT_INFO_INIT PETAL_STRUCT_INIT(petal_format_info)

/* The formats of this build, from 0: false after the last one. */
PETAL_API bool petal_format_at(uint32_t place, petal_format_info *info);

/* Which formats these bytes can be, judged by header and length alone: a hint, not a proof, since
 * most formats have no magic. Writes up to name_count names and returns how many fit; one that is
 * certain comes alone. */
PETAL_API uint32_t petal_recognize(const void *bytes, uint64_t size_bytes, const char **names,
                                   uint32_t name_count);

/* -------------------------------------------------------------------------- memory and streams */

/* The file image in memory, in this format (NULL: petal): its size (0 if the format cannot hold the
 * filter), and the bytes, exactly that many and the same that petal_save() writes.
 * PETAL_ERR_ARGUMENT if size_bytes is smaller. */
PETAL_API uint64_t petal_serialized_bytes(const petal_filter *filter, const char *format);
PETAL_API petal_status petal_serialize(const petal_filter *filter, const char *format, void *bytes,
                                       uint64_t size_bytes, petal_error *error);

/* Takes the next bytes of a stream. Not 0: stop. */
typedef int32_t (*petal_sink)(void *context, const void *bytes, size_t size_bytes);

/* Writes the image of the filter, which petal_serialize() and petal_save() write too, to `sink`, in
 * order and in pieces of up to 256 KiB. Holds about 20 KiB beside the filter, whatever its size
 * (redisbloom-dump, which compresses: as much as its largest layer). Bits that come from a map or
 * view are verified first. format NULL: petal.
 *   PETAL_ERR_IO           the sink stopped it; error->system_errno is what it returned
 *   PETAL_ERR_ARGUMENT     there is no such format
 *   PETAL_ERR_UNSUPPORTED  the format cannot hold this filter, or the filter lacks bits
 *   PETAL_ERR_DAMAGED, PETAL_ERR_BUSY (of a live filter), PETAL_ERR_MEMORY */
PETAL_API petal_status petal_write(const petal_filter *filter, const char *format, petal_sink sink,
                                   void *context, petal_error *error);

/* A filter from a file image: a private copy, verified. Safe on hostile bytes. Modes and flags as
 * for petal_open(), of which RECOVER applies. */
PETAL_API petal_status petal_load(const void *bytes, uint64_t size_bytes,
                                  const petal_open_options *options, petal_filter **filter,
                                  petal_error *error);

/* Like petal_load(), but read-only and without a copy: `bytes` must stay as they are until
 * petal_free(), which gives them to options->release. */
PETAL_API petal_status petal_view(const void *bytes, uint64_t size_bytes,
                                  const petal_open_options *options, petal_filter **filter,
                                  petal_error *error);

/* A filter from a stream that arrives in pieces of any size: the same filter, or the same failure,
 * as petal_load() of all bytes. expected_bytes: the size of the whole stream if it is
 * known, otherwise 0. The options are copied; max_bytes bounds the stream.
 *
 * The bits of petal files go straight into the filter's memory. All other formats, "auto" and
 * PETAL_OPEN_HEADER_ONLY are buffered until the end, and opened as by petal_load(): the filter's
 * own memory comes on top then. The buffer has at most twice what has come, and no more than
 * expected_bytes or memory_limit. A header takes no memory for what it promises but does not fit:
 * above the memory limit (by default, above 1 GiB or 64 times what has come), or not the expected
 * size.
 *
 * A failure is returned by the call that makes it certain: mostly petal_reader_feed(), but while
 * more bytes could give another one, petal_reader_finish(). With expected_bytes a stream that its
 * header rules out (memory limit, secret, dirty) fails immediately. After a failure only
 * petal_reader_free() is of use. */
typedef struct petal_reader petal_reader;
PETAL_API petal_status petal_reader_create(const petal_open_options *options,
                                           uint64_t expected_bytes, petal_reader **reader,
                                           petal_error *error);
PETAL_API petal_status petal_reader_feed(petal_reader *reader, const void *bytes, size_t size_bytes,
                                         petal_error *error);

/* The end of the stream: *filter, or the failure. The reader stays the caller's to free. */
PETAL_API petal_status petal_reader_finish(petal_reader *reader, petal_filter **filter,
                                           petal_error *error);
PETAL_API void petal_reader_free(petal_reader *reader);

/* --------------------------------------------------------------------------------- kept in step
 *
 * What turns one filter into another, as bytes (docs/format.md, "Patches"): for copies that are
 * kept in step with a filter as it changes. Bits that rose are coded by the gaps between them, with
 * a few percent above the entropy; 1 % more keys are about 3 % of the file. Bits that fell cost as
 * much, and a block of 64 KiB never more than itself. All that the file says comes along: items,
 * capacity, metadata, layers that grew, generations that came and went. A secret does not. */

/* Writes the patch that makes `to` of `from` to `sink`, in order and in pieces of up to 256 KiB.
 * Holds about 80 KiB, and reads both filters three times or so. Bits that come from a map or a view
 * are verified first.
 *   PETAL_ERR_MISMATCH     they differ in scheme, hash, seed or secret, in how they grow or forget,
 *                          or in the size of a layer: there is only the whole file to send
 *   PETAL_ERR_IO           the sink stopped it; error->system_errno is what it returned
 *   PETAL_ERR_UNSUPPORTED  a filter lacks bits
 *   PETAL_ERR_DAMAGED, PETAL_ERR_BUSY (of a live filter), PETAL_ERR_MEMORY, PETAL_ERR_LIMIT */
PETAL_API petal_status petal_diff(const petal_filter *from, const petal_filter *to, petal_sink sink,
                                  void *context, petal_error *error);

/* Turns the filter, which must have the content id that the patch is for, into the patch's result:
 * its image is then that of `to`, byte for byte. Safe on hostile bytes. The result is worked out
 * block by block and its content id compared before the first bit changes, so that after a failure
 * the filter is as it was; this takes 64 KiB, new layers and new metadata, but no copy. Needs
 * exclusive use, and no builder at work. memory_limit: bytes that new layers may take, more is
 * PETAL_ERR_LIMIT; 0: as the filter was opened, by default 1 GiB or 64 times what there is;
 * UINT64_MAX: no limit.
 *   PETAL_ERR_MISMATCH      the filter is not what the patch is for: another content id, or another
 *                           kind. Or the patch is in already
 *   PETAL_ERR_NOT_A_FILTER  this is no patch
 *   PETAL_ERR_TRUNCATED, PETAL_ERR_DAMAGED (error->offset is the place in the patch),
 *   PETAL_ERR_NEWER, PETAL_ERR_LIMIT, PETAL_ERR_MEMORY
 *   PETAL_ERR_UNSUPPORTED   a writable map: load it, and save it; or the filter lacks bits
 *   PETAL_ERR_READ_ONLY */
PETAL_API petal_status petal_apply_patch(petal_filter *filter, const void *patch,
                                         uint64_t patch_bytes, uint64_t memory_limit,
                                         petal_error *error);

/* ----------------------------------------------------------------------------------- for hosts
 *
 * Servers and bindings that keep the bytes of filters in places of their own. docs/hosts.md shows
 * what each of these calls is for. */

/* The bits of a layer: read-only, borrowed until the filter changes. NULL and 0 if it has none
 * (PETAL_OPEN_HEADER_ONLY). Layout: docs/format.md. Nothing is verified, by
 * PETAL_OPEN_VERIFY_ON_USE either: call petal_verify() first. PETAL_ERR_ARGUMENT: there is no such
 * layer. */
PETAL_API petal_status petal_bits(const petal_filter *filter, uint32_t layer, const void **bytes,
                                  uint64_t *size_bytes, petal_error *error);

/* Overwrites part of a layer's bits, of a filter in memory. For hosts that store the bits in chunks
 * of their own; a layer without bits gets zeroed ones first. Bits are not verified, except that
 * those which no key can set stay 0.
 * Once every layer has got its first chunk, the filter answers by the bits that have come so far:
 * don't query it before the last one.
 *   PETAL_ERR_ARGUMENT   there is no such layer, or it has fewer bytes
 *   PETAL_ERR_DAMAGED    bits that no key can set; nothing was written
 *   PETAL_ERR_READ_ONLY  the bits belong to a file or a view
 *   PETAL_ERR_LIMIT      the layers with bits would take more memory than the filter was opened
 *                        with; without a limit, more than 1 GiB
 *   PETAL_ERR_MEMORY */
PETAL_API petal_status petal_write_bits(petal_filter *filter, uint32_t layer, uint64_t offset,
                                        const void *bytes, uint64_t size_bytes, petal_error *error);

/* Gives a layer without bits this buffer, which becomes the filter's: size_bytes as petal_bits()
 * would say, from the allocator of the filter; aligned to 64 bytes it is fastest. On failure it
 * stays the caller's.
 *   PETAL_ERR_ARGUMENT   there is no such layer, it has bits, or it takes another size
 *   PETAL_ERR_DAMAGED    bits that no key can set are set
 *   PETAL_ERR_READ_ONLY  the bits belong to a file or a view */
PETAL_API petal_status petal_adopt_bits(petal_filter *filter, uint32_t layer, void *bytes,
                                        uint64_t size_bytes, petal_error *error);

/* Lets `move` move each block of memory of the filter, for hosts that defragment: it returns the
 * new address with the same contents, having released the old block, or NULL to leave it. Sizes are
 * those that the allocator was asked for. *filter is the new handle; needs exclusive use, and no
 * builder at work. Maps, views and open files stay where they are. */
typedef void *(*petal_mover)(void *context, void *memory, size_t size_bytes);
PETAL_API petal_status petal_relocate(petal_filter **filter, petal_mover move, void *context,
                                      petal_error *error);

/* What tells filters of the same parameters apart: of each layer its bits, in a block of the
 * allocator (NULL and 0: none), and its keys. */
typedef struct petal_layer_state {
    void *memory;
    uint64_t memory_bytes, items;
} petal_layer_state;

/* Exchanges that for what is in states, one per layer, for hosts that
 * keep the bits of a filter elsewhere meanwhile. Bits are not verified: hand in what was taken out
 * of a filter with the same parameters, or nothing. What comes out is the caller's, until it goes
 * in again. Takes time for each layer, and no memory. Needs exclusive use.
 *   PETAL_ERR_ARGUMENT     the filter has another number of layers
 *   PETAL_ERR_UNSUPPORTED  a window, whose layers differ in more
 *   PETAL_ERR_READ_ONLY    the bits belong to a file or a view, or are frozen
 *   PETAL_ERR_BUSY         several threads add (petal_allow_threads) */
PETAL_API petal_status petal_swap_layers(petal_filter *filter, petal_layer_state *states,
                                         uint32_t layer_count, petal_error *error);

/* A layer that a host keeps itself: what petal_get_info() says of it, and where its bits are. */
typedef struct petal_lent_layer {
    void *bytes;   /* as many as petal_bits() says; at 64 bytes fastest. NULL: none */
    uint64_t bits; /* and so on: see petal_info */
    uint32_t hashes, lines_per_key;
    uint64_t capacity; /* 0: not recorded */
    double rate;       /* NAN: not recorded */
    uint64_t items;
} petal_lent_layer;

/* Makes the handle one for these layers, in place of those that it has: its own are released, lent
 * ones forgotten. So a single handle serves many filters, one after the other, of the same scheme,
 * hash and seed or secret, whatever their sizes: for servers with millions of small ones, whose
 * handles would take more memory than their bits. `layers` is copied; the bits stay the host's, and
 * must stay where they are until other layers are lent or the handle is freed. The counts are the
 * host's, too: adding changes those of the handle alone, by the keys that were new. A handle that
 * would grow does not: PETAL_ERR_FULL, and the host lends it a layer more. Bits are not verified.
 * Takes time for each layer; allocates only for more layers than the handle ever had. Needs
 * exclusive use.
 *   PETAL_ERR_ARGUMENT     no layer, or one that no filter of this scheme has
 *   PETAL_ERR_LIMIT        more bits in a layer than petal takes
 *   PETAL_ERR_UNSUPPORTED  a window, whose layers differ in more
 *   PETAL_ERR_READ_ONLY    the bits belong to a file or a view, or are frozen
 *   PETAL_ERR_BUSY         several threads add (petal_allow_threads)
 *   PETAL_ERR_MEMORY       nothing has changed */
PETAL_API petal_status petal_lend(petal_filter *filter, const petal_lent_layer *layers,
                                  uint32_t layer_count, petal_error *error);

/* The byte ranges of the petal file that a query of this key reads, for files opened with
 * PETAL_OPEN_HEADER_ONLY; of others, as petal_save() would write them now. Writes up to `room`
 * ranges and returns how many there are in *count: per layer, one for each line of 64 bytes; so 1
 * or 2 of blocked, and up to k of classic and counting. PETAL_ERR_UNSUPPORTED for other schemes. */
typedef struct petal_range {
    uint64_t offset, size_bytes;
} petal_range;
PETAL_API petal_status petal_key_ranges(const petal_filter *filter, const void *key,
                                        size_t key_bytes, petal_range *ranges, uint32_t room,
                                        uint32_t *count, petal_error *error);

/* petal_contains() by the bytes of these ranges, one after the other. Nothing is verified except
 * their number: take them out of blocks that passed petal_verify_block(), or trust your storage.
 * *answer is written on PETAL_OK only. */
PETAL_API petal_status petal_contains_in_ranges(const petal_filter *filter, const void *key,
                                                size_t key_bytes, const void *bytes,
                                                uint64_t size_bytes, bool *answer,
                                                petal_error *error);

/* The block of bits that an offset of the file lies in, and its recorded checksum. The file is that
 * of petal_key_ranges(); a range of its lies in one block. *block gets up to 64 KiB, the whole
 * layer if that is smaller; *sum gets 8 bytes, which lie before all bits. Every filter has blocks,
 * whatever its scheme; neither bits nor a secret are needed. Takes no memory, and time for each
 * layer and for the metadata, at most 64 KiB. Any number of threads may call it.
 *   PETAL_ERR_ARGUMENT  the offset is not one of bits
 *   PETAL_ERR_LIMIT     no petal file holds so many layers */
PETAL_API petal_status petal_block_ranges(const petal_filter *filter, uint64_t offset,
                                          petal_range *block, petal_range *sum, petal_error *error);

/* Compares the bytes of the block that this offset lies in with the bytes of its checksum, both as
 * the file has them. Safe on hostile bytes. That detects accidents, not attackers. Costs one XXH3
 * of the block beyond petal_block_ranges().
 *   PETAL_ERR_DAMAGED   they do not match; error->offset is where the block begins in the file
 *   PETAL_ERR_ARGUMENT  the offset is not one of bits, or these are not as many bytes as
 *                       petal_block_ranges() says
 *   PETAL_ERR_LIMIT     as above */
PETAL_API petal_status petal_verify_block(const petal_filter *filter, uint64_t offset,
                                          const void *block, uint64_t block_bytes, const void *sum,
                                          uint64_t sum_bytes, petal_error *error);

#ifdef __cplusplus
}
#endif
#endif
