#!/bin/sh
# hadoop.sh - Hadoop's BloomFilter, with either of its hashes, and Petal agree in both directions.
set -u
. tests/interop/lib/interop.sh
needs javac mvn || finish
theirs() { java_run "$@"; }

maven hadoop-3.5.0 org.apache.hadoop:hadoop-client-api:3.5.0 org.slf4j:slf4j-nop:1.7.36 || finish
ran Hadoop 3.5.0 'Maven org.apache.hadoop:hadoop-client-api' hadoop
java_driver tests/interop/hadoop/Driver.java

# Hadoop's class refuses an empty key, and requires the caller to choose the size.
no_empty=yes make=size
for type in text hex; do alike 'Hadoop 3.5.0' hadoop $type 19177 7; done
alike 'Hadoop 3.5.0' hadoop text 16384 5

# Petal only creates filters with the Murmur hash.
HADOOP_HASH=0
export HADOOP_HASH
for type in text hex; do theirs_to_us 'Hadoop 3.5.0 (Jenkins)' hadoop $type 19177 7; done
finish
