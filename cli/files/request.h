/* request.h - from options on the command line to petal_options: what kind of filter,
 * and how big. */
#ifndef PETAL_CLI_REQUEST_H
#define PETAL_CLI_REQUEST_H

#include "options/options.h"

#include <petal/petal.h>

#define DEFAULT_RATE 0.01

struct request {
    petal_options options; /* points into the rest */
    petal_filter *like;    /* of --template, where only the metadata of `options` counts; or NULL */
    const char *format;    /* the container to write; NULL: petal */
    uint8_t secret[PETAL_SECRET_BYTES];
    uint8_t *metadata;
};

/* Checks that the size options of `args` go together, and fills in everything. Without any size of
 * its own a filter gets `default_capacity` keys; if that is 0 too, -n is left open (see
 * request_capacity()) if `capacity_later`, and is an error otherwise. With -p, --memory is then
 * left to the caller, and so is --grow without -n. `command` is for messages.
 * False: reported. */
bool request_read(struct request *request, const char *command, const struct args *args,
                  uint64_t default_capacity, bool capacity_later);

/* Fills in a number of keys that was found later. */
void request_capacity(struct request *request, uint64_t capacity);

/* Wipes the secret and frees; `options` is not to be used any more. */
void request_free(struct request *request);

/* The empty filter that was asked for. NULL: reported. */
petal_filter *create_requested(const struct request *request);

/* petal_create(), reported on failure. NULL then. */
petal_filter *create_filter(const petal_options *options);

#endif
