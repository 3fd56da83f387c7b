/* static.c - proves that a static filter can be built from any set of keys and misses none of them.
 * The filter's bytes depend only on the set, not on order, repeats, batches or threads. The files
 * in vectors/static are rebuilt and compared. Every call that such a filter doesn't support is
 * refused with a reason.
 *
 * `PETAL_UPDATE_VECTORS=1` rewrites the files in vectors/static instead of comparing them. */
#define _POSIX_C_SOURCE 200809L
#include "../amount.h"
#include "image.h"

#include "petal/petal_build.h"
#include "petal/petal_host.h"
#include "petal/petal_inline.h"

#include <math.h>
#include <pthread.h>

#define GOLDEN "vectors/static/"
#define COUNT(array) (sizeof(array) / sizeof *(array))

static const uint8_t secret[PETAL_SECRET_BYTES] = {0, 1, 2,  3,  4,  5,  6,  7,
                                                   8, 9, 10, 11, 12, 13, 14, 15};

/* ---- building -------------------------------------------------------------------------------- */

static petal_static_builder *begin(double rate, const void *own_secret, uint32_t workers)
{
    petal_options options = PETAL_OPTIONS_INIT;
    petal_static_builder *builder;
    petal_error error;
    options.rate = rate;
    options.secret = own_secret;
    require_status(PETAL_OK, petal_static_create(&options, workers, &builder, &error), error);
    return builder;
}

static petal_filter *finish(petal_static_builder *builder, petal_run run)
{
    petal_filter *filter;
    petal_error error;
    require_status(PETAL_OK, petal_static_finish(builder, run, NULL, &filter, &error), error);
    return filter;
}

static petal_filter *build(const uint64_t *hashes, uint64_t count, double rate)
{
    petal_error error;
    petal_static_builder *builder = begin(rate, NULL, 1);
    petal_batch batch = batch_of_hashes(hashes, count);
    require_status(PETAL_OK, petal_static_add(builder, 0, &batch, &error), error);
    return finish(builder, NULL);
}

/* Queries all of the keys, in a batch and one by one. */
static void require_hashes(const petal_filter *filter, const uint64_t *hashes, uint64_t count,
                           const char *kind)
{
    petal_batch batch = batch_of_hashes(hashes, count);
    petal_batch_outcome outcome = PETAL_BATCH_OUTCOME_INIT;
    petal_error error;
    require_status(PETAL_OK, petal_contains_batch(filter, &batch, NULL, &outcome, &error), error);
    require(outcome.positive == count, "%s: %" PRIu64 " of %" PRIu64 " were found", kind,
            outcome.positive, count);
    for (uint64_t i = 0; i < count; i += 1 + count / 300)
        require(petal_contains_hash(filter, hashes[i]), "%s: key %" PRIu64 " of %" PRIu64, kind, i,
                count);
}

/* ---- sets ------------------------------------------------------------------------------------ */

static uint64_t mixed(uint64_t i)
{
    return mix(i + 1);
}

static uint64_t itself(uint64_t i)
{
    return i;
}

static uint64_t repeated(uint64_t i)
{
    return mix(i / 3);
}

static uint64_t multiple(uint64_t i)
{
    return i << 40;
}

static uint64_t from_the_top(uint64_t i)
{
    return ~i;
}

/* All of these keys have the same starting bucket in the first layer. */
static uint64_t one_start(uint64_t i)
{
    return UINT64_C(0x123456789a) << 24 | i;
}

/* In the first layer, half of the keys are in one bucket of one page. In later layers, these keys
 * are evenly distributed. */
static uint64_t crowded(uint64_t i)
{
    return i % 2 ? mix(i) : mix(i) >> 20;
}

static const struct set {
    const char *name;
    uint64_t (*hash)(uint64_t i);
} sets[] = {
    {"mixed", mixed},
    {"consecutive", itself},
    {"each three times", repeated},
    {"multiples of 2^40", multiple},
    {"from the top", from_the_top},
    {"of one start", one_start},
    {"crowded", crowded},
};

static const double rates[] = {0.9, 0.5, 0.07, 0.01, 1e-3, 1e-6};

static uint64_t hashes[120000];

static void fill(const struct set *set, uint64_t count, uint64_t salt)
{
    for (uint64_t i = 0; i < count; i++) hashes[i] = set->hash(i + salt);
}

static void require_set(const struct set *set, uint64_t count, double rate)
{
    fill(set, count, 0);
    petal_filter *filter = build(hashes, count, rate);
    require_hashes(filter, hashes, count, set->name);
    petal_free(filter);
}

static void no_set_of_keys_fails_or_misses_one(void **state)
{
    uint64_t step = is_nightly() ? 1 : 7;
    (void)state;
    for (size_t s = 0; s < COUNT(sets); s++)
        for (size_t r = 0; r < COUNT(rates); r++) {
            for (uint64_t count = 0; count <= 300; count++) require_set(&sets[s], count, rates[r]);
            for (uint64_t count = 301 + 37 * r; count <= 12000; count += step * (400 + 11 * s))
                require_set(&sets[s], count, rates[r]);
            require_set(&sets[s], 100000, rates[r]);
        }
}

/* Depending on the rate, a different share of the buckets is one column wider. */
static void the_predicted_rate_is_what_asking_finds_and_at_most_the_wanted_one(void **state)
{
    static const double wanted[] = {0.9, 0.4, 0.3, 0.07, 0.0156, 0.01, 0.008, 0.0078};
    (void)state;
    for (size_t r = 0; r < COUNT(wanted); r++) {
        fill(&sets[0], 60000, 0);
        petal_filter *filter = build(hashes, 60000, wanted[r]);
        double predicted = info_of(filter).predicted_rate,
               estimated = stats_of(filter).estimated_rate;
        fill(&sets[0], COUNT(hashes), 1000000);
        petal_batch batch = batch_of_hashes(hashes, COUNT(hashes));
        petal_batch_outcome outcome = PETAL_BATCH_OUTCOME_INIT;
        assert_int_equal(petal_contains_batch(filter, &batch, NULL, &outcome, NULL), PETAL_OK);
        double expected = predicted * COUNT(hashes), sd = sqrt(expected * (1 - predicted));
        require(fabs((double)outcome.positive - expected) < 5 * sd, "%g: %" PRIu64 ", expected %g",
                wanted[r], outcome.positive, expected);
        require_that(predicted, <=, wanted[r]);
        require_that(fabs(estimated - predicted), <, 0.01 * predicted);
        petal_free(filter);
    }
}

/* Builds 10^6 sets of 0 to 16,383 keys in ./dev nightly, and otherwise 10^4. Every order of
 * magnitude is equally frequent. */
static void no_random_set_of_any_size_fails_or_misses_one(void **state)
{
    uint64_t count = is_nightly() ? 1000000 : 10000;
    (void)state;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t random = mix(~i), size = random % ((uint64_t)1 << (random >> 32) % 15);
        const struct set *set = &sets[random >> 48 & 1 ? 0 : (random >> 49) % COUNT(sets)];
        fill(set, size, random);
        petal_filter *filter = build(hashes, size, rates[(random >> 40) % COUNT(rates)]);
        petal_batch batch = batch_of_hashes(hashes, size);
        petal_batch_outcome outcome = PETAL_BATCH_OUTCOME_INIT;
        assert_int_equal(petal_contains_batch(filter, &batch, NULL, &outcome, NULL), PETAL_OK);
        require(outcome.positive == size, "set %" PRIu64 ", %s: %" PRIu64 " of %" PRIu64, i,
                set->name, outcome.positive, size);
        petal_free(filter);
    }
}

static void an_empty_set_has_no_key(void **state)
{
    (void)state;
    petal_filter *filter = build(hashes, 0, 0.01);
    for (uint64_t i = 0; i < 100000; i++) assert_false(petal_contains_hash(filter, mix(i)));
    petal_info info = PETAL_INFO_INIT;
    assert_int_equal(petal_get_info(filter, PETAL_ALL_LAYERS, &info, NULL), PETAL_OK);
    require_that(info.items, ==, 0);
    petal_free(filter);
}

/* ---- the same bytes -------------------------------------------------------------------------- */

struct thread_of_run {
    pthread_t thread;
    petal_task task;
    void *argument;
    uint32_t worker;
};

static void *run_thread(void *context)
{
    struct thread_of_run *own = context;
    own->task(own->argument, own->worker);
    return NULL;
}

static void run_in_threads(void *context, petal_task task, void *argument, uint32_t workers)
{
    struct thread_of_run threads[8];
    (void)context;
    for (uint32_t i = 0; i < workers; i++) {
        threads[i] = (struct thread_of_run){.task = task, .argument = argument, .worker = i};
        assert_int_equal(pthread_create(&threads[i].thread, NULL, run_thread, &threads[i]), 0);
    }
    for (uint32_t i = 0; i < workers; i++) pthread_join(threads[i].thread, NULL);
}

/* A runner that assigns all work to one worker. */
static void run_lazily(void *context, petal_task task, void *argument, uint32_t workers)
{
    (void)context;
    task(argument, workers - 1);
}

/* Adds the keys backwards, in pieces that are distributed to workers. Some keys are added twice. */
static petal_filter *build_otherwise(uint64_t count, double rate, uint32_t workers, petal_run run)
{
    petal_static_builder *builder = begin(rate, NULL, workers);
    petal_error error;
    for (uint64_t left = count, piece; left > 0; left -= piece) {
        piece = left < 777 ? left : 777;
        petal_batch batch = batch_of_hashes(hashes + left - piece, piece);
        require_status(
            PETAL_OK, petal_static_add(builder, (uint32_t)(left % workers), &batch, &error), error);
        if (left % 5 == 0)
            require_status(PETAL_OK, petal_static_add(builder, 0, &batch, &error), error);
    }
    return finish(builder, run);
}

static void the_bytes_depend_on_the_set_alone(void **state)
{
    static const uint64_t counts[] = {0, 1, 133, 134, 135, 1000, 20000, 120000};
    (void)state;
    for (size_t s = 0; s < COUNT(sets); s++)
        for (size_t i = 0; i < COUNT(counts); i++) {
            fill(&sets[s], counts[i], 0);
            petal_filter *one = build(hashes, counts[i], rates[(s + i) % COUNT(rates)]);
            for (uint32_t way = 0; way < 3; way++) {
                petal_run run = way == 0 ? NULL : way == 1 ? run_in_threads : run_lazily;
                petal_filter *other =
                    build_otherwise(counts[i], rates[(s + i) % COUNT(rates)], way ? 3 : 1, run);
                require(same_image(one, other), "%s, %" PRIu64 " keys, way %u", sets[s].name,
                        counts[i], way);
                petal_free(other);
            }
            petal_free(one);
        }
}

/* ---- files ----------------------------------------------------------------------------------- */

static void add_texts(petal_static_builder *builder, int count)
{
    char key[16];
    petal_key keys[1];
    petal_batch batch = PETAL_BATCH_INIT;
    for (int i = 0; i < count; i++) {
        keys[0] = (petal_key){key, (size_t)snprintf(key, sizeof key, "key-%d", i)};
        batch.data = keys;
        batch.count = 1;
        assert_int_equal(petal_static_add(builder, 0, &batch, NULL), PETAL_OK);
    }
}

static void add_integers(petal_static_builder *builder, int64_t count)
{
    petal_batch batch = PETAL_BATCH_INIT;
    batch.layout = PETAL_LAYOUT_I64;
    for (int64_t i = 0; i < count; i++) {
        batch.data = &i;
        batch.count = 1;
        assert_int_equal(petal_static_add(builder, 0, &batch, NULL), PETAL_OK);
    }
}

static const struct recipe {
    const char *name;
    double rate;
    int texts;
    int64_t integers;
    bool is_keyed;
} recipes[] = {
    {"empty", 0.01, 0, 0, false},       {"list", 0.01, 5, 0, false},
    {"texts", 0.01, 100, 0, false},     {"texts-keyed", 1e-3, 100, 0, true},
    {"integers", 1e-6, 0, 2000, false}, {"whole-columns", 1. / 128, 0, 2000, false},
    {"half", 0.6, 0, 2000, false},      {"two-pages", 0.01, 0, 100000, false},
};

static petal_filter *make_recipe(const struct recipe *recipe)
{
    petal_static_builder *builder = begin(recipe->rate, recipe->is_keyed ? secret : NULL, 1);
    add_texts(builder, recipe->texts);
    add_integers(builder, recipe->integers);
    return finish(builder, NULL);
}

static void the_golden_files_are_made_byte_for_byte(void **state)
{
    bool is_updating = getenv("PETAL_UPDATE_VECTORS") != NULL; /* NOLINT(concurrency-mt-unsafe) */
    char path[64];
    (void)state;
    for (size_t i = 0; i < COUNT(recipes); i++) {
        petal_filter *filter = make_recipe(&recipes[i]);
        struct bytes image = serialized(filter);
        snprintf(path, sizeof path, GOLDEN "%s.petal", recipes[i].name);
        if (is_updating) write_file(path, image.data, image.size);
        struct bytes golden = read_file(path);
        require(same_bytes(image, golden), "%s", path);
        free(golden.data);
        free(image.data);
        petal_free(filter);
    }
}

static const struct recipe *const two_pages = &recipes[COUNT(recipes) - 1];

static void require_integers(const petal_filter *filter)
{
    for (int64_t i = 0; i < two_pages->integers; i++)
        require(petal_contains_i64(filter, i), "%" PRId64, i);
}

/* Tests the filter mapped, mapped with verification on use, and loaded. */
static void saved_and_opened_in_every_way_it_is_the_same(void **state)
{
    static const uint32_t flags[] = {0, PETAL_OPEN_VERIFY, PETAL_OPEN_VERIFY_ON_USE};
    const char *path = temporary("saved.petal");
    petal_filter *filter = make_recipe(two_pages), *opened;
    petal_error error;
    (void)state;
    require_status(PETAL_OK, petal_save(filter, path, NULL, &error), error);
    for (size_t i = 0; i < 2 * COUNT(flags); i++) {
        petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
        options.flags = i % 2 ? PETAL_OPEN_LOAD : PETAL_OPEN_MAP | flags[i / 2];
        require_status(PETAL_OK, petal_open(path, &options, &opened, &error), error);
        require_integers(opened);
        require_that(petal_verify(opened, &error), >=, PETAL_OK);
        assert_true(same_image(filter, opened));
        petal_filter *copy = clone_of(opened);
        require_integers(copy);
        petal_free(copy);
        petal_free(opened);
    }
    petal_free(filter);
}

/* Damages the byte at this offset, counted from the first layer. Counts the answered and the failed
 * queries for the keys of two_pages. */
static void query_damaged(uint64_t offset, uint64_t *sound, uint64_t *damaged)
{
    const char *path = temporary("damaged.petal");
    petal_filter *filter = make_recipe(two_pages), *opened;
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    petal_error error;
    *sound = *damaged = 0;
    struct bytes image = serialized(filter);
    image.data[get64(image.data + AT_PAYLOAD_OFFSET) + offset] ^= 1;
    write_file(path, image.data, image.size);
    options.flags = PETAL_OPEN_MAP | PETAL_OPEN_VERIFY_ON_USE;
    require_status(PETAL_OK, petal_open(path, &options, &opened, &error), error);
    for (int64_t i = 0; i < two_pages->integers; i++) {
        bool answer = false;
        petal_batch batch = PETAL_BATCH_INIT;
        batch.layout = PETAL_LAYOUT_I64;
        batch.data = &i;
        batch.count = 1;
        petal_status status = petal_contains_all(opened, &batch, &answer, &error);
        if (status == PETAL_OK) assert_true(answer);
        *(status == PETAL_OK ? sound : damaged) += 1;
        if (status != PETAL_OK) require_that(status, ==, PETAL_ERR_DAMAGED);
    }
    free(image.data);
    petal_free(opened);
    petal_free(filter);
}

/* Each page is a block with a checksum. Damage in one page affects neither queries in the other
 * page nor queries that an earlier layer answers. */
static void damage_of_a_page_is_found_and_leaves_the_others(void **state)
{
    petal_info first = PETAL_INFO_INIT;
    petal_filter *filter = make_recipe(two_pages);
    uint64_t sound, damaged;
    (void)state;
    query_damaged(1000, &sound, &damaged);
    require_that(sound, >, 1000);
    require_that(damaged, >, 1000);
    assert_int_equal(petal_get_info(filter, 0, &first, NULL), PETAL_OK);
    query_damaged(first.bytes + 1000, &sound, &damaged);
    require_that(sound, >=, first.items);
    require_that(damaged, >, 1000);
    petal_free(filter);
}

/* ---- by ranges of the file ------------------------------------------------------------------- */

static petal_filter *open_header(const char *path, const struct recipe *recipe)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    petal_filter *header;
    petal_error error;
    options.flags = PETAL_OPEN_HEADER_ONLY;
    options.secret = recipe->is_keyed ? secret : NULL;
    require_status(PETAL_OK, petal_open(path, &options, &header, &error), error);
    return header;
}

/* Copies the bytes in the key's ranges, and checks that each range is in a block with a checksum.
 * Returns the number of bytes. */
static size_t take_ranges(const petal_filter *header, const struct bytes file, int64_t number,
                          uint8_t *bytes)
{
    static petal_range ranges[64];
    petal_range block, sum;
    petal_error error;
    uint8_t key[8];
    uint64_t count, size = 0;
    petal_encode_i64(number, key);
    require_status(PETAL_OK, petal_key_ranges(header, key, 8, ranges, 64, &count, &error), error);
    require_that(count, <=, 2 * info_of(header).layers);
    for (uint64_t i = 0; i < count; size += ranges[i++].size_bytes) {
        petal_range range = ranges[i];
        require_status(PETAL_OK, petal_block_ranges(header, range.offset, &block, &sum, &error),
                       error);
        require_that(range.offset + range.size_bytes, <=, block.offset + block.size_bytes);
        require_that(range.size_bytes, <=, 496);
        memcpy(bytes + size, file.data + range.offset, (size_t)range.size_bytes);
    }
    return (size_t)size;
}

static void require_in_ranges(const petal_filter *header, const petal_filter *filter,
                              const struct bytes file, int64_t number)
{
    static uint8_t bytes[64 * 496];
    uint8_t key[8];
    bool answer = false;
    petal_error error;
    size_t size = take_ranges(header, file, number, bytes);
    petal_encode_i64(number, key);
    /* A separate copy, so that a sanitizer finds reads past the end. */
    struct bytes own = copy_bytes(bytes, size);
#define CONTAINS(size_bytes) \
    petal_contains_in_ranges(header, key, 8, own.data, size_bytes, &answer, &error)
    require_status(PETAL_OK, CONTAINS(size), error);
    require(answer == petal_contains_i64(filter, number), "key %" PRId64, number);
    require_status(PETAL_ERR_TRUNCATED, CONTAINS(size - 1), error);
    require_status(PETAL_ERR_ARGUMENT, CONTAINS(size + 1), error);
    free(own.data);
}

/* Queries layer by layer, as docs/hosts.md describes. Returns the number of bytes needed. */
static uint64_t ask_in_turn(const petal_filter *header, const petal_filter *filter,
                            const struct bytes file, int64_t number)
{
    static uint8_t bytes[64 * 496];
    uint8_t key[8];
    bool answer = false;
    petal_error error;
    uint64_t size = 0;
    size_t all = take_ranges(header, file, number, bytes);
    petal_encode_i64(number, key);
    for (;;) {
        struct bytes own = copy_bytes(bytes, (size_t)size);
        petal_status status =
            petal_contains_in_ranges(header, key, 8, own.data, size, &answer, &error);
        free(own.data);
        if (status == PETAL_OK) break;
        require_status(PETAL_ERR_TRUNCATED, status, error);
        require_that(error.offset, >, size);
        require_that(error.offset, <=, all);
        size = error.offset;
    }
    require(answer == petal_contains_i64(filter, number), "key %" PRId64, number);
    return size;
}

static void a_query_by_ranges_reads_only_the_layers_up_to_the_one_that_answers(void **state)
{
    const char *path = temporary("in-turn.petal");
    petal_filter *filter = make_recipe(two_pages);
    petal_info info = info_of(filter);
    petal_error error;
    uint64_t once = 0, sum = 0, count = 0;
    (void)state;
    require_status(PETAL_OK, petal_save(filter, path, NULL, &error), error);
    petal_filter *header = open_header(path, two_pages);
    struct bytes file = read_file(path);
    for (int64_t i = -50000; i < 2 * two_pages->integers; i += 11, count++) {
        uint64_t size = ask_in_turn(header, filter, file, i);
        once += size <= 1 + 16 * ((uint64_t)info.hashes + 1);
        sum += size;
    }
    /* 95.5 % of the keys are not bumped to the next layer; the bound is 6 standard deviations
     * lower. */
    require_that(once, >=, count * 94 / 100);
    require_that(sum, <=, count * 130);
    free(file.data);
    petal_free(header);
    petal_free(filter);
}

static void ranges_of_the_file_answer_as_the_whole_filter_does(void **state)
{
    const char *path = temporary("ranges.petal");
    (void)state;
    for (size_t i = 0; i < COUNT(recipes); i++) {
        petal_filter *filter = make_recipe(&recipes[i]);
        petal_error error;
        require_status(PETAL_OK, petal_save(filter, path, NULL, &error), error);
        petal_filter *header = open_header(path, &recipes[i]);
        struct bytes file = read_file(path);
        for (int64_t k = -2000; k < 6000; k++) require_in_ranges(header, filter, file, k * 17);
        petal_free(header);
        petal_free(filter);
        free(file.data);
    }
}

/* At 1 %, a query reads one byte of codes and 7 columns of two blocks, regardless of the layer's
 * size. */
static void a_query_by_ranges_reads_113_bytes_of_a_layer(void **state)
{
    const char *path = temporary("ranges.petal");
    uint8_t bytes[64 * 496];
    petal_filter *filter = make_recipe(two_pages);
    petal_error error;
    (void)state;
    require_status(PETAL_OK, petal_save(filter, path, NULL, &error), error);
    petal_filter *header = open_header(path, two_pages);
    struct bytes file = read_file(path);
    for (int64_t k = 0; k < 1000; k++)
        require_that(take_ranges(header, file, k, bytes), <=, 113 * info_of(header).layers);
    petal_free(header);
    petal_free(filter);
    free(file.data);
}

static void every_flipped_bit_and_every_cut_is_noticed(void **state)
{
    petal_filter *filter = make_recipe(&recipes[2]), *opened;
    struct bytes image = serialized(filter);
    (void)state;
    for (size_t bit = 0; bit < image.size * 8; bit++) {
        image.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        petal_status status = petal_load(image.data, image.size, NULL, &opened, NULL);
        require(status < 0, "bit %zu of %zu", bit, image.size * 8);
        image.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    for (size_t size = 0; size < image.size; size++)
        assert_true(petal_load(image.data, size, NULL, &opened, NULL) < 0);
    free(image.data);
    petal_free(filter);
}

/* ---- headers that are sealed but wrong ------------------------------------------------------- */

static void require_forged(const struct recipe *recipe, uint32_t layer, size_t at, size_t size,
                           uint64_t value, petal_status wanted)
{
    petal_filter *filter = make_recipe(recipe), *opened = NULL;
    struct bytes image = serialized(filter);
    petal_error error;
    for (unsigned slot = 0; slot < 2; slot++)
        put_number(slot_of(image, slot) + (size_t)layer * LAYER_ENTRY + at, size, value);
    seal_both(image);
    petal_status status = petal_load(image.data, image.size, NULL, &opened, &error);
    require(status == wanted, "field at %zu as %" PRIu64 ": %s", at, value,
            petal_status_name(status));
    free(image.data);
    petal_free(opened);
    petal_free(filter);
}

static void sealed_headers_that_are_wrong_are_refused(void **state)
{
    const struct recipe *recipe = &recipes[4];
    (void)state;
    require_forged(recipe, 0, AT_FEATURES, 4, 0, PETAL_ERR_DAMAGED);
    require_forged(recipe, 0, AT_FEATURES, 4, 3, PETAL_ERR_DAMAGED);
    require_forged(recipe, 0, AT_FEATURES, 4, 4, PETAL_ERR_NEWER);
    require_forged(recipe, 0, AT_SCHEME, 4, PETAL_SCHEME_CLASSIC, PETAL_ERR_DAMAGED);
    require_forged(recipe, 0, AT_SCHEME, 4, 5, PETAL_ERR_NEWER);
    require_forged(recipe, 0, AT_HASHES, 4, 0, PETAL_ERR_DAMAGED);
    require_forged(recipe, 0, AT_HASHES, 4, 31, PETAL_ERR_DAMAGED);
    require_forged(recipe, 0, AT_HASHES, 4, UINT32_MAX, PETAL_ERR_DAMAGED);
    require_forged(recipe, 0, AT_HASHES, 4, 18, PETAL_ERR_DAMAGED);
    require_forged(recipe, 0, AT_LINES_PER_KEY, 4, UINT32_MAX, PETAL_ERR_DAMAGED);
    require_forged(recipe, 0, AT_LINES_PER_KEY, 4, 1000, PETAL_ERR_DAMAGED);
    require_forged(recipe, 0, AT_BITS, 8, 0, PETAL_ERR_DAMAGED);
    require_forged(recipe, 0, AT_BITS, 8, 1, PETAL_ERR_DAMAGED);
    require_forged(recipe, 0, AT_BITS, 8, 128, PETAL_ERR_DAMAGED);
    require_forged(recipe, 0, AT_BITS, 8, (uint64_t)1 << 47, PETAL_ERR_DAMAGED);
    require_forged(recipe, 0, AT_BITS, 8, UINT64_MAX - 127, PETAL_ERR_DAMAGED);
    require_forged(recipe, 0, AT_ITEMS, 8, 1, PETAL_ERR_DAMAGED);
    require_forged(recipe, 1, AT_HASHES, 4, 7, PETAL_ERR_DAMAGED);
    require_forged(recipe, 1, AT_LINES_PER_KEY, 4, 1, PETAL_ERR_DAMAGED);
    require_forged(recipe, 0, AT_UNTIL_MS, 8, 1, PETAL_ERR_DAMAGED);
}

/* ---- what it can't do ------------------------------------------------------------------------ */

static void require_unsupported(petal_status status, const petal_error *error, const char *call)
{
    require(status == PETAL_ERR_UNSUPPORTED && strstr(error->message, "static"), "%s: %s: %s", call,
            petal_status_name(status), error->message);
}

static int32_t take_none(void *context, const void *bytes, size_t size_bytes)
{
    (void)context, (void)bytes, (void)size_bytes;
    return 0;
}

static void require_no_changes(petal_filter *filter, petal_filter *other)
{
    petal_error error;
    petal_filter *like;
    petal_builder *builder;
    petal_comparison comparison = PETAL_COMPARISON_INIT;
    uint32_t workers = 1;
    struct bytes before = serialized(filter);
    assert_int_equal(petal_add(filter, "a", 1), PETAL_ERR_UNSUPPORTED);
    assert_int_equal(petal_add_i64(filter, 1), PETAL_ERR_UNSUPPORTED);
    assert_int_equal(petal_add_hash(filter, 1), PETAL_ERR_UNSUPPORTED);
    assert_int_equal(petal_remove(filter, "a", 1), PETAL_ERR_UNSUPPORTED);
    petal_batch batch = batch_of_hashes(hashes, 10);
    require_unsupported(petal_add_batch(filter, &batch, NULL, NULL, &error), &error, "add_batch");
    require_unsupported(petal_clear(filter, &error), &error, "clear");
    require_unsupported(petal_merge(filter, other, &error), &error, "merge");
    require_unsupported(petal_intersect(filter, other, &error), &error, "intersect");
    require_unsupported(petal_compare(filter, other, &comparison, &error), &error, "compare");
    require_unsupported(petal_allow_threads(filter, &error), &error, "allow_threads");
    require_unsupported(petal_create_like(filter, &like, &error), &error, "create_like");
    require_unsupported(petal_builder_create(filter, &workers, &builder, &error), &error,
                        "builder_create");
    require_unsupported(petal_diff(filter, other, take_none, NULL, &error), &error, "diff");
    struct bytes after = serialized(filter);
    assert_true(same_bytes(before, after));
    free(before.data);
    free(after.data);
}

static void what_it_cannot_do_says_why(void **state)
{
    const char *path = temporary("fixed.petal");
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    petal_filter *filter = make_recipe(&recipes[2]), *opened;
    petal_error error;
    (void)state;
    require_no_changes(filter, filter);
    require_status(PETAL_OK, petal_save(filter, path, NULL, &error), error);
    require_status(PETAL_OK, petal_open(path, NULL, &opened, &error), error);
    require_no_changes(opened, filter);
    petal_free(opened);
    options.flags = PETAL_OPEN_WRITABLE;
    require_unsupported(petal_open(path, &options, &opened, &error), &error, "open");
    petal_free(filter);
}

/* ---- created, filled and frozen -------------------------------------------------------------- */

static petal_filter *create_unbuilt(const struct recipe *recipe, const petal_allocator *allocator)
{
    petal_options options = PETAL_OPTIONS_INIT;
    petal_filter *filter;
    petal_error error;
    options.scheme = PETAL_SCHEME_STATIC;
    options.rate = recipe->rate;
    options.secret = recipe->is_keyed ? secret : NULL;
    options.allocator = allocator;
    require_status(PETAL_OK, petal_create(&options, &filter, &error), error);
    return filter;
}

/* Adds a recipe's keys one by one, and its integers in two halves, with every call that adds
 * keys. */
static void add_recipe(petal_filter *filter, const struct recipe *recipe)
{
    char key[16];
    petal_error error;
    for (int i = 0; i < recipe->texts; i++) {
        size_t size = (size_t)snprintf(key, sizeof key, "key-%d", i);
        assert_int_equal(petal_add(filter, key, size), PETAL_OK);
    }
    int64_t half = recipe->integers / 2, *rest = calloc((size_t)half + 1, sizeof *rest);
    for (int64_t i = 0; i < half; i++) assert_int_equal(petal_add_i64(filter, i), PETAL_OK);
    for (int64_t i = half; i < recipe->integers; i++) rest[i - half] = i;
    petal_batch batch = PETAL_BATCH_INIT;
    petal_batch_outcome outcome = PETAL_BATCH_OUTCOME_INIT;
    batch.layout = PETAL_LAYOUT_I64;
    batch.data = rest;
    batch.count = (uint64_t)(recipe->integers - half);
    require_status(PETAL_OK, petal_add_batch(filter, &batch, NULL, &outcome, &error), error);
    require_that(outcome.positive, ==, batch.count);
    free(rest);
}

static void created_and_frozen_it_is_the_one_that_a_builder_makes(void **state)
{
    petal_error error;
    (void)state;
    for (size_t i = 0; i < COUNT(recipes); i++) {
        petal_filter *filter = create_unbuilt(&recipes[i], NULL), *built = make_recipe(&recipes[i]);
        add_recipe(filter, &recipes[i]);
        require_status(PETAL_OK, petal_freeze(filter, &error), error);
        require(same_image(filter, built), "%s", recipes[i].name);
        require_no_changes(filter, built);
        require_status(PETAL_OK, petal_freeze(filter, &error), error);
        require(same_image(filter, built), "%s, frozen again", recipes[i].name);
        petal_free(filter);
        petal_free(built);
    }
}

static void require_unbuilt(petal_status status, const petal_error *error, const char *call)
{
    require(status == PETAL_ERR_UNSUPPORTED && strstr(error->message, "not built yet"),
            "%s: %s: %s", call, petal_status_name(status), error->message);
}

/* Until the filter is frozen, every query returns true, and calls that need bits are refused. */
static void until_it_is_frozen_it_has_no_bits(void **state)
{
    petal_filter *filter = create_unbuilt(two_pages, NULL), *made;
    petal_error error;
    petal_info info = PETAL_INFO_INIT;
    petal_stats stats = PETAL_STATS_INIT;
    petal_inline fast = PETAL_INLINE_INIT;
    uint8_t found[3] = {0};
    uint32_t workers = 1;
    petal_builder *builder;
    (void)state;
    for (int64_t i = 0; i < 1000; i++) assert_int_equal(petal_add_i64(filter, i), PETAL_OK);
    require_status(PETAL_OK, petal_get_info(filter, PETAL_ALL_LAYERS, &info, &error), error);
    require_that(info.items, ==, 1000);
    require_that(info.memory_bytes, >=, 8000);
    assert_true(info.abilities & PETAL_CAN_ADD);
    assert_false(info.abilities & (PETAL_CAN_SAVE | PETAL_CAN_STATS | PETAL_CAN_CLEAR));
    assert_true(petal_contains_i64(filter, 5));
    assert_true(petal_contains_i64(filter, -5));
    petal_batch batch = batch_of_hashes(hashes, 3);
    require_status(PETAL_OK, petal_contains_batch(filter, &batch, found, NULL, &error), error);
    assert_true(found[0] && found[1] && found[2]);
    assert_false(petal_is_overfull(filter));
    require_unbuilt(petal_save(filter, temporary("unbuilt"), NULL, &error), &error, "save");
    require_unbuilt(petal_clone(filter, &made, &error), &error, "clone");
    require_unbuilt(petal_get_stats(filter, PETAL_ALL_LAYERS, &stats, &error), &error, "stats");
    require_unsupported(petal_builder_create(filter, &workers, &builder, &error), &error,
                        "builder");
    require_unsupported(petal_fold(filter, NULL, &made, &error), &error, "fold");
    require_unsupported(petal_clear(filter, &error), &error, "clear");
    require_unsupported(petal_create_like(filter, &made, &error), &error, "create_like");
    require_unsupported(petal_allow_threads(filter, &error), &error, "allow_threads");
    require_unsupported(petal_merge(filter, filter, &error), &error, "merge");
    require_unbuilt(petal_write_bits(filter, 0, 0, found, 3, &error), &error, "write_bits");
    require_unbuilt(petal_adopt_bits(filter, 0, found, 3, &error), &error, "adopt_bits");
    require_unbuilt(petal_set_items(filter, 5, &error), &error, "set_items");
    assert_int_equal(petal_inline_begin(filter, &fast, &error), PETAL_ERR_UNSUPPORTED);
    assert_int_equal(petal_remove_i64(filter, 5), PETAL_ERR_UNSUPPORTED);
    require_status(PETAL_OK, petal_freeze(filter, &error), error);
    for (int64_t i = 0; i < 1000; i++) assert_true(petal_contains_i64(filter, i));
    uint64_t positive = 0;
    for (int64_t i = -100000; i < 0; i++) positive += petal_contains_i64(filter, i);
    require_that(positive, <, 1200); /* 1,000 expected, plus six standard deviations */
    petal_free(filter);
}

static void *move_block(void *context, void *memory, size_t size_bytes)
{
    void *to = counting_alloc(context, size_bytes);
    memcpy(to, memory, size_bytes);
    memset(memory, 0xa5, size_bytes);
    counting_release(context, memory, size_bytes);
    return to;
}

static void moved_while_it_collects_keys_it_is_built_all_the_same(void **state)
{
    struct counting counts = {0};
    petal_allocator allocator = counting_allocator(&counts);
    petal_filter *filter = create_unbuilt(two_pages, &allocator), *built = make_recipe(two_pages);
    petal_error error;
    (void)state;
    add_recipe(filter, two_pages);
    require_status(PETAL_OK, petal_relocate(&filter, move_block, &counts, &error), error);
    require_status(PETAL_OK, petal_freeze(filter, &error), error);
    assert_true(same_image(filter, built));
    petal_free(filter);
    petal_free(built);
    require_that(counts.live_blocks, ==, 0);
    require_that(counts.bad_releases, ==, 0);
}

/* Makes each allocation fail in turn. A filter that could not be built must still find every
 * key. */
static void a_freeze_that_fails_leaves_no_wrong_answer_and_no_leak(void **state)
{
    petal_status status = PETAL_ERR_MEMORY;
    (void)state;
    fill(&sets[0], 60000, 0);
    for (uint64_t limit = 1; status == PETAL_ERR_MEMORY; limit++) {
        struct counting counts = {0};
        petal_allocator allocator = counting_allocator(&counts);
        petal_filter *filter = create_unbuilt(two_pages, &allocator);
        petal_batch batch = batch_of_hashes(hashes, 60000);
        petal_error error;
        require_status(PETAL_OK, petal_add_batch(filter, &batch, NULL, NULL, &error), error);
        counts.fail_at = counts.calls + limit;
        counts.fail_for_ever = true;
        status = petal_freeze(filter, &error);
        require_hashes(filter, hashes, 60000, "after petal_freeze()");
        if (status != PETAL_OK) {
            assert_int_equal(status, PETAL_ERR_MEMORY);
            assert_int_equal(petal_freeze(filter, &error), PETAL_ERR_MEMORY);
            assert_int_equal(petal_add_i64(filter, 1), PETAL_ERR_MEMORY);
            require_unbuilt(petal_save(filter, temporary("unbuilt"), NULL, &error), &error, "save");
        }
        petal_free(filter);
        require_that(counts.live_blocks, ==, 0);
        require_that(counts.bad_releases, ==, 0);
    }
    assert_int_equal(status, PETAL_OK);
}

static void require_options(petal_options options, petal_status wanted)
{
    petal_static_builder *builder;
    petal_filter *filter;
    petal_error error;
    if (options.rate == 0) options.rate = 0.01;
    require_status(wanted, petal_static_create(&options, 1, &builder, &error), error);
    assert_null(builder);
    if (options.scheme != PETAL_SCHEME_DEFAULT || options.format) return;
    options.scheme = PETAL_SCHEME_STATIC;
    require_status(wanted, petal_create(&options, &filter, &error), error);
    assert_null(filter);
}

static void options_that_have_no_effect_are_refused(void **state)
{
    const petal_options none = PETAL_OPTIONS_INIT;
    petal_options o;
    (void)state;
    o = none, o.rate = 1, require_options(o, PETAL_ERR_ARGUMENT);
    o = none, o.rate = -1, require_options(o, PETAL_ERR_ARGUMENT);
    o = none, o.rate = NAN, require_options(o, PETAL_ERR_ARGUMENT);
    o = none, o.rate = 1e-10, require_options(o, PETAL_ERR_UNREACHABLE);
    o = none, o.capacity = 1, require_options(o, PETAL_ERR_ARGUMENT);
    o = none, o.bits = 1, require_options(o, PETAL_ERR_ARGUMENT);
    o = none, o.hashes = 1, require_options(o, PETAL_ERR_ARGUMENT);
    o = none, o.memory_bytes = 1, require_options(o, PETAL_ERR_ARGUMENT);
    o = none, o.growth = 1, require_options(o, PETAL_ERR_ARGUMENT);
    o = none, o.window_keys = 1, require_options(o, PETAL_ERR_ARGUMENT);
    o = none, o.foldable = 1, require_options(o, PETAL_ERR_ARGUMENT);
    o = none, o.format = "guava", require_options(o, PETAL_ERR_ARGUMENT);
    o = none, o.scheme = PETAL_SCHEME_BLOCKED, require_options(o, PETAL_ERR_ARGUMENT);
    o = none, o.hash = PETAL_HASH_SIPHASH, require_options(o, PETAL_ERR_SECRET_MISSING);
    o = none, o.hash = 99, require_options(o, PETAL_ERR_ARGUMENT);
}

/* ---- ways to query --------------------------------------------------------------------------- */

/* One in seven numbers is present. The rate is so high that many absent keys are false
 * positives. */
static petal_filter *build_numbers(const int64_t *numbers, uint64_t count, const char *level)
{
    petal_error error;
    if (level) setenv("PETAL_KERNEL", level, 1);
    petal_static_builder *builder = begin(0.2, NULL, 1);
    petal_batch batch = batch_of_numbers(numbers, (size_t)count / 7);
    require_status(PETAL_OK, petal_static_add(builder, 0, &batch, &error), error);
    petal_filter *filter = finish(builder, NULL);
    unsetenv("PETAL_KERNEL");
    return filter;
}

static void one_key_or_many_by_bytes_number_or_hash_the_answers_are_equal(void **state)
{
    static const char *const levels[] = {"generic", "avx2", "avx512", NULL};
    static int64_t numbers[COUNT(hashes)];
    static uint8_t wanted[COUNT(hashes)], found[COUNT(hashes)];
    (void)state;
    for (uint64_t i = 0; i < COUNT(hashes); i++) numbers[i] = (int64_t)mix(i);
    for (uint64_t count = 70; count <= COUNT(hashes); count = count * 5 + 3) {
        petal_filter *filter = build_numbers(numbers, count, "generic");
        for (uint64_t i = 0; i < count; i++) {
            uint8_t key[8];
            petal_encode_i64(numbers[i], key);
            hashes[i] = petal_hash_key(filter, key, sizeof key);
            wanted[i] = petal_contains_hash(filter, hashes[i]);
        }
        petal_free(filter);
        for (size_t l = 0; l < COUNT(levels); l++) {
            filter = build_numbers(numbers, count, levels[l]);
            contains_numbers(filter, numbers, (size_t)count, found);
            assert_memory_equal(found, wanted, (size_t)count);
            contains_hashes(filter, hashes, (size_t)count, found);
            assert_memory_equal(found, wanted, (size_t)count);
            for (uint64_t i = 0; i < count; i++) {
                uint8_t key[8];
                petal_encode_i64(numbers[i], key);
                require_that(petal_contains(filter, key, sizeof key), ==, wanted[i]);
                require_that(petal_contains_i64(filter, numbers[i]), ==, wanted[i]);
                require_that(petal_contains_hash(filter, hashes[i]), ==, wanted[i]);
            }
            petal_free(filter);
        }
    }
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Makes each allocation fail in turn. Each failure must return an error and leak nothing. */
static void every_failure_of_memory_is_an_error_and_no_leak(void **state)
{
    petal_error error;
    petal_static_builder *builder;
    petal_filter *filter = NULL;
    petal_status status = PETAL_ERR_MEMORY;
    uint64_t count = 60000;
    (void)state;
    fill(&sets[0], count, 0);
    for (uint64_t limit = 1; status == PETAL_ERR_MEMORY; limit++) {
        struct counting counts = {.fail_at = limit, .fail_for_ever = true};
        petal_allocator allocator = counting_allocator(&counts);
        petal_options options = PETAL_OPTIONS_INIT;
        petal_batch batch = batch_of_hashes(hashes, count);
        options.rate = 0.01;
        options.allocator = &allocator;
        status = petal_static_create(&options, 1, &builder, &error);
        if (status == PETAL_OK) status = petal_static_add(builder, 0, &batch, &error);
        if (status != PETAL_OK && builder)
            assert_int_equal(petal_static_finish(builder, NULL, NULL, NULL, NULL), PETAL_OK);
        else if (status == PETAL_OK)
            status = petal_static_finish(builder, NULL, NULL, &filter, &error);
        if (status == PETAL_OK) petal_free(filter);
        require_that(counts.live_blocks, ==, 0);
        require_that(counts.bad_releases, ==, 0);
    }
    require_status(PETAL_OK, status, error);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_set_of_keys_fails_or_misses_one),
        cmocka_unit_test(the_predicted_rate_is_what_asking_finds_and_at_most_the_wanted_one),
        cmocka_unit_test(no_random_set_of_any_size_fails_or_misses_one),
        cmocka_unit_test(an_empty_set_has_no_key),
        cmocka_unit_test(the_bytes_depend_on_the_set_alone),
        cmocka_unit_test(the_golden_files_are_made_byte_for_byte),
        cmocka_unit_test(saved_and_opened_in_every_way_it_is_the_same),
        cmocka_unit_test(damage_of_a_page_is_found_and_leaves_the_others),
        cmocka_unit_test(ranges_of_the_file_answer_as_the_whole_filter_does),
        cmocka_unit_test(a_query_by_ranges_reads_only_the_layers_up_to_the_one_that_answers),
        cmocka_unit_test(a_query_by_ranges_reads_113_bytes_of_a_layer),
        cmocka_unit_test(every_flipped_bit_and_every_cut_is_noticed),
        cmocka_unit_test(sealed_headers_that_are_wrong_are_refused),
        cmocka_unit_test(what_it_cannot_do_says_why),
        cmocka_unit_test(options_that_have_no_effect_are_refused),
        cmocka_unit_test(created_and_frozen_it_is_the_one_that_a_builder_makes),
        cmocka_unit_test(until_it_is_frozen_it_has_no_bits),
        cmocka_unit_test(moved_while_it_collects_keys_it_is_built_all_the_same),
        cmocka_unit_test(a_freeze_that_fails_leaves_no_wrong_answer_and_no_leak),
        cmocka_unit_test(one_key_or_many_by_bytes_number_or_hash_the_answers_are_equal),
        cmocka_unit_test(every_failure_of_memory_is_an_error_and_no_leak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
