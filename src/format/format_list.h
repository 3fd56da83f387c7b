/* format_list.h - lists the formats, one per line, in the order in which users see them. A build
 * without LIBRARY (base/libraries.h) leaves the format out. PETAL_FORMAT_NAME is the format's
 * number, and petal_format_name is its row. Petal files record the number as a filter's origin, so
 * a number is never reused. */
#ifndef PETAL_FORMAT_FORMAT_LIST_H
#define PETAL_FORMAT_FORMAT_LIST_H

#include "base/libraries.h"

/* GZIP lines need zlib. PETAL_FORMATS_HERE() includes them only if this build has zlib. */
#define PETAL_FORMATS(FORMAT, GZIP) \
    FORMAT(PETAL, PETAL, petal, 1) \
    FORMAT(GUAVA, GUAVA, guava, 2) \
    FORMAT(GUAVA, GUAVA32, guava32, 3) \
    FORMAT(SPARK, SPARK, spark, 4) \
    FORMAT(SPARK, SPARK_V1, spark_v1, 5) \
    FORMAT(GUAVA, OLDPANDA_PY32, oldpanda_py32, 26) \
    FORMAT(GUAVA, OLDPANDA_GO32, oldpanda_go32, 27) \
    FORMAT(PARQUET, PARQUET, parquet, 6) \
    FORMAT(ORC, ORC, orc, 19) \
    FORMAT(ORC, ORC_LONG, orc_long, 21) \
    FORMAT(REDISBLOOM, REDISBLOOM, redisbloom, 7) \
    FORMAT(REDISBLOOM, REDISBLOOM_DUMP, redisbloom_dump, 22) \
    FORMAT(VALKEY_BLOOM, VALKEY_BLOOM, valkey_bloom, 30) \
    FORMAT(DATASKETCHES, DATASKETCHES, datasketches, 10) \
    FORMAT(BITS_AND_BLOOMS, BITS_AND_BLOOMS, bits_and_blooms, 8) \
    FORMAT(BITS_AND_BLOOMS, BITS_AND_BLOOMS_JSON, bits_and_blooms_json, 23) \
    FORMAT(DCSO, DCSO, dcso, 9) \
    GZIP(DCSO, DCSO_GZIP, dcso_gzip, 24) \
    FORMAT(LEVELDB, LEVELDB, leveldb, 11) \
    FORMAT(ROCKSDB, ROCKSDB, rocksdb, 15) \
    FORMAT(BLOOM_FILTERS, BLOOM_FILTERS, bloom_filters, 12) \
    FORMAT(BLOOMFILTER, BLOOMFILTER, bloomfilter, 13) \
    FORMAT(JS_TUTORIAL, JS_TUTORIAL, js_tutorial, 14) \
    FORMAT(PYBLOOM, PYBLOOM, pybloom, 16) \
    FORMAT(PYBLOOM, PYBLOOM_SCALABLE, pybloom_scalable, 28) \
    FORMAT(HADOOP, HADOOP, hadoop, 17) \
    FORMAT(HBASE, HBASE, hbase, 18) \
    FORMAT(CASSANDRA, CASSANDRA, cassandra, 20) \
    FORMAT(CASSANDRA, CASSANDRA_BE, cassandra_be, 25) \
    FORMAT(CASSANDRA, CASSANDRA_2, cassandra_2, 29)

#ifdef PETAL_WITH_ZLIB
#define PETAL_FORMATS_HERE(FORMAT) PETAL_FORMATS(FORMAT, FORMAT)
#else
#define PETAL_FORMAT_LEFT_OUT(LIBRARY, NAME, name, number)
#define PETAL_FORMATS_HERE(FORMAT) PETAL_FORMATS(FORMAT, PETAL_FORMAT_LEFT_OUT)
#endif

#endif
