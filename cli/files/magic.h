/* magic.h - recognizes, by their first bytes, files that are not lines of text. */
#ifndef PETAL_CLI_MAGIC_H
#define PETAL_CLI_MAGIC_H

#include <stdbool.h>
#include <stddef.h>

enum magic_kind {
    MAGIC_GZIP, /* the two kinds that -z unpacks */
    MAGIC_ZSTD,
    MAGIC_PACKED, /* formats that another program must unpack */
    MAGIC_DATA,   /* tables, archives: they contain keys, but not as lines */
    MAGIC_UTF16
};

struct magic {
    enum magic_kind kind;
    const char *name;   /* "xz", "a Parquet file" */
    const char *unpack; /* the command that unpacks FILE to stdout */
    const char *bytes;  /* '?' matches any byte */
    size_t size_bytes;
    size_t at;    /* the offset of the magic number in the file */
    bool letters; /* text may start with these bytes, so a control character must follow */
};

/* Returns the kind of a file that starts with these bytes, or NULL if the kind is unknown. 512
 * bytes are enough. */
const struct magic *magic_of(const void *bytes, size_t size_bytes);

/* True if reading more bytes could still show that -z can unpack this file. */
bool magic_may_follow(const void *bytes, size_t size_bytes);

#endif
