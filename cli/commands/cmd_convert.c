/* cmd_convert.c - petal convert: saves a filter's bits in another format. */
#include "commands/commands.h"
#include "commands/summary.h"
#include "files/files.h"
#include "files/formats.h"
#include "files/paths.h"
#include "output/report.h"
#include "output/signals.h"

#include <inttypes.h>
#include <string.h>

/* Reports the fields of a petal file that the other format can't store. */
static void say_what_is_lost(const petal_filter *filter, const char *path, const char *to)
{
    uint64_t metadata_bytes = 0;
    petal_metadata(filter, &metadata_bytes);
    if (metadata_bytes && !is_petal(to) && strncmp(to, "dcso", 4) != 0)
        remark(path, "has no place for the metadata (%" PRIu64 " bytes); it is left out",
               metadata_bytes);
}

/* Replaces a counting filter with a filter without counters. Returns NULL after reporting an
 * error. */
static petal_filter *drop_counts(petal_filter *filter, const char *path)
{
    petal_error error;
    petal_filter *bits = NULL;
    if (petal_drop_counts(filter, &bits, &error) != PETAL_OK) complain(path, "%s", error.message);
    petal_free(filter);
    return bits;
}

static bool convert(const struct args *args)
{
    const char *in = args->operands[0], *out = args->operands[1],
               *to = args->to ? args->to : "petal";
    /* If IN is to be replaced, no other process may change it before then. */
    unsigned mode = is_same_file(in, out) ? PETAL_OPEN_LOAD | PETAL_OPEN_LOCKED : PETAL_OPEN_MAP;
    petal_filter *filter = open_filter(in, mode | PETAL_OPEN_VERIFY, args);
    if (filter && args->to_scheme) filter = drop_counts(filter, in);
    if (!filter) return false;
    bool saved = save_filter(filter, out, to, args);
    if (saved) say_what_is_lost(filter, out, to);
    if (saved) print_summary(out, filter, args);
    petal_free(filter);
    return saved;
}

static int run(const struct args *args)
{
    if (args->operand_count != 2) return misused("convert", "needs IN and OUT");
    if (args->to_scheme && !differs_from_inputs(args->operands[1], args->operands, 1))
        return STATUS_ERROR;
    if (!check_format(args->to) || !may_save(args->operands[1], args)) return STATUS_ERROR;
    catch_stop_signals(); /* so that a signal doesn't leave a temporary file behind */
    return convert(args) ? STATUS_OK : STATUS_ERROR;
}

static const struct option options[] = {
    OPTION_TO,
    OPTION_FROM,
    {0, "to-scheme", TEXT, AT(to_scheme), "SCHEME=classic",
     "classic: a counting filter without its counts"},
    OPTION_FORCE,
    OPTION_SECRET_FILE,
    OPTION_MEMORY_LIMIT,
    OPTION_NO_LOCK,
    OPTION_VERBOSE,
    END_OF_OPTIONS,
};

const struct command convert_command = {
    .name = "convert",
    .summary = "convert the same bits to another library's file, or back",
    .usage = "IN OUT [--to FORMAT] [--from FORMAT]",
    .about = "Bits are never translated: a format that can't hold the filter's scheme is\n"
             "refused. petal formats lists each FORMAT.",
    .options = options,
    .example = "example: petal convert old.bin urls.petal --from guava --to petal",
    .run = run,
};
