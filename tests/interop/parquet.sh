#!/bin/sh
# parquet.sh - Petal finds and reads the Bloom filters in Parquet files from DuckDB and Arrow, and
# creates the same filters. DuckDB can query Petal's filters, including folded filters.
set -u
. tests/interop/lib/interop.sh
. tests/interop/lib/parquet.sh
needs python3 pip || finish
driver() { python3 tests/interop/parquet/driver.py "$@"; }

# DuckDB needs half a millisecond per query, so the test uses only 4,000 absent keys.
few_queries() { keys "$1" && head -n $(($(wc -l <"$TMPDIR/$1.keys") + 4000)) "$TMPDIR/$1.queries" >"$TMPDIR/$1.few"; }
asked_of_duckdb() { # asked_of_duckdb TYPE FILE FILTER
    driver duckdb ask "$1" "$2" "$TMPDIR/$1.few" >"$2.theirs" && ours ask parquet "$1" "$3" "$TMPDIR/$1.few" >"$2.ours" &&
        grep -q 0 "$2.theirs" && cmp "$2.theirs" "$2.ours"
}

# Replaces the file's filter with a filter from Petal that contains only every second key.
put() { # put FILTER FILE OUT
    offset=$(parquet_list "$2" | cut -d ' ' -f 4) && cp "$2" "$3" &&
        dd if="$1" of="$3" bs=1 seek="$offset" conv=notrunc
}
implant() { # implant TYPE FILE N P OUT
    awk 'NR % 2' "$TMPDIR/$1.keys" >"$TMPDIR/$1.odd" && ours make parquet "$1" "$TMPDIR/$1.odd" "$3" "$4" "$5.filter" &&
        put "$5.filter" "$2" "$5"
}

# Like implant, but uses a filter that was created 8 times as large and then folded to the original
# size.
bits_of() { petal info --json --from parquet "$1" | sed 's/.*"bits":\([0-9]*\).*/\1/'; }
implant_folded() { # implant_folded TYPE FILE N P OUT
    bits=$(bits_of "$2.filter") && ours make parquet "$1" "$TMPDIR/$1.odd" $((8 * $3)) "$4" "$5.large" &&
        [ "$(bits_of "$5.large")" -gt $((4 * bits)) ] &&
        petal fold --from parquet --to parquet --bits "$bits" -o "$5.filter" "$5.large" && put "$5.filter" "$2" "$5"
}
finds_all() { # finds_all TYPE FILE: checks that DuckDB finds every second key
    head -n "$(wc -l <"$TMPDIR/$1.keys")" "$2.theirs" | awk 'NR % 2 && $0 != 1 { missed++ } END { exit NR == 0 || missed }'
}

if python_packages duckdb-2.0.0 duckdb==2.0.0; then
    ran DuckDB 2.0.0 'pip duckdb' parquet
    for type in text i32 i64 hex; do
        few_queries $type
        at=$TMPDIR/duckdb.$type n=$(sort -u "$TMPDIR/$type.keys" | wc -l)
        ok "DuckDB 2.0.0, $type: it writes a file" driver duckdb make $type "$TMPDIR/$type.keys" 0.01 "$at"
        parquet_filter "DuckDB 2.0.0, $type" "$at" $type "$n" 0.01
        ok "DuckDB 2.0.0, $type: it gives our answers" asked_of_duckdb $type "$at" "$at.filter"
        ok "DuckDB 2.0.0, $type: a filter of ours in its place" implant $type "$at" "$n" 0.01 "$at.mixed"
        ok "DuckDB 2.0.0, $type: it reads ours, and gives the same answers" asked_of_duckdb $type "$at.mixed" "$at.mixed.filter"
        ok "DuckDB 2.0.0, $type: a folded one in its place" implant_folded $type "$at" "$n" 0.01 "$at.folded"
        ok "DuckDB 2.0.0, $type: folding gave the one that was made small" cmp "$at.folded.filter" "$at.mixed.filter"
        ok "DuckDB 2.0.0, $type: it reads the folded one, and gives the same answers" asked_of_duckdb $type "$at.folded" "$at.folded.filter"
        ok "DuckDB 2.0.0, $type: it finds every key of the folded one" finds_all $type "$at.folded"
    done
fi

if python_packages pyarrow-26.0.1 pyarrow==26.0.1; then
    ran Arrow 26.0.1 'pip pyarrow' parquet
    for type in text i32 i64 hex; do
        keys $type
        at=$TMPDIR/arrow.$type
        for p in 0.01 0.1; do
            ok "Arrow 26.0.1, $type at $p: it writes a file" driver arrow make $type "$TMPDIR/$type.keys" $p "$at.$p"
            parquet_filter "Arrow 26.0.1, $type at $p" "$at.$p" $type "$(wc -l <"$TMPDIR/$type.keys")" $p
        done
    done
fi
finish
