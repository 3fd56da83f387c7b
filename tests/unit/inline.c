/* inline.c - proves that petal_inline.h gives the same answers and sets the same bits as petal.h,
 * in the variant of the inline code that this file is compiled for. inline_avx2.c and
 * inline_avx512.c compile the same file for other variants. */
#include "support.h"

#include "petal/petal_inline.h"

#ifndef USABLE
#define USABLE true
#define FORM "no vectors asked for"
#endif

#define KEYS 20000

/* The loops are separate functions, so that an attribute can have them compiled for the variant's
 * instruction set. */
static PETAL_INLINE_TARGET size_t add_all(petal_inline *hot, int64_t from, uint8_t *was_new)
{
    size_t sum = 0;
    for (int64_t i = 0; i < KEYS; i++) sum += was_new[i] = petal_inline_add_i64(hot, from + i);
    return sum;
}

static PETAL_INLINE_TARGET size_t ask_all(const petal_inline *hot, int64_t from, uint8_t *found)
{
    size_t sum = 0;
    for (int64_t i = 0; i < KEYS; i++) sum += found[i] = petal_inline_contains_i64(hot, from + i);
    return sum;
}

static void begin(petal_filter *filter, bool for_adding, petal_inline *hot)
{
    petal_error error;
    require_status(PETAL_OK,
                   for_adding ? petal_inline_begin_adding(filter, hot, &error)
                              : petal_inline_begin(filter, hot, &error),
                   error);
}

static petal_filter *make_seeded(uint32_t hashes, uint64_t seed)
{
    petal_options options = options_of(PETAL_SCHEME_BLOCKED, 10 * KEYS, hashes, 1);
    options.seed = seed;
    return create(&options);
}

/* Adds the same keys to one filter with calls from petal.h and to another with the inline loop. */
static void compare(uint32_t hashes, uint64_t seed)
{
    static uint8_t got[KEYS], wanted[KEYS];
    petal_filter *by_call = make_seeded(hashes, seed), *by_loop = make_seeded(hashes, seed);
    petal_inline hot = PETAL_INLINE_INIT;
    size_t wanted_new = 0, wanted_in = 0;
    for (int64_t i = 0; i < KEYS; i++)
        wanted_new += wanted[i] = petal_add_i64(by_call, i - KEYS) == PETAL_OK;
    begin(by_loop, true, &hot);
    require(add_all(&hot, -KEYS, got) == wanted_new && memcmp(got, wanted, KEYS) == 0, "k %u",
            hashes);
    petal_inline_end(by_loop, &hot);
    assert_true(same_image(by_call, by_loop)); /* equal bits and item count */
    begin(by_loop, false, &hot);
    for (int64_t i = 0; i < KEYS; i++)
        wanted_in += wanted[i] = petal_contains_i64(by_call, i - 100);
    require(ask_all(&hot, -100, got) == wanted_in && memcmp(got, wanted, KEYS) == 0, "k %u",
            hashes);
    petal_inline_end(by_loop, &hot);
    require_that(info_of(by_loop).items, ==, KEYS);
    petal_free(by_call);
    petal_free(by_loop);
}

static void the_inline_loop_sets_and_answers_what_the_calls_do(void **state)
{
    (void)state;
    if (!USABLE) skip_because("this machine's CPU has no %s", FORM);
    for (uint32_t hashes = 1; hashes <= 16; hashes++)
        compare(hashes, hashes % 3 * 0x123456789abcdefu);
}

static PETAL_INLINE_TARGET bool has_text(const petal_inline *hot, uint64_t hash)
{
    return petal_inline_contains_hash(hot, hash);
}

static PETAL_INLINE_TARGET bool add_text(petal_inline *hot, uint64_t hash)
{
    return petal_inline_add_hash(hot, hash);
}

static void texts_go_through_their_hash(void **state)
{
    (void)state;
    if (!USABLE) skip_because("this machine's CPU has no %s", FORM);
    petal_filter *filter = make_seeded(6, 0);
    petal_inline hot = PETAL_INLINE_INIT;
    begin(filter, true, &hot);
    assert_true(add_text(&hot, petal_hash_key(filter, "here", 4)));
    assert_false(add_text(&hot, petal_hash_key(filter, "here", 4)));
    assert_true(has_text(&hot, petal_hash_key(filter, "here", 4)));
    assert_false(has_text(&hot, petal_hash_key(filter, "there", 5)));
    petal_inline_end(filter, &hot);
    assert_true(petal_contains(filter, "here", 4));
    petal_free(filter);
}

static void other_filters_are_refused(void **state)
{
    (void)state;
    petal_inline hot = PETAL_INLINE_INIT;
    petal_error error;
    petal_filter *classic = make(PETAL_SCHEME_CLASSIC, 1000, 5, 0),
                 *two_lines = make(PETAL_SCHEME_BLOCKED, 51200, 8, 2);
    require_status(PETAL_ERR_UNSUPPORTED, petal_inline_begin(classic, &hot, &error), error);
    require_status(PETAL_ERR_UNSUPPORTED, petal_inline_begin(two_lines, &hot, &error), error);
    petal_free(classic);
    petal_free(two_lines);
}

/* The inline loop must refuse shared filters. It writes whole lines, so it would overwrite bits
 * that another thread set after the loop had read the line. */
static void filters_that_threads_share_are_refused(void **state)
{
    (void)state;
    petal_inline hot = PETAL_INLINE_INIT;
    petal_error error, kept;
    petal_filter *filter = make_seeded(6, 0);
    require_status(PETAL_OK, petal_allow_threads(filter, &error), error);
    require_status(PETAL_ERR_UNSUPPORTED, petal_inline_begin_adding(filter, &hot, &error), error);
    require_status(PETAL_ERR_UNSUPPORTED, petal_inline_begin(filter, &hot, &error), error);
    assert_int_equal(petal_last_error(filter, &kept), PETAL_ERR_UNSUPPORTED);
    assert_string_equal(kept.message, error.message);
    petal_free(filter);
}

static void a_map_notices_what_the_loop_changes(void **state)
{
    (void)state;
    if (!USABLE) skip_because("this machine's CPU has no %s", FORM);
    static uint8_t was_new[KEYS];
    petal_error error;
    petal_inline hot = PETAL_INLINE_INIT;
    const char *path = temporary("inline.petal");
    petal_filter *filter = make_seeded(6, 0), *map = NULL;
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    require_status(PETAL_OK, petal_save(filter, path, NULL, &error), error);
    require_status(PETAL_OK, petal_open(path, NULL, &map, &error), error);
    require_status(PETAL_ERR_READ_ONLY, petal_inline_begin_adding(map, &hot, &error), error);
    begin(map, false, &hot);
    petal_free(map);
    options.flags = PETAL_OPEN_WRITABLE;
    require_status(PETAL_OK, petal_open(path, &options, &map, &error), error);
    begin(map, true, &hot);
    add_all(&hot, 0, was_new);
    petal_inline_end(map, &hot);
    petal_free(map);
    options.flags = PETAL_OPEN_LOAD | PETAL_OPEN_VERIFY;
    require_status(PETAL_OK, petal_open(path, &options, &map, &error), error);
    require_numbers(map, 0, KEYS);
    petal_free(map);
    petal_free(filter);
    unlink(path);
}

static void a_struct_of_another_version_is_refused(void **state)
{
    (void)state;
    petal_filter *filter = make(PETAL_SCHEME_BLOCKED, 5120, 6, 1);
    petal_inline unset = {0}, older = PETAL_INLINE_INIT, newer = PETAL_INLINE_INIT;
    older.struct_size -= 8;
    newer.struct_size += 8;
    assert_int_equal(petal_inline_begin(filter, &unset, NULL), PETAL_ERR_ARGUMENT);
    assert_int_equal(petal_inline_begin(filter, &older, NULL), PETAL_ERR_UNSUPPORTED);
    assert_int_equal(petal_inline_begin_adding(filter, &newer, NULL), PETAL_ERR_UNSUPPORTED);
    petal_free(filter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_struct_of_another_version_is_refused),
        cmocka_unit_test(the_inline_loop_sets_and_answers_what_the_calls_do),
        cmocka_unit_test(texts_go_through_their_hash),
        cmocka_unit_test(other_filters_are_refused),
        cmocka_unit_test(filters_that_threads_share_are_refused),
        cmocka_unit_test(a_map_notices_what_the_loop_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
