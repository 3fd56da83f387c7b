/* textbook.c - the 11-bit filter of docs/primer.md as a program.
 *
 * With only eleven bits, and two bits per key, a false positive is easy to follow. The seed is
 * chosen so that `a` gets bits 3 and 5, `b` gets bits 5 and 8, and `c`, which is never added, gets
 * bits 8 and 3, which other keys have set.
 *
 * The picture is drawn according to the published rule of the classic scheme (docs/format.md),
 * which positions_of() repeats in five lines. The library then answers the same queries: the
 * example fails if the picture and the library ever disagree. */
#include <petal/petal.h>
#include <stdio.h>
#include <string.h>

enum { BITS = 11, HASHES = 2, SEED = 197072, TRIALS = 1000000 };

/* The textbook filter, and the same filter made by the library. */
typedef struct picture {
    petal_filter *filter;
    bool set[BITS];
} picture;

/* Returns floor(a * m / 2^64) for a small m. */
static unsigned mulhi_small(uint64_t a, uint32_t m)
{
    uint64_t low = (a & 0xFFFFFFFFu) * m;
    return (unsigned)(((a >> 32) * m + (low >> 32)) >> 32);
}

static void positions_of(const picture *p, const char *key, unsigned position[HASHES])
{
    uint64_t a = petal_hash_key(p->filter, key, strlen(key));
    for (int i = 0; i < HASHES; i++) {
        position[i] = mulhi_small(a, BITS);
        a *= 0xDA942042E4DD58B5u;
    }
}

static void draw_row(const char *verb, const char *key, const unsigned position[HASHES],
                     const char cells[BITS])
{
    char label[32];
    snprintf(label, sizeof label, "%s %s -> %u, %u", verb, key, position[0], position[1]);
    printf("%-15s", label);
    for (int i = 0; i < BITS; i++) printf("%3c", cells[i]);
}

static void add(picture *p, const char *key, const char *remark)
{
    unsigned position[HASHES];
    char cells[BITS];
    positions_of(p, key, position);
    for (int i = 0; i < HASHES; i++) p->set[position[i]] = true;
    for (int i = 0; i < BITS; i++) cells[i] = p->set[i] ? '#' : '.';
    draw_row("add", key, position, cells);
    printf("%s%s\n", *remark ? "   " : "", remark);
    petal_add(p->filter, key, strlen(key));
}

static bool picture_contains(const picture *p, const char *key)
{
    unsigned position[HASHES];
    positions_of(p, key, position);
    return p->set[position[0]] && p->set[position[1]];
}

static void check(const picture *p, const char *key, const char *remark)
{
    unsigned position[HASHES];
    char cells[BITS];
    positions_of(p, key, position);
    memset(cells, ' ', sizeof cells);
    for (int i = 0; i < HASHES; i++) cells[position[i]] = p->set[position[i]] ? '?' : 'x';
    draw_row("check", key, position, cells);
    printf("   %s%s\n", petal_contains(p->filter, key, strlen(key)) ? "probably" : "certainly not",
           remark);
}

/* Prints which letters pass. Returns true if the library agrees with the picture on every
 * letter. */
static bool ask_letters(const picture *p)
{
    bool agree = true;
    printf("Of the letters c to z, which nobody added, these pass:");
    for (int letter = 'c'; letter <= 'z'; letter++) {
        char key[2] = {(char)letter, '\0'};
        bool found = petal_contains(p->filter, key, 1);
        if (found) printf(" %s", key);
        agree = agree && found == picture_contains(p, key);
    }
    printf("\n");
    return agree;
}

/* Queries the keys "0", "1", "2" ... and returns how many pass. */
static unsigned ask_numbers(const picture *p)
{
    unsigned passed = 0;
    for (unsigned i = 0; i < TRIALS; i++) {
        char key[16];
        int size = snprintf(key, sizeof key, "%u", i);
        passed += petal_contains(p->filter, key, (size_t)size);
    }
    return passed;
}

int main(void)
{
    petal_options options = PETAL_OPTIONS_INIT;
    petal_stats stats = PETAL_STATS_INIT;
    picture p = {0};
    options.scheme = PETAL_SCHEME_CLASSIC;
    options.bits = BITS;
    options.hashes = HASHES;
    options.seed = SEED;
    if (petal_create(&options, &p.filter, NULL) != PETAL_OK) return 1;

    printf("%-15s", "bit");
    for (int i = 0; i < BITS; i++) printf("%3d", i);
    printf("\n");
    add(&p, "a", "");
    add(&p, "b", "5 was set already: shared bits are the saving");
    check(&p, "c", ", and wrong: a false positive");
    check(&p, "g", ": one set bit is not enough");
    check(&p, "d", "");

    bool agree = ask_letters(&p);
    unsigned passed = ask_numbers(&p);
    bool read = petal_get_stats(p.filter, PETAL_ALL_LAYERS, &stats, NULL) == PETAL_OK;
    double rate = 3.0 / BITS * 3.0 / BITS;
    printf("3 of 11 bits are set, so an absent key passes (3/11)^2 = %.1f %% of the time.\n",
           100 * rate);
    printf("Measured: %u of the %d keys \"0\", \"1\", \"2\" ... pass.\n", passed, TRIALS);
    petal_free(p.filter);

    /* 5 standard deviations of the count are 5 * sqrt(1000000 * 0.0744 * 0.9256) = 1312. */
    bool as_predicted = passed > TRIALS * rate - 1312 && passed < TRIALS * rate + 1312;
    bool same_rate = read && stats.bits_set == 3 && stats.estimated_rate > rate - 1e-9 &&
                     stats.estimated_rate < rate + 1e-9;
    if (agree && same_rate && as_predicted) return 0;
    fprintf(stderr, "textbook: the library and the picture disagree\n");
    return 1;
}
