/* cmd_index.c - petal index: combines many filters in one file, so that `petal which` can query all
 * of them together. Existing filters are copied; with --keys, a filter is built from each file of
 * keys. */
#include "commands/build_static.h"
#include "commands/commands.h"
#include "commands/many.h"
#include "commands/summary.h"
#include "files/files.h"
#include "files/formats.h"
#include "files/paths.h"
#include "files/request.h"
#include "output/numbers.h"
#include "output/progress.h"
#include "output/report.h"
#include "output/signals.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct indexing {
    const struct args *args;
    struct request request; /* for --keys */
    petal_index *index;
    uint64_t dropped; /* number of --drop names that were found */
};

/* ---- what goes in ---------------------------------------------------------------------------- */

static bool add_keys(struct indexing *indexing, const char *path)
{
    struct key_reader reader;
    petal_error error;
    char *file = (char *)(uintptr_t)path;
    petal_static_builder *builder = NULL;
    struct args args = *indexing->args;
    args.literal_count = 0; /* in this command, operands are file names */
    if (keys_open(&reader, &args, &file, 1, false)) {
        progress_start(args.progress, false);
        builder = collect_for_index(&reader, &indexing->request.options);
    }
    keys_close(&reader);
    if (!builder) return false;
    if (petal_index_add_keys(indexing->index, path, builder, &error) == PETAL_OK) return true;
    return complain(path, "%s", error.message);
}

static bool add_filter(struct indexing *indexing, const char *path)
{
    petal_error error = {0};
    petal_filter *filter = open_filter(path, PETAL_OPEN_MAP, indexing->args);
    if (!filter) return false;
    petal_status status = petal_index_add(indexing->index, path, filter, &error);
    petal_free(filter);
    return status == PETAL_OK || complain(path, "%s", error.message);
}

static bool has_name(const petal_index *index, const char *name)
{
    const char *other;
    for (uint64_t i = 0; (other = petal_index_name(index, i)); i++)
        if (strcmp(other, name) == 0) return true;
    return false;
}

/* Adds the filters of an index, except those named by --drop. */
static bool add_index(struct indexing *indexing, const char *path)
{
    const struct args *args = indexing->args;
    petal_error error;
    uint64_t count = 0;
    petal_index *index = open_index(path, args);
    const char **without = calloc(args->literal_count + 1, sizeof *without);
    if (index && !without) complain(NULL, "out of memory");
    bool good = index && without;
    for (size_t i = 0; good && i < args->literal_count; i++)
        if (has_name(index, args->literals[i])) without[count++] = args->literals[i];
    indexing->dropped += count;
    progress_begin("reading", path);
    if (good && petal_index_add_index(indexing->index, index, without, count, &error) != PETAL_OK)
        good = complain_of(path, &error);
    progress_end();
    free(without);
    petal_index_free(index);
    return good;
}

/* Adds a file that is not an index. The file that will be replaced can't be added, because it is
 * locked. */
static bool add_other(struct indexing *indexing, const char *path)
{
    const struct args *args = indexing->args;
    if (!args->no_lock && is_same_file(path, args->output))
        return complain(path, "can't be read as an index, so -o must name another file");
    return args->of_keys ? add_keys(indexing, path) : add_filter(indexing, path);
}

static bool add_all(struct indexing *indexing, const struct many *many)
{
    for (size_t i = 0; i < many->count && stop_signal() == 0; i++) {
        const char *path = many->each[i].name;
        if (!(is_index_file(path) ? add_index : add_other)(indexing, path)) return false;
    }
    return stop_signal() == 0;
}

/* ---- what came out --------------------------------------------------------------------------- */

/* Finds the lowest and the highest current false-positive rate of the filters. */
static void find_rates(const petal_index *index, uint64_t filters, double *lowest, double *highest)
{
    *lowest = 1;
    *highest = 0;
    for (uint64_t i = 0; i < filters; i++) {
        petal_info info = PETAL_INFO_INIT;
        petal_index_get_filter_info(index, i, &info, NULL);
        double rate = petal_predict_rate(&info, info.items);
        if (rate < *lowest) *lowest = rate;
        if (rate > *highest) *highest = rate;
    }
}

static void summarise(const struct indexing *indexing)
{
    petal_index_info info = PETAL_INDEX_INFO_INIT;
    double lowest, highest;
    if (!is_verbose(indexing->args)) return;
    petal_index_get_info(indexing->index, &info, NULL);
    find_rates(indexing->index, info.filters, &lowest, &highest);
    remark(indexing->args->output,
           "%s filter%s of %" PRIu32 " size%s, %s bytes (alone they have %s), false positives "
           "from %s to %s",
           grouped(info.filters).s, plural(info.filters), info.groups, plural(info.groups),
           grouped(info.bytes).s, grouped(info.filter_bytes).s, rate_text(lowest, 3).s,
           rate_text(highest, 3).s);
}

/* ---- command --------------------------------------------------------------------------------- */

/* Returns true if the file to be replaced is also read. In this case, no other process may replace
 * the file until this command has replaced it. */
static bool reads_output(const struct many *many, const struct args *args)
{
    for (size_t i = 0; i < many->count; i++)
        if (is_same_file(many->each[i].name, args->output)) return true;
    return false;
}

static bool make_index(struct indexing *indexing, const struct many *many)
{
    petal_index_options options = PETAL_INDEX_OPTIONS_INIT;
    petal_error error;
    options.scheme = indexing->request.options.scheme;
    indexing->request.options.scheme = PETAL_SCHEME_STATIC; /* collects keys */
    options.fold = indexing->args->folds;
    if (!indexing->args->no_lock && reads_output(many, indexing->args))
        options.locked_path = indexing->args->output;
    if (petal_index_create(&options, &indexing->index, &error) != PETAL_OK)
        return complain(options.locked_path, "%s", error.message);
    if (!add_all(indexing, many)) return false;
    if (indexing->dropped < indexing->args->literal_count)
        return complain("--drop", "no index has a filter of %s name",
                        indexing->dropped ? "each" : "that");
    return save_index(indexing->index, indexing->args->output, indexing->args);
}

static int run(const struct args *args)
{
    struct indexing indexing = {.args = args};
    struct many many = {.args = args};
    if (!args->output) return misused("index", "needs -o FILE");
    if (args->operand_count == 0) return misused("index", "needs filters, or files with --keys");
    if (!args->of_keys && (args->rate > 0 || args->scheme || args->seed))
        return misused("index", "-p, --scheme and --seed are for filters of --keys");
    if (args->of_keys && args->folds)
        return misused("index", "--fold is for filters that exist; leave it out");
    if (!may_write(args->output, args->force)) return STATUS_ERROR;
    catch_stop_signals();
    bool made = request_read(&indexing.request, "index", args, 0, true) && many_list(&many, args) &&
                make_index(&indexing, &many);
    if (made) summarise(&indexing);
    petal_index_free(indexing.index);
    many_close(&many);
    request_free(&indexing.request);
    if (!made && stop_signal()) return STATUS_SIGNAL + stop_signal();
    return made ? STATUS_OK : STATUS_ERROR;
}

static const struct option options[] = {
    {'o', "output", TEXT, AT(output), "FILE", "the index to write"},
    {0, "keys", FLAG, AT(of_keys), NULL, "the files have keys: make a filter of each"},
    {'p', "rate", RATE, AT(rate), "RATE", "false positives of each filter [1%]"},
    {0, "fold", FLAG, AT(folds), NULL, "fold filters to common sizes that keep their rates"},
    {0, "drop", LITERAL, 0, "NAME", "leave out a filter of an index; may be repeated"},
    OPTION_SCHEME_OF_BITS,
    OPTIONS_OF_HASH,
    OPTIONS_OF_KEYS,
    OPTIONS_OF_RULE,
    OPTION_THREADS,
    OPTION_FROM,
    OPTION_NO_VERIFY,
    OPTION_MEMORY_LIMIT,
    OPTION_FORCE,
    OPTION_NO_LOCK,
    OPTION_VERBOSE,
    END_OF_OPTIONS,
};

const struct command index_command = {
    .name = "index",
    .summary = "one file of many filters, which petal which queries at once",
    .usage = "-o FILE FILTER... [--fold] [--drop NAME]\n"
             "       petal index -o FILE --keys [-p RATE] KEYS...",
    .about = "Writes one file with many filters by name, or with a filter for each file of\n"
             "keys. FILTER and KEYS may be indexes, whose filters are added, or @LIST: a file\n"
             "that names one per line.",
    .options = options,
    .example = "example: petal index -o logs.petals --keys -z --words logs/*.gz",
    .run = run,
};
