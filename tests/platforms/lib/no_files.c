/* no_files.c - proves that a build without file support refuses files with one clear message, and
 * works in memory. */
#include <petal/petal.h>

#include <stdio.h>
#include <string.h>

int main(int count, char **arguments)
{
    petal_filter *filter = NULL, *opened = NULL;
    petal_error error = {0};
    petal_options options = PETAL_OPTIONS_INIT;
    options.capacity = 1000;
    options.rate = 0.01;
    if (count < 2 || petal_create(&options, &filter, &error) != PETAL_OK) return 1;
    petal_add(filter, "key", 3);
    bool is_in = petal_contains(filter, "key", 3);
    petal_free(filter);
    petal_status status = petal_open(arguments[1], NULL, &opened, &error);
    printf("%s: %s\n", petal_status_name(status), error.message);
    return !is_in || opened || status != PETAL_ERR_UNSUPPORTED ||
           !strstr(error.message, "no files");
}
