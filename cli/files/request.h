/* request.h - converts command-line options to petal_options: the kind of filter, and its size. */
#ifndef PETAL_CLI_REQUEST_H
#define PETAL_CLI_REQUEST_H

#include "options/options.h"

#include <petal/petal.h>

#define DEFAULT_RATE 0.01

struct request {
    petal_options options; /* its pointers point into the other members */
    petal_filter *like;    /* from --template: only the metadata in `options` matters; or NULL */
    const char *format;    /* the format to write; NULL means petal */
    uint8_t secret[PETAL_SECRET_BYTES];
    uint8_t *metadata;
};

/* Checks that the size options of `args` are consistent, and fills in everything. If no size is
 * given, the capacity is `default_capacity`. If that is 0, request_capacity() must set it later if
 * `capacity_later`; otherwise a missing size is an error. The caller handles --memory with -p, and
 * --grow without -n. `command` is for messages. Returns false after reporting an error. */
bool request_read(struct request *request, const char *command, const struct args *args,
                  uint64_t default_capacity, bool capacity_later);

/* Sets the capacity to a number of keys that was determined later. */
void request_capacity(struct request *request, uint64_t capacity);

/* Erases the secret and frees everything; `options` becomes invalid. */
void request_free(struct request *request);

/* Creates the requested empty filter. Returns NULL after reporting an error. */
petal_filter *create_requested(const struct request *request);

/* Like petal_create(), but reports a failure and returns NULL. */
petal_filter *create_filter(const petal_options *options);

#endif
