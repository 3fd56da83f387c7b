/* billions.c - builds a filter of five billion keys in 5 GB, saves and maps it, and then queries
 * every key and also absent keys.
 *
 *     ./dev bench billions        5e9 keys at 8 bits: a few minutes, 5 GB of memory and of disk
 *     ./dev bench billions 2e8    the same with fewer keys
 *     ./dev bench billions 1e10   two shards of 5e9 keys, one after the other in the same memory
 *
 * The build is compared, on the same machine in the same run, with the touch floor (reading and
 * writing one random line of an array of that size, and nothing else), the plain loop of
 * petal_add_i64(), batches, and a classic filter with the same number of bits. The comparisons use
 * samples of the keys. The memory of all filters and of the array is written before the clock
 * starts, so that no time includes the first access to a page, which is reported separately.
 *
 * Key i is i * 0x9e3779b97f4a7c15 mod 2^64: an odd factor, so all keys are different; the times
 * include computing them. A shard's keys are the ones that petal_shard_of() assigns to it. Each
 * shard is built, saved, mapped, and queried for its share of 10^8 members (chosen evenly from all
 * keys) and of 10^8 absent keys. The exit status is 1 if a key is missing, the rate is wrong, or
 * the file differs from the filter. The output is a document: bench/results/billions.md. */
#define _GNU_SOURCE

#include "run.h"

#include "../../tests/keys.h"

#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_THREADS 64u
#define PIECE 1024u
#define MAX_SHARDS 1000u
#define MAX_SHARD ((uint64_t)5000000000u) /* keys per shard without --shards */

struct setting {
    uint64_t keys, absent;
    double bits_per_key;
    uint64_t shards;
    unsigned threads; /* used by the second build and the queries */
    const char *folder;
};

/* ---- keys ------------------------------------------------------------------------------------ */

#define ABSENT_FROM ((uint64_t)1 << 60) /* key numbers from here on are never added */

static int64_t key_of(uint64_t i)
{
    return (int64_t)(i * 0x9e3779b97f4a7c15u);
}

/* Selects keys: every `step`th key of one shard. */
struct part {
    uint32_t shard, shards;
    uint64_t step;
};
static const struct part whole = {0, 1, 1};

/* Generates the next selected keys in *at .. end-1, and advances *at. Returns their number. */
static size_t next_keys(const struct part *part, uint64_t *at, uint64_t end, int64_t piece[PIECE])
{
    size_t count = 0;
    for (; *at < end && count < PIECE; (*at)++) {
        int64_t key = key_of(*at * part->step);
        piece[count] = key;
        count += part->shards == 1 || petal_shard_of(&key, sizeof key, part->shards) == part->shard;
    }
    return count;
}

/* Generates the next keys in from .. end-1. Returns their number. */
static size_t fill_piece(uint64_t from, uint64_t end, int64_t piece[PIECE])
{
    size_t count = end - from < PIECE ? (size_t)(end - from) : PIECE;
    for (size_t i = 0; i < count; i++) piece[i] = key_of(from + i);
    return count;
}

/* ---- threads --------------------------------------------------------------------------------- */

struct job {
    pthread_t thread;
    petal_builder *builder;
    const petal_filter *filter;
    uint32_t worker;
    uint64_t from, end, keys, found; /* `keys` counts the selected keys */
    struct part part;
    petal_status status;
};

/* Runs `work` in `threads` threads, each with its share of from .. from+count-1. */
static void run(struct job *jobs, unsigned threads, struct part part, uint64_t from, uint64_t count,
                void *(*work)(void *))
{
    for (unsigned i = 0; i < threads; i++) {
        jobs[i].worker = i;
        jobs[i].part = part;
        jobs[i].from = from + count / threads * i;
        jobs[i].end = i + 1 == threads ? from + count : from + count / threads * (i + 1);
        if (pthread_create(&jobs[i].thread, NULL, work, &jobs[i]) != 0)
            give_up("cannot start a thread", NULL);
    }
    for (unsigned i = 0; i < threads; i++) pthread_join(jobs[i].thread, NULL);
}

static void *add_share(void *argument)
{
    struct job *job = argument;
    int64_t piece[PIECE];
    job->status = PETAL_OK;
    for (uint64_t i = job->from; i < job->end && job->status == PETAL_OK;) {
        size_t count = next_keys(&job->part, &i, job->end, piece);
        job->keys += count;
        job->status = build_batch(job->builder, job->worker, batch_of_numbers(piece, count));
    }
    if (job->status == PETAL_OK) job->status = petal_builder_flush(job->builder, job->worker, NULL);
    return NULL;
}

static void *ask_share(void *argument)
{
    struct job *job = argument;
    int64_t piece[PIECE];
    for (uint64_t i = job->from; i < job->end;) {
        size_t count = next_keys(&job->part, &i, job->end, piece);
        job->keys += count;
        job->found += contains_numbers(job->filter, piece, count, NULL);
    }
    return NULL;
}

/* ---- the output ------------------------------------------------------------------------------ */

static double row(const char *what, double seconds, double count)
{
    double ns = seconds / count * 1e9;
    printf("| %-52s | %12.4g | %10.2f | %8.2f |\n", what, count, seconds, ns);
    fflush(stdout);
    return ns;
}

static void rows_begin(void)
{
    printf("\n| step | keys | seconds | ns per key |\n| --- | --- | --- | --- |\n");
}

/* Returns the process's peak memory in bytes, as Linux reports it. */
static double peak_memory(void)
{
    char line[256];
    double kilobytes = NAN;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "VmHWM:", 6) == 0) kilobytes = strtod(line + 6, NULL);
    if (file) fclose(file);
    return kilobytes * 1024;
}

/* ---- the comparisons ------------------------------------------------------------------------- */

/* Reads and writes random lines of an array of the filter's size. No filter can add single keys
 * faster. */
static double touch_floor(uint64_t bytes, uint64_t count, double *first_touch)
{
    uint8_t *array = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint64_t lines = bytes / 64, x = 88172645463325252u;
    if (array == MAP_FAILED) give_up("no memory for the touch floor", NULL);
    madvise(array, bytes, MADV_HUGEPAGE);
    double start = wall_seconds();
    memset(array, 1, bytes);
    *first_touch = wall_seconds() - start;
    start = wall_seconds();
    for (uint64_t i = 0; i < count; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17; /* xorshift64 (Marsaglia 2003) */
        array[(x >> 32) * lines / ((uint64_t)1 << 32) * 64]++;
    }
    double ns = row("touch floor: a random line read and written, sample", wall_seconds() - start,
                    (double)count);
    munmap(array, bytes);
    return ns;
}

static petal_filter *new_filter(const struct setting *with, uint32_t scheme)
{
    petal_options options = PETAL_OPTIONS_INIT;
    petal_filter *filter;
    petal_error error;
    options.scheme = scheme;
    options.capacity = with->keys / with->shards;
    options.memory_bytes = (uint64_t)((double)options.capacity * with->bits_per_key / 8);
    check(petal_create(&options, &filter, &error), &error);
    return filter;
}

static void empty(petal_filter *filter)
{
    petal_error error;
    check(petal_clear(filter, &error), &error);
}

/* Writes to every page of a new filter's memory. */
static double touch(petal_filter *filter)
{
    double start = wall_seconds();
    empty(filter);
    return wall_seconds() - start;
}

static double sample_loop(petal_filter *filter, const char *what, uint64_t count)
{
    double start = wall_seconds();
    for (uint64_t i = 0; i < count; i++) petal_add_i64(filter, key_of(i));
    return row(what, wall_seconds() - start, (double)count);
}

static double sample_batch(petal_filter *filter, uint64_t from, uint64_t count)
{
    int64_t piece[PIECE];
    double start = wall_seconds();
    for (uint64_t i = from; i < from + count; i += PIECE)
        add_number_batch(filter, piece, fill_piece(i, from + count, piece), NULL, NULL);
    return row("batches of petal_add_batch(), sample", wall_seconds() - start, (double)count);
}

/* ---- building -------------------------------------------------------------------------------- */

/* Adds the selected keys, and sets *keys to their number. Returns the ns per key. */
static double build_part(petal_filter *filter, const struct setting *with, unsigned threads,
                         struct part part, uint64_t *keys)
{
    struct job jobs[MAX_THREADS] = {0};
    petal_builder *builder;
    petal_error error;
    char what[80], name[32] = "all keys";
    uint32_t workers = threads;
    double start = wall_seconds();
    if (petal_builder_create(filter, &workers, &builder, &error) != PETAL_OK)
        give_up("builder", &error);
    threads = workers;
    for (unsigned i = 0; i < threads; i++) jobs[i].builder = builder;
    run(jobs, threads, part, 0, with->keys, add_share);
    check(petal_builder_finish(builder, &error), &error);
    double seconds = wall_seconds() - start;
    for (unsigned i = 0; i < threads; i++) *keys += jobs[i].keys;
    if (part.shards > 1) snprintf(name, sizeof name, "shard %u", part.shard);
    snprintf(what, sizeof what, "**petal_builder, %s, %u thread%s**", name, threads,
             threads > 1 ? "s" : "");
    return row(what, seconds, (double)*keys);
}

static double build(petal_filter *filter, const struct setting *with, unsigned threads)
{
    uint64_t keys = 0;
    return build_part(filter, with, threads, whole, &keys);
}

static petal_info info_of(const petal_filter *filter)
{
    petal_info info = PETAL_INFO_INIT;
    petal_get_info(filter, PETAL_ALL_LAYERS, &info, NULL);
    return info;
}

static uint64_t content_of(const petal_filter *filter)
{
    uint64_t id = 0;
    petal_content_id(filter, &id, NULL);
    return id;
}

/* ---- the file -------------------------------------------------------------------------------- */

static double save(const petal_filter *filter, const char *path)
{
    petal_error error;
    double start = wall_seconds();
    if (petal_save(filter, path, NULL, &error) != PETAL_OK) give_up(path, &error);
    return wall_seconds() - start;
}

static petal_filter *map(const char *path, double *seconds)
{
    petal_filter *filter;
    petal_error error;
    double start = wall_seconds();
    if (petal_open(path, NULL, &filter, &error) != PETAL_OK) give_up(path, &error);
    *seconds = wall_seconds() - start;
    return filter;
}

/* Asks the system to drop the file's pages from its cache, so that opening must read the disk. */
static void make_cold(const char *path)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return;
    posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
    close(descriptor);
}

/* Opens the file once with a cold cache and nine times with a warm one. Returns the filter that was
 * opened last. */
static petal_filter *open_often(const char *path)
{
    double cold, warm, max = 0;
    make_cold(path);
    petal_filter *filter = map(path, &cold);
    for (int i = 0; i < 9; i++) {
        petal_free(filter);
        filter = map(path, &warm);
        if (warm > max) max = warm;
    }
    printf("| opening it: cold, and the slowest of nine warm | | %.4f, %.4f | |\n", cold, max);
    return filter;
}

/* ---- querying -------------------------------------------------------------------------------- */

struct answers {
    uint64_t keys, found;
};

static struct answers ask(const petal_filter *filter, unsigned threads, const char *what,
                          struct part part, uint64_t from, uint64_t count)
{
    struct job jobs[MAX_THREADS] = {0};
    char text[80];
    struct answers all = {0, 0};
    for (unsigned i = 0; i < threads; i++) jobs[i].filter = filter;
    double start = wall_seconds();
    run(jobs, threads, part, from, count, ask_share);
    double seconds = wall_seconds() - start;
    for (unsigned i = 0; i < threads; i++) {
        all.keys += jobs[i].keys;
        all.found += jobs[i].found;
    }
    snprintf(text, sizeof text, "%s, %u thread%s", what, threads, threads > 1 ? "s" : "");
    row(text, seconds, (double)all.keys);
    return all;
}

static bool judge(const petal_filter *mapped, const struct setting *with)
{
    uint64_t found =
        ask(mapped, with->threads, "asking the map for every key, batches", whole, 0, with->keys)
            .found;
    uint64_t wrong = ask(mapped, with->threads, "asking it for absent keys, batches", whole,
                         ABSENT_FROM, with->absent)
                         .found;
    petal_info info = info_of(mapped);
    petal_stats stats = PETAL_STATS_INIT;
    petal_get_stats(mapped, PETAL_ALL_LAYERS, &stats, NULL);
    double rate = (double)wrong / (double)with->absent,
           model = petal_predict_rate(&info, with->keys);
    double error = sqrt(model * (1 - model) / (double)with->absent), off = (rate - model) / error;
    printf("\n- missing: **%llu** of %llu keys\n", (unsigned long long)(with->keys - found),
           (unsigned long long)with->keys);
    printf(
        "- false positives: %llu of %llu absent keys, **%.4f %%**; the model says %.4f %%, the standard error of the "
        "count is %.4f %%: %+.1f of them off\n",
        (unsigned long long)wrong, (unsigned long long)with->absent, 100 * rate, 100 * model,
        100 * error, off);
    printf("- bits set %.3f %%; keys by the bits %.6g (95 %%: %.6g .. %.6g)\n", 100 * stats.fill,
           stats.estimated_items.value, stats.estimated_items.low, stats.estimated_items.high);
    return found == with->keys && fabs(off) < 5; /* 5 standard errors: once in two million runs */
}

/* ---- the whole run --------------------------------------------------------------------------- */

struct figures {
    double floor, loop, batch, classic, alone, together;
};

static void compare(uint64_t bytes, const struct setting *with, struct figures *ns)
{
    uint64_t sample = with->keys < 100000000 ? with->keys : 100000000;
    double first;
    ns->floor = touch_floor(bytes, sample, &first);
    printf("| first touch of as much memory, reported separately | | %.2f | |\n", first);
    petal_filter *classic = new_filter(with, PETAL_SCHEME_CLASSIC);
    touch(classic);
    ns->classic =
        sample_loop(classic, "classic filter, loop of petal_add_i64(), sample", sample * 2 / 5);
    petal_free(classic);
}

static void print_ratios(const struct figures *ns, unsigned threads)
{
    printf("\n| ratio to the build with | 1 thread | %u threads |\n| --- | --- | --- |\n", threads);
    printf("| touch floor | %.2fx | %.2fx |\n", ns->floor / ns->alone, ns->floor / ns->together);
    printf("| plain loop | %.2fx | %.2fx |\n", ns->loop / ns->alone, ns->loop / ns->together);
    printf("| batches | %.2fx | %.2fx |\n", ns->batch / ns->alone, ns->batch / ns->together);
    printf("| classic filter | %.1fx | %.1fx |\n", ns->classic / ns->alone,
           ns->classic / ns->together);
    printf("| 1 thread | 1x | %.2fx |\n", ns->alone / ns->together);
}

/* Runs the samples and both builds. Returns the second build's filter, and sets *same to true if
 * the first build's filter was equal. */
static petal_filter *build_twice(const struct setting *with, struct figures *ns, bool *same)
{
    uint64_t sample = with->keys < 100000000 ? with->keys : 100000000;
    double start = wall_seconds();
    petal_filter *filter = new_filter(with, PETAL_SCHEME_BLOCKED);
    printf("| creating the filter | | %.4f | |\n", wall_seconds() - start);
    touch(filter);
    ns->loop = sample_loop(filter, "plain loop of petal_add_i64(), sample", sample);
    ns->batch = sample_batch(filter, sample, sample);
    empty(filter);
    ns->alone = build(filter, with, 1);
    uint64_t first = content_of(filter);
    empty(filter);
    ns->together = build(filter, with, with->threads);
    *same = content_of(filter) == first;
    return filter;
}

static int go(const struct setting *with)
{
    struct figures ns;
    bool same;
    char path[4096];
    struct stat about = {0};
    snprintf(path, sizeof path, "%s/billions-%ld.petal", with->folder, (long)getpid());
    printf("%.4g keys at %g bits per key. Petal %s, %ld processors.\n", (double)with->keys,
           with->bits_per_key, petal_version(), sysconf(_SC_NPROCESSORS_ONLN));
    rows_begin();
    compare((uint64_t)((double)with->keys * with->bits_per_key / 8), with, &ns);
    petal_filter *filter = build_twice(with, &ns, &same);
    petal_info built = info_of(filter);
    uint64_t content = content_of(filter);
    double peak = peak_memory(), saved = save(filter, path);
    petal_free(filter);
    stat(path, &about);
    printf("| saving %.4f GB | | %.2f | |\n", (double)about.st_size * 1e-9, saved);
    petal_filter *mapped = open_often(path);
    bool good = judge(mapped, with), equal = content_of(mapped) == content;
    petal_free(mapped);
    unlink(path);
    printf("- k %u; the bits take %.4f GB, the process took at most %.4f GB: %.4f GB more\n",
           built.hashes, (double)built.bytes * 1e-9, peak * 1e-9,
           (peak - (double)built.bytes) * 1e-9);
    printf("- both builds are %s; the mapped file is %s (content id %016llx)\n",
           same ? "equal" : "DIFFERENT", equal ? "the filter that was saved" : "ANOTHER FILTER",
           (unsigned long long)content);
    print_ratios(&ns, with->threads);
    return good && same && equal ? 0 : 1;
}

/* ---- shards ---------------------------------------------------------------------------------- */

struct tally {
    struct answers members, absent;
    double wrong_by_model, variance;
    double file_bytes;
};

/* Builds a shard, saves and maps it, and queries the map. */
static void go_through_shard(const struct setting *with, uint32_t shard, struct tally *tally)
{
    struct part part = {shard, (uint32_t)with->shards, 1}, sample = part;
    char path[4096];
    struct stat about = {0};
    uint64_t keys = 0;
    double opened;
    uint64_t members = with->keys < 100000000 ? with->keys : 100000000;
    sample.step = with->keys / members;
    snprintf(path, sizeof path, "%s/billions-%ld-%u.petal", with->folder, (long)getpid(), shard);
    petal_filter *filter = new_filter(with, PETAL_SCHEME_BLOCKED);
    touch(filter);
    build_part(filter, with, with->threads, part, &keys);
    double saved = save(filter, path);
    petal_free(filter);
    stat(path, &about);
    printf("| saving %.4f GB | | %.2f | |\n", (double)about.st_size * 1e-9, saved);
    petal_filter *mapped = map(path, &opened);
    struct answers in =
        ask(mapped, with->threads, "querying the map for members, batches", sample, 0, members);
    struct answers out = ask(mapped, with->threads, "querying it for absent keys, batches", part,
                             ABSENT_FROM, with->absent);
    petal_info info = info_of(mapped);
    double rate = petal_predict_rate(&info, keys);
    petal_free(mapped);
    unlink(path);
    tally->members.keys += in.keys, tally->members.found += in.found;
    tally->absent.keys += out.keys, tally->absent.found += out.found;
    tally->wrong_by_model += rate * (double)out.keys;
    tally->variance += rate * (1 - rate) * (double)out.keys;
    tally->file_bytes += (double)about.st_size;
}

static int go_by_shards(const struct setting *with)
{
    struct tally tally = {.file_bytes = 0};
    printf("%.4g keys at %g bits per key in %u shards. Petal %s, %ld processors.\n",
           (double)with->keys, with->bits_per_key, (unsigned)with->shards, petal_version(),
           sysconf(_SC_NPROCESSORS_ONLN));
    rows_begin();
    for (uint32_t shard = 0; shard < with->shards; shard++) go_through_shard(with, shard, &tally);
    double off = ((double)tally.absent.found - tally.wrong_by_model) / sqrt(tally.variance);
    printf("\n- missing: **%llu** of %llu members\n",
           (unsigned long long)(tally.members.keys - tally.members.found),
           (unsigned long long)tally.members.keys);
    printf(
        "- false positives: %llu of %llu absent keys, **%.4f %%**; the model says %.4f %%: %+.1f "
        "standard errors off\n",
        (unsigned long long)tally.absent.found, (unsigned long long)tally.absent.keys,
        100 * (double)tally.absent.found / (double)tally.absent.keys,
        100 * tally.wrong_by_model / (double)tally.absent.keys, off);
    printf("- the files take %.4f GB, the process took at most %.4f GB\n", tally.file_bytes * 1e-9,
           peak_memory() * 1e-9);
    return tally.members.found == tally.members.keys && fabs(off) < 5 ? 0 : 1;
}

static uint64_t number(const char *text)
{
    double value = strtod(text, NULL);
    return value >= 1 && value < 1e15 ? (uint64_t)value : 0;
}

int main(int count, char **arguments)
{
    struct setting with = {
        .keys = MAX_SHARD, .absent = 100000000, .bits_per_key = 8, .threads = 2, .folder = "build"};
    bool wrong = false;
    for (int i = 1; i < count; i++) {
        const char *name = arguments[i], *value = i + 1 < count ? arguments[i + 1] : "";
        if (name[0] != '-')
            with.keys = number(name);
        else if (i++, strcmp(name, "--threads") == 0)
            with.threads = (unsigned)number(value);
        else if (strcmp(name, "--absent") == 0)
            with.absent = number(value);
        else if (strcmp(name, "--bits") == 0)
            with.bits_per_key = strtod(value, NULL);
        else if (strcmp(name, "--shards") == 0)
            wrong = wrong || (with.shards = number(value)) == 0;
        else if (strcmp(name, "--folder") == 0)
            with.folder = value;
        else
            wrong = true;
    }
    if (with.shards == 0) with.shards = (with.keys - 1) / MAX_SHARD + 1;
    if (wrong || with.shards > MAX_SHARDS || with.keys < 1000 || with.absent < 1000 ||
        with.threads < 1 || with.threads > MAX_THREADS ||
        !(with.bits_per_key >= 1 && with.bits_per_key <= 100)) {
        fprintf(stderr,
                "usage: ./dev bench billions [KEYS] [--threads 1..%u] [--bits BITS_PER_KEY]\n"
                "                      [--absent KEYS] [--shards 1..%u] [--folder FOLDER]\n",
                MAX_THREADS, MAX_SHARDS);
        return 2;
    }
    return with.shards > 1 ? go_by_shards(&with) : go(&with);
}
