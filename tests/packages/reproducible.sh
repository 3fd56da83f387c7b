#!/bin/sh
# reproducible.sh - everyone who builds a commit gets byte-for-byte the same packages. The test
# builds the packages a second time in another folder and compares the results.
set -u
. tests/packages/lib/packages.sh
needs dh git || finish
needs_zig

elsewhere=$TMPDIR/elsewhere/tree
mkdir -p "$elsewhere"
copies() {
    git ls-files -z -co --exclude-standard | xargs -0 cp --parents -t "$elsewhere"
}
# Recompiles Petal, but reuses zig's cached system libraries.
makes() {
    date=$(git log -1 --format=%ct)
    (
        cd "$elsewhere" && export SOURCE_DATE_EPOCH=$date ZIG_LOCAL_CACHE_DIR=$TMPDIR/cache || exit
        packaging/make "$TMPDIR/again" && packaging/make "$TMPDIR/again" sqlite lua || exit
        [ ! -e "$packages/petal-bloom-$version.jar" ] || packaging/make "$TMPDIR/again" jar || exit
        [ ! -e "$packages/PetalBloom.$version.nupkg" ] || packaging/make "$TMPDIR/again" nuget
    )
}
same() { (cd "$TMPDIR/again" && sha256sum --check --strict "$packages/SHA256SUMS") && cmp "$TMPDIR/again/SHA256SUMS" "$packages/SHA256SUMS"; }
ok 'the tree, in another folder' copies
ok 'the packages are made again' makes
ok 'they are the same, byte for byte' same
finish
