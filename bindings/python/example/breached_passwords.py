"""Checks whether a password has been leaked. Builds the filter from a list of SHA-1 hashes, one per
line, such as the list from Have I Been Pwned.

The 40 GB list becomes a 2 GB filter file. The file is mapped, so it opens in milliseconds and all
processes on a server share its memory. Every password in the list is rejected, and so is one in a
thousand other passwords.

    python breached_passwords.py pwned-passwords-sha1.txt breached.petal 1000000000
"""

import hashlib
import sys
from collections.abc import Iterable
from functools import cache

import petal


def build(lines: Iterable[bytes], capacity: int, rate: float = 0.001) -> petal.Filter:
    """Parses lines such as b"5BAA61E4C9B93F3F0682250B6CF8331B7EE68FD8:3861493"."""
    breached = petal.Filter(capacity, rate)
    breached.update(bytes.fromhex(line[:40].decode()) for line in lines)
    return breached


def is_breached(password: str, path: str) -> bool:
    return hashlib.sha1(password.encode()).digest() in _opened(path)


@cache
def _opened(path: str) -> petal.Filter:
    return petal.open(path)


if __name__ == "__main__":
    source, target, capacity = sys.argv[1:]
    with open(source, "rb") as lines:
        build(lines, int(capacity)).save(target)
