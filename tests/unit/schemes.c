/* schemes.c - proves that in every scheme a hash sets and tests exactly the bits that the
 * specification requires.
 *
 * The tests compare the library with three references: the positions in vectors/schemes, computed
 * by a Python program; a readable implementation in C (reference.h); and the textbook's 11-bit
 * filter, computed by hand. */
#include "image.h"
#include "reference.h"

/* ---- the vectors ----------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

/* Sorts the positions, and removes repeats. */
static uint32_t distinct(uint64_t *positions, uint32_t count)
{
    uint32_t kept = 0;
    qsort(positions, count, sizeof *positions, ascending);
    for (uint32_t i = 0; i < count; i++)
        if (kept == 0 || positions[i] != positions[kept - 1]) positions[kept++] = positions[i];
    return kept;
}

static void require_reference_agrees(const struct row *row)
{
    uint64_t positions[MAX_POSITIONS];
    reference_positions(row->scheme, row->bits, row->hashes, row->lines, row->hash, positions);
    uint32_t count = distinct(positions, row->hashes);
    require(count == row->position_count &&
                memcmp(positions, row->positions, count * sizeof *positions) == 0,
            "m = %llu, k = %u, hash %016llx", (unsigned long long)row->bits, row->hashes,
            (unsigned long long)row->hash);
}

/* After a hash is added to an empty filter, exactly the row's bits must be set. */
static void require_library_agrees(const struct row *row)
{
    petal_filter *filter = make(row->scheme, row->bits, row->hashes, row->lines);
    assert_int_equal(petal_add_hash(filter, row->hash), PETAL_OK);
    struct bytes image = serialized(filter);
    const uint8_t *payload = payload_of(image);
    for (uint32_t i = 0; i < row->position_count; i++)
        require(bit_at(payload, row->positions[i]),
                "bit %llu of m = %llu, k = %u, hash %016llx is clear",
                (unsigned long long)row->positions[i], (unsigned long long)row->bits, row->hashes,
                (unsigned long long)row->hash);
    assert_int_equal(stats_of(filter).bits_set, row->position_count);
    free(image.data);
    petal_free(filter);
}

static void the_reference_gives_the_published_positions(void **state)
{
    (void)state;
    assert_int_equal(for_each_row(0, UINT64_MAX, require_reference_agrees), 312);
}

static void the_library_sets_the_published_positions(void **state)
{
    (void)state;
    assert_int_equal(for_each_row(0, 1 << 24, require_library_agrees),
                     192); /* larger: tests/unit/width.c */
}

/* ---- the reference, at many sizes ------------------------------------------------------------ */

/* Batch calls use their own kernels, which must find the same bits. */
static void require_batches_agree(const petal_filter *filter, struct bytes bits, struct row shape,
                                  uint64_t seed)
{
    uint64_t hashes[100], positions[MAX_POSITIONS], state = seed;
    uint8_t found[100], was_new[100];
    petal_filter *empty = make(shape.scheme, shape.bits, shape.hashes, shape.lines),
                 *one_by_one = clone_of(empty);
    for (size_t i = 0; i < 100; i++) hashes[i] = next_random(&state);
    contains_hashes(filter, hashes, 100, found);
    assert_int_equal(add_hash_batch(empty, hashes, 100, was_new, NULL), PETAL_OK);
    for (size_t i = 0; i < 100; i++) {
        reference_positions(shape.scheme, shape.bits, shape.hashes, shape.lines, hashes[i],
                            positions);
        require(found[i] == reference_contains(bits.data, positions, shape.hashes) &&
                    was_new[i] == (petal_add_hash(one_by_one, hashes[i]) == PETAL_OK),
                "m = %llu, k = %u, %u lines: hash %016llx in a batch",
                (unsigned long long)shape.bits, shape.hashes, shape.lines,
                (unsigned long long)hashes[i]);
    }
    require(same_image(empty, one_by_one),
            "m = %llu, k = %u, %u lines, seed %llu: a batch sets other bits",
            (unsigned long long)shape.bits, shape.hashes, shape.lines, (unsigned long long)seed);
    petal_free(empty);
    petal_free(one_by_one);
}

/* Adds hashes to the library's filter and to the reference, and queries both filters, until about
 * half of the bits are set. */
static void compare(uint32_t scheme, uint64_t m, uint32_t k, uint32_t lines, uint64_t seed)
{
    uint64_t positions[MAX_POSITIONS], state = seed, keys = m / k + 1 < 300 ? m / k + 1 : 300;
    struct bytes bits = new_bytes((size_t)(m / 8 + 64));
    petal_filter *filter = make(scheme, m, k, lines);
    for (uint64_t i = 0; i < 2 * keys; i++) {
        uint64_t hash = next_random(&state);
        reference_positions(scheme, m, k, lines, hash, positions);
        bool found = reference_contains(bits.data, positions, k);
        require(petal_contains_hash(filter, hash) == found,
                "m = %llu, k = %u, %u lines, seed %llu: hash %016llx", (unsigned long long)m, k,
                lines, (unsigned long long)seed, (unsigned long long)hash);
        if (i % 2) continue; /* adds only every other hash */
        bool changed = reference_add(bits.data, positions, k);
        require(petal_add_hash(filter, hash) == (changed ? PETAL_OK : PETAL_SEEN) &&
                    changed == !found,
                "m = %llu, k = %u, %u lines, seed %llu: adding %016llx", (unsigned long long)m, k,
                lines, (unsigned long long)seed, (unsigned long long)hash);
    }
    require_batches_agree(
        filter, bits, (struct row){.scheme = scheme, .bits = m, .hashes = k, .lines = lines}, seed);
    struct bytes image = serialized(filter);
    require(memcmp(payload_of(image), bits.data, (size_t)((m + 7) / 8)) == 0,
            "m = %llu, k = %u, %u lines, seed %llu: the bits differ", (unsigned long long)m, k,
            lines, (unsigned long long)seed);
    free(image.data);
    free(bits.data);
    petal_free(filter);
}

static void classic_is_the_reference_at_every_k_and_many_m(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {1,   2,    3,    7,    8,     9,      11,
                                     63,  64,   65,   100,  511,   512,    513,
                                     997, 1024, 4095, 4097, 65536, 100003, 1048577};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (uint32_t k = 1; k <= 64; k++)
            compare(PETAL_SCHEME_CLASSIC, sizes[i], k, 0, 1000 * i + k);
}

static void blocked_is_the_reference_at_every_k_and_many_m(void **state)
{
    (void)state;
    static const uint64_t lines[] = {1,  2,  3,   4,   5,   7,   8,    9,    15,
                                     16, 17, 100, 127, 128, 129, 1000, 2047, 2049};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        for (uint32_t k = 1; k <= 16; k++)
            compare(PETAL_SCHEME_BLOCKED, 512 * lines[i], k, 1, 1000 * i + k);
        for (uint32_t k = 2; k <= 32; k++)
            compare(PETAL_SCHEME_BLOCKED, 512 * lines[i], k, 2, 2000 * i + k);
    }
}

static void a_key_sets_one_bit_in_each_of_k_distinct_words_of_a_line(void **state)
{
    (void)state;
    uint64_t seed = 5, random = seed, positions[MAX_POSITIONS];
    for (uint32_t k = 1; k <= 16; k++)
        for (int i = 0; i < 500; i++) {
            uint32_t words = 0;
            reference_positions(PETAL_SCHEME_BLOCKED, 512 * 1000, k, 1, next_random(&random),
                                positions);
            for (uint32_t j = 0; j < k; j++) {
                words |= 1u << positions[j] % 512 / 32;
                require(positions[j] / 512 == positions[0] / 512, "k = %u, seed %llu", k,
                        (unsigned long long)seed);
            }
            uint32_t count = 0;
            for (; words; words &= words - 1) count++;
            require(count == k, "k = %u, seed %llu", k, (unsigned long long)seed);
        }
}

static void bits_of_blocked_are_rounded_up_to_whole_lines(void **state)
{
    (void)state;
    static const uint64_t asked[] = {1, 11, 511, 512, 513, 1024, 1025},
                          wanted[] = {512, 512, 512, 512, 1024, 1024, 1536};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        petal_filter *filter = make(PETAL_SCHEME_BLOCKED, asked[i], 4, 1);
        assert_int_equal(info_of(filter).bits, wanted[i]);
        assert_int_equal(info_of(filter).bytes, wanted[i] / 8);
        petal_free(filter);
    }
}

static void bits_of_classic_are_exactly_those_asked(void **state)
{
    (void)state;
    static const uint64_t asked[] = {1, 11, 511, 512, 513, 1024, 1025},
                          bytes[] = {64, 64, 64, 64, 128, 128, 192};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        petal_filter *filter = make(PETAL_SCHEME_CLASSIC, asked[i], 4, 0);
        assert_int_equal(info_of(filter).bits, asked[i]);
        assert_int_equal(info_of(filter).bytes, bytes[i]);
        petal_free(filter);
    }
}

static void k_above_16_in_one_go_means_two_lines(void **state)
{
    (void)state;
    petal_filter *one = make(PETAL_SCHEME_BLOCKED, 5120, 16, 0),
                 *two = make(PETAL_SCHEME_BLOCKED, 5120, 17, 0);
    assert_int_equal(info_of(one).lines_per_key, 1);
    assert_int_equal(info_of(two).lines_per_key, 2);
    petal_free(one);
    petal_free(two);
}

/* ---- the textbook ---------------------------------------------------------------------------- */

static petal_filter *textbook_filter(void)
{
    petal_options options = options_of(PETAL_SCHEME_CLASSIC, 11, 2, 0);
    options.seed = 197072;
    return create(&options);
}

/* Computes the two bit positions of a one-letter key, in the order in which the scheme generates
 * them. */
static void textbook_bits(const petal_filter *filter, char letter, uint64_t bits[2])
{
    reference_positions(PETAL_SCHEME_CLASSIC, 11, 2, 0, petal_hash_key(filter, &letter, 1), bits);
}

static void the_textbook_filter_sends_a_to_3_and_5_b_to_5_and_8_c_to_8_and_3(void **state)
{
    (void)state;
    uint64_t a[2], b[2], c[2];
    petal_filter *filter = textbook_filter();
    textbook_bits(filter, 'a', a);
    textbook_bits(filter, 'b', b);
    textbook_bits(filter, 'c', c);
    require_that(a[0], ==, 3);
    require_that(a[1], ==, 5);
    require_that(b[0], ==, 5);
    require_that(b[1], ==, 8);
    require_that(c[0], ==, 8);
    require_that(c[1], ==, 3);
    petal_free(filter);
}

static void
the_textbook_filter_of_a_and_b_has_bits_3_5_and_8_and_is_wrong_about_c_and_n_only(void **state)
{
    (void)state;
    petal_filter *filter = textbook_filter();
    assert_int_equal(petal_add(filter, "a", 1), PETAL_OK);
    assert_int_equal(petal_add(filter, "b", 1), PETAL_OK);
    struct bytes image = serialized(filter);
    assert_int_equal(payload_of(image)[0], 1 << 3 | 1 << 5);
    assert_int_equal(payload_of(image)[1], 1 << (8 - 8));
    for (char letter = 'c'; letter <= 'z'; letter++)
        require(petal_contains(filter, &letter, 1) == (letter == 'c' || letter == 'n'), "letter %c",
                letter);
    free(image.data);
    petal_free(filter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_reference_gives_the_published_positions),
        cmocka_unit_test(the_library_sets_the_published_positions),
        cmocka_unit_test(classic_is_the_reference_at_every_k_and_many_m),
        cmocka_unit_test(blocked_is_the_reference_at_every_k_and_many_m),
        cmocka_unit_test(a_key_sets_one_bit_in_each_of_k_distinct_words_of_a_line),
        cmocka_unit_test(bits_of_blocked_are_rounded_up_to_whole_lines),
        cmocka_unit_test(bits_of_classic_are_exactly_those_asked),
        cmocka_unit_test(k_above_16_in_one_go_means_two_lines),
        cmocka_unit_test(the_textbook_filter_sends_a_to_3_and_5_b_to_5_and_8_c_to_8_and_3),
        cmocka_unit_test(
            the_textbook_filter_of_a_and_b_has_bits_3_5_and_8_and_is_wrong_about_c_and_n_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
