/* petal_parquet.c - lists the Bloom filters in a Parquet file, one per line, in the form ROW_GROUP
 * COLUMN TYPE OFFSET BYTES. */
#include <petal/petal_parquet.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_FILTERS 100

static void *load(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0) return NULL;
    *size = (size_t)ftell(file);
    rewind(file);
    void *bytes = malloc(*size);
    if (bytes && fread(bytes, 1, *size, file) != *size) return NULL;
    fclose(file);
    return bytes;
}

int main(int argc, char **argv)
{
    static petal_parquet_filter list[MAX_FILTERS];
    petal_error error;
    size_t size = 0;
    uint64_t count = 0;
    void *bytes = argc == 2 ? load(argv[1], &size) : NULL;
    if (!bytes) return 2;
    if (petal_parquet_list(bytes, size, list, MAX_FILTERS, &count, &error) != PETAL_OK) {
        fprintf(stderr, "petal_parquet: %s\n", error.message);
        return 1;
    }
    for (uint64_t i = 0; i < count && i < MAX_FILTERS; i++)
        printf("%" PRIu32 " %s %s %" PRIu64 " %" PRIu64 "\n", list[i].row_group, list[i].column,
               list[i].physical_type, list[i].offset, list[i].size_bytes);
    free(bytes);
    return 0;
}
