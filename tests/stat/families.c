/* families.c - proves that keys of every shape used in practice work as well as random keys: no
 * family of keys, however similar they are, raises the false-positive rate or causes a missing key.
 *
 * Weak hashes fail on keys that differ only slightly. Each family is a numbered list of distinct
 * keys. The first keys are added, and later keys are queried. Given the bits, the number of hits is
 * binomially distributed with the exact rate p of these bits, so
 * z = (hits - N p) / sqrt(N p (1 - p)) has a standard deviation of 1. |z| < 6 fails by chance with
 * probability 2e-9, and the test covers 30 families with 3 layouts and 2 hashes. It also checks
 * that the keys of each family are distinct, because most apparent hash bugs turn out to be keys
 * that occur twice. */
#include "statistics.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define LONGEST 2100
#define SOME ((uint64_t)1 << 40) /* number of keys in a practically unlimited family */

static const uint8_t secret[PETAL_SECRET_BYTES] = {2, 7, 1, 8, 2, 8, 1, 8, 2, 8, 4, 5, 9, 0, 4, 5};

/* ---- families: each writes key number i to `key` and returns its size ------------------------ */

static size_t big_endian(uint64_t number, size_t size, uint8_t *key)
{
    for (size_t i = 0; i < size; i++) key[size - 1 - i] = (uint8_t)(number >> 8 * i);
    return size;
}

static size_t little_endian(uint64_t number, size_t size, uint8_t *key)
{
    put_number(key, size, number);
    return size;
}

static size_t text(uint8_t *key, const char *format, uint64_t number)
{
    return (size_t)snprintf((char *)key, LONGEST, format,
                            (unsigned long long)number); /* NOLINT: formats are below */
}

static size_t u32_little(uint64_t i, uint8_t *key)
{
    return little_endian(i, 4, key);
}

static size_t u32_big(uint64_t i, uint8_t *key)
{
    return big_endian(i, 4, key);
}

static size_t u64_little(uint64_t i, uint8_t *key)
{
    return little_endian(i, 8, key);
}

static size_t u64_big(uint64_t i, uint8_t *key)
{
    return big_endian(i, 8, key);
}

static size_t decimals(uint64_t i, uint8_t *key)
{
    return text(key, "%llu", i);
}

static size_t padded_decimals(uint64_t i, uint8_t *key)
{
    return text(key, "%020llu", i);
}

static size_t hexadecimals(uint64_t i, uint8_t *key)
{
    return text(key, "%llx", i);
}

/* Encodes the number as 6 big-endian bytes in base64. */
static size_t base64(uint64_t i, uint8_t *key)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (int d = 0; d < 8; d++) key[d] = (uint8_t)digits[i >> (42 - 6 * d) & 63];
    return 8;
}

static size_t uuid_4(uint64_t i, uint8_t *key)
{
    uint64_t a = mix(2 * i + 1), b = mix(2 * i + 2);
    return (size_t)snprintf((char *)key, LONGEST, "%08x-%04x-4%03x-%04x-%012llx",
                            (unsigned)(a >> 32), (unsigned)(a >> 16 & 0xffff),
                            (unsigned)(a & 0xfff), (unsigned)(0x8000 | (b >> 48 & 0x3fff)),
                            (unsigned long long)(b & 0xffffffffffff));
}

/* Generates keys that start with the time, which advances a millisecond every 40 keys, and end with
 * random bits. */
static size_t uuid_7(uint64_t i, uint8_t *key)
{
    uint64_t time = 1700000000000u + i / 40, random = mix(i + 1);
    big_endian(time, 6, key);
    big_endian(random, 8, key + 8);
    key[6] = (uint8_t)(0x70 | (i % 40) >> 2);
    key[7] = (uint8_t)((i % 40) << 6);
    key[8] = (uint8_t)(0x80 | (key[8] & 0x3f));
    return 16;
}

static size_t urls_of_one_site(uint64_t i, uint8_t *key)
{
    return text(key, "https://www.example.com/catalogue/products/item.html?id=%llu", i);
}

static size_t hosts_of_one_domain(uint64_t i, uint8_t *key)
{
    return text(key, "host-%llu.internal.cloud.example.com", i);
}

static size_t common_suffix(uint64_t i, uint8_t *key)
{
    return text(key, "%llu/index.html#the-very-same-long-suffix-for-every-single-one-of-them", i);
}

static size_t mail_addresses(uint64_t i, uint8_t *key)
{
    return text(key, "user%llu@example.org", i);
}

/* Generates all strings of 0 to 3 bytes, shortest first. */
static size_t short_strings(uint64_t i, uint8_t *key)
{
    size_t size = 0;
    for (uint64_t of_size = 1; i >= of_size; of_size *= 256, size++) i -= of_size;
    return big_endian(i, size, key);
}

#define SHORT_STRINGS (1 + 256 + 65536 + 16777216)

/* Generates keys of 1 to 64 bytes in which a single bit is set, for every bit and every length. */
static size_t one_bit_set(uint64_t i, uint8_t *key)
{
    size_t size = 1;
    for (; i >= 8 * size; size++) i -= 8 * size;
    memset(key, 0, size);
    key[i / 8] = (uint8_t)(1u << i % 8);
    return size;
}

#define ONE_BIT_SET (8 * 64 * 65 / 2)

/* Generates keys of 64 bytes in which exactly two bits are set. */
static size_t two_bits_set(uint64_t i, uint8_t *key)
{
    uint64_t high = 1;
    for (; i >= high; high++) i -= high;
    memset(key, 0, 64);
    key[high / 8] |= (uint8_t)(1u << high % 8);
    key[i / 8] |= (uint8_t)(1u << i % 8);
    return 64;
}

#define TWO_BITS_SET (512 * 511 / 2)

static size_t zeros_of_all_lengths(uint64_t i, uint8_t *key)
{
    memset(key, 0, i);
    return i;
}

/* Generates keys of 8 to 1,024 bytes, covering every length at which a hash function switches to a
 * different method. The last bytes of a key are its number. */
static size_t lengths_to_1024(uint64_t i, uint8_t *key)
{
    size_t size = 8 + i % 1017;
    memset(key, 'x', size);
    little_endian(i / 1017, 8, key + size - 8);
    return size;
}

static size_t number_in_the_middle(uint64_t i, uint8_t *key)
{
    memset(key, 0x20, 256);
    little_endian(i, 8, key + 124);
    return 256;
}

static size_t embedded_nul(uint64_t i, uint8_t *key)
{
    static const uint8_t head[] = "key\0with\0nul";
    memcpy(key, head, sizeof head);
    return sizeof head + little_endian(i, 5, key + sizeof head);
}

static size_t multiples_of_512(uint64_t i, uint8_t *key)
{
    return little_endian(512 * i, 8, key);
}

static size_t multiples_of_2_to_24(uint64_t i, uint8_t *key)
{
    return little_endian(i << 24, 8, key);
}

static size_t multiples_of_a_prime(uint64_t i, uint8_t *key)
{
    return little_endian(1000003 * i, 8, key);
}

static size_t ipv4_ranges(uint64_t i, uint8_t *key)
{
    return (size_t)snprintf((char *)key, LONGEST, "10.%u.%u.%u", (unsigned)(i >> 16 & 255),
                            (unsigned)(i >> 8 & 255), (unsigned)(i & 255));
}

#define IPV4_RANGE (1 << 24)

static size_t ipv6_range(uint64_t i, uint8_t *key)
{
    static const uint8_t network[8] = {0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 1};
    memcpy(key, network, sizeof network);
    return sizeof network + big_endian(i, 8, key + sizeof network);
}

static size_t gray_code(uint64_t i, uint8_t *key)
{
    return little_endian(i ^ i >> 1, 8, key);
}

static size_t doubles(uint64_t i, uint8_t *key)
{
    petal_encode_f64((double)i / 8, key);
    return 8;
}

/* Generates pairs of keys that differ in one bit. Even numbers are added and odd numbers queried
 * (see `interleaved`), so each absent key differs from a member in one bit. */
static size_t neighbours(uint64_t i, uint8_t *key)
{
    memset(key, 0xaa, 40);
    little_endian(mix(i / 2) << 1 | (i & 1), 8, key + 16);
    return 40;
}

static const struct family {
    const char *name;
    size_t (*key)(uint64_t i, uint8_t *key);
    uint64_t count;   /* number of keys */
    bool interleaved; /* even-numbered keys are added, odd-numbered keys queried */
} families[] = {
    {"u32 little-endian", u32_little, (uint64_t)1 << 32, false},
    {"u32 big-endian", u32_big, (uint64_t)1 << 32, false},
    {"u64 little-endian", u64_little, SOME, false},
    {"u64 big-endian", u64_big, SOME, false},
    {"decimals", decimals, SOME, false},
    {"zero-padded decimals", padded_decimals, SOME, false},
    {"hexadecimals", hexadecimals, SOME, false},
    {"base64", base64, SOME, false},
    {"UUID version 4", uuid_4, SOME, false},
    {"UUID version 7", uuid_7, SOME, false},
    {"addresses of one site", urls_of_one_site, SOME, false},
    {"hosts of one domain", hosts_of_one_domain, SOME, false},
    {"a common suffix", common_suffix, SOME, false},
    {"mail addresses", mail_addresses, SOME, false},
    {"all strings of 0 to 3 bytes", short_strings, SHORT_STRINGS, false},
    {"one bit set, 1 to 64 bytes", one_bit_set, ONE_BIT_SET, false},
    {"one bit set, added and asked in turn", one_bit_set, ONE_BIT_SET, true},
    {"two bits set of 64 bytes", two_bits_set, TWO_BITS_SET, true},
    {"zeros of all lengths", zeros_of_all_lengths, 2048, true},
    {"lengths of 8 to 1,024", lengths_to_1024, SOME, false},
    {"a number in the middle", number_in_the_middle, SOME, false},
    {"embedded NUL", embedded_nul, SOME, false},
    {"multiples of 512", multiples_of_512, SOME, false},
    {"multiples of 2^24", multiples_of_2_to_24, SOME, false},
    {"multiples of a prime", multiples_of_a_prime, SOME, false},
    {"an IPv4 range as text", ipv4_ranges, IPV4_RANGE, false},
    {"an IPv6 range", ipv6_range, SOME, false},
    {"Gray code", gray_code, SOME, false},
    {"doubles", doubles, SOME, false},
    {"one bit away from a member", neighbours, SOME, true},
};

#define FAMILIES COUNT(families)

/* ---- one family, one layout, one hash -------------------------------------------------------- */

struct layout {
    uint32_t scheme;
    uint32_t lines_per_key;
    double bits_per_key;
    uint32_t hashes;
};

static const struct layout layouts[] = {{PETAL_SCHEME_BLOCKED, 1, 10, 6},
                                        {PETAL_SCHEME_BLOCKED, 2, 12, 8},
                                        {PETAL_SCHEME_CLASSIC, 0, 9.6, 7}};

static uint64_t members_of(const struct family *family)
{
    return family->count < 100000 ? family->count / 2 : 20000;
}

static uint64_t queries_of(const struct family *family)
{
    uint64_t members = members_of(family), left = family->count - members;
    if (family->interleaved && family->count < SOME)
        return family->count / 2 < 300000 ? family->count / 2 : 300000;
    return left < 300000 ? left : 300000;
}

/* member() returns the number of the i-th key to add, and absent() the number of the i-th absent
 * key. */
static uint64_t member(const struct family *family, uint64_t i)
{
    return family->interleaved ? 2 * i : i;
}

static uint64_t absent(const struct family *family, uint64_t i)
{
    return family->interleaved ? 2 * i + 1 : members_of(family) + i;
}

static void fill(petal_filter *filter, const struct family *family)
{
    uint8_t key[LONGEST];
    for (uint64_t i = 0; i < members_of(family); i++)
        petal_add(filter, key, family->key(member(family, i), key));
    for (uint64_t i = 0; i < members_of(family); i++)
        require(petal_contains(filter, key, family->key(member(family, i), key)),
                "%s: key %llu is a false negative", family->name, (unsigned long long)i);
}

static double z_of(double hits, double queries, double rate)
{
    return (hits - queries * rate) / sqrt(queries * rate * (1 - rate));
}

/* Queries absent keys from the family and returns the z-score of the number of hits. */
static double ask(const petal_filter *filter, const struct family *family, double rate)
{
    uint8_t key[LONGEST];
    uint64_t hits = 0, queries = queries_of(family);
    for (uint64_t i = 0; i < queries; i++)
        hits += petal_contains(filter, key, family->key(absent(family, i), key));
    return z_of((double)hits, (double)queries, rate);
}

static petal_filter *filter_for(const struct layout *layout, bool keyed, uint64_t keys)
{
    petal_options options =
        options_of(layout->scheme, (uint64_t)(layout->bits_per_key * (double)keys) + 1,
                   layout->hashes, layout->lines_per_key);
    options.secret = keyed ? secret : NULL;
    return create(&options);
}

static void run_all(bool keyed)
{
    for (size_t f = 0; f < FAMILIES; f++) {
        double z[COUNT(layouts)];
        for (size_t l = 0; l < COUNT(layouts); l++) {
            petal_filter *filter = filter_for(&layouts[l], keyed, members_of(&families[f]));
            fill(filter, &families[f]);
            z[l] = ask(filter, &families[f], stats_of(filter).estimated_rate);
            petal_free(filter);
            require(fabs(z[l]) < 6, "%s, layout %zu, %s: z = %.2f", families[f].name, l,
                    keyed ? "siphash" : "xxh3", z[l]);
        }
        printf("# %-38s %-7s %7llu asked, z %+5.2f %+5.2f %+5.2f\n", families[f].name,
               keyed ? "siphash" : "xxh3", (unsigned long long)queries_of(&families[f]), z[0], z[1],
               z[2]);
    }
}

static void no_family_of_keys_is_worse_than_random_under_xxh3(void **state)
{
    (void)state;
    run_all(false);
}

static void no_family_of_keys_is_worse_than_random_under_siphash(void **state)
{
    (void)state;
    run_all(true);
}

/* Queries the members of a family and returns the z-score of the number of hits. */
static double z_of_members(const petal_filter *filter, const struct family *family, double rate)
{
    uint8_t key[LONGEST];
    uint64_t hits = 0, asked = members_of(family);
    for (uint64_t i = 0; i < asked; i++)
        hits += petal_contains(filter, key, family->key(member(family, i), key));
    return z_of((double)hits, (double)asked, rate);
}

/* Even if two filters have the same seed, the keys of one filter must look random to the other. */
static void members_of_one_filter_are_strangers_to_another_of_the_same_seed(void **state)
{
    (void)state;
    const struct family *mine = &families[13]; /* the only family of email addresses */
    for (size_t l = 0; l < COUNT(layouts); l++) {
        petal_filter *filter = filter_for(&layouts[l], false, members_of(mine));
        fill(filter, mine);
        double rate = stats_of(filter).estimated_rate;
        for (size_t f = 0; f < FAMILIES; f++) {
            double z = &families[f] == mine ? 0 : z_of_members(filter, &families[f], rate);
            require(fabs(z) < 6, "%s, layout %zu: z = %.2f", families[f].name, l, z);
        }
        petal_free(filter);
    }
}

/* Queries all short strings, and counts the hits among those that were not added. */
static void all_strings_of_0_to_3_bytes_are_asked(void **state)
{
    (void)state;
    const uint64_t members = 50000;
    for (size_t l = 0; l < COUNT(layouts); l++)
        for (int keyed = 0; keyed <= 1; keyed++) {
            uint8_t key[8];
            uint64_t hits = 0;
            petal_filter *filter = filter_for(&layouts[l], keyed, members);
            for (uint64_t i = 0; i < members; i++)
                petal_add(filter, key, short_strings(335 * i, key));
            for (uint64_t i = 0; i < SHORT_STRINGS; i++)
                hits += petal_contains(filter, key, short_strings(i, key));
            double z = z_of((double)(hits - members), (double)(SHORT_STRINGS - members),
                            stats_of(filter).estimated_rate);
            printf("# all strings of 0 to 3 bytes, layout %zu, %s: %llu hits, z %+.2f\n", l,
                   keyed ? "siphash" : "xxh3", (unsigned long long)(hits - members), z);
            require(fabs(z) < 6, "layout %zu, %s: z = %.2f", l, keyed ? "siphash" : "xxh3", z);
            petal_free(filter);
        }
}

static int ascending(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(XXH128_hash_t));
}

static void the_keys_of_a_family_are_distinct(void **state)
{
    (void)state;
    struct bytes memory = new_bytes(400000 * sizeof(XXH128_hash_t));
    XXH128_hash_t *prints = (XXH128_hash_t *)(void *)memory.data;
    for (size_t f = 0; f < FAMILIES; f++) {
        uint8_t key[LONGEST];
        uint64_t count = 0, members = members_of(&families[f]), queries = queries_of(&families[f]);
        for (uint64_t i = 0; i < members; i++)
            prints[count++] = XXH3_128bits(key, families[f].key(member(&families[f], i), key));
        for (uint64_t i = 0; i < queries; i++)
            prints[count++] = XXH3_128bits(key, families[f].key(absent(&families[f], i), key));
        qsort(prints, count, sizeof *prints, ascending);
        for (uint64_t i = 1; i < count; i++)
            require(ascending(&prints[i - 1], &prints[i]) != 0, "%s: a key comes twice",
                    families[f].name);
    }
    free(memory.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_keys_of_a_family_are_distinct),
        cmocka_unit_test(no_family_of_keys_is_worse_than_random_under_xxh3),
        cmocka_unit_test(no_family_of_keys_is_worse_than_random_under_siphash),
        cmocka_unit_test(members_of_one_filter_are_strangers_to_another_of_the_same_seed),
        cmocka_unit_test(all_strings_of_0_to_3_bytes_are_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
