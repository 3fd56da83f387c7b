/* shim.h - the data that a campaign shares with the shim (shim.c): one page of a file that both
 * map. */
#ifndef PETAL_TESTS_SHIM_H
#define PETAL_TESTS_SHIM_H

#include <stdatomic.h>
#include <stdint.h>

/* The calls, grouped by how they fail. */
enum shim_call {
    SHIM_NONE,
    SHIM_OPEN,  /* open, openat */
    SHIM_READ,  /* read, pread */
    SHIM_WRITE, /* write, pwrite; but not to stderr, which has the message */
    SHIM_FSYNC, /* fsync, fdatasync */
    SHIM_MSYNC,
    SHIM_MMAP,
    SHIM_TRUNCATE, /* ftruncate */
    SHIM_ALLOCATE, /* fallocate, posix_fallocate */
    SHIM_CLOSE,    /* fails after closing, like the real call */
    SHIM_RENAME,   /* rename, renameat, renameat2 */
    SHIM_LINK,     /* link, linkat */
    SHIM_UNLINK,   /* unlink, unlinkat */
    SHIM_LOCK,     /* flock, fcntl with a lock command */
    SHIM_MODE,     /* fchmod, fchown */
    SHIM_STAT,     /* stat, fstat, lstat */
    SHIM_RANDOM,   /* getrandom, getentropy */
    SHIM_MALLOC,   /* malloc, calloc, realloc */
    SHIM_CALLS
};

/* What happens to the call. */
enum shim_action {
    SHIM_COUNT,   /* do nothing; calls are only counted */
    SHIM_FAIL,    /* fail with `error` */
    SHIM_FAIL_ON, /* fail, and make all later calls fail */
    SHIM_SHORT,   /* a write writes only half */
    SHIM_PAUSE    /* the process waits for `resume` before the call */
};

struct shim_control {
    uint32_t call, action;
    uint32_t nth; /* counted from 1 */
    int32_t error;
    _Atomic uint32_t seen[SHIM_CALLS];
    _Atomic uint32_t published; /* renames and links done so far */
    _Atomic uint32_t hit;       /* how often the action happened */
    _Atomic uint32_t paused, resume;
    _Atomic int64_t live; /* allocated blocks that have not been freed */
};

#endif
