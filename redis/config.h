/* config.h - the module's options, which are set by CONFIG SET, in the server's configuration file,
 * or as arguments to the module. */
#ifndef PETAL_REDIS_CONFIG_H
#define PETAL_REDIS_CONFIG_H

#include "server.h"

#define BLOOM_MIN_CAPACITY 1LL
#define BLOOM_MAX_CAPACITY (1LL << 30) /* RedisBloom's */
#define PETAL_MAX_CAPACITY (1LL << 40) /* the maximum of bf.max-capacity */
#define BLOOM_MAX_EXPANSION 32768LL
#define BLOOM_MAX_RATE 0.25 /* a higher rate is lowered to this */

enum { COMPAT_REDISBLOOM = 0, COMPAT_VALKEY = 1 };

struct config {
    double error_rate;      /* bf-error-rate */
    long long initial_size; /* bf-initial-size */
    long long expansion;    /* bf-expansion-factor */
    long long max_capacity; /* bf.max-capacity */
    long long memory_limit; /* bf.memory-limit: bytes per filter; 0 means no limit */
    int compat;             /* bf.compat */
    double bloom_rate;      /* bf.bloom-fp-rate; this and the following are valkey-bloom's */
    double bloom_ratio;     /* bf.bloom-tightening-ratio */
    long long bloom_capacity, bloom_expansion;
    long long bloom_memory_limit; /* bf.bloom-memory-usage-limit; 0 allows no filter */
    int bloom_random;             /* bf.bloom-use-random-seed */
    int bloom_defrag;             /* bf.bloom-defrag-enabled */
    int huge_pages;               /* bf.huge-pages; only at start */
    int petal_only;     /* argument COMMANDS: serve only PETAL.*, alongside another module's BF.* */
    const char *module; /* the module's name, the prefix of all options but the first three */
};
extern struct config config;

/* Returns the secret from bf.secret-file (PETAL_SECRET_BYTES), for keyed filters; NULL if that is
 * not set. */
const void *config_secret(void);

/* The first reads the module's arguments, which determine its name; the second registers all other
 * options. On failure, both log the reason. */
int config_read_arguments(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int config_register(RedisModuleCtx *ctx);

#endif
