"""Tests whole filters: sizes, layers, windows, merging and comparing, copies, pickle, and Python's
protocols."""

import copy
import dataclasses
import datetime
import math
import pickle
import subprocess
import sys
import weakref
from pathlib import Path

import numpy as np
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
    # Guava's files don't record the number of keys, but the bits show that the filter is not empty.
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
    before |= before  # merging with itself adds no new keys
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


@pytest.mark.parametrize("scheme", ["blocked", "classic"])
def test_a_folded_filter_is_the_one_made_small(scheme):
    large = Filter(rate=0.01, memory=4_000_000, foldable=True, scheme=scheme, metadata=b"kept")
    large.update(n for n in range(1000))  # a generator has no length
    folded = large.fold()
    info = folded.info()
    assert "fold" in info.abilities and info.bytes < 2000 and folded.metadata == b"kept"
    assert info.rate == 0.01 and info.capacity >= info.items == 1000
    assert folded.contains_all(range(1000)) and large.info().items == 1000
    small = Filter(1000, bits=info.bits, hashes=info.hashes, scheme=scheme)
    small.update(range(1000))
    assert small == folded
    assert large.fold("0.1%", capacity=1e5).info().bytes > 50 * info.bytes
    with pytest.raises(ValueError):
        large.fold(1e-300)
    with pytest.raises(TypeError):
        large.fold(capacity="many")
    grown = Filter(10, grow=True)
    grown.update(range(1000))
    with pytest.raises(Exception, match="has grown"):
        grown.fold()


def test_a_filter_of_keys_that_nobody_counted():
    for count in (0, 1, 1000, 100_000):
        f = Filter.from_keys((n for n in range(count)), metadata=b"kept")
        info = f.info()
        assert info.bits <= petal.plan(max(count, 1), 0.01).bits / 8 * 9 + 512
        assert info.items == count and not f.is_overfull and f.metadata == b"kept"
        assert f.contains_all(range(count))
    texts = [str(n) for n in range(9999)]
    f = Filter.from_keys(iter(texts), rate="0.1%", scheme="classic", memory=1 << 20)
    assert f.contains_all(texts) and f.info().bytes < 23_000 and f.info().scheme == "classic"
    bits = f.info().bits
    assert f.fold(bits=bits) == f
    with pytest.raises(ValueError, match="divisor"):
        f.fold(bits=7777)
    full = Filter.from_keys(range(100_000), memory=1 << 14)
    assert full.is_overfull and full.contains_all(range(100_000))
    asked = iter(range(10_000_000))
    with pytest.raises(Exception, match="more keys than planned"):
        Filter.from_keys(asked, memory=1 << 14, refuse_overfull=True)
    assert next(asked) < 1_000_000  # it stopped
    for wrong in ({"scheme": "counting"}, {"bits": 512}, {"grow": True}, {"capacity": 5}):
        with pytest.raises(ValueError):
            Filter.from_keys([], **wrong)
    with pytest.raises(TypeError):
        Filter.from_keys()
    with pytest.raises(ZeroDivisionError):
        Filter.from_keys(1 // (5 - n) for n in range(10))


def test_a_static_filter_is_built_from_its_keys():
    keys = [*range(5000), *(f"key-{n}" for n in range(5000)), 0.5, b"\xff"]
    fixed = Filter.from_keys(iter(keys), scheme="static", rate="0.1%", metadata=b"kept")
    info = fixed.info()
    assert fixed.contains_all(keys) and all(key in fixed for key in keys)
    assert info.scheme == "static" and info.items == len(keys) and fixed.metadata == b"kept"
    assert info.bits < 10.4 * len(keys)
    # 100 are expected, and the limit is 7 standard deviations higher.
    assert sum(n in fixed for n in range(-100_000, 0)) < 170
    assert Filter.from_bytes(fixed.to_bytes()) == fixed
    other = Filter(rate=0.001, scheme="static", metadata=b"kept")
    assert "anything" in other and other.add("key-0") and not other.contains_batch(["a"]) == [False]
    for change in (other.to_bytes, other.copy, lambda: other | other, other.stats, other.fold):
        with pytest.raises(Exception, match="not built yet|static"):
            change()
    assert other.update(reversed(keys)) == len(keys)
    other.freeze()
    assert other.to_bytes() == fixed.to_bytes() and other.info() == info
    for filter in (fixed, other):
        with pytest.raises(Exception, match="never changes"):
            filter.add("more")
    assert "key-1" not in Filter.from_keys([], scheme="static")
    keyed = Filter.from_keys(keys, scheme="static", secret=bytes(range(16)))
    assert keyed.contains_all(keys) and keyed.info().hash == "siphash"
    for wrong in ({"memory": 1000}, {"bits": 512}, {"grow": True}, {"capacity": 5}, {"rate": 1.5}):
        with pytest.raises(ValueError):
            Filter.from_keys([], scheme="static", **wrong)
    with pytest.raises(ZeroDivisionError):
        Filter.from_keys((1 // (5 - n) for n in range(10)), scheme="static")
    with pytest.raises(ValueError, match="leave capacity out"):
        Filter(100, 0.01, scheme="static")
    assert petal.plan(100_000, 0.01, scheme="static").bits < 680_000
    golden = Path("vectors/static/two-pages.petal").read_bytes()
    assert Filter.from_keys(range(100_000), scheme="static").to_bytes() == golden


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


# ---- copied like other Python objects ----


def test_equal_filters_have_equal_parameters_and_bits(tmp_path):
    a, b = Filter(1000, seed=1), Filter(1000, seed=1)
    assert a == b and not a != b
    a.update(["x", "y"])
    assert a != b
    b.update(["y", "x"])
    assert a == b and a == a.copy() == Filter.from_bytes(a.to_bytes())
    a.save(tmp_path / "a.petal")
    assert petal.open(tmp_path / "a.petal") == a
    assert a != Filter(1000, seed=2) and a != Filter(2000, seed=1) and a != "x" and a is not None
    grown, same = Filter(10, grow=True), Filter(10, grow=True)
    grown.update(range(1000))
    same.update(range(1000))
    assert grown == same and grown != Filter(10, grow=True)
    with pytest.raises(TypeError, match="unhashable"):
        {a}
    b.close()
    assert a != b and b == b


def test_filters_are_referred_to_weakly_and_know_their_size():
    f = Filter(1_000_000)
    reference = weakref.ref(f)
    assert reference() is f and f.info().memory_bytes < sys.getsizeof(f) < 1_300_000
    del f
    assert reference() is None
    f = Filter(10)
    f.close()
    assert sys.getsizeof(f) < 1000


class Named(Filter):
    def __init__(self, name, *keys):
        super().__init__(1000, 0.001)
        self.name = name
        self.update(keys)


def test_subclasses_have_their_own_arguments_and_attributes(tmp_path):
    f = Named("mine", "a", "b")
    assert "a" in f and f.name == "mine" and f.info().capacity == 1000
    for copied in (copy.copy(f), copy.deepcopy(f), pickle.loads(pickle.dumps(f))):
        assert type(copied) is Named and copied.name == "mine" and copied == f and copied is not f
    f.name = ["list"]
    assert copy.copy(f).name is f.name and copy.deepcopy(f).name is not f.name
    f.save(tmp_path / "a.petal")
    opened = Named.open(tmp_path / "a.petal")  # without __init__()
    assert type(opened) is Named and opened == f and not hasattr(opened, "name")
    assert type(f | opened) is Named


def test_init_once_more_makes_it_anew():
    f = Filter(10)
    f.add("a")
    f.__init__(1000, 0.5)
    assert "a" not in f and f.info().capacity == 1000
    with pytest.raises(ValueError):
        f.__init__(1000, 2)
    assert f.info().capacity == 1000
    with pytest.raises(ValueError, match="closed"):
        Filter.__new__(Filter).add("a")


def test_numbers_are_taken_as_people_write_them():
    expected = petal.plan(1_000_000, 0.01)
    for capacity in (1e6, np.float64(1e6), np.int32(1_000_000)):
        for rate in (0.01, "0.01", "1%", "1 %", " 1e-2", "1:100", "1/100", "1 in 100"):
            assert petal.plan(capacity, rate) == expected, (capacity, rate)


def test_repr_does_not_say_0_items_of_files_that_do_not_count():
    f = petal.open("vectors/guava/utf8_n100_p0.01_mitz64.bin", format="guava")
    assert f.info().items == 0 and f"about {len(f)} items" in repr(f)
    big = Filter(200_000_000, format="guava")
    assert "items" not in repr(big)
    assert ", 0 items," in repr(Filter(10))
