#!/bin/sh
# hbase.sh - a chunk of an HBase Bloom filter, with any of HBase's three hashes, and Petal agree in
# both directions.
set -u
. tests/interop/lib/interop.sh
needs javac mvn || finish
theirs() { java_run "$@" 2>"$TMPDIR/java.err" || { cat "$TMPDIR/java.err"; return 1; }; }

maven hbase-2.6.4 org.apache.hbase:hbase-server:2.6.4 || finish
ran HBase 2.6.4 'Maven org.apache.hbase:hbase-server' hbase
java_driver tests/interop/hbase/Driver.java

for type in text hex; do alike 'HBase 2.6.4' hbase $type 2000 0.01; done
alike 'HBase 2.6.4' hbase text 3000 0.05

# Petal only creates chunks with HBase's default hash, Murmur.
for HBASE_HASH in 0 2; do
    export HBASE_HASH
    for type in text hex; do theirs_to_us "HBase 2.6.4 (hash $HBASE_HASH)" hbase $type 2000 0.01; done
done
finish
