"""Tests what only SQLite has: columns and arguments of any type, databases in UTF-16, statements
that run step by step, limits, and flags. Also tests memory and connections in several threads."""

import subprocess
from concurrent.futures import ThreadPoolExecutor

from helpers import filter_file, filter_of, resident
from sql import EXTENSION, SERIES, connect, contains, error_of, one, table


# ---- types ----


def test_rows_of_different_types_are_errors():
    base = connect()
    said = error_of(base, "select petal_build(k) from (select 1 k union all select 'a')")
    assert said == "petal: the filter has i64 keys, not text; use CAST"
    filter = "select petal_build(1, 0.01, 100) f"
    for other, word in (
        ("5", "not a number"),
        ("petal_build('a', 0.01, 100)", "i64 keys and of text keys"),
    ):
        query = f"select petal_merge(f) from ({filter} union all select {other})"
        assert word in error_of(base, query), other


def test_a_database_in_utf_16_has_the_same_keys():
    answers = []
    for encoding in ("UTF-8", "UTF-16le", "UTF-16be"):
        base = connect()
        base.execute(f"pragma encoding = '{encoding}'")
        table(base, [f"é{i}😀" for i in range(100)] + [""])
        filter = one(base, "select petal_build(k) from keys")
        assert one(base, "select sum(petal_contains(?, k)) from keys", filter) == 101
        answers.append(filter)
        path = filter_file("é-name", [f"é{i}😀" for i in range(100)])
        assert one(base, "select sum(petal_contains(?, k)) from keys where k != ''", path) == 100
    assert answers[0] == answers[1] == answers[2]


def test_a_blob_of_zeros_that_sqlite_has_not_written_out_is_a_key():
    base = connect()
    filter = filter_of(base, ["x" * 50_000_000])
    assert one(base, "select petal_contains(?, zeroblob(50000000))", filter) == 0
    filter = filter_of(base, [bytes(50_000_000)])
    assert one(base, "select petal_contains(?, zeroblob(50000000))", filter) == 1


# ---- arguments ----


def test_no_file_is_opened_for_a_null_key():
    assert one(connect(), "select petal_contains('no such file', null)") is None


def test_arguments_of_other_types_are_errors():
    base, path = connect(), filter_file("typed", ["a"])
    for filter in (5, 1.5):
        assert "a filter is a file's name" in error_of(base, lambda: contains(base, filter, "a"))
    assert "format is a name" in error_of(base, lambda: contains(base, path, "a", 5))
    error_of(base, "select petal_contains(zeroblob(100000000), 'a')")
    for rate in ("0.01", b"1"):
        assert "rate is a number above 0 and below 1" in error_of(base, "select petal_build(1, ?)", rate)
    for capacity in (1.5, "10", b"1"):
        said = error_of(base, "select petal_build(1, 0.01, ?)", capacity)
        assert "capacity is a number of keys" in said, said
    for query in (
        "select petal_build()",
        "select petal_build(1, 0.1, 10, 1)",
        "select petal_contains('a')",
        "select petal_contains('a', 1, 'petal', 1)",
        "select petal_info()",
        "select petal_build(1) over ()",
    ):
        error_of(base, query)


def test_more_keys_than_the_capacity_are_refused():
    base = connect()
    query = f"{SERIES.format(100_000)} select petal_build(i, 0.01, 1000) from s"
    assert "full: " in error_of(base, query)
    assert error_of(base, f"select petal_build(1, 0.01, {2**40})") == "out of memory"


# ---- statements ----


def test_a_statement_keeps_its_filter_while_the_file_is_truncated():
    base = connect()
    path = filter_file("truncated", [f"k{i}" for i in range(100)])
    table(base, [f"k{i}" for i in range(100)])
    rows = base.execute("select petal_contains(?, k) from keys", (path,))
    answers = [rows.fetchone()[0]]
    open(path, "w").close()
    answers += [row[0] for row in rows]
    assert answers == [1] * 100
    assert "not a filter" in error_of(base, "select petal_contains(?, 'k1')", path)


def test_many_statements_take_no_more_memory():
    base, path = connect(), filter_file("memory", ["a"], "-p", "0.000001")
    blob = one(base, f"{SERIES.format(100_000)} select petal_build(i) from s")
    sizes = []
    for _ in range(6):
        for i in range(300):
            one(base, "select petal_contains(?, ?)", path, f"{i}")
            one(base, "select sum(petal_contains(?, i)) from (select 1 i union select 2)", blob)
            one(base, "select length(petal_build(i, 0.01, 10000)) from (select 1 i)")
            error_of(base, "select petal_contains(?, 'a')", blob)
        sizes.append(resident())
    assert sizes[-1] - sizes[1] < 3_000_000, sizes


# ---- limits and flags ----


def shell(script):
    """Returns the output and the errors of SQLite's shell, which continues after an error."""
    script = f".load {EXTENSION}\n{script}\nselect 'still here';\n"
    ran = subprocess.run(["sqlite3", ":memory:"], input=script, capture_output=True, text=True)
    assert ran.stdout.endswith("still here\n"), ran
    return ran.stdout, ran.stderr


def test_sqlites_limit_of_a_value_bounds_filters_and_files():
    path = filter_file("large", ["a"], "-p", "0.0000001")
    found = f"select petal_contains('{path}', 'a');"
    said, errors = shell(found + "\n.limit length 1000\n" + found +
                         "\nselect length(petal_build(1, 0.01, 100000));")
    assert said.startswith("1\n"), said
    errors = errors.splitlines()
    assert len(errors) == 2 and "limit" in errors[0] and "SQLite's limit" in errors[1], errors


def test_sqlites_heap_limit_bounds_the_memory_of_filters():
    said, errors = shell(
        "pragma hard_heap_limit=20000000;\n"
        f"{SERIES.format(10_000_000)} select petal_build(i) from s;\n"
        "select petal_build(1, 0.01, 100000000);"
    )
    assert said.startswith("20000000\nstill"), said
    assert errors.count("out of memory") == 2, errors


def test_flags_keep_files_out_of_untrusted_schemas_and_indexes():
    base = connect()
    base.execute("create table t (a, f)")
    base.execute("insert into t select 1, petal_build(1, 0.01, 10)")
    base.execute("create view seen as select petal_contains(f, a) hit, a from t")
    base.execute("create view built as select petal_build(a) f from t")
    base.execute("create trigger guard before insert on t when petal_contains("
                 "(select f from t limit 1), new.a) begin select raise(abort, 'seen'); end")
    assert one(base, "select hit from seen") == 1
    assert "seen" in error_of(base, "insert into t values (1, null)")
    base.execute("insert into t values (2, null)")
    for index in (
        "create index i on t (petal_contains('file', a))",
        "create table u (a, b as (petal_contains('file', a)))",
        "create index i on t (a) where petal_contains('file', a)",
    ):
        assert "non-deterministic" in error_of(base, index), index
    base.execute("pragma trusted_schema = off")
    assert "unsafe use of petal_contains()" in error_of(base, "select hit from seen")
    assert one(base, "select length(f) > 0 from built") == 1  # petal_build() is innocuous


def test_connections_in_several_threads():
    path = filter_file("threads", [f"k{i}" for i in range(1000)])

    def work(_):
        base = connect()
        table(base, [f"k{i}" for i in range(1000)])
        for _ in range(20):
            assert one(base, "select sum(petal_contains(?, k)) from keys", path) == 1000
            filter = one(base, "select petal_build(k) from keys")
            assert one(base, "select sum(petal_contains(?, k)) from keys", filter) == 1000

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(6)))


def test_it_is_loaded_again_and_closed_in_the_middle():
    for _ in range(50):
        base = connect()
        base.enable_load_extension(True)
        base.load_extension(EXTENSION)
        table(base, [f"k{i}" for i in range(100)])
        path = filter_file("closed", ["k1"])
        rows = base.execute("select petal_contains(?, k) from keys", (path,))
        rows.fetchone()
        base.close()
