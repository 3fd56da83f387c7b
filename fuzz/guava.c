/* guava.c - see importer.h. */
#define FORMATS "guava", "guava32", "oldpanda-py32", "oldpanda-go32"
#include "importer.h"
