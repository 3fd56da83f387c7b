/* bloom_header.h - the header of RedisBloom's BF.SCANDUMP: the offsets of its fields. */
#ifndef PETAL_REDIS_BLOOM_HEADER_H
#define PETAL_REDIS_BLOOM_HEADER_H

enum { AT_KEYS = 0, AT_LAYERS = 8, AT_OPTIONS = 12, AT_GROWTH = 16 };

/* Offsets in a layer's part. */
enum {
    LAYER_BYTES = 0,
    LAYER_BITS = 8,
    LAYER_KEYS = 16,
    LAYER_ERROR = 24,
    LAYER_BPE = 32,
    LAYER_HASHES = 40,
    LAYER_CAPACITY = 44,
    LAYER_N2 = 52
};

#endif
