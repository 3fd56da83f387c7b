/* static_build.c - solves a page of the static scheme: computes the rows from the keys. See
 * static.c.
 *
 * Each key is an equation over the 64 rows that begin at its start. Gaussian elimination keeps the
 * equations in a band. If the row of an equation's lowest bit is free, the equation is stored in
 * that row. Otherwise the row's equation is subtracted, and the lowest remaining bit is tried. An
 * equation without remaining bits is either already true (a sum of others) or a contradiction.
 * Finally, all equations are solved from the last row up, and free rows become 0.
 *
 * The order of insertion is part of the format, because the rows depend on it: buckets are
 * ascending, and the starts (hashes) within a bucket are descending. A bucket is inserted in three
 * groups of starts, which begin at 48, 20 and 0. If an equation is a contradiction, its group is
 * removed and bumped together with the groups below it. Nothing else has to be undone, since
 * inserting an equation doesn't change any other equation.
 *
 * Wide buckets come first, so their equations meet only each other. In their additional column,
 * rows taken by equations of narrow buckets count as free. */
#include "base/cpu.h"
#include "scheme/static.h"

/* Marks a row taken by an equation of a narrow bucket. */
#define NARROW 0x80000000u

struct solver {
    const struct bit_array *array;
    const struct static_page *page;
    const struct static_room *room;
    uint64_t first_start; /* the page's */
    /* The rows that the current group has taken. The equations of one bucket can't take any rows
     * beyond this array. */
    uint32_t taken[STATIC_BUCKET_STARTS + STATIC_BLOCK_ROWS];
    uint32_t taken_count;
};

/* Returns false if the equation is a contradiction. */
static bool insert(struct solver *solver, uint64_t row, struct static_equation equation)
{
    uint64_t *rows = solver->room->rows;
    uint32_t *sums = solver->room->sums, columns = solver->array->shape.hashes;
    bool is_narrow = row / STATIC_BUCKET_STARTS >= solver->page->wide_buckets;
    uint32_t mask = ((uint32_t)2 << columns) - 1;
    if (is_narrow) mask >>= 1;
    while (rows[row]) {
        equation.rows ^= rows[row];
        equation.sums ^= sums[row];
        if (!equation.rows) return (equation.sums & mask) == 0;
        unsigned next = lowest_bit64(equation.rows);
        equation.rows >>= next;
        row += next;
    }
    rows[row] = equation.rows;
    sums[row] = (equation.sums & mask) | (is_narrow ? NARROW : 0);
    solver->taken[solver->taken_count++] = (uint32_t)row;
    return true;
}

static void take_out_group(struct solver *solver)
{
    for (uint32_t i = 0; i < solver->taken_count; i++) solver->room->rows[solver->taken[i]] = 0;
}

/* Inserts the hashes of a bucket: the ascending hashes from index `begin` to *end - 1. Returns the
 * bucket's code, and sets *end to the index at which the inserted hashes begin. */
static uint32_t insert_bucket(struct solver *solver, const uint64_t *hashes, uint64_t begin,
                              uint64_t *end)
{
    uint64_t at = *end;
    uint64_t starts = solver->array->shape.bits;
    if (begin == at) return STATIC_ALL_BUMPED;
    for (uint32_t code = STATIC_ALL_BUMPED; code > 0; code--) {
        solver->taken_count = 0;
        while (at > begin) {
            uint64_t hash = hashes[at - 1], start = mulhi64(hash, starts);
            if (start % STATIC_BUCKET_STARTS < static_threshold(code - 1)) break;
            if (!insert(solver, start - solver->first_start, static_equation_of(hash))) {
                take_out_group(solver);
                return code;
            }
            at--;
        }
        *end = at; /* the whole group has been inserted */
    }
    return 0;
}

static uint64_t bucket_end(const struct solver *solver, const uint64_t *hashes, uint64_t from,
                           uint64_t count, uint64_t bucket)
{
    uint64_t starts = solver->array->shape.bits;
    while (from < count && mulhi64(hashes[from], starts) / STATIC_BUCKET_STARTS == bucket) from++;
    return from;
}

/* Writes the codes, and moves the bumped hashes to the front. */
static uint64_t insert_all(struct solver *solver, uint8_t *codes, uint64_t *hashes, uint64_t count)
{
    uint64_t bumped = 0, begin = 0, first = solver->first_start / STATIC_BUCKET_STARTS;
    for (uint32_t i = 0; i < solver->page->buckets; i++) {
        uint64_t end = bucket_end(solver, hashes, begin, count, first + i), in_from = end;
        uint32_t code = insert_bucket(solver, hashes, begin, &in_from);
        codes[i / 4] |= (uint8_t)(code << 2 * (i % 4));
        while (begin < in_from) hashes[bumped++] = hashes[begin++];
        begin = end;
    }
    return bumped;
}

/* Solves a block from the last row up. For each column, `columns` contains the 64 rows after the
 * current row. */
static void solve_block(const struct solver *solver, uint32_t block, uint64_t *columns,
                        uint32_t count)
{
    uint32_t wide_only = solver->array->shape.hashes;
    for (uint32_t i = STATIC_BLOCK_ROWS; i-- > 0;) {
        uint64_t row = (uint64_t)block * STATIC_BLOCK_ROWS + i, rows = solver->room->rows[row] >> 1;
        uint32_t sums = solver->room->rows[row] ? solver->room->sums[row] : NARROW;
        uint64_t is_taken = solver->room->rows[row] & 1;
        for (uint32_t c = 0; c < wide_only; c++)
            columns[c] =
                columns[c] << 1 | ((static_parity(rows & columns[c]) ^ (sums >> c & 1)) & is_taken);
        if (count > wide_only)
            columns[wide_only] = columns[wide_only] << 1 |
                                 (sums & NARROW ? 0
                                                : static_parity(rows & columns[wide_only]) ^
                                                      (sums >> wide_only & 1));
    }
}

static void solve_all(const struct solver *solver, uint8_t *bytes)
{
    uint64_t columns[STATIC_MAX_COLUMNS + 1] = {0};
    uint32_t fewest = solver->array->shape.hashes, wide = solver->page->wide_blocks;
    for (uint32_t block = STATIC_BLOCKS_PER_BUCKET * solver->page->buckets + 1; block-- > 0;) {
        uint32_t count = fewest + (block < wide);
        uint8_t *to = bytes + static_block_at(solver->page, fewest, block);
        solve_block(solver, block, columns, count);
        for (uint32_t c = 0; c < count; c++) store64le(to + 8 * (size_t)c, columns[c]);
    }
}

static inline uint64_t solve(const struct bit_array *array, uint64_t page, uint64_t *hashes,
                             uint64_t count, const struct static_room *room)
{
    struct solver solver = {
        .array = array,
        .page = static_page_of(array, page),
        .room = room,
        .first_start = page * array->pages.full.buckets * STATIC_BUCKET_STARTS,
    };
    uint8_t *bytes = array->bytes + page * PETAL_BLOCK_BYTES;
    memset(room->rows, 0, static_page_rows(solver.page) * sizeof *room->rows);
    uint64_t bumped = insert_all(&solver, bytes, hashes, count);
    solve_all(&solver, bytes);
    return bumped;
}

#if defined(__x86_64__) && defined(__GNUC__)
/* The same code, compiled for CPUs on which computing a parity takes two instructions instead of
 * ten. */
__attribute__((flatten, target("bmi,bmi2,popcnt"))) static uint64_t
solve_bmi2(const struct bit_array *array, uint64_t page, uint64_t *hashes, uint64_t count,
           const struct static_room *room)
{
    return solve(array, page, hashes, count, room);
}
#endif

uint64_t petal_static_solve(const struct bit_array *array, uint64_t page, uint64_t *hashes,
                            uint64_t count, const struct static_room *room)
{
#if defined(__x86_64__) && defined(__GNUC__)
    if (petal_cpu_has(CPU_BMI2 | CPU_POPCNT)) return solve_bmi2(array, page, hashes, count, room);
#endif
    return solve(array, page, hashes, count, room);
}

uint64_t petal_static_page_begin(const struct bit_array *array, uint64_t page,
                                 const uint64_t *hashes, uint64_t count)
{
    uint64_t from = 0, to = count, start = page * array->pages.full.buckets * STATIC_BUCKET_STARTS;
    while (from < to) {
        uint64_t middle = from + (to - from) / 2;
        if (mulhi64(hashes[middle], array->shape.bits) < start)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}
