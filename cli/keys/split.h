/* split.h - finds the rows of a block of text, and each row's key. */
#ifndef PETAL_CLI_SPLIT_H
#define PETAL_CLI_SPLIT_H

#include "keys/keys.h"
#include "keys/rows.h"
#include "options/decode.h"

/* The message for a block that can't be allocated. */
extern const char OUT_OF_MEMORY[];

/* Allocates room for `count` rows. If it returns false, the block reports the failure on
 * arrival. */
bool make_arrays(struct key_block *block, size_t rows);

/* Finds the block's rows, unless it already has them, and their keys. */
void split_block(const struct rows *rows, decoder *decode, struct key_block *block);

/* Makes all of the block's text one row without a key, or a piece of a row that is too long. Adds a
 * separator if `ends`. */
void split_piece(const struct rows *rows, struct key_block *block, bool ends);

/* True if a row has no key because it has too few fields. */
bool lacks_fields(const struct stray *stray);

/* The number of the first row after this place in the text. */
size_t first_row_after(const struct key_block *block, const char *text);

/* Iterates over all rows of a block in order, including those without a key. Initialize with
 * {0}. */
struct row_walk {
    size_t lines, strays; /* passed */
};

/* Returns the next row, or NULL if there is none. Sets *key to the index of its key, or to
 * NO_KEY. */
#define NO_KEY SIZE_MAX
const petal_key *next_row(const struct key_block *block, struct row_walk *walk, size_t *key);

/* Returns the number of the line at which a row of the block starts. */
uint64_t line_of_row(const struct key_block *block, const petal_key *row);

#endif
