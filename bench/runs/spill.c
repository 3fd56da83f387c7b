/* spill.c - ./dev bench spill: builds a static filter of a billion keys in 1 GB of memory, with
 * sorted runs on disk, and then queries its file for members and absent keys.
 *
 *     ./dev bench spill            10^9 keys: a few minutes, 9 GB of disk
 *     ./dev bench spill 1e7        fewer keys; the memory is a byte per key unless it is given
 *     ./dev bench spill 1e7 2e7    keys, and bytes of memory
 *
 * Key i is i * 0x9e3779b97f4a7c15 mod 2^64. The factor is odd, so all keys are distinct. The times
 * include computing the keys. One thread does everything. The peak memory is the process's,
 * measured before the file is mapped. The exit status is 1 if a key is missing, the rate is wrong,
 * or the process used more memory than petal_static_spill() promises. */
#define _POSIX_C_SOURCE 200809L
#include "run.h"

#include "../../tests/keys.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RATE 0.01
#define PIECE 4096u
#define QUERIES ((uint64_t)10000000)
#define ABSENT_FROM ((uint64_t)1 << 60) /* key numbers from here on are never added */

/* Additional memory that the process may use, for a page, its buffers, and the program itself. */
#define OTHER_BYTES 8e6

static void row(const char *what, double seconds, uint64_t count)
{
    printf("| %-40s | %12.4g | %8.2f | %8.2f |\n", what, (double)count, seconds,
           seconds / (double)count * 1e9);
    fflush(stdout);
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

/* Generates keys number from, from + step, and so on, at most `left` of them. Returns the number of
 * keys that fit. */
static size_t fill_piece(uint64_t from, uint64_t step, uint64_t left, int64_t piece[PIECE])
{
    size_t count = left < PIECE ? (size_t)left : PIECE;
    for (size_t i = 0; i < count; i++)
        piece[i] = (int64_t)((from + i * step) * 0x9e3779b97f4a7c15u);
    return count;
}

static petal_filter *build(uint64_t keys, uint64_t memory_bytes)
{
    petal_options options = PETAL_OPTIONS_INIT;
    petal_static_builder *builder;
    petal_filter *filter;
    petal_error error;
    int64_t piece[PIECE];
    options.rate = RATE;
    double start = wall_seconds();
    check(petal_static_create(&options, 1, &builder, &error), &error);
    check(petal_static_spill(builder, "build", memory_bytes, &error), &error);
    for (uint64_t i = 0, count; i < keys; i += count) {
        count = fill_piece(i, 1, keys - i, piece);
        petal_batch batch = batch_of_numbers(piece, (size_t)count);
        check(petal_static_add(builder, 0, &batch, &error), &error);
    }
    double added = wall_seconds();
    row("adding: hashed, sorted runs written", added - start, keys);
    check(petal_static_finish(builder, NULL, NULL, &filter, &error), &error);
    row("finishing: runs merged, pages solved", wall_seconds() - added, keys);
    row("**building**", wall_seconds() - start, keys);
    return filter;
}

static uint64_t ask(const petal_filter *filter, const char *what, uint64_t from, uint64_t step,
                    uint64_t count)
{
    int64_t piece[PIECE];
    uint64_t found = 0;
    double start = wall_seconds();
    for (uint64_t i = 0, part; i < count; i += part) {
        part = fill_piece(from + i * step, step, count - i, piece);
        found += contains_numbers(filter, piece, (size_t)part, NULL);
    }
    row(what, wall_seconds() - start, count);
    return found;
}

/* Saves the filter, maps the file, and unlinks it. Returns the map. */
static petal_filter *moved_to_file(petal_filter *filter, uint64_t keys)
{
    char path[64];
    petal_filter *mapped;
    petal_error error;
    snprintf(path, sizeof path, "build/spill-%ld.petal", (long)getpid());
    double start = wall_seconds();
    check(petal_save(filter, path, NULL, &error), &error);
    row("saving", wall_seconds() - start, keys);
    petal_free(filter);
    check(petal_open(path, NULL, &mapped, &error), &error);
    unlink(path);
    return mapped;
}

/* 5 standard errors: once in two million runs. */
static bool judge(const petal_filter *filter, const petal_info *info, uint64_t keys)
{
    uint64_t members = keys < QUERIES ? keys : QUERIES;
    uint64_t found =
        ask(filter, "querying the map for members, batches", 0, keys / members, members);
    uint64_t wrong = ask(filter, "querying it for absent keys, batches", ABSENT_FROM, 1, QUERIES);
    double model = info->predicted_rate, rate = (double)wrong / (double)QUERIES,
           off = (rate - model) / sqrt(model * (1 - model) / (double)QUERIES);
    printf("\n- missing: **%llu** of %llu members\n", (unsigned long long)(members - found),
           (unsigned long long)members);
    printf(
        "- false positives: %llu of %llu absent keys, **%.4f %%**; the model says %.4f %%: %+.1f "
        "standard errors off\n",
        (unsigned long long)wrong, (unsigned long long)QUERIES, 100 * rate, 100 * model, off);
    return found == members && fabs(off) < 5;
}

static int go(uint64_t keys, uint64_t memory_bytes)
{
    petal_info info = PETAL_INFO_INIT;
    petal_error error;
    printf("%.4g keys at %g %% in %.4g GB of memory. Petal %s, %ld processors.\n", (double)keys,
           100 * RATE, (double)memory_bytes * 1e-9, petal_version(), sysconf(_SC_NPROCESSORS_ONLN));
    printf("\n| step | keys | seconds | ns per key |\n| --- | --- | --- | --- |\n");
    petal_filter *filter = build(keys, memory_bytes);
    double peak = peak_memory(), allowed = (double)memory_bytes * 1.125 + OTHER_BYTES;
    check(petal_get_info(filter, PETAL_ALL_LAYERS, &info, &error), &error);
    filter = moved_to_file(filter, keys);
    bool good = judge(filter, &info, keys);
    petal_free(filter);
    printf("- the filter takes %.4f GB, %.3f bits per key, in %u layers\n",
           (double)info.bytes * 1e-9, 8 * (double)info.bytes / (double)keys, info.layers);
    printf("- the process took at most **%.4f GB** to build it, of %.4f GB allowed%s\n",
           peak * 1e-9, allowed * 1e-9, peak <= allowed ? "" : ": TOO MUCH");
    return good && peak <= allowed ? 0 : 1;
}

static uint64_t number(const char *text)
{
    double value = strtod(text, NULL);
    return value >= 1 && value < 1e15 ? (uint64_t)value : 0;
}

int main(int count, char **arguments)
{
    uint64_t keys = count > 1 ? number(arguments[1]) : 1000000000,
             memory_bytes = count > 2 ? number(arguments[2]) : keys;
    if (count > 3 || keys < 100000 || memory_bytes < 65536) {
        fprintf(stderr,
                "usage: ./dev bench spill [KEYS, from 1e5 [BYTES OF MEMORY, from 65536]]\n");
        return 2;
    }
    return go(keys, memory_bytes);
}
