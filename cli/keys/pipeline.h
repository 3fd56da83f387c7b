/* pipeline.h - passes a reader's keys, block by block, through the stages of a command, on several
 * threads.
 *
 *      read      work        enter      compose     leave
 *     in order  any order   in order   any order   in order
 *
 * A thread takes a block through all five stages, with its own buffer. A stage marked "in order"
 * runs in one thread at a time, in the order of the blocks; the other stages run in all threads
 * concurrently. So results and output are the same as with one thread, and each thread needs memory
 * for one block. */
#ifndef PETAL_CLI_PIPELINE_H
#define PETAL_CLI_PIPELINE_H

#include "keys/keys.h"

/* The maximum number of threads, no matter how many are requested. */
enum { MAX_THREADS = 64 };

/* The stages of a command, each of which processes a block. NULL means that the stage does nothing.
 * If a stage returns false, the run ends: no further block enters, and no later block leaves. */
struct stages {
    void (*work)(void *context, struct key_block *block);
    bool (*enter)(void *context, struct key_block *block);
    void (*compose)(void *context, struct key_block *block);
    bool (*leave)(void *context, struct key_block *block);
};

/* Runs every block of keys through the stages. Starts at most reader->threads threads (0 means one
 * per CPU, up to a bound), and only when full blocks arrive, so that short inputs don't pay for
 * them. Returns false if a stage failed. reader->failed reports reading errors. */
bool run_pipeline(struct key_reader *reader, const struct stages *stages, void *context);

/* Returns the number of threads that a command may use if `asked` were requested (0 means one per
 * CPU, up to a limit). */
unsigned thread_limit(uint64_t asked);

#endif
