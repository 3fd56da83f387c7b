/* cli.c - fuzz target: the tool's parsers for command lines and lines of text. An accepted value
 * must be printed in a form that reads back as the same value. Each error message must be a single
 * line. The first byte chooses the parser. */
#define _POSIX_C_SOURCE 200809L

#include "input.h"

#include "commands/commands.h"
#include "files/magic.h"
#include "files/request.h"
#include "keys/scan.h"
#include "keys/split.h"
#include "options/decode.h"
#include "options/options.h"
#include "options/times.h"
#include "output/numbers.h"
#include "output/report.h"
#include "output/utf8.h"

#include <inttypes.h>

#define MAX_ARGUMENTS 24

/* ---- refusals -------------------------------------------------------------------------------- */

static void must_be_a_reason(const char *why)
{
    must(why[0] != '\0' && !strchr(why, '\n'));
}

/* A buffer for the output on stderr. */
struct heard {
    FILE *saved, *stream;
    char *text;
    size_t size;
};

static void listen(struct heard *heard)
{
    heard->saved = stderr;
    heard->stream = open_memstream(&heard->text, &heard->size);
    must(heard->stream != NULL);
    stderr = heard->stream;
}

/* The output must be a single message from petal, on one line. */
static void must_be_one_line(struct heard *heard, bool refused)
{
    stderr = heard->saved;
    must(fclose(heard->stream) == 0);
    bool is_line = heard->size > 0 && strchr(heard->text, '\n') == heard->text + heard->size - 1;
    if (refused && !is_line) fprintf(stderr, "said: %s\n", heard->text);
    if (refused) must(is_line && strncmp(heard->text, "petal: ", 7) == 0);
    free(heard->text);
}

/* ---- numbers --------------------------------------------------------------------------------- */

static void try_count(const char *text)
{
    struct why why;
    uint64_t value = 0, again = 0;
    if (!parse_count(text, &value, &why)) {
        must_be_a_reason(why.text);
        return;
    }
    must(value > 0);
    must(parse_count(grouped(value).s, &again, &why) && again == value);
    must(parse_count(compact(value).s, &again, &why) && again == value);
    must(rounded((double)value).s[0] != '\0' && rate_text(1 / (double)value, 3).s[0] != '\0');
}

static void try_size(const char *text)
{
    struct why why;
    uint64_t value = 0, again = 0;
    char plain[32];
    if (!parse_size(text, &value, &why)) {
        must_be_a_reason(why.text);
        return;
    }
    snprintf(plain, sizeof plain, "%" PRIu64, value);
    must(value > 0 && parse_size(plain, &again, &why) && again == value);
    if (value < 1024 || value >> 50) return;               /* in bytes, PiB or EiB */
    must(parse_size(size_text(value, 4).s, &again, &why)); /* four digits */
    double off = (double)again - (double)value, rounding = 0.0006 * (double)value + 1;
    must(off > -rounding && off < rounding);
}

static void try_rate(const char *text)
{
    struct why why;
    double rate = 0, again = 0, share = 0;
    char plain[40];
    bool is_share = parse_share(text, &share, &why);
    if (!is_share) must_be_a_reason(why.text);
    if (!parse_rate(text, &rate, &why)) {
        must_be_a_reason(why.text);
        must(!is_share || share == 1);
        return;
    }
    must(is_share && share == rate);
    must(rate > 0 && rate < 1);
    snprintf(plain, sizeof plain, "%.17g", rate);
    must(parse_rate(plain, &again, &why) && again == rate);
    must(asked_rate(rate).s[0] != '\0' && one_in(rate).s[0] != '\0' &&
         rate_text(rate, 3).s[0] != '\0');
}

static void try_window(const char *text)
{
    struct why why;
    uint64_t keys = 0, ms = 0, other = 0, again = 0;
    if (!parse_window(text, &keys, &ms, &why)) {
        must_be_a_reason(why.text);
        return;
    }
    must((keys == 0) != (ms == 0));
    struct text printed = keys ? compact(keys) : span_text(ms);
    /* Times with two units are meant only for human readers. */
    if (strchr(printed.s, ' ') || strstr(printed.s, "ms")) return;
    must(parse_window(printed.s, keys ? &again : &other, keys ? &other : &again, &why) &&
         other == 0);
    /* Only the two largest units are printed. */
    must(keys ? again == keys : again <= ms && ms - again < 3600000);
}

static void try_u64(const char *text)
{
    struct why why;
    uint64_t value = 0, again = 0;
    char plain[32];
    if (!parse_u64(text, &value, &why)) {
        must_be_a_reason(why.text);
        return;
    }
    snprintf(plain, sizeof plain, "%" PRIu64, value);
    must(parse_u64(plain, &again, &why) && again == value);
    snprintf(plain, sizeof plain, "0x%" PRIx64, value);
    must(parse_u64(plain, &again, &why) && again == value);
}

/* ---- times ----------------------------------------------------------------------------------- */

/* Parsing must give the same time whatever follows the text, and whether or not the form of the
 * time is already known. The printed time must read back as the same time. */
static void try_time(const char *text, size_t size)
{
    struct why why;
    enum time_form form = TIME_UNKNOWN, same, other = TIME_UNKNOWN;
    uint64_t ms = 0, again = 0;
    const char *after = time_read(text, text + size, &form, &ms);
    if (!parse_time(text, &again, &why)) must_be_a_reason(why.text);
    if (!after) return;
    must(after > text && after <= text + size && form != TIME_UNKNOWN);
    must(ms <= UINT64_C(253402300799999));
    same = form;
    must(time_read(text, after, &same, &again) == after && again == ms && same == form);
    struct text printed = time_text(ms);
    const char *end = printed.s + strlen(printed.s);
    must(time_read(printed.s, end, &other, &again) == end && other == TIME_ISO);
    must(again == ms - ms % 1000);
    other = form == TIME_APACHE ? TIME_ISO : TIME_APACHE;
    must(!time_read(text, text + size, &other, &again));
}

/* ---- magics ---------------------------------------------------------------------------------- */

static void try_magic(const uint8_t *bytes, size_t size)
{
    const struct magic *magic = magic_of(bytes, size);
    if (!magic) return;
    must(magic->name[0] != '\0' && magic->at + magic->size_bytes <= size);
    must((magic->unpack != NULL) == (magic->kind <= MAGIC_PACKED));
    for (size_t part = 0; part < magic->size_bytes && magic->kind <= MAGIC_ZSTD; part++)
        must(magic_may_follow(bytes, part));
}

/* ---- keys ------------------------------------------------------------------------------------ */

static const char *const key_types[] = {"utf16le", "i32", "i64", "f64", "hex", "base64"};

/* Prints these key bytes in the type's notation, or "" for bytes that this test leaves out. */
static void print_key(const char *type, const uint8_t *key, size_t size, char *text, size_t room)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint64_t number = 0;
    double real;
    size_t used = 0;
    for (size_t i = size < 8 ? size : 8; i > 0; i--) number = number << 8 | key[i - 1];
    text[0] = '\0';
    if (strcmp(type, "i32") == 0)
        snprintf(text, room, "%" PRId32, (int32_t)(uint32_t)number);
    else if (strcmp(type, "i64") == 0)
        snprintf(text, room, "%" PRId64, (int64_t)number);
    else if (strcmp(type, "f64") == 0) {
        memcpy(&real, &number, sizeof real);
        snprintf(text, room, "%.17g", real);
    } else if (strcmp(type, "hex") == 0) {
        for (size_t i = 0; i < size; i++)
            used += (size_t)snprintf(text + used, room - used, "%02x", key[i]);
    } else if (strcmp(type, "base64") == 0) {
        for (size_t i = 0; i < size; i += 3, used += 4) {
            uint32_t three = (uint32_t)key[i] << 16;
            if (i + 1 < size) three |= (uint32_t)key[i + 1] << 8;
            if (i + 2 < size) three |= key[i + 2];
            for (unsigned j = 0; j < 4; j++)
                text[used + j] = i + j > size ? '=' : digits[three >> (18 - 6 * j) & 63];
        }
        text[used] = '\0';
    }
}

static void try_key(const char *type, const char *line, size_t size)
{
    decoder *decode = find_decoder(find_key_type(type));
    size_t key_size = 0, again_size = 0, room = 2 * DECODED_ROOM(size) + 64;
    uint8_t *key = malloc(DECODED_ROOM(size)), *again = malloc(DECODED_ROOM(room));
    char *text = malloc(room);
    const char *why = NULL;
    must(decode && key && again && text);
    if (decode(line, size, key, &key_size, &why)) {
        must(key_size <= DECODED_ROOM(size));
        print_key(type, key, key_size, text, room);
        if (strcmp(type, "utf16le") != 0)
            must(decode(text, strlen(text), again, &again_size, &why) && again_size == key_size &&
                 memcmp(key, again, key_size) == 0);
    } else {
        must(why != NULL);
        must_be_a_reason(why);
    }
    free(key);
    free(again);
    free(text);
}

/* Every valid code point has exactly one encoding. */
static void try_utf8(const uint8_t *bytes, size_t size)
{
    for (size_t at = 0, length = 0; at < size; at += length) {
        uint32_t point = utf8_next(bytes + at, size - at, &length);
        must(length >= 1 && length <= size - at && (point != UTF8_INVALID || length == 1));
        if (point == UTF8_INVALID) continue;
        must(point <= 0x10ffff && (point < 0xd800 || point > 0xdfff));
        must(length == (point < 0x80 ? 1u : point < 0x800 ? 2u : point < 0x10000 ? 3u : 4u));
    }
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* A block's rows must cover its whole text without gaps. Each key must be within the text or the
 * buffer. */
static void must_be_all(const struct key_block *block)
{
    struct row_walk walk = {0};
    const char *at = block->text + block->header_bytes, *end = block->text + block->size_bytes;
    size_t key;
    for (const petal_key *row; (row = next_row(block, &walk, &key));) {
        must((const char *)row->data == at && row->size_bytes <= (size_t)(end - at));
        if (key != NO_KEY) must(block->keys[key].size_bytes <= row->size_bytes);
        at += row->size_bytes + 1;
    }
    must(at == end || at == end + 1);
}

/* However the text is split into pieces, the reader must divide it only at the start of a row. */
static void must_cut_rows(const struct rows *rows, const struct key_block *block, size_t piece)
{
    struct csv_scan scan = {0};
    struct marks marks = {.by = marker_for_this_cpu()};
    size_t start = rows_mark(rows, block->text, block->size_bytes);
    for (size_t size = start; size < block->size_bytes;) {
        size = block->size_bytes - size < piece ? block->size_bytes : size + piece;
        size_t whole =
            csv_whole_rows(block->text, size, start, (char)rows->delimiter, &scan, &marks);
        struct row_walk walk = {0};
        size_t key;
        const petal_key *row = NULL;
        if (whole == 0 || whole <= block->header_bytes || whole == block->size_bytes) continue;
        while ((row = next_row(block, &walk, &key)) &&
               (const char *)row->data != block->text + whole)
            continue;
        must(row != NULL);
    }
    free(marks.at);
}

/* A row must end at the same place whether it arrives in pieces or as a whole. */
static void must_end_row(const struct rows *rows, const struct key_block *block, size_t piece)
{
    size_t start = rows_mark(rows, block->text, block->size_bytes), end = 0;
    char delimiter = (char)rows->delimiter;
    struct csv_scan whole = {.at = start}, scan = {.at = start};
    size_t expected = csv_row_end(block->text, block->size_bytes, start, delimiter, &whole);
    for (size_t size = start; size < block->size_bytes && end == 0;) {
        size = block->size_bytes - size < piece ? block->size_bytes : size + piece;
        end = csv_row_end(block->text, size, start, delimiter, &scan);
        must(end <= size && scan.at <= size);
    }
    must(end == expected);
    if (expected == 0 || expected == block->size_bytes || expected == block->header_bytes) return;
    struct row_walk walk = {0};
    size_t key;
    const petal_key *row = next_row(block, &walk, &key);
    if (block->header_bytes == 0) must(row && row->size_bytes + 1 == expected);
}

/* Scanning field by field must find the same rows and keys as scanning with marks, at every CPU
 * level. */
static void must_be_alike(const struct rows *rows, const struct key_block *block, bool by_marks)
{
    struct key_block other = {.begins_file = true, .text = block->text};
    other.size_bytes = other.capacity = block->size_bytes;
    other.wanted = block->wanted;
    other.max_row_bytes = block->max_row_bytes;
    other.max_time = block->max_time;
    other.header_bytes = block->header_bytes;
    other.marks.irregular = !by_marks;
    other.marks.by = &marker_any_cpu;
    split_block(rows, NULL, &other);
    must(other.count == block->count && other.stray_count == block->stray_count);
    for (size_t i = 0; i < block->count; i++)
        must(other.lines[i].data == block->lines[i].data &&
             other.keys[i].size_bytes == block->keys[i].size_bytes &&
             memcmp(other.keys[i].data, block->keys[i].data, other.keys[i].size_bytes) == 0);
    for (size_t i = 0; i < block->count && rows->has_time; i++)
        must(other.times[i] == block->times[i] && block->times[i] <= block->max_time);
    for (size_t i = 0; i < block->stray_count; i++)
        must(other.strays[i].row.data == block->strays[i].row.data &&
             other.strays[i].why == block->strays[i].why);
    must(other.line_count == block->line_count && other.time_form == block->time_form);
    other.text = NULL;
    keys_free_block(&other);
}

static void must_be_lines(const struct key_block *block, char separator, const struct marker *by)
{
    const char *at = block->text, *end = at + block->size_bytes;
    struct rows rows = {.separator = separator};
    struct key_block other = {.text = block->text, .size_bytes = block->size_bytes};
    other.max_row_bytes = SIZE_MAX;
    other.marks.by = by;
    split_block(&rows, NULL, &other);
    for (size_t i = 0; i < other.count; i++) {
        const char *stop = memchr(at, separator, (size_t)(end - at) + 1);
        must(other.keys[i].data == at && stop == at + other.keys[i].size_bytes);
        at = stop + 1;
    }
    must(at == end + (end[-1] != separator) && other.line_count == other.count);
    other.text = NULL;
    keys_free_block(&other);
}

/* Every CPU level must find the same lines as memchr(). */
static void try_lines(char separator, const char *text, size_t size)
{
    struct key_block block = {.text = malloc(size + 1 + SCAN_SLACK), .size_bytes = size};
    must(block.text != NULL);
    if (size) memcpy(block.text, text, size);
    if (size) must_be_lines(&block, separator, marker_for_this_cpu());
    if (size) must_be_lines(&block, separator, &marker_any_cpu);
    free(block.text);
}

/* `choice` selects which options are set. Their text ends at the first newline; a tab in the text
 * starts the value of --time-field. */
static void try_rows(uint32_t choice, char *text, size_t size)
{
    char *column = text, *newline = memchr(text, '\n', size);
    struct key_block block = {.begins_file = true, .marks = {.by = marker_for_this_cpu()}};
    struct heard heard;
    struct rows rows;
    struct args args = {.strict = choice == 7, .header = choice == 3};
    if (!newline || memchr(text, '\0', (size_t)(newline - text))) return;
    *newline = '\0';
    size -= (size_t)(newline + 1 - text);
    *(choice < 2 ? &args.fields : choice < 4 ? &args.csv : &args.jsonl) = column;
    if (choice == 1) args.delimiter = ";";
    char *tab = strchr(column, '\t');
    if (tab) {
        *tab = '\0';
        args.time_field = tab + 1;
    }
    listen(&heard);
    bool good = rows_read(&rows, &args);
    must_be_one_line(&heard, !good);
    if (!good || size == 0) return;
    char *copy = block.text = malloc(size + 1 + SCAN_SLACK);
    must(copy != NULL);
    memcpy(copy, newline + 1, size);
    block.size_bytes = block.capacity = size;
    block.max_row_bytes = size % 2 ? SIZE_MAX : 40;
    if (rows.has_time) block.max_time = UINT64_C(1) << 41; /* in 2039 */
    char message[512] = "";
    if (!rows.has_header)
        rows_want(&rows, rows.numbers, &block.wanted);
    else
        good = rows_read_header(&rows, block.text, size, &block.wanted, &block.header_bytes,
                                message, sizeof message);
    if (good) {
        split_block(&rows, NULL, &block);
        if (!rows.strict) must_be_all(&block);
        must_be_alike(&rows, &block, false);
        must_be_alike(&rows, &block, true);
        if (rows.form == ROWS_OF_CSV) must_cut_rows(&rows, &block, 1 + size % 7);
        if (rows.form == ROWS_OF_CSV) must_end_row(&rows, &block, 1 + size % 7);
    } else {
        must(message[0] != '\0'); /* may have several lines; complain() joins them */
    }
    block.text = NULL;
    keys_free_block(&block);
    free(copy);
}

/* ---- command lines --------------------------------------------------------------------------- */

static const struct command *const commands[] = {
    &plan_command,      &create_command,  &build_command, &add_command,     &remove_command,
    &check_command,     &seen_command,    &info_command,  &verify_command,  &merge_command,
    &intersect_command, &compare_command, &shard_command, &convert_command, &bench_command,
};

/* Parses the options that describe a filter, and checks what can be checked without a file. */
static void try_request(const struct command *command, const struct args *args)
{
    struct request request;
    struct heard heard;
    petal_info plan = PETAL_INFO_INIT;
    petal_error error = {0};
    if (args->template_file || args->secret_file || (args->metadata && args->metadata[0] == '@'))
        return;
    if (args->seed && strcmp(args->seed, "random") == 0) return;
    listen(&heard);
    bool good = request_read(&request, command->name, args, 0, false);
    must_be_one_line(&heard, !good);
    if (good) {
        petal_status status = petal_plan(&request.options, &plan, NULL, &error);
        if (status != PETAL_OK) must_be_told(&error, status);
        if (status == PETAL_OK && args->memory_bytes) must(plan.bytes <= args->memory_bytes);
        if (status == PETAL_OK && args->capacity && !args->window)
            must(plan.capacity == args->capacity);
        if (status == PETAL_OK && args->rate > 0) must(plan.target_rate == args->rate);
    }
    request_free(&request);
}

/* Parses the options of `petal shard`, without reading keys. */
static void try_shards(const struct args *args)
{
    struct heard heard;
    struct args one = {
        .shards = args->shards, .shard = args->shard, .threads = 1, .progress = "never"};
    if (!args->shard || args->operand_count) return;
    char *nothing[] = {"/dev/null"};
    one.operands = nothing;
    one.operand_count = 1;
    listen(&heard);
    int status = shard_command.run(&one);
    must_be_one_line(&heard, status == STATUS_ERROR);
    must(status != STATUS_ERROR || one.shards == 0 || one.shards > UINT32_MAX || args->shard);
}

/* Each argument ends with a newline. */
static void try_options(const struct command *command, char *text)
{
    char *argv[MAX_ARGUMENTS + 1] = {NULL};
    int argc = 0;
    struct args args;
    struct heard heard;
    for (char *at = text; at && argc < MAX_ARGUMENTS; argc++) {
        char *end = strchr(at, '\n');
        argv[argc] = at;
        if (end) *end = '\0';
        at = end ? end + 1 : NULL;
    }
    listen(&heard);
    bool good = parse_options(command, argc, argv, &args);
    must_be_one_line(&heard, !good);
    if (good) {
        must(args.rate == 0 || (args.rate > 0 && args.rate < 1));
        must(args.before_dashes <= args.operand_count);
        for (size_t i = 0; i < args.operand_count; i++) must(args.operands[i] != NULL);
        for (size_t i = 0; i < args.literal_count; i++) must(args.literals[i] != NULL);
        if (command == &plan_command || command == &create_command) try_request(command, &args);
        if (command == &shard_command) try_shards(&args);
    }
    free(args.literals);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    if (size_bytes == 0) return 0;
    uint32_t what = data[0] % 32, choice = data[0] / 32;
    size_t size = size_bytes - 1;
    char *text = malloc(size + 1); /* exactly the length plus the terminator */
    must(text != NULL);
    memcpy(text, data + 1, size);
    text[size] = '\0';
    switch (what) {
    case 0: try_count(text); break;
    case 1: try_size(text); break;
    case 2: try_rate(text); break;
    case 3: try_window(text); break;
    case 4: try_u64(text); break;
    case 5: try_key(key_types[choice % 6], text, size); break;
    case 6: try_utf8(data + 1, size); break;
    case 27: try_lines(choice % 2 ? '\0' : '\n', text, size); break;
    case 28: try_options(&which_command, text); break;
    case 29: try_magic(data + 1, size); break;
    case 30: try_time(text, size); break;
    case 31: try_rows(choice, text, size); break;
    default: try_options(commands[what % 15], text); break;
    }
    free(text);
    return 0;
}
