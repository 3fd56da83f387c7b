/* options.c - fuzz target: tries arbitrary petal_options. Planning and creating must agree. A
 * created filter must take the planned memory and keep its keys. A filter that is written in its
 * own format or as a petal file must read back unchanged. */
#include "../tests/save_as.h"
#include "input.h"

#include <math.h>

#define MEMORY_LIMIT ((uint64_t)1 << 18)
/* A filter must not need much more memory than its bits and its metadata. */
#define OVERHEAD ((uint64_t)32 << 10)
#define MAX_KEYS 512

static const uint8_t secret[PETAL_SECRET_BYTES] = {0, 1, 2,  3,  4,  5,  6,  7,
                                                   8, 9, 10, 11, 12, 13, 14, 15};
static const uint8_t metadata[300] = "metadata";

/* ---- options --------------------------------------------------------------------------------- */

static double take_rate(struct input *in)
{
    static const double notable[] = {0.5,
                                     0.1,
                                     0.01,
                                     0.001,
                                     2e-4,
                                     1.9e-4,
                                     1e-6,
                                     1e-12,
                                     1e-18,
                                     1e-30,
                                     1e-78,
                                     0x1p-1074,
                                     0,
                                     1,
                                     1.5,
                                     -1,
                                     INFINITY,
                                     NAN,
                                     0x1.fffffffffffffp-1};
    uint32_t kind = take_below(in, 4);
    double rate;
    uint64_t bits;
    if (kind < 2) return notable[take_below(in, sizeof notable / sizeof *notable)];
    if (kind == 2) return (double)take(in, 2) / 65536;
    bits = take(in, 8);
    memcpy(&rate, &bits, sizeof rate);
    return rate;
}

static const char *take_format(struct input *in)
{
    uint32_t count = 0, choice = take_below(in, 256);
    while (format_name(count)) count++;
    return choice < 96     ? NULL
           : choice == 255 ? "no such format"
                           : format_name(count ? choice % count : 0);
}

static void take_size(struct input *in, petal_options *options)
{
    uint32_t given = take_below(in, 256);
    if (given & 1) options->capacity = take_number(in);
    if (given & 2) options->rate = take_rate(in);
    if ((given & 12) == 4) options->memory_bytes = take_number(in);
    if ((given & 12) == 8) options->bits = take_number(in);
    if (given & 16) options->hashes = given & 128 ? (uint32_t)take(in, 4) : take_below(in, 70);
    if ((given & 96) == 32) options->lines_per_key = take_below(in, 4);
}

static void take_layers(struct input *in, petal_options *options)
{
    uint32_t given = take_below(in, 256);
    if ((given & 3) == 1) options->growth = true;
    if ((given & 3) == 2) options->window_keys = take_number(in);
    if (given & 4) options->growth_step = take_below(in, 70);
    if (given & 8) options->growth_ratio = take_rate(in);
    if (given & 16) options->window_ms = take_number(in);
    if (given & 32) options->generations = take_below(in, 70);
}

static petal_options take_options(struct input *in)
{
    static const uint32_t schemes[] = {0, 1, 2, 3, 20, 99};
    petal_options options = PETAL_OPTIONS_INIT;
    uint32_t given = take_below(in, 256);
    options.format = take_format(in);
    if (given & 1) options.scheme = schemes[take_below(in, 6)];
    take_size(in, &options);
    if (given & 2) options.hash = (uint32_t)take_below(in, 20);
    if (given & 4) options.seed = take_number(in);
    if (given & 8) options.secret = secret;
    if (given & 16) options.metadata = metadata;
    if (given & 16) options.metadata_bytes = take_below(in, sizeof metadata + 1);
    if (given & 128) options.foldable = 1;
    if ((given & 96) == 96) take_layers(in, &options);
    return options;
}

/* ---- planning and creating ------------------------------------------------------------------- */

static bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static void must_be_alike(const petal_info *a, const petal_info *b)
{
    must(a->scheme == b->scheme && a->hash == b->hash && a->hashes == b->hashes);
    must(a->lines_per_key == b->lines_per_key && a->policy == b->policy);
    must(a->layers == b->layers && a->bits == b->bits && a->bytes == b->bytes);
    must(a->counter_bits == b->counter_bits && a->seed == b->seed && a->keyed == b->keyed &&
         a->secret_id == b->secret_id);
}

static void must_be_the_same(const petal_info *a, const petal_info *b)
{
    must_be_alike(a, b);
    must(a->capacity == b->capacity && same(a->target_rate, b->target_rate));
    must(same(a->predicted_rate, b->predicted_rate) && strcmp(a->format_name, b->format_name) == 0);
}

static void must_grow_alike(const petal_layers_info *a, const petal_layers_info *b)
{
    must(a->growth_step == b->growth_step && same(a->growth_ratio, b->growth_ratio));
    must(a->window_keys == b->window_keys && a->window_ms == b->window_ms &&
         a->generations == b->generations);
}

/* Filters of Petal's own schemes must keep the rate for which they were sized. */
static void must_keep_the_rate(const petal_options *options, const petal_info *plan)
{
    if (options->format && strcmp(options->format, "petal") != 0) return;
    if (options->bits != 0 || options->rate == 0) return;
    must(plan->target_rate == options->rate);
    if (plan->policy == PETAL_POLICY_NONE)
        must(plan->predicted_rate > 0 && plan->predicted_rate <= 1.02 * options->rate);
}

/* A time window starts with fewer generations than planned, and may grow to that number. */
static void begin_with_fewer(petal_info *plan, const petal_info *made)
{
    if (plan->policy != PETAL_POLICY_WINDOW_TIME) return;
    must(plan->layers >= made->layers);
    plan->bits = plan->bits / plan->layers * made->layers;
    plan->bytes = plan->bytes / plan->layers * made->layers;
    plan->layers = made->layers;
    if (made->layers == 1) plan->predicted_rate = made->predicted_rate;
}

static petal_filter *create(const petal_options *options, const struct budget *budget)
{
    petal_info plan = PETAL_INFO_INIT, made = PETAL_INFO_INIT;
    petal_layers_info layers = PETAL_LAYERS_INFO_INIT;
    petal_error error = {0}, again = {0};
    petal_filter *filter = NULL;
    petal_status planned = petal_plan(options, &plan, &layers, &error),
                 created = petal_create(options, &filter, &again);
    must((created == PETAL_OK) == (filter != NULL));
    if (planned != PETAL_OK) {
        must_be_told(&error, planned);
        must(created == planned && strcmp(error.message, again.message) == 0);
        return NULL;
    }
    must_keep_the_rate(options, &plan);
    must(plan.bytes >= plan.bits / 8);
    if (created != PETAL_OK) {
        must_be_told(&again, created);
        must(created == PETAL_ERR_MEMORY && plan.bytes > budget->limit - OVERHEAD);
        return NULL;
    }
    must(petal_get_info(filter, PETAL_ALL_LAYERS, &made, &error) == PETAL_OK);
    petal_stats made_stats = stats_of(filter);
    begin_with_fewer(&plan, &made);
    petal_layers_info made_layers = layers_info_of(filter, PETAL_ALL_LAYERS);
    must_be_the_same(&plan, &made);
    must_grow_alike(&layers, &made_layers);
    must(made.items == 0 && made_stats.bits_set == 0 && made_stats.estimated_rate == 0 &&
         !made_stats.overfull);
    must(budget->used >= plan.bytes && budget->peak <= plan.bytes + OVERHEAD);
    return filter;
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* The numbers that the filter accepted are 0 .. `to` - 1. Of these, the numbers from `from` on must
 * be found. */
struct keys {
    int64_t from, to;
};

static struct keys add_keys(petal_filter *filter, struct input *in, const petal_options *options)
{
    struct keys in_it = {0, 0};
    int64_t count = take_below(in, MAX_KEYS);
    while (in_it.to < count) {
        petal_status status = petal_add_i64(filter, in_it.to);
        if (status < 0) {
            must(status == PETAL_ERR_MEMORY || status == PETAL_ERR_LIMIT ||
                 status == PETAL_ERR_FULL);
            break;
        }
        in_it.to++;
    }
    if (options->window_keys != 0 && options->window_ms == 0 &&
        options->window_keys < (uint64_t)in_it.to)
        in_it.from = in_it.to - (int64_t)options->window_keys;
    return in_it;
}

static void must_have(const petal_filter *filter, struct keys keys)
{
    for (int64_t i = keys.from; i < keys.to; i++) must(petal_contains_i64(filter, i));
}

/* ---- files ----------------------------------------------------------------------------------- */

/* Writes the filter in this format (NULL means a petal file) and reads it back. The result must
 * equal the filter. */
static petal_filter *write_and_read(const petal_filter *filter, const char *format,
                                    const void *with_secret)
{
    petal_open_options open = PETAL_OPEN_OPTIONS_INIT;
    petal_filter *back = NULL;
    petal_error error;
    uint64_t size = petal_serialized_bytes(filter, SAVE_AS(format ? format : "petal"));
    must(size > 0);
    uint8_t *bytes = malloc(size);
    must(bytes && petal_serialize(filter, SAVE_AS(format ? format : "petal"), bytes, size,
                                  &error) == PETAL_OK);
    open.format = format;
    open.secret = with_secret;
    open.flags = PETAL_OPEN_LOAD | (format ? 0 : PETAL_OPEN_VERIFY);
    petal_status status = petal_load(bytes, size, &open, &back, &error);
    if (status != PETAL_OK) fprintf(stderr, "%s: %s\n", format ? format : "petal", error.message);
    must(status == PETAL_OK);
    free(bytes);
    return back;
}

static void check_files(const petal_filter *filter, const petal_options *options, struct keys keys)
{
    petal_info info = PETAL_INFO_INIT, back = PETAL_INFO_INIT;
    must(petal_get_info(filter, PETAL_ALL_LAYERS, &info, NULL) == PETAL_OK);
    petal_stats info_stats = stats_of(filter);
    uint64_t info_id = content_of(filter);
    petal_filter *petal = write_and_read(filter, NULL, options->secret);
    must(petal_get_info(petal, PETAL_ALL_LAYERS, &back, NULL) == PETAL_OK);
    petal_stats back_stats = stats_of(petal);
    uint64_t back_id = content_of(petal);
    petal_layers_info layers = layers_info_of(filter, PETAL_ALL_LAYERS),
                      back_layers = layers_info_of(petal, PETAL_ALL_LAYERS);
    must_be_the_same(&info, &back);
    must_grow_alike(&layers, &back_layers);
    must(info_id == back_id && info.items == back.items &&
         info_stats.bits_set == back_stats.bits_set);
    must_have(petal, keys);
    petal_free(petal);
    if (!options->format) return;
    petal_filter *own = write_and_read(filter, options->format, options->secret);
    must(petal_get_info(own, PETAL_ALL_LAYERS, &back, NULL) == PETAL_OK);
    back_stats = stats_of(own);
    must_be_alike(&info, &back);
    must(info_stats.bits_set == back_stats.bits_set);
    must_have(own, keys);
    petal_free(own);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    struct input in = {data, size_bytes};
    struct budget budget = {MEMORY_LIMIT, 0, 0};
    petal_allocator allocator = allocator_of(&budget);
    petal_options options = take_options(&in);
    options.allocator = &allocator;
    petal_filter *filter = create(&options, &budget);
    if (filter) {
        struct keys keys = add_keys(filter, &in, &options);
        budget.limit += (uint64_t)1 << 20; /* for compression */
        must_have(filter, keys);
        check_files(filter, &options, keys);
    }
    petal_free(filter);
    must(budget.used == 0);
    return 0;
}
