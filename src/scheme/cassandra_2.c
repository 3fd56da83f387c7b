/* cassandra_2.c - the filters of Cassandra 1.2 to 2.2: big-endian words, and the words of the hash the other way round.
 * docs/formats/cassandra.md. */
#include "scheme/scheme.h"

#define START 0
#define BIT_ORDER 56u
#include "scheme/cassandra.inc"

const struct scheme_def petal_cassandra_2 = CASSANDRA_SCHEME(PETAL_SCHEME_CASSANDRA_2, "cassandra-2");
