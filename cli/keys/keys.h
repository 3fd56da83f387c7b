/* keys.h - keys from files, standard input and the command line, in blocks of complete rows.
 *
 * keys_read() reads blocks in order; then each block belongs to one holder. Splitting blocks into
 * keys takes most of the time, so several threads do it concurrently (pipeline.h). keys_arrive(),
 * which must also be called in order, fills in whatever depends on earlier blocks, such as the
 * number of the first line. */
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
    struct key_run *run;   /* if rows have several keys: makes them from `keys`, a string per row */
    petal_key *lines;      /* each key's row as in the input, and its separator */
    uint64_t *times;       /* --time-field: each row's, in milliseconds */
    struct stray *strays;  /* rows between them, in order */
    size_t stray_count;
    bool continues;      /* its only stray is the rest of the row in which the last block ended */
    size_t header_bytes; /* size of the header that the text starts with; 0 if there is none */
    bool keeps_header;   /* the header belongs to the output */
    uint64_t *hashes;    /* room for `count` of each, for the holder's use */
    uint8_t *results;
    void *own;           /* likewise; allocated with malloc(), or NULL; freed with the block */
    size_t own_bytes;    /* its size, known only to the holder */
    size_t selected;     /* likewise */
    bool is_unanswered;  /* likewise: the filter is damaged where one of the keys is */
    const char *file;    /* each block is from one file */
    uint64_t first_line; /* in that file, counted from 1; valid after keys_arrive() */
    petal_key output;    /* what to print (selection.h) */

    /* Private. */
    bool begins_file;
    bool split; /* rows are found, but their keys not decoded yet */
    bool done;  /* keys_split() has nothing left to do */
    bool is_piece;
    const struct magic *magic; /* the kind of file that starts here; NULL for lines */
    enum time_form time_form;  /* the file's; detected in this block if it was unknown before */
    uint64_t max_time;         /* later ones are refused */
    bool tells_time;           /* when it arrives, the form becomes known */
    size_t max_row_bytes;
    bool has_fields;   /* keys are only parts of rows */
    bool other_header; /* differs from the first file's */
    char separator;
    struct wanted wanted;
    uint64_t line_count; /* in the text; a row may have several */
    bool only_crlf;      /* every line ends in CR */
    const char *refused; /* why line `count` is not a key */
    const char *trouble; /* the block reports this failure in its turn; NULL if it has keys */
    int failure;         /* its errno, or 0 */
    uint64_t bytes_read; /* from all input, up to the end of this block */
    size_t room;         /* in lines, decoded, hashes and results */
    size_t stray_room;
    petal_key *decoded;
    char *text; /* one byte more than its capacity */
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
    bool failed; /* some input could not be read; reported */
    uint64_t keys_read;

    bool keep_going;          /* skip files that can't be opened */
    bool watch_output;        /* set by the caller: stop when nobody reads stdout any longer */
    uint64_t threads;         /* as requested; 0 if not given */
    const char *regular_file; /* one of the files is not a stream; NULL if all are */
    struct rows rows;
    const char *fate; /* what remarks say about rows without a key; NULL for no remarks */
    /* say so if every line of a file ends in CR; callers that don't care clear it */
    bool hint_at_crlf;
    bool only_crlf; /* so far, in the file whose blocks arrive */
    decoder *decode;
    char **literals;
    size_t literals_left;
    char **files;
    size_t files_left;

    const char *name; /* the open file's, as shown in messages */
    int descriptor;   /* -1: none is open */
    bool at_end;      /* of the open file; its last line may still be in the rest */
    bool begun;       /* a block of it was read */
    bool marked;      /* a byte order mark was searched for */
    bool in_long_row; /* the last block ended in a row that is too long to be a key */
    bool has_rows;    /* the rest has whole rows; otherwise it is a part of a row */
    size_t max_row_bytes;
    enum time_form time_form; /* the open file's, once a row determined it */
    enum time_form told_form;
    uint64_t now; /* from --now; 0 means the clock's */
    bool greets;  /* tells a user at a terminal that keys are being read */
    bool waiting; /* KEYS_NOT_YET was the last result; the block may be half full */
    bool ended;   /* nothing more is read */
    bool unpacks; /* compressed files */
    struct unpacker *unpacker;
    const char *trouble;  /* while reading, or NULL; reported after the lines before it */
    int failure;          /* its errno, or 0 */
    char message[512];    /* room for a trouble */
    struct csv_scan scan; /* the block's that is being filled */
    const struct marker *marker;
    struct wanted wanted;
    char *header; /* the first file's */
    size_t header_bytes;
    uint64_t bytes_read, bytes_total;
    const char *arrived; /* the file whose blocks arrive, and how many of its lines have */
    uint64_t lines_arrived, strays_arrived;
    char delimiter; /* if rows have too few fields: what seems to separate them, or 0 */
    char *rest;     /* the part of a line that was read after the last block */
    size_t rest_bytes, rest_capacity;
};

/* Opens the keys that `args` names: first its -e KEYs, then `files`, or standard input if there are
 * neither. All files must exist; with keep_going, missing ones are skipped. Returns false after
 * reporting an error; nothing was read then. */
bool keys_open(struct key_reader *reader, const struct args *args, char **files, size_t file_count,
               bool keep_going);

/* Uses the key type that the filter in `path` records. If --key-type was given, the two must agree.
 * Returns false after reporting an error. */
bool keys_use_type(struct key_reader *reader, const struct args *args, const char *path,
                   uint32_t recorded);
bool keys_use_type_of(struct key_reader *reader, const struct args *args, const char *path,
                      const petal_filter *filter);

enum keys_found { KEYS_END, KEYS_BLOCK, KEYS_NOT_YET };

/* Reads the next block. It has at least one line, and as many as are available, up to a bound. Or
 * it is a piece of a line that is too long, or has no lines and reports a failure when it arrives.
 * KEYS_NOT_YET: reading might block. Process every earlier block, call keys_wait(), and then call
 * this again with the same block. KEYS_END: also returned after a failure (`failed`) and after a
 * stop signal. */
enum keys_found keys_read(struct key_reader *reader, struct key_block *block);

/* Flushes stdout, and waits for input. Returns false if there is no point in reading on, because a
 * stop signal arrived or stdout can't be written. */
bool keys_wait(struct key_reader *reader);

/* True if the block was full when it was read. Then more input is probably available. */
bool keys_block_is_full(const struct key_block *block);

/* Finds the lines of a block that was read, and their keys. Lines that are not keys, and running
 * out of memory, are reported on arrival. */
void keys_split(const struct key_reader *reader, struct key_block *block);

/* Must be called for each block in the order in which they were read. Returns false after reporting
 * that the block ends in a line that is not a key; the `count` keys before it are valid. */
bool keys_arrive(struct key_reader *reader, struct key_block *block);

/* A block starts as {0}. */
void keys_free_block(struct key_block *block);

void keys_close(struct key_reader *reader);

/* For keys that are read twice: if standard input is one of the operands (or there are no keys at
 * all) and is not a file, it is first copied to a temporary file. After that,
 * rewind_standard_input() restarts it. Returns false after reporting an error. */
bool spool_standard_input(const struct args *args);
bool rewind_standard_input(void);

#endif
