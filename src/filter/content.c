/* content.c - see content.h; the bytes that are hashed are specified in docs/format.md. */
#include "filter/content.h"

#include "base/bytes.h"

uint64_t petal_block_count(const struct bit_array *array)
{
    return (array->size_bytes + PETAL_BLOCK_BYTES - 1) / PETAL_BLOCK_BYTES;
}

uint64_t petal_block_sum(const struct bit_array *array, uint64_t block)
{
    uint64_t from = block * PETAL_BLOCK_BYTES, left = array->size_bytes - from;
    return petal_xxh3(array->bytes + from, (size_t)(left < PETAL_BLOCK_BYTES ? left : PETAL_BLOCK_BYTES), block);
}

uint64_t petal_content_start(const petal_filter *filter)
{
    uint8_t bytes[40];
    const struct shape *shape = &filter->array.shape;
    store32le(bytes, (uint32_t)shape->scheme);
    store32le(bytes + 4, (uint32_t)filter->hash->id);
    store32le(bytes + 8, shape->hashes);
    store32le(bytes + 12, shape->lines_per_key);
    store64le(bytes + 16, shape->bits);
    store64le(bytes + 24, filter->hash_key.seed);
    store64le(bytes + 32, filter->hash->keyed ? petal_secret_check(filter->hash_key.secret) : 0);
    return petal_xxh3(bytes, sizeof bytes, 0);
}

uint64_t petal_content_add(uint64_t id, uint64_t block_sum)
{
    uint8_t bytes[8];
    store64le(bytes, block_sum);
    return petal_xxh3(bytes, sizeof bytes, id);
}

uint64_t petal_content_id(const petal_filter *filter)
{
    uint64_t id = petal_content_start(filter), blocks = petal_block_count(&filter->array);
    for (uint64_t i = 0; i < blocks; i++) id = petal_content_add(id, petal_block_sum(&filter->array, i));
    return id;
}
