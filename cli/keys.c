/* keys.c - see keys.h.
 *
 *      buffer   |....consumed....|part of a line.|          |
 *               0              start           scanned=end  capacity
 *
 * Blocks are read behind `end`; memchr() looks for separators from `scanned` on, so that a line that comes in many pieces is
 * still looked at once. A buffer that is one unfinished line is doubled. */
#define _POSIX_C_SOURCE 200809L

#include "keys.h"

#include "progress.h"
#include "report.h"
#include "signals.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST_BUFFER_BYTES ((size_t)1 << 18)

static bool is_standard_input(const char *file)
{
    return strcmp(file, "-") == 0;
}

static const char *shown_name(const char *file)
{
    return is_standard_input(file) ? "standard input" : file;
}

/* ---- opening --------------------------------------------------------------------------------------------------------- */

static bool check_readable(const char *file)
{
    struct stat about;
    if (is_standard_input(file)) return true;
    if (stat(file, &about) != 0) return complain(file, "cannot open it: %s", strerror(errno));
    if (S_ISDIR(about.st_mode)) return complain(file, "is a directory; name the files in it");
    return access(file, R_OK) == 0 || complain(file, "cannot open it: %s", strerror(errno));
}

/* For the progress line: 0 where one of the sizes is not known. */
static uint64_t total_bytes(char **files, size_t count)
{
    uint64_t total = 0;
    for (size_t i = 0; i < count; i++) {
        struct stat about;
        int failed = is_standard_input(files[i]) ? fstat(0, &about) : stat(files[i], &about);
        if (failed || !S_ISREG(about.st_mode)) return 0;
        total += (uint64_t)about.st_size;
    }
    return total;
}

bool keys_open(struct key_reader *reader, const struct args *args, char **files, size_t file_count, bool keep_going)
{
    static char *standard_input[] = {"-"};
    *reader = (struct key_reader){.keep_going = keep_going, .descriptor = -1, .crlf = args->crlf};
    reader->separator = args->nul ? '\0' : '\n';
    reader->decode = find_decoder(args->key_type);
    reader->literals = args->literals;
    reader->literals_left = args->literal_count;
    bool none = file_count == 0 && args->literal_count == 0;
    reader->files = none ? standard_input : files;
    reader->files_left = none ? 1 : file_count;
    if (args->crlf && args->nul)
        return complain(NULL, "--crlf is for lines, --null for keys that are not lines; give one");
    for (size_t i = 0; i < reader->files_left && !keep_going; i++)
        if (!check_readable(reader->files[i])) return false;
    reader->bytes_total = total_bytes(reader->files, reader->files_left);
    reader->buffer = malloc(FIRST_BUFFER_BYTES);
    reader->capacity = FIRST_BUFFER_BYTES;
    return reader->buffer || complain(NULL, "out of memory");
}

void keys_close(struct key_reader *reader)
{
    progress_hide();
    if (reader->descriptor > 0) close(reader->descriptor);
    free(reader->buffer);
    free(reader->arena);
    *reader = (struct key_reader){.descriptor = -1, .failed = reader->failed, .keys_read = reader->keys_read};
}

static bool reads_standard_input(char **files, size_t file_count)
{
    for (size_t i = 0; i < file_count; i++)
        if (is_standard_input(files[i])) return true;
    return file_count == 0;
}

static bool copy_standard_input(FILE *to)
{
    static char block[1 << 16];
    ssize_t got;
    while ((got = read(0, block, sizeof block)) != 0) {
        if (got < 0 && errno == EINTR && !stop_signal()) continue;
        if (got < 0 || fwrite(block, 1, (size_t)got, to) != (size_t)got) return false;
    }
    return fflush(to) == 0;
}

bool spool_standard_input(char **files, size_t file_count)
{
    struct stat about;
    if (!reads_standard_input(files, file_count) || (fstat(0, &about) == 0 && S_ISREG(about.st_mode))) return true;
    FILE *spool = tmpfile();
    bool good = spool && copy_standard_input(spool) && dup2(fileno(spool), 0) == 0 && lseek(0, 0, SEEK_SET) == 0;
    int failure = errno;
    if (spool) fclose(spool);
    return good || complain("standard input", "cannot be kept in a temporary file: %s; say how many keys with -n",
                            strerror(failure));
}

bool rewind_standard_input(void)
{
    lseek(0, 0, SEEK_SET); /* where it is not read it does not matter */
    return true;
}

/* False: it could not be opened. */
static bool open_next(struct key_reader *reader)
{
    const char *file = *reader->files++;
    reader->files_left--;
    reader->name = shown_name(file);
    reader->at_end = false;
    reader->lines_read = 0;
    reader->start = reader->scanned = reader->end = 0;
    if (!check_readable(file)) {
        reader->failed = true;
        return false;
    }
    reader->descriptor = is_standard_input(file) ? 0 : open(file, O_RDONLY | O_CLOEXEC);
    if (reader->descriptor < 0) reader->failed = !complain(file, "cannot open it: %s", strerror(errno));
    if (reader->descriptor == 0 && isatty(0)) remark(NULL, "reading keys from the terminal, Ctrl-D ends");
    return reader->descriptor >= 0;
}

static void close_current(struct key_reader *reader)
{
    if (reader->descriptor > 0) close(reader->descriptor);
    reader->descriptor = -1;
}

/* ---- reading --------------------------------------------------------------------------------------------------------- */

/* Returns when there is something to read; false when there is no use in reading on. */
static bool wait_for_input(struct key_reader *reader)
{
    /* Without events asked for, poll() still tells when the reader of a pipe has gone. */
    int output = reader->watch_output ? STDOUT_FILENO : -1;
    struct pollfd watched[] = {{reader->descriptor, POLLIN, 0}, {stop_descriptor(), POLLIN, 0}, {output, 0, 0}};
    if (stop_signal()) return false;
    if (poll(watched, 1, 0) > 0) return true;
    if (!flush_output()) return false;
    while (poll(watched, 3, -1) < 0 && errno == EINTR) continue;
    if (watched[2].revents & POLLERR) output_is_gone();
    return stop_signal() == 0 && flush_output();
}

static bool make_room(struct key_reader *reader)
{
    if (reader->start > 0) memmove(reader->buffer, reader->buffer + reader->start, reader->end - reader->start);
    reader->scanned -= reader->start;
    reader->end -= reader->start;
    reader->start = 0;
    if (reader->end < reader->capacity) return true;
    size_t doubled = reader->capacity > FIRST_BUFFER_BYTES ? reader->capacity * 2 : 2 * FIRST_BUFFER_BYTES;
    char *larger = doubled <= SIZE_MAX / 4 ? realloc(reader->buffer, doubled) : NULL;
    if (!larger) return complain(reader->name, "line %" PRIu64 " does not fit into memory", reader->lines_read + 1);
    reader->buffer = larger;
    reader->capacity = doubled;
    return true;
}

/* Whoever hands in compressed text nearly always meant the text. */
static void warn_of_gzip(const struct key_reader *reader)
{
    static const char gzip[] = {'\x1f', '\x8b'};
    if (reader->lines_read == 0 && reader->end >= 2 && memcmp(reader->buffer, gzip, 2) == 0)
        remark(reader->name, "is compressed; its bytes are taken as keys as they are; use gzip -dc FILE | petal ...");
}

/* Reads one block. False: failed or to be stopped. */
static bool fill(struct key_reader *reader)
{
    if (!make_room(reader)) {
        reader->failed = true;
        return false;
    }
    if (!wait_for_input(reader)) return false;
    bool first = reader->end == 0 && reader->lines_read == 0;
    ssize_t got = read(reader->descriptor, reader->buffer + reader->end, reader->capacity - reader->end);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return true;
    if (got < 0) {
        reader->failed = !complain(reader->name, "cannot read it: %s", strerror(errno));
        return false;
    }
    reader->at_end = got == 0;
    reader->end += (size_t)got;
    reader->bytes_read += (uint64_t)got;
    if (first) warn_of_gzip(reader);
    progress_show(reader->name, reader->bytes_read, reader->bytes_total, reader->keys_read);
    return true;
}

/* ---- splitting ------------------------------------------------------------------------------------------------------- */

static void push_line(struct key_reader *reader, struct key_batch *batch, size_t end)
{
    batch->lines[batch->count++] = (petal_key){reader->buffer + reader->start, end - reader->start};
    reader->lines_read++;
}

/* Takes whole lines from the buffer, and at the end of the file a last one that has no newline. */
static void split(struct key_reader *reader, struct key_batch *batch)
{
    while (batch->count < KEY_BATCH) {
        char *from = reader->buffer + reader->scanned;
        char *found =
            reader->scanned < reader->end ? memchr(from, reader->separator, reader->end - reader->scanned) : NULL;
        reader->scanned = reader->end;
        if (!found) break;
        size_t end = (size_t)(found - reader->buffer);
        push_line(reader, batch, end);
        reader->start = reader->scanned = end + 1;
    }
    if (reader->at_end && batch->count < KEY_BATCH && reader->start < reader->end) {
        push_line(reader, batch, reader->end);
        reader->start = reader->scanned = reader->end;
    }
}

/* Fills batch->lines from the open file. False: nothing more in it, or reading has to stop. */
static bool read_lines(struct key_reader *reader, struct key_batch *batch)
{
    batch->file = reader->name;
    batch->first_line = reader->lines_read + 1;
    for (;;) {
        split(reader, batch);
        if (batch->count > 0) return true;
        if (reader->at_end) {
            close_current(reader);
            return false;
        }
        if (!fill(reader)) return false;
    }
}

static void take_literals(struct key_reader *reader, struct key_batch *batch)
{
    batch->file = "-e";
    batch->first_line = reader->lines_read + 1;
    while (reader->literals_left > 0 && batch->count < KEY_BATCH) {
        char *text = *reader->literals++;
        batch->lines[batch->count++] = (petal_key){text, strlen(text)};
        reader->literals_left--;
        reader->lines_read++;
    }
}

static bool take_lines(struct key_reader *reader, struct key_batch *batch)
{
    if (reader->literals_left > 0) {
        take_literals(reader, batch);
        return true;
    }
    for (;;) {
        bool open = reader->descriptor >= 0;
        if (open && read_lines(reader, batch)) return true;
        if (open && reader->descriptor >= 0) return false; /* stopped in the middle */
        if (reader->files_left == 0) return false;
        if (!open_next(reader) && !reader->keep_going) return false;
    }
}

/* ---- keys of lines --------------------------------------------------------------------------------------------------- */

static size_t without_return(const petal_key *line)
{
    const char *text = line->data;
    size_t size = line->size_bytes;
    return size > 0 && text[size - 1] == '\r' ? size - 1 : size;
}

static bool make_arena(struct key_reader *reader, const struct key_batch *batch)
{
    size_t needed = 0;
    for (size_t i = 0; i < batch->count; i++)
        needed += DECODED_ROOM(batch->lines[i].size_bytes); /* in the buffer: no wrap */
    if (needed <= reader->arena_bytes) return true;
    free(reader->arena);
    reader->arena = malloc(needed);
    reader->arena_bytes = reader->arena ? needed : 0;
    return reader->arena || complain(reader->name, "out of memory");
}

static bool refuse_line(const struct key_batch *batch, size_t i, const char *why)
{
    const petal_key *line = &batch->lines[i];
    int shown = line->size_bytes < 40 ? (int)line->size_bytes : 40;
    return complain(batch->file, "line %" PRIu64 ": %s: \"%.*s\"%s", batch->first_line + i, why, shown,
                    (const char *)line->data, line->size_bytes > 40 ? "..." : "");
}

/* Stops before the first line that is no key: those ahead of it are still good. */
static void decode_batch(struct key_reader *reader, struct key_batch *batch)
{
    uint8_t *to = reader->arena;
    for (size_t i = 0; i < batch->count; i++) {
        const char *why;
        petal_key *key = &batch->decoded[i];
        size_t size = reader->crlf ? without_return(&batch->lines[i]) : batch->lines[i].size_bytes;
        if (!reader->decode(batch->lines[i].data, size, to, &key->size_bytes, &why)) {
            reader->failed = !refuse_line(batch, i, why);
            reader->keep_going = false;
            batch->count = i;
            break;
        }
        key->data = to;
        to += key->size_bytes;
    }
}

static void strip_returns(struct key_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++)
        batch->decoded[i] = (petal_key){batch->lines[i].data, without_return(&batch->lines[i])};
}

bool keys_next(struct key_reader *reader, struct key_batch *batch)
{
    batch->count = 0;
    if (reader->failed && !reader->keep_going) return false;
    if (stop_signal() || !take_lines(reader, batch)) return false;
    batch->keys = reader->decode || reader->crlf ? batch->decoded : batch->lines;
    if (reader->decode && !make_arena(reader, batch)) {
        reader->failed = true;
        return false;
    }
    if (reader->decode)
        decode_batch(reader, batch);
    else if (reader->crlf)
        strip_returns(batch);
    reader->keys_read += batch->count;
    return batch->count > 0;
}
