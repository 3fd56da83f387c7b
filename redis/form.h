/* form.h - the value of a server's key: a filter in the server's memory.
 *
 * There are three types of values, all in the same struct. Two are classic: RedisBloom's (type
 * MBbloom--) and valkey-bloom's (bloomfltr; see valkey.h), both used by the BF.* commands. The
 * third holds Petal's own kinds of filters (PETAL.* commands). */
#ifndef PETAL_REDIS_FORM_H
#define PETAL_REDIS_FORM_H

#include <petal/petal_host.h>
#include <stdint.h>

struct handle;

/* The options that RedisBloom stores with a filter. */
enum {
    BLOOM_NO_ROUND = 1,  /* exact size; without it, 2^n2 bits: old filters */
    BLOOM_BY_BITS = 2,   /* size given in bits; no command sets this */
    BLOOM_FORCE64 = 4,   /* MurmurHash64A; without it, MurmurHash2: old filters */
    BLOOM_NO_SCALING = 8 /* one layer, then it is full */
};

/* RedisBloom's own filters stop growing when the error rate, which each layer halves, becomes 0.
 * That happens before layer 1,100, and the number of hashes is below that too. */
#define BLOOM_MAX_LAYERS 8192u
#define BLOOM_MAX_HASHES 1088
#define BLOOM_HEAD_BYTES 20u
#define BLOOM_LAYER_BYTES 53u

/* Fields of a layer that a header stores but the library doesn't need. */
struct layer_note {
    double bits_per_entry;
    uint8_t n2;      /* not 0 if created with 2^n2 bits, as old filters are */
    uint8_t padding; /* bytes stored after the bits, in old filters */
};

/* How a filter accepts items. Filters that BF.* commands create grow, or report an error when they
 * are full. */
enum value_kind {
    KIND_UNKNOWN, /* not determined yet */
    KIND_GROWING,
    KIND_FIXED,    /* fixed size, counts new items */
    KIND_COUNTING, /* fixed size, counts each add, so that items can be removed */
    KIND_WINDOW,
    KIND_WINDOW_OF_TIME,
    KIND_STATIC /* accepts no items: it was loaded with all of them */
};

enum { CLASSIC_REDISBLOOM = 1, CLASSIC_VALKEY = 2 };

struct value {
    union {
        struct handle *handle; /* for Petal's own kinds */
        /* In classic values: `layer_count` layers, followed in the same block by the same number of
         * notes. */
        petal_lent_layer *layers;
    };
    uint32_t layer_count, options, growth; /* for classic ones: as in the header */
    /* The value ignores the memory limit: a replica, or a server that is loading, must accept what
     * its master accepted. */
    uint8_t unlimited;
    uint8_t refused; /* the memory limit caused the last PETAL_ERR_MEMORY */
    uint8_t classic; /* CLASSIC_..., or 0 for one of Petal's own kinds */
    uint8_t kind;    /* value_kind() */
};

/* A valkey-bloom value has additional fields, the parameters of its layers. Growth 0 means
 * NONSCALING. */
struct valkey_value {
    struct value value;
    double rate, ratio;
    uint8_t seed[32], random;
};

#endif
