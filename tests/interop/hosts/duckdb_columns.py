"""DuckDB: a column of keys."""

import sys

import keys as given
import sql

path, folder = sys.argv[1:]
base = sql.connect()
for type, keys in given.read(path).items():
    sql.table(base, keys)
    native = sql.one(base, f"select typeof(k) from keys_{sql.TYPES[keys[0].__class__]} limit 1")
    given.say(type, f"`{native}`", sql.answers(base, f"{folder}/{type}.petal"))
