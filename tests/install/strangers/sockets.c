/* sockets.c - sends a filter through a socket. The sender calls petal_write(), and the receiver
 * feeds the bytes to a petal_reader as they arrive. */
#define _POSIX_C_SOURCE 200809L

#include "expect.h"

#include <errno.h>
#include <petal/petal_host.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KEYS = 100000 };

static int send_all(void *context, const void *bytes, size_t size_bytes)
{
    const char *from = bytes;
    while (size_bytes > 0) {
        ssize_t sent = write(*(const int *)context, from, size_bytes);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0) return errno;
        from += sent;
        size_bytes -= (size_t)sent;
    }
    return 0;
}

static petal_filter *make(void)
{
    petal_options options = PETAL_OPTIONS_INIT;
    petal_filter *filter = NULL;
    options.capacity = KEYS;
    options.rate = 0.001;
    expect(petal_create(&options, &filter, NULL) == PETAL_OK);
    for (int64_t i = 0; i < KEYS; i++) petal_add_i64(filter, i);
    return filter;
}

static petal_filter *receive(int from, petal_status wanted)
{
    petal_reader *reader = NULL;
    petal_filter *filter = NULL;
    petal_error error;
    char piece[1777];
    ssize_t got;
    expect(petal_reader_create(NULL, 0, &reader, &error) == PETAL_OK);
    petal_status status = PETAL_OK;
    while ((got = read(from, piece, sizeof piece)) > 0 && status == PETAL_OK)
        status = petal_reader_feed(reader, piece, (size_t)got, &error);
    if (status == PETAL_OK) status = petal_reader_finish(reader, &filter, &error);
    expect(status == wanted);
    petal_reader_free(reader);
    return filter;
}

static void sends_and_receives(void)
{
    int ends[2], ended = 1;
    petal_filter *filter = make();
    expect(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    pid_t sender = fork();
    expect(sender >= 0);
    if (sender == 0) {
        close(ends[0]);
        _exit(petal_write(filter, NULL, send_all, &ends[1], NULL) != PETAL_OK);
    }
    close(ends[1]);
    petal_filter *copy = receive(ends[0], PETAL_OK);
    expect(waitpid(sender, &ended, 0) == sender && ended == 0);
    uint64_t id = 0, copied = 1;
    expect(petal_content_id(filter, &id, NULL) == PETAL_OK);
    expect(petal_content_id(copy, &copied, NULL) == PETAL_OK && copied == id);
    for (int64_t i = 0; i < KEYS; i++) expect(petal_contains_i64(copy, i));
    close(ends[0]);
    petal_free(copy);
    petal_free(filter);
}

/* The sender stops halfway, so the receiver must report an error and create no filter. */
struct halfway {
    int to;
    size_t left;
};

static int stop_halfway(void *context, const void *bytes, size_t size_bytes)
{
    struct halfway *halfway = context;
    size_t part = size_bytes < halfway->left ? size_bytes : halfway->left;
    halfway->left -= part;
    if (send_all(&halfway->to, bytes, part) != 0 || part < size_bytes) return EPIPE;
    return 0;
}

static void notices_the_end_of_the_line(void)
{
    int ends[2];
    petal_error error;
    petal_filter *filter = make();
    expect(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    struct halfway halfway = {ends[1], 20000}; /* fits in the socket's buffer */
    expect(petal_write(filter, NULL, stop_halfway, &halfway, &error) == PETAL_ERR_IO);
    expect(error.system_errno == EPIPE);
    close(ends[1]);
    expect(receive(ends[0], PETAL_ERR_TRUNCATED) == NULL);
    close(ends[0]);
    petal_free(filter);
}

int main(void)
{
    sends_and_receives();
    notices_the_end_of_the_line();
    return 0;
}
