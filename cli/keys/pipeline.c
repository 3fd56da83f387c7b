/* pipeline.c - see pipeline.h. Blocks are numbered as they are read. A turnstile lets blocks
 * through one at a time, in the order of their numbers. */
#define _POSIX_C_SOURCE 200809L
#define _DARWIN_C_SOURCE /* _SC_NPROCESSORS_ONLN */

#include "keys/pipeline.h"

#include <pthread.h>
#include <unistd.h>

enum { DEFAULT_MAX_THREADS = 8 };

enum turnstile { ENTER, LEAVE, TURNSTILES };

struct pipeline {
    struct key_reader *reader;
    const struct stages *stages;
    void *context;

    pthread_mutex_t reading; /* guards the reader and the next five fields */
    uint64_t blocks_read;
    bool ended;
    unsigned threads, max_threads;
    pthread_t others[MAX_THREADS];

    pthread_mutex_t moving; /* guards the rest */
    pthread_cond_t moved;
    uint64_t passed[TURNSTILES]; /* blocks */
    bool shut[TURNSTILES];       /* closed: blocks pass without doing the stage's work */
    bool refused;                /* stopped by a line that is not a key */
};

/* Waits for the block's turn. Returns false if the block must skip this stage. */
static bool wait_for_turn(struct pipeline *pipeline, enum turnstile turnstile, uint64_t block)
{
    pthread_mutex_lock(&pipeline->moving);
    while (pipeline->passed[turnstile] != block)
        pthread_cond_wait(&pipeline->moved, &pipeline->moving);
    bool open = !pipeline->shut[LEAVE] && (turnstile == LEAVE || !pipeline->shut[ENTER]);
    pthread_mutex_unlock(&pipeline->moving);
    return open;
}

static void end_turn(struct pipeline *pipeline, enum turnstile turnstile, bool go_on)
{
    pthread_mutex_lock(&pipeline->moving);
    pipeline->passed[turnstile]++;
    if (!go_on) pipeline->shut[turnstile] = true;
    pthread_cond_broadcast(&pipeline->moved);
    pthread_mutex_unlock(&pipeline->moving);
}

static bool is_stopped(struct pipeline *pipeline)
{
    pthread_mutex_lock(&pipeline->moving);
    bool stopped = pipeline->shut[ENTER] || pipeline->shut[LEAVE];
    pthread_mutex_unlock(&pipeline->moving);
    return stopped;
}

/* Waits until every block that was read has left the pipeline; the caller holds `reading`. Returns
 * false if the run was stopped. */
static bool wait_for_all(struct pipeline *pipeline)
{
    return wait_for_turn(pipeline, LEAVE, pipeline->blocks_read) && !is_stopped(pipeline);
}

/* ---- a thread -------------------------------------------------------------------------------- */

static void *run(void *context);

/* Starts one more thread, unless the maximum is running. If that fails, the existing threads do the
 * work. */
static void start_thread(struct pipeline *pipeline)
{
    if (pipeline->threads == pipeline->max_threads) return;
    if (pthread_create(&pipeline->others[pipeline->threads - 1], NULL, run, pipeline) == 0)
        pipeline->threads++;
    else
        pipeline->max_threads = pipeline->threads;
}

static bool read_block(struct pipeline *pipeline, struct key_block *block, uint64_t *number)
{
    pthread_mutex_lock(&pipeline->reading);
    enum keys_found found = KEYS_END;
    if (!pipeline->ended && !is_stopped(pipeline)) found = keys_read(pipeline->reader, block);
    while (found == KEYS_NOT_YET)
        found = wait_for_all(pipeline) && keys_wait(pipeline->reader)
                    ? keys_read(pipeline->reader, block)
                    : KEYS_END;
    bool good = found == KEYS_BLOCK;
    pipeline->ended = !good;
    *number = pipeline->blocks_read;
    if (good) pipeline->blocks_read++;
    if (good && keys_block_is_full(block)) start_thread(pipeline);
    pthread_mutex_unlock(&pipeline->reading);
    return good;
}

/* If a row has no key, the keys before it are still processed. */
static bool enter(struct pipeline *pipeline, struct key_block *block)
{
    const struct stages *stages = pipeline->stages;
    bool whole = keys_arrive(pipeline->reader, block);
    bool empty = block->count + block->stray_count + block->keeps_header == 0;
    bool good = empty || !stages->enter || stages->enter(pipeline->context, block);
    if (!whole) pipeline->refused = true;
    return good && whole;
}

static void pass(struct pipeline *pipeline, struct key_block *block, uint64_t number)
{
    static const struct stages none = {0};
    const struct stages *stages = block->trouble ? &none : pipeline->stages;
    keys_split(pipeline->reader, block);
    if (stages->work) stages->work(pipeline->context, block);
    bool entered = wait_for_turn(pipeline, ENTER, number);
    end_turn(pipeline, ENTER, !entered || enter(pipeline, block));
    if (entered && stages->compose) stages->compose(pipeline->context, block);
    bool leaves = wait_for_turn(pipeline, LEAVE, number) && entered && stages->leave;
    end_turn(pipeline, LEAVE, !leaves || stages->leave(pipeline->context, block));
}

static void *run(void *context)
{
    struct pipeline *pipeline = context;
    struct key_block block = {0};
    uint64_t number;
    while (read_block(pipeline, &block, &number)) pass(pipeline, &block, number);
    keys_free_block(&block);
    return NULL;
}

/* ---- the whole run --------------------------------------------------------------------------- */

unsigned thread_limit(uint64_t asked)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    if (asked > 0) return asked < MAX_THREADS ? (unsigned)asked : MAX_THREADS;
    if (cpus < 1) return 1;
    return cpus < DEFAULT_MAX_THREADS ? (unsigned)cpus : DEFAULT_MAX_THREADS;
}

bool run_pipeline(struct key_reader *reader, const struct stages *stages, void *context)
{
    struct pipeline pipeline = {.reader = reader,
                                .stages = stages,
                                .context = context,
                                .threads = 1,
                                .max_threads = thread_limit(reader->threads),
                                .reading = PTHREAD_MUTEX_INITIALIZER,
                                .moving = PTHREAD_MUTEX_INITIALIZER,
                                .moved = PTHREAD_COND_INITIALIZER};
    run(&pipeline);
    /* No more threads can be started after this thread has reached the end. */
    for (unsigned i = 0; i + 1 < pipeline.threads; i++) pthread_join(pipeline.others[i], NULL);
    reader->failed = reader->failed || pipeline.refused;
    return !pipeline.shut[ENTER] && !pipeline.shut[LEAVE];
}
