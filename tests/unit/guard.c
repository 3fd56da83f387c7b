/* guard.c - proves the promise of PETAL_OPEN_VERIFY_ON_USE: no matter how a petal file was damaged,
 * no call answers "certainly not" for a member, in any layer, scheme, kernel or thread. An
 * undamaged file gives the same answers as without the flag. */
#include "image.h" /* must be first: defines _POSIX_C_SOURCE */

#include "../amount.h"
#include "petal/petal_host.h"
#include "petal/petal_inline.h"

#include <pthread.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define KEYS 120000u /* enough for more than three blocks at 1 % */
#define ON_USE PETAL_OPEN_VERIFY_ON_USE

static int64_t numbers[2 * KEYS];
static const uint8_t secret[PETAL_SECRET_BYTES] = "0123456789abcde";

static int make_numbers(void **state)
{
    uint64_t seed = 5;
    (void)state;
    for (size_t i = 0; i < 2 * KEYS; i++) numbers[i] = (int64_t)next_random(&seed);
    return 0;
}

/* ---- files ----------------------------------------------------------------------------------- */

enum {
    BLOCKED_1,
    BLOCKED_2,
    CLASSIC,
    COUNTING,
    KEYED,
    GROWING,
    WINDOW_KEYS,
    WINDOW_TIME,
    NATIVE_KINDS
};

static petal_options options_for(int kind)
{
    petal_options options = PETAL_OPTIONS_INIT;
    options.rate = 0.01;
    if (kind == WINDOW_KEYS || kind == WINDOW_TIME)
        options.window_keys = KEYS;
    else
        options.capacity = kind == GROWING ? KEYS / 8 : KEYS;
    if (kind == WINDOW_TIME) options.window_ms = 60000;
    if (kind == BLOCKED_1) options.lines_per_key = 1;
    if (kind == BLOCKED_2) options.lines_per_key = 2;
    if (kind == CLASSIC) options.scheme = PETAL_SCHEME_CLASSIC;
    if (kind == COUNTING) options.scheme = PETAL_SCHEME_COUNTING;
    options.secret = kind == KEYED ? secret : NULL;
    options.growth = kind == GROWING;
    return options;
}

static void add_all(petal_filter *filter, size_t from, size_t count)
{
    petal_batch batch = batch_of(PETAL_LAYOUT_I64, numbers + from, count);
    petal_error error;
    require_status(PETAL_OK, petal_add_batch(filter, &batch, NULL, NULL, &error), error);
}

static struct bytes image_for(int kind)
{
    petal_options options = options_for(kind);
    petal_error error;
    petal_filter *filter = create(&options);
    for (uint64_t part = 0; part < 4; part++) {
        if (kind == WINDOW_TIME)
            require_status(PETAL_OK, petal_set_clock(filter, 1 + part * 12000, &error), error);
        add_all(filter, part * (KEYS / 4), KEYS / 4);
    }
    struct bytes image = serialized(filter);
    petal_free(filter);
    return image;
}

static petal_filter *viewed(struct bytes image, unsigned flags)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    petal_filter *filter = NULL;
    petal_error error;
    options.flags = flags;
    petal_status status = petal_view(image.data, image.size, &options, &filter, &error);
    if (status == PETAL_ERR_SECRET_MISSING) {
        options.secret = secret;
        status = petal_view(image.data, image.size, &options, &filter, &error);
    }
    require_status(PETAL_OK, status, error);
    return filter;
}

/* ---- questions ------------------------------------------------------------------------------- */

static petal_batch numbers_of(size_t from, size_t count)
{
    return batch_of(PETAL_LAYOUT_I64, numbers + from, count);
}

/* Returns numbers[from] and the following ones as a batch in the given layout. The storage is
 * static. */
enum { LAYOUTS = 6, MAX_LAID = 1000 };
static petal_batch laid_out(const petal_filter *filter, uint32_t layout, size_t from, size_t count)
{
    static uint8_t bytes[MAX_LAID][8];
    static petal_key keys[MAX_LAID];
    static uint32_t offsets32[MAX_LAID + 1];
    static uint64_t offsets64[MAX_LAID + 1], hashes[MAX_LAID];
    petal_batch batch = PETAL_BATCH_INIT;
    for (size_t i = 0; i < count; i++) {
        petal_encode_i64(numbers[from + i], bytes[i]);
        keys[i] = (petal_key){bytes[i], 8};
        offsets32[i + 1] = (uint32_t)(8 * (i + 1));
        offsets64[i + 1] = 8 * (i + 1);
        hashes[i] = petal_hash_key(filter, bytes[i], 8);
    }
    batch.layout = layout;
    batch.count = count;
    batch.data = layout == PETAL_LAYOUT_POINTERS ? (const void *)keys
                 : layout == PETAL_LAYOUT_I64    ? (const void *)(numbers + from)
                 : layout == PETAL_LAYOUT_HASHES ? (const void *)hashes
                                                 : (const void *)bytes;
    if (layout == PETAL_LAYOUT_FIXED) batch.key_bytes = 8;
    if (layout == PETAL_LAYOUT_OFFSETS32) batch.offsets = offsets32;
    if (layout == PETAL_LAYOUT_OFFSETS64) batch.offsets = offsets64;
    return batch;
}

/* Queries a single key, and returns the status. */
static petal_status status_of_key(const petal_filter *filter, size_t i, bool *answer)
{
    petal_batch batch = numbers_of(i, 1);
    uint8_t result = 7;
    petal_status status = petal_contains_batch(filter, &batch, &result, NULL, NULL);
    require(result == (status == PETAL_OK ? result & 1 : 0), "key %zu: result %u", i, result);
    *answer = result;
    return status;
}

/* ---- what must hold for any file ------------------------------------------------------------- */

/* Queries each key with every query call. The keys from index `members` on are in the filter.
 * Returns the number of keys whose answer depends on damaged blocks. */
static size_t ask_everything(const petal_filter *filter, size_t members, size_t from, size_t count,
                             const char *what)
{
    static petal_status statuses[2 * KEYS];
    static bool answers[2 * KEYS];
    size_t damaged = 0;
    for (size_t i = from; i < from + count; i++) {
        statuses[i] = status_of_key(filter, i, &answers[i]);
        bool is_damaged = statuses[i] == PETAL_ERR_DAMAGED,
             single = petal_contains_i64(filter, numbers[i]);
        uint8_t key[8];
        petal_encode_i64(numbers[i], key);
        require(statuses[i] == PETAL_OK || is_damaged, "%s: %s", what,
                petal_status_name(statuses[i]));
        require(single == (is_damaged || answers[i]), "%s: key %zu", what, i);
        require(petal_contains(filter, key, sizeof key) == single, "%s: key %zu, as bytes", what,
                i);
        require(single || i < members, "%s: member %zu is \"certainly not\"", what, i);
        if (is_damaged)
            require(petal_last_error(filter, NULL) == PETAL_ERR_DAMAGED, "%s: not kept", what);
        damaged += is_damaged;
    }
    for (uint32_t layout = 0; layout < LAYOUTS; layout++) {
        if (layout == PETAL_LAYOUT_HASHES && !takes_hashes(filter)) continue;
        for (size_t at = from, part; at < from + count; at += part) {
            uint8_t results[MAX_LAID];
            petal_batch_outcome outcome = PETAL_BATCH_OUTCOME_INIT;
            petal_error error = {PETAL_OK, 0, 0, ""};
            part = 7 + at % (MAX_LAID - 7);
            if (part > from + count - at) part = from + count - at;
            petal_batch batch = laid_out(filter, layout, at, part);
            petal_status status = petal_contains_batch(filter, &batch, results, &outcome, &error);
            size_t good = 0;
            while (good < part && statuses[at + good] == PETAL_OK) good++;
            require(status == (good < part ? PETAL_ERR_DAMAGED : PETAL_OK), "%s, layout %u: %s",
                    what, layout, petal_status_name(status));
            require(status == PETAL_OK || error.offset == good, "%s, layout %u: key %llu, not %zu",
                    what, layout, (unsigned long long)error.offset, good);
            assert_int_equal(outcome.done, good);
            for (size_t i = 0; i < part; i++)
                require(results[i] == (i < good && answers[at + i]), "%s, layout %u: key %zu", what,
                        layout, at + i);
        }
    }
    return damaged;
}

/* contains_any() and contains_all() must answer from undamaged blocks, or return PETAL_ERR_DAMAGED
 * with the index of a key. */
static void ask_any_and_all(const petal_filter *filter, size_t count)
{
    for (size_t i = 0; i < count; i += 3) {
        bool answers[3], found = false, all = true;
        petal_status statuses[3];
        petal_batch batch = numbers_of(i, 3);
        petal_error error;
        for (size_t j = 0; j < 3; j++) statuses[j] = status_of_key(filter, i + j, &answers[j]);
        size_t any_at = 0, all_at = 0;
        while (any_at < 3 && statuses[any_at] == PETAL_OK && !answers[any_at]) any_at++;
        while (all_at < 3 && statuses[all_at] == PETAL_OK && answers[all_at]) all_at++;
        petal_status any = petal_contains_any(filter, &batch, &found, &error);
        assert_int_equal(any, any_at < 3 ? statuses[any_at] : PETAL_OK);
        assert_true(any == PETAL_OK ? found == (any_at < 3) : error.offset == any_at);
        petal_status every = petal_contains_all(filter, &batch, &all, &error);
        assert_int_equal(every, all_at < 3 ? statuses[all_at] : PETAL_OK);
        assert_true(every == PETAL_OK ? all == (all_at == 3) : error.offset == all_at);
    }
}

/* Damages the payload in one of four ways, chosen at random: flips a bit, zeroes a byte, zeroes
 * 8 KiB, or fills a page with random bytes. Returns the offset. */
static size_t damage(struct bytes image, uint64_t *random)
{
    size_t payload = (size_t)(payload_of(image) - image.data), way = random_below(random, 4);
    size_t sizes[] = {1, 1, 8192, 4096}, size = sizes[way];
    size_t at = payload + random_below(random, image.size - payload - size);
    while (way == 1 && image.data[at] == 0)
        at = payload + (at + 1 - payload) % (image.size - payload);
    if (way == 0) image.data[at] ^= (uint8_t)(1u << random_below(random, 8));
    if (way == 1 || way == 2) memset(image.data + at, 0, size);
    for (size_t i = 0; way == 3 && i < size; i++) image.data[at + i] = (uint8_t)next_random(random);
    return at;
}

static size_t damage_and_ask(struct bytes sound, uint64_t seed, const char *level, const char *what)
{
    struct bytes image = copy_bytes(sound.data, sound.size);
    uint64_t random = seed;
    damage(image, &random);
    if (level) setenv("PETAL_KERNEL", level, 1);
    petal_filter *filter = viewed(image, ON_USE);
    unsetenv("PETAL_KERNEL");
    size_t from = random_below(&random, KEYS);
    size_t damaged =
        ask_everything(filter, KEYS, 0, 3000, what) +
        ask_everything(filter, KEYS, from, KEYS - from < 3000 ? KEYS - from : 3000, what);
    ask_any_and_all(filter, 300);
    petal_free(filter);
    free(image.data);
    return damaged;
}

/* Removes members and absent keys alternately from a map and from a loaded filter, and compares the
 * results. In a map, the batch stops at each key whose blocks have not been checked yet. */
static void require_removed_as_from(petal_filter *loaded, petal_filter *map)
{
    uint8_t wanted[1000], told[1000];
    int64_t mixed[1000];
    size_t wanted_count, told_count;
    for (size_t i = 0; i < COUNT(mixed); i++) mixed[i] = numbers[i % 3 ? i : KEYS + i];
    petal_batch batch = batch_of_numbers(mixed, COUNT(mixed));
    assert_int_equal(remove_batch(loaded, batch, wanted, &wanted_count), PETAL_OK);
    assert_int_equal(remove_batch(map, batch, told, &told_count), PETAL_OK);
    require_that(told_count, ==, wanted_count);
    assert_memory_equal(told, wanted, sizeof told);
    require_that(content_of(map), ==, content_of(loaded));
}

/* ---- the tests ------------------------------------------------------------------------------- */

static void no_member_of_a_damaged_file_is_certainly_not(void **state)
{
    (void)state;
    for (int kind = 0; kind < NATIVE_KINDS; kind++) {
        char what[64];
        size_t damaged = 0;
        struct bytes image = image_for(kind);
        for (uint64_t seed = 1; seed <= 12; seed++) {
            snprintf(what, sizeof what, "kind %d, seed %llu", kind, (unsigned long long)seed);
            damaged += damage_and_ask(image, seed, NULL, what);
        }
        require(damaged > 0, "kind %d: no key met the damage", kind);
        free(image.data);
    }
}

static void nor_by_any_kernel(void **state)
{
    (void)state;
    const char *const levels[] = {"generic", "sse4", "avx2", "avx512", "neon"};
    struct bytes one = image_for(BLOCKED_1), two = image_for(BLOCKED_2), many = image_for(GROWING);
    for (size_t i = 0; i < COUNT(levels); i++)
        for (uint64_t seed = 1; seed <= 4; seed++) {
            damage_and_ask(one, seed, levels[i], levels[i]);
            damage_and_ask(two, seed, levels[i], levels[i]);
            damage_and_ask(many, seed, levels[i], levels[i]);
        }
    free(one.data);
    free(two.data);
    free(many.data);
}

static void nor_of_the_schemes_of_other_libraries_in_petal_files(void **state)
{
    (void)state;
    petal_format_info format = PETAL_FORMAT_INFO_INIT;
    for (uint32_t place = 0; petal_format_at(place, &format); place++) {
        petal_options options = PETAL_OPTIONS_INIT;
        petal_filter *filter = NULL;
        options.format = format.name;
        options.capacity = KEYS;
        options.rate = 0.01;
        if (!(format.abilities & PETAL_FORMAT_CAN_CREATE) || strcmp(format.name, "petal") == 0)
            continue;
        if (petal_create(&options, &filter, NULL) != PETAL_OK) continue;
        add_all(filter, 0, KEYS);
        struct bytes image = serialized(filter);
        petal_free(filter);
        size_t damaged = 0;
        for (uint64_t seed = 1; seed <= 4; seed++)
            damaged += damage_and_ask(image, seed, NULL, format.name);
        require(damaged > 0, "%s: no key met the damage", format.name);
        free(image.data);
    }
}

/* Without the flag, damage makes members disappear, so the tests above are able to fail. */
static void without_the_flag_members_are_missed(void **state)
{
    (void)state;
    struct bytes image = image_for(BLOCKED_1);
    size_t missed = 0;
    memset(payload_of(image) + 4096, 0, 8192);
    petal_filter *filter = viewed(image, 0);
    for (size_t i = 0; i < KEYS; i++) missed += !petal_contains_i64(filter, numbers[i]);
    require(missed > 1000, "%zu missed", missed);
    petal_free(filter);
    free(image.data);
}

/* petal_key_ranges() tells which keys have lines in the damaged block. */
static void exactly_the_keys_of_the_damaged_block_are_refused(void **state)
{
    (void)state;
    for (int kind = BLOCKED_1; kind <= COUNTING; kind++) {
        struct bytes image = image_for(kind);
        size_t payload = (size_t)(payload_of(image) - image.data), refused = 0;
        image.data[payload + BLOCK + 77] ^= 1;
        petal_filter *filter = viewed(image, ON_USE);
        for (size_t i = 0; i < 5000; i++) {
            petal_range ranges[64];
            uint64_t count = 0;
            uint8_t key[8];
            bool is_there = false, answer;
            petal_encode_i64(numbers[i], key);
            assert_int_equal(petal_key_ranges(filter, key, 8, ranges, 64, &count, NULL), PETAL_OK);
            for (uint32_t j = 0; j < count; j++)
                is_there |= (ranges[j].offset - payload) / BLOCK == 1;
            petal_status status = status_of_key(filter, i, &answer);
            require(status == (is_there ? PETAL_ERR_DAMAGED : PETAL_OK), "kind %d, key %zu", kind,
                    i);
            refused += is_there;
        }
        require(refused > 100 && refused <= 5000, "kind %d: %zu refused", kind, refused);
        petal_error error;
        assert_int_equal(petal_last_error(filter, &error), PETAL_ERR_DAMAGED);
        assert_int_equal(error.offset, payload + BLOCK);
        petal_free(filter);
        free(image.data);
    }
}

static void a_sound_file_answers_as_without_the_flag_and_is_checked_once(void **state)
{
    (void)state;
    for (int kind = 0; kind < NATIVE_KINDS; kind++) {
        struct bytes image = image_for(kind);
        petal_filter *guarded = viewed(image, ON_USE), *plain = viewed(image, 0);
        assert_int_equal(file_info_of(guarded).verifies_on_use, 1);
        assert_int_equal(file_info_of(plain).verifies_on_use, 0);
        require_that(file_info_of(guarded).unchecked_blocks, >=, 3);
        for (int round = 0; round < 2; round++) {
            assert_int_equal(ask_everything(guarded, KEYS, 0, 4000, "sound"), 0);
            for (size_t i = 0; i < 2 * KEYS; i++) {
                uint8_t key[8];
                petal_encode_i64(numbers[i], key);
                bool answer = petal_contains_i64(plain, numbers[i]);
                assert_int_equal(petal_contains_i64(guarded, numbers[i]), answer);
                assert_int_equal(petal_contains(guarded, key, 8), answer);
            }
            assert_int_equal(file_info_of(guarded).unchecked_blocks, 0);
        }
        assert_int_equal(petal_last_error(guarded, NULL), PETAL_OK);
        petal_free(guarded);
        petal_free(plain);
        free(image.data);
    }
}

static void verifying_all_leaves_nothing_to_check(void **state)
{
    (void)state;
    petal_error error;
    struct bytes image = image_for(GROWING);
    petal_filter *filter = viewed(image, ON_USE);
    require_status(PETAL_OK, petal_verify(filter, &error), error);
    assert_int_equal(file_info_of(filter).unchecked_blocks, 0);
    petal_free(filter);
    filter = viewed(image, ON_USE | PETAL_OPEN_VERIFY);
    assert_int_equal(file_info_of(filter).unchecked_blocks, 0);
    petal_free(filter);
    free(image.data);
}

/* A damaged checksum also counts as damage. */
static void lost_sums_and_lost_pages_are_damage(void **state)
{
    (void)state;
    bool answer;
    struct bytes image = image_for(CLASSIC);
    uint8_t *sums = sums_of(image);
    memset(sums, 0, 16);
    petal_filter *filter = viewed(image, ON_USE);
    size_t damaged = 0;
    for (size_t i = 0; i < 1000; i++)
        damaged += status_of_key(filter, i, &answer) == PETAL_ERR_DAMAGED;
    require(damaged > 900, "%zu damaged", damaged);
    petal_free(filter);
    /* Simulates a lost extent: everything from the sums to the end is zero. */
    memset(sums, 0, image.size - (size_t)(sums - image.data));
    filter = viewed(image, ON_USE);
    for (size_t i = 0; i < 1000; i++) {
        assert_int_equal(status_of_key(filter, i, &answer), PETAL_ERR_DAMAGED);
        assert_true(petal_contains_i64(filter, numbers[i]));
    }
    petal_free(filter);
    free(image.data);
}

static void a_file_cut_off_does_not_open(void **state)
{
    (void)state;
    const char *path = temporary("guard.petal");
    struct bytes image = image_for(BLOCKED_1);
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    petal_filter *filter = NULL;
    options.flags = ON_USE;
    for (size_t lost = 1; lost < image.size; lost = lost * 3 + 1) {
        write_file(path, image.data, image.size - lost);
        petal_status status = petal_open(path, &options, &filter, NULL);
        require(status == PETAL_ERR_TRUNCATED || status == PETAL_ERR_NOT_A_FILTER, "%zu lost: %s",
                lost, petal_status_name(status));
    }
    unlink(path);
    free(image.data);
}

static void calls_that_read_all_bits_refuse_damaged_ones(void **state)
{
    (void)state;
    petal_error error;
    petal_stats stats = PETAL_STATS_INIT;
    petal_comparison comparison = PETAL_COMPARISON_INIT;
    petal_inline hot = PETAL_INLINE_INIT;
    struct bytes image = image_for(BLOCKED_1);
    petal_filter *sound = viewed(image, ON_USE);
    struct bytes copy = copy_bytes(image.data, image.size);
    copy.data[copy.size - 100] ^= 4;
    petal_filter *filter = viewed(copy, ON_USE);
    assert_int_equal(petal_get_stats(filter, PETAL_ALL_LAYERS, &stats, &error), PETAL_ERR_DAMAGED);
    assert_int_equal(petal_compare(sound, filter, &comparison, &error), PETAL_ERR_DAMAGED);
    assert_int_equal(petal_compare(filter, sound, &comparison, &error), PETAL_ERR_DAMAGED);
    assert_int_equal(petal_inline_begin(filter, &hot, &error), PETAL_ERR_DAMAGED);
    assert_int_equal(petal_verify(filter, &error), PETAL_ERR_DAMAGED);
    require_status(PETAL_OK, petal_get_stats(sound, PETAL_ALL_LAYERS, &stats, &error), error);
    require_status(PETAL_OK, petal_inline_begin(sound, &hot, &error), error);
    assert_int_equal(file_info_of(sound).unchecked_blocks, 0);
    for (size_t i = 0; i < KEYS; i++) assert_true(petal_inline_contains_i64(&hot, numbers[i]));
    petal_free(filter);
    petal_free(sound);
    free(copy.data);
    free(image.data);
}

/* Damage is reported even if another failure was recorded earlier. */
static void damage_is_kept_beside_other_failures(void **state)
{
    (void)state;
    petal_error error;
    struct bytes image = image_for(BLOCKED_1);
    memset(payload_of(image), 0, image.size - (size_t)(payload_of(image) - image.data));
    petal_filter *filter = viewed(image, ON_USE);
    assert_int_equal(petal_add_i64(filter, 1), PETAL_ERR_READ_ONLY);
    assert_int_equal(petal_last_error(filter, &error), PETAL_ERR_READ_ONLY);
    assert_true(petal_contains_i64(filter, numbers[0]));
    assert_int_equal(petal_last_error(filter, &error), PETAL_ERR_DAMAGED);
    require_that(error.offset, !=, PETAL_NO_OFFSET);
    assert_true(strstr(error.message, "damaged"));
    petal_free(filter);
    free(image.data);
}

/* ---- files that change ----------------------------------------------------------------------- */

static void a_writable_map_is_guarded_too(void **state)
{
    (void)state;
    petal_error error;
    const char *path = temporary("guard.petal");
    for (int kind = BLOCKED_1; kind <= GROWING; kind++) {
        if (kind == KEYED) continue;
        struct bytes image = image_for(kind);
        size_t payload = (size_t)(payload_of(image) - image.data), refused = 0;
        memset(image.data + payload + BLOCK, 0, 4096);
        write_file(path, image.data, image.size);
        petal_filter *filter = opened(path, PETAL_OPEN_WRITABLE | ON_USE);
        ask_everything(filter, KEYS, 0, 2000, "writable");
        for (size_t i = KEYS; i < KEYS + 500; i++) {
            bool answer;
            petal_status status = petal_add_i64(filter, numbers[i]);
            require(status >= 0 || status == PETAL_ERR_DAMAGED || status == PETAL_ERR_UNSUPPORTED,
                    "kind %d: %s", kind, petal_status_name(status));
            if (status == PETAL_ERR_DAMAGED) break; /* after damage, every change is refused */
            if (status == PETAL_OK) {
                require_that(status_of_key(filter, i, &answer), ==, PETAL_OK);
                assert_true(answer);
            }
        }
        for (size_t i = 0; i < 2000; i++) {
            bool answer;
            refused += status_of_key(filter, i, &answer) == PETAL_ERR_DAMAGED;
            assert_true(petal_contains_i64(filter, numbers[i]));
        }
        require(refused > 0, "kind %d", kind);
        petal_free(filter);
        write_file(path, image.data, image.size); /* an undamaged file gives the usual answers */
        free(image.data);
        image = image_for(kind);
        write_file(path, image.data, image.size);
        filter = opened(path, PETAL_OPEN_WRITABLE | ON_USE);
        if (kind == COUNTING) {
            petal_filter *loaded = opened(path, PETAL_OPEN_LOAD);
            require_removed_as_from(loaded, filter);
            petal_free(loaded);
            petal_free(filter);
            write_file(path, image.data, image.size);
            filter = opened(path, PETAL_OPEN_WRITABLE | ON_USE);
        }
        if (kind != GROWING) {
            add_all(filter, KEYS, 1000);
            require_numbers(filter, 0, 0);
            require_status(PETAL_OK, petal_sync(filter, &error), error);
            assert_int_equal(ask_everything(filter, 0, 0, KEYS / 20, "synced"), 0);
            assert_int_equal(ask_everything(filter, 0, KEYS, 1000, "synced"), 0);
        }
        require_status(PETAL_OK, petal_verify(filter, &error), error);
        assert_int_equal(file_info_of(filter).unchecked_blocks, 0);
        petal_free(filter);
        free(image.data);
    }
    unlink(path);
}

/* A block that a writer has just changed has an outdated checksum, which must not count as
 * damage. */
static void a_reader_beside_a_writer_sees_no_damage(void **state)
{
    (void)state;
    petal_error error;
    const char *path = temporary("guard.petal");
    struct bytes image = image_for(BLOCKED_1);
    write_file(path, image.data, image.size);
    petal_filter *before = opened(path, ON_USE), *never = opened(path, ON_USE);
    petal_filter *writer = opened(path, PETAL_OPEN_WRITABLE);
    add_all(writer, KEYS, KEYS);
    petal_filter *during = opened(path, ON_USE | PETAL_OPEN_LIVE);
    assert_int_equal(file_info_of(during).verifies_on_use, 0);
    assert_int_equal(ask_everything(before, KEYS, 0, KEYS / 10, "dirty"), 0);
    require_status(PETAL_OK, petal_sync(writer, &error), error);
    assert_int_equal(ask_everything(before, 0, 0, KEYS / 10, "synced"), 0);
    assert_int_equal(ask_everything(never, 0, KEYS, KEYS / 10, "synced"), 0);
    petal_free(writer);
    petal_free(before);
    petal_free(never);
    petal_free(during);
    unlink(path);
    free(image.data);
}

/* As soon as the writer has synced its changes, damaged blocks must be reported again. */
static void damage_after_a_sync_is_found(void **state)
{
    (void)state;
    petal_error error;
    const char *path = temporary("guard.petal");
    struct bytes image = image_for(BLOCKED_1);
    write_file(path, image.data, image.size);
    petal_filter *filter = opened(path, ON_USE), *writer = opened(path, PETAL_OPEN_WRITABLE);
    add_all(writer, KEYS, 10);
    require_status(PETAL_OK, petal_sync(writer, &error), error);
    petal_free(writer);
    FILE *file = fopen(path, "r+b");
    assert_true(file);
    require_that(fseek(file, -5000, SEEK_END), ==, 0);
    for (int i = 0; i < 4096; i++) fputc(0, file);
    fclose(file);
    require(ask_everything(filter, KEYS, 0, KEYS / 10, "synced, then damaged") > 0, "not found");
    petal_free(filter);
    unlink(path);
    free(image.data);
}

/* ---- filters without sums to compare --------------------------------------------------------- */

static void the_flag_is_accepted_in_every_mode(void **state)
{
    (void)state;
    petal_error error;
    const char *path = temporary("guard.petal"), *other = temporary("guard.guava");
    petal_options guava = PETAL_OPTIONS_INIT;
    struct bytes image = image_for(BLOCKED_1);
    write_file(path, image.data, image.size);
    const struct {
        unsigned flags;
        uint8_t verifiable, verifies;
    } modes[] = {{PETAL_OPEN_MAP, 1, 0},
                 {PETAL_OPEN_MAP | ON_USE, 1, 1},
                 {PETAL_OPEN_MAP | ON_USE | PETAL_OPEN_LIVE, 1, 1}, /* no process is writing */
                 {PETAL_OPEN_WRITABLE | ON_USE, 1, 1},
                 {PETAL_OPEN_WRITABLE | ON_USE | PETAL_OPEN_RECOVER, 1, 1}, /* clean */
                 {PETAL_OPEN_LOAD | ON_USE, 0, 0},
                 {PETAL_OPEN_LOAD | ON_USE | PETAL_OPEN_LOCKED, 0, 0},
                 {PETAL_OPEN_HEADER_ONLY | ON_USE, 0, 0}};
    for (size_t i = 0; i < COUNT(modes); i++) {
        petal_filter *filter = opened(path, modes[i].flags);
        require(file_info_of(filter).verifiable == modes[i].verifiable &&
                    file_info_of(filter).verifies_on_use == modes[i].verifies,
                "mode %#x", modes[i].flags);
        petal_free(filter);
    }
    image.data[AT_STATE] = 9; /* slot 0 is torn, so the file is dirty */
    write_file(path, image.data, image.size);
    petal_filter *dirty = opened(path, PETAL_OPEN_WRITABLE | ON_USE | PETAL_OPEN_RECOVER);
    assert_true(!file_info_of(dirty).verifies_on_use);
    assert_true(!file_info_of(dirty).verifiable);
    petal_free(dirty);
    guava.format = "guava";
    guava.capacity = 1000;
    guava.rate = 0.01;
    petal_filter *filter = create(&guava);
    require_status(PETAL_OK, petal_save(filter, other, SAVE_AS("guava"), &error), error);
    petal_free(filter);
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    options.flags = ON_USE;
    options.format = "guava";
    require_status(PETAL_OK, petal_open(other, &options, &filter, &error), error);
    assert_true(!file_info_of(filter).verifies_on_use);
    assert_true(!file_info_of(filter).verifiable);
    petal_free(filter);
    unlink(path);
    unlink(other);
    free(image.data);
}

/* ---- threads --------------------------------------------------------------------------------- */

enum { MAX_THREADS = 8 }; /* ./dev nightly uses 8, other runs 4 */

struct job {
    pthread_t thread;
    const petal_filter *filter;
    size_t from;
    uint64_t missed, damaged, wrong;
};

static void *ask(void *argument)
{
    struct job *job = argument;
    uint8_t results[100];
    petal_batch_outcome outcome = PETAL_BATCH_OUTCOME_INIT;
    petal_error error;
    for (size_t i = 0; i < KEYS; i++)
        job->missed += !petal_contains_i64(job->filter, numbers[(job->from + i) % KEYS]);
    for (size_t i = 0; i + 100 <= KEYS; i += 100) {
        petal_batch batch = numbers_of(i, 100);
        petal_status status = petal_contains_batch(job->filter, &batch, results, &outcome, &error);
        job->damaged += status == PETAL_ERR_DAMAGED;
        job->wrong +=
            status != PETAL_OK && (status != PETAL_ERR_DAMAGED || error.offset != outcome.done);
        for (size_t j = 0; j < outcome.done; j++) job->missed += !results[j];
    }
    return NULL;
}

static uint64_t ask_from_all_threads(const petal_filter *filter)
{
    struct job jobs[MAX_THREADS];
    size_t threads = is_nightly() ? MAX_THREADS : MAX_THREADS / 2;
    uint64_t damaged = 0;
    memset(jobs, 0, sizeof jobs);
    for (size_t i = 0; i < threads; i++) {
        jobs[i].filter = filter;
        jobs[i].from = i * (KEYS / threads);
        assert_int_equal(pthread_create(&jobs[i].thread, NULL, ask, &jobs[i]), 0);
    }
    for (size_t i = 0; i < threads; i++) pthread_join(jobs[i].thread, NULL);
    for (size_t i = 0; i < threads; i++) {
        assert_int_equal(jobs[i].missed + jobs[i].wrong, 0);
        assert_int_equal(jobs[i].damaged, jobs[0].damaged);
        damaged += jobs[i].damaged;
    }
    return damaged;
}

static void any_number_of_threads_may_query(void **state)
{
    (void)state;
    for (int kind = 0; kind < NATIVE_KINDS; kind++) {
        struct bytes image = image_for(kind);
        petal_filter *sound = viewed(image, ON_USE);
        assert_int_equal(ask_from_all_threads(sound), 0);
        assert_int_equal(file_info_of(sound).unchecked_blocks, 0);
        petal_free(sound);
        memset(payload_of(image) + BLOCK, 0, 8192);
        petal_filter *damaged = viewed(image, ON_USE);
        require_that(ask_from_all_threads(damaged), >, 0);
        petal_free(damaged);
        free(image.data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_member_of_a_damaged_file_is_certainly_not),
        cmocka_unit_test(nor_by_any_kernel),
        cmocka_unit_test(nor_of_the_schemes_of_other_libraries_in_petal_files),
        cmocka_unit_test(without_the_flag_members_are_missed),
        cmocka_unit_test(exactly_the_keys_of_the_damaged_block_are_refused),
        cmocka_unit_test(a_sound_file_answers_as_without_the_flag_and_is_checked_once),
        cmocka_unit_test(verifying_all_leaves_nothing_to_check),
        cmocka_unit_test(lost_sums_and_lost_pages_are_damage),
        cmocka_unit_test(a_file_cut_off_does_not_open),
        cmocka_unit_test(calls_that_read_all_bits_refuse_damaged_ones),
        cmocka_unit_test(damage_is_kept_beside_other_failures),
        cmocka_unit_test(a_writable_map_is_guarded_too),
        cmocka_unit_test(a_reader_beside_a_writer_sees_no_damage),
        cmocka_unit_test(damage_after_a_sync_is_found),
        cmocka_unit_test(the_flag_is_accepted_in_every_mode),
        cmocka_unit_test(any_number_of_threads_may_query),
    };
    return cmocka_run_group_tests(tests, make_numbers, NULL);
}
