"""Compares the answers of the hosts, and their rows in a document; see hosts.sh."""

import re
import sys
from pathlib import Path

HEAD = "| host | text | i64 | f64 | bytes |"
TYPES = ["text", "i64", "f64", "bytes"]


def read(path: str) -> dict[str, tuple[str, str]]:
    rows = [line.split("\t") for line in Path(path).read_text(encoding="utf-8").splitlines()]
    if [row[0] for row in rows] != TYPES:
        sys.exit(f"{path}: a line for each of {TYPES} is expected, not {rows}")
    return {type: (native, answers) for type, native, answers in rows}


def members(path: str) -> None:
    """Fails unless all members are found and some, but not too many, of the absent keys are."""
    for type, (_, answers) in read(path).items():
        wrong = answers[1::2].count("1")
        if set(answers[::2]) != {"1"} or len(answers) < 50 or not 3 < wrong < len(answers) // 2 - 3:
            sys.exit(f"{type}: {answers}: {wrong} of the absent keys are found")


def compare(library: str, host: str) -> None:
    given = read(host)
    for type, (_, expected) in read(library).items():
        answers = given[type][1]
        differ = [i for i, pair in enumerate(zip(expected, answers)) if len({*pair, "-"}) > 2]
        if len(answers) != len(expected) or differ or answers.count("-") > len(expected) // 10:
            print(f"{type}:\n{expected} the library\n{answers}\nthey differ for keys {differ}")
            sys.exit(1)


def row_of(name: str, path: str) -> str:
    cells = [name]
    for native, answers in read(path).values():
        missing = answers.count("-")
        cells.append(native + (f", without {missing} of {len(answers)} keys" if missing else ""))
    return f"| {' | '.join(cells)} |"


def split(document: str) -> tuple[str, list[str], str]:
    """Returns the rows of the hosts, and the text before and after them."""
    text = Path(document).read_text(encoding="utf-8")
    found = re.search(rf"^{re.escape(HEAD)}\n\|[-| ]*\n((?:\|.*\n)*)", text, re.M)
    if not found:
        sys.exit(f"{document} has no table {HEAD}")
    return text[: found.start(1)], found[1].splitlines(), text[found.end(1) :]


def has(name: str, path: str, document: str) -> None:
    row = row_of(name, path)
    if row not in split(document)[1]:
        sys.exit(f"{document} lacks this row (PETAL_UPDATE_TABLE=1 writes it):\n{row}")


def write(name: str, path: str, document: str) -> None:
    before, rows, after = split(document)
    new = row_of(name, path)
    kept = [new if row.startswith(f"| {name} |") else row for row in rows]
    if new not in kept:
        kept.append(new)
    text = before + "".join(row + "\n" for row in kept) + after
    Path(document).write_text(text, encoding="utf-8")


def only(document: str, *hosts: str) -> None:
    """Fails if the document contains a row that belongs to no host."""
    texts = [Path(host).read_text(encoding="utf-8") for host in hosts]
    names = [re.search(r"^name=(.*)$", text, re.M)[1].strip("'") for text in texts]
    rows = split(document)[1]
    others = [row for row in rows if row.split(" | ")[0][2:] not in names]
    if others or len(rows) > len(names):
        sys.exit(f"{document} has rows of no host: {others}")


verb, *rest = sys.argv[1:]
{"members": members, "compare": compare, "has": has, "write": write, "only": only}[verb](*rest)
