/* scheme_list.h - lists the schemes, one per line. The formats of LIBRARY use the scheme, so a
 * build without that library (base/libraries.h) leaves the scheme out. PETAL_SCHEME_NAME is the
 * scheme's number, and petal_scheme_name is its row. Petal files store the number, so a number is
 * never reused. */
#ifndef PETAL_SCHEME_SCHEME_LIST_H
#define PETAL_SCHEME_SCHEME_LIST_H

#include "base/libraries.h"

/* Petal's own. */
#define PETAL_NATIVE_SCHEMES(SCHEME) \
    SCHEME(PETAL, BLOCKED, blocked, 1) \
    SCHEME(PETAL, CLASSIC, classic, 2) \
    SCHEME(PETAL, COUNTING, counting, 3) \
    SCHEME(PETAL, STATIC, static, 4)

/* The schemes that other libraries' filters use. */
#define PETAL_FOREIGN_SCHEMES(SCHEME) \
    SCHEME(GUAVA, GUAVA_MITZ64, guava_mitz64, 16) \
    SCHEME(GUAVA, GUAVA_MITZ32, guava_mitz32, 17) \
    SCHEME(SPARK, SPARK_V1, spark_v1, 18) \
    SCHEME(SPARK, SPARK_V2, spark_v2, 19) \
    SCHEME(PARQUET, PARQUET, parquet, 20) \
    SCHEME(REDISBLOOM, REDISBLOOM, redisbloom, 21) \
    SCHEME(BITS_AND_BLOOMS, BITS_AND_BLOOMS, bits_and_blooms, 22) \
    SCHEME(DCSO, DCSO, dcso, 23) \
    SCHEME(DATASKETCHES, DATASKETCHES, datasketches, 24) \
    SCHEME(LEVELDB, LEVELDB, leveldb, 25) \
    SCHEME(ROCKSDB, ROCKSDB, rocksdb, 26) \
    SCHEME(BLOOM_FILTERS, BLOOM_FILTERS, bloom_filters, 27) \
    SCHEME(BLOOMFILTER, BLOOMFILTER, bloomfilter, 28) \
    SCHEME(JS_TUTORIAL, JS_TUTORIAL, js_tutorial, 29) \
    SCHEME(PYBLOOM, PYBLOOM, pybloom, 30) \
    SCHEME(HADOOP, HADOOP, hadoop, 31) \
    SCHEME(HBASE, HBASE, hbase, 32) \
    SCHEME(ORC, ORC, orc, 33) \
    SCHEME(CASSANDRA, CASSANDRA, cassandra, 34) \
    SCHEME(CASSANDRA, CASSANDRA_BE, cassandra_be, 35) \
    SCHEME(GUAVA, OLDPANDA_PY32, oldpanda_py32, 36) \
    SCHEME(GUAVA, OLDPANDA_GO32, oldpanda_go32, 37) \
    SCHEME(CASSANDRA, CASSANDRA_2, cassandra_2, 38) \
    SCHEME(VALKEY_BLOOM, VALKEY_BLOOM, valkey_bloom, 39)

#define PETAL_SCHEMES(SCHEME) PETAL_NATIVE_SCHEMES(SCHEME) PETAL_FOREIGN_SCHEMES(SCHEME)

#endif
