/* file.c - reads a filter from a file into memory. The file is never mapped, because accessing a
 * mapped file that another process has truncated kills the process. */
#define _POSIX_C_SOURCE 200809L
#include "sql.h"

#include <errno.h>
#include <fcntl.h>
#include <petal/petal_host.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE_BYTES = 1 << 15 };

static bool fail_read(petal_error *error)
{
    *error = (petal_error){PETAL_ERR_IO, errno, PETAL_NO_OFFSET, "cannot read it"};
    return false;
}

/* The bits of a Petal file are read straight into the filter's memory. If the format is different
 * or "auto", the reader buffers the file. */
static const char *format_of(const char *format, const uint8_t *bytes, size_t size)
{
    static const uint8_t magic[] = {0x89, 'P', 'T', 'L', '\r', '\n', 0x1a, '\n'};
    bool is_petal = strcmp(format, "auto") == 0 && size >= sizeof magic &&
                    memcmp(bytes, magic, sizeof magic) == 0;
    return is_petal ? "petal" : format;
}

static ssize_t read_piece(int file, uint8_t *piece)
{
    ssize_t got;
    do got = read(file, piece, PIECE_BYTES);
    while (got < 0 && errno == EINTR);
    return got;
}

/* Feeds the file to a reader. The caller must free the reader. */
static bool feed(int file, uint64_t size, const petal_open_options *given, petal_reader **reader,
                 petal_error *error)
{
    petal_open_options options = *given;
    uint8_t piece[PIECE_BYTES];
    ssize_t got = read_piece(file, piece);
    if (got < 0) return fail_read(error);
    options.format = format_of(given->format, piece, (size_t)got);
    if (petal_reader_create(&options, size, reader, error) != PETAL_OK) return false;
    for (; got > 0; got = read_piece(file, piece))
        if (petal_reader_feed(*reader, piece, (size_t)got, error) != PETAL_OK) return false;
    return got == 0 || fail_read(error);
}

static petal_filter *read_file(int file, uint64_t size, const petal_open_options *options,
                               petal_error *error)
{
    petal_reader *reader = NULL;
    petal_filter *filter = NULL;
    if (feed(file, size, options, &reader, error) &&
        petal_reader_finish(reader, &filter, error) != PETAL_OK)
        filter = NULL;
    petal_reader_free(reader);
    return filter;
}

/* Opens a regular file without blocking. Returns -1 if the path can't be opened or is not a regular
 * file. */
static int open_regular(const char *path, struct stat *about)
{
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0) return -1;
    if (fstat(file, about) == 0 && S_ISREG(about->st_mode)) return file;
    close(file);
    return -1;
}

petal_filter *read_filter(const char *path, const petal_open_options *options, struct stat *about,
                          petal_error *error)
{
    int file = open_regular(path, about);
    petal_filter *filter;
    if (file < 0) { /* petal_open() reports why the file can't be opened */
        memset(about, 0, sizeof *about);
        return petal_open(path, options, &filter, error) == PETAL_OK ? filter : NULL;
    }
    filter = read_file(file, (uint64_t)about->st_size, options, error);
    close(file);
    return filter;
}
