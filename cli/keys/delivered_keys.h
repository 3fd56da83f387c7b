/* delivered_keys.h - tracks how much of the output was delivered, and keeps a filter that contains
 * exactly the keys of those lines.
 *
 * Keys are added before their lines are printed. If a write failed and the filter were saved as it
 * is, the next run would suppress lines that nobody ever received. So `petal seen -f` uses FILE's
 * filter as a second filter, which follows the first. The same keys are added to the second filter
 * in the same order, but each key only after its line and all previous lines have been
 * delivered. */
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

    /* Private. The pending keys, from `first` to `count`: their hashes, and for each key the number
     * of output bytes that must be delivered first. */
    uint64_t *hashes, *ends;
    uint64_t *times; /* with --time-field, the time of each key; otherwise NULL */
    uint64_t clock;  /* the follower's */
    size_t first, count, room;
    bool failed; /* the follower failed (already reported) */
};

/* True if the program can find out how much of stdout was delivered: stdout must be a file, a
 * terminal or a pipe. */
bool delivery_is_known(void);

/* Prints the selected lines of a block. results[i] is 1 if line i is new, and hashes must be set.
 * Returns false if some lines were not printed or the follower failed. */
bool delivery_print(struct delivery *delivery, const struct key_block *block);

/* Call it after all blocks have been printed: adds to the follower the remaining keys whose lines
 * were delivered. Returns false if some lines were not delivered. */
bool delivery_end(struct delivery *delivery);

#endif
