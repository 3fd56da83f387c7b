/* pieces.h - what changed in an array of bits or counters, as a patch has it (docs/format.md,
 * "Patches"): gap codes, or whole blocks. Pure.
 *
 * A piece covers some blocks of a layer, one after the other. Its codes are Rice's: a gap g of
 * parameter r is g >> r ones, a zero, and the r low bits of g; bits are least significant first, as
 * in a filter. With r = 2:
 *
 *     gap 9 = 2 * 4 + 1:   1 1 0  1 0        gap 3:   0  1 1
 */
#ifndef PETAL_FORMAT_PIECES_H
#define PETAL_FORMAT_PIECES_H

#include "petal/petal.h"

/* What the codes of a piece mean. */
enum piece_kind {
    PIECE_SAME = 0,    /* nothing changes */
    PIECE_RISEN = 1,   /* the gap counts clear bits, then one is set */
    PIECE_FLIPPED = 2, /* the gap counts bits, then one is flipped */
    PIECE_RAISED = 3,  /* from the last counter the gap leads to one that is counted up by one */
    PIECE_COUNTED = 4, /* the same, and a bit after the gap: 0 counts up, 1 down */
    PIECE_WHOLE = 5    /* one block, byte by byte */
};

#define PETAL_PIECE_HEAD_BYTES 32u
#define PETAL_PIECE_MAX_BYTES 65536u /* of codes: those of a block can always be its bytes */
#define PETAL_PIECE_MAX_PARAMETER 44u

struct piece {
    uint64_t blocks, codes; /* codes: how many */
    uint32_t code_bytes;
    enum piece_kind kind;
    uint32_t parameter; /* r */
};

/* Two arrays of one size. `from` is NULL for zeros. */
struct difference {
    const uint8_t *from, *to;
    uint64_t size_bytes;
    bool counters; /* of 4 bits */
};

/* The piece that begins at this block, all but its code_bytes: as many blocks as go together. */
void petal_piece_choose(const struct difference *difference, uint64_t block, struct piece *piece);

/* Its codes, for which there is room for PETAL_PIECE_MAX_BYTES. Returns piece->code_bytes. */
uint32_t petal_piece_encode(const struct difference *difference, uint64_t block,
                            const struct piece *piece, uint8_t *codes);

/* A piece being applied, block by block. */
struct piece_reader {
    struct piece piece;
    const uint8_t *codes;
    uint64_t at, end;   /* bits of the codes */
    uint64_t left;      /* codes after the one that is waiting */
    bool waits, down;   /* a code is waiting; what it says beside its gap */
    uint64_t gap;       /* and what is left of that */
    bool is_impossible; /* the codes can't be */
};

void petal_piece_begin(struct piece_reader *reader, const struct piece *piece,
                       const uint8_t *codes);

/* Passes over the next block if it stays as it is; `bytes` NULL is zeros. */
bool petal_piece_passes(struct piece_reader *reader, const uint8_t *bytes, uint64_t size_bytes);

/* Changes the next block. */
void petal_piece_apply(struct piece_reader *reader, uint8_t *bytes, uint64_t size_bytes);

/* After the last block: has every code been used, and were all possible? */
bool petal_piece_is_complete(const struct piece_reader *reader);

#endif
