/* common.c - see common.h. */
#include "os/common.h"

#ifndef PETAL_OS_NONE

#include "base/error.h"

petal_status petal_os_open(const char *path, enum access access, struct file *file,
                           petal_error *error)
{
    *file = PETAL_NO_FILE;
    for (int attempt = 0; attempt < PETAL_OS_ATTEMPTS; attempt++) {
        struct file opened = PETAL_NO_FILE;
        petal_status status = petal_os_open_once(path, access, &opened, error);
        if (status == PETAL_OK && access != ACCESS_READ)
            status = petal_os_is_at(&opened, path, error);
        if (status == PETAL_OK) {
            *file = opened;
            return PETAL_OK;
        }
        petal_os_close(&opened);
        if (status != PETAL_ERR_REPLACED) return status;
    }
    return petal_fail(error, PETAL_ERR_BUSY,
                      "other processes keep replacing it; try again when they have finished");
}

#endif
