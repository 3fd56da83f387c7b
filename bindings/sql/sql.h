/* sql.h - declares the code that the SQL database extensions share. Each host compiles the
 * following files into its extension:
 *
 *   keys.c      names key types and converts SQL values to key bytes
 *   options.c   sets the options of filters for petal_build()
 *   merge.c     computes the union of filters for petal_merge()
 *   describe.c  creates the JSON object for petal_info()
 *   messages.c  formats errors as text
 *   file.c      reads a filter from a file
 *   shelf.c     caches opened filters for later statements
 *
 * None of these files calls the host. All memory comes from the allocator that the host passes;
 * NULL selects malloc(). */
#ifndef PETAL_SQL_H
#define PETAL_SQL_H

#include <petal/petal.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- keys.c ---------------------------------------------------------------------------------- */

const char *key_type_name(uint32_t key_type); /* NULL if the type is unknown */

/* Returns true if a filter of this key type accepts a value of this kind, which is I64, F64, TEXT
 * or HEX (bytes). If the file records a key type, the filter accepts only values of that type and
 * bytes, since keys of other types were never added. */
bool key_type_accepts(uint32_t key_type, uint32_t kind);

/* Writes the key bytes of an integer and returns their number: 4 if the filter's key type is i32,
 * otherwise 8. Returns 0 if the value does not fit in 32 bits. */
size_t key_from_integer(int64_t value, uint32_t key_type, uint8_t key[8]);

/* Converts valid UTF-8 to UTF-16LE and returns the number of bytes written, which is at most 2 *
 * size. */
size_t key_from_text(const char *text, size_t size, uint8_t *key);

/* ---- options.c ------------------------------------------------------------------------------- */

#define DEFAULT_RATE 0.01
#define RATE_RULE "a false-positive rate is a number above 0 and below 1, such as 0.01"
#define CAPACITY_RULE "a capacity is a number of keys, 1 or more"

/* Returns the options for a filter that petal_build() creates. If the capacity is 0, the filter is
 * static. Otherwise it is blocked, and adding more keys than the capacity is an error. */
petal_options build_options(double rate, uint64_t capacity, uint32_t key_type,
                            const petal_allocator *memory);

/* ---- merge.c --------------------------------------------------------------------------------- */

/* Returns false, with an error, if the filters record different key types. */
bool key_types_agree(const petal_filter *filter, const petal_filter *other, petal_error *error);

/* Zeroed at first. */
struct merged {
    petal_filter *filter; /* NULL until the first filter is added */
    const char *format;   /* first file's format; NULL if created in memory */
};

/* Merges another filter into the result. Returns false after an error. */
bool merged_add(struct merged *merged, const petal_filter *filter, petal_error *error);

/* ---- describe.c ------------------------------------------------------------------------------ */

enum { DESCRIPTION_ROOM = 2048 };

/* Writes a JSON object with the member names of `petal info --json`. Reads all bits of the filter.
 * Returns false after an error. */
bool describe(const petal_filter *filter, char text[DESCRIPTION_ROOM], petal_error *error);

/* ---- messages.c ------------------------------------------------------------------------------ */

enum { MESSAGE_ROOM = 640 };

/* Writes "FILE: STATUS: MESSAGE (at byte N)" and returns `text`. `file` may be NULL. If the file
 * name is longer than 200 bytes, only the first 200 are written. */
const char *failure_text(const char *file, const petal_error *error, char text[MESSAGE_ROOM]);

/* ---- file.c ---------------------------------------------------------------------------------- */

/* Reads the filter in a regular file into memory, and writes to `about` what fstat() reported
 * beforehand. The options specify the format, which can't be NULL, and limits. A file that isn't in
 * the petal format is buffered, which counts toward the memory limit. Returns NULL after an
 * error. */
struct stat;
petal_filter *read_filter(const char *path, const petal_open_options *options, struct stat *about,
                          petal_error *error);

/* ---- shelf.c --------------------------------------------------------------------------------- */

/* A reference-counted filter in memory, which the shelf shares with the statements that query it.
 * Any thread may release a reference. */
struct held {
    petal_filter *filter;
    uint32_t key_type;
    atomic_uint owners;
    uint64_t bytes; /* of memory */
    const petal_allocator *memory;
};

/* Wraps the filter in a `held`. On failure, frees the filter and returns NULL. */
struct held *hold(petal_filter *filter, const petal_allocator *memory, petal_error *error);
struct held *held_share(struct held *held); /* returns it */
void held_release(struct held *held);       /* NULL is allowed */

/* Only one thread at a time may use a shelf. */
struct shelf;
/* Keeps the pointer to the allocator. Returns NULL if memory runs out. */
struct shelf *shelf_create(const petal_allocator *memory);
void shelf_free(struct shelf *shelf);

/* Returns the filter in this file. If the file has not changed since it was last read, the filter
 * comes from the shelf; otherwise the file is read. The options specify the format and limits. The
 * filters on the shelf use at most `limit` bytes in total, unless there is only one filter. The
 * caller must release the filter. Returns NULL after an error. */
struct held *shelf_take(struct shelf *shelf, const char *path, const petal_open_options *options,
                        uint64_t limit, petal_error *error);

/* Like shelf_take(), but returns a filter that is a copy of these bytes. `view` is a view of the
 * same bytes, and its blocks must have checksums. */
struct held *shelf_take_bytes(struct shelf *shelf, const void *bytes, uint64_t size,
                              const petal_filter *view, const petal_open_options *options,
                              uint64_t limit, petal_error *error);

#endif
