"""sql.py - opens connections with the extension loaded, and contains helpers that the tests share.
Run the tests from the top of the tree. PETAL_DUCKDB is the path of the extension."""

import os

import duckdb

from queries import column, contains, info, one

HOST = "DuckDB"
Failure = duckdb.Error
EXTENSION = os.environ["PETAL_DUCKDB"]
TYPES = {int: "bigint", float: "double", str: "varchar", bytes: "blob"}
ERROR = "Invalid Input Error: "


def connect(path=":memory:", **options):
    base = duckdb.connect(path, config={"allow_unsigned_extensions": "true", **options})
    base.execute("set enable_progress_bar = false")
    base.load_extension(EXTENSION)
    return base


def error_of(base, query, *values):
    """Returns the query's error message. The query may also be given as a function. The connection
    must still work afterwards."""
    try:
        query() if callable(query) else base.execute(query, values).fetchall()
    except Failure as error:
        said = str(error).removeprefix(ERROR)
    else:
        raise AssertionError(f"no error: {query}")
    assert one(base, "select 1") == 1
    return said


def table(base, keys):
    """Makes a table for each type of key, since a column has one type. Returns the indices of the
    keys that SQL can express, which is all of them."""
    keys = list(keys)
    for kind, type in TYPES.items():
        places = [i for i, key in enumerate(keys) if isinstance(key, kind)]
        base.execute(f"create or replace table keys_{type} (place bigint, k {type})")
        base.execute(f"insert into keys_{type} select unnest(?::bigint[]), unnest(?::{type}[])",
                     (places, [keys[i] for i in places]))
    return list(range(len(keys)))


def numbers(base, count):
    """Creates the table n, whose column i contains the integers from 0 to count - 1."""
    base.execute(f"create or replace table n as select range i from range({count})")


def answers(base, filter, *format):
    """Returns the answer, 1 or 0, for each key in the table."""
    marks, found = ", ?" * len(format), {}
    for type in TYPES.values():
        query = f"select place, petal_contains(?, k{marks}) from keys_{type}"
        found.update(base.execute(query, (filter, *format)).fetchall())
    return [int(found[place]) for place in sorted(found)]


def built(base, *options):
    """Builds a filter from the keys in the tables, which all have the same type."""
    type, = [type for type in TYPES.values() if one(base, f"select count(*) from keys_{type}")]
    return one(base, f"select petal_build(k{', ?' * len(options)}) from keys_{type}", *options)


def attempts(base, bytes):
    """Yields calls that open the bytes. Their errors contain only the core's words."""

    def attempt(query):
        try:
            one(base, query, bytes)
        except Failure as error:
            raise duckdb.InvalidInputException(str(error).removeprefix(ERROR)) from error

    for query in (
        "select petal_contains(?, 'key-1')",
        "select petal_info(?)",
        "select petal_merge(f) from (select ?::blob f)",
    ):
        yield lambda query=query: attempt(query)
