/* redis_chain.c - checks RedisBloom's links, sizes them as RedisBloom does, and records in the
 * filter's origin the values for which a filter has no field. See docs/formats/redisbloom.md. */
#include "format/foreign/redis_chain.h"

#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"
#include "format/foreign/sizing.h"
#include "scheme/model.h"

#include <string.h>

/* A chain's option bits. */
enum {
    NOROUND = 1,      /* a link has exactly the computed number of bits; without this option, 2^n2
                       * bits */
    ENTS_IS_BITS = 2, /* links are sized by n2; no RedisBloom command ever set this option */
    FORCE64 = 4,      /* hashes with MurmurHash64A; without this option, with MurmurHash2 */
    NO_SCALING = 8,   /* the filter has one link and doesn't grow */
    ALL_OPTIONS = 15
};

#define GROWTH 2u
#define TIGHTENING 0.5
#define HIGHEST_RATE 0.25 /* RedisBloom lowers higher rates to this */
#define MAX_N2 48u        /* the scheme's max_bits */

/* The first RDB version that has module values. Every server that supports module values accepts
 * this version. */
#define RDB_VERSION 8u

/* How a link encodes its size m. */
enum kind {
    PLAIN = 0,        /* `bits` is m, and `n2` is 0 */
    POWER = 1,        /* m is 2^n2; `bytes` is rounded up to whole words, and `bits` is 8 * bytes */
    POWER_BYTES = 2,  /* like POWER, but rounded up to whole bytes; used until RedisBloom 2.2.4 */
    POWER_UNSAID = 3, /* like POWER_BYTES, but `bits` is 0; used before RedisBloom 2.2 */
};

/* ---- notes: origin.near ---------------------------------------------------------------------- */

/*     0 .. 39   5 bits per link, the first lowest: 2 for its kind, 3 for how many ulps its bits per
 *               entry lie above the computed ones (two's complement: logarithms differ in the last
 *               bit between C libraries)
 *     40        options
 *     41        encver, and 128 if strings are compressed
 *     42 .. 43  RDB version, 0 for a bare value
 *     44 .. 47  growth
 */
#define NOTES_BYTES 48u
#define LINK_NOTE_BITS 5u
#define COMPRESSED 128u
#define MAX_ULPS 3

static uint32_t link_note(const struct origin *origin, uint32_t link)
{
    uint32_t at = link * LINK_NOTE_BITS,
             pair = origin->near[at / 8] | (uint32_t)origin->near[at / 8 + 1] << 8;
    return pair >> at % 8 & 31u;
}

static void set_link_note(struct origin *origin, uint32_t link, enum kind kind, int64_t ulps)
{
    uint32_t at = link * LINK_NOTE_BITS, note = (uint32_t)kind | ((uint32_t)ulps & 7u) << 2;
    uint32_t mask = 31u << at % 8, bits = note << at % 8;
    for (uint32_t byte = at / 8; mask; byte++, mask >>= 8, bits >>= 8)
        origin->near[byte] = (uint8_t)((origin->near[byte] & ~mask) | (bits & mask));
}

static void write_notes(const struct redis_chain *chain, struct origin *origin)
{
    origin->size_bytes = NOTES_BYTES;
    origin->near[40] = (uint8_t)chain->options;
    origin->near[41] = (uint8_t)(chain->encver | (chain->compressed ? COMPRESSED : 0));
    origin->near[42] = (uint8_t)chain->rdb_version;
    origin->near[43] = (uint8_t)(chain->rdb_version >> 8);
    store32le(origin->near + 44, (uint32_t)chain->growth);
}

static bool has_notes(const petal_filter *filter)
{
    uint32_t format = filter->origin.format;
    return (format == PETAL_FORMAT_REDISBLOOM || format == PETAL_FORMAT_REDISBLOOM_DUMP) &&
           filter->origin.size_bytes == NOTES_BYTES;
}

const struct redis_chain petal_redis_new_chain = {.options = FORCE64 | NOROUND,
                                                  .growth = GROWTH,
                                                  .encver = REDIS_ENCVER_NEWEST,
                                                  .rdb_version = RDB_VERSION,
                                                  .compressed = true};

/* The notes come from a file and may be forged, so invalid notes are replaced with values that can
 * be written. */
static void read_notes(const petal_filter *filter, struct redis_chain *chain)
{
    const uint8_t *data = filter->origin.near;
    *chain = petal_redis_new_chain;
    if (has_notes(filter)) {
        chain->options = data[40] & ALL_OPTIONS;
        chain->encver = data[41] & (COMPRESSED - 1u);
        chain->compressed = data[41] & COMPRESSED;
        chain->rdb_version = data[42] | (uint32_t)data[43] << 8;
        chain->growth = load32le(data + 44);
    }
    chain->options = (chain->options & ~(uint64_t)FORCE64) |
                     (filter->hash->id == PETAL_HASH_MURMUR64A ? FORCE64 : 0);
    if (chain->encver > REDIS_ENCVER_NEWEST ||
        (chain->encver < REDIS_ENCVER_GROWTH && chain->growth != GROWTH) ||
        (chain->encver < REDIS_ENCVER_OPTIONS && chain->options != 0))
        chain->encver = REDIS_ENCVER_NEWEST;
    if (chain->rdb_version != 0 && chain->rdb_version < RDB_VERSION)
        chain->rdb_version = RDB_VERSION;
}

/* ---- sizes ----------------------------------------------------------------------------------- */

/* These expressions and their fifteen-digit constants are RedisBloom's own. */
static double bpe_of(double error)
{
    double bpe = -(petal_model_ln(error) / 0.480453013918201);
    return bpe < 0 ? -bpe : bpe;
}

static double hashes_of(double bpe)
{
    return petal_model_ceil(0.693147180559945 * bpe);
}

static bool is_rate(double error)
{
    return error > 0 && error < 1;
}

/* Sets the fields that encode a link's size m. */
static void tell_size(struct redis_link *link, uint64_t modulus, enum kind kind)
{
    link->bytes = modulus / 8 + (modulus % 8 != 0);
    if (kind == POWER) link->bytes = (link->bytes + 7) / 8 * 8;
    link->n2 = 0;
    if (kind != PLAIN)
        while (modulus >> link->n2 > 1) link->n2++;
    link->bits = kind == PLAIN ? modulus : kind == POWER_UNSAID ? 0 : 8 * link->bytes;
}

/* Returns true if a value with this encoding version may contain links of this kind. The kinds that
 * the newest version excludes were only written before it existed. */
static bool encver_knows(uint32_t encver, uint64_t modulus, enum kind kind)
{
    return encver < REDIS_ENCVER_NEWEST ||
           (kind != POWER_UNSAID && (kind != PLAIN || modulus % 8 == 0));
}

/* Determines a link's size m, and the kind of encoding that the link uses. */
static bool find_kind(const struct redis_link *link, uint32_t encver, uint64_t *modulus,
                      enum kind *kind)
{
    enum kind first = link->n2 ? POWER : PLAIN, last = link->n2 ? POWER_UNSAID : PLAIN;
    *modulus = link->n2 ? (uint64_t)1 << link->n2 : link->bits;
    for (*kind = first; *kind <= last; (*kind)++) {
        struct redis_link same = {0};
        tell_size(&same, *modulus, *kind);
        if (same.bits == link->bits && same.bytes == link->bytes)
            return encver_knows(encver, *modulus, *kind);
    }
    return false;
}

/* Rounds a new link's size up to a power of two, as old filters do, and raises the link's capacity
 * accordingly. */
static petal_status size_rounded(struct redis_link *link, uint64_t *modulus, petal_error *error)
{
    double bits = (double)link->entries * link->bpe, n2 = petal_model_logb(bits) + 1;
    if (!(n2 >= 1 && n2 <= MAX_N2))
        return petal_fail(error, PETAL_ERR_LIMIT, "a layer of 2^%g bits; the maximum is 2^%u", n2,
                          MAX_N2);
    *modulus = (uint64_t)1 << (unsigned)n2;
    link->entries += (uint64_t)((double)(uint64_t)((double)*modulus - bits) / link->bpe);
    return PETAL_OK;
}

/* Sizes a new link for the given capacity and error rate, as RedisBloom does. */
static petal_status size_link(struct redis_link *link, uint64_t options, uint64_t *modulus,
                              petal_error *error)
{
    link->bpe = bpe_of(link->error);
    link->hashes = (uint64_t)hashes_of(link->bpe);
    if (link->hashes > petal_scheme_redisbloom.max_hashes)
        return petal_fail(error, PETAL_ERR_LIMIT,
                          "an error rate of %g needs %llu hashes; the maximum is %u", link->error,
                          (unsigned long long)link->hashes, petal_scheme_redisbloom.max_hashes);
    if (!(options & NOROUND)) return size_rounded(link, modulus, error);
    petal_status status = petal_size_bits((double)link->entries * link->bpe,
                                          petal_scheme_redisbloom.max_bits - 64, modulus, error);
    if (status != PETAL_OK) return status;
    if (*modulus == 0) *modulus = 1;
    *modulus = (*modulus + 63) / 64 * 64;
    return PETAL_OK;
}

/* Sizes a new link as RedisBloom does, and checks the resulting shape. */
static petal_status make_shape(struct redis_link *link, uint64_t options, struct shape *shape,
                               petal_error *error)
{
    *shape = (struct shape){PETAL_SCHEME_REDISBLOOM, 0, 0, 0};
    petal_status status = size_link(link, options, &shape->bits, error);
    if (status != PETAL_OK) return status;
    shape->hashes = (uint32_t)link->hashes;
    return petal_normalize(shape, error);
}

/* ---- chain -> description -------------------------------------------------------------------- */

static petal_status damaged(const struct redis_link *link, uint32_t number, const char *what,
                            petal_error *error)
{
    char text[80];
    petal_text(text, sizeof text, "layer %u: %s", number, what);
    return petal_format_damaged(error, link->told_at, text);
}

petal_status petal_redis_check_head(const struct redis_chain *chain, petal_error *error)
{
    if (chain->link_count == 0)
        return petal_format_damaged(error, chain->told_at, "a filter has at least 1 layer");
    if (chain->link_count > PETAL_MAX_LAYERS)
        return petal_fail_at(error, PETAL_ERR_LIMIT, chain->told_at,
                             "%llu layers; petal reads up to %u: reserve a larger capacity, and "
                             "add the keys again",
                             (unsigned long long)chain->link_count, PETAL_MAX_LAYERS);
    if (chain->options & ~(uint64_t)ALL_OPTIONS)
        return petal_format_damaged(error, chain->told_at, "unknown options");
    if (chain->growth > UINT32_MAX)
        return petal_format_damaged(error, chain->told_at, "an impossible growth");
    return PETAL_OK;
}

/* Returns by how many ulps the link's bits per entry exceed the value computed here. */
static int64_t ulps_of(const struct redis_link *link)
{
    return (int64_t)(bits_from_double(link->bpe) - bits_from_double(bpe_of(link->error)));
}

/* Checks a link's error rate, and the values that RedisBloom computes from the rate. */
static petal_status check_rate(const struct redis_link *link, uint32_t number, petal_error *error)
{
    if (link->entries == 0) return damaged(link, number, "a capacity of 0", error);
    if (!is_rate(link->error))
        return damaged(link, number, "the error rate is not between 0 and 1", error);
    if (!(link->bpe > 0) || ulps_of(link) > MAX_ULPS || ulps_of(link) < -MAX_ULPS)
        return damaged(link, number, "the bits per entry are not those of its error rate", error);
    if ((double)link->hashes != hashes_of(link->bpe))
        return damaged(link, number, "the hashes are not those of its bits per entry", error);
    if (link->hashes > petal_scheme_redisbloom.max_hashes)
        return petal_fail_at(error, PETAL_ERR_LIMIT, link->told_at,
                             "layer %u has %llu hashes; petal reads up to %u", number,
                             (unsigned long long)link->hashes, petal_scheme_redisbloom.max_hashes);
    return PETAL_OK;
}

static petal_status check_size(const struct redis_link *link, uint32_t number, uint32_t encver,
                               uint64_t *modulus, enum kind *kind, petal_error *error)
{
    if (link->n2 > 63) return damaged(link, number, "an impossible power of two", error);
    if (!find_kind(link, encver, modulus, kind) || *modulus == 0)
        return damaged(link, number, "bits, bytes and power of two contradict each other", error);
    if (*modulus > petal_scheme_redisbloom.max_bits)
        return petal_fail_at(error, PETAL_ERR_LIMIT, link->told_at,
                             "layer %u has more than 2^%u bits", number, MAX_N2);
    return PETAL_OK;
}

static petal_status describe_link(const struct redis_chain *chain, uint32_t number,
                                  const uint8_t *image, struct description *about,
                                  petal_error *error)
{
    const struct redis_link *link = &chain->links[number];
    struct layer_description *layer = &about->layers[number];
    enum kind kind = PLAIN;
    uint64_t modulus = 0;
    petal_status status = check_rate(link, number, error);
    if (status == PETAL_OK)
        status = check_size(link, number, chain->encver, &modulus, &kind, error);
    if (status != PETAL_OK) return status;
    layer->shape = (struct shape){PETAL_SCHEME_REDISBLOOM, (uint32_t)link->hashes, 0, modulus};
    layer->capacity = link->entries;
    layer->target_rate = link->error;
    layer->items = link->size;
    layer->size_bytes = petal_shape_bytes(&layer->shape);
    layer->offset = link->bytes_at;
    set_link_note(&about->origin, number, kind, ulps_of(link));
    if (image && !petal_tail_is_clear(&layer->shape, image + link->bytes_at, link->bytes))
        return damaged(link, number, "bits set beyond the last", error);
    return PETAL_OK;
}

/* Returns true if the chain's key count is the sum of the links' key counts. */
static bool sizes_add_up(const struct redis_chain *chain)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < chain->link_count; i++)
        if (!checked_add(sum, chain->links[i].size, &sum)) return false;
    return sum == chain->size;
}

petal_status petal_redis_describe(const struct redis_chain *chain, const uint8_t *image,
                                  struct description *about, petal_error *error)
{
    petal_status status = petal_redis_check_head(chain, error);
    for (uint32_t i = 0; status == PETAL_OK && i < chain->link_count; i++)
        status = describe_link(chain, i, image, about, error);
    if (status != PETAL_OK) return status;
    if (!sizes_add_up(chain))
        return petal_format_damaged(error, chain->told_at,
                                    "the number of keys is not that of the layers");
    about->layer_count = (uint32_t)chain->link_count;
    about->hash = chain->options & FORCE64 ? PETAL_HASH_MURMUR64A : PETAL_HASH_MURMUR2;
    write_notes(chain, &about->origin);
    return PETAL_OK;
}

/* ---- filter -> chain ------------------------------------------------------------------------- */

/* Returns the kind of encoding for a layer's size. Prefers the recorded kind if the encoding
 * version supports it. */
static enum kind kind_of(const petal_filter *filter, uint32_t number, uint32_t encver)
{
    uint64_t modulus = filter->layers[number].array.shape.bits;
    enum kind kind =
        has_notes(filter) ? (enum kind)(link_note(&filter->origin, number) & 3u) : PLAIN;
    if (modulus < 2 || (modulus & (modulus - 1)) != 0) kind = PLAIN;
    return kind == POWER_UNSAID && encver == REDIS_ENCVER_NEWEST ? POWER : kind;
}

static double noted_bpe(const petal_filter *filter, uint32_t number, double error)
{
    int64_t ulps = has_notes(filter) ? (int64_t)(link_note(&filter->origin, number) >> 2) : 0;
    if (ulps > MAX_ULPS) ulps -= 8;
    return double_from_bits(bits_from_double(bpe_of(error)) + (uint64_t)ulps);
}

static petal_status link_of(const petal_filter *filter, uint32_t number,
                            const struct format_def *format, struct redis_chain *chain,
                            petal_error *error)
{
    const struct layer *layer = &filter->layers[number];
    struct redis_link *link = &chain->links[number];
    enum kind kind = kind_of(filter, number, chain->encver);
    *link = (struct redis_link){.entries = layer->capacity,
                                .size = layer->items,
                                .error = layer->target_rate,
                                .hashes = layer->array.shape.hashes};
    if (link->entries == 0 || !is_rate(link->error))
        return petal_fail(error, PETAL_ERR_UNSUPPORTED,
                          "%s holds a capacity and a rate, which layer %u lacks; use petal",
                          format->name, number);
    link->bpe = noted_bpe(filter, number, link->error);
    if ((double)link->hashes != hashes_of(link->bpe))
        return petal_fail(error, PETAL_ERR_UNSUPPORTED,
                          "%s derives the hashes from the rate, and layer %u has others; use petal",
                          format->name, number);
    if (!encver_knows(chain->encver, layer->array.shape.bits, kind))
        return petal_fail(
            error, PETAL_ERR_UNSUPPORTED,
            "%s holds whole bytes of bits, and layer %u, of RedisBloom's first version, has %llu bits; use petal",
            format->name, number, (unsigned long long)layer->array.shape.bits);
    tell_size(link, layer->array.shape.bits, kind);
    return PETAL_OK;
}

/* Returns true if a link's number of bits can be computed from its other fields. The first encoding
 * version doesn't store the number of bits. */
static bool is_implied(const struct redis_link *link)
{
    double bits = (double)link->entries * link->bpe;
    return link->n2 == 0 && bits < 0x1p63 && link->bits == (uint64_t)bits;
}

petal_status petal_redis_chain_of(const petal_filter *filter, const struct format_def *format,
                                  struct redis_chain *chain, petal_error *error)
{
    petal_status status = PETAL_OK;
    if (filter->hash->id != PETAL_HASH_MURMUR64A && filter->hash->id != PETAL_HASH_MURMUR2)
        return petal_fail(error, PETAL_ERR_UNSUPPORTED, "%s has no filters with %s; use petal",
                          format->name, filter->hash->name);
    read_notes(filter, chain);
    if (format->id == PETAL_FORMAT_REDISBLOOM) chain->encver = REDIS_ENCVER_NEWEST;
    chain->link_count = filter->layer_count;
    for (uint32_t i = 0; status == PETAL_OK && i < filter->layer_count; i++) {
        status = link_of(filter, i, format, chain, error);
        /* After a merge, the layers' key counts may be saturated, so their sum can overflow. */
        if (!checked_add(chain->size, filter->layers[i].items, &chain->size))
            return petal_fail(error, PETAL_ERR_LIMIT, "more keys than 64 bits can count");
        if (chain->encver < REDIS_ENCVER_BITS && !is_implied(&chain->links[i]))
            chain->encver = REDIS_ENCVER_BITS;
    }
    return status;
}

petal_status petal_redis_put_bits(const struct layer *layer, const struct redis_link *link,
                                  const struct sink *sink, petal_error *error)
{
    static const uint8_t zeros[8];
    petal_status status = petal_put(sink, layer->array.bytes, layer->array.size_bytes, error);
    return status == PETAL_OK ? petal_put(sink, zeros, link->bytes - layer->array.size_bytes, error)
                              : status;
}

/* ---- new filters and new layers -------------------------------------------------------------- */

petal_status petal_redis_plan(const struct format_def *self, const petal_options *options,
                              struct description *about, petal_error *error)
{
    (void)self;
    struct request asked;
    struct shape shape;
    petal_status status = petal_size_request(options, &asked, error);
    if (status != PETAL_OK) return status;
    if (asked.by_bits || asked.keys == 0)
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          "RedisBloom needs a number of keys, at least 1, and a rate");
    if (options->seed != 0)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "RedisBloom has no seed; leave it out");
    double rate = asked.rate > HIGHEST_RATE ? HIGHEST_RATE : asked.rate;
    struct redis_link link = {.entries = asked.keys, .error = rate * TIGHTENING};
    if (!is_rate(link.error))
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          "a rate of %g is too low to be halved; use a higher one", rate);
    status = make_shape(&link, petal_redis_new_chain.options, &shape, error);
    if (status != PETAL_OK) return status;
    petal_format_single(about, &shape, 0);
    about->layers->capacity = link.entries;
    about->layers->target_rate = link.error;
    write_notes(&petal_redis_new_chain, &about->origin);
    return PETAL_OK;
}

/* Plans the next link of the chain. */
static petal_status next_link(const petal_filter *filter, const struct redis_chain *chain,
                              struct redis_link *link, petal_error *error)
{
    const struct layer *last = &filter->layers[filter->layer_count - 1];
    if (chain->options & NO_SCALING)
        return petal_fail(error, PETAL_ERR_FULL,
                          "full: a NONSCALING filter takes the %llu keys it was made for",
                          (unsigned long long)last->capacity);
    if (chain->options & ENTS_IS_BITS)
        return petal_fail(error, PETAL_ERR_FULL,
                          "full: it was made by bits, as no command does, and cannot grow");
    if (filter->layer_count == PETAL_MAX_LAYERS)
        return petal_fail(error, PETAL_ERR_FULL, "full: the filter has %u layers, and no more fit",
                          PETAL_MAX_LAYERS);
    if (chain->growth == 0 || last->capacity == 0 ||
        !checked_mul(last->capacity, chain->growth, &link->entries))
        return petal_fail(error, PETAL_ERR_FULL, "full: no next layer has %llu times %llu keys",
                          (unsigned long long)chain->growth, (unsigned long long)last->capacity);
    link->error = last->target_rate * TIGHTENING;
    return is_rate(link->error)
               ? PETAL_OK
               : petal_fail(error, PETAL_ERR_FULL, "full: half of the last layer's rate is 0");
}

/* If a filter has a different scheme, its origin is forged: RedisBloom has no such filters, so
 * their growth is undefined. */
bool petal_redis_grows(const petal_filter *filter)
{
    return filter->scheme == &petal_scheme_redisbloom;
}

bool petal_redis_is_fixed(const petal_filter *filter)
{
    struct redis_chain chain;
    read_notes(filter, &chain);
    return (chain.options & NO_SCALING) != 0;
}

petal_status petal_redis_grow(petal_filter *filter, petal_error *error)
{
    struct redis_chain chain;
    struct redis_link link = {0};
    struct shape shape;
    read_notes(filter, &chain);
    petal_status status = next_link(filter, &chain, &link, error);
    if (status == PETAL_OK && make_shape(&link, chain.options, &shape, NULL) != PETAL_OK)
        return petal_fail(error, PETAL_ERR_FULL,
                          "full: no layer of RedisBloom holds %llu keys at a rate of %.3g",
                          (unsigned long long)link.entries, link.error);
    if (status == PETAL_OK) status = petal_filter_add_layer(filter, &shape, error);
    if (status != PETAL_OK) return status;
    struct layer *added = &filter->layers[filter->layer_count - 1];
    added->capacity = link.entries;
    added->target_rate = link.error;
    if (has_notes(filter))
        set_link_note(&filter->origin, filter->layer_count - 1,
                      chain.options & NOROUND ? PLAIN : POWER, 0);
    return PETAL_OK;
}
