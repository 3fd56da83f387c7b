#!/bin/sh
# oldpanda-go.sh - OldPanda's Go module bloomfilter and Petal agree in both directions. Petal's name
# for its MITZ_32 is oldpanda-go32.
set -u
. tests/interop/lib/interop.sh
needs go || finish
theirs() { "$program" "$@"; }

go_program oldpanda-go-1.0.0 github.com/OldPanda/bloomfilter@v1.0.0 tests/interop/lib/interop.go \
    tests/interop/oldpanda-go/driver.go || finish
ran 'OldPanda bloomfilter' v1.0.0 'Go module github.com/OldPanda/bloomfilter' 'guava, oldpanda-go32'

# The Go module can't add an empty key.
no_empty=yes
for format in guava oldpanda-go32; do
    for type in text i32 i64 hex; do alike 'OldPanda 1.0.0' $format $type 2000 0.01; done
done

# The Go module drops zero words at the end of a filter. Petal must refuse such a file with the
# reason.
one_key() {
    echo hello >"$TMPDIR/one.keys" && theirs make guava text "$TMPDIR/one.keys" 1000 0.01 "$TMPDIR/one" &&
        ! ours ask guava text "$TMPDIR/one" "$TMPDIR/one.keys" 2>"$TMPDIR/one.said" && cat "$TMPDIR/one.said" &&
        grep -q "OldPanda's Go module" "$TMPDIR/one.said"
}
ok 'OldPanda 1.0.0: a file without its zero words is refused, and the message says why' one_key
finish
