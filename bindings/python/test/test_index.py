"""Tests that an index returns exactly the names of the filters that, queried alone, contain the
key, for keys of every type. Tests building an index from filters, keys and other indexes. Misuse
must raise Python's own exceptions."""

import copy
import json
import os
import pickle
import subprocess
import threading
from array import array

import numpy as np
import petal
import pyarrow as pa
import pytest
from petal import Filter, Index


def filters(count=70, key_type="i64"):
    """Creates filters of three sizes. Filter i contains 50 keys, starting at 40 * i."""
    made = {}
    for i in range(count):
        made[f"filter {i}"] = f = Filter(50 + 25 * (i % 3), 0.05, key_type=key_type)
        f.update(range(40 * i, 40 * i + 50))
    return made


@pytest.fixture
def each():
    return filters()


def index_of(each, **options):
    index = Index(**options)
    for name, f in each.items():
        index.add(name, f)
    return index


@pytest.fixture
def path(tmp_path, each):
    path = tmp_path / "all.petals"
    index_of(each).save(path)
    return path


def alone(each, key):
    return [name for name, f in each.items() if key in f]


def test_it_answers_as_its_filters_do_false_positives_included(each, path):
    expected = [alone(each, key) for key in range(4000)]
    assert sum(map(len, expected)) > 70 * 50 + 1000  # the filters also return false positives
    with index_of(each) as made, Index.open(path) as opened:
        for index in made, opened:
            assert index.names() == list(each) and len(index) == 70
            assert index.which_batch(range(4000)) == expected
            assert [index.which(key) for key in range(0, 4000, 7)] == expected[::7]
            assert [key in index for key in range(0, 4000, 7)] == list(map(bool, expected[::7]))
            bits = index.bits_batch(range(4000))
            assert bits.format == "Q" and len(bits) == 4000 * index.info().row_words == 8000
            rows = np.asarray(bits).reshape(4000, 2)
            for i in range(70):
                column = rows[:, i // 64] >> np.uint64(i % 64) & np.uint64(1)
                assert column.tolist() == [f"filter {i}" in names for names in expected]
            assert not (rows[:, 1] >> np.uint64(6)).any()


def test_batches_take_keys_in_all_forms(each, path):
    index = Index.open(path)
    numbers = list(range(0, 3000, 3))
    expected = index.which_batch(numbers)
    chunked = pa.chunked_array([pa.array(numbers[:10]), pa.array(numbers[10:])])
    for keys in (
        tuple(numbers),
        iter(numbers),
        np.array(numbers),
        np.array(numbers, "int32"),
        np.array(range(0, 6000, 3))[: len(numbers)],
        np.arange(0, 6000)[0:3000:3],
        array("q", numbers),
        pa.array(numbers),
        chunked,
        [n.to_bytes(8, "little") for n in numbers],
    ):
        assert index.which_batch(keys) == expected
    nulls = pa.array([None, 0, None, 40, 41])
    names = index.which_batch(nulls)
    assert names[0] is None and names[2] is None
    assert names[1::2] + names[4:] == index.which_batch([0, 40, 41])
    bits = list(index.bits_batch(nulls))
    assert bits[0:2] == bits[4:6] == [0, 0] and bits[2:4] == list(index.bits_batch([0]))
    assert index.which_batch(pa.nulls(3)) == [None] * 3
    dictionary = pa.array([40, 0, None, 40]).dictionary_encode()
    assert index.which_batch(dictionary) == [names[3], names[1], None, names[3]]


def test_keys_of_every_type(tmp_path):
    for key_type, keys, absent in (
        (None, ["a", "ключ", b"bytes", bytearray(b"x")], "b"),
        ("text", ["a", "ключ", b"bytes", bytearray(b"x")], "b"),
        ("utf16le", ["a", "ключ"], "b"),
        ("i32", [-1, 2**31 - 1, np.int8(7)], 5),
        ("i64", [-1, 2**63 - 1, np.uint8(7)], 5),
        ("f64", [0.5, float("nan"), -0.0, np.float32(2)], 1.0),
    ):
        index = Index()
        index.add_keys("one", keys, 1e-9, key_type=key_type)
        f = Filter(10, 1e-9, key_type=key_type)
        f.update(keys)
        index.add("other", f)
        path = tmp_path / "keys.petals"
        index.save(path)
        opened = Index.open(path)
        assert opened.key_type == index.key_type == (key_type or "text")
        for one in index, opened:
            assert [one.which(key) for key in keys] == [["one", "other"]] * len(keys)
            assert one.which_batch(keys) == [["one", "other"]] * len(keys)
            assert absent not in one and one.which(absent) == []
            wrong = 5 if key_type not in ("i32", "i64") else "5"
            for call in one.which, one.__contains__, lambda key: one.which_batch([key]):
                with pytest.raises(TypeError):
                    call(wrong)
    index = Index()
    index.add_keys("offsets", b"onetwothree", 1e-9, offsets=array("I", [0, 3, 6, 11]))
    assert [index.which(key) for key in ("one", "two", "three")] == [["offsets"]] * 3
    assert index.which_batch(b"twonine", offsets=array("I", [0, 3, 7])) == [["offsets"], []]


def test_keys_are_added_by_batches_of_all_forms():
    index = Index()
    numbers = list(range(5000))
    forms = {
        "list": numbers,
        "iterator": iter(numbers),
        "numpy": np.array(numbers),
        "arrow": pa.array(numbers + [None]),
        "repeats": numbers * 2,
    }
    for name, keys in forms.items():
        index.add_keys(name, keys, "1:100000", key_type="i64")
    assert index.info().groups == 1
    assert index.which_batch(numbers) == [list(forms)] * 5000
    assert sum(map(len, index.which_batch(range(5000, 25000)))) < 20
    small = Index(scheme="classic")
    small.add_keys("empty", [], 0.01)
    small.add_keys("one", ["a"])
    assert small.which("a") == ["one"]


def test_an_index_is_extended_by_making_a_new_one(each, path, tmp_path):
    new = Index()
    with Index.open(path) as old:
        new.update(old, without=["filter 3", "filter 69"])
    new.add("more", each["filter 3"])
    new.save(tmp_path / "new.petals")
    left = {name: f for name, f in each.items() if name not in ("filter 3", "filter 69")}
    left["more"] = each["filter 3"]
    for index in new, Index.open(tmp_path / "new.petals"):
        assert index.names() == list(left)
        assert index.which_batch(range(3000)) == [alone(left, key) for key in range(3000)]
    new.drop("more")
    del left["more"]
    assert new.names() == list(left) and new.which(120) == alone(left, 120)
    for name in list(left):
        new.drop(name)
    assert len(new) == 0 and new.key_type is None and not new
    assert new.which("a") == [] and "a" not in new and len(new.bits_batch(["a", "b"])) == 0
    assert new.which_batch(["a", "b"]) == [[], []]
    new.add_keys("text now", ["a"])
    assert new.which("a") == ["text now"]


def test_the_tool_reads_it_and_it_reads_the_tools(path, tmp_path, each):
    asked = list(range(0, 4000, 3))
    run = subprocess.run(
        ["petal", "which", "--json", path],
        input="".join(f"{n}\n" for n in asked),
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    found = [json.loads(line) for line in run.stdout.splitlines()]
    assert {int(one["key"]): one["filters"] for one in found} == {
        n: names for n in asked if (names := alone(each, n))
    }
    lines = tmp_path / "lines"
    lines.write_text("ann\nbob\n")
    made = tmp_path / "made.petals"
    subprocess.run(["petal", "index", "-o", made, "--keys", "-p", "1e-6", lines], check=True)
    with Index.open(made) as index:
        assert index.names() == [str(lines)] and index.which_batch(["ann", "cid"]) == [
            [str(lines)],
            [],
        ]


def test_folding_puts_filters_of_many_sizes_into_few_groups():
    each = {}
    for i in range(1, 30):
        each[str(i)] = f = Filter(rate=0.01, memory=2**20, foldable=True, key_type="i64")
        f.update(range(i * 100, i * 100 + 10 * i))
    plain, folded = index_of(each), index_of(each, fold=True)
    assert folded.info().filter_bytes < plain.info().filter_bytes / 50
    for i in range(1, 30):
        for key in range(i * 100, i * 100 + 10 * i):
            assert str(i) in folded.which(key)


def test_a_keyed_index_needs_its_secret(tmp_path):
    secret, path = bytes(range(16)), tmp_path / "keyed.petals"
    index = Index()
    index.add_keys("a", ["x"], 1e-9, secret=secret)
    index.save(path)
    with pytest.raises(petal.Error) as caught:
        Index.open(path)
    assert caught.value.status == "secret needed" and caught.value.filename == str(path)
    with Index.open(path, secret=secret) as index:
        assert index.which("x") == ["a"] and index.info().secret_id


def test_names_are_any_text_and_bytes_survive(tmp_path):
    index = Index()
    names = ["ключ", os.fsdecode(b"\xff\xfe"), "a\tb\n"]
    for name in names:
        index.add_keys(name, ["k"])
    index.save(tmp_path / "names.petals")
    assert Index.open(tmp_path / "names.petals").which("k") == names
    for kind, wrong in (
        (TypeError, b"a"),
        (TypeError, None),
        (ValueError, "a\0b"),
        (ValueError, ""),
        (UnicodeEncodeError, "\ud800"),
    ):
        with pytest.raises(kind):
            index.add_keys(wrong, ["k"])
        with pytest.raises(kind):
            index.add(wrong, Filter(10))
    assert len(index) == 3


def test_info_repr_and_attributes(path, each, tmp_path):
    made = index_of(each)
    opened = Index.open(path)
    info = opened.info()
    assert (info.filters, info.groups, info.row_words) == (70, 3, 2)
    assert info.bytes == path.stat().st_size and info.bits_bytes < info.bytes
    assert info.filter_bytes == sum(f.info().bytes for f in each.values())
    assert info.opened and info.key_type == "i64" and info.secret_id is None
    assert not made.info().opened and made.info().bytes == info.bytes
    assert repr(opened) == f"<petal.Index of 70 filters, {info.bytes} bytes>"
    assert opened.path == str(path) and made.path is None
    assert made.__sizeof__() > info.filter_bytes > opened.__sizeof__()
    assert opened.verify() is True and made.verify() is False
    opened.close()
    assert opened.closed and repr(opened) == "<petal.Index, closed>" and opened.__sizeof__() < 1024
    opened.close()
    with pytest.raises(TypeError):
        iter(made)


CALLS = {
    "add": lambda i: i.add("a", Filter(10)),
    "add_keys": lambda i: i.add_keys("a", []),
    "update": lambda i: i.update(Index()),
    "update by it": lambda i: Index().update(i),
    "drop": lambda i: i.drop("a"),
    "names": Index.names,
    "len": len,
    "in": lambda i: "a" in i,
    "which": lambda i: i.which("a"),
    "which_batch": lambda i: i.which_batch([]),
    "bits_batch": lambda i: i.bits_batch(np.arange(100)),
    "info": Index.info,
    "save": lambda i: i.save("/nowhere/at/all"),
    "verify": Index.verify,
    "with": lambda i: i.__enter__(),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_closed_index_is_a_value_error(name):
    index = Index()
    index.close()
    with pytest.raises(ValueError, match="^the index is closed$"):
        CALLS[name](index)


def test_misuse(path, tmp_path, each):
    index = Index()
    f = Filter(10)
    index.add("a", f)
    for kind, wrong in (
        (TypeError, lambda: index.add("b", "no filter")),
        (TypeError, lambda: index.add("b", index)),
        (TypeError, lambda: index.add("b")),
        (TypeError, lambda: index.update(index)),
        (TypeError, lambda: index.update(f)),
        (TypeError, lambda: index.update(Index(), without="a")),
        (TypeError, lambda: index.update(Index(), without=[5])),
        (TypeError, lambda: Index("a")),
        (TypeError, lambda: index.which_batch("one key")),
        (TypeError, lambda: index.which_batch(["a", None])),
        (TypeError, lambda: index.which(None)),
        (ValueError, lambda: Index(scheme="counting")),
        (ValueError, lambda: index.add_keys("b", [], 0)),
        (ValueError, lambda: index.add_keys("b", [], key_type="i64")),
        (ValueError, lambda: index.add_keys("b", [], secret=b"short")),
        (petal.Error, lambda: index.add("a", f)),
        (petal.Error, lambda: index.add_keys("a", ["x"])),
        (petal.Error, lambda: index.drop("b")),
        (petal.Error, lambda: index.update(Index.open(path))),  # other keys
        (petal.Error, lambda: index.update(Index(), without=["b"])),
        (petal.Error, lambda: index.add("b", Filter(10, scheme="counting"))),
        (petal.Error, lambda: index.add("b", Filter(10, grow=True) | Filter(10, grow=True))),
        (petal.Error, lambda: Index.open(path).add("b", each["filter 0"])),
        (petal.Error, lambda: Index.open(path).drop("filter 0")),
        (petal.Error, lambda: Index().save(tmp_path / "none.petals")),
        (FileNotFoundError, lambda: Index.open(tmp_path / "nowhere")),
        (FileExistsError, lambda: index.save(path, replace=False)),
        (TypeError, lambda: pickle.dumps(index)),
        (TypeError, lambda: copy.copy(index)),
    ):
        with pytest.raises(kind) as caught:
            wrong()
        assert not issubclass(caught.type, OSError) or kind is not petal.Error
    assert index.names() == ["a"] and index.which("x") == []
    f.save(tmp_path / "f.petal")
    with pytest.raises(petal.Error) as caught:
        Index.open(tmp_path / "f.petal")
    assert caught.value.status == "not a filter"


def test_the_index_of_a_bad_key_is_reported(path):
    index = Index.open(path)
    with pytest.raises(TypeError) as caught:
        index.which_batch([5] * 3000 + [None])
    assert caught.value.offset == 3000
    with pytest.raises(OverflowError) as caught:
        index.bits_batch(np.array([1, 2, 2**63], "uint64"))
    assert caught.value.offset == 2


def test_damage_is_an_error_and_never_a_missing_name(path):
    data = bytearray(path.read_bytes())
    data[4200] ^= 1
    path.write_bytes(data)
    index = Index.open(path)
    for call in (
        lambda: index.which(5),
        lambda: 5 in index,
        lambda: index.which_batch(range(100)),
        lambda: index.bits_batch(np.arange(100)),
        index.verify,
        lambda: Index.open(path, verify=True),
        lambda: Index().update(index),
    ):
        with pytest.raises(petal.Error) as caught:
            call()
        assert caught.value.status == "damaged"
    assert len(Index.open(path, verify=False).which_batch(range(10))) == 10


def test_a_change_during_a_batch_is_an_error_not_a_wrong_name(each):
    def keys(change):
        yield from range(5000)
        change()
        yield from range(5000)

    for change in (
        lambda index: index.drop("filter 0"),
        lambda index: index.add("more", each["filter 1"]),
        lambda index: index.update(index_of({"more": each["filter 1"]})),
    ):
        index = index_of(each)
        with pytest.raises(petal.Error, match="changed during the call"):
            index.which_batch(keys(lambda: change(index)))
        with pytest.raises(petal.Error, match="changed during the call"):
            index.bits_batch(keys(lambda: index.add("again", each["filter 2"])))
    index = index_of(each)
    with pytest.raises(ValueError, match="the index is closed"):
        index.which_batch(keys(index.close))
    index = index_of(each)
    with pytest.raises(ValueError, match="the index is closed"):
        index.add_keys("more", keys(index.close), key_type="i64")


def test_threads_query_one_index_and_a_change_waits(each, path):
    opened, numbers = Index.open(path), np.arange(4000)
    expected = bytes(opened.bits_batch(numbers))
    made, failed = index_of(each), []

    def query(index):
        for _ in range(20):
            if bytes(index.bits_batch(numbers))[: len(expected)] != expected:
                failed.append(index)

    def change():
        for i in range(20):
            made.add(f"more {i}", each["filter 0"])
            made.drop(f"more {i}")

    # With 71 filters, a row still consists of two words, so only the added filter's bit can differ.
    def query_made():
        mask = np.array([2**64 - 1, 2**6 - 1], "uint64")
        for _ in range(20):
            rows = np.asarray(made.bits_batch(numbers)).reshape(4000, 2) & mask
            if rows.tobytes() != expected:
                failed.append(made)

    def noting(call, *args):
        try:
            call(*args)
        except Exception as error:
            failed.append(error)

    calls = [(query, opened)] * 3 + [(query_made,)] * 2 + [(change,)]
    threads = [threading.Thread(target=noting, args=call) for call in calls]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert failed == [] and made.names() == list(each)


def test_a_subclass_keeps_its_type(path):
    class Mine(Index):
        def __init__(self, name):
            super().__init__()
            self.name = name

    mine = Mine("a")
    mine.add_keys("x", ["k"])
    assert mine.name == "a" and mine.which("k") == ["x"]
    assert type(Mine.open(path)) is Mine
    with pytest.raises(TypeError):
        pickle.dumps(mine)
    mine.__init__("again")
    assert len(mine) == 0
