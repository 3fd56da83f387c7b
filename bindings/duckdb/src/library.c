/* library.c - what all functions of a database share: the filters that were opened, and a
 * hasher. */
#include "glue.h"

#include <pthread.h>
#include <stdlib.h>

/* Filters on the shelf take at most this many bytes in total, unless a single filter takes more. */
#define SHELF_BYTES (UINT64_C(1) << 32)

struct library {
    atomic_uint owners;
    pthread_mutex_t lock; /* of the shelf */
    struct shelf *shelf;
    petal_filter *hasher;
};

/* A filter without keys or bits, which only hashes. */
static petal_filter *create_hasher(void)
{
    petal_filter *hasher;
    petal_options options = build_options(DEFAULT_RATE, 0, PETAL_KEY_TYPE_NONE, NULL);
    return petal_create(&options, &hasher, NULL) == PETAL_OK ? hasher : NULL;
}

struct library *library_create(void)
{
    struct library *library = calloc(1, sizeof *library);
    if (!library) return NULL;
    atomic_init(&library->owners, 1);
    pthread_mutex_init(&library->lock, NULL);
    library->shelf = shelf_create(NULL);
    library->hasher = create_hasher();
    if (library->shelf && library->hasher) return library;
    library_release(library);
    return NULL;
}

struct library *library_share(struct library *library)
{
    atomic_fetch_add(&library->owners, 1);
    return library;
}

void library_release(struct library *library)
{
    if (atomic_fetch_sub(&library->owners, 1) > 1) return;
    if (library->shelf) shelf_free(library->shelf);
    petal_free(library->hasher);
    pthread_mutex_destroy(&library->lock);
    free(library);
}

const petal_filter *library_hasher(const struct library *library)
{
    return library->hasher;
}

struct held *library_take(struct library *library, const char *path,
                          const petal_open_options *options, petal_error *error)
{
    pthread_mutex_lock(&library->lock);
    struct held *held = shelf_take(library->shelf, path, options, SHELF_BYTES, error);
    pthread_mutex_unlock(&library->lock);
    return held;
}

struct held *library_take_bytes(struct library *library, const void *bytes, uint64_t size,
                                const petal_filter *view, const petal_open_options *options,
                                petal_error *error)
{
    pthread_mutex_lock(&library->lock);
    struct held *held =
        shelf_take_bytes(library->shelf, bytes, size, view, options, SHELF_BYTES, error);
    pthread_mutex_unlock(&library->lock);
    return held;
}
