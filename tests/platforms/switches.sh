#!/bin/sh
# Tests that a build can cleanly leave out parts of the library. A build without zlib supports all
# formats except the gzip formats. A build without files works in memory. A build with a list of
# formats supports only these formats. A read-only build can read filters.
set -u
. tests/install/lib/tap.sh

configure() { cmake -S . -B "$TMPDIR/cmake" -DPETAL_WITH_ZLIB=OFF -DPETAL_BUILD_TESTS=OFF; }
links_no_zlib() { grep '^Libs.private' "$TMPDIR/cmake/petal.pc" | tee /dev/stderr | grep -qvw -e -lz; }

ok 'cmake -DPETAL_WITH_ZLIB=OFF: configures' configure
ok 'cmake -DPETAL_WITH_ZLIB=OFF: links no zlib' links_no_zlib

# ---- the objects ---------------------------------------------------------------------------------

compile_into() { # compile_into FOLDER OPTION...: compiles the sources listed on stdin
    folder=$TMPDIR/$1
    shift
    mkdir -p "$folder"
    OPTIONS="-ffunction-sections -fdata-sections $*" OUT=$folder xargs -P "$(nproc)" \
        -I FILE sh -c 'cc -std=c11 -Os -Wall -Wextra -Werror -Iinclude -Isrc $OPTIONS -c FILE \
            -o "$OUT/$(basename FILE).o"'
}
objects() { ls src/*/*.c src/*/*/*.c | compile_into "$@"; }
changed() { # changed WORD ALL FOLDER OPTION...: copies the object files from ALL, but recompiles
            # the sources that contain WORD
    word=$1
    cp -r "$TMPDIR/$2" "$TMPDIR/$3" && shift 2 &&
        grep -l "$word" src/*/*.c src/*/*/*.c | compile_into "$@"
}
listed() { changed 'PETAL_IF(' "$@" -DPETAL_FORMATS_LISTED; }
program() { # program FOLDER SOURCE OPTION...: compiles SOURCE to FOLDER.NAME, where NAME is the
            # source's name
    of=$1 source=$2 name=${2##*/}
    shift 2
    cc -std=c11 -O1 -Iinclude -Isrc "$@" "$source" "$TMPDIR/$of"/*.o -Wl,--gc-sections -lcmocka -lm \
        -o "$TMPDIR/$of.${name%.c}"
}
formats=$(sed -n 's/^ *[A-Z]*([A-Z0-9_, ]* \([a-z0-9_]*\), [0-9]*).*/\1/p' \
    src/format/format_list.h | tr _ -)
foreign() { petal convert --from leveldb vectors/leveldb/bpk10_n100.bin "$TMPDIR/leveldb.petal"; }
lists() { cmake -S . -B "$TMPDIR/listed" -DPETAL_FORMATS="$1" -DPETAL_BUILD_TESTS=OFF; }
refuses() { ! lists "$1" && grep -q "no library no-such" "$TMPDIR/tap.out"; }
tool() { cc -std=c11 -O0 -Iinclude -Icli cli/*.c cli/*/*.c "$TMPDIR/$1"/*.o -lm -pthread -o "$TMPDIR/$1.petal"; }
says() { # says FOLDER FORMAT TEXT: checks that the tool's message about a file in this format
         # contains TEXT
    ! "$TMPDIR/$1.petal" info --from "$2" vectors/leveldb/bpk10_n100.bin 2>"$TMPDIR/message" &&
        grep "^petal: $3" "$TMPDIR/message"
}
code_bytes() { size "$TMPDIR/$1.no_files" | awk 'NR == 2 { print $1 }'; }
smaller() { # smaller A B: checks that a program built from the objects in A is smaller than the
            # same program built from B
    program "$1" tests/platforms/lib/no_files.c && program "$2" tests/platforms/lib/no_files.c &&
        [ "$(code_bytes "$1")" -lt "$(code_bytes "$2")" ]
}

ok 'all formats: builds' objects all

# ---- without zlib, without files -----------------------------------------------------------------

ok 'without zlib: links the vectors' program all tests/formats/vectors.c
ok 'without zlib: all vectors except those of dcso-gzip' "$TMPDIR/all.vectors" dcso-gzip
ok 'without files: builds' changed PETAL_OS_NONE all no_files -DPETAL_OS_NONE
ok 'without files: links' program no_files tests/platforms/lib/no_files.c
ok 'without files: files are refused, but memory is not' \
    "$TMPDIR/no_files.no_files" vectors/petal/textbook.petal

# ---- formats by list -----------------------------------------------------------------------------

ok 'cmake -DPETAL_FORMATS: accepts names of libraries' lists 'guava;bloom-filters'
ok 'cmake -DPETAL_FORMATS: refuses other names' refuses 'guava;no-such'
ok 'guava alone: builds' listed all guava -DPETAL_WITH_GUAVA
ok 'guava alone: links the vectors' program guava tests/formats/vectors.c
ok 'guava alone: its vectors pass, and those of others are refused' \
    "$TMPDIR/guava.vectors" $(printf '%s\n' $formats | grep -v -e guava -e oldpanda -e '^petal$')
ok 'no format: builds' listed all none
ok 'no format: links the golden files' program none tests/unit/golden.c
ok 'no format: the golden files' "$TMPDIR/none.golden"
ok 'a petal file with the scheme of LevelDB' foreign
ok 'no format: links the program that opens it' program none tests/platforms/lib/left_out.c
ok 'no format: it is refused' "$TMPDIR/none.left_out" "$TMPDIR/leveldb.petal" leveldb
ok 'no format: builds the tool' tool none
ok 'no format: the tool reports that guava is left out' says none guava 'the format guava is not in this'
ok 'no format: the tool reports that there is no guawa' says none guawa 'there is no format guawa; '
ok 'no format: is smaller than guava alone' smaller none guava
ok 'guava alone: is smaller than all formats' smaller guava all

# ---- for reading only ----------------------------------------------------------------------------

ok 'read-only: builds' objects read -DPETAL_READ_ONLY
ok 'read-only: links the vectors' program read tests/formats/vectors.c -DPETAL_READ_ONLY
ok 'read-only: all vectors except those of dcso-gzip, without rebuilding' "$TMPDIR/read.vectors" dcso-gzip
ok 'read-only: links what opens a golden file' program read tests/platforms/lib/read_only.c
ok 'read-only: it is open, and nothing can be changed' \
    "$TMPDIR/read.read_only" vectors/petal/blocked.petal
ok 'read-only: is smaller' smaller read all
ok 'read-only, no format: builds' listed read read_none -DPETAL_READ_ONLY
ok 'read-only, no format: is smaller than either' smaller read_none none
for build in all guava none read read_none; do
    echo "# a program with $build: $(code_bytes $build) bytes"
done
finish
