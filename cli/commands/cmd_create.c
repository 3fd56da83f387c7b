/* cmd_create.c - petal create: creates an empty filter. */
#include "commands/commands.h"
#include "commands/summary.h"
#include "files/files.h"
#include "files/request.h"
#include "keys/layers.h"
#include "output/numbers.h"
#include "output/report.h"

#include <math.h>

static void say_what_was_made(const char *path, const petal_filter *filter)
{
    petal_info made = info_of(filter), *info = &made;
    if (info->policy != PETAL_POLICY_NONE)
        remark(path, "%s bytes, %s: %s; at most %s false positives", grouped(info->bytes).s,
               info->scheme_name, policy_text(filter).s, asked_rate(info->target_rate).s);
    else if (info->capacity)
        remark(path, "%s bytes, %s: %s false positives at %s keys", grouped(info->bytes).s,
               info->scheme_name,
               isnan(info->predicted_rate) ? "an unknown rate of"
                                           : rate_text(info->predicted_rate, 2).s,
               grouped(info->capacity).s);
    else
        remark(path, "%s bytes, %s", grouped(info->bytes).s, info->scheme_name);
}

static int create(const struct args *args, struct request *request)
{
    petal_filter *filter = create_requested(request);
    if (!filter) return STATUS_ERROR;
    bool saved = save_filter(filter, args->output, request->format, args);
    if (saved && is_verbose(args)) say_what_was_made(args->output, filter);
    petal_free(filter);
    return saved ? STATUS_OK : STATUS_ERROR;
}

static int run(const struct args *args)
{
    struct request request;
    if (!args->output) return misused("create", "needs -o FILE");
    if (args->operand_count)
        return misused("create", "takes no keys (%s); build does", args->operands[0]);
    if (!may_save(args->output, args)) return STATUS_ERROR;
    int status =
        request_read(&request, "create", args, 0, false) ? create(args, &request) : STATUS_ERROR;
    request_free(&request);
    return status;
}

static const struct option options[] = {
    OPTION_OUTPUT,   OPTIONS_OF_SIZE, OPTION_GROW,     OPTION_FOLDABLE,        OPTION_WINDOW,
    OPTIONS_OF_HASH, OPTION_METADATA, OPTION_TEMPLATE, OPTION_KEY_TYPE_OR_ANY, OPTION_TO_SIZE,
    OPTION_FORCE,    OPTION_NO_LOCK,  OPTION_VERBOSE,  END_OF_OPTIONS,
};

const struct command create_command = {
    .name = "create",
    .summary = "make an empty filter",
    .usage = "-o FILE -n KEYS [-p RATE | --memory SIZE | --grow]\n"
             "       petal create -o FILE --window WINDOW | --template FILE",
    .about = "Makes an empty filter, for petal add. --memory alone: for all keys that fit it.",
    .options = options,
    .example = "example: petal create -o crawl.petal -n 10M -p 0.1%",
    .run = run,
};
