/* shared.c - ./dev bench shared: several threads add to one filter, in each possible way. The times
 * are compared with plain adding by one thread in the same round.
 *
 *     plain        add_numbers() by one thread: the reference
 *     shared       the same call, in several threads that divide the keys, on a filter for which
 *                  petal_allow_threads() was called
 *     shared, one  like shared, but with one call per key
 *     atomic OR    an alternative to sharing: a relaxed atomic OR for each of a key's k words
 *     check, OR    the same, but only if a preceding load finds the bit clear
 *
 * The time is the slowest thread's CPU time, which would be the wall time if each thread had its
 * own CPU. It includes waiting for a stripe. The bits that each way sets are compared with the
 * result of plain adding. */
#define _POSIX_C_SOURCE 200809L
#include "run.h"

#include "../../tests/keys.h"

#include <petal/petal_inline.h>

#include <math.h>
#include <pthread.h>
#include <string.h>

enum way { PLAIN, SHARED, SHARED_ONE, ATOMIC_OR, CHECK_OR, WAYS };
static const char *const way_names[WAYS] = {"plain, one thread", "shared, batches",
                                            "shared, one per call", "atomic OR",
                                            "check, atomic OR"};

#define MAX_THREADS 64u
#define MAX_ROUNDS 101u
#define PIECE 1024u

struct work {
    pthread_t thread;
    petal_filter *filter;
    petal_inline hot;
    enum way way;
    uint64_t from, to; /* the keys are the numbers from `from` to `to` - 1 */
    double ns;
};

/* ---- one thread ------------------------------------------------------------------------------ */

static void add_batches(const struct work *work)
{
    int64_t piece[PIECE];
    for (uint64_t from = work->from; from < work->to; from += PIECE) {
        size_t count = work->to - from < PIECE ? (size_t)(work->to - from) : PIECE;
        for (size_t i = 0; i < count; i++) piece[i] = (int64_t)(from + i);
        add_number_batch(work->filter, piece, count, NULL, NULL);
    }
}

static void add_one_per_call(const struct work *work)
{
    for (uint64_t i = work->from; i < work->to; i++) petal_add_i64(work->filter, (int64_t)i);
}

static void or_words(const struct work *work, bool check)
{
    for (uint64_t i = work->from; i < work->to; i++) {
        uint64_t hash = petal_inline_xxh3(i, work->hot.seed_flip);
        unsigned char *line = petal_inline_line(&work->hot, hash);
        uint32_t words = work->hot.patterns[(uint32_t)hash * PETAL_INLINE_GOLDEN >> 25];
        for (; words; words &= words - 1) {
            uint32_t number = (uint32_t)__builtin_ctz(words),
                     place = (uint32_t)hash * petal_inline_salts[number] >> 27;
            uint32_t *word = (uint32_t *)(void *)line + number;
            if (check && __atomic_load_n(word, __ATOMIC_RELAXED) >> place & 1) continue;
            __atomic_fetch_or(word, (uint32_t)1 << place, __ATOMIC_RELAXED);
        }
    }
}

static void *run(void *argument)
{
    struct work *work = argument;
    double begin = cpu_ns();
    if (work->way <= SHARED)
        add_batches(work);
    else if (work->way == SHARED_ONE)
        add_one_per_call(work);
    else
        or_words(work, work->way == CHECK_OR);
    work->ns = cpu_ns() - begin;
    return NULL;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static double add_all(petal_filter *filter, enum way way, uint64_t keys, unsigned threads)
{
    struct work work[MAX_THREADS];
    double slowest = 0;
    for (unsigned i = 0; i < threads; i++) {
        work[i] = (struct work){.filter = filter,
                                .way = way,
                                .from = keys * i / threads,
                                .to = keys * (i + 1) / threads};
        work[i].hot = PETAL_INLINE_INIT;
        if (way >= ATOMIC_OR && petal_inline_begin_adding(filter, &work[i].hot, NULL) != PETAL_OK)
            abort();
        pthread_create(&work[i].thread, NULL, run, &work[i]);
    }
    for (unsigned i = 0; i < threads; i++) {
        pthread_join(work[i].thread, NULL);
        if (work[i].ns > slowest) slowest = work[i].ns;
    }
    return slowest / (double)keys;
}

/* Creates a filter with 10 bits per key and touches its memory, so that no page faults are
 * measured. */
static petal_filter *make_touched(uint64_t keys)
{
    petal_options options = PETAL_OPTIONS_INIT;
    petal_filter *filter = NULL;
    petal_inline hot = PETAL_INLINE_INIT;
    options.capacity = keys;
    options.bits = 10 * keys;
    if (petal_create(&options, &filter, NULL) != PETAL_OK ||
        petal_inline_begin_adding(filter, &hot, NULL) != PETAL_OK) {
        fprintf(stderr, "bench shared: no memory for %llu keys\n", (unsigned long long)keys);
        exit(2);
    }
    memset(hot.lines, 0, (size_t)hot.line_count * 64);
    petal_inline_end(filter, &hot);
    return filter;
}

/* The ns per key in each round: index 0 for adding new keys, index 1 for adding keys that are all
 * present. */
struct times {
    double ns[2][MAX_ROUNDS];
};

/* Small filters are filled several times per round. Returns the content id. */
static uint64_t run_way(enum way way, uint64_t keys, unsigned threads, unsigned round,
                        struct times *times)
{
    uint64_t content_id = 0;
    unsigned repeats = keys < 1000000 ? (unsigned)(1000000 / keys) : 1;
    times->ns[0][round] = times->ns[1][round] = 0;
    for (unsigned i = 0; i < repeats; i++) {
        petal_filter *filter = make_touched(keys);
        if ((way == SHARED || way == SHARED_ONE) && petal_allow_threads(filter, NULL) != PETAL_OK)
            abort();
        for (int again = 0; again < 2; again++)
            times->ns[again][round] +=
                add_all(filter, way, keys, way == PLAIN ? 1 : threads) / repeats;
        petal_content_id(filter, &content_id, NULL);
        petal_free(filter);
    }
    return content_id;
}

static void print_spread(const struct times *mine, const struct times *plain, int again,
                         unsigned rounds)
{
    double ns[MAX_ROUNDS], ratio[MAX_ROUNDS];
    for (unsigned i = 0; i < rounds; i++)
        ratio[i] = (ns[i] = mine->ns[again][i]) / plain->ns[again][i];
    double middle = median(ratio, rounds);
    printf(" %.2f ns; **%.2fx** (%.2f..%.2f) |", median(ns, rounds), middle, ratio[0],
           ratio[rounds - 1]);
}

/* Returns false if one of the ways lost bits. */
static bool run_size(uint64_t keys, unsigned threads, unsigned rounds)
{
    static struct times times[WAYS];
    uint64_t ids[WAYS];
    bool same = true;
    for (unsigned round = 0; round < rounds; round++)
        for (unsigned i = 0; i < WAYS; i++) {
            enum way way = (enum way)((i + round) % WAYS);
            ids[way] = run_way(way, keys, threads, round, &times[way]);
        }
    for (int way = 0; way < WAYS; way++) {
        printf("| %llu | %u | %s |", (unsigned long long)keys, threads, way_names[way]);
        print_spread(&times[way], &times[PLAIN], 0, rounds);
        print_spread(&times[way], &times[PLAIN], 1, rounds);
        printf(" %s |\n", ids[way] == ids[PLAIN] ? "same" : "OTHER");
        same = same && ids[way] == ids[PLAIN];
    }
    fflush(stdout);
    return same;
}

int main(int count, char **arguments)
{
    static const uint64_t sizes[] = {10000, 1000000, 10000000, 50000000};
    unsigned long threads = count > 1 ? strtoul(arguments[1], NULL, 10) : 2;
    unsigned long rounds = count > 2 ? strtoul(arguments[2], NULL, 10) : 9;
    bool same = true;
    if (threads < 1 || threads > MAX_THREADS || rounds < 1 || rounds > MAX_ROUNDS) {
        fprintf(stderr, "usage: ./dev bench shared [THREADS 1..%u] [ROUNDS 1..%u]\n", MAX_THREADS,
                MAX_ROUNDS);
        return 2;
    }
    printf("Median of %lu rounds; **times plain** (least..most):\n\n"
           "| keys | threads | | new | again | bits |\n| --- | --- | --- | --: | --: | --- |\n",
           rounds);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        same = run_size(sizes[i], 1, (unsigned)rounds) && same;
        if (threads > 1) same = run_size(sizes[i], (unsigned)threads, (unsigned)rounds) && same;
    }
    return same ? 0 : 1;
}
