/* javascript.c - tests properties of the filters of JavaScript's packages that the common vectors
 * don't cover. Text keys must be hashed like JavaScript strings, files from versions that hash
 * differently must be refused with a message that names the version, and a number in a JSON file
 * must never cause an allocation out of proportion to the file size. */
#include "support.h"

static struct bytes text_of(const char *text)
{
    return (struct bytes){(uint8_t *)(uintptr_t)text, strlen(text)};
}

static void sizes_are_those_of_the_libraries(void **state)
{
    (void)state;
    expect_sizes("bloom-filters", "bloom-filters/sizing.txt", 130);
    expect_sizes("bloomfilter", "bloomfilter/sizing.txt", 130);
}

/* ---- keys ------------------------------------------------------------------------------------ */

static petal_filter *sized(const char *format)
{
    petal_options options = PETAL_OPTIONS_INIT;
    petal_filter *filter;
    options.format = format;
    options.bits = 1 << 20;
    options.hashes = 3;
    assert_int_equal(petal_create(&options, &filter, NULL), PETAL_OK);
    return filter;
}

/* For ASCII text, the hash must equal the published FNV-1a, since each UTF-16 unit is hashed as one
 * byte. */
static void the_hash_of_ascii_is_fnv1a(void **state)
{
    (void)state;
    petal_filter *filter = sized("bloomfilter");
    assert_int_equal(petal_hash_key(filter, "", 0), 0xcbf29ce484222325);
    assert_int_equal(petal_hash_key(filter, "a", 1), 0xaf63dc4c8601ec8c);
    assert_int_equal(petal_hash_key(filter, "foobar", 6), 0x85944171f73967e8);
    petal_free(filter);
}

static uint64_t hash_of(const petal_filter *filter, const char *key)
{
    return petal_hash_key(filter, key, strlen(key));
}

/* As in TextDecoder, each maximal prefix of an invalid character becomes one U+FFFD (ef bf bd).
 * Unlike in TextDecoder, an encoded surrogate counts as one unit. */
static void what_is_no_utf8_is_the_replacement_character(void **state)
{
    static const char *const pairs[][2] = {
        {"\x80", "\xef\xbf\xbd"},
        {"\xff"
         "a",
         "\xef\xbf\xbd"
         "a"},
        {"\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xe0\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xe2\x82", "\xef\xbf\xbd"},
        {"\xe2\x82"
         "a",
         "\xef\xbf\xbd"
         "a"},
        {"\xf0\x9f\x99", "\xef\xbf\xbd"},
        {"\xf0\x9f\x99\xc3\xa9", "\xef\xbf\xbd\xc3\xa9"},
        {"\xf0\x80\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        /* A surrogate pair represents this character. */
        {"\xed\xa0\xbd\xed\xb9\x82", "\xf0\x9f\x99\x82"},
    };
    static const char *const formats[] = {"bloomfilter", "js-tutorial"};
    (void)state;
    for (size_t format = 0; format < 2; format++) {
        petal_filter *filter = sized(formats[format]);
        for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
            assert_int_equal(hash_of(filter, pairs[i][0]), hash_of(filter, pairs[i][1]));
        assert_int_not_equal(hash_of(filter, "\xed\xa0\x80"), hash_of(filter, "\xed\xa0\x81"));
        assert_int_not_equal(hash_of(filter, "\xed\xa0\x80"), hash_of(filter, "\xef\xbf\xbd"));
        petal_free(filter);
    }
}

/* ---- versions -------------------------------------------------------------------------------- */

static void versions_that_hash_otherwise_are_named(void **state)
{
    (void)state;
    expect_refused(
        text_of("{\"_size\":16,\"_nbHashes\":2,\"_filter\":{\"size\":16,\"content\":\"AAA=\"},"
                "\"_seed\":{\"$bf$bigint\":\"78187493520\"}}"),
        "bloom-filters", PETAL_ERR_UNSUPPORTED, "bloom-filters 4");
    expect_refused(
        text_of(
            "{\"type\":\"BloomFilter\",\"_size\":4,\"_nbHashes\":2,\"_filter\":[1,0,0,1],\"_length\":1,"
            "\"_seed\":78187493520}"),
        "bloom-filters", PETAL_ERR_UNSUPPORTED, "bloom-filters 1");
    expect_refused(text_of("{\"type\":\"CuckooFilter\",\"_size\":15,\"_seed\":1}"), "bloom-filters",
                   PETAL_ERR_NOT_A_FILTER, "BloomFilter");
    expect_refused(text_of("[537002048,0]"), "bloomfilter", PETAL_ERR_NOT_A_FILTER, "lacks k");
    expect_refused(text_of("{\"version\":2,\"m\":32,\"k\":1,\"buckets\":[0]}"), "bloomfilter",
                   PETAL_ERR_NOT_A_FILTER, "version 2");
}

/* ---- texts ----------------------------------------------------------------------------------- */

static void texts_may_be_laid_out_otherwise(void **state)
{
    static const char *const same[][2] = {
        {"bloomfilter", " { \"k\" : 3 , \"buckets\" : [ 537002048 , 0 ] , \"m\" : 64 , "
                        "\"other\" : { \"is\" : [ \"ignored\", false ] } } \n"},
        {"js-tutorial", "{\"bits\": [1, 2],\n \"size\": 10, \"hashCount\": 2}"},
        {"bloom-filters",
         "{\"_seed\":1, \"_filter\":{\"content\":\"GgM=\", \"size\":16}, \"_nbHashes\":7, \"_size\":10, "
         "\"type\":\"BloomFilter\"}"},
        {"bloomfilter",
         "{\"\\u006d\":64,\"k\":0,\"k\":3,\"K\":null,\"bucket\\u0073\":{\"\\u0030\":1,\"1\":2}}"},
        {"js-tutorial",
         "{\"size\":\"\",\"bits\":[1,2],\"size\":10,\"hashCount\":2,\"a\":[{}],\"\\u00e9\":\"\xc3\xa9\"}"},
        {"bloom-filters",
         "{\"_seed\":1,\"_filter\":{\"content\":\"GgM=\",\"size\":1,\"size\":16,\"_size\":3},\"_size\":10,"
         "\"_nbHashes\":7,\"type\":\"BloomFilter\",\"_length\":3}"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        petal_free(loaded(text_of(same[i][1]), same[i][0]));
}

#define BLOOM_FILTERS(size, inner_size, content, seed) \
    "{\"type\":\"BloomFilter\",\"_size\":" size \
    ",\"_nbHashes\":7,\"_filter\":{\"size\":" inner_size ",\"content\":\"" content \
    "\"},\"_seed\":" seed "}"

static void impossible_texts_are_refused(void **state)
{
    static const char *const bad[][2] = {
        {"bloomfilter", "{\"m\":64,\"k\":3,\"buckets\":[537002048]}"},
        {"bloomfilter", "{\"m\":0,\"k\":3,\"buckets\":[]}"},
        {"bloomfilter", "{\"m\":33,\"k\":3,\"buckets\":[0]}"},
        {"bloomfilter", "{\"m\":32,\"k\":0,\"buckets\":[0]}"},
        {"bloomfilter", "{\"m\":32,\"k\":4294967297,\"buckets\":[0]}"},
        {"bloomfilter", "{\"m\":32,\"k\":3.5,\"buckets\":[0]}"},
        {"bloomfilter", "{\"m\":32,\"k\":-3,\"buckets\":[0]}"},
        {"bloomfilter", "{\"m\":32,\"k\":3,\"buckets\":[4294967296]}"},
        {"bloomfilter", "{\"m\":32,\"k\":3,\"buckets\":[-2147483649]}"},
        {"bloomfilter", "{\"version\":1,\"m\":32,\"k\":3,\"buckets\":[-1]}"},
        {"bloomfilter", "{\"m\":64,\"k\":3,\"buckets\":[-1,4294967295]}"},
        {"bloomfilter", "{\"m\":32,\"k\":3,\"buckets\":[1.5]}"},
        {"bloomfilter", "{\"m\":32,\"k\":3,\"buckets\":[null]}"},
        {"bloomfilter", "{\"m\":32,\"k\":3,\"buckets\":{\"1\":0}}"},
        {"bloomfilter", "{\"m\":64,\"k\":3,\"buckets\":{\"0\":0,\"0\":0}}"},
        {"bloomfilter", "{\"m\":64,\"k\":3,\"buckets\":{\"1\":0,\"0\":0}}"},
        {"bloomfilter", "{\"m\":32,\"k\":3,\"buckets\":\"AAAAAA==\"}"},
        {"bloomfilter", "{\"m\":32,\"m\":64,\"k\":3,\"buckets\":[0]}"},
        {"bloomfilter", "{\"M\":32,\"k\":3,\"buckets\":[0]}"},
        {"bloomfilter", "{\"m\":32,\"k\":3,\"buckets\":[0],\"\xff\":0}"},
        {"bloomfilter", "{\"m\":32,\"k\":3,\"buckets\":[0]}x"},
        {"bloomfilter", "{\"m\":32,\"buckets\":[0]}"},
        {"js-tutorial", "{\"size\":10,\"hashCount\":2,\"bits\":[1]}"},
        {"js-tutorial", "{\"size\":10,\"hashCount\":2,\"bits\":[1,4]}"}, /* bit 10 */
        {"js-tutorial", "{\"size\":10,\"hashCount\":2,\"bits\":[256,0]}"},
        {"js-tutorial", "{\"size\":10,\"hashCount\":2,\"bits\":[-1,0]}"},
        {"js-tutorial", "{\"size\":18446744073709551615,\"hashCount\":2,\"bits\":[1]}"},
        {"js-tutorial", "{\"size\":18446744073709551616,\"hashCount\":2,\"bits\":[1]}"},
        {"js-tutorial", "{\"size\":0,\"hashCount\":2,\"bits\":[]}"},
        {"bloom-filters", BLOOM_FILTERS("10", "10", "GgM=", "1")},
        {"bloom-filters", BLOOM_FILTERS("10", "16", "GgMA", "1")},
        {"bloom-filters", BLOOM_FILTERS("10", "16", "Gg-=", "1")},
        {"bloom-filters", BLOOM_FILTERS("10", "16", "GgT=", "1")},
        {"bloom-filters", BLOOM_FILTERS("10", "16", "GgQ=", "1")}, /* bit 10 */
        {"bloom-filters", BLOOM_FILTERS("10", "16", "GgM=", "9007199254740992")},
        {"bloom-filters", BLOOM_FILTERS("18446744073709551615", "0", "", "1")},
        {"bloom-filters", BLOOM_FILTERS("0", "0", "", "1")},
        {"bloom-filters",
         "{\"_size\":10,\"_nbHashes\":7,\"_filter\":{\"size\":16,\"content\":\"GgM=\"},\"_seed\":1}"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        petal_filter *filter = NULL;
        petal_error error = {0};
        if (load(text_of(bad[i][1]), bad[i][0], &filter, &error) != PETAL_ERR_DAMAGED)
            fail_msg("%s is not refused as damaged: %s", bad[i][1], error.message);
        assert_null(filter);
    }
}

static void a_member_that_is_missing_is_named(void **state)
{
    static const char inner[] = "\"_filter\":{\"size\":16,\"content\":\"GgM=\"}";
    static const char *const members[] = {"\"_size\":10", "\"_nbHashes\":7", "\"_seed\":1"};
    static const char *const names[] = {"\"_size\"", "\"_nbHashes\"", "\"_seed\""};
    char text[256];
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        snprintf(text, sizeof text, "{\"type\":\"BloomFilter\",%s,%s,%s}", inner,
                 members[(i + 1) % 3], members[(i + 2) % 3]);
        expect_refused(text_of(text), "bloom-filters", PETAL_ERR_DAMAGED, names[i]);
    }
}

static void memory_is_bounded_by_the_text(void **state)
{
    static const char *const names[][2] = {
        {"bloomfilter", "bloomfilter/v1.1.0_n100_p0.01.json"},
        {"js-tutorial", "js-tutorial/size1021_k5_words.json"},
        {"bloom-filters", "bloom-filters/v3.0.4_n100_p0.01.json"}};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct counting count = {0};
        petal_filter *filter;
        petal_error error;
        struct bytes bytes = vector(names[i][1]);
        expect_status(load_counted(bytes, names[i][0], &count, &filter, &error), PETAL_OK, &error);
        /* This limit covers the image, the bits and the handle. */
        require_that(count.peak_bytes, <, 4096 + 2 * bytes.size);
        petal_free(filter);
        expect_harmless_without_memory(bytes, names[i][0]);
        free(bytes.data);
    }
}

/* If the file has no version, its numbers are signed unless one of them is too large for a signed
 * integer. Adding keys must not change the form of the file. */
static void a_form_stays_when_keys_are_added(void **state)
{
    (void)state;
    petal_filter *filter =
        loaded(text_of("{\"m\":32,\"k\":3,\"buckets\":{\"0\":0}}\n"), "bloomfilter");
    char key[32];
    for (int i = 0; i < 20; i++)
        petal_add(filter, key, (size_t)snprintf(key, sizeof key, "https://example.com/%d", i));
    struct bytes bytes = written(filter, "bloomfilter");
    /* The text must equal the text that version 0.0.21 writes. */
    expect_same(bytes, text_of("{\"m\":32,\"k\":3,\"buckets\":{\"0\":-1074139153}}\n"));
    free(bytes.data);
    petal_free(filter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_those_of_the_libraries),
        cmocka_unit_test(the_hash_of_ascii_is_fnv1a),
        cmocka_unit_test(what_is_no_utf8_is_the_replacement_character),
        cmocka_unit_test(versions_that_hash_otherwise_are_named),
        cmocka_unit_test(texts_may_be_laid_out_otherwise),
        cmocka_unit_test(impossible_texts_are_refused),
        cmocka_unit_test(a_member_that_is_missing_is_named),
        cmocka_unit_test(memory_is_bounded_by_the_text),
        cmocka_unit_test(a_form_stays_when_keys_are_added),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
