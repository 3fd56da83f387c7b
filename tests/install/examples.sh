#!/bin/sh
# examples.sh - each program in examples/, and the demo, exits with status 0 when run unchanged.
set -u
. tests/install/lib/tap.sh
mkdir "$TMPDIR/run"
run() { (cd "$TMPDIR/run" && "$PETAL_BUILD_DIR/bin/$1"); }
for source in examples/*.c; do
    ok "$source" run "$(basename "$source" .c)"
done
ok 'examples/demo.sh' sh examples/demo.sh "$PETAL_BUILD_DIR/bin"
finish
