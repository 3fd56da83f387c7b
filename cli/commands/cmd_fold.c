/* cmd_fold.c - petal fold: shrinks a filter without needing its keys. */
#include "commands/commands.h"
#include "commands/summary.h"
#include "files/files.h"
#include "files/formats.h"
#include "files/paths.h"
#include "output/numbers.h"
#include "output/progress.h"
#include "output/report.h"
#include "output/signals.h"

/* Folds the filter. Returns NULL after reporting an error. */
static petal_filter *fold_file(const char *path, const petal_filter *filter,
                               const struct args *args)
{
    petal_fold_options options = PETAL_FOLD_OPTIONS_INIT;
    petal_filter *folded = NULL;
    petal_error error;
    options.rate = args->rate;
    options.capacity = args->capacity;
    options.bits = args->bits;
    progress_begin("folding", path);
    petal_status status = petal_fold(filter, &options, &folded, &error);
    progress_end();
    if (status != PETAL_OK) complain(path, "%s", error.message);
    return folded;
}

static bool fold(const struct args *args)
{
    const char *path = args->operands[0];
    petal_filter *folded = NULL,
                 *filter = open_filter(path, PETAL_OPEN_MAP | PETAL_OPEN_VERIFY, args);
    if (filter) folded = fold_file(path, filter, args);
    bool saved =
        folded && stop_signal() == 0 &&
        save_filter(folded, args->output, args->to ? args->to : file_format_of(filter), args);
    if (saved && info_of(folded).bits == info_of(filter).bits)
        remark(args->output, "stays at %s bytes: the next smaller size exceeds the rate",
               grouped(info_of(folded).bytes).s);
    if (saved) warn_if_overfilled(args->output, folded);
    if (saved) print_summary(args->output, folded, args);
    petal_free(folded);
    petal_free(filter);
    return saved;
}

static int run(const struct args *args)
{
    if (!args->output) return misused("fold", "needs -o FILE");
    if (args->operand_count != 1) return misused("fold", "needs one filter");
    if (args->bits && args->capacity) return misused("fold", "--bits fixes the size; leave out -n");
    if (!check_format(args->to) || !may_save(args->output, args) ||
        !differs_from_inputs(args->output, args->operands, 1))
        return STATUS_ERROR;
    catch_stop_signals(); /* so that a signal doesn't leave a temporary file behind */
    bool saved = fold(args);
    if (!saved && stop_signal()) return STATUS_SIGNAL + stop_signal();
    return saved ? STATUS_OK : STATUS_ERROR;
}

static const struct option options[] = {
    OPTION_OUTPUT,
    {'p', "rate", RATE, AT(rate), "RATE", "false positives at most [the rate of FILTER]"},
    {'n', "capacity", COUNT, AT(capacity), "KEYS",
     "leave room for this many keys [those in FILTER]"},
    {0, "bits", COUNT, AT(bits), "M", "exactly M bits, which must divide those of FILTER"},
    OPTION_FROM,
    OPTION_TO,
    OPTION_FORCE,
    OPTION_SECRET_FILE,
    OPTION_MEMORY_LIMIT,
    OPTION_NO_LOCK,
    OPTION_VERBOSE,
    END_OF_OPTIONS,
};

const struct command fold_command = {
    .name = "fold",
    .summary = "a smaller filter of the same keys, without the keys",
    .usage = "-o OUT [-p RATE] FILTER",
    .about = "Makes a filter that keeps RATE for the keys in FILTER, at the smallest size that\n"
             "divides FILTER's. The result is the same as if it had been built at that size.",
    .options = options,
    .example = "example: petal fold -p 1% -o small.petal large.petal",
    .run = run,
};
