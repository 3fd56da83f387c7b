/* valkey_words.h - the arguments of valkey-bloom's commands, and its error texts. */
#ifndef PETAL_REDIS_VALKEY_WORDS_H
#define PETAL_REDIS_VALKEY_WORDS_H

#include "valkey.h"

/* Both return the error, or NULL. BF.RESERVE, with 4 to 6 arguments: */
const char *valkey_read_reserve(RedisModuleString **argv, int argc, struct bloom_plan *plan);

/* BF.INSERT, whose items are optional. */
struct valkey_insert {
    struct bloom_plan plan;
    int no_create;
    int first_item;  /* index in argv; argc: there are none */
    int wrong_arity; /* if so, nothing else was determined */
};
const char *valkey_read_insert(RedisModuleString **argv, int argc, struct valkey_insert *insert);

/* Does the command have words that only valkey-bloom knows? If so, it creates one of its
 * filters. */
int valkey_has_words(RedisModuleString **argv, int argc);

#endif
