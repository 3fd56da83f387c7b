/* handle.c - see handle.h. */
#define _DEFAULT_SOURCE /* madvise() */
#include "handle.h"

#include "value.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

/* ---- memory ---------------------------------------------------------------------------------- */

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

/* TryCalloc, where there is one, leaves big arrays untouched; all three count for maxmemory. */
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

void *memory_zeroed(size_t size_bytes)
{
    void *memory = server_zeroed(size_bytes);
    if (memory) atomic_fetch_add(&totals.bytes, size_bytes);
    return memory;
}

void memory_free(void *memory, size_t size_bytes)
{
    if (!memory) return;
    atomic_fetch_sub(&totals.bytes, size_bytes);
    want_huge_pages(memory, size_bytes, 0);
    server.Free(memory);
}

void memory_take(void *memory, size_t size_bytes)
{
    want_huge_pages(memory, size_bytes, 1); /* the system makes them of small ones, in time */
    atomic_fetch_add(&totals.bytes, size_bytes);
}

/* ---- one handle ------------------------------------------------------------------------------ */

/* The limit is that of values. Without one it is for the handle alone, as little as must be there:
 * like the server, the module does not go on without. */
static void *alloc_zeroed(void *context, size_t size_bytes)
{
    struct handle *handle = context;
    struct value *value = atomic_load_explicit(&handle->current, memory_order_relaxed);
    if (value) value->refused = (uint8_t)value_over_limit(value, size_bytes);
    if (value && value->refused) return NULL;
    void *memory = memory_zeroed(size_bytes);
    if (!memory && !value) {
        memory = memset(server.Alloc(size_bytes), 0, size_bytes);
        memory_take(memory, size_bytes);
    }
    if (memory) handle->bytes += size_bytes;
    return memory;
}

static void release(void *context, void *memory, size_t size_bytes)
{
    struct handle *handle = context;
    handle->bytes -= size_bytes;
    memory_free(memory, size_bytes);
}

petal_allocator handle_allocator(struct handle *handle)
{
    return (petal_allocator){alloc_zeroed, release, handle};
}

struct handle *handle_own(struct value *value)
{
    struct handle *handle = memory_zeroed(sizeof *handle);
    if (handle) handle->current = value;
    return handle;
}

static petal_status open_header(struct handle *handle, const void *header, size_t size_bytes,
                                petal_error *error)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    petal_allocator allocator = handle_allocator(handle);
    options.flags = PETAL_OPEN_HEADER_ONLY;
    options.allocator = &allocator;
    options.memory_limit = UINT64_MAX; /* the allocator has the limit */
    options.format = "redisbloom";
    petal_status status = petal_load(header, size_bytes, &options, &handle->filter, error);
    handle->bare_bytes = handle->bytes;
    return status;
}

void handle_renew(struct handle *handle)
{
    petal_free(handle->filter);
    handle->bytes = 0; /* the bits of the new layer are not its own any more */
    open_header(handle, handle->header, handle->header_bytes, NULL); /* as it did before */
}

static void free_handle(struct handle *handle)
{
    petal_free(handle->filter);
    memory_free(handle, sizeof *handle + handle->header_bytes);
}

/* ---- shared handles -------------------------------------------------------------------------- */

/* By their headers; used by the main thread alone. */
static struct {
    struct handle **slots;
    size_t room, count;
} table;

/* FNV-1a. */
static struct handle **slot_of(const uint8_t *header, size_t size_bytes)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < size_bytes; i++) hash = (hash ^ header[i]) * 0x100000001b3u;
    return &table.slots[hash % table.room];
}

static void insert(struct handle *handle)
{
    struct handle **slot = slot_of(handle->header, handle->header_bytes);
    handle->next = *slot;
    *slot = handle;
    table.count++;
}

static struct handle *find(const uint8_t *header, size_t size_bytes)
{
    struct handle *handle = table.room ? *slot_of(header, size_bytes) : NULL;
    while (handle &&
           (handle->header_bytes != size_bytes || memcmp(handle->header, header, size_bytes) != 0))
        handle = handle->next;
    return handle;
}

/* Into a table of that much room, except those without users. */
static void move_to(size_t room)
{
    struct handle **slots = table.slots;
    size_t old_room = table.room;
    table.slots = memset(server.Alloc(room * sizeof *slots), 0, room * sizeof *slots);
    table.room = room;
    table.count = 0;
    for (size_t i = 0; i < old_room; i++)
        for (struct handle *handle = slots[i], *next; handle; handle = next) {
            next = handle->next;
            if (atomic_load_explicit(&handle->users, memory_order_acquire))
                insert(handle);
            else
                free_handle(handle);
        }
    server.Free(slots);
}

void handle_drop_idle(void)
{
    if (table.room) move_to(table.room);
}

static void make_room(void)
{
    if (table.count < table.room) return;
    move_to(table.room ? table.room : 64);
    if (table.count > table.room / 2) move_to(2 * table.room);
}

struct handle *handle_share(const void *header, size_t size_bytes, petal_layer_state **states,
                            petal_error *error)
{
    struct handle *made = memory_zeroed(sizeof *made + size_bytes), *found;
    if (!made) {
        *error = (petal_error){.status = PETAL_ERR_MEMORY};
        return NULL;
    }
    made->header_bytes = (uint32_t)size_bytes;
    memcpy(made->header, header, size_bytes);
    if (open_header(made, header, size_bytes, error) != PETAL_OK) {
        free_handle(made);
        return NULL;
    }
    petal_info info = PETAL_INFO_INIT;
    petal_get_info(made->filter, PETAL_ALL_LAYERS, &info, NULL);
    made->layers = info.layers;
    *states = memset(server.Alloc(info.layers * sizeof **states), 0, info.layers * sizeof **states);
    petal_swap_layers(made->filter, *states, made->layers, NULL);
    header_clear_counts(made->header, made->layers);
    found = find(made->header, size_bytes);
    if (found) {
        free_handle(made);
    } else {
        make_room();
        insert(made);
    }
    found = found ? found : made;
    atomic_fetch_add(&found->users, 1);
    return found;
}

void handle_release(struct handle *handle)
{
    if (handle->header_bytes)
        atomic_fetch_sub_explicit(&handle->users, 1, memory_order_release);
    else
        free_handle(handle);
}

/* ---- whose it is ----------------------------------------------------------------------------- */

/* The main thread changes it for the value that it uses, another one for a value that it frees: one
 * that is not used any more, so that a value which is current stays so while it is used. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void handle_attach(struct handle *handle, struct value *value)
{
    pthread_mutex_lock(&lock);
    struct value *other = handle->current;
    petal_swap_layers(handle->filter, value->states, handle->layers, NULL);
    if (other) {
        petal_layer_state *of_other = value->states;
        value->states = other->states;
        other->states = of_other;
    }
    handle->current = value;
    pthread_mutex_unlock(&lock);
}

void handle_detach(struct handle *handle, struct value *value)
{
    pthread_mutex_lock(&lock);
    if (handle->current == value) {
        petal_swap_layers(handle->filter, value->states, handle->layers, NULL);
        handle->current = NULL;
    }
    pthread_mutex_unlock(&lock);
}
