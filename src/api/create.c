/* create.c - plans and creates filters, both Petal's own and those of other libraries. */
#include "api/info.h"
#include "base/error.h"
#include "base/sized.h"
#include "filter/growing.h"
#include "filter/rotating.h"
#include "filter/static_builder.h"
#include "format/foreign/sizing.h"
#include "os/os.h"
#include "scheme/plan.h"
#include "scheme/static.h"

#include <math.h> /* NAN, a macro */

static bool rotates(const petal_options *options)
{
    return options->window_keys != 0 || options->window_ms != 0;
}

static petal_status check_options(const petal_options *options, petal_error *error)
{
    if (options->key_type > PETAL_KEY_TYPE_BASE64)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "there is no key type number %u",
                          options->key_type);
    if (options->metadata_bytes != 0 && !options->metadata)
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          "metadata without bytes; give both or neither");
    if (!options->growth && (options->growth_step != 0 || options->growth_ratio != 0))
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          "steps and ratios are for growth; leave them out");
    if (!rotates(options) && options->generations != 0)
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          "generations are for a window; leave them out");
    if (options->foldable && (options->rate == 0 || options->bits != 0 || rotates(options)))
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          "foldable needs a rate; leave out bits and windows");
    if (options->foldable && options->scheme > PETAL_SCHEME_CLASSIC)
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          "only blocked and classic filters can be folded");
    return petal_plan_check(options, rotates(options) ? options->window_keys : options->capacity,
                            error);
}

/* Options that only Petal's own filters support. */
static petal_status check_foreign(const petal_options *options, petal_error *error)
{
    if (options->scheme != PETAL_SCHEME_DEFAULT || options->hash != PETAL_HASH_DEFAULT ||
        options->lines_per_key != 0)
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          "scheme, hash and lines per key are fixed by %s; leave them out",
                          options->format);
    if (options->growth || rotates(options))
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          "growth and windows are Petal's own; %s has its own rules",
                          options->format);
    if (options->foldable)
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          "foldable sizes are Petal's own; %s has its own rules", options->format);
    if (options->secret)
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          "%s has no keyed filters; leave the secret out", options->format);
    if (options->memory_bytes != 0)
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          "%s needs a rate with keys or memory, or bits and hashes",
                          options->format);
    return PETAL_OK;
}

/* A filter with several layers sums the layers' rates, so it can keep a rate only if its size is
 * planned from a number of keys and a rate. */
static petal_status check_layered(const petal_options *options, petal_error *error)
{
    bool rotating = rotates(options);
    if (options->growth && rotating)
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          "a filter cannot both grow and have a window; leave one out");
    if (options->scheme > PETAL_SCHEME_CLASSIC)
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          "only blocked and classic filters grow or have a window");
    if (options->bits != 0 || options->memory_bytes != 0)
        return petal_fail(
            error, PETAL_ERR_ARGUMENT,
            "a filter of several layers needs keys and a rate; leave out other sizes");
    if (options->growth && (options->hashes != 0 || options->lines_per_key != 0))
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          "a filter that grows chooses the hashes of each layer; leave them out");
    if (rotating && options->capacity != 0)
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          "the capacity of a window is window_keys; leave capacity out");
    return PETAL_OK;
}

/* The first layer is an ordinary filter with a lower rate than the filter as a whole. */
static petal_status describe_growing(const petal_options *options, struct description *about,
                                     petal_error *error)
{
    petal_options first = *options;
    struct shape shape;
    petal_status status = petal_growing_policy(options, &about->policy, error);
    if (status != PETAL_OK) return status;
    (void)petal_growing_layer(&about->policy, 0, &first.capacity, &first.rate);
    status = petal_plan_shape(&first, &shape, error);
    if (status != PETAL_OK) return status;
    petal_format_single(about, &shape, 0);
    about->layers->capacity = first.capacity;
    about->layers->target_rate = first.rate;
    return PETAL_OK;
}

static petal_status describe_rotating(const petal_options *options, struct description *about,
                                      petal_error *error)
{
    uint64_t capacity = 0;
    struct shape shape;
    petal_status status = petal_rotating_plan(options, &about->policy, &capacity, &shape, error);
    if (status != PETAL_OK) return status;
    about->layer_count = petal_rotating_max_layers(&about->policy);
    for (uint32_t i = 0; i < about->layer_count; i++)
        about->layers[i] =
            (struct layer_description){.shape = shape,
                                       .capacity = capacity,
                                       .target_rate = options->rate / about->policy.generations,
                                       .size_bytes = petal_shape_bytes(&shape)};
    return PETAL_OK;
}

static petal_status describe_layered(const petal_options *options, struct description *about,
                                     petal_error *error)
{
    petal_status status = check_layered(options, error);
    about->hash = options->hash;
    about->seed = options->seed;
    if (status != PETAL_OK) return status;
    return options->growth ? describe_growing(options, about, error)
                           : describe_rotating(options, about, error);
}

/* A static filter is planned from a rate alone; its size depends on the number of keys that it
 * receives. */
static petal_status check_static(const petal_options *options, petal_error *error)
{
    if (options->growth || rotates(options))
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          "a static filter never changes; it cannot grow or have a window");
    if (options->hashes != 0 || options->lines_per_key != 0 || options->bits != 0 ||
        options->memory_bytes != 0 || options->refuse_overfull)
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          "a static filter is made for a rate; leave other sizes out");
    if (!(options->rate > 0 && options->rate < 1))
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          "a static filter needs a rate, above 0 and below 1, not %g",
                          options->rate);
    return PETAL_OK;
}

/* Sets a layer's shape, except for its size. */
static petal_status shape_of_static(const petal_options *options, struct shape *shape,
                                    petal_error *error)
{
    petal_status status = check_static(options, error);
    if (status != PETAL_OK || petal_static_shape_for(options->rate, shape)) return status;
    return petal_fail(error, PETAL_ERR_UNREACHABLE,
                      "no static filter keeps a rate of %.3g; the lowest it reaches is %.2g",
                      options->rate, PETAL_STATIC_LOWEST_RATE);
}

/* Describes a static filter with the number of layers that its capacity is expected to need. */
static petal_status describe_static(const petal_options *options, struct description *about,
                                    petal_error *error)
{
    struct shape shape;
    uint64_t keys = options->capacity;
    petal_status status = shape_of_static(options, &shape, error);
    if (status != PETAL_OK) return status;
    about->hash = options->hash;
    about->seed = options->seed;
    do {
        struct layer_description *layer = &about->layers[about->layer_count++];
        uint64_t bumped = petal_static_expected_layer(&shape, keys, &layer->shape);
        status = petal_normalize(&layer->shape, error);
        if (status != PETAL_OK) return status;
        layer->size_bytes = petal_shape_bytes(&layer->shape);
        layer->capacity = keys - bumped;
        layer->target_rate = options->rate;
        keys = bumped;
    } while (keys > 0);
    return PETAL_OK;
}

static petal_status describe_native(const petal_options *options, struct description *about,
                                    petal_error *error)
{
    struct shape shape;
    if (options->hash > PETAL_HASH_SIPHASH)
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          "Petal's own filters use xxh3 or siphash, not hash number %d",
                          (int)options->hash);
    if (options->scheme == PETAL_SCHEME_STATIC) return describe_static(options, about, error);
    if (options->growth || rotates(options)) return describe_layered(options, about, error);
    petal_status status = petal_plan_shape(options, &shape, error);
    if (status != PETAL_OK) return status;
    petal_format_single(about, &shape, 0);
    about->hash = options->hash;
    about->seed = options->seed;
    about->layers->capacity = options->capacity;
    about->layers->target_rate = options->rate != 0 ? options->rate : NAN;
    return PETAL_OK;
}

static petal_status describe_sized(const struct format_def *format, const petal_options *options,
                                   struct description *about, petal_error *error)
{
    *about = (struct description){0};
    if (format == &petal_format_petal) return describe_native(options, about, error);
    petal_status status = check_foreign(options, error);
    if (status == PETAL_OK) status = petal_format_plan(format, options, about, error);
    if (status != PETAL_OK) return status;
    if (about->seed != options->seed && options->seed != 0)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "%s does not support this seed; leave it out",
                          options->format);
    return PETAL_OK;
}

/* Other libraries' formulas miss the rate slightly. A formula misses the rate by more than this
 * factor only for small numbers of keys, or for more keys than the library's filters can handle
 * (because of a 32-bit hash or Parquet's maximum size). */
#define MISSED_RATE 2
#define FEW_KEYS 64u

/* The formulas ignore the fact that a key's positions can coincide (scheme/course.h). At most 4 in
 * m keys are affected. */
#define MET_KEYS 4.0

static bool fits(const struct format_def *format, petal_options *options, uint64_t capacity,
                 uint64_t memory_bytes, struct description *about)
{
    const struct shape *shape = &about->layers->shape;
    options->capacity = capacity;
    if (describe_sized(format, options, about, NULL) != PETAL_OK ||
        about->layers->size_bytes > memory_bytes)
        return false;
    double rate = petal_scheme_rate(petal_scheme_find(shape->scheme), shape, (double)capacity);
    double most = MISSED_RATE * options->rate + MET_KEYS / (double)shape->bits;
    return capacity < FEW_KEYS || !(rate > most); /* NAN: unknown */
}

/* Given memory and rate, finds the largest capacity for which a filter fits. Sizes rise with the
 * capacity; planned sizes are rounded to a few significant bits, so a finer search would find no
 * larger capacity. */
static petal_status describe_full(const struct format_def *format, const petal_options *options,
                                  struct description *about, petal_error *error)
{
    petal_options own = *options;
    uint64_t low = 1, high = 2;
    own.memory_bytes = 0;
    own.capacity = 1;
    petal_status status = describe_sized(format, &own, about, error);
    if (status != PETAL_OK) return status;
    if (about->layers->size_bytes > options->memory_bytes)
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          "%llu bytes of memory are too few for a %s filter of one key at %.3g",
                          (unsigned long long)options->memory_bytes,
                          petal_scheme_find(about->layers->shape.scheme)->name, options->rate);
    for (; high <= UINT64_MAX / 2 && fits(format, &own, high, options->memory_bytes, about);
         high *= 2)
        low = high;
    while (high - low > 1 + (low >> 16)) {
        uint64_t middle = low + (high - low) / 2;
        if (fits(format, &own, middle, options->memory_bytes, about))
            low = middle;
        else
            high = middle;
    }
    own.capacity = low;
    return describe_sized(format, &own, about, error);
}

/* Converts the options to a description of the filter. */
static petal_status describe(const petal_options *options, struct description *about,
                             petal_error *error)
{
    if (PETAL_IS_READ_ONLY) return petal_refuse_read_only(error);
    petal_status status = check_options(options, error);
    const struct format_def *format;
    if (status == PETAL_OK) status = petal_format_named(options->format, &format, error);
    if (status != PETAL_OK) return status;
    bool fills_memory = options->memory_bytes != 0 && options->rate != 0 &&
                        options->capacity == 0 && !options->growth && !rotates(options);
    return fills_memory ? describe_full(format, options, about, error)
                        : describe_sized(format, options, about, error);
}

static petal_status make(const petal_options *options, const struct description *about,
                         petal_filter **filter, petal_error *error)
{
    const petal_allocator *allocator =
        options->allocator ? options->allocator : &petal_os_allocator;
    petal_status status = petal_filter_of(about, options->secret, allocator, filter, error);
    if (status == PETAL_OK)
        status =
            petal_filter_set_metadata(*filter, options->metadata, options->metadata_bytes, error);
    if (status != PETAL_OK) return status;
    (*filter)->key_type = options->key_type;
    (*filter)->refuse_overfull = options->refuse_overfull;
    petal_filter_choose_strategy(*filter);
    return PETAL_OK;
}

/* Checks the caller's structs that receive the plan. */
static petal_status check_plan(const petal_info *plan, const petal_layers_info *layers,
                               petal_error *error)
{
    petal_status status = petal_sized_check(plan, "PETAL_INFO_INIT", error);
    return status == PETAL_OK && layers ? petal_sized_check(layers, "PETAL_LAYERS_INFO_INIT", error)
                                        : status;
}

static void give_plan(const petal_filter *frame, petal_info *plan, petal_layers_info *layers)
{
    petal_info info;
    petal_layers_info how;
    petal_filter_describe(frame, PETAL_ALL_LAYERS, &info);
    info.memory_bytes = 0;
    petal_sized_give(&info, sizeof info, plan);
    if (!layers) return;
    petal_filter_describe_layers(frame, PETAL_ALL_LAYERS, &how);
    petal_sized_give(&how, sizeof how, layers);
}

petal_status petal_plan(const petal_options *options, petal_info *plan, petal_layers_info *layers,
                        petal_error *error)
{
    petal_options own;
    struct description about;
    petal_filter *frame = NULL; /* a filter can be described even without bits */
    petal_status status = check_plan(plan, layers, error);
    if (status == PETAL_OK)
        status = petal_sized_take(options, &own, sizeof own, "PETAL_OPTIONS_INIT", error);
    if (status == PETAL_OK) status = describe(&own, &about, error);
    if (status == PETAL_OK) status = make(&own, &about, &frame, error);
    if (status == PETAL_OK) give_plan(frame, plan, layers);
    petal_free(frame);
    return status;
}

/* ---- static filters: created without bits; building them allocates the bits ------------------ */

/* Creates a one-layer filter that collects keys. Its size is not known yet. */
static petal_status create_static(const petal_options *options, uint32_t workers,
                                  petal_filter **filter, petal_error *error)
{
    petal_options checked = *options;
    struct description about = {.hash = options->hash, .seed = options->seed};
    struct shape shape;
    if (PETAL_IS_READ_ONLY) return petal_refuse_read_only(error);
    if (options->capacity != 0)
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          "a static filter is as large as its keys need; leave capacity out");
    checked.capacity = 1;
    petal_status status = check_options(&checked, error);
    if (status == PETAL_OK) status = shape_of_static(options, &shape, error);
    if (status != PETAL_OK) return status;
    if (options->hash > PETAL_HASH_SIPHASH)
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          "Petal's own filters are hashed by xxh3 or siphash, not number %d",
                          (int)options->hash);
    shape.bits = petal_static_starts(1);
    petal_format_single(&about, &shape, 0);
    about.layers->target_rate = options->rate;
    status = make(options, &about, filter, error);
    if (status == PETAL_OK) status = petal_static_builder_attach(*filter, workers, error);
    if (status == PETAL_OK) return PETAL_OK;
    petal_free(*filter);
    *filter = NULL;
    return status;
}

petal_status petal_static_create(const petal_options *options, uint32_t workers,
                                 petal_static_builder **builder, petal_error *error)
{
    petal_options own;
    petal_filter *filter = NULL;
    *builder = NULL;
    petal_status status = petal_sized_take(options, &own, sizeof own, "PETAL_OPTIONS_INIT", error);
    if (status != PETAL_OK) return status;
    if (own.scheme == PETAL_SCHEME_DEFAULT) own.scheme = PETAL_SCHEME_STATIC;
    if (own.scheme != PETAL_SCHEME_STATIC || own.format)
        return petal_fail(error, PETAL_ERR_ARGUMENT,
                          "petal_static_create() makes filters of the scheme static only");
    status = create_static(&own, workers, &filter, error);
    if (status == PETAL_OK) *builder = filter->builder;
    return status;
}

/* ---- any filter ------------------------------------------------------------------------------ */

static petal_status create_sized(const petal_options *options, petal_filter **filter,
                                 petal_error *error)
{
    struct description about;
    petal_filter *made = NULL;
    petal_status status = describe(options, &about, error);
    if (status != PETAL_OK) return status;
    if (about.policy.kind == POLICY_TIME)
        about.layer_count = 1; /* later layers are created when they are needed */
    status = make(options, &about, &made, error);
    if (status == PETAL_OK) status = petal_filter_alloc_bits(made, error);
    if (status == PETAL_OK)
        *filter = made;
    else
        petal_free(made);
    return status;
}

petal_status petal_create(const petal_options *options, petal_filter **filter, petal_error *error)
{
    petal_options own;
    *filter = NULL;
    petal_status status = petal_sized_take(options, &own, sizeof own, "PETAL_OPTIONS_INIT", error);
    if (status != PETAL_OK) return status;
    bool is_static = own.scheme == PETAL_SCHEME_STATIC && !own.format;
    return is_static ? create_static(&own, 1, filter, error) : create_sized(&own, filter, error);
}
