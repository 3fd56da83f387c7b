/* content.c - see content.h. docs/format.md specifies the bytes that are hashed. */
#include "filter/content.h"

#include "base/bytes.h"

uint64_t petal_block_count(const struct bit_array *array)
{
    return (array->size_bytes + PETAL_BLOCK_BYTES - 1) / PETAL_BLOCK_BYTES;
}

uint64_t petal_block_sum(const struct bit_array *array, uint64_t block, uint64_t number)
{
    uint64_t from = block * PETAL_BLOCK_BYTES, left = array->size_bytes - from;
    return petal_xxh3(array->bytes + from,
                      (size_t)(left < PETAL_BLOCK_BYTES ? left : PETAL_BLOCK_BYTES), number);
}

static uint64_t add_shape(uint64_t id, const struct shape *shape)
{
    uint8_t bytes[16];
    store32le(bytes, shape->hashes);
    store32le(bytes + 4, shape->lines_per_key);
    store64le(bytes + 8, shape->bits);
    return petal_xxh3(bytes, sizeof bytes, id);
}

uint64_t petal_content_start(const petal_filter *filter)
{
    uint8_t bytes[24];
    store32le(bytes, (uint32_t)filter->scheme->id);
    store32le(bytes + 4, (uint32_t)filter->hash->id);
    store64le(bytes + 8, filter->hash_key.seed);
    store64le(bytes + 16, filter->hash->keyed ? petal_secret_check(filter->hash_key.secret)
                          : filter->hash->long_seed
                              ? petal_xxh3(filter->hash_key.secret, PETAL_LONG_SEED_BYTES, 0)
                              : 0);
    uint64_t id = petal_xxh3(bytes, sizeof bytes, 0);
    for (uint32_t i = 0; i < filter->layer_count; i++)
        id = add_shape(id, &filter->layers[i].array.shape);
    return id;
}

uint64_t petal_content_add(uint64_t id, uint64_t block_sum)
{
    uint8_t bytes[8];
    store64le(bytes, block_sum);
    return petal_xxh3(bytes, sizeof bytes, id);
}

uint64_t petal_content_of_bits(const petal_filter *filter)
{
    uint64_t id = petal_content_start(filter), number = 0;
    for (uint32_t i = 0; i < filter->layer_count; i++) {
        const struct bit_array *array = &filter->layers[i].array;
        for (uint64_t block = 0; block < petal_block_count(array); block++)
            id = petal_content_add(id, petal_block_sum(array, block, number++));
    }
    return id;
}
