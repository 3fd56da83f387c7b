"""read_index.py answers FILE | write OUT FILTER... - reads and writes index files, implemented only
from docs/index-format.md. The hashes and bit positions come from the reader in docs/format.md,
which must be on PYTHONPATH. `answers` compares the answers with the tool's. `write` creates an
index of petal files, in which each filter's name is its path as given."""
import pathlib
import struct
import subprocess
import sys
import tempfile

from hashes import siphash, xxh3
from query import positions
from reader import open_filter, up

MAGIC = bytes.fromhex("89505458 0d0a1a0a")
SECRET = bytes(range(16))
BLOCK = 65536


def stride(c):
    return up(c, 1 if c < 512 else 8 if c < 4096 else 64 if c < 32768 else 512)


def group_bytes(m, c):
    return up(-(-m * stride(c) // 8) + 8, 64)


class Index:
    def __init__(self, f):
        n = lambda at, size=8: int.from_bytes(f[at : at + size], "little")
        assert f[:8] == MAGIC and n(8, 4) == 1 and n(12, 4) == 0 and n(16) == len(f)
        assert n(120) == xxh3(f[:120], 0) and not any(f[56:112])
        filters, groups, names_bytes, self.key_type = n(24), n(32), n(40), n(48, 4)
        assert 1 <= groups <= filters <= 16777216 and self.key_type > 0
        self.groups, bits_bytes = [], 0
        for at in range(128, 128 + 64 * groups, 64):
            scheme, hash_number, k, lines = (n(at + i, 4) for i in (0, 4, 8, 12))
            m, seed, check, c = (n(at + i) for i in (16, 24, 32, 40))
            order = (hash_number, seed, check, scheme, k, lines, m)
            assert c > 0 and not any(f[at + 48 : at + 64])
            assert not self.groups or self.groups[-1][0] < order
            assert hash_number == 1 or (seed == 0 and check == siphash(b"petal secret check", SECRET))
            self.groups.append((order, c, bits_bytes, []))
            bits_bytes += group_bytes(m, c)
        records = 128 + 64 * groups
        name, names_end = records + 32 * filters, records + 32 * filters + names_bytes
        sums = up(names_end, 8)
        rows = up(sums + 8 * -(-bits_bytes // BLOCK), 4096)
        assert rows + bits_bytes == len(f) and n(112) == xxh3(f[128:rows], 1)
        assert not any(f[names_end:sums]) and not any(f[sums + 8 * -(-bits_bytes // BLOCK) : rows])
        for number, at in enumerate(range(rows, len(f), BLOCK)):
            assert n(sums + 8 * number) == xxh3(f[at : at + BLOCK], number)
        self.names = []
        for number in range(filters):
            at = records + 32 * number
            end = name + n(at + 4, 4)
            assert f[end - 1] == 0 and 0 not in f[name : end - 1] and end - name >= 2
            rate = struct.unpack("<d", f[at + 24 : at + 32])[0]
            assert 0 < rate < 1 or not any(f[at + 24 : at + 32])
            self.names.append(f[name : end - 1].decode())
            self.groups[n(at, 4)][3].append(number)
            name = end
        assert name == names_end and len(set(self.names)) == filters
        self.rows = int.from_bytes(f[rows:], "little")
        for (*_, m), c, offset, numbers in self.groups:
            assert len(numbers) == c
            past = [self.row(offset, i, c) >> c for i in range(m)]
            used = m * stride(c)
            past.append(self.rows >> 8 * offset + used & (1 << 8 * group_bytes(m, c) - used) - 1)
            assert not any(past)

    def row(self, offset, i, c):
        return self.rows >> 8 * offset + i * stride(c) & (1 << stride(c)) - 1

    def query(self, key):
        found = []
        for (hash_number, seed, _, scheme, k, lines, m), c, offset, numbers in self.groups:
            h = xxh3(key, seed) if hash_number == 1 else siphash(key, SECRET)
            all_bits = (1 << c) - 1
            for i in positions(scheme, h, k, lines, m):
                all_bits &= self.row(offset, i, c)
            found += [number for column, number in enumerate(numbers) if all_bits >> column & 1]
        return [self.names[number] for number in sorted(found)]


def answers(path):
    index = Index(path.read_bytes())
    keys = [f"key-{i}" for i in range(1000)] + ["a", "b"]
    with tempfile.NamedTemporaryFile() as secret:
        secret.write(SECRET)
        secret.flush()
        command = ["petal", "which", "--secret-file", secret.name, path, "--", "-"]
        if all(order[0] == 1 for order, *_ in index.groups):
            del command[2:4]
        lines = "".join(f"{key}\n" for key in keys)
        run = subprocess.run(command, input=lines, capture_output=True, text=True)
    assert run.returncode < 2, run.stderr
    ours = ["\t".join([key] + found) for key in keys if (found := index.query(key.encode()))]
    assert ours == run.stdout.splitlines(), (path, len(ours), run.stdout.count("\n"))
    assert len(ours) >= 100
    print(path.stem, len(index.names), "filters,", len(ours), "keys found")


def write(out, paths):
    groups, records, names, key_types, secret_id = {}, [], [], set(), 0
    for path in paths:
        f = path.read_bytes()
        n = lambda at, size=8: int.from_bytes(f[at : at + size], "little")
        scheme, _, ((k, lines, m, bits),) = open_filter(f, SECRET)  # one layer
        at = n(16, 4) if n(n(16, 4) + 24) > n(24) else 0  # the active slot
        hash_number = n(at + 44, 4)
        seed, check = (n(at + 48), 0) if hash_number == 1 else (0, n(at + 56))
        kind = (hash_number, seed, check, scheme, k, lines, m)
        secret_id = n(at + 64, 4) or secret_id
        key_types.add(n(at + 96, 4) or 1)
        groups.setdefault(kind, []).append(int.from_bytes(bits, "little"))
        entry = at + 256
        records.append((kind, n(entry + 32), n(entry + 16), f[entry + 24 : entry + 32]))
        names.append(str(path).encode() + b"\0")
    order = sorted(groups)
    rows = b""
    for kind in order:
        columns, m = groups[kind], kind[-1]
        s = stride(len(columns))
        packed = 0
        for j, bits in enumerate(columns):
            for i in range(m):
                packed |= (bits >> i & 1) << i * s + j
        rows += packed.to_bytes(group_bytes(m, len(columns)), "little")
    (key_type,) = key_types
    tables = b""
    for hash_number, seed, check, scheme, k, lines, m in order:
        c = len(groups[hash_number, seed, check, scheme, k, lines, m])
        tables += struct.pack("<4I4Q16x", scheme, hash_number, k, lines, m, seed, check, c)
    for (kind, items, capacity, rate), name in zip(records, names):
        rate = rate if 0 < struct.unpack("<d", rate)[0] < 1 else bytes(8)
        tables += struct.pack("<2I2Q8s", order.index(kind), len(name), items, capacity, rate)
    tables += b"".join(names)
    tables += bytes(up(len(tables), 8) - len(tables))
    for number, at in enumerate(range(0, len(rows), BLOCK)):
        tables += xxh3(rows[at : at + BLOCK], number).to_bytes(8, "little")
    tables += bytes(up(128 + len(tables), 4096) - 128 - len(tables))
    size = 128 + len(tables) + len(rows)
    counts = (size, len(names), len(order), sum(map(len, names)))
    header = MAGIC + struct.pack("<2I4Q2I56x", 1, 0, *counts, key_type, secret_id)
    header += xxh3(tables, 1).to_bytes(8, "little")
    header += xxh3(header, 0).to_bytes(8, "little")
    out.write_bytes(header + tables + rows)


if sys.argv[1] == "answers":
    answers(pathlib.Path(sys.argv[2]))
else:
    write(pathlib.Path(sys.argv[2]), [pathlib.Path(name) for name in sys.argv[3:]])
