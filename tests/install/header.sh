#!/bin/sh
# header.sh - the public headers are valid C99 to C23 and C++11 to C++20, and several files of a
# program may include them. Structs can be initialized in declarations and assignments. If a program
# ignores a status that it must check, the compiler warns. The version known to the preprocessor
# equals the version reported at run time.
set -u
. tests/install/lib/tap.sh
CC=${CC:-cc} CXX=${CXX:-c++}
strict='-Wall -Wextra -Wpedantic -pedantic-errors -Werror -Iinclude'

cat >"$TMPDIR/main.c" <<'END'
#include <petal/petal.h>
#include <petal/petal_build.h>
#include <petal/petal_index.h>
#include <petal/petal_host.h>
#include <petal/petal_inline.h>
#include <petal/petal_parquet.h>
#include <petal/petal.h>
#include <string.h>
#if PETAL_VERSION_NUMBER < 100 || PETAL_VERSION_MAJOR > 9
#error "the preprocessor knows the version"
#endif
const char *other(void);
int main(void)
{
    petal_options options;
    options = PETAL_OPTIONS_INIT;
    return petal_version() != other() || strcmp(petal_version(), PETAL_VERSION_STRING) != 0 ||
           petal_version_number() != PETAL_VERSION_NUMBER ||
           options.struct_size != sizeof options || options.capacity != 0;
}
END
cat >"$TMPDIR/other.c" <<'END'
#include <petal/petal_inline.h>
const char *other(void);
const char *other(void)
{
    petal_info i = PETAL_INFO_INIT;
    petal_options o = PETAL_OPTIONS_INIT;
    petal_open_options p = PETAL_OPEN_OPTIONS_INIT;
    return i.struct_size && o.struct_size && p.struct_size ? petal_version() : 0;
}
END
cat >"$TMPDIR/ignores.c" <<'END'
#include <petal/petal.h>
void ignores(petal_filter *filter);
void ignores(petal_filter *filter)
{
    petal_sync(filter, NULL);
    petal_verify(filter, NULL);
    petal_allow_threads(filter, NULL);
}
END
for name in main other ignores; do cp "$TMPDIR/$name.c" "$TMPDIR/$name.cc"; done

# shellcheck disable=SC2086 # several flags
two_files() { # two_files COMPILER STANDARD SUFFIX
    "$1" "-std=$2" $strict "$TMPDIR/main.$3" "$TMPDIR/other.$3" "$PETAL_BUILD_DIR/lib/libpetal.a" -lm -o "$TMPDIR/two" &&
        "$TMPDIR/two"
}
# shellcheck disable=SC2086
ignoring_is_a_warning() { # ignoring_is_a_warning COMPILER STANDARD SUFFIX
    "$1" "-std=$2" $strict -Wno-unused-result -c "$TMPDIR/ignores.$3" -o /dev/null &&
        ! "$1" "-std=$2" $strict -c -o /dev/null "$TMPDIR/ignores.$3" 2>"$TMPDIR/warning" &&
        [ "$(grep -c 'petal_\(sync\|verify\|allow_threads\).*\(nodiscard\|unused.result\)' "$TMPDIR/warning")" -eq 3 ]
}
for standard in c99 c11 c2x; do
    ok "$standard, pedantic: two files link and run" two_files "$CC" $standard c
    ok "$standard: ignoring a status causes a warning" ignoring_is_a_warning "$CC" $standard c
done
for standard in c++11 c++17 c++20; do
    ok "$standard, pedantic: two files link and run" two_files "$CXX" $standard cc
    ok "$standard: ignoring a status causes a warning" ignoring_is_a_warning "$CXX" $standard cc
done
finish
