/* hadoop.c - tests properties of Hadoop's filters and HBase's chunks that the common vectors can't
 * cover. Hashes must equal the published values, sizes must equal the originals', and filters that
 * a format can't store must be refused. */
#include "support.h"

/* Returns the first 32 bits of a key's hash in a filter: the value of the hash function with seed
 * 0. */
static uint32_t first_hash(const char *vector_name, const char *format, const char *key)
{
    petal_filter *filter = loaded_vector(vector_name, format);
    uint32_t hash = (uint32_t)petal_hash_key(filter, key, strlen(key));
    petal_free(filter);
    return hash;
}

/* Compares hashes with the published values of driver5() in lookup3.c and of MurmurHash3. */
static void hashes_give_the_published_values(void **state)
{
    static const char *const score = "Four score and seven years ago",
                             *const fox = "The quick brown fox jumps over the lazy dog";
    (void)state;
    assert_int_equal(first_hash("hadoop/jenkins_m1437_k5.bin", "hadoop", score), 0x17770551);
    assert_int_equal(first_hash("hadoop/jenkins_m1437_k5.bin", "hadoop", ""), 0xdeadbeef);
    assert_int_equal(first_hash("hbase/jenkins_n200_p0.01_bytes.bin", "hbase", score), 0x17770551);
    assert_int_equal(first_hash("hbase/murmur3_n200_p0.01_bytes.bin", "hbase", fox), 0x2e4ff723);
    assert_int_equal(first_hash("hbase/murmur3_n200_p0.01_bytes.bin", "hbase", "hello"),
                     0x248bfa47);
}

static void sizes_are_those_of_bloom_map_file_and_of_hbase(void **state)
{
    (void)state;
    expect_sizes("hadoop", "hadoop/sizing.txt", 90);
    expect_sizes("hbase", "hbase/sizing.txt", 90);
}

static petal_status plan_status(const char *format, uint64_t keys, double rate, uint64_t bits,
                                uint32_t hashes)
{
    petal_options options = PETAL_OPTIONS_INIT;
    petal_info plan = PETAL_INFO_INIT;
    options.format = format;
    options.capacity = keys;
    options.rate = rate;
    options.bits = bits;
    options.hashes = hashes;
    return petal_plan(&options, &plan, NULL, NULL);
}

static void what_is_too_big_or_too_small_is_refused(void **state)
{
    (void)state;
    assert_int_equal(plan_status("hadoop", 0, 0, INT32_MAX, 5), PETAL_OK);
    assert_int_equal(plan_status("hadoop", 0, 0, (uint64_t)INT32_MAX + 1, 5), PETAL_ERR_ARGUMENT);
    assert_int_equal(plan_status("hadoop", 0, 0, 100, 256), PETAL_OK);
    assert_int_equal(plan_status("hadoop", 0, 0, 100, 257), PETAL_ERR_ARGUMENT);
    assert_int_equal(plan_status("hadoop", UINT64_MAX, 0.01, 0, 0), PETAL_ERR_LIMIT);
    assert_int_equal(plan_status("hadoop", 7, 0x1p-1074, 0, 0),
                     PETAL_ERR_LIMIT); /* the size, computed as a double, is minus infinity */
    assert_int_equal(plan_status("hbase", 0, 0, ((uint64_t)1 << 31) - 8, 5), PETAL_OK);
    assert_int_equal(plan_status("hbase", 0, 0, (uint64_t)1 << 31, 5), PETAL_ERR_ARGUMENT);
    assert_int_equal(plan_status("hbase", 0, 0, UINT64_MAX, 5), PETAL_ERR_ARGUMENT);
    assert_int_equal(plan_status("hbase", 0, 0.01, 0, 0), PETAL_ERR_ARGUMENT);
    assert_int_equal(plan_status("hbase", 1000, 0.7, 0, 0),
                     PETAL_ERR_ARGUMENT); /* needs less than one bit per key */
    assert_int_equal(plan_status("hbase", UINT64_MAX, 0.01, 0, 0), PETAL_ERR_LIMIT);
}

static void hadoops_other_filters_are_named(void **state)
{
    struct bytes bytes = vector("hadoop/murmur_m1437_k5.bin");
    (void)state;
    memset(bytes.data + bytes.size, 0, 8);
    bytes.size += 8;
    expect_refused(bytes, "hadoop", PETAL_ERR_DAMAGED, "counting, dynamic or retouched");
    free(bytes.data);
}

static void impossible_header_fields_are_refused_at_their_byte(void **state)
{
    static const struct {
        size_t at, size;
        uint8_t value;
        const char *why;
    } cases[] = {{4, 4, 0, "number of hashes"},
                 {4, 4, 0x7f, "number of hashes"},
                 {8, 1, 2, "a hash other than 0 and 1"},
                 {9, 4, 0, "size of the vector"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bytes bytes = vector("hadoop/murmur_m1437_k5.bin");
        memset(bytes.data + cases[i].at, cases[i].value, cases[i].size);
        require_that(expect_refused(bytes, "hadoop", PETAL_ERR_DAMAGED, cases[i].why), ==,
                     cases[i].at);
        free(bytes.data);
    }
}

static void a_bit_beyond_the_vector_is_refused(void **state)
{
    struct bytes bytes = vector("hadoop/murmur_m1437_k5.bin"); /* 1437 = 179 * 8 + 5 */
    (void)state;
    bytes.data[bytes.size - 1] |= 0x20;
    require_that(expect_refused(bytes, "hadoop", PETAL_ERR_DAMAGED, "beyond the last"), ==,
                 bytes.size - 1);
    free(bytes.data);
}

/* The old form supports only the Jenkins hash. A filter that was read from the old form must be
 * written in the old form again. A filter with the Murmur hash must never be written in the old
 * form. */
static void the_old_form_stays_with_its_filter(void **state)
{
    (void)state;
    petal_filter *old = loaded_vector("hadoop/jenkins_old_m2003_k7_bytes.bin", "hadoop");
    petal_filter *new = loaded_vector("hadoop/jenkins_m2003_k7_bytes.bin", "hadoop");
    assert_int_equal(petal_merge(old, new, NULL), PETAL_OK);
    struct bytes bytes = written(old, "hadoop"),
                 wanted = vector("hadoop/jenkins_old_m2003_k7_bytes.bin");
    expect_same(bytes, wanted);
    free(bytes.data);
    free(wanted.data);
    petal_filter *murmur = loaded_vector("hadoop/murmur_m2003_k7_bytes.bin", "hadoop");
    assert_int_equal(petal_merge(old, murmur, NULL), PETAL_ERR_MISMATCH);
    petal_free(murmur);
    petal_free(old);
    petal_free(new);
}

static void hbase_counts_keys_up_to_2_to_31_only(void **state)
{
    (void)state;
    struct bytes bytes = vector("hbase/murmur_n1_p0.01.bin");
    memcpy(bytes.data + 12, "\x7f\xff\xff\xff", 4);
    petal_filter *filter = loaded(bytes, "hbase");
    assert_int_equal(info_of(filter).items, INT32_MAX);
    assert_int_equal(petal_add(filter, "hello", 5) >= 0, 1);
    assert_int_equal(petal_serialized_bytes(filter, SAVE_AS("hbase")), 0);
    petal_free(filter);
    memcpy(bytes.data + 12, "\x80\x00\x00\x00", 4);
    expect_refused(bytes, "hbase", PETAL_ERR_DAMAGED, "negative");
    free(bytes.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hashes_give_the_published_values),
        cmocka_unit_test(sizes_are_those_of_bloom_map_file_and_of_hbase),
        cmocka_unit_test(what_is_too_big_or_too_small_is_refused),
        cmocka_unit_test(hadoops_other_filters_are_named),
        cmocka_unit_test(impossible_header_fields_are_refused_at_their_byte),
        cmocka_unit_test(a_bit_beyond_the_vector_is_refused),
        cmocka_unit_test(the_old_form_stays_with_its_filter),
        cmocka_unit_test(hbase_counts_keys_up_to_2_to_31_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
