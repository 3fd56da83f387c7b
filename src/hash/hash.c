/* hash.c - contains the table of hashes, and computes the two values that a file stores to identify
 * a secret. */
#include "hash/hash.h"

#include "hash/siphash.h"

#define HASH_CASE(LIBRARY, NAME, name, number) \
    PETAL_IF(LIBRARY, case PETAL_HASH_##NAME : return &petal_hash_##name;)

const struct hash_def *petal_hash_find(uint32_t id)
{
    switch (id) {
        PETAL_HASHES(HASH_CASE)
    default: return NULL;
    }
}

#define HASH_NAME(LIBRARY, NAME, name, number) \
    case PETAL_HASH_##NAME: return #name;

const char *petal_hash_left_out(uint32_t id)
{
    switch (id) {
        PETAL_HASHES(HASH_NAME)
    default: return NULL;
    }
}

uint32_t petal_secret_id(const uint8_t secret[PETAL_SECRET_BYTES])
{
    return (uint32_t)petal_siphash24("petal secret id", 15, secret);
}

uint64_t petal_secret_check(const uint8_t secret[PETAL_SECRET_BYTES])
{
    return petal_siphash24("petal secret check", 18, secret);
}
