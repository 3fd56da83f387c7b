"""Tests the SQL functions of SQLite and DuckDB, which have the same names and arguments: a filter
is a file's name or a blob. Calls them with NULL, as aggregates, for filters in rows, for files that
change, and with wrong arguments."""

import os
import shutil
import time

from helpers import HERE, filter_file, filter_of, saved
from sql import column, connect, contains, error_of, info, numbers, one
from vectors import VECTORS


def test_null_gives_null():
    base, path = connect(), filter_file("null", ["a"])
    for query in (
        "select petal_contains(null, 1)",
        "select petal_contains(cast(null as blob), 1)",
        "select petal_contains(?, 'a', null)",
        "select petal_info(null)",
        "select petal_info(?, null)",
        "select petal_merge(null)",
        "select petal_merge(?, null)",
        "select petal_build(null)",
        "select petal_build(k) from (select 1 k where false)",
        "select petal_merge(f) from (select 'a' f where false)",
    ):
        values = (path,) if "?" in query else ()
        assert one(base, query, *values) is None, query
    some = one(base, "select petal_build(k) from (select null k union all select 5)")
    # In DuckDB, both rows are in one chunk.
    assert one(base, "with t(k) as (values (null), (5)) select petal_build(k) from t") == some
    assert some == filter_of(base, [5]) == one(base, "select petal_build(5)")
    assert one(base, "select petal_build(5, null, null)") == some


# ---- the aggregates ----


def test_a_built_filter_has_the_planned_size_and_rate():
    base = connect()
    numbers(base, 200_000)
    for rate, most in ((0.01, 6.9), (0.001, 10.2)):
        filter = one(base, "select petal_build(i, ?) from n where i % 2 = 0", rate)
        described = info(base, filter)
        assert described["scheme"] == "static" and described["items"] == 100_000
        assert len(filter) * 8 / 100_000 < most, (rate, len(filter))
        missed = one(base, "select count(*) from n where i % 2 = 0 and not petal_contains(?, i)", filter)
        passed = one(base, "select count(*) from n where i % 2 = 1 and petal_contains(?, i)", filter)
        # The test runs 100,000 Bernoulli trials and allows 6 standard deviations.
        deviation = 6 * (rate * 100_000) ** 0.5
        assert missed == 0 and abs(passed - rate * 100_000) < deviation, (rate, missed, passed)


def test_a_filter_depends_on_the_set_of_keys_alone():
    base = connect()
    numbers(base, 1000)
    whole = one(base, "select petal_build(i) from n")
    for source in (
        "(select i from n order by -i)",
        "(select i from n union all select i from n where i % 3 > 0)",
        "(select distinct i from n union all select null)",
    ):
        assert one(base, f"select petal_build(i) from {source}") == whole, source
    groups = dict(base.execute("select i % 10, petal_build(i) from n group by 1").fetchall())
    assert groups[3] == one(base, "select petal_build(i) filter (where i % 10 = 3) from n")


def test_merging_gives_the_filter_of_all_keys():
    base = connect()
    numbers(base, 1000)
    make = "petal_build(i, 0.01, 1000)"
    whole = one(base, f"select {make} from n")
    parts = f"(select {make} f from n group by i % 7)"
    assert one(base, f"select petal_merge(f) from {parts}") == whole
    for part, filter in enumerate(column(base, f"select f from {parts}")):
        saved(f"part-{part}", filter)
    files = f"(select '{HERE}/part-' || i f from n where i < 7)"
    assert one(base, f"select petal_merge(f) from {files}") == whole
    file = sorted((VECTORS / "guava").glob("*mitz64.bin"))[0]
    same = one(base, "select petal_merge(f, 'guava') from (select ? f union all select ?)",
               str(file), str(file))
    assert same == file.read_bytes()  # the result has the format of the inputs
    rows = "(select ? f from n where i < 2)"  # in DuckDB, both rows are in one chunk
    assert one(base, f"select petal_merge(f, 'guava') from {rows}", str(file)) == same


def test_what_cannot_be_merged_is_an_error():
    base = connect()
    for first, other, *words in (
        ("petal_build(1, 0.01, 100)", "petal_build(1, 0.01, 5000)", "differ"),
        # The order of the rows is that of DuckDB's threads.
        ("petal_build(1, 0.01, 100)", "petal_build('a', 0.01, 100)",
         "i64 keys and of text keys", "text keys and of i64 keys"),
        ("petal_build(1)", "petal_build(2)", "not supported"),
        ("petal_build(1)", "?", "not a filter"),
    ):
        query = f"select petal_merge(f) from (select {first} f union all select {other})"
        said = error_of(base, query, *[b"\0"] * query.count("?"))
        assert any(word in said for word in words), (first, other, said)


def test_options_that_make_no_sense_are_errors():
    base = connect()
    for rate in (0, 1, -1, 2, 0.0, 1.0, float("inf")):
        assert "rate is a number above 0 and below 1" in error_of(base, "select petal_build(1, ?)", rate)
    for capacity in (0, -1, -(2**63)):
        said = error_of(base, "select petal_build(1, 0.01, ?)", capacity)
        assert "capacity is a number of keys" in said, said
    assert "rate out of reach" in error_of(base, "select petal_build(1, 1e-300)")
    assert error_of(base, "select petal_build(1, 0.01, ?)", 2**63 - 1).startswith("petal: ")


# ---- keys and rows ----


def test_huge_keys_are_keys():
    base = connect()
    huge = "x" * 50_000_000
    filter = one(base, "select petal_build(?)", huge)
    assert contains(base, filter, huge) == 1
    assert contains(base, filter, huge[1:]) == 0
    assert contains(base, filter, bytes(50_000_000)) == 0
    assert one(base, "select petal_contains(petal_build(''), '')") == 1


def test_a_filter_of_a_row_is_that_of_its_row():
    base = connect()
    base.execute("create table g (name text, f blob, k bigint)")
    for i in range(50):
        filter = filter_of(base, [i])
        base.execute("insert into g values (?, ?, ?)", (saved(f"row-{i}", filter), filter, i))
    base.execute("insert into g values (null, null, 7)")
    for filter in ("f", "name"):
        pairs = f"from g a, g b where petal_contains(a.{filter}, b.k)"
        assert one(base, f"select count(*) {pairs} and a.k = b.k and b.f is not null") == 50
        assert one(base, f"select count(*) {pairs}") < 51 + 150  # 2,450 other pairs at 1 %
        assert one(base, f"select count(*) from g where petal_contains({filter}, k) is null") == 1
    # The format may change while the file does not.
    base.execute("create table formats (x text)")
    base.execute("insert into formats values ('petal'), ('auto'), ('guava')")
    query = "select petal_contains(?, 1, x) from formats"
    assert "damaged" in error_of(base, query, f"{HERE}/row-1")


def test_a_damaged_block_of_a_row_is_an_error_and_no_answer():
    base = connect()
    numbers(base, 200_000)
    blob = bytearray(one(base, "select petal_build(i, 0.01, 200000) from n"))
    blob[-100] ^= 1
    base.execute("create table g (f blob)")
    base.execute("insert into g values (?)", (bytes(blob),))
    assert "damaged" in error_of(base, "select count(petal_contains(f, i)) from g, n")
    assert "damaged" in error_of(base, "select count(petal_contains(?, i)) from n", bytes(blob))
    counts = {"damaged": 0, "answered": 0}
    for i in range(300):
        try:
            one(base, "select petal_contains(f, ?) from g", i)
            counts["answered"] += 1
        except Exception as error:
            assert str(error).count("at byte 197696") == 2, error
            assert type(error).__name__ in ("InvalidInputException", "OperationalError"), error
            counts["damaged"] += 1
    assert min(counts.values()) > 10, counts


# ---- files ----


def bytes_read():
    with open("/proc/self/io") as io:
        return int(io.read().split()[1])


def test_a_file_is_read_once_and_again_if_it_changes():
    base = connect()
    changes = ("replaced", "overwritten", "written back in time", "deleted")
    paths = {change: filter_file(change, ["a"]) for change in changes}
    time.sleep(3.2)  # if a file changed within the last 2 seconds, every statement reads it
    for change, path in paths.items():
        assert [contains(base, path, key) for key in "ab"] == [1, 0]
        before, size = bytes_read(), os.path.getsize(path)
        for i in range(100):
            contains(base, path, f"{i}")
        assert bytes_read() - before < 50 * size, change
        other = filter_file("other", ["b", "c"])
        assert os.path.getsize(other) == size
        if change == "replaced":
            os.replace(other, path)
        elif change == "deleted":
            os.remove(path)
            assert "cannot open it" in error_of(base, lambda: contains(base, path, "a"))
            continue
        else:
            shutil.copyfile(other, path)
            if change != "overwritten":
                os.utime(path, (1_000_000_000, 1_000_000_000))
        assert [contains(base, path, key) for key in "ab"] == [0, 1], change


def test_a_truncated_file_is_an_error():
    base, path = connect(), filter_file("cut", ["a"])
    assert contains(base, path, "a") == 1
    for size, word in ((300, "truncated"), (0, "not a filter")):
        os.truncate(path, size)
        assert word in error_of(base, lambda: contains(base, path, "a"))


def test_more_files_than_are_kept_answer():
    base = connect()
    paths = [filter_file(f"many-{i}", [f"k{i}"]) for i in range(20)]
    for _ in range(3):
        for i, path in enumerate(paths):
            assert [contains(base, path, key) for key in (f"k{i}", "other")] == [1, 0]
    base.execute("create table many (name text, k text)")
    base.executemany("insert into many values (?, ?)", [(paths[i], f"k{i}") for i in range(20)])
    assert column(base, "select petal_contains(name, k) from many") == [1] * 20


# ---- misuse ----


def test_wrong_arguments_are_errors():
    base, path = connect(), filter_file("wrong", ["a"])
    for name, *format in ((path + "\0",), (path + "\0", "petal"), (path, "petal\0")):
        said = error_of(base, lambda: contains(base, name, "a", *format))
        assert said.startswith("petal: ") and "NUL byte" in said and len(said) < 1000, said
    assert "there is no format x" in error_of(base, "select petal_contains(?, 'a', 'x')", path)
    numbers(base, 3000)
    for blob in (b"", b"\0", b"petal", bytes(100_000), bytes(10_000_000)):
        error_of(base, "select petal_contains(b, 'a') from (select ? b)", blob)
        error_of(base, "select count(petal_contains(?, i)) from n", blob)
