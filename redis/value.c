/* value.c - see value.h.
 *
 * The header of a classic filter, little-endian and packed (docs/formats/redisbloom.md):
 *
 *     keys 8, layers 4, options 4, growth 4
 *     per layer: bytes 8, bits 8, keys 8, error f64, bits per entry f64, hashes 4, capacity 8, n2 1
 */
#define _DEFAULT_SOURCE /* madvise() */
#include "value.h"

#include "config.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

struct totals totals;

/* ---- memory ---------------------------------------------------------------------------------- */

int value_over_limit(const struct value *value, uint64_t more_bytes)
{
    uint64_t limit = (uint64_t)config.memory_limit;
    return limit && !value->unlimited && (more_bytes > limit || value->bytes > limit - more_bytes);
}

/* Pages of 2 MiB for big arrays, whose bits are read at random: with small ones each costs a walk
 * through page tables, too. It is a wish, which the system or the server (disable-thp) may refuse;
 * it is taken back before the memory becomes something else's. What is written to while a child
 * saves is copied in pages of 4 KiB all the same (Linux 5.8 and later). */
enum { HUGE_PAGE_BYTES = 2 << 20 };
static void want_huge_pages(void *memory, size_t size_bytes, int wanted)
{
#ifdef MADV_HUGEPAGE /* Linux */
    uintptr_t page = HUGE_PAGE_BYTES, begin = (uintptr_t)memory;
    uintptr_t from = (begin + page - 1) & ~(page - 1), to = (begin + size_bytes) & ~(page - 1);
    if (memory && from < to)
        (void)madvise((void *)from, to - from, wanted ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
#endif
}

/* Zeroed. TryCalloc, where there is one, leaves big arrays untouched; all three count for
 * maxmemory. */
static void *server_zeroed(size_t size_bytes)
{
    if (server.TryCalloc) {
        void *zeroed = server.TryCalloc(1, size_bytes);
        want_huge_pages(zeroed, size_bytes, 1);
        return zeroed;
    }
    void *memory = server.TryAlloc ? server.TryAlloc(size_bytes) : server.Alloc(size_bytes);
    want_huge_pages(memory, size_bytes, 1);
    return memory ? memset(memory, 0, size_bytes) : NULL;
}

static void *alloc_zeroed(void *context, size_t size_bytes)
{
    struct value *value = context;
    value->refused = (uint8_t)value_over_limit(value, size_bytes);
    void *memory = value->refused ? NULL : server_zeroed(size_bytes);
    if (!memory) return NULL;
    value->bytes += size_bytes;
    atomic_fetch_add(&totals.bytes, size_bytes);
    return memory;
}

static void release(void *context, void *memory, size_t size_bytes)
{
    struct value *value = context;
    value->bytes -= size_bytes;
    atomic_fetch_sub(&totals.bytes, size_bytes);
    want_huge_pages(memory, size_bytes, 0);
    server.Free(memory);
}

petal_allocator value_allocator(struct value *value)
{
    return (petal_allocator){alloc_zeroed, release, value};
}

struct value *value_new(int classic, int unlimited)
{
    struct value *value = server_zeroed(sizeof *value);
    if (!value) return NULL;
    value->classic = (uint8_t)classic;
    value->unlimited = (uint8_t)unlimited;
    atomic_fetch_add(&totals.filters, 1);
    return value;
}

void value_free(void *memory)
{
    struct value *value = memory;
    if (!value) return;
    petal_free(value->filter);
    atomic_fetch_sub(&totals.filters, 1);
    server.Free(value);
}

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
    options.flags = PETAL_OPEN_HEADER;
    petal_status status = petal_load(header, size_bytes, &options, &filter, NULL);
    petal_free(filter);
    return status == PETAL_ERR_SECRET_MISSING ? config_secret() : NULL;
}

struct value *value_open(const void *header, size_t size_bytes, int classic, int unlimited,
                         struct failure *failure)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    struct value *value = value_new(classic, unlimited);
    failure->line[0] = 0;
    if (!value) {
        fail(failure, PETAL_ERR_MEMORY, "ERR Insufficient memory to create filter");
        return NULL;
    }
    petal_allocator allocator = value_allocator(value);
    options.flags = PETAL_OPEN_HEADER;
    options.allocator = &allocator;
    options.memory_limit = UINT64_MAX; /* the allocator has the limit */
    options.format = classic ? "redisbloom" : "petal";
    options.secret = value_secret(header, size_bytes);
    if (classic && size_bytes >= BLOOM_HEAD_BYTES) {
        value->options = load32((const uint8_t *)header + 12);
        value->growth = load32((const uint8_t *)header + 16);
    }
    if (petal_load(header, size_bytes, &options, &value->filter, &failure->error) == PETAL_OK)
        return value;
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
        status = petal_write_bits(value->filter, i, 0, "", 0, &failure->error);
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
    struct value *value = value_new(0, unlimited);
    failure->line[0] = 0;
    if (!value) {
        fail(failure, PETAL_ERR_MEMORY, "ERR Insufficient memory to create filter");
        return NULL;
    }
    petal_allocator allocator = value_allocator(value);
    petal_status status = petal_plan(options, &plan, &failure->error);
    options->allocator = &allocator;
    if (status == PETAL_OK && value_over_limit(value, plan.bytes)) {
        value_fail_limit(failure, plan.bytes);
        status = PETAL_ERR_LIMIT;
    }
    if (status == PETAL_OK) status = petal_create(options, &value->filter, &failure->error);
    options->allocator = NULL;
    if (status == PETAL_OK) return value;
    value_free(value);
    return NULL;
}

/* ---- inside ---------------------------------------------------------------------------------- */

petal_info value_info(const struct value *value, uint32_t layer)
{
    petal_info info = PETAL_INFO_INIT;
    petal_get_info(value->filter, layer, &info, NULL);
    return info;
}

uint32_t value_layers(const struct value *value)
{
    return value_info(value, PETAL_ALL_LAYERS).layers;
}

const uint8_t *value_bits(const struct value *value, uint32_t layer, uint64_t *size_bytes)
{
    const void *bits = NULL;
    petal_bits(value->filter, layer, &bits, size_bytes, NULL);
    return bits;
}

/* The layer may be shorter than the string that an old server stored: whole words of 64 bits. */
petal_status value_adopt(struct value *value, uint32_t layer, void *bytes, size_t size_bytes,
                         petal_error *error)
{
    petal_status status = petal_adopt(value->filter, layer, bytes, size_bytes, error);
    if (status == PETAL_OK) {
        want_huge_pages(bytes, size_bytes, 1); /* the system makes them of small ones, in time */
        value->bytes += size_bytes;
        atomic_fetch_add(&totals.bytes, size_bytes);
        return PETAL_OK;
    }
    uint64_t layer_bytes = (value_info(value, layer).bits + 7) / 8;
    if (status != PETAL_ERR_ARGUMENT || !value->classic || size_bytes < layer_bytes) return status;
    for (uint64_t i = layer_bytes; i < size_bytes; i++)
        if (((const uint8_t *)bytes)[i]) return status;
    status = petal_write_bits(value->filter, layer, 0, bytes, layer_bytes, error);
    if (status == PETAL_OK) server.Free(bytes);
    return status;
}

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

/* How long the header of a petal file is: as docs/hosts.md says, by opening what there is. */
static size_t petal_header_bytes(const uint8_t *bytes, size_t size_bytes)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    petal_filter *filter = NULL;
    petal_error error = {0};
    options.flags = PETAL_OPEN_HEADER;
    options.secret = value_secret(bytes, size_bytes);
    petal_status status = petal_load(bytes, size_bytes, &options, &filter, &error);
    petal_free(filter);
    return status == PETAL_ERR_TRUNCATED ? (size_t)error.offset : size_bytes;
}

uint8_t *value_header(const struct value *value, size_t *size_bytes)
{
    size_t room =
        value->classic ? BLOOM_HEAD_BYTES + value_layers(value) * BLOOM_LAYER_BYTES : 1024;
    for (;;) {
        uint8_t *bytes = server_zeroed(room);
        if (!bytes) return NULL;
        struct beginning to = {bytes, 0, room};
        petal_write(value->filter, value->classic ? "redisbloom" : "petal", take, &to, NULL);
        *size_bytes = to.size_bytes;
        size_t needed = value->classic ? room : petal_header_bytes(bytes, *size_bytes);
        if (*size_bytes == room && needed <= room) return bytes;
        server.Free(bytes);
        if (needed <= room) return NULL; /* it has no header: it cannot be written */
        room = needed;
    }
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
        if (petal_write_bits(copy->filter, i, 0, bits, layer_bytes, NULL) == PETAL_OK) continue;
        value_free(copy);
        copy = NULL;
    }
    return copy;
}
