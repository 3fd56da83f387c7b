#!/bin/sh
# The same keys give the same bytes in every format on other platforms: big-endian and 64-bit ARM, under emulation, and here
# with every kernel that this CPU has.
set -u
. tests/install/lib/tap.sh
sources="tests/platforms/lib/images.c $(ls src/*/*.c)"
flags='-std=gnu11 -O2 -ffp-contract=off -Iinclude -Isrc'
golden=tests/vectors/petal/textbook.petal
xxhash=$(printf '#include <xxhash.h>\n' | cc -E -M - | tr ' ' '\n' | grep 'xxhash.h$')

here() { cc $flags $sources -lm -o "$TMPDIR/here" && "$TMPDIR/here" "$golden" >"$TMPDIR/here.out"; }

# elsewhere NAME COMPILER EMULATOR: compiles statically for another platform, runs, and compares.
elsewhere() {
    mkdir -p "$TMPDIR/include"
    cp "$(dirname "$xxhash")"/xxh*.h "$TMPDIR/include/"
    "$2" $flags -I"$TMPDIR/include" -static $sources -lm -o "$TMPDIR/$1" &&
        "$3" "$TMPDIR/$1" "$golden" >"$TMPDIR/$1.out" && diff "$TMPDIR/here.out" "$TMPDIR/$1.out"
}
same_on() { ok "the same bytes on $1" elsewhere "$@"; }

ok 'images are made here' here
needs s390x-linux-gnu-gcc qemu-s390x && same_on s390x s390x-linux-gnu-gcc qemu-s390x
needs aarch64-linux-gnu-gcc qemu-aarch64 && same_on aarch64 aarch64-linux-gnu-gcc qemu-aarch64
finish
