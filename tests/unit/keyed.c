/* keyed.c - proves that a keyed filter is useless without its secret, and that the secret appears
 * in no file and no message. */
#include "image.h"

#include "petal/petal_host.h"

static const uint8_t secret[PETAL_SECRET_BYTES] = {0xc0, 0xff, 0xee, 0x11, 0x22, 0x33, 0x44, 0x55,
                                                   0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd};
static const uint8_t other_secret[PETAL_SECRET_BYTES] = {1, 2,  3,  4,  5,  6,  7,  8,
                                                         9, 10, 11, 12, 13, 14, 15, 16};

static petal_filter *keyed(const void *with, uint32_t scheme)
{
    petal_options options = options_of(scheme, 8192, 6, 0);
    options.secret = with;
    return create(&options);
}

static petal_status load_with(struct bytes image, const void *with, petal_filter **filter,
                              petal_error *error)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    options.secret = with;
    return petal_load(image.data, image.size, &options, filter, error);
}

static void a_secret_means_siphash_and_no_secret_xxh3(void **state)
{
    (void)state;
    petal_filter *with = keyed(secret, PETAL_SCHEME_BLOCKED),
                 *without = keyed(NULL, PETAL_SCHEME_BLOCKED);
    petal_info keyed_info = info_of(with), plain_info = info_of(without);
    assert_true(keyed_info.keyed);
    require_that(keyed_info.hash, ==, PETAL_HASH_SIPHASH);
    require_that(keyed_info.secret_id, !=, 0);
    assert_true(!plain_info.keyed);
    require_that(plain_info.hash, ==, PETAL_HASH_XXH3);
    require_that(plain_info.secret_id, ==, 0);
    assert_string_equal(keyed_info.hash_name, "siphash");
    assert_string_equal(plain_info.hash_name, "xxh3");
    petal_free(with);
    petal_free(without);
}

static void siphash_without_a_secret_and_other_wrong_pairs_are_refused(void **state)
{
    (void)state;
    petal_filter *filter = NULL;
    petal_error error;
    petal_options options = options_of(PETAL_SCHEME_BLOCKED, 512, 4, 0);
    options.hash = PETAL_HASH_SIPHASH;
    require_status(PETAL_ERR_SECRET_MISSING, petal_create(&options, &filter, &error), error);
    options.secret = secret;
    options.seed = 1;
    require_status(PETAL_ERR_ARGUMENT, petal_create(&options, &filter, &error), error);
    options.seed = 0;
    options.hash = PETAL_HASH_XXH3;
    require_status(PETAL_ERR_ARGUMENT, petal_create(&options, &filter, &error), error);
    assert_null(filter);
}

static void the_right_secret_opens_the_file_and_finds_the_keys(void **state)
{
    (void)state;
    petal_error error;
    petal_filter *filter = keyed(secret, PETAL_SCHEME_CLASSIC), *loaded = NULL;
    add_numbers(filter, 0, 500);
    struct bytes image = serialized(filter);
    require_status(PETAL_OK, load_with(image, secret, &loaded, &error), error);
    require_numbers(loaded, 0, 500);
    assert_int_equal(info_of(loaded).secret_id, info_of(filter).secret_id);
    petal_free(loaded);
    petal_free(filter);
    free(image.data);
}

static void a_missing_secret_is_an_error_by_every_way_in(void **state)
{
    (void)state;
    petal_error error;
    petal_filter *filter = keyed(secret, PETAL_SCHEME_BLOCKED), *opened = NULL;
    struct bytes image = serialized(filter);
    const char *path = temporary("keyed.petal");
    write_file(path, image.data, image.size);
    require_status(PETAL_ERR_SECRET_MISSING, load_with(image, NULL, &opened, &error), error);
    require_status(PETAL_ERR_SECRET_MISSING,
                   petal_view(image.data, image.size, NULL, &opened, &error), error);
    for (unsigned mode = PETAL_OPEN_MAP; mode <= PETAL_OPEN_LOAD; mode++) {
        petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
        options.flags = mode;
        require_status(PETAL_ERR_SECRET_MISSING, petal_open(path, &options, &opened, &error),
                       error);
        assert_null(opened);
    }
    unlink(path);
    petal_free(filter);
    free(image.data);
}

static void a_header_tells_without_the_secret_and_hashes_no_key(void **state)
{
    (void)state;
    petal_error error;
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    petal_filter *filter = keyed(secret, PETAL_SCHEME_BLOCKED), *header = NULL, *like = NULL;
    petal_add(filter, "key", 3);
    struct bytes image = serialized(filter);
    petal_info whole = info_of(filter);
    uint8_t bits[1024] = {0};
    uint64_t count;
    uint64_t hash, id = 0, header_id = 1;
    petal_range ranges[4];
    bool answer;
    options.flags = PETAL_OPEN_NO_SECRET;
    require_status(PETAL_ERR_ARGUMENT,
                   petal_load(image.data, image.size, &options, &header, &error), error);
    options.flags = PETAL_OPEN_HEADER_ONLY | PETAL_OPEN_NO_SECRET;
    require_status(PETAL_OK, petal_load(image.data, image.size, &options, &header, &error), error);
    petal_info info = info_of(header);
    assert_true(info.keyed);
    require_that(info.secret_id, ==, whole.secret_id);
    require_that(info.items, ==, 1);
    require_that(info.bits, ==, whole.bits);
    assert_false(info.abilities & (PETAL_CAN_HASHES | PETAL_CAN_CREATE_LIKE | PETAL_CAN_STATS));
    require_status(PETAL_OK, petal_content_id(filter, &id, &error), error);
    require_status(PETAL_OK, petal_content_id(header, &header_id, &error), error);
    require_that(id, ==, header_id);
    petal_key key = {"key", 3};
    petal_batch batch = PETAL_BATCH_INIT;
    batch.layout = PETAL_LAYOUT_POINTERS;
    batch.data = &key;
    batch.count = 1;
    assert_true(petal_contains(header, "key", 3));
    require_that(petal_hash_key(header, "key", 3), ==, 0);
    require_status(PETAL_ERR_SECRET_MISSING, petal_hash_batch(header, &batch, &hash, &error),
                   error);
    require_status(PETAL_ERR_SECRET_MISSING,
                   petal_write_bits(header, 0, 0, bits, sizeof bits, &error), error);
    require_status(PETAL_ERR_SECRET_MISSING, petal_adopt_bits(header, 0, bits, sizeof bits, &error),
                   error);
    require_status(PETAL_ERR_SECRET_MISSING, petal_create_like(header, &like, &error), error);
    require_status(PETAL_ERR_SECRET_MISSING,
                   petal_key_ranges(header, "key", 3, ranges, 4, &count, &error), error);
    require_status(PETAL_ERR_SECRET_MISSING,
                   petal_contains_in_ranges(header, "key", 3, bits, 64, &answer, &error), error);
    petal_free(header);
    options.secret = other_secret; /* a secret is optional, but must be right */
    require_status(PETAL_ERR_SECRET_WRONG,
                   petal_load(image.data, image.size, &options, &header, &error), error);
    image.data[image.size > 100 ? 100 : 0] ^= 1; /* a byte that the header's checksum covers */
    options.secret = NULL;
    assert_int_not_equal(petal_load(image.data, image.size, &options, &header, &error), PETAL_OK);
    free(image.data);
    petal_free(filter);
}

static void each_of_10000_wrong_secrets_is_an_error(void **state)
{
    (void)state;
    uint64_t seed = 11, random = seed;
    petal_error error;
    petal_filter *filter = keyed(secret, PETAL_SCHEME_BLOCKED), *opened = NULL;
    struct bytes image = serialized(filter);
    for (int i = 0; i < 10000; i++) {
        uint8_t wrong[PETAL_SECRET_BYTES];
        memcpy(wrong, secret, sizeof wrong);
        if (i < 128) { /* the first 128 differ by one bit */
            wrong[i / 8] ^= (uint8_t)(1u << i % 8);
        } else {
            put64(wrong, next_random(&random));
            put64(wrong + 8, next_random(&random));
        }
        require(load_with(image, wrong, &opened, &error) == PETAL_ERR_SECRET_WRONG && !opened,
                "secret %d of seed %llu", i, (unsigned long long)seed);
    }
    petal_free(filter);
    free(image.data);
}

static void the_message_names_the_id_of_the_secret_that_is_needed(void **state)
{
    (void)state;
    char id[16];
    petal_error error;
    petal_filter *filter = keyed(secret, PETAL_SCHEME_BLOCKED), *opened = NULL;
    struct bytes image = serialized(filter);
    snprintf(id, sizeof id, "%08x", info_of(filter).secret_id);
    require_status(PETAL_ERR_SECRET_MISSING, load_with(image, NULL, &opened, &error), error);
    require(strstr(error.message, id), "no %s in: %s", id, error.message);
    require_status(PETAL_ERR_SECRET_WRONG, load_with(image, other_secret, &opened, &error), error);
    require(strstr(error.message, id), "no %s in: %s", id, error.message);
    petal_free(filter);
    free(image.data);
}

/* Two secrets may have the same id, by chance or by forgery. The check value distinguishes such
 * secrets. */
static void the_id_of_a_secret_proves_nothing(void **state)
{
    (void)state;
    petal_error error;
    petal_filter *filter = keyed(secret, PETAL_SCHEME_BLOCKED),
                 *other = keyed(other_secret, PETAL_SCHEME_BLOCKED);
    struct bytes image = serialized(filter);
    for (unsigned slot = 0; slot < 2; slot++)
        put32(slot_of(image, slot) + AT_SECRET_ID, info_of(other).secret_id);
    seal_both(image);
    petal_filter *opened = NULL;
    require_status(PETAL_ERR_SECRET_WRONG, load_with(image, other_secret, &opened, &error), error);
    petal_free(filter);
    petal_free(other);
    free(image.data);
}

static void a_keyed_file_with_a_seed_is_refused(void **state)
{
    (void)state;
    petal_error error;
    petal_filter *filter = keyed(secret, PETAL_SCHEME_BLOCKED), *opened = NULL;
    struct bytes image = serialized(filter);
    for (unsigned slot = 0; slot < 2; slot++) put64(slot_of(image, slot) + AT_SEED, 1);
    seal_both(image);
    require_status(PETAL_ERR_DAMAGED, load_with(image, secret, &opened, &error), error);
    petal_free(filter);
    free(image.data);
}

static void a_secret_for_a_filter_without_one_is_an_error(void **state)
{
    (void)state;
    petal_error error;
    petal_filter *filter = keyed(NULL, PETAL_SCHEME_BLOCKED), *opened = NULL;
    struct bytes image = serialized(filter);
    require_status(PETAL_ERR_SECRET_WRONG, load_with(image, secret, &opened, &error), error);
    petal_free(filter);
    free(image.data);
}

/* Returns true if these bytes contain any 4 consecutive bytes of the secret, unchanged, reversed,
 * or in hexadecimal. */
static bool gives_away(const uint8_t *bytes, size_t size)
{
    for (size_t from = 0; from + 4 <= sizeof secret; from++) {
        uint8_t reversed[4];
        char text[9];
        for (size_t i = 0; i < 4; i++) reversed[i] = secret[from + 3 - i];
        snprintf(text, sizeof text, "%02x%02x%02x%02x", secret[from], secret[from + 1],
                 secret[from + 2], secret[from + 3]);
        for (size_t i = 0; i + 8 <= size; i++)
            if (!memcmp(bytes + i, secret + from, 4) || !memcmp(bytes + i, reversed, 4) ||
                !memcmp(bytes + i, text, 8))
                return true;
    }
    return false;
}

static void no_four_bytes_of_the_secret_are_in_the_file_or_a_message(void **state)
{
    (void)state;
    petal_error error;
    petal_filter *filter = keyed(secret, PETAL_SCHEME_CLASSIC), *opened = NULL;
    petal_filter *other = keyed(other_secret, PETAL_SCHEME_CLASSIC);
    assert_true(gives_away(secret, sizeof secret)); /* gives_away() can find a secret */
    petal_add(filter, "key", 3);
    struct bytes image = serialized(filter);
    assert_false(gives_away(image.data, image.size));
    memset(&error, 0, sizeof error);
    require_status(PETAL_ERR_SECRET_WRONG, load_with(image, other_secret, &opened, &error), error);
    assert_false(gives_away((const uint8_t *)&error, sizeof error));
    struct bytes other_image = serialized(other);
    require_status(PETAL_ERR_SECRET_WRONG, load_with(other_image, secret, &opened, &error), error);
    assert_false(gives_away((const uint8_t *)&error, sizeof error));
    require_status(PETAL_ERR_MISMATCH, petal_merge(filter, other, &error), error);
    assert_false(gives_away((const uint8_t *)&error, sizeof error));
    petal_free(filter);
    petal_free(other);
    free(image.data);
    free(other_image.data);
}

static void the_caller_may_wipe_the_secret_once_the_filter_is_made(void **state)
{
    (void)state;
    uint8_t mine[PETAL_SECRET_BYTES];
    memcpy(mine, secret, sizeof mine);
    petal_filter *filter = keyed(mine, PETAL_SCHEME_BLOCKED),
                 *twin = keyed(secret, PETAL_SCHEME_BLOCKED);
    memset(mine, 0, sizeof mine);
    require_that(petal_hash_key(filter, "key", 3), ==, petal_hash_key(twin, "key", 3));
    petal_free(filter);
    petal_free(twin);
}

/* Records the contents of the handle's memory at the moment it is freed. The memory contained the
 * secret until then. */
struct spy {
    bool seen_secret;
};

static void *spy_alloc(void *context, size_t size_bytes)
{
    (void)context;
    return calloc(1, size_bytes);
}

static void spy_release(void *context, void *memory, size_t size_bytes)
{
    struct spy *spy = context;
    const uint8_t *bytes = memory;
    for (size_t i = 0; i + sizeof secret <= size_bytes; i++)
        if (!memcmp(bytes + i, secret, sizeof secret)) spy->seen_secret = true;
    free(memory);
}

static void the_secret_is_wiped_when_the_filter_is_freed(void **state)
{
    (void)state;
    struct spy spy = {false};
    petal_allocator allocator = {spy_alloc, spy_release, &spy};
    petal_options options = options_of(PETAL_SCHEME_BLOCKED, 512, 4, 0);
    options.secret = secret;
    options.allocator = &allocator;
    petal_free(create(&options));
    assert_false(spy.seen_secret);
}

static void merge_wants_the_same_secret(void **state)
{
    (void)state;
    petal_error error;
    petal_filter *a = keyed(secret, PETAL_SCHEME_BLOCKED), *b = keyed(secret, PETAL_SCHEME_BLOCKED);
    petal_filter *c = keyed(other_secret, PETAL_SCHEME_BLOCKED),
                 *d = keyed(NULL, PETAL_SCHEME_BLOCKED);
    require_status(PETAL_OK, petal_merge(a, b, &error), error);
    require_status(PETAL_ERR_MISMATCH, petal_merge(a, c, &error), error);
    require(strstr(error.message, "secret"), "%s", error.message);
    require_status(PETAL_ERR_MISMATCH, petal_intersect(a, d, &error), error);
    require(strstr(error.message, "hash"), "%s", error.message);
    petal_free(a);
    petal_free(b);
    petal_free(c);
    petal_free(d);
}

static void a_clone_keeps_the_secret(void **state)
{
    (void)state;
    petal_filter *filter = keyed(secret, PETAL_SCHEME_BLOCKED);
    add_numbers(filter, 0, 100);
    petal_filter *copy = clone_of(filter);
    petal_free(filter);
    require_numbers(copy, 0, 100);
    petal_free(copy);
}

/* An attacker who knows the hash can choose keys whose bits are all clear. Each such key sets k new
 * bits, so the filter fills up early. If the hash is keyed, a chosen key sets no more bits than a
 * random key. */
static uint64_t bits_set_by_chosen_keys(petal_filter *target, const petal_filter *oracle,
                                        uint64_t keys)
{
    petal_filter *shadow = clone_of(oracle);
    uint64_t candidate = 0;
    for (uint64_t i = 0; i < keys; i++) {
        uint64_t best = candidate, max = 0;
        for (int tries = 0; tries < 8;
             tries++, candidate++) { /* picks a key that the attacker's copy doesn't contain */
            bool fresh = !petal_contains_i64(shadow, (int64_t)candidate);
            if (fresh && !max) best = candidate, max = 1;
        }
        petal_add_i64(shadow, (int64_t)best);
        petal_add_i64(target, (int64_t)best);
    }
    petal_free(shadow);
    return stats_of(target).bits_set;
}

static void
keys_chosen_without_the_secret_fill_a_keyed_filter_no_faster_than_random_ones(void **state)
{
    (void)state;
    const uint64_t keys = 5000;
    petal_options options = options_of(PETAL_SCHEME_CLASSIC, 10 * keys, 1, 0);
    petal_filter *open_target = create(&options), *oracle = create(&options);
    options.secret = secret;
    petal_filter *keyed_target = create(&options);
    uint64_t by_choice = bits_set_by_chosen_keys(open_target, oracle, keys);
    uint64_t keyed_set = bits_set_by_chosen_keys(keyed_target, oracle, keys);
    double m = 10.0 * (double)keys, c = (double)keys / m, expected = m * (1 - exp(-c));
    double sd = sqrt(m * exp(-c) * (1 - (1 + c) * exp(-c)));
    assert_int_equal(
        by_choice,
        keys); /* the attack works: if the hash is known, each chosen key sets a new bit */
    require(fabs((double)keyed_set - expected) < 5 * sd, "%llu bits set, expected %.0f, sd %.1f",
            (unsigned long long)keyed_set, expected, sd);
    petal_free(open_target);
    petal_free(oracle);
    petal_free(keyed_target);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_secret_means_siphash_and_no_secret_xxh3),
        cmocka_unit_test(siphash_without_a_secret_and_other_wrong_pairs_are_refused),
        cmocka_unit_test(the_right_secret_opens_the_file_and_finds_the_keys),
        cmocka_unit_test(a_missing_secret_is_an_error_by_every_way_in),
        cmocka_unit_test(a_header_tells_without_the_secret_and_hashes_no_key),
        cmocka_unit_test(each_of_10000_wrong_secrets_is_an_error),
        cmocka_unit_test(the_message_names_the_id_of_the_secret_that_is_needed),
        cmocka_unit_test(the_id_of_a_secret_proves_nothing),
        cmocka_unit_test(a_keyed_file_with_a_seed_is_refused),
        cmocka_unit_test(a_secret_for_a_filter_without_one_is_an_error),
        cmocka_unit_test(no_four_bytes_of_the_secret_are_in_the_file_or_a_message),
        cmocka_unit_test(the_caller_may_wipe_the_secret_once_the_filter_is_made),
        cmocka_unit_test(the_secret_is_wiped_when_the_filter_is_freed),
        cmocka_unit_test(merge_wants_the_same_secret),
        cmocka_unit_test(a_clone_keeps_the_secret),
        cmocka_unit_test(
            keys_chosen_without_the_secret_fill_a_keyed_filter_no_faster_than_random_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
