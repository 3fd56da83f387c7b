/* hadoop_scheme.c - the scheme of Hadoop's package util.bloom. Each of the k words of the hash is a
 * signed 32-bit number. The position is abs(word % m), and the remainder has the sign of the word,
 * as in Java and C. See docs/formats/hadoop.md. */
#include "scheme/scheme.h"

#include "hash/hash.h"

struct walk {
    const uint64_t *words;
    struct divisor bits;
};

static inline struct walk walk_from(const struct bit_array *array, const uint64_t *hash)
{
    return (struct walk){hash, array->modulus};
}

static inline uint64_t walk_next(struct walk *at)
{
    return signed_rest_of((int32_t)(uint32_t)*at->words++, at->bits);
}

#define WALK hadoop
#include "scheme/walk.inc"

const struct scheme_def petal_scheme_hadoop = {
    .id = PETAL_SCHEME_HADOOP,
    .name = "hadoop",
    WALKED(hadoop),
    .max_hashes = PETAL_HASH_MAX_WORDS,
    .step_bits = 1,
    .max_bits = INT32_MAX,
};
