/* cmd_add.c - petal add: adds keys to a filter file, in place. */
#include "commands/commands.h"
#include "commands/summary.h"
#include "files/files.h"
#include "files/paths.h"
#include "keys/keys.h"
#include "keys/layers.h"
#include "output/filter_info.h"
#include "output/numbers.h"
#include "output/progress.h"
#include "output/report.h"
#include "output/signals.h"

static int add(const struct args *args, petal_filter *filter, struct key_reader *reader)
{
    const char *path = args->operands[0];
    progress_start(args->progress, false);
    petal_status failure;
    bool read = try_to_fill(reader, filter, path, &failure);
    uint64_t added = reader->keys_read;
    keys_close(reader);
    if (!update_file(filter, path, args,
                     "keys may be missing: run petal verify --recover, then add them again"))
        return STATUS_ERROR;
    if (failure < 0) complain_of_change(path, filter, failure, "the keys after that are not in");
    if (reader->failed && added > 0)
        remark(path, "the %s key%s before that are in", grouped(added).s, plural(added));
    if (stop_signal())
        remark(path, "stopped after adding %s key%s", grouped(added).s, plural(added));
    warn_if_overfilled(path, filter);
    print_summary(path, filter, args);
    if (stop_signal()) return STATUS_SIGNAL + stop_signal();
    return read ? STATUS_OK : STATUS_ERROR;
}

static int run(const struct args *args)
{
    struct key_reader reader;
    if (args->operand_count == 0) return misused("add", "needs a filter FILE");
    if (!is_file_of_its_own(args->operands[0], args)) return STATUS_ERROR;
    if (!differs_from_inputs(args->operands[0], args->operands + 1, args->operand_count - 1))
        return STATUS_ERROR;
    if (!keys_open(&reader, args, args->operands + 1, args->operand_count - 1, false))
        return STATUS_ERROR;
    catch_stop_signals();
    petal_filter *filter = open_filter(args->operands[0], PETAL_OPEN_WRITABLE, args);
    if (filter && !args->time_field) tell_time(filter, args);
    petal_info info = filter ? info_of(filter) : PETAL_INFO_INIT;
    bool good = filter && agrees_with_time(args->operands[0], &info, args, reader.regular_file) &&
                keys_use_type_of(&reader, args, args->operands[0], filter);
    int status = good ? add(args, filter, &reader) : STATUS_ERROR;
    if (!good) keys_close(&reader);
    petal_free(filter);
    return status;
}

static const struct option options[] = {
    OPTION_KEY,          OPTIONS_OF_KEYS, OPTIONS_OF_RULE, OPTION_TIME,
    OPTION_NOW,          OPTION_THREADS,  OPTION_FROM,     OPTION_SECRET_FILE,
    OPTION_MEMORY_LIMIT, OPTION_NO_LOCK,  OPTION_VERBOSE,  END_OF_OPTIONS,
};

const struct command add_command = {
    .name = "add",
    .summary = "add keys to a filter, in place",
    .usage = "FILE [KEYS...]",
    .about = "Adds the lines of KEYS (files, or standard input) to the filter in FILE. Ctrl-C\n"
             "stops cleanly; keys read so far are kept. One writer at a time.",
    .options = options,
    .example = "example: tail -n 100 urls.txt | petal add urls.petal",
    .run = run,
};
