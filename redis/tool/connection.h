/* connection.h - one connection to a server: TCP or a Unix socket, with TLS if requested. hiredis
 * formats commands and parses replies; the bytes go through here, since many systems' hiredis lacks
 * TLS. */
#ifndef PETAL_REDIS_CONNECTION_H
#define PETAL_REDIS_CONNECTION_H

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stddef.h>

struct connection;

struct connecting {
    const char *address; /* HOST:PORT, [IPV6]:PORT, or unix:PATH */
    bool tls;
    const char *ca_file, *certificate_file, *key_file; /* NULL: the system's CAs; none; none */
    const char *user, *password;                       /* NULL: no AUTH */
};

/* NULL after a line on stderr. */
struct connection *connection_open(const struct connecting *how);
void connection_close(struct connection *connection);

/* Returns the reply to a command, for freeReplyObject(); NULL after a line on stderr, and then the
 * connection is unusable. Error replies are replies. */
redisReply *connection_call(struct connection *connection, int count, const char **words,
                            const size_t *sizes);

#endif
