/* quickstart.c - the ten lines of README.md: create a filter, add a key, query another, save. */
#include <petal/petal.h>
#include <stdio.h>

int main(void)
{
    petal_options o = PETAL_OPTIONS_INIT;
    petal_filter *f = NULL;
    o.capacity = 1000000; /* how many distinct keys */
    o.rate = 0.01;        /* 1 % false positives when all are in: 1.24 MB */
    if (petal_create(&o, &f, NULL) != PETAL_OK) return 1;
    petal_add(f, "https://example.com/", 20);
    puts(petal_contains(f, "https://example.org/", 20) ? "probably" : "certainly not");
    petal_status saved = petal_save(f, "pages.petal", NULL, 0, NULL);
    petal_free(f);
    return saved == PETAL_OK ? 0 : 1;
}
