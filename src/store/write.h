/* write.h - filter -> image -> anywhere: the one way out for files, memory and streams. */
#ifndef PETAL_STORE_WRITE_H
#define PETAL_STORE_WRITE_H

#include "format/format.h"

/* Writes the image of the filter in this format (NULL: petal), after a check of bits that come from
 * a file, and before a check that the file is still the same. */
petal_status petal_write_to(const petal_filter *filter, const char *format, const struct sink *sink,
                            petal_error *error);

#endif
