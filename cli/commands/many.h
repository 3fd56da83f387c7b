/* many.h - queries many filters for the same keys. Filters that share a hash are grouped. No more
 * filters are open at a time than the system and the memory allow. */
#ifndef PETAL_CLI_MANY_H
#define PETAL_CLI_MANY_H

#include "options/options.h"

#include <petal/petal.h>
#include <petal/petal_index.h>

/* A hash function with its seed or secret. */
struct hashing {
    uint32_t hash, secret_id;
    uint64_t seed;
    bool is_own; /* the scheme needs more than 64 bits of hash, and filters can share only 64 */
};

struct one {
    const char *name;
    size_t place;         /* position among the given names */
    petal_filter *filter; /* NULL if it is opened when needed */
    const char *format;   /* as detected in the file */
    struct hashing hashing;
    uint32_t key_type; /* as recorded */
};

/* An index of filters, which take consecutive places. */
struct shelf {
    const char *name;
    size_t place, count;
    petal_index *index;
};

struct many {
    const struct args *args;
    struct one *each; /* sorted so that filters with the same hash are adjacent */
    size_t count;
    struct shelf *shelves;
    size_t shelf_count;
    size_t places; /* filters, with those in indexes */
    bool all_open;
    char **lists; /* the contents of LISTs, which contain the names */
    size_t list_count;
};

/* Only lists the names, in order, in many->each. Call many_close() afterwards. Returns false after
 * reporting an error. */
bool many_list(struct many *many, const struct args *args);

/* Opens every filter, and every index of filters, that the operands before "--" name: a FILE, or
 * @LIST, a file with one name per line. Returns false if some can't be opened; the first few are
 * reported by name. Call many_close() in any case. */
bool many_open(struct many *many, const struct args *args);

/* Returns a filter, to be released by many_return(). Returns NULL after reporting an error. Several
 * threads may call it concurrently if all_open. */
petal_filter *many_borrow(const struct many *many, const struct one *one);
void many_return(const struct one *one, petal_filter *filter);

bool shares_hash(const struct one *a, const struct one *b);

void many_close(struct many *many);

#endif
