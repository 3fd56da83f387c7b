"""driver.py - uses DuckDB or Arrow to write and query Parquet files with a Bloom filter on the
column "key".

    driver.py duckdb make TYPE KEYS P OUT
    driver.py arrow make TYPE KEYS P OUT
    driver.py duckdb ask TYPE FILE QUERIES     prints a line per query: 1 (probably in) or 0 (not)
"""

import sys

import interop

SQL = {"text": "varchar", "i32": "integer", "i64": "bigint", "hex": "blob"}


def arrow_make(kind, keys, p, out):
    import pyarrow
    import pyarrow.parquet

    types = {"text": pyarrow.string(), "i32": pyarrow.int32(), "i64": pyarrow.int64(), "hex": pyarrow.binary()}
    table = pyarrow.table({"key": pyarrow.array(keys + [None], types[kind])})
    options = {"key": {"ndv": len(keys), "fpp": p}}
    pyarrow.parquet.write_table(table, out, bloom_filter_options=options)


def duckdb_make(kind, keys, p, out):
    import duckdb

    base = duckdb.connect()
    base.execute(f"create table t (key {SQL[kind]})")
    base.execute(f"insert into t select unnest($1::{SQL[kind]}[])", [keys + [None]])
    # DuckDB creates a filter only for a column that uses a dictionary.
    base.execute(
        f"copy t to '{out}' (format parquet, dictionary_size_limit 100000,"
        f" string_dictionary_page_size_limit 100000000, bloom_filter_false_positive_ratio {p})"
    )


def duckdb_ask(kind, path, queries):
    import duckdb

    base = duckdb.connect()
    ask = f"select bloom_filter_excludes from parquet_bloom_probe('{path}', 'key', $1::{SQL[kind]})"
    for query in queries:
        (excluded,) = base.execute(ask, [query]).fetchone()
        print("0" if excluded else "1")


def main():
    who, verb, kind, *rest = sys.argv[1:]
    if verb == "make":
        source, p, out = rest
        make = arrow_make if who == "arrow" else duckdb_make
        make(kind, interop.keys(source, kind), float(p), out)
    else:
        duckdb_ask(kind, rest[0], interop.keys(rest[1], kind))


main()
