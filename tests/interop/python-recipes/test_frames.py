"""test_frames.py - tests anti-joins in pandas and Polars: every row whose key is in the set is
dropped, and few other rows are lost."""

import random

import pandas as pd
import pandas_antijoin
import polars as pl
import polars_antijoin
import pytest

RATE = 0.01
random = random.Random(1)
TEXTS = [f"https://example.com/{random.getrandbits(64):x}" for _ in range(30_000)]
NUMBERS = [random.getrandbits(63) - 2**62 for _ in range(30_000)]


def parts(keys):
    """Returns 10,000 known keys and 20,000 queries, of which 5,000 are known keys."""
    return keys[:10_000], keys[5_000:25_000]


def judge(known, asked, kept):
    known, kept_set = set(known), set(kept)
    new = [key for key in asked if key not in known]
    assert len(new) == 15_000
    assert not known & kept_set
    lost = len(new) - len(kept)
    # The 15,000 queries at 1 % give 150 +- 12 false positives. The hash is fixed, and the test
    # allows 6 standard deviations.
    assert 75 <= lost <= 225
    assert kept == [key for key in new if key in kept_set]  # in order


@pytest.mark.parametrize("keys", [TEXTS, NUMBERS], ids=["texts", "numbers"])
def test_pandas(keys):
    known, asked = parts(keys)
    filter = pandas_antijoin.known_keys(pd.Series(known), RATE)
    frame = pd.DataFrame({"key": asked, "row": range(len(asked))})
    kept = pandas_antijoin.only_new(frame, "key", filter)
    judge(known, asked, list(kept["key"]))
    rest = pandas_antijoin.maybe_known(frame, "key", filter)
    assert sorted([*kept["row"], *rest["row"]]) == list(range(len(asked)))


def test_pandas_without_a_key():
    filter = pandas_antijoin.known_keys(pd.Series(["a", "b"]))
    frame = pd.DataFrame({"key": ["a", None, "c"]})
    assert list(pandas_antijoin.only_new(frame, "key", filter)["key"]) == ["c"]
    assert list(pandas_antijoin.maybe_known(frame, "key", filter)["key"]) == ["a"]


@pytest.mark.parametrize("keys", [TEXTS, NUMBERS], ids=["texts", "numbers"])
def test_polars(keys):
    known, asked = parts(keys)
    filter = polars_antijoin.known_keys(pl.Series(known), RATE)
    frame = pl.DataFrame({"key": asked})
    judge(known, asked, polars_antijoin.only_new(frame, "key", filter)["key"].to_list())
    lazily = frame.lazy().filter(~polars_antijoin.is_known("key", filter)).collect()
    assert lazily.equals(polars_antijoin.only_new(frame, "key", filter))


def test_polars_without_a_key():
    filter = polars_antijoin.known_keys(pl.Series(["a", "b"]))
    frame = pl.DataFrame({"key": ["a", None, "c"]})
    assert polars_antijoin.only_new(frame, "key", filter)["key"].to_list() == ["c"]


@pytest.mark.parametrize("name", ["pandas_antijoin.py", "polars_antijoin.py"])
def test_as_a_program(example, name):
    said = int(example(name).split()[0])
    assert 1900 < said <= 2000
