/* leveldb.c - tests properties of LevelDB's filters that the common vectors don't cover. Sizes must
 * follow from LevelDB's bits per key, and filters that LevelDB would not query must be refused. */
#include "support.h"

static void a_rate_becomes_leveldbs_whole_bits_per_key(void **state)
{
    static const struct {
        uint64_t keys;
        double rate;
        uint64_t bits;
        uint32_t hashes;
    } cases[] = {
        {1000, 0.01, 10000, 6},    /* 10 bits per key */
        {1000, 0.0001, 20000, 13}, /* 20 bits per key */
        {1001, 0.01, 10016, 6},    /* rounded up to whole bytes */
        {1, 0.01, 64, 6},          /* at least 64 bits */
        {10000000, 0.01, 110000000,
         7}, /* 11 bits per key, since 0.23 % of all absent keys have the hash of a key */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        petal_info plan = plan_of("leveldb", cases[i].keys, cases[i].rate);
        assert_int_equal(plan.bits, cases[i].bits);
        assert_int_equal(plan.hashes, cases[i].hashes);
    }
}

/* With a 32-bit hash, at least n / 2^32 of all absent keys pass, whatever the filter size, and bits
 * from 2^32 on are never used. */
static void what_32_bits_of_hash_cannot_do_is_refused(void **state)
{
    static const struct {
        uint64_t keys;
        double rate;
        petal_status status;
    } cases[] = {
        {100000000, 0.02, PETAL_ERR_UNREACHABLE}, /* 100,000,000 / 2^32 = 0.0233 */
        {100000000, 0.04, PETAL_OK},
        {1000, 1e-30, PETAL_ERR_UNREACHABLE},
        {600000000, 0.15, PETAL_ERR_LIMIT},
        {UINT64_MAX, 0.5, PETAL_ERR_UNREACHABLE},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        petal_options options = PETAL_OPTIONS_INIT;
        petal_info plan = PETAL_INFO_INIT;
        petal_error error;
        options.format = "leveldb";
        options.capacity = cases[i].keys;
        options.rate = cases[i].rate;
        expect_status(petal_plan(&options, &plan, NULL, &error), cases[i].status, &error);
    }
}

static void more_than_2_to_32_bits_are_refused(void **state)
{
    petal_options options = PETAL_OPTIONS_INIT;
    petal_info plan = PETAL_INFO_INIT;
    petal_error error;
    (void)state;
    options.format = "leveldb";
    options.hashes = 6;
    options.bits = (uint64_t)1 << 32;
    expect_status(petal_plan(&options, &plan, NULL, &error), PETAL_OK, &error);
    options.bits += 1;
    expect_status(petal_plan(&options, &plan, NULL, &error), PETAL_ERR_ARGUMENT, &error);
    options.bits = UINT64_MAX;
    expect_status(petal_plan(&options, &plan, NULL, &error), PETAL_ERR_ARGUMENT, &error);
}

static void the_last_byte_says_what_can_be_asked(void **state)
{
    uint8_t bytes[16] = {0};
    struct bytes file = {bytes, sizeof bytes};
    (void)state;
    expect_refused(file, "leveldb", PETAL_ERR_DAMAGED, "byte 15 ");
    for (unsigned hashes = 1; hashes <= 30; hashes++) {
        bytes[15] = (uint8_t)hashes;
        petal_filter *filter = loaded(file, "leveldb");
        assert_int_equal(info_of(filter).hashes, hashes);
        petal_free(filter);
    }
    bytes[15] = 31;
    expect_refused(file, "leveldb", PETAL_ERR_UNSUPPORTED, "reserves numbers above 30");
    bytes[15] = 255;
    expect_refused(file, "leveldb", PETAL_ERR_UNSUPPORTED, "reserves numbers above 30");
    bytes[7] = 6;
    file.size = 8;
    expect_refused(file, "leveldb", PETAL_ERR_TRUNCATED, "at least 9 bytes");
}

/* The rate suggested in the error message must work, and a slightly lower rate must not. */
static void a_refusal_names_the_rate_that_can_be_reached(void **state)
{
    static const uint64_t keys[] = {1, 1000, 5000, 100000000, 600000000};
    (void)state;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        petal_options options = PETAL_OPTIONS_INIT;
        petal_info plan = PETAL_INFO_INIT;
        petal_error error;
        options.format = "leveldb";
        options.capacity = keys[i];
        options.rate = 1e-12;
        require_that(petal_plan(&options, &plan, NULL, &error), <, 0);
        const char *at = strstr(error.message, "reach a rate of ");
        if (!at) {
            fail_msg("\"%s\" names no rate", error.message);
            return;
        }
        options.rate = strtod(at + strlen("reach a rate of "), NULL);
        expect_status(petal_plan(&options, &plan, NULL, &error), PETAL_OK, &error);
        options.rate *= 0.98;
        require_that(petal_plan(&options, &plan, NULL, &error), <, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rate_becomes_leveldbs_whole_bits_per_key),
        cmocka_unit_test(a_refusal_names_the_rate_that_can_be_reached),
        cmocka_unit_test(what_32_bits_of_hash_cannot_do_is_refused),
        cmocka_unit_test(more_than_2_to_32_bits_are_refused),
        cmocka_unit_test(the_last_byte_says_what_can_be_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
