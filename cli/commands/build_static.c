/* build_static.c - see build_static.h. Keys are read only once. Their hashes are first collected,
 * then sorted, and then solved. With --memory, the library moves hashes that don't fit into memory
 * to a temporary file. */
#define _POSIX_C_SOURCE 200809L

#include "commands/build_static.h"

#include "keys/batch_calls.h"
#include "keys/pipeline.h"
#include "output/filter_info.h"
#include "output/numbers.h"
#include "output/progress.h"
#include "output/report.h"
#include "output/signals.h"

#include <petal/petal_build.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* ---- threads --------------------------------------------------------------------------------- */

struct part {
    petal_task task;
    void *argument;
    uint32_t worker;
};

static void *do_part(void *context)
{
    const struct part *part = context;
    part->task(part->argument, part->worker);
    return NULL;
}

/* Implements petal_run with threads. If a thread can't be started, the calling thread does the
 * thread's work. */
static void run_parts(void *context, petal_task task, void *argument, uint32_t workers)
{
    struct part parts[MAX_THREADS];
    pthread_t threads[MAX_THREADS];
    uint32_t started = 0;
    (void)context;
    for (; started + 1 < workers; started++) {
        parts[started] = (struct part){task, argument, started + 1};
        if (pthread_create(&threads[started], NULL, do_part, &parts[started]) != 0) break;
    }
    for (uint32_t i = started + 1; i < workers; i++) task(argument, i);
    task(argument, 0);
    for (uint32_t i = 0; i < started; i++) pthread_join(threads[i], NULL);
}

/* ---- collecting ------------------------------------------------------------------------------ */

/* With at least this many keys, a static filter is smaller than a classic filter at every rate. */
#define FEW_KEYS 2048u

struct collecting {
    petal_filter *hasher;
    petal_static_builder *builder;
    uint64_t count;
    uint64_t first[FEW_KEYS]; /* the first hashes, for building a classic filter from few keys */
};

static void hash_block(void *context, struct key_block *block)
{
    const struct collecting *collecting = context;
    hash_keys(collecting->hasher, block->keys, block->count, block->hashes);
}

/* Reports the error, and suggests an option that may help. Returns false. */
static bool complain_of_build(const petal_error *error)
{
    const char *way_out = error->status == PETAL_ERR_IO
                              ? "; set TMPDIR to a folder with more room, or raise --memory"
                              : "";
    return complain(NULL, "%s%s", error->message, way_out);
}

static bool add(struct collecting *collecting, const uint64_t *hashes, size_t count)
{
    petal_batch batch = hashes_batch(hashes, count);
    petal_error error;
    if (collecting->count + count <= FEW_KEYS)
        memcpy(collecting->first + collecting->count, hashes, count * sizeof *hashes);
    collecting->count += count;
    return petal_static_add(collecting->builder, 0, &batch, &error) == PETAL_OK ||
           complain_of_build(&error);
}

static bool enter_block(void *context, struct key_block *block)
{
    return add(context, block->hashes, block->count);
}

static bool enter_runs(void *context, struct key_block *block)
{
    struct collecting *collecting = context;
    struct key_run *run = block->run;
    bool added = true;
    for (run_begin(run, 0, block->count); added && run_next(run);) {
        hash_keys(collecting->hasher, run->keys, run->count, run->hashes);
        added = add(collecting, run->hashes, run->count);
    }
    return added;
}

static bool collect(struct key_reader *reader, struct collecting *collecting)
{
    static const struct stages by_row = {.work = hash_block, .enter = enter_block},
                               by_run = {.enter = enter_runs};
    bool has_rule = reader->rows.rule.unit != UNIT_ROW;
    return run_pipeline(reader, has_rule ? &by_run : &by_row, collecting) && !reader->failed &&
           stop_signal() == 0;
}

/* ---- few keys -------------------------------------------------------------------------------- */

/* Returns a classic filter with the same keys if it is smaller than the static filter, which is
 * possible only with few keys. */
static petal_filter *make_smaller(const struct collecting *collecting, const petal_options *options,
                                  const petal_info *than)
{
    petal_options classic = *options;
    petal_info plan = PETAL_INFO_INIT;
    petal_filter *filter = NULL;
    classic.scheme = PETAL_SCHEME_CLASSIC;
    classic.capacity = than->items;
    if (than->items == 0 || collecting->count > FEW_KEYS ||
        petal_plan(&classic, &plan, NULL, NULL) != PETAL_OK || plan.bytes >= than->bytes)
        return NULL;
    if (petal_create(&classic, &filter, NULL) != PETAL_OK) return NULL;
    add_hashes(filter, collecting->first, (size_t)collecting->count, NULL, NULL);
    return filter;
}

static petal_filter *smaller_of_both(const struct collecting *collecting,
                                     const petal_options *options, petal_filter *filter,
                                     uint64_t *avoided_bytes)
{
    petal_info info = info_of(filter);
    petal_filter *classic = make_smaller(collecting, options, &info);
    if (!classic) return filter;
    *avoided_bytes = info.bytes;
    petal_free(filter);
    return classic;
}

void remark_classic(const char *path, const petal_filter *filter, uint64_t avoided_bytes)
{
    if (avoided_bytes)
        remark(path, "classic, which takes %s bytes for so few keys; a static filter would take %s",
               grouped(info_of(filter).bytes).s, grouped(avoided_bytes).s);
}

/* ---- the whole build ------------------------------------------------------------------------- */

/* Creates a filter that is used only for hashing. */
static petal_filter *make_hasher(const petal_options *options)
{
    petal_options o = PETAL_OPTIONS_INIT;
    o.bits = o.hashes = 1;
    o.hash = options->hash;
    o.seed = options->seed;
    o.secret = options->secret;
    return create_filter(&o);
}

static petal_filter *finish(struct collecting *collecting, const petal_options *options,
                            uint64_t *avoided_bytes)
{
    petal_filter *filter = NULL;
    petal_error error;
    progress_begin("solving", "the filter");
    petal_status status =
        petal_static_finish(collecting->builder, run_parts, NULL, &filter, &error);
    progress_end();
    collecting->builder = NULL;
    if (status == PETAL_OK) return smaller_of_both(collecting, options, filter, avoided_bytes);
    complain_of_build(&error);
    return NULL;
}

/* Returns the folder for the temporary file. The caller must free() the result. */
static char *spill_folder(const char *output)
{
    const char *chosen = getenv("TMPDIR");
    if (chosen && *chosen) return strdup(chosen);
    const char *slash = strrchr(output, '/'); /* "-" contains no slash, so the folder is the current
                                               * one */
    char *folder = strdup(slash ? output : ".");
    if (folder && slash) folder[slash - output + 1] = '\0';
    return folder;
}

static bool limit_memory(petal_static_builder *builder, const struct args *args)
{
    petal_error error;
    char *folder = spill_folder(args->output);
    if (!folder) return complain(NULL, "out of memory");
    petal_status status = petal_static_spill(builder, folder, args->memory_bytes, &error);
    free(folder);
    return status == PETAL_OK ||
           (status == PETAL_ERR_IO ? complain_of_build(&error)
                                   : complain("--memory", "%s", error.message));
}

petal_filter *build_static(struct key_reader *reader, const struct request *request,
                           const struct args *args, uint64_t *avoided_bytes)
{
    petal_filter *filter = NULL;
    petal_error error;
    struct collecting *collecting = calloc(1, sizeof *collecting);
    if (!collecting) {
        complain(NULL, "out of memory");
        return NULL;
    }
    collecting->hasher = make_hasher(&request->options);
    if (collecting->hasher && petal_static_create(&request->options, thread_limit(reader->threads),
                                                  &collecting->builder, &error) != PETAL_OK)
        complain(NULL, "%s", error.message);
    bool is_ready =
        collecting->builder && (!args->memory_bytes || limit_memory(collecting->builder, args));
    if (is_ready && collect(reader, collecting))
        filter = finish(collecting, &request->options, avoided_bytes);
    if (petal_static_finish(collecting->builder, NULL, NULL, NULL, &error) != PETAL_OK)
        complain(NULL, "%s", error.message);
    petal_free(collecting->hasher);
    free(collecting);
    return filter;
}

petal_static_builder *collect_for_index(struct key_reader *reader, const petal_options *options)
{
    petal_static_builder *builder = NULL;
    petal_error error;
    struct collecting *collecting = calloc(1, sizeof *collecting);
    if (!collecting) {
        complain(NULL, "out of memory");
        return NULL;
    }
    collecting->hasher = make_hasher(options);
    if (collecting->hasher &&
        petal_static_create(options, 1, &collecting->builder, &error) != PETAL_OK)
        complain(NULL, "%s", error.message);
    if (collecting->builder && collect(reader, collecting)) {
        builder = collecting->builder;
        collecting->builder = NULL;
    }
    if (petal_static_finish(collecting->builder, NULL, NULL, NULL, &error) != PETAL_OK)
        complain(NULL, "%s", error.message);
    petal_free(collecting->hasher);
    free(collecting);
    return builder;
}
