/* delivered_keys.c - see delivered_keys.h. */
#define _POSIX_C_SOURCE 200809L

#include "keys/delivered_keys.h"

#include "keys/batch_calls.h"

#include "keys/layers.h"
#include "output/report.h"
#include "output/signals.h"

#include <stdlib.h>
#include <string.h>

bool delivery_is_known(void)
{
    return unread_output() != UINT64_MAX;
}

static bool fail(struct delivery *delivery, const char *what)
{
    delivery->failed = true;
    return complain(delivery->args->file, "%s; the lines after this are not remembered", what);
}

/* ---- keys that wait for delivery ------------------------------------------------------------- */

static bool make_room(struct delivery *delivery, size_t keys)
{
    size_t waiting = delivery->count - delivery->first;
    if (waiting > 0 && delivery->first > 0) {
        memmove(delivery->hashes, delivery->hashes + delivery->first, waiting * sizeof(uint64_t));
        memmove(delivery->ends, delivery->ends + delivery->first, waiting * sizeof(uint64_t));
        if (delivery->times)
            memmove(delivery->times, delivery->times + delivery->first, waiting * sizeof(uint64_t));
    }
    delivery->first = 0;
    delivery->count = waiting;
    if (keys <= delivery->room - waiting) return true;
    if (keys > SIZE_MAX / 32 - waiting) return false;
    size_t room = 2 * (waiting + keys);
    uint64_t *hashes = realloc(delivery->hashes, room * sizeof(uint64_t));
    if (hashes) delivery->hashes = hashes;
    uint64_t *ends = realloc(delivery->ends, room * sizeof(uint64_t));
    if (ends) delivery->ends = ends;
    if (!hashes || !ends) return false;
    if (delivery->args->time_field) {
        uint64_t *times = realloc(delivery->times, room * sizeof(uint64_t));
        if (!times) return false;
        delivery->times = times;
    }
    delivery->room = room;
    return true;
}

/* `end` is the position at which the block's output starts. A repeat is not printed, but its key
 * waits for the rows before it, since its first occurrence may be among those rows. All rows
 * without a key are printed. */
static bool note_keys(struct delivery *delivery, const struct key_block *block, uint64_t end)
{
    if (block->count == 0) return true;
    if (!make_room(delivery, block->count)) return fail(delivery, "out of memory");
    memcpy(delivery->hashes + delivery->count, block->hashes, block->count * sizeof(uint64_t));
    if (delivery->times)
        memcpy(delivery->times + delivery->count, block->times, block->count * sizeof(uint64_t));
    if (block->keeps_header) end += block->header_bytes;
    for (size_t i = 0, s = 0; i < block->count; i++) {
        for (; s < block->stray_count && block->strays[s].row.data < block->lines[i].data; s++)
            end += block->strays[s].row.size_bytes + 1;
        if (block->results[i]) end += block->lines[i].size_bytes + 1;
        delivery->ends[delivery->count + i] = end;
    }
    delivery->count += block->count;
    return true;
}

/* Adds the keys whose output ends within the first `bytes` bytes to the follower. */
static bool follow(struct delivery *delivery, uint64_t bytes)
{
    size_t end = delivery->first;
    if (delivery->failed) return false;
    while (end < delivery->count && delivery->ends[end] <= bytes) end++;
    if (end == delivery->first) return true;
    if (!delivery->times) tell_time(delivery->follower, delivery->args);
    petal_status status = add_at_times(delivery->follower, delivery->hashes + delivery->first,
                                       delivery->times ? delivery->times + delivery->first : NULL,
                                       end - delivery->first, &delivery->clock);
    delivery->delivered += end - delivery->first;
    delivery->whole = delivery->ends[end - 1];
    delivery->first = end;
    if (status >= 0) return true;
    petal_error error;
    petal_last_error(delivery->follower, &error);
    return fail(delivery, error.message);
}

/* ---- output ---------------------------------------------------------------------------------- */

/* Bytes that are still in a pipe may never be read. */
static uint64_t read_by_others(const struct delivery *delivery)
{
    uint64_t unread = unread_output();
    return unread < delivery->written ? delivery->written - unread : 0;
}

bool delivery_print(struct delivery *delivery, const struct key_block *block)
{
    uint64_t start = delivery->written;
    bool printed = write_output(block->output.data, block->output.size_bytes, &delivery->written);
    return note_keys(delivery, block, start) && follow(delivery, read_by_others(delivery)) &&
           printed;
}

bool delivery_end(struct delivery *delivery)
{
    wait_for_reader();
    bool whole = flush_output() && !output_has_no_reader() && !stop_signal();
    bool followed = follow(delivery, whole ? delivery->written : read_by_others(delivery));
    bool all = followed && delivery->first == delivery->count;
    if (!flush_output() && delivery->written > delivery->whole)
        cut_output(delivery->written - delivery->whole);
    free(delivery->hashes);
    free(delivery->ends);
    free(delivery->times);
    delivery->hashes = delivery->ends = delivery->times = NULL;
    return all;
}
