"""Finds the rows of a Polars frame whose keys are certainly not in a filter: an anti-join without a
second table.

The filter returns its answers as an Arrow column, which Polars uses directly. The answer for a null
key is null, so the row is left out, as in a join.
"""

import polars as pl

import petal


def known_keys(column: pl.Series, rate: float = 0.001) -> petal.Filter:
    known = petal.Filter(len(column), rate)
    known.update(column)
    return known


def only_new(frame: pl.DataFrame, key: str, known: petal.Filter) -> pl.DataFrame:
    return frame.filter(~pl.Series(known.contains_batch(frame[key])))


def is_known(key: str, known: petal.Filter) -> pl.Expr:
    """Returns the anti-join as an expression for lazy frames, which evaluate it batch by batch."""
    return pl.col(key).map_batches(
        lambda column: pl.Series(known.contains_batch(column)), return_dtype=pl.Boolean
    )


if __name__ == "__main__":
    yesterday = pl.DataFrame({"url": [f"https://example.com/{i}" for i in range(10_000)]})
    today = pl.DataFrame({"url": [f"https://example.com/{i}" for i in range(9_000, 12_000)]})
    known = known_keys(yesterday["url"])
    print(only_new(today, "url", known).height, "of", today.height, "are certainly new")
    print(today.lazy().filter(~is_known("url", known)).collect().height, "of a lazy frame")
