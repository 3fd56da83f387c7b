"""dedupe.py FILE - prints the lines of standard input that are not in FILE, and remembers them
there.

FILE is created by the first run and changed in place: a new line is added before it is printed.
After a crash the file is marked as unfinished, never silently wrong.
"""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import petal


def new_lines(seen: petal.Filter, lines: Iterable[bytes]) -> Iterator[bytes]:
    for line in lines:
        if seen.add(line.rstrip(b"\n")):
            yield line


def main(path: Path) -> None:
    if not path.exists():
        petal.Filter(10_000_000, 0.001, key_type="text").save(path, replace=False)
    with petal.open(path, "r+") as seen:
        sys.stdout.buffer.writelines(new_lines(seen, sys.stdin.buffer))
        print(f"about {len(seen):,} lines seen so far", file=sys.stderr)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
