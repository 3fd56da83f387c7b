#!/bin/sh
# leveldb.sh - filters created by LevelDB's Bloom filter policy and by Petal agree in both
# directions.
set -u
. tests/interop/lib/interop.sh
needs c++ leveldb/c.h || finish
theirs() { "$TMPDIR/driver" "$@"; }

version=$(dpkg-query -W -f '${Version}' libleveldb-dev 2>/dev/null || echo unknown)
ran LevelDB "$version" 'Debian libleveldb-dev' leveldb
ok 'the driver compiles' c++ tests/interop/leveldb/driver.cc -lleveldb -o "$TMPDIR/driver"

# LevelDB computes k as 0.69 times the bits per key, limited to between 1 and 30. A filter has at
# least 64 bits, rounded up to whole bytes.
at_bits_per_key() { # at_bits_per_key TYPE BITS_PER_KEY
    said="LevelDB, $1, $2 bits per key" at=$TMPDIR/$1.$2
    k=$(($2 * 69 / 100)) n=$(wc -l <"$TMPDIR/$1.keys")
    [ $k -ge 1 ] || k=1
    [ $k -le 30 ] || k=30
    ok "$said: they make one" theirs make leveldb "$1" "$TMPDIR/$1.keys" "$n" "$2" "$at.theirs"
    ok "$said: we make one" ours size leveldb "$1" "$TMPDIR/$1.keys" $((n * $2)) $k "$at.ours"
    ok "$said: both are the same, byte for byte" cmp "$at.theirs" "$at.ours"
    ok "$said: we read theirs, and give the same answers" asked_alike "$1" "$at.theirs"
    ok "$said: they read ours, and give the same answers" asked_alike "$1" "$at.ours"
    ok "$said: into a petal file and back" through_petal leveldb "$at.theirs"
}
# At 60 bits per key, no absent key passes. At one bit per key, a third of the absent keys pass.
asked_alike() {
    theirs ask leveldb "$1" "$2" "$TMPDIR/$1.queries" >"$2.theirs" && ours ask leveldb "$1" "$2" "$TMPDIR/$1.queries" >"$2.ours" &&
        grep -q 1 "$2.theirs" && grep -q 0 "$2.theirs" && cmp "$2.theirs" "$2.ours"
}
for type in text hex; do
    keys $type
    for bits in 1 5 10 20 60; do at_bits_per_key $type $bits; done
done

by_rate() {
    ours make leveldb text "$TMPDIR/text.keys" 2001 0.01 "$TMPDIR/rate" && answers_alike leveldb text "$TMPDIR/rate"
}
ok 'LevelDB: they read filters that we size by rate, and give the same answers' by_rate
few() {
    head -n 3 "$TMPDIR/text.keys" >"$TMPDIR/few.keys"
    theirs make leveldb text "$TMPDIR/few.keys" 3 10 "$TMPDIR/few.theirs" &&
        ours size leveldb text "$TMPDIR/few.keys" 30 6 "$TMPDIR/few.ours" && cmp "$TMPDIR/few.theirs" "$TMPDIR/few.ours"
}
ok 'LevelDB: for 3 keys, both are the same, byte for byte' few
finish
