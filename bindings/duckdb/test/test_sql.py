"""Tests what only DuckDB has: integers of every width and other types, several threads, windows,
kinds of vectors, and database files. Also tests files that change during a statement, memory, and
connections in several threads."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb

from helpers import HERE, filter_file, filter_of, kept_changing, resident, tool_build
from sql import EXTENSION, Failure, column, connect, contains, error_of, info, numbers, one

WIDTHS = {
    "tinyint": 7, "smallint": 15, "integer": 31, "bigint": 63, "hugeint": 127,
    "utinyint": 8, "usmallint": 16, "uinteger": 32, "ubigint": 64, "uhugeint": 128,
}


# ---- types ----


def test_integers_of_every_width_are_the_same_keys():
    base = connect()
    filter = filter_of(base, [0, 1, 100, -100, 2**63 - 1, -(2**63)])
    for type, bits in WIDTHS.items():
        values = [0, 1, 100] + ([] if type[0] == "u" else [-100])
        values += [2**63 - 1] if bits >= 63 else []
        values += [-(2**63)] if bits >= 63 and type[0] != "u" else []
        for value in values:
            query = f"select petal_contains(?, ({value})::{type})"
            assert one(base, query, filter) is True, (type, value)
            built = one(base, f"select petal_build(({value})::{type})")
            assert built == filter_of(base, [value]), (type, value)
    narrow = filter_file("narrow", [7], "--key-type", "i32")
    for type, bits in WIDTHS.items():
        assert one(base, f"select petal_contains(?, 7::{type})", narrow) is True


def test_integers_out_of_range_are_errors():
    base = connect()
    filter = filter_of(base, [1])
    for type, values in {
        "ubigint": [2**63, 2**64 - 1],
        "hugeint": [2**63, -(2**63) - 1, 2**64 + 1, 2**127 - 1],
        "uhugeint": [2**63, 2**64 + 1, 2**128 - 1],
    }.items():
        for value in values:
            for query in (f"select petal_contains(?, ({value})::{type})",
                          f"select octet_length(?), petal_build(({value})::{type})"):
                said = error_of(base, query, filter)
                assert said == "petal: integer keys are i64; this value does not fit in 64 bits"
        # NULL is no value.
        assert one(base, f"select petal_contains(?, null::{type})", filter) is None


def test_reals_are_doubles():
    base = connect()
    filter = one(base, "select petal_build(v) from (values (1.5::float), (0.0), (-2.25), ('nan')) t(v)")
    assert info(base, filter)["key_type"] == "f64"
    for value in ("1.5::float", "1.5::double", "1.5::decimal(9, 2)", "1.5", "-0.0::double",
                  "'nan'::double", "-'nan'::float", "-2.25"):
        assert one(base, f"select petal_contains(?, {value})", filter) is True, value


def test_other_types_are_refused_when_the_statement_is_bound():
    base = connect()
    for value in ("date '2020-01-01'", "true", "[1]", "{'a': 1}", "timestamp '2020-01-01 00:00:00'",
                  "interval 1 day", "uuid()", "map {1: 2}", "time '00:00:00'", "'101'::bit"):
        for query in (f"petal_contains('file', {value})", f"petal_build({value})"):
            said = error_of(base, f"select {query}")
            assert said.startswith("Binder Error: "), (query, said)
    for query in ("petal_contains('a')", "petal_contains(5, 1)", "petal_contains('a', 1, 5)",
                  "petal_contains('a', 1, 'petal', 1)", "petal_info()", "petal_info(1.5)",
                  "petal_build()", "petal_build(1, 'x'::blob)", "petal_build(1, 0.1, 10, 1)",
                  "petal_merge(5)"):
        assert error_of(base, f"select {query}").startswith("Binder Error: "), query
    assert error_of(base, "from petal_formats(1)").startswith("Binder Error: ")


def test_enums_are_their_texts():
    base = connect()
    base.execute("create type mood as enum ('sad', 'ok', 'happy')")
    filter = filter_of(base, ["ok"])
    query = "select petal_contains(?, m::mood) from (values ('sad'), ('ok'), (null)) t(m)"
    assert column(base, query, filter) == [False, True, None]


def test_formats_are_those_of_the_tool():
    base = connect()
    ran = subprocess.run(["petal", "formats", "--json"], capture_output=True, text=True, check=True)
    lines = ran.stdout.splitlines()
    rows = base.execute("from petal_formats()")
    names = [column[0] for column in rows.description]
    said = [dict(zip(names, row)) for row in rows.fetchall()]
    assert len(lines) >= 25 and said == [json.loads(line) for line in lines]


# ---- the aggregates ----


def test_any_number_of_threads_builds_the_file_of_the_tool():
    base = connect()
    keys = range(1_000_000)
    options = ("--key-type", "i64", "-p", "0.01")
    whole = Path(tool_build("whole", keys, *options, "--scheme", "static")).read_bytes()
    planned = Path(tool_build("planned", keys, *options, "-n", "1000000")).read_bytes()
    numbers(base, 1_000_000)
    for threads in (1, 2, 3, 16):
        base.execute(f"set threads = {threads}")
        assert one(base, "select petal_build(i) from n") == whole, threads
        assert one(base, "select petal_build(i, 0.01, 1000000) from n") == planned, threads
        parts = "select petal_build(i, 0.01, 1000000) f from n group by i % 7"
        assert one(base, f"select petal_merge(f) from ({parts})") == planned, threads
        groups = "select petal_build(i) f from n group by i % 5000"
        assert one(base, f"select count(octet_length(f)) from ({groups})") == 5_000


def test_filters_of_different_key_types_are_named_in_order():
    parts = "select petal_build(1, 0.01, 100) a, petal_build('a', 0.01, 100) b"
    said = error_of(connect(), f"select petal_merge(f) from (select unnest([a, b]) f from ({parts}))")
    assert "i64 keys and of text keys" in said, said


def test_windows_combine_states_more_than_once():
    base = connect()
    numbers(base, 3000)
    for options in ("", ", 0.01, 5000"):
        query = f"""select i, petal_build(i{options}) over
                    (order by i rows between {{}} preceding and current row) from n order by i"""
        for width in (2, 900):
            found = dict(base.execute(query.format(width)).fetchall())
            for last in (0, 1, 5, 1234, 2999):
                part = range(max(0, last - width), last + 1)
                expected = f"select petal_build(i{options}) from n where i between ? and ?"
                assert found[last] == one(base, expected, part[0], part[-1]), (options, width, last)
        query = f"select i, petal_build(i{options}) over (rows unbounded preceding) from n limit 500"
        streamed = dict(base.execute(query).fetchall())
        assert streamed[400] == one(base, f"select petal_build(i{options}) from n where i <= 400")


def test_more_keys_than_the_capacity_are_refused():
    base = connect()
    for threads in (1, 8):
        base.execute(f"set threads = {threads}")
        for count in (2_000, 100_000, 2_000_000):
            numbers(base, count)
            said = error_of(base, f"select petal_build(i, 0.01, {count // 2}) from n")
            assert said.startswith("petal: full: "), said


# ---- arguments ----


def test_options_out_of_range_are_errors():
    base = connect()
    said = error_of(base, "select petal_build(1, ?)", float("nan"))
    assert "rate is a number above 0 and below 1" in said, said
    for capacity in (2**40, 2**32):
        assert error_of(base, "select petal_build(1, 0.01, ?)", capacity).startswith("petal: ")
    said = error_of(base, "select petal_build(range, 0.01, range + 1) from range(100)")
    assert "must be the same in all rows of a group" in said, said


def test_a_file_may_be_opened_for_a_null_key():
    base, query = connect(), "select petal_contains('no such file', null)"
    try:
        assert one(base, query) is None
    except duckdb.InvalidInputException as error:
        # A NULL key has no type; the file is opened before its rows are looked at.
        assert "cannot open it" in str(error), error


# ---- vectors ----


def test_every_kind_of_vector_has_the_same_answers():
    base = connect()
    path = filter_file("vectors", [f"k{i}" for i in range(0, 1000, 3)])
    blob = open(path, "rb").read()
    keys = [f"k{i}" for i in range(2000)]
    expected = {None: None, **{key: one(base, "select petal_contains(?, ?)", path, key) for key in keys}}
    assert {type(answer) for answer in expected.values()} == {bool, type(None)}
    base.execute("create table t as select range i, 'k' || (range % 2000) k from range(20000)")
    base.execute("update t set k = null where i % 17 = 0")
    base.execute(f"copy (select * from t order by i) to '{HERE}/t.parquet' (row_group_size 3000)")
    sources = {
        "a table": "t",
        "Parquet, whose strings are dictionaries": f"'{HERE}/t.parquet'",
        "a selection": "(select * from t where i % 3 = 1)",
        "a limit": "(select * from t where i >= 4090 limit 10)",
        "a join": "(select t.i, t.k from t join (select k, min(i) from t group by k) u using (k))",
        "constants": "(select i, 'k3' k from t)",
        "NULL alone": "(select i, null::varchar k from t)",
        "an expression": "(select i, case when i % 2 = 0 then k else 'k' || i % 2000 end k from t)",
    }
    counted = 0
    for what, source in sources.items():
        for filter in (path, blob):
            rows = base.execute(f"select k, petal_contains(?, k) from {source}", (filter,)).fetchall()
            wrong = [row for row in rows if row[1] != expected[row[0]]]
            assert not wrong and len(rows) > 5, (what, wrong[:5])
            counted += len(rows)
            # NULL and false are dropped by WHERE.
            kept = one(base, f"select count(*) from {source} where petal_contains(?, k)", filter)
            assert kept == sum(row[1] is True for row in rows), what
    assert counted > 150_000, counted


def test_values_of_many_rows_are_copied_once_and_told_apart():
    base = connect()
    numbers(base, 500_000)
    for kinds in range(1, 20, 6):
        base.execute(f"""create or replace table g as
                         select i % {kinds} g, petal_build(i, 0.01, 600000) f from n group by 1""")
        query = "select count(*) from g, n where petal_contains(f, i) and i % {} = g"
        assert one(base, query.format(kinds)) == 500_000
        assert one(base, f"select count(*) from g, n where petal_contains(f, i)") < 500_000 * 1.2


# ---- files ----


def test_files_that_change_during_a_statement_never_end_the_process():
    base, path = connect(), filter_file("changing", [f"k{i}" for i in range(1000)])
    query = "select count(*) from n where petal_contains(?, k)"
    base.execute("create table n as select 'k' || (range % 1000) k from range(200000)")
    with kept_changing(path):
        for _ in range(60):
            try:
                assert one(base, query, path) == 200_000
            except Failure as error:
                assert "petal: " in str(error), error
    # Any earlier statement may have read the file while it was truncated: that depends on the
    # machine.
    assert one(base, query, path) == 200_000


# ---- memory ----


def test_a_process_that_may_take_little_memory_gets_an_error():
    if os.environ.get("PETAL_SANITIZED"):
        print("# counted: no limit of memory under the sanitizer, which takes all addresses")
        return
    script = """
import resource, sys
sys.path[:0] = sys.argv[1].split(":")
from sql import connect, error_of, one
base = connect(threads="1")
one(base, "select octet_length(petal_build(range)) from range(1000)")
base.execute("create table n as select range i from range(30000000)")
taken = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (taken + 200_000_000,) * 2)
for query in ("select petal_build(i) from n", "select petal_build(1, 0.01, 400000000)"):
    print(error_of(base, query))
print(one(base, "select octet_length(petal_build(range)) from range(1000)"))
"""
    ran = subprocess.run([sys.executable, "-c", script, ":".join(sys.path)],
                         capture_output=True, text=True)
    lines = ran.stdout.splitlines()
    assert ran.returncode == 0 and len(lines) == 3, ran
    assert all("memory" in line for line in lines[:2]) and int(lines[2]) > 800, lines


def test_many_statements_take_no_more_memory():
    base, path = connect(), filter_file("memory", ["a"], "-p", "0.000001")
    blob = one(base, "select petal_build(range) from range(100000)")
    sizes = []
    for _ in range(8):
        for i in range(40):
            one(base, "select petal_contains(?, ?)", path, f"{i}")
            one(base, "select count(petal_contains(?, range)) from range(3000)", blob)
            one(base, "select octet_length(petal_build(i, 0.01, 10000)) from (select 1 i)")
            one(base, "select octet_length(petal_build(range)) from range(10000)")
            error_of(base, "select petal_contains(?, 'a')", blob)
            error_of(base, "select petal_build(range, 0.01, 10) from range(3000)")
        sizes.append(resident())
    assert sizes[-1] - sizes[2] < 8_000_000, sizes


# ---- connections ----


def test_connections_in_several_threads():
    path = filter_file("threads", [f"k{i}" for i in range(1000)])
    shared = connect()

    def work(number):
        base = connect() if number % 2 else shared.cursor()
        keys = [f"k{i}" for i in range(1000)]
        for _ in range(10):
            filter = one(base, "select petal_build(k) from (select unnest(?::varchar[]) k)", keys)
            for asked in (path, filter):
                query = "select count(*) from (select unnest(?::varchar[]) k) where petal_contains(?, k)"
                assert one(base, query, keys, asked) == 1000

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(6)))


def test_it_is_loaded_again_and_closed_in_the_middle():
    for _ in range(20):
        base = connect()
        base.load_extension(EXTENSION)
        path = filter_file("closed", ["k1"])
        rows = base.execute("select petal_contains(?, 'k' || range) from range(100000)", (path,))
        assert rows.fetchone() == (False,)
        base.close()


def test_it_is_refused_if_unsigned_extensions_are_not_allowed():
    try:
        duckdb.connect().load_extension(EXTENSION)
    except duckdb.Error as error:
        assert "unsigned" in str(error) or "signature" in str(error), error
    else:
        raise AssertionError("loaded")


def test_filters_are_stored_in_a_database_file():
    path = f"{HERE}/stored.duckdb"
    base = connect(path)
    base.execute("create table guard as select petal_build(range) f from range(1000)")
    base.execute("create view seen as select i from range(2000) t(i), guard where petal_contains(f, i)")
    assert 1000 <= one(base, "select count(*) from seen") < 1060
    base.close()
    base = connect(path)
    assert 1000 <= one(base, "select count(*) from seen") < 1060
