/* shim.h - what a campaign and the shim (shim.c) share: one page, in a file that both map. */
#ifndef PETAL_TESTS_SHIM_H
#define PETAL_TESTS_SHIM_H

#include <stdatomic.h>
#include <stdint.h>

/* The calls, in groups that fail alike. */
enum shim_call {
    SHIM_NONE,
    SHIM_OPEN,  /* open, openat */
    SHIM_READ,  /* read, pread */
    SHIM_WRITE, /* write, pwrite; but not to stderr, where the message goes */
    SHIM_FSYNC, /* fsync, fdatasync */
    SHIM_MSYNC,
    SHIM_MMAP,
    SHIM_TRUNCATE, /* ftruncate */
    SHIM_ALLOCATE, /* fallocate, posix_fallocate */
    SHIM_CLOSE,    /* fails after closing, as the real one does */
    SHIM_RENAME,   /* rename, renameat, renameat2 */
    SHIM_LINK,     /* link, linkat */
    SHIM_UNLINK,   /* unlink, unlinkat */
    SHIM_LOCK,     /* flock, fcntl with a lock */
    SHIM_MODE,     /* fchmod, fchown */
    SHIM_STAT,     /* stat, fstat, lstat */
    SHIM_RANDOM,   /* getrandom, getentropy */
    SHIM_MALLOC,   /* malloc, calloc, realloc */
    SHIM_CALLS
};

/* What happens to the call. */
enum shim_action {
    SHIM_COUNT,   /* nothing: calls are counted */
    SHIM_FAIL,    /* it fails with `error` */
    SHIM_FAIL_ON, /* so do all after it */
    SHIM_SHORT,   /* a write writes half */
    SHIM_PAUSE    /* before it, the process waits until `resume` */
};

struct shim_control {
    uint32_t call, action;
    uint32_t nth; /* from 1 */
    int32_t error;
    _Atomic uint32_t seen[SHIM_CALLS];
    _Atomic uint32_t published; /* renames and links that were done */
    _Atomic uint32_t hit;       /* times that it happened */
    _Atomic uint32_t paused, resume;
    _Atomic int64_t live; /* blocks of memory that were allocated and not freed */
};

#endif
