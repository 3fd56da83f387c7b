/* filter.h - the handle: bit arrays with their scheme and hash, and what is known about their
 * keys. */
#ifndef PETAL_FILTER_FILTER_H
#define PETAL_FILTER_FILTER_H

#include "hash/hash.h"
#include "scheme/scheme.h"

/* One bit array and what is known about its keys. Most filters have one layer; growing and rotating
 * ones have several. */
struct layer {
    struct bit_array array;
    uint64_t capacity;  /* 0: not recorded */
    double target_rate; /* NAN: not recorded */
    uint64_t items;
    uint64_t until_ms;          /* rotating by time: see rotating.c; 0 until the clock is set */
    void *own_lines;            /* holds the bits; NULL if they are borrowed or mapped */
    uint64_t own_bytes;         /* its size */
    _Atomic uint64_t predicted; /* model's rate at capacity, as the bits of a double; 0: unknown */
    /* an enum block_state per block, for a map that is writable or guarded; otherwise NULL */
    uint8_t *blocks;
};

/* Why a filter has several layers, and how they change: see growing.c and rotating.c;
 * docs/format.md says how it is stored. */
enum policy_kind { POLICY_NONE = 0, POLICY_GROWING = 1, POLICY_KEYS = 2, POLICY_TIME = 3 };
struct policy {
    enum policy_kind kind;
    double rate;             /* requested for the whole filter */
    uint64_t first_capacity; /* growing: the first layer's */
    uint32_t step;           /* growing: each layer's capacity relative to the one before */
    double ratio;            /* growing: each layer's rate relative to the one before */
    uint64_t window_keys;    /* rotating: keys per window; by time, the maximum expected */
    uint64_t window_ms;      /* rotating by time */
    uint64_t clock_ms;       /* rotating by time: the latest time; 0: none yet */
    uint32_t generations;    /* rotating: as planned */
};

/* Data of another format for which the filter has no field, kept so that the file can be written
 * back byte for byte. Only the format knows what it means (src/format). */
#define PETAL_ORIGIN_NEAR_BYTES 48u
struct origin {
    uint32_t format; /* the format's number; 0: none */
    uint32_t size_bytes;
    uint8_t near[PETAL_ORIGIN_NEAR_BYTES]; /* up to that many bytes; zero after size_bytes */
    const uint8_t *far; /* more bytes than that; owned by a filter, borrowed by a description */
};

static inline const uint8_t *origin_bytes(const struct origin *origin)
{
    return origin->size_bytes > PETAL_ORIGIN_NEAR_BYTES ? origin->far : origin->near;
}

/* State of a filter that several threads add to. */
struct sharing {
    struct stripes stripes;
    /* locked by the thread that requests permission, while other threads may still count keys */
    _Atomic uint64_t asking;
};

/* Ways to lower bits: by decrementing counters, or by any other change. */
enum lowering { LOWERING_COUNTS, LOWERING_BITS };

/* The first failure of a filter's calls (failure.c). */
struct failure {
    atomic_int state;
    petal_error error;
};

/* The direct functions that a guard protects (ways.c). */
struct behind_guard {
    bool (*contains)(const struct direct *way, const void *key, size_t key_bytes);
    bool (*contains_i64)(const struct direct *way, int64_t value);
};

/* How a filter is stored, unless it has only its own memory: one row per kind of storage
 * (store/backing.c), fixed for the filter's lifetime. If a function is NULL, there is nothing to
 * do. */
struct store_def {
    bool has_bits; /* the store holds the bits: they can't be moved or grow */
    /* Requests permission to set bits, or to lower them. Permission to set lasts until
     * needs_permission is set again. */
    petal_status (*before_write)(petal_filter *filter, petal_error *error);
    petal_status (*before_lowering)(petal_filter *filter, enum lowering lowering,
                                    petal_error *error);
    /* PETAL_ERR_READ_ONLY if this process is a fork of the one that opened the file. */
    petal_status (*check_owner)(const petal_filter *filter, petal_error *error);
    /* Do the bits match the recorded sums? check_wanted checks the blocks that are BLOCK_WANTED.
     * check_bits checks all blocks, before the bits are sealed elsewhere, and check_unchanged finds
     * out afterwards whether they are still the same. */
    petal_status (*check_wanted)(petal_filter *filter, petal_error *error);
    petal_status (*check_bits)(const petal_filter *filter, petal_error *error);
    petal_status (*check_unchanged)(const petal_filter *filter, petal_error *error);
    /* Do this block's bits match its sum? Any number of threads may call this. Records the block's
     * state, and damage. */
    petal_status (*check_block)(const petal_filter *filter, uint32_t layer, uint64_t block,
                                petal_error *error);
    /* PETAL_ERR_DAMAGED with the first block found damaged, if any. O(1). */
    petal_status (*first_damage)(const petal_filter *filter, petal_error *error);
    void (*close)(petal_filter *filter); /* releases everything that the store holds */
};

struct petal_filter {
    /* The functions for one key, first because every call reads them: direct ones if they exist,
     * otherwise those that use the strategy. */
    struct direct direct;
    /* The direct add of a growing filter with a single layer; valid only until that is full. */
    petal_status (*add_directly)(const struct direct *way, const void *key, size_t key_bytes);
    petal_status (*add_i64_directly)(const struct direct *way, int64_t value);
    /* oldest first, at least one. A key is in the filter if any layer contains it; new keys are
     * added to the last */
    struct layer *layers;
    uint32_t layer_count;
    uint32_t layer_room; /* the number of layers that `layers` has room for */
    const struct scheme_def *scheme;
    /* Chosen once and stored here: no global state, and tests can force it. */
    const struct kernel *kernel;
    const struct hash_def *hash;
    struct hash_key hash_key;

    const struct key_strategy *strategy;  /* how keys are added and looked up: strategy.h */
    struct sharing *sharing;              /* for several threads that add; NULL: one at a time */
    struct petal_static_builder *builder; /* collects the keys of a static filter; NULL: built */

    petal_allocator allocator;
    struct policy policy;
    struct origin origin;
    void *metadata;
    uint64_t metadata_bytes;
    uint64_t recovered_blocks, blocks_compared; /* see petal_info */
    _Atomic uint64_t unchecked;                 /* blocks of a map not checked yet, or damaged */
    bool is_guarded;                            /* queries must check blocks: guard.h */
    struct behind_guard behind_guard;
    bool live;         /* another process is changing the bits */
    bool read_only;    /* opened or viewed read-only, or frozen */
    bool lacks_secret; /* a keyed header was opened without its secret; if so, secret_id is valid */
    uint32_t secret_id;
    uint32_t key_type;
    uint32_t file_format; /* number of the format that it was opened from; 0: made in memory */
    /* for the next layer, as given when opening: 0 for the default; UINT64_MAX for none */
    uint64_t memory_limit;
    bool refuse_overfull;
    struct failure failure;
    uint64_t removals; /* keys removed since the filter was created or opened */
    /* overfull.c's result when it last counted the bits; 0: never */
    _Atomic uint64_t overfull;

    /* Called for a new key if the last layer is full. NULL: the layer is filled further. */
    petal_status (*grow)(petal_filter *filter, petal_error *error);
    bool is_fixed;         /* grow always refuses: there is never another layer */
    uint64_t cutoff_ms;    /* queries skip layers whose until_ms is earlier: rotating.c */
    bool content_recorded; /* content_id matches the bits */
    uint64_t content_id;

    const struct store_def *store; /* NULL: only its own memory */
    struct backing *backing;       /* private data of the store (src/store) */
    /* Bits may be set only after petal_filter_prepare_write(), which may refuse or must notify the
     * store. False once permission has been granted permanently. */
    atomic_bool needs_permission;
    /* For a writable map: is 0 in a fork of the process that opened it (os.h). NULL: there is no
     * such page, so every change requests permission. */
    const volatile uint8_t *fork_mark;
};

/* Creates a filter of `layer_count` layers with these normalized shapes, without bits. *filter is
 * NULL on failure. `secret` is for keyed hashes and is copied. */
petal_status petal_filter_new(const struct shape *shapes, uint32_t layer_count, uint32_t hash,
                              uint64_t seed, const void *secret, const petal_allocator *allocator,
                              petal_filter **filter, petal_error *error);

/* The statistics of petal_get_stats(), except `overfull`. */
void petal_filter_take_stats(const petal_filter *filter, uint32_t layer, petal_stats *stats);

/* The model's rate of a layer, or of the filter (PETAL_ALL_LAYERS), at its capacity. NAN if it has
 * no capacity. */
double petal_filter_predicted_rate(const petal_filter *filter, uint32_t layer);

/* Can other filters be created like this one? That includes another library's chain while it has
 * one layer. */
bool petal_filter_is_pattern(const petal_filter *filter);

/* Can the filter be folded? See fold.c. */
bool petal_filter_can_fold(const petal_filter *filter);

/* Can several threads add to the filter? The second call ends sharing, once all threads have
 * finished. */
bool petal_filter_can_share(const petal_filter *filter);
void petal_filter_stop_sharing(petal_filter *filter);

/* Allocates zeroed bits for every layer, or for one. */
petal_status petal_filter_alloc_bits(petal_filter *filter, petal_error *error);
petal_status petal_filter_alloc_layer(petal_filter *filter, struct layer *layer,
                                      petal_error *error);

/* Gives this normalized shape, without bits, to a zeroed layer. */
void petal_layer_set_shape(struct layer *layer, const struct shape *shape,
                           const struct hash_def *hash);

/* The address of a layer's bits in its memory: aligned to a line if there is room. */
uint8_t *petal_layer_bits(const struct layer *layer);

/* Appends a layer with its own zeroed bits. */
petal_status petal_filter_add_layer(petal_filter *filter, const struct shape *shape,
                                    petal_error *error);

/* Removes `count` layers, starting with number `from`; at least one must stay. */
void petal_filter_drop_layers(petal_filter *filter, uint32_t from, uint32_t count);

/* Sums over all layers, and one layer's number of keys. */
uint64_t petal_layer_items(const petal_filter *filter, uint32_t layer);
/* Adds the threads' counts to the layers' counts. Must be called before a layer's count changes. */
void petal_filter_settle_items(petal_filter *filter);
uint64_t petal_filter_items(const petal_filter *filter);
uint64_t petal_filter_capacity(const petal_filter *filter);

/* Replaces the origin by a copy. */
petal_status petal_filter_set_origin(petal_filter *filter, const struct origin *origin,
                                     petal_error *error);

/* Replaces the metadata by a copy. */
petal_status petal_filter_set_metadata(petal_filter *filter, const void *metadata,
                                       uint64_t metadata_bytes, petal_error *error);

/* Chooses again how keys are added and looked up (ways.c). Call it after any change of the number
 * of layers, of their addresses or their bits' addresses, of policy, grow, sharing, read_only,
 * store or refuse_overfull. */
void petal_filter_choose_strategy(petal_filter *filter);

static inline struct layer *petal_filter_last(const petal_filter *filter)
{
    return &filter->layers[filter->layer_count - 1];
}

/* The arrays of layers `from` to `to` - 1. */
static inline struct arrays petal_filter_arrays(const petal_filter *filter, uint32_t from,
                                                uint32_t to)
{
    return (struct arrays){&filter->layers[from].array, sizeof *filter->layers, to - from};
}

/* Does the filter have one layer, and will it never have another? If so, that layer has the bits of
 * all keys. */
static inline bool petal_filter_is_single(const petal_filter *filter)
{
    return filter->policy.kind == POLICY_NONE && (!filter->grow || filter->is_fixed) &&
           filter->layer_count == 1 && !filter->scheme->is_in_turn;
}

/* Do the bits belong to a map or a view? */
static inline bool petal_filter_has_foreign_bits(const petal_filter *filter)
{
    return filter->store && filter->store->has_bits;
}

/* Are the layers generations, which are added and dropped? */
static inline bool petal_filter_rotates(const petal_filter *filter)
{
    return filter->policy.kind == POLICY_KEYS || filter->policy.kind == POLICY_TIME;
}

/* Does a layer count only keys that were new to it? If not, it counts every added key. */
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

/* Records that any bit may change, and not only by adding keys. The bits must have been checked, or
 * will all be overwritten. */
void petal_filter_touch_all(petal_filter *filter);

/* PETAL_OK if both have the same parameters, so that equal bits mean equal keys; otherwise
 * PETAL_ERR_MISMATCH with the field's name. */
petal_status petal_filter_check_alike(const petal_filter *a, const petal_filter *b,
                                      petal_error *error);

/* Parts of that check: scheme, hash, and seed or secret; and a layer's shape. */
petal_status petal_filter_check_kin(const petal_filter *a, const petal_filter *b,
                                    petal_error *error);
petal_status petal_filter_check_shapes_alike(const struct shape *a, const struct shape *b,
                                             petal_error *error);

/* The mean number of distinct bits that a key sets. */
double petal_filter_bits_per_key(const struct scheme_def *scheme, const struct shape *shape);

/* Counts set positions in these bytes of an array, and stuck counters. For counting schemes, whole
 * lines only. */
struct counts petal_filter_count(const struct scheme_def *scheme, const uint8_t *bytes,
                                 uint64_t size_bytes);

/* Estimates distinct keys from the number of set bits. The value is infinite if every bit is
 * set. */
petal_estimate petal_filter_estimate_items(const struct scheme_def *scheme,
                                           const struct shape *shape, uint64_t bits_set);

/* The same for the whole filter and its current bits. */
petal_estimate petal_filter_estimate_distinct(const petal_filter *filter);

/* Is the number certainly above `capacity`, or too large to estimate? */
bool petal_filter_is_too_much(const petal_estimate *items, uint64_t capacity);

/* Sets the answer of petal_is_overfull() after the distinct keys have been estimated from the bits.
 * It is cached for the next call. */
bool petal_filter_judge_overfull(const petal_filter *filter, const petal_estimate *distinct);

/* The answer when the bits were last counted; false if they never were. */
bool petal_filter_was_overfull(const petal_filter *filter);

/* How many keys may be added until petal_is_overfull() counts again: at least 1. */
uint64_t petal_filter_keys_to_next_step(const petal_filter *filter);

#endif
