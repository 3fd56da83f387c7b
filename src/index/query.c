/* query.c - finds the filters that contain a key, by combining the rows that the key's hash
 * selects.
 *
 *     positions 17, 40, 401     row 17    1 0 1 1 0 ...
 *                             & row 40    1 0 0 1 0 ...
 *                             & row 401   1 1 0 1 0 ...
 *                             = 1 0 0 1 0 ...   columns 0 and 3 of the group: numbers[0], [3]
 *
 * Keys are processed in pieces of up to PIECE keys. Each piece queries one group after another, so
 * that a group's rows stay in the cache. Within a piece, a few keys are processed at a time: all
 * their rows are prefetched before the first one is read, so that the misses overlap.
 *
 * An index with filters of many sizes has narrow groups, where finding the rows takes longer than
 * reading them. So the values that depend only on the hash and k are computed once per piece; rows
 * that fit into a word are read as one word; and a group with a single filter is queried like an
 * ordinary filter. */
#include "base/checked.h"
#include "base/memory.h"
#include "filter/batch.h"
#include "filter/guard.h"
#include "index/index.h"

#define PIECE 256u
#define FEW 32u

/* The number of words of a row that are combined at a time. */
#define CHUNK_WORDS ((uint64_t)64)

/* The maximum size in bits of a row that lies within the 8 bytes starting at its first byte. */
#define NARROW 57u

/* Values of a piece's keys that are the same in all filters that differ only in m. See
 * scheme_def.split. */
struct split {
    const struct group *of; /* a group for which the values were computed, or NULL */
    uint32_t first;
    uint64_t words[PIECE][2];
    uint16_t places[PIECE * PETAL_MAX_SPLIT];
};

/* A piece of the batch: its keys, and their rows of answers. */
struct piece {
    const petal_batch *batch;
    uint64_t from;
    size_t count;
    uint64_t *rows; /* the first key's */
    uint64_t row_words;
    const uint64_t *hashes;
    uint64_t room[PIECE];
    struct split split;
};

/* A few keys of a piece, and the positions at which their rows start in a group. */
struct few {
    size_t from, count;
    uint32_t places; /* per key */
    uint64_t bits[FEW][PETAL_MAX_POSITIONS];
};

/* ---- rows ------------------------------------------------------------------------------------ */

static bool is_narrow(const struct group *group)
{
    return group->columns <= NARROW;
}

static bool splits_alike(const struct kind *a, const struct kind *b)
{
    return has_same_hash(a, b) && a->shape.scheme == b->shape.scheme &&
           a->shape.lines_per_key == b->shape.lines_per_key && a->shape.hashes == b->shape.hashes;
}

static void split_keys(const struct scheme_def *scheme, const struct group *group,
                       struct piece *piece)
{
    struct split *split = &piece->split;
    const struct shape *shape = &group->kind.shape;
    if (split->of && splits_alike(&split->of->kind, &group->kind)) return;
    for (size_t i = 0; i < piece->count; i++)
        split->first = scheme->split(shape, piece->hashes[i], split->words[i],
                                     split->places + i * shape->hashes);
    split->of = group;
}

/* Computes, from a split, the positions at which the rows for key i of the piece begin. */
static void rows_of_split(const struct split *split, size_t i, const struct group *group,
                          uint64_t lines, uint64_t line_bits, uint64_t *bits)
{
    uint32_t count = group->kind.shape.hashes, first = split->first, j = 0;
    const uint16_t *places = split->places + i * count;
    uint64_t stride = group->stride_bits,
             line = mulhi64(split->words[i][0], lines) * line_bits * stride;
    for (; j < first; j++) bits[j] = line + places[j] * stride;
    if (j < count) line = mulhi64(split->words[i][1], lines) * line_bits * stride;
    for (; j < count; j++) bits[j] = line + places[j] * stride;
}

static void find_rows(struct piece *piece, const struct group *group,
                      const struct scheme_def *scheme, struct few *few)
{
    const struct shape *shape = &group->kind.shape;
    few->places = shape->hashes;
    if (scheme->split) {
        uint64_t lines = shape->bits / scheme->fold_bits;
        split_keys(scheme, group, piece);
        for (size_t i = 0; i < few->count; i++)
            rows_of_split(&piece->split, few->from + i, group, lines, scheme->fold_bits,
                          few->bits[i]);
        return;
    }
    for (size_t i = 0; i < few->count; i++) {
        scheme->positions(shape, piece->hashes[few->from + i], few->bits[i]);
        for (uint32_t j = 0; j < few->places; j++) few->bits[i][j] *= group->stride_bits;
    }
}

static void prefetch_rows(const struct few *few, const struct group *group, const uint8_t *rows)
{
    uint64_t row_bytes = (group->stride_bits + 7) / 8;
    if (row_bytes > CHUNK_WORDS * 8) row_bytes = CHUNK_WORDS * 8;
    for (size_t i = 0; i < few->count; i++)
        for (uint32_t j = 0; j < few->places; j++)
            for (uint64_t at = 0; at < row_bytes; at += PETAL_LINE_BYTES)
                __builtin_prefetch(rows + few->bits[i][j] / 8 + at);
}

/* Handles rows that start on byte boundaries, with a loop that compilers vectorize. */
static void and_words(uint64_t *all, const uint8_t *row, size_t words)
{
    for (size_t i = 0; i < words; i++) all[i] &= load64le(row + 8 * i);
}

static void and_shifted(uint64_t *all, const uint8_t *rows, uint64_t bit, size_t words)
{
    for (size_t i = 0; i < words; i++) all[i] &= row_word(rows, bit + 64 * i);
}

/* Sets the answer bit of each column's filter. */
static void spread(const uint32_t *numbers, uint64_t word, uint64_t *row)
{
    for (; word; word &= word - 1) {
        uint32_t number = numbers[lowest_bit64(word)];
        row[number / 64] |= (uint64_t)1 << number % 64;
    }
}

/* Writes the answers for the columns of a chunk. Ignores the bits after the last column. */
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

/* Writes the answers for a narrow group, where a row is one word. */
static void answer_narrow(const uint64_t *bits, uint32_t places, const uint8_t *rows,
                          const uint32_t *numbers, uint64_t columns, uint64_t *row)
{
    uint64_t all = ((uint64_t)1 << columns) - 1;
    for (uint32_t j = 0; j < places; j++) all &= load64le(rows + bits[j] / 8) >> bits[j] % 8;
    if (all) spread(numbers, all, row);
}

static void answer_few(const struct piece *piece, const struct few *few, const struct group *group,
                       const uint8_t *rows, const uint32_t *numbers)
{
    uint64_t *row = piece->rows + few->from * piece->row_words;
    if (is_narrow(group)) {
        for (size_t i = 0; i < few->count; i++, row += piece->row_words)
            answer_narrow(few->bits[i], few->places, rows, numbers, group->columns, row);
        return;
    }
    for (size_t i = 0; i < few->count; i++, row += piece->row_words)
        for (uint64_t column = 0; column < group->columns; column += CHUNK_WORDS * 64)
            answer_chunk(few->bits[i], few->places, rows, numbers, column, group->columns, row);
}

/* ---- damage ---------------------------------------------------------------------------------- */

/* Compares the blocks from byte `from` to byte `to` of the rows with their checksums, except those
 * that have already been compared. */
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

/* Drops the first key with rows in a damaged block, and all keys after it. */
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

/* Returns true if all blocks of the group are known to have been checked. Returns false without
 * looking if looking would take longer than querying the keys. */
static bool is_checked(const petal_index *index, const struct group *group, size_t keys)
{
    if (!index->blocks) return true;
    uint64_t i = group->offset / PETAL_BLOCK_BYTES,
             last = (group->offset + group->bytes - 1) / PETAL_BLOCK_BYTES;
    if ((last - i) / 64 > keys) return false;
    while (i <= last && __atomic_load_n(&index->blocks[i], __ATOMIC_ACQUIRE) == BLOCK_CHECKED) i++;
    return i > last;
}

/* ---- an index that was opened ---------------------------------------------------------------- */

static inline uint64_t narrow_row(const uint8_t *line, uint16_t place, uint32_t stride_bits)
{
    uint32_t bit = place * stride_bits;
    return load64le(line + bit / 8) >> bit % 8;
}

/* ANDs the rows of a line at the given positions, of which there must be at least one. After eight
 * rows, a bit is rarely still set, so CPUs predict the branch well. After four rows, a bit would be
 * set too often. */
static inline uint64_t and_places(const uint8_t *line, const uint16_t *places, const uint16_t *end,
                                  uint32_t stride_bits, uint64_t all)
{
    for (; end - places > 8; places += 8) {
        for (int j = 0; j < 8; j++) all &= narrow_row(line, places[j], stride_bits);
        if (!all) return 0;
    }
    do all &= narrow_row(line, *places, stride_bits);
    while (++places != end);
    return all;
}

/* Queries a narrow group with the splits, without storing the positions of the rows. */
static void query_narrow(const struct group *group, const struct scheme_def *scheme,
                         const uint8_t *rows, const uint32_t *numbers, struct piece *piece)
{
    const struct shape *shape = &group->kind.shape;
    uint32_t stride = (uint32_t)group->stride_bits, hashes = shape->hashes;
    uint64_t lines = shape->bits / scheme->fold_bits,
             line_bytes = scheme->fold_bits / 8 * (uint64_t)stride;
    uint64_t columns = ((uint64_t)1 << group->columns) - 1;
    uint64_t *row = piece->rows, row_words = piece->row_words;
    split_keys(scheme, group, piece);
    const uint64_t *words = piece->split.words[0], *end = words + 2 * piece->count;
    const uint16_t *places = piece->split.places;
    uint32_t first = piece->split.first;
    for (; words != end; words += 2, places += hashes, row += row_words) {
        uint64_t all = and_places(rows + mulhi64(words[0], lines) * line_bytes, places,
                                  places + first, stride, columns);
        if (all && first < hashes)
            all = and_places(rows + mulhi64(words[1], lines) * line_bytes, places + first,
                             places + hashes, stride, all);
        if (all) spread(numbers, all, row);
    }
}

/* Returns true if the group can be queried like an ordinary filter. The query kernel requires
 * aligned lines, but the lines of a view may be unaligned. */
static bool is_one_filter(const struct group *group)
{
    return group->columns == 1 && (uintptr_t)group->only.bytes % PETAL_LINE_BYTES == 0;
}

static void query_only_filter(const struct group *group, const struct scheme_def *scheme,
                              uint32_t number, struct piece *piece)
{
    uint8_t results[PIECE] = {0};
    uint64_t bit = (uint64_t)1 << number % 64, *row = piece->rows + number / 64;
    const struct kernel *kernel = petal_scheme_kernel(scheme);
    if (kernel->contains_many(&group->only, piece->hashes, piece->count, results) == 0) return;
    for (size_t i = 0; i < piece->count; i += 8)
        for (size_t j = i; load64le(results + i) && j < i + 8; j++)
            if (results[j]) row[j * piece->row_words] |= bit;
}

static petal_status query_group(const petal_index *index, const struct group *group,
                                struct piece *piece, petal_error *error)
{
    const uint8_t *rows = index->image.bytes + index->image.bits_offset + group->offset;
    const uint32_t *numbers = index->numbers + group->first;
    const struct scheme_def *scheme = petal_scheme_find(group->kind.shape.scheme);
    bool checked = is_checked(index, group, piece->count),
         far = !is_narrow(group) || group->bytes > PETAL_CACHED_BYTES;
    petal_status status = PETAL_OK;
    struct few few;
    if (checked && is_one_filter(group)) {
        query_only_filter(group, scheme, *numbers, piece);
        return PETAL_OK;
    }
    if (checked && scheme->split && !far) {
        query_narrow(group, scheme, rows, numbers, piece);
        return PETAL_OK;
    }
    for (few.from = 0; status == PETAL_OK && few.from < piece->count; few.from += few.count) {
        few.count = at_most(piece->count - few.from, FEW);
        find_rows(piece, group, scheme, &few);
        if (far) prefetch_rows(&few, group, rows);
        if (!checked) status = check_few(index, group, &few, error);
        answer_few(piece, &few, group, rows, numbers);
    }
    if (status != PETAL_OK) piece->count = few.from;
    return status;
}

/* If a group is damaged, the later groups still answer queries for the keys that precede the
 * damage. */
static petal_status query_rows(const petal_index *index, struct piece *piece, petal_error *error)
{
    const petal_filter *hasher = NULL;
    petal_status status = PETAL_OK;
    piece->split.of = NULL;
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

/* Returns true if a key has the same hash in all groups. */
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
    struct piece piece; /* the arrays are left uninitialized, because zeroing them would take longer
                         * than a query */
    piece.batch = &batch;
    piece.from = 0;
    piece.row_words = row_words;
    bool has_rows = PETAL_IS_READ_ONLY || index->is_open;
    for (uint64_t i = 0; i < batch.count * row_words; i++) rows[i] = 0;
    for (; status == PETAL_OK && piece.from < batch.count; piece.from += piece.count) {
        piece.count = at_most(batch.count - piece.from, PIECE);
        piece.rows = rows + piece.from * row_words;
        status = (has_rows ? query_rows : query_filters)(index, &piece, error);
    }
    if (status == PETAL_OK) return status;
    if (error) error->offset = piece.from; /* the index of the first key that was not processed */
    for (uint64_t i = piece.from * row_words; i < batch.count * row_words; i++) rows[i] = 0;
    return status;
}
