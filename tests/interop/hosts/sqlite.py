"""Queries one key at a time in SQLite, which treats a NaN as NULL."""

import sys

import keys as given
import sql

path, folder = sys.argv[1:]
base = sql.connect()
for type, keys in given.read(path).items():
    native = sql.one(base, "select typeof(?)", keys[0]).upper()
    query = "select petal_contains(?, ?)"
    answers = [sql.one(base, query, f"{folder}/{type}.petal", key) for key in keys]
    given.say(type, f"`{native}`", answers)
