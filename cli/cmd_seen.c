/* cmd_seen.c - petal seen: of a stream, only the lines that were not seen before. Like awk '!s[$0]++', in bounded memory. */
#define _POSIX_C_SOURCE 200809L

#include "commands.h"
#include "drops.h"
#include "files.h"
#include "keys.h"
#include "layers.h"
#include "numbers.h"
#include "pipeline.h"
#include "progress.h"
#include "report.h"
#include "request.h"
#include "selection.h"
#include "signals.h"
#include "summary.h"

#include <math.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* Of the first layer, where the number of lines is open: 1.8 MiB. By time, of a window. */
#define FIRST_CAPACITY 1000000u
#define WINDOW_CAPACITY 10000000u

struct seen {
    const struct args *args;
    petal_filter *filter;
    const char *format; /* of FILE */
    petal_info start;   /* before the first key */
    struct drops drops; /* where talk is wanted */
    uint64_t read, fresh;
    bool passed;  /* the capacity */
    bool full;    /* the filter could not grow, which was reported */
    bool by_hash; /* hashing is any thread's work, ahead of the adding */
};

static const char *shown_name(const struct seen *seen)
{
    return seen->args->file ? seen->args->file : "seen";
}

/* Said at once, since a stream may go on for days. */
static void watch_window(struct seen *seen)
{
    if (seen->passed || !petal_is_overfull(seen->filter)) return;
    seen->passed = true;
    remark(shown_name(seen),
           "the window holds more keys than planned (%s); from here on more than %s of new lines may be dropped; plan with "
           "a larger -n",
           grouped(seen->start.window_keys).s, asked_rate(seen->start.target_rate).s);
}

static void watch_capacity(struct seen *seen)
{
    if (seen->start.policy == PETAL_POLICY_TIME) watch_window(seen);
    uint64_t capacity = seen->start.capacity;
    if (seen->passed || !capacity || seen->start.policy != PETAL_POLICY_NONE ||
        seen->start.estimated_items + (double)seen->fresh <= (double)capacity)
        return;
    double rate = petal_predict_rate(&seen->start, capacity);
    seen->passed = true;
    remark(shown_name(seen),
           "holds %s keys, as many as planned; from here on more than %s of new lines are dropped; plan a larger one",
           rounded((double)capacity).s, rate_text(rate, 2).s);
}

/* ---- what is done with a block: pipeline.h ------------------------------------------------------------------------------ */

static void hash_block(void *context, struct key_block *block)
{
    const struct seen *seen = context;
    if (seen->by_hash) petal_hash_keys(seen->filter, block->keys, block->count, block->hashes);
}

static petal_status add_keys_of(struct seen *seen, struct key_block *block, size_t *fresh)
{
    if (seen->by_hash) return petal_add_hashes(seen->filter, block->hashes, block->count, block->results, fresh);
    return petal_add_many(seen->filter, block->keys, block->count, block->results, fresh);
}

/* In parts that are small enough to follow the rate. */
static petal_status add_parts_of(struct seen *seen, struct key_block *block)
{
    bool talks = wants_talk(seen->args);
    size_t fresh, stretch = talks ? drops_stretch(&seen->drops) : block->count;
    petal_status status = PETAL_OK;
    for (size_t from = 0; from < block->count && status >= 0; from += stretch) {
        struct key_block part = *block;
        size_t left = block->count - from;
        part.count = left < stretch ? left : stretch;
        part.keys += from;
        part.hashes += from;
        part.results += from;
        fresh = 0;
        status = add_keys_of(seen, &part, &fresh);
        seen->fresh += fresh;
        if (talks) drops_note(&seen->drops, seen->filter, fresh);
        if (left <= stretch) break;
    }
    return status;
}

/* Adding fails only where a filter cannot grow. The lines before that are remembered, and so they are passed on; the others are
 * neither. */
static bool add_block(void *context, struct key_block *block)
{
    struct seen *seen = context;
    memset(block->results, seen->args->repeated, block->count);
    tell_time(seen->filter, seen->args);
    petal_status status = add_parts_of(seen, block);
    seen->read += block->count;
    watch_capacity(seen);
    seen->full = status < 0;
    return status >= 0 || complain(shown_name(seen), "cannot grow any more (%s); the new lines from here on are lost",
                                   petal_status_name(status));
}

static void compose_block(void *context, struct key_block *block)
{
    const struct seen *seen = context;
    select_lines(block, !seen->args->repeated);
}

static bool print_block(void *context, struct key_block *block)
{
    (void)context;
    return print_selection(block);
}

static const struct stages stages = {hash_block, add_block, compose_block, print_block};

/* ---- the last word --------------------------------------------------------------------------------------------------- */

static void say_result(struct seen *seen)
{
    uint64_t repeats = seen->read - seen->fresh;
    char doubt[96] = "";
    if (!wants_talk(seen->args)) return;
    double drops = drops_end(&seen->drops, seen->filter);
    if (drops >= 0.5) snprintf(doubt, sizeof doubt, " (about %s of these may be new)", rounded(drops).s);
    remark(seen->args->file, "%s read, %s new, %s repeat%s%s", grouped(seen->read).s, grouped(seen->fresh).s,
           grouped(repeats).s, plural(repeats), doubt);
}

/* ---- the filter ------------------------------------------------------------------------------------------------------ */

/* How it will be with a new filter, where the user has not said how many lines there are. */
static void say_plan(const petal_filter *filter)
{
    petal_info info = info_of(filter);
    remark(NULL, "%s; at most %s of new lines are dropped", policy_text(&info).s, asked_rate(info.target_rate).s);
}

/* A new FILE is written at once: better to learn before the stream than after it that it cannot be. */
static petal_filter *make_filter(const struct args *args)
{
    struct request request;
    struct args wanted = *args;
    petal_filter *filter = NULL;
    wanted.grow = !args->capacity && !args->memory_bytes && !args->window;
    uint64_t capacity = wanted.grow ? FIRST_CAPACITY : WINDOW_CAPACITY;
    if (request_read(&request, "seen", &wanted, capacity, false)) filter = create_filter(&request.options);
    if (filter) tell_time(filter, args);
    if (filter && args->file && !save_filter(filter, args->file, NULL, false)) {
        petal_free(filter);
        filter = NULL;
    }
    if (filter && (wanted.grow || args->window) && wants_talk(args)) say_plan(filter);
    request_free(&request);
    return filter;
}

static petal_filter *find_filter(const struct args *args, const char **format)
{
    bool there = args->file && access(args->file, F_OK) == 0;
    if (!there && args->file && !may_write(args->file, false)) return NULL;
    return there ? open_container(args->file, PETAL_OPEN_LOAD, args, format) : make_filter(args);
}

/* Every repeat would be counted, until the counters stick. False: reported. */
static bool suits(const struct seen *seen)
{
    return !seen->start.counter_bits ||
           complain(seen->args->file, "is a counting filter, which would count every repeat; use petal add and check");
}

/* ---- command --------------------------------------------------------------------------------------------------------- */

static int stream(struct seen *seen, struct key_reader *reader)
{
    const struct args *args = seen->args;
    reader->watch_output = true;
    progress_start(args->progress, true);
    run_pipeline(reader, &stages, seen);
    flush_output(); /* what was passed on goes out before it is remembered for good */
    progress_hide();
    bool saved = !args->file || seen->read == 0 ||
                 save_filter(seen->filter, args->file, format_to_keep(seen->filter, seen->format), true);
    say_result(seen);
    if (!saved || reader->failed || seen->full) return STATUS_ERROR;
    return stop_signal() ? STATUS_SIGNAL + stop_signal() : STATUS_OK;
}

static int run(const struct args *args)
{
    struct key_reader reader;
    struct seen seen = {.args = args};
    int status = STATUS_ERROR;
    if (args->file && !may_change(args->file, args)) return STATUS_ERROR;
    if (!keys_open(&reader, args, args->operands, args->operand_count, false)) return STATUS_ERROR;
    catch_stop_signals();
    signal(SIGPIPE, SIG_IGN); /* a reader that goes away is noticed when writing, and then there is something to save */
    if (!args->file || is_no_input(args->file, args->operands, args->operand_count))
        seen.filter = find_filter(args, &seen.format);
    if (seen.filter) {
        seen.start = info_of(seen.filter);
        seen.by_hash = petal_takes_hashes(seen.filter);
        if (wants_talk(args)) drops_begin(&seen.drops, seen.filter, &seen.start);
        status = suits(&seen) ? stream(&seen, &reader) : STATUS_ERROR;
    }
    keys_close(&reader);
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
    OPTION_NOW,
    OPTIONS_OF_HASH,
    OPTIONS_OF_KEYS,
    OPTION_THREADS,
    OPTION_FROM,
    OPTION_VERBOSE,
    END_OF_OPTIONS,
};

const struct command seen_command = {
    .name = "seen",
    .summary = "pass on only the lines not seen before",
    .usage = "[-f FILE] [-d] [-n KEYS | --window WINDOW] [-p RATE] [KEYS...]",
    .about = "Prints each line that was not seen before, and remembers it; drops a new one at\n"
             "RATE. Without -n it grows; -n and the like are for a new FILE.",
    .options = options,
    .example = "example: petal seen -f crawl.petal -n 50M < links > fresh",
    .run = run,
};
