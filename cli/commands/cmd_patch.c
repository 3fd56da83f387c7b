/* cmd_patch.c - petal patch: applies a patch made by `petal diff` to a filter. */
#include "commands/commands.h"
#include "commands/summary.h"
#include "files/files.h"
#include "files/paths.h"
#include "output/progress.h"
#include "output/report.h"
#include "output/signals.h"

#include <stdlib.h>

/* --memory-limit applies to the patch as well as to the filter. */
static uint64_t max_patch_bytes(const struct args *args)
{
    return args->memory_limit ? args->memory_limit : (uint64_t)1 << 30;
}

static bool apply(petal_filter *filter, const struct args *args)
{
    const char *path = args->operands[1];
    size_t size_bytes;
    petal_error error;
    uint8_t *bytes = read_whole_file(path, max_patch_bytes(args), &size_bytes);
    if (!bytes) return false;
    progress_begin("applying", path);
    petal_status status = petal_apply_patch(filter, bytes, size_bytes, args->memory_limit, &error);
    progress_end();
    free(bytes);
    return status == PETAL_OK || complain(path, "%s", error.message);
}

/* If `in_place`, replaces the loaded file, whose lock is held. */
static bool patch(const struct args *args, bool in_place)
{
    const char *file = args->operands[0], *out = in_place ? file : args->output;
    unsigned locked = in_place ? PETAL_OPEN_LOCKED : 0;
    petal_filter *filter = open_filter(file, PETAL_OPEN_LOAD | locked, args);
    bool good = filter && apply(filter, args) && !stop_signal();
    if (good)
        good = in_place ? replace_file(filter, out, args)
                        : save_filter(filter, out, file_format_of(filter), args);
    if (good) warn_if_overfilled(out, filter);
    if (good) print_summary(out, filter, args);
    petal_free(filter);
    return good;
}

static int run(const struct args *args)
{
    if (args->operand_count != 2) return misused("patch", "needs FILE and PATCH");
    bool in_place = !args->output || is_same_file(args->output, args->operands[0]);
    const char *out = in_place ? args->operands[0] : args->output;
    if (!differs_from_inputs(out, args->operands + 1, 1)) return STATUS_ERROR;
    if (in_place ? !is_file_of_its_own(out, args) : !may_save(out, args)) return STATUS_ERROR;
    catch_stop_signals(); /* so that a signal leaves no temporary file behind */
    bool good = patch(args, in_place);
    if (!good && stop_signal()) return STATUS_SIGNAL + stop_signal();
    return good ? STATUS_OK : STATUS_ERROR;
}

static const struct option options[] = {
    {'o', "output", TEXT, AT(output), "FILE", "the filter to write [FILE]"},
    OPTION_FROM,
    OPTION_FORCE,
    OPTION_SECRET_FILE,
    OPTION_MEMORY_LIMIT,
    OPTION_NO_LOCK,
    OPTION_VERBOSE,
    END_OF_OPTIONS,
};

const struct command patch_command = {
    .name = "patch",
    .summary = "bring a filter up to date with a patch",
    .usage = "FILE PATCH [-o OUT]",
    .about = "Turns the filter in FILE into the one that petal diff was given as NEW: in\n"
             "place, or as OUT. PATCH may be - for standard input. A patch fits one content id\n"
             "only, and the result is checked before anything is written.",
    .options = options,
    .example = "example: petal patch urls.petal tuesday.patch",
    .run = run,
};
