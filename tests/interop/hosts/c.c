/* c.c - queries each key with the C library. Usage: c KEYS FOLDER. */
#include <inttypes.h>
#include <petal/petal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *native;
} types[] = {
    {"text", "UTF-8, `petal_contains()`"},
    {"i64", "`int64_t`, `petal_contains_i64()`"},
    {"f64", "`double`, `petal_encode_f64()`"},
    {"bytes", "`petal_contains()`"},
};

/* Decodes hex digits to bytes in place. Returns the number of bytes. */
static size_t unhex(char *text)
{
    unsigned byte;
    size_t size = 0;
    for (; sscanf(text + 2 * size, "%2x", &byte) == 1; size++) text[size] = (char)byte;
    return size;
}

static bool has(const petal_filter *filter, const char *type, char *value)
{
    uint8_t encoded[8];
    double real;
    uint64_t bits;
    if (strcmp(type, "i64") == 0) return petal_contains_i64(filter, strtoll(value, NULL, 10));
    if (strcmp(type, "f64") == 0) {
        bits = strtoull(value, NULL, 16);
        memcpy(&real, &bits, sizeof real);
        petal_encode_f64(real, encoded);
        return petal_contains(filter, encoded, sizeof encoded);
    }
    size_t size = strcmp(value, "-") == 0 ? 0 : unhex(value);
    return petal_contains(filter, value, size);
}

int main(int argc, char **argv)
{
    static char line[1 << 16], type[16], value[1 << 16], path[4096];
    for (size_t i = 0; argc == 3 && i < sizeof types / sizeof *types; i++) {
        FILE *keys = fopen(argv[1], "r");
        petal_filter *filter = NULL;
        petal_error error;
        snprintf(path, sizeof path, "%s/%s.petal", argv[2], types[i].name);
        if (!keys || petal_open(path, NULL, &filter, &error) != PETAL_OK)
            return fprintf(stderr, "%s: %s\n", path, keys ? error.message : "no keys"), 1;
        printf("%s\t%s\t", types[i].name, types[i].native);
        while (fgets(line, sizeof line, keys))
            if (sscanf(line, "%15s %65535s", type, value) == 2 && strcmp(type, types[i].name) == 0)
                putchar(has(filter, type, value) ? '1' : '0');
        putchar('\n');
        petal_free(filter);
        fclose(keys);
    }
    return argc != 3;
}
