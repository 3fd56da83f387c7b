# packages.sh - helpers to test the packages that packaging/make created in build/packages. This
# script must be sourced, not run.
#
# ./dev test packages and ./dev test --all build the packages before they run these tests. If zig or
# Debian's sources are unreachable, there are no packages, and the tests are skipped.
. tests/install/lib/tap.sh
. packaging/lib.sh
packages=$PWD/build/packages
version=$(sed -n 's/^#define PETAL_VERSION_[MP][AIJNOTCHR]* \([0-9]*\)$/\1/p' include/petal/petal.h | paste -sd .)

# If packages for other systems can't be built, skips the test.
needs_zig() {
    "$ZIG" -m ziglang version >/dev/null 2>&1 && [ -d "$ZLIB" ] && [ -d build/cmocka ] && return 0
    skip 'packages of other systems' 'unreachable: ziglang, or the sources of zlib and cmocka'
    finish
}

# unpacked SYSTEM: unpacks the tool's package for this system, and sets $unpacked to its folder.
unpacked() {
    unpacked=$TMPDIR/petal-$version-$1
    [ -d "$unpacked" ] || tar -xzf "$packages/petal-$version-$1.tar.gz" -C "$TMPDIR"
}

# has_files FOLDER FILE...: checks that FOLDER contains these files, and that none is empty.
has_files() (
    cd "$1" || exit
    shift
    for file; do [ -s "$file" ] || { echo "lacks $file"; exit 1; }; done
)

# Sets up Wine with its own folder in $TMPDIR. At the end of the test, Wine's server is stopped,
# since it would otherwise keep running for a while. If Wine is not installed, the test is skipped.
needs_wine() {
    wine=/usr/lib/wine/wine64
    [ -x $wine ] && [ "$(uname -m)" = x86_64 ] ||
        { skip 'under Wine' "this machine: Debian has no wine64 for its CPU, or it is not installed"; finish; }
    WINEPREFIX=$TMPDIR/wine WINEDEBUG=-all
    export WINEPREFIX WINEDEBUG
    trap '/usr/lib/wine/wineserver64 -k 2>/dev/null' EXIT
}

# piped PROGRAM ARGUMENT...: runs PROGRAM under Wine with pipes as stdin and stdout, because some
# programs start only with pipes, or never end if their input is Linux's /dev/null. The exit status
# is lost.
piped() { : | timeout -s KILL 600 $wine "$@" 2>&1 | tr -d '\r'; }

# wheel_of TAG: prints the path of the wheel for this platform tag.
wheel_of() { ls "$packages"/petal_bloom-"$version"-cp311-abi3-*"$1".whl; }

# python_vectors PYTHON [SITE]: runs the binding's tests that depend only on the standard library.
python_vectors() {
    PYTHONPATH=bindings/python/test${2:+$(python_path "$1")$2} "$1" -B bindings/python/test/bare.py \
        test_vectors test_cases >"$TMPDIR/said" 2>&1
    cat "$TMPDIR/said"
    ! grep -q '^not ok' "$TMPDIR/said" && [ "$(sed -n 's/^1\.\.\([0-9]*\).*/\1/p' "$TMPDIR/said")" = "$(grep -c '^ok' "$TMPDIR/said")" ]
}
# Prints the separator between folders in PYTHONPATH on PYTHON's system.
python_path() { "$1" -c 'import os; print(os.pathsep)' | tr -d '\r\n'; }

# command_of FOLDER COMMAND...: creates the script FOLDER/petal, which runs COMMAND with the
# script's arguments
command_of() {
    command_folder=$1
    shift
    mkdir -p "$command_folder"
    printf '#!/bin/sh\nexec %s "$@"\n' "$*" >"$command_folder/petal"
    chmod +x "$command_folder/petal"
}

# cross_test SYSTEM TEST OUT: compiles a test from tests/unit or tests/formats with cmocka and the
# library. Compiling the library is fast, since zig cached it when the tool was built with the same
# flags.
cmocka_has='STDINT_H INTTYPES_H SETJMP_H STDARG_H STDDEF_H STDBOOL_H STDIO_H STDLIB_H STRING_H
    STRINGS_H SIGNAL_H TIME_H UNISTD_H MALLOC_H SIGNAL SNPRINTF VSNPRINTF STRSIGNAL STRUCT_TIMESPEC
    CLOCK_GETTIME'
cross_test() {
    test_objects=$(mktemp -d)
    cross_objects "$1" "$test_objects" "$(cross_flags "$1") -std=gnu11 -isystem build/cmocka/include
        $(printf ' -DHAVE_%s=1' $cmocka_has) -D_UINTPTR_T -w" "tests/$2.c" build/cmocka/src/cmocka.c &&
        cross "$1" $(cross_flags "$1") -s "$test_objects"/*.o $(library_sources) $(zlib_sources) -o "$3"
    test_status=$?
    rm -rf "$test_objects"
    return $test_status
}
