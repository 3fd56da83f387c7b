#!/bin/sh
# bundle.sh - any compiler can build the flat source folder that scripts/bundle creates, using only
# libm. The result is the complete library: it reads and writes files of every format except gzip,
# and works from Go (with cgo) and from Python (as a setup.py extension).
set -u
. tests/install/lib/tap.sh
bundle=$TMPDIR/bundle
here=$PWD/tests/install/bundle

ok 'writes the folder' scripts/bundle "$bundle"
flat() { [ -z "$(find "$bundle" -mindepth 1 ! -type f)" ]; }
ok 'the folder is flat' flat
complete() {
    (cd "$bundle" && ls README.md LICENSE LICENSE-xxhash xxhash.h \
        petal.h petal_build.h petal_host.h petal_index.h petal_inline.h petal_parquet.h)
}
ok 'the folder has the headers, the licences and a README' complete
refuses() { ! scripts/bundle "$bundle"; }
ok 'a folder that is not empty is refused' refuses

# ---- compilers -----------------------------------------------------------------------------------

objects() { # objects COMPILER OPTION: compiles into a folder named after the compiler
    mkdir "$TMPDIR/$1" && cd "$TMPDIR/$1" &&
        ls "$bundle"/*.c | xargs -P "$(nproc)" -n 8 "$1" -std=c11 "$2" -Wall -Wextra -Werror -fPIC -c
    status=$?
    cd "$OLDPWD" && return $status
}
header() { # header COMPILER LANGUAGE STANDARD
    printf '#include "petal_build.h"\n#include "petal_index.h"\n#include "petal_host.h"\n#include "petal_inline.h"\n#include "petal_parquet.h"\n' |
        "$1" -x "$2" "-std=$3" -pedantic-errors -Wall -Wextra -Werror "-I$bundle" -fsyntax-only -
}
clang=clang clangxx=clang++
needs clang || clang='' clangxx=''
for compiler in gcc $clang; do
    # Some gcc warnings require -O1, but no clang warning does.
    case $compiler in gcc) level=-O1 ;; *) level=-O0 ;; esac
    ok "$compiler compiles it as C11 without warnings" objects "$compiler" $level
    ok "$compiler accepts the headers as C99" header "$compiler" c c99
done
for compiler in g++ $clangxx; do
    ok "$compiler accepts the headers as C++11" header "$compiler" c++ c++11
done
alone() { gcc -shared -Wl,-z,defs "$TMPDIR"/gcc/*.o -lm -o "$TMPDIR/libpetal.so"; }
ok 'it needs no library except libm' alone

# ---- C -------------------------------------------------------------------------------------------

# The test uses <petal/petal.h> from the bundle.
mkdir "$TMPDIR/include" && ln -s "$bundle" "$TMPDIR/include/petal"
build_vectors() {
    gcc -O1 "-I$TMPDIR/include" tests/formats/vectors.c "$TMPDIR"/gcc/*.o -lcmocka -lm \
        -o "$TMPDIR/vectors"
}
ok 'a program is linked with it' build_vectors
ok 'the files of every format except gzip can be read, queried and written' \
    "$TMPDIR/vectors" dcso-gzip

# ---- Go and Python -------------------------------------------------------------------------------

says() { # says EXPECTED COMMAND...
    expected=$1
    shift
    [ "$("$@")" = "$expected" ]
}

if needs go; then
    mkdir "$TMPDIR/go" && cp "$here/go/main.go" "$TMPDIR/go" && cp -r "$bundle" "$TMPDIR/go/petal"
    cp "$here/go/petal.go" "$TMPDIR/go/petal" && printf 'module bundled\n\ngo 1.18\n' >"$TMPDIR/go/go.mod"
    cgo() {
        (cd "$TMPDIR/go" && env CGO_ENABLED=1 CGO_CFLAGS=-O0 GOCACHE="$cache" GOPROXY=off \
            GOTOOLCHAIN=local go build -o asks .)
    }
    cache=$PWD/build/go-cache
    ok 'cgo builds it' cgo
    ok 'it answers from Go' says 'true false' "$TMPDIR/go/asks"
fi

if needs python3-config setuptools; then
    mkdir "$TMPDIR/python" && cp "$here"/python/* "$TMPDIR/python" && cp -r "$bundle" "$TMPDIR/python/petal"
    extension() { (cd "$TMPDIR/python" && CFLAGS=-O0 python3 setup.py -q build_ext --inplace -j "$(nproc)"); }
    ok 'setup.py builds it' extension
    from_python() {
        PYTHONPATH=$TMPDIR/python python3 -B -c \
            'import bundled; print(bundled.ask(b"one", b"one"), bundled.ask(b"one", b"other"))'
    }
    ok 'it answers from Python' says 'True False' from_python
fi
finish
