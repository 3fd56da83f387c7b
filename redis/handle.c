/* handle.c - see handle.h. */
#define _DEFAULT_SOURCE /* madvise() */
#include "handle.h"

#include "config.h"
#include "value.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- memory ---------------------------------------------------------------------------------- */

/* Pages of 2 MiB (bf.huge-pages). Bits are read at random, and with small pages each read walks
 * through page tables, too. But the first key that touches such a page waits until 2 MiB are
 * zeroed, or until the system has made room for them: 170 ms were seen. */
enum { HUGE_PAGE_BYTES = 2 << 20 };
static void want_huge_pages(void *memory, size_t size_bytes, int wanted)
{
#ifdef MADV_HUGEPAGE /* Linux */
    uintptr_t page = HUGE_PAGE_BYTES, begin = (uintptr_t)memory;
    uintptr_t from = (begin + page - 1) & ~(page - 1), to = (begin + size_bytes) & ~(page - 1);
    if (config.huge_pages && memory && from < to)
        (void)madvise((void *)from, to - from, wanted ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
#endif
}

/* From here on the system is told to drop the pages, which come back as zeros when they are
 * touched: writing the zeros stops the server for seconds per gigabyte. */
enum { DROPPED_BYTES = 256 << 10 };

/* Whole pages. False: they are as they were. */
static int drop_pages(uintptr_t from, uintptr_t to)
{
#ifdef __linux__ /* elsewhere dropped pages may keep what they had */
    return madvise((void *)from, to - from, MADV_DONTNEED) == 0;
#else
    return from == to;
#endif
}

static void *clear(void *memory, size_t size_bytes)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)memory,
              end = begin + size_bytes, from = (begin + page - 1) & ~(page - 1),
              to = end & ~(page - 1);
    if (size_bytes < DROPPED_BYTES || !drop_pages(from, to)) return memset(memory, 0, size_bytes);
    memset(memory, 0, from - begin);
    memset((void *)to, 0, end - to);
    return memory;
}

/* Redis 7.0 has no TryCalloc, and its Calloc ends the server where there is no memory. All of these
 * count for maxmemory. */
static void *server_zeroed(size_t size_bytes)
{
    if (server.TryCalloc) return server.TryCalloc(1, size_bytes);
    void *memory = server.TryAlloc ? server.TryAlloc(size_bytes) : server.Alloc(size_bytes);
    return memory ? clear(memory, size_bytes) : NULL;
}

void *memory_zeroed(size_t size_bytes)
{
    void *memory = server_zeroed(size_bytes);
    if (memory) memory_take(memory, size_bytes);
    return memory;
}

void memory_free(void *memory, size_t size_bytes)
{
    if (!memory) return;
    atomic_fetch_sub(&totals.bytes, size_bytes);
    want_huge_pages(memory, size_bytes, 0); /* or it stays so when it is somebody else's */
    server.Free(memory);
}

void memory_take(void *memory, size_t size_bytes)
{
    want_huge_pages(memory, size_bytes, 1);
    atomic_fetch_add(&totals.bytes, size_bytes);
}

/* ---- of one value ---------------------------------------------------------------------------- */

static void *alloc_limited(void *context, size_t size_bytes)
{
    struct handle *handle = context;
    handle->value->refused = (uint8_t)value_over_limit(handle->value, size_bytes);
    if (handle->value->refused) return NULL;
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
    const struct value *_Atomic current; /* whose layers it has; NULL: nobody's */
} lent[5];                               /* two bits: with 64-bit hashes, and NONSCALING */
enum { LENT_VALKEY = 4 };

static struct lent *lent_for(const struct value *value)
{
    if (value->classic == CLASSIC_VALKEY) return &lent[LENT_VALKEY];
    uint32_t wide = (value->options & BLOOM_FORCE64) != 0,
             fixed = (value->options & BLOOM_NO_SCALING) != 0;
    return &lent[wide + 2 * fixed];
}

/* As little as must be there: like the server, the module does not go on without. */
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

/* By the header of the smallest filter. */
static int make_lent(struct lent *to, uint32_t options)
{
    struct failure failure;
    size_t size_bytes;
    const struct bloom_plan plan = {.rate = 0.5, .capacity = 1, .expansion = 1};
    struct value *value = value_create_bloom(&plan, 1, &failure);
    if (!value) return 0;
    value->options = options;
    uint8_t *header = value_header(value, &size_bytes);
    petal_status status = header_open(header, size_bytes, &to->filter, NULL);
    server.Free(header);
    value_free(value);
    return status == PETAL_OK;
}

/* The smallest filter of valkey-bloom's, as BF.LOAD takes it: one layer of one byte. */
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

static int make_valkey(void)
{
    petal_options options = PETAL_OPTIONS_INIT;
    petal_filter *filter = NULL;
    size_t filled = 0;
    options.format = "valkey-bloom";
    options.capacity = 1;
    options.rate = 0.5;
    petal_status status = petal_create(&options, &filter, NULL);
    if (status == PETAL_OK) status = petal_write(filter, "valkey-bloom", take, &filled, NULL);
    petal_free(filter);
    memcpy(valkey.fixed_seed, valkey.bytes + AT_SEED, sizeof valkey.fixed_seed);
    return status == PETAL_OK && filled == SMALLEST_BYTES && open_smallest() == PETAL_OK;
}

/* The seed is part of a filter from its beginning. */
static void reseed(const struct value *value)
{
    const struct valkey_value *more = (const struct valkey_value *)(const void *)value;
    if (!memcmp(valkey.bytes + AT_SEED, more->seed, sizeof more->seed)) return;
    petal_free(lent[LENT_VALKEY].filter);
    memcpy(valkey.bytes + AT_SEED, more->seed, sizeof more->seed);
    if (open_smallest() != PETAL_OK) abort();
}

int handles_make(void)
{
    if (!make_valkey()) return 0;
    for (uint32_t i = 0; i < 4; i++)
        if (!make_lent(&lent[i], BLOOM_NO_ROUND | (i & 1 ? BLOOM_FORCE64 : 0) |
                                     (i & 2 ? BLOOM_NO_SCALING : 0)))
            return 0;
    return 1;
}

petal_filter *handle_lend(struct value *value)
{
    struct lent *to = lent_for(value);
    if (atomic_load_explicit(&to->current, memory_order_acquire) == value) return to->filter;
    if (to == &lent[LENT_VALKEY]) reseed(value);
    /* It could only fail for sizes that no value is made with. */
    if (petal_lend(to->filter, value->layers, value->layer_count, NULL) != PETAL_OK) abort();
    atomic_store_explicit(&to->current, value, memory_order_release);
    return to->filter;
}

/* Another thread does so for a value that it frees: one that is not used any more, and whose memory
 * becomes another value's only afterwards. */
void handle_forget(const struct value *value)
{
    const struct value *current = value;
    atomic_compare_exchange_strong(&lent_for(value)->current, &current, NULL);
}
