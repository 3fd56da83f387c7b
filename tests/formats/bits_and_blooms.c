/* bits_and_blooms.c - tests properties of bits-and-blooms' files that the common vectors don't
 * cover. Sizes must equal the package's, bit positions must equal the published ones, and a file
 * with an impossible header must be refused with a message that names the field. */
#include "support.h"

enum { AT_BITS = 0, AT_HASHES = 8, AT_LENGTH = 16, HEADER_BYTES = 24 };

static void put(struct bytes file, int at, uint64_t value)
{
    for (int i = 0; i < 8; i++) file.data[at + i] = (uint8_t)(value >> (56 - 8 * i));
}

static struct bytes text_of(const char *text)
{
    return (struct bytes){(uint8_t *)(uintptr_t)text, strlen(text)}; /* never written */
}

static void sizes_are_those_of_the_package(void **state)
{
    (void)state;
    expect_sizes("bits-and-blooms", "bits-and-blooms/sizing.txt", 190);
}

/* Compares the positions with the values, not yet reduced mod m, that the package's Locations()
 * returns. The last key is 15 bytes long, so that the 0x01 that the package appends completes a
 * hash block. */
static void positions_are_those_of_locations(void **state)
{
    static const struct {
        const char *key;
        uint64_t locations[6];
        uint32_t hashes;
    } cases[] = {
        {"hello",
         {14688674573012802306u, 13376297196575953845u, 9862836706629027898u, 9645822788820425343u,
          12646398142986098570u, 3724621463808405029u},
         6},
        {"", {0, 8613248517421295493u, 17226497034842590986u, 8100592207030843970u}, 4},
        {"0123456789abcde",
         {11974462240020439889u, 13251138349096082877u, 8529514348063868139u, 1533015916051162209u},
         4},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        petal_options options = PETAL_OPTIONS_INIT;
        petal_filter *filter;
        petal_error error;
        options.format = "bits-and-blooms";
        options.bits = 100003;
        options.hashes = cases[i].hashes;
        expect_status(petal_create(&options, &filter, &error), PETAL_OK, &error);
        petal_add(filter, cases[i].key, strlen(cases[i].key));
        assert_int_equal(stats_of(filter).bits_set, options.hashes);
        struct bytes file = written(filter, "bits-and-blooms");
        for (uint32_t k = 0; k < options.hashes; k++) {
            uint64_t bit = cases[i].locations[k] % options.bits;
            assert_true(file.data[HEADER_BYTES + bit / 64 * 8 + 7 - bit % 64 / 8] >> bit % 8 & 1);
        }
        free(file.data);
        petal_free(filter);
    }
}

static void impossible_header_fields_are_refused_by_name(void **state)
{
    static const struct {
        int at;
        uint64_t value;
        petal_status status;
        const char *why;
    } cases[] = {
        {AT_BITS, 0, PETAL_ERR_DAMAGED, "byte 0 "},
        {AT_BITS, 960, PETAL_ERR_DAMAGED, "shorter"},
        {AT_BITS, 64, PETAL_ERR_DAMAGED, "longer"},
        {AT_BITS, UINT64_MAX, PETAL_ERR_NOT_A_FILTER, "neither binary nor JSON"},
        {AT_BITS, UINT64_MAX >> 8, PETAL_ERR_DAMAGED, "byte 0 "},
        {AT_HASHES, 0, PETAL_ERR_DAMAGED, "byte 8 "},
        {AT_HASHES, 1025, PETAL_ERR_DAMAGED, "byte 8 "},
        {AT_HASHES, UINT64_MAX, PETAL_ERR_DAMAGED, "byte 8 "},
        {AT_LENGTH, 0, PETAL_ERR_DAMAGED, "byte 16 "},
        {AT_LENGTH, 958, PETAL_ERR_DAMAGED, "shorter"},
        {AT_LENGTH, 896, PETAL_ERR_DAMAGED, "shorter"}, /* one word too few, in either byte order */
        {AT_LENGTH, 961, PETAL_ERR_DAMAGED, "longer"},
        {AT_LENGTH, UINT64_MAX, PETAL_ERR_DAMAGED, "longer"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bytes file = vector("bits-and-blooms/n100_p0.01.bin");
        put(file, cases[i].at, cases[i].value);
        expect_refused(file, "bits-and-blooms", cases[i].status, cases[i].why);
        free(file.data);
    }
}

static void a_promise_of_2_to_48_bits_is_refused_before_memory_is_taken(void **state)
{
    (void)state;
    struct bytes file = vector("bits-and-blooms/n100_p0.01.bin");
    expect_refused((struct bytes){file.data, HEADER_BYTES}, "bits-and-blooms", PETAL_ERR_TRUNCATED,
                   "promises 144 bytes"); /* the header is complete, but the bits are missing */
    put(file, AT_BITS, (uint64_t)1 << 48);
    put(file, AT_LENGTH, (uint64_t)1 << 48);
    struct counting count = {0};
    petal_filter *filter;
    petal_error error;
    expect_status(load_counted(file, "bits-and-blooms", &count, &filter, &error),
                  PETAL_ERR_TRUNCATED, &error);
    assert_int_equal(count.calls, 0);
    free(file.data);
}

static void a_bit_beyond_the_last_is_refused(void **state)
{
    (void)state;
    struct bytes file = vector("bits-and-blooms/n100_p0.01.bin");
    file.data[HEADER_BYTES + 959 / 64 * 8] |= 0x80; /* sets bit 959 of a filter of 959 bits */
    require_that(
        expect_refused(file, "bits-and-blooms", PETAL_ERR_DAMAGED, "bits set beyond the last"), ==,
        HEADER_BYTES + 959 / 64 * 8);
    free(file.data);
}

/* ---- forms ----------------------------------------------------------------------------------- */

static void json_and_binary_are_the_same_filter_and_each_name_leads_to_its_form(void **state)
{
    (void)state;
    struct bytes binary = vector("bits-and-blooms/n100_p0.01.bin"),
                 json = vector("bits-and-blooms/n100_p0.01.json");
    petal_filter *from_binary = loaded(binary, "bits-and-blooms"),
                 *held = loaded(json, "bits-and-blooms");
    petal_filter *from_json = loaded(json, "bits-and-blooms-json");
    struct bytes made[] = {written(from_binary, "bits-and-blooms-json"),
                           written(held, "bits-and-blooms"), written(from_json, "bits-and-blooms"),
                           written(from_json, "bits-and-blooms-json")};
    expect_same(made[0], json);
    expect_same(made[1], json); /* written in the form in which it was read */
    expect_same(made[2], binary);
    expect_same(made[3], json);
    for (int i = 0; i < 4; i++) free(made[i].data);
    petal_free(from_binary);
    petal_free(from_json);
    petal_free(held);
    free(binary.data);
    free(json.data);
}

static void json_may_have_space_and_another_order(void **state)
{
    (void)state;
    struct bytes spaced =
        text_of("\r\n\t { \"b\" : \"AAAAAAAAAAoAAAAAAAADbQ==\" ,\n\"k\":7, \"m\":10 } \n");
    struct bytes plain = vector("bits-and-blooms/n1_p0.01.bin");
    petal_filter *filter = loaded(spaced, "bits-and-blooms-json");
    struct bytes back = written(filter, "bits-and-blooms");
    expect_same(back, plain);
    petal_free(filter);
    free(back.data);
    free(plain.data);
}

static void what_is_not_this_json_is_refused_at_its_byte(void **state)
{
    static const struct {
        const char *text;
        petal_status status;
        const char *why;
    } cases[] = {
        {"{}", PETAL_ERR_DAMAGED, "byte 0 (no number \"m\")"},
        {"{\"m\":10,\"k\":7}", PETAL_ERR_DAMAGED, "no string \"b\""},
        {"{\"m\":\"10\",\"k\":7,\"b\":\"AAAAAAAAAAoAAAAAAAADbQ==\"}", PETAL_ERR_DAMAGED,
         "byte 6 (no number"},
        {"{\"m\":10.0,\"k\":7,\"b\":\"AAAAAAAAAAoAAAAAAAADbQ==\"}", PETAL_ERR_DAMAGED,
         "byte 5 (not a whole number"},
        {"{\"m\":1e1,\"k\":7,\"b\":\"AAAAAAAAAAoAAAAAAAADbQ==\"}", PETAL_ERR_DAMAGED,
         "not a whole number"},
        {"{\"m\":-10,\"k\":7,\"b\":\"AAAAAAAAAAoAAAAAAAADbQ==\"}", PETAL_ERR_DAMAGED,
         "not a whole number"},
        {"{\"m\":010,\"k\":7,\"b\":\"AAAAAAAAAAoAAAAAAAADbQ==\"}", PETAL_ERR_DAMAGED,
         "byte 5 (not JSON)"},
        {"{\"m\":18446744073709551626,\"k\":7,\"b\":\"AAAAAAAAAAoAAAAAAAADbQ==\"}",
         PETAL_ERR_DAMAGED, "that fits"},
        {"{\"m\":18446744073709551615,\"k\":7,\"b\":\"AAAAAAAAAAoAAAAAAAADbQ==\"}",
         PETAL_ERR_DAMAGED, "byte 5 (an imp"},
        {"{\"m\":0,\"k\":7,\"b\":\"AAAAAAAAAAoAAAAAAAADbQ==\"}", PETAL_ERR_DAMAGED,
         "byte 5 (an impossible"},
        {"{\"m\":10,\"k\":0,\"b\":\"AAAAAAAAAAoAAAAAAAADbQ==\"}", PETAL_ERR_DAMAGED,
         "byte 12 (an impossible"},
        {"{\"m\":10,\"k\":1025,\"b\":\"AAAAAAAAAAoAAAAAAAADbQ==\"}", PETAL_ERR_DAMAGED,
         "byte 12 (an impossible"},
        {"{\"m\":65,\"k\":7,\"b\":\"AAAAAAAAAAoAAAAAAAADbQ==\"}", PETAL_ERR_DAMAGED,
         "byte 19 (the length of b"},
        {"{\"m\":281474976710656,\"k\":7,\"b\":\"AAAAAAAAAAoAAAAAAAADbQ==\"}", PETAL_ERR_DAMAGED,
         "the length of b"},
        {"{\"m\":11,\"k\":7,\"b\":\"AAAAAAAAAAoAAAAAAAADbQ==\"}", PETAL_ERR_DAMAGED,
         "shorter than the filter"},
        {"{\"m\":9,\"k\":7,\"b\":\"AAAAAAAAAAoAAAAAAAADbQ==\"}", PETAL_ERR_DAMAGED,
         "bits set beyond the last"},
        {"{\"m\":10,\"k\":7,\"b\":\"AAAAAAAAAAoAAAAAAAADbQ=\"}", PETAL_ERR_DAMAGED,
         "the length of b"},
        {"{\"m\":10,\"k\":7,\"b\":\"AAAAAAAAAAoAAAAAAAADbQAA\"}", PETAL_ERR_DAMAGED,
         "the length of b"},
        {"{\"m\":10,\"k\":7,\"b\":\"AAAAAAAAAAoAAAAAAAADbR==\"}", PETAL_ERR_DAMAGED,
         "byte 40 (not base64)"},
        {"{\"m\":10,\"k\":7,\"b\":\"AAAA=AAAAAoAAAAAAAADbQ==\"}", PETAL_ERR_DAMAGED,
         "byte 23 (not base64)"},
        {"{\"m\":10,\"k\":7,\"b\":\"AAAAAAAAAAo-AAA/AAADbQ==\"}", PETAL_ERR_DAMAGED,
         "byte 34 (not base64)"},
        {"{\"m\":10,\"k\":7,\"b\":\"\\u0041AAAAAAoAAAAAAAADbQ==\"}", PETAL_ERR_DAMAGED,
         "byte 19 (an escape"},
        {"{\"m\":10,\"k\":7,\"b\":\"AAAAAAAAAAoAAAAAAAADbQ==\",\"m\":11}", PETAL_ERR_DAMAGED,
         "shorter than the filter"},
        {"{\"m\":10,\"k\":7,\"b\":\"AAAAAAAAAAoAAAAAAAADbQ==\",\"c\":01}", PETAL_ERR_DAMAGED,
         "byte 49 (not JSON)"},
        {"{\"m\":10,\"k\":7,\"b\":\"AAAAAAAAAAoAAAAAAAADbQ==\",\"c\":tru}", PETAL_ERR_DAMAGED,
         "byte 49 (not JSON)"},
        {"{\"m\":10,\"k\":7,\"b\":\"AAAAAAAAAAoAAAAAAAADbQ==\",\"c\":.5}", PETAL_ERR_DAMAGED,
         "byte 49 (not JSON)"},
        {"{\"m\":10,\"k\":7,\"b\":\"AAAAAAAAAAoAAAAAAAADbQ==\",\"c\":1.}", PETAL_ERR_DAMAGED,
         "byte 49 (not JSON)"},
        {"{\"m\":10,\"k\":7,\"b\":\"AAAAAAAAAAoAAAAAAAADbQ==\",\"\\x\":1}", PETAL_ERR_DAMAGED,
         "byte 47 (not JSON)"},
        {"{\"m\":10,\"k\":7,\"b\":\"AAAAAAAAAAoAAAAAAAADbQ==\",\"\\u00g0\":1}", PETAL_ERR_DAMAGED,
         "byte 50 (not JSON)"},
        {"{\"m\":10,\"k\":7,\"b\":\"AAAAAAAAAAoAAAAAAAADbQ==\",\"\t\":1}", PETAL_ERR_DAMAGED,
         "byte 46 (not JSON)"},
        {"{\"m\":10,\"k\":7,\"b\":\"AAAAAAAAAAoAAAAAAAADbQ==\",'c':1}", PETAL_ERR_DAMAGED,
         "byte 45 (not JSON)"},
        {"{\"m\":10,\"k\":7,\"b\":\"AAAAAAAAAAoAAAAAAAADbQ==\",\"c\":1e}", PETAL_ERR_DAMAGED,
         "byte 49 (not JSON)"},
        {"{\"m\":10,\"k\":7,\"b\":\"AAAAAAAAAAoAAAAAAAADbQ==\",\"c\":1e+}", PETAL_ERR_DAMAGED,
         "byte 49 (not JSON)"},
        {"{\"m\":10,\"k\":7,,\"b\":\"AAAAAAAAAAoAAAAAAAADbQ==\"}", PETAL_ERR_DAMAGED,
         "byte 14 (not JSON)"},
        {"{\"m\":10 \"k\":7,\"b\":\"AAAAAAAAAAoAAAAAAAADbQ==\"}", PETAL_ERR_DAMAGED,
         "byte 8 (not JSON)"},
        {"{\"m\" 10,\"k\":7,\"b\":\"AAAAAAAAAAoAAAAAAAADbQ==\"}", PETAL_ERR_DAMAGED,
         "byte 5 (not JSON)"},
        {"{\"m\"::10,\"k\":7,\"b\":\"AAAAAAAAAAoAAAAAAAADbQ==\"}", PETAL_ERR_DAMAGED,
         "byte 5 (not JSON)"},
        {"{m:10,\"k\":7,\"b\":\"AAAAAAAAAAoAAAAAAAADbQ==\"}", PETAL_ERR_DAMAGED,
         "byte 1 (not JSON)"},
        {"{\"m\":10,\"k\":7,\"b\":\"AAAAAAAAAAoAAAAAAAADbQ==\",}", PETAL_ERR_DAMAGED, "not JSON"},
        {"{\"m\":10,\"k\":7,\"b\":\"AAAAAAAAAAoAAAAAAAADbQ==\"]", PETAL_ERR_DAMAGED, "not JSON"},
        {"{\"m\":10,\"k\":7,\"b\":\"AAAAAAAAAAoAAAAAAAADbQ==\"} x", PETAL_ERR_DAMAGED,
         "bytes after the end"},
        {"{\"m\":10,\"k\":7,\"b\":\"AAAAAAAAAAoAAAAAAAADbQ==\"}{}", PETAL_ERR_DAMAGED,
         "bytes after the end"},
        {"{\"m\":[[[[[10]]]]],\"k\":7,\"b\":\"\"}", PETAL_ERR_DAMAGED, "byte 5 (no number"},
        {"{\"m\":10,\"k\":7,\"b\":\"AAAA", PETAL_ERR_TRUNCATED, "truncated"},
        {"{\"m\":10,\"k\":7", PETAL_ERR_TRUNCATED, "truncated"},
        {"{\"m\":10,\"k\":tr", PETAL_ERR_TRUNCATED, "truncated"},
        {"{\"m\":10,\"k\":7,\"\\", PETAL_ERR_TRUNCATED, "truncated"},
        {"{\"m\":10,\"k\":7,\"\\u00", PETAL_ERR_TRUNCATED, "truncated"},
        {"{\"m\":10,\"k\":7,\"\xc3", PETAL_ERR_TRUNCATED, "truncated"},
        {"{", PETAL_ERR_TRUNCATED, "truncated"},
        {"[10,7]", PETAL_ERR_NOT_A_FILTER, "neither binary nor JSON"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_refused(text_of(cases[i].text), "bits-and-blooms", cases[i].status, cases[i].why);
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    petal_filter *filter;
    petal_error error;
    options.format = "bits-and-blooms";
    expect_status(petal_load(" {", 1, &options, &filter, &error), PETAL_ERR_NOT_A_FILTER, &error);
}

#define B "\"b\":\"AAAAAAAAAAoAAAAAAAADbQ==\""

/* Go's encoding/json ignores case in member names, skips unknown members, and uses the last of
 * several members with the same name. */
static void json_is_read_as_go_reads_it(void **state)
{
    static const char *const texts[] = {
        "{\"\\u006d\":10,\"\\u006B\":7,\"\\u0062\":\"AAAAAAAAAAoAAAAAAAADbQ==\"}",
        "{\"M\":10,\"K\":7,\"B\":\"AAAAAAAAAAoAAAAAAAADbQ==\"}",
        "{\"m\":10,\"\xe2\x84\xaa\":7," B "}", /* the Kelvin sign, whose lower case is k */
        "{\"m\":10,\"\\u212A\":7," B "}",
        "{\"m\":1,\"M\":\"x\",\"m\":10,\"k\":7," B "}",
        "{\"b\":null,\"m\":10,\"k\":7," B "}",
        "{\"version\":[1,2.5e-3,{\"m\":[[[[\"\\\"}\"]]]]}],\"m\":10,\"k\":7,\"\":null,\"\\ud800\":true," B
        "}",
        "{\"a\":0,\"c\":0,\"d\":0,\"e\":0,\"f\":0,\"g\":0,\"h\":0,\"i\":0,\"j\":0,\"l\":0,\"n\":0,\"o\":0,\"p\":0,\"q\":0,"
        "\"r\":0,\"s\":0,\"t\":0,\"mm\":0,\"kk\":0,\"caf\xc3\xa9 \xf0\x9f\x99\x82\":0,\"m\":10,\"k\":7," B
        "}",
    };
    (void)state;
    struct bytes plain = vector("bits-and-blooms/n1_p0.01.bin");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        petal_filter *filter = loaded(text_of(texts[i]), "bits-and-blooms-json");
        struct bytes back = written(filter, "bits-and-blooms");
        expect_same(back, plain);
        petal_free(filter);
        free(back.data);
    }
    free(plain.data);
}

static void what_is_not_utf8_is_refused_wherever_it_stands(void **state)
{
    static const char *const bad[] = {
        "\x80",         "\xff",     "\xc3",
        "\xc3(",        "\xc0\xaf", "\xe0\x80\x80",
        "\xed\xa0\x80", "\xe2\x82", "\xf4\x90\x80\x80",
        "\xf0\x9f\x99",
    };
    char text[128];
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(text, sizeof text, "{\"m\":10,\"k\":7," B ",\"%s\":1}", bad[i]);
        expect_refused(text_of(text), "bits-and-blooms", PETAL_ERR_DAMAGED, "not UTF-8");
        snprintf(text, sizeof text, "{\"m\":10,\"k\":7," B ",\"c\":[\"%s\"]}", bad[i]);
        expect_refused(text_of(text), "bits-and-blooms", PETAL_ERR_DAMAGED, "not UTF-8");
    }
    expect_refused(text_of("{\"m\":10,\"k\":7,\xc3\xa9" B "}"), "bits-and-blooms",
                   PETAL_ERR_DAMAGED, "not JSON");
}

static size_t recognized(const char *text, const char **name)
{
    const char *names[4] = {NULL};
    size_t count = petal_recognize(text, strlen(text), names, 4);
    *name = names[0];
    return count;
}

static void only_its_own_json_is_recognized(void **state)
{
    static const char *const others[] = {
        "{}",
        "{\"m\":10,\"k\":7}",
        "{\"m\":10,\"k\":7,\"b\":\"text\"}",
        "{\"m\":10,\"k\":7,\"b\":\"AAAAAAAAAAAAAAAAAAAAAA==\"}", /* the length of `b` is wrong */
        "{\"m\":10,\"k\":7,\"b\":\"AAAAAAAAAA!AAAAAAAADbQ==\"}",
        "{\"m\":\"10\",\"k\":7," B "}",
        "[{\"m\":10,\"k\":7," B "}]",
        "{\"m\":10,\"k\":7," B ",\"\xff\":1}",
    };
    const char *name;
    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (recognized(others[i], &name) != 0) fail_msg("%s is taken for %s", others[i], name);
    assert_int_equal(recognized("{\"m\":10,\"k\":7," B "}", &name), 1);
    assert_string_equal(name, "bits-and-blooms");
    assert_int_equal(recognized("{\"M\":10,\"k\":7," B ",\"note\":\"\"}", &name), 1);
    assert_string_equal(name, "bits-and-blooms");
}

static void binary_is_refused_by_the_name_of_json(void **state)
{
    (void)state;
    struct bytes file = vector("bits-and-blooms/n1_p0.01.bin");
    expect_refused(file, "bits-and-blooms-json", PETAL_ERR_NOT_A_FILTER,
                   "format of binary files is bits-and-blooms");
    free(file.data);
}

/* No memory must be allocated for JSON text with a million brackets, numbers or members, whatever
 * filter size it declares. */
static void hostile_json_gets_no_memory(void **state)
{
    static const char *const beginnings[] = {"{\"m\":[", "{\"m\":[1",
                                             "{\"m\":{\"a\":", "{\"m\":\""};
    static const char *const rests[] = {"[", ",1", "{\"a\":", "\\\\"};
    (void)state;
    for (int i = 0; i < 4; i++) {
        size_t size = 1000000, step = strlen(rests[i]), at = strlen(beginnings[i]);
        struct bytes text = {malloc(size + step), size};
        memcpy(text.data, beginnings[i], at);
        for (; at < size; at += step) memcpy(text.data + at, rests[i], step);
        struct counting count = {0};
        petal_filter *filter;
        petal_error error;
        require_that(load_counted(text, "bits-and-blooms", &count, &filter, &error), <, 0);
        assert_int_equal(count.calls, 0);
        free(text.data);
    }
}

static void without_memory_nothing_is_lost(void **state)
{
    static const char *const names[] = {"bits-and-blooms/n100_p0.01.json",
                                        "bits-and-blooms/little_n10_p0.01.bin"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct bytes file = vector(names[i]);
        expect_harmless_without_memory(file, "bits-and-blooms");
        free(file.data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_those_of_the_package),
        cmocka_unit_test(positions_are_those_of_locations),
        cmocka_unit_test(impossible_header_fields_are_refused_by_name),
        cmocka_unit_test(a_promise_of_2_to_48_bits_is_refused_before_memory_is_taken),
        cmocka_unit_test(a_bit_beyond_the_last_is_refused),
        cmocka_unit_test(json_and_binary_are_the_same_filter_and_each_name_leads_to_its_form),
        cmocka_unit_test(json_may_have_space_and_another_order),
        cmocka_unit_test(what_is_not_this_json_is_refused_at_its_byte),
        cmocka_unit_test(json_is_read_as_go_reads_it),
        cmocka_unit_test(what_is_not_utf8_is_refused_wherever_it_stands),
        cmocka_unit_test(only_its_own_json_is_recognized),
        cmocka_unit_test(binary_is_refused_by_the_name_of_json),
        cmocka_unit_test(hostile_json_gets_no_memory),
        cmocka_unit_test(without_memory_nothing_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
