/* filter.h - the handle: bit arrays, their scheme and hash, and what is known about their keys. */
#ifndef PETAL_FILTER_FILTER_H
#define PETAL_FILTER_FILTER_H

#include "hash/hash.h"
#include "scheme/scheme.h"

/* A bit array, and what is known about its keys. Most filters have one layer. Growing and rotating
 * filters have several. */
struct layer {
    struct bit_array array;
    uint64_t capacity;  /* number of keys; 0 if not recorded */
    double target_rate; /* NAN if not recorded */
    uint64_t items;
    uint64_t until_ms; /* time windows: see rotating.c; 0 until the clock is set */
    /* The memory that contains the bits. NULL if the bits are borrowed or mapped. */
    void *own_lines;
    uint64_t own_bytes; /* size of own_lines */
    /* The rate at capacity according to the model, as the bits of a double. 0 if unknown. */
    _Atomic uint64_t predicted;
    /* One enum block_state per block if the layer is in a writable or guarded map; otherwise
     * NULL. */
    uint8_t *blocks;
};

/* Why a filter has several layers, and how they change: see growing.c and rotating.c.
 * docs/format.md describes how files store this. */
enum policy_kind { POLICY_NONE = 0, POLICY_GROWING = 1, POLICY_KEYS = 2, POLICY_TIME = 3 };
struct policy {
    enum policy_kind kind;
    double rate;             /* requested rate of the whole filter */
    uint64_t first_capacity; /* growing: capacity of the first layer */
    uint32_t step;           /* growing: capacity of each layer, relative to the previous one */
    double ratio;            /* growing: rate of each layer, relative to the previous one */
    uint64_t window_keys;    /* rotating: keys per window; by time, the expected maximum */
    uint64_t window_ms;      /* rotating by time: milliseconds per window */
    uint64_t clock_ms;       /* rotating by time: the latest time, or 0 if not set yet */
    uint32_t generations;    /* rotating: planned number of generations */
};

/* Data from a file in another format for which the filter has no field. The filter keeps this data
 * so that the file can be written back byte for byte. Only the format's code interprets the data
 * (src/format). */
#define PETAL_ORIGIN_NEAR_BYTES 48u
struct origin {
    uint32_t format; /* the format's number, or 0 */
    uint32_t size_bytes;
    uint8_t near[PETAL_ORIGIN_NEAR_BYTES]; /* for up to 48 bytes; zero after size_bytes */
    /* Used if there are more bytes. A filter owns these bytes; a description only borrows them. */
    const uint8_t *far;
};

static inline const uint8_t *origin_bytes(const struct origin *origin)
{
    return origin->size_bytes > PETAL_ORIGIN_NEAR_BYTES ? origin->far : origin->near;
}

/* The state of a filter that several threads add to. */
struct sharing {
    struct stripes stripes;
    /* The thread that requests permission holds this lock. Other threads may still count keys. */
    _Atomic uint64_t asking;
};

/* The two ways to lower bits: decrementing counters, and any other change. */
enum lowering { LOWERING_COUNTS, LOWERING_BITS };

/* The first failure of a filter's calls (failure.c). */
struct failure {
    atomic_int state;
    petal_error error;
};

/* The direct functions behind a guard (ways.c). */
struct behind_guard {
    bool (*contains)(const struct direct *way, const void *key, size_t key_bytes);
    bool (*contains_i64)(const struct direct *way, int64_t value);
};

/* Describes how a filter is stored, unless it has only its own memory. There is one row per kind of
 * storage (store/backing.c), and a filter's row never changes. If a function is NULL, there is
 * nothing to do. */
struct store_def {
    bool has_bits; /* the store contains the bits, which thus can't move or grow */
    /* Request permission to set bits, or to lower them. Permission to set bits lasts until
     * needs_permission is set again. */
    petal_status (*before_write)(petal_filter *filter, petal_error *error);
    petal_status (*before_lowering)(petal_filter *filter, enum lowering lowering,
                                    petal_error *error);
    /* Returns PETAL_ERR_READ_ONLY if this process was forked from the one that opened the file. */
    petal_status (*check_owner)(const petal_filter *filter, petal_error *error);
    /* These check that the bits match the recorded sums. check_wanted checks the blocks whose state
     * is BLOCK_WANTED. check_bits checks all blocks before their sums are stored elsewhere, and
     * check_unchanged afterwards checks that the bits are still the same. */
    petal_status (*check_wanted)(petal_filter *filter, petal_error *error);
    petal_status (*check_bits)(const petal_filter *filter, petal_error *error);
    petal_status (*check_unchanged)(const petal_filter *filter, petal_error *error);
    /* Checks that this block's bits match its sum. Any number of threads may call this. It records
     * the block's state, and any damage. */
    petal_status (*check_block)(const petal_filter *filter, uint32_t layer, uint64_t block,
                                petal_error *error);
    /* If a block was found damaged, returns PETAL_ERR_DAMAGED with the first such block. Takes
     * constant time. */
    petal_status (*first_damage)(const petal_filter *filter, petal_error *error);
    void (*close)(petal_filter *filter); /* releases all resources of the store */
};

struct petal_filter {
    /* The functions for one key. They are the first field because every call reads them. They are
     * the kernel's direct functions if such functions exist; otherwise, they use the strategy. */
    struct direct direct;
    /* The direct functions that add to a growing filter with a single layer. They may be called
     * only until that layer is full. */
    petal_status (*add_directly)(const struct direct *way, const void *key, size_t key_bytes);
    petal_status (*add_i64_directly)(const struct direct *way, int64_t value);
    /* At least one layer, oldest first. A key is in the filter if any layer contains it. New keys
     * are added to the last layer. */
    struct layer *layers;
    uint32_t layer_count;
    uint32_t layer_room; /* the number of layers for which `layers` has room */
    const struct scheme_def *scheme;
    /* The kernel is chosen once and stored in the filter, so that there is no global state and
     * tests can choose it. */
    const struct kernel *kernel;
    const struct hash_def *hash;
    struct hash_key hash_key;

    const struct key_strategy *strategy; /* see strategy.h */
    struct sharing *sharing;             /* NULL unless several threads may add */
    /* Collects the keys of a static filter. NULL after the filter has been built. */
    struct petal_static_builder *builder;

    petal_allocator allocator;
    struct policy policy;
    struct origin origin;
    void *metadata;
    uint64_t metadata_bytes;
    uint64_t recovered_blocks, blocks_compared; /* see petal_file_info */
    /* The number of blocks in a map that have not been checked yet, or are damaged. */
    _Atomic uint64_t unchecked;
    bool is_guarded; /* queries must check blocks first: guard.h */
    struct behind_guard behind_guard;
    bool live;      /* another process is changing the bits */
    bool read_only; /* opened or viewed read-only, or frozen */
    /* True if the header of a keyed filter was opened without the secret; secret_id is then
     * valid. */
    bool lacks_secret;
    uint32_t secret_id;
    uint32_t key_type;
    uint32_t file_format; /* format of the opened file, or 0 if made in memory */
    /* The limit for the next layer, from the open options. 0 means the default, and UINT64_MAX no
     * limit. */
    uint64_t memory_limit;
    bool refuse_overfull;
    struct failure failure;
    uint64_t removals; /* number of keys removed since the filter was created or opened */
    /* The result of overfull.c when it last counted the bits, or 0 if it never counted them. */
    _Atomic uint64_t overfull;

    /* Called for a new key if the last layer is full. If `grow` is NULL, the key is added to the
     * last layer. */
    petal_status (*grow)(petal_filter *filter, petal_error *error);
    bool is_fixed;         /* grow always refuses, so there is never another layer */
    uint64_t cutoff_ms;    /* queries skip layers with an earlier until_ms: rotating.c */
    bool content_recorded; /* content_id matches the bits */
    uint64_t content_id;

    const struct store_def *store; /* NULL if the filter has only its own memory */
    struct backing *backing;       /* the store's private data (src/store) */
    /* Bits may be set only after petal_filter_prepare_write(), which may refuse or must notify the
     * store. False while there is permission. */
    atomic_bool needs_permission;
    /* For a writable map, *fork_mark is 0 in a process that was forked from the one that opened the
     * map (os.h). NULL if there is no such page; in that case, every change requests permission. */
    const volatile uint8_t *fork_mark;
};

/* Creates a filter of `layer_count` layers with these normalized shapes, without bits. On failure
 * *filter is NULL. `secret` is for keyed hashes, and is copied. */
petal_status petal_filter_new(const struct shape *shapes, uint32_t layer_count, uint32_t hash,
                              uint64_t seed, const void *secret, const petal_allocator *allocator,
                              petal_filter **filter, petal_error *error);

/* Computes the statistics for petal_get_stats(), except `overfull`. */
void petal_filter_take_stats(const petal_filter *filter, uint32_t layer, petal_stats *stats);

/* Returns the rate of a layer, or of the filter (PETAL_ALL_LAYERS), at its capacity according to
 * the model. Returns NAN if there is no capacity. */
double petal_filter_predicted_rate(const petal_filter *filter, uint32_t layer);

/* Returns true if other filters can be created like this one. Another library's chain can serve as
 * a pattern as long as it has one layer. */
bool petal_filter_is_pattern(const petal_filter *filter);

/* Returns true if the filter can be folded: see fold.c. */
bool petal_filter_can_fold(const petal_filter *filter);

/* The first call returns true if several threads can add to the filter. The second call ends
 * sharing, after all threads have finished. */
bool petal_filter_can_share(const petal_filter *filter);
void petal_filter_stop_sharing(petal_filter *filter);

/* Allocates zeroed bits for every layer, or for one layer. */
petal_status petal_filter_alloc_bits(petal_filter *filter, petal_error *error);
petal_status petal_filter_alloc_layer(petal_filter *filter, struct layer *layer,
                                      petal_error *error);

/* Sets the shape of a zeroed layer to this normalized shape, without allocating bits. */
void petal_layer_set_shape(struct layer *layer, const struct shape *shape,
                           const struct hash_def *hash);

/* Returns the address of a layer's bits in its memory. The address is aligned to a line if there is
 * room. */
uint8_t *petal_layer_bits(const struct layer *layer);

/* Appends a layer with its own zeroed bits. */
petal_status petal_filter_add_layer(petal_filter *filter, const struct shape *shape,
                                    petal_error *error);

/* Removes `count` layers, starting with layer `from`. At least one layer must remain. */
void petal_filter_drop_layers(petal_filter *filter, uint32_t from, uint32_t count);

/* Returns the number of keys in one layer. petal_filter_items() and petal_filter_capacity() return
 * totals over all layers. */
uint64_t petal_layer_items(const petal_filter *filter, uint32_t layer);
/* Adds the threads' counts to the layers' counts. Call this function before a layer's count
 * changes. */
void petal_filter_settle_items(petal_filter *filter);
uint64_t petal_filter_items(const petal_filter *filter);
uint64_t petal_filter_capacity(const petal_filter *filter);

/* Replaces the filter's origin with a copy of this origin. */
petal_status petal_filter_set_origin(petal_filter *filter, const struct origin *origin,
                                     petal_error *error);

/* Replaces the filter's metadata with a copy of these bytes. */
petal_status petal_filter_set_metadata(petal_filter *filter, const void *metadata,
                                       uint64_t metadata_bytes, petal_error *error);

/* Chooses the functions that add keys and look them up (ways.c). Call it after any of these
 * changes: the number of layers, their addresses or the addresses of their bits, policy, grow,
 * sharing, read_only, store or refuse_overfull. */
void petal_filter_choose_strategy(petal_filter *filter);

static inline struct layer *petal_filter_last(const petal_filter *filter)
{
    return &filter->layers[filter->layer_count - 1];
}

/* Returns the arrays of layers `from` to `to` - 1. */
static inline struct arrays petal_filter_arrays(const petal_filter *filter, uint32_t from,
                                                uint32_t to)
{
    return (struct arrays){&filter->layers[from].array, sizeof *filter->layers, to - from};
}

/* Returns true if the filter has one layer and will never have another, which means that this layer
 * contains the bits of all keys. */
static inline bool petal_filter_is_single(const petal_filter *filter)
{
    return filter->policy.kind == POLICY_NONE && (!filter->grow || filter->is_fixed) &&
           filter->layer_count == 1 && !filter->scheme->is_in_turn;
}

/* Returns true if the bits belong to a map or a view. */
static inline bool petal_filter_has_foreign_bits(const petal_filter *filter)
{
    return filter->store && filter->store->has_bits;
}

/* Returns true if the filter's layers are generations, which are added and dropped. */
static inline bool petal_filter_rotates(const petal_filter *filter)
{
    return filter->policy.kind == POLICY_KEYS || filter->policy.kind == POLICY_TIME;
}

/* Returns true if a layer counts only keys that were new to it. Otherwise it counts every added
 * key. */
static inline bool petal_filter_counts_new_only(const petal_filter *filter)
{
    return filter->scheme->counts_new_only || filter->policy.kind == POLICY_GROWING ||
           filter->policy.kind == POLICY_TIME;
}

/* Records a failed call's error for petal_last_error(), unless one is already recorded.
 * Thread-safe. Returns `status`; success is not recorded. A public call that changes, saves or
 * checks a filter ends like this:
 *     petal_error own;
 *     if (!error) error = &own;
 *     return petal_filter_note_error(filter, the_work(filter, error), error); */
petal_status petal_filter_note_error(const petal_filter *filter, petal_status status,
                                     const petal_error *error);

/* Makes the filter permanently read-only. */
void petal_filter_refuse_changes(petal_filter *filter);

/* Records that any bit may change for reasons other than adding keys. Before this call, check all
 * bits, unless all of them will be overwritten. */
void petal_filter_touch_all(petal_filter *filter);

/* Returns PETAL_OK if both filters have the same parameters (so equal bits mean equal keys).
 * Otherwise returns PETAL_ERR_MISMATCH, with the name of the parameter that differs. */
petal_status petal_filter_check_alike(const petal_filter *a, const petal_filter *b,
                                      petal_error *error);

/* These calls are parts of petal_filter_check_alike(). The first compares scheme, hash, and seed or
 * secret. The second compares two layers' shapes. */
petal_status petal_filter_check_kin(const petal_filter *a, const petal_filter *b,
                                    petal_error *error);
petal_status petal_filter_check_shapes_alike(const struct shape *a, const struct shape *b,
                                             petal_error *error);

/* Returns the mean number of distinct bits that a key sets. */
double petal_filter_bits_per_key(const struct scheme_def *scheme, const struct shape *shape);

/* Counts set positions and saturated counters in these bytes of an array. Counting schemes need
 * whole lines. */
struct counts petal_filter_count(const struct scheme_def *scheme, const uint8_t *bytes,
                                 uint64_t size_bytes);

/* Estimates the number of distinct keys from the number of set bits. If every bit is set, the
 * estimate is infinite. */
petal_estimate petal_filter_estimate_items(const struct scheme_def *scheme,
                                           const struct shape *shape, uint64_t bits_set);

/* Estimates the number of distinct keys in the whole filter, from its current bits. */
petal_estimate petal_filter_estimate_distinct(const petal_filter *filter);

/* Returns true if the estimate shows that the number of keys exceeds `capacity`, or is too large to
 * estimate. */
bool petal_filter_is_too_much(const petal_estimate *items, uint64_t capacity);

/* Derives the answer for petal_is_overfull() from the number of distinct keys estimated from the
 * bits. The answer is cached for the next call. */
bool petal_filter_judge_overfull(const petal_filter *filter, const petal_estimate *distinct);

/* Returns the answer from the last time the bits were counted, or false if they were never
 * counted. */
bool petal_filter_was_overfull(const petal_filter *filter);

/* Returns the number of keys, at least 1, that may be added until petal_is_overfull() counts the
 * bits again. */
uint64_t petal_filter_keys_to_next_step(const petal_filter *filter);

#endif
