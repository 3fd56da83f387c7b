/* bits_and_blooms.c - see importer.h. */
#define FORMATS "bits-and-blooms", "bits-and-blooms-json"
#include "importer.h"
