/* image.c - see image.h. */
#include "format/image.h"

#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "filter/content.h"

#include <math.h> /* isnan, a macro */
#include <stdio.h>
#include <string.h>

/* PNG's trick: a first byte that is no text, then line ends that text tools convert and an end-of-file for old ones. */
static const uint8_t magic[8] = {0x89, 'P', 'T', 'L', '\r', '\n', 0x1a, '\n'};

#define VERSION 1u
#define METADATA_OFFSET ((uint64_t)PETAL_SLOTS * PETAL_SLOT_BYTES)
#define NOT_RECORDED 0x7ff8000000000000u /* target_rate's bits where there is none */

enum { STATE_CLEAN = 1, STATE_DIRTY = 2 };

/* Offsets of the fields in a slot. */
enum {
    AT_VERSION = 8,
    AT_FLAGS = 12,
    AT_SLOT_BYTES = 16,
    AT_STATE = 20,
    AT_SEQUENCE = 24,
    AT_FILE_BYTES = 32,
    AT_SCHEME = 40,
    AT_HASH = 44,
    AT_HASHES = 48,
    AT_LINES_PER_KEY = 52,
    AT_BITS = 56,
    AT_SEED = 64,
    AT_SECRET_CHECK = 72,
    AT_SECRET_ID = 80,
    AT_LAYERS = 84,
    AT_CAPACITY = 88,
    AT_TARGET_RATE = 96,
    AT_ITEMS = 104,
    AT_CONTENT_ID = 112,
    AT_METADATA_BYTES = 120,
    AT_METADATA_SUM = 128,
    AT_SUMS_OFFSET = 136,
    AT_PAYLOAD_OFFSET = 144,
    AT_PAYLOAD_BYTES = 152,
    AT_RESERVED = 160,
    AT_SUM = 504
};

/* ---- layout ---------------------------------------------------------------------------------------------------------- */

static uint64_t sums_bytes(uint64_t payload_bytes)
{
    return (payload_bytes / PETAL_BLOCK_BYTES + (payload_bytes % PETAL_BLOCK_BYTES != 0)) * 8;
}

/* Offsets follow from the sizes alone: metadata, then sums at a multiple of 8, then the payload at a multiple of 64. */
static bool lay_out(struct image *image)
{
    image->payload_bytes = petal_shape_bytes(&image->shape);
    return checked_round_up(METADATA_OFFSET + image->metadata_bytes, 8, &image->sums_offset) &&
           checked_round_up(image->sums_offset + sums_bytes(image->payload_bytes), PETAL_LINE_BYTES,
                            &image->payload_offset) &&
           checked_add(image->payload_offset, image->payload_bytes, &image->file_bytes);
}

/* ---- writing --------------------------------------------------------------------------------------------------------- */

petal_status petal_image_of(const petal_filter *filter, struct image *image, petal_error *error)
{
    *image = (struct image){0};
    image->shape = filter->array.shape;
    image->hash = filter->hash->id;
    image->seed = filter->hash_key.seed;
    if (filter->hash->keyed) {
        image->secret_id = petal_secret_id(filter->hash_key.secret);
        image->secret_check = petal_secret_check(filter->hash_key.secret);
    }
    image->capacity = filter->capacity;
    image->target_rate = filter->target_rate;
    image->items = filter->items;
    image->metadata_bytes = filter->metadata_bytes;
    image->metadata_sum = petal_xxh3(filter->metadata, filter->metadata_bytes, 0);
    if (!lay_out(image)) return petal_fail(error, PETAL_ERR_LIMIT, "the file would be too big");
    return PETAL_OK;
}

static unsigned slot_of(uint64_t sequence)
{
    return (unsigned)((sequence + 1) % PETAL_SLOTS);
}

unsigned petal_image_next(struct image *image, bool dirty)
{
    image->dirty = dirty;
    image->sequence++;
    return slot_of(image->sequence);
}

void petal_image_write_slot(const struct image *image, unsigned number, uint8_t slot[PETAL_SLOT_BYTES])
{
    memset(slot, 0, PETAL_SLOT_BYTES);
    memcpy(slot, magic, sizeof magic);
    store32le(slot + AT_VERSION, VERSION);
    store32le(slot + AT_SLOT_BYTES, PETAL_SLOT_BYTES);
    store32le(slot + AT_STATE, image->dirty ? STATE_DIRTY : STATE_CLEAN);
    store64le(slot + AT_SEQUENCE, image->sequence);
    store64le(slot + AT_FILE_BYTES, image->file_bytes);
    store32le(slot + AT_SCHEME, (uint32_t)image->shape.scheme);
    store32le(slot + AT_HASH, (uint32_t)image->hash);
    store32le(slot + AT_HASHES, image->shape.hashes);
    store32le(slot + AT_LINES_PER_KEY, image->shape.lines_per_key);
    store64le(slot + AT_BITS, image->shape.bits);
    store64le(slot + AT_SEED, image->seed);
    store64le(slot + AT_SECRET_CHECK, image->secret_check);
    store32le(slot + AT_SECRET_ID, image->secret_id);
    store32le(slot + AT_LAYERS, 1);
    store64le(slot + AT_CAPACITY, image->capacity);
    store64le(slot + AT_TARGET_RATE, isnan(image->target_rate) ? NOT_RECORDED : bits_from_double(image->target_rate));
    store64le(slot + AT_ITEMS, image->items);
    store64le(slot + AT_CONTENT_ID, image->dirty ? 0 : image->content_id);
    store64le(slot + AT_METADATA_BYTES, image->metadata_bytes);
    store64le(slot + AT_METADATA_SUM, image->metadata_sum);
    store64le(slot + AT_SUMS_OFFSET, image->sums_offset);
    store64le(slot + AT_PAYLOAD_OFFSET, image->payload_offset);
    store64le(slot + AT_PAYLOAD_BYTES, image->payload_bytes);
    store64le(slot + AT_SUM, petal_xxh3(slot, AT_SUM, number));
}

void petal_image_write_head(const petal_filter *filter, struct image *image, uint8_t *head)
{
    uint8_t *sums = head + image->sums_offset;
    image->content_id = petal_content_start(filter);
    for (uint64_t i = 0; i < petal_block_count(&filter->array); i++) {
        uint64_t sum = petal_block_sum(&filter->array, i);
        store64le(sums + 8 * i, sum);
        image->content_id = petal_content_add(image->content_id, sum);
    }
    if (filter->metadata_bytes) memcpy(head + METADATA_OFFSET, filter->metadata, filter->metadata_bytes);
    for (unsigned i = 0; i < PETAL_SLOTS; i++) {
        unsigned slot = petal_image_next(image, false);
        petal_image_write_slot(image, slot, head + slot * PETAL_SLOT_BYTES);
    }
}

/* ---- reading --------------------------------------------------------------------------------------------------------- */

static bool has_magic(const uint8_t *slot)
{
    return memcmp(slot, magic, sizeof magic) == 0;
}

static bool is_sealed(const uint8_t *slot, unsigned number)
{
    return has_magic(slot) && load64le(slot + AT_SUM) == petal_xxh3(slot, AT_SUM, number);
}

static bool is_zero(const uint8_t *bytes, uint64_t from, uint64_t to)
{
    uint8_t any = 0;
    while (from < to) any |= bytes[from++];
    return any == 0;
}

/* `what` says which check failed. */
static petal_status damaged(petal_error *error, uint64_t offset, const char *what)
{
    return petal_fail_at(error, PETAL_ERR_DAMAGED, offset,
                         "damaged at byte %llu (%s); restore a copy or rebuild from the keys", (unsigned long long)offset,
                         what);
}

/* Bytes that cannot be a petal file at all, or are one cut off inside its slots. */
static petal_status check_magic(const uint8_t *bytes, uint64_t size_bytes, petal_error *error)
{
    uint64_t compare = size_bytes < sizeof magic ? size_bytes : sizeof magic;
    bool second = size_bytes >= METADATA_OFFSET && has_magic(bytes + PETAL_SLOT_BYTES);
    if (size_bytes == 0) return petal_fail_at(error, PETAL_ERR_NOT_A_FILTER, 0, "not a filter (empty)");
    if (memcmp(bytes, magic, (size_t)compare) != 0 && !second) {
        if (compare >= 4 && memcmp(bytes, magic, 4) == 0)
            return damaged(error, 4, "line ends were converted as in a text");
        return petal_fail_at(error, PETAL_ERR_NOT_A_FILTER, 0, "not a petal file");
    }
    if (size_bytes < METADATA_OFFSET)
        return petal_fail_at(error, PETAL_ERR_TRUNCATED, size_bytes,
                             "truncated (%llu bytes are less than a header); copy it again", (unsigned long long)size_bytes);
    return PETAL_OK;
}

/* A slot of a later format version may be sealed in another way; both slots then say so. */
static bool is_newer(const uint8_t *bytes)
{
    const uint8_t *second = bytes + PETAL_SLOT_BYTES;
    uint32_t version = load32le(bytes + AT_VERSION);
    return has_magic(bytes) && version > VERSION && has_magic(second) && load32le(second + AT_VERSION) == version;
}

/* The number of the slot that counts, and whether both are whole. */
static petal_status choose_slot(const uint8_t *bytes, bool recover, unsigned *chosen, bool *whole, petal_error *error)
{
    const uint8_t *second = bytes + PETAL_SLOT_BYTES;
    bool sealed[PETAL_SLOTS] = {is_sealed(bytes, 0), is_sealed(second, 1)};
    if (is_newer(bytes))
        return petal_fail_at(error, PETAL_ERR_NEWER, AT_VERSION,
                             "written by a newer petal (format %u; this one reads %u); update petal",
                             load32le(bytes + AT_VERSION), VERSION);
    for (unsigned i = 0; i < PETAL_SLOTS; i++)
        if (!sealed[i] && !(recover && sealed[1 - i]))
            return damaged(error, i * PETAL_SLOT_BYTES, i ? "checksum of header slot 1" : "checksum of header slot 0");
    *chosen = sealed[1] && (!sealed[0] || load64le(second + AT_SEQUENCE) > load64le(bytes + AT_SEQUENCE));
    *whole = sealed[0] && sealed[1];
    return PETAL_OK;
}

static void read_slot(const uint8_t *slot, struct image *image)
{
    *image = (struct image){0};
    image->shape.scheme = (petal_scheme)load32le(slot + AT_SCHEME);
    image->shape.hashes = load32le(slot + AT_HASHES);
    image->shape.lines_per_key = load32le(slot + AT_LINES_PER_KEY);
    image->shape.bits = load64le(slot + AT_BITS);
    image->hash = (petal_hash)load32le(slot + AT_HASH);
    image->dirty = load32le(slot + AT_STATE) == STATE_DIRTY;
    image->sequence = load64le(slot + AT_SEQUENCE);
    image->seed = load64le(slot + AT_SEED);
    image->secret_check = load64le(slot + AT_SECRET_CHECK);
    image->secret_id = load32le(slot + AT_SECRET_ID);
    image->capacity = load64le(slot + AT_CAPACITY);
    image->target_rate = double_from_bits(load64le(slot + AT_TARGET_RATE));
    image->items = load64le(slot + AT_ITEMS);
    image->content_id = load64le(slot + AT_CONTENT_ID);
    image->metadata_bytes = load64le(slot + AT_METADATA_BYTES);
    image->metadata_sum = load64le(slot + AT_METADATA_SUM);
    image->sums_offset = load64le(slot + AT_SUMS_OFFSET);
    image->payload_offset = load64le(slot + AT_PAYLOAD_OFFSET);
    image->payload_bytes = load64le(slot + AT_PAYLOAD_BYTES);
    image->file_bytes = load64le(slot + AT_FILE_BYTES);
}

static petal_status impossible(petal_error *error, uint64_t slot_offset, uint64_t at, const char *field)
{
    char what[64];
    snprintf(what, sizeof what, "impossible %s in the header", field);
    return damaged(error, slot_offset + at, what);
}

/* Things that this version does not know but a later one may. */
static petal_status check_known(const uint8_t *slot, const struct image *image, uint64_t offset, petal_error *error)
{
    static const char *const text = "needs a newer petal (%s %u is not known to this one); update petal";
    if (load32le(slot + AT_FLAGS) != 0)
        return petal_fail_at(error, PETAL_ERR_NEWER, offset + AT_FLAGS, text, "feature", load32le(slot + AT_FLAGS));
    if (!petal_scheme_find(image->shape.scheme))
        return petal_fail_at(error, PETAL_ERR_NEWER, offset + AT_SCHEME, text, "scheme", (unsigned)image->shape.scheme);
    if (!petal_hash_find(image->hash))
        return petal_fail_at(error, PETAL_ERR_NEWER, offset + AT_HASH, text, "hash", (unsigned)image->hash);
    return PETAL_OK;
}

/* Every field of a sealed slot, since a checksum proves nothing about who made it. */
static petal_status check_fields(const uint8_t *slot, const struct image *image, uint64_t offset, petal_error *error)
{
    unsigned number = (unsigned)(offset / PETAL_SLOT_BYTES);
    struct shape shape = image->shape;
    struct image expected = *image;
    uint32_t state = load32le(slot + AT_STATE);
    bool keyed = petal_hash_find(image->hash)->keyed, rated = load64le(slot + AT_TARGET_RATE) != NOT_RECORDED;
    if (load32le(slot + AT_VERSION) != VERSION) return impossible(error, offset, AT_VERSION, "version");
    if (load32le(slot + AT_SLOT_BYTES) != PETAL_SLOT_BYTES) return impossible(error, offset, AT_SLOT_BYTES, "slot size");
    if (load32le(slot + AT_LAYERS) != 1) return impossible(error, offset, AT_LAYERS, "number of layers");
    if (slot_of(image->sequence) != number || image->sequence == UINT64_MAX)
        return impossible(error, offset, AT_SEQUENCE, "sequence number");
    if (state != STATE_CLEAN && state != STATE_DIRTY) return impossible(error, offset, AT_STATE, "state");
    if (petal_scheme_find(shape.scheme)->settle(&shape, NULL) != PETAL_OK || shape.bits != image->shape.bits ||
        shape.lines_per_key != image->shape.lines_per_key)
        return impossible(error, offset, AT_HASHES, "number of bits or hashes");
    if (keyed ? image->seed != 0 : image->secret_id != 0 || image->secret_check != 0)
        return impossible(error, offset, AT_SEED, "seed or secret");
    if (rated && !(image->target_rate > 0 && image->target_rate < 1))
        return impossible(error, offset, AT_TARGET_RATE, "rate");
    if (image->metadata_bytes > PETAL_METADATA_MAX_BYTES)
        return impossible(error, offset, AT_METADATA_BYTES, "size of metadata");
    if (!lay_out(&expected) || expected.sums_offset != image->sums_offset ||
        expected.payload_offset != image->payload_offset || expected.payload_bytes != image->payload_bytes ||
        expected.file_bytes != image->file_bytes)
        return impossible(error, offset, AT_SUMS_OFFSET, "offset or size");
    if (!is_zero(slot, AT_RESERVED, AT_SUM)) return impossible(error, offset, AT_RESERVED, "reserved field");
    return PETAL_OK;
}

static petal_status check_size(const struct image *image, uint64_t size_bytes, petal_error *error)
{
    if (size_bytes < image->file_bytes)
        return petal_fail_at(error, PETAL_ERR_TRUNCATED, size_bytes,
                             "truncated (header promises %llu bytes, file has %llu); copy it again",
                             (unsigned long long)image->file_bytes, (unsigned long long)size_bytes);
    if (size_bytes > image->file_bytes)
        return damaged(error, image->file_bytes, "bytes after the end");
    return PETAL_OK;
}

/* The bytes between the slots and the payload that no sum covers, and the bits of the last line that no key can set. */
static petal_status check_gaps(const uint8_t *bytes, const struct image *image, petal_error *error)
{
    uint64_t metadata_end = METADATA_OFFSET + image->metadata_bytes;
    uint64_t sums_end = image->sums_offset + sums_bytes(image->payload_bytes);
    uint64_t used = image->shape.bits / 8, rest = image->shape.bits % 8;
    const uint8_t *payload = bytes + image->payload_offset;
    if (petal_xxh3(bytes + METADATA_OFFSET, (size_t)image->metadata_bytes, 0) != image->metadata_sum)
        return damaged(error, METADATA_OFFSET, "checksum of the metadata");
    if (!is_zero(bytes, metadata_end, image->sums_offset) || !is_zero(bytes, sums_end, image->payload_offset))
        return damaged(error, metadata_end, "padding that is not zero");
    if ((rest && payload[used] >> rest) || !is_zero(payload, used + (rest != 0), image->payload_bytes))
        return damaged(error, image->payload_offset + used, "bits set beyond the last");
    return PETAL_OK;
}

petal_status petal_image_parse(const uint8_t *bytes, uint64_t size_bytes, bool recover, struct image *image,
                               petal_error *error)
{
    unsigned number = 0;
    bool whole = false;
    petal_status status = check_magic(bytes, size_bytes, error);
    if (status == PETAL_OK) status = choose_slot(bytes, recover, &number, &whole, error);
    if (status != PETAL_OK) return status;
    uint64_t offset = number * PETAL_SLOT_BYTES;
    const uint8_t *slot = bytes + offset;
    read_slot(slot, image);
    image->recovered = image->dirty || !whole;
    status = check_known(slot, image, offset, error);
    if (status == PETAL_OK) status = check_fields(slot, image, offset, error);
    if (status == PETAL_OK) status = check_size(image, size_bytes, error);
    if (status == PETAL_OK) status = check_gaps(bytes, image, error);
    if (status == PETAL_OK && image->dirty && !recover)
        status = petal_fail_at(error, PETAL_ERR_DIRTY, offset + AT_STATE,
                               "dirty (a writer is at work, or died); petal verify --recover keeps what is there");
    return status;
}

petal_status petal_image_verify(const petal_filter *filter, const struct image *image, const uint8_t *bytes,
                                petal_error *error)
{
    uint64_t id = petal_content_start(filter);
    for (uint64_t i = 0; i < petal_block_count(&filter->array); i++) {
        uint64_t recorded = load64le(bytes + image->sums_offset + 8 * i);
        if (petal_block_sum(&filter->array, i) != recorded) {
            char what[64];
            snprintf(what, sizeof what, "checksum of block %llu", (unsigned long long)i);
            return damaged(error, image->payload_offset + i * PETAL_BLOCK_BYTES, what);
        }
        id = petal_content_add(id, recorded);
    }
    if (id != image->content_id)
        return damaged(error, image->sums_offset, "checksum of the block checksums");
    return PETAL_OK;
}
