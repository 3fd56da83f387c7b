"""random_rows.py - writes random CSV rows and JSON lines, and the values that Python reads from
them.

random_rows.py csv SEED ROWS DELIMITER COLUMN...
random_rows.py json SEED ROWS

Writes these files to the current folder: `rows`, `members` (the rows whose key is in the set,
unchanged), `others` (all other rows), and `set` (the keys in the set: NUL-terminated for CSV, lines
of base64 for JSON). Python's standard modules write the rows and read them back. The tool must find
the values that these modules read.
"""

import csv
import io
import json
import random
import sys


def write(name, parts):
    with open(name, "wb") as out:
        out.write(b"".join(parts))


def some_text(random_, pieces):
    return "".join(random_.choice(pieces) for _ in range(random_.choice((0, 1, 1, 2, 3, 8, 40))))


def make_csv(seed, rows, delimiter, columns):
    random_ = random.Random(seed)
    pieces = ["a", "b", "é", "日", " ", "\t", ",", ";", '"', '""', "\n", "\r\n", "\r", "'", "|", "x" * 50]
    quoting = random_.choice((csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC))
    ends = random_.choice(("\n", "\r\n"))
    if ends == "\n" and quoting == csv.QUOTE_MINIMAL:
        pieces.remove("\r")  # older Python versions don't quote a field that contains a CR
    header = ["id", "name", 'a "b", c', "note"]
    random_.shuffle(header)
    texts = []
    for i in range(-1, rows):
        fields = header if i < 0 else [some_text(random_, pieces) for _ in header]
        out = io.StringIO(newline="")
        csv.writer(out, quoting=quoting, lineterminator=ends, delimiter=delimiter).writerow(fields)
        texts.append(out.getvalue())
    if random_.random() < 0.5:
        texts[-1] = texts[-1][: -len(ends)]
    whole = "".join(texts)
    read = list(csv.reader(io.StringIO(whole, newline=""), delimiter=delimiter))
    assert len(read) == len(texts)
    at = [int(c) - 1 if c.isdigit() else read[0].index(c) for c in columns]
    keys = [b"\x1f".join(row[i].encode() for i in at) for row in read[1:]]
    chosen = {key for key in keys if random_.random() < 0.5}
    ended = [t.encode() if t.endswith("\n") else t.encode() + b"\n" for t in texts]
    write("rows", [whole.encode()])
    write("members", [ended[0]] + [t for t, k in zip(ended[1:], keys) if k in chosen])
    write("others", [ended[0]] + [t for t, k in zip(ended[1:], keys) if k not in chosen])
    write("set", [key + b"\0" for key in sorted(chosen)])


def some_value(random_, pieces, depth):
    kind = random_.randrange(9 if depth else 6)
    if kind == 0:
        return random_.choice((None, True, False))
    if kind == 1:
        return random_.randrange(-(10**18), 10**18)
    if kind == 2:
        return random_.choice((0.5, -1e300, 1e-7, 3.25))
    if kind < 6:
        return some_text(random_, pieces)
    if kind == 6:
        return [some_value(random_, pieces, depth - 1) for _ in range(random_.randrange(4))]
    names = ["a", "b", "é", "odd name", 'q"', "\\", ""]
    count = random_.randrange(5)
    return {random_.choice(names): some_value(random_, pieces, depth - 1) for _ in range(count)}


def key_of(line):
    """Returns the value of .a.é[0], or None if there is none. A number is returned as text, exactly
    as it appears in the line."""
    try:
        value = json.loads(line, parse_int=str, parse_float=str, parse_constant=lambda c: 1 / 0)
        for step, kind in (("a", dict), ("é", dict), (0, list)):
            if not isinstance(value, kind):
                return None
            value = value[step]
        if isinstance(value, bool):
            return b"true" if value else b"false"
        return value.encode() if isinstance(value, str) else None
    except (ValueError, LookupError, ZeroDivisionError):
        return None


def make_json(seed, rows):
    random_ = random.Random(seed)
    pieces = ["a", "b", "é", "日", "🌸", '"', "\\", "/", "\n", "\t", "\0", "\x1f", "\x7f", "{", "}", "[", ",", ":"]
    lines = []
    for _ in range(rows):
        value = some_value(random_, pieces, 3)
        if random_.random() < 0.8:
            found = [some_value(random_, pieces, 1) for _ in range(random_.choice((0, 1, 2)))]
            value = {"b": value, "a": {"x": 1, "é": found, "y": [value]}}
        line = json.dumps(value, ensure_ascii=random_.random() < 0.5,
                          separators=random_.choice(((",", ":"), (", ", ": "), ("  ,\t", " :\r"))))
        if random_.random() < 0.05:  # broken line: truncated, or with a character inserted
            at = random_.randrange(len(line))
            line = random_.choice((line[:at], line[:at] + random_.choice('x"},\\1') + line[at:]))
        if random_.random() < 0.02:  # special cases such as a duplicate member
            line = random_.choice(('{"a":{"é":["\\ud83d"]}}', '{"a":{"é":[1]},"a":{"\\u00e9":["two"]}}',
                                   '{"a":{"é":["\\ud83c\\udf38"],"é":5}}', '{"a":{"é":[1e5,]}}', "", " "))
        lines.append(line.encode())
    keys = [key_of(line.decode()) for line in lines]
    assert any(keys) and None in keys
    chosen = {key for key in keys if key is not None and random_.random() < 0.5}
    write("rows", [line + b"\n" for line in lines])
    write("members", [t + b"\n" for t, k in zip(lines, keys) if k in chosen])
    write("others", [t + b"\n" for t, k in zip(lines, keys) if k not in chosen])
    # JSON keys may contain a NUL, so each key is written as base64.
    import base64
    write("set", [base64.b64encode(key) + b"\n" for key in sorted(chosen)])
    write("strays", [b"%d\n" % sum(key is None for key in keys)])


if sys.argv[1] == "csv":
    make_csv(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], sys.argv[5:])
else:
    make_json(int(sys.argv[2]), int(sys.argv[3]))
