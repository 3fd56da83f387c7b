"""Tests that the SQL scripts can't express, or that need several connections or databases:
encodings, binary COPY, dump and restore, files that change during a query, canceled queries,
limits, and memory."""

import io
import os
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor

import psycopg2

from helpers import filter_file, resident, saved, tool_answers
from sql import column, connect, error_of, one, run


def create_database(name, encoding):
    base = connect()
    run(base, f"drop database if exists {name}")
    run(base, f"create database {name} encoding '{encoding}' locale 'C' template template0")
    return connect(name)


# ---- keys ----


def test_databases_in_other_encodings_have_the_same_keys():
    latin, japanese = [f"é{i}" for i in range(100)], [f"日本{i}" for i in range(100)]
    made = {}
    for encoding, keys in (("UTF8", latin), ("LATIN1", latin), ("SQL_ASCII", latin),
                           ("EUC_JP", japanese)):
        base = create_database("encoded", encoding)
        run(base, f"set client_encoding = {'SQL_ASCII' if encoding == 'SQL_ASCII' else 'UTF8'}")
        run(base, "create table t (k text)")
        with base.cursor() as cursor:
            lines = "".join(f"{key}\n" for key in keys)
            cursor.copy_expert("copy t from stdin", io.BytesIO(lines.encode()))
        made[encoding] = one(base, "select petal_build(k, 0.001)::bytea from t")
        assert tool_answers(saved("encoded", made[encoding]), keys) == [1] * 100, encoding
        query = "select count(*) from t where petal_contains(petal_from_bytea(%s), k)"
        assert one(base, query, made[encoding]) == 100, encoding
        base.close()
    assert made["UTF8"] == made["LATIN1"] == made["SQL_ASCII"] != made["EUC_JP"]
    base = create_database("encoded", "SQL_ASCII")  # a database in which text may be invalid UTF-8
    said = error_of(base, "select petal_build(convert_from('\\xff', 'SQL_ASCII'))")
    assert "invalid byte sequence" in said
    base.close()
    run(connect(), "drop database encoded")


def test_huge_keys_are_keys():
    base = connect()
    run(base, "create temp table huge as select petal_build(repeat('x', 50000000)) as f")
    assert one(base, "select petal_contains(f, repeat('x', 50000000)) from huge")
    assert not one(base, "select petal_contains(f, repeat('x', 49999999)) from huge")


# ---- copies of a database ----


def test_dump_and_restore_and_copy_in_binary_form_give_the_same_values():
    base = create_database("dumped", "UTF8")
    run(base, "create table g as select i % 7 as part, petal_build(i) as f"
              " from generate_series(1, 20000) i group by part")
    run(base, "insert into g select 7, petal_from_file('vectors/parquet/' || name, 'parquet')"
              " from pg_ls_dir('vectors/parquet') name where name like '%%.sbbf' limit 1")
    run(base, "create view asked as select count(*) from g where petal_contains(f, 5)")
    dump = subprocess.run(["pg_dump", "dumped"], capture_output=True, check=True).stdout
    assert b"CREATE EXTENSION" in dump and b"\\\\x8950544c" in dump
    copy = create_database("restored", "UTF8")
    run(copy, "drop extension petal")
    psql = ["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", "restored"]
    subprocess.run(psql, input=dump, check=True, capture_output=True)
    everything = "select part, md5(f::bytea) from g order by part"
    assert run(base, everything) == run(copy, everything) and len(run(copy, everything)) >= 7
    binary = io.BytesIO()
    with base.cursor() as cursor:
        cursor.copy_expert("copy g to stdout (format binary)", binary)
    binary.seek(0)
    with copy.cursor() as cursor:
        cursor.execute("truncate g")
        cursor.copy_expert("copy g from stdin (format binary)", binary)
    assert run(base, everything) == run(copy, everything)
    damaged = bytearray(binary.getvalue())
    damaged[len(damaged) // 2] ^= 1
    with copy.cursor() as cursor:
        try:
            cursor.copy_expert("copy g from stdin (format binary)", io.BytesIO(bytes(damaged)))
        except psycopg2.Error as error:
            assert "damaged" in str(error), error
        else:
            raise AssertionError("a damaged value was copied in")
    base.close(), copy.close()
    for name in ("dumped", "restored"):
        run(connect(), f"drop database {name}")


# ---- files ----


def test_a_file_that_is_replaced_or_truncated_during_a_query_changes_nothing_in_it():
    base, rate = connect(), ("-p", "0.0001")
    query = (
        "with g as materialized (select petal_from_file(%s) as f)"
        " select count(*) from g, generate_series(1, 3) i,"
        " lateral (select pg_sleep(0.2) where f is not null) s where petal_contains(f, 'k' || i)"
    )
    for change in ("replaced", "truncated", "deleted"):
        path = filter_file("replaced", ["k1", "k2", "k3"], *rate)
        found = []
        asking = threading.Thread(target=lambda: found.append(one(connect(), query, path)))
        asking.start()
        while not one(base, "select count(*) from pg_stat_activity where wait_event = 'PgSleep'"):
            pass
        if change == "replaced":
            os.replace(filter_file("other", ["other"], *rate), path)
        elif change == "truncated":
            open(path, "w").close()
        else:
            os.remove(path)
        asking.join()
        assert found == [3], (change, found)
        if change == "replaced":
            assert one(base, query, path) == 0
        else:
            assert "petal: " in error_of(base, query, path)


# ---- limits ----


def test_a_canceled_query_leaves_a_connection_that_works():
    base = connect()
    run(base, "set statement_timeout = 300")
    for query in (
        "select petal_build(i) from generate_series(1, 100000000) i",
        "select petal_build(i, 0.01, 100000000) from generate_series(1, 100000000) i",
        "select count(*) from generate_series(1, 100000000) i,"
        " (select petal_build(i) as f from generate_series(1, 10) i) g where petal_contains(f, i)",
    ):
        assert "canceling statement" in error_of(base, query)


def test_values_above_a_gigabyte_are_refused_before_they_are_built():
    base = connect()
    for query in (
        "select petal_build(1, 0.01, 1000000000)",
        "select petal_build(i, 1e-9, 500000000) from generate_series(1, 3) i",
    ):
        assert "PostgreSQL's limit for a value is 1073741819" in error_of(base, query)


def memory_of_server(base):
    return resident(one(base, "select pg_backend_pid()"))


def test_many_queries_take_no_more_memory():
    base, sizes = connect(), []
    run(base, "create temp table f as select petal_build(i, 0.01, 200000) as f"
              " from generate_series(1, 1000) i")
    for _ in range(6):
        for i in range(30):
            one(base, "select count(*) from generate_series(1, 100) i, f where petal_contains(f, i)")
            one(base, "select count(*) from f a, f b where petal_contains(a.f || b.f, 5)")
            one(base, "select petal_build(i)::text from generate_series(1, 1000) i")
            one(base, "select count(petal_info(f)) from f")
            error_of(base, "select petal_contains(f, 'a') from f")
        sizes.append(memory_of_server(base))
    limit = 50_000_000 if os.environ.get("PETAL_SANITIZED") else 5_000_000
    assert sizes[-1] - sizes[1] < limit, sizes


def test_rows_with_many_filters_take_the_memory_of_one():
    base = connect()
    run(base, "create temp table many as select i as k, petal_build(i, 0.01, 800000) as f"
              " from generate_series(1, 60) i group by i")
    before = memory_of_server(base)
    assert one(base, "select count(*) from many where petal_contains(f, k)") == 60
    assert memory_of_server(base) - before < 20_000_000


def test_connections_at_the_same_time():
    def work(number):
        base = connect()
        for _ in range(20):
            query = "select count(*) from generate_series(1, 1000) i where petal_contains(" \
                    "(select petal_build(i * %s) from generate_series(1, 1000) i), i * %s)"
            assert one(base, query, number, number) == 1000

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(1, 5)))
    assert column(connect(), "select 1") == [1]
