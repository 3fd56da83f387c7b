/* consumer.c - a user's program: creates a filter, saves it, opens it and queries it. If everything
 * works, it exits with status 0. */
#include <petal/petal.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    petal_options options = PETAL_OPTIONS_INIT;
    petal_filter *made = NULL, *opened = NULL;
    char version[32];
    bool well;
    if (argc != 2) return 2;
    snprintf(version, sizeof version, "%d.%d.%d", PETAL_VERSION_MAJOR, PETAL_VERSION_MINOR,
             PETAL_VERSION_PATCH);
    options.capacity = 1000;
    options.rate = 0.01;
    well =
        petal_create(&options, &made, NULL) == PETAL_OK && petal_add(made, "here", 4) == PETAL_OK &&
        petal_save(made, argv[1], NULL, NULL) == PETAL_OK &&
        petal_open(argv[1], NULL, &opened, NULL) == PETAL_OK && petal_contains(opened, "here", 4) &&
        !petal_contains(opened, "there", 5) && strcmp(petal_version(), version) == 0;
    petal_free(made);
    petal_free(opened);
    puts(well ? petal_version() : "failed");
    return well ? 0 : 1;
}
