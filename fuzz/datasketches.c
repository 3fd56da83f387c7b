/* datasketches.c - see importer.h. */
#define FORMATS "datasketches"
#include "importer.h"
