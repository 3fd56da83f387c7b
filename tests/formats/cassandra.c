/* cassandra.c - tests properties of Cassandra's filters that the common vectors don't cover. Sizes
 * must equal Cassandra's, the three forms must never be confused although they start with the same
 * bytes, and a filter of more than 2^32 bits must be usable in place. */
#include "support.h"

static void sizes_are_those_of_cassandra(void **state)
{
    (void)state;
    expect_sizes("cassandra", "cassandra/sizing.txt", 350);
    expect_sizes("cassandra-be", "cassandra/sizing.txt", 350);
    expect_sizes("cassandra-2", "cassandra/sizing.txt", 350);
}

static petal_status plan_status(uint64_t keys, double rate, uint64_t bits, uint32_t hashes)
{
    petal_options options = PETAL_OPTIONS_INIT;
    petal_info plan = PETAL_INFO_INIT;
    options.format = "cassandra";
    options.capacity = keys;
    options.rate = rate;
    options.bits = bits;
    options.hashes = hashes;
    return petal_plan(&options, &plan, NULL, NULL);
}

static void what_cassandra_cannot_make_is_refused(void **state)
{
    (void)state;
    assert_int_equal(plan_status(1000, 6.7e-05, 0, 0),
                     PETAL_ERR_UNREACHABLE); /* the lowest rate in Cassandra's table is 6.71e-05 */
    assert_int_equal(plan_status(1000, 6.71e-05, 0, 0), PETAL_OK);
    assert_int_equal(plan_status(UINT64_MAX, 0.01, 0, 0), PETAL_ERR_ARGUMENT);
    assert_int_equal(plan_status(UINT64_MAX / 10, 0.01, 0, 0), PETAL_ERR_ARGUMENT);
    assert_int_equal(plan_status(0, 0, (uint64_t)INT32_MAX * 64, 10), PETAL_OK);
    assert_int_equal(plan_status(0, 0, (uint64_t)INT32_MAX * 64 + 1, 10), PETAL_ERR_ARGUMENT);
    assert_int_equal(plan_status(0, 0, UINT64_MAX, 10), PETAL_ERR_ARGUMENT);
    assert_int_equal(plan_status(0, 0, 64, 21), PETAL_OK);
    assert_int_equal(plan_status(0, 0, 64, 22), PETAL_ERR_ARGUMENT);
}

/* The bytes don't record which Cassandra version wrote them, so all three formats match. A file
 * must never be converted to another of the three formats. */
static void the_three_forms_are_kept_apart(void **state)
{
    static const char *const forms[] = {"cassandra", "cassandra-be", "cassandra-2"};
    const char *names[64];
    int found = 0;
    (void)state;
    struct bytes bytes = vector("cassandra/v4.1_n100_p0.01.db");
    size_t count = petal_recognize(bytes.data, bytes.size, names, 64);
    for (size_t i = 0; i < count; i++)
        for (int form = 0; form < 3; form++) found += strcmp(names[i], forms[form]) == 0;
    assert_int_equal(found, 3);
    petal_filter *any = NULL;
    petal_error error;
    expect_status(load(bytes, "auto", &any, &error), PETAL_ERR_ARGUMENT, &error);
    require(strstr(error.message, "cassandra-be"), "%s", error.message);
    assert_null(any);
    petal_filter *filter = loaded(bytes, "cassandra");
    assert_int_equal(petal_serialized_bytes(filter, SAVE_AS("cassandra-be")), 0);
    assert_int_equal(petal_serialized_bytes(filter, SAVE_AS("cassandra-2")), 0);
    petal_free(filter);
    free(bytes.data);
}

/* The filter is sized for 500,000,000 keys at 10 bits per key. Bits above 2^32 must be set and
 * found again. The test needs little memory, since it touches only a few pages. */
static void more_than_2_to_32_bits_are_reached(void **state)
{
    char key[32];
    (void)state;
    petal_filter *filter = planned("cassandra", 500000000, 0.01);
    for (int i = 0; i < 100; i++)
        assert_int_equal(petal_add(filter, key, (size_t)snprintf(key, sizeof key, "%d", i)),
                         PETAL_OK);
    for (int i = 0; i < 100; i++)
        assert_true(petal_contains(filter, key, (size_t)snprintf(key, sizeof key, "%d", i)));
    for (int i = 100; i < 200; i++)
        assert_false(petal_contains(filter, key, (size_t)snprintf(key, sizeof key, "%d", i)));
    petal_free(filter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_those_of_cassandra),
        cmocka_unit_test(what_cassandra_cannot_make_is_refused),
        cmocka_unit_test(the_three_forms_are_kept_apart),
        cmocka_unit_test(more_than_2_to_32_bits_are_reached),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
