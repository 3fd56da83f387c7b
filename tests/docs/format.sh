#!/bin/sh
# format.sh - the reader printed in docs/format.md gives the tool's answers for every file of
# vectors/petal and vectors/static, and rejects the files of vectors/reject. The numbers on the page
# are those in the sources.
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
for file in vectors/petal/*.petal vectors/static/*.petal; do
    ok "$file: the same answers" python3 tests/docs/lib/read_vectors.py answers "$file"
done
ok 'vectors/reject: refused, and why' python3 tests/docs/lib/read_vectors.py refusals
petal convert --from guava vectors/guava/utf8_n1000_p0.03_mitz64.bin "$TMPDIR/guava.petal"
ok 'a scheme that it does not know is newer' python3 tests/docs/lib/read_vectors.py refused "$TMPDIR/guava.petal" 'newer version'

# Columns 1 and 2, 3 and 4, 5 and 6 of the table are the numbers and names of other libraries'
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
