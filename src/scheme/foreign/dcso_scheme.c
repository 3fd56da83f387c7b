/* dcso_scheme.c - the scheme of DCSO's libraries bloom (Go) and flor (Python). h starts as hash mod
 * P, where P = 2^64 - 59 is the largest prime below 2^64. Then, k times: h = (h * G mod 2^64) mod P
 * with G = 2^64 - 1469, and the position is h mod m. The product wraps before it is reduced mod P.
 * m may be any number. See docs/formats/dcso.md. */
#include "scheme/model.h"
#include "scheme/scheme.h"

#include <math.h> /* NAN, a macro */
#include <string.h>

#define P 18446744073709551557u
#define G 18446744073709550147u

struct walk {
    uint64_t at;
    struct divisor bits;
};

static inline uint64_t mod_p(uint64_t x)
{
    return x < P ? x : x - P;
}

static inline struct walk walk_from(const struct bit_array *array, const uint64_t *hash)
{
    return (struct walk){mod_p(*hash), array->modulus};
}

static inline uint64_t walk_next(struct walk *at)
{
    at->at = mod_p(at->at * G);
    return rest_of(at->at, at->bits);
}

#define WALK dcso
#include "scheme/walk.inc"

/* ---- model ----------------------------------------------------------------------------------- */

/* G is odd. So if 2^t divides m, the first position mod 2^t determines all other positions mod 2^t.
 * The k positions of a key are in up to k of the 2^t classes mod 2^t, and all keys with the same
 * first class use the same classes. Within a class, positions are nearly independent. For given
 * bits, the rate is the mean, over all first classes, of the product of the k classes' fills.
 *
 * The number of keys per class varies randomly, but the model neglects this variation. If the
 * variation matters, the rate is NAN. */
#define MAX_CLASSES 1024u
#define MAX_COUNTED ((uint64_t)1 << 23) /* maximum number of bits counted */

static uint64_t classes_of(uint64_t bits)
{
    return bits & (0 - bits);
}

static double rate(const struct scheme_def *self, const struct shape *shape, double keys)
{
    double classes = (double)classes_of(shape->bits), k = shape->hashes,
           load = k * keys / (double)shape->bits;
    /* Random variation increases the mean of exp() by half the variance, which is proportional to
     * k^2 and to the relative variance of the number of keys per class. */
    double spread = classes > 1 ? k * k * classes / keys / 2 : 0;
    double slope = load > 1 ? 1 / load : 1;
    if (keys > 0 && load < 64 && spread * slope * slope > 0.01) return NAN;
    return petal_uniform_rate(self, shape, keys);
}

static double power(double x, uint32_t k)
{
    double product = 1;
    while (k--) product *= x;
    return product;
}

static double rate_of_bits(const struct scheme_def *self, const struct bit_array *array,
                           uint64_t bits_set, uint64_t layers)
{
    uint64_t bits = array->shape.bits, classes = classes_of(bits), counted = bits;
    uint32_t set[MAX_CLASSES];
    double sum = 0;
    (void)self, (void)layers;
    if (classes > MAX_CLASSES) return NAN;
    if (classes == 1) return power((double)bits_set / (double)bits, array->shape.hashes);
    while (counted > MAX_COUNTED) counted /= 2;
    counted -= counted % classes;
    memset(set, 0, sizeof set);
    for (uint64_t i = 0; i < counted; i++) set[i & (classes - 1)] += test_bit(array->bytes, i) & 1;
    for (uint64_t first = 0; first < classes; first++) {
        uint64_t at = first;
        double product = 1;
        for (uint32_t i = 0; i < array->shape.hashes; i++, at = at * G & (classes - 1))
            product *= set[at] / ((double)counted / (double)classes);
        sum += product;
    }
    return sum / (double)classes;
}

const struct scheme_def petal_scheme_dcso = {
    .id = PETAL_SCHEME_DCSO,
    .name = "dcso",
    WALKED(dcso),
    .unit_bytes = 8,
    .hash_words = 1,
    .counts_new_only = true,
    .max_hashes = PETAL_MOST_HASHES,
    .step_bits = 1,
    .max_bits = (uint64_t)1 << 48,
    .rate = rate,
    .rate_of_bits = rate_of_bits,
};
