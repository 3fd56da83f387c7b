/* terminal.c - see terminal.h. */
#define _POSIX_C_SOURCE 200809L

#include "output/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *environment(const char *name)
{
    const char *value = getenv(name);
    return value ? value : "";
}

bool is_terminal(FILE *stream)
{
    return isatty(fileno(stream)) == 1;
}

bool may_colour(FILE *stream)
{
    return is_terminal(stream) && *environment("NO_COLOR") == '\0' &&
           strcmp(environment("TERM"), "dumb") != 0;
}

const char *bold(FILE *stream)
{
    return may_colour(stream) ? "\033[1m" : "";
}

const char *plain(FILE *stream)
{
    return may_colour(stream) ? "\033[0m" : "";
}
