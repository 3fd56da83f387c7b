/* spark.c - the files of Apache Spark's sketch BloomFilter.writeTo; all numbers big-endian.
 *
 *     version 1:  | 1 | k | longs | longs * 8 bytes |            4 bytes each, then BE words
 *     version 2:  | 2 | k | seed | longs | longs * 8 bytes |
 *
 * Reading, `spark` takes both versions; it makes version 2, and writes the version that the filter has. `spark-v1` makes, reads
 * and writes version 1 only. docs/formats/spark.md. */
#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"
#include "format/sizing.h"
#include "scheme/model.h"

static uint32_t header_bytes(uint32_t version)
{
    return version == 1 ? 12 : 16;
}

static petal_scheme scheme_of(uint32_t version)
{
    return version == 1 ? PETAL_SCHEME_SPARK_V1 : PETAL_SCHEME_SPARK_V2;
}

static petal_status read(const uint8_t *bytes, uint64_t size_bytes, struct description *about, petal_error *error)
{
    uint32_t version = size_bytes >= 4 ? load32be(bytes) : 0;
    if (size_bytes >= 4 && version != 1 && version != 2)
        return petal_fail_at(error, PETAL_ERR_NOT_A_FILTER, 0, "not a Spark filter (version %u; there are 1 and 2)",
                             version);
    if (size_bytes < 4 || size_bytes < header_bytes(version))
        return petal_fail_at(error, PETAL_ERR_TRUNCATED, size_bytes, "truncated (within the header); copy it again");
    uint32_t offset = header_bytes(version), k = load32be(bytes + 4), longs = load32be(bytes + offset - 4);
    if (longs == 0 || longs > INT32_MAX)
        return petal_format_damaged(error, offset - 4, "an impossible number of longs");
    petal_status status = petal_format_check_size(offset + (uint64_t)longs * 8, size_bytes, error);
    if (status != PETAL_OK) return status;
    struct shape shape = {scheme_of(version), k, 0, (uint64_t)longs * 64};
    if (petal_scheme_find(shape.scheme)->settle(&shape, NULL) != PETAL_OK)
        return petal_format_damaged(error, 4, "an impossible number of hashes");
    petal_format_single(about, &shape, offset);
    about->hash = PETAL_HASH_MURMUR3_SPARK;
    about->seed = version == 2 ? load32be(bytes + 8) : 0;
    return PETAL_OK;
}

static petal_status read_v1(const uint8_t *bytes, uint64_t size_bytes, struct description *about, petal_error *error)
{
    petal_status status = read(bytes, size_bytes, about, error);
    if (status != PETAL_OK || about->layers->shape.scheme == PETAL_SCHEME_SPARK_V1) return status;
    return petal_fail_at(error, PETAL_ERR_NOT_A_FILTER, 0, "is version 2; its format is spark");
}

static enum fit fits(const uint8_t *bytes, uint64_t size_bytes)
{
    struct description about = {0};
    return read(bytes, size_bytes, &about, NULL) == PETAL_OK ? FIT_CERTAIN : FIT_NO;
}

static enum fit fits_nothing(const uint8_t *bytes, uint64_t size_bytes) /* version 1 is found as spark */
{
    (void)bytes;
    (void)size_bytes;
    return FIT_NO;
}

/* Spark: m0 = (long)(-n ln p / (ln 2)^2), k = max(1, round(m0 / n * ln 2)), m = m0 in whole longs. */
static petal_status plan_version(const petal_options *options, uint32_t version, struct description *about,
                                 petal_error *error)
{
    struct request asked;
    struct shape shape = {scheme_of(version), 0, 0, 0};
    petal_status status = petal_size_request(options, &asked, error);
    if (status != PETAL_OK) return status;
    if (asked.by_bits) {
        shape.hashes = asked.hashes;
        if (!checked_round_up(asked.bits, 64, &shape.bits)) shape.bits = UINT64_MAX; /* refused below */
    } else {
        double n = asked.keys ? (double)asked.keys : 1;
        uint64_t bits;
        status = petal_size_bits(petal_model_optimal_bits(n, asked.rate), (uint64_t)INT32_MAX * 64, &bits, error);
        if (status != PETAL_OK) return status;
        uint64_t hashes = petal_model_round((double)bits / n * PETAL_LN2);
        shape.hashes = hashes ? (uint32_t)hashes : 1;
        shape.bits = (bits + 63) / 64 * 64;
    }
    status = petal_scheme_find(shape.scheme)->settle(&shape, error);
    if (status != PETAL_OK) return status;
    petal_format_single(about, &shape, 0);
    petal_size_record(options, about);
    about->hash = PETAL_HASH_MURMUR3_SPARK;
    about->seed = version == 2 ? (uint32_t)options->seed : 0;
    return PETAL_OK;
}

static petal_status plan_v1(const petal_options *options, struct description *about, petal_error *error)
{
    return plan_version(options, 1, about, error);
}

static petal_status plan_v2(const petal_options *options, struct description *about, petal_error *error)
{
    return plan_version(options, 2, about, error);
}

static petal_status write_version(const petal_filter *filter, uint32_t version, const struct sink *sink,
                                  petal_error *error)
{
    uint8_t header[16];
    const struct bit_array *array = &filter->layers->array;
    uint32_t size = header_bytes(version);
    store32be(header, version);
    store32be(header + 4, array->shape.hashes);
    store32be(header + 8, (uint32_t)filter->hash_key.seed);
    store32be(header + size - 4, (uint32_t)(array->shape.bits / 64));
    petal_status status = petal_put(sink, header, size, error);
    return status == PETAL_OK ? petal_put(sink, array->bytes, array->size_bytes, error) : status;
}

static petal_status write_v1(const petal_filter *filter, const struct sink *sink, petal_error *error)
{
    petal_status status = petal_format_expect_single(filter, PETAL_SCHEME_SPARK_V1, "spark-v1", error);
    return status == PETAL_OK ? write_version(filter, 1, sink, error) : status;
}

static petal_status write_held(const petal_filter *filter, const struct sink *sink, petal_error *error)
{
    if (filter->scheme->id == PETAL_SCHEME_SPARK_V1) return write_v1(filter, sink, error);
    petal_status status = petal_format_expect_single(filter, PETAL_SCHEME_SPARK_V2, "spark", error);
    return status == PETAL_OK ? write_version(filter, 2, sink, error) : status;
}

const struct format_def petal_format_spark = {
    .id = 4, .name = "spark", .fits = fits, .read = read, .plan = plan_v2, .write = write_held};

const struct format_def petal_format_spark_v1 = {
    .id = 5, .name = "spark-v1", .fits = fits_nothing, .read = read_v1, .plan = plan_v1, .write = write_v1};
