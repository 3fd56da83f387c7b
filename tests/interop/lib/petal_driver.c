/* petal_driver.c - Petal's driver for the interop tests; uses only the public API. interop.sh
 * describes its commands. Additional commands:
 *
 *   size FORMAT TYPE KEYS BITS HASHES OUT    like make, but with numbers of bits and hashes
 *   convert FORMAT FILE TO OUT               converts the filter to the format TO
 *
 * The environment variable PETAL_SEED sets the seed of new filters. */
#include "../../save_as.h"
#include <petal/petal.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static petal_error error;

static void die(const char *what)
{
    fprintf(stderr, "petal_driver: %s\n", what);
    exit(1);
}

static void check(petal_status status)
{
    if (status < 0) die(error.message);
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* The maximum size of a key in bytes, which is far larger than any line. */
#define KEY_MAX 4096

static size_t from_hex(const char *text, uint8_t *key)
{
    size_t size = strlen(text) / 2;
    for (size_t i = 0; i < size; i++)
        if (sscanf(text + 2 * i, "%2" SCNx8, &key[i]) != 1) die("not hex");
    return size;
}

static size_t put_unit(uint8_t *key, uint32_t unit)
{
    key[0] = (uint8_t)unit;
    key[1] = (uint8_t)(unit >> 8);
    return 2;
}

/* Converts UTF-8, the encoding of the key lists, to UTF-16LE code units. */
static size_t utf16le(const char *text, uint8_t *key)
{
    const uint8_t *at = (const uint8_t *)text;
    size_t size = 0;
    while (*at) {
        int more = *at < 0x80 ? 0 : *at < 0xe0 ? 1 : *at < 0xf0 ? 2 : 3;
        uint32_t point = more ? *at & (0x3fu >> more) : *at;
        for (at++; more > 0; more--) point = point << 6 | (*at++ & 0x3fu);
        if (point >= 0x10000) size += put_unit(key + size, 0xd800 + ((point - 0x10000) >> 10));
        size +=
            put_unit(key + size, point >= 0x10000 ? 0xdc00 + ((point - 0x10000) & 0x3ff) : point);
    }
    return size;
}

/* In the key lists, code units are written as hex numbers, high byte first. */
static size_t from_units(const char *text, uint8_t *key)
{
    size_t size = from_hex(text, key);
    for (size_t i = 0; i + 1 < size; i += 2) put_unit(key + i, (uint32_t)key[i] << 8 | key[i + 1]);
    return size;
}

static size_t put_utf8(uint8_t *key, uint32_t point)
{
    size_t more = point < 0x80 ? 0 : point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    key[0] = (uint8_t)(more ? 0xff00u >> (more + 1) | point >> 6 * more : point);
    for (size_t i = 1; i <= more; i++) key[i] = (uint8_t)(0x80 | (point >> 6 * (more - i) & 0x3f));
    return 1 + more;
}

/* Converts UTF-16 code units to UTF-8. A lone surrogate becomes three bytes, as if UTF-8 could
 * encode it, because this is how Petal represents JavaScript strings. */
static size_t wtf8(const char *text, uint8_t *key)
{
    uint8_t units[KEY_MAX];
    size_t units_bytes = from_units(text, units), size = 0;
    for (size_t i = 0; i + 1 < units_bytes; i += 2) {
        uint32_t unit = units[i] | (uint32_t)units[i + 1] << 8;
        uint32_t next = i + 3 < units_bytes ? units[i + 2] | (uint32_t)units[i + 3] << 8 : 0;
        bool is_pair = unit >> 10 == 0x36 && next >> 10 == 0x37;
        size += put_utf8(key + size,
                         is_pair ? 0x10000 + ((unit & 0x3ff) << 10 | (next & 0x3ff)) : unit);
        if (is_pair) i += 2;
    }
    return size;
}

static size_t key_of(const char *type, const char *line, uint8_t *key)
{
    if (strlen(line) > KEY_MAX / 2) die("the key is too long");
    if (strcmp(type, "text") == 0) return strlen(strcpy((char *)key, line));
    if (strcmp(type, "utf16le") == 0) return utf16le(line, key);
    if (strcmp(type, "units") == 0) return from_units(line, key);
    if (strcmp(type, "wtf8") == 0) return wtf8(line, key);
    if (strcmp(type, "hex") == 0) return from_hex(line, key);
    if (strcmp(type, "i32") == 0) return petal_encode_i32((int32_t)strtol(line, NULL, 10), key), 4;
    if (strcmp(type, "i64") == 0) return petal_encode_i64(strtoll(line, NULL, 10), key), 8;
    die("no such type of keys");
    return 0;
}

/* Calls `use` for each line of the file, with the line as a key. */
static void each_key(petal_filter *filter, const char *type, const char *path,
                     void (*use)(petal_filter *filter, const void *key, size_t key_bytes))
{
    static char line[KEY_MAX];
    static uint8_t key[KEY_MAX];
    FILE *file = fopen(path, "r");
    if (!file) die(path);
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        use(filter, key, key_of(type, line, key));
    }
    fclose(file);
}

static void add(petal_filter *filter, const void *key, size_t key_bytes)
{
    if (petal_add(filter, key, key_bytes) < 0) die("a key could not be added");
}

static void ask(petal_filter *filter, const void *key, size_t key_bytes)
{
    puts(petal_contains(filter, key, key_bytes) ? "1" : "0");
}

/* ---- commands -------------------------------------------------------------------------------- */

static petal_filter *open_as(const char *format, const char *path, unsigned flags)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    petal_filter *filter;
    options.flags = flags;
    options.format = strcmp(format, "petal") == 0 ? NULL : format;
    check(petal_open(path, &options, &filter, &error));
    return filter;
}

static petal_filter *create(petal_options *options, const char *format)
{
    const char *seed = getenv("PETAL_SEED");
    petal_filter *filter;
    options->format = format;
    if (seed) options->seed = strtoull(seed, NULL, 10);
    check(petal_create(options, &filter, &error));
    return filter;
}

static void save(petal_filter *filter, const char *format, const char *path)
{
    check(petal_save(filter, path, SAVE_AS(format), &error));
    petal_free(filter);
}

/* argv: make FORMAT TYPE KEYS N P OUT, or size FORMAT TYPE KEYS BITS HASHES OUT */
static void make(char **argv)
{
    petal_options options = PETAL_OPTIONS_INIT;
    if (strcmp(argv[0], "make") == 0) {
        options.capacity = strtoull(argv[4], NULL, 10);
        options.rate = strtod(argv[5], NULL);
    } else {
        options.bits = strtoull(argv[4], NULL, 10);
        options.hashes = (uint32_t)strtoul(argv[5], NULL, 10);
    }
    petal_filter *filter = create(&options, argv[1]);
    each_key(filter, argv[2], argv[3], add);
    save(filter, argv[1], argv[6]);
}

int main(int argc, char **argv)
{
    const char *verb = argc > 1 ? argv[1] : "";
    argv++, argc--;
    if (argc == 7 && (strcmp(verb, "make") == 0 || strcmp(verb, "size") == 0)) {
        make(argv);
    } else if (argc == 6 && strcmp(verb, "add") == 0) {
        petal_filter *filter = open_as(argv[1], argv[3], PETAL_OPEN_LOAD);
        each_key(filter, argv[2], argv[4], add);
        save(filter, argv[1], argv[5]);
    } else if (argc == 5 && strcmp(verb, "ask") == 0) {
        petal_filter *filter = open_as(argv[1], argv[3], PETAL_OPEN_MAP);
        each_key(filter, argv[2], argv[4], ask);
        petal_free(filter);
    } else if (argc == 5 && strcmp(verb, "convert") == 0) {
        save(open_as(argv[1], argv[2], PETAL_OPEN_MAP), argv[3], argv[4]);
    } else {
        die("make, size, add, ask or convert; see tests/interop/lib");
    }
    return 0;
}
