/* sized.c - see sized.h. */
#include "base/sized.h"

#include "base/error.h"

#include <string.h>

/* In every version, structs are at most this large. A larger struct_size is uninitialized
 * memory. */
#define MIN_BYTES 8u
#define MAX_BYTES 4096u

static uint32_t size_of(const void *theirs)
{
    uint32_t size;
    memcpy(&size, theirs, sizeof size);
    return size;
}

petal_status petal_sized_check(const void *theirs, const char *init, petal_error *error)
{
    if (!theirs) return petal_fail(error, PETAL_ERR_ARGUMENT, "a struct is missing; see %s", init);
    if (size_of(theirs) < MIN_BYTES || size_of(theirs) > MAX_BYTES)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "a struct was not initialised; use %s", init);
    return PETAL_OK;
}

petal_status petal_sized_take(const void *theirs, void *ours, uint32_t ours_bytes, const char *init,
                              petal_error *error)
{
    petal_status status = petal_sized_check(theirs, init, error);
    if (status != PETAL_OK) return status;
    uint32_t size = size_of(theirs);
    for (uint32_t i = ours_bytes; i < size; i++)
        if (((const uint8_t *)theirs)[i] != 0)
            return petal_fail(error, PETAL_ERR_ARGUMENT,
                              "a field at byte %u, after %s, is not known to version %s; use a "
                              "newer library or leave it 0",
                              i, init, petal_version());
    memset(ours, 0, ours_bytes);
    memcpy(ours, theirs, size < ours_bytes ? size : ours_bytes);
    memcpy(ours, &ours_bytes, sizeof ours_bytes);
    return PETAL_OK;
}

void petal_sized_give(const void *ours, uint32_t ours_bytes, void *theirs)
{
    uint32_t size = size_of(theirs), common = size < ours_bytes ? size : ours_bytes;
    uint32_t head = sizeof size;
    memcpy((uint8_t *)theirs + head, (const uint8_t *)ours + head, common - head);
    if (size > common) memset((uint8_t *)theirs + common, 0, size - common);
}
