/* valkey_bloom.c - see importer.h. */
#define FORMATS "valkey-bloom"
#include "importer.h"
