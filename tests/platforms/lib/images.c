/* images.c - prints the checksum and size of each file image, for several filters of every kind,
 * and then checks a golden file. If the output differs between platforms, the code depends on the
 * platform's byte order, word size or instruction set. */
#include "../../keys.h"
#include "../../save_as.h"
#include "../../values.h"
#include <petal/petal.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEYS 3000

/* Computes the FNV-1a checksum, because with one of the library's own hashes, a defect in that hash
 * might not show. */
static uint64_t checksum(const uint8_t *bytes, size_t size)
{
    uint64_t sum = 0xcbf29ce484222325u;
    for (size_t i = 0; i < size; i++) sum = (sum ^ bytes[i]) * 0x100000001b3u;
    return sum;
}

/* Removes every third number if the filter supports removing keys. */
static void thin_out(petal_filter *filter, const int64_t *numbers, int count)
{
    for (int i = 0; i < count; i += 3) petal_remove_i64(filter, numbers[i]);
}

static void fill(petal_filter *filter)
{
    static uint8_t key[KEYS];
    int64_t numbers[100];
    for (size_t i = 0; i < sizeof key; i++) key[i] = (uint8_t)(i * 167 + (i >> 3));
    for (size_t i = 0; i < KEYS; i += 7) petal_add(filter, key, i % 300 + i / 100 * (i % 11));
    for (int i = 0; i < 100; i++) numbers[i] = (int64_t)i * 0x123456789abcdef - 50;
    add_number_batch(filter, numbers, 100, NULL, NULL);
    add_f64(filter, -0.0);
    add_f64(filter, 1.5);
    thin_out(filter, numbers, 100);
}

static int print(const char *what, const char *format, const petal_options *options)
{
    petal_filter *filter;
    petal_error error;
    if (petal_create(options, &filter, &error) != PETAL_OK)
        return printf("%s: %s\n", what, error.message), 0;
    fill(filter);
    size_t size = petal_serialized_bytes(filter, SAVE_AS(format));
    if (size == 0)
        return printf("%s: not in this build\n", what), petal_free(filter),
               0; /* a gzip format in a build without zlib */
    uint8_t *bytes = malloc(size + 1);
    if (!bytes || petal_serialize(filter, SAVE_AS(format), bytes, size, &error) != PETAL_OK)
        return 1;
    printf("%s %zu %016llx\n", what, size, (unsigned long long)checksum(bytes, size));
    free(bytes);
    petal_free(filter);
    return 0;
}

static int print_natives(void)
{
    static const double rates[] = {0.3, 0.01, 0.0001, 1e-7};
    static const uint8_t secret[PETAL_SECRET_BYTES] = "0123456789abcde";
    int bad = 0;
    for (int i = 0; i < 4; i++)
        for (int scheme = PETAL_SCHEME_BLOCKED; scheme <= PETAL_SCHEME_COUNTING; scheme++)
            for (int keyed = 0; keyed <= 1; keyed++) {
                petal_options options = PETAL_OPTIONS_INIT;
                char what[64];
                options.scheme = (uint32_t)scheme;
                options.capacity = 1000;
                options.rate = rates[i];
                options.seed = keyed ? 0 : 12345678901234567u;
                options.secret = keyed ? secret : NULL;
                snprintf(what, sizeof what, "scheme %d, rate %g, %s", scheme, rates[i],
                         keyed ? "keyed" : "seeded");
                bad |= print(what, "petal", &options);
            }
    return bad;
}

static int print_layered(void)
{
    int bad = 0;
    for (int scheme = PETAL_SCHEME_BLOCKED; scheme <= PETAL_SCHEME_CLASSIC; scheme++) {
        petal_options grows = PETAL_OPTIONS_INIT, rotates = PETAL_OPTIONS_INIT;
        grows.scheme = rotates.scheme = (uint32_t)scheme;
        grows.rate = rotates.rate = 0.01;
        grows.capacity = 20;
        grows.growth = true;
        rotates.window_keys = 200;
        bad |= print(scheme == PETAL_SCHEME_BLOCKED ? "growing, blocked" : "growing, classic",
                     "petal", &grows);
        bad |= print(scheme == PETAL_SCHEME_BLOCKED ? "rotating, blocked" : "rotating, classic",
                     "petal", &rotates);
    }
    return bad;
}

static int print_formats(void)
{
    int bad = 0;
    for (uint32_t place = 1; format_name(place); place++) {
        petal_options options = PETAL_OPTIONS_INIT;
        options.format = format_name(place);
        options.capacity = 1000;
        options.rate = 0.01;
        bad |= print(options.format, options.format, &options);
    }
    return bad;
}

/* Checks that a file written on another platform opens, verifies and answers queries. */
static int ask_golden(const char *path)
{
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    petal_filter *filter;
    petal_error error;
    options.flags = PETAL_OPEN_VERIFY;
    if (petal_open(path, &options, &filter, &error) != PETAL_OK)
        return printf("%s\n", error.message), 1;
    for (char letter = 'a'; letter <= 'z'; letter++)
        putchar(petal_contains(filter, &letter, 1) ? letter : '.');
    putchar('\n');
    petal_free(filter);
    return 0;
}

int main(int count, char **arguments)
{
    return print_natives() | print_layered() | print_formats() |
           (count > 1 && ask_golden(arguments[1]));
}
