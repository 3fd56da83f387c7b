/* format.h - converts between a filter and the bytes of a file. Each format's source file exports a
 * row of the table of formats, and format_list.h lists the rows. To add a format, write a source
 * file and add a line to that list. A codec is pure: it converts bytes to a description, opens no
 * files, and never allocates memory based on an unchecked size. */
#ifndef PETAL_FORMAT_FORMAT_H
#define PETAL_FORMAT_FORMAT_H

#include "filter/filter.h"
#include "format/format_list.h"

#define PETAL_MAX_LAYERS 64u

/* A layer as described by a file. */
struct layer_description {
    struct shape shape;
    uint64_t capacity;
    double target_rate; /* NAN: not recorded */
    uint64_t items;
    uint64_t until_ms;
    uint64_t size_bytes;
    uint64_t offset;      /* file offset of the layer's bytes */
    uint64_t first_block; /* the number of the layer's first block (only in petal files) */
};

/* A filter as described by a file. */
struct description {
    uint32_t hash;
    uint64_t seed;
    struct policy policy;
    uint32_t key_type;
    struct origin origin;
    uint64_t metadata_offset, metadata_bytes;
    /* True if the filter is empty and the file doesn't contain its bits. The layers' offsets are
     * then meaningless. */
    bool bits_left_out;
    uint32_t layer_count;
    struct layer_description layers[PETAL_MAX_LAYERS];
};

/* Receives the bytes that a codec writes. */
struct sink {
    petal_status (*put)(void *context, const void *bytes, uint64_t size_bytes, petal_error *error);
    void *context;
    /* If set, put() ignores the bytes, so they may be NULL and needn't be computed. */
    bool only_counts;
};

/* A row of the table of formats. If a member is omitted (0, NULL), the default given in its comment
 * applies. A function that several rows can share receives its row as the first argument. */
struct format_def {
    uint32_t id; /* permanent, because petal files record it as a filter's origin */
    const char *name;
    const char *keys; /* what the keys are; default: "bytes" */
    bool has_checksum;
    uint32_t scheme, hash; /* scheme and hash of the format's filters; if several are possible, of
                            * newly created ones */
    uint32_t variant;      /* distinguishes rows that share functions; each format defines the
                            * values */

    /* Determines from the header and the length whether these bytes could be a file in this format.
     * FIT_CERTAIN means that they are very unlikely to be anything else. Default: returns `fit` if
     * read() accepts the bytes, and FIT_NO otherwise. */
    enum fit { FIT_NO, FIT_POSSIBLE, FIT_CERTAIN } fit;
    enum fit (*fits)(const uint8_t *bytes, uint64_t size_bytes);

    /* If the bits are encoded (JSON, gzip), decodes them into a plain image for read(), in memory
     * from the allocator. The caller frees the image, even after a failure. *decoded is NULL before
     * the call. If it is still NULL on PETAL_OK, the bytes are already plain. Default: the bytes
     * are plain. */
    petal_status (*decode)(const uint8_t *bytes, uint64_t size_bytes,
                           const petal_allocator *allocator, uint8_t **decoded,
                           uint64_t *decoded_bytes, petal_error *error);

    /* Reads the description from the file, and checks every field. The caller has zeroed the
     * description, and has set its hash and origin.format to the row's. On PETAL_OK, each layer is
     * within the bytes. */
    petal_status (*read)(const struct format_def *self, const uint8_t *bytes, uint64_t size_bytes,
                         struct description *about, petal_error *error);

    /* Optional: reads the description from the first bytes of a file. Only formats whose header
     * determines everything except the bits have this function. If there are too few bytes, the
     * function calls petal_format_header_short(). */
    petal_status (*read_header)(const struct format_def *self, const uint8_t *bytes,
                                uint64_t size_bytes, struct description *about, petal_error *error);

    /* Plans the filter that the original library would create for options->capacity and
     * options->rate, or for bits and hashes, with exactly the same sizes. `about` is as for read();
     * its layers need only shape, capacity and rate. Default: petal_size_plan(), which calls size()
     * if a rate is given. If the row has neither plan() nor size(), Petal can't create filters in
     * this format. */
    petal_status (*plan)(const struct format_def *self, const petal_options *options,
                         struct description *about, petal_error *error);
    petal_status (*size)(uint64_t keys, double rate, struct shape *shape, petal_error *error);

    /* Returns PETAL_ERR_UNSUPPORTED, with the reason, if the format can't store this filter.
     * Default: petal_format_expect_single(). */
    petal_status (*expect)(const struct format_def *self, const petal_filter *filter,
                           petal_error *error);

    /* Writes the whole file for a filter that expect() accepted. Can still fail because the format
     * can't store the filter. Default: the format can't be written. */
    petal_status (*write)(const struct format_def *self, const petal_filter *filter,
                          const struct sink *sink, petal_error *error);

    /* A row has either both grows() and grow(), or neither. grows() returns true if the original
     * library adds a layer when this filter is full. grow() is called for a new key if the last
     * layer is full. It adds a layer, or reports why it can't. */
    bool (*grows)(const petal_filter *filter);
    petal_status (*grow)(petal_filter *filter, petal_error *error);

    /* Returns true if grow() always refuses. Default: false. */
    bool (*is_fixed)(const petal_filter *filter);
};

/* Each of these functions calls a member of the row, or implements the member's default. (For plan,
 * see sizing.h.) */
enum fit petal_format_fits(const struct format_def *format, const uint8_t *bytes,
                           uint64_t size_bytes);
petal_status petal_format_write(const struct format_def *format, const petal_filter *filter,
                                const struct sink *sink, petal_error *error);

/* Finds the row of a format by its name or number. Returns NULL if the table contains no such
 * format. */
const struct format_def *petal_format_find(const char *name);
const struct format_def *petal_format_of_id(uint32_t id);

/* Finds the format that the user named. The name NULL means petal. Returns PETAL_ERR_UNSUPPORTED if
 * this build doesn't include the format, and PETAL_ERR_ARGUMENT if no such format exists. */
petal_status petal_format_named(const char *name, const struct format_def **format,
                                petal_error *error);

/* Returns the format that the filter was read from or created for, or petal if the format is
 * unknown. */
const struct format_def *petal_format_origin(const petal_filter *filter);

/* Returns row number `place` of the table, counted from 0, or NULL after the last. */
const struct format_def *petal_format_row(uint32_t place);

/* Creates a filter from the description, without bits. `secret` has the same meaning as in
 * petal_filter_new(). */
petal_status petal_filter_of(const struct description *about, const void *secret,
                             const petal_allocator *allocator, petal_filter **filter,
                             petal_error *error);

/* ---- for codecs ------------------------------------------------------------------------------ */

/* Returns PETAL_ERR_UNSUPPORTED unless the filter has the row's scheme. */
petal_status petal_format_expect(const struct format_def *format, const petal_filter *filter,
                                 petal_error *error);

/* Returns PETAL_ERR_DAMAGED, with the offset and a description of the fault. */
petal_status petal_format_damaged(petal_error *error, uint64_t offset, const char *what);

/* Returns PETAL_ERR_TRUNCATED or PETAL_ERR_DAMAGED unless the file has exactly this size. */
petal_status petal_format_check_size(uint64_t promised_bytes, uint64_t size_bytes,
                                     petal_error *error);

/* Returns PETAL_ERR_TRUNCATED for a header that is incomplete. The error's offset is the number of
 * bytes needed. */
petal_status petal_format_header_short(petal_error *error, uint64_t needed_bytes,
                                       uint64_t size_bytes);

/* Returns PETAL_ERR_DAMAGED if bits are set after the last bit of `about`'s only layer. */
petal_status petal_format_check_tail(const struct description *about, const uint8_t *bytes,
                                     petal_error *error);

/* Stores these bytes of the file as the origin. Any number of bytes is allowed, and they must stay
 * valid as long as `about` is used. */
void petal_format_keep(struct description *about, const uint8_t *bytes, uint32_t size_bytes);

/* Makes a layer of this shape the only layer of `about`. The layer's bytes start at `offset`. */
void petal_format_single(struct description *about, const struct shape *shape, uint64_t offset);

static inline petal_status petal_put(const struct sink *sink, const void *bytes,
                                     uint64_t size_bytes, petal_error *error)
{
    return sink->put(sink->context, bytes, size_bytes, error);
}

/* Writes the bytes of a header, followed by the bytes of an array. */
petal_status petal_put_both(const struct sink *sink, const void *header, uint64_t header_bytes,
                            const struct bit_array *array, petal_error *error);

/* Like petal_format_expect(), but also requires the filter to have a single layer. */
petal_status petal_format_expect_single(const struct format_def *format, const petal_filter *filter,
                                        petal_error *error);

/* Like petal_format_expect_single(), but also requires the row's hash with seed 0. This is for
 * formats that don't record the hash. */
petal_status petal_format_expect_hashed(const struct format_def *format, const petal_filter *filter,
                                        petal_error *error);

/* The rows of the table of formats. */
#define FORMAT_ROW(LIBRARY, NAME, name, number) extern const struct format_def petal_format_##name;
PETAL_FORMATS_HERE(FORMAT_ROW)

/* The numbers of all formats, including formats that this build leaves out, since a petal file may
 * contain their numbers. */
#define FORMAT_NUMBER(LIBRARY, NAME, name, number) PETAL_FORMAT_##NAME = (number),
enum { PETAL_FORMATS(FORMAT_NUMBER, FORMAT_NUMBER) };

#endif
