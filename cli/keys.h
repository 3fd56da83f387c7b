/* keys.h - keys from files, standard input and the command line, in batches that point into the read buffer. */
#ifndef PETAL_CLI_KEYS_H
#define PETAL_CLI_KEYS_H

#include "decode.h"
#include "options.h"

#include <petal/petal.h>

enum { KEY_BATCH = 512 };

/* Valid until the next keys_next(). */
struct key_batch {
    size_t count;
    const petal_key *keys;      /* what is added or asked for */
    petal_key lines[KEY_BATCH]; /* as they stand in the input, without the separator */
    petal_key decoded[KEY_BATCH];
    const char *file;    /* a batch is of one file */
    uint64_t first_line; /* of that file, counted from 1 */
};

struct key_reader {
    bool failed; /* something was reported: the input is not whole */
    uint64_t keys_read;

    bool keep_going;   /* pass over files that cannot be opened */
    bool watch_output; /* to be set by the caller: stop when nobody reads stdout any more */
    bool crlf;
    char separator;
    decoder *decode;
    char **literals;
    size_t literals_left;
    char **files;
    size_t files_left;

    const char *name; /* of the open file, as shown in messages */
    int descriptor;   /* -1: none is open */
    bool at_end;      /* of the open file; its last line may still be in the buffer */
    uint64_t lines_read, bytes_read, bytes_total;
    char *buffer;
    size_t capacity, start, scanned, end; /* start..end is unread, start..scanned has no separator */
    uint8_t *arena;                       /* decoded keys of a batch */
    size_t arena_bytes;
};

/* Keys of the options in `args`, its -e KEYs first, then `files`; standard input where both are none. All files must be
 * there, or with keep_going are passed over one by one. False: reported, nothing was read. */
bool keys_open(struct key_reader *reader, const struct args *args, char **files, size_t file_count, bool keep_going);

/* The next batch of at least one key. False at the end, on a failure (`failed`), when a stop signal came, and when stdout
 * cannot be written any more. Before it waits for input, what stdout holds is flushed. */
bool keys_next(struct key_reader *reader, struct key_batch *batch);

void keys_close(struct key_reader *reader);

/* For keys that are read twice: where standard input is one of the files (or there are none) and is no file itself, what it brings
 * is kept in a temporary one first. Then rewind_standard_input() starts it again. False: reported. */
bool spool_standard_input(char **files, size_t file_count);
bool rewind_standard_input(void);

#endif
