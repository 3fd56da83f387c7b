#!/bin/sh
# examples.sh - each program of examples/ exits with 0 when run unchanged, and so does the demo.
set -u
. tests/install/lib/tap.sh
mkdir "$TMPDIR/run"
run() { (cd "$TMPDIR/run" && "$PETAL_BUILD_DIR/bin/$1"); }
for source in examples/*.c; do
    ok "$source" run "$(basename "$source" .c)"
done
ok 'examples/demo.sh' sh examples/demo.sh "$PETAL_BUILD_DIR/bin"
finish
