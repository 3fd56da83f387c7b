/* filter.h - the handle: bit arrays, their scheme and hash, and what is known about their keys. */
#ifndef PETAL_FILTER_FILTER_H
#define PETAL_FILTER_FILTER_H

#include "hash/hash.h"
#include "scheme/scheme.h"

/* A bit array, and what is known about its keys. Most filters have one layer. Growing and rotating
 * filters have several. */
struct layer {
    struct bit_array array;
    uint64_t capacity;  /* 0 if not recorded */
    double target_rate; /* NAN: not recorded */
    uint64_t items;
    uint64_t until_ms; /* rotating by time: see rotating.c; 0 until the clock is set */
    /* The memory that holds the bits. NULL if they are borrowed or mapped. */
    void *own_lines;
    uint64_t own_bytes; /* size of that memory */
    /* The model's rate at capacity, as the bits of a double. 0 if unknown. */
    _Atomic uint64_t predicted;
    /* An enum block_state per block, if the layer is in a map that is writable or guarded;
     * otherwise NULL. */
    uint8_t *blocks;
};

/* Why a filter has several layers, and how they change: see growing.c and rotating.c.
 * docs/format.md says how files store that. */
enum policy_kind { POLICY_NONE = 0, POLICY_GROWING = 1, POLICY_KEYS = 2, POLICY_TIME = 3 };
struct policy {
    enum policy_kind kind;
    double rate;             /* requested for the whole filter */
    uint64_t first_capacity; /* growing: capacity of the first layer */
    uint32_t step;           /* growing: capacity of each layer, relative to the previous one */
    double ratio;            /* growing: rate of each layer, relative to the previous one */
    uint64_t window_keys;    /* rotating: keys per window; by time, the maximum that is expected */
    uint64_t window_ms;      /* rotating by time */
    uint64_t clock_ms;       /* rotating by time: the latest time, or 0 if not set yet */
    uint32_t generations;    /* rotating: the planned number */
};

/* Data of another format for which the filter has no field. They are kept so that the file can be
 * written back byte for byte. Only the format knows what they mean (src/format). */
#define PETAL_ORIGIN_NEAR_BYTES 48u
struct origin {
    uint32_t format; /* the format's number, or 0 */
    uint32_t size_bytes;
    uint8_t near[PETAL_ORIGIN_NEAR_BYTES]; /* up to this many bytes; zero after size_bytes */
    /* Used if there are more bytes. A filter owns them, and a description borrows them. */
    const uint8_t *far;
};

static inline const uint8_t *origin_bytes(const struct origin *origin)
{
    return origin->size_bytes > PETAL_ORIGIN_NEAR_BYTES ? origin->far : origin->near;
}

/* The state of a filter that several threads add to. */
struct sharing {
    struct stripes stripes;
    /* Locked by the thread that requests permission. Other threads may still count keys. */
    _Atomic uint64_t asking;
};

/* The ways to lower bits: decrementing counters, or any other change. */
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

/* How a filter is stored, unless it has only its own memory. There is one row per kind of storage
 * (store/backing.c), and it never changes for a filter. If a function is NULL, there is nothing to
 * do. */
struct store_def {
    bool has_bits; /* the store holds the bits, so they can't move or grow */
    /* Requests permission to set bits, or to lower them. Permission to set bits lasts until
     * needs_permission is set again. */
    petal_status (*before_write)(petal_filter *filter, petal_error *error);
    petal_status (*before_lowering)(petal_filter *filter, enum lowering lowering,
                                    petal_error *error);
    /* Returns PETAL_ERR_READ_ONLY if this process was forked from the one that opened the file. */
    petal_status (*check_owner)(const petal_filter *filter, petal_error *error);
    /* These check that the bits match the recorded sums. check_wanted checks the blocks that are
     * BLOCK_WANTED. check_bits checks all blocks before the bits get sums elsewhere, and
     * check_unchanged then finds out whether they are still the same. */
    petal_status (*check_wanted)(petal_filter *filter, petal_error *error);
    petal_status (*check_bits)(const petal_filter *filter, petal_error *error);
    petal_status (*check_unchanged)(const petal_filter *filter, petal_error *error);
    /* Checks that this block's bits match its sum. Any number of threads may call this. It records
     * the block's state, and damage. */
    petal_status (*check_block)(const petal_filter *filter, uint32_t layer, uint64_t block,
                                petal_error *error);
    /* Returns PETAL_ERR_DAMAGED with the first block that was found damaged, if any. O(1). */
    petal_status (*first_damage)(const petal_filter *filter, petal_error *error);
    void (*close)(petal_filter *filter); /* releases everything that the store holds */
};

struct petal_filter {
    /* The functions for one key. They are first because every call reads them. They are the direct
     * ones if these exist, and otherwise use the strategy. */
    struct direct direct;
    /* The direct add of a growing filter with a single layer. It is valid only until that layer is
     * full. */
    petal_status (*add_directly)(const struct direct *way, const void *key, size_t key_bytes);
    petal_status (*add_i64_directly)(const struct direct *way, int64_t value);
    /* At least one, oldest first. A key is in the filter if any layer contains it. New keys are
     * added to the last layer. */
    struct layer *layers;
    uint32_t layer_count;
    uint32_t layer_room; /* `layers` has room for this many */
    const struct scheme_def *scheme;
    /* Chosen once and stored here, so there is no global state and tests can choose. */
    const struct kernel *kernel;
    const struct hash_def *hash;
    struct hash_key hash_key;

    const struct key_strategy *strategy; /* see strategy.h */
    struct sharing *sharing;             /* if several threads add, otherwise NULL */
    /* Collects the keys of a static filter. NULL after it has been built. */
    struct petal_static_builder *builder;

    petal_allocator allocator;
    struct policy policy;
    struct origin origin;
    void *metadata;
    uint64_t metadata_bytes;
    uint64_t recovered_blocks, blocks_compared; /* see petal_info */
    /* Blocks of a map that are not checked yet, or damaged. */
    _Atomic uint64_t unchecked;
    bool is_guarded; /* queries must check blocks first: guard.h */
    struct behind_guard behind_guard;
    bool live;      /* another process is changing the bits */
    bool read_only; /* opened or viewed read-only, or frozen */
    /* The header of a keyed filter was opened without the secret. Then secret_id is valid. */
    bool lacks_secret;
    uint32_t secret_id;
    uint32_t key_type;
    uint32_t file_format; /* the format from which it was opened, or 0 if it was made in memory */
    /* For the next layer, as given when opening. 0 means the default, and UINT64_MAX no limit. */
    uint64_t memory_limit;
    bool refuse_overfull;
    struct failure failure;
    uint64_t removals; /* keys removed since it was created or opened */
    /* Result of overfull.c when it last counted the bits, or 0 if it never did. */
    _Atomic uint64_t overfull;

    /* Called for a new key if the last layer is full. If it is NULL, the key is added to the last
     * layer. */
    petal_status (*grow)(petal_filter *filter, petal_error *error);
    bool is_fixed;         /* grow always refuses, so there is never another layer */
    uint64_t cutoff_ms;    /* queries skip layers with an earlier until_ms: rotating.c */
    bool content_recorded; /* content_id matches the bits */
    uint64_t content_id;

    const struct store_def *store; /* NULL if the filter has only its own memory */
    struct backing *backing;       /* the store's private data (src/store) */
    /* Bits may be set only after petal_filter_prepare_write(), which may refuse or must notify the
     * store. Returns false if permission has been granted permanently. */
    atomic_bool needs_permission;
    /* In a writable map, this reads 0 in a process that was forked from the one that opened it
     * (os.h). NULL if there is no such page; then every change requests permission. */
    const volatile uint8_t *fork_mark;
};

/* Creates a filter of `layer_count` layers with these normalized shapes, without bits. If it fails,
 * *filter is NULL. `secret` is for keyed hashes, and is copied. */
petal_status petal_filter_new(const struct shape *shapes, uint32_t layer_count, uint32_t hash,
                              uint64_t seed, const void *secret, const petal_allocator *allocator,
                              petal_filter **filter, petal_error *error);

/* Gets the statistics of petal_get_stats(), except `overfull`. */
void petal_filter_take_stats(const petal_filter *filter, uint32_t layer, petal_stats *stats);

/* Returns the model's rate of a layer, or of the filter (PETAL_ALL_LAYERS), at its capacity. NAN if
 * it has no capacity. */
double petal_filter_predicted_rate(const petal_filter *filter, uint32_t layer);

/* Returns true if other filters can be created like this one. Another library's chain can be a
 * pattern while it has one layer. */
bool petal_filter_is_pattern(const petal_filter *filter);

/* Returns true if the filter can be folded: see fold.c. */
bool petal_filter_can_fold(const petal_filter *filter);

/* The first returns true if several threads can add to the filter. The second ends sharing, after
 * all threads have finished. */
bool petal_filter_can_share(const petal_filter *filter);
void petal_filter_stop_sharing(petal_filter *filter);

/* Allocates zeroed bits for every layer, or for one layer. */
petal_status petal_filter_alloc_bits(petal_filter *filter, petal_error *error);
petal_status petal_filter_alloc_layer(petal_filter *filter, struct layer *layer,
                                      petal_error *error);

/* Sets this normalized shape in a zeroed layer, without bits. */
void petal_layer_set_shape(struct layer *layer, const struct shape *shape,
                           const struct hash_def *hash);

/* Returns the address of a layer's bits in its memory. It is aligned to a line if there is room. */
uint8_t *petal_layer_bits(const struct layer *layer);

/* Appends a layer with its own zeroed bits. */
petal_status petal_filter_add_layer(petal_filter *filter, const struct shape *shape,
                                    petal_error *error);

/* Removes `count` layers, starting with layer `from`. At least one layer must stay. */
void petal_filter_drop_layers(petal_filter *filter, uint32_t from, uint32_t count);

/* Sums over all layers, and the number of keys in one layer. */
uint64_t petal_layer_items(const petal_filter *filter, uint32_t layer);
/* Adds the threads' counts to the layers' counts. Call it before a layer's count changes. */
void petal_filter_settle_items(petal_filter *filter);
uint64_t petal_filter_items(const petal_filter *filter);
uint64_t petal_filter_capacity(const petal_filter *filter);

/* Replaces the origin with a copy of this one. */
petal_status petal_filter_set_origin(petal_filter *filter, const struct origin *origin,
                                     petal_error *error);

/* Replaces the metadata with a copy of these bytes. */
petal_status petal_filter_set_metadata(petal_filter *filter, const void *metadata,
                                       uint64_t metadata_bytes, petal_error *error);

/* Chooses again how keys are added and looked up (ways.c). Call it after a change of the number of
 * layers, of their addresses or their bits' addresses, of policy, grow, sharing, read_only, store
 * or refuse_overfull. */
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

/* Returns true if the filter has one layer and will never have another, so that this layer has the
 * bits of all keys. */
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

/* Returns true if the layers are generations, which come and go. */
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

/* Makes the filter read-only. */
void petal_filter_refuse_changes(petal_filter *filter);

/* Records that any bit may change, for reasons other than adding keys. The bits must have been
 * checked, or all of them will be overwritten. */
void petal_filter_touch_all(petal_filter *filter);

/* Returns PETAL_OK if both have the same parameters, so that equal bits mean equal keys. Otherwise
 * returns PETAL_ERR_MISMATCH with the name of the parameter. */
petal_status petal_filter_check_alike(const petal_filter *a, const petal_filter *b,
                                      petal_error *error);

/* Parts of that check. The first compares scheme, hash, and seed or secret. The second compares a
 * layer's shape. */
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

/* Estimates the number of distinct keys from the number of set bits. The value is infinite if every
 * bit is set. */
petal_estimate petal_filter_estimate_items(const struct scheme_def *scheme,
                                           const struct shape *shape, uint64_t bits_set);

/* The same for the whole filter and its present bits. */
petal_estimate petal_filter_estimate_distinct(const petal_filter *filter);

/* Returns true if the number is known to be above `capacity`, or too large to estimate. */
bool petal_filter_is_too_much(const petal_estimate *items, uint64_t capacity);

/* Sets the answer of petal_is_overfull() after the number of distinct keys has been estimated from
 * the bits. The answer is cached for the next call. */
bool petal_filter_judge_overfull(const petal_filter *filter, const petal_estimate *distinct);

/* Returns the answer from the last time that the bits were counted, or false if they never were. */
bool petal_filter_was_overfull(const petal_filter *filter);

/* Returns how many keys may be added until petal_is_overfull() counts again, at least 1. */
uint64_t petal_filter_keys_to_next_step(const petal_filter *filter);

#endif
