"""numpy, pandas, Polars and Arrow columns, in Python: frames.py KIND KEYS FOLDER."""

import importlib
import sys

import keys as given
import petal

# What makes a column of keys, and what its type is called.
KINDS = {
    "numpy": ("numpy", "array", "dtype"),
    "pandas": ("pandas", "Series", "dtype"),
    "polars": ("polars", "Series", "dtype"),
    "arrow": ("pyarrow", "array", "type"),
}

def answers(filter, column):
    if kind != "pandas":
        return filter.contains_batch(column)
    # A NaN is a missing value in pandas.
    found = iter(filter.contains_batch(column.dropna()))
    return (next(found) if there else None for there in column.notna())


kind, path, folder = sys.argv[1:]
module, maker, attribute = KINDS[kind]
make = getattr(importlib.import_module(module), maker)
for type, keys in given.read(path).items():
    # numpy's own text and bytes lose NULs at the end of a key, so they are objects there.
    objects = kind == "numpy" and type in ("text", "bytes")
    column = make(keys, dtype=object) if objects else make(keys)
    with petal.open(f"{folder}/{type}.petal") as filter:
        given.say(type, f"`{getattr(column, attribute)}`", answers(filter, column))
