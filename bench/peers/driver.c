/* driver.c - runs Petal and other languages' Bloom filters in turn, and prints each one's cost per
 * key.
 *
 *     driver [--keys N] [--bits BITS_PER_KEY] [--rounds N] [--json] <CONTENDERS
 *
 * Each contender is a separate program, described by one line of CONTENDERS: the contender's name,
 * the opponent, the maximum number of keys (0 means any) and the command, separated by tabs. The
 * opponent is `-` for another library; `*` for Petal, which is compared with all libraries; or NAME
 * for Petal with library NAME's filter, which is compared only with that library. Petal and the
 * library must then find the same number of false positives with the same number of bits.
 *
 * A contender reads orders. For each order, it builds a filter, queries it, and answers with one
 * line:
 *
 *     run KEYS BITS_PER_KEY RATE number|text REPEATS
 *     ok ADD_NS HIT_NS MISS_NS FALSE_POSITIVES BITS LAST_KEY     per key, the lowest of the repeats
 *     none REASON
 *
 * Key i is SplitMix64's output function of i; absent keys start at 2^40. Texts are "http://a.io/"
 * followed by 16 hex digits. LAST_KEY, the last absent key (a number, as 16 hex digits), shows that
 * all contenders use the same keys. RATE is an ideal filter's rate with the same number of bits per
 * key. Keys are generated before the clock starts; creating the filter counts as adding.
 *
 * Every round runs each contender once. Every other round reverses the order, so that a slowdown of
 * the machine affects all of them; ratios are taken within a round. Before the rounds for each
 * number of keys, every contender runs without being measured, so that JIT compilers can finish. */
#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum phase { ADD, HIT, MISS, PHASES };
static const char *const phase_names[PHASES] = {"add", "hit", "miss"};

#define MAX_ROUNDS 101u
#define MAX_CONTENDERS 64u
#define MAX_SIZES 8u
#define WARM_UP_NS 1e9
#define WARM_UP_MAX_NS 10e9
#define CALM_RUNS 3
/* A round fills and queries the filter as many times as possible in this time, so that at least one
 * repeat is undisturbed. */
#define ROUND_NS 0.2e9

struct contender {
    char *name, *against, *command;
    size_t max_keys;
    pid_t process;
    FILE *orders, *answers;
    /* Results for the current number of keys. */
    bool present;
    size_t repeats;
    double ns[PHASES][MAX_ROUNDS];
    double rate;
    size_t bits, false_positives;
};

static struct contender contenders[MAX_CONTENDERS];
static size_t contender_count;
static double bits_per_key = 10;
static unsigned rounds = 9;
static bool json;

static _Noreturn void die(const char *what, const char *which)
{
    fprintf(stderr, "bench peers: %s%s%s\n", which, *which ? ": " : "", what);
    exit(1);
}

static double now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* ---- contenders ------------------------------------------------------------------------------ */

static char *next_field(char **rest)
{
    char *field = *rest;
    char *end = field ? strpbrk(field, "\t\n") : NULL;
    if (!end) die("a contender is four fields", "standard input");
    *end = 0;
    *rest = end + 1;
    return field;
}

static void read_contenders(void)
{
    char line[8192];
    while (fgets(line, sizeof line, stdin)) {
        struct contender *contender = &contenders[contender_count];
        char *rest = strdup(line);
        if (contender_count++ == MAX_CONTENDERS || !rest) die("too many contenders", "");
        contender->name = next_field(&rest);
        contender->against = next_field(&rest);
        contender->max_keys = strtoul(next_field(&rest), NULL, 10);
        contender->command = next_field(&rest);
    }
}

/* Programs that are started later must not inherit a contender's pipes; otherwise the contender
 * would never see the end of its orders. */
static void start(struct contender *contender)
{
    int orders[2], answers[2];
    fflush(stdout);
    if (pipe(orders) != 0 || pipe(answers) != 0) die("no pipe", contender->name);
    contender->process = fork();
    if (contender->process < 0) die("cannot be started", contender->name);
    if (contender->process == 0) {
        dup2(orders[0], 0);
        dup2(answers[1], 1);
        for (int file = 3; file < 3 + 4 * (int)MAX_CONTENDERS; file++) close(file);
        execl("/bin/sh", "sh", "-c", contender->command, (char *)NULL);
        _exit(127);
    }
    close(orders[0]);
    close(answers[1]);
    contender->orders = fdopen(orders[1], "w");
    contender->answers = fdopen(answers[0], "r");
    if (!contender->orders || !contender->answers) die("no pipe", contender->name);
}

static void end(struct contender *contender)
{
    fclose(contender->orders);
    fclose(contender->answers);
    waitpid(contender->process, NULL, 0);
}

/* ---- rounds ---------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* Returns the last key, or NULL if the line is not an answer. */
static const char *read_answer(char *line, struct contender *contender, double *ns[PHASES])
{
    char *word[7], *rest = NULL;
    for (size_t i = 0; i < 7; i++)
        if (!(word[i] = strtok_r(i ? NULL : line, " \n", &rest))) return NULL;
    if (strcmp(word[0], "ok") != 0) return NULL;
    for (int phase = 0; phase < PHASES; phase++) *ns[phase] = strtod(word[1 + phase], NULL);
    contender->false_positives = strtoul(word[4], NULL, 10);
    contender->bits = strtoul(word[5], NULL, 10);
    return word[6];
}

/* Runs the contender once, and stores the results from its answer as round `round`. */
static void run_round(struct contender *contender, size_t keys, const char *kind, unsigned round)
{
    char line[512] = "", expected[64];
    double *ns[PHASES];
    for (int phase = 0; phase < PHASES; phase++) ns[phase] = &contender->ns[phase][round];
    fprintf(contender->orders, "run %zu %g %.17g %s %zu\n", keys, bits_per_key,
            exp(-bits_per_key * log(2) * log(2)), kind, contender->repeats);
    fflush(contender->orders);
    if (!fgets(line, sizeof line, contender->answers))
        die("it ended before its answer", contender->name);
    if (strncmp(line, "none ", 5) == 0) {
        contender->present = false;
        return;
    }
    const char *last = read_answer(line, contender, ns);
    if (!last) die("its answer makes no sense", contender->name);
    snprintf(expected, sizeof expected, "%s%016" PRIx64,
             strcmp(kind, "text") == 0 ? "http://a.io/" : "", mix(((uint64_t)1 << 40) + keys - 1));
    if (strcmp(last, expected) != 0) die("it has other keys", contender->name);
}

static double total_ns(const struct contender *contender)
{
    return contender->ns[ADD][0] + contender->ns[HIT][0] + contender->ns[MISS][0];
}

/* Warms a contender up: runs it until several runs in a row are no faster than the best run so far,
 * or a time limit is reached. The last run shows how long a run takes. */
static void warm_up(struct contender *contender, size_t keys, const char *kind)
{
    contender->repeats = 1;
    contender->present = contender->max_keys == 0 || keys <= contender->max_keys;
    if (!contender->present) return;
    run_round(contender, keys, kind, 0); /* also generates the keys */
    double begin = now_ns(), best = INFINITY, spent = 0;
    for (int calm = 0; contender->present && spent < WARM_UP_MAX_NS &&
                       (spent < WARM_UP_NS || calm < CALM_RUNS);) {
        contender->repeats = (size_t)fmax(1, ROUND_NS / (total_ns(contender) * (double)keys));
        run_round(contender, keys, kind, 0);
        calm = total_ns(contender) < 0.9 * best ? 0 : calm + 1;
        best = fmin(best, total_ns(contender));
        spent = now_ns() - begin;
    }
}

static void run_rounds(size_t keys, const char *kind)
{
    size_t found[MAX_CONTENDERS] = {0};
    for (size_t i = 0; i < contender_count; i++) warm_up(&contenders[i], keys, kind);
    for (unsigned round = 0; round < rounds; round++)
        for (size_t i = 0; i < contender_count; i++) {
            size_t at = round % 2 ? contender_count - 1 - i : i;
            if (contenders[at].present) run_round(&contenders[at], keys, kind, round);
            found[at] += contenders[at].false_positives;
        }
    for (size_t i = 0; i < contender_count; i++)
        contenders[i].rate = (double)found[i] / ((double)keys * (double)rounds);
}

/* ---- comparing ------------------------------------------------------------------------------- */

struct spread {
    double min, median, max;
};

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static struct spread spread_of(const double *values)
{
    double sorted[MAX_ROUNDS];
    memcpy(sorted, values, rounds * sizeof *sorted);
    qsort(sorted, rounds, sizeof *sorted, compare);
    return (struct spread){sorted[0], sorted[rounds / 2], sorted[rounds - 1]};
}

/* Returns the ratio of their time to mine in the same round: above 1, `mine` is faster. */
static struct spread ratio_of(const struct contender *mine, const struct contender *theirs,
                              int phase)
{
    double ratios[MAX_ROUNDS];
    for (unsigned i = 0; i < rounds; i++) ratios[i] = theirs->ns[phase][i] / mine->ns[phase][i];
    return spread_of(ratios);
}

static bool is_peer(const struct contender *contender)
{
    return strcmp(contender->against, "-") == 0;
}

static bool are_compared(const struct contender *mine, const struct contender *theirs)
{
    if (!mine->present || !theirs->present || is_peer(mine) || !is_peer(theirs)) return false;
    return strcmp(mine->against, "*") == 0 || strcmp(mine->against, theirs->name) == 0;
}

/* If Petal uses another library's filter, both must return the same number of false positives.
 * Otherwise the filters differ. */
static void check_alike(const struct contender *mine, const struct contender *theirs)
{
    if (strcmp(mine->against, theirs->name) != 0) return;
    if (mine->false_positives != theirs->false_positives || mine->bits != theirs->bits)
        die("it is not the filter that the library makes", mine->name);
}

/* ---- reporting ------------------------------------------------------------------------------- */

/* Returns the ratio of the minimum times, which may be from different rounds. */
static double best_ratio_of(const struct contender *mine, const struct contender *theirs, int phase)
{
    return spread_of(theirs->ns[phase]).min / spread_of(mine->ns[phase]).min;
}

/* The tables are Markdown, wide enough to be read as text. */
#define NAME_WIDTH 34
#define CELL_WIDTH 26

static void print_cell(const char *text)
{
    printf(" %-*s |", CELL_WIDTH, text);
}

static void print_spread(struct spread spread)
{
    char text[80];
    snprintf(text, sizeof text, "%.2f (%.2f..%.2f)", spread.median, spread.min, spread.max);
    print_cell(text);
}

static void print_ratio(const struct contender *mine, const struct contender *theirs, int phase)
{
    struct spread spread = ratio_of(mine, theirs, phase);
    char text[80];
    snprintf(text, sizeof text, "%.1fx; %.1fx (%.1f..%.1f)", best_ratio_of(mine, theirs, phase),
             spread.median, spread.min, spread.max);
    print_cell(text);
}

/* Prints the line below `count` column headings. */
static void print_rule(size_t columns)
{
    printf("|");
    for (size_t i = 0; i < columns; i++) printf(" --- |");
    printf("\n");
}

static void print_ns_table(size_t keys)
{
    printf("| %-*s | bits per key | rate     |", NAME_WIDTH, "ns per key: median (least..most)");
    for (int phase = 0; phase < PHASES; phase++) print_cell(phase_names[phase]);
    printf("\n");
    print_rule(3 + PHASES);
    for (size_t i = 0; i < contender_count; i++) {
        const struct contender *contender = &contenders[i];
        if (!contender->present) continue;
        printf("| %-*s | %10.2f | %6.3f %% |", NAME_WIDTH, contender->name,
               (double)contender->bits / (double)keys, 100 * contender->rate);
        for (int phase = 0; phase < PHASES; phase++) print_spread(spread_of(contender->ns[phase]));
        printf("\n");
    }
}

/* Prints a library's row: a column for each of Petal's own contenders, followed by columns for
 * Petal with the library's filter. The number of columns is the same in all rows. */
static void print_ratio_row(const struct contender *theirs, int phase, size_t columns)
{
    size_t used = 0;
    printf("| %-*s | %-4s |", NAME_WIDTH, theirs->name, phase_names[phase]);
    for (size_t j = 0; j < contender_count; j++) {
        bool compared = are_compared(&contenders[j], theirs);
        if (!compared && strcmp(contenders[j].against, "*") != 0) continue;
        if (compared)
            print_ratio(&contenders[j], theirs, phase);
        else
            print_cell(""); /* this contender doesn't support these keys */
        used++;
    }
    for (; used < columns; used++) print_cell("");
    printf("\n");
}

static void print_ratio_table(void)
{
    static const char *const alike[] = {"its filter in petal", "the same, batch"};
    size_t columns = 0;
    printf("| %-*s |      |", NAME_WIDTH, "times as fast as");
    for (size_t i = 0; i < contender_count; i++)
        if (strcmp(contenders[i].against, "*") == 0) print_cell(contenders[i].name), columns++;
    for (size_t i = 0; i < sizeof alike / sizeof *alike; i++) print_cell(alike[i]), columns++;
    printf("\n");
    print_rule(2 + columns);
    for (size_t i = 0; i < contender_count; i++)
        for (int phase = 0; phase < PHASES && contenders[i].present && is_peer(&contenders[i]);
             phase++)
            print_ratio_row(&contenders[i], phase, columns);
}

static void print_tables(size_t keys, const char *kind)
{
    printf("\n%zu keys, %s, %g bits per key, %u rounds:\n\n", keys,
           strcmp(kind, "text") == 0 ? "texts of 28 bytes" : "64-bit numbers", bits_per_key,
           rounds);
    print_ns_table(keys);
    printf(
        "\nHow many times as fast as the others, by the least times; in the same round, median (least..most):\n\n");
    print_ratio_table();
}

static void print_json_spread(const char *name, struct spread spread)
{
    printf(", \"%s\": [%.4f, %.4f, %.4f]", name, spread.min, spread.median, spread.max);
}

/* Prints one object per line: a contender or a comparison. Spreads are [min, median, max]; "best"
 * is the ratio of the minimum times. */
static void print_json(size_t keys, const char *kind)
{
    for (size_t i = 0; i < contender_count; i++) {
        const struct contender *theirs = &contenders[i];
        if (!theirs->present) continue;
        printf(
            "{\"keys\": %zu, \"kind\": \"%s\", \"rounds\": %u, \"name\": \"%s\", \"bits_per_key\": %.4f, \"rate\": %.8f",
            keys, kind, rounds, theirs->name, (double)theirs->bits / (double)keys, theirs->rate);
        for (int phase = 0; phase < PHASES; phase++)
            print_json_spread(phase_names[phase], spread_of(theirs->ns[phase]));
        printf("}\n");
        for (size_t j = 0; j < contender_count; j++) {
            if (!are_compared(&contenders[j], theirs)) continue;
            printf(
                "{\"keys\": %zu, \"kind\": \"%s\", \"rounds\": %u, \"name\": \"%s\", \"times_as_fast_as\": \"%s\"",
                keys, kind, rounds, contenders[j].name, theirs->name);
            for (int phase = 0; phase < PHASES; phase++)
                print_json_spread(phase_names[phase], ratio_of(&contenders[j], theirs, phase));
            printf(", \"best\": [%.4f, %.4f, %.4f]}\n", best_ratio_of(&contenders[j], theirs, ADD),
                   best_ratio_of(&contenders[j], theirs, HIT),
                   best_ratio_of(&contenders[j], theirs, MISS));
        }
    }
}

static void run_size(size_t keys, const char *kind)
{
    run_rounds(keys, kind);
    for (size_t i = 0; i < contender_count; i++)
        for (size_t j = 0; j < contender_count; j++)
            if (are_compared(&contenders[j], &contenders[i]))
                check_alike(&contenders[j], &contenders[i]);
    if (json)
        print_json(keys, kind);
    else
        print_tables(keys, kind);
    fflush(stdout);
}

int main(int count, char **arguments)
{
    size_t sizes[MAX_SIZES] = {10000, 1000000}, size_count = 0;
    for (int i = 1; i < count; i++) {
        char *value = i + 1 < count ? arguments[i + 1] : "";
        if (strcmp(arguments[i], "--json") == 0)
            json = true;
        else if (strcmp(arguments[i], "--rounds") == 0)
            rounds = (unsigned)strtoul(value, NULL, 10), i++;
        else if (strcmp(arguments[i], "--bits") == 0)
            bits_per_key = strtod(value, NULL), i++;
        else if (strcmp(arguments[i], "--keys") == 0 && size_count < MAX_SIZES &&
                 strtoul(value, NULL, 10) > 0)
            sizes[size_count++] = strtoul(value, NULL, 10), i++;
        else
            rounds = 0;
    }
    if (rounds < 1 || rounds > MAX_ROUNDS || !(bits_per_key >= 1)) {
        fprintf(
            stderr,
            "usage: ./dev bench peers [--keys N]... [--bits BITS_PER_KEY] [--rounds 1..%u] [--json] [LIBRARY...]\n",
            MAX_ROUNDS);
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    read_contenders();
    /* Each key type has its own processes, because most programs use keys of a single type. */
    for (int texts = 0; texts <= 1; texts++) {
        for (size_t i = 0; i < contender_count; i++) start(&contenders[i]);
        for (size_t i = 0; i < (size_count ? size_count : 2); i++)
            run_size(sizes[i], texts ? "text" : "number");
        for (size_t i = 0; i < contender_count; i++) end(&contenders[i]);
    }
    return 0;
}
