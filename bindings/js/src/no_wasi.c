/* no_wasi.c - defines the three functions that wasi-libc's stdio would import from its host, so
 * that the module imports nothing. snprintf() refers to these functions but never calls them. They
 * always fail. */
#include <stdint.h>

#define ERRNO_BADF 8

int32_t __imported_wasi_snapshot_preview1_fd_close(int32_t fd);
int32_t __imported_wasi_snapshot_preview1_fd_close(int32_t fd)
{
    (void)fd;
    return ERRNO_BADF;
}

int32_t __imported_wasi_snapshot_preview1_fd_seek(int32_t fd, int64_t offset, int32_t whence,
                                                  int32_t new_offset);
int32_t __imported_wasi_snapshot_preview1_fd_seek(int32_t fd, int64_t offset, int32_t whence,
                                                  int32_t new_offset)
{
    (void)fd, (void)offset, (void)whence, (void)new_offset;
    return ERRNO_BADF;
}

int32_t __imported_wasi_snapshot_preview1_fd_write(int32_t fd, int32_t pieces, int32_t count,
                                                   int32_t written);
int32_t __imported_wasi_snapshot_preview1_fd_write(int32_t fd, int32_t pieces, int32_t count,
                                                   int32_t written)
{
    (void)fd, (void)pieces, (void)count, (void)written;
    return ERRNO_BADF;
}
