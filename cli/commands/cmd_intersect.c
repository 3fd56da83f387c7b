/* cmd_intersect.c - petal intersect: creates a filter with the keys that all filters contain. The
 * result has more false positives than a filter built from those keys alone. */
#include "commands/combine.h"
#include "commands/commands.h"

static int run(const struct args *args)
{
    return combine(args, "intersect", petal_intersect, false);
}

static const struct option options[] = {
    OPTION_OUTPUT,       OPTION_FROM,    OPTION_TO,      OPTION_FORCE,   OPTION_SECRET_FILE,
    OPTION_MEMORY_LIMIT, OPTION_NO_LOCK, OPTION_VERBOSE, END_OF_OPTIONS,
};

const struct command intersect_command = {
    .name = "intersect",
    .summary = "intersect filters made with the same options",
    .usage = "-o OUT A B...",
    .about = "Writes to OUT the bits that all of them have. Every common key is in, but other\n"
             "keys pass more often than with a filter of the common keys alone. OUT has the\n"
             "metadata of A.",
    .options = options,
    .example = "example: petal intersect -o both.petal a.petal b.petal",
    .run = run,
};
