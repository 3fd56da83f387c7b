"""PostgreSQL: a column of keys. Its text can't contain NULs."""

import sys
from pathlib import Path

import keys as given
import sql

path, folder = sys.argv[1:]
base = sql.connect()
for type, keys in given.read(path).items():
    kept = sql.table(base, keys)
    native = sql.one(base, f"select pg_typeof({sql.key_column(base)})::text from keys limit 1")
    found = dict(zip(kept, sql.answers(base, Path(folder, f"{type}.petal").read_bytes())))
    given.say(type, f"`{native}`", (found.get(place) for place in range(len(keys))))
