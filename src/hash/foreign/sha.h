/* sha.h - SHA-1, SHA-256, SHA-384 and SHA-512, as specified in FIPS 180-4. These functions allocate
 * no memory and can't fail. They use no special instructions, so they run on every CPU. */
#ifndef PETAL_HASH_SHA_H
#define PETAL_HASH_SHA_H

#include <stddef.h>
#include <stdint.h>

/* A prefix and the data that follows it. The prefix must be shorter than a block, which is 64 bytes
 * in SHA-1 and SHA-256, and 128 bytes in SHA-384 and SHA-512. A pointer may be NULL if the size is
 * 0. */
struct sha_message {
    const uint8_t *prefix;
    size_t prefix_bytes;
    const void *data;
    size_t data_bytes;
};

/* `digest` must have room for 20, 32, 48 or 64 bytes, respectively. */
void petal_sha1(struct sha_message of, uint8_t *digest);
void petal_sha256(struct sha_message of, uint8_t *digest);
void petal_sha384(struct sha_message of, uint8_t *digest);
void petal_sha512(struct sha_message of, uint8_t *digest);

#endif
