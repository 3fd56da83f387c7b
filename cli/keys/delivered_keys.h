/* delivered_keys.h - what of the output was delivered, and a filter that has the keys of just that.
 *
 * Keys are added ahead of the printing. If the filter that decides which lines are new were saved
 * after a failed write, the next run would suppress lines that nobody ever got. So `petal seen -f`
 * has a second filter, that of FILE, which follows the first: it gets the same keys in the same
 * order, but each only after its line, and all lines before it, were delivered. */
#ifndef PETAL_CLI_DELIVERED_KEYS_H
#define PETAL_CLI_DELIVERED_KEYS_H

#include "keys/keys.h"
#include "options/options.h"

#include <petal/petal.h>

struct delivery {
    const struct args *args;
    petal_filter *follower; /* gets the keys; of the caller */
    uint64_t written;       /* bytes of output that the system took */
    uint64_t delivered;     /* keys in the follower */
    uint64_t whole;         /* bytes of output up to the end of the last line that was delivered */

    /* Private. Keys on their way, from `first` to `count`: their hashes, and up to which byte the
     * output has to be delivered for each. */
    uint64_t *hashes, *ends;
    uint64_t *times; /* --time-field: of each; NULL without it */
    uint64_t clock;  /* of the follower */
    size_t first, count, room;
    bool failed; /* to follow, which was reported */
};

/* Whether it can be known how much of stdout was delivered: it is a file, a terminal or a pipe. */
bool delivery_is_known(void);

/* Prints a block whose lines were selected, the new ones by results[i] = 1, and whose hashes are
 * set. False: not all of it was printed, or the follower failed. */
bool delivery_print(struct delivery *delivery, const struct key_block *block);

/* Once all blocks are printed: the follower gets the rest, as far as it was delivered. False: some
 * keys were not. */
bool delivery_end(struct delivery *delivery);

#endif
