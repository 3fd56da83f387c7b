/* ten.c - creates, saves, opens and queries a filter. */
#include <petal/petal.h>
#include <stdio.h>

int main(void)
{
    petal_options options = {.struct_size = sizeof options, .capacity = 1000000, .rate = 0.01};
    petal_filter *seen;
    if (petal_create(&options, &seen, NULL) != PETAL_OK) return 1;
    petal_add(seen, "https://example.com/", 20);
    puts(petal_contains(seen, "https://example.org/", 20) ? "true" : "false");
    if (petal_save(seen, "seen.petal", NULL, NULL) != PETAL_OK) return 1;
    petal_free(seen);
    if (petal_open("seen.petal", NULL, &seen, NULL) != PETAL_OK) return 1;
    puts(petal_contains(seen, "https://example.com/", 20) ? "true" : "false");
    petal_free(seen);
}
