"""Reads vectors/keys/keys.txt for the hosts that are queried by a Python program."""

import math
import struct
from collections.abc import Callable, Iterable
from pathlib import Path

TYPES = ["text", "i64", "f64", "bytes"]

Key = str | int | float | bytes


def _bytes(value: str) -> bytes:
    return b"" if value == "-" else bytes.fromhex(value)


_READ: dict[str, Callable[[str], Key]] = {
    "text": lambda value: _bytes(value).decode(),
    "i64": int,
    "f64": lambda value: struct.unpack(">d", bytes.fromhex(value))[0],
    "bytes": _bytes,
}


def read(path: str) -> dict[str, list[Key]]:
    keys: dict[str, list[Key]] = {type: [] for type in TYPES}
    for line in Path(path).read_text(encoding="ascii").splitlines():
        if not line.startswith("#"):
            type, value = line.split(" ")
            keys[type].append(_READ[type](value))
    return keys


def members(keys: list[Key]) -> list[Key]:
    """Returns the keys that are in the filter: every second key."""
    return keys[::2]


def encoded(key: Key) -> bytes:
    """Returns the key bytes, as defined in docs/format.md, for hosts that accept only bytes."""
    if isinstance(key, str):
        return key.encode()
    if isinstance(key, int):
        return struct.pack("<q", key)
    if isinstance(key, float):
        return struct.pack("<Q", 0x7FF8 << 48) if math.isnan(key) else struct.pack("<d", key + 0.0)
    return key


def say(type: str, native: str, answers: Iterable[bool | None]) -> None:
    """Prints the host's line for this type, in which "-" stands for a key that the host can't
    represent."""
    digits = "".join("-" if answer is None else str(int(answer)) for answer in answers)
    print(type, native, digits, sep="\t")
