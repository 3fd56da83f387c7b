/* many.h - queries many filters for the same keys. Filters that share a hash are grouped. The
 * number of filters open at the same time is limited by descriptors and memory. */
#ifndef PETAL_CLI_MANY_H
#define PETAL_CLI_MANY_H

#include "options/options.h"

#include <petal/petal.h>
#include <petal/petal_index.h>

/* A hash function with its seed or secret. */
struct hashing {
    uint32_t hash, secret_id;
    uint64_t seed;
    bool is_own; /* the scheme needs more than 64 bits of hash, but filters can share only 64 */
};

struct one {
    const char *name;
    size_t place;         /* position among the given names */
    petal_filter *filter; /* NULL if the filter is opened when needed */
    const char *format;   /* format detected in the file */
    struct hashing hashing;
    uint32_t key_type; /* as recorded */
};

/* An index, whose filters take consecutive positions. */
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
    size_t places; /* number of filters, including filters in indexes */
    bool all_open;
    char **lists; /* the contents of the LIST files, into which the names point */
    size_t list_count;
};

/* Stores the names in many->each, in order, without opening anything. Call many_close() afterwards.
 * Returns false after reporting an error. */
bool many_list(struct many *many, const struct args *args);

/* Opens every filter, and every index of filters, named by the operands before "--": a FILE, or
 * @LIST, a file with one name per line. Returns false if any filter can't be opened, after
 * reporting the first few failures by name. Call many_close() either way. */
bool many_open(struct many *many, const struct args *args);

/* Returns a filter, to be released by many_return(). Returns NULL after reporting an error. Several
 * threads may call it concurrently if all_open is set. */
petal_filter *many_borrow(const struct many *many, const struct one *one);
void many_return(const struct one *one, petal_filter *filter);

bool shares_hash(const struct one *a, const struct one *b);

void many_close(struct many *many);

#endif
