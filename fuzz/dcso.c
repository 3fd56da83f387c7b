/* dcso.c - see importer.h. */
#define FORMATS "dcso", "dcso-gzip"
#include "importer.h"
