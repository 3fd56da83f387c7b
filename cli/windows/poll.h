/* poll.h - for Windows: see windows/posix.c. */
#ifndef PETAL_CLI_WINDOWS_POLL_H
#define PETAL_CLI_WINDOWS_POLL_H

struct pollfd {
    int fd;
    short events, revents;
};

#ifndef POLLIN
#define POLLIN 1
#define POLLOUT 4
#define POLLERR 8
#define POLLHUP 16
#endif

int poll(struct pollfd *watched, unsigned count, int milliseconds);

#endif
