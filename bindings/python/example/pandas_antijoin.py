"""Which rows of a pandas frame are not in a set of a billion? A filter takes the place of a merge.

A key that is in the filter for certain would need the set; one that is not is new for certain, so
no old row is ever kept. Some new rows (the rate) are dropped with the old ones: look those up in
the set where that matters, with maybe_known.
"""

import pandas as pd

import petal


def known_keys(column: pd.Series, rate: float = 0.001) -> petal.Filter:
    known = petal.Filter(len(column), rate)
    known.update(column)  # an Arrow or numpy column is read in place
    return known


def only_new(frame: pd.DataFrame, key: str, known: petal.Filter) -> pd.DataFrame:
    """The rows whose key is certainly not known; rows without a key are left out."""
    named = frame.dropna(subset=[key])
    return named.loc[~known.contains_batch(named[key])]


def maybe_known(frame: pd.DataFrame, key: str, known: petal.Filter) -> pd.DataFrame:
    """The others that have a key: those that a lookup in the set itself has to decide."""
    named = frame.dropna(subset=[key])
    return named.loc[known.contains_batch(named[key])]


if __name__ == "__main__":
    yesterday = pd.Series([f"https://example.com/{i}" for i in range(10_000)])
    today = pd.DataFrame({"url": [f"https://example.com/{i}" for i in range(9_000, 12_000)]})
    known = known_keys(yesterday)
    print(len(only_new(today, "url", known)), "of", len(today), "are certainly new")
