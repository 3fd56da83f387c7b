/* selection.h - selects the rows of a block to print, as one piece of output. */
#ifndef PETAL_CLI_SELECTION_H
#define PETAL_CLI_SELECTION_H

#include "keys/keys.h"

/* Makes the rows whose result is `wanted` the block's output, each with its separator. A last row
 * without a separator gets one. Rows without a key are included if they are kept. Destroys the
 * block's rows and keys. */
void select_rows(struct key_block *block, uint8_t wanted, bool keep_strays);

/* Selects rows in the same way, and writes "NUMBER:" before each row. If memory runs out, the
 * output is NULL. */
void select_numbered_rows(struct key_block *block, uint8_t wanted, bool keep_strays);

/* Prints the output on stdout. Returns false if stdout can't be written to. */
bool print_selection(const struct key_block *block);

#endif
