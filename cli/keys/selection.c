/* selection.c - see selection.h. The text contains rows and separators in the form in which they
 * are printed, and runs of selected rows are moved together in place. If all rows are selected,
 * nothing moves. */
#include "keys/selection.h"

#include "keys/split.h"
#include "output/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static size_t end_of_run(const struct key_block *block, size_t from, size_t until, uint8_t wanted)
{
    while (from < until && block->results[from] == wanted) from++;
    return from;
}

/* Returns the bytes from one row up to another, including the separator. */
static char *move_rows(char *to, const petal_key *first, const petal_key *last)
{
    const char *from = first->data;
    size_t bytes = (size_t)((const char *)last->data - from) + last->size_bytes + 1;
    if (to != from) memmove(to, from, bytes);
    return to + bytes;
}

static char *move_wanted(const struct key_block *block, size_t i, size_t until, uint8_t wanted,
                         char *to)
{
    while ((i = end_of_run(block, i, until, !wanted)) < until) {
        size_t first = i;
        i = end_of_run(block, i, until, wanted);
        to = move_rows(to, &block->lines[first], &block->lines[i - 1]);
    }
    return to;
}

void select_rows(struct key_block *block, uint8_t wanted, bool keep_strays)
{
    char *to = block->text + (block->keeps_header ? block->header_bytes : 0);
    size_t i = 0;
    for (size_t s = 0; s < block->stray_count; s++) {
        const petal_key *row = &block->strays[s].row;
        size_t until = first_row_after(block, row->data);
        to = move_wanted(block, i, until, wanted, to);
        if (keep_strays) to = move_rows(to, row, row);
        i = until;
    }
    to = move_wanted(block, i, block->count, wanted, to);
    block->output = (petal_key){block->text, (size_t)(to - block->text)};
}

enum { NUMBER_BYTES = 24 }; /* room for any line number, its colon and the 0 from snprintf() */

static bool make_numbered(struct key_block *block)
{
    size_t rows = block->count + block->stray_count + block->keeps_header,
           text = block->size_bytes + 1;
    if (rows > (SIZE_MAX - text) / NUMBER_BYTES) return false;
    size_t needed = text + rows * NUMBER_BYTES;
    if (needed <= block->numbered_bytes) return true;
    free(block->numbered);
    block->numbered = malloc(needed);
    block->numbered_bytes = block->numbered ? needed : 0;
    return block->numbered != NULL;
}

/* For numbered rows: line_of_row() for each, in order. */
struct numbering {
    const struct key_block *block;
    const char *at;
    uint64_t line;
    char *to;
};

static void put_numbered(struct numbering *numbering, const petal_key *row)
{
    const struct key_block *block = numbering->block;
    const char *data = row->data, *at = numbering->at;
    for (; block->has_fields && (at = memchr(at, block->separator, (size_t)(data - at))); at++)
        numbering->line++;
    if (!block->has_fields) numbering->line = line_of_row(block, row);
    numbering->at = data;
    if (!block->continues)
        numbering->to += snprintf(numbering->to, NUMBER_BYTES, "%" PRIu64 ":", numbering->line);
    memcpy(numbering->to, data, row->size_bytes + 1);
    numbering->to += row->size_bytes + 1;
}

void select_numbered_rows(struct key_block *block, uint8_t wanted, bool keep_strays)
{
    struct numbering numbering = {block, block->text, block->first_line, NULL};
    block->output = (petal_key){0};
    if (!make_numbered(block)) return;
    numbering.to = block->numbered;
    if (block->keeps_header)
        put_numbered(&numbering, &(petal_key){block->text, block->header_bytes - 1});
    struct row_walk walk = {0};
    size_t key;
    for (const petal_key *row; (row = next_row(block, &walk, &key));)
        if (key == NO_KEY ? keep_strays : block->results[key] == wanted)
            put_numbered(&numbering, row);
    block->output = (petal_key){block->numbered, (size_t)(numbering.to - block->numbered)};
}

bool print_selection(const struct key_block *block)
{
    uint64_t written = 0;
    return write_output(block->output.data, block->output.size_bytes, &written);
}
