/* handle.c - see handle.h. */
#include "handle.h"

#include <stdlib.h>
#include <string.h>

/* ---- of one value ---------------------------------------------------------------------------- */

static void *alloc_limited(void *context, size_t size_bytes)
{
    struct handle *handle = context;
    if (!handle->value->unlimited && memory_over_limit(handle->bytes, size_bytes)) {
        handle->value->refused = 1; /* stays set even if a smaller allocation succeeds later */
        return NULL;
    }
    void *memory = memory_zeroed(size_bytes);
    if (memory) handle->bytes += server.MallocSize(memory);
    return memory;
}

static void release(void *context, void *memory, size_t size_bytes)
{
    struct handle *handle = context;
    handle->bytes -= server.MallocSize(memory);
    memory_free(memory, size_bytes);
}

petal_allocator handle_allocator(struct handle *handle)
{
    return (petal_allocator){alloc_limited, release, handle};
}

struct handle *handle_own(struct value *value)
{
    struct handle *handle = memory_zeroed(sizeof *handle);
    if (handle) handle->value = value;
    return handle;
}

void handle_free(struct handle *handle)
{
    if (!handle) return;
    petal_free(handle->filter);
    memory_free(handle, sizeof *handle);
}

/* ---- of all classic values ------------------------------------------------------------------- */

static struct lent {
    petal_filter *filter;
    const struct value *_Atomic current; /* the value whose layers were lent to it, or NULL */
} lent[5];                               /* indexed by two bits: one for 64-bit hashes, and one for
                                          * NONSCALING */
enum { LENT_VALKEY = 4 };

static struct lent *lent_by(uint32_t options)
{
    uint32_t wide = (options & BLOOM_FORCE64) != 0, fixed = (options & BLOOM_NO_SCALING) != 0;
    return &lent[wide + 2 * fixed];
}

static struct lent *lent_for(const struct value *value)
{
    return value->classic == CLASSIC_VALKEY ? &lent[LENT_VALKEY] : lent_by(value->options);
}

/* This is used only for memory that the module can't do without: like the server, it aborts if
 * memory runs out. */
static void *alloc(void *context, size_t size_bytes)
{
    (void)context;
    return memset(server.Alloc(size_bytes), 0, size_bytes);
}

static void release_plainly(void *context, void *memory, size_t size_bytes)
{
    (void)context;
    (void)size_bytes;
    server.Free(memory);
}

petal_status header_open(const void *header, size_t size_bytes, petal_filter **filter,
                         petal_error *error)
{
    static const petal_allocator allocator = {alloc, release_plainly, NULL};
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    options.flags = PETAL_OPEN_HEADER_ONLY;
    options.allocator = &allocator;
    options.memory_limit = UINT64_MAX; /* no bits are allocated */
    options.format = "redisbloom";
    return petal_load(header, size_bytes, &options, filter, error);
}

int handle_make(uint32_t options, const void *header, size_t size_bytes)
{
    return header_open(header, size_bytes, &lent_by(options)->filter, NULL) == PETAL_OK;
}

/* The smallest valkey-bloom filter, as BF.LOAD accepts it: one layer of one byte. */
enum { SMALLEST_BYTES = 100, AT_SEED = 51 };
static struct {
    uint8_t bytes[SMALLEST_BYTES];
    uint8_t fixed_seed[32];
} valkey;

const uint8_t *handles_fixed_seed(void)
{
    return valkey.fixed_seed;
}

static int32_t take(void *context, const void *bytes, size_t size_bytes)
{
    size_t *filled = context;
    if (size_bytes > SMALLEST_BYTES - *filled) return 1;
    memcpy(valkey.bytes + *filled, bytes, size_bytes);
    *filled += size_bytes;
    return 0;
}

static petal_status open_smallest(void)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    static const petal_allocator allocator = {alloc, release_plainly, NULL};
    options.allocator = &allocator;
    options.format = "valkey-bloom";
    return petal_load(valkey.bytes, sizeof valkey.bytes, &options, &lent[LENT_VALKEY].filter, NULL);
}

int handle_make_valkey(void)
{
    petal_options options = PETAL_OPTIONS_INIT;
    petal_save_options as_valkey = PETAL_SAVE_OPTIONS_INIT;
    petal_filter *filter = NULL;
    size_t filled = 0;
    options.format = as_valkey.format = "valkey-bloom";
    options.capacity = 1;
    options.rate = 0.5;
    petal_status status = petal_create(&options, &filter, NULL);
    if (status == PETAL_OK) status = petal_write(filter, &as_valkey, take, &filled, NULL);
    petal_free(filter);
    memcpy(valkey.fixed_seed, valkey.bytes + AT_SEED, sizeof valkey.fixed_seed);
    return status == PETAL_OK && filled == SMALLEST_BYTES && open_smallest() == PETAL_OK;
}

/* A filter's seed can't be changed, so the handle is recreated. */
static void reseed(const struct value *value)
{
    const struct valkey_value *more = (const struct valkey_value *)(const void *)value;
    if (!memcmp(valkey.bytes + AT_SEED, more->seed, sizeof more->seed)) return;
    petal_free(lent[LENT_VALKEY].filter);
    memcpy(valkey.bytes + AT_SEED, more->seed, sizeof more->seed);
    if (open_smallest() != PETAL_OK) abort();
}

petal_filter *handle_lend(struct value *value)
{
    struct lent *to = lent_for(value);
    if (atomic_load_explicit(&to->current, memory_order_acquire) == value) return to->filter;
    if (to == &lent[LENT_VALKEY]) reseed(value);
    /* Lending fails only for sizes that no value has. */
    if (petal_lend(to->filter, value->layers, value->layer_count, NULL) != PETAL_OK) abort();
    atomic_store_explicit(&to->current, value, memory_order_release);
    return to->filter;
}

/* Also called by another thread, for a value that it frees. By then the value is no longer in use,
 * and its memory is not reused before this returns. */
void handle_forget(const struct value *value)
{
    const struct value *current = value;
    atomic_compare_exchange_strong(&lent_for(value)->current, &current, NULL);
}
