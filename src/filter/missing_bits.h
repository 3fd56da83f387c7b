/* missing_bits.h - filters of which a header alone was opened: they know everything but the bits of
 * some layers, or of all. Until those come, contains is true, and whatever needs bits is refused.
 */
#ifndef PETAL_FILTER_MISSING_BITS_H
#define PETAL_FILTER_MISSING_BITS_H

#include "filter/filter.h"

/* Makes the filter answer for itself if every layer has bits, and refuse what needs them if not:
 * for filters in memory, whenever that has changed. */
void petal_filter_note_bits(petal_filter *filter);

/* Gives a layer without bits zeroed ones. The memory limit holds, whatever the header says. */
petal_status petal_filter_alloc_absent(petal_filter *filter, uint32_t layer, petal_error *error);

#endif
