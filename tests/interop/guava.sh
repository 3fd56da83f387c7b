#!/bin/sh
# guava.sh - Google Guava's BloomFilter and Petal read, query, fill and write each other's files in
# the same way.
set -u
. tests/interop/lib/interop.sh
needs javac mvn || finish
theirs() { java_run "$@"; }

# Since version 33.4.0, Guava computes the number of hashes differently for few keys. Petal still
# computes this number in the old way, but can create either filter if the number of bits and hashes
# is given.
few_keys() { # few_keys N P HASHES
    head -n "$1" "$TMPDIR/text.keys" >"$TMPDIR/few.keys"
    theirs make guava text "$TMPDIR/few.keys" "$1" "$2" "$TMPDIR/few.theirs" &&
        ours size guava text "$TMPDIR/few.keys" "$(bits_of "$TMPDIR/few.theirs")" "$3" "$TMPDIR/few.ours" &&
        cmp "$TMPDIR/few.theirs" "$TMPDIR/few.ours"
}
bits_of() { echo $((($(wc -c <"$1") - 6) * 8)); }

try() { # try VERSION HASHES_AT_3_KEYS
    maven "guava-$1" "com.google.guava:guava:$1" || return
    ran Guava "$1" 'Maven com.google.guava:guava' 'guava, guava32'
    java_driver tests/interop/guava/Driver.java
    for type in text utf16le units i32 i64 hex; do alike "Guava $1" guava $type 2000 0.01; done
    for type in text i32 hex; do alike "Guava $1" guava32 $type 2000 0.01; done
    alike "Guava $1" guava text 3000 0.03
    ok "Guava $1: 3 keys at 1 % take $2 hashes" few_keys 3 0.01 "$2"
}

try 33.8.0-jre 7
try 31.1-jre 6
finish
