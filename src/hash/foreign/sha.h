/* sha.h - SHA-1, SHA-256, SHA-384 and SHA-512 from FIPS 180-4. They neither allocate nor fail, and
 * use no special instructions, so they are equally fast on every CPU. */
#ifndef PETAL_HASH_SHA_H
#define PETAL_HASH_SHA_H

#include <stddef.h>
#include <stdint.h>

/* A prefix and the data after it. The prefix must be shorter than a block, which is 64 bytes for
 * SHA-1 and SHA-256, and 128 for the others. Each may be NULL if it has no bytes. */
struct sha_message {
    const uint8_t *prefix;
    size_t prefix_bytes;
    const void *data;
    size_t data_bytes;
};

/* `digest` has room for 20, 32, 48 and 64 bytes. */
void petal_sha1(struct sha_message of, uint8_t *digest);
void petal_sha256(struct sha_message of, uint8_t *digest);
void petal_sha384(struct sha_message of, uint8_t *digest);
void petal_sha512(struct sha_message of, uint8_t *digest);

#endif
