/* batches.c - proves that a batch has the same effect as adding its keys one by one, for every
 * layout and every kind of filter, and that an invalid batch is refused as a whole. */
#include "support.h"

#include "petal/petal_build.h"
#include "petal/petal_inline.h"

enum { COUNT = 1500, ROOM = 64 };

/* ---- the same keys in every layout ----------------------------------------------------------- */

enum variant {
    POINTERS,
    POINTERS_OF_EIGHT,
    OFFSETS32,
    OFFSETS32_FROM_7,
    OFFSETS32_OF_EIGHT,
    OFFSETS64,
    OFFSETS64_OF_EIGHT,
    FIXED,
    FIXED_APART,
    FIXED_OVERLAPPING,
    FIXED_OF_EIGHT,
    FIXED_NUMBERS,
    NUMBERS,
    NUMBERS_APART,
    NUMBERS_UNALIGNED,
    HASHES,
    HASHES_APART,
    VARIANTS
};

struct material {
    petal_batch batch;
    petal_key keys[COUNT]; /* the keys in the batch one by one; unused for hashes */
    uint64_t hashes[COUNT];
    uint8_t numbers[COUNT][8];
    uint8_t text[COUNT * ROOM];
    uint32_t narrow[COUNT + 1];
    uint64_t wide[COUNT + 1];
};

/* Returns a size around 8 bytes, since keys of 8 bytes are hashed several at a time, and sometimes
 * a larger size. */
static size_t size_of_key(enum variant variant, uint64_t i, bool empty_too)
{
    if (variant == POINTERS_OF_EIGHT || variant == OFFSETS32_OF_EIGHT ||
        variant == OFFSETS64_OF_EIGHT)
        return 8;
    size_t size = i < 70 ? 8 : (size_t)(mix(i % 400) % 20) + (i % 97 == 0 ? 40 : 0);
    return size == 0 && !empty_too ? 1 : size;
}

/* Fills the material with keys. Keys whose numbers are equal modulo 1200 are repeats. */
static void fill(struct material *all, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) all->text[i] = (uint8_t)mix(i / 8 % 1200 * 8 + i % 8);
}

static void make_texts(struct material *all, enum variant variant, bool empty_too)
{
    size_t at = variant == OFFSETS32_FROM_7 ? 7 : 0;
    for (size_t i = 0; i < COUNT; i++) {
        size_t size = size_of_key(variant, i, empty_too);
        uint64_t number = mix(i % 1200);
        for (size_t j = 0; j < size; j++) all->text[at + j] = (uint8_t)(number >> (j % 8 * 8));
        all->keys[i] = (petal_key){all->text + at, size};
        all->narrow[i] = (uint32_t)at;
        all->wide[i] = at;
        at += size;
    }
    all->narrow[COUNT] = (uint32_t)at;
    all->wide[COUNT] = at;
}

static void make_columns(struct material *all, uint64_t key_bytes, uint64_t stride, size_t from)
{
    fill(all, sizeof all->text);
    all->batch.data = all->text + from;
    all->batch.stride = stride;
    for (size_t i = 0; i < COUNT; i++) {
        const uint8_t *place = all->text + from + i * (stride ? stride : key_bytes);
        all->keys[i] = (petal_key){place, (size_t)key_bytes};
    }
}

static void make_numbers(struct material *all)
{
    for (size_t i = 0; i < COUNT; i++) {
        int64_t value;
        memcpy(&value, all->keys[i].data, sizeof value);
        petal_encode_i64(value, all->numbers[i]);
        memcpy(&all->hashes[i], &value, sizeof value);
        all->keys[i] = (petal_key){all->numbers[i], 8};
    }
}

static void make_batch(struct material *all, enum variant variant, bool empty_too)
{
    static const uint32_t layouts[VARIANTS] = {
        PETAL_LAYOUT_POINTERS,  PETAL_LAYOUT_POINTERS,  PETAL_LAYOUT_OFFSETS32,
        PETAL_LAYOUT_OFFSETS32, PETAL_LAYOUT_OFFSETS32, PETAL_LAYOUT_OFFSETS64,
        PETAL_LAYOUT_OFFSETS64, PETAL_LAYOUT_FIXED,     PETAL_LAYOUT_FIXED,
        PETAL_LAYOUT_FIXED,     PETAL_LAYOUT_FIXED,     PETAL_LAYOUT_FIXED,
        PETAL_LAYOUT_I64,       PETAL_LAYOUT_I64,       PETAL_LAYOUT_I64,
        PETAL_LAYOUT_HASHES,    PETAL_LAYOUT_HASHES};
    static const struct {
        uint64_t key_bytes, stride;
        size_t from;
    } columns[VARIANTS] = {[FIXED] = {5, 0, 1},
                           [FIXED_APART] = {11, 17, 0},
                           [FIXED_OVERLAPPING] = {12, 1, 0},
                           [FIXED_OF_EIGHT] = {8, 9, 3},
                           [FIXED_NUMBERS] = {8, 0, 8},
                           [NUMBERS] = {8, 0, 0},
                           [NUMBERS_APART] = {8, 24, 8},
                           [NUMBERS_UNALIGNED] = {8, 9, 1},
                           [HASHES] = {8, 0, 0},
                           [HASHES_APART] = {8, 12, 4}};
    memset(all, 0, sizeof *all);
    all->batch = PETAL_BATCH_INIT;
    all->batch.layout = layouts[variant];
    all->batch.count = COUNT;
    if (columns[variant].key_bytes) {
        make_columns(all, columns[variant].key_bytes, columns[variant].stride,
                     columns[variant].from);
        if (all->batch.layout == PETAL_LAYOUT_FIXED)
            all->batch.key_bytes = columns[variant].key_bytes;
        else
            make_numbers(all);
        return;
    }
    make_texts(all, variant, empty_too);
    all->batch.data = all->text;
    if (all->batch.layout == PETAL_LAYOUT_POINTERS) all->batch.data = all->keys;
    if (all->batch.layout == PETAL_LAYOUT_OFFSETS32) all->batch.offsets = all->narrow;
    if (all->batch.layout == PETAL_LAYOUT_OFFSETS64) all->batch.offsets = all->wide;
    if (variant == OFFSETS64) all->batch.data_bytes = sizeof all->text;
}

static petal_status add_one(petal_filter *filter, const struct material *all, size_t i)
{
    if (all->batch.layout == PETAL_LAYOUT_HASHES) return petal_add_hash(filter, all->hashes[i]);
    return petal_add(filter, all->keys[i].data, all->keys[i].size_bytes);
}

static bool has_one(const petal_filter *filter, const struct material *all, size_t i)
{
    if (all->batch.layout == PETAL_LAYOUT_HASHES)
        return petal_contains_hash(filter, all->hashes[i]);
    return petal_contains(filter, all->keys[i].data, all->keys[i].size_bytes);
}

/* ---- every kind of filter -------------------------------------------------------------------- */

enum kind {
    ONE_LINE,
    LARGE, /* a filter larger than the CPU's cache */
    TWO_LINES,
    CLASSIC,
    COUNTING,
    KEYED,
    SEEDED,
    GROWING,
    WINDOW_OF_KEYS,
    WINDOW_OF_TIME,
    SHARED,
    MAPPED,
    REFUSING,
    FOREIGN
};
static const char *const formats[] = {
    "guava",   "spark",           "parquet",     "redisbloom",  "datasketches",
    "dcso",    "bits-and-blooms", "leveldb",     "rocksdb",     "hadoop",
    "pybloom", "cassandra",       "bloomfilter", "js-tutorial", "valkey-bloom"};
enum { KINDS = FOREIGN + sizeof formats / sizeof *formats };

static petal_filter *mapped(const petal_options *options, const char *name)
{
    const char *path = temporary(name);
    petal_open_options open = PETAL_OPEN_OPTIONS_INIT;
    petal_filter *filter = create(options), *map = NULL;
    petal_error error;
    require_status(PETAL_OK, petal_save(filter, path, NULL, &error), error);
    open.flags = PETAL_OPEN_WRITABLE;
    require_status(PETAL_OK, petal_open(path, &open, &map, &error), error);
    unlink(path);
    petal_free(filter);
    return map;
}

/* Creates a filter of this kind. Returns NULL if its format is read-only or left out of this
 * build. */
static petal_filter *filter_of(unsigned kind, const char *name)
{
    static const uint8_t secret[PETAL_SECRET_BYTES] = {1, 2, 3};
    petal_options options = PETAL_OPTIONS_INIT;
    petal_filter *filter = NULL;
    options.capacity = 2000;
    options.rate = 0.02;
    if (kind == TWO_LINES) options.lines_per_key = 2;
    if (kind == LARGE) options.rate = 0, options.bits = (uint64_t)1 << 24, options.hashes = 6;
    if (kind == CLASSIC) options.scheme = PETAL_SCHEME_CLASSIC;
    if (kind == COUNTING) options.scheme = PETAL_SCHEME_COUNTING;
    if (kind == KEYED) options.secret = secret;
    if (kind == SEEDED) options.seed = 77;
    if (kind == GROWING) options.growth = true, options.capacity = 150;
    if (kind == REFUSING) options.refuse_overfull = true;
    if (kind == WINDOW_OF_KEYS || kind == WINDOW_OF_TIME)
        options.window_keys = 700, options.capacity = 0;
    if (kind == WINDOW_OF_TIME) options.window_ms = 1000;
    if (kind == MAPPED) return mapped(&options, name);
    if (kind >= FOREIGN) options.format = formats[kind - FOREIGN];
    if (kind >= FOREIGN && petal_create(&options, &filter, NULL) != PETAL_OK) return NULL;
    if (!filter) filter = create(&options);
    if (kind == SHARED) assert_int_equal(petal_allow_threads(filter, NULL), PETAL_OK);
    return filter;
}

static void require_same(const petal_filter *a, const petal_filter *b, unsigned kind,
                         unsigned variant)
{
    petal_info one = info_of(a), other = info_of(b);
    require(one.items == other.items && content_of(a) == content_of(b) &&
                one.layers == other.layers,
            "kind %u, layout %u: another filter than one by one", kind, variant);
}

static void compare_adding(petal_filter *batched, petal_filter *single, const struct material *all,
                           unsigned kind, unsigned variant)
{
    static uint8_t results[COUNT], found[COUNT];
    petal_batch_outcome outcome = PETAL_BATCH_OUTCOME_INIT;
    petal_error error;
    uint64_t fresh = 0, in = 0;
    memset(results, 9, sizeof results);
    memset(found, 9, sizeof found);
    require_status(PETAL_OK, petal_add_batch(batched, &all->batch, results, &outcome, &error),
                   error);
    for (size_t i = 0; i < COUNT; i++) {
        petal_status status = add_one(single, all, i);
        require(status >= 0 && results[i] == (status == PETAL_OK), "kind %u, layout %u, key %zu",
                kind, variant, i);
        fresh += results[i];
    }
    require_that(outcome.done, ==, COUNT);
    require_that(outcome.positive, ==, fresh);
    require_same(batched, single, kind, variant);
    require_status(PETAL_OK, petal_contains_batch(batched, &all->batch, found, &outcome, &error),
                   error);
    for (size_t i = 0; i < COUNT; i++) {
        require(found[i] == has_one(single, all, i), "kind %u, layout %u, looking up %zu", kind,
                variant, i);
        in += found[i];
    }
    require_that(outcome.done, ==, COUNT);
    require_that(outcome.positive, ==, in);
}

static void compare_hashing(const petal_filter *filter, const struct material *all)
{
    static uint64_t hashes[COUNT];
    petal_error error;
    require_status(PETAL_OK, petal_hash_batch(filter, &all->batch, hashes, &error), error);
    for (size_t i = 0; i < COUNT; i++)
        if (all->batch.layout == PETAL_LAYOUT_HASHES)
            require_that(hashes[i], ==, all->hashes[i]);
        else
            require_that(hashes[i], ==,
                         petal_hash_key(filter, all->keys[i].data, all->keys[i].size_bytes));
}

static void a_batch_does_what_its_keys_do_one_by_one(void **state)
{
    static struct material all;
    unsigned foreign = 0;
    (void)state;
    for (unsigned kind = 0; kind < KINDS; kind++)
        for (unsigned variant = 0; variant < VARIANTS; variant++) {
            petal_filter *batched = filter_of(kind, "batched.petal"),
                         *single = filter_of(kind, "single.petal");
            if (!batched) break;
            make_batch(&all, variant, info_of(batched).abilities & PETAL_CAN_EMPTY_KEY);
            if (all.batch.layout == PETAL_LAYOUT_HASHES && !takes_hashes(batched)) {
                assert_int_equal(petal_add_batch(batched, &all.batch, NULL, NULL, NULL),
                                 PETAL_ERR_UNSUPPORTED);
                assert_int_equal(petal_contains_batch(batched, &all.batch, NULL, NULL, NULL),
                                 PETAL_ERR_UNSUPPORTED);
            } else {
                compare_adding(batched, single, &all, kind, variant);
                compare_hashing(batched, &all);
                foreign += kind >= FOREIGN;
            }
            petal_free(batched);
            petal_free(single);
        }
    require_that(foreign, >, 10 * 10);
}

static void removing_a_batch_is_removing_one_by_one(void **state)
{
    static struct material all;
    static uint8_t results[COUNT];
    (void)state;
    for (unsigned variant = 0; variant < VARIANTS; variant++) {
        petal_filter *batched = filter_of(COUNTING, NULL), *single = filter_of(COUNTING, NULL);
        petal_batch_outcome outcome = PETAL_BATCH_OUTCOME_INIT;
        petal_error error;
        uint64_t removed = 0;
        make_batch(&all, variant, true);
        petal_batch half = all.batch;
        half.count = COUNT / 2;
        if (half.offsets) half.data_bytes = 0;
        require_status(PETAL_OK, petal_add_batch(batched, &half, NULL, NULL, &error), error);
        require_status(PETAL_OK, petal_add_batch(single, &half, NULL, NULL, &error), error);
        memset(results, 9, sizeof results);
        require_status(PETAL_OK, petal_remove_batch(batched, &all.batch, results, &outcome, &error),
                       error);
        for (size_t i = 0; i < COUNT; i++) {
            petal_status status =
                all.batch.layout == PETAL_LAYOUT_HASHES
                    ? petal_remove_hash(single, all.hashes[i])
                    : petal_remove(single, all.keys[i].data, all.keys[i].size_bytes);
            require(results[i] == (status == PETAL_OK), "layout %u, key %zu", variant, i);
            removed += results[i];
        }
        require_that(outcome.done, ==, COUNT);
        require_that(outcome.positive, ==, removed);
        require_that(removed, >=, COUNT / 2);
        require_same(batched, single, COUNTING, variant);
        petal_free(batched);
        petal_free(single);
    }
}

/* Queries the batch with and without a results array. */
static void require_all_in(const petal_filter *filter, const petal_batch *batch)
{
    static uint8_t results[COUNT + 1];
    petal_batch_outcome outcome = PETAL_BATCH_OUTCOME_INIT, other = PETAL_BATCH_OUTCOME_INIT;
    outcome.reserved = 9;
    memset(results, 9, sizeof results);
    assert_int_equal(petal_contains_batch(filter, batch, results, &outcome, NULL), PETAL_OK);
    assert_int_equal(petal_contains_batch(filter, batch, NULL, &other, NULL), PETAL_OK);
    for (size_t i = 0; i < batch->count; i++) assert_int_equal(results[i], 1);
    assert_int_equal(results[batch->count], 9);
    require_that(outcome.done, ==, batch->count);
    require_that(outcome.positive, ==, batch->count);
    assert_memory_equal(&outcome, &other, sizeof outcome);
}

/* Uses small batches whose sizes are not multiples of any step size in the library. */
static void compare_small_batches(unsigned kind)
{
    static struct material all;
    petal_error error;
    for (unsigned variant = 0; variant < VARIANTS; variant++) {
        petal_filter *batched = filter_of(kind, NULL), *single = filter_of(kind, NULL);
        make_batch(&all, variant, true);
        size_t at = 0, size = 0;
        for (; at + size <= COUNT; at += size++) {
            petal_batch part = all.batch;
            uint64_t stride = part.stride ? part.stride : part.key_bytes ? part.key_bytes : 8;
            if (part.layout == PETAL_LAYOUT_POINTERS) part.data = all.keys + at;
            if (part.layout == PETAL_LAYOUT_OFFSETS32) part.offsets = all.narrow + at;
            if (part.layout == PETAL_LAYOUT_OFFSETS64) part.offsets = all.wide + at;
            if (part.layout >= PETAL_LAYOUT_FIXED)
                part.data = (const uint8_t *)part.data + at * stride;
            part.count = size;
            require_status(PETAL_OK, petal_add_batch(batched, &part, NULL, NULL, &error), error);
            require_all_in(batched, &part);
        }
        for (size_t i = 0; i < at; i++) (void)add_one(single, &all, i);
        require_same(batched, single, kind, variant);
        petal_free(batched);
        petal_free(single);
    }
}

static void batches_of_any_size_are_the_same(void **state)
{
    (void)state;
    compare_small_batches(ONE_LINE);
    compare_small_batches(LARGE);
}

static void any_and_all_take_every_layout(void **state)
{
    static struct material all;
    petal_error error;
    (void)state;
    for (unsigned variant = 0; variant < VARIANTS; variant++) {
        petal_filter *filter = filter_of(CLASSIC, NULL);
        bool answer = true;
        make_batch(&all, variant, true);
        petal_batch none = all.batch;
        none.count = 0;
        require_status(PETAL_OK, petal_contains_any(filter, &all.batch, &answer, &error), error);
        assert_false(answer);
        require_status(PETAL_OK, petal_contains_all(filter, &none, &answer, &error), error);
        assert_true(answer);
        (void)add_one(filter, &all, COUNT / 2);
        require_status(PETAL_OK, petal_contains_any(filter, &all.batch, &answer, &error), error);
        assert_true(answer);
        require_status(PETAL_OK, petal_contains_all(filter, &all.batch, &answer, &error), error);
        assert_false(answer);
        require_status(PETAL_OK, petal_add_batch(filter, &all.batch, NULL, NULL, &error), error);
        require_status(PETAL_OK, petal_contains_all(filter, &all.batch, &answer, &error), error);
        assert_true(answer);
        require_status(PETAL_OK, petal_contains_any(filter, &none, &answer, &error), error);
        assert_false(answer);
        petal_free(filter);
    }
}

/* ---- what is refused ------------------------------------------------------------------------- */

/* Checks that every call refuses the whole batch, and that the filter and the results array are
 * unchanged. */
static void require_refused(petal_batch batch, uint64_t index, const char *what)
{
    petal_filter *filter = filter_of(COUNTING, NULL);
    petal_batch_outcome outcome = PETAL_BATCH_OUTCOME_INIT;
    petal_error error;
    petal_builder *builder = NULL;
    uint8_t result = 9;
    uint64_t hash = 9;
    uint32_t workers = 1;
    bool answer = true;
    uint64_t id = content_of(filter);
    outcome.done = outcome.positive = 9;
    require(petal_add_batch(filter, &batch, &result, &outcome, &error) == PETAL_ERR_ARGUMENT, "%s",
            what);
    require(error.offset == index && outcome.done == 0 && outcome.positive == 0, "%s: %s", what,
            error.message);
    require(petal_contains_batch(filter, &batch, &result, NULL, NULL) == PETAL_ERR_ARGUMENT &&
                petal_remove_batch(filter, &batch, &result, NULL, NULL) == PETAL_ERR_ARGUMENT &&
                petal_hash_batch(filter, &batch, &hash, NULL) == PETAL_ERR_ARGUMENT &&
                petal_contains_any(filter, &batch, &answer, NULL) == PETAL_ERR_ARGUMENT &&
                petal_contains_all(filter, &batch, &answer, NULL) == PETAL_ERR_ARGUMENT,
            "%s", what);
    require(result == 9 && hash == 9 && answer, "%s: something was written", what);
    assert_int_equal(petal_builder_create(filter, &workers, &builder, NULL), PETAL_OK);
    require(petal_builder_add(builder, 0, &batch, NULL) == PETAL_ERR_ARGUMENT, "%s", what);
    assert_int_equal(petal_builder_finish(builder, NULL), PETAL_ERR_ARGUMENT);
    require(info_of(filter).items == 0 && content_of(filter) == id, "%s: keys are in", what);
    assert_int_equal(petal_last_error(filter, &error), PETAL_ERR_ARGUMENT);
    petal_free(filter);
}

static petal_batch offsets_batch(uint32_t layout, const void *offsets, uint64_t count)
{
    static const uint8_t data[16] = {0};
    petal_batch batch = PETAL_BATCH_INIT;
    batch.layout = layout;
    batch.data = data;
    batch.offsets = offsets;
    batch.count = count;
    return batch;
}

static void offsets_that_go_backwards_or_past_the_data_are_refused(void **state)
{
    static const uint32_t backwards[] = {0, 4, 8, 6, 10}, past[] = {2, 4, 17, 18},
                          wild[] = {0, UINT32_MAX, 8};
    static const uint64_t backwards64[] = {3, 2}, wild64[] = {0, 4, UINT64_MAX, 5},
                          past64[] = {0, 1, 2, UINT64_MAX};
    static const uint32_t wrapped[] = {UINT32_MAX - 15, UINT32_MAX - 7, 0, 8};
    static const uint64_t wrapped64[] = {UINT64_MAX - 15, UINT64_MAX - 7, 0, 8};
    (void)state;
    require_refused(offsets_batch(PETAL_LAYOUT_OFFSETS32, backwards, 4), 2, "backwards");
    require_refused(offsets_batch(PETAL_LAYOUT_OFFSETS64, backwards64, 1), 0, "backwards, 64");
    require_refused(offsets_batch(PETAL_LAYOUT_OFFSETS32, wild, 2), 0, "wild");
    require_refused(offsets_batch(PETAL_LAYOUT_OFFSETS64, wild64, 3), 1, "wild, 64");
    require_refused(offsets_batch(PETAL_LAYOUT_OFFSETS32, wrapped, 3), 0, "by eight, wrapped");
    require_refused(offsets_batch(PETAL_LAYOUT_OFFSETS64, wrapped64, 3), 0,
                    "by eight, wrapped, 64");
    petal_batch batch = offsets_batch(PETAL_LAYOUT_OFFSETS32, past, 3);
    batch.data_bytes = 16;
    require_refused(batch, 1, "past the data");
    batch = offsets_batch(PETAL_LAYOUT_OFFSETS64, past64, 3);
    batch.data_bytes = 16;
    require_refused(batch, 2, "past the data, 64");
    batch = offsets_batch(PETAL_LAYOUT_OFFSETS32, past, 1);
    batch.data = NULL;
    require_refused(batch, 0, "no data");
    batch.data = past;
    batch.offsets = NULL;
    require_refused(batch, PETAL_NO_OFFSET, "no offsets");
    batch = offsets_batch(PETAL_LAYOUT_OFFSETS32, past, 1);
    batch.key_bytes = 2;
    require_refused(batch, PETAL_NO_OFFSET, "offsets and a size");
    batch = offsets_batch(PETAL_LAYOUT_OFFSETS64, past64, 1);
    batch.stride = 8;
    require_refused(batch, PETAL_NO_OFFSET, "offsets and a stride");
}

static void sizes_that_overflow_are_refused(void **state)
{
    static const uint64_t huge[] = {UINT64_MAX, UINT64_MAX / 2, UINT64_MAX / 8 + 2,
                                    (uint64_t)1 << 61};
    static const uint8_t data[64] = {0};
    (void)state;
    for (uint32_t layout = PETAL_LAYOUT_POINTERS; layout <= PETAL_LAYOUT_HASHES; layout++)
        for (size_t i = 0; i < sizeof huge / sizeof *huge; i++) {
            petal_batch batch = PETAL_BATCH_INIT;
            bool has_offsets = layout == PETAL_LAYOUT_OFFSETS32 || layout == PETAL_LAYOUT_OFFSETS64;
            batch.layout = layout;
            batch.data = data;
            if (has_offsets) batch.offsets = data;
            if (layout == PETAL_LAYOUT_FIXED) batch.key_bytes = 8;
            batch.count = huge[i];
            require_refused(batch, PETAL_NO_OFFSET, "a huge count");
            if (layout < PETAL_LAYOUT_FIXED) continue;
            batch.count = 9;
            batch.stride = huge[i];
            require_refused(batch, PETAL_NO_OFFSET, "a huge stride");
            if (layout != PETAL_LAYOUT_FIXED) continue;
            batch.count = 1;
            batch.key_bytes = UINT64_MAX - i;
            batch.stride = 0;
            require_refused(batch, PETAL_NO_OFFSET, "a huge key");
        }
}

static void descriptors_that_make_no_sense_are_refused(void **state)
{
    static const int64_t numbers[2] = {1, 2};
    const petal_batch good = batch_of_numbers(numbers, 2);
    petal_batch batch = good;
    (void)state;
    batch.layout = PETAL_LAYOUT_HASHES + 1;
    require_refused(batch, PETAL_NO_OFFSET, "no such layout");
    batch.layout = UINT32_MAX;
    require_refused(batch, PETAL_NO_OFFSET, "no such layout");
    batch = good;
    batch.struct_size = 0;
    require_refused(batch, PETAL_NO_OFFSET, "not initialised");
    batch = good;
    batch.data = NULL;
    require_refused(batch, PETAL_NO_OFFSET, "no data");
    batch = good;
    batch.key_bytes = 8;
    require_refused(batch, PETAL_NO_OFFSET, "numbers have no key_bytes");
    batch = good;
    batch.offsets = numbers;
    require_refused(batch, PETAL_NO_OFFSET, "numbers have no offsets");
    batch = good;
    batch.layout = PETAL_LAYOUT_POINTERS;
    batch.stride = 8;
    require_refused(batch, PETAL_NO_OFFSET, "pointers have no stride");
}

/* Tests structs as passed by programs that were compiled with older or newer headers. */
static void older_and_newer_structs_are_taken(void **state)
{
    static const int64_t numbers[2] = {1, 2};
    struct {
        petal_batch batch;
        uint64_t later;
    } newer = {batch_of_numbers(numbers, 2), 0};
    struct {
        petal_batch_outcome outcome;
        uint64_t later;
    } room = {PETAL_BATCH_OUTCOME_INIT, 0};
    petal_filter *filter = filter_of(ONE_LINE, NULL);
    petal_batch older = batch_of_numbers(numbers, 2);
    petal_batch_outcome small = PETAL_BATCH_OUTCOME_INIT;
    (void)state;
    newer.batch.struct_size = sizeof newer;
    room.outcome.struct_size = sizeof room;
    assert_int_equal(petal_add_batch(filter, &newer.batch, NULL, &room.outcome, NULL), PETAL_OK);
    require_that(room.outcome.done, ==, 2);
    require_that(room.outcome.positive, ==, 2);
    require_that(room.outcome.struct_size, ==, sizeof room);
    newer.later = 1;
    assert_int_equal(petal_add_batch(filter, &newer.batch, NULL, NULL, NULL), PETAL_ERR_ARGUMENT);
    small.struct_size = offsetof(petal_batch_outcome, positive);
    small.positive = 77;
    assert_int_equal(petal_add_batch(filter, &older, NULL, &small, NULL), PETAL_OK);
    require_that(small.done, ==, 2);
    require_that(small.positive, ==, 77);
    small.struct_size = 0;
    small.done = 77;
    assert_int_equal(petal_add_batch(filter, &older, NULL, &small, NULL), PETAL_ERR_ARGUMENT);
    assert_int_equal(petal_add_batch(filter, NULL, NULL, NULL, NULL), PETAL_ERR_ARGUMENT);
    require_that(small.done, ==, 77);
    petal_free(filter);
}

/* The pointer of an empty batch may be any address, because some languages pass an arbitrary
 * address for an empty slice. */
static void no_keys_are_read_nowhere(void **state)
{
    petal_filter *filter = filter_of(ONE_LINE, NULL);
    petal_batch none = PETAL_BATCH_INIT;
    (void)state;
    none.data = (const void *)(uintptr_t)sizeof(void *);
    for (none.layout = 0; none.layout <= PETAL_LAYOUT_HASHES; none.layout++) {
        none.offsets =
            none.layout == PETAL_LAYOUT_OFFSETS32 || none.layout == PETAL_LAYOUT_OFFSETS64
                ? none.data
                : NULL;
        assert_int_equal(petal_add_batch(filter, &none, NULL, NULL, NULL), PETAL_OK);
        assert_int_equal(petal_contains_batch(filter, &none, NULL, NULL, NULL), PETAL_OK);
    }
    petal_free(filter);
}

static void no_keys_are_no_work(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < KINDS; kind++)
        for (uint32_t layout = PETAL_LAYOUT_POINTERS; layout < PETAL_LAYOUT_HASHES; layout++) {
            petal_filter *filter = filter_of(kind, "none.petal");
            petal_batch none = PETAL_BATCH_INIT;
            petal_batch_outcome outcome = PETAL_BATCH_OUTCOME_INIT;
            if (!filter) break;
            none.layout = layout;
            outcome.done = outcome.positive = 9;
            assert_int_equal(petal_add_batch(filter, &none, NULL, &outcome, NULL), PETAL_OK);
            require_that(outcome.done, ==, 0);
            require_that(outcome.positive, ==, 0);
            assert_int_equal(petal_contains_batch(filter, &none, NULL, NULL, NULL), PETAL_OK);
            assert_int_equal(petal_hash_batch(filter, &none, NULL, NULL), PETAL_OK);
            assert_int_equal(petal_remove_batch(filter, &none, NULL, NULL, NULL),
                             kind == COUNTING ? PETAL_OK : PETAL_ERR_UNSUPPORTED);
            assert_int_equal(info_of(filter).items, 0);
            petal_free(filter);
        }
}

static void a_key_that_is_not_accepted_fails_the_batch_with_its_index(void **state)
{
    static const petal_key keys[] = {{"a", 1}, {"b", 1}, {NULL, 0}, {"c", 1}};
    petal_batch batch = batch_of_keys(keys, 4), empty = PETAL_BATCH_INIT;
    petal_batch_outcome outcome = PETAL_BATCH_OUTCOME_INIT;
    petal_options options = PETAL_OPTIONS_INIT;
    uint8_t results[4];
    petal_error error;
    (void)state;
    options.format = "datasketches";
    options.capacity = 100;
    options.rate = 0.01;
    petal_filter *filter = create(&options);
    memset(results, 9, sizeof results);
    assert_int_equal(petal_add_batch(filter, &batch, results, &outcome, &error),
                     PETAL_ERR_UNSUPPORTED);
    require_that(error.offset, ==, 2);
    require_that(outcome.done, ==, 0);
    require_that(outcome.positive, ==, 0);
    for (int i = 0; i < 4; i++) assert_int_equal(results[i], 0);
    assert_false(petal_contains(filter, "a", 1));
    empty.layout = PETAL_LAYOUT_FIXED;
    empty.count = 7;
    assert_int_equal(petal_add_batch(filter, &empty, NULL, NULL, &error), PETAL_ERR_UNSUPPORTED);
    require_that(error.offset, ==, 0);
    batch.count = 2;
    assert_int_equal(petal_add_batch(filter, &batch, NULL, NULL, NULL), PETAL_OK);
    batch.count = 4; /* a query of the same batch succeeds */
    assert_int_equal(petal_contains_batch(filter, &batch, results, &outcome, NULL), PETAL_OK);
    require_that(outcome.done, ==, 4);
    require_that(outcome.positive, ==, 2);
    require_that(results[2], ==, 0);
    petal_free(filter);
}

/* ---- after a failure ------------------------------------------------------------------------- */

/* Checks that the batch stops at the right key. Keys are added to `single` one by one until one
 * fails. */
static void require_stopped(petal_filter *batched, petal_filter *single, petal_status wanted)
{
    static int64_t numbers[COUNT];
    static uint8_t results[COUNT];
    petal_batch_outcome outcome = PETAL_BATCH_OUTCOME_INIT;
    petal_error error;
    petal_status status = PETAL_OK;
    size_t done = 0, fresh = 0;
    for (size_t i = 0; i < COUNT; i++) numbers[i] = (int64_t)(i % 3 ? i : 1);
    for (; done < COUNT && status >= 0; done += status >= 0) {
        status = petal_add_i64(single, numbers[done]);
        fresh += status == PETAL_OK;
    }
    assert_int_equal(status, wanted);
    petal_batch batch = batch_of_numbers(numbers, COUNT);
    memset(results, 9, sizeof results);
    require_status(wanted, petal_add_batch(batched, &batch, results, &outcome, &error), error);
    require(outcome.done == done && outcome.positive == fresh && error.offset == done,
            "%llu done, not %zu", (unsigned long long)outcome.done, done);
    for (size_t i = 0; i < COUNT; i++) {
        if (i < done)
            fresh -= results[i];
        else
            assert_int_equal(results[i], 0);
        require(i >= done || petal_contains_i64(batched, numbers[i]), "key %zu is missing", i);
    }
    assert_int_equal(fresh, 0);
    require_same(batched, single, 0, 0);
    petal_free(batched);
    petal_free(single);
}

static void a_full_filter_stops_a_batch_at_the_key_it_would_stop_at(void **state)
{
    (void)state;
    petal_options options = PETAL_OPTIONS_INIT;
    options.refuse_overfull = true;
    options.capacity = 300;
    options.rate = 0.01;
    require_stopped(create(&options), create(&options), PETAL_ERR_FULL);
}

static void a_layer_without_memory_stops_a_batch_at_the_key_that_needs_it(void **state)
{
    (void)state;
    struct counting count[2] = {{0}, {0}};
    petal_filter *filters[2];
    for (int i = 0; i < 2; i++) {
        petal_allocator allocator = counting_allocator(&count[i]);
        petal_options options = PETAL_OPTIONS_INIT;
        options.growth = true;
        options.capacity = 100;
        options.rate = 0.01;
        options.allocator = &allocator;
        filters[i] = create(&options);
        add_numbers(filters[i], 5000, 250); /* fills a second layer */
        count[i].fail_at = count[i].calls + 1;
        count[i].fail_for_ever = true;
    }
    require_stopped(filters[0], filters[1], PETAL_ERR_MEMORY);
    require_that(count[0].live_blocks, ==, 0);
    require_that(count[1].live_blocks, ==, 0);
}

static void a_frozen_filter_takes_no_key_in_any_way(void **state)
{
    static const int64_t number = 7;
    petal_batch batch = batch_of_numbers(&number, 1);
    (void)state;
    for (unsigned kind = 0; kind < KINDS; kind++) {
        if (kind == MAPPED) continue; /* freezing would sync, but the map's file has been deleted */
        petal_filter *filter = filter_of(kind, NULL);
        petal_inline hot = PETAL_INLINE_INIT;
        if (!filter) continue;
        require_that(petal_add_i64(filter, 1), >=, 0);
        assert_int_equal(petal_freeze(filter, NULL), PETAL_OK);
        require(petal_add_i64(filter, number) == PETAL_ERR_READ_ONLY &&
                    petal_add(filter, "key", 3) == PETAL_ERR_READ_ONLY &&
                    petal_add_i64(filter, 1) == PETAL_ERR_READ_ONLY &&
                    petal_add_batch(filter, &batch, NULL, NULL, NULL) == PETAL_ERR_READ_ONLY,
                "kind %u", kind);
        require_that(petal_inline_begin_adding(filter, &hot, NULL), <, 0);
        assert_true(petal_contains_i64(filter, 1));
        assert_true(!petal_contains_i64(filter, number));
        petal_free(filter);
    }
}

/* Returns a map of many blocks, some of which are damaged. A batch must stop at the first damaged
 * block. */
static petal_filter *damaged_map(const char *name)
{
    const char *path = temporary(name);
    petal_open_options open = PETAL_OPEN_OPTIONS_INIT;
    petal_filter *filter = make(PETAL_SCHEME_BLOCKED, 8 * (1 << 20), 6, 1), *map = NULL;
    petal_error error;
    require_status(PETAL_OK, petal_save(filter, path, NULL, &error), error);
    struct bytes file = read_file(path);
    file.data[file.size / 2] ^= 1;
    write_file(path, file.data, file.size);
    free(file.data);
    petal_free(filter);
    open.flags = PETAL_OPEN_WRITABLE;
    require_status(PETAL_OK, petal_open(path, &open, &map, &error), error);
    unlink(path);
    return map;
}

static void a_damaged_block_stops_a_batch_at_the_first_key_in_it(void **state)
{
    (void)state;
    static int64_t numbers[COUNT];
    petal_filter *batched = damaged_map("batched.petal"), *single = damaged_map("single.petal");
    petal_batch_outcome outcome = PETAL_BATCH_OUTCOME_INIT;
    petal_error error;
    size_t done = 0;
    for (size_t i = 0; i < COUNT; i++) numbers[i] = (int64_t)i;
    while (done < COUNT && petal_add_i64(single, numbers[done]) >= 0) done++;
    assert_in_range(done, 1, COUNT - 1);
    petal_batch batch = batch_of_numbers(numbers, COUNT);
    assert_int_equal(petal_add_batch(batched, &batch, NULL, &outcome, &error), PETAL_ERR_DAMAGED);
    require_that(outcome.done, ==, done);
    require_that(error.offset, ==, done);
    assert_int_equal(info_of(batched).items, info_of(single).items);
    assert_int_equal(contains_numbers(batched, numbers, COUNT, NULL),
                     contains_numbers(single, numbers, COUNT, NULL));
    petal_free(batched);
    petal_free(single);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_batch_does_what_its_keys_do_one_by_one),
        cmocka_unit_test(removing_a_batch_is_removing_one_by_one),
        cmocka_unit_test(batches_of_any_size_are_the_same),
        cmocka_unit_test(any_and_all_take_every_layout),
        cmocka_unit_test(offsets_that_go_backwards_or_past_the_data_are_refused),
        cmocka_unit_test(sizes_that_overflow_are_refused),
        cmocka_unit_test(descriptors_that_make_no_sense_are_refused),
        cmocka_unit_test(older_and_newer_structs_are_taken),
        cmocka_unit_test(no_keys_are_no_work),
        cmocka_unit_test(no_keys_are_read_nowhere),
        cmocka_unit_test(a_key_that_is_not_accepted_fails_the_batch_with_its_index),
        cmocka_unit_test(a_full_filter_stops_a_batch_at_the_key_it_would_stop_at),
        cmocka_unit_test(a_layer_without_memory_stops_a_batch_at_the_key_that_needs_it),
        cmocka_unit_test(a_frozen_filter_takes_no_key_in_any_way),
        cmocka_unit_test(a_damaged_block_stops_a_batch_at_the_first_key_in_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
