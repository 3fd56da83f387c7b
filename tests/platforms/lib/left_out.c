/* left_out.c - proves that this build refuses a petal file whose scheme is not built in, and a
 * format that is not built in, with the right messages. Usage: left_out FILE FORMAT */
#include <petal/petal.h>

#include <stdio.h>
#include <string.h>

static bool says_so(const char *what, petal_status status, const petal_error *error)
{
    printf("%s: %s: %s\n", what, petal_status_name(status), error->message);
    return status == PETAL_ERR_UNSUPPORTED && strstr(error->message, "not in this build");
}

int main(int count, char **arguments)
{
    petal_filter *filter = NULL;
    petal_error error = {0};
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    if (count < 3) return 2;
    bool scheme = says_so("the scheme", petal_open(arguments[1], NULL, &filter, &error), &error);
    options.format = arguments[2];
    bool format =
        says_so("the format", petal_open(arguments[1], &options, &filter, &error), &error);
    options.format = "no-such-format";
    petal_status unknown = petal_open(arguments[1], &options, &filter, &error);
    printf("another: %s: %s\n", petal_status_name(unknown), error.message);
    return !scheme || !format || unknown != PETAL_ERR_ARGUMENT || filter;
}
