"""macho.py FILE - prints the names that a library for macOS (64-bit Mach-O) exports, one per line.
Fails if the library's install name contains a path, or if the library depends on more than the
system library."""

import struct
import sys
from collections.abc import Iterator
from pathlib import Path

SYMBOLS, NEEDS, NAME = 0x2, 0xC, 0xD  # LC_SYMTAB, LC_LOAD_DYLIB, LC_ID_DYLIB


def commands(data: bytes) -> Iterator[tuple[int, int]]:
    """Yields the type and the file offset of each load command."""
    magic, count = struct.unpack_from("<I12xI", data)
    assert magic == 0xFEEDFACF, "no 64-bit Mach-O"
    at = 32
    for _ in range(count):
        command, size = struct.unpack_from("<II", data, at)
        yield command, at
        at += size


def text(data: bytes, at: int) -> str:
    return data[at : data.index(b"\0", at)].decode()


def libraries(data: bytes, kind: int) -> list[str]:
    found = (at for command, at in commands(data) if command == kind)
    return [text(data, at + struct.unpack_from("<I", data, at + 8)[0]) for at in found]


def exports(data: bytes) -> list[str]:
    """Returns the defined external names as they are spelled in C, without the linker's own
    names."""
    names = []
    for at in (at for command, at in commands(data) if command == SYMBOLS):
        symbols, count, strings = struct.unpack_from("<III", data, at + 8)
        rows = (struct.unpack_from("<IB", data, symbols + 16 * i) for i in range(count))
        names += [text(data, strings + name)[1:] for name, kind in rows if kind & 1 and kind & 0xE]
    return sorted(set(names) - {"_mh_dylib_header", "__dso_handle"})


if __name__ == "__main__":
    file = Path(sys.argv[1])
    content = file.read_bytes()
    assert libraries(content, NAME) == [file.name], libraries(content, NAME)
    assert libraries(content, NEEDS) == ["/usr/lib/libSystem.B.dylib"], libraries(content, NEEDS)
    print("\n".join(exports(content)))
