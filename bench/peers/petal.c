/* petal.c - runs Petal as a contender for driver.c, which describes the protocol, for comparison
 * with libraries in other languages.
 *
 *     petal SCHEME|FORMAT single|batch|inline
 *
 * If a format is given, Petal creates and fills a filter in that library's format, and then queries
 * the bytes of its file in place. */
#define _POSIX_C_SOURCE 200809L

#include <petal/petal_inline.h>

#include "../../tests/keys.h"
#include "../../tests/save_as.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TEXT_BYTES 28u
/* Keys are passed in pieces, as a program that reads a stream would pass them. */
#define PIECE 1024u

struct keys {
    size_t count;
    int64_t *numbers; /* or NULL */
    char *texts;      /* or NULL; TEXT_BYTES each, consecutive */
};

struct order {
    size_t keys;
    double bits_per_key, rate;
    const char *kind;
    size_t repeats;
};

static const char *design;
static bool foreign, batch, inlined;

static double now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void check(bool fine, const char *what)
{
    if (fine) return;
    printf("none %s\n", what);
    exit(1);
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* SplitMix64's output function: a bijection, so no key occurs twice. */
static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static struct keys make_keys(size_t count, bool texts, uint64_t from)
{
    struct keys keys = {count, NULL, NULL};
    if (texts)
        keys.texts = malloc(count * TEXT_BYTES + 1);
    else
        keys.numbers = malloc(count * sizeof *keys.numbers);
    check(keys.texts || keys.numbers, "not enough memory");
    for (size_t i = 0; i < count; i++) {
        uint64_t number = mix(from + i);
        if (texts)
            snprintf(keys.texts + i * TEXT_BYTES, TEXT_BYTES + 1, "http://a.io/%016" PRIx64,
                     number);
        else
            memcpy(&keys.numbers[i], &number, sizeof number);
    }
    return keys;
}

static void free_keys(struct keys *keys)
{
    free(keys->numbers);
    free(keys->texts);
    *keys = (struct keys){0, NULL, NULL};
}

/* Generates both sets of keys, and keeps them from one order to the next. */
static void have_keys(const struct order *order, struct keys *in, struct keys *out)
{
    bool texts = strcmp(order->kind, "text") == 0;
    if (in->count == order->keys && (in->texts != NULL) == texts) return;
    free_keys(in);
    free_keys(out);
    *in = make_keys(order->keys, texts, 0);
    *out = make_keys(order->keys, texts, (uint64_t)1 << 40);
}

static void print_last(const struct keys *keys)
{
    if (keys->texts)
        printf(" %.*s\n", (int)TEXT_BYTES, keys->texts + (keys->count - 1) * TEXT_BYTES);
    if (keys->numbers) printf(" %016" PRIx64 "\n", (uint64_t)keys->numbers[keys->count - 1]);
}

/* ---- filters --------------------------------------------------------------------------------- */

/* Computes Petal's choice of k once per size: other libraries get k from a formula or a
 * constant. */
static uint32_t planned_hashes(const petal_options *options)
{
    static uint64_t bits;
    static uint32_t hashes;
    petal_error error;
    if (bits == options->bits) return hashes;
    petal_info plan = PETAL_INFO_INIT;
    check(petal_plan(options, &plan, NULL, &error) == PETAL_OK, error.message);
    bits = options->bits;
    hashes = plan.hashes;
    return hashes;
}

static petal_filter *make_filter(const struct order *order)
{
    petal_options options = PETAL_OPTIONS_INIT;
    petal_filter *filter = NULL;
    petal_error error;
    options.capacity = order->keys;
    if (foreign) {
        options.format = design;
        options.rate = order->rate;
    } else {
        options.scheme =
            strcmp(design, "classic") == 0 ? PETAL_SCHEME_CLASSIC : PETAL_SCHEME_BLOCKED;
        options.bits = (uint64_t)((double)order->keys * order->bits_per_key);
        options.hashes = planned_hashes(&options);
    }
    check(petal_create(&options, &filter, &error) == PETAL_OK, error.message);
    return filter;
}

static size_t fill_piece(const struct keys *keys, size_t from, petal_key piece[PIECE])
{
    size_t count = keys->count - from < PIECE ? keys->count - from : PIECE;
    for (size_t i = 0; i < count; i++)
        piece[i] = (petal_key){keys->texts + (from + i) * TEXT_BYTES, TEXT_BYTES};
    return count;
}

/* The loops of petal_inline.h, compiled for this CPU. */
static void add_inline(petal_filter *filter, const struct keys *keys)
{
    petal_inline hot = PETAL_INLINE_INIT;
    petal_error error;
    check(petal_inline_begin_adding(filter, &hot, &error) == PETAL_OK, error.message);
    for (size_t i = 0; i < keys->count; i++) petal_inline_add_i64(&hot, keys->numbers[i]);
    petal_inline_end(filter, &hot);
}

static size_t count_found_inline(petal_filter *filter, const struct keys *keys)
{
    petal_inline hot = PETAL_INLINE_INIT;
    size_t found = 0;
    petal_error error;
    check(petal_inline_begin(filter, &hot, &error) == PETAL_OK, error.message);
    for (size_t i = 0; i < keys->count; i++)
        found += petal_inline_contains_i64(&hot, keys->numbers[i]);
    return found;
}

static void add(petal_filter *filter, const struct keys *keys)
{
    if (inlined) {
        add_inline(filter, keys);
    } else if (batch && keys->numbers) {
        add_number_batch(filter, keys->numbers, keys->count, NULL, NULL);
    } else if (batch) {
        petal_key piece[PIECE];
        for (size_t from = 0; from < keys->count; from += PIECE)
            add_key_batch(filter, piece, fill_piece(keys, from, piece), NULL, NULL);
    } else if (keys->numbers) {
        for (size_t i = 0; i < keys->count; i++) petal_add_i64(filter, keys->numbers[i]);
    } else {
        for (size_t i = 0; i < keys->count; i++)
            petal_add(filter, keys->texts + i * TEXT_BYTES, TEXT_BYTES);
    }
}

static size_t count_found(petal_filter *filter, const struct keys *keys)
{
    size_t found = 0;
    if (inlined) {
        found = count_found_inline(filter, keys);
    } else if (batch && keys->numbers) {
        found = contains_numbers(filter, keys->numbers, keys->count, NULL);
    } else if (batch) {
        petal_key piece[PIECE];
        for (size_t from = 0; from < keys->count; from += PIECE)
            found += contains_keys(filter, piece, fill_piece(keys, from, piece), NULL);
    } else if (keys->numbers) {
        for (size_t i = 0; i < keys->count; i++)
            found += petal_contains_i64(filter, keys->numbers[i]);
    } else {
        for (size_t i = 0; i < keys->count; i++)
            found += petal_contains(filter, keys->texts + i * TEXT_BYTES, TEXT_BYTES);
    }
    return found;
}

/* The other library's file in memory, which is queried in place. */
static petal_filter *view_of_file(petal_filter *filter, void **bytes)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    petal_filter *view = NULL;
    petal_error error;
    size_t size = petal_serialized_bytes(filter, SAVE_AS(design));
    options.format = design;
    *bytes = malloc(size);
    check(*bytes && petal_serialize(filter, SAVE_AS(design), *bytes, size, &error) == PETAL_OK,
          "no file of it");
    check(petal_view(*bytes, size, &options, &view, &error) == PETAL_OK, error.message);
    petal_free(filter);
    return view;
}

/* ---- a round --------------------------------------------------------------------------------- */

static void run_round(const struct order *order, const struct keys *in, const struct keys *out)
{
    double add_ns = INFINITY, hit_ns = INFINITY, miss_ns = INFINITY, asked = (double)order->keys;
    size_t found = 0;
    petal_info info = PETAL_INFO_INIT;
    for (size_t i = 0; i < order->repeats; i++) {
        void *bytes = NULL;
        double start = now_ns();
        petal_filter *filter = make_filter(order);
        add(filter, in);
        add_ns = fmin(add_ns, now_ns() - start);
        if (foreign) filter = view_of_file(filter, &bytes);
        start = now_ns();
        size_t members = count_found(filter, in);
        double hit = now_ns();
        found = count_found(filter, out);
        miss_ns = fmin(miss_ns, now_ns() - hit);
        hit_ns = fmin(hit_ns, hit - start);
        check(members == order->keys, "keys were lost");
        petal_get_info(filter, PETAL_ALL_LAYERS, &info, NULL);
        petal_free(filter);
        free(bytes);
    }
    printf("ok %.4f %.4f %.4f %zu %" PRIu64, add_ns / asked, hit_ns / asked, miss_ns / asked, found,
           info.bits);
    print_last(out);
}

/* Returns false if the library converts numbers to text, so its key bytes differ from Petal's. */
static bool takes_numbers(void)
{
    return !foreign || strcmp(design, "guava") == 0 || strcmp(design, "bits-and-blooms") == 0;
}

static bool read_order(char *line, struct order *order)
{
    char *word[6], *rest = NULL;
    for (size_t i = 0; i < 6; i++)
        if (!(word[i] = strtok_r(i ? NULL : line, " \n", &rest))) return false;
    order->keys = strtoul(word[1], NULL, 10);
    order->bits_per_key = strtod(word[2], NULL);
    order->rate = strtod(word[3], NULL);
    order->kind = word[4];
    order->repeats = strtoul(word[5], NULL, 10);
    return strcmp(word[0], "run") == 0 && order->keys > 0 && order->repeats > 0;
}

int main(int count, char **arguments)
{
    struct keys in = {0, NULL, NULL}, out = {0, NULL, NULL};
    struct order order;
    char line[256];
    if (count != 3) return 2;
    design = arguments[1];
    foreign = strcmp(design, "blocked") != 0 && strcmp(design, "classic") != 0;
    batch = strcmp(arguments[2], "batch") == 0;
    inlined = strcmp(arguments[2], "inline") == 0;
    while (fgets(line, sizeof line, stdin) && read_order(line, &order)) {
        bool numbers = strcmp(order.kind, "number") == 0;
        if (numbers && !takes_numbers()) {
            printf("none it has texts only\n");
        } else if (!numbers && inlined) {
            printf("none the inline loop is for numbers\n");
        } else {
            have_keys(&order, &in, &out);
            run_round(&order, &in, &out);
        }
        fflush(stdout);
    }
    free_keys(&in);
    free_keys(&out);
    return 0;
}
