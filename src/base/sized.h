/* sized.h - structs of petal.h that begin with struct_size: taken from, and given back to, programs
 * that were built against an older or a newer header. */
#ifndef PETAL_BASE_SIZED_H
#define PETAL_BASE_SIZED_H

#include "petal/petal.h"

/* Copies the caller's struct into `ours` of `ours_bytes`, whose struct_size is then that. Fields
 * that the caller does not know are zeroed. PETAL_ERR_ARGUMENT if `theirs` is NULL, was not
 * initialised (`init` is the macro's name), or has fields that we do not know and that are not
 * 0. */
petal_status petal_sized_take(const void *theirs, void *ours, uint32_t ours_bytes, const char *init,
                              petal_error *error);

/* Can the caller's struct take results? For calls that do not read it. */
petal_status petal_sized_check(const void *theirs, const char *init, petal_error *error);

/* Copies `ours` into the caller's struct, as far as that goes; its struct_size stays, and fields
 * that we do not know are zeroed. */
void petal_sized_give(const void *ours, uint32_t ours_bytes, void *theirs);

#endif
