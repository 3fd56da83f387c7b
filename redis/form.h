/* form.h - what a key of the server holds: a filter, whose memory is the server's.
 *
 * Three types of values have the same form. Classic ones are RedisBloom's (type MBbloom--) and
 * valkey-bloom's (bloomfltr; see valkey.h), both with the commands BF.*; the others are Petal's own
 * kinds (commands PETAL.*). */
#ifndef PETAL_REDIS_FORM_H
#define PETAL_REDIS_FORM_H

#include <petal/petal_host.h>
#include <stdint.h>

struct handle;

/* RedisBloom's options of a filter. */
enum {
    BLOOM_NO_ROUND = 1,  /* as big as needed; without it, 2^n2 bits: old filters */
    BLOOM_BY_BITS = 2,   /* asked for by bits; no command does that */
    BLOOM_FORCE64 = 4,   /* MurmurHash64A; without it, MurmurHash2: old filters */
    BLOOM_NO_SCALING = 8 /* one layer, and then it is full */
};

/* What RedisBloom itself makes ends where the error rate, halved for each layer, becomes 0: before
 * layer 1,100, and with as many hashes. */
#define BLOOM_MAX_LAYERS 8192u
#define BLOOM_MAX_HASHES 1088
#define BLOOM_HEAD_BYTES 20u
#define BLOOM_LAYER_BYTES 53u

/* What a header says of a layer, beside what the library must know. */
struct layer_note {
    double bits_per_entry;
    uint8_t n2;      /* not 0: it was made for 2^n2 bits; old filters */
    uint8_t padding; /* bytes that are stored after the bits; old filters */
};

/* How a filter takes items; all of BF.* grow, or say themselves when they are full. */
enum value_kind {
    KIND_UNKNOWN, /* nobody has asked yet */
    KIND_GROWING,
    KIND_FIXED,    /* one size, and items that are new are counted */
    KIND_COUNTING, /* one size, and each adding is counted, until it is removed */
    KIND_WINDOW,
    KIND_WINDOW_OF_TIME
};

enum { CLASSIC_REDISBLOOM = 1, CLASSIC_VALKEY = 2 };

struct value {
    union {
        struct handle *handle; /* of Petal's own kinds */
        /* Classic: `layer_count` of them, and in the same block as many notes. */
        petal_lent_layer *layers;
    };
    uint32_t layer_count, options, growth; /* classic: as in the header */
    /* Takes what memory it needs: a replica, or a server that is loading, must not refuse what its
     * master had. */
    uint8_t unlimited;
    uint8_t refused; /* the limit was the reason of the last PETAL_ERR_MEMORY */
    uint8_t classic; /* CLASSIC_, or 0: one of Petal's own kinds */
    uint8_t kind;    /* value_kind() */
};

/* One of valkey-bloom's has more: what its layers come from. Growth 0 is NONSCALING. */
struct valkey_value {
    struct value value;
    double rate, ratio;
    uint8_t seed[32], random;
};

#endif
