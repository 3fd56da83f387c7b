/* guard.c - a filter that guards a slow lookup.
 *
 * A store contains 10,000 accounts, and each lookup is slow, as on a disk or over a network. Half
 * of the requested names do not exist. The filter rejects nearly all of these names without
 * querying the store. It never rejects a name that exists, and a rare false positive costs only one
 * needless lookup. */
#include <petal/petal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STORED = 10000, ASKED = 20000, NAME_BYTES = 16, VISIT_MS = 10 };

typedef struct store {
    char names[STORED][NAME_BYTES]; /* sorted */
    unsigned visits;
} store;

static int compare_names(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* The slow lookup, which only counts its calls in this example. */
static bool store_has(store *s, const char *name)
{
    s->visits++;
    return bsearch(name, s->names, STORED, NAME_BYTES, compare_names) != NULL;
}

/* The same lookup, guarded by the filter. */
static bool guarded_has(store *s, const petal_filter *guard, const char *name)
{
    return petal_contains(guard, name, strlen(name)) && store_has(s, name);
}

static petal_filter *fill(store *s)
{
    petal_options options = PETAL_OPTIONS_INIT;
    petal_filter *guard = NULL;
    options.capacity = STORED;
    options.rate = 0.01;
    if (petal_create(&options, &guard, NULL) != PETAL_OK) return NULL;
    for (int i = 0; i < STORED; i++) {
        snprintf(s->names[i], NAME_BYTES, "user%06d", 2 * i); /* only even numbers exist */
        petal_add(guard, s->names[i], strlen(s->names[i]));
    }
    return guard;
}

int main(void)
{
    static store s;
    petal_info info = PETAL_INFO_INIT;
    petal_filter *guard = fill(&s);
    if (!guard || petal_get_info(guard, PETAL_ALL_LAYERS, &info, NULL) != PETAL_OK) return 1;

    unsigned found = 0;
    for (int i = 0; i < ASKED; i++) {
        char name[NAME_BYTES];
        snprintf(name, sizeof name, "user%06d", i);
        found += guarded_has(&s, guard, name);
    }
    petal_free(guard);

    unsigned wasted = s.visits - found;
    printf("%d lookups, half of them for accounts that do not exist\n", ASKED);
    printf("without a guard   %5d visits\n", ASKED);
    printf("with a guard      %5u visits: %u found, %u false positives\n", s.visits, found, wasted);
    printf("at %d ms a visit  %d s became %.1f s, for %llu bytes of memory\n", VISIT_MS,
           ASKED * VISIT_MS / 1000, s.visits * VISIT_MS / 1000.0, (unsigned long long)info.bytes);

    /* With 10,000 absent names at 1 %, 100 false positives are expected, and 5 standard deviations
     * are 50. */
    if (found == STORED && wasted <= 150) return 0;
    fprintf(stderr, "guard: a name that exists was turned away, or too many false positives\n");
    return 1;
}
