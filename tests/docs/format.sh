#!/bin/sh
# format.sh - checks that the reader printed in docs/format.md gives the same answers as the tool
# for every file in vectors/petal and vectors/static, and rejects the files in vectors/reject. The
# numbers on the page must equal those in the sources.
set -u
. tests/install/lib/tap.sh
. tests/docs/lib/blocks.sh
needs python3 || finish
top=$PWD
mkdir "$TMPDIR/page" && cd "$TMPDIR/page" && run_blocks docs/format.md
cd "$top" || exit 2
PYTHONPATH=$TMPDIR/page:$top/tests/docs/lib PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH PYTHONDONTWRITEBYTECODE
ok 'the two hashes are right' python3 tests/docs/lib/read_vectors.py hashes
step=11 # that reader takes 0.5 ms per key
! nightly 'every key of the vectors' || step=1
for file in vectors/petal/*.petal vectors/static/*.petal; do
    ok "$file: the same answers" python3 tests/docs/lib/read_vectors.py answers "$file" "$step"
done
ok 'vectors/reject: refused for the right reason' python3 tests/docs/lib/read_vectors.py refusals
petal convert --from guava vectors/guava/utf8_n1000_p0.03_mitz64.bin "$TMPDIR/guava.petal"
ok 'a scheme that it does not know counts as newer' python3 tests/docs/lib/read_vectors.py refused "$TMPDIR/guava.petal" 'newer version'

# The table has three pairs of columns, which contain the numbers and names of other libraries'
# origins, schemes and hashes.
numbers() { # numbers LIST COLUMN
    sed -n 's/^ *[A-Z]*([A-Z0-9_]*, [A-Z0-9_]*, \([a-z0-9_]*\), \([0-9]*\)).*/\2 \1/p' "$1" |
        tr _ - | awk -v from="$3" '$1 >= from' | sort -n >"$TMPDIR/source"
    sed -n '/^| origin | | scheme/,/^$/p' docs/format.md | sed 1,2d |
        awk -F' *[|] *' -v column="$2" '$(column + 1) != "" { print $(column + 1), $(column + 2) }' |
        grep -v '^ ' >"$TMPDIR/shown"
    diff "$TMPDIR/source" "$TMPDIR/shown"
}
ok 'the numbers of origins' numbers src/format/format_list.h 1 2
ok 'the numbers of schemes' numbers src/scheme/scheme_list.h 3 16
ok 'the numbers of hashes' numbers src/hash/hash_list.h 5 16
finish
