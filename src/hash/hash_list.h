/* hash_list.h - lists the hashes, one per line. The formats of LIBRARY use the hash, so a build
 * without that library (base/libraries.h) leaves the hash out. PETAL_HASH_NAME is the hash's
 * number, and petal_hash_name is its row. Petal files store the number, so a number is never
 * reused. */
#ifndef PETAL_HASH_HASH_LIST_H
#define PETAL_HASH_HASH_LIST_H

#include "base/libraries.h"

/* Petal's own. */
#define PETAL_NATIVE_HASHES(HASH) \
    HASH(PETAL, XXH3, xxh3, 1) \
    HASH(PETAL, SIPHASH, siphash, 2)

/* The hashes that other libraries' filters use. */
#define PETAL_FOREIGN_HASHES(HASH) \
    HASH(GUAVA, MURMUR3_X64_128, murmur3_x64_128, 16) \
    HASH(SPARK, MURMUR3_SPARK, murmur3_spark, 17) \
    HASH(PARQUET, XXH64, xxh64, 18) \
    HASH(REDISBLOOM, MURMUR64A, murmur64a, 19) \
    HASH(REDISBLOOM, MURMUR2, murmur2, 20) \
    HASH(BITS_AND_BLOOMS, BITS_AND_BLOOMS, bits_and_blooms, 21) \
    HASH(DCSO, FNV1, fnv1, 22) \
    HASH(DATASKETCHES, DATASKETCHES, datasketches, 23) \
    HASH(LEVELDB, LEVELDB, leveldb, 24) \
    HASH(ROCKSDB, XXPH3, xxph3, 25) \
    HASH(BLOOM_FILTERS, BLOOM_FILTERS, bloom_filters, 26) \
    HASH(BLOOMFILTER, FNV1A_UTF16, fnv1a_utf16, 27) \
    HASH(JS_TUTORIAL, JS_TUTORIAL, js_tutorial, 28) \
    HASH(PYBLOOM, PYBLOOM, pybloom, 29) \
    HASH(HADOOP, HADOOP_MURMUR, hadoop_murmur, 30) \
    HASH(HADOOP, HADOOP_JENKINS, hadoop_jenkins, 31) \
    HASH(HBASE, HBASE_MURMUR3, hbase_murmur3, 32) \
    HASH(HBASE, HBASE_JENKINS, hbase_jenkins, 33) \
    HASH(ORC, ORC, orc, 34) \
    HASH(ORC, ORC_LONG, orc_long, 35) \
    HASH(CASSANDRA, CASSANDRA, cassandra, 36) \
    HASH(HBASE, HBASE_MURMUR2, hbase_murmur2, 37) \
    HASH(VALKEY_BLOOM, VALKEY_BLOOM, valkey_bloom, 38)

#define PETAL_HASHES(HASH) PETAL_NATIVE_HASHES(HASH) PETAL_FOREIGN_HASHES(HASH)

#endif
