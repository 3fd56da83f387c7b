/* build_static.h - petal build --scheme static. */
#ifndef PETAL_CLI_BUILD_STATIC_H
#define PETAL_CLI_BUILD_STATIC_H

#include "files/request.h"
#include "keys/keys.h"

/* A static filter of all keys of the reader, or if that is smaller a classic one: then
 * *avoided_bytes is the size of the static one. NULL: reported. */
petal_filter *build_static(struct key_reader *reader, const struct request *request,
                           uint64_t *avoided_bytes);

/* Says so, when the file is written; 0: there is nothing to say. */
void remark_classic(const char *path, const petal_filter *filter, uint64_t avoided_bytes);

#endif
