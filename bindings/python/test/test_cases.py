"""Runs the cases in vectors/bindings/cases.txt, which every binding must pass. They cover sizes,
key hashes, false positives, and failures with the core's messages."""

import struct

import petal
from petal import Filter
from test_vectors import VECTORS, raises


def options_of(words):
    read = dict(scheme=str, format=str, rate=float, growth_ratio=float, secret=bytes.fromhex)
    options = {}
    for name, value in (word.split("=") for word in words):
        options[name] = read.get(name, int)(value)
    if "window_ms" in options:
        options["window_time"] = options.pop("window_ms") / 1000
    options["grow"] = bool(options.get("grow"))
    return options


def cases(verb):
    """Splits each line into the words before the = and the text after it."""
    found = []
    for line in (VECTORS / "bindings/cases.txt").read_text().splitlines():
        if line.split()[0] == verb:
            words, outcome = line.split(" = ", 1)
            found.append((words.split()[1:], outcome))
    assert len(found) >= 5
    return found


def test_plans_have_the_sizes_of_the_core():
    for words, outcome in cases("plan"):
        plan = petal.plan(**options_of(words))
        assert f"{plan.bits} {plan.hashes} {plan.bytes}" == outcome, words


def test_what_no_filter_can_be_is_refused_in_the_words_of_the_core():
    for words, outcome in cases("refuse"):
        for make in (Filter, petal.plan):
            options = options_of(words)
            if not words:  # without arguments, the case tests that an argument is required
                assert "how many keys" in str(raises(TypeError, make))
                continue
            if options.get("rate") == 0:  # the core interprets 0 as "not given"
                assert str(raises(ValueError, make, **options)).endswith("below 1, not 0")
                continue
            error = raises(petal.Error, make, **options)
            assert isinstance(error, ValueError)
            assert f"{error.status}: {error}" == outcome, words


def test_keys_have_the_hashes_of_the_core():
    for (type, value), outcome in cases("hash"):
        if type == "text":
            key = "" if value == "-" else bytes.fromhex(value).decode()
        else:
            key = int(value) if type == "i64" else struct.unpack(">d", bytes.fromhex(value))[0]
        assert f"{Filter(10).hash_key(key):016x}" == outcome, value


def test_filters_err_as_the_core_does():
    kinds = {"text": lambda i: f"key-{i}", "i64": lambda i: i, "f64": lambda i: i / 2}
    for (type, count, asked, *words), outcome in cases("fill"):
        keys = [kinds[type](i) for i in range(int(count) + int(asked))]
        f = Filter(**options_of(words))
        new = sum(f.add(key) for key in keys[: int(count)])
        passed = sum(key in f for key in keys[int(count) :])
        assert f"{new} {passed} {f.content_id():016x}" == outcome, words


def test_broken_files_are_refused_in_the_words_of_the_core():
    for words, outcome in cases("open"):
        status, file = " ".join(words[:-1]), VECTORS / words[-1]
        error = raises(petal.Error, petal.open, file, format="petal", verify=True)
        offset = "-" if error.offset is None else error.offset
        assert (error.status, f"{error} @ {offset}") == (status, outcome), file
