"""Finds the rows of a pandas frame that are not in a set of a billion keys, with a filter instead
of a merge.

If the filter says no, the key is certainly new, so no old row is ever kept. If it says "probably",
only the set can decide: at the filter's rate, new rows are dropped together with the old ones. If
that matters, get those rows from maybe_known and look them up in the set.
"""

import pandas as pd

import petal


def known_keys(column: pd.Series, rate: float = 0.001) -> petal.Filter:
    known = petal.Filter(len(column), rate)
    known.update(column)  # an Arrow or numpy column is read in place
    return known


def only_new(frame: pd.DataFrame, key: str, known: petal.Filter) -> pd.DataFrame:
    """The rows whose key is certainly not known. Rows without a key are left out."""
    named = frame.dropna(subset=[key])
    return named.loc[~known.contains_batch(named[key])]


def maybe_known(frame: pd.DataFrame, key: str, known: petal.Filter) -> pd.DataFrame:
    """The other rows that have a key: a lookup in the set itself must decide these."""
    named = frame.dropna(subset=[key])
    return named.loc[known.contains_batch(named[key])]


if __name__ == "__main__":
    yesterday = pd.Series([f"https://example.com/{i}" for i in range(10_000)])
    today = pd.DataFrame({"url": [f"https://example.com/{i}" for i in range(9_000, 12_000)]})
    known = known_keys(yesterday)
    print(len(only_new(today, "url", known)), "of", len(today), "are certainly new")
