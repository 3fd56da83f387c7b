/* filter.h - the handle: a bit array with its scheme, its hash and what is known of its keys. */
#ifndef PETAL_FILTER_FILTER_H
#define PETAL_FILTER_FILTER_H

#include "hash/hash.h"
#include "scheme/scheme.h"

/* One bit array with what is known of its keys. Most filters have one layer; those that grow have
 * several. */
struct layer {
    struct bit_array array;
    uint64_t capacity;  /* 0: not recorded */
    double target_rate; /* NAN: not recorded */
    uint64_t items;
    uint64_t until_ms;  /* rotating by time: see rotating.c; 0 until the clock is set */
    void *own_lines;    /* what the bits were allocated as; NULL if they are borrowed or mapped */
    uint64_t own_bytes; /* and how much that is */
    _Atomic uint64_t predicted; /* the model's rate at capacity, as a double; 0: not computed yet */
    /* an enum block_state per block, of a map that is for writing or guarded; NULL otherwise */
    uint8_t *blocks;
};

/* Why a filter has several layers, and what becomes of them. growing.c and rotating.c say how;
 * docs/format.md where it is kept. */
enum policy_kind { POLICY_NONE = 0, POLICY_GROWING = 1, POLICY_KEYS = 2, POLICY_TIME = 3 };
struct policy {
    enum policy_kind kind;
    double rate;             /* asked of the whole filter */
    uint64_t first_capacity; /* growing: of the first layer */
    uint32_t step; /* growing: each layer is for that many times the keys of the one before */
    double ratio;  /* growing: and has this part of its rate */
    uint64_t window_keys; /* rotating: keys of a window; by time, as many as are expected */
    uint64_t window_ms;   /* rotating by time */
    uint64_t clock_ms;    /* rotating by time: the latest time; 0: none yet */
    uint32_t generations; /* rotating: as planned */
};

/* What another container has to say that the filter itself has no place for: kept, so that the file
 * can be written back byte for byte. Its meaning belongs to the format (src/format). */
#define PETAL_ORIGIN_NEAR_BYTES 48u
struct origin {
    uint32_t format; /* number of the container; 0: none */
    uint32_t size_bytes;
    uint8_t near[PETAL_ORIGIN_NEAR_BYTES]; /* up to that many bytes; zero beyond size_bytes */
    const uint8_t *far; /* more than that; a filter owns them, a description borrows them */
};

static inline const uint8_t *origin_bytes(const struct origin *origin)
{
    return origin->size_bytes > PETAL_ORIGIN_NEAR_BYTES ? origin->far : origin->near;
}

/* What a filter has that several threads add to. */
struct sharing {
    struct stripes stripes;
    /* held like a stripe while one thread asks for permission; in those, others may count keys */
    _Atomic uint64_t asking;
};

/* How bits are lowered: by counting down keys, or in any other way. */
enum lowering { LOWERING_COUNTS, LOWERING_BITS };

/* The first failure of a filter's calls (failure.c). */
struct failure {
    atomic_int state;
    petal_error error;
};

/* The ways of one key that a guard stands before (ways.c). */
struct behind_guard {
    bool (*contains)(const struct direct *way, const void *key, size_t key_bytes);
    bool (*contains_i64)(const struct direct *way, int64_t value);
};

/* What a filter stands on that is not just memory of its own: a row for each kind
 * (store/backing.c), for as long as the filter lives. A function that is NULL has nothing to do. */
struct store_def {
    bool has_bits; /* it holds the bits: there is no other place for them, and no room for more */
    /* Permission to set bits, and to lower them. The first holds for all that follow, until
     * needs_permission is set again. */
    petal_status (*before_write)(petal_filter *filter, petal_error *error);
    petal_status (*before_lowering)(petal_filter *filter, enum lowering lowering,
                                    petal_error *error);
    /* PETAL_ERR_READ_ONLY in a fork of the process that opened the file. */
    petal_status (*check_owner)(const petal_filter *filter, petal_error *error);
    /* Are the bits those of the recorded sums? In blocks that are BLOCK_WANTED; in all, before they
     * are sealed elsewhere; and after that, are they still the same? */
    petal_status (*check_wanted)(petal_filter *filter, petal_error *error);
    petal_status (*check_bits)(const petal_filter *filter, petal_error *error);
    petal_status (*check_unchanged)(const petal_filter *filter, petal_error *error);
    /* Are the bits of this block those of its sum? Any number of threads may ask. Notes its state,
     * and damage. */
    petal_status (*check_block)(const petal_filter *filter, uint32_t layer, uint64_t block,
                                petal_error *error);
    /* PETAL_ERR_DAMAGED, with the first block that was found damaged, if there is one. O(1). */
    petal_status (*first_damage)(const petal_filter *filter, petal_error *error);
    void (*close)(petal_filter *filter); /* gives back all that it holds */
};

struct petal_filter {
    /* The way of one key, the first thing that a call reads: through one function if there is one,
     * else by the strategy. */
    struct direct direct;
    /* Its adding, where that is only for a filter that grows, as long as its one layer has room. */
    petal_status (*add_directly)(const struct direct *way, const void *key, size_t key_bytes);
    petal_status (*add_i64_directly)(const struct direct *way, int64_t value);
    /* oldest first, at least one. A key is in the filter when it is in any; new ones go into the
     * last */
    struct layer *layers;
    uint32_t layer_count;
    uint32_t layer_room; /* how many `layers` has memory for */
    const struct scheme_def *scheme;
    /* Resolved once, here: no global state, and easy to force in tests. */
    const struct kernel *kernel;
    const struct hash_def *hash;
    struct hash_key hash_key;

    const struct key_strategy *strategy; /* how keys go in and are looked up: strategy.h */
    struct sharing *sharing;             /* several threads add; NULL: one at a time */

    petal_allocator allocator;
    struct policy policy;
    struct origin origin;
    void *metadata;
    uint64_t metadata_bytes;
    uint64_t recovered_blocks, blocks_compared; /* see petal_info */
    _Atomic uint64_t unchecked; /* blocks of a map that were not checked, or are damaged */
    bool is_guarded;            /* queries look at that: guard.h */
    struct behind_guard behind_guard;
    bool live;         /* another process changes the bits */
    bool read_only;    /* opened or viewed for reading, or frozen */
    bool lacks_secret; /* a keyed header that was opened without; then its secret_id is here */
    uint32_t secret_id;
    uint32_t key_type;
    /* of the next layer, as given for opening: 0 for the default; UINT64_MAX for none */
    uint64_t memory_limit;
    bool refuse_overfull;
    struct failure failure;
    uint64_t removals; /* keys that were taken out since the filter was made or opened */
    /* What overfull.c found when it last counted the bits; 0: nothing yet. */
    _Atomic uint64_t overfull;

    /* Called when a new key meets a full last layer; NULL: keep filling it. */
    petal_status (*grow)(petal_filter *filter, petal_error *error);
    bool is_fixed;         /* grow only refuses: there is never another layer */
    uint64_t cutoff_ms;    /* queries leave out layers whose until_ms is before this: rotating.c */
    bool content_recorded; /* content_id is that of the bits */
    uint64_t content_id;

    const struct store_def *store; /* NULL: memory of its own, and nothing else */
    struct backing *backing;       /* what that needs (src/store) */
    /* Bits are set after petal_filter_prepare_write() only: it may be refused, or the store must
     * know. Cleared where it has been given once for all. */
    atomic_bool needs_permission;
    /* Of a map for writing: becomes 0 in a fork of the process that opened it (os.h). NULL: nothing
     * tells, so permission is asked for each change. */
    const volatile uint8_t *fork_mark;
};

/* A filter of that many layers of these normalized shapes, without bits. *filter is NULL on
 * failure.
 * `secret` is for keyed hashes and is copied. */
petal_status petal_filter_new(const struct shape *shapes, uint32_t layer_count, uint32_t hash,
                              uint64_t seed, const void *secret, const petal_allocator *allocator,
                              petal_filter **filter, petal_error *error);

/* What petal_get_stats() says, except `overfull`. */
void petal_filter_take_stats(const petal_filter *filter, uint32_t layer, petal_stats *stats);

/* The model's rate of a layer, or of the filter (PETAL_ALL_LAYERS), at its capacity; NAN without
 * one. */
double petal_filter_predicted_rate(const petal_filter *filter, uint32_t layer);

/* Can others be made like it? A chain of another library too, as long as it has one layer. */
bool petal_filter_is_pattern(const petal_filter *filter);

/* Can it be made smaller? fold.c */
bool petal_filter_can_fold(const petal_filter *filter);

/* Can several threads add to it? And no longer, once they have ended. */
bool petal_filter_can_share(const petal_filter *filter);
void petal_filter_stop_sharing(petal_filter *filter);

/* Gives every layer zeroed bits of its own; or one. */
petal_status petal_filter_alloc_bits(petal_filter *filter, petal_error *error);
petal_status petal_filter_alloc_layer(petal_filter *filter, struct layer *layer,
                                      petal_error *error);

/* Makes a zeroed layer one of this normalized shape, without bits. */
void petal_layer_set_shape(struct layer *layer, const struct shape *shape,
                           const struct hash_def *hash);

/* Where the bits of a layer are in the memory that it has for them: at a line, if there is room. */
uint8_t *petal_layer_bits(const struct layer *layer);

/* Adds a last layer with zeroed bits of its own. */
petal_status petal_filter_add_layer(petal_filter *filter, const struct shape *shape,
                                    petal_error *error);

/* Takes away `count` layers from number `from` on, not all. */
void petal_filter_drop_layers(petal_filter *filter, uint32_t from, uint32_t count);

/* Sums over the layers; and the keys of one. */
uint64_t petal_layer_items(const petal_filter *filter, uint32_t layer);
/* Moves what the threads have counted to where it is counted otherwise, before that changes. */
void petal_filter_settle_items(petal_filter *filter);
uint64_t petal_filter_items(const petal_filter *filter);
uint64_t petal_filter_capacity(const petal_filter *filter);

/* Replaces the origin by a copy. */
petal_status petal_filter_set_origin(petal_filter *filter, const struct origin *origin,
                                     petal_error *error);

/* Replaces the metadata by a copy. */
petal_status petal_filter_set_metadata(petal_filter *filter, const void *metadata,
                                       uint64_t metadata_bytes, petal_error *error);

/* Decides anew how keys go in and are looked up (ways.c): after any change of the number of
 * layers, of where they and their bits are, of policy, grow, sharing, read_only, store or
 * refuse_overfull. */
void petal_filter_choose_strategy(petal_filter *filter);

static inline struct layer *petal_filter_last(const petal_filter *filter)
{
    return &filter->layers[filter->layer_count - 1];
}

/* One layer, and never another: its bits are those of all its keys. */
static inline bool petal_filter_is_single(const petal_filter *filter)
{
    return filter->policy.kind == POLICY_NONE && (!filter->grow || filter->is_fixed) &&
           filter->layer_count == 1 && !filter->scheme->is_in_turn;
}

/* Bits of a map or of a view. */
static inline bool petal_filter_has_foreign_bits(const petal_filter *filter)
{
    return filter->store && filter->store->has_bits;
}

/* Where the layers are generations, which come and go. */
static inline bool petal_filter_rotates(const petal_filter *filter)
{
    return filter->policy.kind == POLICY_KEYS || filter->policy.kind == POLICY_TIME;
}

/* Is what a layer counts the keys that were new to it? Otherwise all that were handed to add. */
static inline bool petal_filter_counts_new_only(const petal_filter *filter)
{
    return filter->scheme->counts_new_only || filter->policy.kind == POLICY_GROWING ||
           filter->policy.kind == POLICY_TIME;
}

/* Keeps the error of a call that failed for petal_last_error(), unless there is one already; any
 * number of threads may. Returns `status`, of which all but failures are passed over. A public call
 * that changes, saves or checks a filter ends so:
 *     petal_error own;
 *     if (!error) error = &own;
 *     return petal_filter_note_error(filter, the_work(filter, error), error); */
petal_status petal_filter_note_error(const petal_filter *filter, petal_status status,
                                     const petal_error *error);

/* Makes it a filter for reading only. */
void petal_filter_refuse_changes(petal_filter *filter);

/* Notes that any bit may change, otherwise than by adding a key: of bits that were checked, or that
 * all get new values. */
void petal_filter_touch_all(petal_filter *filter);

/* PETAL_OK if both have the same parameters, so that their bits mean the same; or
 * PETAL_ERR_MISMATCH, naming the field. */
petal_status petal_filter_check_alike(const petal_filter *a, const petal_filter *b,
                                      petal_error *error);

/* The parts of that: scheme, hash, and seed or secret; and one layer. */
petal_status petal_filter_check_kin(const petal_filter *a, const petal_filter *b,
                                    petal_error *error);
petal_status petal_filter_check_shapes_alike(const struct shape *a, const struct shape *b,
                                             petal_error *error);

/* Different bits that a key sets in the mean. */
double petal_filter_bits_per_key(const struct scheme_def *scheme, const struct shape *shape);

/* Positions of such bytes of an array that are set, and stuck counters. Whole lines, where the
 * scheme counts. */
struct counts petal_filter_count(const struct scheme_def *scheme, const uint8_t *bytes,
                                 uint64_t size_bytes);

/* Distinct keys by the number of set bits. The value is infinite if every bit is set. */
petal_estimate petal_filter_estimate_items(const struct scheme_def *scheme,
                                           const struct shape *shape, uint64_t bits_set);

/* The same for the whole filter, of the bits as they are now. */
petal_estimate petal_filter_estimate_distinct(const petal_filter *filter);

/* Is it certainly more than `capacity`, or so much that nobody can tell? */
bool petal_filter_is_too_much(const petal_estimate *items, uint64_t capacity);

/* What petal_is_overfull() says once the bits tell how many distinct keys are in; it is kept
 * for the next such question. */
bool petal_filter_judge_overfull(const petal_filter *filter, const petal_estimate *distinct);

/* The answer of the last count, without another; false if there was none. */
bool petal_filter_was_overfull(const petal_filter *filter);

/* How many keys may come until petal_is_overfull() counts again: at least 1. */
uint64_t petal_filter_keys_to_next_step(const petal_filter *filter);

#endif
