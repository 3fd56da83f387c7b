/* commands.h - declares every command; each is implemented in its own file. */
#ifndef PETAL_CLI_COMMANDS_H
#define PETAL_CLI_COMMANDS_H

#include "options/options.h"

extern const struct command plan_command, create_command, build_command, add_command, check_command,
    which_command, seen_command, remove_command, info_command, verify_command, merge_command,
    intersect_command, fold_command, compare_command, diff_command, patch_command, shard_command,
    convert_command, formats_command, bench_command, index_command;

#endif
