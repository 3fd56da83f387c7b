/* rocksdb.c - see importer.h. */
#define FORMATS "rocksdb"
#include "importer.h"
