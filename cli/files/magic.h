/* magic.h - what a file is that is not lines of text, by its first bytes. */
#ifndef PETAL_CLI_MAGIC_H
#define PETAL_CLI_MAGIC_H

#include <stdbool.h>
#include <stddef.h>

enum magic_kind {
    MAGIC_GZIP, /* the two that -z unpacks */
    MAGIC_ZSTD,
    MAGIC_PACKED, /* by something else */
    MAGIC_DATA,   /* tables, archives: keys are in it, but not as lines */
    MAGIC_UTF16
};

struct magic {
    enum magic_kind kind;
    const char *name;   /* "xz", "a Parquet file" */
    const char *unpack; /* the command that writes what is in a packed FILE to stdout */
    const char *bytes;  /* '?' stands for any byte */
    size_t size_bytes;
    size_t at;    /* where they stand in the file */
    bool letters; /* they may begin a text: some control character must follow nearby */
};

/* What begins with these bytes; NULL: nothing that is known. 512 bytes are enough. */
const struct magic *magic_of(const void *bytes, size_t size_bytes);

/* Whether with more bytes the file may turn out to be one that -z unpacks. */
bool magic_may_follow(const void *bytes, size_t size_bytes);

#endif
