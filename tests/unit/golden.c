/* golden.c - proves that the library still writes exactly the bytes in vectors/petal, and refuses
 * vectors/reject.
 *
 * All of these files are generated from the tables below. A recipe makes each golden file, and each
 * rejected file is textbook.petal with one change. `PETAL_UPDATE_VECTORS=1` rewrites the files
 * instead of comparing them. A changed golden file means that the file format has changed for all
 * users, so think twice before committing one. */
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

/* Adds "key-0" .. "key-99". */
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

/* Adds one key a day for 100 days, "key-0" .. "key-99", starting at noon on 2024-01-01. */
static void add_100_days(petal_filter *filter)
{
    char key[16];
    for (uint64_t i = 0; i < 100; i++) {
        assert_int_equal(petal_set_clock(filter, 19723 * DAY + DAY / 2 + i * DAY, NULL), PETAL_OK);
        petal_add(filter, key, (size_t)snprintf(key, sizeof key, "key-%d", (int)i));
    }
}

/* Adds all keys with the clock set to the same time. */
static void add_burst(petal_filter *filter)
{
    assert_int_equal(petal_set_clock(filter, 19723 * DAY, NULL), PETAL_OK);
    add_100_texts(filter);
}

/* Adds the strings, ten of them twice, and one until its counters saturate. Then removes half of
 * the strings, and the saturated one, once each. */
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
    /* Sets the options of a layered filter. NULL means one layer. */
    void (*layer)(petal_options *options);
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

/* Sets a window of one week with 8 generations. */
static void keeps_a_week(petal_options *options)
{
    options->window_keys = 70;
    options->window_ms = 7 * DAY;
    options->generations = 8;
}

/* Sets a window of one day for 60 keys, with 4 generations of 20 keys. */
static void keeps_a_day(petal_options *options)
{
    options->window_keys = 60;
    options->window_ms = DAY;
    options->generations = 4;
}

#define BLOCKED PETAL_SCHEME_BLOCKED
#define CLASSIC PETAL_SCHEME_CLASSIC
#define COUNTING PETAL_SCHEME_COUNTING

/* The recipes of the golden files. vectors/README.md describes their filters. */
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

/* Compares the file with the expected bytes, or rewrites it if PETAL_UPDATE_VECTORS is set. */
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
    /* Checks that key-0 .. key-99 are found, and key-980 as the only false positive. */
    assert_int_equal(hits, 101);
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
    assert_int_equal(petal_clear(filter, NULL), PETAL_OK);
    add_100_more_texts(filter);
}

static void set_metadata(petal_filter *filter)
{
    petal_set_metadata(filter, "made anew", 9, NULL);
}

/* Replaces half of the keys. */
static void move_1000_integers_on(petal_filter *filter)
{
    assert_int_equal(petal_clear(filter, NULL), PETAL_OK);
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

/* Changes NAME.petal's filter into the one that NAME.patch must produce. */
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

/* The changes to textbook.petal, a file of 1,152 bytes with two clean slots, one block, and no
 * metadata. */
#define SUMS 1024u
#define PAYLOAD 1088u

struct rejected {
    const char *name;
    petal_status status;
    struct bytes (*deed)(struct bytes image, const struct rejected *how);
    size_t at, size;
    uint64_t value;
};

/* Truncates the file at this offset. */
static struct bytes cut(struct bytes image, const struct rejected *how)
{
    image.size = how->at;
    return image;
}

/* Flips the given bits of one byte. */
static struct bytes flip(struct bytes image, const struct rejected *how)
{
    image.data[how->at] ^= (uint8_t)how->value;
    return image;
}

/* Changes a field in both slots, and corrects the slots' checksums. */
static struct bytes set_both(struct bytes image, const struct rejected *how)
{
    for (unsigned slot = 0; slot < 2; slot++)
        put_number(slot_of(image, slot) + how->at, how->size, how->value);
    seal_both(image);
    return image;
}

static struct bytes text(struct bytes image, const struct rejected *how)
{
    (void)how;
    memcpy(image.data, "just some text\n", 15);
    memset(image.data + SLOT, 0, SLOT);
    return image;
}

static struct bytes converted_line_ends(struct bytes image, const struct rejected *how)
{
    (void)how;
    memmove(image.data + 4, image.data + 5, image.size - 5); /* replaces \r\n with \n */
    image.size--;
    return image;
}

static struct bytes slots_swapped(struct bytes image, const struct rejected *how)
{
    uint8_t slot[SLOT];
    (void)how;
    memcpy(slot, image.data, SLOT);
    memcpy(image.data, image.data + SLOT, SLOT);
    memcpy(image.data + SLOT, slot, SLOT);
    return image;
}

static struct bytes dirty(struct bytes image, const struct rejected *how)
{
    (void)how;
    put64(slot_of(image, 0) + AT_SEQUENCE, 3);
    put32(slot_of(image, 0) + AT_STATE, DIRTY);
    put64(slot_of(image, 0) + AT_CONTENT_ID, 0);
    seal(image, 0);
    return image;
}

static struct bytes keyed(struct bytes image, const struct rejected *how)
{
    (void)how;
    for (unsigned slot = 0; slot < 2; slot++) {
        put64(slot_of(image, slot) + AT_SEED, 0);
        put32(slot_of(image, slot) + AT_HASH, PETAL_HASH_SIPHASH);
    }
    seal_both(image);
    return image;
}

static struct bytes sequence_of_the_other_slot(struct bytes image, const struct rejected *how)
{
    (void)how;
    put64(slot_of(image, 1) + AT_SEQUENCE, 3);
    seal(image, 1);
    return image;
}

#define CUT(at) cut, at, 0, 0
#define FLIP(at, bits) flip, at, 0, bits
#define FIELD(at, size, value) set_both, at, size, value
#define DEED(deed) deed, 0, 0, 0

static const struct rejected rejected[] = {
    {"empty", PETAL_ERR_NOT_A_FILTER, CUT(0)},
    {"text", PETAL_ERR_NOT_A_FILTER, DEED(text)},
    {"cut-in-magic", PETAL_ERR_TRUNCATED, CUT(5)},
    {"cut-in-slot-0", PETAL_ERR_TRUNCATED, CUT(300)},
    {"cut-in-slot-1", PETAL_ERR_TRUNCATED, CUT(1000)},
    {"cut-before-payload", PETAL_ERR_TRUNCATED, CUT(PAYLOAD)},
    {"cut-by-one", PETAL_ERR_TRUNCATED, CUT(1151)},
    {"converted-line-ends", PETAL_ERR_DAMAGED, DEED(converted_line_ends)},
    {"flip-in-slot-0", PETAL_ERR_DIRTY, FLIP(70, 1)},
    {"flip-in-slot-1", PETAL_ERR_DIRTY, FLIP(SLOT + 264, 1)},
    {"flip-in-payload", PETAL_ERR_DAMAGED, FLIP(PAYLOAD, 2)},
    {"flip-in-sums", PETAL_ERR_DAMAGED, FLIP(SUMS, 0x80)},
    {"bit-beyond-the-last", PETAL_ERR_DAMAGED, FLIP(PAYLOAD + 1, 8)},
    {"byte-in-padding", PETAL_ERR_DAMAGED, FLIP(SUMS + 16, 1)},
    {"slots-swapped", PETAL_ERR_DAMAGED, DEED(slots_swapped)},
    {"version-2", PETAL_ERR_NEWER, FIELD(AT_VERSION, 4, 2)},
    {"unknown-feature", PETAL_ERR_NEWER, FIELD(AT_FEATURES, 4, 0x80000000)},
    {"unknown-scheme", PETAL_ERR_NEWER, FIELD(AT_SCHEME, 4, 60000)},
    {"unknown-hash", PETAL_ERR_NEWER, FIELD(AT_HASH, 4, 60000)},
    {"state-0", PETAL_ERR_DAMAGED, FIELD(AT_STATE, 4, 0)},
    {"state-5", PETAL_ERR_DAMAGED, FIELD(AT_STATE, 4, 5)},
    {"removing", PETAL_ERR_DIRTY, FIELD(AT_STATE, 4, REMOVING)},
    {"falling", PETAL_ERR_DIRTY, FIELD(AT_STATE, 4, FALLING)},
    {"key-type-8", PETAL_ERR_DAMAGED, FIELD(AT_KEY_TYPE, 4, 8)},
    {"time-of-a-layer", PETAL_ERR_DAMAGED, FIELD(AT_UNTIL_MS, 8, 1)},
    {"dirty", PETAL_ERR_DIRTY, DEED(dirty)},
    {"no-layers", PETAL_ERR_DAMAGED, FIELD(AT_LAYERS, 4, 0)},
    {"many-layers", PETAL_ERR_DAMAGED, FIELD(AT_LAYERS, 4, UINT32_MAX)},
    {"zero-bits", PETAL_ERR_DAMAGED, FIELD(AT_BITS, 8, 0)},
    {"bits-2-63", PETAL_ERR_DAMAGED, FIELD(AT_BITS, 8, (uint64_t)1 << 63)},
    {"bits-max", PETAL_ERR_DAMAGED, FIELD(AT_BITS, 8, UINT64_MAX)},
    {"zero-hashes", PETAL_ERR_DAMAGED, FIELD(AT_HASHES, 4, 0)},
    {"hashes-65", PETAL_ERR_DAMAGED, FIELD(AT_HASHES, 4, 65)},
    {"hashes-max", PETAL_ERR_DAMAGED, FIELD(AT_HASHES, 4, UINT32_MAX)},
    {"lines-3", PETAL_ERR_DAMAGED, FIELD(AT_LINES_PER_KEY, 4, 3)},
    {"rate-nan", PETAL_ERR_DAMAGED, FIELD(AT_RATE, 8, 0x7ff8000000000001u)},
    {"rate-infinite", PETAL_ERR_DAMAGED, FIELD(AT_RATE, 8, 0x7ff0000000000000u)},
    {"rate-1", PETAL_ERR_DAMAGED, FIELD(AT_RATE, 8, 0x3ff0000000000000u)},
    {"rate-minus-0", PETAL_ERR_DAMAGED, FIELD(AT_RATE, 8, (uint64_t)1 << 63)},
    {"metadata-max", PETAL_ERR_DAMAGED, FIELD(AT_METADATA_BYTES, 8, UINT64_MAX)},
    {"metadata-64", PETAL_ERR_DAMAGED, FIELD(AT_METADATA_BYTES, 8, 64)},
    {"sums-elsewhere", PETAL_ERR_DAMAGED, FIELD(AT_SUMS_OFFSET, 8, 1032)},
    {"payload-at-0", PETAL_ERR_DAMAGED, FIELD(AT_PAYLOAD_OFFSET, 8, 0)},
    {"payload-far-away", PETAL_ERR_DAMAGED, FIELD(AT_PAYLOAD_OFFSET, 8, UINT64_MAX - 63)},
    {"layer-bytes-max", PETAL_ERR_DAMAGED, FIELD(AT_LAYER_BYTES, 8, UINT64_MAX)},
    {"file-bytes-max", PETAL_ERR_DAMAGED, FIELD(AT_FILE_BYTES, 8, UINT64_MAX)},
    {"slot-bytes-1024", PETAL_ERR_DAMAGED, FIELD(AT_SLOT_BYTES, 4, 1024)},
    {"reserved-not-zero", PETAL_ERR_DAMAGED, FIELD(AT_ZEROS_2, 8, 1)},
    {"origin-too-long", PETAL_ERR_DAMAGED, FIELD(AT_ORIGIN_BYTES, 4, UINT32_MAX)},
    {"secret-without-siphash", PETAL_ERR_DAMAGED, FIELD(AT_SECRET_CHECK, 8, 5)},
    {"keyed", PETAL_ERR_SECRET_MISSING, DEED(keyed)},
    {"sequence-of-the-other-slot", PETAL_ERR_DAMAGED, DEED(sequence_of_the_other_slot)},
};

static void the_rejected_files_are_made_as_their_names_say(void **state)
{
    (void)state;
    petal_filter *filter = cook(&recipes[0]);
    struct bytes good = serialized(filter);
    for (size_t i = 0; i < COUNT(rejected); i++) {
        struct bytes bad = copy_bytes(good.data, good.size),
                     made = rejected[i].deed(bad, &rejected[i]);
        require_file(path_of(REJECT, rejected[i].name), made);
        free(bad.data);
    }
    free(good.data);
    petal_free(filter);
}

/* expected.txt contains lines of the form "NAME STATUS", for ports and the tool's tests.
 * messages.txt contains this library's complete error messages. */
static void every_rejected_file_is_refused_with_the_expected_error(void **state)
{
    (void)state;
    struct bytes listed = new_bytes(COUNT(rejected) * 64 + 256),
                 said = new_bytes(COUNT(rejected) * 512);
    listed.size = (size_t)snprintf(
        (char *)listed.data, listed.size,
        "# Each file of this folder and the name of its error (petal_status_name), when opened with\n"
        "# PETAL_OPEN_VERIFY and without a secret.\n");
    said.size =
        (size_t)snprintf((char *)said.data, said.size,
                         "# What the library says of each file: offset (-1: none), message.\n");
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
        said.size += (size_t)snprintf((char *)said.data + said.size, 480, "%s %lld %s\n",
                                      rejected[i].name, (long long)error.offset, error.message);
    }
    require_file(REJECT "expected.txt", listed);
    require_file(REJECT "messages.txt", said);
    free(said.data);
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
