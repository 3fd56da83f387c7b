/* support.h - helpers that the tests share: cmocka, seeded random numbers, short functions that
 * make filters, files in a private folder.
 *
 * Tests include only the public header, as users do. They run from the top of the tree, where the
 * vectors are. A test function's name is the statement that the test proves. If a require() fails,
 * it prints the input or seed. */
#ifndef PETAL_TESTS_SUPPORT_H
#define PETAL_TESTS_SUPPORT_H

#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif

#include "../keys.h"
#include "../require.h"
#include "../save_as.h"
#include "../values.h"
#include "petal/petal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Ends the test as skipped. The runner reads the reason from the preceding line of output. */
#define skip_because(...) \
    do { \
        print_message(__VA_ARGS__); \
        print_message("\n"); \
        skip(); \
    } while (0)

/* ---- random numbers -------------------------------------------------------------------------- */

/* MurmurHash3's finalizer, a bijection, so different numbers stay different. */
static inline uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 33) * 0xff51afd7ed558ccdu;
    x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53u;
    return x ^ x >> 33;
}

/* SplitMix64 (Steele, Lea, Flood 2014). It generates the same numbers on every machine, and all
 * numbers from one seed are different. */
static inline uint64_t next_random(uint64_t *state)
{
    return mix(*state += 0x9e3779b97f4a7c15u);
}

/* Returns numbers 0 .. bound-1 with nearly equal probability: the error is below bound / 2^64,
 * which is small enough for tests. If bound is 0, no number can be returned, so the test fails. */
static inline uint64_t random_below(uint64_t *state, uint64_t bound)
{
    if (bound == 0) abort();
    return next_random(state) % bound;
}

/* ---- filters --------------------------------------------------------------------------------- */

/* Loops over the native schemes. NOLINTBEGIN(bugprone-macro-parentheses): a name can't be
 * parenthesised */
#define FOR_NATIVE_SCHEMES(scheme) \
    for (uint32_t scheme = PETAL_SCHEME_BLOCKED; scheme <= PETAL_SCHEME_COUNTING; \
         scheme = scheme + 1)
/* NOLINTEND(bugprone-macro-parentheses) */

static inline petal_options options_of(uint32_t scheme, uint64_t bits, uint32_t hashes,
                                       uint32_t lines_per_key)
{
    petal_options options = PETAL_OPTIONS_INIT;
    options.scheme = scheme;
    options.bits = bits;
    options.hashes = hashes;
    options.lines_per_key = lines_per_key;
    return options;
}

static inline petal_filter *create(const petal_options *options)
{
    petal_filter *filter = NULL;
    petal_error error;
    require_status(PETAL_OK, petal_create(options, &filter, &error), error);
    return filter;
}

static inline petal_filter *make(uint32_t scheme, uint64_t bits, uint32_t hashes,
                                 uint32_t lines_per_key)
{
    petal_options options = options_of(scheme, bits, hashes, lines_per_key);
    return create(&options);
}

static inline petal_filter *clone_of(const petal_filter *filter)
{
    petal_filter *copy = NULL;
    petal_error error;
    require_status(PETAL_OK, petal_clone(filter, &copy, &error), error);
    return copy;
}

/* Adds the integers from .. from+count-1. */
static inline void add_numbers(petal_filter *filter, uint64_t from, uint64_t count)
{
    for (uint64_t i = from; i < from + count; i++)
        require(petal_add_i64(filter, (int64_t)i) >= 0, "adding %llu", (unsigned long long)i);
}

/* Fails the test unless every integer from .. from+count-1 is present. */
static inline void require_numbers(const petal_filter *filter, uint64_t from, uint64_t count)
{
    for (uint64_t i = from; i < from + count; i++)
        require(petal_contains_i64(filter, (int64_t)i), "false negative: %llu of %llu",
                (unsigned long long)i, (unsigned long long)count);
}

/* ---- bytes ----------------------------------------------------------------------------------- */

struct bytes {
    uint8_t *data;
    size_t size;
};

static inline struct bytes new_bytes(size_t size)
{
    struct bytes bytes = {calloc(1, size ? size : 1), size};
    require(bytes.data != NULL, "no memory for %zu bytes", size);
    return bytes;
}

/* Copies the data to a memory block of exactly that size, so that a sanitizer finds reads past the
 * end. */
static inline struct bytes copy_bytes(const void *data, size_t size)
{
    struct bytes bytes = new_bytes(size);
    if (size) memcpy(bytes.data, data, size);
    return bytes;
}

/* Returns the file image of a filter. */
static inline struct bytes serialized(const petal_filter *filter)
{
    struct bytes bytes = new_bytes((size_t)petal_serialized_bytes(filter, NULL));
    petal_error error;
    require_status(PETAL_OK, petal_serialize(filter, NULL, bytes.data, bytes.size, &error), error);
    return bytes;
}

static inline bool same_bytes(struct bytes a, struct bytes b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

/* Returns true if the images of two filters are equal byte for byte. */
static inline bool same_image(const petal_filter *a, const petal_filter *b)
{
    struct bytes one = serialized(a), other = serialized(b);
    bool same = same_bytes(one, other);
    free(one.data);
    free(other.data);
    return same;
}

/* ---- files ----------------------------------------------------------------------------------- */

#define PATH_SIZE 512

/* Returns a path in the test's private folder, $TMPDIR. The storage is static, and the last 16
 * paths stay valid. */
static inline const char *temporary(const char *name)
{
    static char paths[16][PATH_SIZE];
    static unsigned turn;
    const char *folder = getenv("TMPDIR"); /* NOLINT(concurrency-mt-unsafe): no thread is running */
    char *path = paths[turn++ % 16];
    snprintf(path, PATH_SIZE, "%s/petal-%ld-%s", folder && *folder ? folder : "/tmp",
             (long)getpid(), name);
    return path;
}

/* Reads the whole file. */
static inline struct bytes read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    require(file != NULL, "cannot read %s (tests run from the top of the tree)", path);
    long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    require(size >= 0 && fseek(file, 0, SEEK_SET) == 0, "cannot read %s", path);
    struct bytes bytes = new_bytes((size_t)size);
    size_t done = fread(bytes.data, 1, bytes.size, file);
    fclose(file);
    require(done == bytes.size, "cannot read %s", path);
    return bytes;
}

static inline void write_file(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    require(file != NULL, "cannot write %s", path);
    bool written = fwrite(data, 1, size, file) == size;
    bool closed = fclose(file) == 0;
    require(written && closed, "cannot write %s", path);
}

static inline bool file_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* An allocator that counts allocations and checks the blocks that are freed. It fails at the
 * `fail_at`th allocation, and also at all later ones if requested. */
struct counting {
    uint64_t calls, live_blocks, live_bytes, bad_releases;
    uint64_t fail_at; /* 0 means never */
    bool fail_for_ever;
};

static inline void *counting_alloc(void *context, size_t size_bytes)
{
    struct counting *count = context;
    count->calls++;
    if (count->fail_at &&
        (count->calls == count->fail_at || (count->fail_for_ever && count->calls > count->fail_at)))
        return NULL;
    /* The size is stored in front of the block, in a 16-byte prefix, which preserves malloc's
     * alignment. */
    uint8_t *block = calloc(1, size_bytes + 16);
    if (!block) return NULL;
    uint64_t size = size_bytes;
    memcpy(block, &size, sizeof size);
    count->live_blocks++;
    count->live_bytes += size_bytes;
    return block + 16;
}

static inline void counting_release(void *context, void *memory, size_t size_bytes)
{
    struct counting *count = context;
    uint64_t size;
    if (!memory) {
        count->bad_releases++;
        return;
    }
    memcpy(&size, (uint8_t *)memory - 16, sizeof size);
    if (size != size_bytes) count->bad_releases++;
    count->live_blocks--;
    count->live_bytes -= size;
    free((uint8_t *)memory - 16);
}

static inline petal_allocator counting_allocator(struct counting *count)
{
    return (petal_allocator){counting_alloc, counting_release, count};
}

#endif
