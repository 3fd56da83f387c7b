/* none.c - implements os.h for builds without an operating system, which have memory but no
 * files. */
#include "os/os.h"

#ifdef PETAL_OS_NONE

#include "base/error.h"

#include <stdlib.h>

static void *alloc_zeroed(void *context, size_t size_bytes)
{
    (void)context;
    return calloc(1, size_bytes);
}

static void release(void *context, void *memory, size_t size_bytes)
{
    (void)context, (void)size_bytes;
    free(memory);
}

const petal_allocator petal_os_allocator = {alloc_zeroed, release, NULL};

static petal_status no_files(petal_error *error)
{
    return petal_fail(error, PETAL_ERR_UNSUPPORTED,
                      "this build has no files; load from memory and serialize to it");
}

petal_status petal_os_open(const char *path, enum access access, struct file *file,
                           petal_error *error)
{
    (void)path, (void)access;
    *file = PETAL_NO_FILE;
    return no_files(error);
}

void petal_os_close(struct file *file)
{
    *file = PETAL_NO_FILE;
}

void petal_os_own(struct file *file)
{
    (void)file;
}

bool petal_os_is_owner(const struct file *file)
{
    (void)file;
    return true;
}

bool petal_os_is_locked_elsewhere(const struct file *file)
{
    (void)file;
    return false;
}

petal_status petal_os_is_at(const struct file *file, const char *path, petal_error *error)
{
    (void)file, (void)path;
    return no_files(error);
}

petal_status petal_os_read(const struct file *file, uint64_t offset, void *bytes,
                           uint64_t size_bytes, uint64_t *got, petal_error *error)
{
    (void)file, (void)offset, (void)bytes, (void)size_bytes;
    *got = 0;
    return no_files(error);
}

petal_status petal_os_write(const struct file *file, uint64_t offset, const void *bytes,
                            uint64_t size_bytes, petal_error *error)
{
    (void)file, (void)offset, (void)bytes, (void)size_bytes;
    return no_files(error);
}

petal_status petal_os_open_temporary(const char *folder, struct file *file, petal_error *error)
{
    (void)folder;
    *file = PETAL_NO_FILE;
    return no_files(error);
}

void petal_os_pause(void)
{
}

petal_status petal_os_size(const struct file *file, uint64_t max_bytes, uint64_t *size_bytes,
                           petal_error *error)
{
    (void)file, (void)max_bytes;
    *size_bytes = 0;
    return no_files(error);
}

petal_status petal_os_map(const struct file *file, bool writable, uint64_t max_bytes,
                          struct mapping *map, petal_error *error)
{
    (void)file, (void)writable, (void)max_bytes;
    *map = (struct mapping){NULL, 0, false};
    return no_files(error);
}

void petal_os_unmap(struct mapping *map)
{
    *map = (struct mapping){NULL, 0, false};
}

petal_status petal_os_sync(const struct file *file, const struct mapping *map, uint64_t offset,
                           uint64_t size_bytes, petal_error *error)
{
    (void)file, (void)map, (void)offset, (void)size_bytes;
    return no_files(error);
}

void petal_os_will_read(const struct mapping *map)
{
    (void)map;
}

void petal_os_touch(const struct mapping *map, uint64_t offset, uint64_t size_bytes)
{
    (void)map, (void)offset, (void)size_bytes;
}

petal_status petal_os_hold(const char *path, struct file *file, petal_error *error)
{
    return petal_os_open(path, ACCESS_WRITE, file, error);
}

petal_status petal_os_begin(const char *path, unsigned flags, struct file *held,
                            struct replacement *made, petal_error *error)
{
    (void)path, (void)flags, (void)held;
    *made = (struct replacement){.old = PETAL_NO_FILE, .temporary = PETAL_NO_FILE};
    return no_files(error);
}

petal_status petal_os_put(void *made, const void *bytes, uint64_t size_bytes, petal_error *error)
{
    (void)made, (void)bytes, (void)size_bytes;
    return no_files(error);
}

petal_status petal_os_finish(struct replacement *made, bool keep, petal_error *error)
{
    (void)made, (void)keep;
    return no_files(error);
}

#endif
