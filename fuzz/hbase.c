/* hbase.c - see importer.h. */
#define FORMATS "hbase"
#include "importer.h"
