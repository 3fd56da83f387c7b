"""Tests the functions in SQL: types, NULL, options, flags, statements that keep a filter, files
that change, limits, misuse, and connections in several threads."""

import json
import os
import shutil
import sqlite3
import struct
import subprocess
import threading
import time

from sql import EXTENSION, VECTORS, column, connect, error_of, one, table

HERE = os.environ["TMPDIR"]
SERIES = "with recursive s(i) as (select {0} union all select i + 1 from s where i < {1} - 1)"


def filter_file(name, keys, *options):
    """Lets the tool make a file with these text keys, old enough to be kept."""
    path = f"{HERE}/{name}"
    words = ["petal", "build", "--force", "-n", "1000", "-o", path, *options]
    subprocess.run(words, input="".join(f"{key}\n" for key in keys), text=True, check=True)
    os.utime(path, (1_000_000_000, 1_000_000_000))
    return path


# ---- types ----


def test_each_sql_type_is_the_key_that_the_tool_means():
    base, path = connect(), f"{HERE}/typed"
    keys = {
        "i64": [i * 7919 - 50_000 for i in range(500)] + [2**63 - 1, -(2**63)],
        "f64": [i / 7 for i in range(500)] + [-0.0, 1e300, float("inf"), -float("inf")],
        "text": [f"key {i} é" for i in range(500)],
        "hex": [struct.pack(">I", i * 7919) for i in range(500)],
    }
    absent = {
        "i64": range(10_000_000, 10_020_000),
        "f64": [i / 7 + 5000 for i in range(20_000)],
        "text": [f"absent {i}" for i in range(20_000)],
        "hex": [struct.pack(">I", i) for i in range(2**31, 2**31 + 20_000)],
    }
    for type in keys:
        table(base, keys[type])
        table(base, absent[type], "absent")
        blob = one(base, "select petal_build(k, 0.1, 600) from keys")
        assert json.loads(one(base, "select petal_info(?)", blob))["key_type"] == type
        with open(path, "wb") as file:
            file.write(blob)
        assert one(base, "select sum(petal_contains(?, k)) from keys", blob) == len(keys[type])
        answers = column(base, "select petal_contains(?, k) from absent order by rowid", blob)
        lines = [key.hex() if type == "hex" else repr(key) for key in absent[type]]
        lines = list(absent[type]) if type == "text" else lines
        ran = subprocess.run(
            ["petal", "check", "-n", "--key-type", type, path],
            input="".join(f"{line}\n" for line in lines), capture_output=True, text=True,
        )
        found = {int(line.split(":")[0]) - 1 for line in ran.stdout.splitlines()}
        assert answers == [int(i in found) for i in range(20_000)], type
        assert 500 < sum(answers) < 2400, (type, sum(answers))


def test_a_key_of_another_type_is_an_error_and_a_blob_is_its_bytes():
    base = connect()
    values = {"i64": 5, "f64": 5.5, "text": "5", "hex": b"5"}
    for made, key in values.items():
        table(base, [key])
        filter = one(base, "select petal_build(k) from keys")
        for asked, other in values.items():
            if asked in (made, "hex"):
                assert one(base, "select petal_contains(?, ?)", filter, other) in (0, 1)
            else:
                said = error_of(base, "select petal_contains(?, ?)", filter, other)
                assert f"the filter has {made} keys, not " in said, said
    table(base, [5])
    filter = one(base, "select petal_build(k) from keys")
    assert one(base, "select petal_contains(?, ?)", filter, struct.pack("<q", 5)) == 1
    said = error_of(base, "select petal_build(k) from (select 1 k union all select 'a')")
    assert said == "petal: the filter has i64 keys, not text; use CAST"


def test_keys_of_32_bits_and_utf16_are_made_as_the_file_wants_them():
    base = connect()
    path = filter_file("i32", [-5, 7, 2**31 - 1], "--key-type", "i32")
    query = "select petal_contains(?, ?)"
    assert [one(base, query, path, key) for key in (-5, 7, 2**31 - 1)] == [1, 1, 1]
    assert "does not fit in 32 bits" in error_of(base, query, path, 2**31)
    assert "does not fit in 32 bits" in error_of(base, query, path, -(2**31) - 1)
    assert "has i32 keys, not text" in error_of(base, query, path, "7")
    path = filter_file("utf16", ["é", "key", "😀"], "--key-type", "utf16le")
    assert [one(base, query, path, key) for key in ("é", "key", "😀", "kex")] == [1, 1, 1, 0]


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


def test_null_gives_null():
    base = connect()
    path = filter_file("null", ["a"])
    for query in (
        "select petal_contains(null, 1)",
        "select petal_contains('no such file', null)",
        "select petal_contains(?, 'a', null)",
        "select petal_info(null)",
        "select petal_merge(null)",
        "select petal_build(null)",
        "select petal_build(k) from (select 1 k where 0)",
        "select petal_merge(f) from (select 1 f where 0)",
    ):
        values = (path,) if "?" in query else ()
        assert one(base, query, *values) is None, query
    some = one(base, "select petal_build(k) from (select null k union all select 5)")
    assert some == one(base, "select petal_build(5)")
    assert one(base, "select petal_build(5, null, null)") == some


# ---- the aggregates ----


def test_a_built_filter_has_the_planned_size_and_rate():
    base = connect()
    base.execute(f"create table n as {SERIES.format(0, 200_000)} select i from s")
    for rate, most in ((0.01, 6.9), (0.001, 10.2)):
        filter = one(base, "select petal_build(i, ?) from n where i % 2 = 0", rate)
        info = json.loads(one(base, "select petal_info(?)", filter))
        assert info["scheme"] == "static" and info["items"] == 100_000
        assert len(filter) * 8 / 100_000 < most, (rate, len(filter))
        missed = one(base, "select count(*) from n where i % 2 = 0 and not petal_contains(?, i)", filter)
        passed = one(base, "select count(*) from n where i % 2 and petal_contains(?, i)", filter)
        # 100,000 Bernoulli trials: 6 standard deviations.
        deviation = 6 * (rate * 100_000) ** 0.5
        assert missed == 0 and abs(passed - rate * 100_000) < deviation, (rate, missed, passed)


def test_a_filter_depends_on_the_set_of_keys_alone():
    base = connect()
    base.execute(f"create table n as {SERIES.format(0, 1000)} select i from s")
    whole = one(base, "select petal_build(i) from n")
    for source in (
        "(select i from n order by -i)",
        "(select i from n union all select i from n where i % 3)",
        "(select distinct i from n union all select null)",
    ):
        assert one(base, f"select petal_build(i) from {source}") == whole, source
    groups = dict(base.execute("select i % 10, petal_build(i) from n group by 1"))
    assert groups[3] == one(base, "select petal_build(i) filter (where i % 10 = 3) from n")


def test_merging_gives_the_filter_of_all_keys():
    base = connect()
    base.execute(f"create table n as {SERIES.format(0, 1000)} select i from s")
    build = "petal_build(i, 0.01, 1000)"
    whole = one(base, f"select {build} from n")
    parts = f"(select {build} f from n group by i % 7)"
    merged = one(base, f"select petal_merge(f) from {parts}")
    assert merged == whole
    for part, name in enumerate(column(base, f"select f from {parts}")):
        with open(f"{HERE}/part-{part}", "wb") as file:
            file.write(name)
    base.execute("create table files (name text)")
    base.executemany("insert into files values (?)", ((f"{HERE}/part-{i}",) for i in range(7)))
    assert one(base, "select petal_merge(name) from files") == whole
    guava = VECTORS / "guava"
    file = sorted(guava.glob("*mitz64.bin"))[0]
    same = one(base, "select petal_merge(f, 'guava') from (select ?1 f union all select ?1)", str(file))
    assert same == file.read_bytes()  # in its own format


def test_what_cannot_be_merged_is_an_error():
    base = connect()
    for first, other, word in (
        ("petal_build(1, 0.01, 100)", "petal_build(1, 0.01, 5000)", "differ"),
        ("petal_build(1, 0.01, 100)", "petal_build('a', 0.01, 100)", "i64 keys and of text keys"),
        ("petal_build(1)", "petal_build(2)", "not supported"),
        ("petal_build(1)", "x'00'", "not a filter"),
        ("petal_build(1)", "5", "not a number"),
    ):
        said = error_of(
            base, f"select petal_merge(f) from (select {first} f union all select {other})"
        )
        assert word in said, (first, other, said)


def test_more_keys_than_the_capacity_are_refused():
    base = connect()
    query = f"{SERIES.format(0, 100_000)} select petal_build(i, 0.01, 1000) from s"
    assert "full: " in error_of(base, query)


def test_options_that_make_no_sense_are_errors():
    base = connect()
    for rate in (0, 1, -1, 2, 0.0, 1.0, 1e999, "0.01", b"1"):
        assert "rate is a number above 0 and below 1" in error_of(base, "select petal_build(1, ?)", rate)
    for capacity in (0, -1, 1.5, "10", b"1"):
        said = error_of(base, "select petal_build(1, 0.01, ?)", capacity)
        assert "capacity is a number of keys" in said, said
    assert "rate out of reach" in error_of(base, "select petal_build(1, 1e-300)")
    assert error_of(base, f"select petal_build(1, 0.01, {2**63 - 1})").startswith("petal: ")
    assert error_of(base, f"select petal_build(1, 0.01, {2**40})") == "out of memory"
    for query in (
        "select petal_build()",
        "select petal_build(1, 0.1, 10, 1)",
        "select petal_contains('a')",
        "select petal_contains('a', 1, 'petal', 1)",
        "select petal_info()",
        "select petal_build(1) over ()",
    ):
        error_of(base, query)


# ---- misuse ----


def test_wrong_arguments_are_errors():
    base = connect()
    path = filter_file("misused", ["a"])
    query = "select petal_contains(?, ?)"
    for filter in (5, 1.5):
        assert "a filter is a file's name" in error_of(base, query, filter, "a")
    for file in ("", "no such file", HERE, "/dev/null", "/dev/zero", "n" * 100_000, path + "\0"):
        said = error_of(base, query, file, "a")
        assert said.startswith("petal: ") and len(said) < 1000, file
    assert "there is no format x" in error_of(base, "select petal_contains(?, 'a', 'x')", path)
    assert "format is a name" in error_of(base, "select petal_contains(?, 'a', 5)", path)
    assert "format" in error_of(base, "select petal_contains(?, 'a', ?)", path, "f" * 100_000)
    with open(f"{HERE}/text", "w") as file:
        file.write("no filter at all\n" * 1000)
    assert "not a filter" in error_of(base, query, f"{HERE}/text", "a")
    for blob in (b"", b"\0", b"petal", bytes(100_000)):
        error_of(base, query, blob, "a")
        error_of(base, "select petal_contains(b, 'a') from (select ? b)", blob)
    error_of(base, "select petal_contains(zeroblob(100000000), 'a')")
    os.mkfifo(f"{HERE}/fifo")
    error_of(base, query, f"{HERE}/fifo", "a")  # refused without waiting


def test_huge_keys_are_keys():
    base = connect()
    huge = "x" * 50_000_000
    filter = one(base, "select petal_build(?)", huge)
    assert one(base, "select petal_contains(?, ?)", filter, huge) == 1
    assert one(base, "select petal_contains(?, ?)", filter, huge[1:]) == 0
    assert one(base, "select petal_contains(?, zeroblob(50000000))", filter) == 0
    assert one(base, "select petal_contains(petal_build(''), '')") == 1


def test_a_damaged_block_of_a_row_is_an_error_and_no_answer():
    base = connect()
    base.execute(f"create table n as {SERIES.format(0, 200_000)} select i from s")
    blob = bytearray(one(base, "select petal_build(i, 0.01, 200000) from n"))
    blob[-100] ^= 1
    base.execute("create table g (f blob)")
    base.execute("insert into g values (?)", (bytes(blob),))
    said = error_of(base, "select sum(petal_contains(f, i)) from g, n")
    assert "damaged" in said, said
    assert "damaged" in error_of(base, "select sum(petal_contains(?, i)) from n", bytes(blob))


# ---- statements and files ----


def test_a_filter_of_a_row_is_that_of_its_row():
    base = connect()
    base.execute("create table g (name text, f blob, k)")
    for i in range(50):
        filter = one(base, "select petal_build(?)", i)
        base.execute("insert into g values (?, ?, ?)", (f"{HERE}/row-{i}", filter, i))
        with open(f"{HERE}/row-{i}", "wb") as file:
            file.write(filter)
    for filter in ("f", "name"):
        pairs = f"from g a, g b where petal_contains(a.{filter}, b.k)"
        assert one(base, f"select count(*) {pairs} and a.k = b.k") == 50
        assert one(base, f"select count(*) {pairs}") < 50 + 150  # 2,450 others at 1 %
    # The format may change while the file does not.
    formats = "(select 'petal' x union all select 'auto' union all select 'guava')"
    query = f"select petal_contains(?, 1, x) from {formats}"
    assert "damaged" in error_of(base, query, f"{HERE}/row-1")


def bytes_read():
    with open("/proc/self/io") as io:
        return int(io.read().split()[1])


def test_a_file_is_read_once_per_connection_and_again_if_it_changes():
    base = connect()
    query = "select petal_contains(?, ?)"
    changes = ("replaced", "overwritten", "written back in time", "deleted")
    paths = {change: filter_file(change, ["a"]) for change in changes}
    time.sleep(3.2)  # a file that changed within the last 2 seconds is read each time
    for change, path in paths.items():
        assert [one(base, query, path, key) for key in "ab"] == [1, 0]
        before, size = bytes_read(), os.path.getsize(path)
        for i in range(100):
            one(base, query, path, f"{i}")
        assert bytes_read() - before < 50 * size, change
        other = filter_file("other", ["b", "c"])
        assert os.path.getsize(other) == size
        if change == "replaced":
            os.replace(other, path)
        elif change == "deleted":
            os.remove(path)
            assert "cannot open it" in error_of(base, query, path, "a")
            continue
        else:
            shutil.copyfile(other, path)
            if change != "overwritten":
                os.utime(path, (1_000_000_000, 1_000_000_000))
        assert [one(base, query, path, key) for key in "ab"] == [0, 1], change


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


def test_a_file_that_a_writer_changes_is_an_error_until_it_is_synced():
    path = filter_file("writing", ["a"])
    shutil.copyfile("vectors/reject/dirty.petal", path)
    base = connect()
    assert "dirty" in error_of(base, "select petal_contains(?, 'a', 'petal')", path)


def test_more_files_than_a_connection_keeps_answer():
    base = connect()
    paths = [filter_file(f"many-{i}", [f"k{i}"]) for i in range(20)]
    for _ in range(3):
        for i, path in enumerate(paths):
            assert one(base, "select petal_contains(?, ?)", path, f"k{i}") == 1
            assert one(base, "select petal_contains(?, ?)", path, "other") == 0


def test_many_statements_take_no_more_memory():
    base, path = connect(), filter_file("memory", ["a"], "-p", "0.000001")
    blob = one(base, f"{SERIES.format(0, 100_000)} select petal_build(i) from s")
    resident = []
    for round in range(6):
        for i in range(300):
            one(base, "select petal_contains(?, ?)", path, f"{i}")
            one(base, "select sum(petal_contains(?, i)) from (select 1 i union select 2)", blob)
            one(base, "select length(petal_build(i, 0.01, 10000)) from (select 1 i)")
            error_of(base, "select petal_contains(?, 'a')", blob)
        with open("/proc/self/statm") as statm:
            resident.append(int(statm.read().split()[1]) * os.sysconf("SC_PAGESIZE"))
    assert resident[-1] - resident[1] < 3_000_000, resident


# ---- limits and flags ----


def shell(script):
    """The output and the errors of SQLite's shell, which continues after each error."""
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
        f"{SERIES.format(0, 10_000_000)} select petal_build(i) from s;\n"
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
    assert one(base, "select length(f) > 0 from built") == 1  # uses its arguments alone


def test_connections_in_several_threads():
    path = filter_file("threads", [f"k{i}" for i in range(1000)])
    failures = []

    def work():
        try:
            base = connect()
            table(base, [f"k{i}" for i in range(1000)])
            for _ in range(20):
                assert one(base, "select sum(petal_contains(?, k)) from keys", path) == 1000
                filter = one(base, "select petal_build(k) from keys")
                assert one(base, "select sum(petal_contains(?, k)) from keys", filter) == 1000
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures


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
