/* orc.c - see importer.h. */
#define FORMATS "orc", "orc-long"
#include "importer.h"
