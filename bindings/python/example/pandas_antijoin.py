"""Finds the rows of a pandas frame that are not in a set of a billion keys, with a filter instead
of a merge.

If the filter answers "certainly not", the row's key is new, so no old row is ever kept. If it
answers "probably", the key may still be new: new rows are dropped at the filter's false-positive
rate. If that matters, look up the rows from maybe_known in the set itself.
"""

import pandas as pd

import petal


def known_keys(column: pd.Series, rate: float = 0.001) -> petal.Filter:
    known = petal.Filter(len(column), rate)
    known.update(column)  # Arrow and numpy columns are read in place
    return known


def only_new(frame: pd.DataFrame, key: str, known: petal.Filter) -> pd.DataFrame:
    """Returns the rows whose key is certainly new. Rows without a key are left out."""
    named = frame.dropna(subset=[key])
    return named.loc[~known.contains_batch(named[key])]


def maybe_known(frame: pd.DataFrame, key: str, known: petal.Filter) -> pd.DataFrame:
    """Returns all other rows that have a key. They must be looked up in the set itself."""
    named = frame.dropna(subset=[key])
    return named.loc[known.contains_batch(named[key])]


if __name__ == "__main__":
    yesterday = pd.Series([f"https://example.com/{i}" for i in range(10_000)])
    today = pd.DataFrame({"url": [f"https://example.com/{i}" for i in range(9_000, 12_000)]})
    known = known_keys(yesterday)
    print(len(only_new(today, "url", known)), "of", len(today), "are certainly new")
