/* pipeline.h - passes a reader's keys, block by block, through the stages of a command, on several
 * threads.
 *
 *      read      work        enter      compose     leave
 *     in order  any order   in order   any order   in order
 *
 * A thread takes a block through all five stages, with its own buffer. A stage "in order" runs in
 * one thread at a time, in the order of the blocks; the others run in all threads concurrently. So
 * results and output are the same as with one thread, and memory is one block per thread. */
#ifndef PETAL_CLI_PIPELINE_H
#define PETAL_CLI_PIPELINE_H

#include "keys/keys.h"

/* Whatever number is requested, no more than this. */
enum { MAX_THREADS = 64 };

/* What a command does with a block; NULL means nothing. If a stage returns false, the run ends: no
 * further block enters, and none after this one leaves. */
struct stages {
    void (*work)(void *context, struct key_block *block);
    bool (*enter)(void *context, struct key_block *block);
    void (*compose)(void *context, struct key_block *block);
    bool (*leave)(void *context, struct key_block *block);
};

/* Takes every key through the stages. Starts threads only when full blocks arrive, so that short
 * inputs don't pay for them: at most reader->threads (0 means one per CPU, up to a bound). Returns
 * false if a stage did. reader->failed reports reading errors. */
bool run_pipeline(struct key_reader *reader, const struct stages *stages, void *context);

/* How many threads a command may use if this many were requested (0 means that it may choose). */
unsigned thread_limit(uint64_t asked);

#endif
