/* many.c - see many.h. Each filter is opened at the start, so that any failure to open one is
 * reported early. An open map needs a descriptor, and any other filter keeps its bits in memory. So
 * a filter stays open only if there are enough descriptors and memory; otherwise it is reopened for
 * every block of keys. */
#define _DEFAULT_SOURCE /* RLIMIT_NOFILE */

#include "commands/many.h"

#include "files/files.h"
#include "files/paths.h"
#include "files/stream.h"
#include "keys/layers.h"
#include "output/filter_info.h"
#include "output/numbers.h"
#include "output/report.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* Descriptor counts: the maximum that macOS allows, and the number needed for keys and messages. */
enum { MAX_HANDLES = 10240, OTHER_HANDLES = 32 };

/* The maximum memory for filters that are not mapped, in bytes. */
#define MAX_KEPT_BYTES ((uint64_t)1 << 30)

/* The maximum size of a LIST in bytes, unless --memory-limit is given. */
#define MAX_LIST_BYTES ((uint64_t)256 << 20)

enum { MAX_SHOWN = 10 };

/* ---- names ----------------------------------------------------------------------------------- */

static bool add_name(struct many *many, size_t *room, const char *name)
{
    if (many->count == *room) {
        size_t larger = 2 * *room + 64;
        void *each = larger <= SIZE_MAX / sizeof(struct one)
                         ? realloc(many->each, larger * sizeof(struct one))
                         : NULL;
        if (!each) return complain(NULL, "out of memory");
        many->each = each;
        *room = larger;
    }
    many->each[many->count] = (struct one){.name = name, .place = many->count};
    many->count++;
    return true;
}

/* Names end with NUL if the list contains a NUL byte, as in the output of find -print0, and
 * otherwise with a newline. */
static bool add_list(struct many *many, size_t *room, const char *path)
{
    uint64_t limit = many->args->memory_limit ? many->args->memory_limit : MAX_LIST_BYTES;
    size_t size;
    char *read = (char *)read_whole_file(path, limit, &size);
    if (!read) return false;
    char *text = realloc(read, size + 1);
    many->lists[many->list_count++] = text ? text : read;
    if (!text) return complain(path, "out of memory");
    char separator = size > 0 && memchr(text, '\0', size) ? '\0' : '\n';
    text[size] = separator;
    for (char *at = text, *end; at < text + size; at = end + 1) {
        end = memchr(at, separator, (size_t)(text + size - at) + 1);
        if (many->args->crlf && end > at && end[-1] == '\r') end[-1] = '\0';
        *end = '\0';
        if (*at && !add_name(many, room, at)) return false;
    }
    return true;
}

static bool add_names(struct many *many)
{
    size_t room = 0;
    const struct args *args = many->args;
    many->lists = calloc(args->before_dashes + 1, sizeof *many->lists);
    if (!many->lists) return complain(NULL, "out of memory");
    for (size_t i = 0; i < args->before_dashes; i++) {
        const char *name = args->operands[i];
        if (!(name[0] == '@' ? add_list(many, &room, name + 1) : add_name(many, &room, name)))
            return false;
    }
    return true;
}

/* ---- opening --------------------------------------------------------------------------------- */

/* Only keyed filters accept a secret, and not every filter has to be keyed. */
static bool is_keyed(const char *name)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    petal_filter *header = NULL;
    if (is_stream(name)) return true;
    options.flags = PETAL_OPEN_LOAD | PETAL_OPEN_HEADER_ONLY | PETAL_OPEN_NO_SECRET;
    bool keyed = petal_open(name, &options, &header, NULL) == PETAL_OK && info_of(header).keyed;
    petal_free(header);
    return keyed;
}

static petal_filter *open_one(const char *name, const struct args *all)
{
    struct args args = *all;
    if (args.secret_file && !is_keyed(name)) args.secret_file = NULL;
    return make_current(open_live(name, &args), name, &args);
}

static struct hashing hashing_of(const petal_filter *filter)
{
    petal_info info = info_of(filter);
    return (struct hashing){info.hash, info.secret_id, info.keyed ? 0 : info.seed,
                            !(info.abilities & PETAL_CAN_HASHES)};
}

static int compare_hashings(const struct hashing *a, const struct hashing *b)
{
    if (a->is_own != b->is_own) return a->is_own ? 1 : -1;
    if (a->hash != b->hash) return a->hash < b->hash ? -1 : 1;
    if (a->secret_id != b->secret_id) return a->secret_id < b->secret_id ? -1 : 1;
    return a->seed < b->seed ? -1 : a->seed > b->seed;
}

static int by_hashing(const void *a, const void *b)
{
    const struct one *x = a, *y = b;
    int order = compare_hashings(&x->hashing, &y->hashing);
    return order ? order : x->place < y->place ? -1 : 1;
}

bool shares_hash(const struct one *a, const struct one *b)
{
    return !a->hashing.is_own && compare_hashings(&a->hashing, &b->hashing) == 0;
}

/* Raises the limit on open files as far as possible, and returns it. */
static size_t handle_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
    if (limit.rlim_cur < MAX_HANDLES && limit.rlim_cur < limit.rlim_max) {
        struct rlimit raised = limit;
        raised.rlim_cur = limit.rlim_max < MAX_HANDLES ? limit.rlim_max : MAX_HANDLES;
        if (setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
    }
    return limit.rlim_cur < MAX_HANDLES ? (size_t)limit.rlim_cur : MAX_HANDLES;
}

/* True if the filter must stay open. A filter from a pipe can't be opened again. Reopening a filter
 * that another process is changing would print a remark each time. */
static bool must_stay_open(const struct one *one, const petal_filter *filter)
{
    return is_stream(one->name) || file_info_of(filter).live;
}

static bool open_all(struct many *many)
{
    size_t handles = handle_limit(), open = OTHER_HANDLES, failed = 0;
    uint64_t kept_bytes = 0;
    many->all_open = true;
    for (size_t i = 0; i < many->count && failed < MAX_SHOWN; i++) {
        struct one *one = &many->each[i];
        petal_filter *filter = open_one(one->name, many->args);
        if (!filter) failed++;
        if (!filter) continue;
        one->format = file_format_of(filter);
        uint64_t bytes = info_of(filter).memory_bytes;
        bool fits = open < handles && bytes <= MAX_KEPT_BYTES - kept_bytes;
        one->hashing = hashing_of(filter);
        one->key_type = info_of(filter).key_type;
        if (fits || must_stay_open(one, filter)) {
            one->filter = filter;
            kept_bytes += fits ? bytes : 0;
            open++;
        } else {
            petal_free(filter);
            many->all_open = false;
        }
    }
    if (failed == MAX_SHOWN)
        complain(NULL, "that is enough: the filters after these were not tried");
    return failed == 0;
}

bool many_list(struct many *many, const struct args *args)
{
    *many = (struct many){.args = args};
    return add_names(many);
}

/* Opens the named indexes, and assigns a position to every filter. */
static bool open_indexes(struct many *many)
{
    size_t names = many->count, count = 0;
    for (size_t i = 0; i < names; i++) count += is_index_file(many->each[i].name);
    many->shelves = calloc(count + 1, sizeof *many->shelves);
    if (!many->shelves) return complain(NULL, "out of memory");
    many->count = 0;
    for (size_t i = 0; i < names; i++) {
        struct one one = many->each[i];
        one.place = many->places;
        if (many->shelf_count == count || !is_index_file(one.name)) {
            many->each[many->count++] = one;
            many->places++;
            continue;
        }
        petal_index_info info = PETAL_INDEX_INFO_INIT;
        petal_index *index = open_index(one.name, many->args);
        if (!index) return false;
        petal_index_get_info(index, &info, NULL);
        many->shelves[many->shelf_count++] =
            (struct shelf){one.name, many->places, (size_t)info.filters, index};
        many->places += (size_t)info.filters;
    }
    return true;
}

bool many_open(struct many *many, const struct args *args)
{
    if (!many_list(many, args) || !open_indexes(many) || !open_all(many)) return false;
    if (many->count > 1) qsort(many->each, many->count, sizeof *many->each, by_hashing);
    return true;
}

petal_filter *many_borrow(const struct many *many, const struct one *one)
{
    struct args args = *many->args;
    if (one->filter) return one->filter;
    args.from = args.from ? args.from : one->format; /* print the remark only once */
    petal_filter *filter = open_one(one->name, &args);
    struct hashing now = filter ? hashing_of(filter) : one->hashing;
    if (compare_hashings(&now, &one->hashing) == 0) return filter;
    petal_free(filter);
    complain(one->name, "was replaced meanwhile by a filter of another hash or seed");
    return NULL;
}

void many_return(const struct one *one, petal_filter *filter)
{
    if (!one->filter) petal_free(filter);
}

void many_close(struct many *many)
{
    for (size_t i = 0; i < many->count; i++) petal_free(many->each[i].filter);
    for (size_t i = 0; i < many->shelf_count; i++) petal_index_free(many->shelves[i].index);
    free(many->shelves);
    for (size_t i = 0; i < many->list_count; i++) free(many->lists[i]);
    free(many->each);
    free(many->lists);
    *many = (struct many){0};
}
