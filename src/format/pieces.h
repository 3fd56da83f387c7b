/* pieces.h - encodes and applies the changes to an array of bits or counters in a patch, as gap
 * codes or whole blocks. See docs/format.md, "Patches".
 *
 * A piece covers consecutive blocks of a layer. It consists of Rice codes. A gap g with parameter r
 * is encoded as g >> r ones, a zero, and the low r bits of g. Bits are stored least significant
 * first, as in a filter. Example with r = 2:
 *
 *     gap 9 = 2 * 4 + 1:   1 1 0  1 0        gap 3:   0  1 1
 * */
#ifndef PETAL_FORMAT_PIECES_H
#define PETAL_FORMAT_PIECES_H

#include "petal/petal.h"

/* What a piece's codes mean. */
enum piece_kind {
    PIECE_SAME = 0,    /* nothing changes */
    PIECE_RISEN = 1,   /* each code skips `gap` clear bits, then sets one */
    PIECE_FLIPPED = 2, /* each code skips `gap` bits, then flips one */
    /* Each code advances by `gap` counters, then increments one. Gap 0 means the same counter
     * again. */
    PIECE_RAISED = 3,
    PIECE_COUNTED = 4, /* like PIECE_RAISED, with a bit after each gap: 0 increments, 1
                        * decrements */
    PIECE_WHOLE = 5    /* the bytes of one block, without codes */
};

#define PETAL_PIECE_HEAD_BYTES 32u
#define PETAL_PIECE_MAX_BYTES 65536u /* the size of a block stored as bytes */
#define PETAL_PIECE_MAX_PARAMETER 44u

struct piece {
    uint64_t blocks, codes; /* number of blocks covered, and number of codes */
    uint32_t code_bytes;
    enum piece_kind kind;
    uint32_t parameter; /* r */
};

/* Two arrays of the same size that are compared. A `from` of NULL means all zeros. */
struct difference {
    const uint8_t *from, *to;
    uint64_t size_bytes;
    bool counters; /* true if the arrays contain 4-bit counters */
};

/* Chooses the kind, size and parameter of the piece that starts at the given block, but not its
 * code_bytes. The piece covers as many blocks as compress well together. */
void petal_piece_choose(const struct difference *difference, uint64_t block, struct piece *piece);

/* Writes the piece's codes to a buffer of PETAL_PIECE_MAX_BYTES. Returns the value for
 * piece->code_bytes. */
uint32_t petal_piece_encode(const struct difference *difference, uint64_t block,
                            const struct piece *piece, uint8_t *codes);

/* The state of applying a piece block by block. */
struct piece_reader {
    struct piece piece;
    const uint8_t *codes;
    uint64_t at, end;   /* positions in the codes, counted in bits */
    uint64_t left;      /* number of codes after the pending code */
    bool waits, down;   /* whether a code is pending, and whether it clears or decrements */
    uint64_t gap;       /* the rest of the pending code's gap */
    bool is_impossible; /* true if the codes are invalid */
};

void petal_piece_begin(struct piece_reader *reader, const struct piece *piece,
                       const uint8_t *codes);

/* If the next block is unchanged, skips the block and returns true. `bytes` is NULL if the block is
 * all zeros. */
bool petal_piece_passes(struct piece_reader *reader, const uint8_t *bytes, uint64_t size_bytes);

/* Applies the codes to the next block. */
void petal_piece_apply(struct piece_reader *reader, uint8_t *bytes, uint64_t size_bytes);

/* Returns true if all codes were used and valid. Call this after the last block. */
bool petal_piece_is_complete(const struct piece_reader *reader);

#endif
