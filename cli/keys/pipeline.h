/* pipeline.h - the keys of a reader, block by block, through what a command does with them, on
 * several threads.
 *
 *      read      work        enter      compose     leave
 *     in order  any order   in order   any order   in order
 *
 * A thread takes a block through all five, with a buffer of its own: what must be done in order is
 * done by whoever's turn it is, and what need not be is done by all at once. So results and output
 * are those of one thread, and memory is a block per thread. */
#ifndef PETAL_CLI_PIPELINE_H
#define PETAL_CLI_PIPELINE_H

#include "keys/keys.h"

/* However many are asked for. */
enum { MAX_THREADS = 64 };

/* What a command does with a block; NULL: nothing. A stage that returns false ends it all: no
 * further block is entered, and none after this one leaves. */
struct stages {
    void (*work)(void *context, struct key_block *block);
    bool (*enter)(void *context, struct key_block *block);
    void (*compose)(void *context, struct key_block *block);
    bool (*leave)(void *context, struct key_block *block);
};

/* Takes every key through the stages. Threads are started as full blocks come in, reader->threads
 * in all (0: as many as there are CPUs, up to a bound), so that a short input is none the slower
 * for them. False: a stage said so. reader->failed tells of the reading. */
bool run_pipeline(struct key_reader *reader, const struct stages *stages, void *context);

/* How many threads a command may use if this many were asked for (0: it may choose). */
unsigned thread_limit(uint64_t asked);

#endif
