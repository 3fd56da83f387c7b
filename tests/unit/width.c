/* width.c - proves that sizes above 2^31 and 2^32, in bits and in bytes, work correctly.
 *
 * The classic bug in Bloom filter libraries is a 32-bit number where 64 bits are needed. In a
 * filter above that size, the bug makes all keys use only the low part, or every key seem to be
 * present. So these tests create filters just below, at and just above those sizes, and add and
 * query keys whose bits are at the very beginning and end. The memory is mapped, so the kernel
 * allocates only pages that a key touches. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "image.h"
#include "reference.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* An allocator that maps zero pages, which take no memory until they are written. It stores the
 * address of the bit array, so that tests can read the bits. Pages are aligned, so the array begins
 * at the start of its allocation. */
struct lazy_memory {
    uint8_t *bits;
};

static void *lazy_alloc(void *context, size_t size_bytes)
{
    struct lazy_memory *lazy = context;
    void *memory = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return NULL;
    if (size_bytes > 1 << 20) lazy->bits = memory;
    return memory;
}

static void lazy_release(void *context, void *memory, size_t size_bytes)
{
    (void)context;
    munmap(memory, size_bytes);
}

static petal_filter *wide(uint32_t scheme, uint64_t bits, uint32_t hashes, uint32_t lines,
                          struct lazy_memory *lazy)
{
    petal_allocator allocator = {lazy_alloc, lazy_release, lazy};
    petal_options options = options_of(scheme, bits, hashes, lines);
    options.allocator = &allocator;
    return create(&options);
}

static bool is_set(uint32_t scheme, const uint8_t *bytes, uint64_t position)
{
    if (scheme != PETAL_SCHEME_COUNTING) return bit_at(bytes, position);
    return bytes[position / 2] >> (position % 2 ? 4 : 0) & 15;
}

/* Returns true if the hash's bits are set at the positions in the specification. */
static bool bits_are_set(const struct lazy_memory *lazy, uint32_t scheme, uint64_t m, uint32_t k,
                         uint32_t lines, uint64_t hash)
{
    uint64_t positions[MAX_POSITIONS];
    reference_positions(scheme, m, k, lines, hash, positions);
    bool all = true;
    for (uint32_t i = 0; i < k; i++) all = all && is_set(scheme, lazy->bits, positions[i]);
    return all;
}

/* Returns hashes whose first position among m bits is at the start, at the end, near the middle, or
 * near a power of two from 2^30 on; the rest are random. For h = p * 2^64 / m, rounded up,
 * mulhi64(h, m) = p. */
#define HASHES 200

static uint64_t hash_for(uint64_t position, uint64_t m)
{
    long double h = ldexpl((long double)position + 0.5L, 64) /
                    (long double)m; /* middle of this position's range of hashes */
    return h >= 0x1p64L ? UINT64_MAX : (uint64_t)h;
}

static void choose_hashes(uint64_t m, uint64_t hashes[HASHES])
{
    const uint64_t chosen[] = {0, 1, 511, 512, m / 2 - 1, m / 2, m - 1, m - 2, m - 512, m - 513};
    uint64_t random = m, count = 0;
    for (size_t i = 0; i < sizeof chosen / sizeof *chosen; i++)
        if (chosen[i] < m) hashes[count++] = hash_for(chosen[i], m);
    for (uint64_t edge = (uint64_t)1 << 30; edge < m; edge *= 2)
        for (uint64_t position = edge - 2; position <= edge + 2 && position < m; position++)
            hashes[count++] = hash_for(position, m);
    hashes[count++] = 0;
    hashes[count++] = UINT64_MAX;
    while (count < HASHES) hashes[count++] = next_random(&random);
}

/* Removes each hash as often as it was added. No hash may remain. */
static void remove_all(petal_filter *filter, const uint64_t hashes[HASHES])
{
    for (int i = 0; i < HASHES; i++)
        assert_int_equal(petal_remove_hash(filter, hashes[i]), PETAL_OK);
    for (int i = 0; i < HASHES; i++)
        assert_int_equal(petal_remove_hash(filter, hashes[i]), PETAL_ABSENT);
}

static void add_and_ask(uint32_t scheme, uint64_t m, uint32_t k, uint32_t lines)
{
    struct lazy_memory lazy;
    uint64_t hashes[HASHES], random = m + 1, hits = 0;
    petal_filter *filter = wide(scheme, m, k, lines, &lazy);
    choose_hashes(m, hashes);
    for (int i = 0; i < HASHES; i++) {
        require(petal_contains_hash(filter, hashes[i]) ==
                    (petal_add_hash(filter, hashes[i]) == PETAL_SEEN),
                "m = %llu, hash %016llx", (unsigned long long)m, (unsigned long long)hashes[i]);
        require(bits_are_set(&lazy, scheme, m, k, lines, hashes[i]),
                "m = %llu, hash %016llx: other bits were set", (unsigned long long)m,
                (unsigned long long)hashes[i]);
        for (int j = 0; j <= i; j++)
            require(petal_contains_hash(filter, hashes[j]),
                    "false negative: m = %llu, hash %016llx", (unsigned long long)m,
                    (unsigned long long)hashes[j]);
    }
    assert_int_equal(contains_hashes(filter, hashes, HASHES, NULL), HASHES);
    for (int i = 0; i < 5000; i++) hits += petal_contains_hash(filter, next_random(&random));
    require(hits == 0, "m = %llu: %llu of 5,000 random hashes are in", (unsigned long long)m,
            (unsigned long long)hits);
    if (scheme == PETAL_SCHEME_COUNTING) remove_all(filter, hashes);
    petal_free(filter);
}

static void classic_is_right_around_2_31_and_2_32_bits_and_bytes(void **state)
{
    (void)state;
    for (int power = 31; power <= 35; power++) /* includes 2^31 and 2^32 bytes */
        for (int64_t off = -1; off <= 1; off++)
            add_and_ask(PETAL_SCHEME_CLASSIC, ((uint64_t)1 << power) + (uint64_t)off, 4, 0);
    add_and_ask(PETAL_SCHEME_CLASSIC, 3 * ((uint64_t)1 << 33) + 7, 7, 0);
}

static void blocked_is_right_around_2_31_and_2_32_bits_and_bytes(void **state)
{
    (void)state;
    for (int power = 31; power <= 35; power++)
        for (int64_t lines = -1; lines <= 1; lines++) {
            uint64_t m = ((uint64_t)1 << power) + (uint64_t)(lines * 512);
            add_and_ask(PETAL_SCHEME_BLOCKED, m, 8, 1);
            add_and_ask(PETAL_SCHEME_BLOCKED, m, 11, 2);
        }
}

static void counting_is_right_around_2_31_and_2_32_counters_and_bytes(void **state)
{
    (void)state;
    for (int power = 31; power <= 33; power++) /* includes 2^31 and 2^32 bytes */
        for (int64_t off = -1; off <= 1; off++)
            add_and_ask(PETAL_SCHEME_COUNTING, ((uint64_t)1 << power) + (uint64_t)off, 4, 0);
}

/* Every part of the array must be reachable: each 1/1024 of it must contain a position. */
static void keys_reach_every_part_of_a_wide_filter(void **state)
{
    (void)state;
    const uint64_t m = ((uint64_t)1 << 33) + 512, keys = 20000;
    FOR_NATIVE_SCHEMES(scheme)
    {
        struct lazy_memory lazy;
        uint64_t seed = 9, random = seed, positions[MAX_POSITIONS];
        uint32_t slices[1024] = {0}, lines = scheme == PETAL_SCHEME_BLOCKED ? 1 : 0;
        petal_filter *filter = wide(scheme, m, 4, lines, &lazy);
        for (uint64_t i = 0; i < keys; i++) {
            uint64_t hash = next_random(&random);
            petal_add_hash(filter, hash);
            reference_positions(scheme, m, 4, lines, hash, positions);
            require(is_set(scheme, lazy.bits, positions[0]), "position %llu is clear",
                    (unsigned long long)positions[0]);
            slices[positions[0] / (m / 1024 + 1)]++;
        }
        for (int i = 0; i < 1024; i++) /* mean 19.5, sd 4.4: P(0) = 3e-9 */
            require(slices[i] > 0, "slice %d of 1,024 is empty, seed %llu", i,
                    (unsigned long long)seed);
        petal_free(filter);
    }
}

static void require_positions_are_set(const struct row *row)
{
    struct lazy_memory lazy;
    petal_filter *filter = wide(row->scheme, row->bits, row->hashes, row->lines, &lazy);
    petal_add_hash(filter, row->hash);
    for (uint32_t i = 0; i < row->position_count; i++)
        require(bit_at(lazy.bits, row->positions[i]), "m = %llu, hash %016llx: bit %llu is clear",
                (unsigned long long)row->bits, (unsigned long long)row->hash,
                (unsigned long long)row->positions[i]);
    petal_free(filter);
}

static void the_published_positions_of_wide_filters_are_set(void **state)
{
    (void)state;
    assert_int_equal(for_each_row(1 << 24, (uint64_t)1 << 36, require_positions_are_set), 84);
}

/* ---- a file of 2^33 bits --------------------------------------------------------------------- */

/* Returns the number of bytes that the file takes on disk. */
static uint64_t disk_bytes(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 ? (uint64_t)about.st_blocks * 512 : 0;
}

/* Creates a 1 GiB file without writing to it, to find out whether this file system supports
 * holes. */
static bool has_holes(const char *path)
{
    FILE *file = fopen(path, "wb");
    require(file != NULL, "cannot write %s", path);
    bool made = ftruncate(fileno(file), (off_t)1 << 30) == 0;
    fclose(file);
    bool sparse = made && disk_bytes(path) < 1 << 20;
    unlink(path);
    return sparse;
}

static void save_map_and_ask(uint32_t scheme, uint64_t m, uint32_t k, uint32_t lines)
{
    struct lazy_memory lazy;
    uint64_t hashes[HASHES], random = 5, hits = 0;
    const char *path = temporary("wide.petal");
    petal_error error;
    petal_filter *filter = wide(scheme, m, k, lines, &lazy), *map = NULL;
    choose_hashes(m, hashes);
    for (int i = 0; i < HASHES; i++) petal_add_hash(filter, hashes[i]);
    petal_status status = petal_save(filter, path, NULL, &error);
    petal_free(filter);
    require_status(PETAL_OK, status, error);
    uint64_t on_disk = disk_bytes(path);
    require(on_disk < 256u << 20, "%llu bytes on disk: its zeros are no holes",
            (unsigned long long)on_disk);
    status = petal_open(path, NULL, &map, &error);
    unlink(path); /* the map keeps the file's contents */
    require_status(PETAL_OK, status, error);
    assert_int_equal(contains_hashes(map, hashes, HASHES, NULL), HASHES);
    for (int i = 0; i < HASHES; i++)
        require(petal_contains_hash(map, hashes[i]), "false negative: hash %016llx",
                (unsigned long long)hashes[i]);
    for (int i = 0; i < 100; i++) hits += petal_contains_hash(map, next_random(&random));
    assert_int_equal(hits, 0);
    petal_free(map);
}

static void a_sparse_file_of_2_33_bits_is_saved_mapped_and_asked(void **state)
{
    (void)state;
    if (!has_holes(temporary("holes")))
        skip_because("this machine's TMPDIR has no holes; 1 GiB would be written");
    save_map_and_ask(PETAL_SCHEME_BLOCKED, (uint64_t)1 << 33, 8, 1);
    save_map_and_ask(PETAL_SCHEME_CLASSIC, ((uint64_t)1 << 33) + 1, 4, 0);
}

static void a_truncated_wide_file_is_told_by_its_size_alone(void **state)
{
    (void)state;
    if (!has_holes(temporary("holes")))
        skip_because("this machine's TMPDIR has no holes; 1 GiB would be written");
    const char *path = temporary("wide.petal");
    petal_error error;
    struct lazy_memory lazy;
    petal_filter *filter = wide(PETAL_SCHEME_BLOCKED, (uint64_t)1 << 33, 8, 1, &lazy), *map = NULL;
    petal_status status = petal_save(filter, path, NULL, &error);
    petal_free(filter);
    require_status(PETAL_OK, status, error);
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    for (int power = 30; power >= 12; power -= 6) {
        assert_int_equal(truncate(path, ((off_t)1 << power) - 1), 0);
        require_status(PETAL_ERR_TRUNCATED, petal_open(path, NULL, &map, &error), error);
    }
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classic_is_right_around_2_31_and_2_32_bits_and_bytes),
        cmocka_unit_test(blocked_is_right_around_2_31_and_2_32_bits_and_bytes),
        cmocka_unit_test(counting_is_right_around_2_31_and_2_32_counters_and_bytes),
        cmocka_unit_test(keys_reach_every_part_of_a_wide_filter),
        cmocka_unit_test(the_published_positions_of_wide_filters_are_set),
        cmocka_unit_test(a_sparse_file_of_2_33_bits_is_saved_mapped_and_asked),
        cmocka_unit_test(a_truncated_wide_file_is_told_by_its_size_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
