/* resource.h - for Windows: the maximum number of open files. */
#ifndef PETAL_CLI_WINDOWS_RESOURCE_H
#define PETAL_CLI_WINDOWS_RESOURCE_H

struct rlimit {
    unsigned long rlim_cur, rlim_max;
};

/* Out of the C runtime's 8,192 descriptors. */
#define RLIMIT_NOFILE 1
#define getrlimit(what, limit) ((limit)->rlim_cur = (limit)->rlim_max = 2048, 0)
#define setrlimit(what, limit) 0

#endif
