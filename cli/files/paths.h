/* paths.h - paths and plain files: functions that check whether a file may be written, read small
 * files, and write files that appear only when complete. */
#ifndef PETAL_CLI_PATHS_H
#define PETAL_CLI_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True if `path` may be written: the file must not exist unless `force` is set. Call it before any
 * work is done. Returns false after reporting an error. */
bool may_write(const char *path, bool force);

/* Identifies the file at a path. The result is {0} if there is no file. */
struct identity {
    uint64_t device, inode;
};

struct identity identify(const char *path);

/* True if two paths lead to the same existing file. */
bool is_same_file(const char *a, const char *b);

/* True if `path` differs from the `count` input files. Returns false after reporting an error. */
bool differs_from_inputs(const char *path, char **files, size_t count);

/* Returns the contents of a file or of standard input ("-"), which must not exceed `max_bytes`. The
 * caller calls free(). Returns NULL after reporting an error. */
uint8_t *read_whole_file(const char *path, uint64_t max_bytes, size_t *size_bytes);

/* Reads the first bytes of a regular file. Returns false if there is no such regular file, or it is
 * shorter. */
bool read_beginning(const char *path, uint8_t *bytes, size_t size_bytes);

/* Returns the bytes of a small file. The caller calls free(). Returns NULL after reporting an
 * error. */
uint8_t *read_small_file(const char *path, size_t max_bytes, size_t *size_bytes);

/* Stores 64 random bits. Returns false after reporting an error. */
bool random_bits(uint64_t *bits);

/* Opens a text file for writing, in its final folder and with its final mode. `token` (random)
 * distinguishes it from other processes' drafts. Returns a descriptor, or -1 with errno set. */
int open_draft(const char *path, uint64_t token);

/* Gives a complete draft its final name, or removes it. Returns false on failure, and sets
 * errno. */
bool publish_draft(const char *path, uint64_t token);
void remove_draft(const char *path, uint64_t token);

/* Write a new file for `path` in pieces: begin, write, end. Each call returns false on failure.
 * Only begin and end report failures; end also reports failed writes. If `keep` is false, the new
 * file is discarded. An existing file is replaced only if `force` is set. */
struct new_file {
    const char *path;
    uint64_t token;
    int descriptor, failure;
};

bool begin_file(struct new_file *file, const char *path, bool force);
bool write_to_file(struct new_file *file, const void *bytes, size_t size_bytes);
bool end_file(struct new_file *file, bool keep);

/* Writes a complete new text file, like save_filter(). */
bool save_text(const char *path, const char *text, size_t size_bytes, bool force);

#endif
