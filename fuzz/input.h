/* input.h - code that fuzz targets share: functions that derive decisions from the input, and an
 * allocator that counts bytes and has a limit. */
#ifndef PETAL_FUZZ_INPUT_H
#define PETAL_FUZZ_INPUT_H

#include "../tests/values.h"

#include <petal/petal.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

/* Ends the run, which counts as a finding. */
#define must(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            abort(); \
        } \
    } while (0)

/* ---- bytes that decide ----------------------------------------------------------------------- */

/* The unread rest of the input. Reads past its end return zeros. */
struct input {
    const uint8_t *data;
    size_t left;
};

static inline uint64_t take(struct input *in, unsigned bytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++) {
        if (in->left == 0) return value;
        value |= (uint64_t)*in->data++ << 8 * i;
        in->left--;
    }
    return value;
}

static inline uint32_t take_below(struct input *in, uint32_t bound)
{
    uint32_t number = (uint32_t)take(in, bound > 256 ? 2 : 1);
    return bound ? number % bound : 0;
}

/* Returns a small number in most cases, and otherwise a number that often exposes arithmetic
 * errors. */
static inline uint64_t take_number(struct input *in)
{
    uint32_t kind = take_below(in, 8);
    uint64_t one = 1;
    switch (kind) {
    case 0:
    case 1: return take(in, 1);
    case 2:
    case 3: return take(in, 2);
    case 4: return take(in, 3);
    case 5: return (one << take(in, 1) % 64) - 1 + take(in, 1) % 3;
    case 6: return take(in, 8);
    default: return UINT64_MAX - take(in, 1);
    }
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* The context of an allocator that counts bytes and has a limit. */
struct budget {
    uint64_t limit, used, peak;
};

static inline void *budget_alloc(void *context, size_t size_bytes)
{
    struct budget *budget = context;
    if (size_bytes > budget->limit - budget->used) return NULL;
    void *memory = calloc(1, size_bytes);
    if (!memory) return NULL;
    budget->used += size_bytes;
    if (budget->used > budget->peak) budget->peak = budget->used;
    return memory;
}

static inline void budget_release(void *context, void *memory, size_t size_bytes)
{
    struct budget *budget = context;
    if (memory) budget->used -= size_bytes;
    free(memory);
}

static inline petal_allocator allocator_of(struct budget *budget)
{
    return (petal_allocator){budget_alloc, budget_release, budget};
}

/* Requires that the message is a single line and not empty. */
static inline void must_be_told(const petal_error *error, petal_status status)
{
    must(status < 0 && error->status == status && error->message[0] != '\0' &&
         !strchr(error->message, '\n'));
}

#endif
