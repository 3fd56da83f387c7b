/* cmd_diff.c - petal diff: writes a patch from one filter to another. */
#include "commands/commands.h"
#include "commands/summary.h"
#include "files/files.h"
#include "files/paths.h"
#include "output/numbers.h"
#include "output/progress.h"
#include "output/report.h"
#include "output/signals.h"

#include <errno.h>

struct output {
    struct new_file file;
    uint64_t written;
};

static int32_t put(void *context, const void *bytes, size_t size_bytes)
{
    struct output *output = context;
    if (stop_signal()) return EINTR;
    output->written += size_bytes;
    return write_to_file(&output->file, bytes, size_bytes) ? 0 : output->file.failure;
}

static void say_size(const struct args *args, const petal_filter *to, uint64_t patch_bytes)
{
    uint64_t file_bytes = petal_serialized_bytes(to, NULL);
    if (is_verbose(args))
        remark(args->output, "%s bytes, %s %% of the %s of %s", grouped(patch_bytes).s,
               significant(100.0 * (double)patch_bytes / (double)file_bytes, 3).s,
               grouped(file_bytes).s, args->operands[1]);
}

static bool write_patch(const struct args *args, const petal_filter *from, const petal_filter *to)
{
    struct output output = {.written = 0};
    petal_error error;
    if (!begin_file(&output.file, args->output, args->force)) return false;
    progress_begin("writing", args->output);
    petal_status status = petal_diff(from, to, put, &output, &error);
    progress_end();
    bool ended = end_file(&output.file, status == PETAL_OK);
    if (!ended || stop_signal()) return false;
    if (status == PETAL_ERR_MISMATCH)
        return complain(args->operands[1], "cannot make a patch from %s: %s", args->operands[0],
                        error.message);
    if (status != PETAL_OK) return complain(args->operands[1], "%s", error.message);
    say_size(args, to, output.written);
    return true;
}

static int run(const struct args *args)
{
    if (args->operand_count != 2) return misused("diff", "needs two filters, OLD and NEW");
    if (!args->output) return misused("diff", "needs -o PATCH");
    if (!differs_from_inputs(args->output, args->operands, 2) ||
        !may_write(args->output, args->force))
        return STATUS_ERROR;
    catch_stop_signals(); /* so that a signal doesn't leave a temporary file behind */
    petal_filter *from = open_filter(args->operands[0], PETAL_OPEN_MAP, args);
    petal_filter *to = from ? open_filter(args->operands[1], PETAL_OPEN_MAP, args) : NULL;
    bool good = to && write_patch(args, from, to);
    petal_free(from);
    petal_free(to);
    if (!good && stop_signal()) return STATUS_SIGNAL + stop_signal();
    return good ? STATUS_OK : STATUS_ERROR;
}

static const struct option options[] = {
    {'o', "output", TEXT, AT(output), "FILE", "the patch to write"},
    OPTION_FROM,
    OPTION_FORCE,
    OPTION_SECRET_FILE,
    OPTION_MEMORY_LIMIT,
    OPTION_VERBOSE,
    END_OF_OPTIONS,
};

const struct command diff_command = {
    .name = "diff",
    .summary = "write a small patch from the old filter to the new",
    .usage = "OLD NEW -o PATCH",
    .about = "Writes a patch that turns a copy of OLD into NEW. If 1 % of the keys are new, it\n"
             "takes about 3 % of the file. Both must have been made with the same options.",
    .options = options,
    .example = "example: petal diff monday.petal tuesday.petal -o tuesday.patch",
    .run = run,
};
