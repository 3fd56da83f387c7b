/* spark.c - see importer.h. */
#define FORMATS "spark", "spark-v1"
#include "importer.h"
