# packages.sh - for the tests of what packaging/make has put into build/packages. Sourced, not run.
#
# ./dev test packages and ./dev test --all make the packages first. Where zig or Debian's sources
# are out of reach there are none, and the test is skipped.
. tests/install/lib/tap.sh
. packaging/lib.sh
packages=$PWD/build/packages
version=$(sed -n 's/^#define PETAL_VERSION_[MP][AIJNOTCHR]* \([0-9]*\)$/\1/p' include/petal/petal.h | paste -sd .)

# Ends the test with a skip where packages for other systems cannot be made.
needs_zig() {
    "$ZIG" -m ziglang version >/dev/null 2>&1 && [ -d "$ZLIB" ] && [ -d build/cmocka ] && return 0
    skip 'packages of other systems' 'unreachable: ziglang, or the sources of zlib and cmocka'
    finish
}

# unpacked SYSTEM: the tool's package of this system, unpacked; its folder is $unpacked.
unpacked() {
    unpacked=$TMPDIR/petal-$version-$1
    [ -d "$unpacked" ] || tar -xzf "$packages/petal-$version-$1.tar.gz" -C "$TMPDIR"
}

# command_of FOLDER COMMAND...: makes FOLDER/petal, which runs COMMAND with its own arguments.
command_of() {
    command_folder=$1
    shift
    mkdir -p "$command_folder"
    printf '#!/bin/sh\nexec %s "$@"\n' "$*" >"$command_folder/petal"
    chmod +x "$command_folder/petal"
}

# cross_test SYSTEM TEST OUT: a test of tests/unit or tests/formats, with cmocka and the library.
cmocka_has='STDINT_H INTTYPES_H SETJMP_H STDARG_H STDDEF_H STDBOOL_H STDIO_H STDLIB_H STRING_H
    STRINGS_H SIGNAL_H TIME_H UNISTD_H MALLOC_H SIGNAL SNPRINTF VSNPRINTF STRSIGNAL STRUCT_TIMESPEC
    CLOCK_GETTIME'
cross_test() {
    cross "$1" -std=gnu11 -isystem build/cmocka/include $(printf ' -DHAVE_%s=1' $cmocka_has) -D_UINTPTR_T \
        -w "tests/$2.c" build/cmocka/src/cmocka.c src/*/*.c $(zlib_sources) -o "$3"
}
