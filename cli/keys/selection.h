/* selection.h - those rows of a block that are to be printed, as one piece of output. */
#ifndef PETAL_CLI_SELECTION_H
#define PETAL_CLI_SELECTION_H

#include "keys/keys.h"

/* Makes the rows whose result is `wanted` the output of the block, each with its separator, which
 * also a last row gets that came without; and those without a key, if they are to be kept. The
 * block's rows and keys are gone after it. */
void select_rows(struct key_block *block, uint8_t wanted, bool keep_strays);

/* The same with "NUMBER:" before each. Out of memory, the output is NULL. */
void select_numbered_rows(struct key_block *block, uint8_t wanted, bool keep_strays);

/* Hands the output to stdout. False: stdout cannot be written. */
bool print_selection(const struct key_block *block);

#endif
