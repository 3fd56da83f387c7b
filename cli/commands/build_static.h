/* build_static.h - implements petal build --scheme static. */
#ifndef PETAL_CLI_BUILD_STATIC_H
#define PETAL_CLI_BUILD_STATIC_H

#include "files/request.h"
#include "keys/keys.h"

#include <petal/petal_build.h>

/* Builds a static filter from all of the reader's keys, or a classic filter if that is smaller. For
 * a classic filter, *avoided_bytes is the size of the static filter. Keys that don't fit into
 * --memory are stored in a temporary file, in TMPDIR or, if TMPDIR is not set, next to the output.
 * Returns NULL after reporting an error. */
petal_filter *build_static(struct key_reader *reader, const struct request *request,
                           const struct args *args, uint64_t *avoided_bytes);

/* Collects all of the reader's keys for petal_index_add_keys(). Returns NULL after reporting an
 * error, or on a stop signal. */
petal_static_builder *collect_for_index(struct key_reader *reader, const petal_options *options);

/* Tells the user, once the file has been written, that a classic filter was smaller. Does nothing
 * if avoided_bytes is 0. */
void remark_classic(const char *path, const petal_filter *filter, uint64_t avoided_bytes);

#endif
