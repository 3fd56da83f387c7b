/* paths.h - files as such: which may be written, small ones, and new ones that appear whole. */
#ifndef PETAL_CLI_PATHS_H
#define PETAL_CLI_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Before any work is done: whether `path` may be written, that is, does not exist or `force` is
 * given. False: reported. */
bool may_write(const char *path, bool force);

/* Which file a path leads to; none is {0}. */
struct identity {
    uint64_t device, inode;
};

struct identity identify(const char *path);

/* Whether two paths lead to one file that is there. */
bool is_same_file(const char *a, const char *b);

/* Whether `path` differs from the `count` files that are read from. False: reported. */
bool differs_from_inputs(const char *path, char **files, size_t count);

/* The bytes of a file, or of standard input ("-"), in memory of malloc(); no more than `max_bytes`.
 * NULL: reported. */
uint8_t *read_whole_file(const char *path, uint64_t max_bytes, size_t *size_bytes);

/* The bytes of a small file, in memory of malloc(). NULL: reported. */
uint8_t *read_small_file(const char *path, size_t max_bytes, size_t *size_bytes);

/* 64 random bits. False: reported. */
bool random_bits(uint64_t *bits);

/* A text file being written, next to its final name and with the mode that it will have. `token`
 * (random) tells it from those of others. A descriptor, or -1: errno says why. */
int open_draft(const char *path, uint64_t token);

/* Gives a complete draft its final name, or removes it. False: errno says why. */
bool publish_draft(const char *path, uint64_t token);
void remove_draft(const char *path, uint64_t token);

/* A new file on its way to `path`, in pieces: begin, write, end. Each returns false on failure.
 * The first and the last report it, the last also what failed in between. With `keep` false the
 * file is dropped. It replaces another only with `force`. */
struct new_file {
    const char *path;
    uint64_t token;
    int descriptor, failure;
};

bool begin_file(struct new_file *file, const char *path, bool force);
bool write_to_file(struct new_file *file, const void *bytes, size_t size_bytes);
bool end_file(struct new_file *file, bool keep);

/* Writes a whole new text file, like save_filter(). */
bool save_text(const char *path, const char *text, size_t size_bytes, bool force);

#endif
