/* redisbloom.c - see importer.h. */
#define FORMATS "redisbloom", "redisbloom-dump"
#include "importer.h"
