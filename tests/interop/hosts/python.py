"""Queries one key at a time in Python, using Python's own types."""

import sys

import keys as given
import petal

path, folder = sys.argv[1:]
for type, keys in given.read(path).items():
    with petal.open(f"{folder}/{type}.petal") as filter:
        given.say(type, f"`{keys[0].__class__.__name__}`", (key in filter for key in keys))
