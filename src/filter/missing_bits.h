/* missing_bits.h - filters opened from the header alone: everything is known except the bits of
 * some or all layers. Until the bits arrive, contains returns true, and calls that need bits are
 * refused.
 */
#ifndef PETAL_FILTER_MISSING_BITS_H
#define PETAL_FILTER_MISSING_BITS_H

#include "filter/filter.h"

/* For filters in memory, called whenever bits arrive or go: if every layer has bits, the filter
 * answers normally; otherwise it refuses calls that need them. */
void petal_filter_note_bits(petal_filter *filter);

/* Allocates zeroed bits for a layer that has none. The memory limit applies even if the header
 * requires more. */
petal_status petal_filter_alloc_absent(petal_filter *filter, uint32_t layer, petal_error *error);

#endif
