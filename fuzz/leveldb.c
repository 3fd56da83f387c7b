/* leveldb.c - see importer.h. */
#define FORMATS "leveldb"
#include "importer.h"
