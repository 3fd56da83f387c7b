/* spark.c - reads and writes the files that BloomFilter.writeTo in Apache Spark's sketch library
 * produces. All numbers are big-endian.
 *
 *     version 1:  | 1 | k | longs | longs * 8 bytes |            4 bytes each, then BE words
 *     version 2:  | 2 | k | seed | longs | longs * 8 bytes |
 *
 * The format `spark` reads both versions, creates version 2, and writes a file back in its original
 * version. The format `spark-v1` reads, creates and writes only version 1. See
 * docs/formats/spark.md. */
#include "base/bytes.h"
#include "base/error.h"
#include "format/foreign/sizing.h"

static uint32_t header_bytes(uint32_t version)
{
    return version == 1 ? 12 : 16;
}

static uint32_t scheme_of(uint32_t version)
{
    return version == 1 ? PETAL_SCHEME_SPARK_V1 : PETAL_SCHEME_SPARK_V2;
}

static petal_status read(const struct format_def *self, const uint8_t *bytes, uint64_t size_bytes,
                         struct description *about, petal_error *error)
{
    uint32_t version = size_bytes >= 4 ? load32be(bytes) : 0;
    if (size_bytes >= 4 && version != 1 && version != 2)
        return petal_fail_at(error, PETAL_ERR_NOT_A_FILTER, 0,
                             "not a Spark filter (version %u; there are 1 and 2)", version);
    if (size_bytes < 4 || size_bytes < header_bytes(version))
        return petal_fail_at(error, PETAL_ERR_TRUNCATED, size_bytes,
                             "truncated (within the header); copy it again");
    uint32_t offset = header_bytes(version), k = load32be(bytes + 4),
             longs = load32be(bytes + offset - 4);
    if (longs == 0 || longs > INT32_MAX)
        return petal_format_damaged(error, offset - 4, "an impossible number of longs");
    petal_status status = petal_format_check_size(offset + (uint64_t)longs * 8, size_bytes, error);
    if (status != PETAL_OK) return status;
    struct shape shape = {scheme_of(version), k, 0, (uint64_t)longs * 64};
    if (petal_normalize(&shape, NULL) != PETAL_OK)
        return petal_format_damaged(error, 4, "an impossible number of hashes");
    petal_format_single(about, &shape, offset);
    about->seed = version == 2 ? load32be(bytes + 8) : 0;
    if (version == 1 || self->scheme == PETAL_SCHEME_SPARK_V2) return PETAL_OK;
    return petal_fail_at(error, PETAL_ERR_NOT_A_FILTER, 0, "is version 2; its format is spark");
}

/* Version 1 stores no seed. */
static petal_status plan(const struct format_def *self, const petal_options *options,
                         struct description *about, petal_error *error)
{
    about->seed = self->scheme == PETAL_SCHEME_SPARK_V2 ? (uint32_t)options->seed : 0;
    return petal_size_plan(self, options, about, error);
}

static uint32_t version_of(const petal_filter *filter)
{
    return filter->scheme->id == PETAL_SCHEME_SPARK_V1 ? 1 : 2;
}

static petal_status expect(const struct format_def *self, const petal_filter *filter,
                           petal_error *error)
{
    return petal_format_expect_single(version_of(filter) == 1 ? &petal_format_spark_v1 : self,
                                      filter, error);
}

static petal_status write(const struct format_def *self, const petal_filter *filter,
                          const struct sink *sink, petal_error *error)
{
    (void)self;
    uint8_t header[16];
    const struct bit_array *array = &filter->layers->array;
    uint32_t version = version_of(filter), size = header_bytes(version);
    store32be(header, version);
    store32be(header + 4, array->shape.hashes);
    store32be(header + 8, (uint32_t)filter->hash_key.seed);
    store32be(header + size - 4, (uint32_t)(array->shape.bits / 64));
    return petal_put_both(sink, header, size, array, error);
}

#define ROW(NAME, name_, scheme_, fit_) \
    { \
        .id = PETAL_FORMAT_##NAME, .name = (name_), .scheme = (scheme_), \
        .hash = PETAL_HASH_MURMUR3_SPARK, .keys = "UTF-8, bytes, or i64", .fit = (fit_), \
        .read = read, .plan = UNLESS_READ_ONLY(plan), .size = UNLESS_READ_ONLY(petal_size_java), \
        .expect = expect, .write = write \
    }

/* Format detection reports a version 1 file as spark. */
const struct format_def petal_format_spark =
    ROW(SPARK, "spark", PETAL_SCHEME_SPARK_V2, FIT_CERTAIN);
const struct format_def petal_format_spark_v1 =
    ROW(SPARK_V1, "spark-v1", PETAL_SCHEME_SPARK_V1, FIT_NO);
