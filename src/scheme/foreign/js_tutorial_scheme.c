/* js_tutorial_scheme.c - the scheme of the Bloom filter in many JavaScript tutorials. For i = 0 ..
 * k-1, the position is (h1 + i * h2) mod m, where h1 and h2 are the low and high halves of the
 * hash. The sum never wraps. See docs/formats/js-tutorial.md. */
#include "scheme/scheme.h"

struct walk {
    uint64_t at, step;
    struct divisor bits;
};

static inline struct walk walk_from(const struct bit_array *array, const uint64_t *hash)
{
    return (struct walk){(uint32_t)*hash, *hash >> 32, array->modulus};
}

static inline uint64_t walk_next(struct walk *at)
{
    uint64_t position = rest_of(at->at, at->bits);
    at->at += at->step;
    return position;
}

#define WALK js_tutorial
#include "scheme/walk.inc"

const struct scheme_def petal_scheme_js_tutorial = {
    .id = PETAL_SCHEME_JS_TUTORIAL,
    .name = "js-tutorial",
    WALKED(js_tutorial),
    COURSE(COURSE_UNKNOWN, 0, {0, 0, 32, false}, {0, 32, 32, false}),
    .hash_words = 1,
    .max_hashes = PETAL_MOST_HASHES,
    .step_bits = 1,
    .max_bits = (uint64_t)1 << 31,
};
