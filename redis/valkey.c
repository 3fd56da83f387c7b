/* valkey.c - see valkey.h.
 *
 * BF.LOAD, little-endian and packed: version 1, expansion 4, rate f64, ratio f64, random 1, layers
 * 8; per layer the length of the rest up to the end of its bits 8, version 1, size 8, hashes 4,
 * seed 32, bits; keys 8, capacity 8.
 *
 * bloomfltr, encoding 1: layers u, expansion u, rate d, ratio d, random u; per layer a string, from
 * its version to the end of its bits, and capacity u; for the last layer also keys u, since the
 * others are full. */
#include "valkey.h"

#include "bytes.h"
#include "config.h"
#include "saving.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DECODING_FAILED "ERR bloom object decoding failed"
#define TOO_MANY_LAYERS "ERR bloom object reached max number of filters"

enum {
    AT_VERSION = 0,
    AT_EXPANSION = 1,
    AT_RATE = 5,
    AT_RATIO = 13,
    AT_RANDOM = 21,
    AT_LAYERS = 22,
    HEAD_BYTES = 30
};
/* Offsets in the bytes before a layer's bits. */
enum { BITS_VERSION = 0, BITS_SIZE = 1, BITS_HASHES = 9, BITS_SEED = 13, BITS_HEAD_BYTES = 45 };
enum { LENGTH_BYTES = 8, BACK_BYTES = 16 };
enum { VERSION = 1 };

/* ---- numbers --------------------------------------------------------------------------------- */

const char *valkey_plain(double value, char text[PLAIN_BYTES])
{
    int digits = 1;
    while (snprintf(text, PLAIN_BYTES, "%.*e", digits - 1, value) > 0 &&
           strtod(text, NULL) != value && digits < 17)
        digits++;
    long after_point = digits - 1 - strtol(strchr(text, 'e') + 1, NULL, 10);
    snprintf(text, PLAIN_BYTES, "%.*f", after_point > 0 ? (int)after_point : 0, value);
    return text;
}

/* ---- making, and growing --------------------------------------------------------------------- */

static const struct valkey_value *of(const struct value *value)
{
    return (const struct valkey_value *)(const void *)value;
}

/* ratio^n as Rust's powi() computes it. */
static double power(double ratio, uint32_t n)
{
    double result = 1;
    for (; n; n /= 2, ratio *= ratio)
        if (n % 2) result *= ratio;
    return result;
}

/* Plans a layer. Returns false if no layer can be that large. */
static int plan_layer(uint64_t capacity, double rate, petal_lent_layer *layer)
{
    petal_options options = PETAL_OPTIONS_INIT;
    petal_info plan = PETAL_INFO_INIT;
    options.format = "valkey-bloom";
    options.capacity = capacity;
    options.rate = rate;
    if (petal_plan(&options, &plan, NULL, NULL) != PETAL_OK) return 0;
    *layer = (petal_lent_layer){
        .bits = plan.bits, .hashes = plan.hashes, .capacity = capacity, .rate = rate};
    return 1;
}

void valkey_set_seed(struct bloom_plan *plan, const void *seed)
{
    plan->random = memcmp(seed, handles_fixed_seed(), sizeof plan->seed) != 0;
    memcpy(plan->seed, seed, sizeof plan->seed);
}

void valkey_default_plan(struct bloom_plan *plan)
{
    *plan = (struct bloom_plan){.rate = config.bloom_rate,
                                .capacity = config.bloom_capacity,
                                .expansion = config.bloom_expansion,
                                .no_scaling = config.bloom_expansion == 0,
                                .is_valkey = 1,
                                .ratio = config.bloom_ratio,
                                .random = config.bloom_random};
    if (plan->random)
        server.GetRandomBytes(plan->seed, sizeof plan->seed);
    else
        memcpy(plan->seed, handles_fixed_seed(), sizeof plan->seed);
}

struct bloom_plan valkey_plan_of(const struct value *value)
{
    struct bloom_plan plan = {.rate = of(value)->rate,
                              .capacity = (long long)value->layers->capacity,
                              .expansion = value->growth,
                              .no_scaling = value->growth == 0,
                              .is_valkey = 1,
                              .ratio = of(value)->ratio,
                              .random = of(value)->random};
    memcpy(plan.seed, of(value)->seed, sizeof plan.seed);
    return plan;
}

/* Sizes on a 64-bit machine: an object with a vector of pointers, and two structs per layer. */
enum { OBJECT_BYTES = 48, POINTER_BYTES = 8, LAYER_STRUCTS_BYTES = 24 + 184 };

/* The vector's capacity is 1, then 4, 8, 16, ... */
static uint64_t object_bytes(uint64_t layers)
{
    uint64_t room = layers > 1 ? 4 : 1;
    while (room < layers) room *= 2;
    return OBJECT_BYTES + room * POINTER_BYTES;
}

static uint64_t layer_size(const petal_lent_layer *layer)
{
    return LAYER_STRUCTS_BYTES + layer->bits / 8;
}

uint64_t valkey_size(const struct value *value)
{
    uint64_t bytes = object_bytes(value->layer_count);
    for (uint32_t i = 0; i < value->layer_count; i++) bytes += layer_size(&value->layers[i]);
    return bytes;
}

static int is_over_limit(uint64_t bytes, int unlimited)
{
    return !unlimited && bytes > (uint64_t)config.bloom_memory_limit;
}

static struct value *no_value(struct failure *failure, petal_status status, const char *line)
{
    failure->error = (petal_error){.status = status};
    snprintf(failure->line, sizeof failure->line, "%s", line);
    return NULL;
}

/* Creates a value with `layers` layers (at least one), which are still empty. */
static struct value *begin(const struct bloom_plan *plan, uint32_t layers, int unlimited)
{
    struct value *value = value_new_layers(CLASSIC_VALKEY, layers, unlimited);
    if (!value) return NULL;
    struct valkey_value *more = (struct valkey_value *)(void *)value;
    value->options = BLOOM_NO_ROUND | BLOOM_FORCE64 | (plan->no_scaling ? BLOOM_NO_SCALING : 0);
    value->growth = plan->no_scaling ? 0 : (uint32_t)plan->expansion;
    more->rate = plan->rate;
    more->ratio = plan->ratio;
    more->random = (uint8_t)plan->random;
    memcpy(more->seed, plan->seed, sizeof more->seed);
    return value;
}

struct value *valkey_create(const struct bloom_plan *plan, int unlimited, struct failure *failure)
{
    petal_lent_layer layer;
    failure->line[0] = 0;
    if (!plan_layer((uint64_t)plan->capacity, plan->rate, &layer) ||
        is_over_limit(object_bytes(1) + layer_size(&layer), unlimited))
        return no_value(failure, PETAL_ERR_LIMIT, VALKEY_TOO_BIG);
    struct value *value = begin(plan, 1, unlimited);
    layer.bytes = value ? memory_zeroed((size_t)(layer.bits / 8)) : NULL;
    if (layer.bytes) {
        value_set_layer(value, 0, &layer);
        return value;
    }
    value_free(value);
    return no_value(failure, PETAL_ERR_MEMORY, "ERR Insufficient memory to create filter");
}

static petal_status full(petal_error *error, const char *line)
{
    *error = (petal_error){.status = PETAL_ERR_FULL, .offset = PETAL_NO_OFFSET};
    snprintf(error->message, sizeof error->message, "%s", line);
    return PETAL_ERR_FULL;
}

petal_status valkey_plan_next(const struct value *value, int unlimited, petal_lent_layer *next,
                              petal_error *error)
{
    uint32_t count = value->layer_count;
    uint64_t last = value->layers[count - 1].capacity, sum = 0;
    double rate = of(value)->rate * power(of(value)->ratio, count);
    if (value->growth == 0) return full(error, "ERR non scaling filter is full");
    if (count == BLOOM_MAX_LAYERS) return full(error, TOO_MANY_LAYERS);
    if (!(rate > DBL_MIN)) return full(error, "ERR false positive degrades to 0 on scale out");
    for (uint32_t i = 0; i < count; i++) sum += value->layers[i].capacity;
    if (last > (INT64_MAX - sum) / value->growth) return full(error, VALKEY_BAD_CAPACITY);
    if (!plan_layer(last * value->growth, rate, next) ||
        is_over_limit(valkey_size(value) + layer_size(next), unlimited))
        return full(error, VALKEY_TOO_BIG);
    return PETAL_OK;
}

/* Computes only the size that plan_layer() and layer_size() would give, since a reply may need the
 * sizes of dozens of layers. */
static double size_ahead(uint64_t capacity, double rate)
{
    const double ln2 = 0.693147180559945309417232121458;
    return LAYER_STRUCTS_BYTES + ceil((double)capacity * log(rate) / (-8.0 * (ln2 * ln2)));
}

long long valkey_reach(const struct bloom_plan *plan, long long wanted, const char **refusal)
{
    uint64_t capacity = (uint64_t)plan->capacity, sum = 0;
    double bytes = 0;
    *refusal = NULL;
    for (uint32_t i = 0; !wanted || sum < (uint64_t)wanted; i++) {
        double rate = plan->rate * power(plan->ratio, i);
        if (!(rate > DBL_MIN))
            *refusal = "ERR provided VALIDATESCALETO causes false positive to degrade to 0";
        else if (i == BLOOM_MAX_LAYERS)
            *refusal = TOO_MANY_LAYERS;
        else if (capacity > INT64_MAX - sum)
            *refusal = VALKEY_BAD_CAPACITY;
        else if ((bytes += size_ahead(capacity, rate)) + (double)object_bytes(i + 1) >
                 (double)config.bloom_memory_limit)
            *refusal = "ERR provided VALIDATESCALETO causes bloom object to exceed memory limit";
        if (*refusal) break;
        sum += capacity;
        if (plan->expansion > 0 && capacity > INT64_MAX / (uint64_t)plan->expansion)
            capacity = UINT64_MAX;
        else
            capacity *= (uint64_t)plan->expansion;
    }
    return (long long)sum;
}

/* ---- bytes, out and in ----------------------------------------------------------------------- */

static void write_bits_head(const struct value *value, uint32_t i, uint8_t *to)
{
    to[BITS_VERSION] = VERSION;
    store_little(to + BITS_SIZE, value->layers[i].bits / 8, 8);
    store_little(to + BITS_HASHES, value->layers[i].hashes, 4);
    memcpy(to + BITS_SEED, of(value)->seed, sizeof of(value)->seed);
}

static void write_head(const struct value *value, uint8_t *to)
{
    to[AT_VERSION] = VERSION;
    store_little(to + AT_EXPANSION, value->growth, 4);
    store_double(to + AT_RATE, of(value)->rate);
    store_double(to + AT_RATIO, of(value)->ratio);
    to[AT_RANDOM] = of(value)->random;
    store_little(to + AT_LAYERS, value->layer_count, 8);
}

uint8_t *valkey_encode(const struct value *value, size_t *size_bytes)
{
    *size_bytes = HEAD_BYTES;
    for (uint32_t i = 0; i < value->layer_count; i++)
        *size_bytes +=
            LENGTH_BYTES + BITS_HEAD_BYTES + (size_t)(value->layers[i].bits / 8) + BACK_BYTES;
    uint8_t *bytes = server.Alloc(*size_bytes), *at = bytes + HEAD_BYTES;
    write_head(value, bytes);
    for (uint32_t i = 0; i < value->layer_count; i++) {
        const petal_lent_layer *layer = &value->layers[i];
        uint64_t size = layer->bits / 8;
        store_little(at, BITS_HEAD_BYTES + size, LENGTH_BYTES);
        write_bits_head(value, i, at + LENGTH_BYTES);
        at += LENGTH_BYTES + BITS_HEAD_BYTES;
        memcpy(at, layer->bytes, (size_t)size);
        store_little(at + size, layer->items, 8);
        store_little(at + size + 8, layer->capacity, 8);
        at += size + BACK_BYTES;
    }
    return bytes;
}

static int is_rate(double rate)
{
    return rate > 0 && rate < 1;
}

/* Returns the error, or NULL. */
static const char *check_plan(const struct bloom_plan *plan, uint64_t layers)
{
    if (plan->expansion < 0 || plan->expansion > UINT32_MAX) return "ERR bad expansion";
    if (!is_rate(plan->rate) || !is_rate(plan->ratio)) return VALKEY_RATE_RANGE;
    if (plan->random != 0 && plan->random != 1) return DECODING_FAILED;
    if (layers > BLOOM_MAX_LAYERS) return TOO_MANY_LAYERS;
    return layers ? NULL : DECODING_FAILED;
}

/* Reads a layer of `size_bytes` from the fields that precede its bits. Returns false if they are
 * invalid. */
static int read_layer(struct value *value, uint32_t i, const uint8_t *head, uint64_t size_bytes,
                      petal_lent_layer *layer)
{
    struct valkey_value *more = (struct valkey_value *)(void *)value;
    uint64_t size = load_little(head + BITS_SIZE, 8), hashes = load_little(head + BITS_HASHES, 4);
    if (head[BITS_VERSION] != VERSION || size == 0 || size != size_bytes - BITS_HEAD_BYTES ||
        size > ((uint64_t)1 << 48) / 8 || hashes == 0 || hashes > BLOOM_MAX_HASHES)
        return 0;
    if (i == 0) memcpy(more->seed, head + BITS_SEED, sizeof more->seed);
    *layer = (petal_lent_layer){
        .bits = 8 * size, .hashes = (uint32_t)hashes, .rate = more->rate * power(more->ratio, i)};
    return memcmp(more->seed, head + BITS_SEED, sizeof more->seed) == 0;
}

/* Totals over all layers, as reported to clients. */
struct counts {
    uint64_t items, capacity;
};

/* The next layer is created only when a layer is full, i.e. holds as many keys as its capacity. A
 * bloomfltr snapshot stores only the last layer's count, so the others are treated as full whatever
 * a payload claims. */
static int take_counts(struct counts *sum, petal_lent_layer *layer, uint64_t capacity,
                       uint64_t items, int is_last)
{
    if (items > INT64_MAX || capacity == 0 || capacity > INT64_MAX - sum->capacity) return 0;
    layer->capacity = capacity;
    layer->items = is_last && items < capacity ? items : capacity;
    sum->items += layer->items;
    sum->capacity += capacity;
    return 1;
}

static const char *read_layers(struct value *value, const uint8_t *at, const uint8_t *end)
{
    struct counts sum = {0, 0};
    for (uint32_t i = 0; i < value->layer_count; i++) {
        petal_lent_layer layer;
        uint64_t left = (uint64_t)(end - at);
        if (left < LENGTH_BYTES + BITS_HEAD_BYTES + BACK_BYTES) return DECODING_FAILED;
        uint64_t size = load_little(at, LENGTH_BYTES);
        if (size < BITS_HEAD_BYTES || size > left - LENGTH_BYTES - BACK_BYTES ||
            !read_layer(value, i, at + LENGTH_BYTES, size, &layer))
            return DECODING_FAILED;
        const uint8_t *bits = at + LENGTH_BYTES + BITS_HEAD_BYTES;
        at += LENGTH_BYTES + size + BACK_BYTES;
        if (!take_counts(&sum, &layer, load_little(at - 8, 8), load_little(at - 16, 8),
                         i + 1 == value->layer_count))
            return DECODING_FAILED;
        layer.bytes = memory_zeroed((size_t)(layer.bits / 8));
        if (!layer.bytes) return "ERR Insufficient memory to create filter";
        memcpy(layer.bytes, bits, (size_t)(layer.bits / 8));
        value_set_layer(value, i, &layer);
    }
    return at == end ? NULL : DECODING_FAILED;
}

struct value *valkey_decode(const uint8_t *bytes, size_t size_bytes, int unlimited,
                            const char **refusal)
{
    *refusal = size_bytes && bytes[AT_VERSION] != VERSION ? DECODING_FAILED ". Unsupported version"
               : size_bytes < HEAD_BYTES                  ? DECODING_FAILED
                                                          : NULL;
    if (*refusal) return NULL;
    const struct bloom_plan plan = {.rate = load_double(bytes + AT_RATE),
                                    .ratio = load_double(bytes + AT_RATIO),
                                    .expansion = (long long)load_little(bytes + AT_EXPANSION, 4),
                                    .no_scaling = load_little(bytes + AT_EXPANSION, 4) == 0,
                                    .random = bytes[AT_RANDOM]};
    uint64_t layers = load_little(bytes + AT_LAYERS, 8),
             per_layer = LENGTH_BYTES + BITS_HEAD_BYTES + BACK_BYTES;
    *refusal = check_plan(&plan, layers);
    if (!*refusal && layers > (size_bytes - HEAD_BYTES) / per_layer) *refusal = DECODING_FAILED;
    if (!*refusal && is_over_limit(object_bytes(layers) + layers * LAYER_STRUCTS_BYTES +
                                       size_bytes - HEAD_BYTES - layers * per_layer,
                                   unlimited))
        *refusal = VALKEY_TOO_BIG;
    if (*refusal) return NULL;
    struct value *value = begin(&plan, (uint32_t)layers, unlimited);
    *refusal = value ? read_layers(value, bytes + HEAD_BYTES, bytes + size_bytes)
                     : "ERR Insufficient memory to create filter";
    if (!*refusal) return value;
    value_free(value);
    return NULL;
}

/* ---- bloomfltr ------------------------------------------------------------------------------- */

void valkey_save(RedisModuleIO *io, void *memory)
{
    const struct value *value = memory;
    server.SaveUnsigned(io, value->layer_count);
    server.SaveUnsigned(io, value->growth);
    server.SaveDouble(io, of(value)->rate);
    server.SaveDouble(io, of(value)->ratio);
    server.SaveUnsigned(io, of(value)->random);
    for (uint32_t i = 0; i < value->layer_count; i++) {
        const petal_lent_layer *layer = &value->layers[i];
        uint64_t size = layer->bits / 8;
        uint8_t *string = server.Alloc(BITS_HEAD_BYTES + (size_t)size);
        write_bits_head(value, i, string);
        memcpy(string + BITS_HEAD_BYTES, layer->bytes, (size_t)size);
        save_string(io, string, BITS_HEAD_BYTES + size);
        server.Free(string);
        server.SaveUnsigned(io, layer->capacity);
        if (i + 1 == value->layer_count) server.SaveUnsigned(io, layer->items);
    }
}

static const char *load_layer(RedisModuleIO *io, struct value *value, uint32_t i,
                              struct counts *sum)
{
    petal_lent_layer layer;
    size_t size_bytes = 0;
    char *string = server.LoadStringBuffer(io, &size_bytes);
    int is_good = !server.IsIOError(io) && string && size_bytes > BITS_HEAD_BYTES &&
                  read_layer(value, i, (const uint8_t *)string, size_bytes, &layer);
    int is_last = i + 1 == value->layer_count;
    uint64_t capacity = is_good ? server.LoadUnsigned(io) : 0,
             items = is_good && is_last ? server.LoadUnsigned(io) : 0;
    if (server.IsIOError(io) || !take_counts(sum, &layer, capacity, items, is_last)) is_good = 0;
    if (!is_good) {
        if (string) server.Free(string);
        return DECODING_FAILED;
    }
    /* The memory of the string becomes the bits, so that a large layer is not copied to a second
     * block. */
    layer.bytes = memmove(string, string + BITS_HEAD_BYTES, size_bytes - BITS_HEAD_BYTES);
    memory_take(layer.bytes, size_bytes - BITS_HEAD_BYTES);
    value_set_layer(value, i, &layer);
    return NULL;
}

static const char *load_layers(RedisModuleIO *io, struct value *value, int unlimited)
{
    struct counts sum = {0, 0};
    uint64_t bytes = object_bytes(value->layer_count);
    for (uint32_t i = 0; i < value->layer_count; i++) {
        const char *refusal = load_layer(io, value, i, &sum);
        if (refusal) return refusal;
        bytes += layer_size(&value->layers[i]);
        if (is_over_limit(bytes, unlimited)) return VALKEY_TOO_BIG;
    }
    return NULL;
}

void *valkey_load(RedisModuleIO *io, int encver)
{
    struct bloom_plan plan = {.is_valkey = 1};
    int unlimited = is_loading();
    if (encver != VALKEY_ENCVER) {
        server.LogIOError(io, "warning", "petal: bloomfltr of encoding %d; petal reads %d", encver,
                          VALKEY_ENCVER);
        return NULL;
    }
    uint64_t layers = server.LoadUnsigned(io), expansion = server.LoadUnsigned(io), random;
    plan.rate = server.LoadDouble(io);
    plan.ratio = server.LoadDouble(io);
    random = server.LoadUnsigned(io);
    plan.expansion = expansion > UINT32_MAX ? -1 : (long long)expansion;
    plan.no_scaling = expansion == 0;
    plan.random = random > 1 ? -1 : (int)random;
    const char *refusal = server.IsIOError(io) ? DECODING_FAILED : check_plan(&plan, layers);
    struct value *value = refusal ? NULL : begin(&plan, (uint32_t)layers, 0);
    if (value) refusal = load_layers(io, value, unlimited);
    if (value && !refusal) return value;
    server.LogIOError(io, "warning", "petal: bloomfltr: %s", refusal ? refusal : "no memory");
    value_free(value);
    return NULL;
}

void valkey_rewrite(RedisModuleIO *io, RedisModuleString *key, void *memory)
{
    size_t size_bytes;
    uint8_t *bytes = valkey_encode(memory, &size_bytes);
    server.EmitAOF(io, "BF.LOAD", "sb", key, bytes, size_bytes);
    server.Free(bytes);
}

void valkey_digest(RedisModuleDigest *digest, void *memory)
{
    const struct value *value = memory;
    uint8_t head[HEAD_BYTES], bits_head[BITS_HEAD_BYTES];
    write_head(value, head);
    server.DigestAddStringBuffer(digest, (const char *)head, sizeof head);
    for (uint32_t i = 0; i < value->layer_count; i++) {
        const petal_lent_layer *layer = &value->layers[i];
        write_bits_head(value, i, bits_head);
        server.DigestAddStringBuffer(digest, (const char *)bits_head, sizeof bits_head);
        server.DigestAddStringBuffer(digest, layer->bytes, (size_t)(layer->bits / 8));
        server.DigestAddLongLong(digest, (long long)layer->items);
        server.DigestAddLongLong(digest, (long long)layer->capacity);
    }
    server.DigestEndSequence(digest);
}
