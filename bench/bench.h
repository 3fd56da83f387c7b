/* bench.h - a contender is one filter of one library under one way of calling it; the rounds in main.c run them in turn. */
#ifndef PETAL_BENCH_H
#define PETAL_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Keys of one kind, one after the other in memory. */
struct keys {
    const uint8_t *bytes;
    size_t key_bytes; /* of each */
    size_t count;
};

static inline const uint8_t *key_at(const struct keys *keys, size_t i)
{
    return keys->bytes + i * keys->key_bytes;
}

struct contender {
    const char *name;
    /* An empty filter for so many keys at so many bits a key; NULL where it can't be had. */
    void *(*make)(size_t keys, double bits_per_key);
    void (*add)(void *filter, const struct keys *keys);
    size_t (*count_found)(void *filter, const struct keys *keys);
    double (*bits)(void *filter);
    void (*drop)(void *filter);
};

extern const struct contender petal_blocked_single, petal_blocked_batch, petal_classic_single, petal_classic_batch,
    petal_blocked_numbers;
extern const struct contender libbloom_single;

#endif
