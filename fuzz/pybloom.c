/* pybloom.c - see importer.h. */
#define FORMATS "pybloom", "pybloom-scalable"
#include "importer.h"
