/* cassandra.c - see importer.h. */
#define FORMATS "cassandra", "cassandra-be", "cassandra-2"
#include "importer.h"
