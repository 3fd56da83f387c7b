/* parquet.c - tests what the common vectors can't show about Parquet. The filters inside real
 * .parquet files are found, and answer as in parquet-java. No footer or header is misread, no
 * matter how strange it is. Sizes equal arrow-rs's, and rates and estimates match the model. */
#define _XOPEN_SOURCE 700 /* pwrite, ftruncate */

#include "../require.h"
#include "../save_as.h"
#include "../values.h"
#include "petal/petal_parquet.h"
#include <petal/petal.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define FOLDER "vectors/parquet/"
#define MAX_FILTERS 64

/* ---- files ----------------------------------------------------------------------------------- */

struct bytes {
    uint8_t *data;
    size_t size;
};

/* Copies the data to memory of exactly that size, so that a sanitizer finds reads past the end. */
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

/* The file that files.txt describes at the moment. */
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
    assert_int_equal(at->next, at->count); /* files.txt listed all filters of the previous file */
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

/* Lists the filters in memory of exactly that size. Each must lie inside it, and must accept
 * queries. Returns true if the status is PETAL_OK. */
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

/* The file being built. Thrift is appended to it. */
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

/* Appends a field with its id in the long form, which doesn't depend on the previous field. */
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

/* Returns hex digits: `start`, then `again` repeated `times` times, then `end`. They are in static
 * storage, and valid until the next call. */
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

/* The metadata of the only column in the built file. */
struct column {
    int64_t offset, length; /* length 0 means not given */
    bool has_no_offset;
    const char *path;   /* path parts as a Thrift list, hex; NULL means a, b */
    const char *extra;  /* more fields of the chunk, hex */
    const char *end;    /* the footer after the row groups, hex; NULL means 00 */
    const char *header; /* the filter's header, hex; NULL means the usual one for 32 bytes */
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
    put_field(4, LIST); /* row groups: a list of one, with one column */
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

/* 2801610162 is two texts. A path is truncated at the end of its buffer. Terminal control
 * characters in it are replaced. */
static void paths_are_cut_to_fit_and_shown_safely(void **state)
{
    petal_parquet_filter list[MAX_FILTERS];
    petal_error error = {0};
    (void)state;
    /* The path has three parts: ESC [ 1 m; DEL NUL a; 300 times x. */
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
    /* Field 100 in every type: bool, byte, i16, i32, i64, double, binary, list of bools, set of
     * structs, map, empty map, struct, uuid. */
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
    static const uint8_t path[] = {8, 2, 1, 'a'}; /* stands in "extra": field 1, then the offset */
    petal_parquet_filter list[MAX_FILTERS];
    petal_error error = {0};
    (void)state;
    assert_int_equal(
        list_made(&(struct column){.offset = FILTER_AT, .extra = "08020161"}, list, &error),
        PETAL_ERR_UNSUPPORTED);
    size_t at = 0; /* error.offset counts from the start of the file */
    while (at + sizeof path <= made.size && memcmp(made.data + at, path, sizeof path) != 0) at++;
    assert_int_equal(error.offset, at + sizeof path);
    expect(PETAL_ERR_UNSUPPORTED, &(struct column){.offset = FILTER_AT, .extra = "08020161"},
           "other files");
    expect(PETAL_OK, &(struct column){.offset = FILTER_AT, .extra = "080200"},
           NULL); /* a part with an empty name */
}

/* Field 8 is crypto_metadata. A column may have a filter that the footer doesn't name only if its
 * metadata is encrypted. This column's metadata is readable, so it is listed only if the footer
 * names a filter. */
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
             signature); /* field 8, encryption_algorithm, comes first */
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
                                         "0cc801f0", /* ends within a struct, without a type */
                                         "1e",
                                         "f0"};
    (void)state;
    for (size_t i = 0; i < sizeof extras / sizeof *extras; i++)
        expect(PETAL_ERR_DAMAGED, &(struct column){.offset = FILTER_AT, .extra = extras[i]},
               "not a Parquet footer");
    /* A list of lists of lists ... */
    const struct column deep = {.offset = FILTER_AT, .extra = repeated("09c801", "19", 5000, "")};
    expect(PETAL_ERR_DAMAGED, &deep, "not a Parquet footer");
}

/* ---- headers made here ----------------------------------------------------------------------- */

/* Views a header followed by 32 bytes of blocks. */
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
        /* numBytes is an i64. */
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

/* The usual fields of a header. They come after the others. */
#define USUAL_FIELDS "0502401c1c00001c1c00001c1c000000"

/* Returns a header with an unknown field, a string of `text_bytes` bytes. */
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
    /* The headers have 60 and 61 unknown 4-byte fields, and 16 more bytes: 256 and 260 in total. */
    assert_int_equal(view_header(repeated("", "08c80100", 60, USUAL_FIELDS), &filter, &error),
                     PETAL_OK);
    petal_free(filter);
    assert_int_equal(view_header(repeated("", "08c80100", 61, USUAL_FIELDS), &filter, &error),
                     PETAL_ERR_NOT_A_FILTER);
}

/* ---- sizes ----------------------------------------------------------------------------------- */

static petal_status plan(uint64_t keys, double rate, uint64_t bits, uint32_t hashes,
                         petal_info *info)
{
    petal_options options = PETAL_OPTIONS_INIT;
    *info = PETAL_INFO_INIT;
    options.format = "parquet";
    options.capacity = keys;
    options.rate = rate;
    options.bits = bits;
    options.hashes = hashes;
    return petal_plan(&options, info, NULL, NULL);
}

static void sizes_are_those_of_arrow_rs(void **state)
{
    FILE *table = fopen(FOLDER "sizing.txt", "r");
    char line[128];
    int rows = 0;
    (void)state;
    assert_non_null(table);
    while (fgets(line, sizeof line, table)) {
        unsigned long long keys, bytes;
        double rate;
        petal_info info;
        if (sscanf(line, "%llu %lf %llu", &keys, &rate, &bytes) != 3) continue;
        rows++;
        assert_int_equal(plan(keys, rate, 0, 0, &info),
                         keys ? PETAL_OK : PETAL_ERR_ARGUMENT); /* 0 means "not given" */
        if (keys == 0) continue;
        if (info.bytes != bytes) fail_msg("%s: %llu bytes", line, (unsigned long long)info.bytes);
        assert_int_equal(info.hashes, 8);
    }
    fclose(table);
    require_that(rows, >=, 280);
}

static void sizes_end_at_128_mib_and_the_plan_says_at_which_rate(void **state)
{
    petal_info info;
    (void)state;
    assert_int_equal(plan(200000000, 0.01, 0, 0, &info), PETAL_OK);
    assert_int_equal(info.bytes, 128 << 20);
    require_that(info.predicted_rate, >, 0.1435);
    require_that(info.predicted_rate, <, 0.1445);
    /* The rate is too low for doubles, so the planner takes the largest size. */
    assert_int_equal(plan(10, 1e-300, 0, 0, &info), PETAL_OK);
    assert_int_equal(info.bytes, 128 << 20);
}

static void given_bits_become_a_power_of_two_of_bytes(void **state)
{
    static const uint64_t cases[][2] = {
        {1, 256}, {256, 256}, {257, 512}, {768, 1024}, {(uint64_t)1 << 30, (uint64_t)1 << 30}};
    petal_info info;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(plan(0, 0, cases[i][0], 8, &info), PETAL_OK);
        assert_int_equal(info.bits, cases[i][1]);
    }
    assert_int_equal(plan(0, 0, ((uint64_t)1 << 30) + 8, 8, &info), PETAL_ERR_LIMIT);
    assert_int_equal(plan(0, 0, UINT64_MAX, 8, &info), PETAL_ERR_LIMIT);
    assert_int_equal(plan(0, 0, 256, 7, &info), PETAL_ERR_ARGUMENT);
    assert_int_equal(plan(0, 0, 256, 9, &info), PETAL_ERR_ARGUMENT);
}

/* Maps a sparse file of the largest size that a header allows, 2^31 - 32 bytes. Its only key is
 * found among 17 * 10^9 bits. */
static void the_largest_file_is_mapped_and_asked(void **state)
{
    const uint64_t blocks = 67108863, header_bytes = 19;
    const uint8_t header[] = {0x15, 0xc0, 0xff, 0xff, 0xff, 0x0f, 0x1c, 0x1c, 0, 0,
                              0x1c, 0x1c, 0,    0,    0x1c, 0x1c, 0,    0,    0};
    /* "hello" (docs/formats/parquet.md): h >> 32 = 26c7827d */
    const uint8_t hello[32] = {
        [2] = 0x10, [5] = 2, [9] = 4, [12] = 0x80, [17] = 2, [23] = 0x80, [27] = 0x10, [31] = 8};
    char path[512];
    const char *folder = getenv("TMPDIR"); /* NOLINT(concurrency-mt-unsafe): no thread is running */
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    petal_filter *filter;
    petal_error error;
    (void)state;
    snprintf(path, sizeof path, "%s/petal-large-%ld.sbbf", folder && *folder ? folder : "/tmp",
             (long)getpid());
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    off_t at = (off_t)(header_bytes + 32 * (0x26c7827d * blocks >> 32));
    assert_int_equal(fwrite(header, 1, sizeof header, file), header_bytes);
    assert_int_equal(fflush(file), 0);
    assert_int_equal(pwrite(fileno(file), hello, sizeof hello, at), sizeof hello);
    assert_int_equal(ftruncate(fileno(file), (off_t)(header_bytes + 32 * blocks)), 0);
    fclose(file);
    options.format = "parquet";
    if (petal_open(path, &options, &filter, &error) != PETAL_OK) fail_msg("%s", error.message);
    unlink(path);
    assert_true(petal_contains(filter, "hello", 5));
    assert_false(petal_contains(filter, "hallo", 5));
    petal_free(filter);
}

/* ---- rates ----------------------------------------------------------------------------------- */

static petal_filter *filter_of(uint64_t blocks, uint64_t capacity)
{
    petal_options options = PETAL_OPTIONS_INIT;
    petal_filter *filter;
    options.format = "parquet";
    options.bits = blocks * 256;
    options.hashes = 8;
    options.capacity = capacity;
    assert_int_equal(petal_create(&options, &filter, NULL), PETAL_OK);
    return filter;
}

/* Returns numbers that are distinct and spread over 64 bits. */
static int64_t number(uint64_t i)
{
    return (int64_t)(i * 0x9e3779b97f4a7c15u);
}

/* The mean of (1 - (31/32)^j)^8, where j is the binomial number of keys in a block. This is the
 * model without its alternating sum. */
static double rate_by_load(uint64_t blocks, uint64_t keys)
{
    double n = (double)keys, z = (double)blocks, sum = 0;
    for (double j = 1; j <= n && j < 2000; j++) {
        double log_choose = lgamma(n + 1) - lgamma(j + 1) - lgamma(n - j + 1);
        double log_rest = blocks == 1 ? (j == n ? 0 : -INFINITY) : (n - j) * log1p(-1 / z);
        sum += exp(log_choose - j * log(z) + log_rest) * pow(-expm1(j * log(31.0 / 32.0)), 8);
    }
    return sum;
}

static void the_model_is_the_mean_over_the_loads_of_a_block(void **state)
{
    (void)state;
    for (uint64_t blocks = 1; blocks <= (uint64_t)1 << 20; blocks *= 4)
        for (uint64_t load = 2; load <= 128; load *= 2) {
            petal_filter *filter = filter_of(blocks, 0);
            petal_info info = info_of(filter);
            double model = petal_predict_rate(&info, blocks * load),
                   mean = rate_by_load(blocks, blocks * load);
            /* Adds the probabilities of equal patterns and equal hashes. The model's sum is
             * accurate to 1e-14: an exponent contains three lgammas, each accurate to 2e-16. */
            double equal = (1 - mean) * (double)load * 0x1p-32 + (double)(blocks * load) * 0x1p-64;
            if (fabs(model - mean - equal) >
                2e-14 + 6e-16 * (1 + lgamma((double)(blocks * load) + 1)) * mean)
                fail_msg("%llu blocks, load %llu: %g, not %g", (unsigned long long)blocks,
                         (unsigned long long)load, model, mean);
            petal_free(filter);
        }
}

/* Given the bits, the number of hits among Q absent keys is binomial. It must be within 5 sd.
 * number() makes the result reproducible. */
static void measured_rates_are_those_of_the_bits(void **state)
{
    static const uint64_t cases[][2] = {
        {1, 26}, {4, 60}, {64, 1664}, {1024, 16384}, {4096, 200000}};
    const uint64_t queries = 1000000;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        petal_filter *filter = filter_of(cases[i][0], cases[i][1]);
        uint64_t found = 0;
        for (uint64_t k = 0; k < cases[i][1]; k++) petal_add_i64(filter, number(k));
        for (uint64_t k = 0; k < queries; k++)
            found += petal_contains_i64(filter, number(k + ((uint64_t)1 << 32)));
        double rate = stats_of(filter).estimated_rate, mean = rate * (double)queries,
               sd = sqrt(mean * (1 - rate));
        if (fabs((double)found - mean) > 5 * sd + 1)
            fail_msg("%g found, %g expected, sd %g", (double)found, mean, sd);
        petal_free(filter);
    }
}

/* Tests 2,000 filters of 64 blocks with 1,664 keys. The mean rate, given the bits, must agree with
 * the model within 5 standard errors. So must the mean and the variance of the number of set bits
 * (the standard error of the variance is sqrt(2/2000) of it). The 95 % intervals must contain the
 * true number in at least 1,900 - 5 sqrt(2000 * .95 * .05) = 1,851 cases. */
static void rates_bits_and_estimates_agree_with_the_model(void **state)
{
    const uint64_t blocks = 64, keys = 1664;
    const double filters = 2000, clear = exp((double)keys * log1p(-1.0 / (32.0 * (double)blocks)));
    double rates = 0, rates2 = 0, bits = 0, bits2 = 0, covered = 0, items = 0, predicted = 0,
           width = 0;
    petal_filter *filter = filter_of(blocks, keys);
    uint64_t next = 0;
    (void)state;
    for (int i = 0; i < (int)filters; i++) {
        assert_int_equal(petal_clear(filter, NULL), PETAL_OK);
        for (uint64_t k = 0; k < keys; k++) petal_add_i64(filter, number(++next));
        petal_info info = info_of(filter);
        petal_stats info_stats = stats_of(filter);
        rates += info_stats.estimated_rate;
        rates2 += info_stats.estimated_rate * info_stats.estimated_rate;
        bits += (double)info_stats.bits_set;
        bits2 += (double)info_stats.bits_set * (double)info_stats.bits_set;
        items += info_stats.estimated_items.value;
        covered += info_stats.estimated_items.low <= (double)keys &&
                   (double)keys <= info_stats.estimated_items.high;
        width += info_stats.estimated_items.high - info_stats.estimated_items.low;
        predicted = info.predicted_rate;
    }
    double mean = rates / filters, error = sqrt((rates2 / filters - mean * mean) / filters);
    if (fabs(mean - predicted) > 5 * error)
        fail_msg("rate %g, model %g, error %g", mean, predicted, error);
    double bits_mean = bits / filters, sd = sqrt(bits2 / filters - bits_mean * bits_mean);
    double expected = 256 * (double)blocks * (1 - clear);
    if (fabs(bits_mean - expected) > 5 * sd / sqrt(filters))
        fail_msg("%g bits, %g expected", bits_mean, expected);
    /* Half of the width is 1.96 sd of the set bits, converted to keys: one more key sets 8 * clear
     * bits. */
    double model_sd = width / filters / 2 / 1.959964 * 8 * clear;
    if (fabs(sd / model_sd - 1) > 0.01 + 5 * sqrt(0.5 / filters))
        fail_msg("sd %g, model %g", sd, model_sd);
    if (covered < 1851) fail_msg("%g of %g intervals hold the number", covered, filters);
    require_that(fabs(items / filters / (double)keys - 1), <,
                 0.002); /* the bias is +7 / (512 blocks) = 0.02 %, and the error 0.016 % */
    petal_free(filter);
}

/* ---- containers ------------------------------------------------------------------------------ */

static void other_containers_and_other_schemes_are_refused_by_name(void **state)
{
    petal_options options = PETAL_OPTIONS_INIT;
    petal_filter *parquet = filter_of(2, 0), *guava;
    petal_error error;
    uint8_t bytes[4096];
    (void)state;
    options.format = "guava";
    options.capacity = 10;
    options.rate = 0.01;
    assert_int_equal(petal_create(&options, &guava, NULL), PETAL_OK);
    assert_int_equal(petal_serialize(parquet, SAVE_AS("guava"), bytes, sizeof bytes, &error),
                     PETAL_ERR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "parquet"));
    assert_int_equal(petal_serialize(guava, SAVE_AS("parquet"), bytes, sizeof bytes, &error),
                     PETAL_ERR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "guava-mitz64"));
    petal_free(parquet);
    petal_free(guava);
}

static void filters_of_equal_blocks_merge_and_others_do_not(void **state)
{
    petal_filter *a = filter_of(2, 0), *b = filter_of(2, 0), *c = filter_of(4, 0);
    petal_error error;
    (void)state;
    petal_add(a, "a", 1);
    petal_add(b, "b", 1);
    assert_int_equal(petal_merge(a, b, &error), PETAL_OK);
    assert_true(petal_contains(a, "a", 1));
    assert_true(petal_contains(a, "b", 1));
    assert_int_equal(petal_merge(a, c, &error), PETAL_ERR_MISMATCH);
    petal_free(a);
    petal_free(b);
    petal_free(c);
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
        cmocka_unit_test(sizes_are_those_of_arrow_rs),
        cmocka_unit_test(sizes_end_at_128_mib_and_the_plan_says_at_which_rate),
        cmocka_unit_test(given_bits_become_a_power_of_two_of_bytes),
        cmocka_unit_test(the_largest_file_is_mapped_and_asked),
        cmocka_unit_test(the_model_is_the_mean_over_the_loads_of_a_block),
        cmocka_unit_test(measured_rates_are_those_of_the_bits),
        cmocka_unit_test(rates_bits_and_estimates_agree_with_the_model),
        cmocka_unit_test(other_containers_and_other_schemes_are_refused_by_name),
        cmocka_unit_test(filters_of_equal_blocks_merge_and_others_do_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
