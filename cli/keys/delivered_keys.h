/* delivered_keys.h - tracks how much of the output was delivered, and keeps a filter that contains
 * exactly the keys of those lines.
 *
 * Keys are added before their lines are printed. If a write failed and the filter were saved as it
 * is, the next run would suppress lines that nobody ever received. So `petal seen -f` has a second
 * filter, the one in FILE, which follows the first: the same keys are added to it in the same
 * order, but each only after its line and all lines before it were delivered. */
#ifndef PETAL_CLI_DELIVERED_KEYS_H
#define PETAL_CLI_DELIVERED_KEYS_H

#include "keys/keys.h"
#include "options/options.h"

#include <petal/petal.h>

struct delivery {
    const struct args *args;
    petal_filter *follower; /* receives the keys; the caller owns it */
    uint64_t written;       /* bytes of output that the system accepted */
    uint64_t delivered;     /* number of keys in the follower */
    uint64_t whole;         /* bytes of output up to the end of the last delivered line */

    /* Private. Pending keys, from `first` to `count`: their hashes, and for each the number of
     * output bytes that must be delivered first. */
    uint64_t *hashes, *ends;
    uint64_t *times; /* --time-field: the time of each; otherwise NULL */
    uint64_t clock;  /* the follower's */
    size_t first, count, room;
    bool failed; /* the follower failed; reported */
};

/* True if the program can find out how much of stdout was delivered: for a file, a terminal or a
 * pipe. */
bool delivery_is_known(void);

/* Prints a block whose lines were selected: results[i] is 1 for the new ones, and hashes must be
 * set. Returns false if some lines were not printed or the follower failed. */
bool delivery_print(struct delivery *delivery, const struct key_block *block);

/* Call it after all blocks were printed: adds the remaining keys whose lines were delivered to the
 * follower. Returns false if some lines were not delivered. */
bool delivery_end(struct delivery *delivery);

#endif
