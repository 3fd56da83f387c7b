/* keys.c - see keys.h.
 *
 *      text     |whole rows................|part of a row |
 *               0                          whole          size_bytes
 *
 * A block is filled up to a limit and cut after its last complete row. The rest starts the next
 * block. If a block consists of a single unfinished row, the block is doubled until the row
 * ends. */
#define _POSIX_C_SOURCE 200809L

#include "keys/keys.h"

#include "files/formats.h"
#include "keys/csv.h"
#include "keys/scan.h"
#include "keys/split.h"
#include "output/filter_info.h"
#include "output/numbers.h"
#include "output/progress.h"
#include "output/report.h"
#include "output/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The block size is small enough that a block of typical lines, with all of its data, fits in the
 * second-level cache. */
#define BLOCK_BYTES ((size_t)1 << 18)

/* Longer rows are not keys, unless --row-limit is higher. With its fields and decoded bytes, a row
 * takes up to ten times its size in each thread. */
#define MAX_ROW_BYTES ((size_t)16 << 20)

/* Messages for rows without a key. */
enum { MAX_SHOWN = 3 };

/* Tolerates times slightly in the future: clocks differ, and a time without a zone may be local. */
#define DAY_MS UINT64_C(86400000)

static bool is_standard_input(const char *file)
{
    return strcmp(file, "-") == 0;
}

static const char STANDARD_INPUT[] = "standard input";

static const char *shown_name(const char *file)
{
    return is_standard_input(file) ? STANDARD_INPUT : file;
}

/* " FILE" if the command accepts a file instead of standard input. */
struct operand {
    char s[256];
};

static struct operand operand_of(const char *shown)
{
    struct operand out = {""};
    if (shown != STANDARD_INPUT) snprintf(out.s, sizeof out.s, " %s", shown);
    return out;
}

/* ---- opening --------------------------------------------------------------------------------- */

static const char CANNOT_OPEN[] = "cannot open it";

/* Returns why a file can't be read, with errno or 0, or NULL if it can be read. */
static const char *find_obstacle(const char *file, int *failure)
{
    struct stat about;
    *failure = 0;
    if (is_standard_input(file)) return NULL;
    bool there = stat(file, &about) == 0;
    if (there && S_ISDIR(about.st_mode)) return "is a directory; name the files in it";
    if (there && access(file, R_OK) == 0) return NULL;
    *failure = errno;
    return CANNOT_OPEN;
}

/* `may_be_key` is set if the user may have meant a key at this position on the command line. */
static bool complain_of_input(const char *file, const char *trouble, int failure, bool may_be_key)
{
    if (!failure) return complain(file, "%s", trouble);
    return complain(file, "%s: %s%s", trouble, strerror(failure),
                    may_be_key && failure == ENOENT ? "; if it is a key, pass it with -e" : "");
}

static bool check_readable(const char *file, bool may_be_key)
{
    int failure;
    const char *trouble = find_obstacle(file, &failure);
    return !trouble || complain_of_input(file, trouble, failure, may_be_key);
}

/* Returns the total size for the progress line, or 0 if any size is unknown. */
static void note_sizes(struct key_reader *reader)
{
    bool known = true;
    for (size_t i = 0; i < reader->files_left; i++) {
        struct stat about;
        const char *file = reader->files[i];
        int failed = is_standard_input(file) ? fstat(0, &about) : stat(file, &about);
        bool regular = !failed && S_ISREG(about.st_mode);
        known = known && regular;
        if (regular && !reader->regular_file) reader->regular_file = shown_name(file);
        if (regular) reader->bytes_total += (uint64_t)about.st_size;
    }
    if (!known) reader->bytes_total = 0;
}

static size_t row_limit(const struct args *args)
{
    uint64_t bytes = args->row_limit;
    if (bytes == 0) return MAX_ROW_BYTES;
    if (bytes < BLOCK_BYTES) return BLOCK_BYTES;
    return bytes < SIZE_MAX / 4 ? (size_t)bytes : SIZE_MAX / 4;
}

/* A key that consists of several fields is text, whatever the fields contain. */
static bool has_one_column(const struct key_reader *reader, const char *subject, const char *type)
{
    return reader->rows.columns < 2 ||
           complain(subject, "keys of type %s have one field each, not %zu", type,
                    reader->rows.columns);
}

bool keys_open(struct key_reader *reader, const struct args *args, char **files, size_t file_count,
               bool keep_going)
{
    static char *standard_input[] = {"-"};
    *reader = (struct key_reader){.keep_going = keep_going, .descriptor = -1};
    reader->threads = args->threads;
    reader->unpacks = args->decompress;
    reader->fate = "left out";
    reader->marker = marker_for_this_cpu();
    if (!rows_read(&reader->rows, args)) return false;
    rows_want(&reader->rows, reader->rows.numbers, &reader->wanted);
    reader->decode = find_decoder(find_key_type(args->key_type));
    reader->hint_at_crlf = !args->crlf && !args->nul;
    reader->now = args->now;
    reader->max_row_bytes = row_limit(args);
    if (reader->rows.has_time && args->literal_count)
        return complain("-e", "has no time; leave out --time-field, or put the keys into a list");
    reader->literals = args->literals;
    reader->literals_left = args->literal_count;
    bool none = file_count == 0 && args->literal_count == 0;
    /* check - list */
    bool is_taken = files == args->operands + 1 && is_standard_input(args->operands[0]);
    for (size_t i = 0; i < file_count && is_taken && !none; i++) none = is_standard_input(files[i]);
    if (is_taken && none)
        return complain(STANDARD_INPUT, "is the filter; name the files of the keys, or use -e");
    reader->files = none ? standard_input : files;
    reader->files_left = none ? 1 : file_count;
    for (size_t i = 0; i < reader->files_left && !keep_going; i++)
        if (!check_readable(reader->files[i], !args->present && !args->absent)) return false;
    for (size_t i = 0; i < reader->files_left; i++)
        if (is_petal_file(reader->files[i]))
            return complain(reader->files[i], "is a filter, not a list of keys; to remember what "
                                              "was seen in it: petal seen -f; to compare two: "
                                              "petal compare");
    note_sizes(reader);
    if (reader->decode && reader->rows.rule.unit != UNIT_ROW)
        return complain("--key-type", "words and k-mers are of text; leave it out");
    return !reader->decode || has_one_column(reader, "--key-type", args->key_type);
}

bool keys_use_type(struct key_reader *reader, const struct args *args, const char *path,
                   uint32_t recorded)
{
    uint32_t given = find_key_type(args->key_type);
    uint32_t type = given == PETAL_KEY_TYPE_NONE ? recorded : given;
    reader->decode = find_decoder(type);
    if (reader->decode && reader->rows.rule.unit != UNIT_ROW)
        return complain(path, "has keys of type %s; words and k-mers are of text",
                        key_type_name(type));
    if (!key_types_agree(recorded, given))
        return complain(path, "has keys of type %s, not %s; leave out --key-type",
                        key_type_name(recorded), args->key_type);
    return !reader->decode || has_one_column(reader, path, key_type_name(type));
}

bool keys_use_type_of(struct key_reader *reader, const struct args *args, const char *path,
                      const petal_filter *filter)
{
    return keys_use_type(reader, args, path, info_of(filter).key_type);
}

/* Prints this remark only for the first such file. */
static void hint_at_crlf(struct key_reader *reader)
{
    if (!reader->hint_at_crlf || !reader->only_crlf) return;
    reader->hint_at_crlf = false;
    remark(reader->arrived, "every line ends in CR; if these are Windows line ends, pass --crlf");
}

/* If no row has a key, another character may separate the fields. */
static void tell_stray_count(const struct key_reader *reader)
{
    char hint[64] = "", shown[8];
    if (reader->delimiter && reader->keys_read == 0) {
        name_delimiter(reader->delimiter, shown);
        snprintf(hint, sizeof hint, "; if fields are separated by %s, pass -t '%s'", shown, shown);
    }
    remark(NULL, "%s row%s without a key: %s%s", grouped(reader->strays_arrived).s,
           plural(reader->strays_arrived), reader->fate, hint);
}

void keys_close(struct key_reader *reader)
{
    progress_hide();
    hint_at_crlf(reader);
    if (reader->strays_arrived && reader->fate) tell_stray_count(reader);
    if (reader->descriptor > 0) close(reader->descriptor);
    free(reader->rest);
    free(reader->header);
    unpack_free(reader->unpacker);
    *reader = (struct key_reader){
        .descriptor = -1, .failed = reader->failed, .keys_read = reader->keys_read};
}

static bool reads_standard_input(const struct args *args)
{
    for (size_t i = 0; i < args->operand_count; i++)
        if (is_standard_input(args->operands[i])) return true;
    return args->operand_count == 0 && args->literal_count == 0;
}

static bool copy_standard_input(FILE *to)
{
    static char block[1 << 16];
    ssize_t got;
    while ((got = read(0, block, sizeof block)) != 0) {
        if (got < 0 && errno == EINTR && !stop_signal()) continue;
        if (got < 0 || fwrite(block, 1, (size_t)got, to) != (size_t)got) return false;
    }
    return fflush(to) == 0;
}

bool spool_standard_input(const struct args *args)
{
    struct stat about;
    if (!reads_standard_input(args) || (fstat(0, &about) == 0 && S_ISREG(about.st_mode)))
        return true;
    FILE *spool = tmpfile();
    bool good = spool && copy_standard_input(spool) && dup2(fileno(spool), 0) == 0 &&
                lseek(0, 0, SEEK_SET) == 0;
    int failure = errno;
    if (spool) fclose(spool);
    return good || complain(STANDARD_INPUT,
                            "cannot be kept in a temporary file: %s; say how many keys with -n",
                            strerror(failure));
}

bool rewind_standard_input(void)
{
    lseek(0, 0, SEEK_SET); /* can fail only if nothing reads standard input */
    return true;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Allocates room for `bytes` bytes and a separator. */
static bool make_room(struct key_block *block, size_t bytes)
{
    if (bytes <= block->capacity) return true;
    char *larger = bytes <= SIZE_MAX / 4 ? realloc(block->text, bytes + 1 + SCAN_SLACK) : NULL;
    if (!larger) return false;
    block->text = larger;
    block->capacity = bytes;
    return true;
}

void keys_free_block(struct key_block *block)
{
    free(block->lines);
    free(block->strays);
    free(block->decoded);
    free(block->hashes);
    free(block->results);
    free(block->times);
    free(block->text);
    free(block->marks.at);
    free(block->joined);
    free(block->arena);
    free(block->numbered);
    free(block->own);
    run_free(block->run);
    *block = (struct key_block){0};
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Records the failure, which is reported when it is the block's turn. */
static enum keys_found fail(struct key_reader *reader, struct key_block *block, const char *trouble,
                            int failure)
{
    reader->failed = true;
    block->file = reader->name;
    block->begins_file = !reader->begun;
    block->trouble = trouble;
    block->failure = failure;
    return KEYS_BLOCK;
}

/* Records the failure, and stops reading, even from other files. */
static enum keys_found fail_for_good(struct key_reader *reader, struct key_block *block,
                                     const char *trouble, int failure)
{
    reader->ended = true;
    return fail(reader, block, trouble, failure);
}

static enum keys_found fail_for_memory(struct key_reader *reader, struct key_block *block)
{
    return fail_for_good(reader, block, OUT_OF_MEMORY, 0);
}

/* Returns false if the file could not be opened. The block then reports the failure. */
static bool open_next(struct key_reader *reader, struct key_block *block)
{
    const char *file = *reader->files++;
    int failure;
    reader->files_left--;
    reader->name = shown_name(file);
    reader->at_end = reader->begun = reader->marked = reader->in_long_row = reader->has_rows =
        false;
    reader->time_form = TIME_UNKNOWN;
    reader->trouble = NULL;
    reader->failure = 0;
    const char *trouble = find_obstacle(file, &failure);
    if (!trouble && reader->unpacks && !reader->unpacker && !(reader->unpacker = unpack_make()))
        trouble = OUT_OF_MEMORY;
    if (!trouble) {
        if (reader->unpacker) unpack_begin(reader->unpacker);
        reader->descriptor = is_standard_input(file) ? 0 : open(file, O_RDONLY | O_CLOEXEC);
        reader->greets = reader->descriptor == 0 && isatty(0);
        if (reader->descriptor >= 0) return true;
        trouble = CANNOT_OPEN;
        failure = errno;
    }
    reader->ended = !reader->keep_going;
    fail(reader, block, trouble, failure);
    block->file = file;
    return false;
}

static void close_current(struct key_reader *reader)
{
    if (reader->descriptor > 0) close(reader->descriptor);
    reader->descriptor = -1;
}

static bool is_ready(const struct key_reader *reader)
{
    if (reader->unpacker && unpack_is_ready(reader->unpacker)) return true;
    struct pollfd input = {reader->descriptor, POLLIN, 0};
    return poll(&input, 1, 0) > 0;
}

bool keys_wait(struct key_reader *reader)
{
    /* Even if no events are requested, poll() reports that a pipe's reader has closed the pipe. */
    int output = reader->watch_output ? STDOUT_FILENO : -1;
    struct pollfd watched[] = {
        {reader->descriptor, POLLIN, 0}, {stop_descriptor(), POLLIN, 0}, {output, 0, 0}};
    if (reader->descriptor < 0) return true;
    if (!flush_output()) return false;
    if (reader->greets) remark(NULL, "reading keys from the terminal, Ctrl-D ends");
    reader->greets = false;
    while (poll(watched, 3, -1) < 0 && errno == EINTR) continue;
    if (watched[2].revents & POLLERR) output_is_gone();
    return stop_signal() == 0 && flush_output();
}

static ssize_t read_some(struct key_reader *reader, char *to, size_t room)
{
    if (reader->unpacker)
        return unpack_read(reader->unpacker, reader->descriptor, to, room, &reader->bytes_read,
                           &reader->trouble);
    ssize_t got = read(reader->descriptor, to, room);
    if (got > 0) reader->bytes_read += (uint64_t)got;
    return got;
}

/* Reads once, up to the size of a block or, if the first row is longer, that many bytes more. So
 * only the first row can be longer than a block, which split_block() relies on. The block may have
 * more room, from an earlier long row. Returns false if memory runs out. */
static bool read_more(struct key_reader *reader, struct key_block *block)
{
    size_t bound = BLOCK_BYTES;
    while (bound <= block->size_bytes) bound *= 2;
    if (!make_room(block, bound)) return false;
    size_t room = bound - block->size_bytes;
    ssize_t got =
        read_some(reader, block->text + block->size_bytes, room < BLOCK_BYTES ? room : BLOCK_BYTES);
    if (reader->trouble) return true;
    if (got < 0) {
        if (errno == EINTR || errno == EAGAIN) return true;
        reader->trouble = "cannot read it";
        reader->failure = errno;
        return true;
    }
    reader->at_end = got == 0;
    block->size_bytes += (size_t)got;
    return true;
}

/* A UTF-8 byte order mark at the start of a list does not belong to its first line. In CSV and
 * JSON it belongs to the row, and is printed with it. Returns false if more bytes are needed to
 * decide. */
static bool drop_mark(struct key_reader *reader, struct key_block *block)
{
    static const char mark[] = "\xef\xbb\xbf";
    size_t size = block->size_bytes < 3 ? block->size_bytes : 3;
    if (reader->rows.form >= ROWS_OF_CSV || reader->rows.separator == '\0') return true;
    if (memcmp(block->text, mark, size) != 0) return true;
    if (size < 3) return reader->at_end || reader->trouble;
    block->size_bytes -= 3;
    memmove(block->text, block->text + 3, block->size_bytes);
    return true;
}

/* Returns the end of the last complete row after `from`, or 0. */
static size_t end_of_last_row(struct key_reader *reader, struct key_block *block, size_t from)
{
    const struct rows *rows = &reader->rows;
    size_t end = block->size_bytes;
    if (rows->form == ROWS_OF_CSV) {
        size_t start = reader->begun ? 0 : rows_mark(rows, block->text, end);
        return csv_whole_rows(block->text, end, start, (char)rows->delimiter, &reader->scan,
                              &block->marks);
    }
    if (!memchr(block->text + from, rows->separator, end - from)) return 0;
    while (block->text[end - 1] != rows->separator) end--;
    return end;
}

/* Returns the end of a row that is too long, or the end of the bytes read so far. */
static size_t end_of_piece(struct key_reader *reader, struct key_block *block)
{
    const struct rows *rows = &reader->rows;
    char *text = block->text;
    if (rows->form != ROWS_OF_CSV) {
        char *end = memchr(text, rows->separator, block->size_bytes);
        reader->in_long_row = !end;
        return end ? (size_t)(end - text) + 1 : block->size_bytes;
    }
    size_t start = block->continues ? SIZE_MAX
                   : reader->begun  ? 0
                                    : rows_mark(rows, text, block->size_bytes);
    if (!block->continues) reader->scan = (struct csv_scan){.at = start};
    size_t end = csv_row_end(text, block->size_bytes, start, (char)rows->delimiter, &reader->scan);
    reader->in_long_row = end == 0;
    if (end > 0) return end;
    size_t rest = reader->scan.at - 1;
    reader->scan.at = 1;
    return rest;
}

/* Moves a piece of a row that is too long to a separate block. */
static void cut_piece(struct key_reader *reader, struct key_block *block)
{
    size_t end = end_of_piece(reader, block);
    if (reader->at_end && reader->in_long_row) end = block->size_bytes;
    if (reader->at_end) reader->in_long_row = false;
    reader->rest_bytes = block->size_bytes - end;
    reader->has_rows = !reader->in_long_row;
    block->is_piece = true;
}

/* Reads until the block is full of complete lines, no more input is available now, or a line is too
 * long. KEYS_END means that reading was stopped. */
static enum keys_found fill(struct key_reader *reader, struct key_block *block)
{
    size_t whole = 0;
    bool goes_on = reader->in_long_row, has_long_row = false;
    if (reader->has_rows && block->size_bytes > 0) whole = end_of_last_row(reader, block, 0);
    reader->has_rows = false;
    while (!reader->at_end && !reader->trouble && !has_long_row &&
           (block->size_bytes < BLOCK_BYTES || whole == 0)) {
        bool ready = !reader->greets && is_ready(reader);
        if (whole > 0 && !ready) break;
        if (whole == 0 && stop_signal()) return KEYS_END;
        if (!ready) {
            reader->waiting = true;
            return KEYS_NOT_YET;
        }
        size_t from = reader->marked ? block->size_bytes : 0;
        if (!read_more(reader, block)) return fail_for_memory(reader, block);
        if (!reader->marked && !(reader->marked = drop_mark(reader, block))) continue;
        size_t end = goes_on ? 0 : end_of_last_row(reader, block, from);
        if (end > 0) whole = end;
        has_long_row = goes_on || (whole == 0 && block->size_bytes > reader->max_row_bytes);
    }
    block->continues = goes_on;
    if (reader->trouble && whole == 0)
        return fail_for_good(reader, block, reader->trouble, reader->failure);
    if (goes_on || (has_long_row && !reader->at_end))
        cut_piece(reader, block);
    else
        reader->rest_bytes = reader->at_end ? 0 : block->size_bytes - whole;
    return KEYS_BLOCK;
}

/* Keeps the incomplete last row for the next block. Returns false if memory runs out. */
static bool keep_rest(struct key_reader *reader, struct key_block *block)
{
    size_t bytes = reader->rest_bytes;
    if (bytes > reader->rest_capacity) {
        free(reader->rest);
        reader->rest = malloc(bytes);
        reader->rest_capacity = reader->rest ? bytes : 0;
        if (!reader->rest) return false;
    }
    block->size_bytes -= bytes;
    if (bytes > 0) memcpy(reader->rest, block->text + block->size_bytes, bytes);
    return true;
}

/* Begins the block with the bytes left over from the previous block. Returns false if memory runs
 * out. */
static bool take_rest(struct key_reader *reader, struct key_block *block)
{
    size_t bytes = reader->rest_bytes;
    if (!make_room(block, bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES)) return false;
    if (bytes > 0) memcpy(block->text, reader->rest, bytes);
    block->size_bytes = bytes;
    if (!reader->in_long_row) reader->scan = (struct csv_scan){0};
    block->marks.by = reader->marker;
    marks_clear(&block->marks);
    return true;
}

static bool refuse_header(struct key_reader *reader)
{
    snprintf(reader->message, sizeof reader->message,
             "header: longer than a row may be (16 MiB, or --row-limit)");
    return false;
}

/* Copies the first file's header to the output. If the requested columns are missing, returns false
 * and sets reader->message to the reason. */
static bool take_header(struct key_reader *reader, struct key_block *block)
{
    if (block->is_piece) return refuse_header(reader);
    if (!rows_read_header(&reader->rows, block->text, block->size_bytes, &reader->wanted,
                          &block->header_bytes, reader->message, sizeof reader->message))
        return false;
    if (block->header_bytes > block->max_row_bytes) return refuse_header(reader);
    block->keeps_header = !reader->header;
    block->other_header =
        reader->header && (reader->header_bytes != block->header_bytes ||
                           memcmp(reader->header, block->text, block->header_bytes) != 0);
    if (reader->header) return true;
    snprintf(reader->message, sizeof reader->message, "%s", OUT_OF_MEMORY);
    reader->header = malloc(block->header_bytes);
    reader->header_bytes = block->header_bytes;
    if (reader->header) memcpy(reader->header, block->text, block->header_bytes);
    return reader->header != NULL;
}

/* Users who pass a file that isn't text nearly always mean the text inside it. In files that -z
 * unpacks, and in text with two bytes per character, there are no lines that anyone could have
 * meant. If the file is rejected, returns false and sets reader->message to the reason. */
static bool take_magic(struct key_reader *reader, struct key_block *block)
{
    char *message = reader->message;
    size_t room = sizeof reader->message;
    const struct magic *magic = block->magic = magic_of(block->text, block->size_bytes);
    struct operand file = operand_of(reader->name);
    if (magic && magic->kind == MAGIC_UTF16 && reader->rows.separator != '\0')
        snprintf(message, room, "is UTF-16; convert it: iconv -f UTF-16 -t UTF-8%s | petal ...",
                 file.s);
    else if (magic && magic->unpack && reader->unpacks && magic->kind <= MAGIC_ZSTD)
        snprintf(message, room, "is compressed twice (%s); -z unpacks it once", magic->name);
    else if (magic && magic->unpack && reader->unpacks)
        snprintf(message, room,
                 "is compressed by %s, which -z does not unpack; use %s%s | petal ...", magic->name,
                 magic->unpack, file.s);
    else
        return true;
    return false;
}

/* Sets the limits for the rows of a block. */
static void set_bounds(struct key_reader *reader, struct key_block *block)
{
    block->max_row_bytes = reader->max_row_bytes;
    block->time_form = reader->time_form;
    if (!reader->rows.has_time) return;
    block->max_time = (reader->now ? reader->now : time_now()) + DAY_MS;
}

/* The first time in a file determines the form of all times in it. Until the form is known, blocks
 * are split while they are read. */
static void find_time_form(struct key_reader *reader, struct key_block *block)
{
    if (!reader->rows.has_time || reader->time_form != TIME_UNKNOWN || block->done) return;
    split_block(&reader->rows, reader->decode, block);
    block->done = true;
    reader->time_form = block->time_form;
    block->tells_time = block->count > 0 && reader->told_form != block->time_form;
    if (block->tells_time) reader->told_form = block->time_form;
}

/* Returns KEYS_END if the open file has ended and was closed, or if reading must stop. */
static enum keys_found read_block(struct key_reader *reader, struct key_block *block, bool resumed)
{
    if (!resumed && !take_rest(reader, block)) return fail_for_memory(reader, block);
    enum keys_found found = fill(reader, block);
    if (found != KEYS_BLOCK || block->trouble) return found;
    if (!keep_rest(reader, block)) return fail_for_memory(reader, block);
    block->file = reader->name;
    block->begins_file = !reader->begun;
    block->bytes_read = reader->bytes_read;
    set_bounds(reader, block);
    if (block->begins_file && !take_magic(reader, block))
        return fail_for_good(reader, block, reader->message, 0);
    bool has_header = reader->rows.has_header && block->begins_file && block->size_bytes > 0;
    if (has_header && !take_header(reader, block))
        return fail_for_good(reader, block, reader->message, 0);
    block->wanted = reader->wanted;
    reader->begun = true;
    if (block->is_piece) split_piece(&reader->rows, block, !reader->in_long_row);
    if (block->size_bytes > 0) find_time_form(reader, block);
    if (block->size_bytes > 0 || block->is_piece) return KEYS_BLOCK;
    close_current(reader);
    return KEYS_END;
}

/* A key on the command line may contain any bytes, even separators, so it is not split. */
static enum keys_found take_literals(struct key_reader *reader, struct key_block *block)
{
    size_t bytes = 0;
    for (size_t i = 0; i < reader->literals_left; i++) bytes += strlen(reader->literals[i]) + 1;
    reader->name = block->file = "-e";
    if (!make_room(block, bytes) || !make_arrays(block, reader->literals_left))
        return fail_for_memory(reader, block);
    for (char *to = block->text; block->count < reader->literals_left; block->count++) {
        const char *text = reader->literals[block->count];
        size_t size = strlen(text);
        memcpy(to, text, size + 1);
        to[size] = reader->rows.separator;
        block->lines[block->count] = (petal_key){to, size};
        to += size + 1;
    }
    block->split = block->begins_file = true;
    reader->literals_left = 0;
    return KEYS_BLOCK;
}

enum keys_found keys_read(struct key_reader *reader, struct key_block *block)
{
    bool resumed = reader->waiting;
    reader->waiting = false;
    block->count = block->stray_count = block->header_bytes = 0;
    block->split = block->only_crlf = block->has_fields = false;
    block->keeps_header = block->other_header = false;
    block->done = block->is_piece = block->continues = block->tells_time = false;
    block->magic = NULL;
    block->max_time = 0;
    block->refused = block->trouble = NULL;
    if (stop_signal() || reader->ended) return KEYS_END;
    if (reader->literals_left > 0) return take_literals(reader, block);
    for (;;) {
        if (reader->descriptor >= 0) {
            enum keys_found found = read_block(reader, block, resumed);
            if (found != KEYS_END || reader->descriptor >= 0) return found;
            resumed = false;
        }
        if (reader->files_left == 0) return KEYS_END;
        reader->waiting = !resumed;
        if (!resumed) return KEYS_NOT_YET; /* opening a named pipe waits for its writer */
        resumed = false;
        if (!open_next(reader, block)) return KEYS_BLOCK;
    }
}

bool keys_block_is_full(const struct key_block *block)
{
    return block->size_bytes > BLOCK_BYTES / 2;
}

void keys_split(const struct key_reader *reader, struct key_block *block)
{
    if (!block->trouble && !block->done) split_block(&reader->rows, reader->decode, block);
}

/* ---- arriving -------------------------------------------------------------------------------- */

/* Shows the start and the end of a long row, because the reason the row is not a key is often at
 * its end. */
static void describe_row(const struct key_block *block, const petal_key *row, const char *why,
                         char *text, size_t room)
{
    enum { SHOWN = 40, TAIL = 12 };
    const char *data = row->data;
    size_t size = row->size_bytes;
    if (size > 0 && data[size - 1] == '\r') size--;
    bool whole = size <= SHOWN;
    snprintf(text, room, "line %" PRIu64 ": %s: \"%.*s%s%.*s\"", line_of_row(block, row), why,
             whole ? (int)size : SHOWN - TAIL, data, whole ? "" : "...", whole ? 0 : TAIL,
             data + size - (whole ? 0 : TAIL));
}

/* True if a line that is not a key could be several columns, as in sha1sum's output. */
static bool has_columns(const struct key_block *block, const petal_key *row)
{
    const char *data = row->data;
    size_t i = 0;
    while (i < row->size_bytes && data[i] != ' ' && data[i] != '\t') i++;
    return !block->has_fields && i > 0 && i + 1 < row->size_bytes;
}

static bool refuse_row(const struct key_block *block)
{
    char text[256];
    const petal_key *row = &block->lines[block->count];
    if (block->refused == OUT_OF_MEMORY) return complain(block->file, "%s", block->refused);
    describe_row(block, row, block->refused, text, sizeof text);
    return complain(block->file, "%s%s", text,
                    has_columns(block, row) ? "; if the key is one of several columns, pass -k 1"
                                            : "");
}

/* Too few fields may mean that the file uses another delimiter. */
static void note_delimiter(struct key_reader *reader, const struct stray *stray)
{
    const struct rows *rows = &reader->rows;
    if (lacks_fields(stray))
        reader->delimiter =
            guess_delimiter(stray->row.data, stray->row.size_bytes, rows->delimiter);
}

/* Shows only the first few such rows of each file. */
static void tell_strays(struct key_reader *reader, const struct key_block *block)
{
    char text[256];
    uint64_t before = reader->strays_arrived;
    if (block->continues) return;
    reader->strays_arrived += block->stray_count;
    if (before == 0 && block->stray_count) note_delimiter(reader, &block->strays[0]);
    for (size_t i = 0; i < block->stray_count && before + i < MAX_SHOWN && reader->fate; i++) {
        const struct stray *stray = &block->strays[i];
        describe_row(block, &stray->row, stray->why, text, sizeof text);
        remark(block->file, "%s", text);
    }
}

static void warn_of_magic(const struct key_block *block)
{
    const struct magic *magic = block->magic;
    bool unpacks = magic->kind == MAGIC_GZIP || (magic->kind == MAGIC_ZSTD && unpacks_zstd());
    const char *taken = "its bytes are read as keys as they are";
    if (unpacks)
        remark(block->file, "is compressed; %s; pass -z to unpack it (%s)", taken, magic->name);
    else if (magic->unpack)
        remark(block->file, "is compressed; %s; use %s%s | petal ...", taken, magic->unpack,
               operand_of(block->file).s);
    else
        remark(block->file, "is %s; %s; write the keys out as lines first", magic->name, taken);
}

static void tell_trouble(const struct key_reader *reader, const struct key_block *block)
{
    uint64_t line = (block->begins_file ? 0 : reader->lines_arrived) + 1;
    if (block->trouble == OUT_OF_MEMORY)
        complain(block->file, "line %" PRIu64 " does not fit into memory", line);
    else
        complain_of_input(block->file, block->trouble, block->failure, true);
}

bool keys_arrive(struct key_reader *reader, struct key_block *block)
{
    if (block->trouble) {
        tell_trouble(reader, block);
        return true;
    }
    if (block->begins_file) {
        hint_at_crlf(reader);
        if (block->other_header)
            remark(block->file, "has another header than the first file, which is the one kept");
        reader->lines_arrived = 0;
        reader->only_crlf = true;
        reader->arrived = block->file;
        if (block->magic) warn_of_magic(block);
    }
    if (block->tells_time)
        remark(block->file, "times read as %s, from %s on", time_form_name(block->time_form),
               time_text(block->times[0]).s);
    reader->only_crlf = reader->only_crlf && block->only_crlf;
    block->first_line = reader->lines_arrived + 1;
    reader->lines_arrived += block->line_count;
    tell_strays(reader, block);
    progress_show(block->file, block->bytes_read, reader->bytes_total, reader->keys_read);
    reader->keys_read += block->count;
    return !block->refused || refuse_row(block);
}
