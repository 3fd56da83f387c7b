"""program.py - a pipeline's program in Python; examples/pipeline/README.md describes the
protocol."""

import sys

import petal


def ask(format: str, path: str) -> None:
    keys = sys.stdin.read().split("\n")[:-1]
    with petal.open(path, format=format) as filter:
        sys.stdout.writelines(f"{answer:d}\n" for answer in filter.contains_batch(keys))


def build(path: str) -> None:
    read = {"text": str, "i64": int, "f64": float}
    filter = petal.Filter(100_000, 0.01)
    for line in sys.stdin.read().split("\n")[:-1]:
        type, value = line.split("\t", 1)
        filter.add(read[type](value))
    filter.save(path)


if __name__ == "__main__":
    sys.stdin.reconfigure(encoding="utf-8", newline="\n")
    match sys.argv[1:]:
        case ["ask", format, path]:
            ask(format, path)
        case ["build", path]:
            build(path)
        case _:
            sys.exit("usage: program ask FORMAT FILE | build OUT")
