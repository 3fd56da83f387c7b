#!/bin/sh
# header.sh - petal.h and petal_inline.h are C99, C11 and C++, and may be included by any number of
# files of one program.
set -u
. tests/install/lib/tap.sh
CC=${CC:-cc} CXX=${CXX:-c++}
strict='-Wall -Wextra -Wpedantic -pedantic-errors -Werror -Iinclude'

printf '#include <petal/petal.h>\n#include <petal/petal_inline.h>\n#include <petal/petal.h>\nconst char *other(void);\n%s\n' \
    'int main(void) { return petal_version() != other(); }' >"$TMPDIR/main.c"
printf '#include <petal/petal_inline.h>\n%s\n%s\n' 'const char *other(void);' \
    'const char *other(void) { petal_info i = PETAL_INFO_INIT; petal_options o = PETAL_OPTIONS_INIT;
     petal_open_options p = PETAL_OPEN_OPTIONS_INIT;
     return i.struct_size && o.struct_size && p.struct_size ? petal_version() : 0; }' >"$TMPDIR/other.c"
cp "$TMPDIR/main.c" "$TMPDIR/main.cc"
cp "$TMPDIR/other.c" "$TMPDIR/other.cc"

# shellcheck disable=SC2086 # several flags
two_files() { # two_files COMPILER STANDARD SUFFIX
    "$1" "-std=$2" $strict "$TMPDIR/main.$3" "$TMPDIR/other.$3" "$PETAL_BUILD_DIR/lib/libpetal.a" -lm -o "$TMPDIR/two" &&
        "$TMPDIR/two"
}
ok 'C99, pedantic: two files link and run' two_files "$CC" c99 c
ok 'C11, pedantic: two files link and run' two_files "$CC" c11 c
ok 'C++11, pedantic: two files link and run' two_files "$CXX" c++11 cc
ok 'C++20, pedantic: two files link and run' two_files "$CXX" c++20 cc
finish
