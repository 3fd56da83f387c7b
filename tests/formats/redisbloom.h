/* redisbloom.h - helpers that the tests of RedisBloom's two formats share. */
#ifndef PETAL_TESTS_REDISBLOOM_H
#define PETAL_TESTS_REDISBLOOM_H

#include "support.h"

#define CHUNKS "redisbloom/"
#define HEAD_BYTES 20
#define LINK_BYTES 53

static inline petal_filter *reserve(uint64_t keys, double rate)
{
    return planned("redisbloom", keys, rate);
}

/* Adds the keys "<text><number>" for from <= number < to. Returns the status of the last call. */
static inline petal_status add_texts(petal_filter *filter, const char *text, int from, int to)
{
    char key[64];
    petal_status status = PETAL_OK;
    for (int i = from; i < to; i++)
        status = petal_add(filter, key, (size_t)snprintf(key, sizeof key, "%s%d", text, i));
    return status;
}

static inline uint64_t little(const uint8_t *bytes, size_t count)
{
    uint64_t number = 0;
    while (count-- > 0) number = number << 8 | bytes[count];
    return number;
}

#endif
