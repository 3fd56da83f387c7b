/* petal_host.h - for servers, bindings and tools: sharding by hash, and filters whose bits are in
 * storage that the host manages.
 *
 * docs/hosts.md shows what each call is for. Applications need only petal.h. */
#ifndef PETAL_HOST_H
#define PETAL_HOST_H

#include <petal/petal.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ----------------------------------------------------------------------------- shards of hashes */

/* Like petal_shard_of(), but for a hash instead of a key: g is the hash, which must be well mixed
 * and 64 bits long. With petal_hash_key() of a keyed filter, strangers who choose the keys can't
 * aim at a shard. */
PETAL_API uint32_t petal_shard_of_hash(uint64_t hash, uint32_t shards);

/* ------------------------------------------------------------------------ bits, layer by layer */

/* The bits of a layer: read-only, borrowed until the filter changes. NULL and 0 if the layer has
 * none (PETAL_OPEN_HEADER_ONLY). docs/format.md has the layout. Nothing is verified, even with
 * PETAL_OPEN_VERIFY_ON_USE: call petal_verify() first. PETAL_ERR_ARGUMENT: there is no such
 * layer. */
PETAL_API petal_status petal_bits(const petal_filter *filter, uint32_t layer, const void **bytes,
                                  uint64_t *size_bytes, petal_error *error);

/* Overwrites part of a layer's bits in a filter in memory: for hosts that store the bits in their
 * own chunks. A layer without bits gets zeroed ones first. The bits are not verified, but set bits
 * that no key can set are refused. Once every layer has received its first chunk, the filter
 * answers from the bits received so far: don't query it before the last chunk.
 *   PETAL_ERR_ARGUMENT        there is no such layer, or it has fewer bytes
 *   PETAL_ERR_DAMAGED         a bit that no key can set; nothing was written
 *   PETAL_ERR_READ_ONLY       the bits belong to a file or a view
 *   PETAL_ERR_LIMIT           the layers with bits would exceed the memory limit that the filter
 *                             was opened with, by default 1 GiB
 *   PETAL_ERR_SECRET_MISSING  the filter lacks its secret (PETAL_OPEN_NO_SECRET)
 *   PETAL_ERR_MEMORY
 * Cost: O(size_bytes). */
PETAL_NODISCARD PETAL_API petal_status petal_write_bits(petal_filter *filter, uint32_t layer,
                                                        uint64_t offset, const void *bytes,
                                                        uint64_t size_bytes, petal_error *error);

/* Gives this buffer to a layer without bits. The filter owns it from then on. It must come from the
 * filter's allocator and have exactly the size that petal_bits() reports later; it is fastest if
 * aligned to 64 bytes. On failure the caller still owns it.
 *   PETAL_ERR_ARGUMENT        no such layer, it already has bits, or the size is wrong
 *   PETAL_ERR_DAMAGED         a bit is set that no key can set
 *   PETAL_ERR_READ_ONLY       the bits belong to a file or a view
 *   PETAL_ERR_SECRET_MISSING  the filter lacks its secret (PETAL_OPEN_NO_SECRET) */
PETAL_NODISCARD PETAL_API petal_status petal_adopt_bits(petal_filter *filter, uint32_t layer,
                                                        void *bytes, uint64_t size_bytes,
                                                        petal_error *error);

/* Sets petal_info.items, for hosts that count in their own way.
 *   PETAL_ERR_UNSUPPORTED  the filter grows or is a window: it uses items to tell when its newest
 *                          layer is full
 *   PETAL_ERR_READ_ONLY    the bits belong to a file or a view, or the filter is frozen
 *   PETAL_ERR_BUSY         several threads may add (petal_allow_threads()) */
PETAL_API petal_status petal_set_items(petal_filter *filter, uint64_t items, petal_error *error);

/* A layer whose bits the host keeps: its parameters, as in petal_info, and the address of its bits.
 * Does not grow. */
typedef struct petal_lent_layer {
    void *bytes;   /* as many as petal_bits() reports, or NULL; aligned to 64 is fastest */
    uint64_t bits; /* this and the rest are as in petal_info */
    uint32_t hashes, lines_per_key;
    uint64_t capacity; /* 0 if not recorded */
    double rate;       /* NAN: not recorded */
    uint64_t items;
} petal_lent_layer;

/* Replaces the filter's layers with these. Releases the filter's own layers, and forgets layers
 * lent before. So one handle can serve many filters in turn, of any sizes, if they have the same
 * scheme, hash and seed or secret. This is for servers with millions of small filters, whose
 * handles would take more memory than their bits. `layers` is copied. The host still owns the bits,
 * and must keep them where they are until other layers are lent or the filter is freed. The host
 * also keeps the numbers of items: adding only changes the handle's, by the number of new keys. A
 * filter that would grow returns PETAL_ERR_FULL instead, and the host lends it one more layer. Bits
 * are not verified. Allocates only if there are more layers than the filter ever had. Needs
 * exclusive use.
 *   PETAL_ERR_ARGUMENT     there are no layers, or one is impossible in this scheme
 *   PETAL_ERR_LIMIT        a layer has more bits than petal allows; or more than 2^31 - 1 layers
 *   PETAL_ERR_UNSUPPORTED  the filter is a window
 *   PETAL_ERR_READ_ONLY    the bits belong to a file or a view, or the filter is frozen
 *   PETAL_ERR_BUSY         several threads may add (petal_allow_threads())
 *   PETAL_ERR_MEMORY       nothing changed
 * Cost: O(layers). */
PETAL_NODISCARD PETAL_API petal_status petal_lend(petal_filter *filter,
                                                  const petal_lent_layer *layers, uint64_t count,
                                                  petal_error *error);

/* Moves a block of memory and releases the old one. Returns the new address, or NULL if the block
 * stays where it is. */
typedef void *(*petal_mover)(void *context, void *memory, size_t size_bytes);

/* Lets `move` move each block of the filter's memory, for hosts that defragment. size_bytes is what
 * was requested from the allocator. *filter is the new handle. Needs exclusive use; no builder may
 * be active. Maps, views and open files are not moved. Returns PETAL_OK.
 * Cost: O(layers), and what `move` costs. */
PETAL_API petal_status petal_relocate(petal_filter **filter, petal_mover move, void *context,
                                      petal_error *error);

/* ------------------------------------------------------------------------- the time of queries */

/* Sets the clock of queries only: until the next call, petal_contains*() ignore the generations
 * that petal_set_clock(now_ms) would drop. Bits, clock, items and file do not change, so replicas
 * stay equal, and a filter that was opened for reading can follow the time. An earlier time brings
 * back generations that petal_set_clock() has not dropped; 0 brings back all of them. Needs
 * exclusive use.
 *   PETAL_ERR_UNSUPPORTED  the filter has no window of time
 *   PETAL_ERR_ARGUMENT     above 2^63 - 1
 * Cost: O(generations). */
PETAL_API petal_status petal_set_query_clock(petal_filter *filter, uint64_t now_ms,
                                             petal_error *error);

/* ------------------------------------------------------------- queries by byte ranges of a file */

/* Part of a file. Does not grow. */
typedef struct petal_range {
    uint64_t offset, size_bytes;
} petal_range;

/* Finds the byte ranges of the petal file that a query for this key reads. If the filter was opened
 * with PETAL_OPEN_HEADER_ONLY, that is its file; otherwise, it is the file that petal_save() would
 * write. Writes up to `room` ranges, and sets *count to how many there are: per layer 1 or 2 for
 * blocked, up to k for classic and counting, and 2 for static. The size of a range depends on the
 * scheme: for static one is a byte and the other at most 496 bytes, for the others it is a 64-byte
 * line. If a layer of a static filter is a list of hashes, the ranges are its blocks.
 *   PETAL_ERR_UNSUPPORTED     foreign schemes
 *   PETAL_ERR_SECRET_MISSING  the filter lacks its secret (PETAL_OPEN_NO_SECRET)
 *   PETAL_ERR_LIMIT           no petal file can hold that many layers
 * Cost: O(ranges + layers). */
PETAL_API petal_status petal_key_ranges(const petal_filter *filter, const void *key,
                                        size_t key_bytes, petal_range *ranges, uint64_t room,
                                        uint64_t *count, petal_error *error);

/* Like petal_contains(), but answers from the bytes of these ranges, one after the other. Only the
 * number of bytes is verified: take them from blocks that passed petal_verify_block(), or trust
 * your storage. The bytes of the first layers may be enough: in a static filter, 95 % of the keys
 * need only those of the first layer. *answer is written only with PETAL_OK. Otherwise it fails
 * like petal_key_ranges(), and costs the same.
 *   PETAL_ERR_TRUNCATED  not enough bytes; error->offset is the number required, including the
 *                        bytes of the next layer
 *   PETAL_ERR_ARGUMENT   more bytes than the ranges have */
PETAL_NODISCARD PETAL_API petal_status petal_contains_in_ranges(const petal_filter *filter,
                                                                const void *key, size_t key_bytes,
                                                                const void *bytes,
                                                                uint64_t size_bytes, bool *answer,
                                                                petal_error *error);

/* Finds the block of bits that contains this offset of that file, and its recorded checksum. A
 * range of petal_key_ranges() never crosses a block. *block is at most 64 KiB (the whole layer if
 * that is smaller). *sum is 8 bytes; in the file, all checksums come before the bits. Works for
 * every scheme, even if the filter's bits are not loaded or its secret is missing. Takes no memory.
 * Any number of threads may call it.
 *   PETAL_ERR_ARGUMENT  no bits are at this offset
 *   PETAL_ERR_LIMIT     no petal file can hold that many layers
 * Cost: O(layers + metadata). */
PETAL_API petal_status petal_block_ranges(const petal_filter *filter, uint64_t offset,
                                          petal_range *block, petal_range *sum, petal_error *error);

/* Compares the bytes of the block at this offset with the bytes of its checksum, both as the file
 * has them. Safe on hostile bytes. Detects accidents, not attackers.
 *   PETAL_ERR_DAMAGED   they don't match; error->offset is where the block starts in the file
 *   PETAL_ERR_ARGUMENT  no bits are at this offset, or a size is not that of petal_block_ranges()
 *   PETAL_ERR_LIMIT     no petal file can hold that many layers
 * Cost: petal_block_ranges(), and one XXH3 of the block. */
PETAL_NODISCARD PETAL_API petal_status petal_verify_block(const petal_filter *filter,
                                                          uint64_t offset, const void *block,
                                                          uint64_t block_bytes, const void *sum,
                                                          uint64_t sum_bytes, petal_error *error);

/* ----------------------------------------------------------------------------- arriving streams
 *
 * A reader makes a filter from a stream that arrives in pieces of any size. The result is the same
 * filter, or the same failure, as from petal_load() with all of the bytes.
 *
 * The bits of a petal file go straight into the filter's memory. All other formats, "auto" and
 * PETAL_OPEN_HEADER_ONLY are buffered to the end and then loaded, so the filter's own memory adds
 * to the buffer. The buffer takes at most twice the bytes received, and no more than expected_bytes
 * or memory_limit. A hostile header cannot make the reader allocate much memory: if the
 * filter exceeds the memory limit (by default 1 GiB or 64 times the bytes received) or does not
 * match the expected size, nothing is allocated for it. */
typedef struct petal_reader petal_reader;

/* Creates a reader. expected_bytes is the size of the whole stream, or 0 if unknown. The options
 * are copied; max_bytes limits the stream. On failure *reader is NULL.
 *   PETAL_ERR_ARGUMENT  unknown or contradicting flags, no such format
 *   PETAL_ERR_LIMIT     expected_bytes exceeds max_bytes
 *   PETAL_ERR_MEMORY */
PETAL_NODISCARD PETAL_API petal_status petal_reader_create(const petal_open_options *options,
                                                           uint64_t expected_bytes,
                                                           petal_reader **reader,
                                                           petal_error *error);

/* Passes the next bytes to the reader. Fails as soon as a failure of petal_load() (see the table at
 * petal_open()) is certain. If more bytes could still lead to another failure,
 * petal_reader_finish() reports it. With expected_bytes, a stream whose header is unacceptable
 * (memory limit, secret, dirty) fails once the header is complete. After a failure, call only
 * petal_reader_free().
 * Cost: O(size_bytes). */
PETAL_NODISCARD PETAL_API petal_status petal_reader_feed(petal_reader *reader, const void *bytes,
                                                         size_t size_bytes, petal_error *error);

/* Ends the stream and returns the filter in *filter. Fails like petal_load(); *filter is then NULL.
 * The caller must still free the reader.
 * Cost: constant for petal files; petal_load() for buffered formats. */
PETAL_NODISCARD PETAL_API petal_status petal_reader_finish(petal_reader *reader,
                                                           petal_filter **filter,
                                                           petal_error *error);

/* Releases the reader; NULL is allowed. */
PETAL_API void petal_reader_free(petal_reader *reader);

#ifdef __cplusplus
}
#endif
#endif
