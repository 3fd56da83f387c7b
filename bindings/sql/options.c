/* options.c - sets the filter options for the aggregate petal_build(). */
#include "sql.h"

petal_options build_options(double rate, uint64_t capacity, uint32_t key_type,
                            const petal_allocator *memory)
{
    petal_options options = PETAL_OPTIONS_INIT;
    options.rate = rate;
    options.capacity = capacity;
    options.scheme = capacity ? PETAL_SCHEME_DEFAULT : PETAL_SCHEME_STATIC;
    options.refuse_overfull = capacity != 0;
    options.key_type = key_type;
    options.allocator = memory;
    return options;
}
