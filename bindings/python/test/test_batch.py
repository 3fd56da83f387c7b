"""Tests that batches from arrays of every type return the same answers as single keys and as the
petal command. Nulls, strides, byte orders and the boundaries of pieces must make no difference."""

import math
import random
import warnings
from array import array
from collections.abc import Sequence

import numpy as np
import pandas as pd
import petal
import polars as pl
import pyarrow as pa
import pytest
from petal import Filter

COUNT = 10_000  # processed in more than one piece


def small(**options):
    """A filter this small returns many false positives. If even the false positives agree, the
    filters are equal."""
    return Filter(bits=1 << 15, hashes=3, **options)


def integers(low, high, special=()):
    chosen = random.Random(1)
    values = [chosen.randint(low, high) for _ in range(COUNT - len(special))]
    return list(special) + values


def texts():
    shapes = ["", "a", "{}", "https://example.com/{}", "ключ-{}", "鍵{}", "😀{}", "é" * 20 + "{}"]
    return [shapes[i % 8].format(i) for i in range(COUNT)]


def binaries(width=None):
    chosen = random.Random(2)
    return [chosen.randbytes(width or chosen.randrange(30)) for _ in range(COUNT)]


def floats(kind=float):
    special = [0.0, -0.0, math.nan, -math.nan, math.inf, -math.inf, 5e-324, 1.5, 65504.0]
    chosen = random.Random(3)
    return special + [float(kind(chosen.uniform(-1e4, 1e4))) for _ in range(COUNT - 9)]


def octets(low):
    """Returns the first half, which has fewer distinct numbers, so that some numbers in the second
    half are absent."""
    return (integers(low, low + 99) + integers(low, low + 255))[COUNT // 2 : -COUNT // 2]


I64 = integers(-(2**63), 2**63 - 1, (0, 1, -1, 2**63 - 1, -(2**63)))
I32 = integers(-(2**31), 2**31 - 1, (0, -1, 2**31 - 1, -(2**31)))
U32 = integers(0, 2**32 - 1, (0, 2**32 - 1))
U64 = integers(0, 2**63 - 1, (0, 2**63 - 1))
TEXTS = texts()
BINARY = binaries()
FIXED = binaries(8)
PADDED = [key.rstrip(b"\0") for key in FIXED]
HALVES, SINGLES = floats(np.float16), floats(np.float32)
SINGLES[6] = float(np.float32(1e-45))
HALVES[6] = float(np.float16(6e-8))

# Maps a name to the keys in Python, the key type for the petal command, and the container.
CASES = {
    "list of str": (TEXTS, "text", list),
    "tuple of str": (TEXTS, "text", tuple),
    "iterator of str": (TEXTS, "text", None),
    "list of bytes": (BINARY, "hex", list),
    "list of bytearray": (BINARY, "hex", lambda keys: [bytearray(key) for key in keys]),
    "list of memoryview": (BINARY, "hex", lambda keys: [memoryview(key) for key in keys]),
    "list of int": (I64, "i64", list),
    "list of float": (floats(), "f64", list),
    "list of numpy.int32": (I32, "i64", lambda keys: list(np.array(keys, "int32"))),
    "list of numpy.float32": (SINGLES, "f64", lambda keys: list(np.array(keys, "float32"))),
    "array.array q": (I64, "i64", lambda keys: array("q", keys)),
    "array.array d": (floats(), "f64", lambda keys: array("d", keys)),
    "numpy U": (TEXTS, "text", lambda keys: np.array(keys)),
    "numpy U, big-endian": (TEXTS, "text", lambda keys: np.array(keys).astype(">U70")),
    "numpy S": (PADDED, "hex", lambda keys: np.array(keys, "S8")),
    "numpy V": (FIXED, "hex", lambda keys: np.array(keys, "V8")),
    "numpy object": (TEXTS, "text", lambda keys: np.array(keys, object)),
    "numpy StringDType": (TEXTS, "text", lambda keys: np.array(keys, np.dtypes.StringDType())),
    "numpy float64": (floats(), "f64", lambda keys: np.array(keys)),
    "numpy float32": (SINGLES, "f64", lambda keys: np.array(keys, "float32")),
    "numpy float16": (HALVES, "f64", lambda keys: np.array(keys, "float16")),
    "numpy >f8": (floats(), "f64", lambda keys: np.array(keys, ">f8")),
    "numpy int64": (I64, "i64", lambda keys: np.array(keys)),
    "numpy >i8": (I64, "i64", lambda keys: np.array(keys, ">i8")),
    "numpy uint64": (U64, "i64", lambda keys: np.array(keys, "uint64")),
    "numpy int32": (I32, "i64", lambda keys: np.array(keys, "int32")),
    "numpy >i4": (I32, "i64", lambda keys: np.array(keys, ">i4")),
    "numpy uint32": (U32, "i64", lambda keys: np.array(keys, "uint32")),
    "numpy int16": (integers(-(2**15), 2**15 - 1), "i64", lambda keys: np.array(keys, "int16")),
    "numpy uint8": (octets(0), "i64", lambda keys: np.array(keys, "uint8")),
    "numpy int8": (octets(-128), "i64", lambda keys: np.array(keys, "int8")),
    "pandas str": (TEXTS, "text", pd.Series),
    "pandas object": (TEXTS, "text", lambda keys: pd.Series(keys, dtype=object)),
    "pandas int64": (I64, "i64", pd.Series),
    "polars String": (TEXTS, "text", pl.Series),
    "polars Binary": (BINARY, "hex", pl.Series),
    "polars Int64": (I64, "i64", pl.Series),
    "polars Float32": (SINGLES, "f64", lambda keys: pl.Series(keys, dtype=pl.Float32)),
}
for _name, _keys, _type, _arrow in [
    ("string", TEXTS, "text", pa.string()),
    ("large_string", TEXTS, "text", pa.large_string()),
    ("string_view", TEXTS, "text", pa.string_view()),
    ("binary", BINARY, "hex", pa.binary()),
    ("large_binary", BINARY, "hex", pa.large_binary()),
    ("binary_view", BINARY, "hex", pa.binary_view()),
    ("binary(8)", FIXED, "hex", pa.binary(8)),
    ("int64", I64, "i64", pa.int64()),
    ("uint64", U64, "i64", pa.uint64()),
    ("int32", I32, "i64", pa.int32()),
    ("uint32", U32, "i64", pa.uint32()),
    ("int8", octets(-128), "i64", pa.int8()),
    ("uint16", integers(0, 65535), "i64", pa.uint16()),
    ("float64", floats(), "f64", pa.float64()),
    ("float32", SINGLES, "f64", pa.float32()),
    ("float16", HALVES, "f64", pa.float16()),
]:
    CASES[f"arrow {_name}"] = (_keys, _type, lambda keys, arrow=_arrow: pa.array(keys, arrow))
    CASES[f"arrow {_name}, chunks"] = (
        _keys,
        _type,
        lambda keys, arrow=_arrow: pa.chunked_array(
            [pa.array(keys[:77], arrow), pa.array([], arrow), pa.array(keys[77:], arrow)], arrow
        ),
    )


def line_of(key, type):
    if type == "hex":
        return key.hex().encode()
    return (key if type == "text" else repr(key)).encode()


@pytest.mark.parametrize("name", CASES)
def test_a_batch_is_one_by_one_is_the_tool(name, tool):
    keys, type, make = CASES[name]
    container = make or iter
    one, many, counted = small(), small(), small()
    half = keys[: COUNT // 2]
    new = [one.add(key) for key in half]
    assert list(many.add_batch(container(half))) == new
    assert counted.update(container(half)) == sum(new)
    assert one.to_bytes() == many.to_bytes() == counted.to_bytes()

    found = [key in one for key in keys]
    assert all(found[: COUNT // 2]) and not all(found)
    assert any(found[COUNT // 2 :]), "no false positive: it proves little"
    answers = many.contains_batch(container(keys))
    assert list(answers) == found
    assert tool(one, [line_of(key, type) for key in keys], type) == found
    assert many.contains_any(container(keys)) and not many.contains_all(container(keys))
    assert many.contains_all(container(half))
    assert not many.contains_any(container([])) and many.contains_all(container([]))


@pytest.mark.parametrize("name", CASES)
def test_a_counting_filter_takes_batches_out_again(name):
    keys, _, make = CASES[name]
    container = make or iter
    f = small(scheme="counting")
    f.update(container(keys[:100]))
    f.update(container(keys[:50]))
    before = f.to_bytes()
    f.update(container(keys[100:200]))
    assert sum(f.discard_batch(container(keys[100:200]))) == 100
    assert f.to_bytes() == before


def test_answers_are_of_the_kind_of_the_keys():
    f = Filter(10)
    f.add("a")
    for keys in (["a", "b"], ("a", "b"), iter(["a", "b"]), {"a": 1, "b": 2}):
        answers = f.contains_batch(keys)
        assert type(answers) is list and answers == [True, False] and answers[0] is True
    assert type(f.contains_batch(array("q", [1]))) is list
    assert f.contains_batch(b"ab", offsets=array("I", [0, 1, 2])) == [True, False]
    answers = f.contains_batch(np.array(["a", "b"]))
    assert type(answers) is np.ndarray and answers.dtype == bool and list(answers) == [True, False]
    assert type(f.contains_batch(pd.Series([1, 2], dtype="int64").to_numpy())) is np.ndarray
    answers = f.contains_batch(pa.array(["a", None, "b"]))
    assert type(answers) is petal.Answers and list(answers) == [True, None, False]
    assert len(answers) == 3 and answers.null_count == 1
    assert pa.array(answers).to_pylist() == [True, None, False]
    assert pl.Series(answers).to_list() == [True, None, False]
    assert answers[-1] is False
    with pytest.raises(IndexError):
        answers[3]
    for pandas in (pd.Series(["a", "b"]), pd.Index(["a", "b"]), pd.array(["a", "b"])):
        answers = f.contains_batch(pandas)
        assert type(answers) is np.ndarray and answers.dtype == bool, type(pandas)


@pytest.mark.parametrize("name", CASES)
def test_answers_choose_the_right_rows(name):
    """numpy and pandas require a mask of bool: they would interpret bytes of 0 and 1 as row
    numbers."""
    keys, _, make = CASES[name]
    f = small()
    f.update((make or iter)(keys[:100]))
    answers = f.contains_batch((make or iter)(keys[:500]))
    expected = [i for i, key in enumerate(keys[:500]) if key in f]
    rows = np.arange(500)
    assert len(expected) < 500
    assert list(rows[answers]) == expected
    assert list(np.asarray(answers).nonzero()[0]) == expected and np.asarray(answers).dtype == bool
    assert list(rows[~np.asarray(answers)]) == [i for i in range(500) if i not in set(expected)]
    mask = np.asarray(answers) if type(answers) is petal.Answers else answers
    assert list(pd.Series(rows)[mask]) == expected
    assert list(pd.DataFrame({"row": rows})[mask]["row"]) == expected
    assert pl.DataFrame({"row": rows}).filter(pl.Series(answers))["row"].to_list() == expected
    assert pa.array(rows).filter(pa.array(answers)).to_pylist() == expected


def test_a_null_is_no_answer_of_bool():
    f = Filter(10)
    f.add("a")
    answers = f.contains_batch(pa.array(["a", None, "b"]))
    for wrong in (
        lambda: np.asarray(answers),
        lambda: np.asarray(answers, bool),
        lambda: np.arange(3)[answers],
        lambda: f.contains_batch(pd.Series(["a", None, "b"])),
        lambda: f.contains_batch(pd.Series(["a", None, "b"], dtype="category")),
    ):
        with pytest.raises(ValueError, match="1 of the keys is null, the first at index 1, .*drop"):
            wrong()
    for wrong in (bytes, memoryview, lambda answers: np.frombuffer(answers, bool)):
        with pytest.raises(BufferError, match="null"):
            wrong(answers)
    assert f.update(pd.Series(["c", None])) == 1  # nulls are skipped
    assert pl.Series(answers).to_list() == [True, None, False]


def test_answers_are_a_sequence():
    f = Filter(10)
    f.add("a")
    answers = f.contains_batch(pa.array(["a", None, "b", "a"]))
    same = [True, None, False, True]
    assert isinstance(answers, Sequence) and answers.to_list() == same == list(answers)
    assert answers[1:] == same[1:] and answers[::-2] == same[::-2] and answers[-2] is False
    assert answers.index(None) == 1 and answers.index(True, 1) == 3 and answers.count(True) == 2
    assert list(reversed(answers)) == same[::-1] and None in answers and 5 not in answers
    with pytest.raises(ValueError):
        answers.index(5)


@pytest.mark.parametrize("null", [False, True])
def test_dictionary_columns_are_their_values(null):
    words = [None if null and i % 7 == 0 else f"word {i % 100}" for i in range(9000)]
    numbers = [None if null and i % 5 == 0 else i % 50 for i in range(9000)]
    narrow = pa.dictionary(pa.int8(), pa.large_string())
    for keys, columns in (
        (words, [pa.array(words).dictionary_encode(),
                 pa.array(words).dictionary_encode().cast(narrow),
                 pa.chunked_array([pa.array(words[:10]), pa.array(words[10:])]).dictionary_encode(),
                 pl.Series(words, dtype=pl.Categorical),
                 pl.Series(words, dtype=pl.Enum(sorted({word for word in words if word}))),
                 pd.Series(words, dtype="category")]),
        (numbers, [pa.array(numbers).dictionary_encode(), pd.Series(numbers, dtype="category")]),
    ):
        for column in columns:
            f, same = small(), small()
            expected = [None if key is None else same.add(key) for key in keys[:4500]]
            first = column[:4500] if not isinstance(column, pd.Series) else column.iloc[:4500]
            if null and isinstance(column, pd.Series):
                f.update(first)
            else:
                assert list(f.add_batch(first)) == expected
                found = [None if key is None else key in same for key in keys]
                assert list(f.contains_batch(column)) == found
            assert f.to_bytes() == same.to_bytes()


def test_a_dictionary_without_that_value_is_refused():
    column = pa.array(["a", "b", "c"]).dictionary_encode()
    broken = pa.DictionaryArray.from_arrays(pa.array([0, 1, 7, 0]), column.dictionary, safe=False)
    f = Filter(1000)
    with pytest.raises(petal.Error, match="no such value") as caught:
        f.update(broken)
    assert caught.value.offset == 2 and f.contains_all(["a", "b"]) and "c" not in f


@pytest.mark.parametrize("name", [name for name in CASES if name.startswith("arrow")])
def test_nulls_are_not_added_and_answered_none(name):
    keys, _, make = CASES[name]
    nulled = [None if i % 3 == 0 or 5000 < i < 9500 else key for i, key in enumerate(keys)]
    column = make(nulled)
    f, same = small(), small()
    expected = [None if key is None else same.add(key) for key in nulled]
    assert list(f.add_batch(column)) == expected
    assert f.to_bytes() == same.to_bytes()
    found = [None if key is None else key in f for key in nulled]
    assert list(f.contains_batch(column)) == found
    assert list(f.contains_batch(column[5:9999])) == found[5:9999]
    assert f.contains_all(column)
    assert pa.array(f.contains_batch(column)).to_pylist() == found


def test_a_column_of_nulls_is_all_none():
    f = Filter(10)
    assert list(f.contains_batch(pa.nulls(3))) == [None, None, None]
    assert f.update(pa.nulls(3)) == 0 and not f
    assert f.update(pa.array([None, None], pa.string())) == 0 and not f


def test_slices_and_strides_are_those_of_numpy():
    f = small()
    values = np.array(I64)
    f.update(values[:2000])
    table = np.zeros(COUNT, [("pad", "u1"), ("key", "i8"), ("text", "S8")])
    table["key"] = values
    for view in (
        values[::3],
        values[::-1],
        values[5:9000:7],
        table["key"],
        table["key"][::-2],
        np.broadcast_to(values[0], 5000),
        np.ascontiguousarray(values).reshape(-1, 2)[:, 1],
    ):
        assert list(f.contains_batch(view)) == [int(key) in f for key in view]
    assert list(f.contains_batch(pa.array(I64)[100:9000])) == [key in f for key in I64[100:9000]]


def test_bytes_with_offsets_are_their_pieces():
    data = b"".join(BINARY)
    offsets = np.cumsum([0] + [len(key) for key in BINARY])
    f, same = small(), small()
    new = [same.add(key) for key in BINARY[:5000]]
    for kind in ("uint32", "int64", "uint64"):
        f.clear()
        assert list(f.add_batch(data, offsets[:5001].astype(kind))) == new
        assert list(f.contains_batch(bytearray(data), offsets=offsets.astype(kind))) == [
            key in same for key in BINARY
        ]
    assert f.update(b"", array("Q", [0, 0])) == 0 or "" in f
    for wrong in ([5, 3], [0, len(data) + 1], [len(data) + 1, len(data) + 2]):
        with pytest.raises(petal.Error) as caught:
            f.update(data, np.array(wrong, "uint64"))
        assert caught.value.offset == 0
    with pytest.raises(ValueError):
        f.update(b"", np.array([0, 1], "uint64"))
    with pytest.raises(ValueError):
        f.update(data, np.array([], "uint64"))
    with pytest.raises(TypeError):
        f.update(data, np.array([0, 1], "float64"))


def test_lists_take_texts_of_every_length_among_other_keys():
    """Different code handles short strings, long strings, and keys that run Python code."""
    for start in range(0, 20, 3):
        keys = [("é" if i % 3 == 0 else "x") * i for i in range(start, start + 150)]
        for i in range(0, len(keys), 17):
            keys.insert(i, (b"bytes-%d" % i, i, i + 0.5)[i % 3])
        filter = small()
        filter.update(keys)
        assert all(key in filter for key in keys)
        assert list(map(bool, filter.contains_batch(tuple(keys)))) == [True] * len(keys)
        absent = ["y" * i for i in range(150)]
        assert list(map(bool, filter.contains_batch(iter(absent)))) == [k in filter for k in absent]
        with pytest.raises(UnicodeEncodeError):
            filter.update([*absent[:5], "\ud800", *absent[5:]])


PLACES = [0, 1, 63, 64, 65, 2047, 2048, 2049, 4095, 4096, 4097, 8191, 8192, 9000]
WRONG_KEYS = {
    "list": lambda keys, wrong: [*keys, wrong],
    "tuple": lambda keys, wrong: (*keys, wrong),
    "iterator": lambda keys, wrong: iter([*keys, wrong]),
    "numpy object": lambda keys, wrong: np.array([*keys, wrong], object),
}


@pytest.mark.parametrize("after", [0, 3000])
@pytest.mark.parametrize("name", WRONG_KEYS)
def test_a_wrong_key_has_an_index_and_those_before_it_are_in(name, after):
    make = WRONG_KEYS[name]
    kinds = [(None, TypeError), (2**63, OverflowError), ("\ud800", UnicodeEncodeError)]
    for at in PLACES:
        for wrong, kind in kinds:
            before, later = [f"key-{i}" for i in range(at)], [f"later-{i}" for i in range(after)]
            keys = lambda: make([*before, wrong, *later], "end")
            f = Filter(20_000, 1e-6)
            with pytest.raises(kind) as caught:
                f.update(keys())
            assert caught.value.offset == at
            assert f"index {at} " in caught.value.__notes__[0]
            assert f.contains_all(before) and not any(f.contains_batch(later)) and "end" not in f
            assert f.info().items == at
            for call in (f.contains_batch, f.add_batch, f.contains_all):
                with pytest.raises(kind) as caught:
                    call(keys())
                assert caught.value.offset == at
            if at:
                assert f.contains_any(keys()), "the answer is known before the wrong key"


def columns_with_a_wrong_key(at, after):
    many, more = list(range(at)), list(range(at, at + after))
    big = np.array([*many, 2**63, *more], "uint64")
    yield big, OverflowError, None
    yield pa.array(big), OverflowError, None
    yield pl.Series(big), OverflowError, None
    yield pa.chunked_array([pa.array(big[:at]), pa.array(big[at:])]), OverflowError, None
    wide = np.array([*many, 2**31, *more])
    yield wide, OverflowError, "i32"
    yield pa.array(wide), OverflowError, "i32"
    texts = [str(i) for i in many] + ["\ud800"] + [str(i) for i in more]
    yield np.array(texts), petal.Error, None


@pytest.mark.parametrize("after", [0, 3000])
def test_the_same_in_columns(after):
    for at in PLACES:
        for column, kind, key_type in columns_with_a_wrong_key(at, after):
            f = Filter(20_000, 1e-6, key_type=key_type)
            is_text = isinstance(column, np.ndarray) and column.dtype.kind == "U"
            make = str if is_text else int
            with pytest.raises(kind) as caught:
                f.update(column)
            assert caught.value.offset == at, type(column)
            assert f.contains_all([make(i) for i in range(at)]) and f.info().items == at
            with pytest.raises(kind) as caught:
                f.contains_batch(column)
            assert caught.value.offset == at
            assert at == 0 or f.contains_any(column)


def test_offsets_that_go_wrong_have_an_index_too():
    f = Filter(1000, 1e-6)
    offsets = np.array([0, 1, 2, 9, 3], "uint64")
    with pytest.raises(petal.Error) as caught:
        f.update(b"abcdef", offsets)
    assert caught.value.offset == 2 and f.contains_all(["a", "b"]) and f.info().items == 2


def test_what_an_iterator_raises_comes_after_the_keys_that_it_gave():
    def give():
        yield from ("a", "b")
        raise ZeroDivisionError

    f = Filter(100)
    with pytest.raises(ZeroDivisionError):
        f.update(give())
    assert f.contains_all(["a", "b"])


@pytest.mark.parametrize(
    "wrong",
    [
        "text",
        b"bytes",
        bytearray(b"x"),
        memoryview(b"x"),
        5,
        None,
        np.array(5),
        np.zeros((2, 2)),
        np.array([True]),
        np.array(["2024-01-01"], "datetime64[D]"),
        np.array([1j]),
        pa.array([True]),
        pa.array([[1]]),
        pa.table({"a": [1]}),
        pl.DataFrame({"a": [1]}),
        pl.Series([True]),
        [True],
        [None, "a"],
    ],
    ids=repr,
)
def test_what_is_no_batch_is_a_type_error(wrong):
    f = Filter(10)
    for call in (f.update, f.add_batch, f.contains_batch, f.contains_any, f.contains_all):
        with pytest.raises((TypeError, ValueError)) as caught:
            call(wrong)
        assert isinstance(caught.value, TypeError) or getattr(wrong, "ndim", 1) != 1
    assert not f


def test_text_arrays_that_are_no_text_are_refused():
    f = Filter(10)
    lone = np.array(["ok", "\ud800"])
    with pytest.raises(ValueError) as caught:
        f.update(lone)
    assert caught.value.offset == 1
    with pytest.raises(UnicodeEncodeError):
        f.update(["\ud800"])


def test_key_types_of_the_file_decide_what_a_key_is():
    text = Filter(10, key_type="text")
    assert text.key_type == text.info().key_type == "text"
    for wrong in ([1], np.array([1]), pa.array([1]), [0.5], np.array([0.5])):
        with pytest.raises(TypeError, match="text keys"):
            text.update(wrong)
    text.update(["a", b"b"])
    narrow = Filter(10, key_type="i32")
    narrow.update(np.array([1, -1]))
    assert b"\1\0\0\0" in narrow and narrow.contains_all([-1, b"\xff" * 4])
    assert narrow.contains_all(pa.array([1, -1], pa.int8()))
    for wide in (2**31, np.array([2**31]), pa.array([-(2**31) - 1])):
        with pytest.raises(OverflowError):
            narrow.update(wide if hasattr(wide, "__len__") else [wide])
    wide = Filter(10, key_type="utf16le")
    wide.update(np.array(["é😀"]))
    assert "é😀" in wide and "é😀".encode("utf-16-le") in wide
    assert wide.contains_all(pa.array(["é😀"])) and wide.contains_all(pl.Series(["é😀"]))
    assert Filter.from_bytes(narrow.to_bytes()).key_type == "i32"
    with pytest.raises(ValueError, match="i32 keys"):
        Filter.from_bytes(narrow.to_bytes(), key_type="text")


def test_empty_keys_are_skipped_and_counted_where_the_scheme_takes_none():
    f = Filter(100, format="datasketches")
    assert "empty_key" not in f.info().abilities
    keys = ["", "a", "", "", "b", ""]
    for container in (keys, pa.array(keys), pa.array(keys, pa.string_view()), np.array(keys)):
        f.clear()
        with pytest.warns(RuntimeWarning, match="4 empty keys"):
            assert list(f.add_batch(container)) == [0, 1, 0, 0, 1, 0]
    assert f.add("") is False
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning):
            f.update(keys)
        f.update(["c"])


def test_a_full_filter_says_how_far_it_came():
    f = Filter(100, refuse_overfull=True)
    with pytest.raises(petal.Error) as caught:
        f.update(range(100_000))
    assert caught.value.status == "full"
    at = caught.value.offset
    assert 100 <= at < 1000 and f.contains_all(range(at))
    with pytest.raises(petal.Error):
        f.add("certainly not in")
