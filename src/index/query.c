/* query.c - hashes -> rows -> which filters have the key.
 *
 *     positions 17, 40, 401     row 17    1 0 1 1 0 ...
 *                             & row 40    1 0 0 1 0 ...
 *                             & row 401   1 1 0 1 0 ...
 *                             = 1 0 0 1 0 ...   columns 0 and 3 of the group: numbers[0], [3]
 *
 * Keys are processed in pieces. A piece queries one group after the other, so that a group's rows
 * stay in the cache. Within a piece, a few keys are processed at a time: all their rows are
 * prefetched before the first one is read, so that the misses overlap. */
#include "base/checked.h"
#include "base/memory.h"
#include "filter/batch.h"
#include "filter/guard.h"
#include "index/index.h"

#define PIECE 1024u
#define FEW 32u

/* Words of a row that are combined at a time. */
#define CHUNK_WORDS ((uint64_t)64)

/* Keys and their rows of answers. */
struct piece {
    const petal_batch *batch;
    uint64_t from;
    size_t count;
    uint64_t *rows; /* the first key's */
    uint64_t row_words;
    const uint64_t *hashes;
    uint64_t room[PIECE];
};

/* A few keys of a piece, and where their rows begin in a group. */
struct few {
    size_t from, count;
    uint32_t places; /* per key */
    uint64_t bits[FEW][PETAL_MAX_POSITIONS];
};

/* ---- rows ------------------------------------------------------------------------------------ */

static void find_rows(const uint64_t *hashes, const struct group *group, const uint8_t *rows,
                      struct few *few)
{
    const struct scheme_def *scheme = petal_scheme_find(group->kind.shape.scheme);
    uint64_t row_bytes = (group->stride_bits + 7) / 8;
    if (row_bytes > CHUNK_WORDS * 8) row_bytes = CHUNK_WORDS * 8;
    for (size_t i = 0; i < few->count; i++) {
        uint64_t *bits = few->bits[i];
        few->places = scheme->positions(&group->kind.shape, hashes[few->from + i], bits);
        for (uint32_t j = 0; j < few->places; j++) {
            bits[j] *= group->stride_bits;
            for (uint64_t at = 0; at < row_bytes; at += PETAL_LINE_BYTES)
                __builtin_prefetch(rows + bits[j] / 8 + at);
        }
    }
}

/* For rows that begin on bytes: a loop that compilers vectorise. */
static void and_words(uint64_t *all, const uint8_t *row, size_t words)
{
    for (size_t i = 0; i < words; i++) all[i] &= load64le(row + 8 * i);
}

static void and_shifted(uint64_t *all, const uint8_t *rows, uint64_t bit, size_t words)
{
    for (size_t i = 0; i < words; i++) all[i] &= row_word(rows, bit + 64 * i);
}

/* Sets the bit of each column's filter. */
static void spread(const uint32_t *numbers, uint64_t word, uint64_t *row)
{
    for (; word; word &= word - 1) {
        uint32_t number = numbers[lowest_bit64(word)];
        row[number / 64] |= (uint64_t)1 << number % 64;
    }
}

/* Answers for the columns of a chunk. Ignores the bits after the last column. */
static void answer_chunk(const uint64_t *bits, uint32_t places, const uint8_t *rows,
                         const uint32_t *numbers, uint64_t column, uint64_t columns, uint64_t *row)
{
    uint64_t all[CHUNK_WORDS];
    size_t words = (size_t)((columns - column + 63) / 64);
    if (words > CHUNK_WORDS) words = CHUNK_WORDS;
    memset(all, 0xff, words * sizeof *all);
    for (uint32_t j = 0; j < places; j++) {
        uint64_t bit = bits[j] + column;
        if (bit % 8 == 0)
            and_words(all, rows + bit / 8, words);
        else
            and_shifted(all, rows, bit, words);
    }
    uint64_t left = columns - column;
    if (left < 64 * words) all[words - 1] &= UINT64_MAX >> (64 * words - left);
    for (size_t i = 0; i < words; i++)
        if (all[i]) spread(numbers + column + 64 * i, all[i], row);
}

static void answer_few(const struct piece *piece, const struct few *few, const struct group *group,
                       const uint8_t *rows, const uint32_t *numbers)
{
    uint64_t *row = piece->rows + few->from * piece->row_words;
    for (size_t i = 0; i < few->count; i++, row += piece->row_words)
        for (uint64_t column = 0; column < group->columns; column += CHUNK_WORDS * 64)
            answer_chunk(few->bits[i], few->places, rows, numbers, column, group->columns, row);
}

/* ---- damage ---------------------------------------------------------------------------------- */

/* Compares the blocks from byte `from` of the rows to byte `to` with their checksums, unless that
 * was done before. */
static petal_status check_blocks(const petal_index *index, uint64_t from, uint64_t to,
                                 petal_error *error)
{
    for (uint64_t i = from / PETAL_BLOCK_BYTES; i <= to / PETAL_BLOCK_BYTES; i++) {
        if (__atomic_load_n(&index->blocks[i], __ATOMIC_ACQUIRE) == BLOCK_CHECKED) continue;
        petal_status status = petal_index_check_block(index, i, error);
        if (status != PETAL_OK) return status;
        __atomic_store_n(&index->blocks[i], BLOCK_CHECKED, __ATOMIC_RELEASE);
    }
    return PETAL_OK;
}

/* Keeps the keys before the first one whose rows lie in a damaged block. */
static petal_status check_few(const petal_index *index, const struct group *group, struct few *few,
                              petal_error *error)
{
    for (size_t i = 0; index->blocks && i < few->count; i++)
        for (uint32_t j = 0; j < few->places; j++) {
            uint64_t from = few->bits[i][j], to = from + group->columns - 1;
            petal_status status =
                check_blocks(index, group->offset + from / 8, group->offset + to / 8, error);
            if (status == PETAL_OK) continue;
            few->count = i;
            return status;
        }
    return PETAL_OK;
}

/* ---- an index that was opened ---------------------------------------------------------------- */

static petal_status query_group(const petal_index *index, const struct group *group,
                                struct piece *piece, petal_error *error)
{
    const uint8_t *rows = index->image.bytes + index->image.bits_offset + group->offset;
    petal_status status = PETAL_OK;
    struct few few = {.from = 0};
    for (; status == PETAL_OK && few.from < piece->count; few.from += few.count) {
        few.count = at_most(piece->count - few.from, FEW);
        find_rows(piece->hashes, group, rows, &few);
        status = check_few(index, group, &few, error);
        answer_few(piece, &few, group, rows, index->numbers + group->first);
    }
    if (status != PETAL_OK) piece->count = few.from;
    return status;
}

/* After damage in a group, the keys before it are still answered by the groups after it. */
static petal_status query_rows(const petal_index *index, struct piece *piece, petal_error *error)
{
    const petal_filter *hasher = NULL;
    petal_status status = PETAL_OK;
    for (uint64_t i = 0; i < index->group_count; i++) {
        const struct group *group = &index->groups[i];
        if (group->hasher != hasher)
            piece->hashes = petal_batch_words(group->hasher, piece->batch, piece->from,
                                              piece->count, piece->room);
        hasher = group->hasher;
        petal_status queried = query_group(index, group, piece, error);
        if (queried != PETAL_OK) status = queried;
    }
    return status;
}

/* ---- an index that is being made: filters in turn -------------------------------------------- */

static petal_status query_filters(const petal_index *index, struct piece *piece, petal_error *error)
{
    uint8_t results[PIECE];
    petal_batch hashes = PETAL_BATCH_INIT;
    hashes.layout = PETAL_LAYOUT_HASHES;
    hashes.count = piece->count;
    for (uint64_t i = 0; i < index->filters; i++) {
        const petal_filter *filter = index->members[i].filter;
        hashes.data =
            petal_batch_words(filter, piece->batch, piece->from, piece->count, piece->room);
        petal_status status = petal_contains_batch(filter, &hashes, results, NULL, error);
        if (status != PETAL_OK) return status;
        for (size_t k = 0; k < piece->count; k++)
            piece->rows[k * piece->row_words + i / 64] |= (uint64_t)results[k] << i % 64;
    }
    return PETAL_OK;
}

/* ---- the call -------------------------------------------------------------------------------- */

/* Do all groups have the same hash, so that a key has the same hash in all of them? */
static bool shares_hash(const petal_index *index)
{
    if (index->group_count == 0) return true;
    return has_same_hash(&index->groups[0].kind, &index->groups[index->group_count - 1].kind);
}

static petal_status check(const petal_index *index, const petal_batch *batch, uint64_t row_words,
                          petal_error *error)
{
    if (row_words < (index->filters + 63) / 64)
        return petal_fail(
            error, PETAL_ERR_ARGUMENT, "a row for %llu filters has %llu words, not %llu",
            (unsigned long long)index->filters, (unsigned long long)(index->filters + 63) / 64,
            (unsigned long long)row_words);
    if (batch->count && row_words > PTRDIFF_MAX / sizeof(uint64_t) / batch->count)
        return petal_fail(error, PETAL_ERR_ARGUMENT, "the rows are more than memory can hold");
    if (batch->layout == PETAL_LAYOUT_HASHES && !shares_hash(index))
        return petal_fail(error, PETAL_ERR_MISMATCH,
                          "the filters differ in hash or seed, so hashes mean something else in "
                          "each; pass keys");
    return PETAL_OK;
}

petal_status petal_index_query(const petal_index *index, const petal_batch *theirs, uint64_t *rows,
                               uint64_t row_words, petal_error *error)
{
    petal_batch batch;
    petal_status status = petal_batch_take(theirs, &batch, error);
    if (status == PETAL_OK) status = check(index, &batch, row_words, error);
    if (status != PETAL_OK) return status;
    struct piece piece = {.batch = &batch, .row_words = row_words};
    bool has_rows = PETAL_IS_READ_ONLY || index->is_open;
    for (uint64_t i = 0; i < batch.count * row_words; i++) rows[i] = 0;
    for (; status == PETAL_OK && piece.from < batch.count; piece.from += piece.count) {
        piece.count = at_most(batch.count - piece.from, PIECE);
        piece.rows = rows + piece.from * row_words;
        status = (has_rows ? query_rows : query_filters)(index, &piece, error);
    }
    if (status == PETAL_OK) return status;
    if (error) error->offset = piece.from; /* the first key not processed */
    for (uint64_t i = piece.from * row_words; i < batch.count * row_words; i++) rows[i] = 0;
    return status;
}
