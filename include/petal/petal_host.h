/* petal_host.h - calls for servers, bindings and tools: sharding by hash, and filters whose bits
 * are in storage that the host manages.
 *
 * docs/hosts.md explains what each call is for. Ordinary applications need only petal.h. */
#ifndef PETAL_HOST_H
#define PETAL_HOST_H

#include <petal/petal.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ----------------------------------------------------------------------------- shards of hashes */

/* Like petal_shard_of(), but takes a well-mixed 64-bit hash, which serves as g, instead of a key.
 * If you pass the petal_hash_key() of a keyed filter, strangers who choose the keys can't aim at a
 * shard. */
PETAL_API uint32_t petal_shard_of_hash(uint64_t hash, uint32_t shards);

/* ------------------------------------------------------------------------ bits, layer by layer */

/* The bits of a layer: read-only, borrowed until the filter changes. They are NULL and 0 if the
 * layer has none (PETAL_OPEN_HEADER_ONLY). docs/format.md has the layout. Nothing is verified, even
 * with PETAL_OPEN_VERIFY_ON_USE: call petal_verify() first. PETAL_ERR_ARGUMENT: there is no such
 * layer. */
PETAL_API petal_status petal_bits(const petal_filter *filter, uint32_t layer, const void **bytes,
                                  uint64_t *size_bytes, petal_error *error);

/* Overwrites part of a layer's bits in an in-memory filter, for hosts that store the bits in their
 * own chunks. If the layer has no bits yet, the call allocates zeroed ones first. It doesn't verify
 * the new bits, but rejects set bits that no key can set. Once every layer has received its first
 * chunk, the filter answers from the bits received so far, so don't query it before the last chunk.
 *   PETAL_ERR_ARGUMENT        there is no such layer, or the bytes exceed its size
 *   PETAL_ERR_DAMAGED         no key can set one of the bits; nothing was written
 *   PETAL_ERR_READ_ONLY       the bits belong to a file or a view
 *   PETAL_ERR_LIMIT           the layers with bits would exceed the memory limit that the filter
 *                             was opened with, by default 1 GiB
 *   PETAL_ERR_SECRET_MISSING  the filter lacks its secret (PETAL_OPEN_NO_SECRET)
 *   PETAL_ERR_MEMORY
 * Cost: O(size_bytes). */
PETAL_NODISCARD PETAL_API petal_status petal_write_bits(petal_filter *filter, uint32_t layer,
                                                        uint64_t offset, const void *bytes,
                                                        uint64_t size_bytes, petal_error *error);

/* Uses this buffer as the bits of a layer without bits. The filter then owns the buffer. The buffer
 * must come from the filter's allocator, and its size must be exactly the size that petal_bits()
 * reports afterwards. Alignment to 64 bytes is fastest. If the call fails, the caller still owns
 * the buffer.
 *   PETAL_ERR_ARGUMENT        there is no such layer, it already has bits, or the size is wrong
 *   PETAL_ERR_DAMAGED         a bit is set that no key can set
 *   PETAL_ERR_READ_ONLY       the bits belong to a file or a view
 *   PETAL_ERR_SECRET_MISSING  the filter lacks its secret (PETAL_OPEN_NO_SECRET) */
PETAL_NODISCARD PETAL_API petal_status petal_adopt_bits(petal_filter *filter, uint32_t layer,
                                                        void *bytes, uint64_t size_bytes,
                                                        petal_error *error);

/* Sets petal_info.items, for hosts that count in their own way.
 *   PETAL_ERR_UNSUPPORTED  the filter grows or is a window, so its items show when its newest layer
 *                          is full
 *   PETAL_ERR_READ_ONLY    the bits belong to a file or a view, or the filter is frozen
 *   PETAL_ERR_BUSY         several threads may add (petal_allow_threads()) */
PETAL_API petal_status petal_set_items(petal_filter *filter, uint64_t items, petal_error *error);

/* A layer whose bits the host owns: its parameters, as in petal_info, and the address of its bits.
 * This struct never grows. */
typedef struct petal_lent_layer {
    void *bytes;   /* NULL, or the size that petal_bits() reports; fastest if 64-byte aligned */
    uint64_t bits; /* this and the following fields are as in petal_info */
    uint32_t hashes, lines_per_key;
    uint64_t capacity; /* 0 if not recorded */
    double rate;       /* NAN if not recorded */
    uint64_t items;
} petal_lent_layer;

/* Replaces the filter's layers with `layers`. The call releases the filter's own layers, and
 * forgets layers that were lent before. So one handle can serve many filters of any size in turn,
 * if they have the same scheme, hash and seed or secret. Use this in servers with millions of small
 * filters, if handles would take more memory than the filters' bits. `layers` is copied. The host
 * still owns the bits, and must not move them until other layers are lent or the filter is freed.
 * The host must also keep the numbers of items itself: adding increases only the number in the
 * handle, by the number of new keys. If the filter would have to grow, adding fails with
 * PETAL_ERR_FULL, and the host can lend the filter one more layer. Bits are not verified. The call
 * requires exclusive use of the filter. The handle keeps room for earlier layers, so the call
 * rarely allocates memory: only if there are more layers than fit, or if there is room for more
 * than 64 layers and the call needs at most about a tenth of it.
 *   PETAL_ERR_ARGUMENT     there are no layers, or one is impossible in this scheme
 *   PETAL_ERR_LIMIT        a layer has more bits than petal allows, or there are more than 2^31 - 1
 *                          layers
 *   PETAL_ERR_UNSUPPORTED  the filter is a window
 *   PETAL_ERR_READ_ONLY    the bits belong to a file or a view, or the filter is frozen
 *   PETAL_ERR_BUSY         several threads may add (petal_allow_threads())
 *   PETAL_ERR_MEMORY       nothing changed
 * Cost: O(layers). */
PETAL_NODISCARD PETAL_API petal_status petal_lend(petal_filter *filter,
                                                  const petal_lent_layer *layers, uint64_t count,
                                                  petal_error *error);

/* Moves a block of memory and releases the old one. Returns the new address, or NULL if the block
 * was not moved. */
typedef void *(*petal_mover)(void *context, void *memory, size_t size_bytes);

/* Calls `move` for each block of the filter's memory, for hosts that defragment memory. `move`
 * receives the size that was requested from the allocator. Afterwards, *filter is the new handle.
 * The call requires exclusive use of the filter, and no builder may be active. Maps, views and open
 * files are not moved. Returns PETAL_OK.
 * Cost: O(layers), plus the cost of `move`. */
PETAL_API petal_status petal_relocate(petal_filter **filter, petal_mover move, void *context,
                                      petal_error *error);

/* ------------------------------------------------------------------------- the time of queries */

/* Sets the clock for queries only: until the next call, petal_contains*() ignore the generations
 * that petal_set_clock(now_ms) would drop. The filter's bits, clock, items and file do not change,
 * so replicas stay identical, and a filter that was opened for reading can follow the clock. An
 * earlier time brings back generations that petal_set_clock() has not dropped; 0 brings back all
 * such generations. The call requires exclusive use of the filter.
 *   PETAL_ERR_UNSUPPORTED  the filter has no window of time
 *   PETAL_ERR_ARGUMENT     now_ms is above 2^63 - 1
 * Cost: O(generations). */
PETAL_API petal_status petal_set_query_clock(petal_filter *filter, uint64_t now_ms,
                                             petal_error *error);

/* ------------------------------------------------------------- queries by byte ranges of a file */

/* A byte range of a file. This struct never grows. */
typedef struct petal_range {
    uint64_t offset, size_bytes;
} petal_range;

/* Finds the byte ranges of the petal file that a query for this key reads. If the filter was opened
 * with PETAL_OPEN_HEADER_ONLY, "the petal file" is the file that it was opened from; otherwise, it
 * is the file that petal_save() would write. Writes up to `room` ranges, and sets *count to their
 * total number: per layer 1 or 2 for blocked, up to k for classic and counting, and 2 for static.
 * The size of a range depends on the scheme: for static, one range is a byte and the other at most
 * 496 bytes; for the other schemes, a range is a 64-byte line. If a layer of a static filter is a
 * list of hashes, the ranges are the blocks of that list.
 *   PETAL_ERR_UNSUPPORTED     the scheme is foreign
 *   PETAL_ERR_SECRET_MISSING  the filter lacks its secret (PETAL_OPEN_NO_SECRET)
 *   PETAL_ERR_LIMIT           no petal file can hold that many layers
 * Cost: O(ranges + layers). */
PETAL_API petal_status petal_key_ranges(const petal_filter *filter, const void *key,
                                        size_t key_bytes, petal_range *ranges, uint64_t room,
                                        uint64_t *count, petal_error *error);

/* Like petal_contains(), but answers from the bytes of the ranges that petal_key_ranges() found,
 * one range after the other. Only the number of bytes is verified, so take the bytes from blocks
 * that passed petal_verify_block(), or from storage that you trust. The bytes of the first layers
 * may be enough: in a static filter, 95 % of the keys need only the first layer's bytes. *answer is
 * written only if the call returns PETAL_OK. Otherwise, the failures and the cost are the same as
 * for petal_key_ranges().
 *   PETAL_ERR_TRUNCATED  there are too few bytes; error->offset is the number required, including
 *                        the next layer's
 *   PETAL_ERR_ARGUMENT   there are more bytes than in the ranges */
PETAL_NODISCARD PETAL_API petal_status petal_contains_in_ranges(const petal_filter *filter,
                                                                const void *key, size_t key_bytes,
                                                                const void *bytes,
                                                                uint64_t size_bytes, bool *answer,
                                                                petal_error *error);

/* Finds the block of bits at this offset of the same file (see petal_key_ranges()), and the block's
 * recorded checksum. A range from petal_key_ranges() never crosses a block boundary. *block is at
 * most 64 KiB long (the whole layer if that is smaller). *sum is 8 bytes long; in the file, all
 * checksums precede the bits. The call works for every scheme, even if the filter's bits are not
 * loaded or its secret is missing. It allocates nothing. Any number of threads may call it.
 *   PETAL_ERR_ARGUMENT  no bits are at this offset
 *   PETAL_ERR_LIMIT     no petal file can hold that many layers
 * Cost: O(layers + metadata). */
PETAL_API petal_status petal_block_ranges(const petal_filter *filter, uint64_t offset,
                                          petal_range *block, petal_range *sum, petal_error *error);

/* Compares the bytes of the block at this offset with the bytes of its checksum, both as read from
 * the file. Safe to call with hostile bytes. The checksum detects accidental damage, but not
 * deliberate changes.
 *   PETAL_ERR_DAMAGED   the checksum does not match; error->offset is the block's offset in the
 *                       file
 *   PETAL_ERR_ARGUMENT  no bits are at this offset, or a size differs from petal_block_ranges()
 *   PETAL_ERR_LIMIT     no petal file can hold that many layers
 * Cost: the same as petal_block_ranges(), plus one XXH3 of the block. */
PETAL_NODISCARD PETAL_API petal_status petal_verify_block(const petal_filter *filter,
                                                          uint64_t offset, const void *block,
                                                          uint64_t block_bytes, const void *sum,
                                                          uint64_t sum_bytes, petal_error *error);

/* ----------------------------------------------------------------------------- arriving streams
 *
 * A reader makes a filter from a stream that arrives in pieces of any size. The result is the same
 * filter, or the same failure, as from petal_load() with all of the bytes.
 *
 * The bits of a petal file are copied straight into the filter's memory. All other formats, "auto"
 * and PETAL_OPEN_HEADER_ONLY are buffered to the end and then loaded, so the buffer and the filter
 * take memory at the same time. The buffer takes at most twice the number of bytes received, and no
 * more than expected_bytes or memory_limit. A hostile header cannot make the reader allocate
 * excessive memory: if the filter exceeds the memory limit (by default 1 GiB or 64 times the bytes
 * received) or does not match the expected size, no memory is allocated for it. */
typedef struct petal_reader petal_reader;

/* Creates a reader. expected_bytes is the size of the whole stream, or 0 if the size is unknown.
 * The options are copied; max_bytes limits the stream. On failure *reader is NULL.
 *   PETAL_ERR_ARGUMENT  unknown or contradictory flags, or an unknown format
 *   PETAL_ERR_LIMIT     expected_bytes exceeds max_bytes
 *   PETAL_ERR_MEMORY */
PETAL_NODISCARD PETAL_API petal_status petal_reader_create(const petal_open_options *options,
                                                           uint64_t expected_bytes,
                                                           petal_reader **reader,
                                                           petal_error *error);

/* Passes the next bytes to the reader. Fails as soon as a failure of petal_load() (see the table at
 * petal_open()) is certain. If more bytes could still lead to a different failure,
 * petal_reader_finish() reports it. If expected_bytes is given, a stream with an unacceptable
 * header (because of the memory limit, the secret or a dirty file) fails as soon as the header is
 * complete. After a failure, call only petal_reader_free().
 * Cost: O(size_bytes). */
PETAL_NODISCARD PETAL_API petal_status petal_reader_feed(petal_reader *reader, const void *bytes,
                                                         size_t size_bytes, petal_error *error);

/* Ends the stream and stores the new filter in *filter. Fails like petal_load(); on failure *filter
 * is NULL. The caller must still free the reader.
 * Cost: constant for petal files; the same as petal_load() for buffered formats. */
PETAL_NODISCARD PETAL_API petal_status petal_reader_finish(petal_reader *reader,
                                                           petal_filter **filter,
                                                           petal_error *error);

/* Releases the reader; NULL is allowed. */
PETAL_API void petal_reader_free(petal_reader *reader);

#ifdef __cplusplus
}
#endif
#endif
