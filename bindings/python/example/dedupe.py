"""dedupe.py FILE - prints the lines of standard input that the filter in FILE does not contain, and
adds them to the filter.

The first run creates FILE. Later runs change it in place, and add each new line before printing it.
After a crash, the file is marked as unfinished, so it is never silently wrong.
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
