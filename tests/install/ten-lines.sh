#!/bin/sh
# ten-lines.sh - the same program in seven languages stands in README.md as it stands in
# examples/ten-lines, in at most ten lines; those in C and in the shell run. (All of them:
# tests/interop/pipeline.sh.)
set -u
. tests/install/lib/tap.sh
here=examples/ten-lines

# The section's blocks in their order, one file each.
mkdir "$TMPDIR/blocks" "$TMPDIR/run"
awk -v folder="$TMPDIR/blocks" '
    /^## / { section = $0 == "## The same ten lines" }
    section && /^```./ { inside = ++blocks; next }
    /^```$/ { inside = 0; next }
    inside { print >(folder "/" inside) }' README.md

# What is no frame that the language asks for: the lines of main(), or all but imports.
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

number=0
for file in ten.c ten.sh ten.py ten.go Ten.java Ten.cs ten.mjs; do
    number=$((number + 1))
    ok "$file stands in README.md" cmp "$here/$file" "$TMPDIR/blocks/$number"
    ok "$file has at most ten lines" short "$here/$file"
done
ok 'and no other' [ ! -e "$TMPDIR/blocks/8" ]

compiled() {
    "${CC:-cc}" -std=c11 -Wall -Wextra -Wpedantic -Werror -Iinclude "$here/ten.c" \
        -L"$PETAL_BUILD_DIR/lib" -lpetal "-Wl,-rpath,$PETAL_BUILD_DIR/lib" -o "$TMPDIR/ten"
}
says() { [ "$(cd "$TMPDIR/run" && rm -f seen.petal && "$@" | tr '\n' ' ')" = 'false true ' ]; }
ok 'the C compiles' compiled
ok 'it answers' says "$TMPDIR/ten"
ok 'the shell answers' says sh "$PWD/$here/ten.sh"
finish
