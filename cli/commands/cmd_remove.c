/* cmd_remove.c - petal remove: removes keys from a counting filter, in place. */
#include "commands/commands.h"
#include "commands/summary.h"
#include "files/files.h"
#include "files/paths.h"
#include "keys/keys.h"
#include "keys/pipeline.h"
#include "output/numbers.h"
#include "output/progress.h"
#include "output/report.h"
#include "output/signals.h"

/* Runs all checks before changing anything. Returns false after reporting an error. */
static bool can_remove(petal_filter *filter, const char *path)
{
    if (can(filter, PETAL_CAN_REMOVE)) return true;
    return complain(
        path,
        "does not count its keys, so they can't be removed; rebuild it with --scheme counting");
}

/* Any thread may hash keys ahead of time, but they are removed in order. */
struct removing {
    petal_filter *filter;
    const char *path;
    uint64_t removed;
    petal_status failure;
};

static void hash_block(void *context, struct key_block *block)
{
    const struct removing *removing = context;
    hash_keys(removing->filter, block->keys, block->count, block->hashes);
}

static bool remove_block(void *context, struct key_block *block)
{
    struct removing *removing = context;
    petal_batch batch = hashes_batch(block->hashes, block->count);
    petal_batch_outcome outcome = PETAL_BATCH_OUTCOME_INIT;
    petal_status status = petal_remove_batch(removing->filter, &batch, NULL, &outcome, NULL);
    removing->removed += outcome.positive;
    if (status < 0) removing->failure = status;
    return status >= 0;
}

/* Removes all keys. Returns false after reporting an error; the keys before the failed one have
 * then already been removed. */
static bool remove_keys(struct key_reader *reader, struct removing *removing)
{
    static const struct stages stages = {.work = hash_block, .enter = remove_block};
    return run_pipeline(reader, &stages, removing) && !reader->failed;
}

static void say_result(const struct args *args, const petal_filter *filter, uint64_t removed,
                       uint64_t absent)
{
    const char *path = args->operands[0];
    if (absent)
        remark(path, "%s of %s key%s %s absent and could not be removed", grouped(absent).s,
               grouped(absent + removed).s, plural(absent + removed), absent == 1 ? "was" : "were");
    if (stop_signal())
        remark(path, "stopped after removing %s key%s", grouped(removed).s, plural(removed));
    if (!is_verbose(args)) return;
    petal_info info = info_of(filter);
    remark(path, "%s key%s removed, %s left, %s false positives now", grouped(removed).s,
           plural(removed), grouped(info.items).s, rate_text(stats_of(filter).estimated_rate, 3).s);
}

static int remove_from(const struct args *args, petal_filter *filter, struct key_reader *reader)
{
    struct removing removing = {filter, args->operands[0], 0, PETAL_OK};
    progress_start(args->progress, false);
    bool whole = remove_keys(reader, &removing);
    keys_close(reader);
    if (!update_file(filter, removing.path, args,
                     "petal verify --recover keeps the other keys; do not remove these again"))
        return STATUS_ERROR;
    if (removing.failure < 0)
        complain_of_change(removing.path, filter, removing.failure,
                           "the keys after that are not removed");
    bool all_done = whole || reader->failed; /* all keys that were read */
    uint64_t removed = removing.removed, absent = all_done ? reader->keys_read - removed : 0;
    if (!whole && removed > 0)
        remark(removing.path, "the %s key%s before that were removed", grouped(removed).s,
               plural(removed));
    say_result(args, filter, removed, absent);
    if (stop_signal()) return STATUS_SIGNAL + stop_signal();
    return !whole ? STATUS_ERROR : absent ? STATUS_NO : STATUS_OK;
}

static int run(const struct args *args)
{
    struct key_reader reader;
    if (args->operand_count == 0) return misused("remove", "needs a filter FILE");
    if (!differs_from_inputs(args->operands[0], args->operands + 1, args->operand_count - 1))
        return STATUS_ERROR;
    if (!keys_open(&reader, args, args->operands + 1, args->operand_count - 1, false))
        return STATUS_ERROR;
    catch_stop_signals();
    petal_filter *filter = open_filter(args->operands[0], PETAL_OPEN_WRITABLE, args);
    bool good = filter && can_remove(filter, args->operands[0]) &&
                keys_use_type_of(&reader, args, args->operands[0], filter);
    int status = good ? remove_from(args, filter, &reader) : STATUS_ERROR;
    if (!good) keys_close(&reader);
    petal_free(filter);
    return status;
}

static const struct option options[] = {OPTION_KEY,         OPTIONS_OF_KEYS,     OPTION_THREADS,
                                        OPTION_SECRET_FILE, OPTION_MEMORY_LIMIT, OPTION_NO_LOCK,
                                        OPTION_VERBOSE,     END_OF_OPTIONS};

const struct command remove_command = {
    .name = "remove",
    .summary = "remove keys from a counting filter, in place",
    .usage = "FILE [KEYS...]",
    .about = "Removes the lines of KEYS (files, or standard input) from the filter in FILE,\n"
             "made with --scheme counting; a line that occurs twice is removed twice. Remove\n"
             "only keys that were added: removing others may lose keys. Status 1: some keys\n"
             "were absent.",
    .options = options,
    .example = "example: petal remove active.petal closed-accounts.txt",
    .run = run,
};
