#!/bin/sh
# docs.sh - each C program in README*.md and docs/ compiles unchanged without warnings and exits
# with status 0.
set -u
. tests/install/lib/tap.sh
CC=${CC:-cc}

# Each ```c block that contains main(void) is written to DOCUMENT-LINE.c in TMPDIR, where LINE is
# the line number of the block's fence. Programs that take arguments are run by tests/interop.
mkdir "$TMPDIR/blocks" "$TMPDIR/run"
for document in README*.md docs/*.md; do
    [ -f "$document" ] || continue
    awk -v stem="$TMPDIR/blocks/$(basename "$document" .md)" '
        !inside && /^```c *$/ { inside = 1; body = ""; start = FNR; next }
        inside && /^```/ {
            inside = 0
            if (body ~ /int main\(void\)/) printf "%s", body >(stem "-" start ".c")
            next
        }
        inside { body = body $0 "\n" }' "$document"
done

compile() {
    "$CC" -std=c11 -Wall -Wextra -Wpedantic -Werror -Iinclude "$1" -L"$PETAL_BUILD_DIR/lib" -lpetal \
        "-Wl,-rpath,$PETAL_BUILD_DIR/lib" -o "${1%.c}"
}
run() { (cd "$TMPDIR/run" && "${1%.c}"); }

for block in "$TMPDIR"/blocks/*.c; do
    [ -f "$block" ] || continue
    name=$(basename "$block" .c)
    ok "$name: compiles" compile "$block"
    ok "$name: exits 0" run "$block"
done
ok 'README.md contains a C program' ls "$TMPDIR"/blocks/README-*.c
finish
