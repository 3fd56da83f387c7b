/* format.h - the third axis: filter <-> the bytes of a file. One table row for each container; adding one is one file and one
 * row. Codecs are pure: bytes in, description out; no files, and no allocation sized by unchecked input. */
#ifndef PETAL_FORMAT_FORMAT_H
#define PETAL_FORMAT_FORMAT_H

#include "filter/filter.h"

#define PETAL_MAX_LAYERS 64u

/* One layer as a file holds it. */
struct layer_description {
    struct shape shape;
    uint64_t capacity;
    double target_rate; /* NAN: not recorded */
    uint64_t items;
    uint64_t until_ms;
    uint64_t size_bytes;
    uint64_t offset;      /* of its bytes in the file */
    uint64_t first_block; /* petal files: number of its first block */
};

/* A filter as a file holds it. */
struct description {
    petal_hash hash;
    uint64_t seed;
    struct policy policy;
    petal_key_type key_type;
    struct origin origin;
    uint64_t metadata_offset, metadata_bytes;
    bool bits_left_out; /* an empty filter, of which the file has no bits; the offsets of its layers mean nothing */
    uint32_t layer_count;
    struct layer_description layers[PETAL_MAX_LAYERS];
};

/* Where written bytes go. */
struct sink {
    petal_status (*put)(void *context, const void *bytes, uint64_t size_bytes, petal_error *error);
    void *context;
    bool only_counts; /* put() does not read the bytes, which may be NULL: what they would be need not be worked out */
};

struct format_def {
    uint32_t id; /* stays the same for ever: it is in petal files, as the origin of a filter */
    const char *name;

    /* Could these bytes be such a file, by its header and its length? `certain`: they are hardly anything else. */
    enum fit { FIT_NO, FIT_POSSIBLE, FIT_CERTAIN } (*fits)(const uint8_t *bytes, uint64_t size_bytes);

    /* Optional: bytes whose bits must be unpacked first (JSON, gzip) -> a plain image for read(), from the allocator.
     * Where *decoded (NULL before) stays NULL on PETAL_OK, the bytes are plain already. */
    petal_status (*decode)(const uint8_t *bytes, uint64_t size_bytes, const petal_allocator *allocator,
                           uint8_t **decoded, uint64_t *decoded_bytes, petal_error *error);

    /* Reads the description (zeroed before) and checks every field; on PETAL_OK each layer lies inside the bytes. */
    petal_status (*read)(const uint8_t *bytes, uint64_t size_bytes, struct description *about, petal_error *error);

    /* What this library would make for options->capacity and options->rate, or bits and hashes: its sizing to the bit.
     * `about` is zeroed before. Layers need shape, capacity and rate only. */
    petal_status (*plan)(const petal_options *options, struct description *about, petal_error *error);

    /* Writes the whole file. A filter that the container cannot hold is PETAL_ERR_UNSUPPORTED, with the reason. */
    petal_status (*write)(const petal_filter *filter, const struct sink *sink, petal_error *error);

    /* Optional, both or none. grows: does the original add a layer when this filter is full? grow: a new key has come to
     * a last layer that holds its capacity; adds a layer, or says why it cannot. */
    bool (*grows)(const petal_filter *filter);
    petal_status (*grow)(petal_filter *filter, petal_error *error);
};

/* The row of a format by its name or its number, or NULL. */
const struct format_def *petal_format_find(const char *name);
const struct format_def *petal_format_of_id(uint32_t id);

/* The container that a filter came in or was made for; petal where that is not known. */
const struct format_def *petal_format_origin(const petal_filter *filter);

/* The row at a place of the table, from 0; NULL behind the last. */
const struct format_def *petal_format_at(size_t place);

/* A filter that knows everything of the description, and has no bits yet. `secret` as for petal_filter_new(). */
petal_status petal_filter_of(const struct description *about, const void *secret, const petal_allocator *allocator,
                             petal_filter **filter, petal_error *error);

/* ---- for codecs ------------------------------------------------------------------------------------------------------ */

/* PETAL_ERR_UNSUPPORTED unless the filter has this scheme. */
petal_status petal_format_expect(const petal_filter *filter, petal_scheme scheme, const char *format,
                                 petal_error *error);

/* PETAL_ERR_DAMAGED naming the byte and what is wrong there. */
petal_status petal_format_damaged(petal_error *error, uint64_t offset, const char *what);

/* PETAL_ERR_TRUNCATED or PETAL_ERR_DAMAGED unless the file has just these bytes. */
petal_status petal_format_check_size(uint64_t promised_bytes, uint64_t size_bytes, petal_error *error);

/* PETAL_ERR_DAMAGED where bits are set beyond the last of the single layer of `about`. */
petal_status petal_format_check_tail(const struct description *about, const uint8_t *bytes, petal_error *error);

/* Keeps these bytes of the file, of any number, as the origin; they must stay as long as `about`. */
void petal_format_keep(struct description *about, const uint8_t *bytes, uint32_t size_bytes);

/* Makes `about` a single layer of this shape whose bytes begin at `offset`. */
void petal_format_single(struct description *about, const struct shape *shape, uint64_t offset);

static inline petal_status petal_put(const struct sink *sink, const void *bytes, uint64_t size_bytes,
                                     petal_error *error)
{
    return sink->put(sink->context, bytes, size_bytes, error);
}

/* The one layer of a filter, for containers that hold no more; checked by petal_format_expect_single(). */
petal_status petal_format_expect_single(const petal_filter *filter, petal_scheme scheme, const char *format,
                                        petal_error *error);

/* The same, and this hash with seed 0: for containers that say nothing of the hash. */
petal_status petal_format_expect_hashed(const petal_filter *filter, petal_scheme scheme, petal_hash hash,
                                        const char *format, petal_error *error);

extern const struct format_def petal_format_petal, petal_format_guava, petal_format_guava32, petal_format_spark,
    petal_format_spark_v1, petal_format_oldpanda_py32, petal_format_oldpanda_go32;
extern const struct format_def petal_format_parquet, petal_format_orc, petal_format_orc_long;
extern const struct format_def petal_format_redisbloom, petal_format_redisbloom_dump, petal_format_datasketches;
extern const struct format_def petal_format_bits_and_blooms, petal_format_bits_and_blooms_json, petal_format_dcso,
    petal_format_dcso_gzip, petal_format_leveldb, petal_format_rocksdb;
extern const struct format_def petal_format_pybloom, petal_format_pybloom_scalable, petal_format_hadoop,
    petal_format_hbase, petal_format_cassandra, petal_format_cassandra_be, petal_format_cassandra_2;
extern const struct format_def petal_format_bloom_filters, petal_format_bloomfilter, petal_format_js_tutorial;

#endif
