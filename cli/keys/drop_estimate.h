/* drop_estimate.h - estimates how many keys of a stream were new but dropped as repeats. The exact
 * number can't be known. */
#ifndef PETAL_CLI_DROP_ESTIMATE_H
#define PETAL_CLI_DROP_ESTIMATE_H

#include <petal/petal.h>

struct drops {
    double expected;  /* among the keys noted; NAN: unknown, since the filter is too full */
    petal_info start; /* of a plain filter */
    /* a plain filter, whose rate follows from the number of keys, `keys` */
    bool is_predicted;
    double keys;
    double odds;              /* otherwise the rate as last measured */
    uint64_t waiting, probes; /* new keys since then; absent keys queried so far, */
    uint64_t found;           /* and how many of those were found */
};

/* `start` describes the filter before the first key. */
void drops_begin(struct drops *drops, const petal_filter *filter, const petal_info *start,
                 const petal_stats *stats);

/* How many keys may be added until drops_note() must be called. */
size_t drops_stretch(const struct drops *drops);

/* Records that `fresh` more keys were added that were new to the filter. */
void drops_note(struct drops *drops, const petal_filter *filter, uint64_t fresh);

/* Call it after the last key. Returns the estimate. NAN: at some point more than half of the new
 * keys were dropped. */
double drops_end(struct drops *drops, const petal_filter *filter);

#endif
