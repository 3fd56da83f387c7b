/* request.c - see request.h. */
#define _POSIX_C_SOURCE 200809L

#include "files/request.h"

#include "files/files.h"
#include "files/formats.h"
#include "files/paths.h"
#include "files/secret.h"
#include "options/decode.h"
#include "output/filter_info.h"
#include "output/numbers.h"
#include "output/report.h"

#include <stdlib.h>
#include <string.h>

/* ---- seed, metadata -------------------------------------------------------------------------- */

static bool read_seed(const struct args *args, uint64_t *seed)
{
    struct why why;
    if (!args->seed) return true;
    if (args->secret_file)
        return complain(NULL, "--seed is for xxh3, --secret-file for siphash; give one of them");
    if (strcmp(args->seed, "random") == 0) return random_bits(seed);
    return parse_u64(args->seed, seed, &why) || complain("--seed", "%s: %s", args->seed, why.text);
}

static bool read_metadata(const struct args *args, struct request *request)
{
    petal_options *o = &request->options;
    if (!args->metadata) return true;
    if (!is_petal(request->format) && strncmp(request->format, "dcso", 4) != 0)
        return complain("--metadata", "%s has no place for it; leave it out", request->format);
    if (args->metadata[0] == '@') {
        size_t size;
        request->metadata = read_small_file(args->metadata + 1, PETAL_METADATA_MAX_BYTES, &size);
        o->metadata = request->metadata;
        if (request->metadata) o->metadata_bytes = size;
        return o->metadata != NULL;
    }
    o->metadata = args->metadata;
    o->metadata_bytes = strlen(args->metadata);
    return o->metadata_bytes <= PETAL_METADATA_MAX_BYTES ||
           complain("--metadata", "more than %d bytes", PETAL_METADATA_MAX_BYTES);
}

/* ---- size ------------------------------------------------------------------------------------ */

/* Two of the three must be given; the third is computed. */
static int check_size_options(const char *command, const struct args *args)
{
    if (args->bits && (args->rate > 0 || args->memory_bytes))
        return misused(command, "--bits fixes the size; leave out -p and --memory");
    if (args->bits && !args->hashes && !args->capacity)
        return misused(command, "--bits needs --hashes, or -n to choose them by");
    if (args->capacity && args->rate > 0 && args->memory_bytes)
        return misused(command, "two of -n, -p and --memory fix the third");
    if (args->lines_per_key > 2) return misused(command, "--lines-per-key is 1 or 2");
    if (args->hashes > 64 && is_petal(args->to)) return misused(command, "--hashes is at most 64");
    if (args->hashes > UINT32_MAX) return misused(command, "--hashes is too large");
    return STATUS_OK;
}

/* Adds the fields that users can change. */
static bool complain_of_plan(const petal_options *options, const petal_error *error)
{
    bool blocked =
        options->scheme == PETAL_SCHEME_DEFAULT || options->scheme == PETAL_SCHEME_BLOCKED;
    const char *way_out =
        blocked ? "use a higher rate, or try --scheme classic" : "use a higher rate";
    if (error->status == PETAL_ERR_MEMORY)
        return complain(NULL, "not enough memory for a filter of that size");
    if (error->status == PETAL_ERR_UNREACHABLE && options->scheme == PETAL_SCHEME_STATIC)
        return complain(NULL, "%s", error->message);
    if (error->status == PETAL_ERR_UNREACHABLE)
        return complain(NULL, "%s; %s", error->message, way_out);
    return complain(NULL, "%s", error->message);
}

/* One of the words of OPTION_SCHEME, or NULL. */
static uint32_t scheme_of(const char *name)
{
    if (!name) return PETAL_SCHEME_DEFAULT;
    if (strcmp(name, "classic") == 0) return PETAL_SCHEME_CLASSIC;
    if (strcmp(name, "static") == 0) return PETAL_SCHEME_STATIC;
    return strcmp(name, "counting") == 0 ? PETAL_SCHEME_COUNTING : PETAL_SCHEME_BLOCKED;
}

static void read_kind(const struct args *args, petal_options *o)
{
    o->scheme = scheme_of(args->scheme);
    o->bits = args->bits;
    o->hashes = (uint32_t)args->hashes;
    o->lines_per_key = (uint32_t)args->lines_per_key;
    o->capacity = args->capacity;
    o->rate = args->rate;
    o->foldable = args->foldable;
    o->format = is_petal(args->to) ? NULL : args->to;
}

/* Used for a filter that grows or has a window, whose size follows from its capacity and rate. */
static bool read_layers(const char *command, const struct args *args, uint64_t default_capacity,
                        petal_options *o)
{
    struct why why;
    if (args->grow && args->window)
        return misused(command, "--grow or --window, not both") == STATUS_OK;
    if (args->bits || args->memory_bytes || args->hashes || args->lines_per_key ||
        !is_petal(args->to))
        return misused(command, "--grow and --window take -n, -p and --scheme only") == STATUS_OK;
    uint64_t capacity = args->capacity ? args->capacity : default_capacity;
    if (o->rate == 0) o->rate = DEFAULT_RATE;
    o->growth = args->grow;
    o->capacity = args->grow ? capacity : 0;
    if (args->grow)
        return capacity ||
               misused(command, "how many keys to begin with? give -n KEYS (such as -n 100k)") ==
                   STATUS_OK;
    if (!parse_window(args->window, &o->window_keys, &o->window_ms, &why))
        return complain("--window", "%s: %s", args->window, why.text);
    if (o->window_keys && args->capacity)
        return misused(command, "--window %s says how many keys; leave out -n", args->window) ==
               STATUS_OK;
    if (o->window_ms) o->window_keys = capacity;
    return o->window_keys ||
           misused(command, "how many keys come in %s? give -n KEYS", args->window) == STATUS_OK;
}

/* True if the filter's keys are counted first, and it grows only if there are too many to count. */
static bool may_grow_later(const char *command, const struct args *args)
{
    bool is_plain = is_petal(args->to) && scheme_of(args->scheme) <= PETAL_SCHEME_CLASSIC;
    if (is_plain && !args->bits && !args->hashes && !args->lines_per_key) return true;
    return misused(command, "--grow takes -n, -p, --memory and --scheme only") == STATUS_OK;
}

static bool read_size(const char *command, const struct args *args, uint64_t default_capacity,
                      bool capacity_later, petal_options *o)
{
    if (check_size_options(command, args) != STATUS_OK || !check_format(args->to)) return false;
    read_kind(args, o);
    bool grows_later = args->grow && capacity_later && !args->capacity;
    if ((args->grow && !grows_later) || args->window)
        return read_layers(command, args, default_capacity, o);
    if (grows_later && !may_grow_later(command, args)) return false;
    if (o->bits) return true;
    bool memory_alone = args->memory_bytes && !o->capacity && !capacity_later;
    bool is_static = o->scheme == PETAL_SCHEME_STATIC && !o->format;
    bool limits_memory =
        args->memory_bytes && capacity_later && (o->rate > 0 || args->grow || is_static);
    if (limits_memory && (o->format || o->scheme == PETAL_SCHEME_COUNTING))
        return misused(command, "-p with --memory is for blocked, classic and static; leave one "
                                "out") == STATUS_OK;
    if (o->rate == 0 && (memory_alone || limits_memory || !args->memory_bytes))
        o->rate = DEFAULT_RATE;
    o->memory_bytes = limits_memory ? 0 : args->memory_bytes;
    if (memory_alone) return true;
    if (!o->capacity) o->capacity = default_capacity;
    if (!o->capacity && !capacity_later)
        return misused(command, "how many keys? give -n KEYS (such as -n 1M), or --memory SIZE") ==
               STATUS_OK;
    return true;
}

/* ---- template -------------------------------------------------------------------------------- */

static int check_template_options(const char *command, const struct args *args)
{
    if (args->capacity || args->rate > 0 || args->memory_bytes || args->bits || args->hashes ||
        args->lines_per_key)
        return misused(command, "--template fixes the size; leave out -n, -p and the like");
    if (args->foldable || args->grow)
        return misused(command, "--template fixes the size; leave out --foldable and --grow");
    if (args->scheme || args->seed || args->to)
        return misused(command, "--template fixes the kind; leave out --scheme, --seed and --to");
    return STATUS_OK;
}

static bool read_template(struct request *request, const char *command, const struct args *args)
{
    if (check_template_options(command, args) != STATUS_OK) return false;
    request->like = open_filter(args->template_file, PETAL_OPEN_MAP, args);
    if (!request->like) return false;
    request->format = file_format_of(request->like);
    uint32_t recorded = info_of(request->like).key_type;
    if (!key_types_agree(recorded, find_key_type(args->key_type)))
        return complain(args->template_file, "has keys of type %s, not %s; leave out --key-type",
                        key_type_name(recorded), args->key_type);
    return read_metadata(args, request);
}

bool request_read(struct request *request, const char *command, const struct args *args,
                  uint64_t default_capacity, bool capacity_later)
{
    petal_options *o = &request->options;
    *request = (struct request){.options = PETAL_OPTIONS_INIT, .format = args->to};
    if (args->template_file) return read_template(request, command, args);
    o->key_type = args->key_type ? find_key_type(args->key_type) : PETAL_KEY_TYPE_TEXT;
    if (!read_size(command, args, default_capacity, capacity_later, o) ||
        !read_seed(args, &o->seed))
        return false;
    if (args->secret_file && !read_secret(args->secret_file, request->secret)) return false;
    if (args->secret_file) o->secret = request->secret;
    return read_metadata(args, request);
}

void request_capacity(struct request *request, uint64_t capacity)
{
    request->options.capacity = capacity;
}

void request_free(struct request *request)
{
    wipe(request->secret, sizeof request->secret);
    free(request->metadata);
    petal_free(request->like);
    request->metadata = NULL;
    request->like = NULL;
}

/* ---- creating -------------------------------------------------------------------------------- */

static petal_filter *create_like(const petal_filter *like, const petal_options *options)
{
    petal_filter *filter = NULL;
    petal_error error;
    petal_status status = petal_create_like(like, &filter, &error);
    if (status == PETAL_OK && options->metadata)
        status = petal_set_metadata(filter, options->metadata, options->metadata_bytes, &error);
    if (status == PETAL_OK) return filter;
    complain("--template", "%s", error.message);
    petal_free(filter);
    return NULL;
}

petal_filter *create_requested(const struct request *request)
{
    return request->like ? create_like(request->like, &request->options)
                         : create_filter(&request->options);
}

petal_filter *create_filter(const petal_options *options)
{
    petal_filter *filter = NULL;
    petal_error error;
    if (options->scheme == PETAL_SCHEME_STATIC)
        complain(NULL, "a static filter is built from all its keys at once: petal build "
                       "--scheme static");
    else if (petal_create(options, &filter, &error) != PETAL_OK)
        complain_of_plan(options, &error);
    return filter;
}
