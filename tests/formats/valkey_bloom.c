/* valkey_bloom.c - tests properties of valkey-bloom's filters that the common vectors don't cover.
 * A filter must grow as in valkey-bloom, however it was loaded, and must always keep its 32-byte
 * seed. Files that valkey-bloom can't have written must be refused. */
#include "support.h"

#include <petal/petal_host.h>

#define GROWS_600 "valkey-bloom/random_expansion1_ratio0.9_n20_p0.02_600keys.bin"
#define GROWS_900 "valkey-bloom/random_expansion1_ratio0.9_n20_p0.02_900keys.bin"

/* The offsets of fields in a file. FIRST is the offset of the first layer. */
enum { EXPANSION = 1, RATE = 5, RATIO = 13, RANDOM = 21, LAYERS = 22, FIRST = 30 };
enum { LENGTH = FIRST, BITS_VERSION = FIRST + 8, BYTES = FIRST + 9, HASHES = FIRST + 17 };

static void sizes_are_those_of_the_crate(void **state)
{
    (void)state;
    expect_sizes("valkey-bloom", "valkey-bloom/sizing.txt", 190);
}

static void add_keys(petal_filter *filter, int from, int to)
{
    char key[32];
    for (int i = from; i <= to; i++) {
        int size = snprintf(key, sizeof key, "key-%d", i);
        assert_true(petal_add(filter, key, (size_t)size) >= 0);
    }
}

/* After keys 600 to 899 are added, the filter must equal the one in the file GROWS_900. */
static void expect_grown(petal_filter *filter)
{
    struct bytes wanted = vector(GROWS_900);
    add_keys(filter, 600, 899);
    struct bytes grown = written(filter, "valkey-bloom");
    expect_same(grown, wanted);
    free(grown.data);
    free(wanted.data);
    petal_free(filter);
}

static void a_filter_that_was_read_cloned_or_carried_grows_as_the_original(void **state)
{
    petal_filter *clone;
    petal_error error;
    (void)state;
    petal_filter *filter = loaded_vector(GROWS_600, "valkey-bloom");
    struct bytes carried = written(filter, "petal");
    expect_status(petal_clone(filter, &clone, &error), PETAL_OK, &error);
    expect_grown(filter);
    expect_grown(clone);
    expect_grown(loaded(carried, "petal"));
    free(carried.data);
}

static void a_nonscaling_filter_is_full_at_its_capacity(void **state)
{
    (void)state;
    petal_filter *filter =
        loaded_vector("valkey-bloom/random_nonscaling_n50_p0.05.bin", "valkey-bloom");
    assert_int_equal(info_of(filter).items, 48); /* two of the 50 keys were false positives */
    assert_true(petal_add(filter, "49th", 4) >= 0);
    assert_true(petal_add(filter, "the 50th", 8) >= 0);
    assert_int_equal(info_of(filter).items, 50);
    assert_int_equal(petal_add(filter, "one more", 8), PETAL_ERR_FULL);
    petal_free(filter);
}

/* The two filters differ only in the last byte of their seeds. */
static void filters_of_different_seeds_are_different(void **state)
{
    petal_error error;
    (void)state;
    struct bytes bytes = vector("valkey-bloom/random_nonscaling_n50_p0.05.bin");
    petal_filter *a = loaded(bytes, "valkey-bloom");
    bytes.data[FIRST + 21 + 31] ^= 1;
    petal_filter *b = loaded(bytes, "valkey-bloom");
    uint64_t id_of_a, id_of_b;
    expect_status(petal_content_id(a, &id_of_a, &error), PETAL_OK, &error);
    expect_status(petal_content_id(b, &id_of_b, &error), PETAL_OK, &error);
    assert_true(id_of_a != id_of_b);
    assert_true(petal_contains(a, "key-0", 5));
    assert_false(petal_contains(b, "key-0", 5) && petal_contains(b, "key-1", 5) &&
                 petal_contains(b, "key-2", 5));
    expect_status(petal_merge(a, b, &error), PETAL_ERR_MISMATCH, &error);
    if (!strstr(error.message, "seed")) fail_msg("%s", error.message);
    petal_free(a);
    petal_free(b);
    free(bytes.data);
}

static void a_seed_of_64_bits_and_a_size_in_bits_are_refused(void **state)
{
    petal_options options = PETAL_OPTIONS_INIT;
    petal_filter *filter;
    petal_error error;
    (void)state;
    options.format = "valkey-bloom";
    options.capacity = 100;
    options.rate = 0.01;
    options.seed = 7;
    expect_status(petal_create(&options, &filter, &error), PETAL_ERR_ARGUMENT, &error);
    options.seed = 0;
    options.capacity = 0;
    options.rate = 0;
    options.bits = 1000;
    options.hashes = 7;
    expect_status(petal_create(&options, &filter, &error), PETAL_ERR_ARGUMENT, &error);
}

static void what_the_original_cannot_have_written_is_refused(void **state)
{
    static const struct {
        size_t at;
        uint64_t value;
        size_t bytes;
        petal_status wanted;
        const char *why;
    } cases[] = {
        {0, 2, 1, PETAL_ERR_NOT_A_FILTER, "begins with 01"},
        {RATE, 0, 8, PETAL_ERR_DAMAGED, "byte 5 (the error rate"},
        {RATE, 0x3ff0000000000000u, 8, PETAL_ERR_DAMAGED, "byte 5 (the error rate"},
        {RATE, 0x7ff8000000000000u, 8, PETAL_ERR_DAMAGED, "byte 5 (the error rate"},
        {RATIO, 0x3ff0000000000000u, 8, PETAL_ERR_DAMAGED, "byte 13 (the tightening ratio"},
        {RANDOM, 2, 1, PETAL_ERR_DAMAGED, "byte 21 (a seed that is neither fixed nor random"},
        {LAYERS, 0, 8, PETAL_ERR_DAMAGED, "byte 22 (a filter has at least 1 layer"},
        {LAYERS, 2, 8, PETAL_ERR_TRUNCATED, "layer 1"},
        {LAYERS, 65, 8, PETAL_ERR_LIMIT, "65 layers"},
        {LAYERS, UINT64_MAX, 8, PETAL_ERR_LIMIT, "layers"},
        {LENGTH, 44, 8, PETAL_ERR_DAMAGED, "byte 30 (the lengths of a layer contradict"},
        {BITS_VERSION, 2, 1, PETAL_ERR_DAMAGED, "byte 38 (bits of an unknown version"},
        {BYTES, UINT64_MAX, 8, PETAL_ERR_DAMAGED, "byte 30 (the lengths of a layer contradict"},
        {HASHES, 0, 4, PETAL_ERR_DAMAGED, "byte 47 (an impossible number of hashes"},
        {HASHES, 1089, 4, PETAL_ERR_DAMAGED, "byte 47 (an impossible number of hashes"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bytes bytes = vector("valkey-bloom/random_nonscaling_n50_p0.05.bin");
        for (size_t j = 0; j < cases[i].bytes; j++)
            bytes.data[cases[i].at + j] = (uint8_t)(cases[i].value >> 8 * j);
        expect_refused(bytes, "valkey-bloom", cases[i].wanted, cases[i].why);
        free(bytes.data);
    }
    struct bytes bytes = vector(GROWS_600);
    size_t second = FIRST + 53 + bytes.data[BYTES] + 16;
    bytes.data[second + 21] ^= 1;
    expect_refused(bytes, "valkey-bloom", PETAL_ERR_DAMAGED, "byte 141 (the layers");
    free(bytes.data);
}

/* A petal file that lacks the seed must be refused, even if its checksums are right. */
static void a_petal_file_keeps_the_seed(void **state)
{
    (void)state;
    struct bytes bytes = vector(GROWS_600);
    petal_filter *filter = loaded(bytes, "valkey-bloom");
    struct bytes carried = written(filter, "petal");
    petal_filter *again = loaded(carried, "petal");
    struct bytes back = written(again, "valkey-bloom");
    expect_same(back, bytes);
    petal_free(filter);
    petal_free(again);
    free(bytes.data);
    free(carried.data);
    free(back.data);
}

/* A host may lend layers that lack some information that the format stores. */
static void layers_without_a_capacity_are_not_written(void **state)
{
    (void)state;
    struct bytes bytes = vector(GROWS_600);
    petal_filter *filter = loaded(bytes, "valkey-bloom");
    petal_lent_layer layers[2];
    struct bytes arrays[2], out = zeros(bytes.size);
    petal_error error;
    for (uint32_t i = 0; i < 2; i++) {
        petal_info info = PETAL_INFO_INIT;
        require_status(PETAL_OK, petal_get_info(filter, i, &info, &error), error);
        arrays[i] = zeros((size_t)info.bytes);
        layers[i] = (petal_lent_layer){.bytes = arrays[i].data,
                                       .bits = info.bits,
                                       .hashes = info.hashes,
                                       .capacity = info.capacity,
                                       .rate = info.target_rate};
    }
    layers[1].capacity = 0;
    require_status(PETAL_OK, petal_lend(filter, layers, 2, &error), error);
    require_status(PETAL_ERR_UNSUPPORTED,
                   petal_serialize(filter, SAVE_AS("valkey-bloom"), out.data, out.size, &error),
                   error);
    require(strstr(error.message, "layer 1 lacks") != NULL, "%s", error.message);
    petal_free(filter);
    for (uint32_t i = 0; i < 2; i++) free(arrays[i].data);
    free(out.data);
    free(bytes.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_those_of_the_crate),
        cmocka_unit_test(a_filter_that_was_read_cloned_or_carried_grows_as_the_original),
        cmocka_unit_test(a_nonscaling_filter_is_full_at_its_capacity),
        cmocka_unit_test(filters_of_different_seeds_are_different),
        cmocka_unit_test(a_seed_of_64_bits_and_a_size_in_bits_are_refused),
        cmocka_unit_test(what_the_original_cannot_have_written_is_refused),
        cmocka_unit_test(a_petal_file_keeps_the_seed),
        cmocka_unit_test(layers_without_a_capacity_are_not_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
