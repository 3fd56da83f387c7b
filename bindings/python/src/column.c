/* column.c - passes many keys in one piece of memory to the core as batches. Keys are used in place
 * if the core supports their layout. Otherwise they are converted, in pieces that fit in the cache.
 *
 *   strings with offsets, fixed bytes, int64   in place
 *   narrower integers                          widened to int64 (4 bytes for a filter of i32 keys)
 *   floats                                     the 8 bytes of petal_encode_f64()
 *   numpy's S and U                            without trailing zeros; U as UTF-8
 *   string views                               by pointers to the strings in place
 *   anything with nulls                        without them
 *
 * All code in this file runs without the GIL. */
#include "module.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE_KEYS = 4096, ARENA_BYTES = 1 << 18 };

/* The keys that were collected from one piece of a column. */
struct piece {
    const struct column *column;
    uint32_t key_type;
    uint64_t count;             /* number of keys that are not null */
    petal_key keys[PIECE_KEYS]; /* or */
    int64_t numbers[PIECE_KEYS];
    uint16_t rows[PIECE_KEYS]; /* row of each key in the piece */
    uint8_t answers[PIECE_KEYS];
    uint8_t *arena; /* converted texts */
    uint64_t arena_bytes, arena_used;
};

/* ---- reading --------------------------------------------------------------------------------- */

static bool has_bit(const struct column *column, uint64_t row)
{
    uint64_t bit = column->valid_from + row;
    return !column->valid || (column->valid[bit / 8] >> bit % 8 & 1);
}

static const uint8_t *item(const struct column *column, uint64_t row)
{
    return column->data + (ptrdiff_t)row * column->stride;
}

static uint16_t load16(const uint8_t *at)
{
    uint16_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static uint32_t load32(const uint8_t *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static uint64_t load64(const uint8_t *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

/* Reads the item's first `size` bytes as a number in native byte order. */
static uint64_t load(const struct column *column, const uint8_t *at, size_t size)
{
    uint8_t turned[8];
    if (column->swapped) {
        for (size_t i = 0; i < size; i++) turned[i] = at[size - 1 - i];
        at = turned;
    }
    switch (size) {
    case 1: return *at;
    case 2: return load16(at);
    case 4: return load32(at);
    default: return load64(at);
    }
}

static int64_t load_signed(const struct column *column, const uint8_t *at)
{
    uint64_t value = load(column, at, column->width);
    switch (column->width) {
    case 1: return (int8_t)value;
    case 2: return (int16_t)value;
    case 4: return (int32_t)value;
    default: return (int64_t)value;
    }
}

/* Returns the index of a row's value, which differs from the row's index if the column is
 * dictionary-encoded. The returned index is not checked. */
static uint64_t place_of(const struct column *column, uint64_t row)
{
    const struct column *index = column->index;
    if (!index) return row;
    if (index->kind == COLUMN_SIGNED) return (uint64_t)load_signed(index, item(index, row));
    return load(index, item(index, row), index->width);
}

/* Returns true if the row refers to a value that doesn't exist, which is an error in the
 * producer. */
static bool is_stray(const struct column *column, uint64_t row)
{
    return column->index && has_bit(column->index, row) &&
           place_of(column, row) >= column->value_count;
}

static bool is_valid(const struct column *column, uint64_t row)
{
    if (!column->index) return has_bit(column, row);
    return has_bit(column->index, row) && !is_stray(column, row) &&
           has_bit(column, place_of(column, row));
}

/* Converts an IEEE 754 binary16 number, for which C has no type. */
static double half(uint32_t bits)
{
    uint32_t exponent = bits >> 10 & 31, fraction = bits & 1023;
    double sign = bits >> 15 ? -1 : 1, scale = 1;
    if (exponent == 31) return fraction ? Py_NAN : sign * Py_HUGE_VAL;
    for (uint32_t power = exponent ? exponent : 1; power < 25; power++) scale /= 2;
    for (uint32_t power = 25; power < exponent; power++) scale *= 2;
    return sign * scale * (exponent ? fraction + 1024 : fraction);
}

static double load_double(const struct column *column, const uint8_t *at)
{
    uint64_t bits = load(column, at, column->width);
    if (column->width == 2) return half((uint32_t)bits);
    if (column->width == 4) {
        uint32_t narrow = (uint32_t)bits;
        float value;
        memcpy(&value, &narrow, sizeof value);
        return value;
    }
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static petal_key load_string(const struct column *column, uint64_t row)
{
    petal_key key = {NULL, 0};
    uint64_t from, to;
    switch (column->kind) {
    case COLUMN_OFFSETS32:
        from = ((const uint32_t *)column->offsets)[row];
        to = ((const uint32_t *)column->offsets)[row + 1];
        key.data = column->data + from;
        key.size_bytes = (size_t)(to - from);
        break;
    case COLUMN_OFFSETS64:
        from = ((const uint64_t *)column->offsets)[row];
        to = ((const uint64_t *)column->offsets)[row + 1];
        key.data = column->data + from;
        key.size_bytes = (size_t)(to - from);
        break;
    /* A view contains the string's size, and either up to 12 bytes of the string, or its
     * first 4 bytes, a buffer number and an offset. */
    case COLUMN_VIEWS: {
        const uint8_t *view = column->data + 16 * row;
        int32_t head[4];
        memcpy(head, view, sizeof head);
        key.size_bytes = (size_t)head[0];
        key.data = head[0] <= 12 ? view + 4 : (const uint8_t *)column->buffers[head[2]] + head[3];
        break;
    }
    default:
        key.data = item(column, row);
        key.size_bytes = (size_t)column->width;
        while (column->kind == COLUMN_PADDED && key.size_bytes > 0 &&
               ((const uint8_t *)key.data)[key.size_bytes - 1] == 0)
            key.size_bytes--;
    }
    return key;
}

/* ---- text ------------------------------------------------------------------------------------ */

static size_t put_utf8(uint8_t *to, uint32_t point)
{
    size_t more = point < 0x80 ? 0 : point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    to[0] = (uint8_t)(more ? 0xff00u >> (more + 1) | point >> 6 * more : point);
    for (size_t i = 1; i <= more; i++) to[i] = (uint8_t)(0x80 | (point >> 6 * (more - i) & 0x3f));
    return more + 1;
}

static size_t put_utf16le(uint8_t *to, uint32_t point)
{
    uint32_t units[2] = {point, 0};
    size_t count = 1;
    if (point >= 0x10000) {
        units[0] = 0xd800 + ((point - 0x10000) >> 10);
        units[1] = 0xdc00 + ((point - 0x10000) & 0x3ff);
        count = 2;
    }
    for (size_t i = 0; i < count; i++) {
        to[2 * i] = (uint8_t)units[i];
        to[2 * i + 1] = (uint8_t)(units[i] >> 8);
    }
    return 2 * count;
}

/* Decodes the next UTF-8 code point. Returns UINT32_MAX if it is invalid. Producers should pass
 * valid UTF-8, but the code doesn't rely on this. */
static uint32_t take_utf8(const uint8_t **at, const uint8_t *end)
{
    uint32_t first = *(*at)++;
    int more = first < 0x80 ? 0 : first < 0xc0 ? -1 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
    uint32_t point = more > 0 ? first & (0x3fu >> more) : first;
    if (more < 0 || end - *at < more) return UINT32_MAX;
    for (; more > 0; more--) {
        if ((**at & 0xc0) != 0x80) return UINT32_MAX;
        point = point << 6 | (*(*at)++ & 0x3fu);
    }
    return point < 0x110000 ? point : UINT32_MAX;
}

static size_t put(uint8_t *to, uint32_t point, uint32_t key_type)
{
    return key_type == PETAL_KEY_TYPE_UTF16LE ? put_utf16le(to, point) : put_utf8(to, point);
}

static bool is_surrogate(uint32_t point)
{
    return point >> 11 == 0x1b;
}

/* Converts an item of numpy's type U, which is UCS-4, padded with zeros. Returns false if the item
 * is not valid text. */
static bool convert_ucs4(struct piece *piece, uint64_t row, petal_key *key)
{
    const struct column *column = piece->column;
    const uint8_t *at = item(column, row);
    uint64_t points = column->width / 4;
    while (points > 0 && load(column, at + 4 * (points - 1), 4) == 0) points--;
    uint8_t *to = piece->arena + piece->arena_used;
    key->data = to;
    for (uint64_t i = 0; i < points; i++) {
        uint32_t point = (uint32_t)load(column, at + 4 * i, 4);
        if (point < 0x80 && piece->key_type != PETAL_KEY_TYPE_UTF16LE) {
            *to++ = (uint8_t)point;
            continue;
        }
        bool lone_is_fine = piece->key_type == PETAL_KEY_TYPE_UTF16LE;
        if (point >= 0x110000 || (is_surrogate(point) && !lone_is_fine)) return false;
        to += put(to, point, piece->key_type);
    }
    key->size_bytes = (size_t)(to - (const uint8_t *)key->data);
    piece->arena_used += key->size_bytes;
    return true;
}

static bool convert_utf8(struct piece *piece, petal_key *key)
{
    const uint8_t *at = key->data, *end = at + key->size_bytes;
    uint8_t *to = piece->arena + piece->arena_used;
    key->data = to;
    while (at < end) {
        uint32_t point = take_utf8(&at, end);
        if (point == UINT32_MAX) return false;
        to += put_utf16le(to, point);
    }
    key->size_bytes = (size_t)(to - (const uint8_t *)key->data);
    piece->arena_used += key->size_bytes;
    return true;
}

/* ---- pieces ---------------------------------------------------------------------------------- */

static bool fail(struct work *work, petal_status status, uint64_t row, const char *message)
{
    memset(&work->error, 0, sizeof work->error);
    work->error.status = status;
    work->error.offset = row;
    PyOS_snprintf(work->error.message, sizeof work->error.message, "%s", message);
    return false;
}

static bool is_number(const struct column *column)
{
    return column->kind == COLUMN_SIGNED || column->kind == COLUMN_UNSIGNED ||
           column->kind == COLUMN_FLOATING;
}

/* Returns the integer whose petal_encode_i64() is the key. For a double, this is the integer with
 * the same 8 bytes. */
static int64_t number_of(const struct column *column, uint64_t row)
{
    const uint8_t *at = item(column, row);
    uint8_t key[8];
    uint64_t bits = 0;
    if (column->kind == COLUMN_SIGNED) return load_signed(column, at);
    if (column->kind == COLUMN_UNSIGNED) return (int64_t)load(column, at, column->width);
    petal_encode_f64(load_double(column, at), key);
    for (int i = 0; i < 8; i++) bits |= (uint64_t)key[i] << 8 * i;
    return (int64_t)bits;
}

static bool converts_utf8(const struct piece *piece)
{
    return piece->column->is_text && piece->key_type == PETAL_KEY_TYPE_UTF16LE;
}

/* Allocates room for the converted text of these rows. */
static bool reserve(struct piece *piece, uint64_t from, uint64_t rows)
{
    uint64_t bytes = 0;
    if (piece->column->kind == COLUMN_UCS4)
        bytes = rows * piece->column->width;
    else if (converts_utf8(piece))
        for (uint64_t row = from; row < from + rows; row++)
            if (is_valid(piece->column, row))
                bytes +=
                    2 *
                    (uint64_t)load_string(piece->column, place_of(piece->column, row)).size_bytes;
    piece->arena_used = 0;
    if (bytes <= piece->arena_bytes) return true;
    free(piece->arena);
    piece->arena = malloc((size_t)bytes);
    piece->arena_bytes = piece->arena ? bytes : 0;
    return piece->arena != NULL;
}

static bool gather_key(struct work *work, struct piece *piece, uint64_t row)
{
    const struct column *column = piece->column;
    petal_key *key = &piece->keys[piece->count];
    if (is_number(column)) {
        piece->numbers[piece->count] = number_of(column, place_of(column, row));
        return true;
    }
    bool good = true;
    if (column->kind == COLUMN_UCS4) {
        good = convert_ucs4(piece, row, key);
    } else {
        *key = load_string(column, place_of(column, row));
        if (converts_utf8(piece)) good = convert_utf8(piece, key);
    }
    return good || fail(work, PETAL_ERR_ARGUMENT, row, "the key is no valid text");
}

static bool gather(struct work *work, struct piece *piece, uint64_t from, uint64_t rows)
{
    piece->count = 0;
    if (!reserve(piece, from, rows)) return fail(work, PETAL_ERR_MEMORY, from, "no memory");
    for (uint64_t i = 0; i < rows; i++) {
        if (is_stray(piece->column, from + i))
            return fail(work, PETAL_ERR_ARGUMENT, from + i,
                        "the column is dictionary-encoded, and has no such value");
        if (!is_valid(piece->column, from + i)) continue;
        piece->rows[piece->count] = (uint16_t)i;
        if (!gather_key(work, piece, from + i)) return false;
        piece->count++;
    }
    return true;
}

static petal_batch batch_of_piece(struct piece *piece, uint8_t (*narrow)[4])
{
    petal_batch batch = PETAL_BATCH_INIT;
    batch.count = piece->count;
    batch.layout = PETAL_LAYOUT_POINTERS;
    batch.data = piece->keys;
    if (!is_number(piece->column)) return batch;
    batch.layout = PETAL_LAYOUT_I64;
    batch.data = piece->numbers;
    if (piece->key_type != PETAL_KEY_TYPE_I32) return batch;
    for (uint64_t i = 0; i < piece->count; i++)
        petal_encode_i32((int32_t)piece->numbers[i], narrow[i]);
    batch.layout = PETAL_LAYOUT_FIXED;
    batch.data = narrow;
    batch.key_bytes = 4;
    return batch;
}

/* If a key is invalid, all keys before it have been processed. */
static bool run_piece(struct work *work, struct piece *piece, uint64_t from, uint64_t rows,
                      uint8_t *answers)
{
    if (!gather(work, piece, from, rows)) {
        petal_error wrong = work->error;
        uint64_t before = wrong.offset < from + rows ? wrong.offset - from : 0;
        if (before > 0 && !run_piece(work, piece, from, before, answers)) return false;
        if (!work->decided) work->error = wrong;
        return work->decided;
    }
    /* Numbers need no pointers, so they can use the pointers' memory. */
    petal_batch batch = batch_of_piece(piece, (uint8_t(*)[4])piece->keys);
    uint8_t *direct = piece->count == rows ? answers : piece->answers;
    if (piece->count > 0 && !work_run(work, &batch, answers ? direct : NULL)) {
        if (work->error.offset < piece->count)
            work->error.offset = from + piece->rows[work->error.offset];
        return false;
    }
    if (!answers || direct == answers) return true;
    memset(answers, ANSWER_NULL, (size_t)rows);
    for (uint64_t i = 0; i < piece->count; i++) answers[piece->rows[i]] = piece->answers[i];
    return true;
}

static bool run_pieces(struct work *work, const struct column *column, uint8_t *answers)
{
    struct piece *piece = malloc(sizeof *piece);
    if (!piece) return fail(work, PETAL_ERR_MEMORY, 0, "no memory");
    piece->column = column;
    piece->key_type = work->key_type;
    piece->arena = NULL;
    piece->arena_bytes = 0;
    uint64_t most = PIECE_KEYS;
    if (column->kind == COLUMN_UCS4 && column->width > ARENA_BYTES / PIECE_KEYS)
        most = column->width < ARENA_BYTES ? ARENA_BYTES / column->width : 1;
    bool good = true;
    for (uint64_t from = 0; good && !work->decided && from < column->count; from += most) {
        uint64_t rows = column->count - from < most ? column->count - from : most;
        good = run_piece(work, piece, from, rows, answers ? answers + from : NULL);
    }
    free(piece->arena);
    free(piece);
    return good;
}

/* ---- in place -------------------------------------------------------------------------------- */

static bool batch_in_place(const struct column *column, uint32_t key_type, petal_batch *batch)
{
    bool is_dense = column->stride > 0 && !column->swapped;
    *batch = PETAL_BATCH_INIT;
    batch->data = column->data;
    batch->count = column->count;
    if (column->index || column->valid || (column->is_text && key_type == PETAL_KEY_TYPE_UTF16LE))
        return false;
    switch (column->kind) {
    case COLUMN_OFFSETS32:
    case COLUMN_OFFSETS64:
        batch->layout =
            column->kind == COLUMN_OFFSETS32 ? PETAL_LAYOUT_OFFSETS32 : PETAL_LAYOUT_OFFSETS64;
        batch->offsets = column->offsets;
        batch->data_bytes = column->data_bytes;
        return true;
    case COLUMN_FIXED:
        batch->layout = PETAL_LAYOUT_FIXED;
        batch->key_bytes = column->width;
        batch->stride = (uint64_t)column->stride;
        return is_dense && column->width > 0;
    case COLUMN_SIGNED:
    case COLUMN_UNSIGNED: /* a value below 2^63, which has been checked */
        batch->layout = PETAL_LAYOUT_I64;
        batch->stride = (uint64_t)column->stride;
        return is_dense && column->width == 8 && key_type != PETAL_KEY_TYPE_I32;
    default: return false;
    }
}

/* Searches for integers outside the key type's range, before the first key is added. */
static bool fits(const struct column *column, uint32_t key_type, uint64_t *row)
{
    bool narrow = key_type == PETAL_KEY_TYPE_I32;
    bool checks = column->kind == COLUMN_UNSIGNED ? column->width == 8 || narrow
                                                  : column->kind == COLUMN_SIGNED && narrow;
    for (*row = 0; checks && *row < column->count; ++*row) {
        if (!is_valid(column, *row)) continue;
        int64_t value = number_of(column, place_of(column, *row));
        if (column->kind == COLUMN_UNSIGNED && value < 0) return false;
        if (narrow && (value < INT32_MIN || value > INT32_MAX)) return false;
    }
    return true;
}

static int kind_of_keys(const struct column *column)
{
    if (column->kind == COLUMN_FLOATING) return KEY_FLOAT;
    if (is_number(column)) return KEY_INT;
    return column->is_text || column->kind == COLUMN_UCS4 ? KEY_TEXT : KEY_BYTES;
}

/* Processes the keys before the first invalid offset, because the core rejects the whole batch if
 * any offset is invalid. */
static bool run_before_wrong(struct work *work, petal_batch *batch, uint8_t *answers)
{
    petal_error wrong = work->error;
    if (wrong.status != PETAL_ERR_ARGUMENT || wrong.offset >= batch->count) return false;
    batch->count = wrong.offset;
    if (!work_run(work, batch, answers)) return false;
    if (!work->decided) work->error = wrong;
    return work->decided;
}

static bool run(struct work *work, const struct column *column, uint8_t *answers)
{
    petal_batch batch;
    if (column->kind == COLUMN_NULLS) {
        if (answers) memset(answers, ANSWER_NULL, (size_t)column->count);
        return true;
    }
    if (!batch_in_place(column, work->key_type, &batch)) return run_pieces(work, column, answers);
    return work_run(work, &batch, answers) || run_before_wrong(work, &batch, answers);
}

static bool raise_overflow(const struct work *work, uint64_t row)
{
    PyErr_Format(PyExc_OverflowError, "int key outside %d bits, signed",
                 work->key_type == PETAL_KEY_TYPE_I32 ? 32 : 64);
    note_index(row);
    return false;
}

bool column_run(struct work *work, const struct column *column, uint8_t *answers)
{
    filter_object *filter = work->filter;
    struct column fitting = *column;
    bool good;
    if (column->kind != COLUMN_NULLS && !key_kind_fits(kind_of_keys(column), work->key_type))
        return false;
    if (!(work->verb == VERB_ADD || work->verb == VERB_DISCARD ? enter_change(filter)
                                                               : enter_query(filter)))
        return false;
    PyThreadState *thread = column->count > FEW_KEYS ? PyEval_SaveThread() : NULL;
    bool in_range = fits(column, work->key_type, &fitting.count);
    good = run(work, in_range ? column : &fitting, answers);
    if (thread) PyEval_RestoreThread(thread);
    leave(filter);
    if (good)
        return in_range || work->decided || raise_overflow(work, work->rows_before + fitting.count);
    if (work->error.offset != PETAL_NO_OFFSET && work->error.offset < column->count)
        work->error.offset += work->rows_before;
    return work_raise(work) != NULL;
}
