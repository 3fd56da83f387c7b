/* cmd_check.c - petal check: grep for a set. */
#include "commands.h"
#include "explain.h"
#include "files.h"
#include "keys.h"
#include "numbers.h"
#include "progress.h"
#include "report.h"
#include "summary.h"

#include <inttypes.h>
#include <string.h>

struct check {
    const struct args *args;
    petal_filter *filter;
    struct key_reader reader;
    uint64_t selected;
};

/* The separator that was asked for ends every line, also the last one of an input that has none. */
static void print_line(const struct check *check, const petal_key *line, uint64_t number)
{
    if (check->args->line_numbers) printf("%" PRIu64 ":", number);
    fwrite(line->data, 1, line->size_bytes, stdout);
    putc(check->args->nul ? '\0' : '\n', stdout);
}

static void select_lines(struct check *check, const struct key_batch *batch)
{
    uint8_t found[KEY_BATCH];
    bool prints = !check->args->count && !check->args->quiet;
    size_t in = petal_contains_many(check->filter, batch->keys, batch->count, found);
    check->selected += check->args->invert ? batch->count - in : in;
    for (size_t i = 0; i < batch->count && prints; i++)
        if (found[i] != check->args->invert) print_line(check, &batch->lines[i], batch->first_line + i);
}

static void check_keys(struct check *check)
{
    struct key_batch batch;
    while (!ferror(stdout) && keys_next(&check->reader, &batch)) {
        select_lines(check, &batch);
        if (check->args->quiet && check->selected) break;
    }
    if (check->args->count && !check->args->quiet) printf("%" PRIu64 "\n", check->selected);
}

/* ---- --explain ------------------------------------------------------------------------------------------------------- */

/* On a terminal the verdicts of a batch stand below each other; in a pipe fields are separated by tabs. */
static int key_width(const struct key_batch *batch)
{
    size_t widest = 0;
    for (size_t i = 0; i < batch->count; i++)
        if (batch->lines[i].size_bytes > widest) widest = batch->lines[i].size_bytes;
    return widest < 60 ? (int)widest : 60;
}

static void explain_batch(struct check *check, const struct explainer *explainer, const struct key_batch *batch)
{
    uint8_t found[KEY_BATCH];
    bool aligned = is_terminal(stdout);
    int width = key_width(batch);
    check->selected += petal_contains_many(check->filter, batch->keys, batch->count, found);
    for (size_t i = 0; i < batch->count; i++) {
        const petal_key *line = &batch->lines[i];
        const char *verdict = found[i] ? "probably in" : "certainly not";
        fwrite(line->data, 1, line->size_bytes, stdout);
        if (aligned)
            printf("%*s   %-15s", line->size_bytes < (size_t)width ? width - (int)line->size_bytes : 0, "", verdict);
        else
            printf("\t%s\t", verdict);
        explain_key(explainer, &batch->keys[i], stdout);
        putchar('\n');
    }
}

static bool explain_keys(struct check *check, const char *path)
{
    struct explainer explainer;
    struct key_batch batch;
    if (!explain_open(&explainer, check->filter, path)) return false;
    while (!ferror(stdout) && keys_next(&check->reader, &batch)) explain_batch(check, &explainer, &batch);
    const petal_info *info = &explainer.info;
    if (is_terminal(stdout))
        printf("%s of %s bits set: an absent key passes %s of the time\n", grouped(info->bits_set).s,
               grouped(info->bits).s, rate_text(info->estimated_rate, 2).s);
    explain_close(&explainer);
    return true;
}

/* ---- command --------------------------------------------------------------------------------------------------------- */

static int check(const struct args *args, petal_filter *filter)
{
    struct check check = {.args = args, .filter = filter};
    bool streaming = !args->count && !args->quiet, good = true;
    if (!keys_open(&check.reader, args, args->operands + 1, args->operand_count - 1, true)) return STATUS_ERROR;
    check.reader.watch_output = streaming;
    progress_start(args->progress, streaming);
    if (args->explain)
        good = explain_keys(&check, args->operands[0]);
    else
        check_keys(&check);
    keys_close(&check.reader);
    bool found_early = args->quiet && check.selected > 0;
    if (!good || (check.reader.failed && !found_early)) return STATUS_ERROR;
    return check.selected ? STATUS_OK : STATUS_NONE;
}

static int run(const struct args *args)
{
    if (args->operand_count == 0) return misused("check", "needs a filter FILE");
    if (args->explain && (args->invert || args->count || args->quiet || args->line_numbers))
        return misused("check", "--explain shows every key; leave out -v, -c, -q and -n");
    petal_filter *filter = open_filter(args->operands[0], PETAL_OPEN_MAP, args);
    int status = filter ? check(args, filter) : STATUS_ERROR;
    petal_free(filter);
    return status;
}

static const struct option options[] = {
    {'v', "invert-match", FLAG, AT(invert), NULL, "print the keys certainly not in the set"},
    {'c', "count", FLAG, AT(count), NULL, "print only how many"},
    {'q', "quiet", FLAG, AT(quiet), NULL, "print nothing; stop at the first one"},
    {'n', "line-number", FLAG, AT(line_numbers), NULL, "put the line number before each"},
    {'e', "key", LITERAL, 0, "KEY", "ask for KEY; may be repeated"},
    {0, "explain", FLAG, AT(explain), NULL, "show for every key the bits it looks at"},
    OPTIONS_OF_KEYS,
    OPTION_KEY_FILE,
    OPTION_FROM,
    END_OF_OPTIONS,
};

const struct command check_command = {
    .name = "check",
    .summary = "print the keys that are (probably) in a filter",
    .usage = "FILE [KEYS...]",
    .about = "Prints those lines of KEYS (files, or standard input) that are probably in the\n"
             "filter; with -v those that certainly are not. Exits like grep: 0 when a line was\n"
             "selected, 1 when none was, 2 after an error.",
    .options = options,
    .example = "example: petal check -v urls.petal new.txt > unknown.txt",
    .run = run,
};
