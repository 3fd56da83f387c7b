/* main.c - petal-redis: transfers filters between files and the keys of a server that has the
 * module.
 *
 * push sends a petal file in pieces (PETAL.LOAD). A filter in RedisBloom's format becomes a BF.*
 * value (BF.LOADCHUNK), unless PETAL.* is requested. The key changes only when the last piece has
 * arrived. pull reads the header and the bits (PETAL.DUMP, or BF.SCANDUMP for another module's
 * filter) and saves them as a file. Both resume where an interrupted run stopped. */
#include "connection.h"

#include <petal/petal_host.h>

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DONE = 0, FAILED = 1, USAGE = 2 };

static const char help[] =
    "petal-redis push [OPTION...] HOST:PORT KEY FILE    a filter file into a key\n"
    "petal-redis pull [OPTION...] HOST:PORT KEY FILE    a key into a filter file\n"
    "\n"
    "HOST:PORT may be unix:PATH. Called again after a break, both go on where they were.\n"
    "\n"
    "  --from FORMAT          push: the file's format (petal formats); default petal\n"
    "  --petal                push: PETAL.* serve it; without, a file of RedisBloom's kind is for "
    "BF.*\n"
    "  --to FORMAT            pull: the file's format; default petal\n"
    "  --tls                  encrypted; the certificate must be the host's\n"
    "  --cacert FILE          trust these certificates in place of the system's\n"
    "  --cert FILE --key FILE our own, if the server asks for one\n"
    "  --user NAME            with the password of the environment's REDISCLI_AUTH\n"
    "  --secret-file FILE     16 bytes, the secret of a keyed filter\n"
    "  --piece BYTES          size of the pieces; default 4194304\n";

struct job {
    struct connecting how;
    struct connection *connection;
    const char *key, *path, *from, *to;
    uint8_t secret[PETAL_SECRET_BYTES];
    bool has_secret, for_petal;
    size_t piece_bytes;
    const char *dump; /* the command that returns chunks */
};

static int complain(const char *what, const char *why)
{
    fprintf(stderr, "petal-redis: %s: %s\n", what, why);
    return FAILED;
}

/* Sends a command, given as words. The last word may be binary. On failure, prints a line to stderr
 * and returns NULL. */
static redisReply *call(struct job *job, int count, const char **words, size_t last_bytes)
{
    size_t sizes[8];
    for (int i = 0; i < count; i++) sizes[i] = strlen(words[i]);
    if (last_bytes) sizes[count - 1] = last_bytes;
    redisReply *reply = connection_call(job->connection, count, words, sizes);
    if (!reply || reply->type != REDIS_REPLY_ERROR) return reply;
    complain(words[0], reply->str);
    freeReplyObject(reply);
    return NULL;
}

/* ---- push ------------------------------------------------------------------------------------ */

/* Names the key for the pieces: it is in the same slot as the target, and unique to this
 * content. */
static bool name_part(const struct job *job, const petal_filter *filter, char *name, size_t room)
{
    uint64_t id = 0;
    const char *open = strchr(job->key, '{'), *close = open ? strchr(open, '}') : NULL;
    bool has_tag = close && close > open + 1;
    petal_error error;
    if (petal_content_id(filter, &id, &error) != PETAL_OK) {
        complain(job->path, error.message);
        return false;
    }
    if (!has_tag && strchr(job->key, '}')) {
        complain(job->key, "a key with } needs a {tag} before it, for the name of its parts");
        return false;
    }
    int length = snprintf(name, room, "%s%s%s:petal-part-%016" PRIx64, has_tag ? "" : "{", job->key,
                          has_tag ? "" : "}", id);
    if (length > 0 && (size_t)length < room) return true;
    complain(job->key, "the key is too long");
    return false;
}

struct pushing {
    struct job *job;
    const char *part;
    uint64_t at, come, total; /* position in the file; bytes the server already has; total */
    char *piece;
    size_t filled;
    bool failed;
};

static void send_piece(struct pushing *to)
{
    char at[24], total[24];
    snprintf(at, sizeof at, "%" PRIu64, to->come);
    snprintf(total, sizeof total, "%" PRIu64, to->total);
    const char *words[] = {"PETAL.LOAD", to->job->key, to->part, at, total, to->piece};
    redisReply *reply = call(to->job, 6, words, to->filled);
    to->failed = !reply;
    to->come += to->filled;
    to->filled = 0;
    freeReplyObject(reply);
}

static int32_t push_bytes(void *context, const void *bytes, size_t size)
{
    struct pushing *to = context;
    const char *from = bytes;
    while (size && !to->failed) {
        size_t part;
        if (to->at < to->come) { /* the server has this already */
            part = size < to->come - to->at ? size : (size_t)(to->come - to->at);
        } else {
            size_t room = to->job->piece_bytes - to->filled;
            part = size < room ? size : room;
            memcpy(to->piece + to->filled, from, part);
            to->filled += part;
        }
        to->at += part;
        from += part;
        size -= part;
        if (to->filled == to->job->piece_bytes) send_piece(to);
    }
    return to->failed;
}

static int push_petal(struct job *job, const petal_filter *filter, const char *part)
{
    struct pushing to = {.job = job, .part = part};
    const char *words[] = {"PETAL.LOAD", job->key, part};
    petal_error error;
    redisReply *reply = call(job, 3, words, 0);
    if (!reply) return FAILED;
    to.come = reply->type == REDIS_REPLY_INTEGER ? (uint64_t)reply->integer : 0;
    freeReplyObject(reply);
    if (to.come) fprintf(stderr, "going on after %" PRIu64 " bytes\n", to.come);
    to.total = petal_serialized_bytes(filter, NULL);
    to.piece = malloc(job->piece_bytes);
    if (!to.piece) return complain("push", "out of memory");
    petal_status status = petal_write(filter, NULL, push_bytes, &to, &error);
    if (status == PETAL_OK && to.filled) send_piece(&to);
    free(to.piece);
    if (to.failed) return FAILED;
    return status == PETAL_OK ? DONE : complain(job->path, error.message);
}

/* Sends one piece with BF.LOADCHUNK. Its iterator is the end of the piece plus one. */
static bool push_chunk(struct job *job, const char *part, uint64_t iterator, const void *bytes,
                       size_t size)
{
    char number[24];
    snprintf(number, sizeof number, "%" PRIu64, iterator);
    const char *words[] = {"BF.LOADCHUNK", part, number, bytes};
    redisReply *reply = call(job, 4, words, size);
    freeReplyObject(reply);
    return reply != NULL;
}

static bool push_bits(struct job *job, const petal_filter *filter, const char *part)
{
    petal_info info = PETAL_INFO_INIT;
    uint64_t before = 0;
    petal_get_info(filter, PETAL_ALL_LAYERS, &info, NULL);
    for (uint32_t i = 0; i < info.layers; i++) {
        const void *bits;
        uint64_t size;
        petal_bits(filter, i, &bits, &size, NULL);
        for (uint64_t at = 0; at < size;) {
            size_t piece = size - at < job->piece_bytes ? (size_t)(size - at) : job->piece_bytes;
            if (!push_chunk(job, part, before + at + piece + 1, (const char *)bits + at, piece))
                return false;
            at += piece;
        }
        before += size;
    }
    return true;
}

struct beginning {
    char *bytes;
    size_t size, room;
};

static int32_t take_beginning(void *context, const void *bytes, size_t size)
{
    struct beginning *to = context;
    size_t part = size < to->room - to->size ? size : to->room - to->size;
    memcpy(to->bytes + to->size, bytes, part);
    to->size += part;
    return to->size == to->room;
}

static petal_save_options as_redisbloom(void)
{
    petal_save_options options = PETAL_SAVE_OPTIONS_INIT;
    options.format = "redisbloom";
    return options;
}

/* Pushes into a temporary key, which is renamed at the end. A chunk may be sent twice, so the data
 * that an interrupted run left behind does no harm. */
static int push_bloom(struct job *job, const petal_filter *filter, const char *part)
{
    petal_save_options options = as_redisbloom();
    petal_info info = PETAL_INFO_INIT;
    char bytes[20 + 64 * 53];
    petal_get_info(filter, PETAL_ALL_LAYERS, &info, NULL);
    struct beginning header = {bytes, 0, 20 + info.layers * (size_t)53};
    petal_error error;
    petal_status status = petal_write(filter, &options, take_beginning, &header, &error);
    if (status != PETAL_OK && status != PETAL_ERR_IO) /* the sink stops at the end of the header */
        return complain(job->path, error.message);
    const char *clear[] = {"DEL", part}, *rename[] = {"RENAME", part, job->key};
    redisReply *reply = call(job, 2, clear, 0);
    freeReplyObject(reply);
    if (!reply || !push_chunk(job, part, 1, bytes, header.size) || !push_bits(job, filter, part))
        return FAILED;
    reply = call(job, 3, rename, 0);
    freeReplyObject(reply);
    return reply ? DONE : FAILED;
}

static int push(struct job *job)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    petal_save_options bloom = as_redisbloom();
    petal_filter *filter = NULL;
    petal_error error;
    char part[1024];
    options.flags = PETAL_OPEN_MAP | PETAL_OPEN_VERIFY;
    options.format = job->from;
    options.secret = job->has_secret ? job->secret : NULL;
    if (petal_open(job->path, &options, &filter, &error) != PETAL_OK)
        return complain(job->path, error.message);
    int status = FAILED;
    if (name_part(job, filter, part, sizeof part))
        status = !job->for_petal && petal_serialized_bytes(filter, &bloom)
                     ? push_bloom(job, filter, part)
                     : push_petal(job, filter, part);
    petal_free(filter);
    return status;
}

/* ---- pull ------------------------------------------------------------------------------------ */

/* Requests a chunk. Returns the reply, which the caller frees; its elements are the next iterator
 * and the bytes. */
static redisReply *dump(struct job *job, uint64_t iterator)
{
    char number[24];
    snprintf(number, sizeof number, "%" PRIu64, iterator);
    const char *words[] = {job->dump, job->key, number};
    redisReply *reply = call(job, 3, words, 0);
    if (!reply || (reply->type == REDIS_REPLY_ARRAY && reply->elements == 2 &&
                   reply->element[0]->type == REDIS_REPLY_INTEGER &&
                   reply->element[1]->type == REDIS_REPLY_STRING))
        return reply;
    complain(job->dump, "not a reply with a chunk");
    freeReplyObject(reply);
    return NULL;
}

static bool is_petal(const redisReply *header)
{
    return header->len > 4 && !memcmp(header->str, "\211PTL", 4);
}

/* Copies bytes into the filter at offset `at`, counted over all layers end to end. */
static petal_status put(petal_filter *filter, uint64_t at, const char *bytes, uint64_t size,
                        petal_error *error)
{
    petal_info all = PETAL_INFO_INIT;
    petal_get_info(filter, PETAL_ALL_LAYERS, &all, error);
    for (uint32_t i = 0; i < all.layers && size; i++) {
        petal_info layer = PETAL_INFO_INIT;
        petal_get_info(filter, i, &layer, error);
        if (at < layer.bytes) {
            uint64_t part = size < layer.bytes - at ? size : layer.bytes - at;
            petal_status status = petal_write_bits(filter, i, at, bytes, part, error);
            if (status != PETAL_OK) return status;
            bytes += part;
            size -= part;
            at = layer.bytes;
        }
        at -= layer.bytes;
    }
    return PETAL_OK;
}

static petal_filter *open_header(struct job *job, const redisReply *header, petal_error *error)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    petal_filter *filter = NULL;
    options.flags = PETAL_OPEN_HEADER_ONLY;
    options.format = is_petal(header) ? "petal" : "redisbloom";
    options.memory_limit = UINT64_MAX;
    options.secret = job->has_secret ? job->secret : NULL;
    petal_status status = petal_load(header->str, (uint64_t)header->len, &options, &filter, error);
    return status == PETAL_OK ? filter : NULL;
}

/* Opens PATH.part. If an interrupted run left data there, resumes from it; *at is the size of that
 * data. */
static FILE *open_part(const struct job *job, petal_filter *filter, uint64_t *at,
                       petal_error *error)
{
    static char bytes[1 << 20];
    char path[4096];
    snprintf(path, sizeof path, "%s.part", job->path);
    FILE *file = fopen(path, "a+b");
    *at = 0;
    if (!file) {
        complain(path, strerror(errno));
        return NULL;
    }
    rewind(file);
    for (size_t size; (size = fread(bytes, 1, sizeof bytes, file)) > 0; *at += size)
        if (put(filter, *at, bytes, size, error) != PETAL_OK) break;
    if (*at) fprintf(stderr, "going on after %" PRIu64 " bytes\n", *at);
    return file;
}

static int pull_bits(struct job *job, petal_filter *filter, FILE *file, uint64_t at)
{
    petal_error error;
    for (;;) {
        redisReply *reply = dump(job, at + 1);
        if (!reply) return FAILED;
        uint64_t size = (uint64_t)reply->element[1]->len;
        bool last = reply->element[0]->integer == 0;
        const char *bytes = reply->element[1]->str;
        petal_status status = last ? PETAL_OK : put(filter, at, bytes, size, &error);
        if (!last && fwrite(bytes, 1, size, file) != size) error.status = PETAL_ERR_IO;
        freeReplyObject(reply);
        if (last) return DONE;
        if (status != PETAL_OK) return complain(job->key, error.message);
        if (fflush(file)) return complain(job->path, strerror(errno));
        at += size;
    }
}

/* Chooses PETAL.DUMP for all of this module's filters, or BF.SCANDUMP, which returns the same
 * chunks, for another module's filters. */
static void choose_dump(struct job *job)
{
    const char *words[] = {"PETAL.DUMP", job->key, "0"};
    size_t sizes[] = {10, strlen(job->key), 1};
    redisReply *reply = connection_call(job->connection, 3, words, sizes);
    bool is_other = reply && reply->type == REDIS_REPLY_ERROR &&
                    (!strncmp(reply->str, "WRONGTYPE", 9) || strstr(reply->str, "unknown command"));
    job->dump = is_other ? "BF.SCANDUMP" : "PETAL.DUMP";
    freeReplyObject(reply);
}

static int pull(struct job *job)
{
    petal_save_options options = PETAL_SAVE_OPTIONS_INIT;
    petal_error error;
    char path[4096];
    uint64_t at;
    options.format = job->to;
    choose_dump(job);
    redisReply *reply = dump(job, 0);
    if (!reply) return FAILED;
    petal_filter *filter = open_header(job, reply->element[1], &error);
    freeReplyObject(reply);
    if (!filter) return complain(job->key, error.message);
    FILE *file = open_part(job, filter, &at, &error);
    int status = file ? pull_bits(job, filter, file, at) : FAILED;
    if (file) fclose(file);
    if (status == DONE && petal_save(filter, job->path, &options, &error) != PETAL_OK)
        status = complain(job->path, error.message);
    snprintf(path, sizeof path, "%s.part", job->path);
    if (status == DONE) remove(path);
    petal_free(filter);
    return status;
}

/* ---- options --------------------------------------------------------------------------------- */

static bool read_secret(struct job *job, const char *path)
{
    FILE *file = fopen(path, "rb");
    job->has_secret = file &&
                      fread(job->secret, 1, PETAL_SECRET_BYTES, file) == PETAL_SECRET_BYTES &&
                      fgetc(file) == EOF;
    if (file) fclose(file);
    if (!job->has_secret) complain(path, "not a secret: expected 16 bytes");
    return job->has_secret;
}

static bool read_options(struct job *job, int argc, char **argv)
{
    enum { FROM = 1, TO, PETAL, TLS, CACERT, CERT, KEY, USER, SECRET, PIECE, HELP };
    static const struct option known[] = {
        {"from", 1, NULL, FROM},   {"to", 1, NULL, TO},         {"petal", 0, NULL, PETAL},
        {"tls", 0, NULL, TLS},     {"cacert", 1, NULL, CACERT}, {"cert", 1, NULL, CERT},
        {"key", 1, NULL, KEY},     {"user", 1, NULL, USER},     {"secret-file", 1, NULL, SECRET},
        {"piece", 1, NULL, PIECE}, {"help", 0, NULL, HELP},     {NULL, 0, NULL, 0}};
    for (int option; (option = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        switch (option) {
        case FROM: job->from = optarg; break;
        case TO: job->to = optarg; break;
        case PETAL: job->for_petal = true; break;
        case TLS: job->how.tls = true; break;
        case CACERT: job->how.ca_file = optarg; break;
        case CERT: job->how.certificate_file = optarg; break;
        case KEY: job->how.key_file = optarg; break;
        case USER: job->how.user = optarg; break;
        case SECRET:
            if (!read_secret(job, optarg)) return false;
            break;
        case PIECE: job->piece_bytes = strtoul(optarg, NULL, 10); break;
        case HELP: fputs(help, stdout); exit(DONE);
        default: return false;
        }
    }
    return job->piece_bytes > 0;
}

int main(int argc, char **argv)
{
    struct job job = {.piece_bytes = (size_t)4 << 20};
    if (!read_options(&job, argc, argv) || argc - optind != 4) {
        fputs(help, stderr);
        return USAGE;
    }
    const char *verb = argv[optind];
    bool is_push = !strcmp(verb, "push");
    job.how.address = argv[optind + 1];
    job.key = argv[optind + 2];
    job.path = argv[optind + 3];
    job.how.password = getenv("REDISCLI_AUTH");
    if (!is_push && strcmp(verb, "pull") != 0) {
        fputs(help, stderr);
        return USAGE;
    }
    job.connection = connection_open(&job.how);
    if (!job.connection) return FAILED;
    int status = is_push ? push(&job) : pull(&job);
    connection_close(job.connection);
    return status;
}
