/* cassandra_scheme.c - the schemes of Cassandra's filters. The k positions are abs(c % m), with c
 * += step after each position. Numbers are signed 64-bit integers, and the remainder has the sign
 * of c, as in Java and C. See docs/formats/cassandra.md.
 *
 *     cassandra      4.0 and later    c starts with the second word of the hash; plain bytes
 *     cassandra-be   3.0 to 3.11      the same; big-endian words
 *     cassandra-2    1.2 to 2.2       c starts with the first word; big-endian words */
#include "scheme/foreign/two_words.h"

static inline struct walk walk_from_second(const struct bit_array *array, const uint64_t *hash)
{
    return (struct walk){hash[1], hash[0], array->modulus};
}

static inline uint64_t walk_next(struct walk *at)
{
    uint64_t position = signed_rest_of((int64_t)at->at, at->bits);
    at->at += at->step;
    return position;
}

#define WALK plain
#define WALK_FROM walk_from_second
#include "scheme/walk.inc"

#define WALK be
#define WALK_FROM walk_from_second
#define BIT_ORDER 56u
#include "scheme/walk.inc"

#define WALK be_first
#define BIT_ORDER 56u
#include "scheme/walk.inc"

/* Cassandra supports at most 21 positions per key. */
#define ROW(id_, name_, walk, first, second) \
    { \
        .id = (id_), .name = (name_), WALKED(walk), .unit_bytes = 8, .hash_words = 2, \
        COURSE(COURSE_FOLDED, 64, {(first), 0, 64, false}, {(second), 0, 64, false}), \
        .max_hashes = 21, .step_bits = 64, .max_bits = (uint64_t)INT32_MAX * 64 \
    }

const struct scheme_def petal_scheme_cassandra =
    ROW(PETAL_SCHEME_CASSANDRA, "cassandra", plain, 1, 0);
const struct scheme_def petal_scheme_cassandra_be =
    ROW(PETAL_SCHEME_CASSANDRA_BE, "cassandra-be", be, 1, 0);
const struct scheme_def petal_scheme_cassandra_2 =
    ROW(PETAL_SCHEME_CASSANDRA_2, "cassandra-2", be_first, 0, 1);
