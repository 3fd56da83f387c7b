/* kernels.c - proves that every kernel that this CPU can run sets and tests exactly the same bits
 * as the generic kernel: for every scheme, key by key and in batches, for every number of hashes,
 * with one and with two lines per key. Every kernel must also compute the same rate from the same
 * bits. The fast remainders that foreign schemes use must be exact. */
#include "../amount.h"
#include "base/cpu.h"
#include "base/divide.h"
#include "base/memory.h"
#include "base/popcount.h"
#include "scheme/scheme.h"
#include "scheme/static.h"
#include "support.h"

#define KEYS 4000u

/* Filter sizes for these keys, from crowded to nearly empty. The largest filter exceeds the cache
 * sizes at which batches switch to another method. */
static const uint64_t line_counts[] = {1, 3, 64, 1000, 40000};

static const struct kernel *generic_of(const struct scheme_def *scheme)
{
    const struct kernel *const *kernel = scheme->kernels;
    while (kernel[1]) kernel++;
    return *kernel;
}

static uint8_t *lines_for(const struct shape *shape)
{
    uint8_t *bytes = aligned_alloc(64, petal_shape_bytes(shape));
    assert_non_null(bytes);
    memset(bytes, 0, petal_shape_bytes(shape));
    return bytes;
}

/* Splits keys into parts, as a builder does for the regions of a filter. All parts together must
 * set the same bits as the keys, and each part must contain the number of its line. */
static void compare_parts(const struct kernel *kernel, const struct bit_array *wanted,
                          const uint64_t *hashes)
{
    static uint64_t words[KEYS], lines[KEYS];
    const struct shape *shape = &wanted->shape;
    struct bit_array array = {.shape = *shape,
                              .hash_words = 1,
                              .bytes = lines_for(shape),
                              .size_bytes = wanted->size_bytes};
    const struct parts *parts = kernel->parts;
    require(parts->kinds(shape) == shape->lines_per_key && parts->words(shape) == 1, "%s: parts",
            kernel->name);
    for (uint32_t kind = 0; kind < parts->kinds(shape); kind++) {
        parts->split(&array, kind, hashes, KEYS, words, lines);
        for (size_t i = 0; i < KEYS; i += KEYS / 4) { /* clears the line, and adds a single part */
            uint8_t line[64], rest = 0;
            uint8_t *at = array.bytes + lines[i] * 64;
            memcpy(line, at, 64);
            memset(at, 0, 64);
            parts->add(&array, kind, words + i, 1);
            for (size_t byte = 0; byte < 64; byte++) rest |= at[byte];
            require(rest != 0, "%s: a part outside its line, k %u", kernel->name, shape->hashes);
            for (size_t byte = 0; byte < 64; byte++) at[byte] |= line[byte];
        }
        parts->add(&array, kind, words, KEYS);
    }
    require(memcmp(array.bytes, wanted->bytes, wanted->size_bytes) == 0, "%s: bits of parts, k %u",
            kernel->name, shape->hashes);
    free(array.bytes);
}

/* Adds the same keys with both kernels, and then queries these keys and absent ones. */
static void compare(const struct kernel *kernel, const struct kernel *generic,
                    const struct shape *shape, uint64_t seed)
{
    static uint64_t hashes[2 * KEYS];
    static uint8_t one[2 * KEYS], many[2 * KEYS], wanted[2 * KEYS];
    uint64_t size = petal_shape_bytes(shape), state = seed;
    struct bit_array a = {.shape = *shape,
                          .hash_words = 1,
                          .bytes = lines_for(shape),
                          .size_bytes = size,
                          .modulus = divisor_of(shape->bits)},
                     b = a, c = a;
    b.bytes = lines_for(shape);
    c.bytes = lines_for(shape);
    for (size_t i = 0; i < 2 * KEYS; i++) hashes[i] = next_random(&state);
    for (size_t i = 0; i < KEYS; i++) {
        wanted[i] = generic->add(&a, &hashes[i]);
        one[i] = kernel->add(&b, &hashes[i]);
    }
    kernel->add_many(&c, hashes, KEYS, many);
    require(memcmp(one, wanted, KEYS) == 0 && memcmp(many, wanted, KEYS) == 0,
            "%s: what was new, k %u, seed %llu", kernel->name, shape->hashes,
            (unsigned long long)seed);
    require(memcmp(b.bytes, a.bytes, size) == 0 && memcmp(c.bytes, a.bytes, size) == 0,
            "%s: bits, k %u, seed %llu", kernel->name, shape->hashes, (unsigned long long)seed);
    if (kernel->parts) compare_parts(kernel, &a, hashes);
    for (size_t i = 0; i < 2 * KEYS; i++) {
        wanted[i] = generic->contains(&a, &hashes[i]);
        one[i] = kernel->contains(&a, &hashes[i]);
    }
    kernel->contains_many(&a, hashes, 2 * KEYS, many);
    require(memcmp(one, wanted, 2 * KEYS) == 0 && memcmp(many, wanted, 2 * KEYS) == 0,
            "%s: answers, k %u, seed %llu", kernel->name, shape->hashes, (unsigned long long)seed);
    free(a.bytes);
    free(b.bytes);
    free(c.bytes);
}

static void every_kernel_of_blocked_is_bit_equal_to_the_generic_one(void **state)
{
    const struct scheme_def *scheme = petal_scheme_find(PETAL_SCHEME_BLOCKED);
    uint64_t compared = 0;
    (void)state;
    for (const struct kernel *const *kernel = scheme->kernels; *kernel; kernel++) {
        if (!kernel_is_usable(*kernel)) {
            print_message("# this CPU has no %s\n", (*kernel)->name);
            continue;
        }
        for (size_t i = 0; i < sizeof line_counts / sizeof *line_counts; i++)
            for (uint32_t lines = 1; lines <= 2; lines++)
                for (uint32_t k = lines; k <= 16 * lines; k++) {
                    struct shape shape = {PETAL_SCHEME_BLOCKED, k, lines, 512 * line_counts[i]};
                    compare(*kernel, generic_of(scheme), &shape,
                            1000 * line_counts[i] + 40 * lines + k);
                    compared += 2 * KEYS;
                }
        print_message("# %s\n", (*kernel)->name);
    }
    print_message("# %llu keys compared\n", (unsigned long long)compared);
}

/* Computes the line's false-positive rate by definition: the products of the fill rates of a
 * pattern's words, summed over all patterns with half of the strides. blocked.c explains the
 * formula. */
static double rates_by_definition(const uint8_t *line, uint32_t hashes)
{
    double sum = 0;
    for (uint32_t start = 0; start < 16; start++)
        for (uint32_t stride = 1; stride < 8; stride += 2) {
            double product = 1;
            for (uint32_t i = 0; i < hashes; i++)
                product *= popcount32(load32le(line + (start + i * stride) % 16 * 4)) / 32.0;
            sum += product;
        }
    return sum;
}

static void require_rates(const struct kernel *kernel, const struct kernel *generic,
                          const uint8_t *const *lines, uint32_t hashes)
{
    double got[PETAL_RATE_LINES] = {0}, wanted[PETAL_RATE_LINES] = {0};
    kernel->add_rates(lines, hashes, got);
    generic->add_rates(lines, hashes, wanted);
    for (size_t i = 0; i < PETAL_RATE_LINES; i++) {
        double defined = rates_by_definition(lines[i], hashes);
        require(got[i] == wanted[i], "%s, k %u: %.17g, generic %.17g", kernel->name, hashes, got[i],
                wanted[i]);
        require(fabs(got[i] - defined) <= 1e-14 * defined, "%s, k %u: %.17g, defined %.17g",
                kernel->name, hashes, got[i], defined);
    }
    kernel->add_rates(lines, hashes, got);
    for (size_t i = 0; i < PETAL_RATE_LINES; i++)
        require(fabs(got[i] - 2 * wanted[i]) <= 1e-14 * got[i],
                "%s, k %u: %.17g is no sum of %.17g", kernel->name, hashes, got[i], wanted[i]);
}

/* Tests lines from empty to full, at any address, with each number of hashes. */
static void every_kernel_finds_the_rate_of_given_bits(void **state)
{
    const struct scheme_def *scheme = petal_scheme_find(PETAL_SCHEME_BLOCKED);
    static uint8_t bytes[PETAL_RATE_LINES * 67];
    const uint8_t *lines[PETAL_RATE_LINES];
    uint64_t random = 11;
    (void)state;
    for (uint32_t round = 0; round < 200; round++) {
        for (size_t i = 0; i < PETAL_RATE_LINES; i++) {
            uint8_t *line = bytes + i * 67 + next_random(&random) % 3;
            uint64_t density = next_random(&random) % 257; /* out of 256 */
            for (uint32_t bit = 0; bit < 512; bit++) {
                uint8_t mask = (uint8_t)(1u << bit % 8),
                        is_set = next_random(&random) % 256 < density;
                line[bit / 8] = (uint8_t)((line[bit / 8] & ~mask) | (is_set ? mask : 0));
            }
            if (round == 0) memset(line, 255, 64);
            if (round == 1) memset(line, 0, 64);
            lines[i] = line;
        }
        for (const struct kernel *const *kernel = scheme->kernels; *kernel; kernel++)
            for (uint32_t k = 1; k <= 16 && kernel_is_usable(*kernel); k++)
                require_rates(*kernel, generic_of(scheme), lines, k);
    }
}

/* The total number of keys per kernel, for all numbers of hashes together: 100 million in ./dev
 * nightly, otherwise 2 million. Builds with sanitizers use a hundredth of that number. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__) || !defined(__OPTIMIZE__)
#define BULK ((uint64_t)1000000)
#else
#define BULK ((uint64_t)100000000)
#endif
#define BULK_PIECE 1024u

/* Adds half of the hashes with both kernels, and queries all of them. */
static void compare_in_bulk(const struct kernel *kernel, const struct kernel *generic,
                            const struct shape *shape, uint64_t keys, uint64_t *state)
{
    static uint64_t hashes[BULK_PIECE];
    static uint8_t got[BULK_PIECE], wanted[BULK_PIECE];
    uint64_t size = petal_shape_bytes(shape);
    struct bit_array a = {
        .shape = *shape, .hash_words = 1, .bytes = lines_for(shape), .size_bytes = size};
    struct bit_array b = {
        .shape = *shape, .hash_words = 1, .bytes = lines_for(shape), .size_bytes = size};
    for (uint64_t done = 0; done < keys; done += BULK_PIECE) {
        for (size_t i = 0; i < BULK_PIECE; i++) hashes[i] = next_random(state);
        size_t wanted_new = generic->add_many(&a, hashes, BULK_PIECE / 2, wanted);
        size_t got_new = kernel->add_many(&b, hashes, BULK_PIECE / 2, got);
        require(got_new == wanted_new && memcmp(got, wanted, BULK_PIECE / 2) == 0, "%s: new, k %u",
                kernel->name, shape->hashes);
        size_t wanted_in = generic->contains_many(&a, hashes, BULK_PIECE, wanted);
        size_t got_in = kernel->contains_many(&b, hashes, BULK_PIECE, got);
        require(got_in == wanted_in && memcmp(got, wanted, BULK_PIECE) == 0, "%s: answers, k %u",
                kernel->name, shape->hashes);
    }
    require(memcmp(a.bytes, b.bytes, size) == 0, "%s: bits, k %u", kernel->name, shape->hashes);
    free(a.bytes);
    free(b.bytes);
}

static void keys_by_the_million_are_the_same_to_every_kernel(void **state)
{
    const struct scheme_def *scheme = petal_scheme_find(PETAL_SCHEME_BLOCKED);
    uint64_t seed = 2026, each = (is_nightly() ? BULK : BULK / 50) / 47 +
                                 1; /* there are 47 shapes: 16 with one line, 31 with two */
    (void)state;
    for (const struct kernel *const *kernel = scheme->kernels; *kernel != generic_of(scheme);
         kernel++) {
        if (!kernel_is_usable(*kernel)) continue;
        for (uint32_t lines = 1; lines <= 2; lines++)
            for (uint32_t k = lines; k <= 16 * lines; k++) {
                uint64_t bits = each * k * 3 / 4 / 512 * 512 + 512; /* half full at the end */
                struct shape shape = {PETAL_SCHEME_BLOCKED, k, lines, bits};
                compare_in_bulk(*kernel, generic_of(scheme), &shape, each, &seed);
            }
        print_message("# %s: %llu keys\n", (*kernel)->name, 47 * (unsigned long long)each);
    }
}

/* ---- several layers -------------------------------------------------------------------------- */

/* The arrays have unused memory between them. So their distance differs from their size, as in a
 * real filter. */
struct padded {
    struct bit_array array;
    uint64_t other[3];
};
#define MOST_LAYERS 70u /* more than a file may contain */

/* Each layer contains its own keys, and uses more hashes than the previous layer; the first layer
 * uses `hashes`. Keys of the last layer use `lines_of_last` lines. */
static void make_layers(struct padded *layers, uint32_t count, uint64_t lines, uint32_t hashes,
                        uint32_t lines_of_last, const uint64_t *keys)
{
    const struct kernel *generic = generic_of(petal_scheme_find(PETAL_SCHEME_BLOCKED));
    for (uint32_t i = 0; i < count; i++) {
        struct shape shape = {PETAL_SCHEME_BLOCKED, (hashes + i) % 15 + 2,
                              i + 1 == count ? lines_of_last : 1, 512 * (lines + i)};
        layers[i].array = (struct bit_array){.shape = shape,
                                             .hash_words = 1,
                                             .bytes = lines_for(&shape),
                                             .size_bytes = petal_shape_bytes(&shape)};
        for (size_t j = i; j < KEYS / 2; j += count) generic->add(&layers[i].array, &keys[j]);
    }
}

static void compare_layers(const struct kernel *kernel, const struct padded *made, uint32_t count,
                           const uint64_t *keys)
{
    static uint8_t wanted[KEYS], got[KEYS];
    const struct kernel *generic = generic_of(petal_scheme_find(PETAL_SCHEME_BLOCKED));
    struct arrays layers = {&made->array, sizeof *made, count};
    for (size_t i = 0; i < KEYS; i++) {
        wanted[i] = 0;
        for (uint32_t j = 0; j < count; j++)
            wanted[i] |= generic->contains(&made[j].array, &keys[i]);
        require(kernel->any_contains(&layers, &keys[i]) == wanted[i], "%s: key %zu in %u layers",
                kernel->name, i, count);
    }
    for (size_t at = 0, part = 1; at < KEYS; at += part++) { /* queries 1, 2, 3 ... keys */
        size_t sum = 0;
        if (part > KEYS - at) part = KEYS - at;
        for (size_t i = at; i < at + part; i++) sum += wanted[i];
        require(kernel->any_contains_many(&layers, keys + at, part, got) == sum &&
                    memcmp(got, wanted + at, part) == 0,
                "%s: %zu keys from %zu on, in %u layers", kernel->name, part, at, count);
    }
}

static void every_kernel_finds_keys_in_several_layers_as_in_each_of_them(void **state)
{
    static const uint32_t counts[] = {0, 1, 2, 5, 8, 64, 65, MOST_LAYERS};
    static struct padded layers[MOST_LAYERS];
    static uint64_t keys[KEYS];
    uint64_t random = 5;
    (void)state;
    for (size_t i = 0; i < KEYS; i++) keys[i] = next_random(&random);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (uint32_t form = 0; form < 4; form++) { /* small or large; one line or two */
            uint32_t count = counts[i];
            make_layers(layers, count, form % 2 ? 9000 : 2, count + 3 * form, form / 2 + 1, keys);
            const struct kernel *const *kernel = petal_scheme_find(PETAL_SCHEME_BLOCKED)->kernels;
            for (; *kernel; kernel++)
                if (kernel_is_usable(*kernel) && (*kernel)->any_contains)
                    compare_layers(*kernel, layers, count, keys);
            for (uint32_t j = 0; j < count; j++) free(layers[j].array.bytes);
        }
}

static void every_kernel_of_parquet_is_bit_equal_to_the_generic_one(void **state)
{
    const struct scheme_def *scheme = petal_scheme_find(PETAL_SCHEME_PARQUET);
    (void)state;
    for (const struct kernel *const *kernel = scheme->kernels; *kernel; kernel++) {
        if (!kernel_is_usable(*kernel)) {
            print_message("# this CPU has no %s\n", (*kernel)->name);
            continue;
        }
        for (size_t i = 0; i < sizeof line_counts / sizeof *line_counts; i++) {
            struct shape shape = {PETAL_SCHEME_PARQUET, 8, 0, 512 * line_counts[i]};
            compare(*kernel, generic_of(scheme), &shape, line_counts[i]);
        }
        print_message("# %s\n", (*kernel)->name);
    }
}

static void a_line_at_any_address_works_as_well(void **state)
{
    uint8_t memory[64 * 9];
    uint64_t seed = 7;
    (void)state;
    struct shape shape = {PETAL_SCHEME_BLOCKED, 6, 1, 512 * 8};
    const struct kernel *kernel = petal_scheme_kernel(petal_scheme_find(PETAL_SCHEME_BLOCKED));
    for (size_t shift = 0; shift < 64; shift++) {
        struct bit_array array = {.shape = shape,
                                  .hash_words = 1,
                                  .bytes = memory + shift,
                                  .size_bytes = 512,
                                  .modulus = divisor_of(shape.bits)};
        memset(memory, 0, sizeof memory);
        for (int i = 0; i < 20; i++) {
            uint64_t hash = next_random(&seed);
            kernel->add(&array, &hash);
            assert_true(kernel->contains(&array, &hash));
        }
    }
}

/* ---- batches of schemes that use walk.inc; each foreign scheme is its own generic kernel ----- */

/* Adds and queries keys one by one and in a batch. The filter is crowded enough that some keys are
 * new and others are not, and large enough that batches prefetch. */
static void compare_batches(const struct scheme_def *scheme, struct shape shape, uint32_t words,
                            uint64_t seed)
{
    static uint64_t hashes[2 * KEYS * 8];
    static uint8_t one[2 * KEYS], many[2 * KEYS];
    const struct kernel *kernel = petal_scheme_kernel(scheme);
    uint64_t size = petal_shape_bytes(&shape), state = seed;
    struct bit_array a = {.shape = shape,
                          .hash_words = words,
                          .bytes = new_bytes(size).data,
                          .size_bytes = size,
                          .modulus = divisor_of(shape.bits)},
                     b = a;
    b.bytes = new_bytes(size).data;
    for (size_t i = 0; i < 2 * KEYS * words; i++) hashes[i] = next_random(&state);
    memcpy(hashes + (KEYS - 7) * words, hashes,
           7 * words * sizeof *hashes); /* only the first of equal keys is new */
    size_t sum = kernel->add_many(&b, hashes, KEYS, many), wanted = 0;
    for (size_t i = 0; i < KEYS; i++) wanted += one[i] = kernel->add(&a, hashes + i * words);
    require(sum == wanted && memcmp(one, many, KEYS) == 0 && memcmp(a.bytes, b.bytes, size) == 0,
            "%s: adding, m %llu, k %u", scheme->name, (unsigned long long)shape.bits, shape.hashes);
    /* One half or three quarters of the bits are set, so that the number of bits that a query tests
     * varies. */
    memset(a.bytes, seed % 2 ? 0x55 : 0x77, size);
    sum = kernel->contains_many(&a, hashes, 2 * KEYS, many), wanted = 0;
    for (size_t i = 0; i < 2 * KEYS; i++)
        wanted += one[i] = kernel->contains(&a, hashes + i * words);
    require(sum == wanted && memcmp(one, many, sizeof one) == 0, "%s: asking, m %llu, k %u",
            scheme->name, (unsigned long long)shape.bits, shape.hashes);
    sum = kernel->contains_many(&b, hashes, KEYS, many);
    require(sum == KEYS, "%s: %zu of %u found, m %llu, k %u", scheme->name, sum, KEYS,
            (unsigned long long)shape.bits, shape.hashes);
    free(a.bytes);
    free(b.bytes);
}

static void a_batch_is_its_keys_one_by_one_near_and_far(void **state)
{
    static const uint32_t schemes[] = {
        PETAL_SCHEME_CLASSIC,      PETAL_SCHEME_GUAVA_MITZ64,
        PETAL_SCHEME_GUAVA_MITZ32, PETAL_SCHEME_SPARK_V1,
        PETAL_SCHEME_SPARK_V2,     PETAL_SCHEME_REDISBLOOM,
        PETAL_SCHEME_DATASKETCHES, PETAL_SCHEME_BITS_AND_BLOOMS,
        PETAL_SCHEME_DCSO,         PETAL_SCHEME_LEVELDB,
        PETAL_SCHEME_ORC,          PETAL_SCHEME_BLOOM_FILTERS,
        PETAL_SCHEME_BLOOMFILTER,  PETAL_SCHEME_JS_TUTORIAL,
        PETAL_SCHEME_HBASE,        PETAL_SCHEME_CASSANDRA,
        PETAL_SCHEME_CASSANDRA_BE, PETAL_SCHEME_CASSANDRA_2,
        PETAL_SCHEME_ROCKSDB,      PETAL_SCHEME_VALKEY_BLOOM,
    };
    static const uint32_t hashes[] = {1, 2, 3, 7, 8, 11, 21};
    static const uint64_t sizes[] = {1u << 15, 1u << 25}; /* 4 KB and 4 MB */
    (void)state;
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        for (size_t k = 0; k < sizeof hashes / sizeof *hashes; k++)
            for (size_t size = 0; size < 2; size++) {
                const struct scheme_def *scheme = petal_scheme_find(schemes[i]);
                compare_batches(scheme, (struct shape){schemes[i], hashes[k], 0, sizes[size]},
                                scheme->hash_words, 100 * i + k);
            }
}

/* ---- static ---------------------------------------------------------------------------------- */

static int in_order(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Sorts the first `count` hashes, and solves every page's equations. */
static void solve(const struct bit_array *array, uint64_t *hashes, uint64_t count)
{
    uint32_t rows = static_page_rows(&array->pages.full);
    uint64_t *own = malloc((size_t)count * sizeof *own);
    struct static_room room = {calloc(rows, 8), calloc(rows, 4), rows};
    assert_true(own && room.rows && room.sums);
    qsort(hashes, (size_t)count, sizeof *hashes, in_order);
    memcpy(own, hashes, (size_t)count * sizeof *own);
    for (uint64_t page = 0, from = 0, to; page <= array->pages.last_number; page++, from = to) {
        to = page == array->pages.last_number
                 ? count
                 : petal_static_page_begin(array, page + 1, own, count);
        petal_static_solve(array, page, own + from, to - from, &room);
    }
    free(room.rows);
    free(room.sums);
    free(own);
}

static void require_turns(const struct kernel *kernel, const struct bit_array *array,
                          const uint64_t *hashes, const uint8_t *wanted, size_t count)
{
    uint8_t *many = malloc(count + 1);
    assert_non_null(many);
    for (size_t at = 0, part = 1; at < count; at += part++) { /* adds 1, 2, 3 ... keys */
        if (part > count - at) part = count - at;
        many[part] = 9;
        kernel->take_turns(array, hashes + at, part, many);
        require(memcmp(many, wanted + at, part) == 0 && many[part] == 9,
                "%s: %zu keys from %zu on, %u columns", kernel->name, part, at,
                array->shape.hashes);
        for (size_t i = at; i < at + part; i += 7)
            require(kernel->take_turn(array, hashes + i) == wanted[i],
                    "%s: key %zu, %u columns, layer %u", kernel->name, i, array->shape.hashes,
                    array->number);
    }
    free(many);
}

/* Queries equal numbers of present and absent keys in a layer whose buckets are all full. */
static void compare_static(uint32_t columns, uint32_t wide, uint64_t buckets, uint64_t seed)
{
    const struct scheme_def *scheme = petal_scheme_find(PETAL_SCHEME_STATIC);
    struct shape shape = {PETAL_SCHEME_STATIC, columns, wide, buckets * STATIC_BUCKET_STARTS};
    assert_int_equal(petal_normalize(&shape, NULL), PETAL_OK);
    struct bit_array array = {.shape = shape,
                              .hash_words = 1,
                              .bytes = lines_for(&shape),
                              .size_bytes = petal_shape_bytes(&shape)};
    size_t keys = (size_t)buckets * STATIC_KEYS_PER_BUCKET, turns[3] = {0};
    uint64_t *hashes = malloc(2 * keys * sizeof *hashes), state = seed;
    uint8_t *wanted = malloc(2 * keys);
    assert_true(hashes && wanted);
    scheme->prepare(&array);
    for (size_t i = 0; i < 2 * keys; i++) hashes[i] = next_random(&state);
    solve(&array, hashes, keys);
    for (size_t i = 0; i < 2 * keys; i++)
        turns[wanted[i] = generic_of(scheme)->take_turn(&array, hashes + i)]++;
    for (size_t i = 0; i < keys; i++) require(wanted[i] != TURN_ABSENT, "key %zu is missed", i);
    for (array.number = 0; array.number < 2; array.number++) {
        for (size_t i = 0; array.number && i < 2 * keys; i++)
            wanted[i] = generic_of(scheme)->take_turn(&array, hashes + i);
        for (const struct kernel *const *kernel = scheme->kernels; *kernel; kernel++)
            if (kernel_is_usable(*kernel)) require_turns(*kernel, &array, hashes, wanted, 2 * keys);
    }
    require(turns[TURN_IN] > keys / 2 && turns[TURN_NEXT] > 0, "%zu in, %zu next", turns[TURN_IN],
            turns[TURN_NEXT]);
    free(array.bytes);
    free(hashes);
    free(wanted);
}

/* The kernel reads a list of hashes block by block if the list is longer than a block. */
static void stretches_of_a_long_list_are_its_blocks(void **state)
{
    const struct scheme_def *scheme = petal_scheme_find(PETAL_SCHEME_STATIC);
    struct shape shape = {PETAL_SCHEME_STATIC, 0, 0, (uint64_t)64 * 20000};
    struct bit_array array = {.shape = shape, .hash_words = 1};
    struct stretch stretch;
    uint64_t at = 0, number = 0;
    (void)state;
    for (; scheme->stretch(&array, 1, number, &stretch); number++) {
        require_that(stretch.offset, ==, at);
        require_that(at / 65536, ==, (at + stretch.size_bytes - 1) / 65536);
        at += stretch.size_bytes;
    }
    require_that(at, ==, 160000);
    require_that(number, ==, 3);
}

static void every_kernel_of_static_gives_the_turns_of_the_generic_one(void **state)
{
    const struct scheme_def *scheme = petal_scheme_find(PETAL_SCHEME_STATIC);
    (void)state;
    for (uint32_t columns = 1; columns <= STATIC_MAX_COLUMNS; columns++)
        for (uint64_t buckets = 1; buckets <= 3; buckets++)
            for (uint32_t wide = 0; wide < 120; wide += 40)
                compare_static(columns, wide, 10 * buckets * buckets, 100 * columns + buckets);
    compare_static(6, 438, 2000, 1); /* several pages */
    compare_static(8, 100, 2000, 2);
    compare_static(7, 0, 20000, 3); /* 2.2 MB, so batches prefetch */
    for (const struct kernel *const *kernel = scheme->kernels; *kernel; kernel++)
        print_message("# %s%s\n", (*kernel)->name,
                      kernel_is_usable(*kernel) ? "" : ": not on this CPU");
}

/* ---- remainders ------------------------------------------------------------------------------ */

static void check_rests(uint64_t by, uint64_t x)
{
    struct divisor divisor = divisor_of(by);
    int64_t as_signed;
    memcpy(&as_signed, &x, sizeof x);
    require(rest_of(x, divisor) == x % by, "%llu mod %llu", (unsigned long long)x,
            (unsigned long long)by);
    uint64_t magnitude = x >> 63 ? 0 - x : x;
    require(signed_rest_of(as_signed, divisor) == magnitude % by, "|%lld| mod %llu",
            (long long)as_signed, (unsigned long long)by);
}

/* Checks values next to every power of two and next to multiples of the divisor, where an
 * off-by-one quotient would show. */
static uint64_t check_near_multiples(uint64_t by)
{
    uint64_t checked = 0;
    for (unsigned power = 0; power < 64; power++) {
        uint64_t x = (uint64_t)1 << power, multiple = x / by * by, top = UINT64_MAX / by * by;
        for (uint64_t near = 0; near < 3; near++, checked += 4) {
            check_rests(by, x + near - 1);
            check_rests(by, multiple + near - 1);
            check_rests(by, top - (multiple / by) * by + near - 1);
            check_rests(by, UINT64_MAX - x + near);
        }
    }
    return checked;
}

static void remainders_are_exact(void **state)
{
    uint64_t seed = 11, checked = 0;
    (void)state;
    for (uint64_t by = 1; by <= 2000; by++) checked += check_near_multiples(by);
    for (unsigned power = 2; power < 64; power++)
        for (uint64_t near = 0; near < 5; near++)
            checked += check_near_multiples(((uint64_t)1 << power) + near - 2);
    for (uint64_t below = 0; below < 100; below++)
        checked += check_near_multiples(UINT64_MAX - below);
    for (int i = 0; i < 10000; i++)
        checked += check_near_multiples((next_random(&seed) >> next_random(&seed) % 64) | 1);
    for (uint64_t i = 0; i < nightly_amount(10000000); i++, checked++) {
        uint64_t by = next_random(&seed) >> next_random(&seed) % 64, x = next_random(&seed);
        check_rests(by ? by : 1, x >> by % 64);
    }
    print_message("# %llu remainders\n", (unsigned long long)checked);
}

/* ---- counting bits --------------------------------------------------------------------------- */

static uint64_t bits_one_by_one(const uint8_t *bytes, uint64_t size_bytes)
{
    uint64_t count = 0;
    for (uint64_t i = 0; i < 8 * size_bytes; i++) count += bytes[i / 8] >> i % 8 & 1;
    return count;
}

static bool is_here(const struct popcount_level *level)
{
#if defined(__x86_64__) && defined(__GNUC__)
    return petal_cpu_has(level->needs);
#else
    return level->needs == 0;
#endif
}

static void compare_counts(const uint8_t *bytes, uint64_t size_bytes)
{
    uint64_t wanted = bits_one_by_one(bytes, size_bytes);
    assert_int_equal(petal_popcount(bytes, size_bytes), wanted);
    for (const struct popcount_level *level = petal_popcount_levels;; level++) {
        uint64_t got = is_here(level) ? level->count(bytes, size_bytes) : wanted;
        require(got == wanted, "%s: %llu of %llu bits in %llu bytes", level->name,
                (unsigned long long)got, (unsigned long long)wanted,
                (unsigned long long)size_bytes);
        if (level->needs == 0) break;
    }
}

/* Tests lengths around each SIMD level's step size, at every alignment and at the end of readable
 * memory. Then tests long arrays of random bits, ones and zeros. */
static void every_level_counts_the_same_bits(void **state)
{
    static uint8_t bytes[70000];
    uint64_t seed = 3;
    (void)state;
    print_message("# %s\n", petal_popcount_level()->name);
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)next_random(&seed);
    for (size_t size = 0; size <= 600; size++) {
        struct bytes exact = copy_bytes(bytes + size, size);
        for (size_t at = 0; at < 33; at++) compare_counts(bytes + at + size, size);
        compare_counts(exact.data, size);
        free(exact.data);
    }
    for (int i = 0; i < 100; i++) {
        uint64_t at = next_random(&seed) % 100, size = next_random(&seed) % (sizeof bytes - 100);
        compare_counts(bytes + at, size);
    }
    memset(bytes, 255, sizeof bytes);
    compare_counts(bytes + 1, sizeof bytes - 1);
    memset(bytes, 0, sizeof bytes);
    compare_counts(bytes, sizeof bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_level_counts_the_same_bits),
        cmocka_unit_test(a_batch_is_its_keys_one_by_one_near_and_far),
        cmocka_unit_test(stretches_of_a_long_list_are_its_blocks),
        cmocka_unit_test(every_kernel_of_static_gives_the_turns_of_the_generic_one),
        cmocka_unit_test(remainders_are_exact),
        cmocka_unit_test(every_kernel_of_blocked_is_bit_equal_to_the_generic_one),
        cmocka_unit_test(every_kernel_finds_the_rate_of_given_bits),
        cmocka_unit_test(keys_by_the_million_are_the_same_to_every_kernel),
        cmocka_unit_test(every_kernel_finds_keys_in_several_layers_as_in_each_of_them),
        cmocka_unit_test(every_kernel_of_parquet_is_bit_equal_to_the_generic_one),
        cmocka_unit_test(a_line_at_any_address_works_as_well),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
