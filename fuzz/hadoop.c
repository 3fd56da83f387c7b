/* hadoop.c - see importer.h. */
#define FORMATS "hadoop"
#include "importer.h"
