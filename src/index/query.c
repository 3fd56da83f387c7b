/* query.c - hashes -> rows -> which filters have the key.
 *
 *     positions 17, 40, 401     row 17    1 0 1 1 0 ...
 *                             & row 40    1 0 0 1 0 ...
 *                             & row 401   1 1 0 1 0 ...
 *                             = 1 0 0 1 0 ...   columns 0 and 3 of the group: numbers[0], [3]
 *
 * Keys are processed in pieces. A piece queries one group after the other, so that a group's rows
 * stay in the cache. Within a piece, a few keys are processed at a time: if a group is larger than
 * the cache, all their rows are prefetched before the first one is read, so that the misses
 * overlap.
 *
 * Three cases are faster. A group of one filter has that filter's bits as its rows, so the filter's
 * kernel answers. Rows of up to 57 bits are read with one load each. And in groups of the scheme
 * blocked with the same k, a key has the same bits in its line, so they are computed once. */
#include "base/checked.h"
#include "base/memory.h"
#include "filter/batch.h"
#include "filter/guard.h"
#include "index/index.h"

#define PIECE 1024u
#define FEW 32u

/* Rows of a smaller group are not prefetched: they are in the second-level cache. */
#define NEAR_BYTES ((uint64_t)1 << 18)

/* Words of a row that are combined at a time. */
#define CHUNK_WORDS ((uint64_t)64)

/* A row of so many bits fits into the 8 bytes in which it begins. */
#define NARROW 57u

/* The hashes of a key with one line. */
#define LINE_HASHES 16u

/* Keys and their rows of answers. */
struct piece {
    const petal_batch *batch;
    uint64_t from;
    size_t count;
    uint64_t *rows; /* the first key's */
    uint64_t row_words;
    const uint64_t *hashes;
    uint64_t room[PIECE];
    const struct group *places_of;       /* the group for which `places` was computed, or NULL */
    uint16_t places[PIECE][LINE_HASHES]; /* of each key's bits in its line */
};

/* A few keys of a piece, and where their rows begin in a group. */
struct few {
    size_t from, count;
    uint32_t places; /* per key */
    uint64_t bits[FEW][PETAL_MAX_POSITIONS];
};

/* ---- rows ------------------------------------------------------------------------------------ */

static bool has_same_places(const struct group *a, const struct group *b)
{
    const struct shape *x = &a->kind.shape, *y = &b->kind.shape;
    return a->hasher == b->hasher && x->scheme == y->scheme && x->hashes == y->hashes &&
           x->lines_per_key == y->lines_per_key;
}

/* Does another group before or after this one have the same bits in its lines? */
static bool shares_places(const petal_index *index, const struct group *group)
{
    const struct group *first = index->groups, *last = first + index->group_count - 1;
    const struct shape *shape = &group->kind.shape;
    if (shape->scheme != PETAL_SCHEME_BLOCKED || shape->lines_per_key != 1) return false;
    return (group != first && has_same_places(group - 1, group)) ||
           (group != last && has_same_places(group, group + 1));
}

/* Computes the places of all keys, unless the group before has the same ones. In a filter of one
 * line, they are the positions. */
static void find_places(struct piece *piece, const struct group *group)
{
    const struct scheme_def *scheme = petal_scheme_find(group->kind.shape.scheme);
    const struct group *before = piece->places_of;
    struct shape line = group->kind.shape;
    uint64_t positions[PETAL_MAX_POSITIONS];
    if (before && has_same_places(before, group)) return;
    line.bits = PETAL_LINE_BITS;
    for (size_t i = 0; i < piece->count; i++) {
        scheme->positions(&line, piece->hashes[i], positions);
        for (uint32_t j = 0; j < line.hashes; j++) piece->places[i][j] = (uint16_t)positions[j];
    }
    piece->places_of = group;
}

static void find_rows_by_places(const struct piece *piece, const struct group *group,
                                struct few *few)
{
    uint64_t lines = group->kind.shape.bits / PETAL_LINE_BITS;
    uint32_t hashes = few->places = group->kind.shape.hashes;
    for (size_t i = 0; i < few->count; i++) {
        const uint16_t *places = piece->places[few->from + i];
        uint64_t line = mulhi64(piece->hashes[few->from + i], lines) * PETAL_LINE_BITS;
        for (uint32_t j = 0; j < hashes; j++)
            few->bits[i][j] = (line + places[j]) * group->stride_bits;
    }
}

static void find_rows(const struct piece *piece, const struct group *group, struct few *few)
{
    const struct scheme_def *scheme = petal_scheme_find(group->kind.shape.scheme);
    for (size_t i = 0; i < few->count; i++) {
        uint64_t *bits = few->bits[i];
        few->places = scheme->positions(&group->kind.shape, piece->hashes[few->from + i], bits);
        for (uint32_t j = 0; j < few->places; j++) bits[j] *= group->stride_bits;
    }
}

static void fetch_rows(const struct group *group, const uint8_t *rows, const struct few *few)
{
    uint64_t row_bytes = at_most((group->stride_bits + 7) / 8, CHUNK_WORDS * 8);
    for (size_t i = 0; i < few->count; i++)
        for (uint32_t j = 0; j < few->places; j++)
            for (uint64_t at = 0; at < row_bytes; at += PETAL_LINE_BYTES)
                __builtin_prefetch(rows + few->bits[i][j] / 8 + at);
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

static void answer_narrow(const uint64_t *bits, uint32_t places, const uint8_t *rows,
                          const uint32_t *numbers, uint64_t mask, uint64_t *row)
{
    for (uint32_t j = 0; j < places; j++) mask &= load64le(rows + bits[j] / 8) >> bits[j] % 8;
    spread(numbers, mask, row);
}

static void answer_few(const struct piece *piece, const struct few *few, const struct group *group,
                       const uint8_t *rows, const uint32_t *numbers)
{
    uint64_t *row = piece->rows + few->from * piece->row_words;
    uint64_t mask = UINT64_MAX >> (64 - at_most(group->columns, NARROW));
    for (size_t i = 0; i < few->count; i++, row += piece->row_words)
        if (group->columns <= NARROW)
            answer_narrow(few->bits[i], few->places, rows, numbers, mask, row);
        else
            for (uint64_t column = 0; column < group->columns; column += CHUNK_WORDS * 64)
                answer_chunk(few->bits[i], few->places, rows, numbers, column, group->columns, row);
}

/* The filter's kernel expects lines to be aligned, which those of a view may not be. */
static bool is_one_filter(const struct group *group, const uint8_t *rows)
{
    return group->columns == 1 && (uintptr_t)rows % PETAL_LINE_BYTES == 0;
}

/* Answers for a group of one filter. */
static void answer_filter(const struct piece *piece, const struct group *group, const uint8_t *rows,
                          uint32_t number)
{
    uint8_t results[PIECE];
    struct layer layer = {0};
    petal_layer_set_shape(&layer, &group->kind.shape, group->hasher->hash);
    layer.array.bytes = (uint8_t *)(uintptr_t)rows; /* which queries only read */
    petal_scheme_kernel(petal_scheme_find(group->kind.shape.scheme))
        ->contains_many(&layer.array, piece->hashes, piece->count, results);
    for (size_t i = 0; i < piece->count; i++)
        piece->rows[i * piece->row_words + number / 64] |= (uint64_t)results[i] << number % 64;
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
    for (size_t i = 0; i < few->count; i++)
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

/* True: no row of the group needs a check. Many keys read most blocks of a small group anyway, so
 * all of them are checked at once; if one is damaged, that is reported when a key needs it. */
static bool is_sound(const petal_index *index, const struct group *group, size_t keys)
{
    if (!index->blocks) return true;
    if (group->bytes / PETAL_BLOCK_BYTES > keys / 64) return false;
    return check_blocks(index, group->offset, group->offset + group->bytes - 1, NULL) == PETAL_OK;
}

/* ---- an index that was opened ---------------------------------------------------------------- */

static petal_status query_group(const petal_index *index, const struct group *group,
                                struct piece *piece, petal_error *error)
{
    const uint8_t *rows = index->image.bytes + index->image.bits_offset + group->offset;
    const uint32_t *numbers = index->numbers + group->first;
    bool sound = is_sound(index, group, piece->count);
    petal_status status = PETAL_OK;
    struct few few = {.from = 0};
    if (sound && is_one_filter(group, rows)) {
        answer_filter(piece, group, rows, *numbers);
        return PETAL_OK;
    }
    bool shares = shares_places(index, group);
    if (shares) find_places(piece, group);
    for (; status == PETAL_OK && few.from < piece->count; few.from += few.count) {
        few.count = at_most(piece->count - few.from, FEW);
        if (shares)
            find_rows_by_places(piece, group, &few);
        else
            find_rows(piece, group, &few);
        if (group->bytes > NEAR_BYTES) fetch_rows(group, rows, &few);
        if (!sound) status = check_few(index, group, &few, error);
        answer_few(piece, &few, group, rows, numbers);
    }
    if (status != PETAL_OK) piece->count = few.from;
    return status;
}

/* After damage in a group, the keys before it are still answered by the groups after it. */
static petal_status query_rows(const petal_index *index, struct piece *piece, petal_error *error)
{
    const petal_filter *hasher = NULL;
    petal_status status = PETAL_OK;
    piece->places_of = NULL;
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
