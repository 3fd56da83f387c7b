/* parquet.c - see importer.h. */
#define FORMATS "parquet"
#include "importer.h"
