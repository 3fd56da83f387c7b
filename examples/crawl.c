/* crawl.c - a crawler that fetches each page once, and queries links in batches.
 *
 * Every fetched page has 50 links, most of them seen before. petal_add_batch() takes the links of a
 * page in one call, prefetches their cache lines, and reports which are new. A second, exact table
 * lets the example count the filter's mistakes: the crawler never fetches a page twice, and it
 * skips a few new pages. */
#include <petal/petal.h>
#include <stdio.h>

enum { PAGES = 100000, FETCHES = 6000, LINKS = 50, URL_BYTES = 48 };

typedef struct tally {
    unsigned links, fetched, twice, skipped_new;
} tally;

/* A small generator of reproducible "random" numbers (xorshift64*). */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545F4914F6CDD1Du;
}

/* Returns the page that a link leads to: the lower of two random numbers, so that pages with low
 * numbers have more links. */
static unsigned pick_page(uint64_t *state)
{
    unsigned a = (unsigned)(next_random(state) >> 33) % PAGES,
             b = (unsigned)(next_random(state) >> 33) % PAGES;
    return a < b ? a : b;
}

/* Adds one page's links as a batch, and counts the mistakes. known[] is exact: it contains the
 * pages that an earlier link led to. */
static void follow_links(petal_filter *seen, uint64_t *state, bool known[PAGES], tally *t)
{
    char urls[LINKS][URL_BYTES];
    petal_key keys[LINKS];
    unsigned pages[LINKS];
    uint8_t was_new[LINKS];
    for (int i = 0; i < LINKS; i++) {
        pages[i] = pick_page(state);
        keys[i].data = urls[i];
        keys[i].size_bytes =
            (size_t)snprintf(urls[i], URL_BYTES, "https://example.com/page/%u", pages[i]);
    }
    petal_batch batch = PETAL_BATCH_INIT;
    batch.layout = PETAL_LAYOUT_POINTERS;
    batch.data = keys;
    batch.count = LINKS;
    petal_add_batch(seen, &batch, was_new, NULL, NULL);
    for (int i = 0; i < LINKS; i++) {
        bool is_new = !known[pages[i]];
        known[pages[i]] = true;
        t->links++;
        t->fetched += was_new[i];
        t->twice += was_new[i] && !is_new;
        t->skipped_new += !was_new[i] && is_new;
    }
}

int main(void)
{
    static bool known[PAGES];
    petal_options options = PETAL_OPTIONS_INIT;
    petal_filter *seen = NULL;
    tally t = {0};
    uint64_t state = 1;
    options.capacity = PAGES;
    options.rate = 0.001;
    if (petal_create(&options, &seen, NULL) != PETAL_OK) return 1;
    for (int i = 0; i < FETCHES; i++) follow_links(seen, &state, known, &t);
    petal_free(seen);

    printf("%u links, %u pages to fetch, %u repeats skipped\n", t.links, t.fetched,
           t.links - t.fetched - t.skipped_new);
    printf("handed out twice: %u   new but skipped: %u\n", t.twice, t.skipped_new);

    /* With at most 100,000 new pages and a rate below 0.1 %, fewer than 100 skipped pages are
     * expected; 5 standard deviations are 50. */
    if (t.twice == 0 && t.skipped_new <= 150) return 0;
    fprintf(stderr, "crawl: a page was handed out twice, or too many new ones were skipped\n");
    return 1;
}
