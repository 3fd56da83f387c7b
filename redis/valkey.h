/* valkey.h - the filters of valkey-bloom 1.0 (docs/formats/valkey-bloom.md): how they are created,
 * how they grow, their bytes, and the texts that its clients expect. */
#ifndef PETAL_REDIS_VALKEY_H
#define PETAL_REDIS_VALKEY_H

#include "value.h"

#define VALKEY_RATE_RANGE "ERR (0 < error rate range < 1)"
#define VALKEY_RATIO_RANGE "ERR (0 < tightening ratio range < 1)"
#define VALKEY_BAD_CAPACITY "ERR bad capacity"
#define VALKEY_TOO_BIG "ERR operation exceeds bloom object memory limit"

/* Everything except a given seed, from the options bf.bloom-NAME. */
void valkey_default_plan(struct bloom_plan *plan);

/* Sets plan->seed, and whether it is random. */
void valkey_set_seed(struct bloom_plan *plan, const void *seed);

/* As value_create_bloom(). */
struct value *valkey_create(const struct bloom_plan *plan, int unlimited, struct failure *failure);

/* Plans the next layer. An error's message is a complete line for the client. */
petal_status valkey_plan_next(const struct value *value, int unlimited, petal_lent_layer *next,
                              petal_error *error);

/* valkey-bloom's structs and the bits, which bf.bloom-memory-usage-limit limits. */
uint64_t valkey_size(const struct value *value);

/* Returns how many keys fit into layers below the limit: the first sum that is at least `wanted`,
 * or the maximum if `wanted` is 0. *refusal is NULL, or a line for the client with the reason why
 * the result is below `wanted`. */
long long valkey_reach(const struct bloom_plan *plan, long long wanted, const char **refusal);

/* The parameters with which the filter was created. */
struct bloom_plan valkey_plan_of(const struct value *value);

/* The fewest digits that give the same double, without an exponent. */
enum { PLAIN_BYTES = 400 };
const char *valkey_plain(double value, char text[PLAIN_BYTES]);

/* The bytes for BF.LOAD. The caller frees the server's buffer. */
uint8_t *valkey_encode(const struct value *value, size_t *size_bytes);

/* NULL: *refusal is a line for the client. */
struct value *valkey_decode(const uint8_t *bytes, size_t size_bytes, int unlimited,
                            const char **refusal);

/* For the type bloomfltr. */
enum { VALKEY_ENCVER = 1 };
void valkey_save(RedisModuleIO *io, void *value);
void *valkey_load(RedisModuleIO *io, int encver);
void valkey_rewrite(RedisModuleIO *io, RedisModuleString *key, void *value);
void valkey_digest(RedisModuleDigest *digest, void *value);

#endif
