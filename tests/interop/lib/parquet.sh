# parquet.sh - functions to test that Petal finds the Bloom filters inside a Parquet file. This
# script must be sourced after interop.sh, not run.

ok 'the lister compiles' "${CC:-cc}" -std=c11 -Iinclude tests/interop/lib/petal_parquet.c \
    "$PETAL_BUILD_DIR/lib/libpetal.so" "-Wl,-rpath,$PETAL_BUILD_DIR/lib" -o "$TMPDIR/petal_parquet"

# Prints one line per filter: ROW_GROUP COLUMN TYPE OFFSET BYTES.
parquet_list() { "$TMPDIR/petal_parquet" "$1"; }

# parquet_cut FILE ROW_GROUP COLUMN OUT: writes only the filter to OUT
parquet_cut() {
    parquet_list "$1" | { while read -r group column _ offset bytes; do
        [ "$group $column" = "$2 $3" ] || continue
        tail -c +$((offset + 1)) "$1" | head -c "$bytes" >"$4"
        exit 0
    done; exit 1; }
}

same_as_ours() { # same_as_ours FILTER TYPE KEYS N P
    ours make parquet "$2" "$3" "$4" "$5" "$1.ours" && cmp "$1" "$1.ours"
}

# Checks that every key is present, and that some absent keys pass as false positives.
parquet_answers() { ours ask parquet "$2" "$1" "$TMPDIR/$2.queries" >"$1.answers" && telling "$2" "$1.answers"; }

# parquet_filter WHAT FILE TYPE N P: checks the filter of the column "key" in row group 0, which
# contains all rows.
parquet_filter() {
    ok "$1: found in the file" parquet_cut "$2" 0 key "$2.filter"
    ok "$1: ours is the same, byte for byte" same_as_ours "$2.filter" "$3" "$TMPDIR/$3.keys" "$4" "$5"
    ok "$1: every key is in it" parquet_answers "$2.filter" "$3"
    ok "$1: into a petal file and back" through_petal parquet "$2.filter"
}
