/* keys.h - reads keys from files, standard input and the command line, in blocks of complete rows.
 *
 * keys_read() reads blocks in order; from then on, each block belongs to one holder. Splitting
 * blocks into keys takes most of the time, so several threads do it concurrently (pipeline.h).
 * keys_arrive(), which must also be called in order, fills in whatever depends on earlier blocks,
 * such as the number of the first line. */
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

/* A row without a key. */
struct stray {
    petal_key row;
    const char *why;
};

struct key_block {
    size_t count;
    const petal_key *keys; /* the keys to add or query */
    struct key_run *run;   /* if rows have several keys: makes them from `keys`, which has one
                            * string per row */
    petal_key *lines;      /* each key's row as in the input, and its separator */
    uint64_t *times;       /* with --time-field, the time of each row, in milliseconds */
    struct stray *strays;  /* rows between them, in order */
    size_t stray_count;
    bool continues;      /* the only stray row is the rest of the previous block's last row */
    size_t header_bytes; /* size of the header at the start of the text; 0 if none */
    bool keeps_header;   /* print the header */
    uint64_t *hashes;    /* room for `count` of each, for the holder's use */
    uint8_t *results;
    void *own;           /* also for the holder's use; allocated with malloc(), or NULL; freed with
                          * the block */
    size_t own_bytes;    /* size of that memory, known only to the holder */
    size_t selected;     /* likewise */
    bool is_unanswered;  /* also for the holder's use; set if the filter is damaged where one of the
                          * keys has its bits */
    const char *file;    /* each block is from one file */
    uint64_t first_line; /* in that file, counted from 1; valid after keys_arrive() */
    petal_key output;    /* the rows to print (selection.h) */

    /* Private. */
    bool begins_file;
    bool split; /* rows have been found, but their keys are not decoded yet */
    bool done;  /* keys_split() has nothing left to do */
    bool is_piece;
    const struct magic *magic; /* the kind of file that starts here; NULL for lines */
    enum time_form time_form;  /* the file's; detected in this block if it was unknown before */
    uint64_t max_time;         /* later ones are refused */
    bool tells_time;           /* when this block arrives, the form becomes known */
    size_t max_row_bytes;
    bool has_fields;   /* each key is only part of its row */
    bool other_header; /* the header differs from the first file's */
    char separator;
    struct wanted wanted;
    uint64_t line_count; /* lines in the text; a row may have several */
    bool only_crlf;      /* every line ends in CR */
    const char *refused; /* why line `count` is not a key */
    const char *trouble; /* failure reported at the block's turn; NULL if it has keys */
    int failure;         /* its errno, or 0 */
    uint64_t bytes_read; /* bytes of all input up to the end of this block */
    size_t room;         /* in lines, decoded, hashes and results */
    size_t stray_room;
    petal_key *decoded;
    char *text; /* one byte more than the capacity */
    size_t size_bytes, capacity;
    struct marks marks; /* for CSV with quotes, found while reading */
    uint8_t *joined;    /* keys of several fields, or of fields with escapes */
    size_t joined_bytes;
    uint8_t *arena; /* decoded keys */
    size_t arena_bytes;
    char *numbered; /* output with line numbers */
    size_t numbered_bytes;
};

struct key_reader {
    bool failed; /* some input could not be read (already reported) */
    uint64_t keys_read;

    bool keep_going;          /* skip files that can't be opened */
    bool watch_output;        /* set by the caller: stop when nobody is reading stdout */
    uint64_t threads;         /* as requested; 0 if not given */
    const char *regular_file; /* one of the files is not a stream; NULL if all are */
    struct rows rows;
    const char *fate; /* the text of remarks about rows without a key; NULL for no remarks */
    /* print a remark if every line of a file ends in CR; callers may clear it */
    bool hint_at_crlf;
    bool only_crlf; /* so far, in the file whose blocks are arriving */
    decoder *decode;
    char **literals;
    size_t literals_left;
    char **files;
    size_t files_left;

    const char *name; /* the open file's, as shown in messages */
    int descriptor;   /* -1: none is open */
    bool at_end;      /* of the open file; its last line may still be in the rest */
    bool begun;       /* a block of this file has been read */
    bool marked;      /* the check for a byte order mark is done */
    bool in_long_row; /* the last block ended in a row that is too long to be a key */
    bool has_rows;    /* the rest consists of whole rows; otherwise it is part of a row */
    size_t max_row_bytes;
    enum time_form time_form; /* the open file's, once a row has determined it */
    enum time_form told_form;
    uint64_t now; /* from --now; 0 means the clock's */
    bool greets;  /* tells a user at a terminal that keys are being read */
    bool waiting; /* KEYS_NOT_YET was the last result; the block may be half full */
    bool ended;   /* reading has stopped */
    bool unpacks; /* compressed files */
    struct unpacker *unpacker;
    const char *trouble;  /* read error or NULL; reported after the preceding lines */
    int failure;          /* its errno, or 0 */
    char message[512];    /* room for a trouble */
    struct csv_scan scan; /* of the block being filled */
    const struct marker *marker;
    struct wanted wanted;
    char *header; /* the first file's */
    size_t header_bytes;
    uint64_t bytes_read, bytes_total;
    const char *arrived; /* the file whose blocks are arriving, and how many of its lines have
                          * arrived */
    uint64_t lines_arrived, strays_arrived;
    char delimiter; /* if rows have too few fields: the character that seems to separate them, or
                     * 0 */
    char *rest;     /* the part of a line that was read beyond the last block */
    size_t rest_bytes, rest_capacity;
};

/* Opens the keys that `args` names: first all -e KEYs, then `files`, or standard input if there are
 * no keys and no files. All files must exist; with keep_going, missing ones are skipped. Returns
 * false after reporting an error, without having read anything. */
bool keys_open(struct key_reader *reader, const struct args *args, char **files, size_t file_count,
               bool keep_going);

/* Uses the key type recorded in the filter at `path`. If --key-type was given, the two must agree.
 * Returns false after reporting an error. */
bool keys_use_type(struct key_reader *reader, const struct args *args, const char *path,
                   uint32_t recorded);
bool keys_use_type_of(struct key_reader *reader, const struct args *args, const char *path,
                      const petal_filter *filter);

enum keys_found { KEYS_END, KEYS_BLOCK, KEYS_NOT_YET };

/* Reads the next block. A block contains as many lines as are available, up to a limit, but at
 * least one. Instead of lines, a block can contain a piece of a line that is too long, or a failure
 * that is reported when the block arrives. KEYS_NOT_YET means that reading might block: process
 * every earlier block, call keys_wait(), and then call keys_read() again with the same block.
 * KEYS_END is also returned after a failure (`failed`) and after a stop signal. */
enum keys_found keys_read(struct key_reader *reader, struct key_block *block);

/* Flushes stdout, and waits for input. Returns false if reading should stop, because a stop signal
 * arrived or stdout can't be written to. */
bool keys_wait(struct key_reader *reader);

/* True if the block was full when it was read, which means that more input is probably
 * available. */
bool keys_block_is_full(const struct key_block *block);

/* Finds the lines of a block that was read, and their keys. Lines that are not keys, and a lack of
 * memory, are reported when the block arrives. */
void keys_split(const struct key_reader *reader, struct key_block *block);

/* Must be called for every block, in the order in which the blocks were read. Returns false after
 * reporting that the block ends in a line that is not a key; in that case, the `count` keys before
 * the line are valid. */
bool keys_arrive(struct key_reader *reader, struct key_block *block);

/* A new block must be {0}. */
void keys_free_block(struct key_block *block);

void keys_close(struct key_reader *reader);

/* For keys that are read twice: if standard input is one of the operands (or there are no keys at
 * all) and is not a file, it is first copied to a temporary file. Afterwards,
 * rewind_standard_input() restarts it from the beginning. Returns false after reporting an
 * error. */
bool spool_standard_input(const struct args *args);
bool rewind_standard_input(void);

#endif
