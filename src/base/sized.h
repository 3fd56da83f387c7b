/* sized.h - reads and writes structs that start with struct_size, for programs that were compiled
 * with an older or newer petal.h. */
#ifndef PETAL_BASE_SIZED_H
#define PETAL_BASE_SIZED_H

#include "petal/petal.h"

/* Copies the caller's struct to `ours`, sets struct_size in the copy to `ours_bytes`, and zeroes
 * the fields that the caller doesn't know about. Returns PETAL_ERR_ARGUMENT if `theirs` is NULL,
 * was not initialized (`init` is the macro's name), or sets fields that this library doesn't know
 * about. */
petal_status petal_sized_take(const void *theirs, void *ours, uint32_t ours_bytes, const char *init,
                              petal_error *error);

/* Checks that the caller's struct can receive results. This is for calls that only write the
 * struct. */
petal_status petal_sized_check(const void *theirs, const char *init, petal_error *error);

/* Copies `ours` into the caller's struct, up to its size. Preserves the caller's struct_size, and
 * zeroes the fields that this library doesn't know about. */
void petal_sized_give(const void *ours, uint32_t ours_bytes, void *theirs);

#endif
