/* cmd_info.c - petal info: describes a filter file. */
#include "commands/commands.h"
#include "files/files.h"
#include "files/formats.h"
#include "files/parquet.h"
#include "keys/layers.h"
#include "options/decode.h"
#include "output/filter_info.h"
#include "output/json.h"
#include "output/numbers.h"
#include "output/report.h"
#include "output/terminal.h"
#include "output/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { LABEL_WIDTH = 18 };

/* ---- the result of comparing checksums ------------------------------------------------------- */

enum checksums { NONE, MATCH, DIFFER, NO_KEY, CHANGING, NOT_COMPARED, OLD };

/* Returns the result of comparing the blocks with their checksums. Unless --no-verify was given,
 * computing the stats has already compared all blocks. */
static enum checksums checksums_of(const petal_filter *filter, const char *format,
                                   const petal_stats *stats)
{
    if (!is_petal(format)) return NONE;
    petal_file_info file = file_info_of(filter);
    if (file.compared_blocks) return OLD;
    if (file.live) return CHANGING;
    if (!stats) return petal_last_error(filter, NULL) == PETAL_ERR_DAMAGED ? DIFFER : NO_KEY;
    return file.verifiable && !file.verifies_on_use ? NOT_COMPARED : MATCH;
}

/* ---- for people ------------------------------------------------------------------------------ */

static void label(const char *text)
{
    printf("%-*s", LABEL_WIDTH, text);
}

static void print_kind(const petal_info *info)
{
    label("filter");
    printf("%s, %s", info->scheme_name, info->hash_name);
    if (info->keyed) printf(" with secret %08" PRIx32, info->secret_id);
    if (info->seed) printf(" with seed %" PRIu64, info->seed);
    bool is_static = info->scheme == PETAL_SCHEME_STATIC;
    printf(is_static ? ", %" PRIu32 " columns" : ", k %" PRIu32, info->hashes);
    if (info->lines_per_key == 2) printf(" in 2 lines");
    if (is_static && info->layers > 1) printf(", %" PRIu32 " layers", info->layers);
    if (!is_static && info->layers > 1)
        printf(" in the newest of %" PRIu32 " layers", info->layers);
    if (info->scheme == PETAL_SCHEME_BLOCKED)
        printf(", %s line%s of 64 bytes\n", grouped(info->bits / 512).s, plural(info->bits / 512));
    else if (info->counter_bits)
        printf(", %s counter%s of %" PRIu32 " bits\n", grouped(info->bits).s, plural(info->bits),
               info->counter_bits);
    else
        printf(", %s bit%s\n", grouped(info->bits).s, plural(info->bits));
}

static void print_size(const petal_filter *filter, const petal_info *info)
{
    uint32_t generations = layers_info_of(filter, PETAL_ALL_LAYERS).generations;
    uint64_t keys = info->capacity ? info->capacity : info->items;
    label("size");
    printf("%s bytes of %s", grouped(info->bytes).s, info->counter_bits ? "counters" : "bits");
    if (info->bytes >= 1 << 20) printf(" (%s)", size_text(info->bytes, 3).s);
    double bits = (double)info->bits * (info->counter_bits ? info->counter_bits : 1);
    if (info->policy == PETAL_POLICY_WINDOW_TIME)
        printf(", up to %s", grouped(info->bytes / info->layers * (2 * generations - 1)).s);
    else if (keys)
        printf(", %s bits per key", significant(bits / (double)keys, 3).s);
    putchar('\n');
}

static void print_key_type(const petal_info *info)
{
    if (info->key_type == PETAL_KEY_TYPE_NONE) return;
    label("key type");
    printf("%s\n", key_type_name(info->key_type));
}

static void print_keys(const petal_info *info, const petal_stats *stats)
{
    label("keys");
    bool repeats = (double)info->items > stats->estimated_items.high,
         counted = info->items != 0 || stats->bits_set == 0;
    if (!counted)
        printf("not counted");
    else
        printf(!repeats             ? "%s"
               : info->counter_bits ? "%s, with repeats"
                                    : "%s added, with repeats",
               grouped(info->items).s);
    bool window =
        info->policy == PETAL_POLICY_WINDOW_KEYS || info->policy == PETAL_POLICY_WINDOW_TIME;
    if (window)
        printf(" remembered");
    else if (info->capacity && info->scheme != PETAL_SCHEME_STATIC)
        printf(repeats ? "; %s planned" : " of %s planned", grouped(info->capacity).s);
    if (info->scheme == PETAL_SCHEME_STATIC) /* the number of keys can't be estimated from the
                                              * bits */
        putchar('\n');
    else if (isinf(stats->estimated_items.high)) /* all bits of some layer are set */
        printf(" (from the bits: any number above %s)\n", rounded(stats->estimated_items.low).s);
    else
        printf(" (from the bits: %s to %s)\n", grouped((uint64_t)stats->estimated_items.low).s,
               grouped((uint64_t)ceil(stats->estimated_items.high)).s);
}

static void print_rates(const petal_info *info, const petal_stats *stats)
{
    label("false positives");
    printf("%s now", rate_text(stats->estimated_rate, 3).s);
    if (!isnan(info->target_rate)) printf(", %s planned", asked_rate(info->target_rate).s);
    double later = info->capacity < UINT64_MAX / 2
                       ? petal_predict_rate(info, info->capacity + info->capacity / 4)
                       : NAN;
    if (info->capacity && info->layers == 1 && !isnan(later))
        printf("; %s with 25 %% more keys than planned", rate_text(later, 2).s);
    printf(stats->saturated ? " (every bit is set)\n" : "\n");
}

static void print_saturated(const petal_stats *stats)
{
    label("saturated");
    if (stats->saturated_counters)
        printf("%s counter%s, which no longer count%s: removed keys may stay\n",
               grouped(stats->saturated_counters).s, plural(stats->saturated_counters),
               stats->saturated_counters == 1 ? "s" : "");
    else
        printf("no counter\n");
}

/* Warns if the filter contains more keys than planned. */
static void print_warning(const petal_info *info, const petal_stats *stats)
{
    double asked = isnan(info->target_rate) ? info->predicted_rate : info->target_rate;
    bool window = info->policy == PETAL_POLICY_WINDOW_TIME;
    if (!stats->overfull || (window && stats->estimated_rate <= asked))
        return; /* a window may contain more keys than planned and still keep its rate */
    label("overfull");
    printf("%smore keys than planned%s", bold(stdout), window ? " in a window" : "");
    if (!isnan(stats->estimated_rate) && !isnan(asked))
        printf(": %s false positives, not %s", rate_text(stats->estimated_rate, 2).s,
               asked_rate(asked).s);
    printf("; plan %s%s\n", window ? "with a larger -n" : "a larger one", plain(stdout));
}

static bool is_printable(const uint8_t *bytes, size_t size)
{
    for (size_t length; size > 0; bytes += length, size -= length) {
        uint32_t point = utf8_next(bytes, size, &length);
        if (point == UTF8_INVALID || point < 0x20 || (point >= 0x7f && point < 0xa0)) return false;
    }
    return true;
}

static void print_metadata(const petal_filter *filter)
{
    uint64_t size;
    const void *bytes = petal_metadata(filter, &size);
    if (!bytes || size == 0) return;
    label("metadata");
    if (size <= 60 && is_printable(bytes, size))
        printf("%.*s\n", (int)size, (const char *)bytes);
    else
        printf("%s byte%s (petal info --metadata prints them)\n", grouped(size).s, plural(size));
}

/* Prints the properties that another library's file doesn't record, but that its readers must
 * know. */
static void print_unknown(const char *format, const petal_info *info)
{
    bool typed = strncmp(format, "guava", 5) == 0 || strncmp(format, "oldpanda", 8) == 0;
    const char *unknown[4];
    size_t count = 0;
    if (!info->capacity) unknown[count++] = "the number of keys it was planned for";
    if (isnan(info->target_rate)) unknown[count++] = "the requested rate";
    if (!info->items) unknown[count++] = "how many keys were added";
    if (typed) unknown[count++] = "the funnel that turned keys into bytes (--key-type)";
    if (count == 0) return;
    label("not in the file");
    for (size_t i = 0; i < count; i++) printf("%s%s", i ? ", " : "", unknown[i]);
    putchar('\n');
}

static void print_bits(const petal_info *info, const petal_stats *stats)
{
    print_keys(info, stats);
    label("fill");
    printf("%s\n", rate_text(stats->fill, 3).s);
    if (info->counter_bits) print_saturated(stats);
    print_rates(info, stats);
    print_warning(info, stats);
}

/* Prints the header's information about the keys, without reading the bits. */
static void print_counted(const petal_info *info)
{
    label("keys");
    printf("%s added", grouped(info->items).s);
    if (info->capacity) printf("; %s planned", grouped(info->capacity).s);
    putchar('\n');
    if (isnan(info->target_rate)) return;
    label("false positives");
    printf("%s planned\n", asked_rate(info->target_rate).s);
}

/* `stats` is NULL if only the header could be read. */
static void print_block(const char *path, const petal_filter *filter, const char *format,
                        const petal_info *info, const petal_stats *stats)
{
    uint64_t content_id;
    printf("%s%-*s%s ", bold(stdout), LABEL_WIDTH - 1, path, plain(stdout));
    switch (checksums_of(filter, format, stats)) {
    case NONE: printf("%s, header looks valid; this format has no checksum\n", format); break;
    case MATCH: printf("petal 1, intact\n"); break;
    case DIFFER: printf("petal 1, header intact, contents damaged\n"); break;
    case NO_KEY: printf("petal 1, header intact; pass --secret-file to check the rest\n"); break;
    case CHANGING: printf("petal 1, being changed, so its contents cannot be verified\n"); break;
    case NOT_COMPARED: printf("petal 1, header intact (contents: petal verify %s)\n", path); break;
    case OLD:
        printf("petal 1, dirty; this is what petal verify --recover %s would keep\n", path);
        break;
    }
    if (is_petal(format) && !is_petal(info->format_name)) {
        label("came from");
        printf("%s\n", info->format_name);
    }
    print_kind(info);
    if (info->policy != PETAL_POLICY_NONE) {
        label("kind");
        printf("%s\n", policy_text(filter).s);
    }
    print_size(filter, info);
    print_key_type(info);
    if (stats)
        print_bits(info, stats);
    else
        print_counted(info);
    if (!is_petal(format)) print_unknown(format, info);
    if (petal_content_id(filter, &content_id, NULL) == PETAL_OK) {
        label("content id");
        printf("%016" PRIx64 "\n", content_id);
    }
    print_metadata(filter);
    if (info->policy != PETAL_POLICY_NONE && stats) print_layers(filter, info);
}

/* ---- for machines ---------------------------------------------------------------------------- */

static void count_or_null(struct json *json, const char *name, uint64_t value, bool known)
{
    if (known)
        json_count(json, name, value);
    else
        json_null(json, name);
}

static void json_hex(struct json *json, const char *name, uint64_t value, int digits, bool known)
{
    char text[20];
    snprintf(text, sizeof text, "%0*" PRIx64, digits, value);
    json_text(json, name, known ? text : NULL);
}

/* Prints the statistics, or null for each of them if only the header could be read. */
static void json_stats(struct json *json, const petal_info *info, const petal_stats *stats)
{
    static const char *const names[] = {"bits_set",
                                        "fill",
                                        "saturated",
                                        "saturated_counters",
                                        "overfull",
                                        "estimated_items",
                                        "estimated_items_low",
                                        "estimated_items_high",
                                        "estimated_rate"};
    for (size_t i = 0; i < sizeof names / sizeof names[0] && !stats; i++) json_null(json, names[i]);
    if (!stats) return;
    json_count(json, "bits_set", stats->bits_set);
    json_number(json, "fill", stats->fill);
    json_bool(json, "saturated", stats->saturated);
    count_or_null(json, "saturated_counters", stats->saturated_counters, info->counter_bits != 0);
    json_bool(json, "overfull", stats->overfull);
    json_number(json, "estimated_items", stats->estimated_items.value);
    json_number(json, "estimated_items_low", stats->estimated_items.low);
    json_number(json, "estimated_items_high", stats->estimated_items.high);
    json_number(json, "estimated_rate", stats->estimated_rate);
}

static const char *const checksum_names[] = {[NONE] = "none",
                                             [MATCH] = "match",
                                             [DIFFER] = "differ",
                                             [NO_KEY] = "not compared",
                                             [CHANGING] = "changing",
                                             [NOT_COMPARED] = "not compared",
                                             [OLD] = "old"};

static void print_json(const char *path, const petal_filter *filter, const char *format,
                       const petal_info *info, const petal_stats *stats)
{
    struct json json;
    uint64_t metadata_bytes = 0, content_id = 0;
    bool is_settled = petal_content_id(filter, &content_id, NULL) == PETAL_OK;
    const void *metadata = petal_metadata(filter, &metadata_bytes);
    json_begin(&json, stdout);
    json_text(&json, "file", path);
    json_text(&json, "format", format);
    json_text(&json, "origin", info->format_name);
    json_text(&json, "scheme", info->scheme_name);
    json_text(&json, "hash", info->hash_name);
    json_count(&json, "bits", info->bits);
    json_count(&json, "hashes", info->hashes);
    count_or_null(&json, "lines_per_key", info->lines_per_key, info->lines_per_key != 0);
    json_count(&json, "layers", info->layers);
    count_or_null(&json, "counter_bits", info->counter_bits, info->counter_bits != 0);
    json_count(&json, "bytes", info->bytes);
    json_text(&json, "key_type", key_type_name(info->key_type));
    count_or_null(&json, "capacity", info->capacity, info->capacity != 0);
    json_number(&json, "target_rate", info->target_rate);
    count_or_null(&json, "items", info->items, is_petal(format) || info->items != 0);
    json_stats(&json, info, stats);
    json_number(&json, "predicted_rate", info->predicted_rate);
    json_bool(&json, "keyed", info->keyed);
    json_hex(&json, "secret_id", info->secret_id, 8, info->keyed);
    count_or_null(&json, "seed", info->seed, !info->keyed);
    json_policy(&json, filter, info, stats != NULL);
    json_hex(&json, "content_id", content_id, 16, is_settled);
    json_text(&json, "checksums", checksum_names[checksums_of(filter, format, stats)]);
    if (metadata)
        json_bytes(&json, "metadata", metadata, metadata_bytes);
    else
        json_null(&json, "metadata");
    json_end(&json);
}

/* ---- indexes --------------------------------------------------------------------------------- */

static double rate_now(const petal_info *info)
{
    return petal_predict_rate(info, info->items);
}

static void print_index_totals(const char *path, const petal_index_info *info, bool intact,
                               const struct args *args)
{
    printf("%s\n", path);
    label("index");
    printf("%s filter%s of %" PRIu32 " size%s", grouped(info->filters).s, plural(info->filters),
           info->groups, plural(info->groups));
    if (info->secret_id) printf(", with secret %08" PRIx32, info->secret_id);
    putchar('\n');
    label("keys");
    printf("%s\n", key_type_name(info->key_type));
    label("size");
    printf("%s bytes; the filters alone have %s\n", grouped(info->bytes).s,
           grouped(info->filter_bytes).s);
    label("checksums");
    printf("%s\n", args->no_verify ? "not compared" : intact ? "match" : "differ");
}

static void print_index_filter(const char *path, const char *name, const petal_info *info,
                               bool as_json)
{
    struct json json;
    if (!as_json) {
        printf("  %s: %s key%s, %s bytes, %s, k %" PRIu32 ", %s false positives\n", name,
               grouped(info->items).s, plural(info->items), grouped(info->bytes).s,
               info->scheme_name, info->hashes, rate_text(rate_now(info), 3).s);
        return;
    }
    json_begin(&json, stdout);
    json_text(&json, "file", path);
    json_text(&json, "filter", name);
    json_text(&json, "scheme", info->scheme_name);
    json_text(&json, "hash", info->hash_name);
    json_count(&json, "bits", info->bits);
    json_count(&json, "hashes", info->hashes);
    json_count(&json, "bytes", info->bytes);
    json_text(&json, "key_type", key_type_name(info->key_type));
    count_or_null(&json, "capacity", info->capacity, info->capacity != 0);
    json_number(&json, "target_rate", info->target_rate);
    json_count(&json, "items", info->items);
    json_number(&json, "predicted_rate", rate_now(info));
    json_end(&json);
}

/* Describes an index and its filters. Returns the exit status. */
static int show_index(const char *path, const struct args *args, bool first)
{
    petal_index_info totals = PETAL_INDEX_INFO_INIT;
    petal_error error;
    petal_index *index = open_index(path, args);
    if (!index) return is_broken(last_failure()) ? STATUS_NO : STATUS_ERROR;
    bool intact = args->no_verify || petal_index_verify(index, &error) == PETAL_OK ||
                  complain_of(path, &error);
    petal_index_get_info(index, &totals, NULL);
    if (!first && !args->json) putchar('\n');
    if (!args->json) print_index_totals(path, &totals, intact, args);
    for (uint64_t i = 0; i < totals.filters; i++) {
        petal_info info = PETAL_INFO_INIT;
        petal_index_get_filter_info(index, i, &info, NULL);
        print_index_filter(path, petal_index_name(index, i), &info, args->json);
    }
    petal_index_free(index);
    return intact ? STATUS_OK : STATUS_NO;
}

/* ---- command --------------------------------------------------------------------------------- */

static void print_raw_metadata(const petal_filter *filter)
{
    uint64_t size = 0;
    const void *bytes = petal_metadata(filter, &size);
    if (bytes) fwrite(bytes, 1, size, stdout);
}

/* Describes the file. Returns the exit status, which is 1 for a dirty or damaged file, although
 * such a file is described too. */
static int show(const char *path, const struct args *args, bool first)
{
    forget_failure();
    if (!args->from && is_parquet_file(path))
        return list_parquet(path, args->json) ? STATUS_OK : STATUS_ERROR;
    if (is_index_file(path) && !args->show_metadata) return show_index(path, args, first);
    petal_filter *filter = open_to_describe(path, args);
    if (!filter) return is_broken(last_failure()) ? STATUS_NO : STATUS_ERROR;
    const char *format = file_format_of(filter);
    petal_info info = info_of(filter);
    petal_stats all = PETAL_STATS_INIT, *stats = can(filter, PETAL_CAN_STATS) ? &all : NULL;
    petal_error error;
    bool is_damaged =
        stats && petal_get_stats(filter, PETAL_ALL_LAYERS, stats, &error) == PETAL_ERR_DAMAGED;
    if (is_damaged) complain_of(path, &error);
    if (is_damaged) stats = NULL;
    if (!first && !args->json && !args->show_metadata) putchar('\n');
    if (args->show_metadata)
        print_raw_metadata(filter);
    else if (args->json)
        print_json(path, filter, format, &info, stats);
    else
        print_block(path, filter, format, &info, stats);
    bool is_dirty = file_info_of(filter).compared_blocks != 0;
    petal_free(filter);
    return !is_dirty && !is_damaged ? STATUS_OK : STATUS_NO; /* both were reported */
}

static int run(const struct args *args)
{
    int status = STATUS_OK;
    bool first = true;
    if (args->operand_count == 0) return misused("info", "needs a filter FILE");
    if (args->show_metadata && args->operand_count > 1)
        return misused("info", "--metadata takes one FILE");
    for (size_t i = 0; i < args->operand_count; i++) {
        int shown = show(args->operands[i], args, first);
        if (shown > status) status = shown;
        first = first && shown != STATUS_OK;
    }
    return status;
}

static const struct option options[] = {
    OPTION_JSON,
    {0, "metadata", FLAG, AT(show_metadata), NULL, "print the metadata alone, byte for byte"},
    OPTION_NO_VERIFY,
    OPTION_SECRET_FILE,
    OPTION_FROM,
    OPTION_MEMORY_LIMIT,
    END_OF_OPTIONS,
};

const struct command info_command = {
    .name = "info",
    .summary = "describe filters: kind, size, keys, rate",
    .usage = "FILE... [--json]",
    .about = "Describes the filter in each FILE. Reads all of its bits, to estimate how many\n"
             "keys it has and how often an absent key passes.",
    .options = options,
    .example = "example: petal info --json urls.petal | jq .estimated_rate",
    .run = run,
};
