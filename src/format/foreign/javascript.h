/* javascript.h - code that the codecs of JavaScript filters share. The filters' files are JSON, and
 * decode() converts them to this plain image:
 *
 *     0   8   16     24      32
 *     +---+---+------+-------+------------------+
 *     | m | k | seed | form  | ceil(m / 8) bytes|       8 bytes each, little-endian
 *     +---+---+------+-------+------------------+
 *
 * `form` records how the text was written, so that the filter can be written in the same way again.
 * It is stored in the filter's origin data as one byte. */
#ifndef PETAL_FORMAT_JAVASCRIPT_H
#define PETAL_FORMAT_JAVASCRIPT_H

#include "format/foreign/json.h"

/* Set if a line break follows the JSON text. Each codec defines the other bits of its form. */
#define JS_FORM_LINE_BREAK 0x80u

struct js_filter {
    uint64_t bits, hashes, seed;
    uint8_t form;
    /* File offsets of the members that contain bits and hashes, for messages. */
    uint64_t bits_at, hashes_at;
};

/* Allocates an image, and fills in its fields, but not its bits. Fails if the scheme doesn't allow
 * this shape. */
petal_status petal_js_image(const struct js_filter *about, uint32_t scheme,
                            const petal_allocator *allocator, uint8_t **image,
                            uint64_t *image_bytes, petal_error *error);

/* The first call returns the address of the image's bits. The second sets the form, which may be
 * known only after the bits have been read. */
uint8_t *petal_js_image_bits(uint8_t *image);
void petal_js_set_form(uint8_t *image, uint8_t form);

/* Describes a class whose bits are a list of 1-byte or 4-byte numbers. The form `named` means that
 * the list is an object with indices as names. */
struct js_list {
    struct json_names members; /* m, k, the list, and then any other members */
    uint32_t scheme, unit_bytes;
    uint8_t named;
};

/* The fits() function of a class that js_list describes. */
enum fit petal_js_list_fits(const struct js_list *list, const uint8_t *bytes, uint64_t size_bytes);

/* Finds the members for m, k and the list, and creates the image without bits. */
petal_status petal_js_list_image(const struct js_list *list, const struct json_object *object,
                                 struct js_filter *about, struct json_array *numbers,
                                 const petal_allocator *allocator, uint8_t **image,
                                 uint64_t *image_bytes, petal_error *error);

/* Stores the numbers, which must be between `min` and `max`, in the image's bits, little-endian.
 * Sets *lowest and *highest to the smallest and the largest number, or to 0 if there are none. */
petal_status petal_js_list_bits(const struct js_list *list, struct json_array numbers, int64_t min,
                                int64_t max, uint8_t *image, uint64_t image_bytes, int64_t *lowest,
                                int64_t *highest, petal_error *error);

/* The write() function of a class that js_list describes. `begin` is the text before the name of
 * the bits. 4-byte numbers may be signed. */
petal_status petal_js_list_write(const struct js_list *list, const petal_filter *filter,
                                 const struct sink *sink, const char *begin, bool is_signed,
                                 uint8_t form, petal_error *error);

/* The members that the rows of all JavaScript formats share. Each codec defines its own decode,
 * fits, size and write. */
#define JS_ROW(NAME, name_, hash_) \
    .id = PETAL_FORMAT_##NAME, .name = (name_), .scheme = PETAL_SCHEME_##NAME, .hash = (hash_), \
    .keys = "UTF-8 of a string", .fits = fits, .decode = decode, .read = petal_js_read, \
    .size = UNLESS_READ_ONLY(size), .write = write

/* Returns JS_FORM_LINE_BREAK if a line break follows the JSON text, otherwise 0. */
uint8_t petal_js_line_break(const uint8_t *bytes, uint64_t size_bytes);

/* Converts an image to a description. */
petal_status petal_js_read(const struct format_def *self, const uint8_t *image,
                           uint64_t image_bytes, struct description *about, petal_error *error);

/* Returns the form in which this format read the filter, or `newest` if it did not read the
 * filter. */
uint8_t petal_js_form(const petal_filter *filter, const struct format_def *format, uint8_t newest);

/* A buffer that writes text in pieces. petal_js_end() reports errors. */
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

/* Writes the remaining text, and a line break if the form has one. */
petal_status petal_js_end(struct js_text *text, uint8_t form);

#endif
