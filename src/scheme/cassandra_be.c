/* cassandra_be.c - the filters of Cassandra 3.0 to 3.11: big-endian words. docs/formats/cassandra.md. */
#include "scheme/scheme.h"

#define START 1
#define BIT_ORDER 56u
#include "scheme/cassandra.inc"

const struct scheme_def petal_cassandra_be = CASSANDRA_SCHEME(PETAL_SCHEME_CASSANDRA_BE, "cassandra-be");
