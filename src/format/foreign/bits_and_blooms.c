/* bits_and_blooms.c - reads and writes the files of the Go package bits-and-blooms/bloom, version
 * 3, in two forms.
 *
 * Binary (WriteTo, MarshalBinary, gob); all numbers big-endian, 8 bytes each:
 *
 *     0   8   16       24
 *     +---+---+--------+-----------------------+
 *     | m | k | length | ceil(length / 64) * 8 |
 *     +---+---+--------+-----------------------+
 *
 * JSON: {"m":10,"k":7,"b":"AAAAAAAAAAoAAAAAAAADbQ=="}, where b is the binary form starting at
 * length, in base64.
 *
 * `length` is the length of the bit set. It equals m, except in filters made from words
 * (FromWithM), where it is 64 times the number of words. A program may have switched its bit sets
 * to little-endian; in that case, length and words are little-endian, but m and k are big-endian.
 * It may also have switched base64 from the URL alphabet to the standard one. There is no magic
 * number and no count. docs/formats/bits-and-blooms.md.
 *
 * The `bits-and-blooms` format reads all these forms. It writes a filter in the form that it was
 * read from, and other filters in binary. `bits-and-blooms-json` reads and writes JSON. Both unpack
 * to the plain binary form. m is below 2^56, so the first byte is 0 in every file; in an unpacked
 * image that byte stores the form.
 *
 * Origin data: length, 8 bytes little-endian; form, 1 byte. */
#include "base/base64.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "format/foreign/json.h"
#include "format/foreign/sizing.h"
#include "scheme/model.h"

#include <string.h>

#define HEADER_BYTES 24u
#define ORIGIN_BYTES 9u

enum form {
    FORM_JSON = 1,
    FORM_LITTLE = 2,   /* length and words are little-endian */
    FORM_STANDARD = 4, /* base64 with + and /; set only if the text contains one of them */
    FORM_NEWLINE = 8,  /* line break after the JSON, as written by json.Encoder */
    FORM_ALL = 15
};

static uint64_t words_for(uint64_t bits)
{
    return bits / 64 + (bits % 64 != 0);
}

static uint64_t bits_of(const uint8_t *image)
{
    return load64be(image) & (UINT64_MAX >> 8);
}

/* ---- checking -------------------------------------------------------------------------------- */

/* The fields of every form, and their offsets for messages. */
struct header {
    uint64_t bits, hashes, length;
    uint64_t bits_at, hashes_at, length_at;
};

static petal_status check_header(const struct header *header, petal_error *error)
{
    if (header->bits < 1 || header->bits > petal_scheme_bits_and_blooms.max_bits)
        return petal_format_damaged(error, header->bits_at, "an impossible number of bits");
    if (header->hashes < 1 || header->hashes > petal_scheme_bits_and_blooms.max_hashes)
        return petal_format_damaged(error, header->hashes_at, "an impossible number of hashes");
    if (header->length < header->bits)
        return petal_format_damaged(error, header->length_at, "a bit set shorter than the filter");
    if (words_for(header->length) != words_for(header->bits))
        return petal_format_damaged(error, header->length_at, "a bit set longer than the filter");
    return PETAL_OK;
}

static struct shape shape_of(const struct header *header)
{
    return (struct shape){PETAL_SCHEME_BITS_AND_BLOOMS, (uint32_t)header->hashes, 0, header->bits};
}

static petal_status check_tail(const struct header *header, const uint8_t *words, uint64_t at,
                               petal_error *error)
{
    struct shape shape = shape_of(header);
    if (petal_tail_is_clear(&shape, words, petal_shape_bytes(&shape))) return PETAL_OK;
    return petal_format_damaged(error, at, "bits set beyond the last");
}

/* ---- reading --------------------------------------------------------------------------------- */

static petal_status read(const struct format_def *self, const uint8_t *bytes, uint64_t size_bytes,
                         struct description *about, petal_error *error)
{
    (void)self;
    if (size_bytes < HEADER_BYTES)
        return petal_fail_at(error, PETAL_ERR_TRUNCATED, size_bytes,
                             "truncated (a header has %u bytes); copy it again", HEADER_BYTES);
    struct header header = {bits_of(bytes), load64be(bytes + 8), load64be(bytes + 16), 0, 8, 16};
    petal_status status = bytes[0] <= FORM_ALL
                              ? PETAL_OK
                              : petal_format_damaged(error, 0, "an impossible number of bits");
    if (status == PETAL_OK) status = check_header(&header, error);
    if (status == PETAL_OK)
        status =
            petal_format_check_size(HEADER_BYTES + 8 * words_for(header.bits), size_bytes, error);
    if (status == PETAL_OK)
        status = check_tail(&header, bytes + HEADER_BYTES, size_bytes - 8, error);
    if (status != PETAL_OK) return status;
    struct shape shape = shape_of(&header);
    petal_format_single(about, &shape, HEADER_BYTES);
    about->origin.size_bytes = ORIGIN_BYTES;
    store64le(about->origin.near, header.length);
    about->origin.near[8] = bytes[0];
    return PETAL_OK;
}

/* ---- unpacking ------------------------------------------------------------------------------- */

/* Returns true if the length is valid only in the other byte order. */
static bool is_little(uint64_t bits, const uint8_t *length)
{
    return words_for(load64be(length)) != words_for(bits) &&
           words_for(load64le(length)) == words_for(bits);
}

/* Reverses the byte order of length and words. */
static void swap_words(uint8_t *words, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) store64be(words + 8 * i, load64le(words + 8 * i));
}

static petal_status check_little(const uint8_t *bytes, uint64_t size_bytes, petal_error *error)
{
    struct header header = {bits_of(bytes), load64be(bytes + 8), load64le(bytes + 16), 0, 8, 16};
    petal_status status = check_header(&header, error);
    if (status != PETAL_OK) return status;
    return petal_format_check_size(HEADER_BYTES + 8 * words_for(header.bits), size_bytes, error);
}

/* Copies the bytes to memory of the same size, in big-endian order. */
static petal_status unpack_little(const uint8_t *bytes, uint64_t size_bytes,
                                  const petal_allocator *allocator, uint8_t **decoded,
                                  uint64_t *decoded_bytes, petal_error *error)
{
    petal_status status = check_little(bytes, size_bytes, error);
    if (status != PETAL_OK) return status;
    uint8_t *image = petal_alloc(allocator, size_bytes);
    if (!image) return petal_fail(error, PETAL_ERR_MEMORY, "out of memory");
    memcpy(image, bytes, (size_t)size_bytes);
    swap_words(image + 16, (size_bytes - 16) / 8);
    image[0] = FORM_LITTLE;
    *decoded = image;
    *decoded_bytes = size_bytes;
    return PETAL_OK;
}

/* The text of member b. */
struct text {
    const char *chars;
    uint64_t count, at;
    bool has_others; /* the JSON has members other than m, k and b */
};

static const struct json_names members = {.any_case = true, .name = {"m", "k", "b"}};

static petal_status read_json(const uint8_t *bytes, uint64_t size_bytes, struct header *header,
                              struct text *text, petal_error *error)
{
    struct json_object object;
    petal_status status = petal_json_read(bytes, size_bytes, &members, &object, error);
    if (status == PETAL_OK)
        status = petal_json_unsigned(&object, "m", &header->bits, &header->bits_at, error);
    if (status == PETAL_OK)
        status = petal_json_unsigned(&object, "k", &header->hashes, &header->hashes_at, error);
    if (status == PETAL_OK)
        status = petal_json_string(&object, "b", &text->chars, &text->count, &text->at, error);
    if (status != PETAL_OK) return status;
    text->has_others = object.has_others;
    header->length = header->bits; /* until b is decoded */
    header->length_at = text->at;
    status = check_header(header, error);
    if (status != PETAL_OK) return status;
    uint64_t set_bytes = 0;
    if (!petal_base64_bytes(text->chars, text->count, &set_bytes) ||
        set_bytes != 8 + 8 * words_for(header->bits))
        return petal_format_damaged(error, text->at, "the length of b does not match m");
    return PETAL_OK;
}

/* Decodes b into an image that already contains m and k. Adds the form of b to *form. */
static petal_status unpack_text(struct header *header, const struct text *text, uint8_t *image,
                                unsigned *form, petal_error *error)
{
    unsigned seen;
    uint64_t good = petal_base64_decode(text->chars, text->count, image + 16, &seen);
    if (good < text->count) return petal_format_damaged(error, text->at + good, "not base64");
    if (seen == BASE64_STANDARD) *form |= FORM_STANDARD;
    if (is_little(header->bits, image + 16)) {
        *form |= FORM_LITTLE;
        swap_words(image + 16, 1 + words_for(header->bits));
    }
    header->length = load64be(image + 16);
    petal_status status = check_header(header, error);
    return status == PETAL_OK ? check_tail(header, image + HEADER_BYTES, text->at, error) : status;
}

/* The image is shorter than the JSON text from which it is decoded. */
static petal_status unpack_json(const uint8_t *bytes, uint64_t size_bytes,
                                const petal_allocator *allocator, uint8_t **decoded,
                                uint64_t *decoded_bytes, petal_error *error)
{
    struct header header;
    struct text text;
    petal_status status = read_json(bytes, size_bytes, &header, &text, error);
    if (status != PETAL_OK) return status;
    uint64_t image_bytes = HEADER_BYTES + 8 * words_for(header.bits);
    uint8_t *image = petal_alloc(allocator, image_bytes);
    if (!image) return petal_fail(error, PETAL_ERR_MEMORY, "out of memory");
    unsigned form = FORM_JSON | (bytes[size_bytes - 1] == '\n' ? FORM_NEWLINE : 0u);
    store64be(image, header.bits);
    store64be(image + 8, header.hashes);
    status = unpack_text(&header, &text, image, &form, error);
    if (status != PETAL_OK) {
        petal_release(allocator, image, image_bytes);
        return status;
    }
    image[0] = (uint8_t)form;
    *decoded = image;
    *decoded_bytes = image_bytes;
    return PETAL_OK;
}

static petal_status decode(const uint8_t *bytes, uint64_t size_bytes,
                           const petal_allocator *allocator, uint8_t **decoded,
                           uint64_t *decoded_bytes, petal_error *error)
{
    if (petal_json_begins(bytes, size_bytes))
        return unpack_json(bytes, size_bytes, allocator, decoded, decoded_bytes, error);
    if (size_bytes > 0 && bytes[0] != 0)
        return petal_fail_at(error, PETAL_ERR_NOT_A_FILTER, 0,
                             "not a filter of bits-and-blooms, neither binary nor JSON");
    if (size_bytes >= HEADER_BYTES && is_little(bits_of(bytes), bytes + 16))
        return unpack_little(bytes, size_bytes, allocator, decoded, decoded_bytes, error);
    return PETAL_OK; /* already plain */
}

static petal_status decode_json(const uint8_t *bytes, uint64_t size_bytes,
                                const petal_allocator *allocator, uint8_t **decoded,
                                uint64_t *decoded_bytes, petal_error *error)
{
    if (petal_json_begins(bytes, size_bytes))
        return unpack_json(bytes, size_bytes, allocator, decoded, decoded_bytes, error);
    return petal_fail_at(error, PETAL_ERR_NOT_A_FILTER, 0,
                         "not JSON; the format of binary files is bits-and-blooms");
}

/* ---- recognizing ----------------------------------------------------------------------------- */

/* Other JSON may have members named m, k and b, but b hardly ever starts with the length that m
 * requires. */
static enum fit fit_of_json(const uint8_t *bytes, uint64_t size_bytes)
{
    struct header header;
    struct text text;
    uint8_t length[9];
    unsigned seen;
    if (read_json(bytes, size_bytes, &header, &text, NULL) != PETAL_OK) return FIT_NO;
    if (petal_base64_decode(text.chars, 12, length, &seen) < 12)
        return FIT_NO; /* an image has at least 24 bytes */
    header.length = is_little(header.bits, length) ? load64le(length) : load64be(length);
    if (check_header(&header, NULL) != PETAL_OK) return FIT_NO;
    return text.has_others ? FIT_POSSIBLE : FIT_CERTAIN;
}

static enum fit fits(const uint8_t *bytes, uint64_t size_bytes)
{
    struct description about = {0};
    if (petal_json_begins(bytes, size_bytes)) return fit_of_json(bytes, size_bytes);
    if (size_bytes < HEADER_BYTES || bytes[0] != 0) return FIT_NO;
    if (read(&petal_format_bits_and_blooms, bytes, size_bytes, &about, NULL) == PETAL_OK)
        return FIT_POSSIBLE;
    return check_little(bytes, size_bytes, NULL) == PETAL_OK ? FIT_POSSIBLE : FIT_NO;
}

/* ---- sizing ---------------------------------------------------------------------------------- */

/* EstimateParameters: m = ceil(-n ln p / (ln 2)^2), k = ceil(ln 2 * m / n). */
static petal_status size(uint64_t keys, double rate, struct shape *shape, petal_error *error)
{
    if (keys == 0)
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          "bits-and-blooms cannot size a filter for 0 keys; use 1");
    double bits = petal_model_ceil(petal_model_optimal_bits((double)keys, rate));
    petal_status status =
        petal_size_bits(bits, petal_scheme_bits_and_blooms.max_bits, &shape->bits, error);
    if (status == PETAL_OK) shape->hashes = petal_size_hashes(shape->bits, keys);
    return status;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* The data to write, and the form in which to write it. */
struct writing {
    const struct bit_array *array;
    uint64_t length;
    unsigned form;
};

/* The origin of a petal file may be forged. If the length is impossible for these bits, it is
 * ignored. */
static struct writing writing_of(const petal_filter *filter)
{
    const struct bit_array *array = &filter->layers->array;
    struct writing made = {array, array->shape.bits, 0};
    bool known = filter->origin.format == petal_format_bits_and_blooms.id ||
                 filter->origin.format == petal_format_bits_and_blooms_json.id;
    if (!known || filter->origin.size_bytes != ORIGIN_BYTES) return made;
    uint64_t length = load64le(filter->origin.near);
    if (length >= made.length && words_for(length) == words_for(made.length)) made.length = length;
    made.form = filter->origin.near[8] & FORM_ALL;
    return made;
}

/* 3,072 bytes become 4,096 characters, so base64 needs no padding between pieces. */
#define PIECE_WORDS 384u

/* Copies `count` words, starting with word `from`. Word 0 is the length, and the bit set
 * follows. */
static void get_words(const struct writing *of, uint64_t from, uint64_t count, uint8_t *to)
{
    for (uint64_t i = from; i < from + count; i++, to += 8) {
        uint64_t word = i == 0 ? of->length : load64be(of->array->bytes + 8 * (i - 1));
        if (of->form & FORM_LITTLE)
            store64le(to, word);
        else
            store64be(to, word);
    }
}

static petal_status put_piece(const struct writing *of, const uint8_t *bytes, size_t size_bytes,
                              const struct sink *sink, petal_error *error)
{
    char text[PIECE_WORDS * 8 / 3 * 4];
    if (!(of->form & FORM_JSON)) return petal_put(sink, bytes, size_bytes, error);
    petal_base64_encode(bytes, size_bytes, of->form & FORM_STANDARD ? BASE64_STANDARD : BASE64_URL,
                        text);
    return petal_put(sink, text, (size_bytes + 2) / 3 * 4, error);
}

static petal_status put_set(const struct writing *of, const struct sink *sink, petal_error *error)
{
    uint8_t bytes[PIECE_WORDS * 8];
    uint64_t words = 1 + words_for(of->length), piece;
    petal_status status = PETAL_OK;
    for (uint64_t from = 0; status == PETAL_OK && from < words; from += piece) {
        piece = words - from < PIECE_WORDS ? words - from : PIECE_WORDS;
        get_words(of, from, piece, bytes);
        status = put_piece(of, bytes, (size_t)piece * 8, sink, error);
    }
    return status;
}

static petal_status put_binary(const struct writing *of, const struct sink *sink,
                               petal_error *error)
{
    uint8_t header[16];
    store64be(header, of->array->shape.bits);
    store64be(header + 8, of->array->shape.hashes);
    petal_status status = petal_put(sink, header, sizeof header, error);
    return status == PETAL_OK ? put_set(of, sink, error) : status;
}

static petal_status put_json(const struct writing *of, const struct sink *sink, petal_error *error)
{
    char head[64];
    const char *tail = of->form & FORM_NEWLINE ? "\"}\n" : "\"}";
    int head_chars = petal_text(head, sizeof head, "{\"m\":%llu,\"k\":%u,\"b\":\"",
                                (unsigned long long)of->array->shape.bits, of->array->shape.hashes);
    petal_status status = petal_put(sink, head, (uint64_t)head_chars, error);
    if (status == PETAL_OK) status = put_set(of, sink, error);
    return status == PETAL_OK ? petal_put(sink, tail, strlen(tail), error) : status;
}

static petal_status write(const struct format_def *self, const petal_filter *filter,
                          const struct sink *sink, petal_error *error)
{
    struct writing of = writing_of(filter);
    if (self->id == PETAL_FORMAT_BITS_AND_BLOOMS_JSON)
        of.form |= FORM_JSON;
    else if (filter->origin.format != self->id)
        of.form &= ~(unsigned)FORM_JSON;
    return of.form & FORM_JSON ? put_json(&of, sink, error) : put_binary(&of, sink, error);
}

const struct format_def petal_format_bits_and_blooms = {
    .id = PETAL_FORMAT_BITS_AND_BLOOMS,
    .name = "bits-and-blooms",
    .scheme = PETAL_SCHEME_BITS_AND_BLOOMS,
    .hash = PETAL_HASH_BITS_AND_BLOOMS,
    .fits = fits,
    .decode = decode,
    .read = read,
    .size = UNLESS_READ_ONLY(size),
    .write = write,
};

/* petal_recognize() reports JSON as bits-and-blooms. */
const struct format_def petal_format_bits_and_blooms_json = {
    .id = PETAL_FORMAT_BITS_AND_BLOOMS_JSON,
    .name = "bits-and-blooms-json",
    .scheme = PETAL_SCHEME_BITS_AND_BLOOMS,
    .hash = PETAL_HASH_BITS_AND_BLOOMS,
    .decode = decode_json,
    .read = read,
    .size = UNLESS_READ_ONLY(size),
    .write = write,
};
