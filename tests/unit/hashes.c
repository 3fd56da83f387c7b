/* hashes.c - proves that keys are hashed by the published algorithms (XXH3 with a seed,
 * SipHash-2-4, the SHA family), and that numbers become the specified key bytes.
 *
 * The test vectors are in vectors/hashes, where ports of the library can use them too. */
#include "support.h"

#include "hash/foreign/sha.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#define FOLDER "vectors/hashes/"
#define LONGEST 4096

/* ---- vector files: blank-separated columns, # starts a comment ------------------------------- */

struct row {
    int number; /* line number */
    char columns[4][160];
};

static bool split(const char *line, struct row *row)
{
    return line[0] != '#' && sscanf(line, "%159s %159s %159s %159s", row->columns[0],
                                    row->columns[1], row->columns[2], row->columns[3]) >= 2;
}

/* Calls `check` for every row of the file, and returns the number of rows. */
static int for_each_row(const char *path, void (*check)(const struct row *row))
{
    char line[512];
    int rows = 0;
    struct row row = {0};
    FILE *file = fopen(path, "r");
    require(file != NULL, "cannot read %s; tests run from the top of the tree", path);
    while (fgets(line, sizeof line, file)) {
        row.number++;
        if (!split(line, &row)) continue;
        rows++;
        check(&row);
    }
    fclose(file);
    return rows;
}

static uint64_t hexadecimal(const char *text)
{
    return strtoull(text, NULL, 16);
}

static uint64_t little_endian(const uint8_t *bytes)
{
    uint64_t number = 0;
    for (int i = 7; i >= 0; i--) number = number << 8 | bytes[i];
    return number;
}

/* Converts hexadecimal digits, such as "310e", to bytes. */
static void bytes_of_hex(const char *text, uint8_t bytes[8])
{
    char pair[3] = "";
    for (size_t i = 0; i < 8; i++) {
        memcpy(pair, text + 2 * i, 2);
        bytes[i] = (uint8_t)strtoul(pair, NULL, 16);
    }
}

/* ---- hashing through a filter ---------------------------------------------------------------- */

static uint64_t xxh3_of(const void *key, size_t key_bytes, uint64_t seed)
{
    petal_options options = options_of(PETAL_SCHEME_BLOCKED, 512, 1, 0);
    options.seed = seed;
    petal_filter *filter = create(&options);
    uint64_t hash = petal_hash_key(filter, key, key_bytes);
    petal_free(filter);
    return hash;
}

static petal_filter *keyed(const uint8_t secret[PETAL_SECRET_BYTES])
{
    petal_options options = options_of(PETAL_SCHEME_BLOCKED, 512, 1, 0);
    options.secret = secret;
    return create(&options);
}

/* ---- the vectors ----------------------------------------------------------------------------- */

static void check_siphash(const struct row *row)
{
    uint8_t secret[PETAL_SECRET_BYTES], input[64], wanted[8];
    for (unsigned i = 0; i < sizeof secret; i++) secret[i] = (uint8_t)i;
    for (unsigned i = 0; i < sizeof input; i++) input[i] = (uint8_t)i;
    bytes_of_hex(row->columns[1], wanted);
    petal_filter *filter = keyed(secret);
    uint64_t hash = petal_hash_key(filter, input, strtoul(row->columns[0], NULL, 10));
    require(hash == little_endian(wanted), "line %d: got %016llx", row->number,
            (unsigned long long)hash);
    petal_free(filter);
}

static void siphash_gives_its_authors_64_vectors(void **state)
{
    (void)state;
    assert_int_equal(for_each_row(FOLDER "siphash-2-4.txt", check_siphash), 64);
}

static void sanity_buffer(uint8_t *buffer, size_t size)
{
    uint64_t x = 2654435761u;
    for (size_t i = 0; i < size; i++, x *= 11400714785074694797u) buffer[i] = (uint8_t)(x >> 56);
}

static void check_xxh3(const struct row *row)
{
    uint8_t input[LONGEST];
    sanity_buffer(input, sizeof input);
    uint64_t hash =
        xxh3_of(input, strtoul(row->columns[0], NULL, 10), hexadecimal(row->columns[1]));
    require(hash == hexadecimal(row->columns[2]), "line %d: got %016llx", row->number,
            (unsigned long long)hash);
}

static void xxh3_gives_the_values_of_its_authors_sanity_check(void **state)
{
    (void)state;
    assert_int_equal(for_each_row(FOLDER "xxh3.txt", check_xxh3), 26);
}

static void xxh3_is_the_librarys_own_at_every_length_and_seed(void **state)
{
    (void)state;
    static const uint64_t seeds[] = {0, 1, 42, 197072, 0x9e3779b97f4a7c15u, UINT64_MAX};
    uint8_t input[LONGEST];
    sanity_buffer(input, sizeof input);
    for (size_t s = 0; s < sizeof seeds / sizeof *seeds; s++) {
        petal_options options = options_of(PETAL_SCHEME_CLASSIC, 64, 1, 0);
        options.seed = seeds[s];
        petal_filter *filter = create(&options);
        for (size_t length = 0; length <= 1100; length++)
            require(petal_hash_key(filter, input, length) ==
                        XXH3_64bits_withSeed(input, length, seeds[s]),
                    "length %zu, seed %llu", length, (unsigned long long)seeds[s]);
        petal_free(filter);
    }
}

/* ---- SHA ------------------------------------------------------------------------------------- */

struct sha {
    const char *name;
    size_t digest_bytes, block_bytes;
    void (*compute)(struct sha_message of, uint8_t *digest);
};

static const struct sha family[] = {
    {"SHA-1", 20, 64, petal_sha1},
    {"SHA-256", 32, 64, petal_sha256},
    {"SHA-384", 48, 128, petal_sha384},
    {"SHA-512", 64, 128, petal_sha512},
};

static const struct sha *sha_named(const char *name)
{
    for (size_t i = 0; i < sizeof family / sizeof *family; i++)
        if (strcmp(family[i].name, name) == 0) return &family[i];
    fail_msg("no such hash: %s", name);
    return NULL;
}

static char *repeat(const char *text, size_t times)
{
    size_t length = strlen(text);
    char *all = malloc(length * times + 1);
    for (size_t i = 0; i < times; i++) memcpy(all + i * length, text, length);
    all[length * times] = '\0';
    return all;
}

static void check_sha(const struct row *row)
{
    const struct sha *sha = sha_named(row->columns[0]);
    size_t times = strtoul(row->columns[1], NULL, 10);
    size_t size = times * strlen(row->columns[2]);
    char *message = repeat(row->columns[2], times), text[2 * 64 + 1] = "";
    uint8_t digest[64];
    sha->compute((struct sha_message){NULL, 0, message, size}, digest);
    for (size_t i = 0; i < sha->digest_bytes; i++) snprintf(text + 2 * i, 3, "%02x", digest[i]);
    require(strcmp(text, row->columns[3]) == 0, "line %d: got %s", row->number, text);
    free(message);
}

static void sha_gives_the_digests_of_its_standard(void **state)
{
    (void)state;
    assert_int_equal(for_each_row(FOLDER "sha.txt", check_sha), 80);
}

static void sha_of_a_prefix_and_data_is_that_of_both_together(void **state)
{
    (void)state;
    uint8_t input[400], whole[64], parts[64];
    sanity_buffer(input, sizeof input);
    for (size_t i = 0; i < sizeof family / sizeof *family; i++)
        for (size_t size = 0; size < sizeof input; size += 7)
            for (size_t prefix = 0; prefix < family[i].block_bytes && prefix <= size; prefix++) {
                family[i].compute((struct sha_message){NULL, 0, input, size}, whole);
                family[i].compute(
                    (struct sha_message){input, prefix, input + prefix, size - prefix}, parts);
                require(memcmp(whole, parts, family[i].digest_bytes) == 0,
                        "%s of %zu bytes, %zu of them as a prefix", family[i].name, size, prefix);
            }
}

static void check_number(const struct row *row)
{
    uint8_t wanted[8], key[8];
    bytes_of_hex(row->columns[2], wanted);
    if (strcmp(row->columns[0], "i64") == 0) {
        petal_encode_i64(strtoll(row->columns[1], NULL, 10), key);
    } else {
        double value;
        uint64_t bits = hexadecimal(row->columns[1]);
        memcpy(&value, &bits, sizeof value);
        petal_encode_f64(value, key);
    }
    require(memcmp(key, wanted, 8) == 0, "line %d: %s", row->number, row->columns[1]);
}

static void numbers_have_the_same_key_bytes_in_every_language(void **state)
{
    (void)state;
    assert_int_equal(for_each_row(FOLDER "typed-keys.txt", check_number), 34);
}

/* ---- the hash of a filter -------------------------------------------------------------------- */

static void the_seed_changes_the_hash_and_the_default_seed_is_0(void **state)
{
    (void)state;
    require_that(xxh3_of("key", 3, 0), ==, XXH3_64bits("key", 3));
    require_that(xxh3_of("key", 3, 1), !=, xxh3_of("key", 3, 0));
}

static void every_bit_of_the_secret_changes_the_hash(void **state)
{
    (void)state;
    uint8_t secret[PETAL_SECRET_BYTES] = {0};
    petal_filter *zero = keyed(secret);
    for (unsigned bit = 0; bit < 8 * sizeof secret; bit++) {
        secret[bit / 8] = (uint8_t)(1u << bit % 8);
        petal_filter *other = keyed(secret);
        require(petal_hash_key(zero, "key", 3) != petal_hash_key(other, "key", 3), "bit %u", bit);
        petal_free(other);
        secret[bit / 8] = 0;
    }
    petal_free(zero);
}

static void a_key_of_no_bytes_may_be_null(void **state)
{
    (void)state;
    uint8_t secret[PETAL_SECRET_BYTES] = {1};
    require_that(xxh3_of(NULL, 0, 7), ==, xxh3_of("", 0, 7));
    petal_filter *filter = keyed(secret);
    require_that(petal_hash_key(filter, NULL, 0), ==, petal_hash_key(filter, "", 0));
    petal_free(filter);
}

static void the_hash_does_not_depend_on_where_the_key_lies(void **state)
{
    (void)state;
    uint8_t secret[PETAL_SECRET_BYTES] = {9, 8, 7}, buffer[300];
    petal_filter *sip = keyed(secret), *xxh = make(PETAL_SCHEME_BLOCKED, 512, 1, 0);
    for (size_t length = 0; length < 270; length += 13)
        for (size_t shift = 0; shift < 16; shift++) {
            sanity_buffer(buffer + shift, length);
            uint64_t sip_here = petal_hash_key(sip, buffer + shift, length);
            uint64_t xxh_here = petal_hash_key(xxh, buffer + shift, length);
            memmove(buffer, buffer + shift, length);
            require(sip_here == petal_hash_key(sip, buffer, length) &&
                        xxh_here == petal_hash_key(xxh, buffer, length),
                    "length %zu at offset %zu", length, shift);
        }
    petal_free(sip);
    petal_free(xxh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(siphash_gives_its_authors_64_vectors),
        cmocka_unit_test(xxh3_gives_the_values_of_its_authors_sanity_check),
        cmocka_unit_test(xxh3_is_the_librarys_own_at_every_length_and_seed),
        cmocka_unit_test(sha_gives_the_digests_of_its_standard),
        cmocka_unit_test(sha_of_a_prefix_and_data_is_that_of_both_together),
        cmocka_unit_test(numbers_have_the_same_key_bytes_in_every_language),
        cmocka_unit_test(the_seed_changes_the_hash_and_the_default_seed_is_0),
        cmocka_unit_test(every_bit_of_the_secret_changes_the_hash),
        cmocka_unit_test(a_key_of_no_bytes_may_be_null),
        cmocka_unit_test(the_hash_does_not_depend_on_where_the_key_lies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
