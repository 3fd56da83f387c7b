/* save_as.h - creates options for petal_save(), petal_write() and petal_serialize() in a single
 * expression. */
#ifndef PETAL_TESTS_SAVE_AS_H
#define PETAL_TESTS_SAVE_AS_H

#include "petal/petal.h"

/* The resulting pointer is valid until the end of the enclosing block. */
#define SAVE_OPTIONS(format_, flags_) \
    (&(petal_save_options){ \
        .struct_size = sizeof(petal_save_options), .flags = (flags_), .format = (format_)})

#define SAVE_AS(format) SAVE_OPTIONS(format, 0)
#define SAVE_WITH(flags) SAVE_OPTIONS(NULL, flags)

#endif
