/* redisbloom_dump.c - tests RedisBloom's filters as DUMP returns them, in Redis's own encoding.
 * Lengths, compressed strings, type and checksum are read and written, but must never be
 * trusted. */
#include "redisbloom.h"

#define DUMPS "redisbloom-dump/"

/* Returns a DUMP payload that contains a bare value: the type in front, the version and the
 * checksum at the end. Computes the checksum bit by bit from its definition in Redis. */
static struct bytes sealed(struct bytes value)
{
    struct bytes bytes = zeros(value.size + 11);
    uint64_t crc = 0;
    bytes.data[0] = 7;
    memcpy(bytes.data + 1, value.data, value.size);
    bytes.data[value.size + 1] = 10;
    for (size_t i = 0; i < value.size + 3; i++) {
        crc ^= bytes.data[i];
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0x95ac9329ac4bc9b5u : 0);
    }
    for (size_t i = 0; i < 8; i++) bytes.data[value.size + 3 + i] = (uint8_t)(crc >> 8 * i);
    return bytes;
}

/* Returns the bare value from a DUMP file. */
static struct bytes value_of(const char *path)
{
    struct bytes bytes = vector(path);
    bytes.size -= 11;
    memmove(bytes.data, bytes.data + 1, bytes.size);
    return bytes;
}

/* Checks that the value is refused both bare and inside a sealed payload. */
static void expect_value_refused(struct bytes value, petal_status status, const char *words)
{
    struct bytes payload = sealed(value);
    expect_refused(value, "redisbloom-dump", status, words);
    expect_refused(payload, "redisbloom-dump", status, words);
    free(payload.data);
}

static void a_dump_and_its_chunks_are_the_same_filter(void **state)
{
    (void)state;
    petal_filter *dump = loaded_vector(DUMPS "scaled_cap10_e0.01_100keys.dump", "redisbloom-dump");
    petal_filter *chunks = loaded_vector(CHUNKS "scaled_cap10_e0.01_100keys.bin", "redisbloom");
    struct bytes a = written(dump, "redisbloom"),
                 b = vector(CHUNKS "scaled_cap10_e0.01_100keys.bin");
    expect_same(a, b);
    free(b.data);
    /* The footer contains the first RDB version that supports module values, so every server with
     * modules accepts it. */
    b = vector(DUMPS "scaled_cap10_e0.01_100keys.dump");
    struct bytes c = written(chunks, "redisbloom-dump");
    assert_int_equal(c.size, b.size);
    assert_memory_equal(c.data, b.data, b.size - 10);
    assert_int_equal(c.data[c.size - 10], 8);
    petal_free(dump);
    petal_free(chunks);
    free(a.data);
    free(b.data);
    free(c.data);
}

static void a_payload_is_recognized_by_its_type(void **state)
{
    static const char *const paths[] = {DUMPS "scaled_cap10_e0.01_100keys.dump",
                                        DUMPS "scaled_bare_value.rdb"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct bytes bytes = vector(paths[i]);
        const char *name = NULL;
        assert_int_equal(petal_recognize(bytes.data, bytes.size, &name, 1), 1);
        assert_string_equal(name, "redisbloom-dump");
        free(bytes.data);
    }
}

static void a_wrong_checksum_is_damage_and_every_bit_is_under_it(void **state)
{
    struct bytes bytes = vector(DUMPS "default_cap100_e0.01_100keys.dump");
    petal_filter *filter;
    (void)state;
    for (size_t bit = 0; bit < 8 * bytes.size; bit++) {
        bytes.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        if (!(load(bytes, "redisbloom-dump", &filter, NULL) < 0)) fail_msg("bit %zu", bit);
        bytes.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    bytes.data[bytes.size - 1] ^= 1;
    expect_refused(bytes, "redisbloom-dump", PETAL_ERR_DAMAGED, "checksum");
    free(bytes.data);
}

static void values_of_other_types_are_named(void **state)
{
    uint8_t text[] = {0, 5, 'h', 'e', 'l', 'l', 'o', 10, 0, 1, 2, 3, 4, 5, 6, 7, 8};
    struct bytes value = value_of(DUMPS "default_cap100_e0.01_empty.dump");
    (void)state;
    expect_refused((struct bytes){text, sizeof text}, "redisbloom-dump", PETAL_ERR_NOT_A_FILTER,
                   "not a value of a Redis module");
    value.data[8] = 0x05; /* changes the encoding version, the low 10 bits of the id */
    expect_value_refused(value, PETAL_ERR_NEWER, "encoding 5");
    memcpy(value.data + 1, "\x30\x16\xe5\xa2\x89\x82\x14\x04", 8);
    expect_value_refused(value, PETAL_ERR_NOT_A_FILTER, "type MBbloomCF");
    memcpy(value.data + 1, "\x6e\x5a\x28\x99\xf9\x6d\xac\x01", 8);
    expect_value_refused(value, PETAL_ERR_NOT_A_FILTER, "type bloomfltr");
    free(value.data);
}

/* The offsets of the fields in a value for 100 keys at 1 %. */
enum { VALUE_SIZE = 10, VALUE_LINKS = 12, VALUE_OPTIONS = 14, VALUE_STRING = 46 };

static void fields_of_a_value_are_checked(void **state)
{
    struct bytes value = value_of(DUMPS "default_cap100_e0.01_empty.dump");
    (void)state;
    assert_int_equal(value.data[VALUE_STRING], 0xc3);
    value.data[VALUE_SIZE] = 1;
    expect_value_refused(value, PETAL_ERR_DAMAGED, "number of keys");
    value.data[VALUE_SIZE] = 0;
    value.data[VALUE_LINKS] = 0;
    expect_value_refused(value, PETAL_ERR_DAMAGED, "at least 1 layer");
    value.data[VALUE_LINKS] = 2;
    expect_value_refused(value, PETAL_ERR_DAMAGED, "another kind");
    value.data[VALUE_LINKS] = 1;
    value.data[VALUE_OPTIONS] = 16;
    expect_value_refused(value, PETAL_ERR_DAMAGED, "unknown options");
    value.data[VALUE_OPTIONS] = 0xc0; /* a string instead of a number */
    expect_value_refused(value, PETAL_ERR_DAMAGED, "a string in place of a number");
    value.data[VALUE_OPTIONS] = 0x82;
    expect_value_refused(value, PETAL_ERR_DAMAGED, "no such length");
    value.data[VALUE_OPTIONS] = 5;
    value.data[VALUE_OPTIONS - 1] = 4;
    expect_value_refused(value, PETAL_ERR_DAMAGED, "another kind");
    free(value.data);
}

/* Returns the value of an empty filter with its string (normally 144 zero bytes) replaced by this
 * one. */
static struct bytes with_string(const char *string, size_t size)
{
    struct bytes value = value_of(DUMPS "default_cap100_e0.01_empty.dump"),
                 made = zeros(VALUE_STRING + size + 3);
    memcpy(made.data, value.data, VALUE_STRING);
    memcpy(made.data + VALUE_STRING, string, size);
    memcpy(made.data + VALUE_STRING + size, "\x02\x00\x00", 3);
    free(value.data);
    return made;
}

/* The strings declare lengths that are impossible or larger than the number of bytes that follow,
 * or have an unknown form. */
static void hostile_lengths_allocate_nothing(void **state)
{
    static const struct {
        const char *string;
        size_t size;
        petal_status status;
        const char *words;
    } cases[] = {
        {"\x81\xff\xff\xff\xff\xff\xff\xff\xff", 9, PETAL_ERR_TRUNCATED, "truncated"},
        {"\xc3\x01\x81\x7f\xff\xff\xff\xff\xff\xff\xff\x00", 12, PETAL_ERR_DAMAGED,
         "impossible length"},
        {"\xc3\x81\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11, PETAL_ERR_TRUNCATED, "truncated"},
        {"\xc4\x01", 2, PETAL_ERR_DAMAGED, "no such form"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bytes value = with_string(cases[i].string, cases[i].size);
        struct counting count = {0};
        petal_filter *filter;
        petal_error error;
        expect_status(load_counted(value, "redisbloom-dump", &count, &filter, &error),
                      cases[i].status, &error);
        assert_non_null(strstr(error.message, cases[i].words));
        assert_int_equal(count.calls, 0);
        free(value.data);
    }
}

static void hostile_numbers_of_layers_are_over_the_limit(void **state)
{
    struct bytes value = value_of(DUMPS "default_cap100_e0.01_empty.dump"),
                 more = zeros(value.size + 8);
    (void)state;
    memcpy(more.data, value.data, VALUE_LINKS);
    memcpy(more.data + VALUE_LINKS, "\x81\xff\xff\xff\xff\xff\xff\xff\xff", 9);
    memcpy(more.data + VALUE_LINKS + 9, value.data + VALUE_LINKS + 1, value.size - VALUE_LINKS - 1);
    expect_refused(more, "redisbloom-dump", PETAL_ERR_LIMIT, "18446744073709551615 layers");
    free(value.data);
    free(more.data);
}

static void compressed_strings_are_held_to_their_bounds(void **state)
{
    /* Each string consists of c3, the compressed length, the length 144 encoded as 40 90, and LZF
     * data. */
    static const struct {
        const char *string;
        size_t size;
        petal_status status;
    } cases[] = {
        {"\xc3\x09\x40\x90\x01\x00\x00\xe0\x83\x00\x01\x00\x00", 13, PETAL_OK}, /* Redis's own */
        {"\xc3\x06\x40\x90\x00\x00\xe0\x86\x00\x00", 10, PETAL_ERR_DAMAGED}, /* one byte missing */
        {"\xc3\x05\x40\x90\x00\x00\xe0\x86\x00", 9, PETAL_OK},               /* 0 and 143 copies */
        {"\xc3\x05\x40\x90\x00\x00\xe0\x87\x00", 9, PETAL_ERR_DAMAGED},      /* one copy too many */
        {"\xc3\x05\x40\x90\x00\x00\xe0\x85\x00", 9, PETAL_ERR_DAMAGED},      /* one copy too few */
        {"\xc3\x05\x40\x90\x00\x00\xe0\x86\x01", 9,
         PETAL_ERR_DAMAGED}, /* a copy from before the start */
        /* This copy starts far before the beginning. */
        {"\xc3\x05\x40\x90\x00\x00\xff\x86\xff", 9, PETAL_ERR_DAMAGED},
        {"\xc3\x03\x40\x90\xe0\x87\x00", 7, PETAL_ERR_DAMAGED}, /* copies nothing */
        {"\xc3\x02\x40\x90\x1f\x00", 6, PETAL_ERR_DAMAGED},     /* fewer literals than declared */
        {"\xc3\x03\x40\x90\x00\x00\xe0", 7, PETAL_ERR_DAMAGED}, /* a copy without length */
        {"\xc3\x04\x40\x90\x00\x00\xe0\x86", 8, PETAL_ERR_DAMAGED}, /* a copy without distance */
        /* This short copy has no distance. */
        {"\xc3\x03\x40\x90\x00\x00\x20", 7, PETAL_ERR_DAMAGED},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bytes value = with_string(cases[i].string, cases[i].size);
        petal_filter *filter;
        petal_error error;
        expect_status(load(value, "redisbloom-dump", &filter, &error), cases[i].status, &error);
        if (cases[i].status != PETAL_OK)
            assert_non_null(strstr(error.message, "compressed string"));
        petal_free(filter);
        free(value.data);
    }
}

/* If a string looks like a number, Redis stores it as a number. One in 10^11 of all 8-byte bit
 * arrays looks like a number. */
static void bits_that_look_like_a_number_are_read(void **state)
{
    petal_filter *empty = reserve(1, 0.25);
    struct bytes dump = written(empty, "redisbloom-dump"), made = zeros(dump.size - 11 - 4);
    /* The bytes 05 08 <8 zeros> 02 00 00 are replaced with 05 c2 <-1234567 in 32 bits> 02 00 00. */
    size_t at = dump.size - 10 - 3 - 9;
    (void)state;
    assert_int_equal(dump.data[at], 8);
    memcpy(made.data, dump.data + 1, at - 1);
    memcpy(made.data + at - 1, "\xc2\x79\x29\xed\xff\x02\x00\x00", 8);
    petal_filter *filter = loaded(made, "redisbloom-dump");
    struct bytes chunks = written(filter, "redisbloom");
    assert_memory_equal(chunks.data + HEAD_BYTES + LINK_BYTES, "-1234567", 8);
    petal_free(filter);
    petal_free(empty);
    free(dump.data);
    free(made.data);
    free(chunks.data);
}

/* All bits must survive compression. Sparse bits are compressed, and dense bits are stored
 * unchanged. */
static void compressed_or_not_a_dump_gives_back_its_bits(void **state)
{
    (void)state;
    for (int keys = 0; keys <= 20000; keys = keys * 3 + 1) {
        petal_filter *filter = reserve(20000, 0.01);
        add_texts(filter, "k", 0, keys);
        struct bytes dump = written(filter, "redisbloom-dump");
        if (keys < 500) require_that(dump.size, <, info_of(filter).bytes / 2);
        petal_filter *back = loaded(dump, "redisbloom-dump");
        require_that(content_of(filter), ==, content_of(back));
        petal_free(filter);
        petal_free(back);
        free(dump.data);
    }
}

/* Decoding, copying and compressing allocate memory, and each of these allocations must be able to
 * fail. */
static void without_memory_there_is_no_harm(void **state)
{
    struct bytes dump = vector(DUMPS "scaled_cap10_e0.01_100keys.dump");
    struct counting count = {0};
    petal_filter *filter;
    petal_error error;
    uint8_t out[1024];
    (void)state;
    expect_harmless_without_memory(dump, "redisbloom-dump");
    struct bytes empty = vector(DUMPS "default_cap100_e0.01_empty.dump");
    expect_status(load_counted(empty, "redisbloom-dump", &count, &filter, &error), PETAL_OK,
                  &error);
    for (int i = 1; i <= 2; i++) {
        count.fail_at = count.calls + (uint64_t)i;
        assert_int_equal(
            petal_serialize(filter, SAVE_AS("redisbloom-dump"), out, sizeof out, &error),
            PETAL_ERR_MEMORY);
    }
    petal_free(filter);
    assert_int_equal(count.held_bytes, 0);
    free(empty.data);
    free(dump.data);
}

/* If n2 is 1, a link has 2 bits, which are stored in one word. */
static void the_smallest_power_of_two_is_written_as_it_was_read(void **state)
{
    (void)state;
    petal_filter *empty = reserve(1, 0.25);
    struct bytes header = written(empty, "redisbloom");
    require_that(little(header.data + HEAD_BYTES, 8), ==, 8);
    header.data[HEAD_BYTES + LINK_BYTES - 1] = 1;
    petal_filter *filter = loaded(header, "redisbloom");
    require_that(info_of(filter).bits, ==, 2);
    struct bytes back = written(filter, "redisbloom");
    expect_same(back, header);
    petal_free(filter);
    petal_free(empty);
    free(header.data);
    free(back.data);
}

/* A filter keeps its old encoding version unless growing requires a newer version. */
static void old_encodings_are_written_back_and_grow(void **state)
{
    static const struct {
        const char *path;
        uint8_t before, after;
    } files[] = {
        {DUMPS "model_hash32_encver0.dump", 0, 1},
        {DUMPS "legacy_pow2_hash32_encver1.dump", 1, 1},
        {DUMPS "legacy_pow2_force64_encver3.dump", 3, 3},
        {DUMPS "scaled_cap10_e0.01_100keys.dump", 4, 4},
    };
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        petal_filter *filter = loaded_vector(files[i].path, "redisbloom-dump");
        struct bytes same = written(filter, "redisbloom-dump");
        assert_int_equal(same.data[9] & 7, files[i].before);
        uint32_t layers = info_of(filter).layers;
        add_texts(filter, "more", 0, 300);
        require_that(info_of(filter).layers, >, layers);
        struct bytes grown = written(filter, "redisbloom-dump");
        assert_int_equal(grown.data[9] & 7, files[i].after);
        petal_filter *back = loaded(grown, "redisbloom-dump");
        require_that(content_of(filter), ==, content_of(back));
        petal_free(filter);
        petal_free(back);
        free(same.data);
        free(grown.data);
    }
}

/* The current RedisBloom can read an old filter as chunks, but only if its number of bits is a
 * multiple of 8, because the chunk header stores bytes. */
static void old_dumps_become_chunks_where_a_header_can_say_them(void **state)
{
    petal_error error;
    uint8_t out[1024];
    (void)state;
    petal_filter *filter =
        loaded_vector(DUMPS "legacy_pow2_force64_encver3.dump", "redisbloom-dump");
    struct bytes a = written(filter, "redisbloom"),
                 b = vector(CHUNKS "legacy_pow2_force64_cap100_e0.01_100keys.bin");
    expect_same(a, b);
    petal_free(filter);
    filter = loaded_vector(DUMPS "model_hash32_encver0.dump", "redisbloom-dump");
    assert_int_equal(petal_serialize(filter, SAVE_AS("redisbloom"), out, sizeof out, &error),
                     PETAL_ERR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "958 bits"));
    petal_free(filter);
    free(a.data);
    free(b.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dump_and_its_chunks_are_the_same_filter),
        cmocka_unit_test(a_payload_is_recognized_by_its_type),
        cmocka_unit_test(a_wrong_checksum_is_damage_and_every_bit_is_under_it),
        cmocka_unit_test(values_of_other_types_are_named),
        cmocka_unit_test(fields_of_a_value_are_checked),
        cmocka_unit_test(hostile_lengths_allocate_nothing),
        cmocka_unit_test(hostile_numbers_of_layers_are_over_the_limit),
        cmocka_unit_test(compressed_strings_are_held_to_their_bounds),
        cmocka_unit_test(bits_that_look_like_a_number_are_read),
        cmocka_unit_test(compressed_or_not_a_dump_gives_back_its_bits),
        cmocka_unit_test(without_memory_there_is_no_harm),
        cmocka_unit_test(old_encodings_are_written_back_and_grow),
        cmocka_unit_test(the_smallest_power_of_two_is_written_as_it_was_read),
        cmocka_unit_test(old_dumps_become_chunks_where_a_header_can_say_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
