/* shelf.c - keeps the filters of files for a connection, so that a statement that runs again does
 * not read its file again.
 *
 * Files are read into memory, not mapped: if someone truncates a mapped file, the next access ends
 * the process. A filter on the shelf serves later statements as long as stat() reports the same
 * device, inode number, size and modification times for its file. These times are in whole seconds,
 * so a filter is reused only if its file was at least 2 seconds old when it was read; a newer file
 * is read again.
 *
 * The shelf has 8 places, and its filters together take at most SQLITE_LIMIT_LENGTH bytes. The
 * least recently used filter is dropped first; a statement that still uses it keeps it. */
#include "glue.h"

#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { PLACES = 8, SETTLED_SECONDS = 2, FORMAT_ROOM = 32 };

struct identity {
    uint64_t device, number, size;
    int64_t modified, changed; /* seconds since 1970 */
};

struct place {
    struct held *held; /* NULL if empty */
    char *path;
    char format[FORMAT_ROOM];
    struct identity identity;
    uint64_t used; /* the shelf's clock */
};

struct shelf {
    unsigned owners;
    uint64_t clock;
    struct place places[PLACES];
};

/* ---- shared filters -------------------------------------------------------------------------- */

petal_open_options open_options(sqlite3_context *context, const char *format, uint32_t flags)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    options.flags = flags;
    options.allocator = &sqlite_memory;
    options.format = format;
    options.max_bytes = options.memory_limit = limit_of(context);
    return options;
}

struct held *hold(sqlite3_context *context, petal_filter *filter)
{
    petal_info info = PETAL_INFO_INIT;
    struct held *held = sqlite3_malloc64(sizeof *held);
    if (!held) {
        petal_free(filter);
        sqlite3_result_error_nomem(context);
        return NULL;
    }
    petal_get_info(filter, PETAL_ALL_LAYERS, &info, NULL);
    *held = (struct held){filter, info.key_type, 1, info.memory_bytes};
    return held;
}

void held_release(struct held *held)
{
    if (!held || --held->owners > 0) return;
    petal_free(held->filter);
    sqlite3_free(held);
}

/* ---- the shelf ------------------------------------------------------------------------------- */

struct shelf *shelf_create(void)
{
    struct shelf *shelf = sqlite3_malloc64(sizeof *shelf);
    if (!shelf) return NULL;
    memset(shelf, 0, sizeof *shelf);
    shelf->owners = 1;
    return shelf;
}

struct shelf *shelf_share(struct shelf *shelf)
{
    shelf->owners++;
    return shelf;
}

static void empty(struct place *place)
{
    held_release(place->held);
    sqlite3_free(place->path);
    memset(place, 0, sizeof *place);
}

void shelf_release(void *memory)
{
    struct shelf *shelf = memory;
    if (!shelf || --shelf->owners > 0) return;
    for (size_t i = 0; i < PLACES; i++) empty(&shelf->places[i]);
    sqlite3_free(shelf);
}

static struct place *find(struct shelf *shelf, const char *path, const char *format)
{
    for (struct place *place = shelf->places; place < shelf->places + PLACES; place++)
        if (place->held && strcmp(place->path, path) == 0 && strcmp(place->format, format) == 0)
            return place;
    return NULL;
}

/* An empty place, or the least recently used one. */
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
        empty(last);
    }
    struct place *place = oldest(shelf);
    empty(place);
    place->path = sqlite3_mprintf("%s", path);
    if (!place->path) return; /* it is not kept */
    strcpy(place->format, format);
    place->identity = *identity;
    place->held = held;
    place->used = ++shelf->clock;
    held->owners++;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* Returns false if there is no such file; opening it then gives the reason. */
static bool identify(const char *path, struct identity *identity)
{
    struct stat about;
    memset(identity, 0, sizeof *identity);
    if (stat(path, &about) != 0) return false;
    identity->device = (uint64_t)about.st_dev;
    identity->number = (uint64_t)about.st_ino;
    identity->size = (uint64_t)about.st_size;
    identity->modified = (int64_t)about.st_mtime;
    identity->changed = (int64_t)about.st_ctime;
    return true;
}

static bool is_settled(const struct identity *identity)
{
    int64_t now = (int64_t)time(NULL);
    return identity->modified + SETTLED_SECONDS < now && identity->changed + SETTLED_SECONDS < now;
}

static struct held *read_file(sqlite3_context *context, const char *path, const char *format)
{
    petal_error error;
    petal_filter *filter;
    petal_open_options options = open_options(context, format, PETAL_OPEN_LOAD);
    if (petal_open(path, &options, &filter, &error) == PETAL_OK) return hold(context, filter);
    fail_with(context, path, &error);
    return NULL;
}

struct held *shelf_take(sqlite3_context *context, const char *path, const char *format)
{
    struct shelf *shelf = sqlite3_user_data(context);
    struct identity identity;
    /* Identify the file before reading it: if it changes in the meantime, the next statement reads
     * it again. */
    bool exists = identify(path, &identity);
    struct place *place = find(shelf, path, format);
    if (exists && place && memcmp(&place->identity, &identity, sizeof identity) == 0) {
        place->used = ++shelf->clock;
        place->held->owners++;
        return place->held;
    }
    if (place) empty(place);
    struct held *held = read_file(context, path, format);
    bool keeps = held && exists && is_settled(&identity) && strlen(format) < FORMAT_ROOM;
    if (keeps) put(shelf, path, format, held, &identity, limit_of(context));
    return held;
}
