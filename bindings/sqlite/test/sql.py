"""sql.py - opens connections with the extension loaded, and contains helpers that the tests share.
Run the tests from the top of the tree. PETAL_SQLITE is the path of the extension without its
suffix."""

import os
import sqlite3

from queries import column, contains, info, one

HOST = "SQLite"
Failure = sqlite3.Error
EXTENSION = os.environ["PETAL_SQLITE"]
# the table s, whose column i contains the integers from 0 to count - 1
SERIES = "with recursive s(i) as (select 0 union all select i + 1 from s where i + 1 < {})"


def connect(path=":memory:"):
    base = sqlite3.connect(path, isolation_level=None)
    base.enable_load_extension(True)
    base.load_extension(EXTENSION)
    base.enable_load_extension(False)
    return base


def error_of(base, query, *values):
    """Returns the query's error message. The query may also be given as a function. The connection
    must still work afterward."""
    try:
        query() if callable(query) else base.execute(query, values).fetchall()
    except MemoryError:  # SQLITE_NOMEM
        said = "out of memory"
    except Failure as error:
        said = str(error)
    else:
        raise AssertionError(f"no error: {query}")
    assert one(base, "select 1") == 1
    return said


def table(base, keys):
    """Creates a table that contains the keys in order. The column has no type affinity, so each key
    keeps its type. Returns the indices of the keys that SQL can express, which is all of them."""
    base.execute("drop table if exists keys")
    base.execute("create table keys (k blob)")
    base.executemany("insert into keys values (?)", ((key,) for key in keys))
    return list(range(len(keys)))


def numbers(base, count):
    """Creates the table n, whose column i contains the integers from 0 to count - 1."""
    base.execute(f"create table n as {SERIES.format(count)} select i from s")


def answers(base, filter, *format):
    """Returns the answer, 1 or 0, for each key in the table."""
    marks = ", ?" * len(format)
    return column(base, f"select petal_contains(?, k{marks}) from keys order by rowid", filter, *format)


def built(base, *options):
    """Builds a filter from the keys in the table."""
    return one(base, f"select petal_build(k{', ?' * len(options)}) from keys", *options)


def attempts(base, bytes):
    """Yields one function per SQL function that opens a filter; calling it runs the SQL function on
    the bytes."""
    for query in (
        "select petal_contains(?, 'key-1')",
        "select petal_info(?)",
        "select petal_merge(f) from (select ? f)",
    ):
        yield lambda query=query: one(base, query, bytes)
