/* cassandra.c - the filters of Cassandra 4.0 and later: plain bytes. docs/formats/cassandra.md. */
#include "scheme/scheme.h"

#define START 1
#define BIT_ORDER 0u
#include "scheme/cassandra.inc"

const struct scheme_def petal_cassandra = CASSANDRA_SCHEME(PETAL_SCHEME_CASSANDRA, "cassandra");
