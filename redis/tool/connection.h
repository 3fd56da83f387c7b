/* connection.h - one connection to a server: TCP or a Unix socket, with TLS if requested. hiredis
 * formats commands and parses replies; the bytes are sent and received here, since hiredis lacks
 * TLS on many systems. */
#ifndef PETAL_REDIS_CONNECTION_H
#define PETAL_REDIS_CONNECTION_H

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stddef.h>

struct connection;

struct connecting {
    const char *address; /* HOST:PORT, [IPV6]:PORT, or unix:PATH */
    bool tls;
    const char *ca_file, *certificate_file, *key_file; /* NULL for the system's CAs; none; none */
    const char *user, *password;                       /* NULL for no AUTH */
};

/* Opens a connection. On failure, prints a line to stderr and returns NULL. */
struct connection *connection_open(const struct connecting *how);
void connection_close(struct connection *connection);

/* Sends a command and returns its reply, which may be an error reply; the caller frees it with
 * freeReplyObject(). If the connection fails, prints a line to stderr and returns NULL; the
 * connection is then unusable. */
redisReply *connection_call(struct connection *connection, int count, const char **words,
                            const size_t *sizes);

#endif
