"""sql.py - a connection that has the extension, and what the tests share. They run from the top of
the tree; PETAL_SQLITE is the extension's file without its ending."""

import os
import sqlite3
import struct
from pathlib import Path

VECTORS = Path("vectors")
EXTENSION = os.environ["PETAL_SQLITE"]


def connect(path=":memory:"):
    base = sqlite3.connect(path, isolation_level=None)
    base.enable_load_extension(True)
    base.load_extension(EXTENSION)
    base.enable_load_extension(False)
    return base


def one(base, query, *values):
    """The only value of the only row."""
    rows = base.execute(query, values).fetchall()
    assert len(rows) == 1 and len(rows[0]) == 1, rows
    return rows[0][0]


def column(base, query, *values):
    return [row[0] for row in base.execute(query, values)]


def error_of(base, query, *values):
    """The message of the error that the query ends with; the connection still works."""
    try:
        base.execute(query, values).fetchall()
    except MemoryError:  # SQLITE_NOMEM
        said = "out of memory"
    except sqlite3.Error as error:
        said = str(error)
    else:
        raise AssertionError(f"no error: {query}")
    assert one(base, "select 1") == 1
    return said


def table(base, keys, name="keys"):
    """The keys in order, each with its own type: a column without affinity."""
    base.execute(f"drop table if exists {name}")
    base.execute(f"create table {name} (k blob)")
    base.executemany(f"insert into {name} values (?)", ((key,) for key in keys))


def typed_keys(key):
    """The SQL values that are this key if a file records no type."""
    yield key
    try:
        yield key.decode()
    except UnicodeDecodeError:
        pass
    if len(key) == 8:
        yield int.from_bytes(key, "little", signed=True)
        number = struct.unpack("<d", key)[0]
        if number == number and key != struct.pack("<d", -0.0):
            yield number


def rows(path):
    """The words of each line that is not a comment."""
    for line in (VECTORS / path).read_text().splitlines():
        if line and not line.startswith("#"):
            yield line.split()
