"""Tests that each SQL type makes the same key as the tool, and that a key of another type is an
error."""

import struct

from helpers import filter_file, filter_of, saved, tool_answers
from sql import answers, connect, contains, error_of, info, table


def asked(base, filter, keys):
    """Returns the answers for the keys, which must be the same for the keys of a column and for
    each key alone."""
    table(base, keys)
    found = answers(base, filter)
    assert found == [contains(base, filter, key) for key in keys]
    return found


def refusal(base, filter, key):
    """Returns the error for the key, which must be the same for a column and for the key alone."""
    table(base, [key])
    said = error_of(base, lambda: answers(base, filter))
    assert said == error_of(base, lambda: contains(base, filter, key))
    return said


def test_each_sql_type_is_the_key_that_the_tool_means():
    base = connect()
    keys = {
        "i64": [i * 7919 - 50_000 for i in range(500)] + [2**63 - 1, -(2**63)],
        "f64": [i / 7 for i in range(500)] + [-0.0, 1e300, float("inf"), -float("inf")],
        "text": [f"key {i} é" for i in range(500)],
        "hex": [struct.pack(">I", i * 7919) for i in range(500)],
    }
    absent = {
        "i64": list(range(10_000_000, 10_020_000)),
        "f64": [i / 7 + 5000 for i in range(20_000)],
        "text": [f"absent {i}" for i in range(20_000)],
        "hex": [struct.pack(">I", i) for i in range(2**31, 2**31 + 20_000)],
    }
    for type in keys:
        filter = filter_of(base, keys[type], 0.1, 600)
        assert info(base, filter)["key_type"] == type
        assert answers(base, filter) == [1] * len(keys[type])
        path = saved("typed", filter)
        table(base, absent[type])
        lines = [key.hex() if type == "hex" else repr(key) for key in absent[type]]
        found = tool_answers(path, absent[type] if type == "text" else lines, type)
        assert answers(base, filter) == answers(base, path) == found, type
        assert 500 < sum(found) < 2400, (type, sum(found))


def test_a_key_of_another_type_is_an_error_and_a_blob_is_its_bytes():
    base = connect()
    values = {"i64": 5, "f64": 5.5, "text": "5", "hex": b"5"}
    for made, key in values.items():
        filter = filter_of(base, [key])
        for type, other in values.items():
            if type in (made, "hex"):
                assert asked(base, filter, [other])[0] in (0, 1)
            else:
                said = refusal(base, filter, other)
                assert f"the filter has {made} keys, not " in said, said
    assert asked(base, filter_of(base, [5]), [struct.pack("<q", 5)]) == [1]


def test_keys_of_32_bits_and_utf16_are_made_as_the_file_wants_them():
    base, rate = connect(), ("-p", "0.0001")
    path = filter_file("i32", [-5, 7, 2**31 - 1], "--key-type", "i32", *rate)
    assert asked(base, path, [-5, 7, 2**31 - 1, 8]) == [1, 1, 1, 0]
    for key in (2**31, -(2**31) - 1):
        assert "does not fit in 32 bits" in refusal(base, path, key)
    assert "has i32 keys, not text" in refusal(base, path, "7")
    texts = ["é", "key", "😀", "\ufffe", "\uffff"]
    path = filter_file("utf16", texts, "--key-type", "utf16le", *rate)
    assert asked(base, path, [*texts, "kex", ""]) == [1] * len(texts) + [0, 0]
