"""interop.py - implements the command language of interop.sh for the drivers in Python. Each driver
connects it to a library."""

import sys


def key(text, kind):
    """text, utf16le: str; i32, i64: int; hex: bytes; units: str, which may contain lone
    surrogates."""
    if kind in ("i32", "i64"):
        return int(text)
    if kind == "hex":
        return bytes.fromhex(text)
    if kind == "units":
        return "".join(chr(int(text[i : i + 4], 16)) for i in range(0, len(text), 4))
    return text


def keys(path, kind):
    with open(path, encoding="utf-8", newline="\n") as lines:
        return [key(line[:-1], kind) for line in lines]


def run(driver):
    """driver(format, kind) must provide create(n, p), read(path), write(path), add(key), and either
    has(key) or has_each(keys)."""
    verb, form, kind, *rest = sys.argv[1:]
    it = driver(form, kind)
    if verb == "make":
        source, n, p, out = rest
        it.create(int(n), float(p))
    elif verb == "add":
        path, source, out = rest
        it.read(path)
    elif verb == "ask":
        path, source = rest
        it.read(path)
        queries = keys(source, kind)
        answers = it.has_each(queries) if hasattr(it, "has_each") else map(it.has, queries)
        sys.stdout.write("".join("1\n" if answer else "0\n" for answer in answers))
        return
    else:
        sys.exit("make, add or ask")
    for k in keys(source, kind):
        it.add(k)
    it.write(out)
