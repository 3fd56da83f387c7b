/* javascript.c - see importer.h. */
#define FORMATS "bloom-filters", "bloomfilter", "js-tutorial"
#include "importer.h"
