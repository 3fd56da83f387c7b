#!/bin/sh
# The same keys give the same bytes in every format on other platforms: big-endian and 64-bit ARM, under emulation, and here
# with every kernel that this CPU has.
set -u
sources="tests/platforms/lib/images.c $(ls src/*/*.c)"
flags='-std=gnu11 -O2 -ffp-contract=off -Iinclude -Isrc'
golden=tests/vectors/petal/textbook.petal
xxhash=$(printf '#include <xxhash.h>\n' | cc -E -M - | tr ' ' '\n' | grep 'xxhash.h$')
number=0

# report STATUS NAME
report() {
    number=$((number + 1))
    [ "$1" -eq 0 ] && echo "ok $number - $2" || echo "not ok $number - $2"
}

# elsewhere NAME COMPILER EMULATOR: compiles statically for another platform, runs, and compares.
elsewhere() {
    name=$1 compiler=$2 emulator=$3
    if ! command -v "$compiler" >/dev/null || ! command -v "$emulator" >/dev/null; then
        number=$((number + 1))
        echo "ok $number - $name # SKIP no $compiler or no $emulator"
        return
    fi
    mkdir -p "$TMPDIR/include"
    cp "$(dirname "$xxhash")"/xxh*.h "$TMPDIR/include/"
    "$compiler" $flags -I"$TMPDIR/include" -static $sources -lm -o "$TMPDIR/$name" &&
        "$emulator" "$TMPDIR/$name" "$golden" >"$TMPDIR/$name.out" && diff "$TMPDIR/here.out" "$TMPDIR/$name.out"
    report $? "the same bytes on $name"
}

echo 1..3
cc $flags $sources -lm -o "$TMPDIR/here" && "$TMPDIR/here" "$golden" >"$TMPDIR/here.out"
report $? 'images are made here'
elsewhere s390x s390x-linux-gnu-gcc qemu-s390x
elsewhere aarch64 aarch64-linux-gnu-gcc qemu-aarch64
