/* buffers.c - passes NumPy and Arrow arrays to the library without copying them, as a binding
 * would. The answers must be the same as for single keys. */
#include "expect.h"

#include <petal/petal.h>
#include <string.h>

enum { ROWS = 1000 };

static petal_filter *make(void)
{
    petal_options options = PETAL_OPTIONS_INIT;
    petal_filter *filter = NULL;
    options.capacity = ROWS;
    options.rate = 1e-6;
    expect(petal_create(&options, &filter, NULL) == PETAL_OK);
    return filter;
}

/* A row of a structured NumPy array. Each column is a field of a struct that contains padding. */
struct row {
    uint8_t flag;
    int64_t id;   /* strided numbers */
    char code[5]; /* strided bytes, dtype S5 */
    double weight;
};

static uint64_t id_of(const petal_filter *filter)
{
    uint64_t id = 0;
    expect(petal_content_id(filter, &id, NULL) == PETAL_OK);
    return id;
}

static void add(petal_filter *filter, const petal_batch *batch)
{
    petal_batch_outcome outcome = PETAL_BATCH_OUTCOME_INIT;
    uint8_t is_new[ROWS], is_in[ROWS];
    expect(petal_add_batch(filter, batch, is_new, &outcome, NULL) == PETAL_OK);
    expect(outcome.done == batch->count);
    expect(petal_contains_batch(filter, batch, is_in, &outcome, NULL) == PETAL_OK);
    expect(outcome.positive == batch->count && is_in[0] == 1 && is_in[batch->count - 1] == 1);
}

static void columns_of_structs(void)
{
    static struct row rows[ROWS];
    petal_filter *ids = make(), *codes = make(), *by_id = make(), *by_code = make();
    for (int i = 0; i < ROWS; i++) {
        rows[i].id = (int64_t)i * i - 500;
        snprintf(rows[i].code, sizeof rows[i].code, "%04d", i);
        petal_add_i64(by_id, rows[i].id);
        petal_add(by_code, rows[i].code, sizeof rows[i].code);
    }
    petal_batch batch = PETAL_BATCH_INIT;
    batch.layout = PETAL_LAYOUT_I64;
    batch.data = &rows[0].id;
    batch.stride = sizeof(struct row);
    batch.count = ROWS;
    add(ids, &batch);
    batch.layout = PETAL_LAYOUT_FIXED;
    batch.data = rows[0].code;
    batch.key_bytes = sizeof rows[0].code;
    add(codes, &batch);
    expect(id_of(ids) == id_of(by_id) && id_of(codes) == id_of(by_code));
    petal_free(ids);
    petal_free(codes);
    petal_free(by_id);
    petal_free(by_code);
}

/* Passes an Arrow column slice whose first offset is not 0 and whose data buffer belongs to the
 * whole column. */
static void slices_of_strings(void)
{
    static char data[ROWS * 4];
    static int32_t offsets[ROWS + 1];
    static int64_t large[ROWS + 1];
    petal_filter *one = make(), *small = make(), *big = make();
    size_t used = 0;
    for (int i = 0; i < ROWS; i++) {
        used += (size_t)snprintf(data + used, sizeof data - used, "%d", i);
        offsets[i + 1] = (int32_t)used;
        large[i + 1] = (int64_t)used;
    }
    for (int i = 100; i < 900; i++)
        petal_add(one, data + offsets[i], (size_t)(offsets[i + 1] - offsets[i]));
    petal_batch batch = PETAL_BATCH_INIT;
    batch.layout = PETAL_LAYOUT_OFFSETS32;
    batch.data = data;
    batch.data_bytes = used;
    batch.offsets = offsets + 100;
    batch.count = 800;
    add(small, &batch);
    batch.layout = PETAL_LAYOUT_OFFSETS64;
    batch.offsets = large + 100;
    add(big, &batch);
    expect(id_of(small) == id_of(one) && id_of(big) == id_of(one));

    petal_error error;
    offsets[500] = 0; /* makes the array invalid; the error must contain the index */
    batch.layout = PETAL_LAYOUT_OFFSETS32;
    batch.offsets = offsets + 100;
    expect(petal_add_batch(small, &batch, NULL, NULL, &error) == PETAL_ERR_ARGUMENT);
    expect(error.offset == 399);
    expect(id_of(small) == id_of(one));
    petal_free(one);
    petal_free(small);
    petal_free(big);
}

int main(void)
{
    columns_of_structs();
    slices_of_strings();
    return 0;
}
