/* cmd_verify.c - petal verify: checks whether the file is intact and whether known members are
 * found, and measures how often absent keys are reported as present. */
#include "commands/commands.h"
#include "files/files.h"
#include "files/formats.h"
#include "keys/keys.h"
#include "keys/pipeline.h"
#include "output/filter_info.h"
#include "output/json.h"
#include "output/numbers.h"
#include "output/progress.h"
#include "output/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The counts for one list of keys. */
struct tally {
    uint64_t keys, found;
    char missing[96]; /* position of the first key that was not found */
};

/* The share of keys found, with its 95 % Wilson score interval (1927), which is accurate even for
 * small counts. */
struct measured {
    double rate, low, high;
};

static struct measured measure(const struct tally *tally)
{
    const double z = 1.959964;
    double n = (double)tally->keys, rate = (double)tally->found / n;
    double centre = (rate + z * z / (2 * n)) / (1 + z * z / n);
    double half = z / (1 + z * z / n) * sqrt(rate * (1 - rate) / n + z * z / (4 * n * n));
    return (struct measured){rate, tally->found == 0 ? 0 : centre - half,
                             tally->found == tally->keys ? 1 : centre + half};
}

/* ---- key lists ------------------------------------------------------------------------------- */

struct look_up {
    const petal_filter *filter;
    struct tally *tally;
};

static void note_missing(struct tally *tally, const struct key_block *block)
{
    const uint8_t *first = memchr(block->results, 0, block->count);
    if (!first || tally->missing[0]) return;
    const petal_key *line = &block->lines[first - block->results];
    snprintf(tally->missing, sizeof tally->missing, "line %" PRIu64 ", \"%.*s\"%s",
             block->first_line + (uint64_t)(first - block->results),
             line->size_bytes < 40 ? (int)line->size_bytes : 40, (const char *)line->data,
             line->size_bytes > 40 ? "..." : "");
}

static void ask(void *context, struct key_block *block)
{
    const struct look_up *look_up = context;
    block->selected = look_up_keys(look_up->filter, block->keys, block->count, block->results);
}

static bool count_found(void *context, struct key_block *block)
{
    struct tally *tally = ((const struct look_up *)context)->tally;
    tally->found += block->selected;
    tally->keys += block->count;
    note_missing(tally, block);
    return true;
}

static bool look_up(const petal_filter *filter, const char *file, const struct args *args,
                    struct tally *tally)
{
    const char *path = args->operands[0]; /* with key lists there is only one */
    static const struct stages stages = {.work = ask, .enter = count_found};
    char *files[] = {(char *)(uintptr_t)file};
    struct key_reader reader;
    if (!keys_open(&reader, args, files, 1, false) ||
        !keys_use_type_of(&reader, args, path, filter))
        return false;
    progress_start(args->progress, false);
    bool whole = run_pipeline(&reader, &stages, &(struct look_up){filter, tally});
    keys_close(&reader);
    return whole && !reader.failed;
}

/* Returns the exit status. */
static int check_present(const petal_filter *filter, const char *path, const struct args *args,
                         struct json *json)
{
    struct tally tally = {0};
    if (!look_up(filter, args->present, args, &tally)) return STATUS_ERROR;
    uint64_t missing = tally.keys - tally.found;
    if (json) {
        json_count(json, "present_keys", tally.keys);
        json_count(json, "present_missing", missing);
    } else {
        printf("present: %s of %s keys found\n", grouped(tally.found).s, grouped(tally.keys).s);
    }
    if (missing == 0) return STATUS_OK;
    complain(path, "%s of %s keys missing, the first is %s of %s: not the filter of these keys",
             grouped(missing).s, grouped(tally.keys).s, tally.missing, args->present);
    return STATUS_NO;
}

static bool measure_absent(const petal_filter *filter, const struct args *args, struct json *json)
{
    struct tally tally = {0};
    if (!look_up(filter, args->absent, args, &tally)) return false;
    if (tally.keys == 0) return complain(args->absent, "has no keys; nothing was measured");
    struct measured m = measure(&tally);
    double predicted = stats_of(filter).estimated_rate;
    if (!json) {
        printf("absent: %s of %s keys pass: %s (95 %% interval %s to %s), predicted %s\n",
               grouped(tally.found).s, grouped(tally.keys).s, rate_text(m.rate, 3).s,
               rate_text(m.low, 3).s, rate_text(m.high, 3).s, rate_text(predicted, 3).s);
        return true;
    }
    json_count(json, "absent_keys", tally.keys);
    json_count(json, "absent_found", tally.found);
    json_number(json, "measured_rate", m.rate);
    json_number(json, "measured_rate_low", m.low);
    json_number(json, "measured_rate_high", m.high);
    json_number(json, "estimated_rate", predicted);
    return true;
}

/* ---- the file -------------------------------------------------------------------------------- */

/* Accepts a dirty file as it is, computes new checksums, and marks it clean. A clean file is not
 * changed. */
static bool recover(const char *path, const struct args *args, unsigned flags)
{
    petal_filter *filter =
        open_filter(path, PETAL_OPEN_WRITABLE | PETAL_OPEN_RECOVER | flags, args);
    petal_file_info file = filter ? file_info_of(filter) : PETAL_FILE_INFO_INIT;
    bool good = filter && update_file(filter, path, args, "it stays dirty");
    if (good)
        remark(path, "%s of %s blocks differ from their last checksums",
               grouped(file.recovered_blocks).s, grouped(file.compared_blocks).s);
    if (good && flags)
        remark(
            path,
            "resealed as it is; damage and additions look alike, so keys may be missing unnoticed: rebuild it from the keys if you can");
    else if (good)
        remark(path, "recovered; the keys that were added last may be missing: add them again");
    if (good && can(filter, PETAL_CAN_REMOVE))
        remark(path, "the last keys may be only partly removed; do not remove them again");
    petal_free(filter);
    return good;
}

static petal_status status_of(const char *path)
{
    petal_filter *filter;
    petal_status status = petal_open(path, NULL, &filter, NULL);
    petal_free(filter);
    return status;
}

/* Handles a clean file whose blocks don't match their checksums. */
static bool has_damaged_bits(const char *path, const struct args *args)
{
    petal_filter *filter = open_filter(path, PETAL_OPEN_MAP, args);
    bool is_damaged = filter && petal_verify(filter, NULL) == PETAL_ERR_DAMAGED;
    petal_free(filter);
    return is_damaged;
}

static bool needs_recovery(const char *path, const struct args *args, unsigned *flags)
{
    petal_status status = args->recover ? status_of(path) : PETAL_ERR_ARGUMENT;
    bool opens = status == PETAL_OK || status == PETAL_ERR_SECRET_MISSING;
    bool reseals = args->force && opens && has_damaged_bits(path, args);
    *flags = reseals ? PETAL_OPEN_RESEAL : 0;
    return reseals || status == PETAL_ERR_DIRTY;
}

/* Damage is a result, not an error. Failing to check or recover the file is an error. */
static int status_of_failure(const struct args *args)
{
    bool stays_dirty = args->recover && last_failure() == PETAL_ERR_DIRTY;
    return is_broken(last_failure()) && !stays_dirty ? STATUS_NO : STATUS_ERROR;
}

static int check_blocks(const petal_filter *filter, const char *path, const struct args *args)
{
    petal_error error;
    progress_begin("verifying", path);
    petal_status status = petal_verify(filter, &error);
    progress_end();
    if (status >= 0) return STATUS_OK;
    complain_of(path, &error);
    return status_of_failure(args);
}

static int worse(int a, int b)
{
    return a > b ? a : b;
}

static void say_intact(const char *path, const petal_filter *filter)
{
    const char *format = file_format_of(filter);
    uint64_t content_id = 0;
    if (!is_petal(format)) {
        printf("%s: looks like a valid %s file; this format has no checksums\n", path, format);
        return;
    }
    petal_content_id(filter, &content_id, NULL); /* recorded in the file */
    printf("%s: intact, content id %016" PRIx64 "\n", path, content_id);
}

/* Returns the exit status. */
static int verify_index(const char *path, const struct args *args)
{
    petal_index_info info = PETAL_INDEX_INFO_INIT;
    struct json json;
    petal_error error;
    petal_index *index = open_index(path, args);
    if (!index) return status_of_failure(args);
    progress_begin("verifying", path);
    petal_status status = petal_index_verify(index, &error);
    progress_end();
    petal_index_get_info(index, &info, NULL);
    petal_index_free(index);
    if (status != PETAL_OK) complain_of(path, &error);
    if (args->json) {
        json_begin(&json, stdout);
        json_text(&json, "file", path);
        json_bool(&json, "intact", status == PETAL_OK);
        json_end(&json);
    } else if (status == PETAL_OK) {
        printf("%s: intact, an index of %s filter%s\n", path, grouped(info.filters).s,
               plural(info.filters));
    }
    return status == PETAL_OK ? STATUS_OK : status_of_failure(args);
}

/* Returns the exit status. */
static int verify(const char *path, const struct args *args)
{
    struct json json, *to = args->json ? &json : NULL;
    unsigned flags;
    forget_failure();
    if (is_index_file(path)) {
        if (!args->present && !args->absent && !args->recover) return verify_index(path, args);
        complain(path, "is an index, which takes no --present, --absent and --recover; petal which "
                       "queries it");
        return STATUS_ERROR;
    }
    if (needs_recovery(path, args, &flags) && !recover(path, args, flags)) return STATUS_ERROR;
    petal_filter *filter = open_filter(path, PETAL_OPEN_MAP, args);
    if (!filter) return status_of_failure(args);
    int status = check_blocks(filter, path, args);
    bool intact = status == STATUS_OK;
    if (to) {
        json_begin(to, stdout);
        json_text(to, "file", path);
        json_bool(to, "intact", intact);
    } else if (intact) {
        say_intact(path, filter);
    }
    if (intact && args->present) status = check_present(filter, path, args, to);
    if (intact && args->absent && !measure_absent(filter, args, to)) status = STATUS_ERROR;
    if (to) json_end(to);
    petal_free(filter);
    return status;
}

static int run(const struct args *args)
{
    int status = STATUS_OK;
    if (args->operand_count == 0) return misused("verify", "needs a filter FILE");
    if (args->force && !args->recover)
        return misused("verify", "--force goes with --recover: it seals a damaged file as it is");
    if (args->operand_count > 1 && (args->present || args->absent))
        return misused("verify", "--present and --absent take one FILE");
    for (size_t i = 0; i < args->operand_count; i++)
        status = worse(status, verify(args->operands[i], args));
    return status;
}

static const struct option options[] = {
    {0, "present", TEXT, AT(present), "KEYS", "keys that were added: none may be missing"},
    {0, "absent", TEXT, AT(absent), "KEYS", "keys that were not: prints how many pass"},
    {0, "recover", FLAG, AT(recover), NULL, "make a dirty file clean, with the keys it has"},
    {0, "force", FLAG, AT(force), NULL, "a damaged one too: keys may be missing"},
    OPTION_JSON,
    OPTIONS_OF_KEYS,
    OPTION_SECRET_FILE,
    OPTION_FROM,
    OPTION_MEMORY_LIMIT,
    OPTION_NO_LOCK,
    END_OF_OPTIONS,
};

const struct command verify_command = {
    .name = "verify",
    .summary = "check a file's checksums, and its answers",
    .usage = "FILE... [--present KEYS] [--absent KEYS] [--recover]",
    .about = "Compares every block of FILE with its checksum. With key lists (files, or - for\n"
             "standard input) also queries keys whose answer is known. Status 1: FILE is not\n"
             "whole, or a key is missing.",
    .options = options,
    .example = "example: petal verify urls.petal --present urls.txt --absent others.txt",
    .run = run,
};
