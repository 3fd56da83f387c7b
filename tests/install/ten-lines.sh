#!/bin/sh
# ten-lines.sh - README.md and recipe 28 of the cookbook show the programs of
# examples/ten-lines, which are the same program in seven languages, in at most ten
# lines each. This test runs the C and shell programs; tests/interop/pipeline.sh runs
# all seven.
set -u
. tests/install/lib/tap.sh
here=examples/ten-lines

# Writes each code block of the section to a separate file, in order.
mkdir "$TMPDIR/run"
blocks_of() { # blocks_of DOCUMENT SECTION NAME
    mkdir "$TMPDIR/$3"
    awk -v folder="$TMPDIR/$3" -v wanted="$2" '
        /^## / { section = $0 ~ wanted }
        section && /^```./ { inside = ++blocks; next }
        /^```$/ { inside = 0; next }
        inside { print >(folder "/" inside) }' "$1"
}
blocks_of README.md '^## Ten lines' readme
blocks_of docs/cookbook.md '^## [0-9]+. Ten lines' cookbook

# Prints the program without the boilerplate that the language requires: only the lines inside
# main(), or everything except imports.
body() {
    case $1 in
    *.c | *.go | *.java | *.cs)
        awk '/main *\(|Main\(/ { at = FNR; match($0, /^ */); indent = RLENGTH; brace = /\{$/; next }
            at && !brace && /^ *\{$/ { brace = 1; next }
            at && /^ *\}$/ { match($0, /^ */); if (RLENGTH == indent) exit }
            at && NF { print }' "$1"
        ;;
    *) awk '!/^import |^#|^\/\// && NF' "$1" ;;
    esac
}
short() { lines=$(body "$1" | wc -l) && echo "$lines lines" && [ "$lines" -ge 4 ] && [ "$lines" -le 10 ]; }

shows() { # shows NAME FILE...
    page=$1 number=0
    shift
    for file; do
        number=$((number + 1))
        ok "$page shows $file" cmp "$here/$file" "$TMPDIR/$page/$number"
        ok "$file has at most ten lines" short "$here/$file"
    done
    ok "$page shows no other" [ ! -e "$TMPDIR/$page/$((number + 1))" ]
}
shows readme ten.c ten.sh ten.py
shows cookbook ten.go Ten.java Ten.cs ten.mjs

compiled() {
    "${CC:-cc}" -std=c11 -Wall -Wextra -Wpedantic -Werror -Iinclude "$here/ten.c" \
        -L"$PETAL_BUILD_DIR/lib" -lpetal "-Wl,-rpath,$PETAL_BUILD_DIR/lib" -o "$TMPDIR/ten"
}
says() { [ "$(cd "$TMPDIR/run" && rm -f seen.petal && "$@" | tr '\n' ' ')" = 'false true ' ]; }
ok 'the C compiles' compiled
ok 'it answers' says "$TMPDIR/ten"
ok 'the shell answers' says sh "$PWD/$here/ten.sh"
finish
