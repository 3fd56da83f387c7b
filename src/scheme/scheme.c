/* scheme.c - the table of schemes. */
#include "scheme/scheme.h"

#include "base/error.h"
#include "base/memory.h"
#include "scheme/model.h"

#ifdef PETAL_FORCE_KERNEL
#include <stdlib.h>
#include <string.h>
#endif

/* clang-format off */ /* one row a line */
static const struct scheme_def *const table[] = {
    &petal_blocked,
    &petal_classic,
    &petal_counting,
    &petal_guava_mitz64,
    &petal_guava_mitz32,
    &petal_spark_v1,
    &petal_spark_v2,
    &petal_oldpanda_py32,
    &petal_oldpanda_go32,
    &petal_parquet,
    &petal_orc,
    &petal_redisbloom,
    &petal_datasketches,
    &petal_bits_and_blooms,
    &petal_dcso,
    &petal_leveldb,
    &petal_rocksdb,
    &petal_bloom_filters,
    &petal_bloomfilter,
    &petal_js_tutorial,
    &petal_pybloom,
    &petal_hadoop,
    &petal_hbase,
    &petal_cassandra,
    &petal_cassandra_be,
    &petal_cassandra_2,
};
/* clang-format on */

const struct scheme_def *petal_scheme_find(petal_scheme id)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i]->id == id) return table[i];
    return NULL;
}

/* Builds for testing let the environment choose: PETAL_KERNEL=avx2 is the kernel of that name where the scheme has one that this
 * CPU can run, so that one machine tests all of its levels. */
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
    while (kernel[1] && (!(*kernel)->usable() || is_passed_over(*kernel))) kernel++; /* the last, generic, always is */
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

uint64_t petal_shape_bytes(const struct shape *shape)
{
    return petal_scheme_find(shape->scheme)->array_bytes(shape);
}

uint64_t petal_bytes_of_lines(const struct shape *shape)
{
    return (shape->bits / PETAL_LINE_BITS + (shape->bits % PETAL_LINE_BITS != 0)) * PETAL_LINE_BYTES;
}

uint64_t petal_bytes_of_words(const struct shape *shape)
{
    return (shape->bits / 64 + (shape->bits % 64 != 0)) * 8;
}

uint64_t petal_bytes_of_bits(const struct shape *shape)
{
    return shape->bits / 8 + (shape->bits % 8 != 0);
}

petal_status petal_check_most_bits(const struct scheme_def *scheme, uint64_t bits, petal_error *error)
{
    if (bits <= scheme->max_bits) return PETAL_OK;
    return petal_fail(error, PETAL_ERR_LIMIT, "more than 2^%u %s (32 TiB); use several filters",
                      scheme->counters ? 46u : 48u, scheme->counters ? "counters" : "bits");
}

bool petal_tail_is_clear(const struct shape *shape, const uint8_t *bytes, uint64_t size_bytes)
{
    const struct scheme_def *scheme = petal_scheme_find(shape->scheme);
    uint32_t order = scheme->bit_order;
    uint64_t i = shape->bits * (scheme->counters ? scheme->counters->bits : 1);
    for (; i % 64 != 0 && i < 8 * size_bytes; i++)
        if (bytes[(i ^ order) / 8] >> (i % 8) & 1) return false;
    for (i /= 8; i < size_bytes; i++)
        if (bytes[i]) return false;
    return true;
}

double petal_uniform_rate(const struct shape *shape, double keys)
{
    return petal_model_classic_rate(shape->bits, shape->hashes, keys);
}

double petal_uniform_bits_set_sd(const struct shape *shape, double keys)
{
    return petal_model_classic_sd(shape->bits, shape->hashes, keys);
}

double petal_uniform_rate_of_bits(const struct bit_array *array, uint64_t bits_set)
{
    double fill = (double)bits_set / (double)array->shape.bits, product = 1;
    for (uint32_t i = 0; i < array->shape.hashes; i++) product *= fill;
    return product;
}

petal_status petal_settle_foreign(const struct shape *shape, uint64_t unit, petal_error *error)
{
    const struct scheme_def *scheme = petal_scheme_find(shape->scheme);
    if (shape->lines_per_key != 0)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "lines a key are for the blocked scheme only; leave them out");
    if (shape->hashes < 1 || shape->hashes > scheme->max_hashes)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "%s takes 1 to %u hashes, not %u", scheme->name,
                          scheme->max_hashes, shape->hashes);
    if (shape->bits < 1 || shape->bits % unit != 0 || shape->bits > scheme->max_bits)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "%s takes a multiple of %llu bits up to %llu, not %llu",
                          scheme->name, (unsigned long long)unit, (unsigned long long)scheme->max_bits,
                          (unsigned long long)shape->bits);
    return PETAL_OK;
}
