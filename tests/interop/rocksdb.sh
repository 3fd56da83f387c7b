#!/bin/sh
# rocksdb.sh - the Bloom filter that RocksDB writes to a table of the same keys equals Petal's
# filter byte for byte.
set -u
. tests/interop/lib/interop.sh
needs javac mvn || finish
theirs() { java_run "$@"; }

maven rocksdb-11.8.1 org.rocksdb:rocksdbjni:11.8.1 || finish
ran RocksDB 11.8.1 'Maven org.rocksdb:rocksdbjni' rocksdb
java_driver tests/interop/rocksdb/Driver.java

# The bits are followed by five bytes, the third of which is the number of hashes.
size_of() {
    bits=$((($(wc -c <"$1") - 5) * 8))
    hashes=$(tail -c 3 "$1" | od -An -tu1 | awk '{ print $1 }')
}
at_bits_per_key() { # at_bits_per_key TYPE BITS_PER_KEY
    said="RocksDB 11.8.1, $1, $2 bits per key" at=$TMPDIR/$1.$2
    ok "$said: it writes a table" theirs make rocksdb "$1" "$TMPDIR/$1.keys" 0 "$2" "$at"
    size_of "$at"
    ok "$said: ours is the same, byte for byte" made_alike "$1" "$at"
    ok "$said: every key is in it" all_in "$1" "$at"
    ok "$said: into a petal file and back" through_petal rocksdb "$at"
}
made_alike() { ours size rocksdb "$1" "$TMPDIR/$1.keys" "$bits" "$hashes" "$2.ours" && cmp "$2" "$2.ours"; }
all_in() { ours ask rocksdb "$1" "$2" "$TMPDIR/$1.queries" >"$2.answers" && telling "$1" "$2.answers"; }
for type in text hex; do
    keys $type
    for bits in 5 10 12.5; do at_bits_per_key $type $bits; done
done
finish
