/* sized.h - structs of petal.h that start with struct_size, exchanged with programs that were
 * compiled against an older or a newer header. */
#ifndef PETAL_BASE_SIZED_H
#define PETAL_BASE_SIZED_H

#include "petal/petal.h"

/* Copies the caller's struct into `ours` of `ours_bytes`, which becomes its struct_size. Zeroes the
 * fields that the caller doesn't know. PETAL_ERR_ARGUMENT if `theirs` is NULL, was not initialised
 * (`init` is the macro's name), or sets fields that we don't know. */
petal_status petal_sized_take(const void *theirs, void *ours, uint32_t ours_bytes, const char *init,
                              petal_error *error);

/* Can the caller's struct receive results? For calls that don't read it. */
petal_status petal_sized_check(const void *theirs, const char *init, petal_error *error);

/* Copies `ours` into the caller's struct, up to its size. Keeps its struct_size, and zeroes the
 * fields that we don't know. */
void petal_sized_give(const void *ours, uint32_t ours_bytes, void *theirs);

#endif
