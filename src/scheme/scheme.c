/* scheme.c - contains the table of schemes, and the default implementations of a row's members. */
#include "scheme/scheme.h"

#include "base/error.h"
#include "base/memory.h"
#include "scheme/model.h"

#include <math.h> /* NAN, a macro */

#ifdef PETAL_FORCE_KERNEL
#include <stdlib.h>
#include <string.h>
#endif

#define SCHEME_CASE(LIBRARY, NAME, name, number) \
    PETAL_IF(LIBRARY, case PETAL_SCHEME_##NAME : return &petal_scheme_##name;)

const struct scheme_def *petal_scheme_find(uint32_t id)
{
    switch (id) {
        PETAL_SCHEMES(SCHEME_CASE)
    default: return NULL;
    }
}

#define SCHEME_NAME(LIBRARY, NAME, name, number) \
    case PETAL_SCHEME_##NAME: return #name;

const char *petal_scheme_left_out(uint32_t id)
{
    switch (id) {
        PETAL_SCHEMES(SCHEME_NAME)
    default: return NULL;
    }
}

/* In test builds, an environment variable can choose the kernel, so that one machine can test
 * several kernels. PETAL_KERNEL=avx2 selects the kernel named avx2 if the scheme has such a kernel
 * and this CPU can run it. */
static bool is_passed_over(const struct kernel *kernel)
{
#ifdef PETAL_FORCE_KERNEL
    const char *wanted = getenv("PETAL_KERNEL");
    return wanted && strcmp(wanted, kernel->name) != 0;
#else
    (void)kernel;
    return false;
#endif
}

const struct kernel *petal_scheme_kernel(const struct scheme_def *scheme)
{
    const struct kernel *const *kernel = scheme->kernels;
    while (kernel[1] && (!kernel_is_usable(*kernel) || is_passed_over(*kernel)))
        kernel++; /* the last kernel is the generic one, which every CPU can run */
    return *kernel;
}

#if defined(__SANITIZE_THREAD__)
#define ATOMICS_ONLY 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ATOMICS_ONLY 1
#endif
#endif

const struct kernel *petal_scheme_kernel_shared(const struct scheme_def *scheme)
{
#ifdef ATOMICS_ONLY
    const struct kernel *const *kernel = scheme->kernels;
    while (kernel[1]) kernel++;
    return *kernel;
#else
    return petal_scheme_kernel(scheme);
#endif
}

static uint64_t divided_up(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

uint64_t petal_shape_used_bits(const struct shape *shape)
{
    const struct scheme_def *scheme = petal_scheme_find(shape->scheme);
    if (scheme->used_bytes) return scheme->used_bytes(shape) * 8;
    return shape->bits * (scheme->counters ? scheme->counters->bits : 1);
}

uint64_t petal_shape_bytes(const struct shape *shape)
{
    const struct scheme_def *scheme = petal_scheme_find(shape->scheme);
    uint64_t bytes = divided_up(petal_shape_used_bits(shape), 8);
    return scheme->unit_bytes ? divided_up(bytes, scheme->unit_bytes) * scheme->unit_bytes : bytes;
}

petal_status petal_check_most_bits(const struct scheme_def *scheme, uint64_t bits,
                                   petal_error *error)
{
    if (bits <= scheme->max_bits) return PETAL_OK;
    return petal_fail(error, PETAL_ERR_LIMIT, "more than 2^%u %s (32 TiB); use several filters",
                      scheme->counters ? 46u : 48u, scheme->counters ? "counters" : "bits");
}

bool petal_end_is_clear(const struct shape *shape, uint64_t offset, const uint8_t *end,
                        uint64_t end_bytes)
{
    uint32_t order = petal_scheme_find(shape->scheme)->bit_order;
    uint64_t used = petal_shape_used_bits(shape), i = used > offset * 8 ? used - offset * 8 : 0;
    for (; i % 64 != 0 && i < 8 * end_bytes; i++)
        if (end[(i ^ order) / 8] >> (i % 8) & 1) return false;
    for (i /= 8; i < end_bytes; i++)
        if (end[i]) return false;
    return true;
}

bool petal_tail_is_clear(const struct shape *shape, const uint8_t *bytes, uint64_t size_bytes)
{
    return petal_end_is_clear(shape, 0, bytes, size_bytes);
}

petal_status petal_normalize(struct shape *shape, petal_error *error)
{
    const struct scheme_def *scheme = petal_scheme_find(shape->scheme);
    return (scheme->normalize ? scheme->normalize : petal_normalize_foreign)(scheme, shape, error);
}

petal_status petal_normalize_foreign(const struct scheme_def *self, struct shape *shape,
                                     petal_error *error)
{
    if (shape->lines_per_key != 0)
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          "lines per key are for the blocked scheme only; leave them out");
    if (shape->hashes < 1 || shape->hashes > self->max_hashes)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "%s takes 1 to %u hashes, not %u", self->name,
                          self->max_hashes, shape->hashes);
    if (shape->bits < 1 || shape->bits % self->step_bits != 0 || shape->bits > self->max_bits)
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          "%s takes a multiple of %llu bits up to %llu, not %llu", self->name,
                          (unsigned long long)self->step_bits, (unsigned long long)self->max_bits,
                          (unsigned long long)shape->bits);
    return PETAL_OK;
}

/* ---- models ---------------------------------------------------------------------------------- */

uint64_t petal_scheme_reachable(const struct scheme_def *scheme, uint64_t bits)
{
    return scheme->reachable_bits && bits > scheme->reachable_bits ? scheme->reachable_bits : bits;
}

double petal_uniform_rate(const struct scheme_def *self, const struct shape *shape, double keys)
{
    return petal_model_classic_rate(petal_scheme_reachable(self, shape->bits), shape->hashes, keys);
}

double petal_scheme_rate(const struct scheme_def *scheme, const struct shape *shape, double keys)
{
    if (PETAL_IS_READ_ONLY) return NAN;
    return (scheme->rate ? scheme->rate : petal_uniform_rate)(scheme, shape, keys);
}

double petal_scheme_bits_set_sd(const struct scheme_def *scheme, const struct shape *shape,
                                double keys)
{
    if (PETAL_IS_READ_ONLY) return NAN;
    if (scheme->bits_set_sd) return scheme->bits_set_sd(shape, keys);
    return petal_model_classic_sd(petal_scheme_reachable(scheme, shape->bits), shape->hashes, keys);
}

double petal_scheme_rate_of_bits(const struct scheme_def *scheme, const struct bit_array *array,
                                 uint64_t bits_set, uint64_t layers)
{
    if (bits_set == 0) return 0;
    if (scheme->rate_of_bits) return scheme->rate_of_bits(scheme, array, bits_set, layers);
    double fill = (double)bits_set / (double)petal_scheme_reachable(scheme, array->shape.bits),
           product = 1;
    for (uint32_t i = 0; i < array->shape.hashes; i++) product *= fill;
    return product;
}
