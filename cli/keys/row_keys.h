/* row_keys.h - several keys per row: words, runs of words, or runs of characters. This comment
 * defines the keys byte for byte, so that other programs can produce the same keys.
 *
 *      --words          GET /a?id=7   ->   GET  a  id  7
 *      --ngrams 2       GET /a?id=7   ->   "GET a"  "a id"  "id 7"
 *      --kmers 3        ACGTN         ->   ACG  CGT  GTN
 *        --canonical    ACGTN         ->   ACG  ACG     CGT reads ACG on the other strand
 *
 * A word is a maximal run of ASCII letters and digits, "_", and bytes from 0x80 up. The words of a
 * key are joined by one space. A character is a UTF-8 character; a byte that is not part of a valid
 * UTF-8 character counts as one, too. Canonical k-mers consist of A, C, G and T, written in upper
 * case; the key is the k-mer or its reverse complement, whichever is first in byte order.
 *
 * Keys are produced in runs of limited size, so that a long row needs little memory beyond its
 * text. */
#ifndef PETAL_CLI_ROW_KEYS_H
#define PETAL_CLI_ROW_KEYS_H

#include "options/options.h"

#include <petal/petal.h>

struct key_rule {
    enum key_unit { UNIT_ROW, UNIT_WORD, UNIT_CHARACTER, UNIT_BASE } unit;
    size_t length; /* units per key */
    bool lower;    /* ASCII letters of keys are converted to lower case */
};

enum { MAX_RULE_LENGTH = 1000 };

/* Returns false after reporting an error. */
bool rule_read(struct key_rule *rule, const struct args *args);

/* If --min was given without a rule, and thus has no meaning, reports that and returns true. */
bool lacks_rule(const char *command, const struct args *args);

/* Returns why a row with that text has no key, or NULL if it has one. Not for UNIT_ROW. */
const char *rule_refuses(const struct key_rule *rule, const petal_key *text);

enum { RUN_KEYS = 4096 };

/* Keys of consecutive rows, in order. */
struct key_run {
    size_t count;
    petal_key keys[RUN_KEYS];
    size_t rows[RUN_KEYS]; /* the row that each key belongs to */
    uint64_t hashes[RUN_KEYS];
    uint8_t results[RUN_KEYS];

    /* Private. */
    const struct key_rule *rule;
    const petal_key *texts; /* of the rows */
    size_t row, end;
    const char *at, *stop; /* in the row's text; NULL at its start */
    size_t valid;          /* bases before `stop` */
    uint8_t *copies;       /* of keys that don't occur verbatim in the text */
    size_t copied_bytes, room_bytes;
};

/* Creates a run for rows up to the given size. *run is NULL, or an earlier run to be reused.
 * Returns false if memory runs out. */
bool run_make(struct key_run **run, const struct key_rule *rule, const petal_key *texts,
              size_t longest_bytes);
void run_free(struct key_run *run); /* NULL is allowed */

/* Starts the run with `count` rows, beginning with `first`. Each call to run_next() then produces
 * more of their keys, and returns false if there are no more. Each row has at least one key. */
void run_begin(struct key_run *run, size_t first, size_t count);
bool run_next(struct key_run *run);

/* True if the required share of all keys was found. If `share` is 0, all keys must be found. */
bool is_enough(uint64_t found, uint64_t all, double share);

#endif
