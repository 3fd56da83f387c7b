/* petal.h from an earlier version of Petal, without comments and without the last fields of the
 * extensible structs. This file is frozen: do not update it. */

#ifndef PETAL_H
#define PETAL_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#define PETAL_VERSION_MAJOR 0
#define PETAL_VERSION_MINOR 1
#define PETAL_VERSION_PATCH 0
#define PETAL_VERSION_NUMBER \
    (PETAL_VERSION_MAJOR * 10000 + PETAL_VERSION_MINOR * 100 + PETAL_VERSION_PATCH)
#define PETAL_QUOTE(x) #x
#define PETAL_QUOTE_VALUE(x) PETAL_QUOTE(x)
#define PETAL_VERSION_STRING \
    PETAL_QUOTE_VALUE(PETAL_VERSION_MAJOR) \
    "." PETAL_QUOTE_VALUE(PETAL_VERSION_MINOR) "." PETAL_QUOTE_VALUE(PETAL_VERSION_PATCH)
#if defined(_WIN32) && defined(PETAL_SHARED_LIBRARY) && defined(PETAL_BUILDING)
#define PETAL_API __declspec(dllexport)
#elif defined(_WIN32) && defined(PETAL_SHARED_LIBRARY)
#define PETAL_API __declspec(dllimport)
#elif defined(PETAL_SHARED_LIBRARY) && defined(__GNUC__)
#define PETAL_API __attribute__((visibility("default")))
#else
#define PETAL_API
#endif
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
typedef int32_t petal_status;
enum {
    PETAL_OK = 0,
    PETAL_SEEN = 1,
    PETAL_ABSENT = 2,
    PETAL_UNCHECKED = 3,
    PETAL_ERR_ARGUMENT = -1,
    PETAL_ERR_UNREACHABLE = -2,
    PETAL_ERR_LIMIT = -3,
    PETAL_ERR_MEMORY = -4,
    PETAL_ERR_MISMATCH = -5,
    PETAL_ERR_READ_ONLY = -6,
    PETAL_ERR_UNSUPPORTED = -7,
    PETAL_ERR_IO = -8,
    PETAL_ERR_EXISTS = -9,
    PETAL_ERR_BUSY = -10,
    PETAL_ERR_NOT_A_FILTER = -11,
    PETAL_ERR_NEWER = -12,
    PETAL_ERR_TRUNCATED = -13,
    PETAL_ERR_DAMAGED = -14,
    PETAL_ERR_DIRTY = -15,
    PETAL_ERR_SECRET_MISSING = -16,
    PETAL_ERR_SECRET_WRONG = -17,
    PETAL_ERR_FULL = -18,
    PETAL_ERR_REPLACED = -19
};
#define PETAL_NO_OFFSET UINT64_MAX
typedef struct petal_error {
    petal_status status;
    int32_t system_errno;
    uint64_t offset;
    char message[240];
} petal_error;
PETAL_API const char *petal_status_name(petal_status status);
PETAL_API const char *petal_version(void);
PETAL_API uint32_t petal_version_number(void);
typedef struct petal_filter petal_filter;
enum {
    PETAL_SCHEME_DEFAULT = 0,
    PETAL_SCHEME_BLOCKED = 1,
    PETAL_SCHEME_CLASSIC = 2,
    PETAL_SCHEME_COUNTING = 3
};
enum { PETAL_HASH_DEFAULT = 0, PETAL_HASH_XXH3 = 1, PETAL_HASH_SIPHASH = 2 };
enum {
    PETAL_KEY_TYPE_NONE = 0,
    PETAL_KEY_TYPE_TEXT = 1,
    PETAL_KEY_TYPE_UTF16LE = 2,
    PETAL_KEY_TYPE_I32 = 3,
    PETAL_KEY_TYPE_I64 = 4,
    PETAL_KEY_TYPE_F64 = 5,
    PETAL_KEY_TYPE_HEX = 6,
    PETAL_KEY_TYPE_BASE64 = 7
};
typedef struct petal_allocator {
    void *(*alloc_zeroed)(void *context, size_t size_bytes);
    void (*release)(void *context, void *memory, size_t size_bytes);
    void *context;
} petal_allocator;
#define PETAL_SECRET_BYTES 16
#define PETAL_METADATA_MAX_BYTES 65536
typedef struct petal_options {
    uint32_t struct_size;
    uint32_t scheme;
    uint32_t hash;
    uint32_t key_type;
    uint64_t capacity;
    double rate;
    uint64_t memory_bytes;
    uint64_t bits;
    uint32_t hashes;
    uint32_t lines_per_key;
    uint64_t seed;
    const void *secret;
    const void *metadata;
    uint64_t metadata_bytes;
    const petal_allocator *allocator;
    const char *format;
    uint8_t growth;
    uint8_t refuse_overfull;
    uint8_t reserved[2];
    uint32_t growth_step;
    double growth_ratio;
} petal_options;
#define PETAL_OPTIONS_INIT PETAL_STRUCT_INIT(petal_options)
PETAL_NODISCARD PETAL_API petal_status petal_create(const petal_options *options,
                                                    petal_filter **filter, petal_error *error);
PETAL_API void petal_free(petal_filter *filter);
PETAL_API petal_status petal_add(petal_filter *filter, const void *key, size_t key_bytes);
PETAL_API bool petal_contains(const petal_filter *filter, const void *key, size_t key_bytes);
PETAL_API petal_status petal_remove(petal_filter *filter, const void *key, size_t key_bytes);
PETAL_API petal_status petal_add_i64(petal_filter *filter, int64_t value);
PETAL_API bool petal_contains_i64(const petal_filter *filter, int64_t value);
PETAL_API petal_status petal_remove_i64(petal_filter *filter, int64_t value);
PETAL_API uint64_t petal_hash_key(const petal_filter *filter, const void *key, size_t key_bytes);
PETAL_API petal_status petal_add_hash(petal_filter *filter, uint64_t hash);
PETAL_API bool petal_contains_hash(const petal_filter *filter, uint64_t hash);
PETAL_API petal_status petal_remove_hash(petal_filter *filter, uint64_t hash);
PETAL_API void petal_encode_i32(int32_t value, uint8_t key[4]);
PETAL_API void petal_encode_i64(int64_t value, uint8_t key[8]);
PETAL_API void petal_encode_f64(double value, uint8_t key[8]);
enum {
    PETAL_LAYOUT_POINTERS = 0,
    PETAL_LAYOUT_OFFSETS32 = 1,
    PETAL_LAYOUT_OFFSETS64 = 2,
    PETAL_LAYOUT_FIXED = 3,
    PETAL_LAYOUT_I64 = 4,
    PETAL_LAYOUT_HASHES = 5
};
typedef struct petal_key {
    const void *data;
    size_t size_bytes;
} petal_key;
typedef struct petal_batch {
    uint32_t struct_size;
    uint32_t layout;
    const void *data;
    const void *offsets;
    uint64_t data_bytes;
    uint64_t key_bytes;
    uint64_t stride;
    uint64_t count;
} petal_batch;
#define PETAL_BATCH_INIT PETAL_STRUCT_INIT(petal_batch)
typedef struct petal_batch_outcome {
    uint32_t struct_size;
    uint32_t reserved;
    uint64_t done;
    uint64_t positive;
} petal_batch_outcome;
#define PETAL_BATCH_OUTCOME_INIT PETAL_STRUCT_INIT(petal_batch_outcome)
PETAL_API petal_status petal_add_batch(petal_filter *filter, const petal_batch *batch,
                                       uint8_t *results, petal_batch_outcome *outcome,
                                       petal_error *error);
PETAL_API petal_status petal_contains_batch(const petal_filter *filter, const petal_batch *batch,
                                            uint8_t *results, petal_batch_outcome *outcome,
                                            petal_error *error);
PETAL_API petal_status petal_remove_batch(petal_filter *filter, const petal_batch *batch,
                                          uint8_t *results, petal_batch_outcome *outcome,
                                          petal_error *error);
PETAL_API petal_status petal_hash_batch(const petal_filter *filter, const petal_batch *batch,
                                        uint64_t *hashes, petal_error *error);
PETAL_API petal_status petal_contains_any(const petal_filter *filter, const petal_batch *batch,
                                          bool *answer, petal_error *error);
PETAL_API petal_status petal_contains_all(const petal_filter *filter, const petal_batch *batch,
                                          bool *answer, petal_error *error);
#define PETAL_SAVE_NO_REPLACE 1u
#define PETAL_SAVE_NO_LOCK 2u
#define PETAL_SAVE_NEW_OWNER 4u
typedef struct petal_save_options {
    uint32_t struct_size;
    uint32_t flags;
} petal_save_options;
#define PETAL_SAVE_OPTIONS_INIT PETAL_STRUCT_INIT(petal_save_options)
PETAL_NODISCARD PETAL_API petal_status petal_save(const petal_filter *filter, const char *path,
                                                  const petal_save_options *options,
                                                  petal_error *error);
#define PETAL_OPEN_MAP 0u
#define PETAL_OPEN_WRITABLE 1u
#define PETAL_OPEN_LOAD 2u
#define PETAL_OPEN_VERIFY 16u
#define PETAL_OPEN_RECOVER 32u
#define PETAL_OPEN_LIVE 64u
#define PETAL_OPEN_LOCKED 128u
#define PETAL_OPEN_NO_LOCK 256u
#define PETAL_OPEN_HEADER_ONLY 512u
#define PETAL_OPEN_NO_SECRET 1024u
#define PETAL_OPEN_VERIFY_ON_USE 2048u
#define PETAL_OPEN_RESEAL 4096u
typedef struct petal_open_options {
    uint32_t struct_size;
    uint32_t flags;
    const void *secret;
    uint64_t max_bytes;
    const petal_allocator *allocator;
    const char *format;
} petal_open_options;
#define PETAL_OPEN_OPTIONS_INIT PETAL_STRUCT_INIT(petal_open_options)
PETAL_API petal_status petal_open(const char *path, const petal_open_options *options,
                                  petal_filter **filter, petal_error *error);
PETAL_NODISCARD PETAL_API petal_status petal_sync(petal_filter *filter, petal_error *error);
PETAL_API petal_status petal_verify(const petal_filter *filter, petal_error *error);
#define PETAL_CAN_ADD 0x1u
#define PETAL_CAN_REMOVE 0x2u
#define PETAL_CAN_HASHES 0x4u
#define PETAL_CAN_MERGE 0x8u
#define PETAL_CAN_INTERSECT 0x10u
#define PETAL_CAN_COMPARE 0x20u
#define PETAL_CAN_CREATE_LIKE 0x40u
#define PETAL_CAN_ALLOW_THREADS 0x80u
#define PETAL_CAN_GROW 0x100u
#define PETAL_CAN_WINDOW 0x200u
#define PETAL_CAN_MAP 0x400u
#define PETAL_CAN_SAVE 0x800u
#define PETAL_CAN_STATS 0x1000u
#define PETAL_CAN_DROP_COUNTS 0x2000u
#define PETAL_CAN_EMPTY_KEY 0x4000u
#define PETAL_CAN_CLEAR 0x8000u
enum {
    PETAL_POLICY_NONE = 0,
    PETAL_POLICY_GROWING = 1,
    PETAL_POLICY_WINDOW_KEYS = 2,
    PETAL_POLICY_WINDOW_TIME = 3
};
#define PETAL_ALL_LAYERS UINT32_MAX
typedef struct petal_info {
    uint32_t struct_size;
    uint32_t abilities;
    uint32_t scheme, hash;
    uint32_t hashes;
    uint32_t lines_per_key;
    uint32_t layers;
    uint32_t counter_bits;
    uint64_t bits;
    uint64_t bytes;
    uint64_t memory_bytes;
    uint64_t capacity;
    double target_rate;
    double predicted_rate;
    uint64_t items;
} petal_info;
#define PETAL_INFO_INIT PETAL_STRUCT_INIT(petal_info)
PETAL_API petal_status petal_get_info(const petal_filter *filter, uint32_t layer, petal_info *info,
                                      petal_error *error);
typedef struct petal_layers_info {
    uint32_t struct_size;
    uint32_t growth_step;
    double growth_ratio;
    uint64_t window_keys;
    uint64_t window_ms;
    uint32_t generations;
    uint32_t reserved;
} petal_layers_info;
#define PETAL_LAYERS_INFO_INIT PETAL_STRUCT_INIT(petal_layers_info)
#define PETAL_LAYERS_INFO_INIT PETAL_STRUCT_INIT(petal_layers_info)
PETAL_API petal_status petal_get_layers_info(const petal_filter *filter, uint32_t layer,
                                             petal_layers_info *info, petal_error *error);
typedef struct petal_file_info {
    uint32_t struct_size;
    uint8_t live;
    uint8_t verifiable;
    uint8_t verifies_on_use;
    uint8_t reserved;
    uint64_t unchecked_blocks;
} petal_file_info;
#define PETAL_FILE_INFO_INIT PETAL_STRUCT_INIT(petal_file_info)
PETAL_API petal_status petal_get_file_info(const petal_filter *filter, petal_file_info *info,
                                           petal_error *error);
typedef struct petal_estimate {
    double value, low, high;
} petal_estimate;
typedef struct petal_stats {
    uint32_t struct_size;
    uint8_t saturated;
    uint8_t overfull;
    uint8_t reserved[2];
    uint64_t bits_set;
    uint64_t saturated_counters;
    double fill;
} petal_stats;
#define PETAL_STATS_INIT PETAL_STRUCT_INIT(petal_stats)
PETAL_API petal_status petal_get_stats(const petal_filter *filter, uint32_t layer,
                                       petal_stats *stats, petal_error *error);
PETAL_API petal_status petal_content_id(const petal_filter *filter, uint64_t *content_id,
                                        petal_error *error);
PETAL_API bool petal_is_overfull(const petal_filter *filter);
PETAL_API petal_status petal_last_error(const petal_filter *filter, petal_error *error);
PETAL_API const void *petal_metadata(const petal_filter *filter, uint64_t *metadata_bytes);
PETAL_API petal_status petal_set_metadata(petal_filter *filter, const void *metadata,
                                          uint64_t metadata_bytes, petal_error *error);
PETAL_API petal_status petal_plan(const petal_options *options, petal_info *plan,
                                  petal_layers_info *layers, petal_error *error);
PETAL_API double petal_predict_rate(const petal_info *info, uint64_t keys);
PETAL_API petal_status petal_create_like(const petal_filter *pattern, petal_filter **filter,
                                         petal_error *error);
PETAL_API petal_status petal_clone(const petal_filter *filter, petal_filter **copy,
                                   petal_error *error);
PETAL_API petal_status petal_clear(petal_filter *filter, petal_error *error);
PETAL_API petal_status petal_freeze(petal_filter *filter, petal_error *error);
PETAL_API petal_status petal_merge(petal_filter *filter, const petal_filter *other,
                                   petal_error *error);
PETAL_API petal_status petal_intersect(petal_filter *filter, const petal_filter *other,
                                       petal_error *error);
typedef struct petal_comparison {
    uint32_t struct_size;
    uint8_t saturated;
    uint8_t reserved[3];
    petal_estimate items_a, items_b, union_items;
    petal_estimate intersection;
    petal_estimate jaccard;
} petal_comparison;
#define PETAL_COMPARISON_INIT PETAL_STRUCT_INIT(petal_comparison)
PETAL_API petal_status petal_compare(const petal_filter *a, const petal_filter *b,
                                     petal_comparison *comparison, petal_error *error);
PETAL_API petal_status petal_drop_counts(const petal_filter *filter, petal_filter **dropped,
                                         petal_error *error);
PETAL_API uint32_t petal_shard_of(const void *key, size_t key_bytes, uint32_t shards);
PETAL_API uint32_t petal_shard_of_hash(uint64_t hash, uint32_t shards);
PETAL_API petal_status petal_allow_threads(petal_filter *filter, petal_error *error);
typedef struct petal_builder petal_builder;
PETAL_NODISCARD PETAL_API petal_status petal_builder_create(petal_filter *filter, uint32_t *workers,
                                                            petal_builder **builder,
                                                            petal_error *error);
PETAL_API petal_status petal_builder_add(petal_builder *builder, uint32_t worker,
                                         const petal_batch *batch, petal_error *error);
PETAL_API petal_status petal_builder_flush(petal_builder *builder, uint32_t worker,
                                           petal_error *error);
PETAL_NODISCARD PETAL_API petal_status petal_builder_finish(petal_builder *builder,
                                                            petal_error *error);
PETAL_API petal_status petal_set_clock(petal_filter *filter, uint64_t now_ms, petal_error *error);
#define PETAL_FORMAT_CAN_READ 1u
#define PETAL_FORMAT_CAN_WRITE 2u
#define PETAL_FORMAT_CAN_CREATE 4u
#define PETAL_FORMAT_CAN_RECOGNIZE 8u
#define PETAL_FORMAT_CAN_MAP 16u
#define PETAL_FORMAT_HAS_CHECKSUM 32u
#define PETAL_FORMAT_IS_PACKED 64u
typedef struct petal_format_info {
    uint32_t struct_size;
    uint32_t abilities;
    const char *name;
} petal_format_info;
#define PETAL_FORMAT_INFO_INIT PETAL_STRUCT_INIT(petal_format_info)
PETAL_API bool petal_format_at(uint32_t place, petal_format_info *info);
PETAL_API uint64_t petal_recognize(const void *bytes, uint64_t size_bytes, const char **names,
                                   uint64_t room);
PETAL_API uint64_t petal_serialized_bytes(const petal_filter *filter,
                                          const petal_save_options *options);
PETAL_NODISCARD PETAL_API petal_status petal_serialize(const petal_filter *filter,
                                                       const petal_save_options *options,
                                                       void *bytes, uint64_t size_bytes,
                                                       petal_error *error);
typedef int32_t (*petal_sink)(void *context, const void *bytes, size_t size_bytes);
PETAL_API petal_status petal_write(const petal_filter *filter, const petal_save_options *options,
                                   petal_sink sink, void *context, petal_error *error);
PETAL_API petal_status petal_load(const void *bytes, uint64_t size_bytes,
                                  const petal_open_options *options, petal_filter **filter,
                                  petal_error *error);
PETAL_API petal_status petal_view(const void *bytes, uint64_t size_bytes,
                                  const petal_open_options *options, petal_filter **filter,
                                  petal_error *error);
PETAL_NODISCARD PETAL_API petal_status petal_diff(const petal_filter *from, const petal_filter *to,
                                                  petal_sink sink, void *context,
                                                  petal_error *error);
PETAL_NODISCARD PETAL_API petal_status petal_apply_patch(petal_filter *filter, const void *patch,
                                                         uint64_t patch_bytes,
                                                         uint64_t memory_limit, petal_error *error);
#ifdef __cplusplus
}
#endif
#endif
