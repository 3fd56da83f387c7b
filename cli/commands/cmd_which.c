/* cmd_which.c - petal which: prints which of many filters might contain a key.
 *
 * Each key is hashed once for all filters that share a hash function and seed. The answers form a
 * matrix of bits, with one column per filter and one row per key:
 *
 *      key 0    0 0 1 0 0 ...     printed with one name
 *      key 1    0 0 0 0 0 ...     not printed
 *               filter 0, 1, ...  in the order in which the filters were named
 *
 * A block of keys normally consists of one slice of such rows. With very many filters, the block is
 * divided into several slices, and all slices after the first are answered while the block is
 * printed. */
#include "commands/commands.h"
#include "commands/many.h"
#include "files/stream.h"
#include "keys/keys.h"
#include "keys/pipeline.h"
#include "options/decode.h"
#include "output/json.h"
#include "output/progress.h"
#include "output/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The approximate maximum number of words for the rows of a slice. A slice has at least one row. */
#define MAX_ROWS_WORDS ((size_t)1 << 20)

struct which {
    const struct args *args;
    struct many many;
    struct key_reader reader;
    bool prints_rows; /* otherwise prints filters at the end */
    bool has_rule;    /* each row has several keys; a filter contains the row if it contains all of
                       * its keys */
    bool counts_rows; /* for -l with a rule: counts each filter's rows, not its keys */
    uint64_t asked;   /* keys */
    size_t row_words;
    size_t shelf_words; /* room for the rows of an index */
    const char **names; /* by place */
    uint64_t *found;    /* number of keys found in each filter */
    bool any;
    bool failed; /* a failure that the reader did not cause */
};

/* The filters' answers for the keys of a slice; block->own. */
struct answers {
    size_t from, count;
    const char *failed; /* the filter that failed; an empty `error` means that the failure was
                         * already reported */
    petal_error error;
    uint64_t asked;  /* keys */
    uint64_t *found; /* number of keys or rows found in each filter */
    uint64_t *rows;
    uint64_t *shelf_rows; /* room for the rows of an index */
};

/* The keys of a slice, or some of them. */
struct asked {
    const petal_key *keys;
    size_t count;
    uint64_t *hashes;
    uint8_t *results;
    const size_t *rows; /* the row of each key, or NULL if key i is row i */
};

/* ---- querying -------------------------------------------------------------------------------- */

/* Allocates and initializes the answers. Returns NULL if memory runs out. */
static struct answers *begin_answers(const struct which *which, struct key_block *block)
{
    size_t filters = which->many.places, rows = 0;
    if (which->prints_rows || which->counts_rows) {
        size_t most = MAX_ROWS_WORDS / which->row_words + 1;
        rows = block->count < most ? block->count : most;
    }
    size_t words = filters + rows * which->row_words + which->shelf_words;
    if (words > SIZE_MAX / 16) return NULL;
    size_t bytes = sizeof(struct answers) + words * sizeof(uint64_t);
    if (bytes > block->own_bytes) {
        free(block->own);
        block->own = malloc(bytes);
        block->own_bytes = block->own ? bytes : 0;
        if (!block->own) return NULL;
    }
    struct answers *answers = block->own;
    bool has_rows = which->prints_rows || which->counts_rows;
    *answers = (struct answers){.count = has_rows ? rows : block->count};
    answers->found = (uint64_t *)(answers + 1);
    answers->rows = answers->found + filters;
    answers->shelf_rows = answers->rows + rows * which->row_words;
    return answers;
}

static void mark_rows(const struct which *which, const struct asked *asked, struct answers *answers,
                      size_t place)
{
    uint64_t *word = answers->rows + place / 64, bit = (uint64_t)1 << place % 64;
    const uint8_t *result = asked->results;
    for (size_t i = 0; i < asked->count; i++, word += which->row_words)
        if (result[i]) *word |= bit;
}

/* Unmarks this filter in rows that were marked for every filter. */
static void unmark_rows(const struct which *which, const struct asked *asked,
                        struct answers *answers, size_t place)
{
    uint64_t *words = answers->rows + place / 64, bit = (uint64_t)1 << place % 64;
    for (size_t i = 0; i < asked->count; i++)
        if (!asked->results[i]) words[(asked->rows[i] - answers->from) * which->row_words] &= ~bit;
}

/* `before` is the filter for which asked->hashes were computed, or NULL if there are no such
 * hashes. */
static bool query_one(const struct which *which, const struct asked *asked, struct answers *answers,
                      const struct one *one, const struct one *before)
{
    size_t in = 0;
    petal_filter *filter = many_borrow(&which->many, one);
    if (!filter) return false;
    petal_batch batch = hashes_batch(asked->hashes, asked->count);
    if (one->hashing.is_own)
        batch = keys_batch(asked->keys, asked->count);
    else if (!before || !shares_hash(one, before))
        hash_keys(filter, asked->keys, asked->count, asked->hashes);
    petal_status status = look_up_batch(filter, &batch, asked->results, &in, &answers->error);
    answers->found[one->place] += in;
    if (status == PETAL_OK && asked->rows && in < asked->count &&
        (which->prints_rows || which->counts_rows))
        unmark_rows(which, asked, answers, one->place);
    if (status == PETAL_OK && !asked->rows && in > 0 && which->prints_rows)
        mark_rows(which, asked, answers, one->place);
    many_return(one, filter);
    return status == PETAL_OK;
}

/* ---- indexes --------------------------------------------------------------------------------- */

/* The approximate maximum number of words for the rows of one index. */
#define MAX_SHELF_WORDS ((size_t)1 << 17)

static size_t words_of(const struct shelf *shelf)
{
    return (shelf->count + 63) / 64;
}

/* The number of keys to query at a time. */
static size_t shelf_piece(const struct shelf *shelf)
{
    size_t most = MAX_SHELF_WORDS / words_of(shelf);
    return most < 1 ? 1 : most > 1024 ? 1024 : most;
}

/* Marks or unmarks the filters of a shelf in the row of a key. */
static void take_shelf_row(const struct shelf *shelf, const uint64_t *found, bool unmarks,
                           uint64_t *row)
{
    size_t shift = shelf->place % 64, words = words_of(shelf), last = shelf->count % 64;
    row += shelf->place / 64;
    for (size_t i = 0; i < words; i++) {
        uint64_t word = found[i];
        if (unmarks)
            word = ~word & (i + 1 < words || !last ? UINT64_MAX : ((uint64_t)1 << last) - 1);
        uint64_t low = word << shift, high = shift ? word >> (64 - shift) : 0;
        row[i] = unmarks ? row[i] & ~low : row[i] | low;
        if (high) row[i + 1] = unmarks ? row[i + 1] & ~high : row[i + 1] | high;
    }
}

static void take_shelf_rows(const struct which *which, const struct asked *asked, size_t from,
                            size_t count, const struct shelf *shelf, struct answers *answers)
{
    size_t words = words_of(shelf);
    bool has_rows = which->prints_rows || which->counts_rows;
    const uint64_t *found = answers->shelf_rows;
    for (size_t i = from; i < from + count; i++, found += words) {
        size_t row = asked->rows ? asked->rows[i] - answers->from : i;
        if (has_rows && (asked->rows || which->prints_rows))
            take_shelf_row(shelf, found, asked->rows != NULL,
                           answers->rows + row * which->row_words);
        for (size_t word = 0; word < words; word++)
            for (uint64_t bits = found[word]; bits; bits &= bits - 1)
                answers->found[shelf->place + 64 * word + (size_t)__builtin_ctzll(bits)]++;
    }
}

static bool query_shelf(const struct which *which, const struct asked *asked,
                        struct answers *answers, const struct shelf *shelf)
{
    size_t piece = shelf_piece(shelf);
    for (size_t from = 0, count; from < asked->count; from += count) {
        count = asked->count - from < piece ? asked->count - from : piece;
        petal_batch batch = keys_batch(asked->keys + from, count);
        if (petal_index_query(shelf->index, &batch, answers->shelf_rows, words_of(shelf),
                              &answers->error) != PETAL_OK)
            return false;
        take_shelf_rows(which, asked, from, count, shelf, answers);
    }
    return true;
}

/* Queries every filter. Returns false if a query failed. */
static bool query_all(const struct which *which, const struct asked *asked, struct answers *answers)
{
    const struct many *many = &which->many;
    const struct one *before = NULL, *end = many->each + many->count;
    answers->asked += asked->count;
    for (const struct one *one = many->each; one < end; before = one++)
        if (!query_one(which, asked, answers, one, before)) {
            answers->failed = one->name;
            return false;
        }
    for (size_t i = 0; i < many->shelf_count; i++)
        if (!query_shelf(which, asked, answers, &many->shelves[i])) {
            answers->failed = many->shelves[i].name;
            return false;
        }
    return true;
}

static void count_rows(const struct which *which, struct answers *answers)
{
    for (size_t place = 0; place < which->many.places; place++) {
        const uint64_t *word = answers->rows + place / 64;
        answers->found[place] = 0;
        for (size_t i = 0; i < answers->count; i++, word += which->row_words)
            answers->found[place] += *word >> place % 64 & 1;
    }
}

/* Marks every row for all filters first. Then each absent key unmarks its row. */
static void query_runs(const struct which *which, struct key_run *run, struct answers *answers)
{
    size_t words = answers->count * which->row_words, last = which->many.places % 64;
    bool has_rows = which->prints_rows || which->counts_rows;
    if (has_rows) memset(answers->rows, 0xff, words * sizeof *answers->rows);
    for (size_t i = which->row_words; has_rows && last && i <= words; i += which->row_words)
        answers->rows[i - 1] = ((uint64_t)1 << last) - 1;
    for (run_begin(run, answers->from, answers->count); run_next(run);) {
        struct asked asked = {run->keys, run->count, run->hashes, run->results, run->rows};
        if (!query_all(which, &asked, answers)) return;
    }
    if (which->counts_rows) count_rows(which, answers);
}

/* Queries every filter for the keys of the slice. */
static void query_slice(const struct which *which, struct key_block *block, struct answers *answers)
{
    answers->asked = 0;
    memset(answers->found, 0, which->many.places * sizeof *answers->found);
    if (which->has_rule) {
        query_runs(which, block->run, answers);
        return;
    }
    struct asked asked = {block->keys + answers->from, answers->count, block->hashes,
                          block->results, NULL};
    if (which->prints_rows)
        memset(answers->rows, 0, answers->count * which->row_words * sizeof *answers->rows);
    query_all(which, &asked, answers);
}

static void query(void *context, struct key_block *block)
{
    const struct which *which = context;
    struct answers *answers = begin_answers(which, block);
    block->is_unanswered = !answers;
    if (answers && block->count > 0) query_slice(which, block, answers);
}

/* ---- printing -------------------------------------------------------------------------------- */

static void print_names(const struct which *which, const uint64_t *row, struct json *json)
{
    for (size_t word = 0; word < which->row_words; word++)
        for (uint64_t bits = row[word]; bits; bits &= bits - 1) {
            const char *name = which->names[word * 64 + (size_t)__builtin_ctzll(bits)];
            if (json)
                json_item(json, name);
            else
                printf("\t%s", name);
        }
}

static void print_row(const struct which *which, const petal_key *line, const uint64_t *row)
{
    const struct args *args = which->args;
    size_t size = line->size_bytes;
    bool has_return = args->crlf && size > 0 && ((const char *)line->data)[size - 1] == '\r';
    size -= has_return;
    if (args->json) {
        struct json json;
        json_begin(&json, stdout);
        json_bytes(&json, "key", line->data, size);
        json_list(&json, "filters");
        print_names(which, row, &json);
        json_list_end(&json);
        json_end(&json);
        return;
    }
    fwrite(line->data, 1, size, stdout);
    print_names(which, row, NULL);
    if (has_return) putchar('\r');
    putchar(args->nul ? '\0' : '\n');
}

static bool has_any(const struct which *which, const uint64_t *row)
{
    size_t word = 0;
    while (word < which->row_words && row[word] == 0) word++;
    return word < which->row_words;
}

static void print_rows(struct which *which, const struct key_block *block,
                       const struct answers *answers)
{
    const uint64_t *row = answers->rows;
    for (size_t i = 0; i < answers->count; i++, row += which->row_words) {
        if (!has_any(which, row)) continue;
        print_row(which, &block->lines[answers->from + i], row);
        which->any = true;
    }
}

static bool complain_of_filter(const struct answers *answers)
{
    if (!answers->error.message[0]) return false;
    return complain(
        answers->failed, "%s%s", answers->error.message,
        answers->error.status == PETAL_ERR_DAMAGED ? "; --no-verify trusts what is there" : "");
}

static bool take_answers(struct which *which, struct key_block *block, struct answers *answers)
{
    if (answers->failed) return complain_of_filter(answers);
    which->asked += answers->asked;
    for (size_t place = 0; place < which->many.places; place++)
        which->found[place] += answers->found[place];
    if (which->prints_rows) print_rows(which, block, answers);
    return true;
}

static bool deliver(void *context, struct key_block *block)
{
    struct which *which = context;
    struct answers *answers = block->own;
    if (block->is_unanswered) which->failed = !complain(NULL, "out of memory");
    if (block->count == 0 || which->failed) return !which->failed;
    while (!(which->failed = !take_answers(which, block, answers))) {
        answers->from += answers->count;
        size_t left = block->count - answers->from;
        if (left == 0) return !ferror(stdout);
        if (left < answers->count) answers->count = left;
        query_slice(which, block, answers);
    }
    return false;
}

/* If no share is requested, a filter needs only one matching key or row. */
static bool is_wanted(const struct which *which, uint64_t found)
{
    double share = which->args->share;
    return found > 0 && (!(share > 0) || is_enough(found, which->asked, share));
}

static void print_filter(const struct which *which, size_t place)
{
    const struct args *args = which->args;
    if (args->json) {
        struct json json;
        json_begin(&json, stdout);
        json_text(&json, "filter", which->names[place]);
        json_count(&json, "keys", which->found[place]);
        json_count(&json, "of", which->asked);
        json_end(&json);
        return;
    }
    fputs(which->names[place], stdout);
    if (args->count) printf("\t%" PRIu64, which->found[place]);
    putchar(args->nul ? '\0' : '\n');
}

/* With -c, filters that contain none of the keys are included, unless a share is requested. */
static void print_filters(struct which *which)
{
    bool counts_all = which->args->count && !(which->args->share > 0);
    which->any = false;
    for (size_t place = 0; place < which->many.places; place++) {
        bool enough = is_wanted(which, which->found[place]);
        which->any = which->any || enough;
        if (enough || counts_all) print_filter(which, place);
    }
}

/* ---- command --------------------------------------------------------------------------------- */

static bool is_standard_input(const char *name)
{
    return is_stream(name) || strcmp(name, "@-") == 0;
}

/* Checks that standard input is used at most once. */
static bool check_standard_input(const struct args *args)
{
    bool is_filter = false;
    bool is_keys = args->before_dashes == args->operand_count && args->literal_count == 0;
    for (size_t i = 0; i < args->operand_count; i++)
        if (is_standard_input(args->operands[i]))
            *(i < args->before_dashes ? &is_filter : &is_keys) = true;
    return !(is_filter && is_keys) ||
           complain("standard input", "is a filter or a list; name the files of the keys, or use "
                                      "-e");
}

static const char *type_in_words(uint32_t type)
{
    return key_type_name(type) ? key_type_name(type) : "text";
}

/* A line must represent the same key for all filters. `before` holds the name and type of the
 * previous filter. */
static bool agrees_on_keys(struct which *which, const char *name, uint32_t key_type,
                           const char **before, uint32_t *before_type)
{
    struct key_reader *reader = &which->reader;
    decoder *decode = reader->decode;
    if (!keys_use_type(reader, which->args, name, key_type)) return false;
    if (*before && reader->decode != decode)
        return complain(name,
                        "has keys of type %s, but %s of type %s; query them apart, or pass "
                        "--key-type",
                        type_in_words(key_type), *before, type_in_words(*before_type));
    *before = name;
    *before_type = key_type;
    return true;
}

static bool agree_on_keys(struct which *which)
{
    const struct many *many = &which->many;
    const char *before = NULL;
    uint32_t type = 0;
    for (size_t i = 0; i < many->count; i++)
        if (!agrees_on_keys(which, many->each[i].name, many->each[i].key_type, &before, &type))
            return false;
    for (size_t i = 0; i < many->shelf_count; i++) {
        petal_index_info info = PETAL_INDEX_INFO_INIT;
        petal_index_get_info(many->shelves[i].index, &info, NULL);
        if (!agrees_on_keys(which, many->shelves[i].name, info.key_type, &before, &type))
            return false;
    }
    return true;
}

/* Programs that parse the output must be able to tell where a name ends. */
static bool check_names(const struct which *which)
{
    const char *ends = which->prints_rows ? "\t\n" : "\n";
    for (size_t place = 0; place < which->many.places && !which->args->json; place++)
        if (strpbrk(which->names[place], ends))
            return complain(which->names[place],
                            "its name has a tab or a newline, which end names here; pass --json");
    return true;
}

static bool prepare(struct which *which)
{
    const struct many *many = &which->many;
    which->row_words = (many->places + 63) / 64;
    which->names = calloc(many->places, sizeof *which->names);
    which->found = calloc(many->places, sizeof *which->found);
    if (!which->names || !which->found) return complain(NULL, "out of memory");
    for (size_t i = 0; i < many->count; i++) which->names[many->each[i].place] = many->each[i].name;
    for (size_t i = 0; i < many->shelf_count; i++) {
        const struct shelf *shelf = &many->shelves[i];
        size_t words = words_of(shelf) * shelf_piece(shelf);
        if (words > which->shelf_words) which->shelf_words = words;
        for (size_t k = 0; k < shelf->count; k++)
            which->names[shelf->place + k] = petal_index_name(shelf->index, k);
    }
    return check_names(which) && agree_on_keys(which);
}

static int query_filters(struct which *which)
{
    static const struct stages stages = {.work = query, .leave = deliver};
    const struct args *args = which->args;
    size_t first = args->before_dashes;
    if (!keys_open(&which->reader, args, args->operands + first, args->operand_count - first, true))
        return STATUS_ERROR;
    which->has_rule = which->reader.rows.rule.unit != UNIT_ROW;
    which->counts_rows = which->has_rule && args->list && !(args->share > 0);
    which->failed = !prepare(which);
    which->reader.watch_output = which->prints_rows;
    which->reader.fate = "queried nowhere";
    if (!which->many.all_open) which->reader.threads = 1;
    progress_start(args->progress, which->prints_rows);
    if (!which->failed) run_pipeline(&which->reader, &stages, which);
    if (!which->failed && !which->prints_rows) print_filters(which);
    keys_close(&which->reader);
    if (which->failed || which->reader.failed) return STATUS_ERROR;
    return which->any ? STATUS_OK : STATUS_NO;
}

static int run(const struct args *args)
{
    struct which which = {.args = args};
    int status = STATUS_ERROR;
    if (args->before_dashes == 0)
        return misused("which", "needs filters; files of keys come after --");
    if (args->list && args->count)
        return misused("which", "-l prints names alone, -c names and numbers; choose one");
    if (!check_standard_input(args)) return STATUS_ERROR;
    which.prints_rows = !args->list && !args->count && !(args->share > 0);
    if (many_open(&which.many, args)) {
        if (which.many.places == 0)
            complain(args->operands[0], "names no filter");
        else
            status = query_filters(&which);
    }
    many_close(&which.many);
    free(which.names);
    free(which.found);
    return status;
}

static const struct option options[] = {
    {'l', "list", FLAG, AT(list), NULL, "only the names of filters that may have a key"},
    {'c', "count", FLAG, AT(count), NULL, "each filter, and how many keys it may have"},
    {0, "min", SHARE, AT(share), "SHARE", "filters that may have that share of all keys: 80%"},
    OPTION_JSON,
    OPTION_NO_VERIFY,
    OPTION_KEY,
    OPTIONS_OF_KEYS,
    OPTIONS_OF_RULE,
    OPTION_NOW,
    OPTION_THREADS,
    OPTION_SECRET_FILE,
    OPTION_FROM,
    OPTION_MEMORY_LIMIT,
    END_OF_OPTIONS,
};

const struct command which_command = {
    .name = "which",
    .summary = "print which of many filters (probably) have a key",
    .usage = "FILTER... [-e KEY...] [-- KEYS...]",
    .about = "Prints each key that is probably in a filter, and the names of all such filters,\n"
             "separated by tabs. FILTER is a file, an index of filters (see petal index), or\n"
             "@LIST: a file that names one per line.\n"
             "Exits like grep: 0 when a filter was found, 1 when none was, 2 after an error.",
    .options = options,
    .example = "example: petal which logs/*.petal -e req-9f3c",
    .run = run,
};
