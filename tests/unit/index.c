/* index.c - proves that an index gives the same answers as its filters, for groups of any width,
 * and preserves the filters bit for bit. Its size classes keep the rates within the promised space.
 * The library refuses damaged or truncated index files, and filters that can't be part of an
 * index. */
#include "kinds.h"

#include "petal/petal_index.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- indexes in one line --------------------------------------------------------------------- */

static petal_index *new_index(const petal_index_options *options)
{
    petal_index *index = NULL;
    petal_error error;
    require_status(PETAL_OK, petal_index_create(options, &index, &error), error);
    return index;
}

static void add(petal_index *index, const char *name, const petal_filter *filter)
{
    petal_error error;
    require_status(PETAL_OK, petal_index_add(index, name, filter, &error), error);
}

static void add_keys_of(petal_index *index, const char *name, const petal_options *options,
                        uint64_t from, uint64_t count)
{
    petal_static_builder *builder = NULL;
    petal_error error;
    require_status(PETAL_OK, petal_static_create(options, 1, &builder, &error), error);
    for (uint64_t i = from; i < from + count; i++) {
        int64_t number = (int64_t)i;
        petal_batch batch = batch_of_numbers(&number, 1);
        require_status(PETAL_OK, petal_static_add(builder, 0, &batch, &error), error);
    }
    require_status(PETAL_OK, petal_index_add_keys(index, name, builder, &error), error);
}

static petal_index *open_at(const char *path, const petal_open_options *options)
{
    petal_index *index = NULL;
    petal_error error;
    require_status(PETAL_OK, petal_index_open(path, options, &index, &error), error);
    return index;
}

static void save(const petal_index *index, const char *path)
{
    petal_error error;
    require_status(PETAL_OK, petal_index_save(index, path, NULL, &error), error);
}

static petal_index_info index_info(const petal_index *index)
{
    petal_index_info info = PETAL_INDEX_INFO_INIT;
    require_that(petal_index_get_info(index, &info, NULL), ==, PETAL_OK);
    return info;
}

static struct bytes image_of(const petal_index *index)
{
    const char *path = temporary("index-image");
    save(index, path);
    return read_file(path);
}

/* ---- answers --------------------------------------------------------------------------------- */

#define KEYS 3000

/* Compares the index's answers with those of each of its filters, for the numbers from 0 on. The
 * bits after a row's last filter must be 0. */
static void require_answers(const petal_index *index, petal_filter *const *filters, size_t count)
{
    static int64_t numbers[KEYS];
    uint64_t words = (count + 63) / 64 + 1;
    uint64_t *rows = malloc(KEYS * words * sizeof *rows);
    petal_error error;
    for (int64_t i = 0; i < KEYS; i++) numbers[i] = i;
    petal_batch batch = batch_of_numbers(numbers, KEYS);
    memset(rows, 0xa5, KEYS * words * sizeof *rows);
    require_status(PETAL_OK, petal_index_query(index, &batch, rows, words, &error), error);
    for (size_t f = 0; f < 64 * words; f++)
        for (int64_t i = 0; i < KEYS; i++) {
            bool got = rows[(uint64_t)i * words + f / 64] >> f % 64 & 1;
            bool wanted = f < count && petal_contains_i64(filters[f], i);
            require(got == wanted, "filter %zu of %zu, key %lld: %d", f, count, (long long)i, got);
        }
    free(rows);
}

/* Tests the index in all forms: as built, mapped, viewed, and mapped with verification on use. */
static void require_answers_in_all_forms(const petal_index *made, petal_filter *const *filters,
                                         size_t count)
{
    const char *path = temporary("index-forms");
    petal_open_options guarded = PETAL_OPEN_OPTIONS_INIT;
    petal_index *view = NULL;
    petal_error error;
    guarded.flags = PETAL_OPEN_VERIFY_ON_USE;
    guarded.secret = index_info(made).secret_id ? kinds_secret : NULL;
    petal_open_options plain = guarded;
    plain.flags = PETAL_OPEN_VERIFY;
    require_answers(made, filters, count);
    save(made, path);
    petal_index *map = open_at(path, &plain), *guard = open_at(path, &guarded);
    struct bytes file = read_file(path);
    require_status(PETAL_OK, petal_index_view(file.data, file.size, &plain, &view, &error), error);
    require_answers(map, filters, count);
    require_answers(guard, filters, count);
    require_answers(view, filters, count);
    require_that(petal_index_verify(map, NULL), ==, PETAL_OK);
    require_that(index_info(map).bytes, ==, file.size);
    require_that(index_info(made).bytes, ==, file.size);
    for (size_t i = 0; i < count; i++)
        assert_string_equal(petal_index_name(map, i), petal_index_name(made, i));
    petal_index_free(map);
    petal_index_free(guard);
    petal_index_free(view);
    free(file.data);
}

static void name_of(size_t i, char name[32])
{
    snprintf(name, 32, "filter %zu", i);
}

/* All filters have the same size but different numbers of keys. */
static void groups_of_every_width_answer_as_their_filters_do(void **state)
{
    static const size_t widths[] = {1, 2, 3, 8, 57, 58, 63, 64, 65, 127, 128, 511, 512, 513, 777};
    (void)state;
    for (size_t w = 0; w < COUNT(widths); w++) {
        petal_index *index = new_index(NULL);
        petal_filter **filters = calloc(widths[w], sizeof *filters);
        for (size_t i = 0; i < widths[w]; i++) {
            char name[32];
            uint32_t scheme = w % 3 ? PETAL_SCHEME_BLOCKED : PETAL_SCHEME_CLASSIC;
            filters[i] = make(scheme, scheme == PETAL_SCHEME_CLASSIC ? 1001 : 1024, 4, 0);
            add_numbers(filters[i], i * 3, i % 200);
            name_of(i, name);
            add(index, name, filters[i]);
        }
        require_that(index_info(index).groups, ==, 1);
        require_answers_in_all_forms(index, filters, widths[w]);
        for (size_t i = 0; i < widths[w]; i++) petal_free(filters[i]);
        free(filters);
        petal_index_free(index);
    }
}

/* Filters with the same size, hash and seed form a group. A keyed filter forms a group of its
 * own. */
static void filters_of_many_kinds_answer_as_they_do_alone(void **state)
{
    enum { FILTERS = 250 };
    petal_filter *filters[FILTERS];
    petal_index *index = new_index(NULL);
    (void)state;
    for (size_t i = 0; i < FILTERS; i++) {
        static const struct {
            uint32_t scheme, hashes, lines;
        } kinds[] = {{PETAL_SCHEME_BLOCKED, 6, 1},  {PETAL_SCHEME_BLOCKED, 7, 1},
                     {PETAL_SCHEME_BLOCKED, 16, 1}, {PETAL_SCHEME_BLOCKED, 13, 2},
                     {PETAL_SCHEME_BLOCKED, 32, 2}, {PETAL_SCHEME_CLASSIC, 7, 0},
                     {PETAL_SCHEME_CLASSIC, 64, 0}};
        size_t kind = i % COUNT(kinds);
        char name[32];
        petal_options options = options_of(kinds[kind].scheme, 512 * (1 + i % 6),
                                           kinds[kind].hashes, kinds[kind].lines);
        options.seed = i % 3 == 0 ? 7 : 0;
        options.secret = i % 11 == 0 ? kinds_secret : NULL;
        if (options.secret) options.seed = 0;
        filters[i] = create(&options);
        add_numbers(filters[i], i, 20 + i % 50);
        name_of(i, name);
        add(index, name, filters[i]);
    }
    require_that(index_info(index).groups, >, 30u);
    require_answers_in_all_forms(index, filters, FILTERS);
    for (size_t i = 0; i < FILTERS; i++) petal_free(filters[i]);
    petal_index_free(index);
}

/* The library has special code for querying groups of a few filters, and for groups that exceed the
 * cache. */
static void groups_of_few_filters_answer_as_they_do_at_every_level(void **state)
{
    static const char *const levels[] = {"generic", "sse4", "avx2", "avx512", "neon"};
    static const struct {
        size_t filters, lines;
    } groups[] = {{1, 1}, {1, 17000}, {2, 7}, {5, 640}, {9, 2048}, {57, 64}};
    static const struct {
        uint32_t scheme, hashes, lines;
    } kinds[] = {{PETAL_SCHEME_BLOCKED, 1, 1},  {PETAL_SCHEME_BLOCKED, 6, 1},
                 {PETAL_SCHEME_BLOCKED, 9, 1},  {PETAL_SCHEME_BLOCKED, 16, 1},
                 {PETAL_SCHEME_BLOCKED, 2, 2},  {PETAL_SCHEME_BLOCKED, 13, 2},
                 {PETAL_SCHEME_BLOCKED, 32, 2}, {PETAL_SCHEME_CLASSIC, 5, 0}};
    (void)state;
    for (size_t l = 0; l < COUNT(levels); l++) {
        petal_filter *filters[COUNT(kinds) * (1 + 1 + 2 + 5 + 9 + 57)];
        petal_index *index = new_index(NULL);
        size_t made = 0;
        setenv("PETAL_KERNEL", levels[l], 1);
        for (size_t i = 0; i < COUNT(kinds) * COUNT(groups); i++)
            for (size_t j = 0; j < groups[i % COUNT(groups)].filters; j++, made++) {
                size_t kind = i / COUNT(groups), lines = groups[i % COUNT(groups)].lines;
                char name[32];
                filters[made] =
                    make(kinds[kind].scheme, 512 * lines, kinds[kind].hashes, kinds[kind].lines);
                add_numbers(filters[made], j * 40, lines < 50 ? 8 * lines : 1000);
                name_of(made, name);
                add(index, name, filters[made]);
            }
        require_that(index_info(index).groups, ==, COUNT(kinds) * COUNT(groups));
        require_answers_in_all_forms(index, filters, made);
        unsetenv("PETAL_KERNEL");
        while (made > 0) petal_free(filters[--made]);
        petal_index_free(index);
    }
}

static void batches_of_every_layout_and_size_are_answered(void **state)
{
    petal_filter *filter = make(PETAL_SCHEME_BLOCKED, 4096, 5, 1);
    petal_index *made = new_index(NULL);
    const char *path = temporary("index-batches");
    uint64_t hashes[2100], rows[2100];
    petal_key keys[2100];
    uint8_t encoded[2100][8];
    (void)state;
    add_numbers(filter, 0, 300);
    add(made, "one", filter);
    save(made, path);
    petal_index *index = open_at(path, NULL);
    for (size_t i = 0; i < 2100; i++) {
        petal_encode_i64((int64_t)i, encoded[i]);
        keys[i] = (petal_key){encoded[i], 8};
        hashes[i] = petal_hash_key(filter, encoded[i], 8);
    }
    static const size_t sizes[] = {0, 1, 31, 32, 33, 1023, 1024, 1025, 2048, 2100};
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (int of_hashes = 0; of_hashes < 2; of_hashes++) {
            petal_batch batch =
                of_hashes ? batch_of_hashes(hashes, sizes[s]) : batch_of_keys(keys, sizes[s]);
            petal_error error;
            memset(rows, 0xff, sizeof rows);
            require_status(PETAL_OK, petal_index_query(index, &batch, rows, 1, &error), error);
            for (size_t i = 0; i < 2100; i++)
                require_that(rows[i], ==,
                             i < sizes[s] ? (uint64_t)petal_contains_hash(filter, hashes[i])
                                          : UINT64_MAX);
        }
    petal_index_free(made);
    petal_index_free(index);
    petal_free(filter);
}

/* ---- filters stay what they are -------------------------------------------------------------- */

static petal_index *mixed_index(void)
{
    petal_index *index = new_index(NULL);
    for (size_t i = 0; i < 200; i++) {
        char name[32];
        petal_filter *filter = make(i % 2 ? PETAL_SCHEME_BLOCKED : PETAL_SCHEME_CLASSIC,
                                    512 * (1 + i % 3), 3 + i % 2, 0);
        add_numbers(filter, i * 5, i);
        name_of(i, name);
        add(index, name, filter);
        petal_free(filter);
    }
    return index;
}

static void an_opened_index_can_be_taken_apart_and_gives_the_same_bytes(void **state)
{
    petal_index *made = mixed_index(), *again = new_index(NULL), *copy = new_index(NULL);
    const char *path = temporary("index-apart");
    petal_error error;
    (void)state;
    save(made, path);
    petal_index *index = open_at(path, NULL);
    require_status(PETAL_OK, petal_index_add_index(again, index, NULL, 0, &error), error);
    require_status(PETAL_OK, petal_index_add_index(copy, made, NULL, 0, &error), error);
    struct bytes a = read_file(path), b = image_of(again), c = image_of(copy), d = image_of(index);
    require(same_bytes(a, b), "an opened index");
    require(same_bytes(a, c), "a made index");
    require(same_bytes(a, d), "a saved opened index");
    free(a.data), free(b.data), free(c.data), free(d.data);
    petal_index_free(made);
    petal_index_free(again);
    petal_index_free(copy);
    petal_index_free(index);
}

/* These files were written by an independent program derived only from the format's specification;
 * see vectors/README.md. */
static void golden_files_are_read_and_written_anew_byte_for_byte(void **state)
{
    static const struct {
        const char *path;
        uint64_t filters, found; /* number of filters that contain "key-7" */
    } golden[] = {{"vectors/index/mixed.petals", 13, 8},
                  {"vectors/index/keyed.petals", 2, 2},
                  {"vectors/index/wide.petals", 520, 1}};
    (void)state;
    for (size_t i = 0; i < COUNT(golden); i++) {
        petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
        uint8_t secret[PETAL_SECRET_BYTES];
        petal_index *again = new_index(NULL);
        uint64_t row[9], found = 0;
        petal_key key = {"key-7", 5};
        petal_error error;
        for (uint8_t b = 0; b < sizeof secret; b++) secret[b] = b;
        options.flags = PETAL_OPEN_VERIFY;
        options.secret = i == 1 ? secret : NULL;
        petal_index *index = open_at(golden[i].path, &options);
        require_that(index_info(index).filters, ==, golden[i].filters);
        petal_batch batch = batch_of_keys(&key, 1);
        require_status(PETAL_OK, petal_index_query(index, &batch, row, 9, &error), error);
        for (size_t f = 0; f < 64 * COUNT(row); f++) found += row[f / 64] >> f % 64 & 1;
        require_that(found, ==, golden[i].found);
        require_status(PETAL_OK, petal_index_add_index(again, index, NULL, 0, &error), error);
        struct bytes before = read_file(golden[i].path), after = image_of(again);
        require(same_bytes(before, after), "%s", golden[i].path);
        free(before.data), free(after.data);
        petal_index_free(index);
        petal_index_free(again);
    }
}

static void filters_can_be_left_out_and_added(void **state)
{
    petal_index *made = mixed_index(), *less = new_index(NULL);
    const char *path = temporary("index-less");
    const char *without[] = {"filter 0", "filter 199", "filter 77"}, *none[] = {"filter 200"};
    petal_error error;
    (void)state;
    save(made, path);
    petal_index *index = open_at(path, NULL);
    require_status(PETAL_ERR_ARGUMENT, petal_index_add_index(less, index, none, 1, &error), error);
    require_that(index_info(less).filters, ==, 0u);
    require_status(PETAL_OK, petal_index_add_index(less, index, without, 3, &error), error);
    require_that(index_info(less).filters, ==, 197u);
    assert_string_equal(petal_index_name(less, 0), "filter 1");
    assert_string_equal(petal_index_name(less, 76), "filter 78");
    require_status(PETAL_ERR_EXISTS, petal_index_add_index(less, index, NULL, 0, &error), error);
    petal_index_free(less);
    petal_index_free(made);
    petal_index_free(index);
}

static void what_is_known_of_a_filter_stays_known(void **state)
{
    petal_options options = PETAL_OPTIONS_INIT;
    petal_index *made = new_index(NULL);
    const char *path = temporary("index-known");
    petal_info before, info = PETAL_INFO_INIT;
    petal_error error;
    (void)state;
    options.capacity = 5000;
    options.rate = 0.003;
    options.seed = 99;
    options.key_type = PETAL_KEY_TYPE_I64;
    petal_filter *filter = create(&options);
    add_numbers(filter, 0, 1234);
    add(made, "known", filter);
    save(made, path);
    petal_index *index = open_at(path, NULL);
    before = info_of(filter);
    require_status(PETAL_OK, petal_index_get_filter_info(index, 0, &info, &error), error);
    require_that(info.bits, ==, before.bits);
    require_that(info.hashes, ==, before.hashes);
    require_that(info.capacity, ==, 5000u);
    require_that(info.items, ==, 1234u);
    require_that(info.target_rate, ==, 0.003);
    require_that(info.predicted_rate, ==, before.predicted_rate);
    require_that(info.seed, ==, 99u);
    require_that(info.key_type, ==, PETAL_KEY_TYPE_I64);
    require_that(index_info(index).key_type, ==, PETAL_KEY_TYPE_I64);
    require_status(PETAL_ERR_ARGUMENT, petal_index_get_filter_info(index, 1, &info, &error), error);
    require(petal_index_name(index, 1) == NULL, "there is no filter 1");
    petal_index_free(made);
    petal_index_free(index);
    petal_free(filter);
}

/* ---- size classes ---------------------------------------------------------------------------- */

/* The sets contain 10 to 10^5 keys each. Their sizes are evenly distributed on a logarithmic
 * scale. */
static void indexes_of_keys_miss_none_and_take_an_eighth_more_at_most(void **state)
{
    enum { SETS = 160 };
    petal_index *made = new_index(NULL);
    petal_options options = PETAL_OPTIONS_INIT, plan_options = PETAL_OPTIONS_INIT;
    const char *path = temporary("index-classes");
    uint64_t planned = 0, rows[3], from = 0;
    petal_error error;
    (void)state;
    options.rate = plan_options.rate = 0.01;
    for (size_t i = 0; i < SETS; i++) {
        char name[32];
        uint64_t keys = (uint64_t)(10 * pow(10000, (double)i / SETS));
        petal_info plan = PETAL_INFO_INIT;
        plan_options.capacity = keys;
        require_status(PETAL_OK, petal_plan(&plan_options, &plan, NULL, &error), error);
        name_of(i, name);
        add_keys_of(made, name, &options, from, keys);
        petal_info info = PETAL_INFO_INIT;
        require_that(petal_index_get_filter_info(made, i, &info, NULL), ==, PETAL_OK);
        require_that(info.bytes, >=, plan.bytes);
        require_that((double)info.bytes, <=, 1.125 * (double)plan.bytes);
        require_that(info.items, ==, keys);
        require_that(info.predicted_rate, <=, 0.01);
        planned += plan.bytes;
        from += keys;
    }
    save(made, path);
    petal_index *index = open_at(path, NULL);
    petal_index_info info = index_info(index);
    require_that((double)info.bytes, <=, 1.15 * (double)planned);
    from = 0;
    for (size_t i = 0; i < SETS; i++) {
        uint64_t keys = (uint64_t)(10 * pow(10000, (double)i / SETS));
        for (uint64_t k = 0; k < keys; k += 1 + keys / 500) {
            int64_t number = (int64_t)(from + k);
            petal_batch batch = batch_of_numbers(&number, 1);
            require_that(petal_index_query(index, &batch, rows, 3, NULL), ==, PETAL_OK);
            require(rows[i / 64] >> i % 64 & 1, "filter %zu misses key %llu", i,
                    (unsigned long long)k);
        }
        from += keys;
    }
    petal_index_free(made);
    petal_index_free(index);
}

/* Neither the keys' order nor repeated keys affect the result. An empty set is valid. */
static void equal_sets_of_keys_give_equal_filters(void **state)
{
    petal_index *a = new_index(NULL), *b = new_index(NULL);
    petal_options options = PETAL_OPTIONS_INIT;
    int64_t twice[2000];
    petal_static_builder *builder = NULL;
    petal_error error;
    (void)state;
    options.rate = 0.02;
    for (int64_t i = 0; i < 2000; i++) twice[i] = (1999 - i) % 1000;
    add_keys_of(a, "x", &options, 0, 1000);
    add_keys_of(a, "none", &options, 0, 0);
    require_status(PETAL_OK, petal_static_create(&options, 1, &builder, &error), error);
    petal_batch batch = batch_of_numbers(twice, 2000);
    require_status(PETAL_OK, petal_static_add(builder, 0, &batch, &error), error);
    require_status(PETAL_OK, petal_index_add_keys(b, "x", builder, &error), error);
    add_keys_of(b, "none", &options, 0, 0);
    struct bytes first = image_of(a), second = image_of(b);
    require(same_bytes(first, second), "1000 keys, and 2000 with repeats in another order");
    free(first.data), free(second.data);
    petal_index_free(a);
    petal_index_free(b);
}

/* Nearly empty filters of 720,720 lines are folded to the size classes that an index uses for sets
 * of keys. */
static void foldable_filters_come_to_share_sizes_and_keep_their_rates(void **state)
{
    petal_index_options index_options = PETAL_INDEX_OPTIONS_INIT;
    petal_options options = PETAL_OPTIONS_INIT;
    (void)state;
    index_options.fold = 1;
    petal_index *index = new_index(&index_options);
    options.capacity = 100000;
    options.rate = 0.01;
    options.foldable = 1;
    for (size_t i = 0; i < 20; i++) {
        char name[32];
        petal_info info = PETAL_INFO_INIT;
        petal_filter *filter = create(&options);
        uint64_t keys = 1000 + 40 * i;
        add_numbers(filter, i * 10000, keys);
        name_of(i, name);
        add(index, name, filter);
        require_that(petal_index_get_filter_info(index, i, &info, NULL), ==, PETAL_OK);
        require_that(petal_predict_rate(&info, keys), <=, 0.01);
        require_that((double)info.bytes, <=, 1.5 * (double)keys * 10 / 8);
        petal_free(filter);
    }
    require_that(index_info(index).groups, <, 10u);
    petal_index_free(index);
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void require_refused(petal_index *index, petal_status wanted, const char *name,
                            const petal_filter *filter)
{
    petal_error error;
    uint64_t before = index_info(index).filters;
    require_status(wanted, petal_index_add(index, name, filter, &error), error);
    require_that(index_info(index).filters, ==, before);
}

static void what_does_not_fit_is_refused_and_changes_nothing(void **state)
{
    petal_index *index = new_index(NULL);
    petal_filter *good = make(PETAL_SCHEME_BLOCKED, 512, 3, 1);
    static const uint8_t other_secret[PETAL_SECRET_BYTES] = "another";
    char *long_name = calloc(1, 65537);
    (void)state;
    memset(long_name, 'n', 65536);
    add(index, "good", good);
    require_refused(index, PETAL_ERR_EXISTS, "good", good);
    require_refused(index, PETAL_ERR_ARGUMENT, "", good);
    require_refused(index, PETAL_ERR_ARGUMENT, long_name, good);
    long_name[65535] = '\0';
    add(index, long_name, good);
    free(long_name);
    enum kind kinds[] = {KIND_COUNTING, KIND_GROWING, KIND_WINDOW_KEYS, KIND_WINDOW_TIME};
    for (size_t i = 0; i < COUNT(kinds); i++) {
        petal_filter *filter = kind_filter(kinds[i], NULL);
        require_refused(index, PETAL_ERR_UNSUPPORTED, kind_names[kinds[i]], filter);
        petal_free(filter);
    }
    petal_options options = options_of(PETAL_SCHEME_BLOCKED, 512, 3, 1);
    options.key_type = PETAL_KEY_TYPE_HEX;
    petal_filter *of_hex = create(&options);
    require_refused(index, PETAL_ERR_MISMATCH, "hex", of_hex);
    options.key_type = PETAL_KEY_TYPE_TEXT;
    options.secret = kinds_secret;
    petal_filter *keyed = create(&options);
    add(index, "keyed", keyed);
    options.secret = other_secret;
    petal_filter *other = create(&options);
    require_refused(index, PETAL_ERR_MISMATCH, "other", other);
    petal_options guava = PETAL_OPTIONS_INIT;
    guava.format = "guava";
    guava.capacity = 100;
    guava.rate = 0.01;
    petal_filter *foreign = NULL;
    if (petal_create(&guava, &foreign, NULL) == PETAL_OK)
        require_refused(index, PETAL_ERR_UNSUPPORTED, "guava", foreign);
    petal_free(foreign);
    petal_free(of_hex);
    petal_free(keyed);
    petal_free(other);
    petal_free(good);
    petal_index_free(index);
}

/* With locked_path, no other handle can replace the file between reading the index and saving its
 * successor. Saving moves the lock to the new file, and freeing the index releases it. */
static void an_index_that_will_be_replaced_stays_as_it_was_read(void **state)
{
    petal_filter *filter = make(PETAL_SCHEME_BLOCKED, 512, 3, 1);
    petal_index *first = new_index(NULL), *none = NULL;
    petal_index_options options = PETAL_INDEX_OPTIONS_INIT;
    const char *path = temporary("index-locked");
    petal_error error;
    (void)state;
    options.locked_path = path;
    require_status(PETAL_ERR_IO, petal_index_create(&options, &none, &error), error);
    add(first, "first", filter);
    save(first, path);
    petal_index *second = new_index(&options), *read = open_at(path, NULL);
    require_status(PETAL_OK, petal_index_add_index(second, read, NULL, 0, &error), error);
    petal_index_free(read);
    for (int i = 0; i < 2; i++) {
        require_status(PETAL_ERR_BUSY, petal_index_save(first, path, NULL, &error), error);
        require_status(PETAL_ERR_BUSY, petal_index_create(&options, &none, &error), error);
        require(none == NULL, "no index after a failure");
        add(second, i ? "third" : "second", filter);
        save(second, path);
    }
    petal_index_free(second);
    read = open_at(path, NULL);
    require_that(index_info(read).filters, ==, 3);
    petal_index_free(read);
    save(first, path);
    petal_index_free(first);
    petal_free(filter);
}

static void an_opened_index_never_changes_and_calls_check_their_arguments(void **state)
{
    petal_index *made = mixed_index(), *empty = new_index(NULL), *none = NULL;
    petal_filter *filter = make(PETAL_SCHEME_BLOCKED, 512, 3, 1);
    const char *path = temporary("index-fixed");
    petal_index_options options = PETAL_INDEX_OPTIONS_INIT;
    petal_open_options opening = PETAL_OPEN_OPTIONS_INIT;
    petal_save_options saving = PETAL_SAVE_OPTIONS_INIT;
    uint64_t rows[8], hash = 1;
    int64_t number = 5;
    petal_error error;
    (void)state;
    save(made, path);
    petal_index *index = open_at(path, NULL);
    require_refused(index, PETAL_ERR_READ_ONLY, "new", filter);
    require_status(PETAL_ERR_READ_ONLY, petal_index_add_index(index, made, NULL, 0, &error), error);
    require_status(PETAL_ERR_ARGUMENT, petal_index_add_index(made, made, NULL, 0, &error), error);
    petal_batch batch = batch_of_numbers(&number, 1), hashes = batch_of_hashes(&hash, 1);
    require_status(PETAL_ERR_ARGUMENT, petal_index_query(index, &batch, rows, 3, &error), error);
    require_status(PETAL_OK, petal_index_query(index, &hashes, rows, 4, &error), error);
    require_status(PETAL_ERR_ARGUMENT, petal_index_save(empty, path, NULL, &error), error);
    require_that(petal_index_query(empty, &batch, rows, 0, NULL), ==, PETAL_OK);
    require_that(petal_index_verify(made, NULL), ==, PETAL_UNCHECKED);
    saving.flags = PETAL_SAVE_NO_REPLACE;
    require_status(PETAL_ERR_EXISTS, petal_index_save(made, path, &saving, &error), error);
    saving.format = "guava";
    require_status(PETAL_ERR_ARGUMENT, petal_index_save(made, path, &saving, &error), error);
    options.scheme = PETAL_SCHEME_COUNTING;
    require_status(PETAL_ERR_ARGUMENT, petal_index_create(&options, &none, &error), error);
    opening.flags = PETAL_OPEN_WRITABLE;
    require_status(PETAL_ERR_ARGUMENT, petal_index_open(path, &opening, &none, &error), error);
    opening.flags = 0;
    opening.max_bytes = 4096;
    require_status(PETAL_ERR_LIMIT, petal_index_open(path, &opening, &none, &error), error);
    opening.max_bytes = 0;
    opening.secret = kinds_secret;
    require_status(PETAL_ERR_SECRET_WRONG, petal_index_open(path, &opening, &none, &error), error);
    require(none == NULL, "no index after a failure");
    petal_index_free(NULL);
    petal_index_free(made);
    petal_index_free(empty);
    petal_index_free(index);
    petal_free(filter);
}

static void hashes_are_refused_if_filters_hash_differently(void **state)
{
    petal_index *index = new_index(NULL);
    petal_options options = options_of(PETAL_SCHEME_BLOCKED, 512, 3, 1);
    uint64_t hash = 1, row;
    petal_error error;
    (void)state;
    for (uint64_t seed = 0; seed < 2; seed++) {
        options.seed = seed;
        petal_filter *filter = create(&options);
        add(index, seed ? "seed 1" : "seed 0", filter);
        petal_free(filter);
    }
    petal_batch batch = batch_of_hashes(&hash, 1);
    require_status(PETAL_ERR_MISMATCH, petal_index_query(index, &batch, &row, 1, &error), error);
    petal_index_free(index);
}

/* ---- damage ---------------------------------------------------------------------------------- */

static petal_status open_bytes(const uint8_t *bytes, size_t size, unsigned flags,
                               petal_index **index)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    options.flags = flags;
    return petal_index_view(bytes, size, &options, index, NULL);
}

static void every_changed_byte_is_noticed(void **state)
{
    petal_index *made = mixed_index(), *index = NULL;
    struct bytes file = image_of(made);
    (void)state;
    for (size_t i = 0; i < file.size; i += i < 8192 ? 1 : 7) {
        file.data[i] ^= (uint8_t)(1 + i % 255);
        petal_status status = open_bytes(file.data, file.size, PETAL_OPEN_VERIFY, &index);
        require(status < 0 && !index, "byte %zu: %s", i, petal_status_name(status));
        file.data[i] ^= (uint8_t)(1 + i % 255);
    }
    require_that(open_bytes(file.data, file.size, PETAL_OPEN_VERIFY, &index), ==, PETAL_OK);
    petal_index_free(index);
    petal_index_free(made);
    free(file.data);
}

static void every_cut_off_file_is_refused(void **state)
{
    petal_index *made = mixed_index(), *index = NULL;
    struct bytes file = image_of(made);
    (void)state;
    for (size_t size = 0; size < file.size; size++) {
        /* A separate copy with one spare byte, so that sanitizers find reads past its end. */
        uint8_t *copy = malloc(size + 1);
        memcpy(copy, file.data, size);
        petal_status status = open_bytes(copy, size, 0, &index);
        require(status == (size == 0 ? PETAL_ERR_NOT_A_FILTER : PETAL_ERR_TRUNCATED), "%zu: %s",
                size, petal_status_name(status));
        free(copy);
    }
    uint8_t *longer = calloc(1, file.size + 1);
    memcpy(longer, file.data, file.size);
    require_that(open_bytes(longer, file.size + 1, 0, &index), ==, PETAL_ERR_DAMAGED);
    free(longer);
    petal_index_free(made);
    free(file.data);
}

static void put64(uint8_t *to, uint64_t value)
{
    for (int i = 0; i < 8; i++) to[i] = (uint8_t)(value >> 8 * i);
}

/* Recomputes the checksum of a forged header. */
static void seal(uint8_t *file)
{
    put64(file + 120, XXH3_64bits_withSeed(file, 120, 0));
}

/* Recomputes the checksums of all forged tables before the first row. */
static void seal_tables(uint8_t *file, size_t rows_at)
{
    put64(file + 112, XXH3_64bits_withSeed(file + 128, rows_at - 128, 1));
    seal(file);
}

/* A recorded rate must be between 0 and 1. The field may also say that no rate is recorded. */
static void impossible_rates_are_refused(void **state)
{
    static const double rates[] = {NAN, -NAN, INFINITY, 1, -0.0, -0.5, 0x1p-1074, 0.999, 0};
    petal_index *made = new_index(NULL), *index = NULL;
    petal_filter *filter = make(PETAL_SCHEME_BLOCKED, 512, 3, 1);
    (void)state;
    add(made, "one", filter);
    struct bytes file = image_of(made);
    for (size_t i = 0; i < COUNT(rates); i++) {
        uint64_t bits;
        memcpy(&bits, &rates[i], sizeof bits);
        put64(file.data + 128 + 64 + 24, bits);
        seal_tables(file.data, 4096);
        require_that(open_bytes(file.data, file.size, 0, &index), ==,
                     i < 6 ? PETAL_ERR_DAMAGED : PETAL_OK);
        petal_index_free(index);
    }
    free(file.data);
    petal_free(filter);
    petal_index_free(made);
}

static void sizes_that_contradict_the_file_are_refused_before_they_are_used(void **state)
{
    petal_index *made = mixed_index(), *index = NULL;
    struct bytes file = image_of(made);
    static const uint64_t values[] = {0,          1,          0xff,       0xffff,
                                      0xffffffff, 0x80000000, UINT64_MAX, (uint64_t)1 << 63};
    uint8_t *forged = malloc(file.size);
    (void)state;
    for (size_t at = 16; at < 48; at += 8)
        for (size_t v = 0; v < COUNT(values); v++) {
            memcpy(forged, file.data, file.size);
            for (int i = 0; i < 8; i++) forged[at + i] = (uint8_t)(values[v] >> 8 * i);
            if (memcmp(forged, file.data, 128) == 0) continue;
            seal(forged);
            petal_status status = open_bytes(forged, file.size, 0, &index);
            require(status == PETAL_ERR_DAMAGED || status == PETAL_ERR_TRUNCATED, "byte %zu: %s",
                    at, petal_status_name(status));
        }
    for (size_t at = 128; at < 128 + 6 * 64; at += 4) /* the groups */
        for (size_t v = 0; v < COUNT(values); v++) {
            memcpy(forged, file.data, file.size);
            for (int i = 0; i < 8; i++) forged[at + i] = (uint8_t)(values[v] >> 8 * i);
            petal_status status = open_bytes(forged, file.size, 0, &index);
            require(status < 0 || memcmp(forged, file.data, file.size) == 0, "byte %zu", at);
            petal_index_free(index);
            index = NULL;
        }
    memcpy(forged, file.data, file.size);
    forged[8] = 2;
    require_that(open_bytes(forged, file.size, 0, &index), ==, PETAL_ERR_NEWER);
    forged[8] = 1;
    forged[12] = 1;
    require_that(open_bytes(forged, file.size, 0, &index), ==, PETAL_ERR_NEWER);
    free(forged);
    free(file.data);
    petal_index_free(made);
}

/* A batch on a map that checks blocks on use returns the same answers as the filters, or it fails.
 * If it fails, the keys before the failing one have answers from both groups. */
static void require_no_answer_from_damage(size_t count, uint64_t lines)
{
    petal_index *made = new_index(NULL), *index = NULL;
    petal_filter *filter = make(PETAL_SCHEME_BLOCKED, 512 * lines, 4, 1),
                 *other = make(PETAL_SCHEME_BLOCKED, 512, 4, 1);
    int64_t numbers[KEYS];
    uint64_t *whole = malloc(KEYS * 9 * 8), *rows = malloc(KEYS * 9 * 8);
    petal_error error;
    add_numbers(filter, 0, 2000);
    add_numbers(other, 0, 20);
    add(made, "other", other);
    for (size_t i = 0; i < count; i++) {
        char name[32];
        name_of(i, name);
        add(made, name, filter);
    }
    for (int64_t i = 0; i < KEYS; i++) numbers[i] = i;
    petal_batch batch = batch_of_numbers(numbers, KEYS);
    struct bytes file = image_of(made);
    require_that(petal_index_query(made, &batch, whole, 9, NULL), ==, PETAL_OK);
    size_t damaged = file.size - 3 * 65536;
    file.data[damaged] ^= 1;
    require_that(open_bytes(file.data, file.size, PETAL_OPEN_VERIFY_ON_USE, &index), ==, PETAL_OK);
    require_status(PETAL_ERR_DAMAGED, petal_index_verify(index, &error), error);
    require(error.offset <= damaged && damaged < error.offset + 65536, "the block is named");
    for (int again = 0; again < 2; again++) {
        require_status(PETAL_ERR_DAMAGED, petal_index_query(index, &batch, rows, 9, &error), error);
        require_that(error.offset, <, (uint64_t)KEYS);
        require_that(error.offset, >, 0u);
        assert_memory_equal(rows, whole, error.offset * 9 * 8);
        for (uint64_t i = error.offset * 9; i < KEYS * 9; i++) require_that(rows[i], ==, 0u);
    }
    int64_t first = numbers[error.offset];
    batch = batch_of_numbers(&first, 1);
    require_status(PETAL_ERR_DAMAGED, petal_index_query(index, &batch, rows, 9, &error), error);
    free(whole), free(rows), free(file.data);
    petal_free(filter);
    petal_free(other);
    petal_index_free(made);
    petal_index_free(index);
}

static void a_damaged_block_gives_no_answer(void **state)
{
    (void)state;
    require_no_answer_from_damage(520, 64);
    require_no_answer_from_damage(3, 2000);
    require_no_answer_from_damage(1, 6000);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static petal_status make_all_of_it(const petal_allocator *allocator, const char *path)
{
    petal_index_options options = PETAL_INDEX_OPTIONS_INIT;
    petal_open_options opening = PETAL_OPEN_OPTIONS_INIT;
    petal_options keys = PETAL_OPTIONS_INIT;
    petal_index *made = NULL, *index = NULL, *again = NULL;
    petal_static_builder *builder = NULL;
    int64_t numbers[] = {1, 2, 3};
    petal_batch batch = batch_of_numbers(numbers, 3);
    options.allocator = opening.allocator = keys.allocator = allocator;
    opening.flags = PETAL_OPEN_VERIFY_ON_USE;
    keys.rate = 0.1;
    petal_status status = petal_index_create(&options, &made, NULL);
    if (status == PETAL_OK) status = petal_static_create(&keys, 1, &builder, NULL);
    if (status == PETAL_OK) status = petal_static_add(builder, 0, &batch, NULL);
    if (builder) {
        petal_status added = made && status == PETAL_OK
                                 ? petal_index_add_keys(made, "keys", builder, NULL)
                                 : petal_static_finish(builder, NULL, NULL, NULL, NULL);
        if (status == PETAL_OK) status = added;
    }
    if (status == PETAL_OK) status = petal_index_save(made, path, NULL, NULL);
    if (status == PETAL_OK) status = petal_index_open(path, &opening, &index, NULL);
    if (status == PETAL_OK) status = petal_index_create(&options, &again, NULL);
    if (status == PETAL_OK) status = petal_index_add_index(again, index, NULL, 0, NULL);
    petal_index_free(made);
    petal_index_free(index);
    petal_index_free(again);
    return status;
}

static void without_memory_every_call_fails_clean(void **state)
{
    struct counting count = {0};
    petal_allocator allocator = counting_allocator(&count);
    const char *path = temporary("index-memory");
    (void)state;
    require_that(make_all_of_it(&allocator, path), ==, PETAL_OK);
    uint64_t calls = count.calls;
    for (uint64_t i = 1; i <= calls; i++) {
        count = (struct counting){.fail_at = i};
        petal_status status = make_all_of_it(&allocator, path);
        require(status == PETAL_ERR_MEMORY, "allocation %llu: %s", (unsigned long long)i,
                petal_status_name(status));
        require_that(count.live_blocks, ==, 0u);
        require_that(count.bad_releases, ==, 0u);
    }
}

static void a_query_allocates_nothing_and_an_open_index_no_more_for_larger_filters(void **state)
{
    uint64_t held[2];
    (void)state;
    for (int large = 0; large < 2; large++) {
        struct counting count = {0};
        petal_allocator allocator = counting_allocator(&count);
        petal_open_options opening = PETAL_OPEN_OPTIONS_INIT;
        petal_index *made = new_index(NULL);
        petal_filter *filter = make(PETAL_SCHEME_BLOCKED, large ? 512 << 10 : 512, 4, 1);
        const char *path = temporary("index-held");
        int64_t number = 1;
        uint64_t row;
        for (size_t i = 0; i < 60; i++) {
            char name[32];
            name_of(i, name);
            add(made, name, filter);
        }
        save(made, path);
        opening.allocator = &allocator;
        petal_index *index = open_at(path, &opening);
        uint64_t calls = count.calls;
        petal_batch batch = batch_of_numbers(&number, 1);
        require_that(petal_index_query(index, &batch, &row, 1, NULL), ==, PETAL_OK);
        require_that(count.calls, ==, calls);
        held[large] = count.live_bytes;
        petal_index_free(index);
        petal_index_free(made);
        petal_free(filter);
    }
    require_that(held[0], ==, held[1]);
}

/* The limit covers all memory that opening a file allocates. After a file has been refused, no
 * memory stays allocated. */
static void the_memory_limit_is_kept(void **state)
{
    struct counting count = {0};
    petal_allocator allocator = counting_allocator(&count);
    petal_open_options opening = PETAL_OPEN_OPTIONS_INIT;
    petal_index *made = mixed_index(), *index = NULL;
    struct bytes file = image_of(made);
    petal_error error;
    (void)state;
    opening.allocator = &allocator;
    opening.flags = PETAL_OPEN_VERIFY_ON_USE;
    uint64_t refused = 0, opened = 0;
    for (opening.memory_limit = 1; opened == 0; opening.memory_limit += 50) {
        petal_status status = petal_index_view(file.data, file.size, &opening, &index, &error);
        if (status == PETAL_OK) {
            opened = opening.memory_limit;
        } else {
            require_status(PETAL_ERR_LIMIT, status, error);
            require_that(count.live_blocks, ==, 0u);
            refused++;
        }
    }
    require_that(refused, >, 5u);
    require_that(count.live_bytes, <, opened + 1024);
    petal_index_free(index);
    require_that(count.live_blocks, ==, 0u);
    require_that(count.bad_releases, ==, 0u);
    petal_index_free(made);
    free(file.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_of_every_width_answer_as_their_filters_do),
        cmocka_unit_test(filters_of_many_kinds_answer_as_they_do_alone),
        cmocka_unit_test(groups_of_few_filters_answer_as_they_do_at_every_level),
        cmocka_unit_test(batches_of_every_layout_and_size_are_answered),
        cmocka_unit_test(an_opened_index_can_be_taken_apart_and_gives_the_same_bytes),
        cmocka_unit_test(golden_files_are_read_and_written_anew_byte_for_byte),
        cmocka_unit_test(filters_can_be_left_out_and_added),
        cmocka_unit_test(what_is_known_of_a_filter_stays_known),
        cmocka_unit_test(indexes_of_keys_miss_none_and_take_an_eighth_more_at_most),
        cmocka_unit_test(equal_sets_of_keys_give_equal_filters),
        cmocka_unit_test(foldable_filters_come_to_share_sizes_and_keep_their_rates),
        cmocka_unit_test(what_does_not_fit_is_refused_and_changes_nothing),
        cmocka_unit_test(an_index_that_will_be_replaced_stays_as_it_was_read),
        cmocka_unit_test(an_opened_index_never_changes_and_calls_check_their_arguments),
        cmocka_unit_test(hashes_are_refused_if_filters_hash_differently),
        cmocka_unit_test(every_changed_byte_is_noticed),
        cmocka_unit_test(every_cut_off_file_is_refused),
        cmocka_unit_test(sizes_that_contradict_the_file_are_refused_before_they_are_used),
        cmocka_unit_test(impossible_rates_are_refused),
        cmocka_unit_test(a_damaged_block_gives_no_answer),
        cmocka_unit_test(without_memory_every_call_fails_clean),
        cmocka_unit_test(a_query_allocates_nothing_and_an_open_index_no_more_for_larger_filters),
        cmocka_unit_test(the_memory_limit_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
