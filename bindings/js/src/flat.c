/* flat.c - wraps petal.h for WebAssembly hosts. The functions' arguments are integers, doubles and
 * addresses, and each result is one number. The JavaScript package uses this file.
 *
 * The module is a reactor without imports. Call _initialize() once, and then any of the functions
 * below, from one thread. A "text" is the address of UTF-8 bytes terminated by 0; address 0 means
 * NULL. Sizes are in bytes. The host writes arguments into memory from allocate(), and must release
 * this memory. Functions that create a filter return its address, or 0 after a failure. A returned
 * status is a petal_status. error() describes the last failed call. Any call that creates, opens or
 * changes a filter may grow the memory, which invalidates views of it.
 *
 * Tables are arrays of 64-bit slots, each an integer, a double or a text. slots.h lists the order
 * of the slots for options, information, statistics and comparisons.
 *
 *   general
 *     allocate(size) address, 0 if out of memory   release(address)
 *     version() text                               status_name(status) text
 *     error() address of a status i32, errno i32, offset u64 (all bits set: none), and message text
 *         of up to 239 bytes
 *     format_at(index, table) 1, or 0 after the last format. The table receives the abilities, the
 *         name and the description of keys
 *     recognize(bytes, size, names, room) number of matching formats; `names` has room for `room`
 *     text_ends(text, size, ends, count): replaces each key's length in UTF-16 units in `ends` with
 *         the offset at which the key ends in the UTF-8 text of all keys. In this text, a lone
 *         surrogate is EF BF BD
 *     canonical_f64(doubles, count): replaces -0 with +0, and every NaN with the same NaN
 *     shard_of(key, size, shards)
 *   filters
 *     create(options, secret, metadata, format) filter
 *     plan(options, secret, metadata, format) status; the table of options receives the info
 *     load(bytes, size, format, secret, flags, memory limit u64) filter
 *     reader_create(format, secret, expected bytes u64, memory limit u64) reader, or 0
 *     reader_feed(reader, bytes, size) status      reader_finish(reader) filter
 *     reader_free(reader)
 *     create_like(filter) filter    clone(filter) filter    drop_counts(filter) filter
 *     fold(filter, rate double, capacity u64, bits u64) filter; 0 means that a value is not given
 *     free_filter(filter)
 *   keys
 *     add(filter, key, size) status                add_i64(filter, i64) status
 *     remove(filter, key, size) status             remove_i64(filter, i64) status
 *     contains(filter, key, size) 0 or 1           contains_i64(filter, i64) 0 or 1
 *     hash_key(filter, key, size) u64
 *     add_batch, contains_batch, remove_batch(filter, layout, data, data bytes, offsets, key bytes,
 *         count, results) number of results that are 1, or a negative status. layout is a
 *         PETAL_LAYOUT_ constant; offsets is the address of u32 offsets, or 0; results is the
 *         address of a byte per key, or 0. A batch has at most 2^31 - 1 keys
 *     done() number of keys processed in the last batch
 *   inspection
 *     info, stats(filter, layer, table) status; layer -1 means the whole filter
 *     predict_rate(info, keys u64) double
 *     content_id(filter, table) status; one slot   is_overfull(filter) 0 or 1
 *     metadata(filter) address                     set_metadata(filter, bytes, size) status
 *     bits(filter, layer, table) status; the table receives the address and the size
 *   whole filters
 *     clear, freeze(filter) status                 advance(filter, ms u64) status
 *     merge, intersect(filter, other) status
 *     compare(a, b, table) status
 *     serialized_bytes(filter, format) u64         serialize(filter, format, bytes, size) status
 *     diff(from, to, table) status; the table receives the patch's address, which the host must
 *         release, and its size
 *     apply_patch(filter, patch, size, memory limit u64) status
 *   a file read in place, by ranges (load with PETAL_OPEN_HEADER_ONLY)
 *     key_ranges(filter, key, size, ranges, room) number of ranges, or a negative status; `ranges`
 *         receives pairs of a 64-bit offset and a 64-bit size
 *     contains_in_ranges(filter, key, size, bytes, size) 0, 1, or a negative status
 *     block_ranges(filter, offset u64, ranges) status; `ranges` receives the ranges of the block
 *         and of its checksum
 *     verify_block(filter, offset u64, block, size, sum, size) status
 *
 * The `ask` module (-DPETAL_READ_ONLY) lacks the functions for creating and changing filters,
 * plans, statistics and comparisons. */
#include <petal/petal_host.h>

#include "../../slots.h"

#include <stdlib.h>
#include <string.h>

#define EXPORT(name) __attribute__((export_name(#name)))

static petal_error last_error;
static uint64_t last_done;

/* ---- general --------------------------------------------------------------------------------- */

EXPORT(allocate) void *flat_allocate(size_t size_bytes)
{
    return malloc(size_bytes ? size_bytes : 1);
}

EXPORT(release) void flat_release(void *memory)
{
    free(memory);
}

EXPORT(version) const char *flat_version(void)
{
    return petal_version();
}

EXPORT(status_name) const char *flat_status_name(petal_status status)
{
    return petal_status_name(status);
}

EXPORT(error) const petal_error *flat_error(void)
{
    return &last_error;
}

/* Returns the number of UTF-16 units of the character whose UTF-8 form starts with this byte, or 0
 * for continuation bytes. */
static uint32_t units_of(uint8_t byte)
{
    return (byte & 0xc0) == 0x80 ? 0 : byte >= 0xf0 ? 2 : 1;
}

EXPORT(text_ends)
void flat_text_ends(const uint8_t *text, size_t size_bytes, uint32_t *ends, uint32_t count)
{
    size_t at = 0;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t units = ends[i]; units > 0 && at < size_bytes;) {
            uint32_t taken = units_of(text[at++]);
            units -= taken < units ? taken : units;
            while (at < size_bytes && units_of(text[at]) == 0) at++;
        }
        ends[i] = (uint32_t)at;
    }
}

EXPORT(canonical_f64) void flat_canonical_f64(uint8_t *doubles, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        double value;
        memcpy(&value, doubles + (size_t)8 * i, 8);
        petal_encode_f64(value, doubles + (size_t)8 * i);
    }
}

EXPORT(shard_of) uint32_t flat_shard_of(const void *key, size_t key_bytes, uint32_t shards)
{
    return petal_shard_of(key, key_bytes, shards);
}

/* ---- opening --------------------------------------------------------------------------------- */

static petal_open_options open_options(const char *format, const void *secret, uint32_t flags,
                                       uint64_t memory_limit)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    options.format = format;
    options.secret = secret;
    options.flags = flags;
    options.memory_limit = memory_limit;
    return options;
}

EXPORT(load)
petal_filter *flat_load(const void *bytes, size_t size_bytes, const char *format,
                        const void *secret, uint32_t flags, uint64_t memory_limit)
{
    petal_open_options options = open_options(format, secret, flags, memory_limit);
    petal_filter *filter = NULL;
    return petal_load(bytes, size_bytes, &options, &filter, &last_error) == PETAL_OK ? filter
                                                                                     : NULL;
}

EXPORT(reader_create)
petal_reader *flat_reader_create(const char *format, const void *secret, uint64_t expected_bytes,
                                 uint64_t memory_limit)
{
    petal_open_options options = open_options(format, secret, PETAL_OPEN_LOAD, memory_limit);
    petal_reader *reader = NULL;
    return petal_reader_create(&options, expected_bytes, &reader, &last_error) == PETAL_OK ? reader
                                                                                           : NULL;
}

EXPORT(reader_feed)
petal_status flat_reader_feed(petal_reader *reader, const void *bytes, size_t size_bytes)
{
    return petal_reader_feed(reader, bytes, size_bytes, &last_error);
}

EXPORT(reader_finish) petal_filter *flat_reader_finish(petal_reader *reader)
{
    petal_filter *filter = NULL;
    return petal_reader_finish(reader, &filter, &last_error) == PETAL_OK ? filter : NULL;
}

EXPORT(reader_free) void flat_reader_free(petal_reader *reader)
{
    petal_reader_free(reader);
}

EXPORT(free_filter) void flat_free_filter(petal_filter *filter)
{
    petal_free(filter);
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* A call for a single key reports no reason for a failure, and the filter keeps only the reason for
 * its first failure. So this repeats the call as a batch of one key to obtain the reason. */
EXPORT(contains) bool flat_contains(const petal_filter *filter, const void *key, size_t key_bytes)
{
    return petal_contains(filter, key, key_bytes);
}

EXPORT(contains_i64) bool flat_contains_i64(const petal_filter *filter, int64_t value)
{
    return petal_contains_i64(filter, value);
}

EXPORT(hash_key) uint64_t flat_hash_key(const petal_filter *filter, const void *key, size_t bytes)
{
    return petal_hash_key(filter, key, bytes);
}

static petal_batch batch_of(uint32_t layout, const void *data, size_t data_bytes,
                            const uint32_t *offsets, size_t key_bytes, uint32_t count)
{
    petal_batch batch = PETAL_BATCH_INIT;
    batch.layout = layout;
    batch.data = data;
    batch.data_bytes = data_bytes;
    batch.offsets = offsets;
    batch.key_bytes = key_bytes;
    batch.count = count;
    return batch;
}

static int32_t ended(petal_status status, const petal_batch_outcome *outcome)
{
    last_done = outcome->done;
    return status < 0 ? status : (int32_t)outcome->positive;
}

EXPORT(contains_batch)
int32_t flat_contains_batch(const petal_filter *filter, uint32_t layout, const void *data,
                            size_t data_bytes, const uint32_t *offsets, size_t key_bytes,
                            uint32_t count, uint8_t *results)
{
    petal_batch batch = batch_of(layout, data, data_bytes, offsets, key_bytes, count);
    petal_batch_outcome outcome = PETAL_BATCH_OUTCOME_INIT;
    return ended(petal_contains_batch(filter, &batch, results, &outcome, &last_error), &outcome);
}

EXPORT(done) uint32_t flat_done(void)
{
    return (uint32_t)last_done;
}

/* ---- inspection ------------------------------------------------------------------------------ */

EXPORT(info) petal_status flat_info(const petal_filter *filter, uint32_t layer, slot *table)
{
    return info_slots(filter, layer, table, &last_error);
}

EXPORT(content_id) petal_status flat_content_id(const petal_filter *filter, uint64_t *content_id)
{
    return petal_content_id(filter, content_id, &last_error);
}

EXPORT(metadata) const void *flat_metadata(const petal_filter *filter)
{
    return petal_metadata(filter, NULL);
}

EXPORT(bits) petal_status flat_bits(const petal_filter *filter, uint32_t layer, slot *table)
{
    const void *bytes = NULL;
    uint64_t size_bytes = 0;
    petal_status status = petal_bits(filter, layer, &bytes, &size_bytes, &last_error);
    put_integer(put_text(table, bytes), size_bytes);
    return status;
}

/* ---- a file read in place, by ranges --------------------------------------------------------- */

EXPORT(key_ranges)
int32_t flat_key_ranges(const petal_filter *filter, const void *key, size_t key_bytes,
                        petal_range *ranges, uint32_t room)
{
    uint64_t count = 0;
    petal_status status =
        petal_key_ranges(filter, key, key_bytes, ranges, room, &count, &last_error);
    return status < 0 ? status : (int32_t)count;
}

EXPORT(contains_in_ranges)
int32_t flat_contains_in_ranges(const petal_filter *filter, const void *key, size_t key_bytes,
                                const void *bytes, size_t size_bytes)
{
    bool answer = true;
    petal_status status =
        petal_contains_in_ranges(filter, key, key_bytes, bytes, size_bytes, &answer, &last_error);
    return status < 0 ? status : answer;
}

EXPORT(block_ranges)
petal_status flat_block_ranges(const petal_filter *filter, uint64_t offset, petal_range *ranges)
{
    return petal_block_ranges(filter, offset, &ranges[0], &ranges[1], &last_error);
}

EXPORT(verify_block)
petal_status flat_verify_block(const petal_filter *filter, uint64_t offset, const void *block,
                               size_t block_bytes, const void *sum, size_t sum_bytes)
{
    return petal_verify_block(filter, offset, block, block_bytes, sum, sum_bytes, &last_error);
}

/* ---- creating, changing, measuring and writing filters --------------------------------------- */

#ifndef PETAL_READ_ONLY

EXPORT(format_at) bool flat_format_at(uint32_t place, slot *table)
{
    petal_format_info info = PETAL_FORMAT_INFO_INIT;
    if (!petal_format_at(place, &info)) return false;
    put_text(put_text(put_integer(table, info.abilities), info.name), info.keys);
    return true;
}

EXPORT(recognize)
uint32_t flat_recognize(const void *bytes, size_t size_bytes, const char **names, uint32_t room)
{
    return (uint32_t)petal_recognize(bytes, size_bytes, names, room);
}

EXPORT(create)
petal_filter *flat_create(const slot *table, const void *secret, const void *metadata,
                          const char *format)
{
    petal_options options = options_of(table, secret, metadata, format);
    petal_filter *filter = NULL;
    return petal_create(&options, &filter, &last_error) == PETAL_OK ? filter : NULL;
}

EXPORT(plan)
petal_status flat_plan(slot *table, const void *secret, const void *metadata, const char *format)
{
    petal_options options = options_of(table, secret, metadata, format);
    return plan_slots(&options, table, &last_error);
}

EXPORT(create_like) petal_filter *flat_create_like(const petal_filter *pattern)
{
    petal_filter *filter = NULL;
    return petal_create_like(pattern, &filter, &last_error) == PETAL_OK ? filter : NULL;
}

EXPORT(clone) petal_filter *flat_clone(const petal_filter *filter)
{
    petal_filter *copy = NULL;
    return petal_clone(filter, &copy, &last_error) == PETAL_OK ? copy : NULL;
}

EXPORT(drop_counts) petal_filter *flat_drop_counts(const petal_filter *filter)
{
    petal_filter *dropped = NULL;
    return petal_drop_counts(filter, &dropped, &last_error) == PETAL_OK ? dropped : NULL;
}

EXPORT(fold)
petal_filter *flat_fold(const petal_filter *filter, double rate, uint64_t capacity, uint64_t bits)
{
    petal_fold_options options = PETAL_FOLD_OPTIONS_INIT;
    petal_filter *folded = NULL;
    options.rate = rate;
    options.capacity = capacity;
    options.bits = bits;
    return petal_fold(filter, &options, &folded, &last_error) == PETAL_OK ? folded : NULL;
}

EXPORT(add) petal_status flat_add(petal_filter *filter, const void *key, size_t key_bytes)
{
    return petal_add(filter, key, key_bytes);
}

EXPORT(add_i64) petal_status flat_add_i64(petal_filter *filter, int64_t value)
{
    return petal_add_i64(filter, value);
}

EXPORT(remove) petal_status flat_remove(petal_filter *filter, const void *key, size_t key_bytes)
{
    return petal_remove(filter, key, key_bytes);
}

EXPORT(remove_i64) petal_status flat_remove_i64(petal_filter *filter, int64_t value)
{
    return petal_remove_i64(filter, value);
}

EXPORT(add_batch)
int32_t flat_add_batch(petal_filter *filter, uint32_t layout, const void *data, size_t data_bytes,
                       const uint32_t *offsets, size_t key_bytes, uint32_t count, uint8_t *results)
{
    petal_batch batch = batch_of(layout, data, data_bytes, offsets, key_bytes, count);
    petal_batch_outcome outcome = PETAL_BATCH_OUTCOME_INIT;
    return ended(petal_add_batch(filter, &batch, results, &outcome, &last_error), &outcome);
}

EXPORT(remove_batch)
int32_t flat_remove_batch(petal_filter *filter, uint32_t layout, const void *data,
                          size_t data_bytes, const uint32_t *offsets, size_t key_bytes,
                          uint32_t count, uint8_t *results)
{
    petal_batch batch = batch_of(layout, data, data_bytes, offsets, key_bytes, count);
    petal_batch_outcome outcome = PETAL_BATCH_OUTCOME_INIT;
    return ended(petal_remove_batch(filter, &batch, results, &outcome, &last_error), &outcome);
}

EXPORT(stats) petal_status flat_stats(const petal_filter *filter, uint32_t layer, slot *table)
{
    return stats_slots(filter, layer, table, &last_error);
}

EXPORT(predict_rate) double flat_predict_rate(const slot *table, uint64_t keys)
{
    return slots_rate(table, keys);
}

EXPORT(is_overfull) bool flat_is_overfull(const petal_filter *filter)
{
    return petal_is_overfull(filter);
}

EXPORT(set_metadata)
petal_status flat_set_metadata(petal_filter *filter, const void *bytes, size_t size_bytes)
{
    return petal_set_metadata(filter, bytes, size_bytes, &last_error);
}

EXPORT(clear) petal_status flat_clear(petal_filter *filter)
{
    return petal_clear(filter, &last_error);
}

EXPORT(freeze) petal_status flat_freeze(petal_filter *filter)
{
    return petal_freeze(filter, &last_error);
}

EXPORT(advance) petal_status flat_advance(petal_filter *filter, uint64_t now_ms)
{
    return petal_set_clock(filter, now_ms, &last_error);
}

EXPORT(merge) petal_status flat_merge(petal_filter *filter, const petal_filter *other)
{
    return petal_merge(filter, other, &last_error);
}

EXPORT(intersect) petal_status flat_intersect(petal_filter *filter, const petal_filter *other)
{
    return petal_intersect(filter, other, &last_error);
}

EXPORT(compare)
petal_status flat_compare(const petal_filter *a, const petal_filter *b, slot *table)
{
    return comparison_slots(a, b, table, &last_error);
}

EXPORT(serialized_bytes)
uint64_t flat_serialized_bytes(const petal_filter *filter, const char *format)
{
    petal_save_options options = PETAL_SAVE_OPTIONS_INIT;
    options.format = format;
    return petal_serialized_bytes(filter, &options);
}

EXPORT(serialize)
petal_status flat_serialize(const petal_filter *filter, const char *format, void *bytes,
                            size_t size_bytes)
{
    petal_save_options options = PETAL_SAVE_OPTIONS_INIT;
    options.format = format;
    return petal_serialize(filter, &options, bytes, size_bytes, &last_error);
}

/* The buffer grows while a patch is written, because the patch's size is known only at the end. */
struct buffer {
    uint8_t *bytes;
    size_t size_bytes, room;
};

static int32_t append(void *context, const void *bytes, size_t size_bytes)
{
    struct buffer *buffer = context;
    if (size_bytes > buffer->room - buffer->size_bytes) {
        size_t room = buffer->room + size_bytes + buffer->room / 2;
        uint8_t *moved = room > buffer->room ? realloc(buffer->bytes, room) : NULL;
        if (!moved) return 1;
        buffer->bytes = moved;
        buffer->room = room;
    }
    memcpy(buffer->bytes + buffer->size_bytes, bytes, size_bytes);
    buffer->size_bytes += size_bytes;
    return 0;
}

EXPORT(diff) petal_status flat_diff(const petal_filter *from, const petal_filter *to, slot *table)
{
    struct buffer buffer = {NULL, 0, 0};
    petal_status status = petal_diff(from, to, append, &buffer, &last_error);
    if (status < 0) {
        free(buffer.bytes);
        if (last_error.status == PETAL_ERR_IO) last_error.status = PETAL_ERR_MEMORY;
        return last_error.status;
    }
    put_integer(put_text(table, (const char *)buffer.bytes), buffer.size_bytes);
    return status;
}

EXPORT(apply_patch)
petal_status flat_apply_patch(petal_filter *filter, const void *patch, size_t patch_bytes,
                              uint64_t memory_limit)
{
    return petal_apply_patch(filter, patch, patch_bytes, memory_limit, &last_error);
}

#endif
