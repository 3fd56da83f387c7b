#!/bin/sh
# strangers.sh - programs work even if their authors know only petal.h. The programs use arrays from
# other languages, a socket, a server, and a header that is older or newer than the library.
set -u
. tests/install/lib/tap.sh
CC=${CC:-cc}
here=tests/install/strangers
strict='-std=c11 -Wall -Wextra -Werror -O1'

# shellcheck disable=SC2086 # several flags
builds() { # builds PROGRAM HEADERS [OPTION...]
    program=$1 headers=$2
    shift 2
    "$CC" $strict "-I$headers" "$@" "$here/$program.c" "$PETAL_BUILD_DIR/lib/libpetal.so" \
        "-Wl,-rpath,$PETAL_BUILD_DIR/lib" -o "$TMPDIR/$program"
}

for program in buffers sockets server; do
    ok "$program: builds" builds $program include
    ok "$program: works" "$TMPDIR/$program"
done
ok 'an older header: builds' builds older $here/old
ok 'an older header: works' "$TMPDIR/older" "$TMPDIR/older.petal"
ok 'a newer header: builds' builds older include -DNEWER
ok 'a newer header: works' "$TMPDIR/older" "$TMPDIR/newer.petal"
finish
