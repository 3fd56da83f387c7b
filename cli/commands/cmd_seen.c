/* cmd_seen.c - petal seen: prints the lines of a stream that have not been seen before, like awk
 * '!s[$0]++' but in bounded memory. */
#define _POSIX_C_SOURCE 200809L
#define _DARWIN_C_SOURCE /* _SC_PHYS_PAGES */

#include "commands/commands.h"
#include "commands/summary.h"
#include "files/files.h"
#include "files/paths.h"
#include "files/request.h"
#include "keys/delivered_keys.h"
#include "keys/drop_estimate.h"
#include "keys/keys.h"
#include "keys/layers.h"
#include "keys/pipeline.h"
#include "keys/selection.h"
#include "output/numbers.h"
#include "output/progress.h"
#include "output/report.h"
#include "output/signals.h"

#include <math.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* The capacity of the first layer (1.8 MiB) or of a time window, if the number of lines is
 * unknown. */
#define FIRST_CAPACITY 1000000u
#define WINDOW_CAPACITY 10000000u

struct seen {
    const struct args *args;
    petal_filter *filter; /* decides what is new */
    petal_filter *kept;   /* FILE's filter: `filter` itself or its follower; NULL without -f */
    struct delivery delivery;
    petal_info start; /* state before the first key */
    petal_layers_info window;
    petal_stats stats;
    struct drops drops;              /* if is_verbose() */
    uint64_t read, fresh, skipped;   /* rows */
    uint64_t fresh_keys;             /* equal to `fresh` if each row is one key */
    bool passed;                     /* the capacity */
    bool full;                       /* the filter could not grow (already reported) */
    const struct key_block *refused; /* the block containing the keys that the filter refused */
    uint64_t clock;                  /* the clock of `filter`, if rows have times */
    struct lateness late;
    bool has_rule; /* each row has several keys */
    bool by_hash;  /* any thread may hash keys ahead of adding them */
};

static const char *shown_name(const struct seen *seen)
{
    return seen->args->file ? seen->args->file : "seen";
}

/* Explains what the rate applies to. With --min, a line may be dropped even though some of its keys
 * are new, so the number of wrongly dropped lines depends on the data. */
static const char *lost(const struct args *args)
{
    return args->share > 0 && args->share < 1 ? "keys count as seen" : "lines are dropped";
}

/* Warns as soon as the time window is overfull, because a stream may run for days. */
static void watch_window(struct seen *seen)
{
    if (seen->passed || !petal_is_overfull(seen->filter)) return;
    seen->passed = true;
    remark(
        shown_name(seen),
        "the window holds more keys than planned (%s), so it may be that more than %s of new %s; plan with a larger -n",
        grouped(seen->window.window_keys).s, asked_rate(seen->start.target_rate).s,
        lost(seen->args));
}

static void watch_capacity(struct seen *seen)
{
    if (seen->start.policy == PETAL_POLICY_WINDOW_TIME) watch_window(seen);
    uint64_t capacity = seen->start.capacity;
    if (seen->passed || !capacity || seen->start.policy != PETAL_POLICY_NONE ||
        seen->stats.estimated_items.value + (double)seen->fresh_keys <= (double)capacity)
        return;
    double rate = petal_predict_rate(&seen->start, capacity);
    seen->passed = true;
    remark(shown_name(seen),
           "holds %s keys, as many as planned; from here on more%s%s of new %s; plan a larger one",
           rounded((double)capacity).s, isnan(rate) ? "" : " than ",
           isnan(rate) ? "" : rate_text(rate, 2).s, lost(seen->args));
}

/* ---- the stages of a block: pipeline.h ------------------------------------------------------- */

static void hash_block(void *context, struct key_block *block)
{
    const struct seen *seen = context;
    if (seen->by_hash) hash_keys(seen->filter, block->keys, block->count, block->hashes);
}

static petal_status add_keys_of(struct seen *seen, struct key_block *block, size_t *fresh)
{
    if (seen->by_hash)
        return add_hashes(seen->filter, block->hashes, block->count, block->results, fresh);
    if (!(seen->start.abilities & PETAL_CAN_EMPTY_KEY))
        return add_but_empty(seen->filter, block, block->results, fresh, &seen->skipped);
    return add_some_keys(seen->filter, block->keys, block->count, block->results, fresh);
}

/* Returns the number of rows, starting at the given one, that are added at the same clock time,
 * because none of them is later than the filter's clock. */
static size_t begin_part(struct seen *seen, const struct key_block *block, size_t from)
{
    size_t left = block->count - from;
    if (!seen->args->time_field) return left;
    size_t run = begin_run(seen->filter, block->times + from, left, &seen->clock);
    note_lateness(&seen->late, block->times + from, run, seen->clock, seen->window.window_ms);
    return run;
}

/* Adds the block in parts. All rows of a part are added at the same time on the filter's clock, and
 * each part is small enough for the false-positive rate to be tracked. */
static petal_status add_parts_of(struct seen *seen, struct key_block *block)
{
    bool talks = is_verbose(seen->args);
    size_t fresh, stretch = talks ? drops_stretch(&seen->drops) : block->count;
    petal_status status = PETAL_OK;
    for (size_t from = 0, run = 0; from < block->count && status >= 0;) {
        struct key_block part = *block;
        if (run == 0) run = begin_part(seen, block, from);
        part.count = run < stretch ? run : stretch;
        part.keys += from;
        part.hashes += from;
        part.results += from;
        fresh = 0;
        status = add_keys_of(seen, &part, &fresh);
        seen->fresh += fresh;
        seen->fresh_keys += fresh;
        if (talks) drops_note(&seen->drops, seen->filter, fresh);
        from += part.count;
        run -= part.count;
    }
    return status;
}

/* True if the share of the row's keys that are in the filter is at least --min. */
static bool is_seen(const struct seen *seen, struct key_run *run, size_t row)
{
    uint64_t found = 0, all = 0;
    for (run_begin(run, row, 1); run_next(run); all += run->count)
        found += look_up_keys(seen->filter, run->keys, run->count, run->results);
    return is_enough(found, all, seen->args->share);
}

/* Adds rows with several keys. Whether a row is new depends on the rows before it. */
static petal_status add_runs_of(struct seen *seen, struct key_block *block)
{
    struct key_run *run = block->run;
    petal_status status = PETAL_OK;
    for (size_t row = 0, same = 0; row < block->count && status >= 0; row++, same--) {
        if (same == 0) same = begin_part(seen, block, row);
        block->results[row] = !is_seen(seen, run, row);
        if (!block->results[row]) continue;
        for (run_begin(run, row, 1); status >= 0 && run_next(run);) {
            size_t fresh = 0;
            status = add_some_keys(seen->filter, run->keys, run->count, NULL, &fresh);
            seen->fresh_keys += fresh;
        }
        if (status < 0) block->results[row] = seen->args->repeated; /* not printed */
        seen->fresh += status >= 0;
    }
    return status;
}

/* Adding fails only if the filter can't grow. The lines before the failure are in the filter, so
 * they are printed; the lines after it are neither added nor printed. */
static bool add_block(void *context, struct key_block *block)
{
    struct seen *seen = context;
    if (block->count) memset(block->results, seen->args->repeated, block->count);
    if (!seen->args->time_field) tell_time(seen->filter, seen->args);
    petal_status status = seen->has_rule ? add_runs_of(seen, block) : add_parts_of(seen, block);
    seen->read += block->count;
    watch_capacity(seen);
    seen->full = status < 0;
    if (seen->full) seen->refused = block;
    return status >= 0 || complain_of_change(shown_name(seen), seen->filter, status,
                                             "the new lines after this are not passed on");
}

static void compose_block(void *context, struct key_block *block)
{
    const struct seen *seen = context;
    select_rows(block, !seen->args->repeated, !seen->args->repeated);
}

static bool follows(const struct seen *seen)
{
    return seen->kept && seen->kept != seen->filter;
}

static bool print_block(void *context, struct key_block *block)
{
    struct seen *seen = context;
    if (!follows(seen)) return print_selection(block);
    if (block != seen->refused) return delivery_print(&seen->delivery, block);
    /* Since the program can't tell which of the block's keys were added, it prints all of the
     * block's lines again. */
    return write_output(block->output.data, block->output.size_bytes, &seen->delivery.written);
}

static const struct stages stages = {hash_block, add_block, compose_block, print_block};

/* ---- the closing message --------------------------------------------------------------------- */

static void say_result(struct seen *seen)
{
    uint64_t repeats = seen->read - seen->fresh - seen->skipped;
    char doubt[96] = "";
    char late[128] = "";
    say_skipped(shown_name(seen), seen->filter, seen->skipped);
    warn_of_lateness(seen->args->file, &seen->late, seen->window.window_ms);
    if (!is_verbose(seen->args)) return;
    double drops = seen->has_rule ? 0 : drops_end(&seen->drops, seen->filter);
    if (isnan(drops) && repeats > 0)
        snprintf(doubt, sizeof doubt,
                 " (the filter is too full to tell how many of these are new)");
    if (drops >= 0.5)
        snprintf(doubt, sizeof doubt, " (about %s of these may be new)", rounded(drops).s);
    if (seen->late.rows)
        snprintf(late, sizeof late, "; %s late, by up to %s", grouped(seen->late.rows).s,
                 span_text(seen->late.most_ms).s);
    remark(seen->args->file, "%s read, %s new, %s repeat%s%s%s", grouped(seen->read).s,
           grouped(seen->fresh).s, grouped(repeats).s, plural(repeats), doubt, late);
}

/* ---- the filter ------------------------------------------------------------------------------ */

/* Describes a new filter for an unknown number of lines. */
static void say_plan(const petal_filter *filter, const struct args *args)
{
    petal_info info = info_of(filter);
    bool grows = info.policy == PETAL_POLICY_GROWING;
    remark(NULL, "%s; at most %s of new %s",
           grows ? "no -n: the filter grows as needed" : policy_text(filter).s,
           asked_rate(info.target_rate).s, lost(args));
}

static bool request_filter(struct request *request, const struct args *args)
{
    struct args wanted = *args;
    wanted.grow = !args->capacity && !args->memory_bytes && !args->window;
    return request_read(request, "seen", &wanted, wanted.grow ? FIRST_CAPACITY : WINDOW_CAPACITY,
                        false);
}

static petal_filter *make_filter(const struct args *args)
{
    struct request request;
    petal_filter *filter = request_filter(&request, args) ? create_filter(&request.options) : NULL;
    bool sized = args->capacity || args->memory_bytes;
    if (filter && !args->time_field) tell_time(filter, args);
    if (filter && (!sized || args->window) && is_verbose(args)) say_plan(filter, args);
    request_free(&request);
    return filter;
}

/* Writes a new FILE immediately, so that users learn of a failure before the stream is read, not
 * afterwards. If two processes create the same FILE, both then try to lock it, and only one
 * succeeds. */
static bool make_file(const struct args *args)
{
    petal_filter *filter = may_write(args->file, true) ? make_filter(args) : NULL;
    bool made = filter && publish_filter(filter, args->file, args);
    petal_free(filter);
    return made;
}

/* ---- options for an existing FILE ------------------------------------------------------------ */

/* True if these options would create a filter of this size. Used for options that can't be compared
 * individually with the file. */
static bool is_planned_size(const struct args *args, const petal_info *info)
{
    struct request request;
    petal_info plan = PETAL_INFO_INIT;
    bool same = request_filter(&request, args) &&
                petal_plan(&request.options, &plan, NULL, NULL) == PETAL_OK &&
                plan.bits == info->bits;
    request_free(&request);
    return same;
}

static bool has_window(const char *text, const petal_layers_info *window)
{
    uint64_t keys = 0, ms = 0;
    struct why why;
    if (!parse_window(text, &keys, &ms, &why)) return false;
    return window->window_ms == ms && (ms || window->window_keys == keys);
}

static bool is_window_of_time(const char *text)
{
    uint64_t keys = 0, ms = 0;
    struct why why;
    return text && (!parse_window(text, &keys, &ms, &why) || ms > 0); /* reported elsewhere */
}

static bool has_scheme(const char *name, const petal_info *info)
{
    return strcmp(name, info->scheme_name) == 0;
}

static bool has_seed(const char *text, const petal_info *info)
{
    uint64_t seed;
    struct why why;
    return !info->keyed && parse_u64(text, &seed, &why) && seed == info->seed;
}

static bool refuse(const char *path, const char *option, const char *value, const char *what)
{
    char text[128];
    snprintf(text, sizeof text, "%s %.60s", option, value);
    return complain(path, "already exists and %s, not %s; drop the option or name a new file", what,
                    text);
}

/* An existing FILE keeps its parameters, so options for size and kind must agree with them. Returns
 * false after reporting an error. */
static bool agrees_with_file(const struct seen *seen)
{
    const struct args *args = seen->args;
    const petal_info *info = &seen->start;
    const char *path = args->file;
    char what[96];
    snprintf(what, sizeof what,
             info->policy == PETAL_POLICY_GROWING ? "grows"
             : info->capacity                     ? "is for %s keys"
                                                  : "records no number of keys",
             grouped(info->capacity).s);
    bool grows = info->policy == PETAL_POLICY_GROWING;
    if (args->capacity && (grows || args->capacity != info->capacity))
        return refuse(path, "-n", grouped(args->capacity).s, what);
    snprintf(what, sizeof what, isnan(info->target_rate) ? "records no rate" : "has a rate of %s",
             asked_rate(info->target_rate).s);
    if (args->rate > 0 && !(args->rate == info->target_rate))
        return refuse(path, "-p", asked_rate(args->rate).s, what);
    snprintf(what, sizeof what, "takes %s bytes", grouped(info->bytes).s);
    if (args->memory_bytes && !is_planned_size(args, info))
        return refuse(path, "--memory", grouped(args->memory_bytes).s, what);
    if (args->window && !has_window(args->window, &seen->window))
        return refuse(path, "--window", args->window,
                      info->policy == PETAL_POLICY_NONE || grows ? "never forgets"
                                                                 : "has another window");
    snprintf(what, sizeof what, "is %s", info->scheme_name);
    if (args->scheme && !has_scheme(args->scheme, info))
        return refuse(path, "--scheme", args->scheme, what);
    if (args->seed && !has_seed(args->seed, info))
        return refuse(path, "--seed", args->seed, "has another seed");
    /* A counting filter would count every repeat until its counters saturate. */
    return !info->counter_bits ||
           complain(
               path,
               "is a counting filter, which would count every repeat; use petal add and check");
}

/* ---- the filter that is saved ---------------------------------------------------------------- */

/* True if two filters of this size use at most half of the machine's memory. */
static bool is_affordable(uint64_t bytes)
{
    uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    return bytes < memory / 4;
}

/* If the program can find out which output was delivered, a copy of FILE's filter decides what is
 * new, and FILE's filter follows it (delivered_keys.h). If the program can't find out, a failed
 * write discards all keys of this run. With -d, lines are printed only when they repeat, so all
 * keys are kept. */
static void choose_kept(struct seen *seen)
{
    petal_filter *copy;
    const struct args *args = seen->args;
    if (args->repeated || !seen->by_hash || !is_affordable(seen->start.bytes) ||
        !delivery_is_known())
        return;
    if (petal_clone(seen->kept, &copy, NULL) != PETAL_OK) return;
    seen->filter = copy;
    seen->delivery = (struct delivery){.args = args, .follower = seen->kept, .clock = seen->clock};
}

static bool find_filter(struct seen *seen, struct key_reader *reader)
{
    const struct args *args = seen->args;
    bool there = args->file && access(args->file, F_OK) == 0;
    if (args->time_field && !there && !is_window_of_time(args->window))
        return misused("seen", "--time-field is for a window of time; give --window 7d or so") ==
               STATUS_OK;
    if (there && !may_write(args->file, true)) return false;
    if (!args->file)
        seen->filter = make_filter(args);
    else if (there || make_file(args))
        seen->filter = seen->kept =
            open_filter(args->file, PETAL_OPEN_LOAD | PETAL_OPEN_LOCKED, args);
    if (!seen->filter) return false;
    seen->start = info_of(seen->filter);
    seen->stats = stats_of(seen->filter);
    seen->has_rule = reader->rows.rule.unit != UNIT_ROW;
    seen->by_hash = can(seen->filter, PETAL_CAN_HASHES) && !seen->has_rule;
    seen->window = layers_info_of(seen->filter, PETAL_ALL_LAYERS);
    seen->clock = seen->window.clock_ms;
    if (args->file && !agrees_with_file(seen)) return false;
    if (!agrees_with_time(args->file, &seen->start, args, reader->regular_file)) return false;
    if (args->file && !keys_use_type_of(reader, args, args->file, seen->filter)) return false;
    reader->hint_at_crlf = reader->hint_at_crlf && args->file;
    if (seen->kept) choose_kept(seen);
    return true;
}

static bool all_was_delivered(void)
{
    wait_for_reader();
    return flush_output() && (!output_has_no_reader() || unread_output() == 0);
}

/* Returns false after reporting an error. */
static bool keep(struct seen *seen)
{
    bool following = follows(seen),
         all = following ? delivery_end(&seen->delivery) : all_was_delivered();
    bool changed =
        following ? seen->delivery.delivered > 0 : seen->read > 0 && (all || seen->args->repeated);
    if (!changed) return !seen->delivery.failed;
    if (!sync_output()) return false; /* don't record lines that a power failure would lose */
    return replace_file(seen->kept, seen->args->file, seen->args) && !seen->delivery.failed;
}

/* ---- command --------------------------------------------------------------------------------- */

static int stream(struct seen *seen, struct key_reader *reader)
{
    const struct args *args = seen->args;
    reader->watch_output = true;
    reader->fate = args->repeated ? "left out" : "passed on";
    progress_start(args->progress, true);
    run_pipeline(reader, &stages, seen);
    progress_hide();
    bool saved = !args->file || keep(seen);
    say_result(seen);
    if (!saved || reader->failed || seen->full) return STATUS_ERROR;
    return stop_signal() ? STATUS_SIGNAL + stop_signal() : STATUS_OK;
}

static int run(const struct args *args)
{
    struct key_reader reader;
    struct seen seen = {.args = args};
    int status = STATUS_ERROR;
    if (lacks_rule("seen", args)) return STATUS_ERROR;
    if (args->file && !is_file_of_its_own(args->file, args)) return STATUS_ERROR;
    if (!keys_open(&reader, args, args->operands, args->operand_count, false)) return STATUS_ERROR;
    catch_stop_signals();
    /* so that a closed pipe causes a failed write, and the filter is still saved */
    signal(SIGPIPE, SIG_IGN);
    if ((!args->file || differs_from_inputs(args->file, args->operands, args->operand_count)) &&
        find_filter(&seen, &reader)) {
        if (is_verbose(args)) drops_begin(&seen.drops, seen.filter, &seen.start, &seen.stats);
        status = stream(&seen, &reader);
    }
    keys_close(&reader);
    if (follows(&seen)) petal_free(seen.kept);
    petal_free(seen.filter);
    return status;
}

static const struct option options[] = {
    {'f', "file", TEXT, AT(file), "FILE", "remember in FILE: made if absent, saved at the end"},
    {'d', "repeated", FLAG, AT(repeated), NULL, "print the repeats instead"},
    OPTION_CAPACITY,
    OPTION_RATE,
    OPTION_MEMORY,
    OPTION_SCHEME_OF_BITS,
    OPTION_WINDOW,
    OPTION_TIME,
    OPTION_NOW,
    OPTIONS_OF_HASH,
    OPTION_KEY,
    OPTIONS_OF_KEYS,
    OPTIONS_OF_RULE,
    OPTION_MIN,
    OPTION_THREADS,
    OPTION_FROM,
    OPTION_MEMORY_LIMIT,
    OPTION_NO_LOCK,
    OPTION_VERBOSE,
    END_OF_OPTIONS,
};

const struct command seen_command = {
    .name = "seen",
    .summary = "pass on only the lines not seen before",
    .usage = "[-f FILE] [-d] [-n KEYS | --window WINDOW] [-p RATE] [KEYS...]",
    .about = "Prints lines not seen before. At most RATE of the new lines are dropped by\n"
             "mistake. Without -n the filter grows. -n, -p and so on apply only when FILE is\n"
             "created.",
    .options = options,
    .example = "example: petal seen -f crawl.petal -n 50M < links > fresh",
    .run = run,
};
