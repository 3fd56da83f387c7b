/* redisbloom.c - compares how Petal and RedisBloom's own C code query RedisBloom's scheme, in one
 * process.
 *
 *     ./dev bench redisbloom FOLDER [KEYS...]
 *
 * FOLDER contains RedisBloom's sources, of which deps/bloom and deps/murmur2 are used.
 *
 * Both have the same hash, k and m. With format "redisbloom", Petal plans a chain's first link for
 * half the requested rate, so this benchmark requests twice the rate. Petal and RedisBloom add the
 * keys in parts, in turn. Then each round queries random members and absent keys. Times are CPU
 * time; a ratio is RedisBloom's time divided by Petal's in the same round: median (min..max). */
#define _POSIX_C_SOURCE 200809L
#include "run.h"

#include "../../tests/keys.h"

#include <bloom.h>

#include <string.h>

bloom_hashval bloom_calc_hash64(const void *buffer, int len);

/* Replacements for functions that the server provides to the module. */
extern void (*RedisModule_Free)(void *memory);
extern void *(*RedisModule_Calloc)(size_t count, size_t size);
extern void *(*RedisModule_TryCalloc)(size_t count, size_t size);
void (*RedisModule_Free)(void *memory) = free;
void *(*RedisModule_Calloc)(size_t count, size_t size) = calloc;
void *(*RedisModule_TryCalloc)(size_t count, size_t size) = calloc;

#define RATE 0.01
#define ROUNDS 9u
#define MAX_PART ((size_t)5000000)
#define MIN_ASKED ((size_t)1000000) /* small filters: keys are queried repeatedly */

struct pair {
    struct bloom theirs;
    petal_filter *ours;
};

enum way { THEIRS, BATCHES, ONE_PER_CALL, WAYS };
enum phase { HIT, MISS, PHASES };

static void must(bool fine, const char *what)
{
    if (!fine) give_up(what, NULL);
}

/* SplitMix64's output function: a bijection, so no key occurs twice. */
static int64_t key_number(uint64_t i)
{
    i = (i ^ i >> 30) * 0xbf58476d1ce4e5b9u;
    i = (i ^ i >> 27) * 0x94d049bb133111ebu;
    return (int64_t)(i ^ i >> 31);
}

static void make(struct pair *pair, size_t keys)
{
    petal_options options = PETAL_OPTIONS_INIT;
    petal_info info = PETAL_INFO_INIT;
    petal_error error;
    memset(&pair->theirs, 0, sizeof pair->theirs);
    must(bloom_init(&pair->theirs, keys, RATE, BLOOM_OPT_NOROUND | BLOOM_OPT_FORCE64) == 0,
         "their filter: no memory");
    options.format = "redisbloom";
    options.capacity = keys;
    options.rate = 2 * RATE;
    must(petal_create(&options, &pair->ours, &error) == PETAL_OK, error.message);
    petal_get_info(pair->ours, PETAL_ALL_LAYERS, &info, NULL);
    must(info.bits == pair->theirs.bits && info.hashes == pair->theirs.hashes,
         "the filters differ in shape");
}

static void add_in_parts(struct pair *pair, int64_t *part, size_t part_keys, size_t keys)
{
    double theirs = 0, ours = 0;
    for (size_t from = 0; from < keys; from += part_keys) {
        for (size_t i = 0; i < part_keys; i++) part[i] = key_number(from + i);
        double begin = cpu_ns();
        for (size_t i = 0; i < part_keys; i++)
            bloom_add_h(&pair->theirs, bloom_calc_hash64(&part[i], 8));
        double middle = cpu_ns();
        add_number_batch(pair->ours, part, part_keys, NULL, NULL);
        ours += cpu_ns() - middle;
        theirs += middle - begin;
    }
    printf("| %zu | add | %.1f | %.1f ns; **%.2fx** | |\n", keys, theirs / (double)keys,
           ours / (double)keys, theirs / ours);
}

static size_t ask(struct pair *pair, enum way way, const int64_t *part, size_t part_keys)
{
    size_t found = 0;
    if (way == BATCHES) return contains_numbers(pair->ours, part, part_keys, NULL);
    for (size_t i = 0; i < part_keys; i++)
        found += way == THEIRS ? bloom_check_h(&pair->theirs, bloom_calc_hash64(&part[i], 8)) == 1
                               : petal_contains_i64(pair->ours, part[i]);
    return found;
}

/* Measures every way for one round, and stores the times in ns[way]. All ways must find the same
 * number of keys. */
static void ask_round(struct pair *pair, const int64_t *part, size_t part_keys, double ns[WAYS])
{
    size_t repeats = part_keys < MIN_ASKED ? MIN_ASKED / part_keys : 1, found[WAYS] = {0};
    for (int way = 0; way < WAYS; way++) {
        double begin = cpu_ns();
        for (size_t i = 0; i < repeats; i++)
            found[way] += ask(pair, (enum way)way, part, part_keys);
        ns[way] = (cpu_ns() - begin) / (double)(repeats * part_keys);
    }
    must(found[BATCHES] == found[THEIRS] && found[ONE_PER_CALL] == found[THEIRS],
         "the answers differ");
}

static void print_way(double ns[ROUNDS][WAYS], int way)
{
    double time[ROUNDS], ratio[ROUNDS];
    for (unsigned i = 0; i < ROUNDS; i++) ratio[i] = ns[i][THEIRS] / (time[i] = ns[i][way]);
    double middle = median(ratio, ROUNDS);
    printf(" %.1f ns; **%.2fx** (%.2f..%.2f) |", median(time, ROUNDS), middle, ratio[0],
           ratio[ROUNDS - 1]);
}

static void ask_in_rounds(struct pair *pair, int64_t *part, size_t part_keys, size_t keys,
                          enum phase phase)
{
    double ns[ROUNDS][WAYS], theirs[ROUNDS];
    for (uint64_t round = 0; round < ROUNDS; round++) {
        for (uint64_t i = 0; i < part_keys; i++) {
            uint64_t number = round * part_keys + i;
            part[i] = key_number(phase == MISS ? ((uint64_t)1 << 40) + number
                                               : (uint64_t)key_number(~number) % keys);
        }
        ask_round(pair, part, part_keys, ns[round]);
        theirs[round] = ns[round][THEIRS];
    }
    printf("| %zu | %s | %.1f |", keys, phase == HIT ? "hit" : "miss", median(theirs, ROUNDS));
    print_way(ns, BATCHES);
    print_way(ns, ONE_PER_CALL);
    printf("\n");
}

static void run_size(size_t keys)
{
    struct pair pair;
    size_t part_keys = keys;
    while (part_keys > MAX_PART && part_keys % 2 == 0) part_keys /= 2;
    int64_t *part = malloc(part_keys * sizeof *part);
    must(part != NULL, "no memory for keys");
    make(&pair, keys);
    add_in_parts(&pair, part, part_keys, keys);
    for (int phase = 0; phase < PHASES; phase++)
        ask_in_rounds(&pair, part, part_keys, keys, (enum phase)phase);
    fflush(stdout);
    bloom_free(&pair.theirs);
    petal_free(pair.ours);
    free(part);
}

int main(int count, char **arguments)
{
    static const char *const usual[] = {"10000", "1000000", "100000000"};
    printf(
        "| keys | phase | RedisBloom ns | Petal, batches | Petal, one per call |\n| --- | --- | --: | --: | --: |\n");
    for (int i = 0; i < (count > 1 ? count - 1 : 3); i++) {
        double keys = strtod(count > 1 ? arguments[i + 1] : usual[i], NULL);
        must(keys >= 1 && keys <= 1e10, "usage: ./dev bench redisbloom FOLDER [KEYS...]");
        run_size((size_t)keys);
    }
    return 0;
}
