"""Tests single keys: which objects are valid keys, and which are not."""

import mmap

import numpy as np
import pytest
from petal import Filter


class Index:
    def __index__(self):
        return 7


class Broken:
    def __index__(self):
        raise ZeroDivisionError


SAME = [
    ("café", "café".encode()),
    ("", b""),
    (7, b"\7" + bytes(7)),
    (-1, b"\xff" * 8),
    (Index(), b"\7" + bytes(7)),
    (np.int8(7), b"\7" + bytes(7)),
    (np.uint64(7), b"\7" + bytes(7)),
    (np.str_("é"), "é".encode()),
    (np.bytes_(b"x"), b"x"),
    (-0.0, bytes(8)),
    (np.float32(1.5), 1.5),
    (np.float16(1.5), 1.5),
    (np.float64(1.5), 1.5),
    (float("nan"), bytes.fromhex("000000000000f87f")),
    (bytearray(b"xy"), b"xy"),
    (memoryview(b"xy"), b"xy"),
    (memoryview(b"x.y.")[::2].tobytes(), b"xy"),
]


@pytest.mark.parametrize(("key", "same"), SAME, ids=repr)
def test_a_key_is_these_bytes(key, same):
    f = Filter(1000)
    assert f.hash_key(key) == f.hash_key(same)
    assert f.add(key) is True and f.add(same) is False
    assert key in f and same in f


def test_mapped_memory_is_bytes():
    f = Filter(10)
    with mmap.mmap(-1, 4) as memory:
        f.add(memory)
        assert bytes(4) in f
        memory.resize  # no buffer is in use, so close() succeeds


NONE = [True, False, None, [1], (1,), {}, object(), 1j, np.bool_(True), np.array([1, 2])]
NONE += [np.datetime64("2024-01-01"), np.array(["a"]), memoryview(np.array([1, 2])), np.float32, ...]


@pytest.mark.parametrize("wrong", NONE, ids=repr)
def test_everything_else_is_a_type_error(wrong):
    f = Filter(10, scheme="counting")
    for call in (f.add, f.discard, f.remove, f.hash_key, f.__contains__):
        with pytest.raises(TypeError, match="a key is str, bytes, int or float, not "):
            call(wrong)
    assert not f


def test_integers_have_63_bits_and_a_sign():
    f = Filter(10)
    f.update([2**63 - 1, -(2**63)])
    for wrong in (2**63, -(2**63) - 1, 10**30, np.uint64(2**63)):
        with pytest.raises(OverflowError):
            f.add(wrong)
    with pytest.raises(ZeroDivisionError):
        f.add(Broken())


def test_a_lone_surrogate_is_no_text():
    with pytest.raises(UnicodeEncodeError):
        "\ud800" in Filter(10)
    f = Filter(10, key_type="utf16le")
    f.add("\ud800")
    assert b"\0\xd8" in f


def test_add_discard_and_remove_say_what_happened():
    f = Filter(1000, scheme="counting")
    assert f.add("a") is True and f.add("a") is False
    assert f.discard("a") is True and "a" in f
    assert f.remove("a") is None and "a" not in f
    assert f.discard("a") is False
    with pytest.raises(ValueError, match="'a' is certainly not in the filter"):
        f.remove("a")
