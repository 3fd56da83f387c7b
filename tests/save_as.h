/* save_as.h - options for petal_save(), petal_write() and petal_serialize() in one expression. */
#ifndef PETAL_TESTS_SAVE_AS_H
#define PETAL_TESTS_SAVE_AS_H

#include "petal/petal.h"

/* The result is valid until the end of the block. */
#define SAVE_OPTIONS(format_, flags_) \
    (&(petal_save_options){ \
        .struct_size = sizeof(petal_save_options), .flags = (flags_), .format = (format_)})

#define SAVE_AS(format) SAVE_OPTIONS(format, 0)
#define SAVE_WITH(flags) SAVE_OPTIONS(NULL, flags)

#endif
