/* glue.c - wraps the library's functions for Go, with only numbers and flat memory as arguments.
 *
 * cgo refuses structs in Go memory that contain Go pointers, and WebAssembly has its own memory. So
 * no function in this file takes a struct: each call takes an array of 64-bit words for arguments
 * and results, an input buffer and an output buffer. The Go package internal/native compiles this
 * file with cgo; internal/wasm runs it as WebAssembly.
 *
 * Filters and readers are passed as handles, which are their addresses as 64-bit numbers. If a call
 * fails, words[62] and words[63] contain the errno and the offset, and the caller's 240-byte buffer
 * receives the message. slots.h defines the order of the words that represent a struct. */
#include "petal_host.h"
#include "petal_inline.h"
#include "petal_parquet.h"
#include "slots.h"

#include <stdlib.h>
#include <string.h>

enum { WORD_ADDED = 61, WORD_ERRNO = 62, WORD_OFFSET = 63 };
_Static_assert((int)INFO_COUNT <= (int)WORD_ADDED, "an info leaves room for the other words");

/* Must match the list of operations in core.go. */
enum op {
    OP_CREATE,
    OP_PLAN,
    OP_OPEN,
    OP_READER,
    OP_FEED,
    OP_FINISH,
    OP_READER_FREE,
    OP_FREE,
    OP_CLONE,
    OP_LIKE,
    OP_DROP_COUNTS,
    OP_FOLD,
    OP_SAVE,
    OP_SYNC,
    OP_VERIFY,
    OP_SIZE,
    OP_CLEAR,
    OP_SHARE,
    OP_FREEZE,
    OP_ADVANCE,
    OP_MERGE,
    OP_INTERSECT,
    OP_COMPARE,
    OP_INFO,
    OP_STATS,
    OP_CONTENT_ID,
    OP_OVERFULL,
    OP_METADATA,
    OP_SET_METADATA,
    OP_PREDICT,
    OP_HASH,
    OP_FORMAT_AT,
    OP_RECOGNIZE,
    OP_PARQUET,
    OP_SHARD,
    OP_VERSION,
    OP_STATUS_NAME,
    OP_APPLY_PATCH,
    OP_BITS,
    OP_BEGIN,
    OP_END
};

struct call {
    petal_filter *filter;
    const petal_filter *other;
    uint64_t *words;
    const uint8_t *data;
    uint64_t data_bytes;
    uint8_t *out;
    uint64_t out_bytes;
    petal_error *error;
};

static double to_double(uint64_t word)
{
    double value;
    memcpy(&value, &word, sizeof value);
    return value;
}

static uint64_t from_double(double value)
{
    uint64_t word;
    memcpy(&word, &value, sizeof word);
    return word;
}

static uint64_t handle_of(const void *pointer)
{
    return (uint64_t)(uintptr_t)pointer;
}
static petal_filter *filter_of(uint64_t handle)
{
    return (petal_filter *)(uintptr_t)handle;
}

static slot *slots_of(const struct call *call)
{
    return (slot *)call->words;
}

/* Copies strings, each with its terminating 0, into the caller's output buffer. NULL becomes an
 * empty string. */
static void put_texts(struct call *call, const char *const *texts, uint32_t count)
{
    uint64_t used = 0;
    for (uint32_t i = 0; i < count; i++) {
        const char *text = texts[i] ? texts[i] : "";
        uint64_t size_bytes = strlen(text) + 1;
        if (size_bytes > call->out_bytes - used) return;
        memcpy(call->out + used, text, size_bytes);
        used += size_bytes;
    }
}

/* Returns the string at this offset of the input, or NULL if it is empty. */
static const char *text_at(const struct call *call, uint64_t offset)
{
    const char *text = (const char *)call->data + offset;
    return *text ? text : NULL;
}

/* ---- making and opening ---------------------------------------------------------------------- */

/* The input contains the format's name with its terminating 0, the metadata, and the secret. */
static petal_options create_options_of(const struct call *call)
{
    const uint8_t *metadata = call->data + strlen((const char *)call->data) + 1;
    petal_options options = options_of(slots_of(call), NULL, metadata, text_at(call, 0));
    const uint8_t *secret = metadata + options.metadata_bytes;
    if (secret < call->data + call->data_bytes) options.secret = secret;
    return options;
}

static petal_status with_names(struct call *call, petal_status status)
{
    const char *names[INFO_NAMES];
    if (status < 0) return status;
    for (int i = 0; i < INFO_NAMES; i++) names[i] = slots_of(call)[INFO_FIRST_NAME + i].text;
    put_texts(call, names, INFO_NAMES);
    return status;
}

static petal_status make_plan(struct call *call)
{
    petal_options options = create_options_of(call);
    return with_names(call, plan_slots(&options, slots_of(call), call->error));
}

static petal_open_options open_options_of(const struct call *call)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    const uint64_t *w = call->words;
    options.flags = (uint32_t)w[0];
    options.max_bytes = w[1];
    options.memory_limit = w[2];
    options.refuse_overfull = (uint8_t)w[3];
    /* The input contains the format's name and the path, each with its terminating 0, and then the
     * secret. */
    options.format = text_at(call, 0);
    if (w[5]) options.secret = call->data + w[4];
    return options;
}

static petal_save_options save_options_of(const char *format, uint64_t flags)
{
    petal_save_options options = PETAL_SAVE_OPTIONS_INIT;
    options.format = format;
    options.flags = (uint32_t)flags;
    return options;
}

static petal_status save(const struct call *call)
{
    petal_save_options options = save_options_of(text_at(call, 0), call->words[0]);
    const char *path = (const char *)call->data + call->words[1];
    return petal_save(call->filter, path, &options, call->error);
}

static void measure(const struct call *call)
{
    petal_save_options options = save_options_of(text_at(call, 0), 0);
    call->words[0] = petal_serialized_bytes(call->filter, &options);
}

static petal_status open_file(struct call *call, petal_filter **filter)
{
    petal_open_options options = open_options_of(call);
    const char *path = (const char *)call->data + strlen((const char *)call->data) + 1;
    return petal_open(path, &options, filter, call->error);
}

static petal_status make_reader(struct call *call)
{
    petal_open_options options = open_options_of(call);
    petal_reader *reader = NULL;
    petal_status status = petal_reader_create(&options, call->words[6], &reader, call->error);
    call->words[0] = handle_of(reader);
    return status;
}

/* The words contain the rate, the capacity and the number of bits. */
static petal_status fold(const struct call *call, petal_filter **folded)
{
    petal_fold_options options = PETAL_FOLD_OPTIONS_INIT;
    options.rate = to_double(call->words[0]);
    options.capacity = call->words[1];
    options.bits = call->words[2];
    return petal_fold(call->filter, &options, folded, call->error);
}

/* Runs an operation that creates a filter. */
static petal_status make(enum op op, uint64_t handle, struct call *call)
{
    petal_filter *made = NULL;
    petal_options options;
    petal_status status = PETAL_OK;
    switch (op) {
    case OP_CREATE:
        options = create_options_of(call);
        status = petal_create(&options, &made, call->error);
        break;
    case OP_OPEN: status = open_file(call, &made); break;
    case OP_FINISH:
        status = petal_reader_finish((petal_reader *)(uintptr_t)handle, &made, call->error);
        break;
    case OP_CLONE: status = petal_clone(call->filter, &made, call->error); break;
    case OP_LIKE: status = petal_create_like(call->filter, &made, call->error); break;
    case OP_FOLD: status = fold(call, &made); break;
    default: status = petal_drop_counts(call->filter, &made, call->error); break;
    }
    call->words[0] = handle_of(made);
    return status;
}

/* ---- looking inside -------------------------------------------------------------------------- */

static petal_status get_info(struct call *call)
{
    uint32_t layer = (uint32_t)call->words[0];
    return with_names(call, info_slots(call->filter, layer, slots_of(call), call->error));
}

static petal_status get_metadata(struct call *call)
{
    uint64_t size_bytes = 0;
    const void *metadata = petal_metadata(call->filter, &size_bytes);
    call->words[0] = size_bytes;
    if (size_bytes && size_bytes <= call->out_bytes) memcpy(call->out, metadata, size_bytes);
    return PETAL_OK;
}

/* Sets words[0] to 1, or to 0 if there is no format with this number. */
static petal_status get_format(struct call *call)
{
    petal_format_info info = PETAL_FORMAT_INFO_INIT;
    bool found = petal_format_at((uint32_t)call->words[0], &info);
    const char *texts[] = {info.name, info.keys};
    call->words[0] = found;
    call->words[1] = info.abilities;
    if (found) put_texts(call, texts, 2);
    return PETAL_OK;
}

static petal_status recognize(struct call *call)
{
    const char *names[64];
    uint64_t count = petal_recognize(call->data, call->data_bytes, names, 64);
    call->words[0] = count;
    put_texts(call, names, count < 64 ? count : 64);
    return PETAL_OK;
}

/* Describes filter number words[0], and sets words[0] to the number of filters. */
static petal_status get_parquet(struct call *call)
{
    uint64_t place = call->words[0], count = 0, *words = call->words;
    petal_status status =
        petal_parquet_list(call->data, call->data_bytes, NULL, 0, &count, call->error);
    *words++ = count;
    if (status < 0 || place >= count) return status;
    petal_parquet_filter *list = calloc(count, sizeof *list);
    if (!list) return PETAL_ERR_MEMORY;
    status = petal_parquet_list(call->data, call->data_bytes, list, count, &count, call->error);
    const petal_parquet_filter *one = &list[place];
    const char *texts[] = {one->column, one->physical_type};
    *words++ = one->row_group;
    *words++ = one->column_number;
    *words++ = one->offset;
    *words++ = one->size_bytes;
    *words++ = one->blocks;
    *words = one->encrypted;
    put_texts(call, texts, 2);
    free(list);
    return status;
}

static petal_status give_text(struct call *call, const char *text)
{
    put_texts(call, &text, 1);
    return PETAL_OK;
}

/* ---- keys that Go adds itself (lines.go) ----------------------------------------------------- */

/* Sets words[0] to the address of the first line, and words[1] to the total size of the lines in
 * bytes. */
static petal_status get_bits(struct call *call)
{
    const void *bytes = NULL;
    petal_status status = petal_bits(call->filter, 0, &bytes, &call->words[1], call->error);
    call->words[0] = handle_of(bytes);
    return status;
}

/* Stores the library's petal_inline struct in call->words, for the call that ends the run of
 * adds. */
static petal_status begin_adding(struct call *call)
{
    petal_inline hot = PETAL_INLINE_INIT;
    petal_status status = petal_inline_begin_adding(call->filter, &hot, call->error);
    memcpy(call->words, &hot, sizeof hot);
    return status;
}

static petal_status end_adding(struct call *call)
{
    petal_inline hot;
    memcpy(&hot, call->words, sizeof hot);
    hot.added = call->words[WORD_ADDED];
    petal_inline_end(call->filter, &hot);
    return PETAL_OK;
}

/* ---- the calls ------------------------------------------------------------------------------- */

static petal_status run(enum op op, uint64_t handle, struct call *call)
{
    petal_filter *f = call->filter;
    petal_error *error = call->error;
    petal_reader *reader = (petal_reader *)(uintptr_t)handle;
    uint64_t *w = call->words;
    switch (op) {
    case OP_PLAN: return make_plan(call);
    case OP_READER: return make_reader(call);
    case OP_FEED: return petal_reader_feed(reader, call->data, (size_t)call->data_bytes, error);
    case OP_READER_FREE: petal_reader_free(reader); return PETAL_OK;
    case OP_FREE: petal_free(f); return PETAL_OK;
    case OP_SAVE: return save(call);
    case OP_SYNC: return petal_sync(f, error);
    case OP_VERIFY: return petal_verify(f, error);
    case OP_SIZE: measure(call); return PETAL_OK;
    case OP_CLEAR: return petal_clear(f, error);
    case OP_SHARE: return petal_allow_threads(f, error);
    case OP_FREEZE: return petal_freeze(f, error);
    case OP_ADVANCE: return petal_set_clock(f, w[0], error);
    case OP_MERGE: return petal_merge(f, call->other, error);
    case OP_INTERSECT: return petal_intersect(f, call->other, error);
    case OP_COMPARE: return comparison_slots(f, call->other, slots_of(call), error);
    case OP_INFO: return get_info(call);
    case OP_STATS: return stats_slots(f, (uint32_t)w[0], slots_of(call), error);
    case OP_CONTENT_ID: return petal_content_id(f, &w[0], error);
    case OP_OVERFULL: w[0] = petal_is_overfull(f); return PETAL_OK;
    case OP_METADATA: return get_metadata(call);
    case OP_SET_METADATA: return petal_set_metadata(f, call->data, call->data_bytes, error);
    case OP_PREDICT: w[0] = from_double(slots_rate(slots_of(call), w[INFO_COUNT])); return PETAL_OK;
    case OP_HASH: w[0] = petal_hash_key(f, call->data, (size_t)call->data_bytes); return PETAL_OK;
    case OP_FORMAT_AT: return get_format(call);
    case OP_RECOGNIZE: return recognize(call);
    case OP_PARQUET: return get_parquet(call);
    case OP_SHARD:
        w[0] = petal_shard_of(call->data, (size_t)call->data_bytes, (uint32_t)w[0]);
        return PETAL_OK;
    case OP_VERSION: return give_text(call, petal_version());
    case OP_APPLY_PATCH: return petal_apply_patch(f, call->data, call->data_bytes, w[0], error);
    case OP_BITS: return get_bits(call);
    case OP_BEGIN: return begin_adding(call);
    case OP_END: return end_adding(call);
    case OP_STATUS_NAME: return give_text(call, petal_status_name((petal_status)w[0]));
    default: return make(op, handle, call);
    }
}

static void tell(const petal_error *error, uint64_t *words, char *message)
{
    words[WORD_ERRNO] = (uint64_t)(uint32_t)error->system_errno;
    words[WORD_OFFSET] = error->offset;
    memcpy(message, error->message, sizeof error->message);
}

/* The caller provides 64 words and a 240-byte message buffer, which is written only on failure. */
int32_t petal_go_call(uint32_t op, uint64_t handle, uint64_t other, uint64_t *words,
                      const uint8_t *data, uint64_t data_bytes, uint8_t *out, uint64_t out_bytes,
                      char *message)
{
    petal_error error = {.offset = PETAL_NO_OFFSET};
    struct call call = {
        filter_of(handle), filter_of(other), words, data, data_bytes, out, out_bytes, &error};
    petal_status status = run((enum op)op, handle, &call);
    if (status < 0) tell(&error, words, message);
    return status;
}

/* Returns `found`, or PETAL_ERR_DAMAGED if a block with bits of this key is damaged
 * (PETAL_OPEN_VERIFY_ON_USE). After the first damaged block, each "probably" is checked again. */
static int32_t sound(petal_filter *f, bool found, uint32_t layout, const void *key,
                     uint64_t key_bytes)
{
    petal_batch batch = PETAL_BATCH_INIT;
    if (!found || petal_last_error(f, NULL) != PETAL_ERR_DAMAGED) return found;
    batch.layout = layout;
    batch.data = key;
    batch.key_bytes = key_bytes;
    batch.count = 1;
    petal_status status = petal_contains_batch(f, &batch, NULL, NULL, NULL);
    return status < 0 ? status : found;
}

/* `op` is 0 for add, 1 for contains, 2 for remove. For contains, the function returns 1 or 0. */
int32_t petal_go_key(uint32_t op, uint64_t handle, const uint8_t *key, uint64_t key_bytes)
{
    petal_filter *f = filter_of(handle);
    if (op == 1)
        return sound(f, petal_contains(f, key, (size_t)key_bytes), PETAL_LAYOUT_FIXED, key,
                     key_bytes);
    return (op ? petal_remove : petal_add)(f, key, (size_t)key_bytes);
}

int32_t petal_go_i64(uint32_t op, uint64_t handle, int64_t value)
{
    petal_filter *f = filter_of(handle);
    if (op == 1) return sound(f, petal_contains_i64(f, value), PETAL_LAYOUT_I64, &value, 0);
    return (op ? petal_remove_i64 : petal_add_i64)(f, value);
}

int32_t petal_go_hash(uint32_t op, uint64_t handle, uint64_t hash)
{
    petal_filter *f = filter_of(handle);
    if (op == 1) return sound(f, petal_contains_hash(f, hash), PETAL_LAYOUT_HASHES, &hash, 0);
    return (op ? petal_remove_hash : petal_add_hash)(f, hash);
}

/* `op` is as for petal_go_key(), or 3 for any, 4 for all, 5 for hashes (`results` is then one
 * uint64_t per key). `layout` is the one in petal_batch. Sets words[0] to the number of keys
 * processed, and words[1] to the number of positive answers or, for any and all, to the answer. */
int32_t petal_go_batch(uint32_t op, uint64_t handle, uint32_t layout, const uint8_t *data,
                       uint64_t data_bytes, const uint64_t *offsets, uint64_t count,
                       uint64_t key_bytes, uint8_t *results, uint64_t *words, char *message)
{
    petal_filter *f = filter_of(handle);
    petal_error error = {.offset = PETAL_NO_OFFSET};
    petal_batch_outcome outcome = PETAL_BATCH_OUTCOME_INIT;
    petal_batch batch = PETAL_BATCH_INIT;
    petal_status status;
    bool answer = false;
    batch.layout = layout;
    batch.data = data;
    batch.data_bytes = offsets ? data_bytes : 0;
    batch.offsets = offsets;
    batch.count = count;
    batch.key_bytes = key_bytes;
    switch (op) {
    case 0: status = petal_add_batch(f, &batch, results, &outcome, &error); break;
    case 1: status = petal_contains_batch(f, &batch, results, &outcome, &error); break;
    case 2: status = petal_remove_batch(f, &batch, results, &outcome, &error); break;
    case 3: status = petal_contains_any(f, &batch, &answer, &error); break;
    case 4: status = petal_contains_all(f, &batch, &answer, &error); break;
    default: status = petal_hash_batch(f, &batch, (uint64_t *)(void *)results, &error); break;
    }
    words[0] = outcome.done;
    words[1] = op < 3 ? outcome.positive : answer;
    if (status < 0) tell(&error, words, message);
    return status;
}

/* ---- streams --------------------------------------------------------------------------------- */

/* This function is implemented in Go. It returns 0 to continue. */
#if defined(__wasm__)
__attribute__((import_module("petal"), import_name("sink")))
#endif
extern int32_t
petalGoSink(uint64_t context, void *bytes, uint64_t size_bytes);

static int32_t sink(void *context, const void *bytes, size_t size_bytes)
{
    return petalGoSink(*(const uint64_t *)context, (void *)(uintptr_t)bytes, size_bytes);
}

/* Writes the filter's image in this format (a string with its terminating 0) or, if `other` is not
 * 0, the patch from `other` to the filter. */
int32_t petal_go_write(uint64_t handle, uint64_t other, uint64_t context, const uint8_t *format,
                       uint64_t *words, char *message)
{
    petal_error error = {.offset = PETAL_NO_OFFSET};
    petal_save_options options = save_options_of(*format ? (const char *)format : NULL, 0);
    const petal_filter *f = filter_of(handle);
    petal_status status = other ? petal_diff(filter_of(other), f, sink, &context, &error)
                                : petal_write(f, &options, sink, &context, &error);
    if (status < 0) tell(&error, words, message);
    return status;
}

/* ---- WebAssembly's memory, which Go fills ---------------------------------------------------- */

#if defined(__wasm__)
void *petal_go_alloc(uint64_t size_bytes)
{
    return size_bytes > SIZE_MAX ? NULL : malloc((size_t)size_bytes);
}
void petal_go_release(void *memory)
{
    free(memory);
}
#endif
