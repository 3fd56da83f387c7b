/* javascript.h - what the codecs of JavaScript's filters share. Their files are JSON; decode()
 * makes of one this plain image:
 *
 *     0   8   16     24      32
 *     +---+---+------+-------+------------------+
 *     | m | k | seed | form  | ceil(m / 8) bytes|       8 bytes each, little-endian
 *     +---+---+------+-------+------------------+
 *
 * `form` says in which of its forms the text was written, so that it can be written so again; it is
 * kept as the one byte of the filter's origin data. */
#ifndef PETAL_FORMAT_JAVASCRIPT_H
#define PETAL_FORMAT_JAVASCRIPT_H

#include "format/foreign/json.h"

/* A line break after the JSON text. The other bits of a form are the codec's. */
#define JS_FORM_LINE_BREAK 0x80u

struct js_filter {
    uint64_t bits, hashes, seed;
    uint8_t form;
    /* Where the members of that name stand in the text, for messages. */
    uint64_t bits_at, hashes_at;
};

/* Allocates the image, with the fields and without the bits. Fails unless the scheme can have the
 * shape. */
petal_status petal_js_image(const struct js_filter *about, uint32_t scheme,
                            const petal_allocator *allocator, uint8_t **image,
                            uint64_t *image_bytes, petal_error *error);

/* The image's bits; its form, if that is known only once they have been read. */
uint8_t *petal_js_image_bits(uint8_t *image);
void petal_js_set_form(uint8_t *image, uint8_t form);

/* A class whose bits are a list of numbers of 1 or 4 bytes. The form `named` is of a list that is
 * an object, with its indices as names. */
struct js_list {
    struct json_names members; /* m, k and the list, and then any others */
    uint32_t scheme, unit_bytes;
    uint8_t named;
};

/* fits() of such a class. */
enum fit petal_js_list_fits(const struct js_list *list, const uint8_t *bytes, uint64_t size_bytes);

/* Finds the three members, and makes the image without the bits. */
petal_status petal_js_list_image(const struct js_list *list, const struct json_object *object,
                                 struct js_filter *about, struct json_array *numbers,
                                 const petal_allocator *allocator, uint8_t **image,
                                 uint64_t *image_bytes, petal_error *error);

/* The numbers, from `min` to `max`, into the image's bits, little-endian. *lowest and *highest are
 * those that were met, or 0. */
petal_status petal_js_list_bits(const struct js_list *list, struct json_array numbers, int64_t min,
                                int64_t max, uint8_t *image, uint64_t image_bytes, int64_t *lowest,
                                int64_t *highest, petal_error *error);

/* write() of such a class. `begin` is the text before the name of the bits; numbers of 4 bytes are
 * signed or not. */
petal_status petal_js_list_write(const struct js_list *list, const petal_filter *filter,
                                 const struct sink *sink, const char *begin, bool is_signed,
                                 uint8_t form, petal_error *error);

/* What the rows have in common; decode, fits, size and write are the codec's own. */
#define JS_ROW(NAME, name_, hash_) \
    .id = PETAL_FORMAT_##NAME, .name = (name_), .scheme = PETAL_SCHEME_##NAME, .hash = (hash_), \
    .keys = "UTF-8 of a string", .fits = fits, .decode = decode, .read = petal_js_read, \
    .size = UNLESS_READ_ONLY(size), .write = write

/* JS_FORM_LINE_BREAK or 0. */
uint8_t petal_js_line_break(const uint8_t *bytes, uint64_t size_bytes);

/* Image -> description. */
petal_status petal_js_read(const struct format_def *self, const uint8_t *image,
                           uint64_t image_bytes, struct description *about, petal_error *error);

/* The form that the filter was read in by this format, or `newest`. */
uint8_t petal_js_form(const petal_filter *filter, const struct format_def *format, uint8_t newest);

/* Text being written, a piece at a time; what goes wrong is reported at the end. */
struct js_text {
    const struct sink *sink;
    petal_error *error;
    petal_status status;
    size_t used;
    char chars[4096];
};

void petal_js_put(struct js_text *text, const char *chars);
void petal_js_put_number(struct js_text *text, int64_t number);

void petal_js_put_base64(struct js_text *text, const struct bit_array *array);

/* Puts out what is left, with a line break if the form has one. */
petal_status petal_js_end(struct js_text *text, uint8_t form);

#endif
