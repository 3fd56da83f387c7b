/* selection.h - those lines of a block that are to be printed, as one piece of output. */
#ifndef PETAL_CLI_SELECTION_H
#define PETAL_CLI_SELECTION_H

#include "keys.h"

/* Makes the lines whose result is `wanted` the output of the block, each with its separator, which
 * also a last line gets that came without. The block's lines and keys are gone after it. */
void select_lines(struct key_block *block, uint8_t wanted);

/* The same with "NUMBER:" before each. Out of memory, the output is NULL. */
void select_numbered_lines(struct key_block *block, uint8_t wanted);

/* Hands the output to stdout. False: stdout cannot be written. */
bool print_selection(const struct key_block *block);

#endif
