/* layers.c - proves that filters with several layers keep the requested rate. The test grows
 * filters from 1,000 to 10^7 keys, and adds 10^8 keys to windows of 10^6 keys (outside ./dev
 * nightly, 10^7 keys to windows of 10^5 keys).
 *
 * The tests query millions of absent keys. Given the bits, the number of hits is binomially
 * distributed with a rate between 1 - prod(1 - p_i) and sum p_i, where p_i is the rate of layer i.
 * The layers are not quite independent: a key that an older layer seems to contain is not added to
 * later layers, so later layers pass slightly more of the keys that older layers reject. Each bound
 * is widened by 5 standard deviations. The promised maximum is 1.02 times the requested rate, plus
 * 5 standard deviations. */
#include "../amount.h"
#include "statistics.h"

#define BATCH 65536
#define ABSENT ((int64_t)1 << 40) /* integers from this value on are never added */

static int64_t keys[BATCH];

static uint64_t in_batches(petal_filter *filter, int64_t from, uint64_t count,
                           uint64_t (*each)(petal_filter *, size_t))
{
    uint64_t sum = 0;
    for (uint64_t done = 0, size; done < count; done += size) {
        size = count - done < BATCH ? count - done : BATCH;
        for (uint64_t i = 0; i < size; i++) keys[i] = from + (int64_t)(done + i);
        sum += each(filter, (size_t)size);
    }
    return sum;
}

static uint64_t add_batch(petal_filter *filter, size_t count)
{
    size_t new_count;
    assert_int_equal(add_number_batch(filter, keys, count, NULL, &new_count), PETAL_OK);
    return new_count;
}

static uint64_t ask_batch(petal_filter *filter, size_t count)
{
    return contains_numbers(filter, keys, count, NULL);
}

/* Bounds on the rate given the bits: the rate if the layers are independent, and the rate if no key
 * passes two layers. */
struct bounds {
    double low, high;
};

static struct bounds bounds_of(const petal_filter *filter, uint32_t layers)
{
    struct bounds bounds = {0, 0};
    for (uint32_t i = 0; i < layers; i++) {
        petal_stats layer = PETAL_STATS_INIT;
        assert_int_equal(petal_get_stats(filter, i, &layer, NULL), PETAL_OK);
        bounds.low += (1 - bounds.low) * layer.estimated_rate;
        bounds.high += layer.estimated_rate;
    }
    return bounds;
}

/* ---- growing --------------------------------------------------------------------------------- */

/* A way to grow: scheme, rate, growth_ratio and growth_step. */
struct growth {
    const char *name;
    uint32_t scheme;
    double rate, ratio;
    uint32_t step;
};

static double ideal_bits(double rate)
{
    return -log2(rate); /* the minimum for any structure with this false-positive rate */
}

/* Returns the number of bits under RedisBloom's rule: the first layer has half the requested rate,
 * and each later layer has twice the capacity and half the rate of the previous layer. A layer has
 * -ln p / (ln 2)^2 bits per key. */
static double redisbloom_bits(double rate, uint64_t first, uint64_t wanted)
{
    double bits = 0, capacity = (double)first, room = 0;
    for (double p = rate / 2; room < (double)wanted; p /= 2, capacity *= 2) {
        bits += capacity * -log(p) / 0.480453013918201;
        room += capacity;
    }
    return bits;
}

static void judge_growth(const struct growth *growth, petal_filter *filter, uint64_t count)
{
    petal_info info = PETAL_INFO_INIT;
    struct bounds bounds;
    uint64_t queries = growth->rate < 0.005 ? 4 << 20 : 1 << 20;
    assert_int_equal(petal_get_info(filter, PETAL_ALL_LAYERS, &info, NULL), PETAL_OK);
    petal_stats info_stats = stats_of(filter);
    assert_int_equal(in_batches(filter, 0, count, ask_batch), count);
    bounds = bounds_of(filter, info.layers);
    double measured = (double)in_batches(filter, ABSENT, queries, ask_batch) / (double)queries;
    double sd = sqrt(bounds.high / (double)queries),
           asked_sd = sqrt(growth->rate / (double)queries);
    printf(
        "# %s: %8llu keys, %2u layers, rate / asked %.3f, bits per key %.1f, ideal %.2f, RedisBloom's rule %.1f\n",
        growth->name, (unsigned long long)count, info.layers, measured / growth->rate,
        (double)info.bits / (double)count, ideal_bits(growth->rate),
        redisbloom_bits(growth->rate, 1000, count) / (double)count);
    require(measured >= bounds.low - 5 * sd && measured <= bounds.high + 5 * sd,
            "%s, %llu keys: %g, by the bits %g to %g", growth->name, (unsigned long long)count,
            measured, bounds.low, bounds.high);
    require(measured <= 1.02 * growth->rate + 5 * asked_sd, "%s, %llu keys: %g", growth->name,
            (unsigned long long)count, measured);
    require_that(fabs(info_stats.estimated_rate - bounds.low), <=, 1e-9 * bounds.low);
}

/* Measures the filter at every power of two from 1,024 keys on, and at 10^7 keys. With growth 2, at
 * a large power of two, the last layer is almost empty, and all other layers are full. */
static void grow(const struct growth *growth)
{
    petal_options options = PETAL_OPTIONS_INIT;
    petal_filter *filter = NULL;
    options.scheme = growth->scheme;
    options.capacity = 1000;
    options.rate = growth->rate;
    options.growth = true;
    options.growth_step = growth->step;
    options.growth_ratio = growth->ratio;
    assert_int_equal(petal_create(&options, &filter, NULL), PETAL_OK);
    uint64_t in = 0;
    for (uint64_t power = 1024; in < 10000000; power *= 2) {
        uint64_t stop = power < 10000000 ? power : 10000000;
        in_batches(filter, (int64_t)in, stop - in, add_batch);
        judge_growth(growth, filter, in = stop);
    }
    petal_free(filter);
}

static void
a_filter_that_grows_from_1000_keys_to_10_million_keeps_its_rate_at_every_power_of_two(void **state)
{
    (void)state;
    static const struct growth kinds[] = {
        {"blocked, 1 %", PETAL_SCHEME_BLOCKED, 0.01, 0, 0},
        {"blocked, 0.1 %", PETAL_SCHEME_BLOCKED, 0.001, 0, 0},
        {"blocked, 10 %, x 4, r 0.5", PETAL_SCHEME_BLOCKED, 0.1, 0.5, 4},
        {"classic, 1 %", PETAL_SCHEME_CLASSIC, 0.01, 0, 0},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) grow(&kinds[i]);
}

/* ---- rotating -------------------------------------------------------------------------------- */

#define WINDOW nightly_amount(1000000)
#define STREAM (100 * WINDOW)

struct stream {
    petal_filter *filter;
    uint64_t in, generation, generations; /* number of keys so far; keys per generation; number of
                                           * generations */
    /* The number of queries for keys that must be forgotten, and how many of them passed. */
    uint64_t asked, passed;
    uint64_t random;
};

/* Checks that all keys in the last window are present. Keys older than a window plus a generation
 * may pass no more often than the false-positive rate allows. */
static void look_back(struct stream *stream)
{
    uint64_t window = stream->in < WINDOW ? stream->in : WINDOW,
             forgotten = WINDOW + stream->generation;
    assert_int_equal(in_batches(stream->filter, (int64_t)(stream->in - window), window, ask_batch),
                     window);
    if (stream->in < forgotten + WINDOW) return;
    stream->passed +=
        in_batches(stream->filter, (int64_t)(stream->in - forgotten - WINDOW), WINDOW, ask_batch);
    stream->asked += WINDOW;
}

static void save_and_open(struct stream *stream)
{
    petal_error error;
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    options.flags = PETAL_OPEN_LOAD | PETAL_OPEN_VERIFY;
    require_status(PETAL_OK, petal_save(stream->filter, temporary("stream.petal"), NULL, &error),
                   error);
    petal_free(stream->filter);
    require_status(PETAL_OK,
                   petal_open(temporary("stream.petal"), &options, &stream->filter, &error), error);
}

/* Adds batches of random size, so that generations end at arbitrary points inside a batch. Returns
 * the number of keys that are reported as new. */
static uint64_t feed(struct stream *stream, uint64_t count)
{
    uint64_t fresh = 0;
    for (uint64_t size; count > 0; count -= size, stream->in += size) {
        size = 1 + random_below(&stream->random, BATCH);
        if (size > count) size = count;
        fresh += in_batches(stream->filter, (int64_t)stream->in, size, add_batch);
    }
    return fresh;
}

static void a_stream_of_a_hundred_windows_is_remembered_and_forgotten(void **state)
{
    (void)state;
    petal_options options = PETAL_OPTIONS_INIT;
    struct stream stream = {.random = 9};
    petal_info info = PETAL_INFO_INIT;
    uint64_t fresh = 0, looks = 0;
    options.window_keys = WINDOW;
    options.rate = 0.01;
    assert_int_equal(petal_create(&options, &stream.filter, NULL), PETAL_OK);
    assert_int_equal(petal_get_info(stream.filter, PETAL_ALL_LAYERS, &info, NULL), PETAL_OK);
    stream.generation = (WINDOW + info.layers - 2) / (info.layers - 1);
    while (stream.in < STREAM) {
        uint64_t step = 1 + random_below(&stream.random, 2 * WINDOW);
        fresh += feed(&stream, step < STREAM - stream.in ? step : STREAM - stream.in);
        look_back(&stream);
        if (++looks % 4 == 0) save_and_open(&stream);
    }
    double rate = (double)stream.passed / (double)stream.asked,
           dropped = 1 - (double)fresh / (double)STREAM;
    printf(
        "# %u generations of %llu keys, %.2f bits per key of the window; %llu looks back: %llu forgotten keys asked, %.4f %% "
        "passed; of new keys %.4f %% were dropped\n",
        info.layers, (unsigned long long)stream.generation, (double)info.bits / (double)WINDOW,
        (unsigned long long)looks, (unsigned long long)stream.asked, 100 * rate, 100 * dropped);
    /* The rate is averaged over many states with between G - 1 and G full generations. At this
     * size, 5 standard deviations of the rate between filters amount to less than 1 %. */
    require_that(rate, <=, 1.02 * options.rate);
    require_that(rate, >, 0.7 * options.rate);
    require_that(dropped, <=, 1.02 * options.rate);
    require_that(dropped, >, 0.7 * options.rate);
    petal_free(stream.filter);
}

/* ---- windows of time ------------------------------------------------------------------------- */

#define DAY ((uint64_t)86400000)
#define DAY_KEYS ((uint64_t)200000)
#define QUERIES ((uint64_t)1 << 20)

/* Batches of keys with their times. No window contains more than DAY_KEYS keys. */
struct days {
    const char *name;
    petal_filter *filter;
    uint64_t start, now, added, fresh, span;
    uint64_t batch_at[10000], batch_end[10000], batches;
    double worst_rate;
    uint32_t generations;
};

static void begin_days(struct days *days, const char *name, uint32_t scheme, double rate)
{
    petal_options options = PETAL_OPTIONS_INIT;
    *days = (struct days){.name = name, .start = 20000 * DAY + 4711};
    options.scheme = scheme;
    options.window_ms = DAY;
    options.window_keys = DAY_KEYS;
    options.rate = rate;
    assert_int_equal(petal_create(&options, &days->filter, NULL), PETAL_OK);
    days->generations = layers_info_of(days->filter, PETAL_ALL_LAYERS).generations;
    days->span = (DAY + days->generations - 2) / (days->generations - 1);
}

static void come(struct days *days, uint64_t at, uint64_t count)
{
    days->now = days->start + at;
    assert_int_equal(petal_set_clock(days->filter, days->now, NULL), PETAL_OK);
    days->fresh += in_batches(days->filter, (int64_t)days->added, count, add_batch);
    days->added += count;
    days->batch_at[days->batches] = days->now;
    days->batch_end[days->batches++] = days->added;
}

/* Checks that all keys in the last window are present. Absent and expired keys may pass no more
 * often than the given rate allows. */
static void look_at_days(struct days *days, double rate)
{
    uint64_t first = days->batches, gone = 0;
    petal_info info = PETAL_INFO_INIT;
    while (first > 0 && days->now - days->batch_at[first - 1] <= DAY) first--;
    uint64_t from = first ? days->batch_end[first - 1] : 0, count = days->added - from;
    require_that(count, <=, DAY_KEYS);
    assert_int_equal(in_batches(days->filter, (int64_t)from, count, ask_batch), count);
    assert_int_equal(petal_get_info(days->filter, PETAL_ALL_LAYERS, &info, NULL), PETAL_OK);
    petal_stats info_stats = stats_of(days->filter);
    require(!info_stats.overfull && info.layers < 2 * days->generations, "%s: %u layers",
            days->name, info.layers);
    double measured =
        (double)in_batches(days->filter, ABSENT, QUERIES, ask_batch) / (double)QUERIES;
    require(measured <= 1.02 * rate + 5 * sqrt(rate / (double)QUERIES), "%s: %g", days->name,
            measured);
    if (measured > days->worst_rate) days->worst_rate = measured;
    while (gone < days->batches && days->now - days->batch_at[gone] >= DAY + days->span) gone++;
    if (gone == 0) return;
    count = days->batch_end[gone - 1];
    double found = (double)in_batches(days->filter, 0, count, ask_batch);
    require_that(found, <=, 1.02 * rate * (double)count + 5 * sqrt(rate * (double)count));
}

static void end_days(struct days *days, double rate)
{
    petal_info info = PETAL_INFO_INIT;
    assert_int_equal(petal_get_info(days->filter, PETAL_ALL_LAYERS, &info, NULL), PETAL_OK);
    double dropped = (double)(days->added - days->fresh), max = rate * (double)days->added;
    printf(
        "# %s, %s: %llu keys, worst rate %.3f %%, %.3f %% dropped; %u generations, %u layers at the end\n",
        days->name, info.scheme_name, (unsigned long long)days->added, 100 * days->worst_rate,
        100 * dropped / (double)days->added, days->generations, info.layers);
    require_that(dropped, <=, 1.02 * max + 5 * sqrt(max));
    petal_free(days->filter);
}

/* Repeatedly adds all keys of a window at the same time. */
static void bursts(struct days *days)
{
    for (uint64_t day = 0; day < 4; day++) {
        come(days, day * (DAY + 1), DAY_KEYS);
        look_at_days(days, 0.01);
        come(days, day * (DAY + 1) + DAY / 2, 0);
        look_at_days(days, 0.01);
    }
}

/* Adds the same number of keys every five minutes. A window of a day contains 289 of these times,
 * since both its ends count. */
static void steady(struct days *days)
{
    for (uint64_t i = 0; i < 4 * 288; i++) {
        come(days, i * (DAY / 288), DAY_KEYS / 289);
        if (i % 97 == 96) look_at_days(days, 0.01);
    }
}

/* Adds half of the keys at the start of each window and half at its end, so that the second half is
 * close to the next window's first half. */
static void both_ends(struct days *days)
{
    for (uint64_t day = 0; day < 4; day++) {
        come(days, day * (DAY + 1), DAY_KEYS / 2);
        look_at_days(days, 0.01);
        come(days, day * (DAY + 1) + DAY - 1, DAY_KEYS / 2);
        look_at_days(days, 0.01);
    }
}

/* Adds one key in each span, which opens as many generations as possible, and then all remaining
 * keys at the same time. */
static void late_bursts(struct days *days)
{
    for (uint64_t day = 0; day < 6; day++) {
        uint64_t start = day * (2 * DAY + 2);
        for (uint64_t i = 0; i * days->span < DAY; i++) come(days, start + i * days->span, 1);
        come(days, start + DAY, DAY_KEYS - 100);
        look_at_days(days, 0.01);
        come(days, start + DAY + days->span, 50);
        look_at_days(days, 0.01);
    }
}

static void a_window_of_time_keeps_its_rate_however_its_keys_come(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        void (*play)(struct days *days);
    } patterns[] = {{"bursts", bursts},
                    {"steady", steady},
                    {"both ends", both_ends},
                    {"late bursts", late_bursts}};
    for (uint32_t scheme = PETAL_SCHEME_BLOCKED; scheme <= PETAL_SCHEME_CLASSIC;
         scheme = scheme + 1)
        for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
            static struct days days;
            begin_days(&days, patterns[i].name, scheme, 0.01);
            patterns[i].play(&days);
            end_days(&days, 0.01);
        }
}

/* Adds two to five times the planned number of keys. No key may be lost, and the filter must report
 * that it is overfull and what its actual rate is. */
static void an_overfull_window_of_time_loses_nothing_and_says_its_rate(void **state)
{
    (void)state;
    for (uint64_t times = 2; times <= 5; times++) {
        static struct days days;
        petal_info info = PETAL_INFO_INIT;
        begin_days(&days, "overfull", PETAL_SCHEME_BLOCKED, 0.01);
        for (uint64_t i = 0; i < times; i++) come(&days, i * DAY / 10, DAY_KEYS);
        assert_int_equal(in_batches(days.filter, 0, days.added, ask_batch), days.added);
        assert_int_equal(petal_get_info(days.filter, PETAL_ALL_LAYERS, &info, NULL), PETAL_OK);
        petal_stats info_stats = stats_of(days.filter);
        double measured =
            (double)in_batches(days.filter, ABSENT, QUERIES, ask_batch) / (double)QUERIES;
        printf("# %llu times the keys: %u layers, rate %.2f %%, said %.2f %%\n",
               (unsigned long long)times, info.layers, 100 * measured,
               100 * info_stats.estimated_rate);
        assert_true(info_stats.overfull);
        assert_true(petal_is_overfull(days.filter));
        require_that(fabs(measured - info_stats.estimated_rate), <=,
                     5 * sqrt(measured / (double)QUERIES));
        petal_free(days.filter);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            a_filter_that_grows_from_1000_keys_to_10_million_keeps_its_rate_at_every_power_of_two),
        cmocka_unit_test(a_stream_of_a_hundred_windows_is_remembered_and_forgotten),
        cmocka_unit_test(a_window_of_time_keeps_its_rate_however_its_keys_come),
        cmocka_unit_test(an_overfull_window_of_time_loses_nothing_and_says_its_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
