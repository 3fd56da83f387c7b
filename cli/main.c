/* main.c - the petal command: a table of commands, each in its own file cmd_<name>.c.
 *
 * To add a command: write cmd_<name>.c with a `const struct command`, declare it in commands.h, add
 * its row below, and describe it in docs/man/petal.1, cli/completions/ and tests/cli/ (a test
 * compares all of them with this table). */
#define _XOPEN_SOURCE 700 /* SIGXFSZ */

#include "commands/commands.h"
#include "files/formats.h"
#include "keys/unpack.h"
#include "output/kernel.h"
#include "output/progress.h"
#include "output/report.h"
#include "output/terminal.h"

#include <petal/petal.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static const struct command *const commands[] = {
    &plan_command,   &create_command, &build_command,     &add_command,     &remove_command,
    &check_command,  &which_command,  &index_command,     &seen_command,    &info_command,
    &verify_command, &merge_command,  &intersect_command, &fold_command,    &compare_command,
    &diff_command,   &patch_command,  &shard_command,     &convert_command, &formats_command,
    &bench_command,
};

enum { COMMANDS = sizeof commands / sizeof commands[0] };

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(commands[i]->name, name) == 0) return commands[i];
    return NULL;
}

static const char *command_name(const void *context, size_t i)
{
    (void)context;
    return commands[i]->name;
}

/* Returns Petal's name for a command that other tools call `name`. */
static const char *our_word(const char *name)
{
    static const char *const words[][2] = {
        {"contains", "check"}, {"exists", "check"},   {"query", "check"},    {"test", "check"},
        {"lookup", "check"},   {"union", "merge"},    {"or", "merge"},       {"and", "intersect"},
        {"dedup", "seen"},     {"dedupe", "seen"},    {"uniq", "seen"},      {"unique", "seen"},
        {"delete", "remove"},  {"insert", "add"},     {"put", "add"},        {"new", "create"},
        {"reserve", "create"}, {"init", "create"},    {"stats", "info"},     {"show", "info"},
        {"inspect", "info"},   {"import", "convert"}, {"export", "convert"}, {"split", "shard"},
        {"shrink", "fold"},    {"compact", "fold"},   {"resize", "fold"},    {"halve", "fold"},
        {"redis", "convert"},  {"find", "which"},     {"many", "which"},     {"where", "which"},
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(words[i][0], name) == 0) return words[i][1];
    return NULL;
}

static int no_such_command(const char *name)
{
    const char *word = our_word(name), *guess = nearest(name, command_name, NULL, COMMANDS);
    if (word)
        complain(NULL, "no command %s; here it is %s; see petal help %s", name, word, word);
    else if (guess)
        complain(NULL, "no command %s, did you mean %s? See petal help", name, guess);
    else
        complain(NULL, "no command %s; see petal help", name);
    return STATUS_ERROR;
}

static void print_overview(FILE *out)
{
    fprintf(out, "usage: petal COMMAND ... (Bloom filters: is it in the set? no, or probably)\n");
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(out, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    fprintf(out, "petal help COMMAND says more, petal help keys explains keys, man petal has all.\n"
                 "  petal build -o urls.petal urls.txt; petal check urls.petal new.txt\n");
}

static int help(int argc, char **argv)
{
    const struct command *command = argc > 0 ? find_command(argv[0]) : NULL;
    if (argc > 0 && strcmp(argv[0], "keys") == 0) {
        print_help_of_keys(stdout);
        return STATUS_OK;
    }
    if (argc > 0 && strcmp(argv[0], "words") == 0) {
        print_help_of_words(stdout);
        return STATUS_OK;
    }
    if (argc > 0 && !command) return no_such_command(argv[0]);
    if (command)
        print_help(command, stdout);
    else
        print_overview(stdout);
    return STATUS_OK;
}

/* Prints the formats of this build, and the kernel used on this CPU. */
static void print_version(void)
{
    petal_format_info format = PETAL_FORMAT_INFO_INIT;
    bool has_zlib = false;
    uint32_t formats = 0;
    for (; petal_format_at(formats, &format); formats++)
        has_zlib = has_zlib || strcmp(format.name, "dcso-gzip") == 0;
    printf("petal %s\n%u formats, %s zlib, %s zstd; %s on this CPU\n", petal_version(), formats,
           has_zlib ? "with" : "without", unpacks_zstd() ? "with" : "without", kernel_name());
}

static int run_command(const struct command *command, int argc, char **argv)
{
    struct args args;
    int status = STATUS_ERROR;
    bool good = parse_options(command, argc, argv, &args);
    if (good && args.help) {
        print_help(command, stdout);
        status = STATUS_OK;
    } else if (good) {
        progress_start(args.progress, false);
        status = command->run(&args);
        if (status == STATUS_ERROR && last_failure() == PETAL_ERR_BUSY) status = STATUS_BUSY;
    }
    free(args.literals);
    return status;
}

static int run(int argc, char **argv)
{
    if (argc == 0) {
        print_overview(stderr);
        return STATUS_ERROR;
    }
    if (strcmp(argv[0], "help") == 0) return help(argc - 1, argv + 1);
    if (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0) return help(0, NULL);
    if (strcmp(argv[0], "--version") == 0 || strcmp(argv[0], "-V") == 0 ||
        strcmp(argv[0], "version") == 0) {
        print_version();
        return STATUS_OK;
    }
    const struct command *command = find_command(argv[0]);
    if (!command) return no_such_command(argv[0]);
    return run_command(command, argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
    guard_standard_files();
    signal(SIGXFSZ, SIG_IGN); /* exceeding a file size limit is an error, just like a full disk */
    if (!is_terminal(stdout)) setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    return finish_output(run(argc - 1, argv + 1));
}
