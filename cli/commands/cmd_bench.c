/* cmd_bench.c - petal bench: measures what a filter costs on this machine, compared with the cost
 * of reading memory.
 *
 * There are two filters: `full` is the filter to be measured, and is queried for absent keys;
 * `work` is an emptied copy, which is filled and queried for its keys. A round measures everything
 * once, so that a slowdown of the machine affects all measures. The result is the median over the
 * rounds. Keys come from a counter through a bijection: all are different, and the absent ones were
 * never added. */
#define _DEFAULT_SOURCE /* madvise() */

#include "commands/commands.h"
#include "files/files.h"
#include "files/request.h"
#include "keys/batch_calls.h"
#include "output/filter_info.h"
#include "output/json.h"
#include "output/numbers.h"
#include "output/report.h"
#include "output/terminal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define DEFAULT_CAPACITY 1000000u
#define DEFAULT_SECONDS 10u
#define KEY_PREFIX "https://a.io/"
#define LINE_BYTES 64u
/* If the filter is larger than this, it is not copied, and no memory of the same size is
 * allocated. */
#define MAX_COPY_BYTES ((uint64_t)2 << 30)
#define FIRST_ABSENT ((uint64_t)1 << 48)

enum {
    KEY_BYTES = sizeof KEY_PREFIX - 1 + 16, /* and 16 hexadecimal digits */
    KEY_ROOM = 32,
    FEWEST_KEYS = 4096,
    MAX_KEYS = 2000000, /* enough to touch more lines than most caches hold */
    MAX_ROUNDS = 1001,
    RANGE_WIDTH = 18
};

enum measure {
    ADD_ONE,
    ADD_MANY,
    FOUND_ONE,
    FOUND_MANY,
    ABSENT_ONE,
    ABSENT_MANY,
    HASH,
    LINE,
    MEASURES
};

struct bench {
    petal_filter *full, *work; /* work: NULL if the copy would be too large, or can't be emptied */
    petal_info info;           /* of full */
    uint64_t filled;           /* keys added to full; 0 for a file, which already has its keys */
    uint8_t *text;
    petal_key *keys;
    uint64_t *hashes;
    uint8_t *results;
    size_t count;    /* of these */
    uint8_t *memory; /* as large as the filter, or NULL if that is too large */
    uint64_t lines;
    uint64_t asked, passed; /* absent keys */
    bool lost;              /* an added key was not found: must never happen */
    unsigned rounds;
    double ns[MEASURES][MAX_ROUNDS];
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* SplitMix64's output function: a bijection. */
static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static void write_hex(uint8_t *to, uint64_t number)
{
    for (int i = 0; i < 16; i++) to[i] = (uint8_t) "0123456789abcdef"[number >> (60 - 4 * i) & 15];
}

/* Makes the keys with numbers `from`, `from` + 1, ... */
static void make_keys(struct bench *bench, uint64_t from)
{
    for (size_t i = 0; i < bench->count; i++)
        write_hex(bench->text + i * KEY_ROOM + sizeof KEY_PREFIX - 1, mix(from + i));
}

static bool make_arrays(struct bench *bench)
{
    bench->text = malloc(bench->count * KEY_ROOM);
    bench->keys = malloc(bench->count * sizeof *bench->keys);
    bench->hashes = malloc(bench->count * sizeof *bench->hashes);
    bench->results = malloc(bench->count);
    if (!bench->text || !bench->keys || !bench->hashes || !bench->results)
        return complain(NULL, "out of memory");
    for (size_t i = 0; i < bench->count; i++) {
        memcpy(bench->text + i * KEY_ROOM, KEY_PREFIX, sizeof KEY_PREFIX - 1);
        bench->keys[i] = (petal_key){bench->text + i * KEY_ROOM, KEY_BYTES};
    }
    return true;
}

/* ---- the measures ---------------------------------------------------------------------------- */

static size_t ask_one_by_one(const struct bench *bench, const petal_filter *filter)
{
    size_t found = 0;
    for (size_t i = 0; i < bench->count; i++)
        found += petal_contains(filter, bench->keys[i].data, bench->keys[i].size_bytes);
    return found;
}

static void add_one(struct bench *bench)
{
    for (size_t i = 0; i < bench->count; i++)
        petal_add(bench->work, bench->keys[i].data, bench->keys[i].size_bytes);
}

static void add_many(struct bench *bench)
{
    add_some_keys(bench->work, bench->keys, bench->count, bench->results, NULL);
}

static void found_one(struct bench *bench)
{
    bench->lost = bench->lost || ask_one_by_one(bench, bench->work) != bench->count;
}

static void found_many(struct bench *bench)
{
    bench->lost = bench->lost || look_up_keys(bench->work, bench->keys, bench->count,
                                              bench->results) != bench->count;
}

static void absent_one(struct bench *bench)
{
    bench->passed += ask_one_by_one(bench, bench->full);
}

/* These are the keys that were queried one by one, so they are not counted again. */
static void absent_many(struct bench *bench)
{
    look_up_keys(bench->full, bench->keys, bench->count, bench->results);
}

static void hash_only(struct bench *bench)
{
    hash_keys(bench->full, bench->keys, bench->count, bench->hashes);
}

/* Reads one byte each from random lines. */
static void touch_lines(struct bench *bench)
{
    uint64_t state = bench->rounds, sum = 0;
    for (size_t i = 0; i < bench->count; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        sum += bench->memory[(state >> 32) * bench->lines >> 32 << 6];
    }
    bench->memory[0] = (uint8_t)(bench->memory[0] + sum); /* so that the compiler keeps the sum */
}

static void measure(struct bench *bench, enum measure what, void (*run)(struct bench *bench))
{
    double start = now();
    run(bench);
    bench->ns[what][bench->rounds] = (now() - start) * 1e9 / (double)bench->count;
}

/* A filter in memory can always be cleared. */
static void empty(struct bench *bench)
{
    petal_status status = petal_clear(bench->work, NULL);
    (void)status;
}

static void run_round(struct bench *bench)
{
    make_keys(bench, 0);
    if (bench->work) {
        empty(bench);
        measure(bench, ADD_ONE, add_one);
        empty(bench);
        measure(bench, ADD_MANY, add_many);
        measure(bench, FOUND_ONE, found_one);
        measure(bench, FOUND_MANY, found_many);
    }
    make_keys(bench, FIRST_ABSENT + (uint64_t)bench->rounds * bench->count);
    measure(bench, ABSENT_ONE, absent_one);
    measure(bench, ABSENT_MANY, absent_many);
    measure(bench, HASH, hash_only);
    if (bench->memory) measure(bench, LINE, touch_lines);
    bench->asked += bench->count;
    bench->rounds++;
}

/* ---- the filters ----------------------------------------------------------------------------- */

/* Adds the planned number of keys, or as many as fit into half of the time. */
static void fill(struct bench *bench, uint64_t capacity, double until)
{
    size_t whole = bench->count;
    for (; bench->filled < capacity && now() < until; bench->filled += bench->count) {
        uint64_t left = capacity - bench->filled;
        bench->count = left < whole ? (size_t)left : whole;
        make_keys(bench, bench->filled);
        add_some_keys(bench->full, bench->keys, bench->count, NULL, NULL);
    }
    bench->count = whole;
}

/* Returns NULL if copying would be slow (a mapped file) or useless (a copy that can't be emptied).
 * The report then lacks two rows. */
static petal_filter *make_work(const petal_filter *full, uint64_t bytes)
{
    petal_filter *work = NULL;
    if (bytes > MAX_COPY_BYTES || petal_clone(full, &work, NULL) != PETAL_OK) return NULL;
    if (petal_clear(work, NULL) == PETAL_OK) return work;
    petal_free(work);
    return NULL;
}

/* Allocates memory and writes to it, so that it really exists; like the filter's memory, it is in
 * huge pages if the system has them. */
static uint8_t *make_memory(uint64_t bytes)
{
    void *memory = NULL;
    if (bytes > MAX_COPY_BYTES || posix_memalign(&memory, (size_t)2 << 20, (size_t)bytes) != 0)
        return NULL;
#ifdef MADV_HUGEPAGE
    if (bytes >= (uint64_t)2 << 20) madvise(memory, (size_t)bytes, MADV_HUGEPAGE);
#endif
    memset(memory, 1, (size_t)bytes);
    return memory;
}

static bool prepare(struct bench *bench, bool is_file, double until)
{
    bench->info = info_of(bench->full);
    uint64_t capacity = bench->info.capacity ? bench->info.capacity : bench->info.bits / 10;
    bench->count = capacity < FEWEST_KEYS ? FEWEST_KEYS
                   : capacity > MAX_KEYS  ? MAX_KEYS
                                          : (size_t)capacity;
    if (!make_arrays(bench)) return false;
    bench->work = make_work(bench->full, bench->info.bytes);
    bench->lines = bench->info.bytes / LINE_BYTES + 1;
    bench->memory = make_memory(bench->lines * LINE_BYTES);
    if (!is_file) fill(bench, capacity, until);
    return true;
}

static petal_filter *make_full(const struct args *args)
{
    struct request request;
    petal_filter *filter = NULL;
    if (args->operand_count > 0)
        return open_filter(args->operands[0], PETAL_OPEN_MAP | PETAL_OPEN_VERIFY, args);
    if (request_read(&request, "bench", args, DEFAULT_CAPACITY, false))
        filter = create_filter(&request.options);
    request_free(&request);
    return filter;
}

/* ---- the report ------------------------------------------------------------------------------ */

struct spread {
    double min, median, max;
};

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static struct spread spread_of(struct bench *bench, enum measure what)
{
    double *ns = bench->ns[what];
    qsort(ns, bench->rounds, sizeof *ns, compare);
    return (struct spread){ns[0], ns[bench->rounds / 2], ns[bench->rounds - 1]};
}

/* "  12.3 (12.0 to 14.1)", padded to a width. */
static void print_spread(struct bench *bench, enum measure what, int width)
{
    struct spread ns = spread_of(bench, what);
    char range[48];
    snprintf(range, sizeof range, "(%.1f to %.1f)", ns.min, ns.max);
    printf("%10.1f %-*s", ns.median, width, range);
}

static void print_row(struct bench *bench, const char *name, enum measure one, enum measure many)
{
    printf("%-16s", name);
    print_spread(bench, one, RANGE_WIDTH);
    print_spread(bench, many, 0);
    putchar('\n');
}

static void print_floor(struct bench *bench, const char *name, enum measure what)
{
    printf("%-16s%*s", name, 11 + RANGE_WIDTH, "");
    print_spread(bench, what, 0);
    putchar('\n');
}

static double expected_rate(const struct bench *bench)
{
    return bench->filled ? petal_predict_rate(&bench->info, bench->filled)
                         : stats_of(bench->full).estimated_rate;
}

static void print_kind(const struct bench *bench)
{
    const petal_info *info = &bench->info;
    printf("%-16s%s, k %u, %s, kernel %s\n", "filter", info->scheme_name, info->hashes,
           info->hash_name, bench->info.kernel_name);
    printf("%-16s%s bytes, %s\n", "size", grouped(info->bytes).s, size_text(info->bytes, 4).s);
    printf("%-16s%s keys\n", "holds",
           bench->filled ? compact(bench->filled).s
                         : rounded(stats_of(bench->full).estimated_items.value).s);
    printf("%-16s%u round%s of %s keys of %d bytes\n", "asked", bench->rounds,
           plural(bench->rounds), compact(bench->count).s, KEY_BYTES);
}

static void print_table(struct bench *bench)
{
    printf("\n%s%-16s%10s %*s%10s%s\n", bold(stdout), "ns per key", "one by one", RANGE_WIDTH, "",
           "in batches", plain(stdout));
    if (bench->work) {
        print_row(bench, "add", ADD_ONE, ADD_MANY);
        print_row(bench, "lookup, found", FOUND_ONE, FOUND_MANY);
    }
    print_row(bench, "lookup, absent", ABSENT_ONE, ABSENT_MANY);
    print_floor(bench, "hash alone", HASH);
    if (bench->memory) print_floor(bench, "a line of memory", LINE);
    printf("\nMedians (from the fastest to the slowest round). One by one: a call per key, as\n"
           "a server makes them; in batches: many keys per call, as petal check does.\n");
    if (!bench->work)
        printf("\nWithout add and found: a copy of the filter would take too much memory.\n");
}

static void print_rate(const struct bench *bench)
{
    double rate = (double)bench->passed / (double)bench->asked;
    printf("\nfalse positives %s of %s absent keys, %s %s\n", rate_text(rate, 3).s,
           compact(bench->asked).s, bench->filled ? "predicted" : "by its bits",
           rate_text(expected_rate(bench), 3).s);
}

static void print_json(struct bench *bench)
{
    static const char *const names[MEASURES] = {"add_ns",         "add_batch_ns", "found_ns",
                                                "found_batch_ns", "absent_ns",    "absent_batch_ns",
                                                "hash_ns",        "line_ns"};
    struct json json;
    json_begin(&json, stdout);
    json_text(&json, "scheme", bench->info.scheme_name);
    json_text(&json, "hash", bench->info.hash_name);
    json_text(&json, "kernel", bench->info.kernel_name);
    json_count(&json, "hashes", bench->info.hashes);
    json_count(&json, "bytes", bench->info.bytes);
    json_count(&json, "keys",
               bench->filled ? bench->filled
                             : (uint64_t)stats_of(bench->full).estimated_items.value);
    json_count(&json, "key_bytes", KEY_BYTES);
    json_count(&json, "keys_per_round", bench->count);
    json_count(&json, "rounds", bench->rounds);
    for (int what = 0; what < MEASURES; what++) {
        bool there =
            what == LINE ? bench->memory != NULL : bench->work != NULL || what >= ABSENT_ONE;
        json_number(&json, names[what], there ? spread_of(bench, (enum measure)what).median : NAN);
    }
    json_count(&json, "absent_keys", bench->asked);
    json_count(&json, "absent_found", bench->passed);
    json_number(&json, "predicted_rate", expected_rate(bench));
    json_end(&json);
}

/* ---- command --------------------------------------------------------------------------------- */

static int bench_for(struct bench *bench, const struct args *args)
{
    double start = now(), seconds = (double)(args->seconds ? args->seconds : DEFAULT_SECONDS);
    bench->full = make_full(args);
    if (!bench->full || !prepare(bench, args->operand_count > 0, start + seconds / 2))
        return STATUS_ERROR;
    do run_round(bench);
    while (now() < start + seconds && bench->rounds < MAX_ROUNDS);
    if (bench->lost)
        return complain(NULL, "a key that was added was not found: please report this") +
               STATUS_ERROR;
    if (args->json) {
        print_json(bench);
        return STATUS_OK;
    }
    print_kind(bench);
    print_table(bench);
    print_rate(bench);
    return STATUS_OK;
}

static int run(const struct args *args)
{
    if (args->operand_count > 1) return misused("bench", "takes one FILE at a time");
    if (args->operand_count == 1 &&
        (args->capacity || args->rate > 0 || args->memory_bytes || args->scheme))
        return misused("bench", "either a FILE or the size of a new filter, not both");
    struct bench *bench = calloc(1, sizeof *bench);
    if (!bench) return complain(NULL, "out of memory") + STATUS_ERROR;
    int status = bench_for(bench, args);
    petal_free(bench->work);
    petal_free(bench->full);
    free(bench->text);
    free(bench->keys);
    free(bench->hashes);
    free(bench->results);
    free(bench->memory);
    free(bench);
    return status;
}

static const struct option options[] = {
    OPTION_CAPACITY,
    OPTION_RATE,
    OPTION_MEMORY,
    OPTION_SCHEME,
    {0, "seconds", COUNT, AT(seconds), "N", "how long to measure [10]"},
    OPTION_JSON,
    OPTION_SECRET_FILE,
    OPTION_FROM,
    OPTION_MEMORY_LIMIT,
    END_OF_OPTIONS,
};

const struct command bench_command = {
    .name = "bench",
    .summary = "measure a filter on this machine",
    .usage = "[FILE] [-n KEYS] [-p RATE] [--json]",
    .about = "Times adds and queries, and counts false positives, for the filter in FILE\n"
             "(only read) or a new one [1M keys at 1 %]. Also times what every filter needs:\n"
             "the hash alone, and fetching a line from as much memory.",
    .options = options,
    .example = "example: petal bench -n 100M -p 0.1%",
    .run = run,
};
