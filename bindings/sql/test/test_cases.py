"""Runs the cases in vectors/bindings/cases.txt that SQL can express. They cover key hashes, false
positives, content ids, and failures with the core's messages."""

import struct

from helpers import filter_of, tool_build
from sql import HOST, answers, connect, error_of, info, table
from vectors import VECTORS, cases

KINDS = {"text": lambda i: f"key-{i}", "i64": lambda i: i, "f64": lambda i: i / 2}
# The tool has these of the cases' options.
TOOL = {
    "capacity": "-n {}", "rate": "-p {}", "scheme": "--scheme {}", "seed": "--seed {}",
    "format": "--to {}", "bits": "--bits {}", "hashes": "--hashes {}", "grow": "--grow",
}


def test_filters_err_as_the_core_does():
    base, made, opened, left_out = connect(), 0, 0, 0
    for (type, count, asked, *words), outcome in cases("fill"):
        _, passed, content_id = outcome.split()
        keys = [KINDS[type](i) for i in range(int(count) + int(asked))]
        options = dict(word.split("=") for word in words)
        if options.keys() == {"capacity", "rate"}:
            rate, capacity = float(options["rate"]), int(options["capacity"])
            filter = filter_of(base, keys[: int(count)], rate, capacity)
            made += 1
        elif options.keys() <= TOOL.keys():
            words = " ".join(TOOL[name].format(value) for name, value in options.items()).split()
            filter = tool_build("filled", keys[: int(count)], "--key-type", type, *words)
            opened += 1
        else:
            left_out += 1
            continue
        table(base, keys)
        format = options.get("format", "petal")
        assert info(base, filter, format)["content_id"] == content_id, words
        found = answers(base, filter, format)
        assert sum(found[: int(count)]) == int(count), words
        assert sum(found[int(count) :]) == int(passed), words
    print(f"# counted: {HOST}: {made} filters built and {opened} opened;", end=" ")
    print(f"{left_out} left out: a secret, and a window")
    assert made == 3 and opened >= 8 and left_out == 2, (made, opened, left_out)


def test_keys_have_the_hashes_of_the_core():
    """If all keys have one type, the filter equals the one that the tool creates."""
    base = connect()
    keys = {"text": [], "i64": [], "f64": []}
    for (type, value), _ in cases("hash"):
        if type == "text":
            keys[type].append("" if value == "-" else bytes.fromhex(value).decode())
        elif type == "i64":
            keys[type].append(int(value))
        else:
            keys[type].append(struct.unpack(">d", bytes.fromhex(value))[0])
    for type, values in keys.items():
        # SQLite treats a NaN as NULL, and the tool can't read an empty key from a line.
        values = [value for value in values if value == value and value != ""]
        values = [values[i] for i in table(base, values)]
        lines = [repr(v) if type == "f64" else v for v in values]
        path = tool_build("hashed", lines, "--key-type", type, "-n", "100", "-p", "1e-9")
        infos = [info(base, filter) for filter in (path, filter_of(base, values, 1e-9, 100))]
        assert infos[0] == infos[1], type
        assert infos[0]["key_type"] == type and len(values) >= 3
        assert answers(base, path) == [1] * len(values)


def test_broken_files_are_refused_in_the_words_of_the_core():
    base = connect()
    table(base, [1])
    for words, outcome in cases("open"):
        status, file = " ".join(words[:-1]), VECTORS / words[-1]
        message, offset = outcome.rsplit(" @ ", 1)
        place = "" if offset == "-" else f" (at byte {offset})"
        said = error_of(base, lambda: answers(base, str(file), "petal"))
        assert said == f"petal: {file}: {status}: {message}{place}"
