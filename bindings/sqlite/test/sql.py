"""sql.py - opens connections with the extension, and has what the tests share. Tests run at the top
of the tree; PETAL_SQLITE is the extension's file without its ending."""

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
    """Returns the only value of the query's only row."""
    rows = base.execute(query, values).fetchall()
    assert len(rows) == 1 and len(rows[0]) == 1, rows
    return rows[0][0]


def column(base, query, *values):
    return [row[0] for row in base.execute(query, values)]


def error_of(base, query, *values):
    """Returns the error message of the query; the connection must still work."""
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
    """Makes a table of the keys, in order, in a column without affinity: each key keeps its
    type."""
    base.execute(f"drop table if exists {name}")
    base.execute(f"create table {name} (k blob)")
    base.executemany(f"insert into {name} values (?)", ((key,) for key in keys))


def typed_keys(key):
    """The SQL values that give this key if the file records no key type."""
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
