/* format.c - the table of formats, and what codecs share. */
#include "format/format.h"

#include "base/error.h"
#include "filter/growing.h"
#include "filter/rotating.h"

#include <math.h> /* NAN, a macro */
#include <string.h>

/* clang-format off */ /* one row a line */
static const struct format_def *const table[] = {
    &petal_format_petal,
    &petal_format_guava,
    &petal_format_guava32,
    &petal_format_spark,
    &petal_format_spark_v1,
    &petal_format_oldpanda_py32,
    &petal_format_oldpanda_go32,
    &petal_format_parquet,
    &petal_format_orc,
    &petal_format_orc_long,
    &petal_format_redisbloom,
    &petal_format_redisbloom_dump,
    &petal_format_datasketches,
    &petal_format_bits_and_blooms,
    &petal_format_bits_and_blooms_json,
    &petal_format_dcso,
    &petal_format_dcso_gzip,
    &petal_format_leveldb,
    &petal_format_rocksdb,
    &petal_format_bloom_filters,
    &petal_format_bloomfilter,
    &petal_format_js_tutorial,
    &petal_format_pybloom,
    &petal_format_pybloom_scalable,
    &petal_format_hadoop,
    &petal_format_hbase,
    &petal_format_cassandra,
    &petal_format_cassandra_be,
    &petal_format_cassandra_2,
};
/* clang-format on */

const struct format_def *petal_format_at(size_t place)
{
    return place < sizeof table / sizeof *table ? table[place] : NULL;
}

const struct format_def *petal_format_find(const char *name)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i]->name, name) == 0) return table[i];
    return NULL;
}

const struct format_def *petal_format_of_id(uint32_t id)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i]->id == id) return table[i];
    return NULL;
}

const struct format_def *petal_format_origin(const petal_filter *filter)
{
    const struct format_def *format = petal_format_of_id(filter->origin.format);
    return format ? format : &petal_format_petal;
}

petal_status petal_filter_of(const struct description *about, const void *secret, const petal_allocator *allocator,
                             petal_filter **filter, petal_error *error)
{
    struct shape shapes[PETAL_MAX_LAYERS];
    for (uint32_t i = 0; i < about->layer_count; i++) shapes[i] = about->layers[i].shape;
    petal_status status =
        petal_filter_new(shapes, about->layer_count, about->hash, about->seed, secret, allocator, filter, error);
    if (status != PETAL_OK) return status;
    const struct format_def *format = petal_format_of_id(about->origin.format);
    status = petal_filter_set_origin(*filter, &about->origin, error);
    if (status != PETAL_OK) {
        petal_free(*filter);
        *filter = NULL;
        return status;
    }
    (*filter)->key_type = about->key_type;
    if (format && format->grow && format->grows(*filter)) (*filter)->grow = format->grow;
    (*filter)->policy = about->policy;
    if (about->policy.kind == POLICY_GROWING) (*filter)->grow = petal_growing_grow;
    if (about->policy.kind == POLICY_TIME) (*filter)->grow = petal_rotating_begin;
    for (uint32_t i = 0; i < about->layer_count; i++) {
        (*filter)->layers[i].capacity = about->layers[i].capacity;
        (*filter)->layers[i].target_rate = about->layers[i].target_rate;
        (*filter)->layers[i].items = about->layers[i].items;
        (*filter)->layers[i].until_ms = about->layers[i].until_ms;
    }
    return PETAL_OK;
}

petal_status petal_format_expect(const petal_filter *filter, petal_scheme scheme, const char *format,
                                 petal_error *error)
{
    if (filter->scheme->id == scheme) return PETAL_OK;
    return petal_fail(error, PETAL_ERR_UNSUPPORTED,
                      "%s cannot hold a %s filter with %s; use petal, or build one with --format %s from the keys",
                      format, filter->scheme->name, filter->hash->name, format);
}

petal_status petal_format_expect_single(const petal_filter *filter, petal_scheme scheme, const char *format,
                                        petal_error *error)
{
    petal_status status = petal_format_expect(filter, scheme, format, error);
    if (status != PETAL_OK || filter->layer_count == 1) return status;
    return petal_fail(error, PETAL_ERR_UNSUPPORTED, "%s holds one layer, the filter has %u; use petal", format,
                      filter->layer_count);
}

petal_status petal_format_expect_hashed(const petal_filter *filter, petal_scheme scheme, petal_hash hash,
                                        const char *format, petal_error *error)
{
    petal_status status = petal_format_expect_single(filter, scheme, format, error);
    if (status != PETAL_OK || (filter->hash->id == hash && filter->hash_key.seed == 0)) return status;
    return petal_fail(error, PETAL_ERR_UNSUPPORTED,
                      "%s holds keys hashed by %s, the filter's are hashed by %s; use petal", format,
                      petal_hash_find(hash)->name, filter->hash->name);
}

petal_status petal_format_damaged(petal_error *error, uint64_t offset, const char *what)
{
    return petal_fail_at(error, PETAL_ERR_DAMAGED, offset,
                         "damaged at byte %llu (%s); restore a copy or rebuild from the keys",
                         (unsigned long long)offset, what);
}

petal_status petal_format_check_size(uint64_t promised_bytes, uint64_t size_bytes, petal_error *error)
{
    if (size_bytes < promised_bytes)
        return petal_fail_at(error, PETAL_ERR_TRUNCATED, size_bytes,
                             "truncated (header promises %llu bytes, file has %llu); copy it again",
                             (unsigned long long)promised_bytes, (unsigned long long)size_bytes);
    if (size_bytes > promised_bytes) return petal_format_damaged(error, promised_bytes, "bytes after the end");
    return PETAL_OK;
}

petal_status petal_format_check_tail(const struct description *about, const uint8_t *bytes, petal_error *error)
{
    const struct layer_description *layer = about->layers;
    if (petal_tail_is_clear(&layer->shape, bytes + layer->offset, layer->size_bytes)) return PETAL_OK;
    return petal_format_damaged(error, layer->offset + layer->size_bytes - 1, "bits set beyond the last");
}

void petal_format_keep(struct description *about, const uint8_t *bytes, uint32_t size_bytes)
{
    struct origin *origin = &about->origin;
    bool is_near = size_bytes <= PETAL_ORIGIN_NEAR_BYTES;
    origin->size_bytes = size_bytes;
    origin->far = is_near ? NULL : bytes;
    if (is_near) memcpy(origin->near, bytes, size_bytes);
}

void petal_format_single(struct description *about, const struct shape *shape, uint64_t offset)
{
    about->layer_count = 1;
    about->layers[0] = (struct layer_description){
        .shape = *shape, .target_rate = NAN, .size_bytes = petal_shape_bytes(shape), .offset = offset};
}
