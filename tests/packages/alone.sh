#!/bin/sh
# alone.sh - `./dev package WHAT` works for each WHAT in a fresh clone in which nothing else has
# been made, and gives the same bytes as when all packages are made together. So does every other
# command that makes something from the tree.
set -u
. tests/packages/lib/packages.sh
needs dh git go clang wasm-ld wasi wasm-opt npm node javac mvn mcs zopfli sqlite3ext.h || finish
needs_zig

# Downloads from registries and servers are not repeated. The compiler's cache is shared, since it
# is indexed by content.
fresh() { # fresh NAME: a clone with the changes of this tree, in $clone
    clone=$TMPDIR/$1
    git clone -q "file://$PWD" "$clone" &&
        git ls-files -z -co --exclude-standard | xargs -0 cp --parents -t "$clone" &&
        git ls-files -z -d | (cd "$clone" && xargs -0 rm -f) &&
        mkdir -p "$clone/build" &&
        for brought in "$PWD/build/ziglang" "$PWD/build/interop" "$ZLIB" "$MAVEN"; do
            [ ! -d "$brought" ] || ln -s "$brought" "$clone/build" || return 1
        done
}
# The paths of this tree that packages.sh exported don't apply to the clone.
in_clone() { (cd "$clone" && env -u ZIG -u ZLIB -u MAVEN -u PETAL_BUILD_DIR "$@"); }
same_bytes() { # compared with those that ./dev test packages made
    while read -r sum file; do
        ! grep -q " $file\$" "$packages/SHA256SUMS" || grep -qx "$sum  $file" "$packages/SHA256SUMS" ||
            { echo "$file: other bytes than beside the others" && return 1; }
    done <"$clone/build/packages/SHA256SUMS"
}
said=$(packaging/make 2>&1)
whats=$(printf '%s\n' "$said" | sed -n 's/.*OUT \[\(.*\)\] .*/\1/p')
ok 'packaging/make lists what it makes' test -n "$whats"
for what in $whats; do
    ok "$what: a fresh clone" fresh "$what"
    ok "$what: ./dev package $what" in_clone ./dev package "$what"
    ok "$what: the same bytes" same_bytes
    rm -rf "$clone"
done

# alone NAME FILE COMMAND...: COMMAND in a fresh clone makes FILE.
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
