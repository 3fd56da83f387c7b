/* main.c - ./dev bench suite: measures ns per key for adding and querying in one process, for
 * Petal, other libraries and the machine's minimum (floor.c). */
#include "report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: ./dev bench [suite] [OPTION...]\n"
    "  --keys N,...         keys in the filter; 1e4 to 1e7 by tens. Up to 1e9 and more where memory is.\n"
    "  --rate 1%|0.1%       10 or 16 bits per key; or\n"
    "  --bits B,...         bits per key; 10\n"
    "  --kind numbers|addresses\n"
    "                       keys of 8 bytes, or of 28; both\n"
    "  --full               1e4 to 1e8 keys, 10 and 16 bits per key: about 1.5 hours\n"
    "  --rounds N           9\n"
    "  --absent N           absent keys that are asked for a rate; 1e7\n"
    "  --contenders A,...   those whose name begins so, such as `petal,boost fm32`, or with `=petal batch`\n"
    "                       is so; all. If not all fit into half of the memory together, the first ones.\n"
    "  --base NAME          the contender that others are compared with; libbloom\n"
    "  --rates yes|no|only  also compare rates at 10, 12, 16 and 20 bits per key; yes, but no with --keys\n"
    "  --json FILE, --markdown FILE, --svg FOLDER\n"
    "                       also write the outcome as JSON, as tables of Markdown, as charts; with\n"
    "                       --markdown - the tables are the output, and progress is on stderr\n"
    "  --list               the contenders, and which are missing and why\n";

#define MAX_VALUES 16u

struct values {
    double at[MAX_VALUES];
    size_t count;
};

struct options {
    struct values keys, bits;
    bool numbers, addresses, list, times, rates;
    unsigned rounds;
    double absent;
    const char *contenders, *base, *json, *markdown, *svg;
    FILE *progress;
};

/* ---- contenders ------------------------------------------------------------------------------ */

#ifdef WITHOUT_CLANG
#define BY_EACH_COMPILER(library) library##_contenders
#else
#define BY_EACH_COMPILER(library) library##_contenders, library##_clang_contenders
#endif

static const struct contender *const tables[] = {
    libbloom_contenders,
    petal_contenders,
#ifndef WITHOUT_PETAL_INLINE
    BY_EACH_COMPILER(petal_inline),
#endif
    BY_EACH_COMPILER(split_block),
#ifndef WITHOUT_BOOST
    BY_EACH_COMPILER(boost),
#endif
#ifndef WITHOUT_ROCKSDB
    rocksdb_contenders,
#endif
#ifndef WITHOUT_ROCKSDB_INLINE
    BY_EACH_COMPILER(rocksdb_inline),
#endif
#ifndef WITHOUT_LEVELDB
    leveldb_contenders,
#endif
#ifndef WITHOUT_FUSE
    BY_EACH_COMPILER(fuse),
#endif
    floor_contenders,
};

static const struct missing missing[] = {
#ifdef WITHOUT_CLANG
    {"clang", WITHOUT_CLANG},
#endif
#ifdef WITHOUT_PETAL_INLINE
    {"petal inline", WITHOUT_PETAL_INLINE},
#endif
#ifdef WITHOUT_BOOST
    {"boost", WITHOUT_BOOST},
#endif
#ifdef WITHOUT_ROCKSDB
    {"rocksdb", WITHOUT_ROCKSDB},
#endif
#ifdef WITHOUT_ROCKSDB_INLINE
    {"rocksdb inline", WITHOUT_ROCKSDB_INLINE},
#endif
#ifdef WITHOUT_LEVELDB
    {"leveldb", WITHOUT_LEVELDB},
#endif
#ifdef WITHOUT_FUSE
    {"fuse", WITHOUT_FUSE},
#endif
    {NULL, NULL},
};

static bool is_among(const struct contender *one, const struct contender *const *chosen,
                     size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (chosen[i] == one) return true;
    return false;
}

/* Returns true if the name starts with the item. If the item starts with "=", the name must equal
 * the rest of the item. */
static bool is_meant(const char *name, const char *item, size_t size)
{
    if (size > 0 && *item == '=')
        return strlen(name) == size - 1 && strncmp(name, item + 1, size - 1) == 0;
    return size > 0 && strncmp(name, item, size) == 0;
}

/* Selects contenders in the order of a comma-separated list. Without a list, selects all
 * contenders. */
static size_t choose(const char *list, const struct contender **chosen)
{
    size_t count = 0;
    do {
        size_t size = list ? strcspn(list, ",") : 0;
        for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
            for (const struct contender *at = tables[i]; at->name && count < MAX_CONTENDERS; at++)
                if ((!list || is_meant(at->name, list, size)) && !is_among(at, chosen, count))
                    chosen[count++] = at;
        if (list) list += size + (list[size] == ',');
    } while (list && *list);
    return count;
}

static void list_contenders(void)
{
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        for (const struct contender *at = tables[i]; at->name; at++) puts(at->name);
    for (const struct missing *at = missing; at->name; at++)
        printf("without %s: %s\n", at->name, at->why);
}

/* ---- options --------------------------------------------------------------------------------- */

static bool read_number(const char *text, char **end, double *number)
{
    errno = 0;
    *number = strtod(text, end);
    return *end != text && errno == 0 && *number >= 1 && *number <= 1e12;
}

static bool read_values(const char *text, struct values *values)
{
    char *end;
    values->count = 0;
    do {
        if (values->count == MAX_VALUES || !read_number(text, &end, &values->at[values->count++]))
            return false;
        text = end + 1;
    } while (*end == ',');
    return *end == 0;
}

static bool read_rate(const char *text, struct values *bits)
{
    *bits = (struct values){{strcmp(text, "1%") == 0 ? 10 : 16}, 1};
    return strcmp(text, "1%") == 0 || strcmp(text, "0.1%") == 0;
}

static bool read_kind(const char *text, struct options *options)
{
    options->numbers = strcmp(text, "numbers") == 0;
    options->addresses = strcmp(text, "addresses") == 0;
    return options->numbers || options->addresses;
}

static bool read_rates(const char *text, struct options *options)
{
    options->times = strcmp(text, "only") != 0;
    options->rates = strcmp(text, "no") != 0;
    return strcmp(text, "yes") == 0 || !options->times || !options->rates;
}

static bool read_rounds(const char *text, unsigned *rounds)
{
    char *end;
    double number = 0;
    bool good = read_number(text, &end, &number) && *end == 0 && number <= MAX_ROUNDS;
    *rounds = good ? (unsigned)number : 0;
    return good;
}

static bool read_value(const char *name, const char *value, struct options *options)
{
    char *end;
    if (strcmp(name, "--keys") == 0) {
        options->rates = false;
        return read_values(value, &options->keys);
    }
    if (strcmp(name, "--rate") == 0) return read_rate(value, &options->bits);
    if (strcmp(name, "--bits") == 0) return read_values(value, &options->bits);
    if (strcmp(name, "--kind") == 0) return read_kind(value, options);
    if (strcmp(name, "--rates") == 0) return read_rates(value, options);
    if (strcmp(name, "--rounds") == 0) return read_rounds(value, &options->rounds);
    if (strcmp(name, "--absent") == 0)
        return read_number(value, &end, &options->absent) && *end == 0;
    const char **text = strcmp(name, "--contenders") == 0 ? &options->contenders
                        : strcmp(name, "--base") == 0     ? &options->base
                        : strcmp(name, "--json") == 0     ? &options->json
                        : strcmp(name, "--markdown") == 0 ? &options->markdown
                        : strcmp(name, "--svg") == 0      ? &options->svg
                                                          : NULL;
    if (text) *text = value;
    return text != NULL;
}

static bool read_options(int count, char **arguments, struct options *options)
{
    for (int i = 1; i < count; i++) {
        if (strcmp(arguments[i], "--full") == 0) {
            options->keys = (struct values){{1e4, 1e5, 1e6, 1e7, 1e8}, 5};
            options->bits = (struct values){{10, 16}, 2};
        } else if (strcmp(arguments[i], "--list") == 0) {
            options->list = true;
        } else if (i + 1 == count || !read_value(arguments[i], arguments[i + 1], options)) {
            return false;
        } else {
            i++;
        }
    }
    return true;
}

/* ---- running --------------------------------------------------------------------------------- */

static struct outcome *measure(struct setting setting, const struct contender *const *chosen,
                               size_t count)
{
    struct outcome *outcome = calloc(1, sizeof *outcome);
    if (!outcome) exit(2);
    outcome->setting = setting;
    run_rounds(outcome, chosen, count);
    return outcome;
}

/* Runs one round with more absent keys than timing would need, since rates are compared to within a
 * thousandth. */
static void measure_rates(struct run *run, const struct options *options,
                          const struct contender *const *chosen, size_t count)
{
    static const double bits[] = {10, 12, 16, 20};
    for (size_t i = 0; i < sizeof bits / sizeof *bits; i++) {
        struct setting setting = {1000000, false, bits[i], 1, (size_t)(3 * options->absent)};
        run->rates[run->rate_count++] = measure(setting, chosen, count);
    }
    print_rates(run, options->progress);
}

static void measure_times(struct run *run, const struct options *options,
                          const struct contender *const *chosen, size_t count)
{
    for (size_t bits = 0; bits < options->bits.count; bits++)
        for (int addresses = 0; addresses <= 1; addresses++)
            for (size_t keys = 0; keys < options->keys.count; keys++) {
                if (!(addresses ? options->addresses : options->numbers)) continue;
                struct setting setting = {(size_t)options->keys.at[keys], addresses,
                                          options->bits.at[bits], options->rounds,
                                          (size_t)options->absent};
                struct outcome *outcome = measure(setting, chosen, count);
                run->outcomes[run->outcome_count++] = outcome;
                print_outcome(outcome, run->base, options->progress);
            }
}

static bool save(const struct run *run, const char *path,
                 void (*write)(const struct run *run, FILE *out))
{
    if (!path) return true;
    if (strcmp(path, "-") == 0) {
        write(run, stdout);
        return fflush(stdout) == 0;
    }
    FILE *out = fopen(path, "w");
    if (out) write(run, out);
    if (out && fclose(out) == 0) return true;
    fprintf(stderr, "bench: cannot write %s\n", path);
    return false;
}

int main(int count, char **arguments)
{
    static struct outcome *outcomes[2 * MAX_VALUES * MAX_VALUES], *rates[4];
    const struct contender *chosen[MAX_CONTENDERS];
    struct options options = {.keys = {{1e4, 1e5, 1e6, 1e7}, 4},
                              .bits = {{10}, 1},
                              .numbers = true,
                              .addresses = true,
                              .times = true,
                              .rates = true,
                              .rounds = 9,
                              .absent = 1e7,
                              .base = "libbloom"};
    if (!read_options(count, arguments, &options)) {
        fputs(usage, stderr);
        return 2;
    }
    bool tables_only = options.markdown && strcmp(options.markdown, "-") == 0;
    options.progress = tables_only ? stderr : stdout;
    if (options.list) {
        list_contenders();
        return 0;
    }
    struct run run = {
        .missing = missing, .outcomes = outcomes, .rates = rates, .base = options.base};
    size_t contenders = choose(options.contenders, chosen);
    if (contenders == 0) {
        fprintf(stderr, "bench: no contender begins with '%s'; --list names them\n",
                options.contenders);
        return 2;
    }
    look_at_machine(&run.machine, count, arguments);
    print_head(&run, options.progress);
    if (options.rates) measure_rates(&run, &options, chosen, contenders);
    if (options.times) measure_times(&run, &options, chosen, contenders);
    bool good = save(&run, options.json, write_json);
    good = save(&run, options.markdown, write_markdown) && good;
    good = (!options.svg || write_charts(&run, options.svg)) && good;
    for (size_t i = 0; i < run.outcome_count; i++) free(outcomes[i]);
    for (size_t i = 0; i < run.rate_count; i++) free(rates[i]);
    return good ? 0 : 2;
}
