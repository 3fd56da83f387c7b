#!/bin/sh
# index.sh - checks a reader and a writer that were written in Python from docs/index-format.md
# alone. The reader must give the same answers as the tool for the files in vectors/index. The
# writer must write the same bytes as the tool for an index of the same filters.
set -u
. tests/install/lib/tap.sh
. tests/docs/lib/blocks.sh
needs python3 || finish
top=$PWD
mkdir "$TMPDIR/page" && cd "$TMPDIR/page" && run_blocks docs/format.md
cd "$top" || exit 2
PYTHONPATH=$TMPDIR/page:$top/tests/docs/lib PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH PYTHONDONTWRITEBYTECODE
index() { python3 "$top/tests/docs/lib/read_index.py" "$@"; }
printf '\0\1\2\3\4\5\6\7\10\11\12\13\14\15\16\17' >"$TMPDIR/secret"

for name in mixed keyed wide; do
    case $name in keyed) secret="--secret-file $TMPDIR/secret" ;; *) secret='' ;; esac
    file=$top/vectors/index/$name.petals
    ok "$name.petals: the same answers" index answers "$file"
    ok "$name.petals: rebuilt from its own filters" petal index $secret -o "$TMPDIR/$name" "$file"
    ok "$name.petals: the same bytes" cmp "$TMPDIR/$name" "$file"
done

# The filters in each index, as listed in vectors/README.md.
mixed='textbook one-bit empty-classic empty-blocked blocked blocked-two-lines blocked-planned
    blocked-planned-low classic classic-planned saturated metadata two-blocks'
keyed='classic-keyed blocked-keyed'
cd vectors/petal || exit 2
paths() { printf '%s.petal\n' "$@"; }
ok 'mixed.petals: by the tool' petal index -o "$TMPDIR/mixed.tool" $(paths $mixed)
ok 'mixed.petals: as the tool writes it' cmp "$TMPDIR/mixed.tool" ../index/mixed.petals
ok 'mixed.petals: by the writer' index write "$TMPDIR/mixed.page" $(paths $mixed)
ok 'mixed.petals: as the page says' cmp "$TMPDIR/mixed.page" ../index/mixed.petals
ok 'keyed.petals: by the tool' petal index --secret-file "$TMPDIR/secret" -o "$TMPDIR/keyed.tool" $(paths $keyed)
ok 'keyed.petals: as the tool writes it' cmp "$TMPDIR/keyed.tool" ../index/keyed.petals
ok 'keyed.petals: by the writer' index write "$TMPDIR/keyed.page" $(paths $keyed)
ok 'keyed.petals: as the page says' cmp "$TMPDIR/keyed.page" ../index/keyed.petals
finish
