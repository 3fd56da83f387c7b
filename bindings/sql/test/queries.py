"""queries.py - runs queries in SQLite and DuckDB, whose connections have the same method execute()
and whose functions have the same names and arguments."""

import json


def one(base, query, *values):
    """Returns the only value in the only row of the query's result."""
    rows = base.execute(query, values).fetchall()
    assert len(rows) == 1 and len(rows[0]) == 1, rows
    return rows[0][0]


def column(base, query, *values):
    return [row[0] for row in base.execute(query, values).fetchall()]


def contains(base, filter, key, *format):
    """Returns the answer for one key, as the database's kind of true and false."""
    return one(base, f"select petal_contains(?, ?{', ?' * len(format)})", filter, key, *format)


def info(base, filter, *format):
    return json.loads(one(base, f"select petal_info(?{', ?' * len(format)})", filter, *format))
