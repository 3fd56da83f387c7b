/* parquet_list.c - fuzz target: reads arbitrary bytes as a whole Parquet file. Every listed filter
 * must be within the bytes, and must open. */
#include "petal/petal_parquet.h"
#include <petal/petal.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FILTERS 32

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static void check(int holds)
{
    if (!holds) abort();
}

static void ask(const uint8_t *data, size_t size_bytes, const petal_parquet_filter *one)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    petal_filter *filter;
    check(memchr(one->column, '\0', sizeof one->column) != NULL);
    if (one->encrypted) return;
    check(one->offset <= size_bytes && one->size_bytes <= size_bytes - one->offset);
    options.format = "parquet";
    check(petal_view(data + one->offset, (size_t)one->size_bytes, &options, &filter, NULL) ==
          PETAL_OK);
    petal_contains(filter, "a", 1);
    petal_free(filter);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    petal_parquet_filter list[MAX_FILTERS];
    petal_error error;
    size_t count;
    if (petal_parquet_list(data, size_bytes, list, MAX_FILTERS, &count, &error) != PETAL_OK)
        return 0;
    for (size_t i = 0; i < count && i < MAX_FILTERS; i++) ask(data, size_bytes, &list[i]);
    return 0;
}
