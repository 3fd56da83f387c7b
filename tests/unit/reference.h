/* reference.h - a second implementation of the native schemes, written from docs/format.md. Tests
 * compare the library with it. The code is meant to be readable, not fast, and uses nothing from
 * src. */
#ifndef PETAL_TESTS_REFERENCE_H
#define PETAL_TESTS_REFERENCE_H

#include "support.h"

#define MAX_POSITIONS 64

/* Returns the high 64 bits of a * b, by long multiplication with 32-bit digits. */
static inline uint64_t high_half(uint64_t a, uint64_t b)
{
    uint64_t a1 = a >> 32, a0 = a & 0xffffffff, b1 = b >> 32, b0 = b & 0xffffffff;
    uint64_t tens_1 = a1 * b0, tens_2 = a0 * b1;
    uint64_t carry = (a0 * b0 >> 32) + (tens_1 & 0xffffffff) + (tens_2 & 0xffffffff);
    return a1 * b1 + (tens_1 >> 32) + (tens_2 >> 32) + (carry >> 32);
}

static inline void positions_in_line(uint64_t h, uint64_t m, uint32_t k, uint64_t *positions)
{
    static const uint32_t salt[16] = {0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d,
                                      0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31,
                                      0xd1b54a33, 0x85ebca77, 0xc2b2ae3d, 0x27d4eb2f,
                                      0x165667b1, 0xd6e8feb9, 0xff51afd7, 0xc4ceb9ff};
    uint64_t line = high_half(h, m / 512);
    uint32_t x = (uint32_t)h, y = x * 0x9E3779B1u;
    for (uint32_t i = 0; i < k; i++) {
        uint32_t word = ((y >> 28) + i * (2 * (y >> 25 & 7) + 1)) % 16;
        uint32_t bit = x * salt[word] >> 27;
        positions[i] = line * 512 + word * 32 + bit;
    }
}

/* Computes the k bit positions of hash h. In classic, positions may repeat. `lines` is 0 for
 * classic and counting, which use the same positions. */
static inline void reference_positions(uint32_t scheme, uint64_t m, uint32_t k, uint32_t lines,
                                       uint64_t h, uint64_t *positions)
{
    if (scheme != PETAL_SCHEME_BLOCKED) {
        for (uint32_t i = 0; i < k; i++, h *= 0xDA942042E4DD58B5u) positions[i] = high_half(h, m);
    } else if (lines == 1) {
        positions_in_line(h, m, k, positions);
    } else {
        uint32_t first = (k + 1) / 2;
        positions_in_line(h, m, first, positions);
        positions_in_line(mix(h), m, k - first,
                          positions + first); /* mix() in support.h is fmix64 */
    }
}

static inline bool bit_at(const uint8_t *bytes, uint64_t position)
{
    return bytes[position / 8] >> position % 8 & 1;
}

/* Sets the bits at these positions. Returns true if any bit was clear. */
static inline bool reference_add(uint8_t *bytes, const uint64_t *positions, uint32_t k)
{
    bool changed = false;
    for (uint32_t i = 0; i < k; i++) {
        changed |= !bit_at(bytes, positions[i]);
        bytes[positions[i] / 8] |= (uint8_t)(1u << positions[i] % 8);
    }
    return changed;
}

static inline bool reference_contains(const uint8_t *bytes, const uint64_t *positions, uint32_t k)
{
    bool all = true;
    for (uint32_t i = 0; i < k; i++) all = all && bit_at(bytes, positions[i]);
    return all;
}

/* ---- the vectors ----------------------------------------------------------------------------- */

/* A row of vectors/schemes/positions.txt: a hash's distinct positions, in ascending order. */
struct row {
    uint32_t scheme;
    uint64_t bits, hash, positions[MAX_POSITIONS];
    uint32_t hashes, lines, position_count;
};

static inline void read_positions(const char *at, struct row *row)
{
    char *end;
    row->position_count = 0;
    for (uint64_t position = strtoull(at, &end, 10); end != at; position = strtoull(at, &end, 10)) {
        require(row->position_count < MAX_POSITIONS, "too many positions: %s", at);
        row->positions[row->position_count++] = position;
        at = end;
    }
}

/* SCHEME, BITS, HASHES, LINES, HASH, POSITIONS */
static inline void read_row(const char *line, struct row *row)
{
    char *at;
    row->scheme = line[0] == 'c' ? PETAL_SCHEME_CLASSIC : PETAL_SCHEME_BLOCKED;
    row->bits = strtoull(line + strcspn(line, " "), &at, 10);
    row->hashes = (uint32_t)strtoul(at, &at, 10);
    row->lines = (uint32_t)strtoul(at, &at, 10);
    row->hash = strtoull(at, &at, 16);
    read_positions(at, row);
}

/* Calls `check` for every row whose filter has more than `min` and at most `max` bits. Returns the
 * number of such rows. */
static inline int for_each_row(uint64_t min, uint64_t max, void (*check)(const struct row *row))
{
    char line[2048];
    int rows = 0;
    FILE *file = fopen("vectors/schemes/positions.txt", "r");
    require(file != NULL, "cannot read the positions (tests run from the top of the tree)");
    while (fgets(line, sizeof line, file)) {
        struct row row;
        if (line[0] == '#') continue;
        read_row(line, &row);
        if (row.bits <= min || row.bits > max) continue;
        check(&row);
        rows++;
    }
    fclose(file);
    return rows;
}

#endif
