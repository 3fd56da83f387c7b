/* rounds.c - see rounds.h.
 *
 * Every round runs each contender once and starts with a different one each time, so that a
 * slowdown of the machine affects all of them; ratios are taken within a round.
 *
 *   up to 10^7 keys   Each round creates a filter, adds all keys and queries them. If the filter is
 *                     small, the round repeats this until it has taken several milliseconds. `add`
 *                     includes creating the filter, and the first touch of its pages.
 *   more              A filter is created once, and each round adds its part of the keys in pieces
 *                     of at most 10^7; then each round queries pieces. So the first round of `add`
 *                     includes the first touch of the pages. */
#define _POSIX_C_SOURCE 200809L

#include "rounds.h"

#include "keys.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

const char *const phase_names[PHASES] = {"add", "hit", "miss", "mixed", "seen"};

#define MAX_AT_ONCE ((size_t)10000000) /* maximum number of keys in memory, per kind */
#define A_ROUND ((size_t)200000)       /* minimum number of keys per phase */

static void fail(int status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "bench: ");
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    exit(status);
}

/* Returns this thread's CPU time, which excludes other programs, but includes the kernel's work for
 * this thread. */
static double now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static size_t min_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

static struct keys room_for(size_t count, bool addresses)
{
    struct keys keys;
    if (!take_keys(&keys, count, addresses)) fail(2, "not enough memory for %zu keys", count);
    return keys;
}

static void lost(const struct contender *contender, size_t count)
{
    fail(1, "%s lost %zu keys", contender->name, count);
}

static void note(struct result *result, enum phase phase, double ns, double keys)
{
    result->ns[phase][result->rounds[phase]++] = ns / keys;
}

static void finish(const struct contender *contender, void *filter)
{
    if (contender->finish) contender->finish(filter);
}

/* Queries keys, of which at least `members` must be found. Adds the time to *spent, and returns the
 * number of keys that were found. */
static size_t ask(const struct contender *contender, void *filter, const struct keys *keys,
                  size_t members, double *spent)
{
    double start = now_ns();
    size_t found = contender->count_found(filter, keys);
    *spent += now_ns() - start;
    if (found < members && !(contender->flags & FLOOR)) lost(contender, members - found);
    return found;
}

/* ---- up to 10^7 keys ------------------------------------------------------------------------- */

struct work {
    struct keys members, absent, mixed, stream;
    size_t mixed_members;
};

static void make_work(struct work *work, const struct setting *setting)
{
    size_t keys = setting->keys, absent = keys > setting->absent ? keys : setting->absent;
    size_t mixed = keys < A_ROUND ? A_ROUND : keys;
    work->members = room_for(keys, setting->addresses);
    work->absent = room_for(absent, setting->addresses);
    work->mixed = room_for(mixed, setting->addresses);
    work->stream = room_for(keys, setting->addresses);
    fill_keys(&work->members, MEMBERS, 0, keys, 0);
    fill_keys(&work->absent, ABSENT, 0, absent, 0);
    work->mixed_members = fill_keys(&work->mixed, MIXED, 0, mixed, keys);
    fill_keys(&work->stream, STREAM, 0, keys, 0);
}

static void drop_work(struct work *work)
{
    drop_keys(&work->members);
    drop_keys(&work->absent);
    drop_keys(&work->mixed);
    drop_keys(&work->stream);
}

/* Builds a filter with all keys. Returns NULL if that is impossible. */
static void *build(const struct contender *contender, const struct setting *setting,
                   const struct work *work, double *spent)
{
    double start = now_ns();
    void *filter = contender->make(setting->keys, setting->bits_per_key);
    if (!filter) return NULL;
    contender->add(filter, &work->members);
    finish(contender, filter);
    *spent += now_ns() - start;
    return filter;
}

/* Queries and adds each key of a stream, starting with an empty filter. */
static void add_stream(const struct contender *contender, const struct setting *setting,
                       const struct work *work, double *spent)
{
    double start = now_ns();
    void *filter = contender->make(setting->keys, setting->bits_per_key);
    contender->add_new(filter, &work->stream);
    *spent += now_ns() - start;
    contender->drop(filter);
}

/* Each run uses different keys. If keys were repeated, the CPU's branch predictor would learn the
 * answers to several thousand queries. */
static struct keys absent_keys(const struct work *work, const struct setting *setting, size_t turn)
{
    size_t slices = work->absent.count / setting->keys;
    return some_keys(&work->absent, turn % slices * setting->keys, setting->keys);
}

static void find_rate(struct result *result, void *filter, const struct work *work)
{
    double unused = 0;
    if (result->contender->flags & FLOOR) return;
    result->absent = work->absent.count;
    result->rate = (double)ask(result->contender, filter, &work->absent, 0, &unused) /
                   (double)work->absent.count;
}

static void run_round(struct result *result, const struct setting *setting, const struct work *work,
                      unsigned round)
{
    const struct contender *contender = result->contender;
    size_t repeats = A_ROUND / setting->keys + 1;
    double spent[PHASES] = {0}, keys = (double)setting->keys * (double)repeats;
    void *filter = NULL;
    for (size_t i = 0; i < repeats; i++) {
        if (filter) contender->drop(filter);
        filter = build(contender, setting, work, &spent[ADD]);
        result->present = filter != NULL;
        if (!filter) return;
    }
    for (size_t i = 0; i < repeats; i++) {
        struct keys absent = absent_keys(work, setting, round * repeats + i);
        ask(contender, filter, &work->members, setting->keys, &spent[HIT]);
        ask(contender, filter, &absent, 0, &spent[MISS]);
    }
    ask(contender, filter, &work->mixed, work->mixed_members, &spent[MIX]);
    for (size_t i = 0; i < repeats && contender->add_new; i++)
        add_stream(contender, setting, work, &spent[SEEN]);
    if (round == 0) find_rate(result, filter, work);
    result->bits_per_key = contender->bits(filter) / (double)setting->keys;
    contender->drop(filter);
    for (enum phase phase = ADD; phase < PHASES; phase++)
        if (phase != SEEN || contender->add_new)
            note(result, phase, spent[phase], phase == MIX ? (double)work->mixed.count : keys);
}

static void run_whole(struct outcome *outcome)
{
    struct work work;
    make_work(&work, &outcome->setting);
    for (unsigned round = 0; round < outcome->setting.rounds; round++)
        for (size_t i = 0; i < outcome->count; i++) {
            struct result *result = &outcome->results[(i + round) % outcome->count];
            if (result->present) run_round(result, &outcome->setting, &work, round);
        }
    drop_work(&work);
}

/* ---- above ----------------------------------------------------------------------------------- */

/* Each contender adds the same piece before the next piece is made. */
static void add_piece(struct outcome *outcome, void **filters, const struct keys *piece,
                      size_t first, double *spent)
{
    for (size_t i = 0; i < outcome->count; i++) {
        size_t at = (i + first) % outcome->count;
        if (!filters[at]) continue;
        double start = now_ns();
        outcome->results[at].contender->add(filters[at], piece);
        spent[at] += now_ns() - start;
    }
}

static void add_in_parts(struct outcome *outcome, void **filters, struct keys *room)
{
    const struct setting *setting = &outcome->setting;
    size_t added = 0;
    for (unsigned round = 0; round < setting->rounds; round++) {
        size_t end = (size_t)((double)setting->keys * (round + 1) / setting->rounds), begin = added;
        double spent[MAX_CONTENDERS] = {0};
        while (added < end) {
            size_t count = min_of(end - added, MAX_AT_ONCE);
            fill_keys(room, MEMBERS, added, count, 0);
            struct keys piece = some_keys(room, 0, count);
            add_piece(outcome, filters, &piece, round, spent);
            added += count;
        }
        for (size_t i = 0; i < outcome->count; i++)
            if (filters[i]) note(&outcome->results[i], ADD, spent[i], (double)(end - begin));
    }
}

/* The cost of finishing a builder is divided among all keys. */
static void finish_all(struct outcome *outcome, void **filters)
{
    for (size_t i = 0; i < outcome->count; i++) {
        struct result *result = &outcome->results[i];
        if (!filters[i]) continue;
        double start = now_ns();
        finish(result->contender, filters[i]);
        double each = (now_ns() - start) / (double)outcome->setting.keys;
        if (result->contender->finish)
            for (unsigned round = 0; round < result->rounds[ADD]; round++)
                result->ns[ADD][round] += each;
        result->bits_per_key = result->contender->bits(filters[i]) / (double)outcome->setting.keys;
    }
}

static void ask_piece(struct outcome *outcome, void **filters, enum phase phase,
                      const struct keys *piece, size_t members, unsigned round)
{
    for (size_t i = 0; i < outcome->count; i++) {
        size_t at = (i + round) % outcome->count;
        struct result *result = &outcome->results[at];
        if (!filters[at]) continue;
        double spent = 0;
        size_t found = ask(result->contender, filters[at], piece, members, &spent);
        note(result, phase, spent, (double)piece->count);
        if (phase != MISS || result->contender->flags & FLOOR) continue;
        result->rate = (result->rate * (double)result->absent + (double)found) /
                       (double)(result->absent + piece->count);
        result->absent += piece->count;
    }
}

static void ask_in_pieces(struct outcome *outcome, void **filters, struct keys *room)
{
    size_t keys = outcome->setting.keys, count = MAX_AT_ONCE;
    struct keys piece = some_keys(room, 0, count);
    for (unsigned round = 0; round < outcome->setting.rounds; round++) {
        fill_keys(room, MEMBERS, (uint64_t)round * count % (keys - count), count, 0);
        ask_piece(outcome, filters, HIT, &piece, count, round);
        fill_keys(room, ABSENT, (uint64_t)round * count, count, 0);
        ask_piece(outcome, filters, MISS, &piece, 0, round);
        size_t members = fill_keys(room, MIXED, (uint64_t)round * count, count, keys);
        ask_piece(outcome, filters, MIX, &piece, members, round);
    }
}

/* Half of the memory is left for keys, builders' lists and everything else. Floors need an array,
 * too. */
static void leave_out_what_does_not_fit(struct outcome *outcome)
{
    double left = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) / 2;
    double needed = (double)outcome->setting.keys * outcome->setting.bits_per_key / 8;
    for (size_t i = 0; i < outcome->count; i++, left -= needed) {
        struct result *result = &outcome->results[i];
        if (!result->present || left >= needed) continue;
        fprintf(stderr, "bench: no memory for %s with %zu keys beside the others\n",
                result->contender->name, outcome->setting.keys);
        result->present = false;
    }
}

static void run_in_parts(struct outcome *outcome)
{
    const struct setting *setting = &outcome->setting;
    void *filters[MAX_CONTENDERS] = {NULL};
    leave_out_what_does_not_fit(outcome);
    for (size_t i = 0; i < outcome->count; i++) {
        struct result *result = &outcome->results[i];
        if (result->present)
            filters[i] = result->contender->make(setting->keys, setting->bits_per_key);
        result->present = filters[i] != NULL;
    }
    struct keys room = room_for(MAX_AT_ONCE, setting->addresses);
    add_in_parts(outcome, filters, &room);
    finish_all(outcome, filters);
    ask_in_pieces(outcome, filters, &room);
    for (size_t i = 0; i < outcome->count; i++)
        if (filters[i]) outcome->results[i].contender->drop(filters[i]);
    drop_keys(&room);
}

void run_rounds(struct outcome *outcome, const struct contender *const *contenders, size_t count)
{
    outcome->count = count;
    for (size_t i = 0; i < count; i++)
        outcome->results[i] = (struct result){
            .contender = contenders[i],
            .present = !(contenders[i]->flags & NUMBERS_ONLY && outcome->setting.addresses),
        };
    if (outcome->setting.keys <= MAX_AT_ONCE)
        run_whole(outcome);
    else
        run_in_parts(outcome);
}

/* ---- what was measured ----------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static struct spread spread(const double *values, unsigned count)
{
    double sorted[MAX_ROUNDS];
    if (count == 0) return (struct spread){NAN, NAN, NAN};
    memcpy(sorted, values, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare);
    return (struct spread){sorted[0], sorted[count / 2], sorted[count - 1]};
}

struct spread spread_of(const struct result *result, enum phase phase)
{
    return spread(result->ns[phase], result->rounds[phase]);
}

struct spread ratio_of(const struct result *above, const struct result *below, enum phase phase)
{
    double ratios[MAX_ROUNDS] = {0};
    unsigned rounds = above->rounds[phase];
    if (below->rounds[phase] != rounds) rounds = 0;
    for (unsigned i = 0; i < rounds; i++) ratios[i] = above->ns[phase][i] / below->ns[phase][i];
    return spread(ratios, rounds);
}

const struct result *result_named(const struct outcome *outcome, const char *name)
{
    for (size_t i = 0; i < outcome->count; i++)
        if (outcome->results[i].present && strcmp(outcome->results[i].contender->name, name) == 0)
            return &outcome->results[i];
    return NULL;
}

const struct result *faster_build(const struct outcome *outcome, const char *name, enum phase phase)
{
    char other[80];
    snprintf(other, sizeof other, "%s (clang)", name);
    const struct result *one = result_named(outcome, name), *two = result_named(outcome, other);
    if (!one || !two) return one ? one : two;
    return spread_of(two, phase).median < spread_of(one, phase).median ? two : one;
}

const char *power_text(size_t keys, char text[32])
{
    unsigned zeros = 0;
    size_t rest = keys;
    for (; rest > 1 && rest % 10 == 0; rest /= 10) zeros++;
    if (rest == 1 && zeros > 3)
        snprintf(text, 32, "10^%u", zeros);
    else if (rest < 10 && zeros > 3)
        snprintf(text, 32, "%zux10^%u", rest, zeros);
    else
        snprintf(text, 32, "%zu", keys);
    return text;
}
