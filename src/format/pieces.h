/* pieces.h - the changes in an array of bits or counters, as a patch encodes them (docs/format.md,
 * "Patches"): gap codes, or whole blocks.
 *
 * A piece covers consecutive blocks of a layer. It consists of Rice codes. A gap g with parameter r
 * is encoded as g >> r ones, a zero, and the r low bits of g. Bits are least significant first, as
 * in a filter. With r = 2:
 *
 *     gap 9 = 2 * 4 + 1:   1 1 0  1 0        gap 3:   0  1 1
 * */
#ifndef PETAL_FORMAT_PIECES_H
#define PETAL_FORMAT_PIECES_H

#include "petal/petal.h"

/* What the codes of a piece mean. */
enum piece_kind {
    PIECE_SAME = 0,    /* nothing changes */
    PIECE_RISEN = 1,   /* skips `gap` clear bits, then sets one */
    PIECE_FLIPPED = 2, /* skips `gap` bits, then flips one */
    /* Advances by `gap` counters, then increments. Gap 0 means the same counter again. */
    PIECE_RAISED = 3,
    PIECE_COUNTED = 4, /* the same, and a bit after the gap: 0 increments, 1 decrements */
    PIECE_WHOLE = 5    /* one block, byte by byte */
};

#define PETAL_PIECE_HEAD_BYTES 32u
#define PETAL_PIECE_MAX_BYTES 65536u /* a block stored as bytes needs no more */
#define PETAL_PIECE_MAX_PARAMETER 44u

struct piece {
    uint64_t blocks, codes; /* codes: how many there are */
    uint32_t code_bytes;
    enum piece_kind kind;
    uint32_t parameter; /* r */
};

/* Two arrays of the same size. If `from` is NULL, it is all zeros. */
struct difference {
    const uint8_t *from, *to;
    uint64_t size_bytes;
    bool counters; /* they have 4-bit counters */
};

/* Chooses the piece that starts at this block, except for its code_bytes. The piece covers as many
 * blocks as compress well together. */
void petal_piece_choose(const struct difference *difference, uint64_t block, struct piece *piece);

/* Encodes the codes of the piece into PETAL_PIECE_MAX_BYTES of room. Returns piece->code_bytes. */
uint32_t petal_piece_encode(const struct difference *difference, uint64_t block,
                            const struct piece *piece, uint8_t *codes);

/* A piece that is applied block by block. */
struct piece_reader {
    struct piece piece;
    const uint8_t *codes;
    uint64_t at, end;   /* counted in bits of the codes */
    uint64_t left;      /* number of codes after the pending one */
    bool waits, down;   /* a code is pending; it clears or decrements */
    uint64_t gap;       /* the rest of its gap */
    bool is_impossible; /* the codes are invalid */
};

void petal_piece_begin(struct piece_reader *reader, const struct piece *piece,
                       const uint8_t *codes);

/* If the next block is unchanged, skips it and returns true. `bytes` is NULL for zeros. */
bool petal_piece_passes(struct piece_reader *reader, const uint8_t *bytes, uint64_t size_bytes);

/* Changes the next block. */
void petal_piece_apply(struct piece_reader *reader, uint8_t *bytes, uint64_t size_bytes);

/* Call this after the last block. Returns true if all codes were used and valid. */
bool petal_piece_is_complete(const struct piece_reader *reader);

#endif
