/* split.c - see split.h.
 *
 *      text     |header|row........|row........|no key|row...|
 *      lines            [0]         [1]                [2]      each with its key
 *      strays                                  [0]              each with the reason
 *
 * The loop is chosen once per block. If rows are keys, it finds their ends 64 bytes at a time;
 * otherwise it finds their fields in place. A key points into the text if possible; otherwise it is
 * assembled in a buffer of the block. */
#include "keys/split.h"

#include "keys/csv.h"
#include "keys/jsonpath.h"
#include "keys/scan.h"

#include <stdlib.h>
#include <string.h>

#define FEWEST_ROWS 4096u

const char OUT_OF_MEMORY[] = "out of memory";

/* ---- memory ---------------------------------------------------------------------------------- */

static bool grow(void **array, size_t bytes)
{
    void *larger = realloc(*array, bytes);
    if (larger) *array = larger;
    return larger != NULL;
}

bool make_arrays(struct key_block *block, size_t rows)
{
    void *arrays[] = {block->lines, block->decoded, block->hashes, block->results, block->times};
    static const size_t sizes[] = {sizeof(petal_key), sizeof(petal_key), sizeof(uint64_t),
                                   sizeof(uint8_t), sizeof(uint64_t)};
    size_t count = block->max_time ? 5 : 4;
    bool good = rows <= SIZE_MAX / sizeof(petal_key);
    for (size_t i = 0; i < count && good && rows > block->room; i++)
        good = grow(&arrays[i], rows * sizes[i]);
    block->lines = arrays[0];
    block->decoded = arrays[1];
    block->hashes = arrays[2];
    block->results = arrays[3];
    block->times = arrays[4];
    if (good && rows > block->room) block->room = rows;
    if (!good) block->refused = OUT_OF_MEMORY;
    return good;
}

/* One of the block's two buffers for keys. */
static bool make_buffer(struct key_block *block, uint8_t **buffer, size_t *has, size_t needed)
{
    if (needed <= *has) return true;
    free(*buffer);
    *buffer = malloc(needed);
    *has = *buffer ? needed : 0;
    if (!*buffer) block->refused = OUT_OF_MEMORY;
    return *buffer != NULL;
}

/* ---- rows that are keys ---------------------------------------------------------------------- */

static bool ends_in_return(const petal_key *key)
{
    return key->size_bytes > 0 && ((const char *)key->data)[key->size_bytes - 1] == '\r';
}

/* True if all rows end in CR and the CR is part of their keys, which is the case only if the key
 * contains the last field. In nearly all files, the first line gives the answer. */
static bool is_only_crlf(const struct rows *rows, const struct key_block *block, bool ends_whole)
{
    size_t i = 0, count = block->count > 0 && !ends_whole ? block->count - 1 : block->count;
    const petal_key *keys = rows->form == ROWS_ARE_KEYS ? block->lines : block->decoded;
    while (i < count && ends_in_return(&block->lines[i]) &&
           memchr(keys[i].data, '\r', keys[i].size_bytes))
        i++;
    return count > 0 && i == count;
}

static void split_lines(const struct rows *rows, struct key_block *block)
{
    const char *at = block->text, *end = at + block->size_bytes;
    end += end[-1] != rows->separator; /* includes the separator added to the last row */
    while (at < end) {
        size_t found;
        if (block->room - block->count < FEWEST_ROWS &&
            !make_arrays(block, 2 * block->count + FEWEST_ROWS))
            return;
        at = block->marks.by->lines(at, end, rows->separator, block->lines + block->count,
                                    block->room - block->count, &found);
        block->count += found;
    }
}

/* ---- rows with fields ------------------------------------------------------------------------ */

static const char NO_FIELD[] = "too few fields", EMPTY[] = "an empty row",
                  HOLDS_NUL[] = "holds a NUL byte", HOLDS_JOINT[] = "a field holds the byte 0x1F",
                  NO_TIME[] = "its time cannot be read",
                  IN_FUTURE[] = "its time is more than a day ahead (--now sets the clock)",
                  TOO_LONG[] = "longer than a row may be (16 MiB, or --row-limit)";

bool lacks_fields(const struct stray *stray)
{
    return stray->why == NO_FIELD;
}

struct splitting {
    const struct rows *rows;
    struct key_block *block;
    const char *end;        /* end of the text; a separator is there */
    const char *begin, *at; /* of the next row, and of its first field */
    size_t start;           /* of the first row in the text: after a byte order mark */
    const size_t *mark;     /* the first one after `at` */
    bool is_csv, strips_return;
    const char *next_nul;             /* in CSV, starting with the current row; or `end` */
    struct field fields[MAX_COLUMNS]; /* of the current row, in the key's order */
    uint8_t *to;                      /* in block->joined */
};

static bool add_stray(struct key_block *block, petal_key row, const char *why)
{
    if (block->stray_count == block->stray_room) {
        size_t room = 2 * block->stray_room + 16;
        void *strays = block->strays;
        if (room > SIZE_MAX / sizeof *block->strays ||
            !grow(&strays, room * sizeof *block->strays)) {
            block->refused = OUT_OF_MEMORY;
            return false;
        }
        block->strays = strays;
        block->stray_room = room;
    }
    block->strays[block->stray_count++] = (struct stray){row, why};
    return true;
}

/* Keys are no longer than their rows, including the bytes that join their fields. */
static bool copy_field(struct splitting *splitting, const struct field *field, const char **why)
{
    size_t size = field->size_bytes;
    bool good = true;
    if (field->form == FIELD_OF_JSON)
        good = json_copy(field, (char *)splitting->to, &size, why);
    else if (field->form == FIELD_OF_CSV)
        size = csv_copy(field, (char *)splitting->to);
    else
        memcpy(splitting->to, field->text, size);
    if (good && splitting->rows->columns > 1 && memchr(splitting->to, FIELD_JOINT, size)) {
        *why = HOLDS_JOINT;
        good = false;
    }
    if (good) splitting->to += size;
    return good;
}

/* Assembles the current row's key. Returns NULL, or the reason why there is none. */
static const char *join_fields(struct splitting *splitting, petal_key *key)
{
    struct key_block *block = splitting->block;
    const char *why = OUT_OF_MEMORY;
    if (!splitting->to) {
        if (!make_buffer(block, &block->joined, &block->joined_bytes, block->size_bytes + 1))
            return why;
        splitting->to = block->joined;
    }
    uint8_t *begin = splitting->to;
    for (size_t i = 0; i < splitting->rows->columns; i++) {
        if (i > 0) *splitting->to++ = (uint8_t)FIELD_JOINT;
        if (!copy_field(splitting, &splitting->fields[i], &why)) {
            splitting->to = begin;
            return why;
        }
    }
    *key = (petal_key){begin, (size_t)(splitting->to - begin)};
    return NULL;
}

static void add_row(struct key_block *block, petal_key row, petal_key key)
{
    block->lines[block->count] = row;
    block->decoded[block->count++] = key;
}

static bool push_other_row(struct splitting *splitting, petal_key row, const char *why)
{
    struct key_block *block = splitting->block;
    petal_key key = {0};
    if (!why) why = join_fields(splitting, &key);
    if (why == OUT_OF_MEMORY) return false;
    if (why) return add_stray(block, row, why);
    add_row(block, row, key);
    return true;
}

enum { LONGEST_TIME = 64 };

/* Copies a time without its escapes; *end is its end. Returns NULL if it isn't a time. */
static const char *copy_time(const struct field *field, char copy[LONGEST_TIME], const char **end)
{
    const char *why;
    size_t size = field->size_bytes;
    if (size > LONGEST_TIME) return NULL;
    if (field->form == FIELD_OF_CSV)
        size = csv_copy(field, copy);
    else if (!json_copy(field, copy, &size, &why))
        return NULL;
    *end = copy + size;
    return copy;
}

/* Reads the current row's time. Returns why the row has no usable time, or NULL if it has one. */
static const char *read_time(struct splitting *splitting, const char *stop, uint64_t *ms)
{
    const struct rows *rows = splitting->rows;
    struct key_block *block = splitting->block;
    const struct field *field = &splitting->fields[rows->time_place];
    char copy[LONGEST_TIME];
    const char *at = field->text, *end = at + field->size_bytes;
    /* If blanks separate fields, a time may continue in the next one. */
    if (rows->form != ROWS_OF_JSON && (rows->delimiter == BLANKS || rows->delimiter == ' '))
        end = stop;
    else if (field->form != FIELD_AS_IS)
        at = copy_time(field, copy, &end);
    if (!at || !time_read(at, end, &block->time_form, ms)) return NO_TIME;
    return *ms > block->max_time ? IN_FUTURE : NULL;
}

/* Adds the next row, which ends at `stop` and has a key unless `why` says otherwise. Nearly every
 * key is a single field of the text. */
static inline bool push_row(struct splitting *splitting, const char *stop, const char *why)
{
    struct key_block *block = splitting->block;
    const struct field *first = splitting->fields;
    petal_key row = {splitting->begin, (size_t)(stop - splitting->begin)};
    splitting->begin = splitting->at = stop + 1;
    block->line_count++;
    if (block->count == block->room && !make_arrays(block, 2 * block->count + FEWEST_ROWS))
        return false;
    if (!why && splitting->rows->has_time)
        why = read_time(splitting, stop, &block->times[block->count]);
    if (why || splitting->rows->columns > 1 || first->form != FIELD_AS_IS)
        return push_other_row(splitting, row, why);
    add_row(block, row, (petal_key){first->text, first->size_bytes});
    return true;
}

/* ---- fields of text -------------------------------------------------------------------------- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static const char *next_byte(const char *at, const char *end, char byte)
{
    const char *found = at < end ? memchr(at, byte, (size_t)(end - at)) : NULL;
    return found ? found : end;
}

static uint64_t count_bytes(const char *at, const char *end, char byte)
{
    uint64_t count = 0;
    while (at < end && (at = memchr(at, byte, (size_t)(end - at)))) {
        count++;
        at++;
    }
    return count;
}

/* The kinds of fields between marks. The loop below is compiled separately for each kind. */
enum fields { DELIMITED, WORDS, QUOTED };

static inline struct field make_field(const char *begin, const char *stop, enum fields fields,
                                      bool doubled)
{
    struct field field = {.text = begin, .size_bytes = (size_t)(stop - begin)};
    if (fields != QUOTED || begin == stop || *begin != '"') return field;
    field.text++;
    field.size_bytes -= 2;
    if (doubled && memchr(field.text, '"', field.size_bytes)) field.form = FIELD_OF_CSV;
    return field;
}

/* Finds the wanted fields of the row at `at`, whose first mark is the next one. Returns where the
 * row ends. *why is NULL unless a field is missing. */
static inline const char *find_fields(struct splitting *splitting, const char *at,
                                      enum fields fields, const char **why)
{
    const struct wanted *wanted = &splitting->block->wanted;
    const char *text = splitting->block->text, *stop;
    const size_t *mark = splitting->mark;
    size_t found = 0, columns = splitting->rows->found;
    char separator = splitting->rows->separator;
    *why = NO_FIELD;
    for (uint64_t number = 1;; number++) {
        while (fields == WORDS && is_blank(*at)) at++;
        stop = text + *mark++;
        bool last = *stop == separator;
        if (number == wanted->numbers[found]) {
            bool returns = last && splitting->strips_return && stop > at && stop[-1] == '\r';
            if (fields == WORDS && stop == at + returns) break; /* a blank, or nothing */
            splitting->fields[wanted->places[found]] =
                make_field(at, stop - returns, fields, splitting->block->marks.quotes.doubled);
            if (++found == columns) *why = NULL;
        }
        if (last || found == columns) break;
        at = stop + 1;
    }
    while (*stop != separator) stop = text + *mark++;
    splitting->mark = mark;
    return stop;
}

/* Returns the first of `count` marks that is not before the first row. */
static const size_t *first_mark(const struct splitting *splitting, size_t count)
{
    const struct marks *marks = &splitting->block->marks;
    size_t at = (size_t)(splitting->at - splitting->block->text), i = 0;
    while (i < count && marks->at[i] < at) i++;
    return marks->at + i;
}

/* Returns the reason for refusing a CSV row: it is empty, or contains a NUL, which indicates
 * another encoding. */
static inline const char *find_flaw(struct splitting *splitting, const char *at, const char *stop)
{
    if (splitting->next_nul < at) splitting->next_nul = next_byte(at, splitting->end, '\0');
    if (splitting->next_nul < stop) return HOLDS_NUL;
    return stop == at || (stop == at + 1 && *at == '\r') ? EMPTY : NULL;
}

/* Splits rows whose fields end at one of `count` marks. Returns false if memory runs out. */
static inline bool split_marked(struct splitting *splitting, size_t count, enum fields fields)
{
    if (count == 0) return true;
    const size_t *last = splitting->block->marks.at + count;
    splitting->mark = first_mark(splitting, count);
    while (splitting->mark < last) {
        const char *why, *at = splitting->at, *stop = find_fields(splitting, at, fields, &why);
        const char *flaw = splitting->is_csv ? find_flaw(splitting, at, stop) : NULL;
        if (!push_row(splitting, stop, flaw ? flaw : why)) return false;
    }
    return true;
}

/* Splits fields that are separated by one byte, or words that are separated by blanks. */
static void split_fields(struct splitting *splitting)
{
    const struct rows *rows = splitting->rows;
    struct key_block *block = splitting->block;
    struct marks *marks = &block->marks;
    size_t size = block->size_bytes + (splitting->end[-1] != rows->separator);
    bool words = rows->delimiter == BLANKS;
    marks_clear(marks);
    bool good =
        words ? marks->by->words(marks, block->text, size, rows->separator)
              : marks->by->fields(marks, block->text, size, rows->separator, (char)rows->delimiter);
    if (!good) block->refused = OUT_OF_MEMORY;
    if (!good) return;
    if (words)
        split_marked(splitting, marks->count, WORDS);
    else
        split_marked(splitting, marks->count, DELIMITED);
}

/* Finds fields without marks, one by one, in a row with misplaced quotes and all rows after it. */
static const char *find_irregular(struct splitting *splitting, const char *at, const char **why)
{
    const struct rows *rows = splitting->rows;
    const struct wanted *wanted = &splitting->block->wanted;
    size_t found = 0;
    *why = NULL;
    for (uint64_t number = 1;; number++) {
        struct field field;
        const char *stop = csv_field(at, splitting->end, (char)rows->delimiter, &field);
        if (field.why && !*why) *why = field.why;
        if (found < rows->found && number == wanted->numbers[found])
            splitting->fields[wanted->places[found++]] = field;
        at = stop + 1;
        if (stop < splitting->end && *stop != '\n') continue;
        if (!*why && found < rows->found) *why = NO_FIELD;
        return stop;
    }
}

/* Splits CSV with quotes: first the rows that have marks, then the others. */
static void split_quoted(struct splitting *splitting)
{
    struct key_block *block = splitting->block;
    struct marks *marks = &block->marks;
    const char *text = block->text, *end = splitting->end, *why;
    /* There may be more marks, for bytes that were moved to the next block. */
    size_t size = block->size_bytes + (end[-1] != '\n');
    if (!marks->irregular && (marks->count == 0 || end[-1] != '\n'))
        marks->by->csv(marks, text, size, splitting->start, (char)splitting->rows->delimiter);
    size_t count = marks->count;
    while (count > 0 && (marks->at[count - 1] >= size || text[marks->at[count - 1]] != '\n'))
        count--;
    if (!split_marked(splitting, count, QUOTED)) return;
    while (splitting->begin < end) {
        const char *at = splitting->at, *stop = find_irregular(splitting, at, &why);
        const char *flaw = find_flaw(splitting, at, stop);
        /* The text after an unclosed quote ends with a separator of its own. */
        if (stop == end && stop > at && stop[-1] == '\n') stop--;
        if (!push_row(splitting, stop, flaw ? flaw : why)) return;
        block->marks.quotes.hidden = 1;
    }
}

static void split_csv(struct splitting *splitting)
{
    struct key_block *block = splitting->block;
    splitting->is_csv = splitting->strips_return = true;
    splitting->next_nul = next_byte(splitting->at, splitting->end, '\0');
    if (block->marks.count == 0 && !memchr(block->text, '"', block->size_bytes)) {
        split_fields(splitting);
        return;
    }
    split_quoted(splitting);
    if (block->marks.quotes.hidden)
        block->line_count =
            count_bytes(block->text, splitting->end, '\n') + (splitting->end[-1] != '\n');
}

static bool is_all_blank(const char *at, const char *end)
{
    while (at < end && (is_blank(*at) || *at == '\r')) at++;
    return at == end;
}

static void split_json(struct splitting *splitting)
{
    const struct rows *rows = splitting->rows;
    memset(splitting->block->text + splitting->block->size_bytes + 1, 0, SCAN_SLACK);
    struct json_rows json = {.end = splitting->end,
                             .separator = rows->separator,
                             .paths = rows->paths,
                             .count = rows->found,
                             .values = splitting->fields};
    while (splitting->begin < splitting->end) {
        const char *why, *at = splitting->at;
        const char *stop = json_find(&json, at, &why);
        if (why && is_all_blank(at, stop)) why = EMPTY;
        if (!push_row(splitting, stop, why)) return;
    }
}

static void split_rows(const struct rows *rows, struct key_block *block)
{
    const char *begin = block->text + block->header_bytes;
    struct splitting splitting = {.rows = rows,
                                  .block = block,
                                  .end = block->text + block->size_bytes,
                                  .begin = begin,
                                  .at = begin,
                                  .strips_return = rows->crlf};
    if (block->begins_file) splitting.start = rows_mark(rows, block->text, block->size_bytes);
    if (block->header_bytes == 0) splitting.at += splitting.start;
    block->line_count = count_bytes(block->text, begin, rows->separator);
    if (rows->form == ROWS_OF_JSON)
        split_json(&splitting);
    else if (rows->form == ROWS_OF_CSV)
        split_csv(&splitting);
    else
        split_fields(&splitting);
}

/* ---- keys of rows ---------------------------------------------------------------------------- */

static size_t without_return(const petal_key *line)
{
    const char *text = line->data;
    size_t size = line->size_bytes;
    return size > 0 && text[size - 1] == '\r' ? size - 1 : size;
}

static void strip_returns(struct key_block *block)
{
    for (size_t i = 0; i < block->count; i++)
        block->decoded[i] = (petal_key){block->lines[i].data, without_return(&block->lines[i])};
}

static int compare_strays(const void *a, const void *b)
{
    const char *x = ((const struct stray *)a)->row.data, *y = ((const struct stray *)b)->row.data;
    return (x > y) - (x < y);
}

/* Decodes the text of each key in `decoded`. If `strays` is true, a line that can't be decoded is
 * recorded as a stray row; otherwise it ends the block. */
static void decode_keys(decoder *decode, struct key_block *block, bool strays)
{
    size_t needed = 0, kept = 0, strays_before = block->stray_count;
    for (size_t i = 0; i < block->count; i++)
        needed += DECODED_ROOM(block->decoded[i].size_bytes); /* all of these bytes are in the
                                                               * buffer, so the sum can't wrap */
    if (!make_buffer(block, &block->arena, &block->arena_bytes, needed)) {
        block->count = 0;
        return;
    }
    uint8_t *to = block->arena;
    for (size_t i = 0; i < block->count; i++) {
        const char *why;
        petal_key key = {to, 0};
        bool good =
            decode(block->decoded[i].data, block->decoded[i].size_bytes, to, &key.size_bytes, &why);
        if (good) {
            to += key.size_bytes;
            block->lines[kept] = block->lines[i];
            if (block->max_time) block->times[kept] = block->times[i];
            block->decoded[kept++] = key;
        } else if (!strays) {
            block->refused = why;
            break;
        } else if (!add_stray(block, block->lines[i], why)) {
            break;
        }
    }
    block->count = kept;
    if (block->stray_count > strays_before)
        qsort(block->strays, block->stray_count, sizeof *block->strays, compare_strays);
}

size_t first_row_after(const struct key_block *block, const char *text)
{
    size_t low = 0, high = block->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if ((const char *)block->lines[middle].data < text)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const petal_key *next_row(const struct key_block *block, struct row_walk *walk, size_t *key)
{
    bool line = walk->lines < block->count, stray = walk->strays < block->stray_count;
    if (line && stray)
        line = (const char *)block->lines[walk->lines].data <
               (const char *)block->strays[walk->strays].row.data;
    *key = line ? walk->lines : NO_KEY;
    if (line) return &block->lines[walk->lines++];
    return stray ? &block->strays[walk->strays++].row : NULL;
}

/* The first row without a key ends the block, like a line that is not a key. */
static void be_strict(struct key_block *block)
{
    if (block->stray_count == 0 || block->refused) return;
    block->count = first_row_after(block, block->strays[0].row.data);
    block->refused = block->strays[0].why;
    block->stray_count = 0;
    block->lines[block->count] = block->strays[0].row; /* its place among the rows is free */
}

/* Only the first row of a block can exceed the limit. If it does, it is not a key, just as if it
 * had arrived in pieces. */
static void refuse_long_row(struct key_block *block)
{
    struct row_walk walk = {0};
    size_t key;
    const petal_key *first = next_row(block, &walk, &key);
    if (!first || first->size_bytes <= block->max_row_bytes) return;
    petal_key row = *first;
    if (key == NO_KEY) {
        block->strays[0].why = TOO_LONG;
        return;
    }
    if (!add_stray(block, row, TOO_LONG)) return;
    block->count--;
    memmove(block->lines, block->lines + 1, block->count * sizeof *block->lines);
    memmove(block->decoded, block->decoded + 1, block->count * sizeof *block->decoded);
    if (block->max_time)
        memmove(block->times, block->times + 1, block->count * sizeof *block->times);
    qsort(block->strays, block->stray_count, sizeof *block->strays, compare_strays);
}

/* Rows that are too short for a key become stray rows. The others get a run, which produces their
 * keys. */
static void apply_rule(const struct rows *rows, struct key_block *block)
{
    size_t longest = 0, kept = 0, strays_before = block->stray_count;
    for (size_t i = 0; i < block->count; i++) {
        petal_key text = block->decoded[i];
        const char *why = rule_refuses(&rows->rule, &text);
        if (why && !add_stray(block, block->lines[i], why)) break;
        if (why) continue;
        if (text.size_bytes > longest) longest = text.size_bytes;
        block->lines[kept] = block->lines[i];
        if (block->max_time) block->times[kept] = block->times[i];
        block->decoded[kept++] = text;
    }
    block->count = kept;
    if (block->stray_count > strays_before)
        qsort(block->strays, block->stray_count, sizeof *block->strays, compare_strays);
    if (run_make(&block->run, &rows->rule, block->decoded, longest)) return;
    block->count = 0;
    block->refused = OUT_OF_MEMORY;
}

void split_piece(const struct rows *rows, struct key_block *block, bool ends)
{
    char *end = block->text + block->size_bytes;
    bool adds = ends && (block->size_bytes == 0 || end[-1] != rows->separator);
    if (adds) *end++ = rows->separator;
    if (!make_arrays(block, 1)) return;
    block->done = block->has_fields = true;
    block->separator = rows->separator;
    block->line_count = count_bytes(block->text, end, rows->separator);
    /* The printed part of a row includes the byte after it. */
    if (!add_stray(block, (petal_key){block->text, (size_t)(end - block->text) - 1}, TOO_LONG))
        return;
    if (rows->strict && !block->continues) be_strict(block);
}

void split_block(const struct rows *rows, decoder *decode, struct key_block *block)
{
    bool fields = rows->form != ROWS_ARE_KEYS && !block->split;
    bool has_rule = rows->rule.unit != UNIT_ROW;
    char *end = block->text + block->size_bytes;
    if (!block->split) {
        if (block->header_bytes && block->header_bytes == block->size_bytes &&
            end[-1] != rows->separator)
            block->header_bytes++; /* for the separator that is added below */
        bool ends_whole = end[-1] == rows->separator;
        *end = rows->separator; /* for a last row that has none */
        if (fields)
            split_rows(rows, block);
        else
            split_lines(rows, block);
        block->only_crlf = rows->form <= ROWS_OF_FIELDS && !block->stray_count &&
                           is_only_crlf(rows, block, ends_whole);
    }
    if (!fields) block->line_count = block->count;
    if (!block->split && block->size_bytes > block->max_row_bytes) refuse_long_row(block);
    block->has_fields = fields || block->stray_count > 0;
    block->separator = rows->separator;
    if (!fields && rows->crlf)
        strip_returns(block);
    else if (!fields && (decode || has_rule))
        memcpy(block->decoded, block->lines, block->count * sizeof *block->lines);
    if (decode) decode_keys(decode, block, fields);
    if (has_rule) apply_rule(rows, block);
    if (has_rule) block->has_fields = fields || block->stray_count > 0;
    if (rows->strict) be_strict(block);
    block->keys = fields || decode || has_rule || rows->crlf ? block->decoded : block->lines;
}

uint64_t line_of_row(const struct key_block *block, const petal_key *row)
{
    if (!block->has_fields) return block->first_line + (uint64_t)(row - block->lines);
    return block->first_line + count_bytes(block->text, row->data, block->separator);
}
