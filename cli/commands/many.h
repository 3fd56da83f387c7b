/* many.h - many filters that are queried for the same keys: their names, which of them share a
 * hash, and no more of them open than the system and the memory allow. */
#ifndef PETAL_CLI_MANY_H
#define PETAL_CLI_MANY_H

#include "options/options.h"

#include <petal/petal.h>

/* A hash, with its seed or secret. */
struct hashing {
    uint32_t hash, secret_id;
    uint64_t seed;
    bool is_own; /* the scheme takes more than 64 bits of hash, which no other filter can share */
};

struct one {
    const char *name;
    size_t place;         /* among the names as they were given */
    petal_filter *filter; /* NULL: it is opened when its turn comes */
    const char *format;   /* that was found in the file */
    struct hashing hashing;
    uint32_t key_type; /* as recorded */
};

struct many {
    const struct args *args;
    struct one *each; /* those that share a hash stand together */
    size_t count;
    bool all_open;
    char **lists; /* the texts of LISTs, which names lie in */
    size_t list_count;
};

/* Opens every filter that the operands before "--" name: a FILE, or @LIST, a file with a name on
 * each line. Those that can't be opened are reported, the first few by name, and then it is false.
 * many_close() is due in any case. */
bool many_open(struct many *many, const struct args *args);

/* A filter, to be given back by many_return(). NULL: reported. Several threads may do this at once
 * if all_open. */
petal_filter *many_borrow(const struct many *many, const struct one *one);
void many_return(const struct one *one, petal_filter *filter);

bool shares_hash(const struct one *a, const struct one *b);

void many_close(struct many *many);

#endif
