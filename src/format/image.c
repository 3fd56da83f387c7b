/* image.c - see image.h. */
#include "format/image.h"

#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "filter/content.h"
#include "filter/growing.h"
#include "filter/rotating.h"

#include <math.h> /* isnan, a macro */
#include <string.h>

/* Modeled on PNG's magic number. The first byte is not text, tools that convert line ends corrupt
 * the number detectably, and some old tools stop at the end-of-file character. */
static const uint8_t magic[8] = {0x89, 'P', 'T', 'L', '\r', '\n', 0x1a, '\n'};

#define VERSION 1u
#define NOT_RECORDED 0x7ff8000000000000u /* the bits of an unrecorded rate (a NaN) */

/* Features that a reader must support. */
enum {
    /* The filter grows or rotates according to a policy. A program that doesn't know the policy
     * must not add keys. */
    FEATURE_POLICY = 1,
    FEATURE_TURNS = 2 /* each key is in only one layer, so queries try the layers in turn */
};

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
    AT_SEED = 48,
    AT_SECRET_CHECK = 56,
    AT_SECRET_ID = 64,
    AT_LAYER_COUNT = 68,
    AT_CONTENT_ID = 72,
    AT_METADATA_BYTES = 80,
    AT_METADATA_SUM = 88,
    AT_KEY_TYPE = 96,
    AT_RESERVED_1 = 100,
    AT_SUMS_OFFSET = 112,
    AT_PAYLOAD_OFFSET = 120,
    AT_ORIGIN = 128,
    AT_ORIGIN_BYTES = 132,
    AT_ORIGIN_SUM = 136,
    AT_RESERVED_2 = 144,
    AT_POLICY = 184,
    AT_STEP = 188, /* rotating: generations */
    AT_POLICY_RATE = 192,
    AT_RATIO = 200,
    AT_POLICY_KEYS = 208,
    AT_WINDOW_MS = 216,
    AT_CLOCK_MS = 224,
    AT_RESERVED_3 = 232,
    AT_LAYERS = 256,
    SUM_BYTES = 8 /* the size of the checksum at the end of the slot */
};

/* Offsets of the fields in a layer's entry. */
enum {
    LAYER_HASHES = 0,
    LAYER_LINES_PER_KEY = 4,
    LAYER_BITS = 8,
    LAYER_CAPACITY = 16,
    LAYER_RATE = 24,
    LAYER_ITEMS = 32,
    LAYER_SIZE_BYTES = 40,
    LAYER_UNTIL_MS = 48,
    LAYER_BYTES = 56
};

/* ---- layout ---------------------------------------------------------------------------------- */

/* Returns the offset of a layer's entry in a slot. */
static uint64_t layer_at(uint32_t layer)
{
    return AT_LAYERS + (uint64_t)layer * LAYER_BYTES;
}

/* Returns the size, a power of two, of a slot with room for `layer_count` layers. */
static uint64_t slot_bytes_for(uint32_t layer_count)
{
    uint64_t size = PETAL_SLOT_MIN_BYTES;
    while (layer_at(layer_count) + SUM_BYTES > size) size *= 2;
    return size;
}

static uint64_t blocks_of(uint64_t size_bytes)
{
    return size_bytes / PETAL_BLOCK_BYTES + (size_bytes % PETAL_BLOCK_BYTES != 0);
}

static uint64_t block_count(const struct image *image)
{
    const struct layer_description *last = &image->about.layers[image->about.layer_count - 1];
    return last->first_block + blocks_of(last->size_bytes);
}

/* Computes all offsets from the sizes. Metadata, origin and sums start at multiples of 8 bytes, and
 * each layer starts at a multiple of 64. */
static bool lay_out(struct image *image)
{
    uint64_t blocks = 0, end;
    for (uint32_t i = 0; i < image->about.layer_count; i++) {
        struct layer_description *layer = &image->about.layers[i];
        layer->size_bytes = petal_shape_bytes(&layer->shape);
        layer->first_block = blocks;
        blocks += blocks_of(layer->size_bytes);
    }
    image->slot_bytes = slot_bytes_for(image->about.layer_count);
    image->about.metadata_offset = (uint64_t)PETAL_SLOTS * image->slot_bytes;
    if (!checked_round_up(image->about.metadata_offset + image->about.metadata_bytes, 8,
                          &image->origin_offset) ||
        !checked_round_up(image->origin_offset + image->about.origin.size_bytes, 8,
                          &image->sums_offset) ||
        !checked_round_up(image->sums_offset + 8 * blocks, PETAL_LINE_BYTES,
                          &image->payload_offset))
        return false;
    end = image->payload_offset;
    for (uint32_t i = 0; i < image->about.layer_count; i++) {
        image->about.layers[i].offset = end;
        if (!checked_add(end, image->about.layers[i].size_bytes, &end) ||
            !checked_round_up(end, PETAL_LINE_BYTES, &end))
            return false;
    }
    image->file_bytes = end;
    return true;
}

/* ---- writing --------------------------------------------------------------------------------- */

petal_status petal_image_of(const petal_filter *filter, struct image *image, petal_error *error)
{
    *image = (struct image){0};
    image->about.hash = filter->hash->id;
    image->about.seed = filter->hash_key.seed;
    if (filter->hash->keyed) {
        image->secret_id = petal_secret_id(filter->hash_key.secret);
        image->secret_check = petal_secret_check(filter->hash_key.secret);
    }
    image->about.origin = filter->origin;
    image->origin_sum = petal_xxh3(origin_bytes(&filter->origin), filter->origin.size_bytes, 0);
    image->about.key_type = filter->key_type;
    image->about.policy = filter->policy;
    image->about.metadata_bytes = filter->metadata_bytes;
    image->metadata_sum = petal_xxh3(filter->metadata, filter->metadata_bytes, 0);
    image->about.layer_count = filter->layer_count;
    if (image->about.layer_count > PETAL_MAX_LAYERS)
        return petal_fail(error, PETAL_ERR_LIMIT, "%u layers, and a petal file holds at most %u",
                          filter->layer_count, PETAL_MAX_LAYERS);
    for (uint32_t i = 0; i < filter->layer_count; i++) {
        const struct layer *layer = &filter->layers[i];
        image->about.layers[i] = (struct layer_description){.shape = layer->array.shape,
                                                            .capacity = layer->capacity,
                                                            .target_rate = layer->target_rate,
                                                            .items = petal_layer_items(filter, i),
                                                            .until_ms = layer->until_ms};
    }
    if (!lay_out(image)) return petal_fail(error, PETAL_ERR_LIMIT, "the file would be too large");
    return PETAL_OK;
}

static unsigned slot_of(uint64_t sequence)
{
    return (unsigned)((sequence + 1) % PETAL_SLOTS);
}

unsigned petal_image_next(struct image *image, enum image_state state)
{
    image->state = state;
    image->torn = false;
    image->sequence++;
    return slot_of(image->sequence);
}

static uint64_t slot_sum(const uint8_t *slot, uint64_t slot_bytes, unsigned number)
{
    return petal_xxh3(slot, slot_bytes - SUM_BYTES, number);
}

static void write_layer(const struct layer_description *layer, uint8_t *entry)
{
    store32le(entry + LAYER_HASHES, layer->shape.hashes);
    store32le(entry + LAYER_LINES_PER_KEY, layer->shape.lines_per_key);
    store64le(entry + LAYER_BITS, layer->shape.bits);
    store64le(entry + LAYER_CAPACITY, layer->capacity);
    store64le(entry + LAYER_RATE,
              isnan(layer->target_rate) ? NOT_RECORDED : bits_from_double(layer->target_rate));
    store64le(entry + LAYER_ITEMS, layer->items);
    store64le(entry + LAYER_SIZE_BYTES, layer->size_bytes);
    store64le(entry + LAYER_UNTIL_MS, layer->until_ms);
}

static bool is_in_turn(uint32_t scheme)
{
    return petal_scheme_find(scheme)->is_in_turn;
}

static uint32_t features_of(const struct description *about)
{
    return (about->policy.kind != POLICY_NONE ? FEATURE_POLICY : 0) |
           (is_in_turn(about->layers->shape.scheme) ? FEATURE_TURNS : 0);
}

static void write_policy(const struct policy *policy, uint8_t *slot)
{
    bool growing = policy->kind == POLICY_GROWING;
    if (policy->kind == POLICY_NONE) return;
    store32le(slot + AT_POLICY, (uint32_t)policy->kind);
    store32le(slot + AT_STEP, growing ? policy->step : policy->generations);
    store64le(slot + AT_POLICY_RATE, bits_from_double(policy->rate));
    store64le(slot + AT_RATIO, growing ? bits_from_double(policy->ratio) : 0);
    store64le(slot + AT_POLICY_KEYS, growing ? policy->first_capacity : policy->window_keys);
    store64le(slot + AT_WINDOW_MS, policy->window_ms);
    store64le(slot + AT_CLOCK_MS, policy->clock_ms);
}

void petal_image_write_slot(const struct image *image, unsigned number, uint8_t *slot)
{
    memset(slot, 0, image->slot_bytes);
    memcpy(slot, magic, sizeof magic);
    store32le(slot + AT_VERSION, VERSION);
    store32le(slot + AT_FLAGS, features_of(&image->about));
    store32le(slot + AT_SLOT_BYTES, (uint32_t)image->slot_bytes);
    store32le(slot + AT_STATE, (uint32_t)image->state);
    store64le(slot + AT_SEQUENCE, image->sequence);
    store64le(slot + AT_FILE_BYTES, image->file_bytes);
    store32le(slot + AT_SCHEME, (uint32_t)image->about.layers->shape.scheme);
    store32le(slot + AT_HASH, (uint32_t)image->about.hash);
    store64le(slot + AT_SEED, image->about.seed);
    store64le(slot + AT_SECRET_CHECK, image->secret_check);
    store32le(slot + AT_SECRET_ID, image->secret_id);
    store32le(slot + AT_LAYER_COUNT, image->about.layer_count);
    store64le(slot + AT_CONTENT_ID, image->state == IMAGE_CLEAN ? image->content_id : 0);
    store64le(slot + AT_METADATA_BYTES, image->about.metadata_bytes);
    store64le(slot + AT_METADATA_SUM, image->metadata_sum);
    store32le(slot + AT_KEY_TYPE, (uint32_t)image->about.key_type);
    store64le(slot + AT_SUMS_OFFSET, image->sums_offset);
    store64le(slot + AT_PAYLOAD_OFFSET, image->payload_offset);
    store32le(slot + AT_ORIGIN, image->about.origin.format);
    store32le(slot + AT_ORIGIN_BYTES, image->about.origin.size_bytes);
    store64le(slot + AT_ORIGIN_SUM, image->origin_sum);
    write_policy(&image->about.policy, slot);
    for (uint32_t i = 0; i < image->about.layer_count; i++)
        write_layer(&image->about.layers[i], slot + layer_at(i));
    store64le(slot + image->slot_bytes - SUM_BYTES, slot_sum(slot, image->slot_bytes, number));
}

void petal_image_write_slots(const petal_filter *filter, struct image *image, uint8_t *slots)
{
    image->content_id =
        filter->content_recorded ? filter->content_id : petal_content_of_bits(filter);
    for (unsigned i = 0; i < PETAL_SLOTS; i++) {
        unsigned slot = petal_image_next(image, IMAGE_CLEAN);
        petal_image_write_slot(image, slot, slots + slot * image->slot_bytes);
    }
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool has_magic(const uint8_t *slot)
{
    return memcmp(slot, magic, sizeof magic) == 0;
}

/* Returns true if these bytes are a slot of the given size with a matching checksum. */
static bool is_sealed(const uint8_t *slot, uint64_t slot_bytes, unsigned number)
{
    return has_magic(slot) && load32le(slot + AT_SLOT_BYTES) == slot_bytes &&
           load64le(slot + slot_bytes - SUM_BYTES) == slot_sum(slot, slot_bytes, number);
}

/* Finds the second slot, and returns its offset, which is the size of each slot. Searches for the
 * second slot's magic number or for the first slot's checksum, since either slot may be damaged.
 * Returns 0 if there is no second slot. */
static uint64_t find_slot_bytes(const uint8_t *bytes, uint64_t size_bytes)
{
    for (uint64_t size = PETAL_SLOT_MIN_BYTES; size <= PETAL_SLOT_MAX_BYTES; size *= 2)
        if (size_bytes >= PETAL_SLOTS * size &&
            (has_magic(bytes + size) || is_sealed(bytes, size, 0)))
            return size;
    return 0;
}

static bool is_zero(const uint8_t *bytes, uint64_t from, uint64_t to)
{
    uint8_t any = 0;
    while (from < to) any |= bytes[from++];
    return any == 0;
}

/* Returns an error if the bytes are not a petal file at all, or if the file ends within its
 * slots. */
static petal_status check_magic(const uint8_t *bytes, uint64_t size_bytes, uint64_t slot_bytes,
                                petal_error *error)
{
    uint64_t compare = size_bytes < sizeof magic ? size_bytes : sizeof magic;
    if (size_bytes == 0)
        return petal_fail_at(error, PETAL_ERR_NOT_A_FILTER, 0, "not a filter (empty)");
    if (slot_bytes) return PETAL_OK;
    if (memcmp(bytes, magic, (size_t)compare) != 0) {
        if (compare >= 4 && memcmp(bytes, magic, 4) == 0)
            return petal_format_damaged(error, 4, "line ends were converted as in a text file");
        return petal_fail_at(error, PETAL_ERR_NOT_A_FILTER, 0, "not a petal file");
    }
    if (size_bytes < PETAL_SLOTS * PETAL_SLOT_MIN_BYTES ||
        size_bytes < (uint64_t)PETAL_SLOTS * load32le(bytes + AT_SLOT_BYTES))
        return petal_fail_at(error, PETAL_ERR_TRUNCATED, size_bytes,
                             "truncated (%llu bytes are less than a header); copy it again",
                             (unsigned long long)size_bytes);
    return petal_format_damaged(error, PETAL_SLOT_MIN_BYTES, "no second header slot");
}

/* A later version may compute a slot's checksum differently, so this function trusts the version
 * number if both slots contain it. */
static bool is_newer(const uint8_t *bytes, uint64_t slot_bytes)
{
    uint32_t version = load32le(bytes + AT_VERSION);
    return has_magic(bytes) && version > VERSION &&
           load32le(bytes + slot_bytes + AT_VERSION) == version;
}

/* Chooses the active slot, and determines whether the other slot is torn. */
static petal_status choose_slot(const uint8_t *bytes, uint64_t slot_bytes, unsigned *chosen,
                                bool *torn, petal_error *error)
{
    const uint8_t *second = bytes + slot_bytes;
    bool sealed[PETAL_SLOTS] = {is_sealed(bytes, slot_bytes, 0), is_sealed(second, slot_bytes, 1)};
    if (is_newer(bytes, slot_bytes))
        return petal_fail_at(
            error, PETAL_ERR_NEWER, AT_VERSION,
            "written by a newer petal (format %u; this one reads %u); update petal",
            load32le(bytes + AT_VERSION), VERSION);
    if (!sealed[0] && !sealed[1])
        return petal_format_damaged(error, 0, "checksums of both header slots");
    *chosen =
        sealed[1] && (!sealed[0] || load64le(second + AT_SEQUENCE) > load64le(bytes + AT_SEQUENCE));
    *torn = !sealed[0] || !sealed[1];
    return PETAL_OK;
}

static void read_layer(const uint8_t *entry, uint32_t scheme, struct layer_description *layer)
{
    layer->shape.scheme = scheme;
    layer->shape.hashes = load32le(entry + LAYER_HASHES);
    layer->shape.lines_per_key = load32le(entry + LAYER_LINES_PER_KEY);
    layer->shape.bits = load64le(entry + LAYER_BITS);
    layer->capacity = load64le(entry + LAYER_CAPACITY);
    layer->target_rate = double_from_bits(load64le(entry + LAYER_RATE));
    layer->items = load64le(entry + LAYER_ITEMS);
    layer->size_bytes = load64le(entry + LAYER_SIZE_BYTES);
    layer->until_ms = load64le(entry + LAYER_UNTIL_MS);
}

/* The fields AT_STEP and AT_POLICY_KEYS have different meanings in growing and rotating filters. */
static void read_policy(const uint8_t *slot, struct policy *policy)
{
    uint64_t keys = load64le(slot + AT_POLICY_KEYS), ratio = load64le(slot + AT_RATIO);
    bool growing = load32le(slot + AT_POLICY) == POLICY_GROWING;
    if (!(load32le(slot + AT_FLAGS) & FEATURE_POLICY)) return;
    policy->kind = (enum policy_kind)load32le(slot + AT_POLICY);
    policy->step = growing ? load32le(slot + AT_STEP) : 0;
    policy->generations = growing ? 0 : load32le(slot + AT_STEP);
    policy->rate = double_from_bits(load64le(slot + AT_POLICY_RATE));
    policy->ratio = double_from_bits(ratio);
    policy->first_capacity = growing ? keys : 0;
    policy->window_keys = growing ? 0 : keys;
    policy->window_ms = load64le(slot + AT_WINDOW_MS);
    policy->clock_ms = load64le(slot + AT_CLOCK_MS);
}

/* Reads as many layers as fit into the slot. check_fields() compares the number of layers with the
 * recorded number. */
static void read_slot(const uint8_t *slot, uint64_t slot_bytes, struct image *image)
{
    uint64_t room = (slot_bytes - SUM_BYTES - AT_LAYERS) / LAYER_BYTES;
    uint32_t layers = load32le(slot + AT_LAYER_COUNT);
    *image = (struct image){0};
    image->slot_bytes = slot_bytes;
    image->about.hash = load32le(slot + AT_HASH);
    image->state = (enum image_state)load32le(slot + AT_STATE);
    image->sequence = load64le(slot + AT_SEQUENCE);
    image->about.seed = load64le(slot + AT_SEED);
    image->secret_check = load64le(slot + AT_SECRET_CHECK);
    image->secret_id = load32le(slot + AT_SECRET_ID);
    image->content_id = load64le(slot + AT_CONTENT_ID);
    image->about.metadata_bytes = load64le(slot + AT_METADATA_BYTES);
    image->metadata_sum = load64le(slot + AT_METADATA_SUM);
    image->about.key_type = load32le(slot + AT_KEY_TYPE);
    image->sums_offset = load64le(slot + AT_SUMS_OFFSET);
    image->payload_offset = load64le(slot + AT_PAYLOAD_OFFSET);
    image->file_bytes = load64le(slot + AT_FILE_BYTES);
    image->about.origin.format = load32le(slot + AT_ORIGIN);
    image->about.origin.size_bytes = load32le(slot + AT_ORIGIN_BYTES);
    image->origin_sum = load64le(slot + AT_ORIGIN_SUM);
    read_policy(slot, &image->about.policy);
    image->about.layer_count = layers <= room && layers <= PETAL_MAX_LAYERS ? layers : 0;
    for (uint32_t i = 0; i < image->about.layer_count; i++)
        read_layer(slot + layer_at(i), load32le(slot + AT_SCHEME), &image->about.layers[i]);
}

static petal_status impossible(petal_error *error, uint64_t slot_offset, uint64_t at,
                               const char *field)
{
    char what[64];
    petal_text(what, sizeof what, "impossible %s in the header", field);
    return petal_format_damaged(error, slot_offset + at, what);
}

static petal_status left_out(petal_error *error, uint64_t at, const char *what, const char *name)
{
    return petal_fail_at(error, PETAL_ERR_UNSUPPORTED, at, "has the %s %s, not in this build", what,
                         name);
}

/* Refuses features that only later versions support, or that this build leaves out. */
static petal_status check_known(const uint8_t *slot, uint64_t offset, petal_error *error)
{
    static const char *const text =
        "needs a newer petal (%s %u is not known to this one); update petal";
    uint32_t flags = load32le(slot + AT_FLAGS), scheme = load32le(slot + AT_SCHEME),
             hash = load32le(slot + AT_HASH);
    if (flags & ~(uint32_t)(FEATURE_POLICY | FEATURE_TURNS))
        return petal_fail_at(error, PETAL_ERR_NEWER, offset + AT_FLAGS, text, "feature", flags);
    if ((flags & FEATURE_POLICY) && load32le(slot + AT_POLICY) > POLICY_TIME)
        return petal_fail_at(error, PETAL_ERR_NEWER, offset + AT_POLICY, text, "policy",
                             load32le(slot + AT_POLICY));
    if (!petal_scheme_find(scheme) && petal_scheme_left_out(scheme))
        return left_out(error, offset + AT_SCHEME, "scheme", petal_scheme_left_out(scheme));
    if (!petal_scheme_find(scheme))
        return petal_fail_at(error, PETAL_ERR_NEWER, offset + AT_SCHEME, text, "scheme", scheme);
    if (!petal_hash_find(hash) && petal_hash_left_out(hash))
        return left_out(error, offset + AT_HASH, "hash", petal_hash_left_out(hash));
    if (!petal_hash_find(hash))
        return petal_fail_at(error, PETAL_ERR_NEWER, offset + AT_HASH, text, "hash", hash);
    return PETAL_OK;
}

static petal_status check_layer(const struct layer_description *layer, uint64_t at,
                                petal_error *error)
{
    struct shape shape = layer->shape;
    bool rated = bits_from_double(layer->target_rate) != NOT_RECORDED;
    petal_status status = petal_normalize(&shape, error);
    if (status == PETAL_ERR_UNSUPPORTED)
        return status; /* the file is well-formed, but this build doesn't support it */
    if (status != PETAL_OK || shape.bits != layer->shape.bits ||
        shape.lines_per_key != layer->shape.lines_per_key)
        return impossible(error, at, LAYER_HASHES, "number of bits or hashes");
    if (rated && !(layer->target_rate > 0 && layer->target_rate < 1))
        return impossible(error, at, LAYER_RATE, "rate");
    if (layer->size_bytes != petal_shape_bytes(&shape))
        return impossible(error, at, LAYER_SIZE_BYTES, "size");
    return PETAL_OK;
}

static petal_status check_layers(const struct image *image, uint64_t offset, petal_error *error)
{
    if (image->about.layer_count == 0)
        return impossible(error, offset, AT_LAYER_COUNT, "number of layers");
    for (uint32_t i = 0; i < image->about.layer_count; i++) {
        const struct layer_description *layer = &image->about.layers[i];
        petal_status status = check_layer(layer, offset + layer_at(i), error);
        if (status != PETAL_OK) return status;
        if (layer->until_ms != 0 && image->about.policy.kind != POLICY_TIME)
            return impossible(error, offset + layer_at(i), LAYER_UNTIL_MS, "time of a layer");
    }
    return PETAL_OK;
}

/* Layers that are tried in turn must have the same numbers of columns and wide buckets, except that
 * the last one may be a list of hashes. The header must declare this feature. */
static petal_status check_turns(const uint8_t *slot, const struct description *about,
                                uint64_t offset, petal_error *error)
{
    bool in_turn = is_in_turn(about->layers->shape.scheme), good = true;
    uint32_t last = about->layer_count - 1;
    if (in_turn != ((load32le(slot + AT_FLAGS) & FEATURE_TURNS) != 0))
        return impossible(error, offset, AT_FLAGS, "feature for this scheme");
    if (in_turn && load32le(slot + AT_STATE) != IMAGE_CLEAN)
        return impossible(error, offset, AT_STATE, "state of a static filter");
    for (uint32_t i = 0; in_turn && good && i <= last; i++) {
        const struct shape *shape = &about->layers[i].shape, *first = &about->layers->shape;
        bool alike = shape->hashes == first->hashes && shape->lines_per_key == first->lines_per_key;
        good = about->origin.format == 0 && about->layers[i].items == about->layers[i].capacity &&
               (i == last && shape->hashes == 0 ? true : alike && shape->hashes != 0);
    }
    return good ? PETAL_OK : impossible(error, offset, AT_LAYERS, "layers of a static filter");
}

/* Only the generations of a rotating filter with a clock have times. petal_rotating_has_time()
 * checks the generations of any rotating filter. */
static bool has_no_times(const struct description *about)
{
    uint64_t any = 0;
    for (uint32_t i = 0; i < about->layer_count; i++) any |= about->layers[i].until_ms;
    return any == 0;
}

/* Returns true if a growing filter with this policy could consist of these layers. */
static bool can_grow(const struct description *about)
{
    const struct policy *policy = &about->policy;
    if (policy->window_ms != 0 || policy->clock_ms != 0 || !has_no_times(about) ||
        !petal_growing_is_possible(policy))
        return false;
    for (uint32_t i = 0; i < about->layer_count; i++) {
        uint64_t capacity;
        double rate;
        if (!petal_growing_layer(policy, i, &capacity, &rate) ||
            about->layers[i].capacity != capacity)
            return false;
    }
    return true;
}

/* Returns true if these generations could belong to one rotating filter: all have the same shape,
 * and they are in chronological order. */
static bool can_rotate(const struct description *about, const uint8_t *slot)
{
    const struct layer_description *first = &about->layers[0];
    if (load64le(slot + AT_RATIO) != 0 ||
        !petal_rotating_is_possible(&about->policy, about->layer_count, first->capacity))
        return false;
    for (uint32_t i = 0; i < about->layer_count; i++) {
        const struct layer_description *layer = &about->layers[i];
        uint64_t before = i ? about->layers[i - 1].until_ms : 0;
        if (layer->capacity != first->capacity || layer->shape.bits != first->shape.bits ||
            layer->shape.hashes != first->shape.hashes ||
            layer->shape.lines_per_key != first->shape.lines_per_key ||
            !petal_rotating_has_time(&about->policy, i, about->layer_count, before,
                                     layer->until_ms))
            return false;
    }
    return true;
}

static petal_status check_policy(const uint8_t *slot, const struct description *about,
                                 uint64_t offset, petal_error *error)
{
    enum policy_kind kind = about->policy.kind;
    uint32_t scheme = about->layers->shape.scheme;
    bool good = (scheme == PETAL_SCHEME_BLOCKED || scheme == PETAL_SCHEME_CLASSIC) &&
                about->origin.format == 0;
    if (!(load32le(slot + AT_FLAGS) & FEATURE_POLICY))
        good = is_zero(slot, AT_POLICY, AT_RESERVED_3) && has_no_times(about);
    else if (kind == POLICY_NONE)
        good = false;
    else
        good = good && (kind == POLICY_GROWING ? can_grow(about) : can_rotate(about, slot));
    return good ? PETAL_OK : impossible(error, offset, AT_POLICY, "policy of the layers");
}

/* Checks that the recorded offsets match the sizes, and sets the layers' offsets. */
static petal_status check_offsets(struct image *image, uint64_t offset, petal_error *error)
{
    struct image given = *image;
    if (image->about.metadata_bytes > PETAL_METADATA_MAX_BYTES)
        return impossible(error, offset, AT_METADATA_BYTES, "size of metadata");
    if (!lay_out(image) || image->slot_bytes != given.slot_bytes ||
        image->sums_offset != given.sums_offset || image->payload_offset != given.payload_offset ||
        image->file_bytes != given.file_bytes)
        return impossible(error, offset, AT_SUMS_OFFSET, "offset or size");
    return PETAL_OK;
}

/* Checks every field of a sealed slot. (Anyone can compute a checksum, so a valid one doesn't make
 * the fields trustworthy.) */
static petal_status check_fields(const uint8_t *slot, uint64_t offset, struct image *image,
                                 unsigned number, petal_error *error)
{
    uint32_t scheme = load32le(slot + AT_SCHEME);
    bool keyed = petal_hash_find(image->about.hash)->keyed;
    if (petal_scheme_find(scheme)->hash_words != petal_hash_find(image->about.hash)->words)
        return impossible(error, offset, AT_HASH, "hash for this scheme");
    if (load32le(slot + AT_VERSION) != VERSION)
        return impossible(error, offset, AT_VERSION, "version");
    if (image->state < IMAGE_CLEAN || image->state > IMAGE_FALLING)
        return impossible(error, offset, AT_STATE, "state");
    if (slot_of(image->sequence) != number || image->sequence == UINT64_MAX)
        return impossible(error, offset, AT_SEQUENCE, "sequence number");
    if (keyed ? image->about.seed != 0 : image->secret_id != 0 || image->secret_check != 0)
        return impossible(error, offset, AT_SEED, "seed or secret");
    if (image->about.key_type > PETAL_KEY_TYPE_BASE64)
        return impossible(error, offset, AT_KEY_TYPE, "key type");
    petal_status status = check_layers(image, offset, error);
    if (status == PETAL_OK) status = check_policy(slot, &image->about, offset, error);
    if (status == PETAL_OK) status = check_turns(slot, &image->about, offset, error);
    if (status == PETAL_OK) status = check_offsets(image, offset, error);
    if (status != PETAL_OK) return status;
    uint64_t layers_end = layer_at(image->about.layer_count);
    if (!is_zero(slot, AT_RESERVED_1, AT_SUMS_OFFSET) || !is_zero(slot, AT_RESERVED_2, AT_POLICY) ||
        !is_zero(slot, AT_RESERVED_3, AT_LAYERS) ||
        !is_zero(slot, layers_end, image->slot_bytes - SUM_BYTES))
        return impossible(error, offset, AT_RESERVED_1, "reserved field");
    return PETAL_OK;
}

petal_status petal_image_layer_end_damaged(const struct layer_description *layer,
                                           petal_error *error)
{
    return petal_format_damaged(error, layer->offset + layer->size_bytes,
                                "bits set beyond the last");
}

/* Checks that the bits after a layer's last valid bit are clear, including the padding before the
 * next layer. */
static petal_status check_layer_end(const uint8_t *bytes, const struct layer_description *layer,
                                    petal_error *error)
{
    uint64_t end = layer->offset + layer->size_bytes, padded = end;
    /* This can't overflow, because lay_out() has computed the same offset. */
    checked_round_up(end, PETAL_LINE_BYTES, &padded);
    if (petal_tail_is_clear(&layer->shape, bytes + layer->offset, layer->size_bytes) &&
        is_zero(bytes, end, padded))
        return PETAL_OK;
    return petal_image_layer_end_damaged(layer, error);
}

/* Checks the metadata and the origin. */
static petal_status check_named_sums(const uint8_t *bytes, const struct image *image,
                                     petal_error *error)
{
    if (petal_xxh3(bytes + image->about.metadata_offset, (size_t)image->about.metadata_bytes, 0) !=
        image->metadata_sum)
        return petal_format_damaged(error, image->about.metadata_offset,
                                    "checksum of the metadata");
    if (petal_xxh3(bytes + image->origin_offset, image->about.origin.size_bytes, 0) !=
        image->origin_sum)
        return petal_format_damaged(error, image->origin_offset, "checksum of the origin");
    return PETAL_OK;
}

/* A short origin is copied, and a long origin is borrowed. */
static void take_origin(const uint8_t *bytes, uint64_t offset, struct origin *origin)
{
    if (origin->size_bytes > PETAL_ORIGIN_NEAR_BYTES)
        origin->far = bytes + offset;
    else if (origin->size_bytes)
        memcpy(origin->near, bytes + offset, origin->size_bytes);
}

petal_status petal_image_check_front(const uint8_t *bytes, struct image *image, petal_error *error)
{
    uint64_t metadata_end = image->about.metadata_offset + image->about.metadata_bytes;
    uint64_t origin_end = image->origin_offset + image->about.origin.size_bytes;
    uint64_t sums_end = image->sums_offset + 8 * block_count(image);
    petal_status status = check_named_sums(bytes, image, error);
    if (status != PETAL_OK) return status;
    if (!is_zero(bytes, metadata_end, image->origin_offset) ||
        !is_zero(bytes, origin_end, image->sums_offset) ||
        !is_zero(bytes, sums_end, image->payload_offset))
        return petal_format_damaged(error, metadata_end, "padding that is not zero");
    take_origin(bytes, image->origin_offset, &image->about.origin);
    return PETAL_OK;
}

/* Checks all bytes that are not covered by a block sum. */
static petal_status check_gaps(const uint8_t *bytes, struct image *image, petal_error *error)
{
    petal_status status = petal_image_check_front(bytes, image, error);
    for (uint32_t i = 0; status == PETAL_OK && i < image->about.layer_count; i++)
        status = check_layer_end(bytes, &image->about.layers[i], error);
    return status;
}

petal_status petal_image_parse_slots(const uint8_t *head, uint64_t size_bytes, struct image *image,
                                     petal_error *error)
{
    unsigned number = 0;
    bool torn = false;
    uint64_t slot_bytes = find_slot_bytes(head, size_bytes);
    petal_status status = check_magic(head, size_bytes, slot_bytes, error);
    if (status == PETAL_OK) status = choose_slot(head, slot_bytes, &number, &torn, error);
    if (status != PETAL_OK) return status;
    uint64_t offset = number * slot_bytes;
    const uint8_t *slot = head + offset;
    read_slot(slot, slot_bytes, image);
    image->torn = torn;
    status = check_known(slot, offset, error);
    return status == PETAL_OK ? check_fields(slot, offset, image, number, error) : status;
}

petal_status petal_image_parse_alone(const uint8_t *slot, uint64_t slot_bytes, uint64_t offset,
                                     struct image *image, petal_error *error)
{
    if (!is_sealed(slot, slot_bytes, 0))
        return petal_format_damaged(error, offset, "checksum of a header slot");
    if (load32le(slot + AT_VERSION) > VERSION)
        return petal_fail_at(error, PETAL_ERR_NEWER, offset + AT_VERSION,
                             "needs a newer petal (format %u; this one reads %u); update petal",
                             load32le(slot + AT_VERSION), VERSION);
    read_slot(slot, slot_bytes, image);
    petal_status status = check_known(slot, offset, error);
    return status == PETAL_OK ? check_fields(slot, offset, image, 0, error) : status;
}

/* Returns the size of the header that starts with these bytes, or a lower bound if the slots are
 * incomplete. Returns 0 if reading more bytes wouldn't help. */
static uint64_t header_bytes(const uint8_t *bytes, uint64_t size_bytes)
{
    bool is_told = size_bytes >= AT_SLOT_BYTES + 4;
    uint64_t slot_bytes = is_told ? load32le(bytes + AT_SLOT_BYTES) : PETAL_SLOT_MIN_BYTES;
    bool is_possible = slot_bytes >= PETAL_SLOT_MIN_BYTES && slot_bytes <= PETAL_SLOT_MAX_BYTES;
    uint64_t slots = PETAL_SLOTS * (is_possible ? slot_bytes : PETAL_SLOT_MAX_BYTES);
    return slots > size_bytes ? slots : 0;
}

petal_status petal_image_parse_header(const uint8_t *head, const uint8_t *bytes,
                                      uint64_t size_bytes, struct image *image, petal_error *error)
{
    petal_status status = petal_image_parse_slots(head, size_bytes, image, error);
    uint64_t needed = status == PETAL_OK ? image->origin_offset + image->about.origin.size_bytes
                                         : header_bytes(head, size_bytes);
    if ((status == PETAL_OK || status == PETAL_ERR_TRUNCATED) && needed > size_bytes)
        return petal_format_header_short(error, needed, size_bytes);
    if (status == PETAL_ERR_TRUNCATED)
        return petal_format_damaged(error, AT_SLOT_BYTES, "impossible size of a header slot");
    if (status == PETAL_OK) status = check_named_sums(bytes, image, error);
    if (status == PETAL_OK) take_origin(bytes, image->origin_offset, &image->about.origin);
    return status;
}

petal_status petal_image_parse(const uint8_t *head, const uint8_t *bytes, uint64_t size_bytes,
                               struct image *image, petal_error *error)
{
    petal_status status = petal_image_parse_slots(head, size_bytes, image, error);
    if (status == PETAL_OK) status = petal_format_check_size(image->file_bytes, size_bytes, error);
    return status == PETAL_OK ? check_gaps(bytes, image, error) : status;
}

/* ---- judging --------------------------------------------------------------------------------- */

/* Returns the file offset at which the file is marked dirty: the state in the active slot, or the
 * start of a torn slot. */
static uint64_t state_offset(const struct image *image)
{
    unsigned slot = slot_of(image->sequence + (image->torn ? 1 : 0));
    return slot * image->slot_bytes + (image->torn ? 0 : AT_STATE);
}

petal_status petal_image_check_clean(const struct image *image, petal_error *error)
{
    if (petal_image_is_clean(image)) return PETAL_OK;
    return petal_fail_at(
        error, PETAL_ERR_DIRTY, state_offset(image),
        "dirty (its writer died before it finished); petal verify --recover keeps what is there");
}

petal_status petal_image_check_recoverable(const struct image *image, petal_error *error)
{
    if (image->state != IMAGE_FALLING) return PETAL_OK;
    return petal_fail_at(
        error, PETAL_ERR_DAMAGED, state_offset(image),
        "its writer died while clearing or intersecting it; rebuild it from the keys");
}

uint64_t petal_image_sum(const struct image *image, const uint8_t *bytes, uint64_t number)
{
    return load64le(bytes + image->sums_offset + 8 * number);
}

petal_status petal_image_block_damaged(const struct image *image, uint32_t layer, uint64_t block,
                                       petal_error *error)
{
    char what[64];
    const struct layer_description *about = &image->about.layers[layer];
    uint64_t number = about->first_block + block;
    petal_text(what, sizeof what, "checksum of block %llu", (unsigned long long)number);
    return petal_format_damaged(error, about->offset + block * PETAL_BLOCK_BYTES, what);
}

petal_status petal_image_verify(const petal_filter *filter, const struct image *image,
                                const uint8_t *bytes, petal_error *error)
{
    uint64_t id = petal_content_start(filter), number = 0;
    for (uint32_t i = 0; i < image->about.layer_count; i++) {
        const struct bit_array *array = &filter->layers[i].array;
        for (uint64_t block = 0; block < petal_block_count(array); block++, number++) {
            uint64_t recorded = petal_image_sum(image, bytes, number);
            if (petal_block_sum(array, block, number) != recorded)
                return petal_image_block_damaged(image, i, block, error);
            id = petal_content_add(id, recorded);
        }
    }
    if (id != image->content_id)
        return petal_format_damaged(error, image->sums_offset, "checksum of the block checksums");
    return PETAL_OK;
}
