/* request.h - from command-line options to petal_options: what kind of filter, and how large. */
#ifndef PETAL_CLI_REQUEST_H
#define PETAL_CLI_REQUEST_H

#include "options/options.h"

#include <petal/petal.h>

#define DEFAULT_RATE 0.01

struct request {
    petal_options options; /* points into the rest */
    petal_filter *like;    /* from --template: only the metadata of `options` counts; or NULL */
    const char *format;    /* the format to write; NULL: petal */
    uint8_t secret[PETAL_SECRET_BYTES];
    uint8_t *metadata;
};

/* Checks that the size options of `args` fit together, and fills in everything. Without any size a
 * filter gets `default_capacity` keys; if that is 0 too, -n stays open (see request_capacity()) if
 * `capacity_later`, and otherwise it is an error. With -p, --memory is left to the caller, and so
 * is --grow without -n. `command` is for messages. False: reported. */
bool request_read(struct request *request, const char *command, const struct args *args,
                  uint64_t default_capacity, bool capacity_later);

/* Fills in a number of keys that was determined later. */
void request_capacity(struct request *request, uint64_t capacity);

/* Wipes the secret and frees everything; `options` becomes invalid. */
void request_free(struct request *request);

/* Creates the requested empty filter. NULL: reported. */
petal_filter *create_requested(const struct request *request);

/* petal_create(); a failure is reported, and the result is NULL. */
petal_filter *create_filter(const petal_options *options);

#endif
