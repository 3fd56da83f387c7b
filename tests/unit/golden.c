/* golden.c - proves that today's library writes the very bytes that are in vectors/petal, and
 * refuses vectors/reject.
 *
 * The recipes are the table below; each golden file is made by its recipe and by nothing else, and
 * each rejected file is the golden file textbook.petal with one thing done to it.
 * `PETAL_UPDATE_VECTORS=1` writes the files anew in place of comparing them: a change of a golden
 * file breaks every file that users have, so think twice. */
#include "image.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define DAY ((uint64_t)86400000)
#define GOLDEN "vectors/petal/"
#define REJECT "vectors/reject/"

static const uint8_t secret[PETAL_SECRET_BYTES] = {0, 1, 2,  3,  4,  5,  6,  7,
                                                   8, 9, 10, 11, 12, 13, 14, 15};

static bool updating(void)
{
    return getenv("PETAL_UPDATE_VECTORS") !=
           NULL; /* NOLINT(concurrency-mt-unsafe): no thread is running */
}

/* ---- recipes --------------------------------------------------------------------------------- */

static void add_nothing(petal_filter *filter)
{
    (void)filter;
}

static void add_a_and_b(petal_filter *filter)
{
    petal_add(filter, "a", 1);
    petal_add(filter, "b", 1);
}

/* "key-0" .. "key-99" */
static void add_100_texts(petal_filter *filter)
{
    char key[16];
    for (int i = 0; i < 100; i++)
        petal_add(filter, key, (size_t)snprintf(key, sizeof key, "key-%d", i));
}

static void add_typed_keys(petal_filter *filter)
{
    petal_add(filter, "", 0);
    petal_add(filter, "\0", 1);
    petal_add(filter, "caf\xc3\xa9", 5);
    petal_add(filter, "\xff\xfe", 2);
    petal_add_i64(filter, -1);
    petal_add_i64(filter, 1);
    add_f64(filter, -0.0);
    add_f64(filter, 1.5);
    add_f64(filter, NAN);
}

static void add_100_integers(petal_filter *filter)
{
    add_numbers(filter, 0, 100);
}

static void add_2000_integers(petal_filter *filter)
{
    add_numbers(filter, 0, 2000);
}

static void add_until_full(petal_filter *filter)
{
    for (uint64_t i = 0; i < 1000; i++) petal_add_i64(filter, (int64_t)i);
}

/* 100 days of one key each, "key-0" .. "key-99", from noon of 2024-01-01 on. */
static void add_100_days(petal_filter *filter)
{
    char key[16];
    for (uint64_t i = 0; i < 100; i++) {
        assert_int_equal(petal_set_clock(filter, 19723 * DAY + DAY / 2 + i * DAY, NULL), PETAL_OK);
        petal_add(filter, key, (size_t)snprintf(key, sizeof key, "key-%d", (int)i));
    }
}

/* All at one time. */
static void add_burst(petal_filter *filter)
{
    assert_int_equal(petal_set_clock(filter, 19723 * DAY, NULL), PETAL_OK);
    add_100_texts(filter);
}

/* The texts, ten of them twice, and one so often that its counters stick; then half of them are
 * removed once. */
static void add_and_remove_texts(petal_filter *filter)
{
    char key[16];
    add_100_texts(filter);
    for (int i = 0; i < 10; i++)
        petal_add(filter, key, (size_t)snprintf(key, sizeof key, "key-%d", i));
    for (int i = 0; i < 20; i++) petal_add(filter, "key-95", 6);
    for (int i = 0; i < 50; i++)
        petal_remove(filter, key, (size_t)snprintf(key, sizeof key, "key-%d", i));
    petal_remove(filter, "key-95", 6);
}

struct recipe {
    const char *name;
    uint32_t scheme;
    uint64_t bits;
    uint32_t hashes, lines_per_key;
    uint64_t capacity;
    double rate;
    uint64_t seed;
    bool keyed;
    const char *metadata;
    size_t metadata_bytes;
    void (*fill)(petal_filter *filter);
    void (*layer)(petal_options *options); /* NULL: one layer */
};

static void grows(petal_options *options)
{
    options->growth = true;
}

static void grows_by_3(petal_options *options)
{
    options->growth = true;
    options->growth_step = 3;
    options->growth_ratio = 0.5;
}

static void keeps_60_keys(petal_options *options)
{
    options->window_keys = 60;
}

/* A window of a week, in 8 generations. */
static void keeps_a_week(petal_options *options)
{
    options->window_keys = 70;
    options->window_ms = 7 * DAY;
    options->generations = 8;
}

/* A window of a day, for 60 keys, in 4 generations of 20. */
static void keeps_a_day(petal_options *options)
{
    options->window_keys = 60;
    options->window_ms = DAY;
    options->generations = 4;
}

#define BLOCKED PETAL_SCHEME_BLOCKED
#define CLASSIC PETAL_SCHEME_CLASSIC
#define COUNTING PETAL_SCHEME_COUNTING

/* vectors/README.md says the same in words. */
static const struct recipe recipes[] = {
    {"textbook", CLASSIC, 11, 2, 0, 0, 0, 197072, false, NULL, 0, add_a_and_b, NULL},
    {"one-bit", CLASSIC, 1, 1, 0, 0, 0, 0, false, NULL, 0, add_a_and_b, NULL},
    {"empty-blocked", BLOCKED, 512, 7, 1, 0, 0, 0, false, NULL, 0, add_nothing, NULL},
    {"empty-classic", CLASSIC, 513, 64, 0, 0, 0, 0, false, NULL, 0, add_nothing, NULL},
    {"blocked", BLOCKED, 1536, 8, 1, 0, 0, 0, false, NULL, 0, add_100_texts, NULL},
    {"blocked-two-lines", BLOCKED, 2048, 9, 2, 0, 0, 0, false, NULL, 0, add_100_texts, NULL},
    {"blocked-k16", BLOCKED, 5120, 16, 1, 0, 0, UINT64_MAX, false, NULL, 0, add_100_integers, NULL},
    {"blocked-k32", BLOCKED, 5120, 32, 2, 0, 0, 0, false, NULL, 0, add_100_integers, NULL},
    {"blocked-planned", BLOCKED, 0, 0, 0, 100, 0.01, 0, false, NULL, 0, add_100_texts, NULL},
    {"blocked-planned-low", BLOCKED, 0, 0, 0, 100, 1e-6, 0, false, NULL, 0, add_100_texts, NULL},
    {"classic", CLASSIC, 1009, 5, 0, 0, 0, 42, false, NULL, 0, add_100_texts, NULL},
    {"classic-planned", CLASSIC, 0, 0, 0, 100, 0.01, 0, false, NULL, 0, add_100_texts, NULL},
    {"classic-keyed", CLASSIC, 1009, 7, 0, 0, 0, 0, true, NULL, 0, add_100_texts, NULL},
    {"blocked-keyed", BLOCKED, 1024, 6, 1, 0, 0, 0, true, NULL, 0, add_100_texts, NULL},
    {"typed-keys", BLOCKED, 1024, 5, 1, 0, 0, 0, false, NULL, 0, add_typed_keys, NULL},
    {"metadata", CLASSIC, 100, 3, 0, 10, 0.5, 7, false, "{\"made\": \"for a test\"}\0\xff", 25,
     add_a_and_b, NULL},
    {"saturated", CLASSIC, 100, 4, 0, 0, 0, 0, false, NULL, 0, add_until_full, NULL},
    {"two-blocks", CLASSIC, 8 * BLOCK + 99, 3, 0, 0, 0, 0, false, NULL, 0, add_2000_integers, NULL},
    {"growing", BLOCKED, 0, 0, 0, 10, 0.01, 0, false, NULL, 0, add_100_texts, grows},
    {"growing-by-3", CLASSIC, 0, 0, 0, 5, 0.1, 7, false, "three", 5, add_100_texts, grows_by_3},
    {"growing-empty", BLOCKED, 0, 0, 0, 10, 0.01, 0, false, NULL, 0, add_nothing, grows},
    {"rotating-keys", BLOCKED, 0, 0, 0, 0, 0.01, 0, false, NULL, 0, add_100_texts, keeps_60_keys},
    {"rotating-time", CLASSIC, 0, 0, 0, 0, 0.01, 0, true, NULL, 0, add_100_days, keeps_a_week},
    {"rotating-burst", BLOCKED, 0, 0, 0, 0, 0.01, 0, false, NULL, 0, add_burst, keeps_a_day},
    {"empty-counting", COUNTING, 129, 64, 0, 0, 0, 0, false, NULL, 0, add_nothing, NULL},
    {"textbook-counting", COUNTING, 11, 2, 0, 0, 0, 197072, false, NULL, 0, add_a_and_b, NULL},
    {"counting", COUNTING, 1009, 5, 0, 0, 0, 42, false, NULL, 0, add_and_remove_texts, NULL},
    {"counting-planned", COUNTING, 0, 0, 0, 100, 0.01, 0, false, NULL, 0, add_100_texts, NULL},
    {"counting-keyed", COUNTING, 1009, 7, 0, 0, 0, 0, true, NULL, 0, add_100_texts, NULL},
    {"counting-two-blocks", COUNTING, 2 * BLOCK + 99, 3, 0, 0, 0, 0, false, NULL, 0,
     add_2000_integers, NULL},
};

static petal_filter *cook(const struct recipe *recipe)
{
    petal_options options =
        options_of(recipe->scheme, recipe->bits, recipe->hashes, recipe->lines_per_key);
    options.capacity = recipe->capacity;
    options.rate = recipe->rate;
    options.seed = recipe->seed;
    options.secret = recipe->keyed ? secret : NULL;
    options.metadata = recipe->metadata;
    options.metadata_bytes = recipe->metadata_bytes;
    if (recipe->layer) recipe->layer(&options);
    petal_filter *filter = create(&options);
    recipe->fill(filter);
    return filter;
}

static const char *path_of(const char *folder, const char *name)
{
    static char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s%s.petal", folder, name);
    return path;
}

/* Compares the file with the bytes, or writes it. */
static void require_file(const char *path, struct bytes wanted)
{
    if (updating()) {
        write_file(path, wanted.data, wanted.size);
        return;
    }
    struct bytes file = read_file(path);
    require(file.size == wanted.size, "%s has %zu bytes, the library makes %zu", path, file.size,
            wanted.size);
    for (size_t i = 0; i < file.size; i++)
        require(file.data[i] == wanted.data[i],
                "%s differs at byte %zu: %02x in the file, %02x made", path, i, file.data[i],
                wanted.data[i]);
    free(file.data);
}

static void the_library_writes_the_golden_files_byte_for_byte(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(recipes); i++) {
        petal_filter *filter = cook(&recipes[i]);
        struct bytes image = serialized(filter);
        require_file(path_of(GOLDEN, recipes[i].name), image);
        free(image.data);
        petal_free(filter);
    }
}

static void the_golden_files_open_verify_and_equal_what_is_made(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(recipes); i++)
        for (unsigned mode = PETAL_OPEN_MAP; mode <= PETAL_OPEN_LOAD; mode += PETAL_OPEN_LOAD) {
            petal_error error = {PETAL_OK, 0, 0, ""};
            petal_filter *filter = cook(&recipes[i]), *opened = NULL;
            petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
            options.flags = mode | PETAL_OPEN_VERIFY;
            options.secret = recipes[i].keyed ? secret : NULL;
            petal_status status =
                petal_open(path_of(GOLDEN, recipes[i].name), &options, &opened, &error);
            require(status == PETAL_OK, "%s: %s", recipes[i].name, error.message);
            require(same_image(filter, opened), "%s", recipes[i].name);
            require_that(content_of(filter), ==, content_of(opened));
            petal_free(opened);
            petal_free(filter);
        }
}

static void the_golden_files_answer_as_they_always_did(void **state)
{
    (void)state;
    petal_error error;
    petal_filter *filter = NULL;
    char key[16];
    int hits = 0;
    require_status(PETAL_OK, petal_open(GOLDEN "blocked.petal", NULL, &filter, &error), error);
    for (int i = 0; i < 1000; i++) {
        bool found = petal_contains(filter, key, (size_t)snprintf(key, sizeof key, "key-%d", i));
        require(found || i >= 100, "false negative: %s", key);
        hits += found;
    }
    petal_info info = info_of(filter);
    petal_stats info_stats = stats_of(filter);
    uint64_t info_id = content_of(filter);
    assert_int_equal(hits,
                     101); /* key-0 .. key-99, and key-980, the same false positive for ever */
    assert_true(petal_contains(filter, "key-980", 7));
    require_that(info.items, ==, 100);
    require_that(info_stats.bits_set, ==, 629);
    require_that(info_id, ==, 0x14f5876858484957u);
    petal_free(filter);
}

/* ---- patches --------------------------------------------------------------------------------- */

static void add_d(petal_filter *filter)
{
    petal_add(filter, "d", 1);
}

static void add_texts(petal_filter *filter, int from, int count)
{
    char key[16];
    for (int i = from; i < from + count; i++)
        petal_add(filter, key, (size_t)snprintf(key, sizeof key, "key-%d", i));
}

static void add_10_more_texts(petal_filter *filter)
{
    add_texts(filter, 100, 10);
}

static void add_100_more_texts(petal_filter *filter)
{
    add_texts(filter, 100, 100);
}

static void fill_anew(petal_filter *filter)
{
    petal_clear(filter, NULL);
    add_100_more_texts(filter);
}

static void set_metadata(petal_filter *filter)
{
    petal_set_metadata(filter, "made anew", 9, NULL);
}

/* Half of the keys are others now. */
static void move_1000_integers_on(petal_filter *filter)
{
    petal_clear(filter, NULL);
    add_numbers(filter, 1000, 2000);
}

static void remove_10_add_10(petal_filter *filter)
{
    char key[16];
    for (int i = 50; i < 60; i++)
        petal_remove(filter, key, (size_t)snprintf(key, sizeof key, "key-%d", i));
    add_10_more_texts(filter);
}

static void add_3_days(petal_filter *filter)
{
    for (int i = 100; i < 103; i++) {
        assert_int_equal(petal_set_clock(filter, 19723 * DAY + DAY / 2 + (uint64_t)i * DAY, NULL),
                         PETAL_OK);
        add_texts(filter, i, 1);
    }
}

/* NAME.patch turns NAME.petal into what this makes of it. */
static const struct {
    const char *name;
    void (*change)(petal_filter *filter);
} patched[] = {
    {"textbook", add_d},
    {"blocked", add_10_more_texts},
    {"blocked-keyed", add_10_more_texts},
    {"blocked-two-lines", fill_anew},
    {"classic", add_10_more_texts},
    {"two-blocks", move_1000_integers_on},
    {"metadata", set_metadata},
    {"growing", add_100_more_texts},
    {"rotating-keys", add_100_more_texts},
    {"rotating-time", add_3_days},
    {"counting-planned", add_10_more_texts},
    {"counting", remove_10_add_10},
};

static int32_t keep_bytes(void *context, const void *bytes, size_t size_bytes)
{
    struct bytes *kept = context;
    uint8_t *longer = realloc(kept->data, kept->size + size_bytes);
    require(longer != NULL, "no memory");
    memcpy(longer + kept->size, bytes, size_bytes);
    kept->data = longer;
    kept->size += size_bytes;
    return 0;
}

static const struct recipe *recipe_of(const char *name)
{
    size_t i = 0;
    while (strcmp(recipes[i].name, name) != 0) i++;
    return &recipes[i];
}

static void the_library_makes_the_golden_patches_and_they_work(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(patched); i++) {
        char path[PATH_SIZE];
        petal_error error;
        struct bytes made = {NULL, 0};
        petal_filter *filter = cook(recipe_of(patched[i].name)), *later = clone_of(filter);
        snprintf(path, sizeof path, "%s%s.patch", GOLDEN, patched[i].name);
        patched[i].change(later);
        require_status(PETAL_OK, petal_diff(filter, later, keep_bytes, &made, &error), error);
        require_file(path, made);
        struct bytes file = read_file(path);
        petal_status status = petal_apply_patch(filter, file.data, file.size, 0, &error);
        require(status == PETAL_OK, "%s: %s", path, error.message);
        require(same_image(filter, later), "%s", path);
        free(file.data);
        free(made.data);
        petal_free(filter);
        petal_free(later);
    }
}

/* ---- rejected files -------------------------------------------------------------------------- */

/* What is done to textbook.petal: 1,152 bytes, both slots clean, one block, no metadata. */
static struct bytes cut(struct bytes image, size_t size)
{
    image.size = size;
    return image;
}

static struct bytes empty(struct bytes image)
{
    return cut(image, 0);
}

static struct bytes cut_in_magic(struct bytes image)
{
    return cut(image, 5);
}

static struct bytes cut_in_slot_0(struct bytes image)
{
    return cut(image, 300);
}

static struct bytes cut_in_slot_1(struct bytes image)
{
    return cut(image, 1000);
}

static struct bytes cut_before_payload(struct bytes image)
{
    return cut(image, 1088);
}

static struct bytes cut_by_one(struct bytes image)
{
    return cut(image, image.size - 1);
}

static struct bytes text(struct bytes image)
{
    memcpy(image.data, "just some text\n", 15);
    memset(image.data + SLOT, 0, SLOT);
    return image;
}

static struct bytes converted_line_ends(struct bytes image)
{
    memmove(image.data + 4, image.data + 5, image.size - 5); /* \r\n became \n */
    return cut(image, image.size - 1);
}

static struct bytes flip_in_slot_0(struct bytes image)
{
    image.data[70] ^= 1;
    return image;
}

static struct bytes flip_in_slot_1(struct bytes image)
{
    image.data[SLOT + 264] ^= 1;
    return image;
}

static struct bytes flip_in_payload(struct bytes image)
{
    image.data[1088] ^= 2;
    return image;
}

static struct bytes flip_in_sums(struct bytes image)
{
    image.data[1024] ^= 0x80;
    return image;
}

static struct bytes bit_beyond_the_last(struct bytes image)
{
    image.data[1089] |= 8; /* bit 11 of m = 11 */
    return image;
}

static struct bytes byte_in_padding(struct bytes image)
{
    image.data[1040] = 1;
    return image;
}

static struct bytes slots_swapped(struct bytes image)
{
    uint8_t slot[SLOT];
    memcpy(slot, image.data, SLOT);
    memcpy(image.data, image.data + SLOT, SLOT);
    memcpy(image.data + SLOT, slot, SLOT);
    return image;
}

static struct bytes set_both(struct bytes image, size_t at, size_t size, uint64_t value)
{
    for (unsigned slot = 0; slot < 2; slot++) put_number(slot_of(image, slot) + at, size, value);
    seal_both(image);
    return image;
}

static struct bytes version_2(struct bytes image)
{
    return set_both(image, AT_VERSION, 4, 2);
}

static struct bytes unknown_feature(struct bytes image)
{
    return set_both(image, AT_FEATURES, 4, 0x80000000);
}

static struct bytes unknown_scheme(struct bytes image)
{
    return set_both(image, AT_SCHEME, 4, 60000);
}

static struct bytes unknown_hash(struct bytes image)
{
    return set_both(image, AT_HASH, 4, 60000);
}

static struct bytes state_0(struct bytes image)
{
    return set_both(image, AT_STATE, 4, 0);
}

static struct bytes state_5(struct bytes image)
{
    return set_both(image, AT_STATE, 4, 5);
}

static struct bytes removing(struct bytes image)
{
    return set_both(image, AT_STATE, 4, REMOVING);
}

static struct bytes falling(struct bytes image)
{
    return set_both(image, AT_STATE, 4, FALLING);
}

static struct bytes dirty(struct bytes image)
{
    put64(slot_of(image, 0) + AT_SEQUENCE, 3);
    put32(slot_of(image, 0) + AT_STATE, DIRTY);
    put64(slot_of(image, 0) + AT_CONTENT_ID, 0);
    seal(image, 0);
    return image;
}

static struct bytes no_layers(struct bytes image)
{
    return set_both(image, AT_LAYERS, 4, 0);
}

static struct bytes many_layers(struct bytes image)
{
    return set_both(image, AT_LAYERS, 4, UINT32_MAX);
}

static struct bytes zero_bits(struct bytes image)
{
    return set_both(image, AT_BITS, 8, 0);
}

static struct bytes bits_2_63(struct bytes image)
{
    return set_both(image, AT_BITS, 8, (uint64_t)1 << 63);
}

static struct bytes bits_max(struct bytes image)
{
    return set_both(image, AT_BITS, 8, UINT64_MAX);
}

static struct bytes zero_hashes(struct bytes image)
{
    return set_both(image, AT_HASHES, 4, 0);
}

static struct bytes hashes_65(struct bytes image)
{
    return set_both(image, AT_HASHES, 4, 65);
}

static struct bytes hashes_max(struct bytes image)
{
    return set_both(image, AT_HASHES, 4, UINT32_MAX);
}

static struct bytes lines_3(struct bytes image)
{
    return set_both(image, AT_LINES_PER_KEY, 4, 3);
}

static struct bytes rate_nan(struct bytes image)
{
    return set_both(image, AT_RATE, 8, 0x7ff8000000000001u);
}

static struct bytes rate_infinite(struct bytes image)
{
    return set_both(image, AT_RATE, 8, 0x7ff0000000000000u);
}

static struct bytes rate_1(struct bytes image)
{
    return set_both(image, AT_RATE, 8, 0x3ff0000000000000u);
}

static struct bytes rate_minus_0(struct bytes image)
{
    return set_both(image, AT_RATE, 8, (uint64_t)1 << 63);
}

static struct bytes metadata_max(struct bytes image)
{
    return set_both(image, AT_METADATA_BYTES, 8, UINT64_MAX);
}

static struct bytes metadata_64(struct bytes image)
{
    return set_both(image, AT_METADATA_BYTES, 8, 64);
}

static struct bytes sums_elsewhere(struct bytes image)
{
    return set_both(image, AT_SUMS_OFFSET, 8, 1032);
}

static struct bytes payload_at_0(struct bytes image)
{
    return set_both(image, AT_PAYLOAD_OFFSET, 8, 0);
}

static struct bytes payload_far_away(struct bytes image)
{
    return set_both(image, AT_PAYLOAD_OFFSET, 8, UINT64_MAX - 63);
}

static struct bytes layer_bytes_max(struct bytes image)
{
    return set_both(image, AT_LAYER_BYTES, 8, UINT64_MAX);
}

static struct bytes file_bytes_max(struct bytes image)
{
    return set_both(image, AT_FILE_BYTES, 8, UINT64_MAX);
}

static struct bytes slot_bytes_1024(struct bytes image)
{
    return set_both(image, AT_SLOT_BYTES, 4, 1024);
}

static struct bytes reserved_not_zero(struct bytes image)
{
    return set_both(image, AT_ZEROS_2, 8, 1);
}

static struct bytes origin_too_long(struct bytes image)
{
    return set_both(image, AT_ORIGIN_BYTES, 4, UINT32_MAX);
}

static struct bytes key_type_8(struct bytes image)
{
    return set_both(image, AT_KEY_TYPE, 4, 8);
}

static struct bytes time_of_a_layer(struct bytes image)
{
    return set_both(image, AT_UNTIL_MS, 8, 1);
}

static struct bytes secret_without_siphash(struct bytes image)
{
    return set_both(image, AT_SECRET_CHECK, 8, 5);
}

static struct bytes keyed(struct bytes image)
{
    set_both(image, AT_SEED, 8, 0);
    return set_both(image, AT_HASH, 4, PETAL_HASH_SIPHASH);
}

static struct bytes sequence_of_the_other_slot(struct bytes image)
{
    put64(slot_of(image, 1) + AT_SEQUENCE, 3);
    seal(image, 1);
    return image;
}

static const struct rejected {
    const char *name;
    struct bytes (*deed)(struct bytes image);
    petal_status status;
} rejected[] = {
    {"empty", empty, PETAL_ERR_NOT_A_FILTER},
    {"text", text, PETAL_ERR_NOT_A_FILTER},
    {"cut-in-magic", cut_in_magic, PETAL_ERR_TRUNCATED},
    {"cut-in-slot-0", cut_in_slot_0, PETAL_ERR_TRUNCATED},
    {"cut-in-slot-1", cut_in_slot_1, PETAL_ERR_TRUNCATED},
    {"cut-before-payload", cut_before_payload, PETAL_ERR_TRUNCATED},
    {"cut-by-one", cut_by_one, PETAL_ERR_TRUNCATED},
    {"converted-line-ends", converted_line_ends, PETAL_ERR_DAMAGED},
    {"flip-in-slot-0", flip_in_slot_0, PETAL_ERR_DIRTY},
    {"flip-in-slot-1", flip_in_slot_1, PETAL_ERR_DIRTY},
    {"flip-in-payload", flip_in_payload, PETAL_ERR_DAMAGED},
    {"flip-in-sums", flip_in_sums, PETAL_ERR_DAMAGED},
    {"bit-beyond-the-last", bit_beyond_the_last, PETAL_ERR_DAMAGED},
    {"byte-in-padding", byte_in_padding, PETAL_ERR_DAMAGED},
    {"slots-swapped", slots_swapped, PETAL_ERR_DAMAGED},
    {"version-2", version_2, PETAL_ERR_NEWER},
    {"unknown-feature", unknown_feature, PETAL_ERR_NEWER},
    {"unknown-scheme", unknown_scheme, PETAL_ERR_NEWER},
    {"unknown-hash", unknown_hash, PETAL_ERR_NEWER},
    {"state-0", state_0, PETAL_ERR_DAMAGED},
    {"state-5", state_5, PETAL_ERR_DAMAGED},
    {"removing", removing, PETAL_ERR_DIRTY},
    {"falling", falling, PETAL_ERR_DIRTY},
    {"key-type-8", key_type_8, PETAL_ERR_DAMAGED},
    {"time-of-a-layer", time_of_a_layer, PETAL_ERR_DAMAGED},
    {"dirty", dirty, PETAL_ERR_DIRTY},
    {"no-layers", no_layers, PETAL_ERR_DAMAGED},
    {"many-layers", many_layers, PETAL_ERR_DAMAGED},
    {"zero-bits", zero_bits, PETAL_ERR_DAMAGED},
    {"bits-2-63", bits_2_63, PETAL_ERR_DAMAGED},
    {"bits-max", bits_max, PETAL_ERR_DAMAGED},
    {"zero-hashes", zero_hashes, PETAL_ERR_DAMAGED},
    {"hashes-65", hashes_65, PETAL_ERR_DAMAGED},
    {"hashes-max", hashes_max, PETAL_ERR_DAMAGED},
    {"lines-3", lines_3, PETAL_ERR_DAMAGED},
    {"rate-nan", rate_nan, PETAL_ERR_DAMAGED},
    {"rate-infinite", rate_infinite, PETAL_ERR_DAMAGED},
    {"rate-1", rate_1, PETAL_ERR_DAMAGED},
    {"rate-minus-0", rate_minus_0, PETAL_ERR_DAMAGED},
    {"metadata-max", metadata_max, PETAL_ERR_DAMAGED},
    {"metadata-64", metadata_64, PETAL_ERR_DAMAGED},
    {"sums-elsewhere", sums_elsewhere, PETAL_ERR_DAMAGED},
    {"payload-at-0", payload_at_0, PETAL_ERR_DAMAGED},
    {"payload-far-away", payload_far_away, PETAL_ERR_DAMAGED},
    {"layer-bytes-max", layer_bytes_max, PETAL_ERR_DAMAGED},
    {"file-bytes-max", file_bytes_max, PETAL_ERR_DAMAGED},
    {"slot-bytes-1024", slot_bytes_1024, PETAL_ERR_DAMAGED},
    {"reserved-not-zero", reserved_not_zero, PETAL_ERR_DAMAGED},
    {"origin-too-long", origin_too_long, PETAL_ERR_DAMAGED},
    {"secret-without-siphash", secret_without_siphash, PETAL_ERR_DAMAGED},
    {"keyed", keyed, PETAL_ERR_SECRET_MISSING},
    {"sequence-of-the-other-slot", sequence_of_the_other_slot, PETAL_ERR_DAMAGED},
};

static void the_rejected_files_are_made_as_their_names_say(void **state)
{
    (void)state;
    petal_filter *filter = cook(&recipes[0]);
    struct bytes good = serialized(filter);
    for (size_t i = 0; i < COUNT(rejected); i++) {
        struct bytes bad = copy_bytes(good.data, good.size), made = rejected[i].deed(bad);
        require_file(path_of(REJECT, rejected[i].name), made);
        free(bad.data);
    }
    free(good.data);
    petal_free(filter);
}

/* expected.txt is for ports and for the tests of the tool: "NAME STATUS" in lines. */
static void every_rejected_file_is_refused_with_the_expected_error(void **state)
{
    (void)state;
    struct bytes listed = new_bytes(COUNT(rejected) * 64 + 256);
    listed.size = (size_t)snprintf(
        (char *)listed.data, listed.size,
        "# Each file of this folder and the name of its error (petal_status_name), when opened with\n"
        "# PETAL_OPEN_VERIFY and without a secret.\n");
    for (size_t i = 0; i < COUNT(rejected); i++) {
        petal_error error = {PETAL_OK, 0, 0, ""};
        petal_filter *filter = NULL;
        petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
        options.flags = PETAL_OPEN_VERIFY;
        petal_status status =
            petal_open(path_of(REJECT, rejected[i].name), &options, &filter, &error);
        require(status == rejected[i].status && !filter, "%s: %s (%s)", rejected[i].name,
                petal_status_name(status), error.message);
        listed.size += (size_t)snprintf((char *)listed.data + listed.size, 96, "%s %s\n",
                                        rejected[i].name, petal_status_name(status));
    }
    require_file(REJECT "expected.txt", listed);
    free(listed.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_library_writes_the_golden_files_byte_for_byte),
        cmocka_unit_test(the_golden_files_open_verify_and_equal_what_is_made),
        cmocka_unit_test(the_golden_files_answer_as_they_always_did),
        cmocka_unit_test(the_library_makes_the_golden_patches_and_they_work),
        cmocka_unit_test(the_rejected_files_are_made_as_their_names_say),
        cmocka_unit_test(every_rejected_file_is_refused_with_the_expected_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
