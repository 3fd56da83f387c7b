/* cmd_check.c - petal check: prints the lines that are probably in a set, similar to grep. */
#include "commands/commands.h"
#include "commands/summary.h"
#include "files/files.h"
#include "files/formats.h"
#include "keys/keys.h"
#include "keys/layers.h"
#include "keys/pipeline.h"
#include "keys/selection.h"
#include "output/explain.h"
#include "output/filter_info.h"
#include "output/numbers.h"
#include "output/progress.h"
#include "output/report.h"
#include "output/terminal.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

struct check {
    const struct args *args;
    petal_filter *filter;
    struct key_reader reader;
    struct explainer explainer; /* for --explain */
    uint64_t selected;
    bool failed; /* true after a failure that the reader did not cause */
};

/* ---- the stages of a block: pipeline.h ------------------------------------------------------- */

static void ask(void *context, struct key_block *block)
{
    const struct check *check = context;
    size_t in;
    block->is_unanswered =
        try_to_look_up(check->filter, block->keys, block->count, block->results, &in) != PETAL_OK;
    size_t strays = block->continues ? 0 : block->stray_count;
    block->selected = check->args->invert ? block->count - in + strays : in;
}

/* The counts of keys in one row, which may be spread over several runs. */
struct tally {
    size_t row;
    uint64_t found, all;
};

static void end_row(const struct check *check, struct key_block *block, const struct tally *tally,
                    size_t *in)
{
    bool enough = is_enough(tally->found, tally->all, check->args->share);
    block->results[tally->row] = enough;
    *in += enough;
}

static void count_found(const struct check *check, struct key_block *block, struct tally *tally,
                        size_t *in)
{
    const struct key_run *run = block->run;
    for (size_t i = 0; i < run->count; i++) {
        if (run->rows[i] != tally->row) {
            end_row(check, block, tally, in);
            *tally = (struct tally){.row = run->rows[i]};
        }
        tally->found += run->results[i];
        tally->all++;
    }
}

static void ask_runs(void *context, struct key_block *block)
{
    const struct check *check = context;
    struct key_run *run = block->run;
    struct tally tally = {0};
    size_t found, in = 0, strays = block->continues ? 0 : block->stray_count;
    block->is_unanswered = false;
    for (run_begin(run, 0, block->count); !block->is_unanswered && run_next(run);) {
        block->is_unanswered =
            try_to_look_up(check->filter, run->keys, run->count, run->results, &found) != PETAL_OK;
        count_found(check, block, &tally, &in);
    }
    if (block->count > 0) end_row(check, block, &tally, &in);
    block->selected = check->args->invert ? block->count - in + strays : in;
}

/* Reports that the filter is damaged. The output ends before this block, and the exit status
 * indicates that the output is incomplete. */
static bool complain_of_damage(const struct check *check)
{
    petal_error error;
    petal_last_error(check->filter, &error);
    return complain(check->args->operands[0], "%s; --no-verify trusts it as it is", error.message);
}

static bool count_selected(void *context, struct key_block *block)
{
    struct check *check = context;
    if (block->is_unanswered) check->failed = !complain_of_damage(check);
    if (block->is_unanswered) return false;
    check->selected += block->selected;
    return !check->args->quiet || check->selected == 0;
}

static void compose(void *context, struct key_block *block)
{
    const struct check *check = context;
    bool invert = check->args->invert;
    if (check->args->line_numbers)
        select_numbered_rows(block, !invert, invert);
    else
        select_rows(block, !invert, invert);
}

static bool print_block(void *context, struct key_block *block)
{
    struct check *check = context;
    if (!block->output.data) check->failed = !complain(NULL, "out of memory");
    return !check->failed && print_selection(block);
}

static void check_keys(struct check *check)
{
    struct stages stages = {.work = ask, .enter = count_selected};
    if (check->reader.rows.rule.unit != UNIT_ROW) stages.work = ask_runs;
    if (!check->args->count && !check->args->quiet) {
        stages.compose = compose;
        stages.leave = print_block;
    }
    run_pipeline(&check->reader, &stages, check);
    if (check->args->count && !check->args->quiet && !check->failed)
        printf("%" PRIu64 "\n", check->selected);
}

/* ---- --explain ------------------------------------------------------------------------------- */

/* Returns the width to which keys are padded on a terminal, so that the verdicts are aligned. In a
 * pipe, tabs separate the fields instead. */
static int key_width(const struct key_block *block)
{
    size_t widest = 0;
    for (size_t i = 0; i < block->count; i++)
        if (block->lines[i].size_bytes > widest) widest = block->lines[i].size_bytes;
    return widest < 60 ? (int)widest : 60;
}

static bool explain_block(void *context, struct key_block *block)
{
    struct check *check = context;
    bool aligned = is_terminal(stdout);
    int width = key_width(block);
    ask(check, block);
    if (!count_selected(check, block)) return false;
    for (size_t i = 0; i < block->count; i++) {
        const petal_key *line = &block->lines[i];
        const char *verdict = block->results[i] ? "probably in" : "certainly not";
        fwrite(line->data, 1, line->size_bytes, stdout);
        if (aligned)
            printf("%*s   %-15s",
                   line->size_bytes < (size_t)width ? width - (int)line->size_bytes : 0, "",
                   verdict);
        else
            printf("\t%s\t", verdict);
        explain_key(&check->explainer, &block->keys[i], stdout);
        putchar('\n');
    }
    return !ferror(stdout);
}

static bool explain_keys(struct check *check, const char *path)
{
    static const struct stages stages = {.enter = explain_block};
    if (!explain_open(&check->explainer, check->filter, path)) return false;
    run_pipeline(&check->reader, &stages, check);
    if (is_terminal(stdout) && !check->failed) {
        petal_stats stats = stats_of(check->filter);
        printf("%s of %s bits set", grouped(stats.bits_set).s,
               grouped(check->explainer.info.bits).s);
        if (!isnan(stats.estimated_rate))
            printf(": an absent key passes %s of the time", rate_text(stats.estimated_rate, 2).s);
        putchar('\n');
    }
    explain_close(&check->explainer);
    return !check->failed;
}

/* ---- command --------------------------------------------------------------------------------- */

static int check(const struct args *args, petal_filter *filter)
{
    struct check check = {.args = args, .filter = filter};
    bool streaming = !args->count && !args->quiet;
    if (!keys_open(&check.reader, args, args->operands + 1, args->operand_count - 1, true))
        return STATUS_ERROR;
    if (!keys_use_type_of(&check.reader, args, args->operands[0], filter)) return STATUS_ERROR;
    check.reader.watch_output = streaming;
    check.reader.fate = "taken as not in the filter";
    progress_start(args->progress, streaming);
    if (args->explain)
        check.failed = !explain_keys(&check, args->operands[0]);
    else
        check_keys(&check);
    bool has_rule = check.reader.rows.rule.unit != UNIT_ROW;
    keys_close(&check.reader);
    if (is_verbose(args) && !check.failed && !args->count && !args->quiet && !args->explain)
        remark(NULL, "%s of %s %s%s %s", grouped(check.selected).s,
               grouped(check.reader.keys_read).s, has_rule ? "row" : "key",
               plural(check.reader.keys_read),
               args->invert ? "certainly not in the filter" : "probably in the filter");
    bool found_early = args->quiet && check.selected > 0;
    if (check.failed || (check.reader.failed && !found_early)) return STATUS_ERROR;
    return check.selected ? STATUS_OK : STATUS_NO;
}

static int run(const struct args *args)
{
    if (args->operand_count == 0) return misused("check", "needs a filter FILE");
    if (args->explain && (args->invert || args->count || args->quiet || args->line_numbers))
        return misused("check", "--explain shows every key; leave out -v, -c, -q and -n");
    if (args->explain && (args->words || args->ngrams || args->kmers))
        return misused("check", "--explain shows one key per row; leave out --words, --ngrams, "
                                "--kmers");
    if (lacks_rule("check", args)) return STATUS_ERROR;
    petal_filter *filter = args->explain ? open_filter(args->operands[0], PETAL_OPEN_MAP, args)
                                         : open_live(args->operands[0], args);
    filter = make_current(filter, args->operands[0], args);
    int status = filter ? check(args, filter) : STATUS_ERROR;
    petal_free(filter);
    return status;
}

static const struct option options[] = {
    {'v', "invert-match", FLAG, AT(invert), NULL, "print the keys certainly not in the set"},
    {'c', "count", FLAG, AT(count), NULL, "print only how many"},
    {'q', "quiet", FLAG, AT(quiet), NULL, "print nothing; stop at the first one"},
    {'n', "line-number", FLAG, AT(line_numbers), NULL, "put the line number before each"},
    {0, "explain", FLAG, AT(explain), NULL, "show which bits are read for each key"},
    OPTION_NO_VERIFY,
    OPTION_KEY,
    OPTIONS_OF_KEYS,
    OPTIONS_OF_RULE,
    OPTION_MIN,
    OPTION_NOW,
    OPTION_THREADS,
    OPTION_SECRET_FILE,
    OPTION_FROM,
    OPTION_MEMORY_LIMIT,
    OPTION_VERBOSE,
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
