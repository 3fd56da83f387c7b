/* missing_bits.h - filters that were opened from the header alone. Everything is known except the
 * bits of some or all layers. Until the bits arrive, every query returns true, and calls that need
 * bits are refused.
 * */
#ifndef PETAL_FILTER_MISSING_BITS_H
#define PETAL_FILTER_MISSING_BITS_H

#include "filter/filter.h"

/* Call this after bits were added to a filter in memory or removed from it. If every layer has
 * bits, the filter answers normally. Otherwise it refuses calls that need bits. */
void petal_filter_note_bits(petal_filter *filter);

/* Allocates zeroed bits for a layer without bits. Fails if they need more memory than the limit
 * allows. */
petal_status petal_filter_alloc_absent(petal_filter *filter, uint32_t layer, petal_error *error);

#endif
