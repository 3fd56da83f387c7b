#!/bin/sh
# consumers.sh - a C program can use Petal in every way that the README describes: with CMake
# (installed or as a subdirectory), with pkg-config (shared or static), and by compiling Petal's
# sources together with its own.
set -u
. tests/install/lib/tap.sh
CC=${CC:-cc}
consumer=tests/install/consumer
prefix=$TMPDIR/prefix

configure() { cmake -S "$consumer" -B "$TMPDIR/$1" -DCMAKE_BUILD_TYPE=Debug "$2"; }
compile() { cmake --build "$TMPDIR/$1"; }
runs() { "$1" "$TMPDIR/made.petal"; }

try_cmake() { # try_cmake WAY CMAKE_OPTION
    ok "$1: configures" configure "$1" "$2"
    ok "$1: builds" compile "$1"
    for kind in petal static shared; do
        ok "$1: petal::$kind works" runs "$TMPDIR/$1/consumer-$kind"
    done
}

ok 'installs' cmake --install "$PETAL_BUILD_DIR" --prefix "$prefix"
ok 'installs the header, both libraries, the tool and the man pages' \
    ls "$prefix/include/petal/petal.h" "$prefix/lib/libpetal.a" "$prefix/lib/libpetal.so" "$prefix/bin/petal" \
    "$prefix/share/man/man1/petal.1" "$prefix/share/man/man3/petal.3" "$prefix/share/man/man3/petal_add.3"
ok 'the installed tool runs' "$prefix/bin/petal" --version

# Moves the installed files, to prove that they contain no path from the build.
mv "$prefix" "$TMPDIR/moved"
prefix=$TMPDIR/moved
try_cmake find_package "-DCMAKE_PREFIX_PATH=$prefix"
try_cmake add_subdirectory "-DPETAL_SOURCE=$PWD"

PKG_CONFIG_PATH=$prefix/lib/pkgconfig
export PKG_CONFIG_PATH
# shellcheck disable=SC2046 # pkg-config prints words
by_pkg_config() { "$CC" "$@" "$consumer/consumer.c" -o "$TMPDIR/$way" $(pkg-config $flags --cflags --libs petal); }
way=pkg-config flags=''
ok 'pkg-config, shared: builds' by_pkg_config "-Wl,-rpath,$prefix/lib"
ok 'pkg-config, shared: works' runs "$TMPDIR/$way"
way=pkg-config-static flags=--static
ok 'pkg-config, static: builds' by_pkg_config -static
ok 'pkg-config, static: works' runs "$TMPDIR/$way"

ok 'cc src/*/*.c src/*/*/*.c: builds' "$CC" -std=c11 src/*/*.c src/*/*/*.c "$consumer/consumer.c" -Iinclude -Isrc -lm -o "$TMPDIR/plain"
ok 'cc src/*/*.c src/*/*/*.c: works' runs "$TMPDIR/plain"
finish
