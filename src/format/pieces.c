/* pieces.c - see pieces.h.
 *
 * Keys set bits at random positions, so the gaps between newly set bits have a geometric
 * distribution. For such gaps, the size of Rice codes is within 1 or 2 % of the entropy (Golomb
 * 1966; Rice 1979). Only clear bits can be set, so the gaps count only clear bits. In a half-full
 * filter, this saves one bit per code. */
#include "format/pieces.h"

#include "base/bytes.h"
#include "base/popcount.h"
#include "scheme/scheme.h"

#include <string.h>

static uint64_t block_bytes(uint64_t size_bytes, uint64_t block)
{
    uint64_t left = size_bytes - block * PETAL_BLOCK_BYTES;
    return left < PETAL_BLOCK_BYTES ? left : PETAL_BLOCK_BYTES;
}

/* Loads up to 8 bytes as a little-endian word, padded with zeros. */
static uint64_t word_at(const uint8_t *bytes, uint64_t at, uint64_t size_bytes)
{
    uint64_t left = size_bytes - at;
    return left >= 8 ? load64le(bytes + at) : load_tail64le(bytes + at, (size_t)left);
}

/* Returns a mask of the word's bits that are within the array. */
static uint64_t valid_at(uint64_t at, uint64_t size_bytes)
{
    uint64_t left = size_bytes - at;
    return left >= 8 ? UINT64_MAX : ((uint64_t)1 << 8 * left) - 1;
}

#define COUNTERS_PER_WORD 16u

static unsigned counter_of(uint64_t word, unsigned number)
{
    return word >> 4 * number & 15;
}

/* ---- choosing -------------------------------------------------------------------------------- */

/* Statistics about the changes in consecutive blocks. */
struct measure {
    uint64_t up, down;   /* numbers of codes for increments (or set bits) and for decrements (or
                          * cleared bits) */
    uint64_t all, clear; /* number of positions, and of clear bits among them */
};

static void measure_counters(uint64_t from, uint64_t to, struct measure *measure)
{
    for (unsigned i = 0; i < COUNTERS_PER_WORD; i++) {
        unsigned before = counter_of(from, i), after = counter_of(to, i);
        if (after > before)
            measure->up += after - before;
        else
            measure->down += before - after;
    }
}

static struct measure measure_block(const struct difference *difference, uint64_t block)
{
    struct measure measure = {0};
    uint64_t at = block * PETAL_BLOCK_BYTES, end = at + block_bytes(difference->size_bytes, block);
    measure.all = (end - at) * (difference->counters ? 2 : 8);
    for (; at < end; at += 8) {
        uint64_t from = difference->from ? word_at(difference->from, at, end) : 0,
                 to = word_at(difference->to, at, end);
        if (!difference->counters) measure.clear += popcount64(~from & valid_at(at, end));
        if (from == to) continue;
        if (difference->counters) {
            measure_counters(from, to, &measure);
        } else {
            measure.up += popcount64(~from & to);
            measure.down += popcount64(from & ~to);
        }
    }
    return measure;
}

static enum piece_kind kind_of(const struct measure *measure, bool counters)
{
    if (measure->up + measure->down == 0) return PIECE_SAME;
    if (counters) return measure->down ? PIECE_COUNTED : PIECE_RAISED;
    return measure->down ? PIECE_FLIPPED : PIECE_RISEN;
}

/* Returns an upper bound on the size of the codes in bits. The gaps sum to at most the number of
 * positions. */
static uint64_t max_code_bits(enum piece_kind kind, const struct measure *measure, uint32_t r)
{
    uint64_t positions = kind == PIECE_RISEN ? measure->clear : measure->all;
    return (measure->up + measure->down) * (r + 1 + (kind == PIECE_COUNTED)) + (positions >> r);
}

static uint32_t best_parameter(enum piece_kind kind, const struct measure *measure)
{
    uint32_t best = 0;
    for (uint32_t r = 1; r <= PETAL_PIECE_MAX_PARAMETER; r++)
        if (max_code_bits(kind, measure, r) < max_code_bits(kind, measure, best)) best = r;
    return best;
}

#define MAX_CODE_BITS ((uint64_t)8 * PETAL_PIECE_MAX_BYTES)

static uint64_t least_code_bits(enum piece_kind kind, const struct measure *measure)
{
    return max_code_bits(kind, measure, best_parameter(kind, measure));
}

static void add_measure(struct measure *sum, const struct measure *block)
{
    sum->up += block->up;
    sum->down += block->down;
    sum->all += block->all;
    sum->clear += block->clear;
}

void petal_piece_choose(const struct difference *difference, uint64_t block, struct piece *piece)
{
    struct measure sum = {0};
    *piece = (struct piece){.kind = PIECE_SAME};
    for (; block * PETAL_BLOCK_BYTES < difference->size_bytes; block++, piece->blocks++) {
        struct measure measure = measure_block(difference, block), with = sum;
        enum piece_kind kind = kind_of(&measure, difference->counters);
        bool changes = kind != PIECE_SAME;
        add_measure(&with, &measure);
        if (changes && piece->kind != PIECE_SAME && kind != piece->kind) break;
        if (changes &&
            least_code_bits(kind, &measure) >= 8 * block_bytes(difference->size_bytes, block)) {
            if (piece->blocks == 0) *piece = (struct piece){.kind = PIECE_WHOLE, .blocks = 1};
            break;
        }
        if (!changes) kind = piece->kind;
        if (kind != PIECE_SAME && least_code_bits(kind, &with) > MAX_CODE_BITS) break;
        piece->kind = kind;
        sum = with;
    }
    if (piece->kind == PIECE_WHOLE) return;
    piece->codes = sum.up + sum.down;
    piece->parameter = piece->codes ? best_parameter(piece->kind, &sum) : 0;
}

/* ---- encoding -------------------------------------------------------------------------------- */

/* Packs bits into bytes. */
struct writer {
    uint8_t *bytes;
    uint64_t used; /* bytes */
    uint64_t word; /* the last `count` bits, which don't fill a byte yet */
    unsigned count;
};

/* Writes `count` bits, at most 56. */
static void put_bits(struct writer *to, uint64_t bits, unsigned count)
{
    to->word |= bits << to->count;
    to->count += count;
    for (; to->count >= 8; to->count -= 8, to->word >>= 8)
        to->bytes[to->used++] = (uint8_t)to->word;
}

static void put_gap(struct writer *to, uint64_t gap, uint32_t r)
{
    uint64_t ones = gap >> r;
    for (; ones >= 32; ones -= 32) put_bits(to, UINT32_MAX, 32);
    put_bits(to, ((uint64_t)1 << ones) - 1, (unsigned)ones + 1);
    put_bits(to, gap & (((uint64_t)1 << r) - 1), r);
}

/* Both functions return the current gap, which is the number of positions since the last code. */
static uint64_t encode_bits(const struct piece *piece, uint64_t from, uint64_t to, uint64_t valid,
                            uint64_t gap, struct writer *codes)
{
    uint64_t open = piece->kind == PIECE_RISEN ? ~from & valid : valid;
    for (uint64_t changed = from ^ to; changed; changed &= changed - 1) {
        uint64_t bit = changed & (0 - changed);
        put_gap(codes, gap + popcount64(open & (bit - 1)), piece->parameter);
        open &= ~(bit | (bit - 1));
        gap = 0;
    }
    return gap + popcount64(open);
}

static uint64_t encode_counters(const struct piece *piece, uint64_t from, uint64_t to, uint64_t gap,
                                struct writer *codes)
{
    for (unsigned i = 0; i < COUNTERS_PER_WORD; i++, gap++) {
        unsigned before = counter_of(from, i), after = counter_of(to, i);
        bool down = after < before;
        for (unsigned times = down ? before - after : after - before; times; times--) {
            put_gap(codes, gap, piece->parameter);
            if (piece->kind == PIECE_COUNTED) put_bits(codes, down, 1);
            gap = 0;
        }
    }
    return gap;
}

uint32_t petal_piece_encode(const struct difference *difference, uint64_t block,
                            const struct piece *piece, uint8_t *codes)
{
    struct writer to = {.bytes = codes};
    uint64_t gap = 0, at = block * PETAL_BLOCK_BYTES, end = at + piece->blocks * PETAL_BLOCK_BYTES;
    if (end > difference->size_bytes) end = difference->size_bytes;
    if (piece->kind == PIECE_WHOLE) memcpy(codes, difference->to + at, (size_t)(end - at));
    if (piece->kind == PIECE_WHOLE) return (uint32_t)(end - at);
    if (piece->kind == PIECE_SAME) return 0;
    for (; at < end; at += 8) {
        uint64_t before = difference->from ? word_at(difference->from, at, end) : 0,
                 after = word_at(difference->to, at, end);
        if (difference->counters)
            gap = encode_counters(piece, before, after, gap, &to);
        else
            gap = encode_bits(piece, before, after, valid_at(at, end), gap, &to);
    }
    put_bits(&to, 0, (8 - to.count) % 8);
    return (uint32_t)to.used;
}

/* ---- applying -------------------------------------------------------------------------------- */

/* Returns the next bits, lowest first. The result contains at least 57 bits, or all remaining bits
 * followed by zeros. */
static uint64_t peek(const struct piece_reader *reader)
{
    return word_at(reader->codes, reader->at / 8, reader->piece.code_bytes) >> reader->at % 8;
}

#define MAX_PEEK 56u

static uint64_t read_ones(struct piece_reader *reader)
{
    uint64_t ones = 0;
    while (reader->at < reader->end) {
        unsigned count = lowest_bit64(~peek(reader) | (uint64_t)1 << MAX_PEEK);
        ones += count;
        reader->at += count;
        if (count < MAX_PEEK) break;
    }
    return ones;
}

/* Reads the next code. */
static void read_code(struct piece_reader *reader)
{
    uint32_t r = reader->piece.parameter;
    bool counts = reader->piece.kind == PIECE_COUNTED;
    reader->waits = reader->left > 0;
    if (!reader->waits) return;
    reader->left--;
    uint64_t ones = read_ones(reader);
    if (reader->at + 1 + r + counts > reader->end) {
        reader->is_impossible = true;
        reader->waits = false;
        return;
    }
    uint64_t bits = peek(reader) >> 1;
    reader->gap = ones << r | (bits & (((uint64_t)1 << r) - 1));
    reader->down = counts && (bits >> r & 1);
    reader->at += 1 + r + counts;
}

void petal_piece_begin(struct piece_reader *reader, const struct piece *piece, const uint8_t *codes)
{
    *reader = (struct piece_reader){.piece = *piece,
                                    .codes = codes,
                                    .end = (uint64_t)piece->code_bytes * 8,
                                    .left = piece->codes};
    read_code(reader);
}

static bool has_counters(const struct piece_reader *reader)
{
    return reader->piece.kind == PIECE_RAISED || reader->piece.kind == PIECE_COUNTED;
}

bool petal_piece_passes(struct piece_reader *reader, const uint8_t *bytes, uint64_t size_bytes)
{
    uint64_t positions = size_bytes * (has_counters(reader) ? 2 : 8);
    if (reader->piece.kind == PIECE_WHOLE) return false;
    if (!reader->waits) return true;
    if (reader->piece.kind == PIECE_RISEN && bytes) positions -= petal_popcount(bytes, size_bytes);
    if (reader->gap < positions) return false;
    reader->gap -= positions;
    return true;
}

/* Returns the nth set bit of `open`, counting from 0 at the lowest. */
static uint64_t nth_bit(uint64_t open, uint64_t n)
{
    for (; n; n--) open &= open - 1;
    return open & (0 - open);
}

static void store_word(uint8_t *bytes, uint64_t at, uint64_t size_bytes, uint64_t word)
{
    uint8_t all[8];
    store64le(all, word);
    memcpy(bytes + at, all, (size_t)(size_bytes - at < 8 ? size_bytes - at : 8));
}

static void apply_bits(struct piece_reader *reader, uint8_t *bytes, uint64_t size_bytes)
{
    for (uint64_t at = 0; at < size_bytes && reader->waits; at += 8) {
        uint64_t word = word_at(bytes, at, size_bytes), changed = word,
                 open = valid_at(at, size_bytes) &
                        (reader->piece.kind == PIECE_RISEN ? ~word : UINT64_MAX);
        while (reader->waits && reader->gap < popcount64(open)) {
            uint64_t bit = nth_bit(open, reader->gap);
            changed ^= bit;
            open &= ~(bit | (bit - 1));
            read_code(reader);
        }
        if (reader->waits) reader->gap -= popcount64(open);
        if (changed != word) store_word(bytes, at, size_bytes, changed);
    }
}

static void apply_counters(struct piece_reader *reader, uint8_t *bytes, uint64_t size_bytes)
{
    uint64_t at = 0, end = 2 * size_bytes;
    while (reader->waits && reader->gap < end - at) {
        at += reader->gap;
        unsigned shift = at % 2 * 4, value = bytes[at / 2] >> shift & 15;
        if (value == (reader->down ? 0 : 15)) {
            reader->is_impossible = true;
            reader->waits = false;
            return;
        }
        unsigned step = 1u << shift;
        bytes[at / 2] = (uint8_t)(reader->down ? bytes[at / 2] - step : bytes[at / 2] + step);
        read_code(reader);
    }
    if (reader->waits) reader->gap -= end - at;
}

void petal_piece_apply(struct piece_reader *reader, uint8_t *bytes, uint64_t size_bytes)
{
    if (reader->piece.kind == PIECE_WHOLE) {
        memcpy(bytes, reader->codes, (size_t)size_bytes);
        reader->at = reader->end;
    } else if (has_counters(reader)) {
        apply_counters(reader, bytes, size_bytes);
    } else {
        apply_bits(reader, bytes, size_bytes);
    }
}

bool petal_piece_is_complete(const struct piece_reader *reader)
{
    if (reader->is_impossible || reader->waits) return false;
    return reader->end - reader->at < 8 && (reader->at == reader->end || peek(reader) == 0);
}
