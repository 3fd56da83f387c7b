/* image.h - reads and forges petal files according to the specification (docs/format.md, section
 * 3), for tests. It defines the offsets itself, so that the tests compare the library with the
 * specification, not with the library's own constants. */
#ifndef PETAL_TESTS_IMAGE_H
#define PETAL_TESTS_IMAGE_H

#include "support.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

enum {
    SLOT = 512, /* slot size S of files with up to four layers */
    AT_MAGIC = 0,
    AT_VERSION = 8,
    AT_FEATURES = 12,
    AT_SLOT_BYTES = 16,
    AT_STATE = 20,
    AT_SEQUENCE = 24,
    AT_FILE_BYTES = 32,
    AT_SCHEME = 40,
    AT_HASH = 44,
    AT_SEED = 48,
    AT_SECRET_CHECK = 56,
    AT_SECRET_ID = 64,
    AT_LAYERS = 68,
    AT_CONTENT_ID = 72,
    AT_METADATA_BYTES = 80,
    AT_METADATA_SUM = 88,
    AT_KEY_TYPE = 96,
    AT_ZEROS_1 = 100,
    AT_SUMS_OFFSET = 112,
    AT_PAYLOAD_OFFSET = 120,
    AT_ORIGIN = 128,
    AT_ORIGIN_BYTES = 132,
    AT_ORIGIN_SUM = 136,
    AT_ZEROS_4 = 144,
    AT_POLICY = 184,
    AT_STEP = 188,
    AT_POLICY_RATE = 192,
    AT_RATIO = 200,
    AT_POLICY_KEYS = 208,
    AT_WINDOW_MS = 216,
    AT_CLOCK_MS = 224,
    AT_ZEROS_2 = 232,
    AT_LAYER = 256, /* offset of the first layer's entry; its fields follow */
    AT_HASHES = 256,
    AT_LINES_PER_KEY = 260,
    AT_BITS = 264,
    AT_CAPACITY = 272,
    AT_RATE = 280,
    AT_ITEMS = 288,
    AT_LAYER_BYTES = 296,
    AT_UNTIL_MS = 304,
    LAYER_ENTRY = 56,
    AT_ZEROS_3 = 312,
    AT_SUM = SLOT - 8,
    AT_METADATA = 2 * SLOT
};

enum { CLEAN = 1, DIRTY = 2, REMOVING = 3, FALLING = 4 };

#define BLOCK 65536u
#define NO_RATE 0x7ff8000000000000u

/* ---- numbers in bytes ------------------------------------------------------------------------ */

static inline uint64_t get_number(const uint8_t *bytes, size_t size)
{
    uint64_t number = 0;
    for (size_t i = size; i-- > 0;) number = number << 8 | bytes[i];
    return number;
}

static inline uint32_t get32(const uint8_t *bytes)
{
    return (uint32_t)get_number(bytes, 4);
}

static inline uint64_t get64(const uint8_t *bytes)
{
    return get_number(bytes, 8);
}

static inline void put_number(uint8_t *bytes, size_t size, uint64_t number)
{
    for (size_t i = 0; i < size; i++, number >>= 8) bytes[i] = (uint8_t)number;
}

static inline void put32(uint8_t *bytes, uint32_t number)
{
    put_number(bytes, 4, number);
}

static inline void put64(uint8_t *bytes, uint64_t number)
{
    put_number(bytes, 8, number);
}

static inline uint64_t bits_of_double(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* ---- parts of an image ----------------------------------------------------------------------- */

static inline uint8_t *slot_of(struct bytes image, unsigned number)
{
    return image.data + number * SLOT;
}

/* Returns the active slot, the one with the higher sequence number. */
static inline uint8_t *current_slot(struct bytes image)
{
    return slot_of(image,
                   get64(slot_of(image, 1) + AT_SEQUENCE) > get64(slot_of(image, 0) + AT_SEQUENCE));
}

static inline uint8_t *payload_of(struct bytes image)
{
    return image.data + get64(current_slot(image) + AT_PAYLOAD_OFFSET);
}

static inline uint8_t *sums_of(struct bytes image)
{
    return image.data + get64(current_slot(image) + AT_SUMS_OFFSET);
}

static inline uint64_t slot_sum(const uint8_t *slot, unsigned number)
{
    return XXH3_64bits_withSeed(slot, AT_SUM, number);
}

/* Recomputes the slot's checksum after a change, as a forger would. */
static inline void seal(struct bytes image, unsigned number)
{
    uint8_t *slot = slot_of(image, number);
    put64(slot + AT_SUM, slot_sum(slot, number));
}

static inline void seal_both(struct bytes image)
{
    seal(image, 0);
    seal(image, 1);
}

/* ---- opening images -------------------------------------------------------------------------- */

/* Loads the image and frees the filter. Returns the status of the load. */
static inline petal_status status_of_loading(struct bytes image, unsigned flags, petal_error *error)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    petal_filter *filter = NULL;
    options.flags = flags;
    petal_status status = petal_load(image.data, image.size, &options, &filter, error);
    require((status == PETAL_OK) == (filter != NULL), "status %s, filter %p",
            petal_status_name(status), (void *)filter);
    petal_free(filter);
    return status;
}

static inline petal_filter *load(struct bytes image)
{
    petal_filter *filter = NULL;
    petal_error error;
    require_status(PETAL_OK, petal_load(image.data, image.size, NULL, &filter, &error), error);
    return filter;
}

/* ---- files ----------------------------------------------------------------------------------- */

static inline petal_status open_as(const char *path, unsigned flags, petal_filter **filter,
                                   petal_error *error)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    options.flags = flags;
    *error = (petal_error){PETAL_OK, 0, 0, ""};
    petal_status status = petal_open(path, &options, filter, error);
    require((status == PETAL_OK) == (*filter != NULL) && error->status == status, "%s: %s", path,
            petal_status_name(status));
    return status;
}

static inline petal_filter *opened(const char *path, unsigned flags)
{
    petal_filter *filter = NULL;
    petal_error error;
    require_status(PETAL_OK, open_as(path, flags, &filter, &error), error);
    return filter;
}

static inline petal_status status_of_opening(const char *path, unsigned flags)
{
    petal_filter *filter = NULL;
    petal_error error;
    petal_status status = open_as(path, flags, &filter, &error);
    petal_free(filter);
    return status;
}

static inline bool file_is(const char *path, struct bytes wanted)
{
    struct bytes file = read_file(path);
    bool same = same_bytes(file, wanted);
    free(file.data);
    return same;
}

#endif
