/* terminal.h - whether a stream is a terminal, and what may be done with it. */
#ifndef PETAL_CLI_TERMINAL_H
#define PETAL_CLI_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

bool is_terminal(FILE *stream);

/* Whether colour may be used on a stream: a terminal, no NO_COLOR, TERM not "dumb". */
bool may_colour(FILE *stream);

/* "1" and "0" of the SGR codes for bold, or "" if colour may not be used. */
const char *bold(FILE *stream);
const char *plain(FILE *stream);

#endif
