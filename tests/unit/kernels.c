/* Every kernel of every scheme that this CPU can run sets and tests exactly the bits of the generic one, key by key and in
 * batches, at every number of hashes, one line a key and two. */
#include "base/memory.h"
#include "scheme/scheme.h"
#include "support.h"

#define KEYS 4000u

/* Shapes from crowded to roomy, and one that is larger than the caches a batch looks at. */
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

/* The same keys, taken apart as the build by regions does: the same bits, each part in the line it is said to be in. */
static void compare_parts(const struct kernel *kernel, const struct bit_array *wanted, const uint64_t *hashes)
{
    static uint64_t words[KEYS], lines[KEYS];
    const struct shape *shape = &wanted->shape;
    struct bit_array array = {*shape, 1, lines_for(shape), wanted->size_bytes};
    const struct parts *parts = kernel->parts;
    require(parts->kinds(shape) == shape->lines_per_key && parts->words(shape) == 1, "%s: parts", kernel->name);
    for (uint32_t kind = 0; kind < parts->kinds(shape); kind++) {
        parts->split(&array, kind, hashes, KEYS, words, lines);
        for (size_t i = 0; i < KEYS; i += KEYS / 4) { /* one alone, in a line of its own */
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
    require(memcmp(array.bytes, wanted->bytes, wanted->size_bytes) == 0, "%s: bits of parts, k %u", kernel->name,
            shape->hashes);
    free(array.bytes);
}

/* Both add the same keys; then both are asked for them and for others. */
static void compare(const struct kernel *kernel, const struct kernel *generic, const struct shape *shape, uint64_t seed)
{
    static uint64_t hashes[2 * KEYS];
    static uint8_t one[2 * KEYS], many[2 * KEYS], wanted[2 * KEYS];
    uint64_t size = petal_shape_bytes(shape), state = seed;
    struct bit_array a = {*shape, 1, lines_for(shape), size}, b = {*shape, 1, lines_for(shape), size},
                     c = {*shape, 1, lines_for(shape), size};
    for (size_t i = 0; i < 2 * KEYS; i++) hashes[i] = next_random(&state);
    for (size_t i = 0; i < KEYS; i++) {
        wanted[i] = generic->add(&a, &hashes[i]);
        one[i] = kernel->add(&b, &hashes[i]);
    }
    kernel->add_many(&c, hashes, KEYS, many);
    require(memcmp(one, wanted, KEYS) == 0 && memcmp(many, wanted, KEYS) == 0, "%s: what was new, k %u, seed %llu",
            kernel->name, shape->hashes, (unsigned long long)seed);
    require(memcmp(b.bytes, a.bytes, size) == 0 && memcmp(c.bytes, a.bytes, size) == 0, "%s: bits, k %u, seed %llu",
            kernel->name, shape->hashes, (unsigned long long)seed);
    compare_parts(kernel, &a, hashes);
    for (size_t i = 0; i < 2 * KEYS; i++) {
        wanted[i] = generic->contains(&a, &hashes[i]);
        one[i] = kernel->contains(&a, &hashes[i]);
    }
    kernel->contains_many(&a, hashes, 2 * KEYS, many);
    require(memcmp(one, wanted, 2 * KEYS) == 0 && memcmp(many, wanted, 2 * KEYS) == 0, "%s: answers, k %u, seed %llu",
            kernel->name, shape->hashes, (unsigned long long)seed);
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
        if (!(*kernel)->usable()) {
            print_message("# this CPU has no %s\n", (*kernel)->name);
            continue;
        }
        for (size_t i = 0; i < sizeof line_counts / sizeof *line_counts; i++)
            for (uint32_t lines = 1; lines <= 2; lines++)
                for (uint32_t k = lines; k <= 16 * lines; k++) {
                    struct shape shape = {PETAL_SCHEME_BLOCKED, k, lines, 512 * line_counts[i]};
                    compare(*kernel, generic_of(scheme), &shape, 1000 * line_counts[i] + 40 * lines + k);
                    compared += 2 * KEYS;
                }
        print_message("# %s\n", (*kernel)->name);
    }
    print_message("# %llu keys compared\n", (unsigned long long)compared);
}

/* The bulk of the keys: 100 million for each kernel, over all numbers of hashes. Sanitised builds do a hundredth. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__) || !defined(__OPTIMIZE__)
#define BULK ((uint64_t)1000000)
#else
#define BULK ((uint64_t)100000000)
#endif
#define BULK_PIECE 1024u

/* Half of the hashes are added to both; all are asked of both. */
static void compare_in_bulk(const struct kernel *kernel, const struct kernel *generic, const struct shape *shape,
                            uint64_t keys, uint64_t *state)
{
    static uint64_t hashes[BULK_PIECE];
    static uint8_t got[BULK_PIECE], wanted[BULK_PIECE];
    uint64_t size = petal_shape_bytes(shape);
    struct bit_array a = {.shape = *shape, .hash_words = 1, .bytes = lines_for(shape), .size_bytes = size};
    struct bit_array b = {.shape = *shape, .hash_words = 1, .bytes = lines_for(shape), .size_bytes = size};
    for (uint64_t done = 0; done < keys; done += BULK_PIECE) {
        for (size_t i = 0; i < BULK_PIECE; i++) hashes[i] = next_random(state);
        size_t wanted_new = generic->add_many(&a, hashes, BULK_PIECE / 2, wanted);
        size_t got_new = kernel->add_many(&b, hashes, BULK_PIECE / 2, got);
        require(got_new == wanted_new && memcmp(got, wanted, BULK_PIECE / 2) == 0, "%s: new, k %u", kernel->name,
                shape->hashes);
        size_t wanted_in = generic->contains_many(&a, hashes, BULK_PIECE, wanted);
        size_t got_in = kernel->contains_many(&b, hashes, BULK_PIECE, got);
        require(got_in == wanted_in && memcmp(got, wanted, BULK_PIECE) == 0, "%s: answers, k %u", kernel->name,
                shape->hashes);
    }
    require(memcmp(a.bytes, b.bytes, size) == 0, "%s: bits, k %u", kernel->name, shape->hashes);
    free(a.bytes);
    free(b.bytes);
}

static void a_hundred_million_keys_are_the_same_to_every_kernel(void **state)
{
    const struct scheme_def *scheme = petal_scheme_find(PETAL_SCHEME_BLOCKED);
    uint64_t seed = 2026, each = BULK / 47 + 1; /* 16 shapes of one line, 31 of two */
    (void)state;
    for (const struct kernel *const *kernel = scheme->kernels; *kernel != generic_of(scheme); kernel++) {
        if (!(*kernel)->usable()) continue;
        for (uint32_t lines = 1; lines <= 2; lines++)
            for (uint32_t k = lines; k <= 16 * lines; k++) {
                uint64_t bits = each * k * 3 / 4 / 512 * 512 + 512; /* about half full at the end */
                struct shape shape = {PETAL_SCHEME_BLOCKED, k, lines, bits};
                compare_in_bulk(*kernel, generic_of(scheme), &shape, each, &seed);
            }
        print_message("# %s: %llu keys\n", (*kernel)->name, (unsigned long long)BULK);
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
        struct bit_array array = {shape, 1, memory + shift, 512};
        memset(memory, 0, sizeof memory);
        for (int i = 0; i < 20; i++) {
            uint64_t hash = next_random(&seed);
            kernel->add(&array, &hash);
            assert_true(kernel->contains(&array, &hash));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kernel_of_blocked_is_bit_equal_to_the_generic_one),
        cmocka_unit_test(a_hundred_million_keys_are_the_same_to_every_kernel),
        cmocka_unit_test(a_line_at_any_address_works_as_well),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
