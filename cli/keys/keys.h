/* keys.h - keys from files, standard input and the command line, in blocks of whole rows.
 *
 * A block is read in order, by keys_read(), and is then its holder's alone: splitting it into keys
 * takes most of the time, and several threads do that at once (pipeline.h). What can only be known
 * in order, such as the number of its first line, it learns in keys_arrive(). */
#ifndef PETAL_CLI_KEYS_H
#define PETAL_CLI_KEYS_H

#include "files/magic.h"
#include "keys/batch_calls.h"
#include "keys/csv.h"
#include "keys/rows.h"
#include "keys/unpack.h"
#include "options/decode.h"
#include "options/options.h"
#include "options/times.h"

#include <petal/petal.h>

/* A row that has no key. */
struct stray {
    petal_key row;
    const char *why;
};

struct key_block {
    size_t count;
    const petal_key *keys; /* what is added or asked for */
    petal_key *lines;      /* the row of each key, as it stands in the input, and its separator */
    uint64_t *times;       /* --time-field: of each row, in milliseconds */
    struct stray *strays;  /* rows between them, in order */
    size_t stray_count;
    bool continues; /* the only stray is a further piece of the row that the last block ended in */
    size_t header_bytes; /* the text begins with a header of that size; 0: with a row */
    bool keeps_header;   /* which belongs to the output */
    uint64_t *hashes;    /* room for `count` of each: free for the holder's use */
    uint8_t *results;
    size_t selected;     /* so too */
    bool is_unanswered;  /* so too: the filter is damaged where one of the keys lies */
    const char *file;    /* a block is of one file */
    uint64_t first_line; /* of that file, counted from 1; from keys_arrive() on */
    petal_key output;    /* what is to be printed (selection.h) */

    /* Private. */
    bool begins_file;
    bool split; /* there are rows, whose keys are still to be decoded */
    bool done;  /* nothing is left for keys_split() */
    bool is_piece;
    const struct magic *magic; /* what the file is that it begins; NULL: lines, for all we know */
    enum time_form time_form;  /* of its file; found in this block if it was unknown before */
    uint64_t max_time;         /* later ones are refused */
    bool tells_time;           /* the form is told on arrival */
    size_t max_row_bytes;
    bool has_fields;   /* keys are parts of rows */
    bool other_header; /* than that of the first file */
    char separator;
    struct wanted wanted;
    uint64_t line_count; /* of the text; a row may have several */
    bool only_crlf;      /* every line ends in CR */
    const char *refused; /* why line `count` is no key */
    const char *trouble; /* the block is a failure that arrives in its turn; NULL: it is none */
    int failure;         /* the errno of that; 0: there is none */
    uint64_t bytes_read; /* of all input, this block included */
    size_t room;         /* of lines, decoded, hashes and results */
    size_t stray_room;
    petal_key *decoded;
    char *text; /* one byte more than its capacity */
    size_t size_bytes, capacity;
    struct marks marks; /* if it is of CSV with quotes, made as it was read */
    uint8_t *joined;    /* keys of several fields, or of fields with escapes */
    size_t joined_bytes;
    uint8_t *arena; /* decoded keys */
    size_t arena_bytes;
    char *numbered; /* output with line numbers */
    size_t numbered_bytes;
};

struct key_reader {
    bool failed; /* something was reported: the input is not whole */
    uint64_t keys_read;

    bool keep_going;          /* pass over files that cannot be opened */
    bool watch_output;        /* to be set by the caller: stop when nobody reads stdout any more */
    uint64_t threads;         /* as asked for; 0: was not */
    const char *regular_file; /* one of the files is no stream; NULL: all are */
    struct rows rows;
    const char *fate; /* of rows without a key; may be set by the caller, NULL for silence */
    /* if every line of a file ends in CR; to be cleared by callers to whom it is the same */
    bool hint_at_crlf;
    bool only_crlf; /* so far, in the file whose blocks arrive */
    decoder *decode;
    char **literals;
    size_t literals_left;
    char **files;
    size_t files_left;

    const char *name; /* of the open file, as shown in messages */
    int descriptor;   /* -1: none is open */
    bool at_end;      /* of the open file; its last line may still be in the rest */
    bool begun;       /* a block of it was read */
    bool marked;      /* a byte order mark was looked for */
    bool in_long_row; /* the last block ended in a row that is no key, for it is too long */
    bool has_rows;    /* the rest, which otherwise is a part of a row */
    size_t max_row_bytes;
    enum time_form time_form; /* of the open file, once a row told it */
    enum time_form told_form;
    uint64_t now; /* of --now; 0: the clock's */
    bool greets;  /* tell a user at a terminal that keys are read */
    bool waiting; /* KEYS_NOT_YET was the last answer; the block may be half full */
    bool ended;   /* nothing more is read */
    bool unpacks; /* compressed files */
    struct unpacker *unpacker;
    const char *trouble;  /* in reading it, or NULL: comes up when the lines before are read */
    int failure;          /* the errno of that, or 0 */
    char message[512];    /* room for a trouble */
    struct csv_scan scan; /* of the block being filled */
    const struct marker *marker;
    struct wanted wanted;
    char *header; /* of the first file */
    size_t header_bytes;
    uint64_t bytes_read, bytes_total;
    const char *arrived; /* the file whose blocks arrive, and how many of its lines did */
    uint64_t lines_arrived, strays_arrived;
    char delimiter; /* what seems to separate fields, if rows have too few; 0: nothing else */
    char *rest;     /* the part of a line that was read after the last block */
    size_t rest_bytes, rest_capacity;
};

/* Keys of the options in `args`, its -e KEYs first, then `files`; standard input if both are
 * none. All files must be there, or with keep_going are passed over one by one. False: reported,
 * nothing was read. */
bool keys_open(struct key_reader *reader, const struct args *args, char **files, size_t file_count,
               bool keep_going);

/* Lets --key-type be what the filter in `path` records, unless it was given; then the two must
 * agree. False: reported. */
bool keys_use_type_of(struct key_reader *reader, const struct args *args, const char *path,
                      const petal_filter *filter);

enum keys_found { KEYS_END, KEYS_BLOCK, KEYS_NOT_YET };

/* The next block, of at least one line: as much as there is, up to a bound; a piece of a line that
 * is longer than may be; or one without lines, whose arrival reports a failure. KEYS_NOT_YET:
 * reading on may take its time. When every block that was read has been dealt with, call
 * keys_wait(), and then this again with the same block.
 * KEYS_END: also after a failure (`failed`), and when a stop signal came. */
enum keys_found keys_read(struct key_reader *reader, struct key_block *block);

/* Hands to the system what stdout holds, and waits for input. False: there is no use in reading on:
 * a stop signal came, or stdout cannot be written any more. */
bool keys_wait(struct key_reader *reader);

/* Whether a block came full, so that there is probably more where it came from. */
bool keys_block_is_full(const struct key_block *block);

/* Finds the lines of a block that was read, and their keys. Lines that are no keys, and lack of
 * memory, come up on arrival. */
void keys_split(const struct key_reader *reader, struct key_block *block);

/* To be called for one block after the other, in the order of reading. False: it ends in a line
 * that is no key, which was reported; `count` keys before it are good. */
bool keys_arrive(struct key_reader *reader, struct key_block *block);

/* A block begins as {0}. */
void keys_free_block(struct key_block *block);

void keys_close(struct key_reader *reader);

/* For keys that are read twice: if standard input is one of the operands (or there are no keys at
 * all) and is no file itself, what it brings is kept in a temporary one first. Then
 * rewind_standard_input() starts it again. False: reported. */
bool spool_standard_input(const struct args *args);
bool rewind_standard_input(void);

#endif
