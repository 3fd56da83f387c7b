/* cmd_shard.c - petal shard: prints which of N shards each key belongs to, for sets that are
 * distributed over several files or machines. */
#define _POSIX_C_SOURCE 200809L

#include "commands/commands.h"
#include "commands/summary.h"
#include "files/paths.h"
#include "files/request.h"
#include "files/secret.h"
#include "keys/keys.h"
#include "keys/pipeline.h"
#include "keys/selection.h"
#include "keys/split.h"
#include "output/numbers.h"
#include "output/progress.h"
#include "output/report.h"
#include "output/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <petal/petal_host.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_FILES = 4096 };

/* An output file that is being written. */
struct part {
    FILE *file;
    uint64_t keys;
};

struct sharding {
    const struct args *args;
    uint32_t shards;
    bool one_only; /* prints only the keys of `wanted` */
    uint32_t wanted;
    const petal_filter *hasher; /* hashes the keys of a keyed set, or NULL */
    struct part *parts;         /* if -o is given */
    uint64_t token;             /* of their drafts */
    bool failed;                /* writing a file failed (already reported) */
};

static uint32_t shard_of(const struct sharding *sharding, const petal_key *key)
{
    if (!sharding->hasher) return petal_shard_of(key->data, key->size_bytes, sharding->shards);
    return petal_shard_of_hash(petal_hash_key(sharding->hasher, key->data, key->size_bytes),
                               sharding->shards);
}

/* ---- files ----------------------------------------------------------------------------------- */

/* "part-%d.txt" -> "part-3.txt". */
static bool name_part(const char *pattern, uint32_t shard, char *name, size_t size)
{
    const char *mark = strstr(pattern, "%d");
    int length =
        snprintf(name, size, "%.*s%" PRIu32 "%s", (int)(mark - pattern), pattern, shard, mark + 2);
    return length < (int)size || complain(pattern, "cannot write it: %s", strerror(ENAMETOOLONG));
}

#define NAME_BYTES 4000

static bool open_part(const struct sharding *sharding, uint32_t shard)
{
    char name[NAME_BYTES];
    const struct args *args = sharding->args;
    if (!name_part(args->output, shard, name, sizeof name) || !may_write(name, args->force))
        return false;
    if (!differs_from_inputs(name, args->operands, args->operand_count)) return false;
    int descriptor = open_draft(name, sharding->token);
    sharding->parts[shard].file = descriptor < 0 ? NULL : fdopen(descriptor, "wb");
    return sharding->parts[shard].file || complain(name, "cannot write it: %s", strerror(errno));
}

static bool open_parts(struct sharding *sharding)
{
    if (!random_bits(&sharding->token)) return false;
    sharding->parts = calloc(sharding->shards, sizeof *sharding->parts);
    if (!sharding->parts) return complain(NULL, "out of memory");
    for (uint32_t i = 0; i < sharding->shards; i++)
        if (!open_part(sharding, i)) return false;
    return true;
}

/* Writes the rest of the file to disk, but doesn't give it its final name yet. */
static bool finish_part(struct part *part)
{
    bool good = fflush(part->file) == 0 && (fsync(fileno(part->file)) == 0 || errno == EINVAL);
    int failure = errno;
    if (fclose(part->file) != 0 && good) {
        failure = errno;
        good = false;
    }
    part->file = NULL;
    errno = failure;
    return good;
}

/* Renames the files to their final names once all are complete. */
static bool finish_parts(struct sharding *sharding)
{
    char name[NAME_BYTES];
    for (uint32_t i = 0; i < sharding->shards; i++)
        if (!finish_part(&sharding->parts[i]))
            return complain(sharding->args->output, "cannot write it: %s", strerror(errno));
    for (uint32_t i = 0; i < sharding->shards; i++) {
        name_part(sharding->args->output, i, name, sizeof name);
        if (!publish_draft(name, sharding->token))
            return complain(name, "cannot write it: %s", strerror(errno));
    }
    return true;
}

/* Removes the drafts. Files that already have their final names stay. */
static void drop_parts(struct sharding *sharding)
{
    char name[NAME_BYTES];
    for (uint32_t i = 0; sharding->parts && i < sharding->shards; i++) {
        if (sharding->parts[i].file) fclose(sharding->parts[i].file);
        if (!name_part(sharding->args->output, i, name, sizeof name)) break;
        remove_draft(name, sharding->token);
    }
    free(sharding->parts);
    sharding->parts = NULL;
}

static void say_sizes(const struct sharding *sharding)
{
    uint64_t min = UINT64_MAX, max = 0;
    for (uint32_t i = 0; i < sharding->shards; i++) {
        uint64_t keys = sharding->parts[i].keys;
        min = keys < min ? keys : min;
        max = keys > max ? keys : max;
    }
    remark(sharding->args->output, "%s file%s, of %s to %s keys", grouped(sharding->shards).s,
           plural(sharding->shards), grouped(min).s, grouped(max).s);
}

/* ---- keys: the stages of a block (pipeline.h) ------------------------------------------------ */

static void find_shards(void *context, struct key_block *block)
{
    const struct sharding *sharding = context;
    for (size_t i = 0; i < block->count; i++) {
        block->hashes[i] = shard_of(sharding, &block->keys[i]);
        block->results[i] = block->hashes[i] == sharding->wanted;
    }
}

/* A row and its separator. */
static void put_line(const petal_key *line, FILE *out)
{
    fwrite(line->data, 1, line->size_bytes + 1, out);
}

/* A row without a key belongs to shard 0, so that no row is lost. */
static uint64_t shard_of_row(const struct key_block *block, size_t key)
{
    return key == NO_KEY ? 0 : block->hashes[key];
}

static void put_header(const struct key_block *block, FILE *out)
{
    if (block->keeps_header) fwrite(block->text, 1, block->header_bytes, out);
}

static bool put_numbered(void *context, struct key_block *block)
{
    (void)context;
    struct row_walk walk = {0};
    size_t key;
    if (block->keeps_header) fputs("shard\t", stdout);
    put_header(block, stdout);
    for (const petal_key *row; (row = next_row(block, &walk, &key));) {
        if (!block->continues) printf("%" PRIu64 "\t", shard_of_row(block, key));
        put_line(row, stdout);
    }
    return !ferror(stdout);
}

static bool note_failure(struct sharding *sharding, int failure)
{
    sharding->failed = true;
    return complain(sharding->args->output, "cannot write it: %s", strerror(failure));
}

static bool put_into_parts(void *context, struct key_block *block)
{
    struct sharding *sharding = context;
    struct row_walk walk = {0};
    size_t key;
    for (uint32_t i = 0; i < sharding->shards; i++) put_header(block, sharding->parts[i].file);
    for (const petal_key *row; (row = next_row(block, &walk, &key));) {
        struct part *part = &sharding->parts[shard_of_row(block, key)];
        put_line(row, part->file);
        part->keys += key != NO_KEY;
        if (ferror(part->file)) return note_failure(sharding, errno);
    }
    return true;
}

static void select_shard(void *context, struct key_block *block)
{
    select_rows(block, 1, ((const struct sharding *)context)->wanted == 0);
}

static bool print_shard(void *context, struct key_block *block)
{
    (void)context;
    return print_selection(block);
}

static bool put_keys(struct sharding *sharding, struct key_reader *reader)
{
    static const struct stages numbering = {.work = find_shards, .enter = put_numbered},
                               filing = {.work = find_shards, .enter = put_into_parts},
                               selecting = {find_shards, NULL, select_shard, print_shard};
    reader->watch_output = !sharding->parts;
    reader->fate = "put into shard 0";
    progress_start(sharding->args->progress, !sharding->parts);
    run_pipeline(reader,
                 sharding->parts      ? &filing
                 : sharding->one_only ? &selecting
                                      : &numbering,
                 sharding);
    progress_hide();
    return !reader->failed && !sharding->failed && stop_signal() == 0;
}

static int split(struct sharding *sharding)
{
    const struct args *args = sharding->args;
    struct key_reader reader;
    bool to_files = args->output != NULL;
    if (!keys_open(&reader, args, args->operands, args->operand_count, false)) return STATUS_ERROR;
    if (to_files) catch_stop_signals(); /* so that a signal leaves no draft files behind */
    bool good = (!to_files || open_parts(sharding)) && put_keys(sharding, &reader) &&
                (!to_files || finish_parts(sharding));
    keys_close(&reader);
    if (good && to_files && is_verbose(args)) say_sizes(sharding);
    drop_parts(sharding);
    if (stop_signal()) return STATUS_SIGNAL + stop_signal();
    return good ? STATUS_OK : STATUS_ERROR;
}

/* ---- command --------------------------------------------------------------------------------- */

static bool read_wanted(const struct args *args, struct sharding *sharding)
{
    struct why why;
    uint64_t number;
    if (!args->shard) return true;
    if (!parse_u64(args->shard, &number, &why))
        return complain("-i", "%s: %s", args->shard, why.text);
    if (number >= args->shards)
        return complain("-i", "%s: shards are numbered from 0 to %" PRIu64, args->shard,
                        args->shards - 1);
    sharding->one_only = true;
    sharding->wanted = (uint32_t)number;
    return true;
}

static bool check_pattern(const char *pattern)
{
    const char *mark = strchr(pattern, '%');
    return (mark && mark[1] == 'd' && !strchr(mark + 1, '%')) ||
           complain(pattern, "needs one %%d, for the number of the shard: part-%%d.txt");
}

/* Creates a keyed filter that is only used for hashing. Returns false after reporting an error. */
static bool make_hasher(const struct args *args, petal_filter **hasher)
{
    petal_options options = PETAL_OPTIONS_INIT;
    uint8_t secret[PETAL_SECRET_BYTES];
    *hasher = NULL;
    if (!args->secret_file) return true;
    if (!read_secret(args->secret_file, secret)) return false;
    options.bits = options.hashes = 1;
    options.secret = secret;
    *hasher = create_filter(&options);
    wipe(secret, sizeof secret);
    return *hasher != NULL;
}

static int run(const struct args *args)
{
    struct sharding sharding = {.args = args};
    petal_filter *hasher;
    if (!args->shards) return misused("shard", "needs -n N, the number of shards");
    if (args->shards > UINT32_MAX)
        return misused("shard", "takes at most %" PRIu32 " shards", UINT32_MAX);
    if (args->output && args->shard)
        return misused("shard", "-i prints one shard, -o writes all; give one of them");
    if (args->output && args->shards > MAX_FILES)
        return misused("shard", "writes at most %d files; -i I prints the keys of one shard",
                       MAX_FILES);
    if (args->output && !check_pattern(args->output)) return STATUS_ERROR;
    sharding.shards = (uint32_t)args->shards;
    if (!read_wanted(args, &sharding) || !make_hasher(args, &hasher)) return STATUS_ERROR;
    sharding.hasher = hasher;
    int status = split(&sharding);
    petal_free(hasher);
    return status;
}

static const struct option options[] = {
    {'n', "shards", COUNT, AT(shards), "N", "how many shards there are"},
    {'i', "shard", TEXT, AT(shard), "I", "print the keys of shard I alone, 0 to N-1"},
    {'o', "output", TEXT, AT(output), "PATTERN", "write a file for each: part-%d.txt"},
    OPTION_KEY,
    OPTIONS_OF_KEYS,
    OPTION_THREADS,
    OPTION_SECRET_FILE,
    OPTION_FORCE,
    OPTION_VERBOSE,
    END_OF_OPTIONS,
};

const struct command shard_command = {
    .name = "shard",
    .summary = "split keys evenly, for a set in several filters",
    .usage = "-n N [-i I | -o PATTERN] [KEYS...]",
    .about = "Prefixes each line of KEYS (files, or standard input) with the number of its\n"
             "shard and a tab, prints the lines of one shard, or writes a file for each. A key\n"
             "has the same shard everywhere, so a big set can be spread over N filters.",
    .options = options,
    .example = "example: petal shard -n 8 -i 3 urls.txt | petal build -o urls-3.petal",
    .run = run,
};
