"""Tests files: every mode, saving, file objects, mappings, and exceptions from the operating
system."""

import errno
import io
import mmap
import os
import subprocess
from pathlib import Path

import numpy as np
import petal
import pyarrow as pa
import pytest
from petal import Filter

SECRET = bytes(range(16))


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "a.petal"
    f = Filter(1000)
    f.update(range(500))
    f.save(path)
    return path


def test_read_only_maps_answer_and_refuse(path):
    with petal.open(path) as f:
        assert f.contains_all(range(500)) and f.verify() is True and f.path == str(path)
        with pytest.raises(petal.Error) as caught:
            f.add("a")
        assert caught.value.status == "read-only" and caught.value.filename == str(path)
        writable = f.copy()
    writable.add("a")
    assert f.closed and "a" in writable


def test_writable_maps_are_changed_in_place(path):
    with petal.open(path, "r+") as f:
        f.add("a")
        f.sync()
        f.add("b")
    f = petal.open(path, verify=True)
    assert "a" in f and "b" in f
    run = subprocess.run(["petal", "check", path, "a", "-e", "zz"], input=b"", capture_output=True)
    assert run.returncode in (0, 2)


def test_loaded_filters_leave_the_file_alone(path):
    before = path.read_bytes()
    f = petal.open(path, "load")
    f.add("a")
    f.close()
    assert path.read_bytes() == before


def test_what_python_saves_the_tool_reads(path, tool):
    with petal.open(path) as f:
        assert all(tool(f, [b"%d" % i for i in range(500)], "i64"))


def test_what_the_tool_builds_python_reads(tmp_path):
    path = tmp_path / "b.petal"
    subprocess.run(
        ["petal", "build", "-n", "100", "-o", path],
        input=b"a\nb\nc\n",
        check=True,
        capture_output=True,
    )
    with petal.open(path) as f:
        assert f.contains_all(["a", "b", b"c"]) and f.key_type == "text"
        with pytest.raises(TypeError, match="text keys"):
            1 in f


@pytest.mark.parametrize("format", ["guava", "redisbloom", "cassandra", "pybloom"])
def test_other_formats_by_path_and_auto(tmp_path, format):
    path = tmp_path / format
    f = Filter(100, 0.01, format=format)
    f.update(["a", "b"])
    f.save(path, format=format)
    with petal.open(path, format=format) as read:
        assert read.contains_all(["a", "b"]) and read.info().format == format
        assert read.info().file_format == format
    assert f.info().file_format is None
    within = Filter.from_bytes(f.to_bytes()).info()
    assert within.format == format and within.file_format == "petal"
    names = petal.recognize(path.read_bytes())
    if names == [format]:
        assert petal.open(path).info().format == format
    else:
        with pytest.raises(petal.Error, match=format):
            petal.open(path)


def test_errors_have_errno_filename_and_the_words_of_the_core(tmp_path, path):
    missing = tmp_path / "missing"
    for kind in (str, Path, os.fsencode):
        with pytest.raises(FileNotFoundError) as caught:
            petal.open(kind(missing))
        assert caught.value.errno == errno.ENOENT
        assert os.fsdecode(caught.value.filename) == str(missing)
        assert isinstance(caught.value.filename, bytes) == (kind is os.fsencode)
        assert caught.value.status == "i/o error" and caught.value.strerror
    with pytest.raises(OSError) as caught:
        Filter(10).save(missing / "in" / "it")
    assert caught.value.errno == errno.ENOENT
    with pytest.raises(FileExistsError) as caught:
        Filter(10).save(path, replace=False)
    assert caught.value.filename == str(path)
    with petal.open(path, "r+"), pytest.raises(BlockingIOError) as caught:
        petal.open(path, "r+")
    assert caught.value.errno == errno.EAGAIN and caught.value.status == "busy"
    with pytest.raises(petal.Error) as caught:
        petal.open(__file__)
    assert caught.value.status == "not a filter" and str(__file__) in caught.value.__notes__[0]
    for wrong in (5, None, object()):
        with pytest.raises(TypeError):
            petal.open(wrong)
    with pytest.raises(ValueError):
        petal.open("a\0b")


def test_damage_has_the_offset_of_the_core(path):
    data = bytearray(path.read_bytes())
    data[-100] ^= 1
    path.write_bytes(data)
    with pytest.raises(petal.Error) as caught:
        petal.open(path, verify=True)
    run = subprocess.run(["petal", "info", "--verify", path], capture_output=True, text=True)
    assert caught.value.status == "damaged" and caught.value.offset is not None
    assert str(caught.value) in run.stderr + run.stdout or run.returncode != 0


def test_keyed_files_want_their_secret(tmp_path):
    path = tmp_path / "keyed"
    f = Filter(100, secret=SECRET)
    f.add("a")
    f.save(path)
    assert "a" in petal.open(path, secret=SECRET)
    with pytest.raises(petal.Error) as caught:
        petal.open(path)
    assert caught.value.status == "secret needed"
    with pytest.raises(petal.Error) as caught:
        petal.open(path, secret=bytes(16))
    assert caught.value.status == "wrong secret"
    for wrong, kind in ((b"short", ValueError), ("text of 16 chars", TypeError), (5, TypeError)):
        with pytest.raises(kind):
            petal.open(path, secret=wrong)


def test_bytes_and_views(path):
    data = path.read_bytes()
    assert Filter.from_bytes(data).to_bytes() == data
    view = Filter.view(data)
    assert 5 in view
    with pytest.raises(petal.Error):
        view.add("a")
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as memory:
        view = Filter.view(memory)
        assert view.contains_all(range(500))
        with pytest.raises(BufferError):
            memory.close()
        view.close()
    lent = bytearray(data)
    view = Filter.view(lent)
    with pytest.raises(BufferError):
        lent.clear()
    del view
    lent.clear()
    with pytest.raises(petal.Error):
        Filter.view(lent, format="petal")
    lent.append(1)  # append() works only if the failure has released the buffer


class Raw:
    """Accepts only a few bytes at a time, as raw files may."""

    def __init__(self):
        self.data = bytearray()

    def write(self, piece):
        self.data += piece[:1000]
        return min(len(piece), 1000)


class Pieces:
    def __init__(self, data, size):
        self.data, self.size = io.BytesIO(data), size

    def read(self, size):
        return self.data.read(min(size, self.size))


@pytest.mark.parametrize("format", ["petal", "guava", "redisbloom-dump"])
def test_file_objects(format):
    f = Filter(100_000, 0.01, format=None if format == "petal" else format.removesuffix("-dump"))
    f.update(map(str, range(50_000)))
    data = f.to_bytes(format)
    whole, raw = io.BytesIO(), Raw()
    f.write_to(whole, format)
    f.write_to(raw, format=format)
    assert whole.getvalue() == raw.data == data
    for size in (7, 4096, 1 << 20):
        read = Filter.read_from(Pieces(data, size), format=format, size=len(data))
        assert read.to_bytes(format) == data


def test_file_objects_that_fail():
    class Full:
        def write(self, piece):
            raise OSError(errno.ENOSPC, "full")

        def read(self, size):
            return "text"

    class Nothing:
        def write(self, piece):
            return 0

    f = Filter(1000)
    with pytest.raises(OSError, match="full"):
        f.write_to(Full())
    with pytest.raises(OSError):
        f.write_to(Nothing())
    with pytest.raises(TypeError):
        Filter.read_from(Full())
    with pytest.raises(AttributeError):
        f.write_to(object())
    with pytest.raises(petal.Error) as caught:
        Filter.read_from(io.BytesIO(f.to_bytes()[:-1]))
    assert caught.value.status == "truncated"
    f.add("a")  # writable again


def test_a_file_object_that_changes_its_filter_is_refused():
    f = Filter(100)

    class Reenters:
        def write(self, piece):
            assert "a" not in f
            f.add("a")

    with pytest.raises(RuntimeError, match="file object"):
        f.write_to(Reenters())

    class Closes:
        def write(self, piece):
            f.close()

    with pytest.raises(RuntimeError, match="file object"):
        f.write_to(Closes())
    assert f.add("a")


def test_a_locked_file_is_replaced_by_its_owner(path):
    with petal.open(path, "load", locked=True) as f:
        f.add("a")
        with pytest.raises(BlockingIOError):
            petal.open(path, "r+")
        f.save(path)
    assert "a" in petal.open(path)


def test_memory_limits_hold(path):
    with pytest.raises(petal.Error) as caught:
        petal.open(path, "load", memory_limit=100)
    assert caught.value.status == "over a limit"


# ---- damage ----

MEMBERS = [f"key-{i}" for i in range(100_000)]


@pytest.fixture(params=[1, 8192], ids=["one byte", "8 KiB"])
def damaged(request, tmp_path):
    """Returns a file of MEMBERS in which some bytes are zeroed, and the members that a filter
    mapped from the file then misses."""
    path = tmp_path / "damaged.petal"
    f = Filter(len(MEMBERS), 0.01)
    f.update(MEMBERS)
    f.save(path)
    image = bytearray(path.read_bytes())
    at = next(i for i in range(len(image) - 40_000, len(image)) if image[i].bit_count() >= 5)
    image[at : at + request.param] = bytes(request.param)
    path.write_bytes(image)
    blind = petal.open(path, verify=False)
    assert not blind.info().verifies
    denied = [i for i, answer in enumerate(blind.contains_batch(MEMBERS)) if not answer]
    assert denied, "the damage does no harm: it proves nothing"
    return path, denied


def test_no_answer_comes_from_damaged_bits(damaged):
    path, denied = damaged
    for mode in ("r", "r+"):
        with petal.open(path, mode) as f:
            assert f.info().verifies and f.info().unchecked_blocks > 0
            with pytest.raises(petal.Error) as caught:
                MEMBERS[denied[0]] in f
            assert caught.value.status == "damaged" and caught.value.offset is None
            answered = refused = 0
            for key in MEMBERS[:20_000]:
                try:
                    assert key in f, "a member is denied"
                    answered += 1
                except petal.Error as error:
                    assert error.status == "damaged" and error.filename == str(path)
                    refused += 1
            assert answered > refused > 0
            for call in (f.contains_batch, f.contains_all):
                for keys in (MEMBERS, np.array(MEMBERS), pa.array(MEMBERS), tuple(MEMBERS)):
                    with pytest.raises(petal.Error) as caught:
                        call(keys)
                    at = caught.value.offset
                    assert caught.value.status == "damaged" and at <= denied[0]
                    assert at == 0 or list(f.contains_batch(keys[:at])) == [True] * at
                    with pytest.raises(petal.Error) as caught:
                        MEMBERS[at] in f
            sound = Filter(len(MEMBERS), 0.01)
            sound.update(MEMBERS)
            for call in (f.stats, f.verify, lambda: f == sound, lambda: sound == f):
                with pytest.raises(petal.Error) as caught:
                    call()
                assert caught.value.status == "damaged"


def test_damage_in_a_view_and_in_a_load_is_refused_too(damaged):
    path, denied = damaged
    data = path.read_bytes()
    with pytest.raises(petal.Error):
        MEMBERS[denied[0]] in Filter.view(data)
    assert MEMBERS[denied[0]] not in Filter.view(data, verify=False)
    for opened in (
        lambda: petal.open(path, verify=True),
        lambda: petal.open(path, "load"),
        lambda: Filter.view(data, verify=True),
        lambda: Filter.from_bytes(data),
    ):
        with pytest.raises(petal.Error) as caught:
            opened()
        assert caught.value.status == "damaged"


def test_a_sound_file_is_soon_verified_as_a_whole(tmp_path):
    path = tmp_path / "sound.petal"
    f = Filter(len(MEMBERS), 0.01)
    f.update(MEMBERS)
    f.save(path)
    f = petal.open(path)
    assert f.info().verifiable and f.info().unchecked_blocks > 0
    assert f.contains_all(MEMBERS) and f.info().unchecked_blocks == 0
