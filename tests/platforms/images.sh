#!/bin/sh
# Tests that the same keys give the same bytes in every format on other platforms: big-endian and
# 64-bit ARM under emulation, and this machine with each kernel that its CPU supports. ARM compilers
# may fuse multiplications and additions, but even so, a grid of plans must have the same sizes.
set -u
. tests/install/lib/tap.sh
top=$PWD
flags="-std=c11 -O2 -I$top/include -I$top/src"
golden=vectors/petal/textbook.petal
xxhash=$(printf '#include <xxhash.h>\n' | cc -E -M - | tr ' ' '\n' | grep 'xxhash.h$')

# $CC is the compiler, and $RUN is the emulator.
library() { # library PLATFORM: compiles the library's object files once for all programs
    library=$TMPDIR/$1
    mkdir "$library" && ls "$top"/src/*/*.c "$top"/src/*/*/*.c | (cd "$library" && xargs -P "$(nproc)" -n 8 "$CC" \
        $flags $more -c)
}
made() { # made PROGRAM PLATFORM: compiles and runs PROGRAM, and writes its output to
         # PROGRAM.PLATFORM
    "$CC" $flags $more "tests/platforms/lib/$1.c" "$library"/*.o -lm -o "$TMPDIR/$1" &&
        $RUN "$TMPDIR/$1" "$golden" >"$TMPDIR/$1.$2"
}
same() { made "$@" && diff "$TMPDIR/$1.here" "$TMPDIR/$1.$2"; }

# Compiles without this machine's headers, except xxHash's.
mkdir -p "$TMPDIR/include"
cp "$(dirname "$xxhash")"/xxh*.h "$TMPDIR/include/"

CC=cc RUN='' more=''
ok 'the library is compiled here' library here
ok 'images are made here' made images here
ok 'sizes are planned here' made sizes here
more="-I$TMPDIR/include -static"
CC=s390x-linux-gnu-gcc RUN=qemu-s390x
needs s390x-linux-gnu-gcc qemu-s390x && ok 'the library is compiled for s390x' library s390x &&
    ok 'the same bytes on s390x' same images s390x
CC=aarch64-linux-gnu-gcc RUN=qemu-aarch64
needs aarch64-linux-gnu-gcc qemu-aarch64 && ok 'the library is compiled for aarch64' library aarch64 &&
    ok 'the same bytes on aarch64' same images aarch64 &&
    ok 'the same sizes on aarch64' same sizes aarch64
finish
