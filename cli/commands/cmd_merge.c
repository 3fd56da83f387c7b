/* cmd_merge.c - petal merge: writes the union of filters. */
#include "commands/combine.h"
#include "commands/commands.h"

static int run(const struct args *args)
{
    return combine(args, "merge", petal_merge, true);
}

static const struct option options[] = {
    OPTION_OUTPUT,       OPTION_FROM,    OPTION_TO,      OPTION_FORCE,   OPTION_SECRET_FILE,
    OPTION_MEMORY_LIMIT, OPTION_NO_LOCK, OPTION_VERBOSE, END_OF_OPTIONS,
};

const struct command merge_command = {
    .name = "merge",
    .summary = "unite filters made with the same options",
    .usage = "-o OUT A B...",
    .about = "Merges filters that were made with the same options: OUT is the filter of all\n"
             "their keys. If one is larger by a whole factor, it is folded first. Capacity and\n"
             "metadata are those of A.",
    .options = options,
    .example = "example: petal merge -o year.petal month-*.petal",
    .run = run,
};
