/* magic.h - recognizes, by their first bytes, files that are not lines of text. */
#ifndef PETAL_CLI_MAGIC_H
#define PETAL_CLI_MAGIC_H

#include <stdbool.h>
#include <stddef.h>

enum magic_kind {
    MAGIC_GZIP, /* the two that -z unpacks */
    MAGIC_ZSTD,
    MAGIC_PACKED, /* unpacked by another program */
    MAGIC_DATA,   /* tables, archives: they contain keys, but not as lines */
    MAGIC_UTF16
};

struct magic {
    enum magic_kind kind;
    const char *name;   /* "xz", "a Parquet file" */
    const char *unpack; /* the command that writes the contents of a packed FILE to stdout */
    const char *bytes;  /* '?' matches any byte */
    size_t size_bytes;
    size_t at;    /* their offset in the file */
    bool letters; /* a text may start with them, so a control character must follow */
};

/* Returns what a file with these first bytes is, or NULL if that is unknown. 512 bytes are
 * enough. */
const struct magic *magic_of(const void *bytes, size_t size_bytes);

/* True if more bytes could show that the file is one that -z unpacks. */
bool magic_may_follow(const void *bytes, size_t size_bytes);

#endif
