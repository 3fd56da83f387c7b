/* missing_bits.h - handles filters that were opened from the header alone. Such a filter is
 * complete except for the bits of some or all layers. Until the bits arrive, every query returns
 * true, and calls that need bits are refused. */
#ifndef PETAL_FILTER_MISSING_BITS_H
#define PETAL_FILTER_MISSING_BITS_H

#include "filter/filter.h"

/* Call this function after a layer of a filter in memory has gained or lost its bits. If every
 * layer has bits, the filter answers normally. Otherwise it refuses calls that need bits. */
void petal_filter_note_bits(petal_filter *filter);

/* Allocates zeroed bits for a layer without bits. Fails if the bits would exceed the memory
 * limit. */
petal_status petal_filter_alloc_absent(petal_filter *filter, uint32_t layer, petal_error *error);

#endif
