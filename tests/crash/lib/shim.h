/* shim.h - declares the data that a campaign shares with the shim (shim.c) by mapping the same page
 * of a file. */
#ifndef PETAL_TESTS_SHIM_H
#define PETAL_TESTS_SHIM_H

#include <stdatomic.h>
#include <stdint.h>

/* The kinds of intercepted calls. The functions of one kind fail in the same way. */
enum shim_call {
    SHIM_NONE,
    SHIM_OPEN,  /* open, openat */
    SHIM_READ,  /* read, pread */
    SHIM_WRITE, /* write, pwrite; except to stderr, which receives error messages */
    SHIM_FSYNC, /* fsync, fdatasync */
    SHIM_MSYNC,
    SHIM_MMAP,
    SHIM_TRUNCATE, /* ftruncate */
    SHIM_ALLOCATE, /* fallocate, posix_fallocate */
    SHIM_CLOSE,    /* close; closes the file before it fails, as the real call does */
    SHIM_RENAME,   /* rename, renameat, renameat2 */
    SHIM_LINK,     /* link, linkat */
    SHIM_UNLINK,   /* unlink, unlinkat */
    SHIM_LOCK,     /* flock, and fcntl with a lock command */
    SHIM_MODE,     /* fchmod, fchown */
    SHIM_STAT,     /* stat, fstat, lstat */
    SHIM_RANDOM,   /* getrandom, getentropy */
    SHIM_MALLOC,   /* malloc, calloc, realloc */
    SHIM_CALLS
};

/* What the shim does at the nth call. */
enum shim_action {
    SHIM_COUNT,   /* only count the calls */
    SHIM_FAIL,    /* fail with `error` */
    SHIM_FAIL_ON, /* fail with `error`, and make all later calls of this kind fail */
    SHIM_SHORT,   /* write only half of the bytes */
    SHIM_PAUSE    /* wait for `resume` before making the call */
};

struct shim_control {
    uint32_t call, action;
    uint32_t nth; /* counted from 1 */
    int32_t error;
    _Atomic uint32_t seen[SHIM_CALLS];
    _Atomic uint32_t published; /* number of renames and links so far */
    _Atomic uint32_t hit;       /* number of times the action was performed */
    _Atomic uint32_t paused, resume;
    _Atomic int64_t live; /* number of allocated blocks that have not been freed */
};

#endif
