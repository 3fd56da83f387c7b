"""The table of cases that every binding runs (vectors/bindings/cases.txt), as far as SQL can
express it: hashes of keys, false positives, content ids, and failures with the core's messages."""

import json
import os
import struct
import subprocess

from sql import VECTORS, column, connect, error_of, one, table

KINDS = {"text": lambda i: f"key-{i}", "i64": lambda i: i, "f64": lambda i: i / 2}


def cases(verb):
    """The words before the = and the text after it."""
    found = []
    for line in (VECTORS / "bindings/cases.txt").read_text().splitlines():
        if line.split()[0] == verb:
            words, outcome = line.split(" = ", 1)
            found.append((words.split()[1:], outcome))
    assert len(found) >= 5
    return found


def tool_build(path, key_type, keys, options):
    """Lets the tool make the filter of these options; None if the tool lacks one of them."""
    names = dict(capacity="-n", rate="-p", scheme="--scheme", seed="--seed", format="--to")
    names.update(bits="--bits", hashes="--hashes")
    words = ["petal", "build", "--force", "--key-type", key_type, "-o", path]
    for name, value in options.items():
        if name == "grow":
            words.append("--grow")
        elif name in names:
            words += [names[name], value]
        else:
            return None
    lines = "".join(f"{key}\n" for key in keys)
    made = subprocess.run(words, input=lines, capture_output=True, text=True)
    assert made.returncode == 0, (words, made.stderr)
    return path


def test_filters_err_as_the_core_does():
    base, built, opened, left_out = connect(), 0, 0, 0
    path = os.environ["TMPDIR"] + "/filled"
    for (type, count, asked, *words), outcome in cases("fill"):
        _, passed, content_id = outcome.split()
        keys = [KINDS[type](i) for i in range(int(count) + int(asked))]
        options = dict(word.split("=") for word in words)
        table(base, keys[: int(count)])
        table(base, keys[int(count) :], "absent")
        if options.keys() == {"capacity", "rate"}:
            values = float(options["rate"]), int(options["capacity"])
            filter = one(base, "select petal_build(k, ?, ?) from keys", *values)
            built += 1
        else:
            filter = tool_build(path, type, keys[: int(count)], options)
            opened += filter is not None
        if filter is None:
            left_out += 1
            continue
        format = options.get("format", "petal")
        both = filter, format
        info = json.loads(one(base, "select petal_info(?, ?)", *both))
        assert info["content_id"] == content_id, words
        query = "select sum(petal_contains(?, k, ?)) from"
        assert one(base, f"{query} keys", *both) == int(count), words
        assert one(base, f"{query} absent", *both) == int(passed), words
    print(f"# counted: SQLite: {built} filters built and {opened} opened;", end=" ")
    print(f"{left_out} left out: a secret, and a window")
    assert built == 3 and opened >= 8 and left_out == 2, (built, opened, left_out)


def test_keys_have_the_hashes_of_the_core():
    """The keys of one type, in one filter, are the same as the tool's."""
    base, path = connect(), os.environ["TMPDIR"] + "/hashed"
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
        options = {"capacity": "100", "rate": "1e-9"}
        tool_build(path, type, [repr(v) if type == "f64" else v for v in values], options)
        table(base, values)
        built = one(base, "select petal_build(k, 1e-9, 100) from keys")
        infos = [json.loads(one(base, "select petal_info(?)", f)) for f in (path, built)]
        assert infos[0] == infos[1], type
        assert infos[0]["key_type"] == type and len(values) >= 3
        assert column(base, "select petal_contains(?, k) from keys", path) == [1] * len(values)


def test_broken_files_are_refused_in_the_words_of_the_core():
    base = connect()
    for words, outcome in cases("open"):
        status, file = " ".join(words[:-1]), VECTORS / words[-1]
        message, offset = outcome.rsplit(" @ ", 1)
        place = "" if offset == "-" else f" (at byte {offset})"
        said = error_of(base, "select petal_contains(?, 1, 'petal')", str(file))
        assert said == f"petal: {file}: {status}: {message}{place}"
