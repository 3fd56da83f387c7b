/* config.h - what can be set: by CONFIG SET, in the server's file, or as arguments of the module.
 */
#ifndef PETAL_REDIS_CONFIG_H
#define PETAL_REDIS_CONFIG_H

#include "server.h"

#define BLOOM_MIN_CAPACITY 1LL
#define BLOOM_MAX_CAPACITY (1LL << 30) /* RedisBloom's */
#define PETAL_MAX_CAPACITY (1LL << 40) /* what bf.max-capacity may be raised to */
#define BLOOM_MAX_EXPANSION 32768LL
#define BLOOM_MAX_RATE 0.25 /* a higher rate is taken as this */

enum { COMPAT_REDISBLOOM = 0, COMPAT_VALKEY = 1 };

struct config {
    double error_rate;      /* bf-error-rate */
    long long initial_size; /* bf-initial-size */
    long long expansion;    /* bf-expansion-factor */
    long long max_capacity; /* bf.max-capacity */
    long long memory_limit; /* bf.memory-limit: bytes per filter; 0: none */
    int compat;             /* bf.compat */
    double bloom_rate;      /* bf.bloom-fp-rate; this and the following are valkey-bloom's */
    double bloom_ratio;     /* bf.bloom-tightening-ratio */
    long long bloom_capacity, bloom_expansion;
    long long bloom_memory_limit; /* bf.bloom-memory-usage-limit; 0: no filter */
    int bloom_random;             /* bf.bloom-use-random-seed */
    int bloom_defrag;             /* bf.bloom-defrag-enabled */
    int huge_pages;               /* bf.huge-pages; only at start */
    int petal_only;     /* argument COMMANDS: PETAL.* alone, beside another module's BF.* */
    const char *module; /* its name, which all but the first three options begin with */
};
extern struct config config;

/* PETAL_SECRET_BYTES of bf.secret-file, for keyed filters; NULL if there is none. */
const void *config_secret(void);

/* Both log why they fail: reading the module's arguments, which say what its name is; and then
 * registering the rest. */
int config_read_arguments(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int config_register(RedisModuleCtx *ctx);

#endif
