/* petal_index.h - an index of many filters, all queried by one call.
 *
 * Which of 1,000 log files might contain this key? Querying 1,000 filters takes 1,000 reads in
 * different parts of memory. An index stores the same bits in a different order: row i consists of
 * bit i of every filter of one size. So a query reads k rows, which are close together, and
 * combines them:
 *
 *              filter 0 1 2 3 ...
 *     row 17          1 0 1 1        a key whose bits are 17, 40 and 401:
 *     row 40          1 0 0 1        17 AND 40 AND 401 = 1 0 0 1,
 *     row 401         1 1 0 1        so filters 0 and 3 might have it
 *
 * You build an index from filters or keys, save it to one file (extension .petals; see
 * docs/index-format.md), and open the file as a map, shared between processes. It gives the same
 * answers as its filters, false positives included. A saved file never changes; to replace it, save
 * a new index in its place.
 *
 *     petal_index_create(NULL, &index, &error);
 *     petal_index_add(index, "2024-01.log", january, &error);   // a filter: copied
 *     petal_index_add(index, "2024-02.log", february, &error);
 *     petal_index_save(index, "logs.petals", NULL, &error);
 *     ...
 *     petal_index_open("logs.petals", NULL, &index, &error);
 *     petal_index_query(index, &batch, rows, row_words, &error);
 *
 * An index accepts blocked and classic filters with one layer. Filters with the same scheme, size,
 * number of hashes, hash function and seed or secret form a group, and a query reads k rows per
 * group. So give all filters the same capacity and rate, or let the index choose their sizes by
 * passing it the keys (petal_index_add_keys()).
 *
 * An index holds up to PETAL_INDEX_MAX_FILTERS filters, with names of up to
 * PETAL_INDEX_MAX_NAME_BYTES bytes.
 *
 * The conventions are the same as in petal.h. Any number of threads may use one index in calls that
 * take a `const petal_index`, if no thread changes it. */
#ifndef PETAL_INDEX_H
#define PETAL_INDEX_H

#include <petal/petal_build.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PETAL_INDEX_MAX_FILTERS 16777216u
#define PETAL_INDEX_MAX_NAME_BYTES 65535u

typedef struct petal_index petal_index;

typedef struct petal_index_options {
    uint32_t struct_size;
    uint32_t scheme; /* scheme of filters made from keys: blocked (also 0) or classic */
    /* 1 folds each added filter (petal_fold()) to the smallest size class that keeps the filter's
     * rate. Filters that were created as foldable with the same rate then share sizes. */
    uint8_t fold;
    uint8_t reserved[7];              /* 0 */
    const petal_allocator *allocator; /* copied; NULL means the system's */
    /* The index file that petal_index_save() will replace. It is locked until the index is freed.
     * So if you add its current contents (petal_index_add_index()), nobody can add filters that
     * your save would then discard. If the path is NULL, the file is locked only while it is being
     * replaced. */
    const char *locked_path;
} petal_index_options;
#define PETAL_INDEX_OPTIONS_INIT PETAL_STRUCT_INIT(petal_index_options)

/* Creates an empty index in memory, to which filters can be added. `options` may be NULL. On
 * failure *index is NULL.
 *   PETAL_ERR_ARGUMENT  the scheme is neither blocked nor classic, or the struct is not initialized
 *   PETAL_ERR_BUSY      another process is changing or replacing locked_path
 *   PETAL_ERR_MEMORY, PETAL_ERR_IO, PETAL_ERR_UNSUPPORTED (see petal_open()) */
PETAL_NODISCARD PETAL_API petal_status petal_index_create(const petal_index_options *options,
                                                          petal_index **index, petal_error *error);

/* Releases the index; NULL is allowed. */
PETAL_API void petal_index_free(petal_index *index);

/* Adds a copy of a filter under a name not yet used in the index. The name may contain any bytes
 * except NUL. Filters keep the order in which they were added. If the call fails, the index is
 * unchanged.
 *   PETAL_ERR_ARGUMENT     the name is empty or too long
 *   PETAL_ERR_EXISTS       a filter in the index already has this name
 *   PETAL_ERR_UNSUPPORTED  the filter counts, is static, has several layers, has another library's
 *                          scheme, or has no bits
 *   PETAL_ERR_MISMATCH     the filter's key type differs from the index's, or both are keyed with
 *                          different secrets
 *   PETAL_ERR_READ_ONLY    the index was opened from a file or a view
 *   PETAL_ERR_LIMIT        the index already holds PETAL_INDEX_MAX_FILTERS filters
 *   PETAL_ERR_MEMORY, PETAL_ERR_BUSY, PETAL_ERR_DAMAGED (see petal_clone())
 * Cost: the same as petal_clone() or petal_fold(). */
PETAL_NODISCARD PETAL_API petal_status petal_index_add(petal_index *index, const char *name,
                                                       const petal_filter *filter,
                                                       petal_error *error);

/* Adds the keys that a builder has collected (petal_static_create(), petal_static_add()) as a new
 * filter with the rate in the builder's options. Its size is the size that petal_plan() computes
 * for that many distinct keys, rounded up to four significant bits, so that sets of similar size
 * have filters of the same size. Rounding makes a filter at most an eighth larger, and a twentieth
 * on average. Releases the builder, even if the call fails. The calls of all workers must have
 * finished. Fails like petal_index_add() and petal_create(), and with PETAL_ERR_UNSUPPORTED if the
 * builder has written keys to a temporary file.
 * Cost: sorts the keys, which takes 16 bytes of memory per added key. */
PETAL_NODISCARD PETAL_API petal_status petal_index_add_keys(petal_index *index, const char *name,
                                                            petal_static_builder *builder,
                                                            petal_error *error);

/* Adds all filters of `other` under their existing names, except those named in `without`.
 * `without` contains without_count names, and may be NULL. Use this call to add filters to a saved
 * index, or to drop some from it. If the call fails, some filters may have been added.
 *   PETAL_ERR_ARGUMENT  a name in `without` is not in `other`
 * and the failures of petal_index_add().
 * Cost: reads all bits of `other` and writes them. */
PETAL_NODISCARD PETAL_API petal_status petal_index_add_index(petal_index *index,
                                                             const petal_index *other,
                                                             const char *const *without,
                                                             uint64_t without_count,
                                                             petal_error *error);

/* Saves the index to a file, and replaces an existing file atomically, like petal_save() and with
 * the same flags. options->format must be NULL. With locked_path, the lock moves to the new file,
 * so only one thread at a time may save. The same filters and names in the same order result in the
 * same bytes.
 *   PETAL_ERR_ARGUMENT  the index has no filters
 * and the failures of petal_save().
 * Cost: reads all bits twice and writes the file. Memory: 64 rows of the widest group. */
PETAL_NODISCARD PETAL_API petal_status petal_index_save(const petal_index *index, const char *path,
                                                        const petal_save_options *options,
                                                        petal_error *error);

/* Maps an index file for reading. The call uses the options secret, max_bytes, allocator and
 * memory_limit, and the flags VERIFY and VERIFY_ON_USE (see petal_open()). It rejects other flags.
 * As with petal_open(), the file must not be truncated while it is mapped. If petal_index_save()
 * replaces the file, existing maps still show the old one.
 *   PETAL_ERR_ARGUMENT        the options contain another flag, or a format
 *   PETAL_ERR_NOT_A_FILTER    the file is not an index
 *   PETAL_ERR_NEWER, PETAL_ERR_TRUNCATED, PETAL_ERR_DAMAGED, PETAL_ERR_LIMIT, PETAL_ERR_MEMORY
 *   PETAL_ERR_SECRET_MISSING, PETAL_ERR_SECRET_WRONG
 *   PETAL_ERR_UNSUPPORTED, PETAL_ERR_IO
 * Cost: O(filters), plus reading 8 bytes per 64 KiB of bits; VERIFY reads all bits. Memory: 12
 * bytes per filter, about 500 bytes per group, and with VERIFY_ON_USE one byte per 64 KiB of
 * bits. */
PETAL_NODISCARD PETAL_API petal_status petal_index_open(const char *path,
                                                        const petal_open_options *options,
                                                        petal_index **index, petal_error *error);

/* Like petal_index_open(), but takes a file in memory, which must not change until
 * petal_index_free(). Safe to call with hostile bytes. */
PETAL_NODISCARD PETAL_API petal_status petal_index_view(const void *bytes, uint64_t size_bytes,
                                                        const petal_open_options *options,
                                                        petal_index **index, petal_error *error);

typedef struct petal_index_info {
    uint32_t struct_size;
    uint32_t groups;       /* number of groups of equal size and hash; a query reads every group */
    uint64_t filters;      /* number of filters */
    uint64_t row_words;    /* 64-bit words in a query's row: filters / 64, rounded up */
    uint64_t bytes;        /* size of the file, saved or to be saved */
    uint64_t bits_bytes;   /* number of these bytes that are rows */
    uint64_t filter_bytes; /* size of the filters' bits outside an index */
    uint64_t memory_bytes; /* allocated memory, without maps */
    uint32_t key_type;     /* PETAL_KEY_TYPE_ of all filters */
    uint32_t secret_id;    /* identifies the secret; 0 if none of the filters is keyed */
    uint8_t opened;        /* 1 if opened from a file or a view, and so read-only */
    uint8_t reserved[7];
} petal_index_info;
#define PETAL_INDEX_INFO_INIT PETAL_STRUCT_INIT(petal_index_info)

/* Fills in *info. PETAL_ERR_ARGUMENT: the struct is not initialized.
 * Cost: O(filters) for an index that is still being built. */
PETAL_API petal_status petal_index_get_info(const petal_index *index, petal_index_info *info,
                                            petal_error *error);

/* Returns the name of filter `number`, counted from 0 in the order in which filters were added. The
 * name is borrowed until the index is freed or changed. Returns NULL if there is no such filter. */
PETAL_API const char *petal_index_name(const petal_index *index, uint64_t number);

/* Fills in *info for filter `number`, as petal_get_info() does; memory_bytes is 0.
 *   PETAL_ERR_ARGUMENT  there is no such filter, or the struct is not initialized
 *   PETAL_ERR_MEMORY */
PETAL_API petal_status petal_index_get_filter_info(const petal_index *index, uint64_t number,
                                                   petal_info *info, petal_error *error);

/* Queries all filters for each key in a batch. Row i starts at rows + i * row_words and consists of
 * row_words 64-bit words: bit f % 64 of word f / 64 is 1 if filter f probably contains key i, and 0
 * if it certainly does not. row_words must be at least petal_index_info.row_words. The other bits
 * of a row are 0.
 *   PETAL_ERR_ARGUMENT  the batch is malformed (see petal_add_batch()), or row_words is too small.
 *                       No row is written.
 *   PETAL_ERR_MISMATCH  the batch contains hashes, but the filters differ in hash or seed
 *   PETAL_ERR_DAMAGED   VERIFY_ON_USE: a key needs a row in a damaged block. error->offset is the
 *                       index of the key; the rows of the keys before it are written.
 * The call allocates nothing. Only an opened index answers quickly: an index that is still being
 * built queries its filters one after the other.
 * Cost: reads k rows per key and group, and writes one row per key. */
PETAL_API petal_status petal_index_query(const petal_index *index, const petal_batch *batch,
                                         uint64_t *rows, uint64_t row_words, petal_error *error);

/* Compares every block of an opened index with its checksum.
 *   PETAL_UNCHECKED    the index is still being built, so there is nothing to compare
 *   PETAL_ERR_DAMAGED  error->offset is the first damaged block's offset in the file
 * Cost: reads all bits. */
PETAL_NODISCARD PETAL_API petal_status petal_index_verify(const petal_index *index,
                                                          petal_error *error);

#ifdef __cplusplus
}
#endif
#endif
