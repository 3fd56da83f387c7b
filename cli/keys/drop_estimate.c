/* drop_estimate.c - see drop_estimate.h.
 *
 * A new key is dropped with probability p, the filter's current false-positive rate. So for each
 * key that is printed, p / (1 - p) keys are dropped on average. These odds are summed as keys
 * arrive.
 *
 * In a plain filter of Petal's own schemes, the rate follows from the number of distinct keys so
 * far, including dropped keys, which set no new bits. There is no good model for filters with
 * layers, each of which has its own keys and can lose them over time, or for small filters that use
 * other libraries' schemes. Filters of these two kinds are queried for keys that are certainly
 * absent. If x of n are found, the expected value of x / (n - x + 1) equals the odds: the sum over
 * x of C(n, x) p^x (1-p)^(n-x) x / (n - x + 1) = p / (1 - p) (1 - p^n). One absent key is queried
 * for each key that arrives, until a thousand have been found.
 *
 * If a filter finds more than half of all absent keys, nothing is reported: each of the few printed
 * keys represents many dropped ones, and the odds grow faster than the program can measure them. */
#include "keys/drop_estimate.h"

#include "keys/batch_calls.h"

#include <math.h>
#include <string.h>

#define STEPS_PER_SIZE 64 /* bits divided by k: this number of keys sets two thirds of the bits */
#define STEPS_PER_KEYS 32
#define MIN_PROBES 64u
#define MAX_STRETCH 4096u
#define SLICES_PER_CAPACITY 32u
#define ENOUGH_FOUND 1000u /* 3 % noise */
#define SPARING 8u

/* ---- by the model ---------------------------------------------------------------------------- */

static double model_odds(const struct drops *drops, double keys)
{
    double rate = petal_predict_rate(&drops->start, (uint64_t)(keys + 0.5));
    return rate / (1 - rate);
}

/* More than half of the new keys are dropped. */
static bool is_lost(double odds)
{
    return !(odds <= 1);
}

static void note_by_model(struct drops *drops, uint64_t fresh)
{
    double size = (double)drops->start.bits / drops->start.hashes;
    for (double left = (double)fresh, part; left > 0; left -= part) {
        part = fmin(left, fmax(1, fmax(size / STEPS_PER_SIZE, drops->keys / STEPS_PER_KEYS)));
        double dropped = part * model_odds(drops, drops->keys);
        dropped = part * model_odds(drops, drops->keys + (part + dropped) / 2);
        drops->expected += dropped;
        drops->keys += part + dropped;
        if (is_lost(model_odds(drops, drops->keys))) drops->expected = NAN;
        if (isnan(drops->expected)) return;
    }
}

/* ---- by querying ----------------------------------------------------------------------------- */

/* Queries sixteen-byte keys that no user has. Each call uses different keys. */
static size_t query_absent(struct drops *drops, const petal_filter *filter, size_t count)
{
    struct {
        char name[8];
        uint64_t number;
    } bytes[MIN_PROBES];
    petal_key keys[MIN_PROBES];
    for (size_t i = 0; i < count; i++) {
        memcpy(bytes[i].name, "\377absent", sizeof bytes[i].name);
        bytes[i].number = drops->probes + i;
        keys[i] = (petal_key){&bytes[i], sizeof bytes[i]};
    }
    drops->probes += count;
    return look_up_keys(filter, keys, count, NULL);
}

static double measured_odds(struct drops *drops, const petal_filter *filter, uint64_t count)
{
    uint64_t found = 0;
    for (uint64_t done = 0, part; done < count; done += part) {
        part = count - done < MIN_PROBES ? count - done : MIN_PROBES;
        found += query_absent(drops, filter, (size_t)part);
    }
    drops->found += found;
    return (double)found / (double)(count - found + 1);
}

static void settle_waiting(struct drops *drops, const petal_filter *filter)
{
    uint64_t count = drops->found < ENOUGH_FOUND ? drops->waiting : drops->waiting / SPARING;
    double before = drops->odds;
    drops->odds = measured_odds(drops, filter, count < MIN_PROBES ? MIN_PROBES : count);
    if (is_lost(drops->odds)) drops->odds = measured_odds(drops, filter, MAX_STRETCH);
    if (is_lost(drops->odds)) drops->expected = NAN;
    drops->expected += (double)drops->waiting * (before + drops->odds) / 2;
    drops->waiting = 0;
}

/* ---- both ------------------------------------------------------------------------------------ */

static bool has_own_scheme(const petal_info *info)
{
    return info->scheme == PETAL_SCHEME_BLOCKED || info->scheme == PETAL_SCHEME_CLASSIC ||
           info->scheme == PETAL_SCHEME_COUNTING;
}

void drops_begin(struct drops *drops, const petal_filter *filter, const petal_info *start,
                 const petal_stats *stats)
{
    *drops = (struct drops){.start = *start, .keys = stats->estimated_items.value};
    drops->is_predicted = has_own_scheme(start) && !isnan(petal_predict_rate(start, 1));
    if (stats->saturated)
        drops->expected = NAN;
    else if (!drops->is_predicted)
        drops->odds = measured_odds(drops, filter, stats->bits_set ? MAX_STRETCH : MIN_PROBES);
}

size_t drops_stretch(const struct drops *drops)
{
    uint64_t slice = drops->start.capacity / SLICES_PER_CAPACITY;
    if (drops->is_predicted || isnan(drops->expected)) return SIZE_MAX;
    return slice < MIN_PROBES ? MIN_PROBES : slice < MAX_STRETCH ? (size_t)slice : MAX_STRETCH;
}

void drops_note(struct drops *drops, const petal_filter *filter, uint64_t fresh)
{
    if (isnan(drops->expected)) return;
    if (drops->is_predicted) {
        note_by_model(drops, fresh);
        return;
    }
    drops->waiting += fresh;
    if (drops->waiting >= MIN_PROBES) settle_waiting(drops, filter);
}

double drops_end(struct drops *drops, const petal_filter *filter)
{
    if (drops->waiting) settle_waiting(drops, filter);
    return drops->expected;
}
