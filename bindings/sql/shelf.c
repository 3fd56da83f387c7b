/* shelf.c - caches filters read from files, so that running a statement again does not read its
 * file again.
 *
 * A filter on the shelf serves later statements as long as stat() reports the same device, inode
 * number, size and modification times for its file. Because these times are compared in whole
 * seconds, a filter is reused only if its file was at least 2 seconds old when it was read.
 *
 * A host that can't tell whether a value is constant within a statement also caches copies of
 * filter values on the shelf. A value is identified by its content id, which is computed from the
 * checksums in the file without reading the bits. The bits of a cached copy were verified, so it
 * also answers correctly for a damaged value with the same checksums.
 *
 * The shelf holds up to 8 filters and evicts the least recently used one. An evicted filter is
 * freed when the last statement that uses it ends. */
#define _POSIX_C_SOURCE 200809L
#include "sql.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { PLACES = 8, SETTLED_SECONDS = 2, FORMAT_ROOM = 32 };

struct identity {
    uint64_t device, number, size; /* for a value: key type, content id and size */
    int64_t modified, changed;     /* seconds since 1970 */
};

struct place {
    struct held *held; /* NULL if empty */
    char *path;        /* "" for a value */
    char format[FORMAT_ROOM];
    struct identity identity;
    uint64_t used; /* the shelf's clock */
};

struct shelf {
    const petal_allocator *memory;
    uint64_t clock;
    struct place places[PLACES];
};

/* ---- shared filters -------------------------------------------------------------------------- */

static void *allocate(const petal_allocator *memory, size_t size)
{
    return memory ? memory->alloc_zeroed(memory->context, size) : calloc(1, size);
}

static void release(const petal_allocator *memory, void *block, size_t size)
{
    if (memory)
        memory->release(memory->context, block, size);
    else
        free(block);
}

static struct held *fail_memory(petal_error *error)
{
    *error = (petal_error){PETAL_ERR_MEMORY, 0, PETAL_NO_OFFSET, "out of memory"};
    return NULL;
}

struct held *hold(petal_filter *filter, const petal_allocator *memory, petal_error *error)
{
    petal_info info = PETAL_INFO_INIT;
    struct held *held = allocate(memory, sizeof *held);
    if (!held) {
        petal_free(filter);
        return fail_memory(error);
    }
    petal_get_info(filter, PETAL_ALL_LAYERS, &info, NULL);
    held->filter = filter;
    held->key_type = info.key_type;
    held->bytes = info.memory_bytes;
    held->memory = memory;
    atomic_init(&held->owners, 1);
    return held;
}

struct held *held_share(struct held *held)
{
    atomic_fetch_add_explicit(&held->owners, 1, memory_order_relaxed);
    return held;
}

void held_release(struct held *held)
{
    if (!held || atomic_fetch_sub_explicit(&held->owners, 1, memory_order_acq_rel) > 1) return;
    petal_free(held->filter);
    release(held->memory, held, sizeof *held);
}

/* ---- the shelf ------------------------------------------------------------------------------- */

struct shelf *shelf_create(const petal_allocator *memory)
{
    struct shelf *shelf = allocate(memory, sizeof *shelf);
    if (shelf) shelf->memory = memory;
    return shelf;
}

static void empty(struct shelf *shelf, struct place *place)
{
    held_release(place->held);
    if (place->path) release(shelf->memory, place->path, strlen(place->path) + 1);
    memset(place, 0, sizeof *place);
}

void shelf_free(struct shelf *shelf)
{
    for (size_t i = 0; i < PLACES; i++) empty(shelf, &shelf->places[i]);
    release(shelf->memory, shelf, sizeof *shelf);
}

static bool is_same(const struct place *place, const struct identity *identity)
{
    return memcmp(&place->identity, identity, sizeof *identity) == 0;
}

/* Returns the place that holds this file, even if the file has changed, or this value. Returns NULL
 * if there is none. */
static struct place *find(struct shelf *shelf, const char *path, const char *format,
                          const struct identity *identity)
{
    for (struct place *place = shelf->places; place < shelf->places + PLACES; place++)
        if (place->held && strcmp(place->path, path) == 0 && strcmp(place->format, format) == 0 &&
            (*path || is_same(place, identity)))
            return place;
    return NULL;
}

static struct held *take_from(struct shelf *shelf, struct place *place)
{
    place->used = ++shelf->clock;
    return held_share(place->held);
}

/* Returns an empty place if there is one, otherwise the least recently used place. */
static struct place *oldest(struct shelf *shelf)
{
    struct place *found = shelf->places;
    for (struct place *place = shelf->places; place < shelf->places + PLACES; place++)
        if (place->used < found->used) found = place;
    return found;
}

static uint64_t bytes_on(const struct shelf *shelf)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < PLACES; i++)
        if (shelf->places[i].held) bytes += shelf->places[i].held->bytes;
    return bytes;
}

static void put(struct shelf *shelf, const char *path, const char *format, struct held *held,
                const struct identity *identity, uint64_t limit)
{
    while (bytes_on(shelf) > 0 && bytes_on(shelf) + held->bytes > limit) {
        struct place *last = NULL;
        for (struct place *place = shelf->places; place < shelf->places + PLACES; place++)
            if (place->held && (!last || place->used < last->used)) last = place;
        empty(shelf, last);
    }
    struct place *place = oldest(shelf);
    empty(shelf, place);
    place->path = allocate(shelf->memory, strlen(path) + 1);
    if (!place->path) return; /* out of memory: don't cache the filter */
    strcpy(place->path, path);
    strcpy(place->format, format);
    place->identity = *identity;
    place->held = held_share(held);
    place->used = ++shelf->clock;
}

/* ---- files ----------------------------------------------------------------------------------- */

static void identify(const struct stat *about, struct identity *identity)
{
    memset(identity, 0, sizeof *identity);
    identity->device = (uint64_t)about->st_dev;
    identity->number = (uint64_t)about->st_ino;
    identity->size = (uint64_t)about->st_size;
    identity->modified = (int64_t)about->st_mtime;
    identity->changed = (int64_t)about->st_ctime;
}

static bool is_settled(const struct identity *identity)
{
    int64_t now = (int64_t)time(NULL);
    return identity->modified + SETTLED_SECONDS < now && identity->changed + SETTLED_SECONDS < now;
}

struct held *shelf_take(struct shelf *shelf, const char *path, const petal_open_options *options,
                        uint64_t limit, petal_error *error)
{
    struct stat about;
    struct identity identity = {0};
    bool exists = stat(path, &about) == 0;
    if (exists) identify(&about, &identity);
    struct place *place = *path ? find(shelf, path, options->format, &identity) : NULL;
    if (exists && place && is_same(place, &identity)) return take_from(shelf, place);
    if (place) empty(shelf, place);
    /* If the file changes while it is being read, the next statement reads it again. */
    petal_filter *filter = read_filter(path, options, &about, error);
    identify(&about, &identity);
    struct held *held = filter ? hold(filter, options->allocator, error) : NULL;
    if (held && is_settled(&identity) && strlen(options->format) < FORMAT_ROOM)
        put(shelf, path, options->format, held, &identity, limit);
    return held;
}

/* ---- values ---------------------------------------------------------------------------------- */

struct held *shelf_take_bytes(struct shelf *shelf, const void *bytes, uint64_t size,
                              const petal_filter *view, const petal_open_options *options,
                              uint64_t limit, petal_error *error)
{
    struct identity identity;
    petal_info info = PETAL_INFO_INIT;
    petal_filter *filter;
    memset(&identity, 0, sizeof identity);
    petal_get_info(view, PETAL_ALL_LAYERS, &info, NULL);
    if (petal_content_id(view, &identity.number, error) != PETAL_OK) return NULL;
    identity.device = info.key_type;
    identity.size = size;
    struct place *place = find(shelf, "", options->format, &identity);
    if (place) return take_from(shelf, place);
    if (petal_load(bytes, size, options, &filter, error) != PETAL_OK) return NULL;
    struct held *held = hold(filter, options->allocator, error);
    if (held && strlen(options->format) < FORMAT_ROOM)
        put(shelf, "", options->format, held, &identity, limit);
    return held;
}
