/* cmd_build.c - petal build: a filter of given keys. Without -n the distinct keys are counted first, by their hashes, and the
 * filter is planned for exactly so many; with -n (or --bits) the keys go straight into the filter, in constant memory. */
#include "commands.h"
#include "files.h"
#include "hashset.h"
#include "keys.h"
#include "numbers.h"
#include "pipeline.h"
#include "progress.h"
#include "report.h"
#include "request.h"
#include "signals.h"
#include "summary.h"

#include <stdlib.h>

/* The hash needs a filter to belong to; the smallest one does. */
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

/* For one key at least: a filter of none has a size too. */
static void plan_for_set(struct request *request, struct hashset *set)
{
    uint64_t distinct = hashset_count(set);
    request_capacity(request, distinct ? distinct : 1);
}

struct collecting {
    const petal_filter *hasher;
    struct hashset *set;
};

/* The set takes hashes in any order. */
static void collect_block(void *context, struct key_block *block)
{
    const struct collecting *collecting = context;
    petal_hash_keys(collecting->hasher, block->keys, block->count, block->hashes);
    block->selected = hashset_add(collecting->set, block->hashes, block->count);
}

static bool note_memory(void *context, struct key_block *block)
{
    const struct collecting *collecting = context;
    return block->selected || complain(NULL, "not enough memory to count %s distinct keys; say how many with -n",
                                       grouped(hashset_count(collecting->set)).s);
}

static bool collect(struct key_reader *reader, const petal_filter *hasher, struct hashset *set)
{
    static const struct stages stages = {.work = collect_block, .enter = note_memory};
    struct collecting collecting = {hasher, set};
    return run_pipeline(reader, &stages, &collecting) && !reader->failed && stop_signal() == 0;
}

/* Adding cannot fail: the filter is in memory. */
static petal_filter *filter_of_set(struct hashset *set, const petal_options *options)
{
    petal_filter *filter = create_filter(options);
    for (unsigned part = 0; part < HASHSET_PARTS && filter; part++) {
        size_t count;
        uint64_t *hashes = hashset_take(set, part, &count);
        petal_add_hashes(filter, hashes, count, NULL, NULL);
        free(hashes);
    }
    return filter;
}

/* First the number of distinct keys, then the filter. */
static petal_filter *build_counted(struct key_reader *reader, struct request *request)
{
    petal_filter *filter = NULL, *hasher = make_hasher(&request->options);
    struct hashset *set = make_set();
    if (hasher && set && collect(reader, hasher, set)) {
        plan_for_set(request, set);
        filter = filter_of_set(set, &request->options);
    }
    hashset_free(set);
    petal_free(hasher);
    return filter;
}

/* Another library's filter takes keys, not our hashes, and a counting one takes repeats: the keys are read once to be counted
 * and once to be added. */
static petal_filter *build_twice(struct key_reader *reader, struct request *request, const struct args *args)
{
    petal_options native = PETAL_OPTIONS_INIT;
    petal_filter *filter = NULL, *hasher = make_hasher(&native);
    struct hashset *set = make_set();
    if (hasher && set && collect(reader, hasher, set)) {
        plan_for_set(request, set);
        filter = create_filter(&request->options);
    }
    hashset_free(set);
    petal_free(hasher);
    keys_close(reader);
    bool added = filter && rewind_standard_input() &&
                 keys_open(reader, args, args->operands, args->operand_count, false) &&
                 add_keys(reader, filter, args->output);
    if (added) return filter;
    petal_free(filter);
    return NULL;
}

static petal_filter *build_planned(struct key_reader *reader, const struct request *request, const char *path)
{
    petal_filter *filter = create_requested(request);
    if (filter && add_keys(reader, filter, path)) return filter;
    petal_free(filter);
    return NULL;
}

static int build(const struct args *args, struct request *request)
{
    struct key_reader reader;
    petal_filter *filter = NULL;
    bool planned = request->options.capacity || request->options.bits || request->like;
    bool twice = request->options.format != NULL || request->options.scheme == PETAL_SCHEME_COUNTING;
    if (twice && !planned && !spool_standard_input(args->operands, args->operand_count)) return STATUS_ERROR;
    if (!keys_open(&reader, args, args->operands, args->operand_count, false)) return STATUS_ERROR;
    catch_stop_signals(); /* or a temporary file may be left behind */
    progress_start(args->progress, false);
    filter = planned ? build_planned(&reader, request, args->output)
             : twice ? build_twice(&reader, request, args)
                     : build_counted(&reader, request);
    keys_close(&reader);
    if (stop_signal()) { /* what was read is not the whole */
        petal_free(filter);
        return STATUS_SIGNAL + stop_signal();
    }
    if (!filter) return STATUS_ERROR;
    bool saved = save_filter(filter, args->output, request->format, args->force);
    petal_info info = info_of(filter);
    petal_free(filter);
    if (!saved) return STATUS_ERROR;
    warn_if_overfilled(args->output, &info);
    say_what_is(args->output, &info, args);
    return STATUS_OK;
}

static int run(const struct args *args)
{
    struct request request;
    if (!args->output) return misused("build", "needs -o FILE");
    if (!may_write(args->output, args->force)) return STATUS_ERROR;
    if (!is_no_input(args->output, args->operands, args->operand_count)) return STATUS_ERROR;
    int status = request_read(&request, "build", args, 0, true) ? build(args, &request) : STATUS_ERROR;
    request_free(&request);
    return status;
}

static const struct option options[] = {
    OPTION_OUTPUT, OPTIONS_OF_SIZE, OPTIONS_OF_HASH, OPTION_METADATA, OPTION_TEMPLATE, OPTIONS_OF_KEYS,
    OPTION_FORMAT, OPTION_THREADS,  OPTION_FORCE,    OPTION_VERBOSE,  END_OF_OPTIONS,
};

const struct command build_command = {
    .name = "build",
    .summary = "make a filter of given keys",
    .usage = "-o FILE [-n KEYS] [-p RATE] [KEYS...]",
    .about = "Plans a filter for the distinct lines of KEYS, counted unless -n, and fills it.",
    .options = options,
    .example = "example: petal build -p 0.1% -o urls.petal urls.txt",
    .run = run,
};
