#!/bin/sh
# Tests WebAssembly under Node: the test vectors of every format except the gzip formats are read,
# queried and written as in a native build, and calls that require a file report that files are not
# supported.
set -u
. tests/install/lib/tap.sh
needs clang wasm-ld wasi node || finish
lib=$PWD/tests/platforms/lib
top=$PWD
xxhash=$(printf '#include <xxhash.h>\n' | cc -E -M - | tr ' ' '\n' | grep 'xxhash.h$')

# Compiles without this machine's headers, except xxHash's.
mkdir "$TMPDIR/include" "$TMPDIR/objects"
cp "$(dirname "$xxhash")"/xxh*.h "$TMPDIR/include/"

wasm() { clang --target=wasm32-wasi "$@"; }
compiles() {
    cd "$TMPDIR/objects" &&
        ls "$top"/src/*/*.c "$top"/src/*/*/*.c "$top/tests/formats/vectors.c" "$lib/no_files.c" |
        xargs -P "$(nproc)" -n 8 clang --target=wasm32-wasi -std=c11 -O1 -Wall -Wextra -Werror \
            "-I$lib/wasm" "-I$top/include" "-I$top/src" "-I$TMPDIR/include" -c
    status=$?
    cd "$top" && return $status
}
links() { # links PROGRAM: links PROGRAM without the other programs' objects
    wasm $(ls "$TMPDIR"/objects/*.o | grep -v -e '/vectors\.o$' -e '/no_files\.o$') \
        "$TMPDIR/objects/$1.o" -o "$TMPDIR/$1.wasm"
}
runs() { node --no-warnings "$lib/wasm/run.mjs" "$TMPDIR/$1.wasm" "$2"; }

ok 'compiles without warnings' compiles
ok 'links the vectors' links vectors
ok 'all vectors except those of dcso-gzip' runs vectors dcso-gzip
ok 'links a program that opens a file' links no_files
ok 'files are refused, but memory is not' runs no_files vectors/petal/textbook.petal
finish
