/* value.c - see value.h.
 *
 * The header of a classic filter, little-endian and packed (docs/formats/redisbloom.md):
 *
 *     keys 8, layers 4, options 4, growth 4
 *     per layer: bytes 8, bits 8, keys 8, error f64, bits per entry f64, hashes 4, capacity 8, n2 1
 */
#include "value.h"

#include "config.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct totals totals;

/* ---- life ------------------------------------------------------------------------------------ */

int value_over_limit(const struct value *value, uint64_t more_bytes)
{
    uint64_t limit = (uint64_t)config.memory_limit,
             held = value->bytes + value->handle->bytes - value->handle->bare_bytes;
    return limit && !value->unlimited && (more_bytes > limit || held > limit - more_bytes);
}

static struct value *new_value(int classic, int unlimited)
{
    struct value *value = memory_zeroed(sizeof *value);
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

void value_free(void *memory)
{
    struct value *value = memory;
    if (!value) return;
    if (value->states) {
        handle_detach(value->handle, value);
        for (uint32_t i = 0; i < value->handle->layers; i++)
            memory_free(value->states[i].memory, (size_t)value->states[i].memory_bytes);
        server.Free(value->states);
    }
    if (value->handle) handle_release(value->handle);
    atomic_fetch_sub(&totals.filters, 1);
    memory_free(value, sizeof *value);
}

uint64_t value_bytes(const struct value *value)
{
    if (!value->states) return sizeof *value + sizeof *value->handle + value->handle->bytes;
    return sizeof *value + value->handle->layers * sizeof *value->states + value->bytes;
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

void value_fail_limit(struct failure *failure, uint64_t bytes)
{
    failure->error = (petal_error){.status = PETAL_ERR_LIMIT};
    snprintf(failure->line, sizeof failure->line,
             "ERR petal: the filter takes %llu bytes, and bf.memory-limit is %llu; raise it, or "
             "plan a smaller filter",
             (unsigned long long)bytes, (unsigned long long)config.memory_limit);
}

/* ---- headers --------------------------------------------------------------------------------- */

static void store32(uint8_t *to, uint32_t value)
{
    for (int i = 0; i < 4; i++) to[i] = (uint8_t)(value >> 8 * i);
}

static void store64(uint8_t *to, uint64_t value)
{
    for (int i = 0; i < 8; i++) to[i] = (uint8_t)(value >> 8 * i);
}

/* Places in a header, and in the part of a layer. */
enum { BLOOM_KEYS = 0, BLOOM_OPTIONS = 12, BLOOM_GROWTH = 16, BLOOM_LAYER_KEYS = 16 };

static uint32_t load32(const uint8_t *from)
{
    uint32_t value = 0;
    for (int i = 0; i < 4; i++) value |= (uint32_t)from[i] << 8 * i;
    return value;
}

static void store_double(uint8_t *to, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    store64(to, bits);
}

/* RedisBloom's sizing, with its constants of fifteen digits. False if no filter is that big. */
static int plan_header(const struct bloom_plan *plan, uint8_t *header)
{
    double error = plan->no_scaling ? plan->rate : plan->rate * 0.5;
    double bits_per_entry = -(log(error) / 0.480453013918201);
    double bits = floor((double)plan->capacity * bits_per_entry);
    double hashes = ceil(0.693147180559945 * bits_per_entry);
    if (!(error > 0) || !(bits < 0x1p48) || !(hashes >= 1 && hashes <= 1024)) return 0;
    uint64_t bytes = bits < 1 ? 8 : ((uint64_t)bits + 63) / 64 * 8;
    memset(header, 0, BLOOM_HEAD_BYTES + BLOOM_LAYER_BYTES);
    store32(header + 8, 1);
    store32(header + 12,
            BLOOM_NO_ROUND | BLOOM_FORCE64 | (plan->no_scaling ? BLOOM_NO_SCALING : 0));
    store32(header + 16, (uint32_t)plan->expansion);
    uint8_t *layer = header + BLOOM_HEAD_BYTES;
    store64(layer, bytes);
    store64(layer + 8, 8 * bytes);
    store_double(layer + 24, error);
    store_double(layer + 32, bits_per_entry);
    store32(layer + 40, (uint32_t)hashes);
    store64(layer + 44, (uint64_t)plan->capacity);
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
    options.memory_limit = UINT64_MAX; /* the allocator has the limit */
    options.format = "petal";
    options.secret = value_secret(header, size_bytes);
    return petal_load(header, size_bytes, &options, &value->handle->filter, error);
}

static petal_status open_shared(struct value *value, const void *header, size_t size_bytes,
                                petal_error *error)
{
    value->handle = handle_share(header, size_bytes, &value->states, error);
    return value->handle ? PETAL_OK : error->status;
}

struct value *value_open(const void *header, size_t size_bytes, int classic, int unlimited,
                         struct failure *failure)
{
    struct value *value = classic ? new_value(1, unlimited) : value_new(unlimited);
    failure->line[0] = 0;
    if (!value) {
        fail(failure, PETAL_ERR_MEMORY, "ERR Insufficient memory to create filter");
        return NULL;
    }
    petal_status status = classic ? open_shared(value, header, size_bytes, &failure->error)
                                  : open_own(value, header, size_bytes, &failure->error);
    if (status == PETAL_OK) return value;
    value_free(value);
    return NULL;
}

struct value *value_from_header(const void *header, size_t size_bytes, int unlimited,
                                struct failure *failure)
{
    struct value *value = value_open(header, size_bytes, 1, unlimited, failure);
    if (!value) return NULL;
    uint64_t bytes = value_info(value, PETAL_ALL_LAYERS).bytes;
    petal_status status = value_over_limit(value, bytes) ? PETAL_ERR_LIMIT : PETAL_OK;
    for (uint32_t i = 0; status == PETAL_OK && i < value_layers(value); i++)
        status = petal_write_bits(value_filter(value), i, 0, "", 0, &failure->error);
    value_settle(value);
    if (status == PETAL_OK) return value;
    if (status == PETAL_ERR_LIMIT || value->refused)
        value_fail_limit(failure, bytes);
    else
        fail(failure, status, "ERR Insufficient memory to create filter");
    value_free(value);
    return NULL;
}

struct value *value_create_bloom(const struct bloom_plan *plan, int unlimited,
                                 struct failure *failure)
{
    uint8_t header[BLOOM_HEAD_BYTES + BLOOM_LAYER_BYTES];
    if (plan_header(plan, header)) {
        struct value *value = value_from_header(header, sizeof header, unlimited, failure);
        if (value || failure->line[0]) return value;
    }
    fail(failure, PETAL_ERR_LIMIT, "ERR could not create filter");
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
    petal_status status = petal_plan(options, &plan, &failure->error);
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

static enum value_kind find_kind(const struct value *value)
{
    petal_info info = value_info(value, PETAL_ALL_LAYERS);
    if (info.policy == PETAL_POLICY_WINDOW_TIME) return KIND_WINDOW_OF_TIME;
    if (info.abilities & PETAL_CAN_WINDOW) return KIND_WINDOW;
    if (value->classic || info.abilities & PETAL_CAN_GROW || info.layers > 1) return KIND_GROWING;
    return info.counter_bits ? KIND_COUNTING : KIND_FIXED;
}

/* Found out once: it is asked for each command, and never changes. */
enum value_kind value_kind(struct value *value)
{
    if (value->kind == KIND_UNKNOWN) value->kind = (uint8_t)find_kind(value);
    return value->kind;
}

uint32_t value_layers(const struct value *value)
{
    return value->states ? value->handle->layers : value_info(value, PETAL_ALL_LAYERS).layers;
}

/* The handle is left to whose it is: a child process that saves all values should not change any,
 * which would be as many copied pages. */
const uint8_t *value_bits(const struct value *value, uint32_t layer, uint64_t *size_bytes)
{
    const void *bits = NULL;
    if (value_is_current(value)) {
        petal_bits(value->handle->filter, layer, &bits, size_bytes, NULL);
        return bits;
    }
    *size_bytes = value->states[layer].memory_bytes;
    return value->states[layer].memory;
}

static uint64_t items_of(const struct value *value, uint32_t layer)
{
    return value_is_current(value) ? value_info(value, layer).items : value->states[layer].items;
}

uint32_t value_options(const struct value *value)
{
    return load32(value->handle->header + BLOOM_OPTIONS);
}

uint32_t value_growth(const struct value *value)
{
    return load32(value->handle->header + BLOOM_GROWTH);
}

/* The layer may be shorter than the string that an old server stored: whole words of 64 bits. */
petal_status value_adopt(struct value *value, uint32_t layer, void *bytes, size_t size_bytes,
                         petal_error *error)
{
    petal_status status = petal_adopt_bits(value_filter(value), layer, bytes, size_bytes, error);
    if (status == PETAL_OK) {
        memory_take(bytes, size_bytes);
        value->bytes += size_bytes;
        return PETAL_OK;
    }
    uint64_t layer_bytes = (value_info(value, layer).bits + 7) / 8;
    if (status != PETAL_ERR_ARGUMENT || !value->classic || size_bytes < layer_bytes) return status;
    for (uint64_t i = layer_bytes; i < size_bytes; i++)
        if (((const uint8_t *)bytes)[i]) return status;
    status = petal_write_bits(value_filter(value), layer, 0, bytes, layer_bytes, error);
    value_settle(value);
    if (status == PETAL_OK) server.Free(bytes);
    return status;
}

/* ---- growth ---------------------------------------------------------------------------------- */

/* The first bytes of an image. */
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

/* It has more layers than others with this handle, so it goes to those that have as many. */
static void regroup(struct value *value, uint32_t layers)
{
    uint8_t header[BLOOM_MAX_HEADER_BYTES];
    struct beginning to = {header, 0, BLOOM_HEAD_BYTES + layers * BLOOM_LAYER_BYTES};
    struct handle *old = value->handle;
    petal_layer_state *states = server.Alloc(layers * sizeof *states), *counts;
    petal_error error;
    petal_write(old->filter, "redisbloom", take, &to, NULL);
    memset(states, 0, layers * sizeof *states);
    petal_swap_layers(old->filter, states, layers, NULL);
    old->current = NULL;
    handle_renew(old);
    value->handle = handle_share(header, to.size_bytes, &counts, &error);
    server.Free(counts); /* which are those in the states */
    server.Free(value->states);
    value->states = states;
    value->bytes = 0;
    for (uint32_t i = 0; i < layers; i++) value->bytes += states[i].memory_bytes;
    handle_release(old);
}

void value_settle(struct value *value)
{
    struct handle *handle = value->handle;
    if (!value->states || handle->bytes == handle->bare_bytes) return;
    uint32_t layers = value_info(value, PETAL_ALL_LAYERS).layers;
    if (layers != handle->layers) {
        regroup(value, layers);
    } else {
        value->bytes += handle->bytes - handle->bare_bytes;
        handle->bytes = handle->bare_bytes;
    }
}

/* ---- out, and in again ----------------------------------------------------------------------- */

/* How long the header of a petal file is: as docs/hosts.md says, by opening what there is. */
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
        petal_write(value->handle->filter, "petal", take, &to, NULL);
        *size_bytes = to.size_bytes;
        size_t needed = petal_header_bytes(bytes, *size_bytes);
        if (*size_bytes == room && needed <= room) return bytes;
        server.Free(bytes);
        if (needed <= room) return NULL; /* it has no header: it cannot be written */
        room = needed;
    }
}

static uint8_t *layer_keys(uint8_t *header, uint32_t layer)
{
    return header + BLOOM_HEAD_BYTES + (size_t)layer * BLOOM_LAYER_BYTES + BLOOM_LAYER_KEYS;
}

void header_clear_counts(uint8_t *header, uint32_t layers)
{
    store64(header + BLOOM_KEYS, 0);
    for (uint32_t i = 0; i < layers; i++) store64(layer_keys(header, i), 0);
}

static uint8_t *classic_header(const struct value *value, size_t *size_bytes)
{
    const struct handle *handle = value->handle;
    uint8_t *header = server.Alloc(handle->header_bytes);
    uint64_t sum = 0;
    *size_bytes = handle->header_bytes;
    memcpy(header, handle->header, *size_bytes);
    for (uint32_t i = 0; i < handle->layers; i++) {
        uint64_t items = items_of(value, i);
        store64(layer_keys(header, i), items);
        sum += items;
    }
    store64(header + BLOOM_KEYS, sum);
    return header;
}

uint8_t *value_header(const struct value *value, size_t *size_bytes)
{
    return value->states ? classic_header(value, size_bytes) : petal_header(value, size_bytes);
}

struct value *value_copy(const struct value *from)
{
    struct failure failure;
    size_t size_bytes;
    uint8_t *header = value_header(from, &size_bytes);
    if (!header) return NULL;
    struct value *copy = value_open(header, size_bytes, from->classic, from->unlimited, &failure);
    server.Free(header);
    for (uint32_t i = 0; copy && i < value_layers(from); i++) {
        uint64_t layer_bytes;
        const uint8_t *bits = value_bits(from, i, &layer_bytes);
        petal_status status = petal_write_bits(value_filter(copy), i, 0, bits, layer_bytes, NULL);
        value_settle(copy);
        if (status == PETAL_OK) continue;
        value_free(copy);
        copy = NULL;
    }
    return copy;
}
