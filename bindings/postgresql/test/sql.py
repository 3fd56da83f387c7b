"""sql.py - connects to the tests' server, and defines the functions that the tests share. Tests run
from the top of the tree. PGHOST and libpq's other environment variables select the server. Its data
directory contains a copy of vectors/."""

import io
import os

import psycopg2

HOST = "PostgreSQL"
Failure = psycopg2.Error
COLUMNS = {"bytea": bytes, "text": str, "int8": int, "float8": float}


def connect(dbname=None):
    base = psycopg2.connect(dbname=dbname or os.environ["PGDATABASE"])
    base.autocommit = True
    run(base, "create extension if not exists petal")
    return base


def run(base, query, *values):
    """Returns the query's rows, if it returns any."""
    with base.cursor() as cursor:
        cursor.execute(query, values or None)
        return cursor.fetchall() if cursor.description else []


def one(base, query, *values):
    """Returns the only value of the query's only row."""
    rows = run(base, query, *values)
    assert len(rows) == 1 and len(rows[0]) == 1, rows
    return bytes(rows[0][0]) if isinstance(rows[0][0], memoryview) else rows[0][0]


def column(base, query, *values):
    return [row[0] for row in run(base, query, *values)]


def error_of(base, query, *values):
    """Returns the query's error message. The query may be a function. The connection must still
    work afterwards."""
    try:
        query() if callable(query) else run(base, query, *values)
    except Failure as error:
        said = error.diag.message_primary
        assert said, error  # the server is still running
    else:
        raise AssertionError(f"no error: {query}")
    assert one(base, "select 1") == 1
    return said


def table(base, keys):
    """Creates a table of the keys, in order, with one column per type. Returns the indexes of the
    keys that PostgreSQL can represent: text can't contain the character 0, and must be
    representable in the database's encoding."""
    run(base, "drop table if exists keys")
    columns = ", ".join(f"{type}_ {type}" for type in COLUMNS)
    run(base, f"create table keys (place int, {columns})")
    kept, lines = [], io.StringIO()
    for place, key in enumerate(keys):
        if isinstance(key, str) and ("\0" in key or not is_encodable(base, key)):
            continue
        kept.append(place)
        cells = [shown(key) if isinstance(key, kind) else "\\N" for kind in COLUMNS.values()]
        lines.write("\t".join([str(place), *cells]) + "\n")
    lines.seek(0)
    with base.cursor() as cursor:
        cursor.copy_expert("copy keys from stdin", lines)
    return kept


def shown(key):
    """Returns the key in the form that COPY reads."""
    if isinstance(key, bytes):
        return f"\\\\x{key.hex()}"
    if isinstance(key, str):
        escapes = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
        return "".join(escapes.get(c, c) for c in key)
    return repr(key)


def is_encodable(base, text):
    encoding = one(base, "show server_encoding")
    try:
        text.encode({"LATIN1": "latin-1"}.get(encoding, "utf-8"))
    except UnicodeEncodeError:
        return False
    return True


# ---- calls of the functions ----


def opened(filter, *format):
    """Returns an SQL expression for the filter in a file (str) or in bytes, and the expression's
    parameters."""
    call = "petal_from_file" if isinstance(filter, str) else "petal_from_bytea"
    return f"{call}({', '.join(['%s'] * (1 + len(format)))})", (filter, *format)


def contains(base, filter, key, *format):
    """Returns 1 or 0 for one key."""
    value, values = opened(filter, *format)
    type = next(type for type, kind in COLUMNS.items() if isinstance(key, kind))
    return one(base, f"select petal_contains({value}, cast(%s as {type}))::int", *values, key)


def answers(base, filter, *format):
    """Returns 1 or 0 for each key in the table."""
    value, values = opened(filter, *format)
    found = ", ".join(f"petal_contains(f, {type}_)" for type in COLUMNS)
    return column(base, f"with g as materialized (select {value} as f)"
                  f" select coalesce({found})::int from g, keys order by place", *values)


def info(base, filter, *format):
    value, values = opened(filter, *format)
    return one(base, f"select petal_info({value})", *values)


def key_column(base):
    """Returns the column that contains the table's first key."""
    return next(f"{type}_" for type in COLUMNS
                if one(base, f"select count({type}_) from keys where place = 0"))


def built(base, *options):
    """Returns the filter that contains the table's keys, which all have the same type."""
    marks = "".join((", %s::float8", ", %s::int8")[: len(options)])
    return one(base, f"select petal_build({key_column(base)}{marks})::bytea from keys", *options)


def attempts(base, bytes):
    """Yields calls that open the bytes."""
    for query in (
        "select petal_contains(petal_from_bytea(%s), 'key-1')",
        "select ('\\x' || encode(%s, 'hex'))::petal::text",
        "select petal_merge(f) from (select %s::bytea::petal f) t",
    ):
        yield lambda query=query: one(base, query, bytes)
