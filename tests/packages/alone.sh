#!/bin/sh
# alone.sh - `./dev package WHAT` works for each WHAT in a fresh clone in which nothing else has
# been built, and creates the same bytes as when all packages are built together. Every other
# command that builds something from the tree also works in a fresh clone.
set -u
. tests/packages/lib/packages.sh
needs dh git go clang wasm-ld wasi wasm-opt npm node javac mvn mcs zopfli sqlite3ext.h cargo ||
    finish
needs_zig

# The clones share all downloads from registries and servers. They also share the compiler's cache,
# since it is indexed by content.
fresh() { # fresh NAME: clones this tree, including its uncommitted changes, into $clone
    clone=$TMPDIR/$1
    git clone -q "file://$PWD" "$clone" &&
        git ls-files -z -co --exclude-standard | xargs -0 cp --parents -t "$clone" &&
        git ls-files -z -d | (cd "$clone" && xargs -0 rm -f) &&
        mkdir -p "$clone/build" &&
        for brought in "$PWD/build/ziglang" "$PWD/build/interop" "$ZLIB" "$MAVEN" "$DUCKDB_HEADERS"; do
            [ ! -d "$brought" ] || ln -s "$brought" "$clone/build" || return 1
        done
}
# Runs a command in the clone, without the variables in which packages.sh exports paths of this
# tree.
in_clone() { (cd "$clone" && env -u ZIG -u ZLIB -u MAVEN -u DUCKDB_HEADERS -u PETAL_BUILD_DIR "$@"); }
same_bytes() { # compares the packages with those from ./dev test packages
    while read -r sum file; do
        ! grep -q " $file\$" "$packages/SHA256SUMS" || grep -qx "$sum  $file" "$packages/SHA256SUMS" ||
            { echo "$file: other bytes than beside the others" && return 1; }
    done <"$clone/build/packages/SHA256SUMS"
}
said=$(packaging/make 2>&1)
whats=$(printf '%s\n' "$said" | sed -n 's/.*OUT \[\(.*\)\] .*/\1/p')
ok 'packaging/make lists the packages that it makes' test -n "$whats"
for what in $whats; do
    ok "$what: a fresh clone" fresh "$what"
    ok "$what: ./dev package $what" in_clone ./dev package "$what"
    ok "$what: the same bytes" same_bytes
    rm -rf "$clone"
done

# alone NAME FILE COMMAND...: checks that COMMAND creates FILE in a fresh clone.
alone() {
    alone_file=$2
    ok "$1: a fresh clone" fresh "$1"
    shift 2
    ok "$*" in_clone "$@"
    ok "it makes $alone_file" test -s "$clone/$alone_file"
    rm -rf "$clone"
}
alone web build/web/index.html ./dev web
alone bundle build/bundle/petal.h scripts/bundle build/bundle
alone go-module build/go/go.mod bindings/go/module build/go
alone js-package build/bindings/js/package/package.json bindings/js/build
alone dotnet-package build/dotnet.nupkg bindings/dotnet/pack build/dotnet
finish
