/* slices.c - converts filters to rows, and rows to filters. Blocks of 64 filters by 64 bits are
 * transposed in registers:
 *
 *     filter 0   bits 0 1 2 ... 63        row 0   filters 0 1 2 ... 63
 *     filter 1        0 1 2 ... 63   <->  row 1           0 1 2 ... 63
 *     ...                                 ...
 */
#include "base/checked.h"
#include "base/memory.h"
#include "index/index.h"

/* Transposes a 64 x 64 bit matrix: element (i, j) moves to (j, i), where j counts from the lowest
 * bit. Halves are exchanged first, then quarters, and so on. */
static void transpose(uint64_t block[PETAL_SLICE])
{
    uint64_t mask = 0x00000000ffffffffu;
    for (unsigned width = 32; width > 0; width /= 2, mask ^= mask << width)
        for (unsigned i = 0; i < PETAL_SLICE; i = (i + width + 1) & ~width) {
            uint64_t changed = (block[i] >> width ^ block[i + width]) & mask;
            block[i + width] ^= changed;
            block[i] ^= changed << width;
        }
}

/* ---- sizes ----------------------------------------------------------------------------------- */

/* Narrow rows are packed without gaps, so that a group of one filter is as small as the filter.
 * Wide rows start on byte, word or line boundaries. This alignment makes queries faster, and the
 * rows at most 1.6 % larger. */
uint64_t petal_index_stride(uint64_t columns)
{
    uint64_t unit = columns < 512 ? 1 : columns < 4096 ? 8 : columns < 32768 ? 64 : 512;
    return (columns + unit - 1) / unit * unit;
}

/* A row is read as 64-bit words, which can start in the middle of a byte. So the last row is padded
 * with zeros. */
#define SLACK_BYTES ((uint64_t)8)

bool petal_index_group_bytes(const struct group *group, uint64_t *bytes)
{
    uint64_t bits;
    return checked_mul(group->kind.shape.bits, group->stride_bits, &bits) &&
           checked_add(bits, 7, &bits) && checked_add(bits / 8, SLACK_BYTES, bytes) &&
           checked_round_up(*bytes, PETAL_LINE_BYTES, bytes);
}

/* 64 rows. */
uint64_t petal_index_room(const struct group *group)
{
    return 8 * group->stride_bits + 2 * SLACK_BYTES;
}

/* ---- filters -> rows ------------------------------------------------------------------------- */

/* ORs the word into the rows. The destination bits must be clear. */
static void put_word(uint8_t *rows, uint64_t bit, uint64_t word)
{
    uint8_t *at = rows + bit / 8;
    unsigned shift = bit % 8;
    store64le(at, load64le(at) | word << shift);
    if (shift) at[8] |= (uint8_t)(word >> (64 - shift));
}

/* Writes 64 rows, starting with `row`, for up to 64 filters. */
static void put_slice(const petal_index *index, const uint32_t *numbers, uint64_t count,
                      uint64_t row, uint64_t stride_bits, uint64_t column, uint8_t *rows)
{
    uint64_t block[PETAL_SLICE] = {0}, any = 0;
    for (uint64_t i = 0; i < count; i++)
        any |= block[i] =
            load64le(index->members[numbers[i]].filter->layers->array.bytes + row / 8);
    if (!any) return;
    transpose(block);
    for (unsigned i = 0; i < PETAL_SLICE; i++)
        if (block[i]) put_word(rows, i * stride_bits + column, block[i]);
}

petal_status petal_index_put_rows(const petal_index *index, const struct group *group,
                                  const uint32_t *numbers, uint8_t *room, const struct sink *sink,
                                  petal_error *error)
{
    uint64_t rows = group->kind.shape.bits, stride = group->stride_bits, put = 0;
    petal_status status = PETAL_OK;
    for (uint64_t row = 0; status == PETAL_OK && row < rows; row += PETAL_SLICE) {
        uint64_t bytes = (at_most(rows - row, PETAL_SLICE) * stride + 7) / 8;
        memset(room, 0, (size_t)petal_index_room(group));
        for (uint64_t column = 0; column < group->columns; column += PETAL_SLICE)
            put_slice(index, numbers + column, at_most(group->columns - column, PETAL_SLICE), row,
                      stride, column, room);
        status = petal_put(sink, room, bytes, error);
        put += bytes;
    }
    static const uint8_t zeros[2 * PETAL_LINE_BYTES];
    return status == PETAL_OK ? petal_put(sink, zeros, group->bytes - put, error) : status;
}

/* ---- rows -> filters ------------------------------------------------------------------------- */

void petal_index_take_columns(const uint8_t *rows, const struct group *group, uint64_t column,
                              petal_filter *const *filters, uint32_t count)
{
    uint64_t bits = group->kind.shape.bits;
    for (uint64_t row = 0; row < bits; row += PETAL_SLICE) {
        uint64_t block[PETAL_SLICE] = {0};
        for (uint64_t i = 0; i < PETAL_SLICE && row + i < bits; i++)
            block[i] = row_word(rows, (row + i) * group->stride_bits + column);
        transpose(block);
        for (uint32_t i = 0; i < count; i++)
            if (block[i]) store64le(filters[i]->layers->array.bytes + row / 8, block[i]);
    }
}
