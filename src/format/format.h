/* format.h - the third axis: filter <-> the bytes of a file. Each format's file exports its row,
 * and format_list.h lists them; to add one, write a file and a line. Codecs are pure: bytes in,
 * description out; no files, and no allocation sized by unchecked input. */
#ifndef PETAL_FORMAT_FORMAT_H
#define PETAL_FORMAT_FORMAT_H

#include "filter/filter.h"
#include "format/format_list.h"

#define PETAL_MAX_LAYERS 64u

/* One layer in a file. */
struct layer_description {
    struct shape shape;
    uint64_t capacity;
    double target_rate; /* NAN: not recorded */
    uint64_t items;
    uint64_t until_ms;
    uint64_t size_bytes;
    uint64_t offset;      /* of its bytes in the file */
    uint64_t first_block; /* petal files: the number of the layer's first block */
};

/* A filter in a file. */
struct description {
    uint32_t hash;
    uint64_t seed;
    struct policy policy;
    uint32_t key_type;
    struct origin origin;
    uint64_t metadata_offset, metadata_bytes;
    /* an empty filter whose bits are not in the file; its layers' offsets are meaningless */
    bool bits_left_out;
    uint32_t layer_count;
    struct layer_description layers[PETAL_MAX_LAYERS];
};

/* Receives the bytes written. */
struct sink {
    petal_status (*put)(void *context, const void *bytes, uint64_t size_bytes, petal_error *error);
    void *context;
    /* put() ignores the bytes: they may be NULL and need not be computed */
    bool only_counts;
};

/* A row. An omitted member (0, NULL) has the default stated with it. Functions get their row as the
 * first argument if several rows share them. */
struct format_def {
    uint32_t id; /* permanent: petal files record it as a filter's origin */
    const char *name;
    const char *keys; /* what keys are; default: "bytes" */
    bool has_checksum;
    uint32_t scheme, hash; /* of its filters; if there are several, of new filters */
    uint32_t variant;      /* the format's own: distinguishes rows that share functions */

    /* From header and length, could these bytes be such a file? FIT_CERTAIN: they are very unlikely
     * to be anything else. Default: `fit` if read() accepts them. */
    enum fit { FIT_NO, FIT_POSSIBLE, FIT_CERTAIN } fit;
    enum fit (*fits)(const uint8_t *bytes, uint64_t size_bytes);

    /* Unpacks bytes whose bits are encoded (JSON, gzip) to a plain image for read(), using the
     * allocator. The caller frees the image, after a failure too. If *decoded, which is NULL
     * before, stays NULL on PETAL_OK, the bytes are already plain. Default: they are. */
    petal_status (*decode)(const uint8_t *bytes, uint64_t size_bytes,
                           const petal_allocator *allocator, uint8_t **decoded,
                           uint64_t *decoded_bytes, petal_error *error);

    /* Reads the description and checks every field. The caller has zeroed it, and set hash and
     * origin.format to the row's. On PETAL_OK each layer lies within the bytes. */
    petal_status (*read)(const struct format_def *self, const uint8_t *bytes, uint64_t size_bytes,
                         struct description *about, petal_error *error);

    /* Optional: reads the same from the first bytes of the file, if they determine everything but
     * the bits. If they are too few: petal_format_header_short(). */
    petal_status (*read_header)(const struct format_def *self, const uint8_t *bytes,
                                uint64_t size_bytes, struct description *about, petal_error *error);

    /* Plans what this library would create for options->capacity and options->rate, or for bits and
     * hashes, with exactly its sizes. `about` is as for read(). Layers need only shape, capacity
     * and rate. Default: petal_size_plan(), which calls size() for the bits and hashes of a rate;
     * if that is missing too, the format can only be read. */
    petal_status (*plan)(const struct format_def *self, const petal_options *options,
                         struct description *about, petal_error *error);
    petal_status (*size)(uint64_t keys, double rate, struct shape *shape, petal_error *error);

    /* PETAL_ERR_UNSUPPORTED, with the reason, for a filter that the format can't hold. Default:
     * petal_format_expect_single(). */
    petal_status (*expect)(const struct format_def *self, const petal_filter *filter,
                           petal_error *error);

    /* Writes the whole file of a filter that passed expect(). May still find that the format can't
     * hold it. Default: the format can't be written. */
    petal_status (*write)(const struct format_def *self, const petal_filter *filter,
                          const struct sink *sink, petal_error *error);

    /* Both or neither. grows(): does the original add a layer when this filter is full? grow():
     * called for a new key if the last layer is full; adds a layer, or reports why it can't. */
    bool (*grows)(const petal_filter *filter);
    petal_status (*grow)(petal_filter *filter, petal_error *error);

    /* Does grow() always refuse? Default: no. */
    bool (*is_fixed)(const petal_filter *filter);
};

/* A row's members, or their defaults (sizing.h has plan's). */
enum fit petal_format_fits(const struct format_def *format, const uint8_t *bytes,
                           uint64_t size_bytes);
petal_status petal_format_write(const struct format_def *format, const petal_filter *filter,
                                const struct sink *sink, petal_error *error);

/* Finds a format's row by its name or number; NULL if there is none. */
const struct format_def *petal_format_find(const char *name);
const struct format_def *petal_format_of_id(uint32_t id);

/* Finds the format that the user named; NULL means petal. PETAL_ERR_UNSUPPORTED if this build
 * leaves it out, PETAL_ERR_ARGUMENT if it doesn't exist. */
petal_status petal_format_named(const char *name, const struct format_def **format,
                                petal_error *error);

/* The format that a filter was read from or created for; petal if unknown. */
const struct format_def *petal_format_origin(const petal_filter *filter);

/* The table's row at this place, counted from 0. NULL after the last. */
const struct format_def *petal_format_row(uint32_t place);

/* Creates a filter from the description, without bits. `secret` is as for petal_filter_new(). */
petal_status petal_filter_of(const struct description *about, const void *secret,
                             const petal_allocator *allocator, petal_filter **filter,
                             petal_error *error);

/* ---- for codecs ------------------------------------------------------------------------------ */

/* PETAL_ERR_UNSUPPORTED unless the filter has the row's scheme. */
petal_status petal_format_expect(const struct format_def *format, const petal_filter *filter,
                                 petal_error *error);

/* PETAL_ERR_DAMAGED with the offset and what is wrong there. */
petal_status petal_format_damaged(petal_error *error, uint64_t offset, const char *what);

/* PETAL_ERR_TRUNCATED or PETAL_ERR_DAMAGED unless the file has exactly this size. */
petal_status petal_format_check_size(uint64_t promised_bytes, uint64_t size_bytes,
                                     petal_error *error);

/* PETAL_ERR_TRUNCATED for a header that was opened alone; the offset is the number of bytes
 * needed. */
petal_status petal_format_header_short(petal_error *error, uint64_t needed_bytes,
                                       uint64_t size_bytes);

/* PETAL_ERR_DAMAGED if bits are set after the last one of `about`'s only layer. */
petal_status petal_format_check_tail(const struct description *about, const uint8_t *bytes,
                                     petal_error *error);

/* Keeps these bytes of the file, of any number, as the origin. They must stay valid as long as
 * `about`. */
void petal_format_keep(struct description *about, const uint8_t *bytes, uint32_t size_bytes);

/* Gives `about` a single layer of this shape, whose bytes begin at `offset`. */
void petal_format_single(struct description *about, const struct shape *shape, uint64_t offset);

static inline petal_status petal_put(const struct sink *sink, const void *bytes,
                                     uint64_t size_bytes, petal_error *error)
{
    return sink->put(sink->context, bytes, size_bytes, error);
}

/* Writes the bytes of a header, then those of an array. */
petal_status petal_put_both(const struct sink *sink, const void *header, uint64_t header_bytes,
                            const struct bit_array *array, petal_error *error);

/* petal_format_expect(), for formats with one layer. */
petal_status petal_format_expect_single(const struct format_def *format, const petal_filter *filter,
                                        petal_error *error);

/* The same. Also requires the row's hash with seed 0: for formats that don't record the hash. */
petal_status petal_format_expect_hashed(const struct format_def *format, const petal_filter *filter,
                                        petal_error *error);

/* The rows. */
#define FORMAT_ROW(LIBRARY, NAME, name, number) extern const struct format_def petal_format_##name;
PETAL_FORMATS_HERE(FORMAT_ROW)

/* Their numbers, including those of formats that this build leaves out, since a petal file may
 * contain them. */
#define FORMAT_NUMBER(LIBRARY, NAME, name, number) PETAL_FORMAT_##NAME = (number),
enum { PETAL_FORMATS(FORMAT_NUMBER, FORMAT_NUMBER) };

#endif
