"""vectors.py - reads the test vectors. Run the tests from the top of the tree."""

import struct
from pathlib import Path

VECTORS = Path("vectors")


def rows(path):
    """Yields the words of each nonempty line that is not a comment."""
    for line in (VECTORS / path).read_text().splitlines():
        if line and not line.startswith("#"):
            yield line.split()


def read_script(path):
    """Yields (format, file, [(key, whether it is present)]) for each file listed in a
    vectors.txt."""
    format, file, asked = None, None, []
    for verb, *words in rows(path.relative_to(VECTORS)):
        if verb in ("format", "file"):
            if file:
                yield format, file, asked
            asked = []
        if verb == "format":
            format, file = words[0], None
        elif verb == "file":
            file = path.parent / words[0]
        elif verb in ("in", "out"):
            asked.append((b"" if words[0] == "-" else bytes.fromhex(words[0]), verb == "in"))
        elif verb in ("ins", "outs"):
            text = "" if words[0] == "-" else words[0]
            for i in range(int(words[1]), int(words[2]) + 1):
                asked.append((f"{text}{i}".encode(), verb == "ins"))
    yield format, file, asked


def typed_keys(key):
    """Yields the SQL values that convert to this key if the file records no key type."""
    yield key
    try:
        yield key.decode()
    except UnicodeDecodeError:
        pass
    if len(key) == 8:
        yield int.from_bytes(key, "little", signed=True)
        number = struct.unpack("<d", key)[0]
        if number == number and key != struct.pack("<d", -0.0):
            yield number


def cases(verb):
    """Returns the lines of vectors/bindings/cases.txt with this verb, as pairs of the words before
    the "=" and the text after it."""
    found = []
    for line in (VECTORS / "bindings/cases.txt").read_text().splitlines():
        if line.split()[0] == verb:
            words, outcome = line.split(" = ", 1)
            found.append((words.split()[1:], outcome))
    assert len(found) >= 5
    return found
