/* valkey_words.h - reads the arguments of valkey-bloom's commands, with its error messages. */
#ifndef PETAL_REDIS_VALKEY_WORDS_H
#define PETAL_REDIS_VALKEY_WORDS_H

#include "valkey.h"

/* Reads the 4 to 6 arguments of BF.RESERVE. Returns the error, or NULL, like
 * valkey_read_insert(). */
const char *valkey_read_reserve(RedisModuleString **argv, int argc, struct bloom_plan *plan);

/* The arguments of BF.INSERT, whose items are optional. */
struct valkey_insert {
    struct bloom_plan plan;
    int no_create;
    int first_item;  /* index in argv; argc if there are none */
    int wrong_arity; /* if so, nothing else has been determined */
};
const char *valkey_read_insert(RedisModuleString **argv, int argc, struct valkey_insert *insert);

/* True if the command has words that only valkey-bloom knows, and so creates a valkey-bloom
 * filter. */
int valkey_has_words(RedisModuleString **argv, int argc);

#endif
