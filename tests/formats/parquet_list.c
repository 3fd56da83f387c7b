/* parquet_list.c - tests that the filters inside real .parquet files are found and give the same
 * answers as in parquet-java, and that no footer or header is misread, however strange it is. */
#include "../require.h"
#include "../save_as.h"
#include "../values.h"
#include "petal/petal_parquet.h"
#include <petal/petal.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define FOLDER "vectors/parquet/"
#define MAX_FILTERS 64

/* ---- files ----------------------------------------------------------------------------------- */

struct bytes {
    uint8_t *data;
    size_t size;
};

/* Copies the data to a memory block of exactly this size, so that a sanitizer detects reads past
 * the end. */
static struct bytes copy_of(const void *data, size_t size)
{
    struct bytes copy = {malloc(size ? size : 1), size};
    assert_non_null(copy.data);
    if (size) memcpy(copy.data, data, size);
    return copy;
}

static struct bytes load(const char *name)
{
    static uint8_t buffer[65536];
    char path[256];
    snprintf(path, sizeof path, FOLDER "%s", name);
    FILE *file = fopen(path, "rb");
    if (!file) fail_msg("cannot open %s", path);
    size_t size = fread(buffer, 1, sizeof buffer, file);
    fclose(file);
    require_that(size, <, sizeof buffer);
    return copy_of(buffer, size);
}

static petal_status list_of(struct bytes file, petal_parquet_filter *list, size_t *count,
                            petal_error *error)
{
    return petal_parquet_list(file.data, file.size, list, MAX_FILTERS, count, error);
}

static petal_status view(const uint8_t *data, size_t size, petal_filter **filter,
                         petal_error *error)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    options.format = "parquet";
    return petal_view(data, size, &options, filter, error);
}

static petal_filter *view_one(struct bytes file, const petal_parquet_filter *one)
{
    petal_error error;
    petal_filter *filter;
    if (view(file.data + one->offset, (size_t)one->size_bytes, &filter, &error) != PETAL_OK)
        fail_msg("%s", error.message);
    return filter;
}

/* ---- real files ------------------------------------------------------------------------------ */

/* The file that the current lines of files.txt describe. */
struct listed {
    struct bytes file;
    petal_parquet_filter list[MAX_FILTERS];
    size_t count, next;
    petal_filter *filter;
    int filters, answers;
};

static void begin_file(struct listed *at, const char *name)
{
    petal_error error = {0};
    assert_int_equal(at->next, at->count); /* files.txt must list all filters in a file */
    free(at->file.data);
    at->file = load(name);
    if (list_of(at->file, at->list, &at->count, &error) != PETAL_OK)
        fail_msg("%s: %s", name, error.message);
    at->next = 0;
}

static void begin_filter(struct listed *at, const char *words)
{
    unsigned row_group, number;
    unsigned long long offset, blocks;
    char column[256], type[32];
    assert_int_equal(sscanf(words, "%u %u %255s %31s %llu %llu", &row_group, &number, column, type,
                            &offset, &blocks),
                     6);
    require_that(at->next, <, at->count);
    const petal_parquet_filter *one = &at->list[at->next++];
    assert_string_equal(one->column, column);
    assert_string_equal(one->physical_type, type);
    assert_int_equal(one->row_group, row_group);
    assert_int_equal(one->column_number, number);
    assert_int_equal(one->offset, offset);
    assert_int_equal(one->blocks, blocks);
    assert_false(one->encrypted);
    petal_free(at->filter);
    at->filter = view_one(at->file, one);
    at->filters++;
}

static void ask(struct listed *at, const char *hex, bool expected)
{
    uint8_t key[256];
    size_t size = strcmp(hex, "-") == 0 ? 0 : strlen(hex) / 2;
    for (size_t i = 0; i < size; i++) sscanf(hex + 2 * i, "%2hhx", &key[i]);
    if (petal_contains(at->filter, key, size) != expected)
        fail_msg("%s of %s must be %s", hex, at->list[at->next - 1].column,
                 expected ? "in" : "out");
    at->answers++;
}

static void filters_in_real_files_are_listed_and_answer_as_parquet_java_says(void **state)
{
    static struct listed at;
    char line[512], word[512];
    (void)state;
    FILE *script = fopen(FOLDER "files.txt", "r");
    assert_non_null(script);
    while (fgets(line, sizeof line, script)) {
        line[strcspn(line, "\n")] = '\0';
        if (sscanf(line, "file %511s", word) == 1)
            begin_file(&at, word);
        else if (strncmp(line, "filter ", 7) == 0)
            begin_filter(&at, line + 7);
        else if (sscanf(line, "in %511s", word) == 1)
            ask(&at, word, true);
        else if (sscanf(line, "out %511s", word) == 1)
            ask(&at, word, false);
    }
    fclose(script);
    assert_int_equal(at.next, at.count);
    print_message("# %d filters, %d answers\n", at.filters, at.answers);
    require_that(at.filters, >=, 64);
    require_that(at.answers, >=, 4000);
    petal_free(at.filter);
    free(at.file.data);
}

static void encrypted_columns_are_listed_without_a_region_and_the_others_can_be_asked(void **state)
{
    struct bytes file = load("parquet_java_plaintext_footer.parquet");
    petal_parquet_filter list[MAX_FILTERS];
    petal_error error;
    size_t count;
    (void)state;
    assert_int_equal(list_of(file, list, &count, &error), PETAL_OK);
    assert_int_equal(count, 3);
    assert_string_equal(list[0].column, "s");
    assert_true(list[0].encrypted);
    assert_true(list[2].encrypted);
    assert_int_equal(list[0].size_bytes, 0);
    assert_string_equal(list[1].column, "i64");
    petal_filter *filter = view_one(file, &list[1]);
    for (int64_t i = 0; i < 30; i++) assert_true(petal_contains_i64(filter, i));
    petal_free(filter);
    free(file.data);
}

static void an_encrypted_footer_is_refused(void **state)
{
    struct bytes file = load("duckdb_encrypted.parquet");
    petal_parquet_filter list[MAX_FILTERS];
    petal_error error;
    size_t count;
    (void)state;
    assert_int_equal(list_of(file, list, &count, &error), PETAL_ERR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "encrypted"));
    free(file.data);
}

static void more_filters_than_there_is_room_for_are_counted_and_not_written(void **state)
{
    struct bytes file = load("pyarrow.parquet");
    petal_parquet_filter list[3];
    size_t count;
    (void)state;
    memset(list, 0x55, sizeof list);
    assert_int_equal(petal_parquet_list(file.data, file.size, list, 2, &count, NULL), PETAL_OK);
    assert_int_equal(count, 16);
    assert_int_equal(list[2].row_group, 0x55555555);
    assert_int_equal(petal_parquet_list(file.data, file.size, NULL, 0, &count, NULL), PETAL_OK);
    assert_int_equal(count, 16);
    free(file.data);
}

static void a_whole_file_is_no_filter_and_the_message_says_how_to_get_one(void **state)
{
    struct bytes file = load("pyarrow_int96.parquet");
    petal_filter *filter;
    petal_error error;
    (void)state;
    assert_int_equal(view(file.data, file.size, &filter, &error), PETAL_ERR_NOT_A_FILTER);
    assert_non_null(strstr(error.message, "petal_parquet_list"));
    assert_int_equal(petal_recognize(file.data, file.size, NULL, 0), 0);
    free(file.data);
}

static void a_usual_region_is_recognized_for_certain(void **state)
{
    const char *names[8];
    struct bytes usual = load("arrow_rs_n1_hello.sbbf"), unusual = load("unusual_header.sbbf");
    (void)state;
    assert_int_equal(petal_recognize(usual.data, usual.size, names, 8), 1);
    assert_string_equal(names[0], "parquet");
    require_that(petal_recognize(unusual.data, unusual.size, names, 8), >=, 1);
    free(usual.data);
    free(unusual.data);
}

/* ---- damage ---------------------------------------------------------------------------------- */

/* Lists the filters in a memory block of exactly this size. Each filter must be inside the block
 * and accept queries. Returns true if the status is PETAL_OK. */
static bool survives(const uint8_t *data, size_t size)
{
    petal_parquet_filter list[MAX_FILTERS];
    struct bytes file = copy_of(data, size);
    petal_error error = {0};
    size_t count;
    petal_status status = list_of(file, list, &count, &error);
    if (status != PETAL_OK) {
        require_that(status, <, 0);
        require_that(strlen(error.message), >, 0);
        assert_true(!strchr(error.message, '\n'));
        assert_true(error.offset == PETAL_NO_OFFSET || error.offset <= size);
        assert_int_equal(count, 0);
    }
    for (size_t i = 0; i < count && i < MAX_FILTERS; i++) {
        require_that(memchr(list[i].column, '\0', sizeof list[i].column), !=, NULL);
        if (list[i].encrypted) continue;
        require_that(list[i].offset + list[i].size_bytes, <=, size);
        petal_filter *filter = view_one(file, &list[i]);
        petal_contains(filter, "a", 1);
        petal_free(filter);
    }
    free(file.data);
    return status == PETAL_OK;
}

static void truncated_files_are_refused_at_every_length(void **state)
{
    static const char *const names[] = {"pyarrow_int96.parquet",
                                        "parquet_java_plaintext_footer.parquet",
                                        "duckdb_encrypted.parquet"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct bytes file = load(names[i]);
        for (size_t size = 0; size < file.size; size++) assert_false(survives(file.data, size));
        free(file.data);
    }
}

static void no_changed_byte_does_harm(void **state)
{
    static const char *const names[] = {"pyarrow_int96.parquet",
                                        "parquet_java_plaintext_footer.parquet", "duckdb.parquet"};
    static const uint8_t values[] = {0, 1, 0x7f, 0x80, 0xff};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct bytes file = load(names[i]);
        for (size_t at = 0; at < file.size; at++) {
            uint8_t old = file.data[at];
            for (size_t v = 0; v < sizeof values; v++) {
                file.data[at] = values[v];
                survives(file.data, file.size);
            }
            file.data[at] = (uint8_t)(old ^ 1);
            survives(file.data, file.size);
            file.data[at] = old;
        }
        free(file.data);
    }
}

/* ---- footers made here ----------------------------------------------------------------------- */

/* The file under construction, to which Thrift values are appended. */
static struct {
    uint8_t data[131072];
    size_t size, listed;
} made;

static void put(const void *bytes, size_t size)
{
    require_that(size, <=, sizeof made.data - made.size);
    memcpy(made.data + made.size, bytes, size);
    made.size += size;
}

static void put_byte(unsigned byte)
{
    put(&(uint8_t){(uint8_t)byte}, 1);
}

static void put_varint(uint64_t value)
{
    for (; value >= 0x80; value >>= 7) put_byte((unsigned)(value & 0x7f) | 0x80);
    put_byte((unsigned)value);
}

/* Appends a field header with the id in the long form, which doesn't depend on the previous field's
 * id. */
static void put_field(int id, unsigned type)
{
    put_byte(type);
    put_varint((uint64_t)id << 1);
}

static void put_number(int id, unsigned type, int64_t value)
{
    put_field(id, type);
    put_varint((uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0));
}

static void put_hex(const char *hex)
{
    unsigned byte;
    for (; sscanf(hex, "%2x", &byte) == 1; hex += 2) put_byte(byte);
}

#define MAX_HEX 20000

/* Returns hex digits: `start`, then `again` repeated `times` times, then `end`. The digits are in
 * static storage and valid until the next call. */
static const char *repeated(const char *start, const char *again, size_t times, const char *end)
{
    static char hex[MAX_HEX];
    size_t size = (size_t)snprintf(hex, sizeof hex, "%s", start);
    for (size_t i = 0; i < times; i++)
        size += (size_t)snprintf(hex + size, sizeof hex - size, "%s", again);
    size += (size_t)snprintf(hex + size, sizeof hex - size, "%s", end);
    require_that(size, <, sizeof hex);
    return hex;
}

enum { I32 = 5, I64 = 6, BINARY = 8, LIST = 9, STRUCT = 12 };

/* The metadata of the only column in the constructed file. */
struct column {
    int64_t offset, length; /* 0 means that the footer has no length */
    bool has_no_offset;
    const char *path;   /* path as a Thrift list in hex; NULL means a, b */
    const char *extra;  /* more fields of the column chunk in hex */
    const char *end;    /* rest of the footer after the row groups in hex; NULL means 00 */
    const char *header; /* filter header in hex; NULL means USUAL_HEADER */
};

#define FILTER_AT 4
#define USUAL_HEADER "15401c1c00001c1c00001c1c000000"
#define FILTER_BYTES 47

static void put_column(const struct column *column)
{
    put_field(3, STRUCT); /* meta_data */
    put_number(1, I32, 2);
    put_field(3, LIST);
    put_hex(column->path ? column->path : "2801610162");
    if (!column->has_no_offset) put_number(14, I64, column->offset);
    if (column->length) put_number(15, I32, column->length);
    put_byte(0);
    put_hex(column->extra ? column->extra : "");
    put_byte(0);
}

static petal_status list_made(const struct column *column, petal_parquet_filter *list,
                              petal_error *error)
{
    static const uint8_t blocks[32];
    size_t footer, count;
    made.size = 0;
    put("PAR1", 4);
    put_hex(column->header ? column->header : USUAL_HEADER);
    put(blocks, sizeof blocks);
    footer = made.size;
    put_field(4, LIST); /* row_groups: a list of one row group with one column */
    put_byte(1 << 4 | STRUCT);
    put_field(1, LIST);
    put_byte(1 << 4 | STRUCT);
    put_column(column);
    put_byte(0);
    put_hex(column->end ? column->end : "00");
    uint32_t size = (uint32_t)(made.size - footer);
    for (int i = 0; i < 4; i++) put_byte(size >> 8 * i & 0xff);
    put("PAR1", 4);
    struct bytes file = copy_of(made.data, made.size);
    petal_status status = list_of(file, list, &count, error);
    made.listed = count;
    free(file.data);
    return status;
}

static void expect(petal_status wanted, const struct column *column, const char *message)
{
    petal_parquet_filter list[MAX_FILTERS];
    petal_error error = {0};
    petal_status status = list_made(column, list, &error);
    if (status != wanted || (message && !strstr(error.message, message)))
        fail_msg("wanted %s (%s), got %s (%s)", petal_status_name(wanted), message ? message : "",
                 petal_status_name(status), error.message);
}

static void a_made_footer_is_read(void **state)
{
    const struct column column = {.offset = FILTER_AT, .length = FILTER_BYTES};
    petal_parquet_filter list[MAX_FILTERS];
    petal_error error = {0};
    (void)state;
    assert_int_equal(list_made(&column, list, &error), PETAL_OK);
    assert_string_equal(list->column, "a.b");
    assert_string_equal(list->physical_type, "INT64");
    assert_int_equal(list->offset, FILTER_AT);
    assert_int_equal(list->size_bytes, FILTER_BYTES);
    assert_int_equal(list->blocks, 1);
}

/* A path that doesn't fit in its buffer must be truncated, and terminal control characters in it
 * must be replaced. The bytes 2801610162 are a list of two strings. */
static void paths_are_cut_to_fit_and_shown_safely(void **state)
{
    petal_parquet_filter list[MAX_FILTERS];
    petal_error error = {0};
    (void)state;
    /* The path has three parts: ESC [ 1 m, then DEL NUL a, then x 300 times. */
    const struct column column = {.offset = FILTER_AT,
                                  .path = repeated("38041b5b316d037f0061ac02", "78", 300, "")};
    assert_int_equal(list_made(&column, list, &error), PETAL_OK);
    assert_int_equal(strlen(list->column), PETAL_PARQUET_COLUMN_BYTES - 1);
    assert_memory_equal(list->column, "?[1m.??a.xxx", 12);
    expect(PETAL_ERR_DAMAGED, &(struct column){.offset = FILTER_AT, .path = "28ffffffff0f61"},
           "not a Parquet footer");
    expect(PETAL_ERR_DAMAGED, &(struct column){.offset = FILTER_AT, .path = "250202"},
           "not a Parquet footer"); /* a list of i32 */
}

static void offsets_and_lengths_that_lie_are_refused(void **state)
{
    static const int64_t offsets[] = {
        0, -1, 3, 51, 52, 1000, INT32_MAX, (int64_t)1 << 32, INT64_MAX, INT64_MIN, -FILTER_AT};
    static const int64_t lengths[] = {-1, 1, 15, 32, 46, 48, 4096, INT32_MAX, INT32_MIN};
    (void)state;
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++)
        expect(PETAL_ERR_DAMAGED, &(struct column){.offset = offsets[i]}, "outside");
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        expect(PETAL_ERR_DAMAGED, &(struct column){.offset = FILTER_AT, .length = lengths[i]},
               "footer says");
    expect(PETAL_ERR_NOT_A_FILTER, &(struct column){.offset = FILTER_AT + 1}, "no such header");
}

static void headers_in_files_that_lie_are_refused(void **state)
{
    (void)state;
    expect(PETAL_ERR_DAMAGED,
           &(struct column){.offset = FILTER_AT, .header = "1580011c1c00001c1c00001c1c000000"},
           "outside");
    expect(
        PETAL_ERR_DAMAGED,
        &(struct column){.offset = FILTER_AT, .header = "15c0ffffff0f1c1c00001c1c00001c1c000000"},
        "outside");
    expect(PETAL_ERR_DAMAGED,
           &(struct column){.offset = FILTER_AT, .header = "15001c1c00001c1c00001c1c000000"},
           "impossible");
}

static void unknown_fields_of_every_type_are_skipped(void **state)
{
    /* These bytes contain field 100 with every Thrift type: bool, byte, i16, i32, i64, double,
     * binary, list of bools, set of structs, map, empty map, struct, uuid. */
    static const char extra[] = "01c801"
                                "02c801"
                                "03c80105"
                                "04c80106"
                                "05c80107"
                                "06c80108"
                                "07c8010102030405060708"
                                "08c80103616263"
                                "09c801310102"
                                "00"
                                "0ac8012c0000"
                                "0bc8010258"
                                "020161"
                                "040162"
                                "0bc80100"
                                "0cc801150200"
                                "0dc80100112233445566778899aabbccddeeff";
    const struct column column = {.offset = FILTER_AT, .extra = extra};
    (void)state;
    expect(PETAL_OK, &column, NULL);
}

static void columns_of_another_file_are_refused(void **state)
{
    static const uint8_t path[] = {8, 2, 1, 'a'}; /* part of `extra`: field 1 */
    petal_parquet_filter list[MAX_FILTERS];
    petal_error error = {0};
    (void)state;
    assert_int_equal(
        list_made(&(struct column){.offset = FILTER_AT, .extra = "08020161"}, list, &error),
        PETAL_ERR_UNSUPPORTED);
    size_t at = 0; /* error.offset is relative to the start of the file */
    while (at + sizeof path <= made.size && memcmp(made.data + at, path, sizeof path) != 0) at++;
    assert_int_equal(error.offset, at + sizeof path);
    expect(PETAL_ERR_UNSUPPORTED, &(struct column){.offset = FILTER_AT, .extra = "08020161"},
           "other files");
    expect(PETAL_OK, &(struct column){.offset = FILTER_AT, .extra = "080200"},
           NULL); /* one part of the path is empty */
}

/* Field 8 is crypto_metadata. If a column's metadata is encrypted, the column may have a filter
 * that the footer doesn't show. The metadata of this column is readable, so the column must be
 * listed only if the metadata specifies a filter. */
static void an_encrypted_column_with_metadata_is_listed_if_it_names_a_filter(void **state)
{
    (void)state;
    for (int named = 0; named <= 1; named++) {
        const struct column column = {
            .offset = FILTER_AT, .has_no_offset = !named, .extra = "0c1000"};
        petal_parquet_filter list[MAX_FILTERS];
        petal_error error = {0};
        assert_int_equal(list_made(&column, list, &error), PETAL_OK);
        assert_int_equal(made.listed, named);
        if (!named) continue;
        assert_true(list->encrypted);
        assert_string_equal(list->column, "a.b");
        assert_int_equal(list->size_bytes, 0);
    }
}

static void bytes_behind_the_footer_are_refused_unless_it_is_signed(void **state)
{
    static const char signature[] = "00112233445566778899aabb00112233445566778899aabbccddeeff";
    char end[128];
    (void)state;
    expect(PETAL_ERR_DAMAGED, &(struct column){.offset = FILTER_AT, .end = "000000"},
           "after the end");
    snprintf(end, sizeof end, "00%s", signature);
    expect(PETAL_ERR_DAMAGED, &(struct column){.offset = FILTER_AT, .end = end}, "after the end");
    expect(PETAL_ERR_DAMAGED, &(struct column){.offset = FILTER_AT, .end = ""},
           "not a Parquet footer");
    snprintf(end, sizeof end, "0c100000%s",
             signature); /* field 8 (encryption_algorithm) comes first */
    expect(PETAL_OK, &(struct column){.offset = FILTER_AT, .end = end}, NULL);
    snprintf(end, sizeof end, "0c100000%s00", signature);
    expect(PETAL_ERR_DAMAGED, &(struct column){.offset = FILTER_AT, .end = end}, "after the end");
}

/* Counts larger than the input, and deeply nested values, must fail quickly and without deep
 * recursion. */
static void a_whole_file_is_no_filter(void **state)
{
    struct bytes file = load("parquet_java_plaintext_footer.parquet");
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    petal_filter *filter = NULL;
    petal_error error = {0};
    (void)state;
    options.format = "parquet";
    require_status(PETAL_ERR_NOT_A_FILTER,
                   petal_load(file.data, file.size, &options, &filter, &error), error);
    require_that(error.offset, ==, 0);
    require(strstr(error.message, "a whole Parquet file"), "%s", error.message);
    free(file.data);
}

static void huge_counts_and_deep_nesting_are_refused(void **state)
{
    static const char *const extras[] = {"09c801f5ffffffffffffffff7f",
                                         "09c801fcffffffff07",
                                         "0ac801f1ffffffffffffffffff01",
                                         "0bc801ffffffffffffffffff0155",
                                         "08c801ffffffffffffffff7f",
                                         "08c801ffffffffffffffffffff7f",
                                         "0ec801",
                                         "0fc801",
                                         "0cc801f0", /* ends inside a struct, before a type */
                                         "1e",
                                         "f0"};
    (void)state;
    for (size_t i = 0; i < sizeof extras / sizeof *extras; i++)
        expect(PETAL_ERR_DAMAGED, &(struct column){.offset = FILTER_AT, .extra = extras[i]},
               "not a Parquet footer");
    /* This field is a list of lists of lists, and so on. */
    const struct column deep = {.offset = FILTER_AT, .extra = repeated("09c801", "19", 5000, "")};
    expect(PETAL_ERR_DAMAGED, &deep, "not a Parquet footer");
}

/* ---- headers made here ----------------------------------------------------------------------- */

/* Opens a view of this header, followed by a block of 32 bytes. */
static petal_status view_header(const char *hex, petal_filter **filter, petal_error *error)
{
    static const uint8_t blocks[32] = {1};
    made.size = 0;
    put_hex(hex);
    put(blocks, sizeof blocks);
    return view(made.data, made.size, filter, error);
}

static void headers_that_say_something_else_are_refused(void **state)
{
    static const struct {
        const char *header;
        petal_status status;
        const char *message;
    } cases[] = {
        {"15401c2c00001c1c00001c1c000000", PETAL_ERR_UNSUPPORTED, "algorithm is number 2"},
        {"15401c1c00001c2c00001c1c000000", PETAL_ERR_UNSUPPORTED, "hash is number 2"},
        {"15401c1c00001c1c00001c2c000000", PETAL_ERR_UNSUPPORTED, "compression is number 2"},
        {"15001c1c00001c1c00001c1c000000", PETAL_ERR_DAMAGED, "impossible number of bytes"},
        {"153f1c1c00001c1c00001c1c000000", PETAL_ERR_DAMAGED,
         "impossible number of bytes"}, /* -32 */
        {"15421c1c00001c1c00001c1c000000", PETAL_ERR_DAMAGED,
         "impossible number of bytes"}, /* 33 */
        {"15feffffff0f1c1c00001c1c00001c1c000000", PETAL_ERR_DAMAGED, "impossible number of bytes"},
        {"1580808080101c1c00001c1c00001c1c000000", PETAL_ERR_NOT_A_FILTER,
         "no such header"}, /* above 2^31 */
        {"15c0ffffff0f1c1c00001c1c00001c1c000000", PETAL_ERR_TRUNCATED, "header promises"},
        {"1580011c1c00001c1c00001c1c000000", PETAL_ERR_TRUNCATED, "header promises"},
        /* The field numBytes is an i64 instead of an i32. */
        {"16401c1c00001c1c00001c1c000000", PETAL_ERR_NOT_A_FILTER, "no such header"},
        {"1c1c00001c1c00001c1c000000", PETAL_ERR_NOT_A_FILTER,
         "no such header"}, /* without numBytes */
        {"15401c1c00001c1c000000", PETAL_ERR_NOT_A_FILTER,
         "no such header"}, /* without compression */
        {"15401c001c1c00001c1c000000", PETAL_ERR_NOT_A_FILTER,
         "no such header"}, /* a union without a member */
        {"15401c1c001c00001c1c00001c1c000000", PETAL_ERR_NOT_A_FILTER,
         "no such header"}, /* a union with two members */
        {"1540050240"
         "1c1c00001c1c00001c1c000000",
         PETAL_ERR_NOT_A_FILTER, "no such header"}, /* numBytes twice */
        {"00", PETAL_ERR_NOT_A_FILTER, "no such header"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        petal_filter *filter;
        petal_error error = {0};
        petal_status status = view_header(cases[i].header, &filter, &error);
        if (status != cases[i].status || !strstr(error.message, cases[i].message))
            fail_msg("%s: %s (%s)", cases[i].header, petal_status_name(status), error.message);
    }
}

static void an_unknown_member_is_refused_at_its_union(void **state)
{
    static const struct {
        const char *header;
        uint64_t offset;
    } cases[] = {{"15401c2c00001c1c00001c1c000000", 3},
                 {"15401c1c00001c2c00001c1c000000", 7},
                 {"15401c1c00001c1c00001c2c000000", 11}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        petal_filter *filter;
        petal_error error = {0};
        petal_status status = view_header(cases[i].header, &filter, &error);
        require_that(status, ==, PETAL_ERR_UNSUPPORTED);
        require_that(error.offset, ==, cases[i].offset);
    }
}

/* The usual header fields, which follow any other fields. */
#define USUAL_FIELDS "0502401c1c00001c1c00001c1c000000"

/* Returns a header with an unknown field, which is a string of `text_bytes` bytes. */
static const char *long_header(size_t text_bytes)
{
    char start[16];
    snprintf(start, sizeof start, "08c801%02x", (unsigned)text_bytes);
    return repeated(start, "61", text_bytes, USUAL_FIELDS);
}

static void long_headers_are_read_and_written_back_through_a_petal_file_too(void **state)
{
    petal_filter *filter;
    petal_error error;
    uint8_t back[256];
    (void)state;
    for (size_t text = 0; text < 120; text++) {
        const char *hex = long_header(text);
        assert_int_equal(view_header(hex, &filter, &error), PETAL_OK);
        size_t size = strlen(hex) / 2 + 32;
        size_t carried_bytes = (size_t)petal_serialized_bytes(filter, NULL);
        uint8_t *carried = malloc(carried_bytes);
        petal_filter *through, *copy;
        assert_int_equal(petal_serialize(filter, NULL, carried, carried_bytes, NULL), PETAL_OK);
        assert_int_equal(petal_load(carried, carried_bytes, NULL, &through, NULL), PETAL_OK);
        assert_int_equal(petal_clone(through, &copy, NULL), PETAL_OK);
        petal_filter *all[] = {filter, through, copy};
        for (int i = 0; i < 3; i++) {
            assert_int_equal(petal_serialized_bytes(all[i], SAVE_AS("parquet")), size);
            assert_int_equal(petal_serialize(all[i], SAVE_AS("parquet"), back, sizeof back, NULL),
                             PETAL_OK);
            assert_memory_equal(back, made.data, size);
            petal_free(all[i]);
        }
        free(carried);
    }
}

static void headers_above_256_bytes_are_refused(void **state)
{
    petal_filter *filter;
    petal_error error;
    (void)state;
    /* The two headers consist of 60 and 61 unknown 4-byte fields plus 16 other bytes, for totals of
     * 256 and 260 bytes. */
    assert_int_equal(view_header(repeated("", "08c80100", 60, USUAL_FIELDS), &filter, &error),
                     PETAL_OK);
    petal_free(filter);
    assert_int_equal(view_header(repeated("", "08c80100", 61, USUAL_FIELDS), &filter, &error),
                     PETAL_ERR_NOT_A_FILTER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filters_in_real_files_are_listed_and_answer_as_parquet_java_says),
        cmocka_unit_test(encrypted_columns_are_listed_without_a_region_and_the_others_can_be_asked),
        cmocka_unit_test(an_encrypted_footer_is_refused),
        cmocka_unit_test(a_whole_file_is_no_filter),
        cmocka_unit_test(more_filters_than_there_is_room_for_are_counted_and_not_written),
        cmocka_unit_test(a_whole_file_is_no_filter_and_the_message_says_how_to_get_one),
        cmocka_unit_test(a_usual_region_is_recognized_for_certain),
        cmocka_unit_test(truncated_files_are_refused_at_every_length),
        cmocka_unit_test(no_changed_byte_does_harm),
        cmocka_unit_test(a_made_footer_is_read),
        cmocka_unit_test(paths_are_cut_to_fit_and_shown_safely),
        cmocka_unit_test(offsets_and_lengths_that_lie_are_refused),
        cmocka_unit_test(headers_in_files_that_lie_are_refused),
        cmocka_unit_test(unknown_fields_of_every_type_are_skipped),
        cmocka_unit_test(columns_of_another_file_are_refused),
        cmocka_unit_test(an_encrypted_column_with_metadata_is_listed_if_it_names_a_filter),
        cmocka_unit_test(bytes_behind_the_footer_are_refused_unless_it_is_signed),
        cmocka_unit_test(huge_counts_and_deep_nesting_are_refused),
        cmocka_unit_test(headers_that_say_something_else_are_refused),
        cmocka_unit_test(an_unknown_member_is_refused_at_its_union),
        cmocka_unit_test(long_headers_are_read_and_written_back_through_a_petal_file_too),
        cmocka_unit_test(headers_above_256_bytes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
