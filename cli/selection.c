/* selection.c - see selection.h. Lines and separators stand in the text as they are to be printed:
 * runs of wanted lines are moved together in place, and if all of them are wanted nothing is
 * moved. */
#include "selection.h"

#include "report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static size_t end_of_run(const struct key_block *block, size_t from, uint8_t wanted)
{
    while (from < block->count && block->results[from] == wanted) from++;
    return from;
}

void select_lines(struct key_block *block, uint8_t wanted)
{
    char *to = block->text;
    size_t i = 0;
    while ((i = end_of_run(block, i, !wanted)) < block->count) {
        const char *from = block->lines[i].data;
        i = end_of_run(block, i, wanted);
        const petal_key *last = &block->lines[i - 1];
        size_t bytes = (size_t)((const char *)last->data - from) + last->size_bytes + 1;
        if (to != from) memmove(to, from, bytes);
        to += bytes;
    }
    block->output = (petal_key){block->text, (size_t)(to - block->text)};
}

enum { NUMBER_BYTES = 24 }; /* of any line number, its colon and the 0 of snprintf() */

static bool make_numbered(struct key_block *block)
{
    const petal_key *last = &block->lines[block->count - 1];
    size_t text = (size_t)((const char *)last->data - block->text) + last->size_bytes + 1;
    if (block->count > (SIZE_MAX - text) / NUMBER_BYTES) return false;
    size_t needed = text + block->count * NUMBER_BYTES;
    if (needed <= block->numbered_bytes) return true;
    free(block->numbered);
    block->numbered = malloc(needed);
    block->numbered_bytes = block->numbered ? needed : 0;
    return block->numbered != NULL;
}

void select_numbered_lines(struct key_block *block, uint8_t wanted)
{
    block->output = (petal_key){0};
    if (!make_numbered(block)) return;
    char *to = block->numbered;
    for (size_t i = 0; i < block->count; i++) {
        if (block->results[i] != wanted) continue;
        to += snprintf(to, NUMBER_BYTES, "%" PRIu64 ":", block->first_line + i);
        memcpy(to, block->lines[i].data, block->lines[i].size_bytes + 1);
        to += block->lines[i].size_bytes + 1;
    }
    block->output = (petal_key){block->numbered, (size_t)(to - block->numbered)};
}

bool print_selection(const struct key_block *block)
{
    uint64_t written = 0;
    return write_output(block->output.data, block->output.size_bytes, &written);
}
