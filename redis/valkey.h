/* valkey.h - valkey-bloom 1.0 filters (docs/formats/valkey-bloom.md): how they are created and
 * grow, how they are stored, and the error messages that clients expect. */
#ifndef PETAL_REDIS_VALKEY_H
#define PETAL_REDIS_VALKEY_H

#include "value.h"

#define VALKEY_RATE_RANGE "ERR (0 < error rate range < 1)"
#define VALKEY_RATIO_RANGE "ERR (0 < tightening ratio range < 1)"
#define VALKEY_BAD_CAPACITY "ERR bad capacity"
#define VALKEY_TOO_BIG "ERR operation exceeds bloom object memory limit"

/* Fills in everything from the options bf.bloom-NAME, except a seed given in the command. */
void valkey_default_plan(struct bloom_plan *plan);

/* Sets plan->seed and plan->random. */
void valkey_set_seed(struct bloom_plan *plan, const void *seed);

/* Like value_create_bloom(). */
struct value *valkey_create(const struct bloom_plan *plan, int unlimited, struct failure *failure);

/* Plans the next layer. An error's message is a complete line for the client. */
petal_status valkey_plan_next(const struct value *value, int unlimited, petal_lent_layer *next,
                              petal_error *error);

/* The size of valkey-bloom's structs and the bits, to which bf.bloom-memory-usage-limit applies. */
uint64_t valkey_size(const struct value *value);

/* Returns how many keys fit into layers within the memory limit: the first total that is at least
 * `wanted`, or the maximum if `wanted` is 0. If the result is below `wanted`, *refusal is set to
 * the error message for the client, otherwise to NULL. */
long long valkey_reach(const struct bloom_plan *plan, long long wanted, const char **refusal);

/* The parameters with which the filter was created. */
struct bloom_plan valkey_plan_of(const struct value *value);

/* Writes the fewest digits that read back as the same double, without an exponent. */
enum { PLAIN_BYTES = 400 };
const char *valkey_plain(double value, char text[PLAIN_BYTES]);

/* Returns the bytes for BF.LOAD, in a buffer that the caller frees with server.Free(). */
uint8_t *valkey_encode(const struct value *value, size_t *size_bytes);

/* Creates a value from the bytes of BF.LOAD. Returns NULL on failure, with *refusal set to an error
 * message for the client. */
struct value *valkey_decode(const uint8_t *bytes, size_t size_bytes, int unlimited,
                            const char **refusal);

/* The callbacks of the type bloomfltr. */
enum { VALKEY_ENCVER = 1 };
void valkey_save(RedisModuleIO *io, void *value);
void *valkey_load(RedisModuleIO *io, int encver);
void valkey_rewrite(RedisModuleIO *io, RedisModuleString *key, void *value);
void valkey_digest(RedisModuleDigest *digest, void *value);

#endif
