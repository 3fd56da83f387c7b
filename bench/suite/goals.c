/* goals.c - checks whether a run meets the goals that were set for Petal.
 *
 * Ratios are taken within each round. A goal is met if the median of the ratios meets it; the
 * spread of the rounds is also printed. A goal with several peers uses the fastest peer, whatever
 * its rate, and both rates are printed. If two compilers built a contender, including Petal's, the
 * goal uses the faster build. If a goal covers several phases, the worst one counts. */
#include "report.h"

#include <math.h>
#include <petal/petal.h>
#include <string.h>

enum keys_asked { NUMBERS, ADDRESSES };

#define LOOKUP (1u << HIT | 1u << MISS | 1u << MIX)
#define ADDING (1u << ADD)

struct goal {
    const char *mine, *called,
        *peers; /* `peers` is a comma-separated list of names; the goal applies to all of them */
    unsigned phases;
    enum keys_asked keys;
    size_t from, to; /* keys */
    bool faster;     /* at least `bound` times as fast; otherwise at most `bound` of the time */
    double bound;
};

#define BOOST_CALL "boost fm32 call,boost fm64 call"
#define BOOST_BULK "boost fm32 bulk,boost fm64 bulk"
#define BOOST_BULK_2M "boost fm32 bulk 2M,boost fm64 bulk 2M"
#define BOOST_BULK_8 "boost fm32 bulk 8,boost fm64 bulk 8"
#define FLOOR_2M "floor touch 2M,floor prefetch 2M"
#define ROCKSDB "rocksdb one,rocksdb inline one"

/* All speed goals are for filters with 10 bits per key. */
static const struct goal goals[] = {
    {"petal inline", "libbloom", "libbloom", LOOKUP, NUMBERS, 10000, 1000000, true, 10},
    {"petal inline", "libbloom", "libbloom", ADDING, NUMBERS, 10000, 1000000, true, 20},
    {"petal one", "libbloom", "libbloom", LOOKUP | ADDING, ADDRESSES, 10000, 1000000, true, 4},
    {"petal inline", "RocksDB", ROCKSDB, LOOKUP, NUMBERS, 10000, 1000000, false, 0.6},
    {"petal one", "RocksDB", ROCKSDB, LOOKUP, ADDRESSES, 10000, 1000000, false, 0.6},
    {"petal inline", "split-block in C", "split-block in C", LOOKUP, NUMBERS, 10000, 1000000, false,
     0.95},
    {"petal one", "Boost behind a call", BOOST_CALL, LOOKUP | ADDING, NUMBERS, 10000, 1000000,
     false, 1.5},
    {"petal one", "Boost behind a call", BOOST_CALL, LOOKUP | ADDING, ADDRESSES, 10000, 1000000,
     false, 0.95},
    {"petal batch", "Boost in bulk", BOOST_BULK "," BOOST_BULK_2M, LOOKUP, NUMBERS, 10000, 1000000,
     false, 1.6},
    {"petal batch", "Boost in bulk", BOOST_BULK "," BOOST_BULK_2M, ADDING, NUMBERS, 10000, 1000000,
     false, 1.5},
    {"petal batch 8", "Boost in bulk of 8", BOOST_BULK_8, LOOKUP, NUMBERS, 10000, 1000000, false,
     1.7},
    {"petal batch", "Boost in bulk in 2M", BOOST_BULK_2M, LOOKUP | ADDING, NUMBERS, 10000000,
     10000000, false, 0.95},
    {"petal batch", "Boost in bulk in 2M", BOOST_BULK_2M, LOOKUP | ADDING, NUMBERS, 100000000,
     100000000, false, 0.75},
    {"petal batch", "RocksDB's batch", "rocksdb batch,rocksdb inline batch", LOOKUP, NUMBERS,
     100000000, 100000000, false, 0.95},
    {"petal batch", "the floor in 2M", FLOOR_2M, LOOKUP | ADDING, NUMBERS, 100000000, 100000000,
     false, 1.2},
    {"petal batch", "petal one", "petal one", LOOKUP | ADDING, NUMBERS, 100000000, 100000000, true,
     1.4},
};

/* Maximum false-positive rates, in percent. */
static const struct {
    const char *name;
    double bits_per_key, bound; /* 0: the textbook rate + 2 % */
} rate_goals[] = {
    {"petal one", 10, 0.98},      {"petal one", 12, 0.43},        {"petal one", 16, 0.088},
    {"petal one", 20, 0.021},     {"petal 2-line one", 10, 0.87}, {"petal 2-line one", 16, 0.056},
    {"petal classic one", 10, 0}, {"petal classic one", 12, 0},   {"petal classic one", 16, 0},
    {"petal classic one", 20, 0},
};

/* The outcome for one goal at one size. */
struct verdict {
    const struct result *mine, *peer;
    enum phase phase; /* the worst */
    struct spread ratio;
};

/* Copies the next name from a comma-separated list. Returns false at the end of the list. */
static bool next_name(const char **list, char name[64])
{
    size_t size = strcspn(*list, ",");
    if (size == 0 || size >= 64) return false;
    memcpy(name, *list, size);
    name[size] = 0;
    *list += size + ((*list)[size] == ',');
    return true;
}

static const struct result *fastest(const struct outcome *outcome, const char *names,
                                    enum phase phase)
{
    const struct result *best = NULL;
    char name[64];
    while (next_name(&names, name)) {
        const struct result *result = faster_build(outcome, name, phase);
        if (result && (!best || spread_of(result, phase).median < spread_of(best, phase).median))
            best = result;
    }
    return best;
}

static bool judge(const struct goal *goal, const struct outcome *outcome, struct verdict *verdict)
{
    *verdict = (struct verdict){.mine = NULL};
    for (enum phase phase = ADD; phase < PHASES; phase++) {
        const struct result *mine = faster_build(outcome, goal->mine, phase);
        const struct result *peer = fastest(outcome, goal->peers, phase);
        if (!(goal->phases >> phase & 1) || !mine || !peer) continue;
        struct spread ratio =
            goal->faster ? ratio_of(peer, mine, phase) : ratio_of(mine, peer, phase);
        bool worse = goal->faster ? ratio.median < verdict->ratio.median
                                  : ratio.median > verdict->ratio.median;
        if (verdict->peer && !worse) continue;
        verdict->mine = mine;
        verdict->peer = peer;
        verdict->phase = phase;
        verdict->ratio = ratio;
    }
    return verdict->peer != NULL;
}

static const char *phases_text(unsigned phases)
{
    return phases == ADDING ? "add" : phases == LOOKUP ? "ask" : "add, ask";
}

static void write_start(const struct goal *goal, FILE *out)
{
    fprintf(out, "| %s, %s, %s: %s %gx %s |", goal->mine,
            goal->keys == ADDRESSES ? "28 bytes" : "8 bytes", phases_text(goal->phases),
            goal->faster ? "&ge;" : "&le;", goal->bound, goal->called);
}

static void write_verdict(const struct goal *goal, const struct outcome *outcome,
                          const struct verdict *verdict, FILE *out)
{
    char keys[32];
    bool reached =
        goal->faster ? verdict->ratio.median >= goal->bound : verdict->ratio.median <= goal->bound;
    write_start(goal, out);
    fprintf(out, " %s | **%.2fx** (%.2f..%.2f) %s | %s", power_text(outcome->setting.keys, keys),
            verdict->ratio.median, verdict->ratio.min, verdict->ratio.max,
            phase_names[verdict->phase], verdict->peer->contender->name);
    if (!(verdict->peer->contender->flags & FLOOR))
        fprintf(out, ", %.3f %% to our %.3f %%", 100 * verdict->peer->rate,
                100 * verdict->mine->rate);
    fprintf(out, " | %s |\n", reached ? "yes" : "**no**");
}

static bool matches(const struct goal *goal, const struct setting *setting)
{
    return setting->keys >= goal->from && setting->keys <= goal->to &&
           setting->bits_per_key == 10 && setting->addresses == (goal->keys == ADDRESSES);
}

/* The goals that apply to the run's sizes and contenders. */
static void write_speeds(const struct run *run, FILE *out)
{
    bool any = false;
    for (size_t i = 0; i < sizeof goals / sizeof *goals; i++)
        for (size_t at = 0; at < run->outcome_count; at++) {
            struct verdict verdict;
            if (!matches(&goals[i], &run->outcomes[at]->setting) ||
                !judge(&goals[i], run->outcomes[at], &verdict))
                continue;
            if (!any)
                fprintf(
                    out,
                    "### Speed\n\n| goal | keys | ratio of the worst phase: median (least..most) | peer and rates | reached |\n"
                    "| --- | --- | --- | --- | --- |\n");
            write_verdict(&goals[i], run->outcomes[at], &verdict, out);
            any = true;
        }
}

static double textbook_percent(double bits_per_key)
{
    double best = 1;
    for (int k = 1; k <= 30; k++) best = fmin(best, pow(-expm1(-k / bits_per_key), k));
    return 100 * best;
}

static void write_rate_goal(const char *name, double bound, const char *kind,
                            const struct outcome *outcome, FILE *out)
{
    const struct result *result = result_named(outcome, name);
    if (!result) return;
    fprintf(out, "| %s | %.2f | &le; %.4g %%%s | %.4f %% | %s |\n", name, result->bits_per_key,
            bound, kind, 100 * result->rate, 100 * result->rate <= bound ? "yes" : "**no**");
}

static void write_rates(const struct run *run, FILE *out)
{
    fprintf(out,
            "| filter | bits per key | goal | rate | reached |\n| --- | --- | --- | --- | --- |\n");
    for (size_t i = 0; i < sizeof rate_goals / sizeof *rate_goals; i++)
        for (size_t at = 0; at < run->rate_count; at++) {
            double bits = run->rates[at]->setting.bits_per_key, bound = rate_goals[i].bound;
            if (bits != rate_goals[i].bits_per_key) continue;
            if (bound > 0)
                write_rate_goal(rate_goals[i].name, bound, "", run->rates[at], out);
            else
                write_rate_goal(rate_goals[i].name, 1.02 * textbook_percent(bits),
                                " (textbook + 2 %)", run->rates[at], out);
        }
}

void write_goals(const struct run *run, FILE *out)
{
    if (run->rate_count > 0) {
        fprintf(out, "### Rates\n\n");
        write_rates(run, out);
        fprintf(out, "\n");
    }
    write_speeds(run, out);
}
