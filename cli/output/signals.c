/* signals.c - see signals.h. The pipe wakes poll() if a signal arrives between stop_signal() and
 * poll(). */
#define _POSIX_C_SOURCE 200809L

#include "output/signals.h"

#ifndef _WIN32

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static volatile sig_atomic_t caught;
static int ends[2] = {-1, -1};

static void on_signal(int number)
{
    int saved = errno;
    caught = number;
    if (write(ends[1], "", 1) < 0) errno = 0; /* the pipe is full, so it is already readable */
    errno = saved;
}

void catch_stop_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    /* SA_RESTART: writes in progress are completed. poll() still returns. */
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART | SA_RESETHAND},
                     before;
    if (pipe(ends) != 0) return; /* without a pipe, signals simply kill the process */
    for (int i = 0; i < 2; i++) {
        fcntl(ends[i], F_SETFL, O_NONBLOCK);
        fcntl(ends[i], F_SETFD, FD_CLOEXEC);
    }
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(numbers[i], &action, NULL);
}

int stop_signal(void)
{
    return caught;
}

int stop_descriptor(void)
{
    return ends[0];
}

#endif
