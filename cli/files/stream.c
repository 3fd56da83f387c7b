/* stream.c - see stream.h. */
#define _POSIX_C_SOURCE 200809L

#include "files/stream.h"

#include "output/filter_info.h"
#include "output/report.h"
#include "output/signals.h"
#include "output/terminal.h"

#include <errno.h>
#include <petal/petal_host.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE_BYTES = 1 << 16 };

bool is_stream(const char *name)
{
    return strcmp(name, "-") == 0;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Reads one full piece of input, or less only at the end of the input. Returns false on failure,
 * and sets errno. */
static bool read_piece(uint8_t *piece, size_t *size_bytes)
{
    *size_bytes = 0;
    while (*size_bytes < PIECE_BYTES) {
        ssize_t got = read(STDIN_FILENO, piece + *size_bytes, PIECE_BYTES - *size_bytes);
        if (got == 0) return true;
        if (got > 0)
            *size_bytes += (size_t)got;
        else if (errno != EINTR || stop_signal())
            return false;
    }
    return true;
}

/* Petal's magic number is proof enough. Other formats can be recognized only from the whole
 * stream. */
static const char *format_of(const uint8_t *piece, size_t size_bytes)
{
    const char *names[1];
    bool is_petal =
        petal_recognize(piece, size_bytes, names, 1) == 1 && strcmp(names[0], "petal") == 0;
    return is_petal ? "petal" : "auto";
}

static petal_status feed_stream(petal_reader *reader, uint8_t *piece, size_t size_bytes,
                                petal_error *error)
{
    petal_status status = PETAL_OK;
    while (status == PETAL_OK && size_bytes > 0) {
        status = petal_reader_feed(reader, piece, size_bytes, error);
        if (status != PETAL_OK || read_piece(piece, &size_bytes)) continue;
        snprintf(error->message, sizeof error->message, "cannot read it: %s", strerror(errno));
        status = error->status = PETAL_ERR_IO;
    }
    return status;
}

petal_status read_stream(petal_open_options options, petal_filter **filter, petal_error *error)
{
    petal_reader *reader = NULL;
    uint8_t *piece = malloc(PIECE_BYTES);
    size_t size_bytes = 0;
    petal_status status = PETAL_ERR_IO;
    *filter = NULL;
    *error = (petal_error){.status = PETAL_ERR_MEMORY, .message = "out of memory"};
    if (!piece) return PETAL_ERR_MEMORY;
    bool was_read = read_piece(piece, &size_bytes);
    const char *seems = was_read ? format_of(piece, size_bytes) : NULL;
    if (was_read && options.format && strcmp(seems, "petal") == 0 &&
        strcmp(options.format, "petal") != 0) {
        snprintf(error->message, sizeof error->message,
                 "is a petal file, not one of %s; leave out --from", options.format);
        status = error->status = PETAL_ERR_ARGUMENT;
    } else if (was_read) {
        if (!options.format) options.format = seems;
        status = petal_reader_create(&options, 0, &reader, error);
    } else {
        snprintf(error->message, sizeof error->message, "cannot read it: %s", strerror(errno));
        error->status = status;
    }
    if (status == PETAL_OK) status = feed_stream(reader, piece, size_bytes, error);
    if (status == PETAL_OK) status = petal_reader_finish(reader, filter, error);
    petal_reader_free(reader);
    free(piece);
    if (status == PETAL_OK && strcmp(options.format, "auto") == 0) {
        const char *format = file_format_of(*filter);
        remark("standard input",
               "looks like %s (no other format fits); pass --from %s to be explicit", format,
               format);
    }
    return status;
}

/* ---- writing --------------------------------------------------------------------------------- */

bool may_write_stream(void)
{
    return !is_terminal(stdout) ||
           complain("standard output", "is a terminal; redirect it, or name a file");
}

static int32_t put(void *context, const void *bytes, size_t size_bytes)
{
    uint64_t written = 0;
    (void)context;
    return write_output(bytes, size_bytes, &written) ? 0 : EIO;
}

bool write_stream(const petal_filter *filter, const char *format)
{
    petal_save_options options = PETAL_SAVE_OPTIONS_INIT;
    petal_error error;
    options.format = format;
    petal_status status = petal_write(filter, &options, put, NULL, &error);
    /* A system error on standard output is reported at the end. */
    return status == PETAL_OK || (status == PETAL_ERR_IO && !flush_output()) ||
           complain("standard output", "%s; the output is not a filter", error.message);
}
