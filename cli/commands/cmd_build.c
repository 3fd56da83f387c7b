/* cmd_build.c - petal build: builds a filter from keys. With -n (or --bits), keys are added to the
 * filter directly, in constant memory. Otherwise the distinct keys are first counted by their
 * hashes, and the filter is planned for exactly that number. If there are too many keys to count,
 * they are added to a filter as large as --memory allows, which is folded to the right size at the
 * end. In all these cases, the keys are read only once. */
#define _POSIX_C_SOURCE 200809L
#define _DARWIN_C_SOURCE /* _SC_PHYS_PAGES */

#include "commands/build_static.h"
#include "commands/commands.h"
#include "commands/summary.h"
#include "files/files.h"
#include "files/paths.h"
#include "files/request.h"
#include "keys/hashset.h"
#include "keys/keys.h"
#include "keys/pipeline.h"
#include "output/numbers.h"
#include "output/progress.h"
#include "output/report.h"
#include "output/signals.h"

#include <petal/petal_build.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

/* The default growth_ratio, which determines the share of its rate that a growing filter reserves
 * for later layers. */
#define LATER_LAYERS 0.85

#define DEFAULT_LARGE_BYTES ((uint64_t)1 << 30)

/* Creates a filter that is used only for hashing, so the smallest size is enough. */
static petal_filter *make_hasher(const petal_options *wanted)
{
    petal_options o = PETAL_OPTIONS_INIT;
    o.bits = o.hashes = 1;
    o.hash = wanted->hash;
    o.seed = wanted->seed;
    o.secret = wanted->secret;
    return create_filter(&o);
}

static struct hashset *make_set(void)
{
    struct hashset *set = hashset_make();
    if (!set) complain(NULL, "out of memory");
    return set;
}

static bool takes_empty_key(petal_options wanted)
{
    petal_info plan = PETAL_INFO_INIT;
    wanted.capacity = 1;
    return petal_plan(&wanted, &plan, NULL, NULL) != PETAL_OK ||
           plan.abilities & PETAL_CAN_EMPTY_KEY;
}

/* Plans for at least one key, because even a filter without keys has a size. An empty key that will
 * be skipped must not be counted. So the empty key is added to the set, which then certainly
 * contains it, and is subtracted from the count. */
static void plan_for_set(struct request *request, struct hashset *set, const petal_filter *hasher)
{
    uint64_t empty = petal_hash_key(hasher, "", 0), distinct = hashset_count(set);
    if (!takes_empty_key(request->options) && hashset_add(set, &empty, 1))
        distinct = hashset_count(set) - 1;
    request_capacity(request, distinct ? distinct : 1);
}

/* Blocks arrive concurrently, and their keys are added to the set in any order. If the set becomes
 * too large or runs out of memory, its keys are moved to a large filter, and all later keys are
 * added to this filter. */
struct collecting {
    const petal_filter *hasher;
    struct hashset *set;
    uint64_t max;          /* maximum number of hashes in the set */
    uint64_t threads;      /* 0 means as many threads as are useful */
    uint64_t memory_bytes; /* size of the large filter */
    bool grows;            /* true if the large filter grows when it is full */
    const petal_options *options;
    petal_filter *large; /* NULL while all keys are in the set */
    /* Protects `set` and `large`. The lock is held for reading while keys are added to the set, and
     * for writing while the set is emptied. */
    pthread_rwlock_t lock;
};

enum { IN_SET, NOT_IN_SET };

/* Adds a block's keys to the set. Returns false if some keys could not be added. */
static bool collect_keys(struct collecting *collecting, const petal_key *keys, size_t count,
                         uint64_t *hashes)
{
    hash_keys(collecting->hasher, keys, count, hashes);
    pthread_rwlock_rdlock(&collecting->lock);
    bool added = !collecting->large && hashset_add(collecting->set, hashes, count);
    pthread_rwlock_unlock(&collecting->lock);
    return added;
}

static void collect_block(void *context, struct key_block *block)
{
    bool added = collect_keys(context, block->keys, block->count, block->hashes);
    block->selected = added ? IN_SET : NOT_IN_SET;
}

static void collect_runs(void *context, struct key_block *block)
{
    struct key_run *run = block->run;
    bool added = true;
    for (run_begin(run, 0, block->count); added && run_next(run);)
        added = collect_keys(context, run->keys, run->count, run->hashes);
    block->selected = added ? IN_SET : NOT_IN_SET;
}

/* ---- from the set into the filter ------------------------------------------------------------ */

/* The parts of a set, which are distributed among a builder's workers. */
struct filling {
    struct hashset *set;
    petal_builder *builder;
    atomic_uint next_part, next_worker;
};

static void *fill_parts(void *context)
{
    struct filling *filling = context;
    uint32_t worker = atomic_fetch_add(&filling->next_worker, 1);
    for (unsigned part; (part = atomic_fetch_add(&filling->next_part, 1)) < HASHSET_PARTS;) {
        size_t count;
        uint64_t *hashes = hashset_take(filling->set, part, &count);
        petal_batch batch = hashes_batch(hashes, count);
        petal_builder_add(filling->builder, worker, &batch, NULL);
        free(hashes);
    }
    petal_builder_flush(filling->builder, worker, NULL);
    return NULL;
}

/* Adds all keys in the set to a new filter. Adding can't fail, because the filter is in memory.
 * Returns false after reporting any other error. */
static bool fill_from_set(petal_filter *filter, struct hashset *set, uint64_t threads)
{
    struct filling filling = {.set = set};
    pthread_t others[MAX_THREADS];
    uint32_t workers = thread_limit(threads), started = 0;
    petal_error error;
    if (petal_builder_create(filter, &workers, &filling.builder, &error) != PETAL_OK)
        return complain(NULL, "%s", error.message);
    progress_begin("filling", "the filter");
    while (started + 1 < workers &&
           pthread_create(&others[started], NULL, fill_parts, &filling) == 0)
        started++;
    fill_parts(&filling);
    for (uint32_t i = 0; i < started; i++) pthread_join(others[i], NULL);
    petal_status status = petal_builder_finish(filling.builder, &error);
    progress_end();
    return status >= 0 || complain(NULL, "%s", error.message);
}

/* ---- counting -------------------------------------------------------------------------------- */

/* Returns true if the filter can later be folded to the smallest size that keeps the rate. */
static bool can_fold_later(const petal_options *options)
{
    return !options->format && options->scheme <= PETAL_SCHEME_CLASSIC && !options->bits &&
           !options->memory_bytes;
}

/* Plans the large filter. If the filter grows, the rates of all its layers must sum to the
 * requested rate, so the first layer is planned for a lower rate. */
static bool plan_large(petal_options *options, bool grows)
{
    petal_info plan = PETAL_INFO_INIT;
    petal_options first = *options;
    petal_error error;
    options->foldable = first.foldable = 1;
    if (!grows) return true;
    first.rate *= 1 - LATER_LAYERS;
    if (petal_plan(&first, &plan, NULL, &error) != PETAL_OK)
        return complain(NULL, "%s", error.message);
    options->memory_bytes = 0;
    options->capacity = plan.capacity;
    options->growth = 1;
    return true;
}

static bool switch_to_large(struct collecting *collecting)
{
    petal_options options = *collecting->options;
    uint64_t counted = hashset_count(collecting->set);
    if (!can_fold_later(&options))
        return complain(
            NULL, "not enough memory to count more than %s distinct keys; say how many with -n",
            grouped(counted).s);
    options.memory_bytes = collecting->memory_bytes;
    if (!plan_large(&options, collecting->grows)) return false;
    pthread_rwlock_wrlock(&collecting->lock);
    collecting->large = create_filter(&options);
    bool filled =
        collecting->large && fill_from_set(collecting->large, collecting->set, collecting->threads);
    pthread_rwlock_unlock(&collecting->lock);
    return filled;
}

/* Adds a block whose keys are not all in the set. */
static petal_status add_left_out(struct collecting *collecting, struct key_block *block)
{
    struct key_run *run = block->run;
    petal_status status = PETAL_OK;
    if (!run) return add_hashes(collecting->large, block->hashes, block->count, NULL, NULL);
    for (run_begin(run, 0, block->count); status >= 0 && run_next(run);) {
        hash_keys(collecting->hasher, run->keys, run->count, run->hashes);
        status = add_hashes(collecting->large, run->hashes, run->count, NULL, NULL);
    }
    return status;
}

static bool enter_block(void *context, struct key_block *block)
{
    struct collecting *collecting = context;
    bool left_out = block->selected == NOT_IN_SET;
    if (!collecting->large && (left_out || hashset_count(collecting->set) > collecting->max) &&
        !switch_to_large(collecting))
        return false;
    if (!left_out) return true;
    petal_status status = add_left_out(collecting, block);
    return status >= 0 ||
           complain(NULL, "the filter cannot grow any more: %s", petal_status_name(status));
}

static uint64_t half_of_memory(void)
{
    return (uint64_t)sysconf(_SC_PHYS_PAGES) / 2 * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Returns the amount of memory that the large filter may use. This amount is the same on every
 * machine with enough memory, so that the same keys produce the same filter. */
static uint64_t large_bytes(const struct args *args)
{
    uint64_t half = half_of_memory();
    if (args->memory_bytes) return args->memory_bytes;
    return half < DEFAULT_LARGE_BYTES ? half : DEFAULT_LARGE_BYTES;
}

/* Returns the maximum number of hashes to count. The hashes may use half as much memory as the
 * large filter, or half of the machine's memory if no large filter is possible. A hash takes 11 to
 * 21 bytes. */
static uint64_t max_counted(const struct collecting *collecting)
{
    bool folds = can_fold_later(collecting->options);
    uint64_t bytes = folds ? collecting->memory_bytes / 2 : half_of_memory();
    const char *text =
        getenv("PETAL_COUNT_MEMORY"); /* NOLINT(concurrency-mt-unsafe): nobody sets it */
    struct why why;
    if (text && !parse_size(text, &bytes, &why))
        remark("PETAL_COUNT_MEMORY", "%s: %s; not used", text, why.text);
    return bytes / 21;
}

static bool collect(struct key_reader *reader, struct collecting *collecting)
{
    static const struct stages by_row = {.work = collect_block, .enter = enter_block},
                               by_run = {.work = collect_runs, .enter = enter_block};
    const struct stages *stages = reader->rows.rule.unit == UNIT_ROW ? &by_row : &by_run;
    collecting->max = max_counted(collecting);
    pthread_rwlock_init(&collecting->lock, NULL);
    bool done = run_pipeline(reader, stages, collecting) && !reader->failed && stop_signal() == 0;
    pthread_rwlock_destroy(&collecting->lock);
    return done;
}

/* Folds the large filter to its final size, and frees the original. The number of adds depends on
 * when counting ended, but the bits don't. */
static petal_filter *fold_large(petal_filter *large, const struct args *args)
{
    petal_fold_options options = PETAL_FOLD_OPTIONS_INIT;
    petal_filter *folded = NULL;
    petal_error error;
    options.by_bits = 1;
    if (info_of(large).layers > 1) {
        remark(args->output,
               "grew, because --memory has no room for the keys; with -n KEYS it is smaller");
        return large;
    }
    progress_begin("folding", "the filter");
    petal_status status = petal_fold(large, &options, &folded, &error);
    progress_end();
    if (status == PETAL_ERR_UNREACHABLE) {
        remark(args->output,
               "more keys than %s bytes have room for at that rate; give more "
               "--memory, or --grow, or -n KEYS",
               grouped(info_of(large).bytes).s);
        return large;
    }
    if (status != PETAL_OK) complain(NULL, "%s", error.message);
    petal_free(large);
    return folded;
}

/* First counts the distinct keys, then creates the filter. */
static petal_filter *build_counted(struct key_reader *reader, struct request *request,
                                   const struct args *args)
{
    petal_filter *filter = NULL, *hasher = make_hasher(&request->options);
    struct collecting collecting = {.hasher = hasher,
                                    .set = make_set(),
                                    .memory_bytes = large_bytes(args),
                                    .grows = args->grow,
                                    .options = &request->options,
                                    .threads = reader->threads};
    bool counted = hasher && collecting.set && collect(reader, &collecting);
    if (counted && !collecting.large) {
        plan_for_set(request, collecting.set, hasher);
        filter = create_filter(&request->options);
        if (filter && !fill_from_set(filter, collecting.set, reader->threads)) {
            petal_free(filter);
            filter = NULL;
        }
    }
    hashset_free(collecting.set);
    if (counted && collecting.large)
        filter = fold_large(collecting.large, args);
    else
        petal_free(collecting.large);
    petal_free(hasher);
    return filter;
}

/* Builds a filter by reading the keys twice: first to count them, then to add them. Another
 * library's filter needs the keys themselves instead of Petal's hashes, and a counting filter also
 * needs repeated keys. */
static petal_filter *build_twice(struct key_reader *reader, struct request *request,
                                 const struct args *args)
{
    petal_options native = PETAL_OPTIONS_INIT;
    petal_filter *filter = NULL, *hasher = make_hasher(&native);
    struct collecting collecting = {.hasher = hasher,
                                    .set = make_set(),
                                    .options = &request->options,
                                    .threads = reader->threads};
    if (hasher && collecting.set && collect(reader, &collecting)) {
        plan_for_set(request, collecting.set, hasher);
        filter = create_filter(&request->options);
    }
    hashset_free(collecting.set);
    petal_free(hasher);
    keys_close(reader);
    bool opened = filter && rewind_standard_input() &&
                  keys_open(reader, args, args->operands, args->operand_count, false);
    reader->hint_at_crlf = false; /* the hint was already shown during the first pass */
    reader->fate = NULL;
    if (opened && fill_filter(reader, filter, args->output)) return filter;
    petal_free(filter);
    return NULL;
}

static petal_filter *build_planned(struct key_reader *reader, const struct request *request,
                                   const char *path)
{
    petal_filter *filter = create_requested(request);
    if (filter && fill_filter(reader, filter, path)) return filter;
    petal_free(filter);
    return NULL;
}

static int build(const struct args *args, struct request *request)
{
    struct key_reader reader;
    petal_filter *filter = NULL;
    uint64_t avoided_bytes = 0;
    bool planned = request->options.capacity || request->options.bits || request->like;
    bool twice =
        request->options.format != NULL || request->options.scheme == PETAL_SCHEME_COUNTING;
    bool is_static = request->options.scheme == PETAL_SCHEME_STATIC;
    if (is_static && request->options.capacity)
        return misused("build", "a static filter is as large as its keys need; leave out -n");
    if (twice && !planned && !spool_standard_input(args)) return STATUS_ERROR;
    if (!keys_open(&reader, args, args->operands, args->operand_count, false)) return STATUS_ERROR;
    if (request->like && !keys_use_type_of(&reader, args, args->template_file, request->like))
        return STATUS_ERROR;
    catch_stop_signals(); /* so that a signal doesn't leave a temporary file behind */
    progress_start(args->progress, false);
    filter = is_static ? build_static(&reader, request, args, &avoided_bytes)
             : planned ? build_planned(&reader, request, args->output)
             : twice   ? build_twice(&reader, request, args)
                       : build_counted(&reader, request, args);
    keys_close(&reader);
    if (stop_signal()) { /* only part of the input was read */
        petal_free(filter);
        return STATUS_SIGNAL + stop_signal();
    }
    if (!filter) return STATUS_ERROR;
    bool saved = save_filter(filter, args->output, request->format, args);
    if (saved) warn_if_overfilled(args->output, filter);
    if (saved) remark_classic(args->output, filter, avoided_bytes);
    if (saved) print_summary(args->output, filter, args);
    petal_free(filter);
    return saved ? STATUS_OK : STATUS_ERROR;
}

static int run(const struct args *args)
{
    struct request request;
    if (!args->output) return misused("build", "needs -o FILE");
    if (!may_save(args->output, args)) return STATUS_ERROR;
    if (!differs_from_inputs(args->output, args->operands, args->operand_count))
        return STATUS_ERROR;
    int status =
        request_read(&request, "build", args, 0, true) ? build(args, &request) : STATUS_ERROR;
    request_free(&request);
    return status;
}

static const struct option options[] = {
    OPTION_OUTPUT,   OPTIONS_OF_SIZE, OPTION_GROW,    OPTIONS_OF_HASH,
    OPTION_METADATA, OPTION_TEMPLATE, OPTION_KEY,     OPTIONS_OF_KEYS,
    OPTIONS_OF_RULE, OPTION_TO_SIZE,  OPTION_THREADS, OPTION_MEMORY_LIMIT,
    OPTION_FORCE,    OPTION_NO_LOCK,  OPTION_VERBOSE, END_OF_OPTIONS,
};

const struct command build_command = {
    .name = "build",
    .summary = "build a filter from keys",
    .usage = "-o FILE [-n KEYS] [-p RATE] [KEYS...]",
    .about = "Plans a filter for the distinct lines of KEYS, counted unless -n, and fills it.",
    .options = options,
    .example = "example: petal build -p 0.1% -o urls.petal urls.txt",
    .run = run,
};
