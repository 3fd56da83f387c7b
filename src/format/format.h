/* format.h - the third axis: filter <-> the bytes of a file. Each container's file exports its row,
 * and format_list.h lists them; adding one is one file and one line. Codecs are pure: bytes in,
 * description out; no files, and no allocation sized by unchecked input. */
#ifndef PETAL_FORMAT_FORMAT_H
#define PETAL_FORMAT_FORMAT_H

#include "filter/filter.h"
#include "format/format_list.h"

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
    uint32_t hash;
    uint64_t seed;
    struct policy policy;
    uint32_t key_type;
    struct origin origin;
    uint64_t metadata_offset, metadata_bytes;
    /* an empty filter, of which the file has no bits; the offsets of its layers mean nothing */
    bool bits_left_out;
    uint32_t layer_count;
    struct layer_description layers[PETAL_MAX_LAYERS];
};

/* Where written bytes go. */
struct sink {
    petal_status (*put)(void *context, const void *bytes, uint64_t size_bytes, petal_error *error);
    void *context;
    /* put() does not read the bytes, which may be NULL: what they would be need not be worked
     * out */
    bool only_counts;
};

/* A row. A member that is left out (0, NULL) has the default that is named with it; functions take
 * their row first if several rows share them. */
struct format_def {
    uint32_t id; /* stays the same for good: it is in petal files, as the origin of a filter */
    const char *name;
    const char *keys; /* what its keys are; default: "bytes" */
    bool has_checksum;
    uint32_t scheme, hash; /* of its filters, or of those that it makes if there are several */
    uint32_t variant;      /* of its file: which of the rows that share functions */

    /* Could these bytes be such a file, by its header and its length? `certain`: they are hardly
     * anything else. Default: `fit` if read() accepts them. */
    enum fit { FIT_NO, FIT_POSSIBLE, FIT_CERTAIN } fit;
    enum fit (*fits)(const uint8_t *bytes, uint64_t size_bytes);

    /* Bytes whose bits must be unpacked first (JSON, gzip) -> a plain image for read(), from the
     * allocator, to which the caller gives it back, after a failure too. If *decoded (NULL before)
     * stays NULL on PETAL_OK, the bytes are plain already. Default: they are. */
    petal_status (*decode)(const uint8_t *bytes, uint64_t size_bytes,
                           const petal_allocator *allocator, uint8_t **decoded,
                           uint64_t *decoded_bytes, petal_error *error);

    /* Reads the description (zeroed before, except hash and origin.format, which are the row's) and
     * checks every field; on PETAL_OK each layer lies inside the bytes. */
    petal_status (*read)(const struct format_def *self, const uint8_t *bytes, uint64_t size_bytes,
                         struct description *about, petal_error *error);

    /* Optional: the same by the first bytes of the file, if they are enough to know everything but
     * the bits; petal_format_header_short() if they are too few. */
    petal_status (*read_header)(const struct format_def *self, const uint8_t *bytes,
                                uint64_t size_bytes, struct description *about, petal_error *error);

    /* What this library would make for options->capacity and options->rate, or bits and hashes: its
     * sizing to the bit. `about` is as for read(). Layers need shape, capacity and rate only.
     * Default: petal_size_plan(), which asks size() for the bits and the hashes of a rate; without
     * that too, files can be read, not made anew. */
    petal_status (*plan)(const struct format_def *self, const petal_options *options,
                         struct description *about, petal_error *error);
    petal_status (*size)(uint64_t keys, double rate, struct shape *shape, petal_error *error);

    /* PETAL_ERR_UNSUPPORTED, with the reason, of a filter that the container cannot hold. Default:
     * petal_format_expect_single(). */
    petal_status (*expect)(const struct format_def *self, const petal_filter *filter,
                           petal_error *error);

    /* Writes the whole file of a filter that expect() passed; may find that the container cannot
     * hold it, too. Default: none can be written. */
    petal_status (*write)(const struct format_def *self, const petal_filter *filter,
                          const struct sink *sink, petal_error *error);

    /* Both or none. grows: does the original add a layer when this filter is full? grow: a new key
     * has come to a last layer that holds its capacity; adds a layer, or says why it cannot. */
    bool (*grows)(const petal_filter *filter);
    petal_status (*grow)(petal_filter *filter, petal_error *error);

    /* Does grow() refuse, whatever comes? Default: no. */
    bool (*is_fixed)(const petal_filter *filter);
};

/* The members of a row, or their defaults (that of plan is in sizing.h). */
enum fit petal_format_fits(const struct format_def *format, const uint8_t *bytes,
                           uint64_t size_bytes);
petal_status petal_format_write(const struct format_def *format, const petal_filter *filter,
                                const struct sink *sink, petal_error *error);

/* The row of a format by its name or its number, or NULL. */
const struct format_def *petal_format_find(const char *name);
const struct format_def *petal_format_of_id(uint32_t id);

/* By what the user named; NULL is petal. PETAL_ERR_UNSUPPORTED if this build leaves the format out,
 * PETAL_ERR_ARGUMENT if there is none. */
petal_status petal_format_named(const char *name, const struct format_def **format,
                                petal_error *error);

/* The container that a filter came in or was made for; petal if that is not known. */
const struct format_def *petal_format_origin(const petal_filter *filter);

/* The row at a place of the table, from 0; NULL after the last. */
const struct format_def *petal_format_row(uint32_t place);

/* A filter that knows everything of the description, and has no bits yet. `secret` as for
 * petal_filter_new(). */
petal_status petal_filter_of(const struct description *about, const void *secret,
                             const petal_allocator *allocator, petal_filter **filter,
                             petal_error *error);

/* ---- for codecs ------------------------------------------------------------------------------ */

/* PETAL_ERR_UNSUPPORTED unless the filter has the row's scheme. */
petal_status petal_format_expect(const struct format_def *format, const petal_filter *filter,
                                 petal_error *error);

/* PETAL_ERR_DAMAGED naming the byte and what is wrong there. */
petal_status petal_format_damaged(petal_error *error, uint64_t offset, const char *what);

/* PETAL_ERR_TRUNCATED or PETAL_ERR_DAMAGED unless the file has just these bytes. */
petal_status petal_format_check_size(uint64_t promised_bytes, uint64_t size_bytes,
                                     petal_error *error);

/* PETAL_ERR_TRUNCATED of a header that is opened alone, with what it needs as the offset. */
petal_status petal_format_header_short(petal_error *error, uint64_t needed_bytes,
                                       uint64_t size_bytes);

/* PETAL_ERR_DAMAGED if bits are set beyond the last of the single layer of `about`. */
petal_status petal_format_check_tail(const struct description *about, const uint8_t *bytes,
                                     petal_error *error);

/* Keeps these bytes of the file, of any number, as the origin; they must stay as long
 * as `about`. */
void petal_format_keep(struct description *about, const uint8_t *bytes, uint32_t size_bytes);

/* Makes `about` a single layer of this shape whose bytes begin at `offset`. */
void petal_format_single(struct description *about, const struct shape *shape, uint64_t offset);

static inline petal_status petal_put(const struct sink *sink, const void *bytes,
                                     uint64_t size_bytes, petal_error *error)
{
    return sink->put(sink->context, bytes, size_bytes, error);
}

/* The bytes of a header, then those of an array. */
petal_status petal_put_both(const struct sink *sink, const void *header, uint64_t header_bytes,
                            const struct bit_array *array, petal_error *error);

/* petal_format_expect(), for containers of one layer. */
petal_status petal_format_expect_single(const struct format_def *format, const petal_filter *filter,
                                        petal_error *error);

/* The same, and the row's hash with seed 0: for containers that say nothing of the hash. */
petal_status petal_format_expect_hashed(const struct format_def *format, const petal_filter *filter,
                                        petal_error *error);

/* The rows. */
#define FORMAT_ROW(LIBRARY, NAME, name, number) extern const struct format_def petal_format_##name;
PETAL_FORMATS_HERE(FORMAT_ROW)

/* Their numbers, also of those that this build leaves out: a petal file may have them. */
#define FORMAT_NUMBER(LIBRARY, NAME, name, number) PETAL_FORMAT_##NAME = (number),
enum { PETAL_FORMATS(FORMAT_NUMBER, FORMAT_NUMBER) };

#endif
