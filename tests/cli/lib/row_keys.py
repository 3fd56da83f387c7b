# row_keys.py WORDS|CHARACTERS|BASES LENGTH [lower] - an independent implementation of several keys
# per row. Prints the keys of the rows on standard input. Each row and each key ends with a NUL.
import re
import sys

unit, length, lower = sys.argv[1], int(sys.argv[2]), "lower" in sys.argv


def keys_of(row):
    if unit == "BASES":
        other = bytes.maketrans(b"ACGT", b"TGCA")
        for part in re.findall(b"[ACGT]+", row.upper()):
            for i in range(len(part) - length + 1):
                kmer = part[i : i + length]
                yield min(kmer, kmer.translate(other)[::-1])
    elif unit == "CHARACTERS":
        text = row.decode("utf-8", "surrogateescape")
        for i in range(len(text) - length + 1):
            yield text[i : i + length].encode("utf-8", "surrogateescape")
    else:
        words = re.findall(rb"[0-9A-Za-z_\x80-\xff]+", row)
        for i in range(len(words) - length + 1):
            yield b" ".join(words[i : i + length])


rows = sys.stdin.buffer.read().split(b"\0")[:-1]
for row in rows:
    for key in keys_of(row):
        sys.stdout.buffer.write((key.lower() if lower else key) + b"\0")
