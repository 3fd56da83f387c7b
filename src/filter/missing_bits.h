/* missing_bits.h - filters opened from the header alone: everything is known except the bits of
 * some or all layers. Until the bits arrive, contains returns true, and calls that need bits are
 * refused.
 */
#ifndef PETAL_FILTER_MISSING_BITS_H
#define PETAL_FILTER_MISSING_BITS_H

#include "filter/filter.h"

/* Called for filters in memory after bits were added or removed: if every layer has bits, the
 * filter answers normally; otherwise it refuses calls that need bits. */
void petal_filter_note_bits(petal_filter *filter);

/* Allocates zeroed bits for a layer that has none. If the header requires more than the memory
 * limit allows, this fails. */
petal_status petal_filter_alloc_absent(petal_filter *filter, uint32_t layer, petal_error *error);

#endif
