/* value.c - see value.h.
 *
 * The header of a classic filter, little-endian and packed (docs/formats/redisbloom.md):
 *
 *     keys 8, layers 4, options 4, growth 4
 *     per layer: bytes 8, bits 8, keys 8, error f64, bits per entry f64, hashes 4, capacity 8, n2 1
 */
#include "value.h"

#include "bloom_header.h"
#include "bytes.h"
#include "config.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- life ------------------------------------------------------------------------------------ */

static uint64_t layer_bytes(const struct value *value, uint32_t layer)
{
    return (value->layers[layer].bits + 7) / 8;
}

/* As allocated. */
static uint64_t stored_bytes(const struct value *value, uint32_t layer)
{
    return layer_bytes(value, layer) + value_notes(value)[layer].padding;
}

static uint64_t held_bytes(const struct value *value)
{
    uint64_t sum = 0;
    if (!value->classic) return value->handle->bytes;
    for (uint32_t i = 0; i < value->layer_count; i++)
        if (value->layers[i].bytes) sum += stored_bytes(value, i);
    return sum;
}

int value_over_limit(const struct value *value, uint64_t more_bytes)
{
    return !value->unlimited && memory_over_limit(held_bytes(value), more_bytes);
}

static size_t struct_bytes(int classic)
{
    return classic == CLASSIC_VALKEY ? sizeof(struct valkey_value) : sizeof(struct value);
}

static struct value *new_value(int classic, int unlimited)
{
    struct value *value = memory_zeroed(struct_bytes(classic));
    if (!value) return NULL;
    value->classic = (uint8_t)classic;
    value->unlimited = (uint8_t)unlimited;
    atomic_fetch_add(&totals.filters, 1);
    return value;
}

struct value *value_new(int unlimited)
{
    struct value *value = new_value(0, unlimited);
    if (!value) return NULL;
    value->handle = handle_own(value);
    if (value->handle) return value;
    value_free(value);
    return NULL;
}

enum { PER_LAYER_BYTES = sizeof(petal_lent_layer) + sizeof(struct layer_note) };

static void free_layers(struct value *value)
{
    handle_forget(value);
    for (uint32_t i = 0; i < value->layer_count; i++) {
        memory_free(value->layers[i].bytes, (size_t)stored_bytes(value, i));
        atomic_fetch_sub(&totals.items, value->layers[i].items);
        atomic_fetch_sub(&totals.capacity, value->layers[i].capacity);
    }
    atomic_fetch_sub(&totals.layers, value->layer_count);
    memory_free(value->layers, (size_t)value->layer_count * PER_LAYER_BYTES);
}

void value_free(void *memory)
{
    struct value *value = memory;
    if (!value) return;
    if (value->classic)
        free_layers(value);
    else
        handle_free(value->handle);
    atomic_fetch_sub(&totals.filters, 1);
    memory_free(value, struct_bytes(value->classic));
}

uint64_t value_bytes(const struct value *value)
{
    struct value *own = (struct value *)(uintptr_t)value;
    uint64_t sum = server.MallocSize(own);
    if (!value->classic) return sum + server.MallocSize(value->handle) + value->handle->bytes;
    sum += server.MallocSize(value->layers);
    for (uint32_t i = 0; i < value->layer_count; i++)
        sum += server.MallocSize(value->layers[i].bytes);
    return sum;
}

/* ---- errors ---------------------------------------------------------------------------------- */

const char *failure_line(struct failure *failure)
{
    if (!failure->line[0])
        snprintf(failure->line, sizeof failure->line, "ERR petal: %s", failure->error.message);
    return failure->line;
}

static void fail(struct failure *failure, petal_status status, const char *line)
{
    failure->error = (petal_error){.status = status};
    snprintf(failure->line, sizeof failure->line, "%s", line);
}

static petal_status failed(petal_status status, petal_error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static petal_status failed(petal_status status, petal_error *error, const char *format, ...)
{
    va_list arguments;
    *error = (petal_error){.status = status, .offset = PETAL_NO_OFFSET};
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return status;
}

void value_fail_limit(struct failure *failure, uint64_t bytes)
{
    failure->error = (petal_error){.status = PETAL_ERR_LIMIT};
    snprintf(failure->line, sizeof failure->line,
             "ERR petal: the filter takes %llu bytes, and %s.memory-limit is %llu; raise it, or "
             "plan a smaller filter",
             (unsigned long long)bytes, config.module, (unsigned long long)config.memory_limit);
}

/* ---- headers --------------------------------------------------------------------------------- */

static void write_layer(const struct value *value, uint32_t number, uint8_t *to)
{
    const petal_lent_layer *layer = &value->layers[number];
    const struct layer_note *note = &value_notes(value)[number];
    uint64_t bytes = stored_bytes(value, number);
    store_little(to + LAYER_BYTES, bytes, 8);
    store_little(to + LAYER_BITS, note->n2 ? 8 * bytes : layer->bits, 8);
    store_little(to + LAYER_KEYS, layer->items, 8);
    store_double(to + LAYER_ERROR, layer->rate);
    store_double(to + LAYER_BPE, note->bits_per_entry);
    store_little(to + LAYER_HASHES, layer->hashes, 4);
    store_little(to + LAYER_CAPACITY, layer->capacity, 8);
    to[LAYER_N2] = note->n2;
}

static uint8_t *classic_header(const struct value *value, size_t *size_bytes)
{
    uint64_t sum = 0;
    *size_bytes = BLOOM_HEAD_BYTES + (size_t)value->layer_count * BLOOM_LAYER_BYTES;
    uint8_t *header = server.Alloc(*size_bytes);
    for (uint32_t i = 0; i < value->layer_count; i++) {
        write_layer(value, i, header + BLOOM_HEAD_BYTES + (size_t)i * BLOOM_LAYER_BYTES);
        sum += value->layers[i].items;
    }
    store_little(header + AT_KEYS, sum, 8);
    store_little(header + AT_LAYERS, value->layer_count, 4);
    store_little(header + AT_OPTIONS, value->options, 4);
    store_little(header + AT_GROWTH, value->growth, 4);
    return header;
}

/* Sizes a layer as RedisBloom does, with its fifteen-digit constants, for `capacity` items at
 * `rate`. Returns false if no layer can be that large. */
static int plan_layer(uint32_t options, petal_lent_layer *layer, struct layer_note *note)
{
    double bits_per_entry = -(log(layer->rate) / 0.480453013918201);
    double hashes = ceil(0.693147180559945 * bits_per_entry);
    double bits = (double)layer->capacity * bits_per_entry;
    *note = (struct layer_note){.bits_per_entry = bits_per_entry};
    if (!(layer->rate > 0) || !(bits < 0x1p48 - 64) || !(hashes >= 1 && hashes <= BLOOM_MAX_HASHES))
        return 0;
    layer->hashes = (uint32_t)hashes;
    if (options & BLOOM_NO_ROUND) {
        layer->bits = bits < 1 ? 64 : ((uint64_t)bits + 63) / 64 * 64;
        return 1;
    }
    note->n2 = bits < 1 ? 1 : (uint8_t)(logb(bits) + 1);
    layer->bits = (uint64_t)1 << note->n2;
    layer->capacity += (uint64_t)(((double)layer->bits - bits) / bits_per_entry);
    note->padding = layer->bits < 64 ? (uint8_t)(8 - (layer->bits + 7) / 8) : 0;
    return 1;
}

const void *value_secret(const void *header, size_t size_bytes)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    petal_filter *filter = NULL;
    options.flags = PETAL_OPEN_HEADER_ONLY;
    petal_status status = petal_load(header, size_bytes, &options, &filter, NULL);
    petal_free(filter);
    return status == PETAL_ERR_SECRET_MISSING ? config_secret() : NULL;
}

static petal_status open_own(struct value *value, const void *header, size_t size_bytes,
                             petal_error *error)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    petal_allocator allocator = handle_allocator(value->handle);
    options.flags = PETAL_OPEN_HEADER_ONLY;
    options.allocator = &allocator;
    options.memory_limit = UINT64_MAX; /* the allocator enforces the limit */
    options.format = "petal";
    options.secret = value_secret(header, size_bytes);
    return petal_load(header, size_bytes, &options, &value->handle->filter, error);
}

/* Allocates room for more layers, which have no bits yet. */
static int make_room(struct value *value, uint32_t layer_count)
{
    size_t old_count = value->layer_count, old_bytes = old_count * PER_LAYER_BYTES,
           bytes = (size_t)layer_count * PER_LAYER_BYTES;
    petal_lent_layer *layers = memory_zeroed(bytes);
    if (!layers) return 0;
    if (old_count) {
        memcpy(layers, value->layers, old_count * sizeof *layers);
        memcpy(layers + layer_count, value_notes(value), old_count * sizeof(struct layer_note));
        handle_forget(value);
        memory_free(value->layers, old_bytes);
    }
    atomic_fetch_add(&totals.layers, layer_count - old_count);
    value->layers = layers;
    value->layer_count = layer_count;
    return 1;
}

void value_set_layer(struct value *value, uint32_t number, const petal_lent_layer *layer)
{
    value->layers[number] = *layer;
    atomic_fetch_add(&totals.items, layer->items);
    atomic_fetch_add(&totals.capacity, layer->capacity);
}

struct value *value_new_layers(int classic, uint32_t layers, int unlimited)
{
    struct value *value = new_value(classic, unlimited);
    if (value && make_room(value, layers)) return value;
    value_free(value);
    return NULL;
}

/* Reads a layer of a header. `filter` is the filter that the library opened from that layer
 * alone. */
static void read_layer(struct value *value, uint32_t number, const uint8_t *from,
                       const petal_filter *filter)
{
    petal_info info = PETAL_INFO_INIT;
    petal_get_info(filter, 0, &info, NULL);
    const petal_lent_layer layer = {.bits = info.bits,
                                    .hashes = info.hashes,
                                    .capacity = info.capacity,
                                    .rate = info.target_rate,
                                    .items = info.items};
    value_set_layer(value, number, &layer);
    value_notes(value)[number] = (struct layer_note){
        .bits_per_entry = load_double(from + LAYER_BPE),
        .n2 = from[LAYER_N2],
        .padding = (uint8_t)(load_little(from + LAYER_BYTES, 8) - layer_bytes(value, number))};
}

/* Passes each layer to the library as the only one in a header, because a value may have more
 * layers than the library's chains. */
static petal_status open_layer(struct value *value, uint32_t number, const uint8_t *header,
                               petal_error *error)
{
    uint8_t alone[BLOOM_HEAD_BYTES + BLOOM_LAYER_BYTES];
    const uint8_t *layer = header + BLOOM_HEAD_BYTES + (size_t)number * BLOOM_LAYER_BYTES;
    petal_filter *filter = NULL;
    memcpy(alone, header, BLOOM_HEAD_BYTES);
    memcpy(alone + AT_KEYS, layer + LAYER_KEYS, 8);
    store_little(alone + AT_LAYERS, 1, 4);
    memcpy(alone + BLOOM_HEAD_BYTES, layer, BLOOM_LAYER_BYTES);
    petal_status status = header_open(alone, sizeof alone, &filter, error);
    if (status == PETAL_OK) read_layer(value, number, layer, filter);
    petal_free(filter);
    return status;
}

static petal_status open_classic(struct value *value, const uint8_t *header, size_t size_bytes,
                                 petal_error *error)
{
    uint32_t layers =
        size_bytes < BLOOM_HEAD_BYTES ? 0 : (uint32_t)load_little(header + AT_LAYERS, 4);
    uint64_t sum = 0;
    int adds_up = 1;
    if (layers == 0 || layers > BLOOM_MAX_LAYERS ||
        size_bytes != BLOOM_HEAD_BYTES + (size_t)layers * BLOOM_LAYER_BYTES)
        return failed(PETAL_ERR_DAMAGED, error, "a header of %u layers does not have %zu bytes",
                      layers, size_bytes);
    value->options = (uint32_t)load_little(header + AT_OPTIONS, 4);
    value->growth = (uint32_t)load_little(header + AT_GROWTH, 4);
    if (!make_room(value, layers)) return failed(PETAL_ERR_MEMORY, error, "out of memory");
    for (uint32_t i = 0; i < layers; i++) {
        petal_status status = open_layer(value, i, header, error);
        if (status != PETAL_OK) return status;
        adds_up = adds_up && value->layers[i].items <= UINT64_MAX - sum;
        sum += value->layers[i].items;
    }
    if (adds_up && sum == load_little(header + AT_KEYS, 8)) return PETAL_OK;
    return failed(PETAL_ERR_DAMAGED, error, "the number of keys is not that of the layers");
}

struct value *value_open(const void *header, size_t size_bytes, int classic, int unlimited,
                         struct failure *failure)
{
    struct value *value = classic ? new_value(CLASSIC_REDISBLOOM, unlimited) : value_new(unlimited);
    failure->line[0] = 0;
    if (!value) {
        fail(failure, PETAL_ERR_MEMORY, "ERR Insufficient memory to create filter");
        return NULL;
    }
    petal_status status = classic ? open_classic(value, header, size_bytes, &failure->error)
                                  : open_own(value, header, size_bytes, &failure->error);
    if (status == PETAL_OK) return value;
    value_free(value);
    return NULL;
}

/* Allocates the bits of a classic value, all 0. On failure, frees the value and reports the
 * reason. */
static struct value *with_bits(struct value *value, struct failure *failure)
{
    uint64_t bytes = 0;
    int has_all = 1;
    for (uint32_t i = 0; i < value->layer_count; i++) bytes += stored_bytes(value, i);
    if (value_over_limit(value, bytes)) {
        value_fail_limit(failure, bytes);
        value_free(value);
        return NULL;
    }
    for (uint32_t i = 0; has_all && i < value->layer_count; i++)
        has_all = (value->layers[i].bytes = memory_zeroed(stored_bytes(value, i))) != NULL;
    if (has_all) return value;
    fail(failure, PETAL_ERR_MEMORY, "ERR Insufficient memory to create filter");
    value_free(value);
    return NULL;
}

struct value *value_from_header(const void *header, size_t size_bytes, int unlimited,
                                struct failure *failure)
{
    struct value *value = value_open(header, size_bytes, 1, unlimited, failure);
    return value ? with_bits(value, failure) : NULL;
}

struct value *value_create_bloom(const struct bloom_plan *plan, int unlimited,
                                 struct failure *failure)
{
    struct value *value = value_new_layers(CLASSIC_REDISBLOOM, 1, unlimited);
    petal_lent_layer layer = {.rate = plan->no_scaling ? plan->rate : plan->rate * 0.5};
    failure->line[0] = 0;
    if (!value) {
        fail(failure, PETAL_ERR_MEMORY, "ERR Insufficient memory to create filter");
        return NULL;
    }
    value->options = BLOOM_NO_ROUND | BLOOM_FORCE64 | (plan->no_scaling ? BLOOM_NO_SCALING : 0);
    value->growth = (uint32_t)plan->expansion;
    layer.capacity = (uint64_t)plan->capacity;
    if (plan_layer(value->options, &layer, value_notes(value))) {
        value_set_layer(value, 0, &layer);
        return with_bits(value, failure);
    }
    *value_notes(value) = (struct layer_note){0}; /* the layer stays empty */
    fail(failure, PETAL_ERR_LIMIT, "ERR could not create filter");
    value_free(value);
    return NULL;
}

struct value *value_create(petal_options *options, int unlimited, struct failure *failure)
{
    petal_info plan = PETAL_INFO_INIT;
    struct value *value = value_new(unlimited);
    failure->line[0] = 0;
    if (!value) {
        fail(failure, PETAL_ERR_MEMORY, "ERR Insufficient memory to create filter");
        return NULL;
    }
    petal_allocator allocator = handle_allocator(value->handle);
    petal_status status = petal_plan(options, &plan, NULL, &failure->error);
    options->allocator = &allocator;
    if (status == PETAL_OK && value_over_limit(value, plan.bytes)) {
        value_fail_limit(failure, plan.bytes);
        status = PETAL_ERR_LIMIT;
    }
    if (status == PETAL_OK) status = petal_create(options, &value->handle->filter, &failure->error);
    options->allocator = NULL;
    if (status == PETAL_OK) return value;
    value_free(value);
    return NULL;
}

/* ---- inside ---------------------------------------------------------------------------------- */

petal_info value_info(const struct value *value, uint32_t layer)
{
    petal_info info = PETAL_INFO_INIT;
    petal_get_info(value_filter(value), layer, &info, NULL);
    return info;
}

petal_layers_info value_layers_info(const struct value *value, uint32_t layer)
{
    petal_layers_info info = PETAL_LAYERS_INFO_INIT;
    petal_get_layers_info(value_filter(value), layer, &info, NULL);
    return info;
}

static enum value_kind find_kind(const struct value *value)
{
    petal_info info = value_info(value, PETAL_ALL_LAYERS);
    if (info.scheme == PETAL_SCHEME_STATIC) return KIND_STATIC;
    if (info.policy == PETAL_POLICY_WINDOW_TIME) return KIND_WINDOW_OF_TIME;
    if (info.abilities & PETAL_CAN_WINDOW) return KIND_WINDOW;
    if (value->classic || info.abilities & PETAL_CAN_GROW || info.layers > 1) return KIND_GROWING;
    return info.counter_bits ? KIND_COUNTING : KIND_FIXED;
}

/* Determines the kind once, because every command needs it and it never changes. */
enum value_kind value_kind(struct value *value)
{
    if (value->kind == KIND_UNKNOWN) value->kind = (uint8_t)find_kind(value);
    return value->kind;
}

/* Writes nothing, not even to the shared handle: in a child process that saves all values, each
 * write would copy a page. */
const uint8_t *value_bits(const struct value *value, uint32_t layer, uint64_t *size_bytes)
{
    const void *bits = NULL;
    if (value->classic) {
        *size_bytes = layer_bytes(value, layer);
        return value->layers[layer].bytes;
    }
    petal_bits(value->handle->filter, layer, &bits, size_bytes, NULL);
    return bits;
}

uint32_t value_layers(const struct value *value)
{
    return value->classic ? value->layer_count : value_info(value, PETAL_ALL_LAYERS).layers;
}

struct layer_note *value_notes(const struct value *value)
{
    return (struct layer_note *)(void *)(value->layers + value->layer_count);
}

void value_settle(struct value *value)
{
    if (!value->classic) return;
    for (uint32_t i = 0; i < value->layer_count; i++) {
        uint64_t items = value_info(value, i).items;
        atomic_fetch_add(&totals.items, items - value->layers[i].items);
        value->layers[i].items = items;
    }
}

/* True if all bits after the last one that a key can set are clear. Bits set there would be lost,
 * so such input is refused. */
static int has_clear_end(const struct value *value, uint32_t layer, const uint8_t *bytes)
{
    uint64_t bits = value->layers[layer].bits, end = stored_bytes(value, layer);
    if (bits % 8 && bytes[bits / 8] >> bits % 8) return 0;
    for (uint64_t i = (bits + 7) / 8; i < end; i++)
        if (bytes[i]) return 0;
    return 1;
}

petal_status value_adopt(struct value *value, uint32_t layer, void *bytes, size_t size_bytes,
                         petal_error *error)
{
    *error = (petal_error){.status = PETAL_ERR_DAMAGED};
    if (size_bytes != stored_bytes(value, layer) || !has_clear_end(value, layer, bytes)) {
        snprintf(error->message, sizeof error->message,
                 "layer %u: its bits are not those of its size", layer);
        return PETAL_ERR_DAMAGED;
    }
    value->layers[layer].bytes = bytes;
    memory_take(bytes, size_bytes);
    return PETAL_OK;
}

/* ---- growing --------------------------------------------------------------------------------- */

petal_status value_plan_next(const struct value *value, petal_lent_layer *next,
                             struct layer_note *note, petal_error *error)
{
    const petal_lent_layer *last = &value->layers[value->layer_count - 1];
    unsigned long long capacity = last->capacity;
    if (value->options & BLOOM_NO_SCALING)
        return failed(PETAL_ERR_FULL, error,
                      "full: a NONSCALING filter takes the %llu keys it was made for", capacity);
    if (value->options & BLOOM_BY_BITS)
        return failed(PETAL_ERR_FULL, error,
                      "full: it was made by bits, as no command does, and cannot grow");
    if (value->layer_count == BLOOM_MAX_LAYERS)
        return failed(PETAL_ERR_FULL, error,
                      "full: the filter has %u layers; make one with a higher capacity or "
                      "EXPANSION",
                      BLOOM_MAX_LAYERS);
    *next = (petal_lent_layer){.rate = last->rate * 0.5};
    if (value->growth == 0 || capacity > UINT64_MAX / value->growth)
        return failed(PETAL_ERR_FULL, error, "full: no next layer has %u times %llu keys",
                      value->growth, capacity);
    next->capacity = capacity * value->growth;
    if (plan_layer(value->options, next, note)) return PETAL_OK;
    return failed(PETAL_ERR_FULL, error,
                  "full: no layer of RedisBloom holds %llu keys at a rate of %.3g",
                  (unsigned long long)next->capacity, next->rate);
}

int value_append_layer(struct value *value, const petal_lent_layer *layer,
                       const struct layer_note *note)
{
    if (!make_room(value, value->layer_count + 1)) return 0;
    value_set_layer(value, value->layer_count - 1, layer);
    value_notes(value)[value->layer_count - 1] = *note;
    return 1;
}

/* ---- writing and reading --------------------------------------------------------------------- */

/* The first bytes of a serialized filter. */
struct beginning {
    uint8_t *bytes;
    size_t size_bytes, room;
};

static int32_t take(void *context, const void *bytes, size_t size_bytes)
{
    struct beginning *to = context;
    size_t part = to->room - to->size_bytes < size_bytes ? to->room - to->size_bytes : size_bytes;
    memcpy(to->bytes + to->size_bytes, bytes, part);
    to->size_bytes += part;
    return to->size_bytes == to->room;
}

/* The length of a petal file's header, found as in docs/hosts.md: by opening the bytes received so
 * far. */
static size_t petal_header_bytes(const uint8_t *bytes, size_t size_bytes)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    petal_filter *filter = NULL;
    petal_error error = {0};
    options.flags = PETAL_OPEN_HEADER_ONLY;
    options.secret = value_secret(bytes, size_bytes);
    petal_status status = petal_load(bytes, size_bytes, &options, &filter, &error);
    petal_free(filter);
    return status == PETAL_ERR_TRUNCATED ? (size_t)error.offset : size_bytes;
}

static uint8_t *petal_header(const struct value *value, size_t *size_bytes)
{
    size_t room = 1024;
    for (;;) {
        uint8_t *bytes = server.Alloc(room);
        struct beginning to = {bytes, 0, room};
        petal_status status = petal_write(value->handle->filter, NULL, take, &to, NULL);
        bool written = status == PETAL_OK ||
                       status == PETAL_ERR_IO; /* the sink `take` stops when the buffer is full */
        *size_bytes = written ? to.size_bytes : 0;
        size_t needed = petal_header_bytes(bytes, *size_bytes);
        if (*size_bytes == room && needed <= room) return bytes;
        server.Free(bytes);
        if (needed <= room) return NULL; /* it has no header, so writing fails */
        room = needed;
    }
}

uint8_t *value_header(const struct value *value, size_t *size_bytes)
{
    return value->classic ? classic_header(value, size_bytes) : petal_header(value, size_bytes);
}

static struct value *copy_classic(const struct value *from)
{
    struct value *copy = value_new_layers(from->classic, from->layer_count, from->unlimited);
    if (!copy) return NULL;
    size_t more_bytes = struct_bytes(from->classic) - sizeof *from;
    memcpy(copy + 1, from + 1, more_bytes); /* a valkey-bloom value's layer parameters */
    copy->options = from->options;
    copy->growth = from->growth;
    int has_all = 1;
    for (uint32_t i = 0; has_all && i < from->layer_count; i++) {
        petal_lent_layer layer = from->layers[i];
        layer.bytes = memory_zeroed((size_t)stored_bytes(from, i));
        has_all = layer.bytes != NULL;
        if (has_all) memcpy(layer.bytes, from->layers[i].bytes, stored_bytes(from, i));
        value_set_layer(copy, i, &layer);
        value_notes(copy)[i] = value_notes(from)[i];
    }
    if (has_all) return copy;
    value_free(copy);
    return NULL;
}

static struct value *copy_own(const struct value *from)
{
    struct failure failure;
    size_t size_bytes;
    uint8_t *header = value_header(from, &size_bytes);
    if (!header) return NULL;
    struct value *copy = value_open(header, size_bytes, 0, from->unlimited, &failure);
    server.Free(header);
    for (uint32_t i = 0; copy && i < value_layers(from); i++) {
        uint64_t size;
        const uint8_t *bits = value_bits(from, i, &size);
        if (petal_write_bits(value_filter(copy), i, 0, bits, size, NULL) == PETAL_OK) continue;
        value_free(copy);
        copy = NULL;
    }
    return copy;
}

struct value *value_copy(const struct value *from)
{
    return from->classic ? copy_classic(from) : copy_own(from);
}

int value_replace(struct value *value, petal_filter *filter)
{
    petal_info before = value_info(value, PETAL_ALL_LAYERS), after = PETAL_INFO_INIT;
    petal_get_info(filter, PETAL_ALL_LAYERS, &after, NULL);
    int is_other = after.bits != before.bits;
    petal_free(is_other ? value->handle->filter : filter);
    if (!is_other) return 0;
    value->handle->filter = filter;
    value->kind = KIND_UNKNOWN;
    return 1;
}

/* ---- handles --------------------------------------------------------------------------------- */

/* Creates the shared handle for these options, from the header of the smallest filter. */
static int make_handle(uint32_t options)
{
    struct failure failure;
    size_t size_bytes;
    const struct bloom_plan plan = {.rate = 0.5, .capacity = 1, .expansion = 1};
    struct value *value = value_create_bloom(&plan, 1, &failure);
    if (!value) return 0;
    value->options = options;
    uint8_t *header = value_header(value, &size_bytes);
    int is_made = handle_make(options, header, size_bytes);
    server.Free(header);
    value_free(value);
    return is_made;
}

int value_make_handles(void)
{
    int good = handle_make_valkey();
    for (uint32_t i = 0; good && i < 4; i++)
        good = make_handle(BLOOM_NO_ROUND | (i & 1 ? BLOOM_FORCE64 : 0) |
                           (i & 2 ? BLOOM_NO_SCALING : 0));
    return good;
}
