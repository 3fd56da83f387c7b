/* scheme.c - the table of schemes. */
#include "scheme/scheme.h"

#include "base/memory.h"

static const struct scheme_def *const table[] = {&petal_blocked, &petal_classic};

const struct scheme_def *petal_scheme_find(petal_scheme id)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i]->id == id) return table[i];
    return NULL;
}

const struct kernel *petal_scheme_kernel(const struct scheme_def *scheme)
{
    const struct kernel *const *kernel = scheme->kernels;
    while (!(*kernel)->usable()) kernel++; /* the last one, generic, always is */
    return *kernel;
}

uint64_t petal_shape_bytes(const struct shape *shape)
{
    return petal_scheme_find(shape->scheme)->array_bytes(shape);
}

uint64_t petal_bytes_of_lines(const struct shape *shape)
{
    return (shape->bits / PETAL_LINE_BITS + (shape->bits % PETAL_LINE_BITS != 0)) * PETAL_LINE_BYTES;
}
