#!/bin/sh
# debugging.sh - checks that docs/debugging.md is correct: the bytes of a file, a damaged file, and
# kernels that set the same bits. All programs and functions in its debugger commands must exist.
set -u
. tests/install/lib/tap.sh
. tests/docs/lib/blocks.sh
needs xxd || finish
top=$PWD
mkdir "$TMPDIR/page" && cd "$TMPDIR/page" && run_blocks docs/debugging.md
cd "$top" || exit 2

# Checks that the commands and presets of ./dev, the breakpoint's functions and the struct's members
# exist.
named() { # named FILE WORD...
    file=$1
    shift
    for word; do grep -q -- "$word" "$file" || { echo "$file: no $word" && return 1; }; done
}
ok 'the functions are those of src/base/error.h' named src/base/error.h 'petal_fail(' 'petal_fail_at(' 'petal_fail_errno('
ok 'a filter has these members' named src/filter/filter.h 'struct layer \*layers;' \
    'struct scheme_def \*scheme;' 'struct kernel \*kernel;' 'struct hash_def \*hash;'
verbs() {
    sed -n 's/^.*`\{0,1\}\.\/dev build \([a-z]*\).*/\1/p' docs/debugging.md | sort -u >"$TMPDIR/presets"
    [ -s "$TMPDIR/presets" ] || return 1
    while read -r preset; do named CMakePresets.json "\"name\": \"$preset\"" || return 1; done <"$TMPDIR/presets"
    sed -n 's/^| `\.\/dev \([a-z]*\).*/\1/p' docs/debugging.md >"$TMPDIR/verbs"
    [ -s "$TMPDIR/verbs" ] || return 1
    while read -r verb; do ./dev help | grep -q "^\./dev .*$verb" || { echo "$verb" && return 1; }; done <"$TMPDIR/verbs"
}
ok './dev has the verbs and presets' verbs
finish
