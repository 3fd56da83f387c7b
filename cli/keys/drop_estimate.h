/* drop_estimate.h - how many keys of a stream were new but dropped as repeats: an estimate, since
 * nobody can tell which. */
#ifndef PETAL_CLI_DROP_ESTIMATE_H
#define PETAL_CLI_DROP_ESTIMATE_H

#include <petal/petal.h>

struct drops {
    double expected;  /* of the keys noted; NAN: nobody can tell, for the filter is too full */
    petal_info start; /* of a plain filter */
    /* it is one: its rate follows from the number of keys, which are `keys` by now */
    bool is_predicted;
    double keys;
    double odds;              /* otherwise as last measured */
    uint64_t waiting, probes; /* new keys since then; absent keys queried so far, */
    uint64_t found;           /* and those of them that were found */
};

/* `start` is what the filter is before the first key. */
void drops_begin(struct drops *drops, const petal_filter *filter, const petal_info *start,
                 const petal_stats *stats);

/* How many keys may be added until drops_note() must be called. */
size_t drops_stretch(const struct drops *drops);

/* `fresh` more keys were added that were new to the filter. */
void drops_note(struct drops *drops, const petal_filter *filter, uint64_t fresh);

/* After the last key: the estimate. NAN: at some time more than half of the new keys were
 * dropped. */
double drops_end(struct drops *drops, const petal_filter *filter);

#endif
