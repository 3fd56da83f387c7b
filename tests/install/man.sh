#!/bin/sh
# man.sh - the manual of the C functions, which scripts/gen-man generates from the headers, contains
# every function and every word of the comments, renders without warnings, and can be found by a
# function's name.
set -u
. tests/install/lib/tap.sh
man=$TMPDIR/share/man/man3
page=$man/petal.3
headers='include/petal/petal.h include/petal/petal_build.h include/petal/petal_index.h include/petal/petal_host.h include/petal/petal_parquet.h'

ok 'the pages are made' scripts/gen-man "$man"
ok 'the build made the same' diff -r "$man" "$PETAL_BUILD_DIR/man3"

words() { tr 'A-Z' 'a-z' | tr -cs 'a-z0-9_' '\n' | sort -u; }
# Prints the headers without lines that only compilers need. Of petal.h, this is the first comment
# and everything from the first section on.
text() {
    {
        sed -n '1,/^#ifndef/p; /^\/\* ----.* status /,$p' include/petal/petal.h
        cat include/petal/petal_build.h include/petal/petal_index.h include/petal/petal_host.h \
            include/petal/petal_parquet.h
    } | sed '/^#i/d; /^#endif/d; /^extern/d; /^#define PETAL_[A-Z]*_*H$/d
        s/PETAL_API//; s/PETAL_NODISCARD//; /PETAL_STRUCT_INIT/d'
}
all_words() {
    text | words >"$TMPDIR/header"
    words <"$page" >"$TMPDIR/page"
    [ "$(wc -l <"$TMPDIR/header")" -gt 1000 ] && comm -23 "$TMPDIR/header" "$TMPDIR/page" >"$TMPDIR/lost"
    cat "$TMPDIR/lost"
    [ ! -s "$TMPDIR/lost" ]
}
ok 'every word of the headers is in it' all_words
each_call() { # checks that each function has a heading, a declaration and a page
    sed -n 's/.*PETAL_API [^(]*\(petal_[a-z0-9_]*\)(.*/\1/p' include/petal/*.h >"$TMPDIR/calls"
    [ "$(wc -l <"$TMPDIR/calls")" -gt 60 ] || return 1
    while read -r call; do
        grep -q "^\.Ss .*$call" "$page" && grep -q "^[a-z].*$call(" "$page" &&
            [ "$(cat "$man/$call.3")" = '.so man3/petal.3' ] || { echo "$call" && return 1; }
    done <"$TMPDIR/calls"
}
ok 'every call is in it' each_call
failures() { # checks that each row of a failure table stays on its own line
    sed -n '/^ \*   PETAL_/{ s/^ \*   //; s/ *\*\/$//; p; }' $headers >"$TMPDIR/rows"
    [ "$(wc -l <"$TMPDIR/rows")" -gt 100 ] || return 1
    while IFS= read -r row; do grep -qxF -- "$row" "$page" || { echo "$row" && return 1; }; done <"$TMPDIR/rows"
}
ok 'every failure has its line' failures

needs mandoc man groff || finish
no_fault() { mandoc -T lint -W warning "$page"; }
ok 'mandoc finds no faults' no_fault
no_warning() {
    LC_ALL=C.UTF-8 MANWIDTH=100 man --warnings -l "$page" >"$TMPDIR/read" 2>"$TMPDIR/warned"
    cat "$TMPDIR/warned"
    [ -s "$TMPDIR/read" ] && [ ! -s "$TMPDIR/warned" ]
}
ok 'man prints no warnings' no_warning
by_name() { LC_ALL=C.UTF-8 man -M "$TMPDIR/share/man" petal_builder_finish | grep -q 'Ends the build and releases the builder'; }
ok 'man finds it by the name of a call' by_name
finish
