/* missing_bits.h - filters of which only the header was opened: everything is known except the bits
 * of some or all layers. Until these arrive, contains returns true, and whatever needs bits is
 * refused.
 */
#ifndef PETAL_FILTER_MISSING_BITS_H
#define PETAL_FILTER_MISSING_BITS_H

#include "filter/filter.h"

/* Makes the filter answer normally if every layer has bits, and refuse what needs them otherwise:
 * for filters in memory, called whenever that changes. */
void petal_filter_note_bits(petal_filter *filter);

/* Allocates zeroed bits for a layer that has none. The memory limit applies, whatever the header
 * says. */
petal_status petal_filter_alloc_absent(petal_filter *filter, uint32_t layer, petal_error *error);

#endif
