/* damage.c - proves that every change to a file is detected, and that no forged file can do harm.
 *
 * The first tests simulate accidents: each bit is flipped, the file is truncated to every length,
 * and sectors and blocks are lost, swapped or outdated. The later tests simulate forgeries: fields
 * are set to hostile values, and all checksums are recomputed, as an attacker would. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "image.h"

#include <sys/mman.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Creates a filter whose file contains all optional parts: metadata of an odd length, capacity,
 * rate, a seed, and bits that don't fill the last line. */
static petal_filter *small_filter(void)
{
    petal_options options = options_of(PETAL_SCHEME_CLASSIC, 1001, 4, 0);
    options.capacity = 100;
    options.rate = 0.25;
    options.seed = 42;
    options.metadata = "metadata 13b";
    options.metadata_bytes = 13;
    petal_filter *filter = create(&options);
    add_numbers(filter, 0, 100);
    return filter;
}

static struct bytes image_of(petal_filter *filter)
{
    struct bytes image = serialized(filter);
    petal_free(filter);
    return image;
}

static struct bytes small_image(void)
{
    return image_of(small_filter());
}

/* Returns a file of three blocks, each of which contains some set bits. */
static struct bytes large_image(void)
{
    petal_filter *filter = make(PETAL_SCHEME_BLOCKED, 3 * 8 * BLOCK, 6, 1);
    add_numbers(filter, 0, 3000);
    return image_of(filter);
}

/* Returns true if the status is one of the errors that may report damage. */
static bool is_noticed(petal_status status)
{
    return status == PETAL_ERR_DAMAGED || status == PETAL_ERR_TRUNCATED ||
           status == PETAL_ERR_NEWER || status == PETAL_ERR_NOT_A_FILTER ||
           status == PETAL_ERR_DIRTY;
}

/* Checks that opening reports the damage, with or without verification. If only the block checksums
 * reveal the damage, petal_verify() must report it. */
static void require_noticed(struct bytes image, bool by_the_header, const char *what, size_t where)
{
    petal_error error = {PETAL_OK, 0, 0, ""};
    petal_filter *view = NULL;
    petal_status status = status_of_loading(image, PETAL_OPEN_VERIFY, &error);
    require(is_noticed(status) && error.status == status, "%s %zu: loading says %s", what, where,
            petal_status_name(status));
    require(error.offset <= image.size + 4096 || error.offset == PETAL_NO_OFFSET,
            "%s %zu: offset %llu", what, where, (unsigned long long)error.offset);
    status = petal_view(image.data, image.size, NULL, &view, &error);
    if (by_the_header)
        require(is_noticed(status), "%s %zu: opening says %s", what, where,
                petal_status_name(status));
    if (status == PETAL_OK) {
        status = petal_verify(view, &error);
        require(status == PETAL_ERR_DAMAGED, "%s %zu: verify says %s", what, where,
                petal_status_name(status));
    }
    petal_free(view);
}

/* ---- accidents ------------------------------------------------------------------------------- */

static void the_whole_files_themselves_are_good(void **state)
{
    (void)state;
    petal_error error;
    struct bytes small = small_image(), large = large_image();
    require_status(PETAL_OK, status_of_loading(small, PETAL_OPEN_VERIFY, &error), error);
    require_status(PETAL_OK, status_of_loading(large, PETAL_OPEN_VERIFY, &error), error);
    free(small.data);
    free(large.data);
}

static void every_flip_of_one_bit_is_noticed_those_before_the_sums_at_open(void **state)
{
    (void)state;
    struct bytes image = small_image();
    size_t sums_at = (size_t)(sums_of(image) - image.data);
    for (size_t bit = 0; bit < 8 * image.size; bit++) {
        image.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        require_noticed(image, bit / 8 < sums_at, "bit", bit);
        image.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    free(image.data);
}

static void flips_in_a_file_of_several_blocks_name_the_block(void **state)
{
    (void)state;
    uint64_t seed = 17, random = seed;
    struct bytes image = large_image();
    size_t payload_at = (size_t)(payload_of(image) - image.data);
    for (int i = 0; i < 500; i++) {
        petal_error error;
        petal_filter *view = NULL;
        size_t byte = payload_at + random_below(&random, image.size - payload_at),
               bit = random_below(&random, 8);
        image.data[byte] ^= (uint8_t)(1u << bit);
        require_status(PETAL_OK, petal_view(image.data, image.size, NULL, &view, &error), error);
        require_status(PETAL_ERR_DAMAGED, petal_verify(view, &error), error);
        require(error.offset == byte - (byte - payload_at) % BLOCK,
                "byte %zu of seed %llu: block at %llu", byte, (unsigned long long)seed,
                (unsigned long long)error.offset);
        petal_free(view);
        image.data[byte] ^= (uint8_t)(1u << bit);
    }
    for (size_t byte = 0; byte < payload_at; byte++) {
        image.data[byte] ^= 1;
        require_noticed(image, byte < AT_METADATA, "byte", byte);
        image.data[byte] ^= 1;
    }
    free(image.data);
}

static void two_flips_in_the_header_are_noticed(void **state)
{
    (void)state;
    uint64_t seed = 23, random = seed;
    struct bytes image = small_image();
    for (int i = 0; i < 20000; i++) {
        size_t a = random_below(&random, (uint64_t)8 * AT_METADATA),
               b = random_below(&random, (uint64_t)8 * AT_METADATA);
        if (a == b) continue;
        image.data[a / 8] ^= (uint8_t)(1u << a % 8);
        image.data[b / 8] ^= (uint8_t)(1u << b % 8);
        petal_error error;
        petal_status status = status_of_loading(image, 0, &error);
        require(is_noticed(status), "bits %zu and %zu (seed %llu): %s", a, b,
                (unsigned long long)seed, petal_status_name(status));
        image.data[a / 8] ^= (uint8_t)(1u << a % 8);
        image.data[b / 8] ^= (uint8_t)(1u << b % 8);
    }
    free(image.data);
}

static void every_truncation_is_noticed_as_one(void **state)
{
    (void)state;
    struct bytes image = small_image();
    for (size_t size = 0; size < image.size; size++) {
        petal_error error;
        struct bytes cut = copy_bytes(
            image.data, size); /* exact size, so that a sanitizer detects reads past the end */
        petal_status wanted = size == 0 ? PETAL_ERR_NOT_A_FILTER : PETAL_ERR_TRUNCATED;
        require(status_of_loading(cut, 0, &error) == wanted, "%zu bytes: %s", size, error.message);
        require(error.offset == size, "%zu bytes: offset %llu", size,
                (unsigned long long)error.offset);
        free(cut.data);
    }
    free(image.data);
}

static void a_file_of_several_blocks_is_truncated_at_any_edge(void **state)
{
    (void)state;
    struct bytes image = large_image();
    for (size_t size = 512; size < image.size; size += 512)
        for (size_t off = 0; off < 3; off++) {
            petal_error error;
            struct bytes cut = {image.data, size - 1 + off};
            require(cut.size >= image.size ||
                        status_of_loading(cut, 0, &error) == PETAL_ERR_TRUNCATED,
                    "%zu bytes", cut.size);
        }
    free(image.data);
}

static void bytes_after_the_end_are_noticed(void **state)
{
    (void)state;
    struct bytes image = small_image();
    for (size_t more = 1; more <= 4096; more += more < 70 ? 1 : 61)
        for (int fill = 0; fill <= 0xff; fill += 0xff) {
            petal_error error;
            struct bytes longer = new_bytes(image.size + more);
            memcpy(longer.data, image.data, image.size);
            memset(longer.data + image.size, fill, more);
            require(status_of_loading(longer, 0, &error) == PETAL_ERR_DAMAGED, "%zu bytes of %02x",
                    more, (unsigned)fill);
            require(error.offset == image.size, "%zu bytes: offset %llu", more,
                    (unsigned long long)error.offset);
            free(longer.data);
        }
    free(image.data);
}

static void a_sector_of_zeros_or_ones_is_noticed(void **state)
{
    (void)state;
    struct bytes image = large_image();
    for (size_t from = 0; from < image.size; from += 512)
        for (int fill = 0; fill <= 0xff; fill += 0xff) {
            uint8_t sector[512];
            size_t size = image.size - from < 512 ? image.size - from : 512;
            memcpy(sector, image.data + from, size);
            memset(image.data + from, fill, size);
            if (memcmp(sector, image.data + from, size) != 0)
                require_noticed(image, from < AT_METADATA, "sector at", from);
            memcpy(image.data + from, sector, size);
        }
    free(image.data);
}

static void swap(uint8_t *a, uint8_t *b, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        uint8_t old = a[i];
        a[i] = b[i];
        b[i] = old;
    }
}

static void swapped_slots_are_noticed(void **state)
{
    (void)state;
    struct bytes image = small_image();
    swap(slot_of(image, 0), slot_of(image, 1), SLOT);
    require_noticed(image, true, "slots", 0);
    memcpy(slot_of(image, 0), slot_of(image, 1), SLOT);
    require_noticed(image, true, "slot 1 twice", 0);
    free(image.data);
}

static void swapped_blocks_are_noticed_even_with_their_sums(void **state)
{
    (void)state;
    struct bytes image = large_image();
    for (size_t a = 0; a < 3; a++)
        for (size_t b = 0; b < a; b++) {
            swap(payload_of(image) + a * BLOCK, payload_of(image) + b * BLOCK, BLOCK);
            require_noticed(image, false, "blocks", 10 * a + b);
            swap(sums_of(image) + 8 * a, sums_of(image) + 8 * b, 8);
            require_noticed(image, false, "blocks and sums", 10 * a + b);
            swap(payload_of(image) + a * BLOCK, payload_of(image) + b * BLOCK, BLOCK);
            require_noticed(image, false, "sums", 10 * a + b);
            swap(sums_of(image) + 8 * a, sums_of(image) + 8 * b, 8);
        }
    free(image.data);
}

static void an_older_block_is_noticed_even_with_its_sum(void **state)
{
    (void)state;
    petal_filter *filter = make(PETAL_SCHEME_BLOCKED, 3 * 8 * BLOCK, 6, 1);
    add_numbers(filter, 0, 1000);
    struct bytes old = serialized(filter);
    add_numbers(filter, 1000, 1000);
    struct bytes image = image_of(filter);
    for (size_t block = 0; block < 3; block++) {
        struct bytes mixed = copy_bytes(image.data, image.size);
        memcpy(payload_of(mixed) + block * BLOCK, payload_of(old) + block * BLOCK, BLOCK);
        require_noticed(mixed, false, "block", block);
        memcpy(sums_of(mixed) + 8 * block, sums_of(old) + 8 * block, 8);
        require_noticed(mixed, false, "block and sum", block); /* only the content id shows it */
        free(mixed.data);
    }
    free(old.data);
    free(image.data);
}

static void random_edits_are_noticed(void **state)
{
    (void)state;
    uint64_t seed = 29, random = seed;
    struct bytes image = small_image(), edited = copy_bytes(image.data, image.size);
    for (int round = 0; round < 30000; round++) {
        memcpy(edited.data, image.data, image.size);
        for (uint64_t edits = 1 + random_below(&random, 8); edits > 0; edits--) {
            size_t at = random_below(&random, image.size), length = 1 + random_below(&random, 16);
            for (size_t i = at; i < at + length && i < image.size; i++)
                edited.data[i] = (uint8_t)next_random(&random);
        }
        if (same_bytes(image, edited)) continue;
        petal_error error;
        petal_status status = status_of_loading(edited, PETAL_OPEN_VERIFY, &error);
        require(is_noticed(status), "round %d of seed %llu: %s", round, (unsigned long long)seed,
                petal_status_name(status));
    }
    free(image.data);
    free(edited.data);
}

/* Returns a copy in which each occurrence of `a` is replaced with `b`, as in a text-mode
 * transfer. */
static struct bytes translated(struct bytes from, const char *a, const char *b)
{
    size_t a_size = strlen(a), b_size = strlen(b), used = 0;
    struct bytes to = new_bytes(2 * from.size);
    for (size_t i = 0; i < from.size;) {
        if (i + a_size <= from.size && memcmp(from.data + i, a, a_size) == 0) {
            memcpy(to.data + used, b, b_size);
            used += b_size;
            i += a_size;
        } else {
            to.data[used++] = from.data[i++];
        }
    }
    to.size = used;
    return to;
}

static void a_file_sent_as_text_is_noticed(void **state)
{
    (void)state;
    petal_error error;
    struct bytes image = small_image();
    struct bytes unix_text = translated(image, "\r\n", "\n"),
                 dos_text = translated(image, "\n", "\r\n");
    struct bytes seven_bits = copy_bytes(image.data, image.size);
    for (size_t i = 0; i < seven_bits.size; i++) seven_bits.data[i] &= 0x7f;
    require_status(PETAL_ERR_DAMAGED, status_of_loading(unix_text, 0, &error), error);
    require(strstr(error.message, "line ends"), "%s", error.message);
    require_status(PETAL_ERR_DAMAGED, status_of_loading(dos_text, 0, &error), error);
    require(strstr(error.message, "line ends"), "%s", error.message);
    require_status(PETAL_ERR_NOT_A_FILTER, status_of_loading(seven_bits, 0, &error), error);
    free(image.data);
    free(unix_text.data);
    free(dos_text.data);
    free(seven_bits.data);
}

static void other_files_are_not_filters(void **state)
{
    (void)state;
    static const char *const others[] = {
        "", "x", "\n", "PK\3\4", "\x89PNG\r\n\x1a\n", "#!/bin/sh\n", "\x1f\x8b\x08"};
    for (size_t i = 0; i < COUNT(others); i++) {
        petal_error error;
        struct bytes short_file = copy_bytes(others[i], strlen(others[i])),
                     long_file = new_bytes(5000);
        memcpy(long_file.data, others[i], strlen(others[i]));
        require_status(PETAL_ERR_NOT_A_FILTER, status_of_loading(short_file, 0, &error), error);
        require_status(PETAL_ERR_NOT_A_FILTER, status_of_loading(long_file, 0, &error), error);
        assert_int_equal(error.offset, 0);
        free(short_file.data);
        free(long_file.data);
    }
}

/* ---- forgeries ------------------------------------------------------------------------------- */

/* Queries an array of hashes that ends exactly where readable memory ends, so that reading past its
 * end crashes. */
static size_t ask_at_the_edge(const petal_filter *filter)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), found;
    uint8_t *pages =
        mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    require(pages != MAP_FAILED, "no memory");
    assert_int_equal(mprotect(pages + page, page, PROT_NONE), 0);
    memset(pages, 0x5a, page);
    found = contains_hashes(filter, (const uint64_t *)(void *)(pages + page - 8), 1, NULL);
    munmap(pages, 2 * page);
    return found;
}

/* Uses a filter as a program would after opening a file. Nothing may crash, whatever the file
 * contained. */
static void use(petal_filter *filter)
{
    petal_key keys[3] = {{"a", 1}, {"bb", 2}, {NULL, 0}};
    uint8_t found[3];
    petal_info info = PETAL_INFO_INIT;
    petal_error error;
    petal_filter *copy = NULL;
    petal_contains(filter, "key", 3);
    contains_keys(filter, keys, 3, found);
    ask_at_the_edge(filter);
    require_status(PETAL_OK, petal_get_info(filter, PETAL_ALL_LAYERS, &info, &error), error);
    petal_predict_rate(&info, info.capacity);
    (void)!petal_verify(filter, &error);
    if (petal_clone(filter, &copy, &error) != PETAL_OK) return;
    petal_add(copy, "key", 3);
    size_t taken = add_key_batch(copy, keys, 3, NULL, NULL) == PETAL_OK ? 3 : 2;
    if (taken == 2)
        assert_int_equal(add_key_batch(copy, keys, 2, NULL, NULL),
                         PETAL_OK); /* without the empty key, which the scheme rejects */
    assert_true(petal_contains(copy, "key", 3));
    require_that(contains_keys(copy, keys, taken, NULL), ==, taken);
    petal_status merged = petal_merge(copy, filter, &error);
    require(merged == PETAL_OK || merged == PETAL_ERR_UNSUPPORTED || merged == PETAL_ERR_MISMATCH,
            "%s", error.message);
    struct bytes image = serialized(copy);
    if (!info.keyed)
        require_status(PETAL_OK, status_of_loading(image, PETAL_OPEN_VERIFY, &error), error);
    free(image.data);
    petal_free(copy);
}

/* Opens the image in every way and uses each filter that opens. Returns the status of loading the
 * image with verification. */
static petal_status open_and_use(struct bytes image)
{
    static const uint8_t secret[PETAL_SECRET_BYTES] = {0};
    petal_status status = PETAL_OK;
    for (int way = 0; way < 5; way++) {
        petal_error error = {PETAL_OK, 0, 0, ""};
        petal_filter *filter = NULL;
        petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
        options.flags =
            (unsigned[]){PETAL_OPEN_VERIFY, 0, PETAL_OPEN_LOAD | PETAL_OPEN_RECOVER, 0, 0}[way];
        options.secret = way == 4 ? secret : NULL;
        petal_status got = way == 3 ? petal_view(image.data, image.size, &options, &filter, &error)
                                    : petal_load(image.data, image.size, &options, &filter, &error);
        if (way == 0) status = got;
        require(got <= 0 && (got == PETAL_OK) == (filter != NULL) && error.status == got,
                "way %d: %s", way, petal_status_name(got));
        if (filter) use(filter);
        petal_free(filter);
    }
    return status;
}

/* Returns true if the field at this offset affects neither the bits nor the layout, so any value in
 * range is valid. */
static bool is_free_field(size_t at)
{
    return (at >= AT_CAPACITY && at < AT_LAYER_BYTES) ||
           (at >= AT_ORIGIN && at < AT_ORIGIN_BYTES) || (at >= AT_KEY_TYPE && at < AT_ZEROS_1) ||
           (at >= AT_SEQUENCE && at < AT_FILE_BYTES);
}

static void hostile_fields_under_right_checksums_are_refused(void **state)
{
    (void)state;
    static const uint64_t values[] = {0,
                                      1,
                                      2,
                                      3,
                                      5,
                                      16,
                                      31,
                                      63,
                                      64,
                                      65,
                                      255,
                                      256,
                                      511,
                                      513,
                                      1000,
                                      65535,
                                      65536,
                                      65537,
                                      0x7fffffff,
                                      0x80000000,
                                      0xffffffff,
                                      0x100000000,
                                      (uint64_t)1 << 48,
                                      ((uint64_t)1 << 48) + 1,
                                      (uint64_t)1 << 61,
                                      INT64_MAX,
                                      (uint64_t)1 << 63,
                                      UINT64_MAX - 511,
                                      UINT64_MAX - 63,
                                      UINT64_MAX - 7,
                                      UINT64_MAX - 1,
                                      UINT64_MAX,
                                      NO_RATE,
                                      0x7ff0000000000000,
                                      0xfff0000000000000,
                                      0x8000000000000000,
                                      0x3fe0000000000000,
                                      0x3ff0000000000000};
    struct bytes image = small_image(), forged = copy_bytes(image.data, image.size);
    int refused = 0, taken = 0;
    for (size_t size = 4; size <= 8; size += 4)
        for (size_t at = 0; at < AT_SUM; at += size)
            for (size_t v = 0; v < COUNT(values); v++)
                for (int both = 0; both <= 1; both++) {
                    memcpy(forged.data, image.data, image.size);
                    put_number(slot_of(forged, 1) + at, size,
                               values[v]); /* in a fresh file, slot 1 is active */
                    if (both) put_number(slot_of(forged, 0) + at, size, values[v]);
                    if (same_bytes(image, forged)) continue;
                    seal_both(forged);
                    petal_status status = open_and_use(forged);
                    if (status == PETAL_OK)
                        taken++;
                    else
                        refused++;
                    require(status != PETAL_OK || is_free_field(at),
                            "%zu bytes at %zu set to %llx: taken as good", size, at,
                            (unsigned long long)values[v]);
                }
    printf("# %d forgeries refused, %d of fields that are free taken\n", refused, taken);
    require_that(refused, >, 10000);
    require_that(taken, >, 0);
    free(image.data);
    free(forged.data);
}

static void random_slots_under_right_checksums_do_no_harm(void **state)
{
    (void)state;
    uint64_t seed = 37, random = seed;
    struct bytes image = small_image(), forged = copy_bytes(image.data, image.size);
    for (int round = 0; round < 5000; round++) {
        memcpy(forged.data, image.data, image.size);
        for (uint64_t edits = 1 + random_below(&random, 6); edits > 0; edits--) {
            size_t at = 8 + 4 * random_below(&random, 96); /* mostly in fields that matter */
            uint64_t value =
                random_below(&random, 2) ? random_below(&random, 300) : next_random(&random);
            put32(slot_of(forged, 1) + at, (uint32_t)value);
        }
        seal_both(forged);
        (void)open_and_use(forged);
    }
    free(image.data);
    free(forged.data);
}

/* A file can combine any scheme with any hash. If the two don't match, the file must be refused,
 * since the hash may have too few bits. */
static void every_pair_of_scheme_and_hash_is_refused_or_works(void **state)
{
    (void)state;
    struct bytes image = image_of(make(PETAL_SCHEME_BLOCKED, 1024, 2, 1)),
                 forged = copy_bytes(image.data, image.size);
    for (uint32_t lines = 0; lines <= 1; lines++)
        for (uint32_t scheme = 0; scheme < 64; scheme++)
            for (uint32_t hash = 0; hash < 64; hash++) {
                memcpy(forged.data, image.data, image.size);
                put32(slot_of(forged, 1) + AT_SCHEME, scheme);
                put32(slot_of(forged, 1) + AT_HASH, hash);
                put32(slot_of(forged, 1) + AT_LINES_PER_KEY, lines);
                seal_both(forged);
                (void)open_and_use(forged);
            }
    free(image.data);
    free(forged.data);
}

static void metadata_and_sums_can_be_forged_only_together_with_their_checksums(void **state)
{
    (void)state;
    petal_error error;
    struct bytes image = small_image();
    image.data[AT_METADATA] ^= 1;
    require_status(PETAL_ERR_DAMAGED, status_of_loading(image, 0, &error), error);
    assert_int_equal(error.offset, AT_METADATA);
    for (unsigned slot = 0; slot < 2; slot++)
        put64(slot_of(image, slot) + AT_METADATA_SUM, XXH3_64bits(image.data + AT_METADATA, 13));
    seal_both(image);
    require_status(PETAL_OK, status_of_loading(image, PETAL_OPEN_VERIFY, &error), error);
    free(image.data);
}

static void bits_that_no_key_can_set_are_refused_even_with_right_sums(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {1, 11, 1001, 1025}; /* 512, 512, 1024, 1536 bits in files */
    for (size_t i = 0; i < COUNT(sizes); i++) {
        petal_filter *filter = make(PETAL_SCHEME_CLASSIC, sizes[i], 3, 0);
        uint64_t room = 8 * info_of(filter).bytes;
        struct bytes image = image_of(filter);
        for (size_t bit = sizes[i]; bit < room; bit++) {
            petal_error error;
            petal_filter *view = NULL; /* a view can only detect stray bits */
            uint8_t *byte = &payload_of(image)[bit / 8];
            *byte |= (uint8_t)(1u << bit % 8);
            petal_status viewed = petal_view(image.data, image.size, NULL, &view, &error);
            require(status_of_loading(image, 0, &error) == PETAL_ERR_DAMAGED &&
                        viewed == PETAL_ERR_DAMAGED,
                    "m = %llu, bit %zu", (unsigned long long)sizes[i], bit);
            petal_free(view);
            *byte &= (uint8_t) ~(1u << bit % 8);
        }
        free(image.data);
    }
}

/* Returns a small file that contains `size` bytes of metadata, with correct offsets and
 * checksums. */
static struct bytes with_metadata(size_t size)
{
    struct bytes image = image_of(make(PETAL_SCHEME_CLASSIC, 1001, 4, 0));
    size_t sums_at = (AT_METADATA + size + 7) / 8 * 8, payload_at = (sums_at + 8 + 63) / 64 * 64;
    struct bytes forged = new_bytes(payload_at + 128);
    memcpy(forged.data, image.data, AT_METADATA);
    memset(forged.data + AT_METADATA, 'm', size);
    memcpy(forged.data + sums_at, sums_of(image), 8);
    memcpy(forged.data + payload_at, payload_of(image), 128);
    for (unsigned slot = 0; slot < 2; slot++) {
        put64(slot_of(forged, slot) + AT_FILE_BYTES, forged.size);
        put64(slot_of(forged, slot) + AT_METADATA_BYTES, size);
        put64(slot_of(forged, slot) + AT_METADATA_SUM,
              XXH3_64bits(forged.data + AT_METADATA, size));
        put64(slot_of(forged, slot) + AT_SUMS_OFFSET, sums_at);
        put64(slot_of(forged, slot) + AT_PAYLOAD_OFFSET, payload_at);
    }
    seal_both(forged);
    free(image.data);
    return forged;
}

static void metadata_above_the_limit_are_refused_even_where_all_else_is_right(void **state)
{
    (void)state;
    petal_error error;
    for (size_t more = 0; more < 3; more++) {
        struct bytes image = with_metadata(PETAL_METADATA_MAX_BYTES + more);
        require_status(more ? PETAL_ERR_DAMAGED : PETAL_OK,
                       status_of_loading(image, PETAL_OPEN_VERIFY, &error), error);
        free(image.data);
    }
}

static void a_sequence_number_that_has_no_next_is_refused(void **state)
{
    (void)state;
    petal_error error;
    struct bytes image = small_image();
    put64(slot_of(image, 0) + AT_SEQUENCE, UINT64_MAX); /* odd sequence numbers belong in slot 0 */
    seal(image, 0);
    require_status(PETAL_ERR_DAMAGED, status_of_loading(image, 0, &error), error);
    put64(slot_of(image, 0) + AT_SEQUENCE, UINT64_MAX - 2);
    seal(image, 0);
    require_status(PETAL_OK, status_of_loading(image, 0, &error), error);
    free(image.data);
}

/* ---- newer files ----------------------------------------------------------------------------- */

static void a_newer_version_feature_scheme_or_hash_is_told_apart_from_damage(void **state)
{
    (void)state;
    static const size_t fields[] = {AT_VERSION, AT_FEATURES, AT_SCHEME, AT_HASH};
    static const uint32_t values[] = {2, 1u << 31, 60000, 60000};
    for (size_t i = 0; i < COUNT(fields); i++) {
        petal_error error;
        struct bytes image = small_image();
        put32(slot_of(image, 0) + fields[i], values[i]);
        put32(slot_of(image, 1) + fields[i], values[i]);
        seal_both(image);
        require_status(PETAL_ERR_NEWER, status_of_loading(image, 0, &error), error);
        require(strstr(error.message, "update"), "%s", error.message);
        free(image.data);
    }
}

static void a_later_version_may_seal_its_slots_in_another_way(void **state)
{
    (void)state;
    petal_error error;
    struct bytes image = small_image();
    put32(slot_of(image, 0) + AT_VERSION, 7);
    /* Under the rule for format version 1, the checksums are now wrong. */
    put32(slot_of(image, 1) + AT_VERSION, 7);
    require_status(PETAL_ERR_NEWER, status_of_loading(image, 0, &error), error);
    require(strstr(error.message, "(format 7; this one reads 1)"), "%s", error.message);
    free(image.data);
}

/* ---- dirty files ----------------------------------------------------------------------------- */

/* Returns a file as left behind by a dead writer: the inactive slot contains the next sequence
 * number and is marked dirty. */
static struct bytes dirty_image(void)
{
    struct bytes image = small_image();
    put64(slot_of(image, 0) + AT_SEQUENCE, 3);
    put32(slot_of(image, 0) + AT_STATE, DIRTY);
    put64(slot_of(image, 0) + AT_CONTENT_ID, 0);
    seal(image, 0);
    return image;
}

/* Recovers the file, and checks that the filter contains all the keys and that saving it creates a
 * clean file. */
static void require_recovered(struct bytes image, const char *what)
{
    petal_error error;
    petal_filter *filter = NULL;
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    options.flags = PETAL_OPEN_LOAD | PETAL_OPEN_RECOVER;
    petal_status status = petal_load(image.data, image.size, &options, &filter, &error);
    require(status == PETAL_OK, "%s: %s (%s)", what, petal_status_name(status), error.message);
    require_numbers(filter, 0, 100);
    struct bytes clean = serialized(filter);
    require_status(PETAL_OK, status_of_loading(clean, PETAL_OPEN_VERIFY, &error), error);
    petal_free(filter);
    free(clean.data);
}

/* Recovers a file opened for writing, and checks the number of differing blocks that recovery
 * reports. */
static void require_counted(struct bytes image, uint64_t differ, unsigned mode)
{
    petal_error error;
    petal_filter *filter = NULL;
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    const char *path = temporary("counted.petal");
    options.flags = mode | PETAL_OPEN_RECOVER;
    write_file(path, image.data, image.size);
    require_status(PETAL_OK, petal_open(path, &options, &filter, &error), error);
    petal_file_info info = file_info_of(filter);
    require(info.compared_blocks == 1 && info.recovered_blocks == differ, "%llu of %llu blocks",
            (unsigned long long)info.recovered_blocks, (unsigned long long)info.compared_blocks);
    petal_free(filter);
    unlink(path);
}

static void a_recovery_counts_the_blocks_that_differ_from_their_sums(void **state)
{
    static const unsigned modes[] = {PETAL_OPEN_LOAD, PETAL_OPEN_WRITABLE};
    struct bytes image = dirty_image(), changed = dirty_image();
    (void)state;
    payload_of(changed)[0] ^= 4;
    for (int i = 0; i < 2; i++) {
        require_counted(image, 0, modes[i]);
        require_counted(changed, 1, modes[i]);
    }
    free(image.data);
    free(changed.data);
}

static void a_clean_file_has_no_blocks_to_recover(void **state)
{
    static const unsigned modes[] = {0,
                                     PETAL_OPEN_VERIFY,
                                     PETAL_OPEN_LOAD,
                                     PETAL_OPEN_WRITABLE,
                                     PETAL_OPEN_LOAD | PETAL_OPEN_RECOVER,
                                     PETAL_OPEN_WRITABLE | PETAL_OPEN_RECOVER};
    struct bytes image = large_image();
    const char *path = temporary("clean.petal");
    (void)state;
    write_file(path, image.data, image.size);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        petal_error error;
        petal_filter *filter = NULL;
        petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
        options.flags = modes[i];
        require_status(PETAL_OK, petal_open(path, &options, &filter, &error), error);
        require_that(file_info_of(filter).compared_blocks, ==, 0);
        require_that(file_info_of(filter).recovered_blocks, ==, 0);
        petal_free(filter);
    }
    unlink(path);
    free(image.data);
}

/* A map reports the content id stored in the header, without reading any block. */
static void a_map_with_a_damaged_block_gives_the_recorded_content_id(void **state)
{
    struct bytes image = large_image();
    const char *path = temporary("recorded.petal");
    petal_error error;
    petal_filter *filter = NULL;
    uint64_t id = 0;
    (void)state;
    require_status(PETAL_OK, petal_load(image.data, image.size, NULL, &filter, &error), error);
    const uint64_t wanted = content_of(filter);
    petal_free(filter);
    payload_of(image)[2 * BLOCK] ^= 4;
    write_file(path, image.data, image.size);
    require_status(PETAL_OK, petal_open(path, NULL, &filter, &error), error);
    require_status(PETAL_OK, petal_content_id(filter, &id, &error), error);
    require_that(id, ==, wanted);
    petal_free(filter);
    unlink(path);
    free(image.data);
}

static void a_dirty_file_is_refused_and_can_be_recovered(void **state)
{
    (void)state;
    petal_error error;
    struct bytes image = dirty_image();
    payload_of(image)[0] |= 4; /* changes a bit but not the checksums */
    require_status(PETAL_ERR_DIRTY, status_of_loading(image, 0, &error), error);
    require_status(PETAL_ERR_DIRTY, status_of_loading(image, PETAL_OPEN_VERIFY, &error), error);
    require(strstr(error.message, "recover"), "%s", error.message);
    require_recovered(image, "dirty");
    unsigned flags =
        PETAL_OPEN_LOAD | PETAL_OPEN_RECOVER | PETAL_OPEN_VERIFY; /* the checksums are stale */
    require_status(PETAL_OK, status_of_loading(image, flags, &error), error);
    free(image.data);
}

static void a_file_with_both_slots_dirty_is_dirty(void **state)
{
    (void)state;
    petal_error error;
    struct bytes image = dirty_image();
    put64(slot_of(image, 1) + AT_SEQUENCE, 4);
    put32(slot_of(image, 1) + AT_STATE, DIRTY);
    seal(image, 1);
    require_status(PETAL_ERR_DIRTY, status_of_loading(image, 0, &error), error);
    require_recovered(image, "both dirty");
    free(image.data);
}

static void a_clean_state_after_a_dirty_one_counts(void **state)
{
    (void)state;
    petal_error error;
    struct bytes image = dirty_image();
    put64(slot_of(image, 1) + AT_SEQUENCE, 4);
    seal(image, 1);
    require_status(PETAL_OK, status_of_loading(image, PETAL_OPEN_VERIFY, &error), error);
    free(image.data);
}

static void recovering_a_clean_file_changes_nothing(void **state)
{
    (void)state;
    struct bytes image = small_image();
    require_recovered(image, "clean");
    free(image.data);
}

/* Tests a header update that was torn by a crash: one slot contains garbage, and the other slot is
 * intact. */
static void a_torn_slot_makes_a_file_dirty_and_the_other_one_can_be_recovered(void **state)
{
    (void)state;
    for (unsigned slot = 0; slot < 2; slot++)
        for (size_t from = 8; from < SLOT; from += 56) {
            petal_error error;
            struct bytes image = slot == 0 ? dirty_image() : small_image();
            memset(slot_of(image, slot) + from, 0xa5, SLOT - from);
            require_status(PETAL_ERR_DIRTY, status_of_loading(image, 0, &error), error);
            assert_int_equal(error.offset, slot * SLOT);
            require_recovered(image, slot ? "torn slot 1" : "torn slot 0");
            free(image.data);
        }
}

static void a_lost_sector_of_the_header_can_be_recovered_from_the_other(void **state)
{
    (void)state;
    for (unsigned slot = 0; slot < 2; slot++) {
        petal_error error;
        struct bytes image = small_image();
        memset(slot_of(image, slot), 0, SLOT);
        require_status(PETAL_ERR_DIRTY, status_of_loading(image, 0, &error), error);
        require_recovered(image, slot ? "slot 1 lost" : "slot 0 lost");
        free(image.data);
    }
}

static void two_torn_slots_are_beyond_recovery(void **state)
{
    (void)state;
    petal_error error;
    struct bytes image = small_image();
    slot_of(image, 0)[100] ^= 1;
    slot_of(image, 1)[100] ^= 1;
    require_status(PETAL_ERR_DAMAGED,
                   status_of_loading(image, PETAL_OPEN_LOAD | PETAL_OPEN_RECOVER, &error), error);
    free(image.data);
}

static void recovering_does_not_open_what_is_forged(void **state)
{
    (void)state;
    petal_error error;
    struct bytes image = dirty_image();
    put64(slot_of(image, 0) + AT_BITS, (uint64_t)1 << 40);
    seal(image, 0);
    require_status(PETAL_ERR_DAMAGED,
                   status_of_loading(image, PETAL_OPEN_LOAD | PETAL_OPEN_RECOVER, &error), error);
    free(image.data);
}

/* ---- ways to call ---------------------------------------------------------------------------- */

static void flags_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    petal_error error;
    petal_filter *filter = NULL;
    struct bytes image = small_image();
    static const unsigned view_flags[] = {
        PETAL_OPEN_WRITABLE, PETAL_OPEN_LOAD, PETAL_OPEN_RECOVER, 3, 64, 1u << 31};
    for (size_t i = 0; i < COUNT(view_flags); i++) {
        petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
        options.flags = view_flags[i];
        require_status(PETAL_ERR_ARGUMENT,
                       petal_view(image.data, image.size, &options, &filter, &error), error);
        assert_null(filter);
    }
    require_status(PETAL_ERR_ARGUMENT, status_of_loading(image, 3, &error), error);
    require_status(PETAL_ERR_ARGUMENT, status_of_loading(image, 64, &error), error);
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    options.struct_size = 1;
    require_status(PETAL_ERR_ARGUMENT,
                   petal_view(image.data, image.size, &options, &filter, &error), error);
    free(image.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_whole_files_themselves_are_good),
        cmocka_unit_test(every_flip_of_one_bit_is_noticed_those_before_the_sums_at_open),
        cmocka_unit_test(flips_in_a_file_of_several_blocks_name_the_block),
        cmocka_unit_test(two_flips_in_the_header_are_noticed),
        cmocka_unit_test(every_truncation_is_noticed_as_one),
        cmocka_unit_test(a_file_of_several_blocks_is_truncated_at_any_edge),
        cmocka_unit_test(bytes_after_the_end_are_noticed),
        cmocka_unit_test(a_sector_of_zeros_or_ones_is_noticed),
        cmocka_unit_test(swapped_slots_are_noticed),
        cmocka_unit_test(swapped_blocks_are_noticed_even_with_their_sums),
        cmocka_unit_test(an_older_block_is_noticed_even_with_its_sum),
        cmocka_unit_test(random_edits_are_noticed),
        cmocka_unit_test(a_file_sent_as_text_is_noticed),
        cmocka_unit_test(other_files_are_not_filters),
        cmocka_unit_test(hostile_fields_under_right_checksums_are_refused),
        cmocka_unit_test(random_slots_under_right_checksums_do_no_harm),
        cmocka_unit_test(every_pair_of_scheme_and_hash_is_refused_or_works),
        cmocka_unit_test(metadata_and_sums_can_be_forged_only_together_with_their_checksums),
        cmocka_unit_test(bits_that_no_key_can_set_are_refused_even_with_right_sums),
        cmocka_unit_test(metadata_above_the_limit_are_refused_even_where_all_else_is_right),
        cmocka_unit_test(a_sequence_number_that_has_no_next_is_refused),
        cmocka_unit_test(a_newer_version_feature_scheme_or_hash_is_told_apart_from_damage),
        cmocka_unit_test(a_later_version_may_seal_its_slots_in_another_way),
        cmocka_unit_test(a_dirty_file_is_refused_and_can_be_recovered),
        cmocka_unit_test(a_recovery_counts_the_blocks_that_differ_from_their_sums),
        cmocka_unit_test(a_clean_file_has_no_blocks_to_recover),
        cmocka_unit_test(a_map_with_a_damaged_block_gives_the_recorded_content_id),
        cmocka_unit_test(a_file_with_both_slots_dirty_is_dirty),
        cmocka_unit_test(a_clean_state_after_a_dirty_one_counts),
        cmocka_unit_test(recovering_a_clean_file_changes_nothing),
        cmocka_unit_test(a_torn_slot_makes_a_file_dirty_and_the_other_one_can_be_recovered),
        cmocka_unit_test(a_lost_sector_of_the_header_can_be_recovered_from_the_other),
        cmocka_unit_test(two_torn_slots_are_beyond_recovery),
        cmocka_unit_test(recovering_does_not_open_what_is_forged),
        cmocka_unit_test(flags_that_make_no_sense_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
