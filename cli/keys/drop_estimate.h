/* drop_estimate.h - estimates how many keys of a stream were new but dropped as repeats. The exact
 * number can't be known. */
#ifndef PETAL_CLI_DROP_ESTIMATE_H
#define PETAL_CLI_DROP_ESTIMATE_H

#include <petal/petal.h>

struct drops {
    double expected;  /* estimated drops so far; NAN if the filter is too full for an estimate */
    petal_info start; /* initial state of a plain filter */
    /* plain filter: the rate follows from `keys`, the number of keys */
    bool is_predicted;
    double keys;
    double odds;              /* other filters: the last measured rate */
    uint64_t waiting, probes; /* new keys since then; absent keys queried so far, */
    uint64_t found;           /* and how many of these were found */
};

/* `start` describes the filter before the first key. */
void drops_begin(struct drops *drops, const petal_filter *filter, const petal_info *start,
                 const petal_stats *stats);

/* Returns the number of keys that may be added before drops_note() must be called. */
size_t drops_stretch(const struct drops *drops);

/* Records that `fresh` more keys that were new to the filter have been added. */
void drops_note(struct drops *drops, const petal_filter *filter, uint64_t fresh);

/* Call it after the last key. Returns the estimate, or NAN if at some point more than half of the
 * new keys were dropped. */
double drops_end(struct drops *drops, const petal_filter *filter);

#endif
