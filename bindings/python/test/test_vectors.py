"""Tests every vector. Filters from other libraries' files must return the original library's
answers, be rebuilt byte for byte, and survive a round trip through a petal file. Petal's own files
must be rewritten byte for byte. Broken files must be rejected with the right error."""

import struct
from pathlib import Path

import petal
from petal import Filter

VECTORS = Path("vectors")
SECRET = bytes(range(16))


def rows(path):
    """Returns the words of each line that is not a comment."""
    for line in (VECTORS / path).read_text().splitlines():
        if line and not line.startswith("#"):
            yield line.split()


def raises(kind, call, *args, **kwargs):
    try:
        call(*args, **kwargs)
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


# ---- files of other libraries (the language is that of tests/formats/vectors.c) ----


class File:
    def __init__(self, format, path):
        self.format, self.path = format, path
        self.bytes = path.read_bytes()
        self.read = Filter.view(self.bytes, format=format)
        self.made = None
        self.packed = False
        self.asked, self.rebuilt, self.typed = [], 0, 0
        self.of_type = {}

    def make(self, verb, words):
        if verb == "plan":
            self.made = Filter(int(words[0]), float(words[1]), format=self.format)
        else:
            seed = int(words[2]) if len(words) > 2 else 0
            self.made = Filter(
                bits=int(words[0]), hashes=int(words[1]), seed=seed, format=self.format
            )

    def key(self, verb, key):
        if verb == "add":
            if self.made is not None:
                self.made.add(key)
        else:
            assert (key in self.read) == (verb == "in"), f"{self.path}: {verb} {key!r}"
            self.asked.append((key, verb == "in"))
            for key_type, same in typed_keys(key):
                self.ask_typed(key_type, same, verb == "in")

    def ask_typed(self, key_type, key, expected):
        """Opens the file with another key type, and queries the same bytes as keys of this type
        with every call."""
        if key_type not in self.of_type:
            view = Filter.view(self.bytes, format=self.format, key_type=key_type)
            self.of_type[key_type] = view
        f = self.of_type[key_type]
        answers = [key in f, *f.contains_batch([key])]
        answers += f.contains_any((key,)), f.contains_all({key})
        assert set(answers) == {expected}, (self.path, key_type, key, answers)
        self.typed += 1

    def expect_same(self, filter):
        if self.packed:  # the compressed bytes differ, but the decompressed data is the same
            again = Filter.from_bytes(filter.to_bytes(self.format), format=self.format)
            assert again.to_bytes() == self.read.to_bytes(), self.path
        else:
            assert filter.to_bytes(self.format) == self.bytes, self.path

    def rebuild(self):
        self.expect_same(self.made)
        self.rebuilt = 1

    def end(self):
        assert self.asked or self.rebuilt, f"{self.path}: it proves nothing"
        keys = [key for key, _ in self.asked]
        answers = [expected for _, expected in self.asked]
        assert self.read.contains_batch(keys) == answers, self.path
        self.expect_same(self.read)
        self.expect_same(Filter.from_bytes(self.read.to_bytes(), format="petal"))
        for size in range(0, len(self.bytes), len(self.bytes) // 50 + 1):
            try:
                "a" in Filter.from_bytes(self.bytes[:size], format=self.format)
            except ValueError as error:
                assert str(error) and error.status, self.path


def typed_keys(key):
    """Returns (key_type, key), which identifies a key."""
    yield "hex", key
    for key_type, encoding in ("text", "utf-8"), ("utf16le", "utf-16-le"):
        try:
            yield key_type, key.decode(encoding)
        except UnicodeDecodeError:
            pass
    if len(key) in (4, 8):
        key_type = "i32" if len(key) == 4 else "i64"
        yield key_type, int.from_bytes(key, "little", signed=True)
    if len(key) == 8:
        number = struct.unpack("<d", key)[0]
        if number == number and key != struct.pack("<d", -0.0):
            yield "f64", number


def run_script(path):
    """Returns the numbers of files, answers, rebuilt files and typed queries."""
    format, file, counts = None, None, [0, 0, 0, 0]

    def end():
        if file:
            file.end()
            counts[0] += 1
            counts[1] += len(file.asked)
            counts[2] += file.rebuilt
            counts[3] += file.typed

    for words in rows(path.relative_to(VECTORS)):
        verb, words = words[0], words[1:]
        if verb == "format":
            end()
            format, file = words[0], None
        elif verb == "file":
            end()
            file = File(format, path.parent / words[0])
        elif verb in ("plan", "size"):
            file.make(verb, words)
        elif verb == "rebuild":
            file.rebuild()
        elif verb == "packed":
            file.packed = True
        elif verb in ("add", "in", "out"):
            file.key(verb, b"" if words[0] == "-" else bytes.fromhex(words[0]))
        elif verb in ("adds", "ins", "outs"):
            text = "" if words[0] == "-" else words[0]
            for i in range(int(words[1]), int(words[2]) + 1):
                file.key(verb[:-1], f"{text}{i}".encode())
        else:
            assert verb == "loose", f"{path}: {verb}"
    end()
    return counts


def test_files_of_other_libraries_answer_are_rebuilt_and_carried():
    known = {format.name for format in petal.formats()}
    totals = [0, 0, 0, 0]
    for path in sorted(VECTORS.glob("*/vectors.txt")):
        for i, count in enumerate(run_script(path)):
            totals[i] += count
    assert "dcso-gzip" in known, "this wheel is without zlib"
    print(f"# counted: Python: {totals[1]} keys of {totals[0]} files asked as bytes,", end=" ")
    print(f"{totals[3]} as text and numbers too, by four calls")
    assert totals[0] >= 190 and totals[1] >= 20000 and totals[2] >= 140, totals
    assert totals[3] >= 40000, totals


def test_filters_inside_parquet_files_are_found_and_answer():
    listed = expected = None
    answers = numbers = 0
    for verb, *words in rows("parquet/files.txt"):
        if verb == "file":
            assert listed is None or len(listed) == expected, data_of
            data_of = VECTORS / "parquet" / words[0]
            data, expected = data_of.read_bytes(), 0
            listed = petal.parquet_filters(data)
        elif verb == "filter":
            one = listed[expected]
            place = [one.row_group, one.column_number, one.column, one.physical_type, one.offset]
            assert [str(word) for word in place] == words[:5], data_of
            piece = memoryview(data)[one.offset : one.offset + one.bytes]
            f = Filter.view(piece, format="parquet", key_type=one.key_type)
            expected += 1
        else:
            key = b"" if words[0] == "-" else bytes.fromhex(words[0])
            assert (key in f) == (verb == "in"), (data_of, key)
            answers += 1
            if one.key_type:
                assert (dict(typed_keys(key))[one.key_type] in f) == (verb == "in"), (data_of, key)
                numbers += 1
    assert len(listed) == expected and answers > 500 and numbers > 100, (answers, numbers)
    raises(petal.Error, petal.parquet_filters, b"PAR1")


# ---- petal's own ----

DAY = 86400
TEXTS = [f"key-{i}" for i in range(100)]


def days(f):
    for i, key in enumerate(TEXTS):
        f.advance((19723 + i) * DAY + DAY // 2)
        f.add(key)


def burst(f):
    f.advance(19723 * DAY)
    f.update(TEXTS)


def counting(f):
    f.update(TEXTS + TEXTS[:10] + ["key-95"] * 20)
    assert all(f.discard_batch(TEXTS[:50] + ["key-95"]))


def typed(f):
    for key in ["", b"\0", "café", b"\xff\xfe", -1, 1, -0.0, 1.5, float("nan")]:
        f.add(key)


def update(keys):
    return lambda f: f.update(keys)


texts, integers, two, nothing = update(TEXTS), update(range(100)), update("a b".split()), update([])
METADATA = b'{"made": "for a test"}\0\xff\0'
# vectors/README.md describes the files that this test reads.
RECIPES = {
    "textbook": (two, dict(scheme="classic", bits=11, hashes=2, seed=197072)),
    "one-bit": (two, dict(scheme="classic", bits=1, hashes=1)),
    "empty-blocked": (nothing, dict(bits=512, hashes=7, lines_per_key=1)),
    "empty-classic": (nothing, dict(scheme="classic", bits=513, hashes=64)),
    "blocked": (texts, dict(bits=1536, hashes=8, lines_per_key=1)),
    "blocked-two-lines": (texts, dict(bits=2048, hashes=9, lines_per_key=2)),
    "blocked-k16": (integers, dict(bits=5120, hashes=16, lines_per_key=1, seed=2**64 - 1)),
    "blocked-k32": (integers, dict(bits=5120, hashes=32, lines_per_key=2)),
    "blocked-planned": (texts, dict(capacity=100, rate=0.01)),
    "blocked-planned-low": (texts, dict(capacity=100, rate=1e-6)),
    "classic": (texts, dict(scheme="classic", bits=1009, hashes=5, seed=42)),
    "classic-planned": (texts, dict(scheme="classic", capacity=100, rate=0.01)),
    "classic-keyed": (texts, dict(scheme="classic", bits=1009, hashes=7, secret=SECRET)),
    "blocked-keyed": (texts, dict(bits=1024, hashes=6, lines_per_key=1, secret=SECRET)),
    "typed-keys": (typed, dict(bits=1024, hashes=5, lines_per_key=1)),
    "metadata": (
        two,
        dict(scheme="classic", bits=100, hashes=3, capacity=10, rate=0.5, seed=7, metadata=METADATA),
    ),
    "saturated": (update(range(1000)), dict(scheme="classic", bits=100, hashes=4)),
    "two-blocks": (update(range(2000)), dict(scheme="classic", bits=524387, hashes=3)),
    "growing": (texts, dict(capacity=10, rate=0.01, grow=True)),
    "growing-by-3": (
        texts,
        dict(
            scheme="classic", capacity=5, rate=0.1, seed=7, metadata=b"three",
            grow=True, growth_step=3, growth_ratio=0.5,
        ),
    ),
    "growing-empty": (nothing, dict(capacity=10, rate=0.01, grow=True)),
    "rotating-keys": (texts, dict(rate=0.01, window=60)),
    "rotating-time": (
        days,
        dict(
            scheme="classic", rate=0.01, secret=SECRET,
            window=70, window_time=7 * DAY, generations=8,
        ),
    ),
    "rotating-burst": (burst, dict(rate=0.01, window=60, window_time=DAY, generations=4)),
    "empty-counting": (nothing, dict(scheme="counting", bits=129, hashes=64)),
    "textbook-counting": (two, dict(scheme="counting", bits=11, hashes=2, seed=197072)),
    "counting": (counting, dict(scheme="counting", bits=1009, hashes=5, seed=42)),
    "counting-planned": (texts, dict(scheme="counting", capacity=100, rate=0.01)),
    "counting-keyed": (texts, dict(scheme="counting", bits=1009, hashes=7, secret=SECRET)),
    "counting-two-blocks": (update(range(2000)), dict(scheme="counting", bits=131171, hashes=3)),
}


def test_golden_files_are_made_byte_for_byte_and_read_in_each_mode():
    files = {path.stem: path for path in (VECTORS / "petal").glob("*.petal")}
    assert files.keys() == RECIPES.keys()
    for name, (fill, options) in RECIPES.items():
        made = Filter(**options)
        fill(made)
        assert made.to_bytes() == files[name].read_bytes(), name
        for mode in ("r", "load"):
            with petal.open(files[name], mode, verify=True, secret=options.get("secret")) as read:
                assert read.to_bytes() == made.to_bytes(), name
                assert read.content_id() == made.content_id(), name
                assert read.info().items == made.info().items, name


def test_a_golden_file_answers_as_ever():
    with petal.open(VECTORS / "petal/blocked.petal") as f:
        assert [i for i in range(100, 1000) if f"key-{i}" in f] == [980]
        assert all(f"key-{i}" in f for i in range(100))
        assert f.stats().bits_set == 629
        assert f.content_id() == 0x14F5876858484957


def test_rejected_files_are_refused_by_the_name_of_the_error():
    expected = [(words[0], " ".join(words[1:])) for words in rows("reject/expected.txt")]
    assert len(expected) >= 50
    for name, status in expected:
        path = VECTORS / f"reject/{name}.petal"
        error = raises(petal.Error, petal.open, path, verify=True, format="petal")
        assert error.status == status, (name, error.status)
        assert error.filename == str(path) and str(error), name
        raises(petal.Error, Filter.from_bytes, path.read_bytes(), format="petal")


# ---- hashes and keys ----


def test_hashes_are_those_of_the_vectors():
    x, buffer = 2654435761, bytearray()
    for _ in range(4096):
        buffer.append(x >> 56)
        x = x * 11400714785074694797 % 2**64
    count = 0
    for length, seed, hash in rows("hashes/xxh3.txt"):
        f = Filter(10, seed=int(seed, 16))
        assert f.hash_key(bytes(buffer[: int(length)])) == int(hash, 16), length
        count += 1
    f = Filter(10, secret=SECRET)
    for length, hash in rows("hashes/siphash-2-4.txt"):
        expected = int.from_bytes(bytes.fromhex(hash), "little")
        assert f.hash_key(bytes(range(int(length)))) == expected, length
        count += 1
    assert count >= 90


def test_numbers_have_the_key_bytes_of_the_vectors():
    f, count = Filter(10), 0
    for type, value, key in rows("hashes/typed-keys.txt"):
        number = int(value) if type == "i64" else struct.unpack(">d", bytes.fromhex(value))[0]
        assert f.hash_key(number) == f.hash_key(bytes.fromhex(key)), value
        count += 1
    assert count >= 30


def test_shards_are_those_of_the_vectors():
    count = 0
    for key, _, shards, shard in rows("shards/shards.txt"):
        assert petal.shard_of(b"" if key == "-" else bytes.fromhex(key), int(shards)) == int(shard)
        count += 1
    assert count >= 50
