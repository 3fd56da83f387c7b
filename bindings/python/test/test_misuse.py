"""Tests that misuse raises Python's own exceptions, with closed filters, absurd sizes and wrong
arguments, and that 100,000 filters leak no memory."""

import gc
import io
import os
import subprocess
import sys
import tempfile

import numpy as np
import petal
import pyarrow as pa
import pytest
from petal import Filter, Index


def closed():
    f = Filter(10)
    f.close()
    return f


CALLS = {
    "add": lambda f: f.add("a"),
    "in": lambda f: "a" in f,
    "discard": lambda f: f.discard("a"),
    "remove": lambda f: f.remove("a"),
    "hash_key": lambda f: f.hash_key("a"),
    "update": lambda f: f.update(["a"]),
    "update with nothing": lambda f: f.update([]),
    "update numpy": lambda f: f.update(np.arange(100)),
    "update arrow": lambda f: f.update(pa.array(["a"])),
    "contains_batch": lambda f: f.contains_batch(["a"] * 100),
    "contains_any": lambda f: f.contains_any(["a"]),
    "len": len,
    "bool": bool,
    "copy": Filter.copy,
    "empty_like": Filter.empty_like,
    "drop_counts": Filter.drop_counts,
    "fold": Filter.fold,
    "|": lambda f: f | Filter(10),
    "| of it": lambda f: Filter(10) | f,
    "|=": lambda f: f.__ior__(f),
    "compare": lambda f: f.compare(f),
    "compare with it": lambda f: Filter(10).compare(f),
    "info": Filter.info,
    "stats": Filter.stats,
    "content_id": Filter.content_id,
    "save": lambda f: f.save("/nowhere/at/all"),
    "sync": Filter.sync,
    "verify": Filter.verify,
    "to_bytes": Filter.to_bytes,
    "write_to": lambda f: f.write_to(io.BytesIO()),
    "clear": Filter.clear,
    "freeze": Filter.freeze,
    "advance": Filter.advance,
    "metadata": lambda f: f.metadata,
    "is_overfull": lambda f: f.is_overfull,
    "with": lambda f: f.__enter__(),
    "pickle": lambda f: f.__reduce_ex__(2),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_closed_filter_is_a_value_error(name):
    f = closed()
    with pytest.raises(ValueError, match="^the filter is closed$"):
        CALLS[name](f)
    assert f.closed and "closed" in repr(f)
    f.close()


WRONG = [
    (TypeError, dict(capacity="10")),
    (TypeError, dict(capacity=10.5)),
    (TypeError, dict(capacity=float("inf"))),
    (TypeError, dict(capacity=float("nan"))),
    (OverflowError, dict(capacity=-1.0)),
    (OverflowError, dict(capacity=1e20)),
    (TypeError, dict()),
    (ValueError, dict(capacity=10, rate=0)),
    (ValueError, dict(capacity=10, rate="low")),
    (ValueError, dict(capacity=10, rate="1%%")),
    (ValueError, dict(capacity=10, rate="1 in")),
    (ValueError, dict(capacity=10, rate="0%")),
    (TypeError, dict(capacity=True)),
    (TypeError, dict(capacity=10, rate=True)),
    (TypeError, dict(capacity=10, scheme=5)),
    (TypeError, dict(capacity=10, secret="text")),
    (TypeError, dict(capacity=10, metadata="text")),
    (TypeError, dict(capacity=10, format=5)),
    (TypeError, dict(capacity=10, unknown=5)),
    (TypeError, dict(capacity=10, key_type=5)),
    (ValueError, dict(capacity=10, key_type="text ")),
    (ValueError, dict(capacity=10, scheme="cuckoo")),
    (ValueError, dict(capacity=10, secret=b"short")),
    (ValueError, dict(capacity=10, format="no such")),
    (ValueError, dict(capacity=10, metadata=bytes(65537))),
    (ValueError, dict(window=10, window_time=-1)),
    (OverflowError, dict(capacity=-1)),
    (OverflowError, dict(capacity=2**64)),
    (OverflowError, dict(capacity=10, hashes=2**32)),
    (OverflowError, dict(capacity=10, seed=-1)),
]


@pytest.mark.parametrize(("kind", "options"), WRONG, ids=repr)
def test_wrong_options_are_pythons_own_exceptions(kind, options):
    for make in (Filter, petal.plan):
        with pytest.raises(kind) as caught:
            make(**options)
        assert type(caught.value) in (kind, petal.Error)


def test_too_much_memory_is_a_memory_error():
    # Several allocations of 32 TiB exceed any machine's free address space.
    held = []
    with pytest.raises(MemoryError) as caught:
        for _ in range(8):
            held.append(Filter(bits=2**48, hashes=2))
    assert caught.value.status == "out of memory"


def test_other_misuse():
    f = Filter(10)
    for wrong in (
        lambda: f.info("first"),
        lambda: f.add(),
        lambda: f.add("a", "b"),
        lambda: f.update(),
        lambda: f.update([], offsets=5),
        lambda: f.save(),
        lambda: f.to_bytes(5),
        lambda: Filter.from_bytes("text"),
        lambda: Filter.view(5),
        lambda: Filter.open(),
        lambda: petal.shard_of("a", "b"),
        lambda: petal.shard_of(None, 3),
        lambda: petal.recognize("text"),
        lambda: petal.Answers(),
    ):
        with pytest.raises(TypeError):
            wrong()
    for wrong in (
        lambda: f.to_bytes("no such"),
        lambda: f.to_bytes("guava"),
        lambda: f.info(5),
        lambda: f.advance(),
        lambda: f.advance(-1),
        lambda: f.advance(float("nan")),
        lambda: f.discard("a"),
        lambda: f.drop_counts(),
        lambda: f.fold(2),
        lambda: petal.open("x", "w"),
        lambda: petal.shard_of("a", 0),
        lambda: Filter.from_bytes(b""),
    ):
        with pytest.raises(ValueError):
            wrong()


def resident():
    """Returns this process's private memory in KiB."""
    gc.collect()
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("RssAnon"))


def fails(call, *args, **kwargs):
    try:
        call(*args, **kwargs)
    except (ValueError, TypeError, OSError, OverflowError):
        return
    raise AssertionError("it should fail")


TEXTS = ["text", "ключ"] * 50
NUMBERS, STRINGS = np.arange(100), np.array(TEXTS)
ARROW = pa.array(TEXTS + [None])
STREAM = pa.chunked_array([TEXTS, [None]])
IMAGE = Filter(100).to_bytes()
FOLDER = tempfile.TemporaryDirectory()
SAVED = os.path.join(FOLDER.name, "saved.petals")


def everything(f=None):
    f = Filter(100, metadata=b"x" * 100)
    f.add("a"), "b" in f, f.add(bytearray(b"x")), f.add(1.5)
    for keys in (TEXTS, NUMBERS, STRINGS, ARROW, STREAM, iter(TEXTS), [memoryview(b"x")] * 3):
        f.update(keys)
    for keys in (TEXTS, NUMBERS, STRINGS, ARROW, STREAM):
        f.contains_batch(keys)
    pa.array(f.contains_batch(ARROW))
    f.update(b"abc", NUMBERS[:3])
    f | f.copy(), f & f, f.compare(f), f.info(), f.stats(), f.metadata, repr(f), petal.plan(10)
    Filter.from_bytes(f.to_bytes()), Filter.view(IMAGE), petal.formats(), petal.recognize(IMAGE)
    f.write_to(io.BytesIO())
    Filter.read_from(io.BytesIO(IMAGE))
    for wrong in (None, [None], ["a", None], [memoryview(b"x"), None], pa.array([True])):
        fails(f.update, wrong)
    fails(f.update, np.array(["\ud800"]))
    fails(f.update, np.array([2**63], "uint64"))
    fails(f.add, None), fails(f.add, 2**63), fails(f.add, memoryview(NUMBERS))
    fails(Filter, 10, 2), fails(Filter, 10, secret=b"x"), fails(petal.open, "/nowhere")
    fails(Filter.from_bytes, b"x"), fails(Filter.view, b"x"), fails(f.to_bytes, "guava")
    fails(Filter.read_from, io.BytesIO(b"x"))
    index_everything()


def index_everything():
    index, other = Index(), Index()
    index.add("a", Filter(100))
    for number, keys in enumerate((TEXTS, STRINGS, ARROW, STREAM, iter(TEXTS))):
        index.add_keys(f"keys {number}", keys)
    other.update(index, without=["a"]), other.drop("keys 0"), other.names(), other.info()
    for keys in (TEXTS, STRINGS, ARROW, STREAM, iter(TEXTS)):
        index.which_batch(keys), index.bits_batch(keys)
    index.which("text"), "text" in index, len(index), repr(index), index.verify()
    if not os.path.exists(SAVED):
        index.save(SAVED)
    with Index.open(SAVED) as opened:
        opened.which_batch(TEXTS), opened.which("text"), opened.verify()
        fails(opened.add, "b", Filter(10)), fails(opened.drop, "a")
    for wrong in (None, [None], ["a", None], NUMBERS):
        fails(index.which_batch, wrong), fails(index.add_keys, "b", wrong)
    fails(index.add, "a", Filter(100)), fails(index.add_keys, "a", TEXTS), fails(index.drop, "b")
    fails(index.which, None), fails(index.update, other), fails(Index.open, "/nowhere")
    fails(index.add_keys, "a\0", TEXTS), fails(index.update, Index(), without=["b", 5])


def test_a_hundred_thousand_filters_leave_nothing():
    for _ in range(1000):
        Filter(1000).add("a")
    before = resident()
    for _ in range(100_000):
        Filter(1000).add("a")
    assert resident() - before < 1024


def test_no_call_leaks():
    for _ in range(600):
        everything()
    before, blocks = resident(), sys.getallocatedblocks()
    for _ in range(1000):
        everything()
    assert resident() - before < 2048
    assert sys.getallocatedblocks() - blocks < 900  # less than one new block per round


def test_reference_counts_of_singletons_stay():
    before = [sys.getrefcount(one) for one in (None, True, False, Filter, Index, petal.Error)]
    for _ in range(1000):
        everything()
    after = [sys.getrefcount(one) for one in (None, True, False, Filter, Index, petal.Error)]
    assert all(abs(a - b) < 100 for a, b in zip(before, after)), (before, after)


def test_an_interpreter_inside_another_has_its_own_module():
    script = """
import petal, sys
try:
    import _xxsubinterpreters as interpreters
except ImportError:
    import _interpreters as interpreters
assert petal.Filter(10).add("a")
inner = interpreters.create() if sys.version_info < (3, 13) else interpreters.create("legacy")
interpreters.run_string(inner, "import petal; assert petal.Filter(10).add('a')")
interpreters.destroy(inner)
assert petal.Filter(10).add("a")
"""
    subprocess.run([sys.executable, "-c", script], check=True)
