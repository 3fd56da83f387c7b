#!/bin/sh
# reproducible.sh - everybody who builds a commit gets the same packages, byte for byte. The test
# builds them a second time, in another folder, and compares.
set -u
. tests/packages/lib/packages.sh
needs dh git || finish
needs_zig

elsewhere=$TMPDIR/elsewhere/tree
mkdir -p "$elsewhere"
copies() {
    git ls-files -z -co --exclude-standard | xargs -0 cp --parents -t "$elsewhere"
}
# zig's own libraries are compiled only once. Our code is compiled again.
makes() {
    date=$(git log -1 --format=%ct)
    (
        cd "$elsewhere" && export SOURCE_DATE_EPOCH=$date ZIG_LOCAL_CACHE_DIR=$TMPDIR/cache || exit
        packaging/make "$TMPDIR/again" && packaging/make "$TMPDIR/again" sqlite || exit
        [ ! -e "$packages/petal-bloom-$version.jar" ] || packaging/make "$TMPDIR/again" jar || exit
        [ ! -e "$packages/PetalBloom.$version.nupkg" ] || packaging/make "$TMPDIR/again" nuget
    )
}
same() { (cd "$TMPDIR/again" && sha256sum --check --strict "$packages/SHA256SUMS") && cmp "$TMPDIR/again/SHA256SUMS" "$packages/SHA256SUMS"; }
ok 'the tree, in another folder' copies
ok 'the packages are made again' makes
ok 'they are the same, byte for byte' same
finish
