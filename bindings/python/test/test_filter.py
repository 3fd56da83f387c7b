"""Whole filters: sizes, layers, windows, algebra, copies, pickle, and what Python's protocols say."""

import copy
import dataclasses
import datetime
import math
import pickle
import subprocess

import petal
import pytest
from petal import Filter

SECRET = bytes(range(16))


class Mine(Filter):
    pass


def filled(count=1000, **options):
    f = Filter(count, **options)
    f.update(range(count))
    return f


def test_length_is_estimated_and_truth_means_not_empty():
    f = Filter(10_000)
    assert len(f) == 0 and not f
    f.update(list(range(5000)) * 2)
    assert abs(len(f) - 5000) < 100 and f
    assert f.info().items == 10_000
    full = Filter(bits=64, hashes=1)
    full.update(range(10_000))
    assert full.stats().saturated and len(full) == 10_000
    # Guava does not count: the bits say that it is not empty.
    foreign = Filter.from_bytes(filled(format="guava").to_bytes("guava"), format="guava")
    assert foreign.info().items == 0 and foreign and len(foreign) > 900


def test_repr_says_what_it_is():
    assert repr(filled()) == (
        "<petal.Filter blocked, capacity 1000, rate 0.01, 1000 items, 1280 bytes>"
    )
    assert repr(Filter(bits=512, hashes=3)) == "<petal.Filter blocked, 0 items, 64 bytes>"


def test_plan_is_what_is_made_and_what_the_tool_prints():
    for options in (dict(rate=0.01), dict(rate=1e-5, scheme="classic"), dict(memory=1 << 20)):
        plan, made = petal.plan(1_000_000, **options), Filter(1_000_000, **options).info()
        same = dict(memory_bytes=0, abilities=frozenset())
        assert plan.memory_bytes == 0
        assert dataclasses.replace(plan, **same) == dataclasses.replace(made, **same)
    plan = petal.plan(29_619, 0.001)
    out = subprocess.run(
        ["petal", "plan", "-n", "29619", "-p", "0.001"], capture_output=True, text=True, check=True
    ).stdout
    assert f"{plan.bits_per_key:.1f}" in out.splitlines()[1]
    assert 0.00099 < plan.predicted_rate <= 0.001 < plan.rate_at(40_000) < 0.02
    assert plan.rate_at(0) == 0 and petal.plan(10, grow=True).rate_at(5) is None


def test_filters_grow():
    f = Filter(10, 0.01, grow=True)
    assert f.update(range(1000)) > 980
    info = f.info()
    assert info.policy == "growing" and info.layers > 5 and info.growth_step == 2
    assert f.info(0).capacity == 10 and f.contains_all(range(1000))
    assert f.stats(layer=0).bits_set > 0
    with pytest.raises(petal.Error):
        f.info(info.layers)


def test_windows_forget():
    f = Filter(window=1000)
    f.update(range(100_000))
    assert f.contains_all(range(99_000, 100_000))
    assert sum(f.contains_batch(range(90_000))) < 2000
    day = datetime.timedelta(days=1)
    now = datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc)
    f = Filter(window=1000, window_time=7 * day)
    f.advance(now)
    f.add("a")
    f.advance((now + 7 * day).timestamp())
    assert "a" in f and f.info().window_ms == 7 * 86_400_000
    f.advance(now + 30 * day)
    assert "a" not in f and f.info().clock_ms == (now + 30 * day).timestamp() * 1000
    f.advance()
    assert f.info().clock_ms > 1_700_000_000_000


def test_union_and_intersection():
    a, b = Filter(1000), Filter(1000)
    a.update(range(600))
    b.update(range(400, 1000))
    union, both = a | b, a & b
    assert union.contains_all(range(1000)) and both.contains_all(range(400, 600))
    assert sum(both.contains_batch(range(400))) < 100
    assert type(union) is Filter and not a.contains_all(range(1000))
    before, same = a.copy(), a
    a |= b
    assert a is same and a.to_bytes() == union.to_bytes()
    a &= b
    assert a.contains_all(range(400, 1000))
    before |= before  # with itself: the same keys
    assert before.contains_all(range(600)) and before.stats().bits_set < union.stats().bits_set
    twice = filled(scheme="counting")
    twice |= twice
    assert twice.discard(5) and 5 in twice and twice.discard(5)
    assert type(Mine(10) | Filter(10)) is Mine
    for wrong in ({1}, None, 5):
        with pytest.raises(TypeError):
            a | wrong
        with pytest.raises(TypeError):
            wrong | a
        with pytest.raises(TypeError):
            a.compare(wrong)
    with pytest.raises(petal.Error) as caught:
        a |= Filter(2000)
    assert caught.value.status == "filters differ" and "bits" in str(caught.value)


def test_comparing_estimates_the_overlap():
    a, b = filled(rate=0.001), Filter(1000, 0.001)
    b.update(range(500, 1500))
    comparison = a.compare(b)
    assert comparison.intersection.low < 500 < comparison.intersection.high
    assert 0.3 < comparison.jaccard.value < 0.37
    assert not comparison.saturated
    assert a.compare(a).jaccard.value == pytest.approx(1)


def test_counts_are_dropped():
    f = filled(scheme="counting")
    dropped = f.drop_counts()
    assert dropped.info().scheme == "classic" and dropped.contains_all(range(1000))
    same = Filter(bits=dropped.info().bits, hashes=dropped.info().hashes, scheme="classic")
    same.update(range(1000))
    assert same.content_id() == dropped.content_id()


@pytest.mark.parametrize("duplicate", [Filter.copy, copy.copy, copy.deepcopy], ids=repr)
def test_copies_are_their_own(duplicate):
    f = filled(metadata=b"mine")
    other = duplicate(f)
    assert other.to_bytes() == f.to_bytes() and other.metadata == b"mine"
    other.add("more")
    assert other.to_bytes() != f.to_bytes()
    keyed = filled(secret=SECRET)
    assert duplicate(keyed).contains_all(range(1000))
    assert type(duplicate(Mine(10))) is Mine


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize(
    "options",
    [
        {},
        dict(scheme="counting"),
        dict(grow=True),
        dict(format="guava"),
        dict(format="redisbloom"),
        dict(key_type="i64"),
    ],
    ids=repr,
)
def test_pickles_are_the_same_filter(options, protocol):
    f = filled(100, **options)
    again = pickle.loads(pickle.dumps(f, protocol))
    assert again.to_bytes() == f.to_bytes() and again.key_type == f.key_type
    assert again.contains_all(range(100))
    assert again.add(12345) or True
    mine = Mine(10)
    assert type(pickle.loads(pickle.dumps(mine, protocol))) is Mine


def test_a_keyed_filter_is_not_pickled():
    with pytest.raises(TypeError, match="secret"):
        pickle.dumps(Filter(10, secret=SECRET))


def test_empty_like_and_clear():
    f = filled(metadata=b"x")
    like = f.empty_like()
    assert not like and like.info().bits == f.info().bits
    like |= f
    f.clear()
    assert not f and f.metadata == b"x" and like.contains_all(range(1000))


def test_metadata_is_bytes():
    f = Filter(10)
    assert f.metadata == b""
    f.metadata = bytearray(b"\0x")
    assert f.metadata == b"\0x" and f.info().metadata_bytes == 2
    del f.metadata
    assert f.metadata == b""
    with pytest.raises(TypeError):
        f.metadata = "text"
    with pytest.raises(petal.Error):
        f.metadata = bytes(65537)


def test_a_frozen_filter_takes_no_more():
    f = filled()
    f.freeze()
    for call in (lambda: f.add("a"), f.clear, lambda: f.update([1])):
        with pytest.raises(petal.Error) as caught:
            call()
        assert caught.value.status == "read-only"
    assert 5 in f


def test_overfull_and_stats_tell():
    f = Filter(100)
    f.update(range(1000))
    stats = f.stats()
    assert f.is_overfull and stats.overfull and stats.estimated_rate > 0.1
    assert stats.fill == stats.bits_set / f.info().bits
    assert not math.isnan(stats.estimated_items.value)


def test_each_format_that_can_be_created_is():
    made = 0
    for format in petal.formats():
        if not format.can_create or format.name == "petal":
            continue
        f = Filter(100, 0.01, format=format.name)
        f.update([f"key {i}" for i in range(100)])
        assert f.contains_all([f"key {i}" for i in range(100)]), format
        image = f.to_bytes(format.name)
        again = Filter.from_bytes(image, format=format.name)
        assert again.to_bytes(format.name) == image
        if format.can_recognize:
            assert format.name in petal.recognize(image)
        made += 1
    assert made >= 15


def test_a_filter_is_not_iterable():
    with pytest.raises(TypeError):
        iter(Filter(10))
