/* floor.c - measures the machine's own minimum: touching one random cache line per key, or hashing
 * a key, and nothing else.
 *
 * A filter that touches memory for each key can't be faster than the touch, and a filter that
 * hashes its keys can't be faster than the hash. `add` reads, modifies and writes 8 bytes of the
 * line; a query loads them. Numbers are random already, so they select the line directly; an
 * address selects the line with two of its words. So the rows called "touch" do hardly anything but
 * touch memory. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#define LINE_BYTES 64u

struct lines {
    uint8_t *bytes;
    uint64_t count;
    uint64_t sink; /* receives results, so that the compiler doesn't remove the work */
};

static uint64_t high_product(uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 wide;
    return (uint64_t)((wide)a * b >> 64);
}

static inline uint64_t word_at(const uint8_t *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

/* The 16 hexadecimal digits at the end of an address differ in the low bits of each byte. */
static inline uint8_t *line_of(const struct lines *lines, const uint8_t *key, size_t key_bytes)
{
    uint64_t place = word_at(key);
    if (key_bytes != 8)
        place =
            (word_at(key + key_bytes - 16) ^ word_at(key + key_bytes - 8) * 0x9e3779b97f4a7c15u) *
            0xff51afd7ed558ccdu;
    return lines->bytes + high_product(place, lines->count) * LINE_BYTES;
}

static void *make(size_t keys, double bits_per_key, bool huge)
{
    struct lines *lines = malloc(sizeof *lines);
    if (!lines) return NULL;
    lines->count = (uint64_t)((double)keys * bits_per_key / (8 * LINE_BYTES)) + 1;
    lines->bytes = take_pages(lines->count * LINE_BYTES, huge);
    lines->sink = 0;
    if (lines->bytes) return lines;
    free(lines);
    return NULL;
}

static void *make_small(size_t keys, double bits_per_key)
{
    return make(keys, bits_per_key, false);
}

static void *make_huge(size_t keys, double bits_per_key)
{
    return make(keys, bits_per_key, true);
}

static void touch_add(void *memory, const struct keys *keys)
{
    struct lines lines = *(struct lines *)memory;
    for (size_t i = 0; i < keys->count; i++) {
        uint8_t *line = line_of(&lines, key_at(keys, i), keys->key_bytes);
        uint64_t word = word_at(line) | (uint64_t)i;
        memcpy(line, &word, sizeof word);
    }
}

static size_t touch(void *memory, const struct keys *keys)
{
    struct lines lines = *(struct lines *)memory;
    uint64_t sum = 0;
    for (size_t i = 0; i < keys->count; i++)
        sum += word_at(line_of(&lines, key_at(keys, i), keys->key_bytes));
    ((struct lines *)memory)->sink += sum;
    return keys->count;
}

#define AHEAD 64u

static void fetch_ahead(const struct lines *lines, const struct keys *keys, size_t from,
                        uint8_t *piece[AHEAD], int write)
{
    for (size_t i = 0; i < AHEAD; i++) {
        piece[i] = line_of(lines, key_at(keys, from + i), keys->key_bytes);
        if (write)
            __builtin_prefetch(piece[i], 1);
        else
            __builtin_prefetch(piece[i], 0);
    }
}

static void prefetch_add(void *memory, const struct keys *keys)
{
    struct lines lines = *(struct lines *)memory;
    uint8_t *piece[AHEAD];
    for (size_t from = 0; from + AHEAD <= keys->count; from += AHEAD) {
        fetch_ahead(&lines, keys, from, piece, 1);
        for (size_t i = 0; i < AHEAD; i++) {
            uint64_t word = word_at(piece[i]) | (uint64_t)i;
            memcpy(piece[i], &word, sizeof word);
        }
    }
}

static size_t prefetch(void *memory, const struct keys *keys)
{
    struct lines lines = *(struct lines *)memory;
    uint8_t *piece[AHEAD];
    uint64_t sum = 0;
    for (size_t from = 0; from + AHEAD <= keys->count; from += AHEAD) {
        fetch_ahead(&lines, keys, from, piece, 0);
        for (size_t i = 0; i < AHEAD; i++) sum += word_at(piece[i]);
    }
    ((struct lines *)memory)->sink += sum;
    return keys->count;
}

static size_t hash(void *memory, const struct keys *keys)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < keys->count; i++) sum += XXH3_64bits(key_at(keys, i), keys->key_bytes);
    ((struct lines *)memory)->sink += sum;
    return keys->count;
}

static void hash_add(void *memory, const struct keys *keys)
{
    hash(memory, keys);
}

/* Computes XXH3 of an 8-byte key with seed 0 with a formula that compilers can vectorize. */
static size_t hash_numbers(void *memory, const struct keys *keys)
{
    const uint64_t *numbers = (const uint64_t *)(const void *)keys->bytes;
    uint64_t sum = 0;
    for (size_t i = 0; i < keys->count; i++) {
        uint64_t h = (numbers[i] << 32 | numbers[i] >> 32) ^ 0xc73ab174c5ecd5a2u;
        h = (h ^ (h << 49 | h >> 15) ^ (h << 24 | h >> 40)) * 0x9fb21c651e98df25u;
        h = (h ^ ((h >> 35) + 8)) * 0x9fb21c651e98df25u;
        sum += h ^ h >> 28;
    }
    ((struct lines *)memory)->sink += sum;
    return keys->count;
}

static void hash_numbers_add(void *memory, const struct keys *keys)
{
    hash_numbers(memory, keys);
}

static double bits(void *memory)
{
    return 8.0 * LINE_BYTES * (double)((struct lines *)memory)->count;
}

static void drop(void *memory)
{
    struct lines *lines = memory;
    drop_pages(lines->bytes, lines->count * LINE_BYTES);
    free(lines);
}

const struct contender floor_contenders[] = {
    {"floor touch 4K", FLOOR, make_small, touch_add, NULL, touch, NULL, bits, drop},
    {"floor touch 2M", FLOOR, make_huge, touch_add, NULL, touch, NULL, bits, drop},
    {"floor prefetch 4K", FLOOR, make_small, prefetch_add, NULL, prefetch, NULL, bits, drop},
    {"floor prefetch 2M", FLOOR, make_huge, prefetch_add, NULL, prefetch, NULL, bits, drop},
    {"floor hash", FLOOR, make_huge, hash_add, NULL, hash, NULL, bits, drop},
    {"floor hash numbers", FLOOR | NUMBERS_ONLY, make_huge, hash_numbers_add, NULL, hash_numbers,
     NULL, bits, drop},
    {.name = NULL},
};
