/* terminal.h - finds out whether a stream is a terminal, and what it supports. */
#ifndef PETAL_CLI_TERMINAL_H
#define PETAL_CLI_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

bool is_terminal(FILE *stream);

/* True if a stream may use colour: it must be a terminal, NO_COLOR must not be set, and TERM must
 * not be "dumb". */
bool may_colour(FILE *stream);

/* The SGR codes 1 (bold) and 0 (reset), or "" if colour is not allowed. */
const char *bold(FILE *stream);
const char *plain(FILE *stream);

#endif
