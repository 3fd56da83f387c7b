/* connection.c - see connection.h. */
#include "connection.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#ifdef PETAL_REDIS_TLS
#include <openssl/err.h>
#include <openssl/ssl.h>
#endif

struct connection {
    int socket;
    redisReader *reader;
#ifdef PETAL_REDIS_TLS
    SSL_CTX *tls_context;
    SSL *tls;
#endif
};

static bool complain(const char *what, const char *why)
{
    fprintf(stderr, "petal-redis: %s: %s\n", what, why);
    return false;
}

/* ---- connecting ------------------------------------------------------------------------------ */

static int connect_unix(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        complain(path, "the path of the socket is too long");
        return -1;
    }
    memcpy(address.sun_path, path, strlen(path) + 1);
    int made = socket(AF_UNIX, SOCK_STREAM, 0);
    if (made >= 0 && connect(made, (struct sockaddr *)&address, sizeof address) == 0) return made;
    complain(path, strerror(errno));
    if (made >= 0) close(made);
    return -1;
}

/* Splits HOST:PORT. */
static bool split(const char *address, char host[256], char port[16])
{
    const char *colon = strrchr(address, ':');
    size_t length = colon ? (size_t)(colon - address) : 0;
    bool bracketed = length > 2 && address[0] == '[' && address[length - 1] == ']';
    if (!colon || length == 0 || length > 255 || strlen(colon + 1) > 15 || !colon[1]) return false;
    snprintf(host, 256, "%.*s", (int)(bracketed ? length - 2 : length), address + bracketed);
    snprintf(port, 16, "%s", colon + 1);
    return true;
}

static int connect_tcp(const char *address)
{
    char host[256], port[16];
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
    if (!split(address, host, port)) {
        complain(address, "expected HOST:PORT, [ADDRESS]:PORT or unix:PATH");
        return -1;
    }
    int status = getaddrinfo(host, port, &hints, &found), made = -1;
    for (struct addrinfo *at = found; !status && at && made < 0; at = at->ai_next) {
        made = socket(at->ai_family, at->ai_socktype, at->ai_protocol);
        if (made >= 0 && connect(made, at->ai_addr, at->ai_addrlen) == 0) break;
        if (made >= 0) close(made);
        made = -1;
    }
    if (made < 0) complain(address, status ? gai_strerror(status) : strerror(errno));
    if (found) freeaddrinfo(found);
    return made;
}

#ifdef PETAL_REDIS_TLS
/* The reason is OpenSSL's last error; earlier ones may come from places that it searched without
 * success. */
static bool complain_tls(const char *what)
{
    char text[200];
    ERR_error_string_n(ERR_peek_last_error(), text, sizeof text);
    return complain(what, text);
}

static bool complain_handshake(const struct connection *connection, const char *address)
{
    char text[200];
    long verified = SSL_get_verify_result(connection->tls);
    if (verified == X509_V_OK) return complain_tls(address);
    snprintf(text, sizeof text, "certificate verify failed: %s",
             X509_verify_cert_error_string(verified));
    return complain(address, text);
}

/* Requires the server's certificate to be valid for the requested host. */
static bool start_tls(struct connection *connection, const struct connecting *how)
{
    char host[256] = "", port[16];
    connection->tls_context = SSL_CTX_new(TLS_client_method());
    if (!connection->tls_context) return complain_tls("TLS");
    SSL_CTX_set_verify(connection->tls_context, SSL_VERIFY_PEER, NULL);
    if (how->ca_file
            ? SSL_CTX_load_verify_locations(connection->tls_context, how->ca_file, NULL) != 1
            : SSL_CTX_set_default_verify_paths(connection->tls_context) != 1)
        return complain_tls(how->ca_file ? how->ca_file : "the system's certificates");
    if (how->certificate_file &&
        SSL_CTX_use_certificate_chain_file(connection->tls_context, how->certificate_file) != 1)
        return complain_tls(how->certificate_file);
    if (how->key_file &&
        SSL_CTX_use_PrivateKey_file(connection->tls_context, how->key_file, SSL_FILETYPE_PEM) != 1)
        return complain_tls(how->key_file);
    connection->tls = SSL_new(connection->tls_context);
    split(how->address, host, port);
    if (!connection->tls || SSL_set_fd(connection->tls, connection->socket) != 1 ||
        SSL_set1_host(connection->tls, host) != 1)
        return complain_tls("TLS");
    SSL_set_tlsext_host_name(connection->tls, host);
    return SSL_connect(connection->tls) == 1 || complain_handshake(connection, how->address);
}
#endif

static bool authenticate(struct connection *connection, const struct connecting *how)
{
    const char *words[3] = {"AUTH", how->user, how->password};
    if (!how->user) words[1] = how->password;
    if (!how->password) return true;
    redisReply *reply = connection_call(connection, how->user ? 3 : 2, words, NULL);
    bool done = reply && reply->type != REDIS_REPLY_ERROR;
    if (reply && !done) complain("AUTH", reply->str);
    freeReplyObject(reply);
    return done;
}

struct connection *connection_open(const struct connecting *how)
{
    struct connection *connection = calloc(1, sizeof *connection);
    if (!connection) return NULL;
    bool is_unix = !strncmp(how->address, "unix:", 5);
    connection->socket = is_unix ? connect_unix(how->address + 5) : connect_tcp(how->address);
    connection->reader = redisReaderCreate();
    bool ready = connection->socket >= 0 && connection->reader;
#ifdef PETAL_REDIS_TLS
    if (ready && how->tls) ready = start_tls(connection, how);
#else
    if (ready && how->tls) ready = complain("--tls", "not in this build (it needs OpenSSL)");
#endif
    if (ready && authenticate(connection, how)) return connection;
    connection_close(connection);
    return NULL;
}

void connection_close(struct connection *connection)
{
    if (!connection) return;
#ifdef PETAL_REDIS_TLS
    SSL_free(connection->tls);
    SSL_CTX_free(connection->tls_context);
#endif
    if (connection->reader) redisReaderFree(connection->reader);
    if (connection->socket >= 0) close(connection->socket);
    free(connection);
}

/* ---- commands -------------------------------------------------------------------------------- */

static ssize_t write_some(struct connection *connection, const char *bytes, size_t size)
{
#ifdef PETAL_REDIS_TLS
    if (connection->tls)
        return SSL_write(connection->tls, bytes, size > 1 << 20 ? 1 << 20 : (int)size);
#endif
    return send(connection->socket, bytes, size, MSG_NOSIGNAL);
}

static ssize_t read_some(struct connection *connection, char *bytes, size_t size)
{
#ifdef PETAL_REDIS_TLS
    if (connection->tls) return SSL_read(connection->tls, bytes, (int)size);
#endif
    return recv(connection->socket, bytes, size, 0);
}

static bool write_all(struct connection *connection, const char *bytes, size_t size)
{
    for (size_t at = 0; at < size;) {
        ssize_t written = write_some(connection, bytes + at, size - at);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return complain("the server", "the connection is broken; try again");
        at += (size_t)written;
    }
    return true;
}

static redisReply *read_reply(struct connection *connection)
{
    void *reply = NULL;
    for (;;) {
        char bytes[65536];
        if (redisReaderGetReply(connection->reader, &reply) != REDIS_OK) {
            complain("the server", "it does not speak Redis' protocol");
            return NULL;
        }
        if (reply) return reply;
        ssize_t size = read_some(connection, bytes, sizeof bytes);
        if (size < 0 && errno == EINTR) continue;
        if (size <= 0) {
            complain("the server", "the connection is broken; try again");
            return NULL;
        }
        redisReaderFeed(connection->reader, bytes, (size_t)size);
    }
}

redisReply *connection_call(struct connection *connection, int count, const char **words,
                            const size_t *sizes)
{
    char *command = NULL;
    long long size = redisFormatCommandArgv(&command, count, words, sizes);
    if (size < 0) {
        complain("a command", "out of memory");
        return NULL;
    }
    bool sent = write_all(connection, command, (size_t)size);
    redisFreeCommand(command);
    return sent ? read_reply(connection) : NULL;
}
