"""Tests that anything else passed as a filter or as a format is an error."""

import os
import shutil

from helpers import HERE, filter_file, kept_changing, tool_build
from sql import Failure, connect, contains, error_of
from vectors import VECTORS


def refusal(filter, *format):
    base = connect()
    said = error_of(base, lambda: contains(base, filter, "a", *format))
    assert said.startswith("petal: ") and len(said) < 700, (filter, said)
    return said


def test_a_file_that_is_no_filter_is_refused_without_waiting():
    os.mkfifo(f"{HERE}/fifo")
    for file in (f"{HERE}/fifo", "", HERE, "/dev/null", "/dev/zero"):
        refusal(file)
    for file in (f"{HERE}/none", "no such file", "x" * 5000, "n" * 100_000):
        assert "cannot open" in refusal(file), file
    for lines in (1, 1000):
        with open(f"{HERE}/text", "w") as file:
            file.write("no filter at all\n" * lines)
        assert "not a filter" in refusal(f"{HERE}/text")


def test_bytes_that_are_no_filter_are_refused():
    for blob in (b"", b"\0", b"petal", bytes(100_000), bytes(10_000_000)):
        refusal(blob)


def test_a_file_that_a_writer_changes_is_an_error_until_it_is_synced():
    path = shutil.copyfile(VECTORS / "reject/dirty.petal", f"{HERE}/dirty")
    assert "dirty" in refusal(path) and "dirty" in refusal(path, "petal")


def test_a_file_that_changes_while_it_is_read_gives_an_answer_or_an_error():
    base = connect()
    path = tool_build("changing", ["a"], "-n", "4000000")
    with kept_changing(path):
        for _ in range(100):
            try:
                assert contains(base, path, "a") == 1
            except Failure as error:
                assert "petal: " in str(error), error
    assert contains(base, path, "a") == 1


def test_what_is_no_format_is_refused():
    path = filter_file("misused", ["a"])
    assert "there is no format x" in refusal(path, "x")
    assert "format" in refusal(path, "f" * 100_000)
