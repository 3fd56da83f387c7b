"""compare.py [--rounds N] [--scale N] - compares the module with RedisBloom: the server's CPU time
per command.

Each module runs in its own server (the same program for both), on a Unix socket. Commands are
encoded in advance and sent in 64 KiB pipelines. The metric is the CPU time that the server reports
(INFO cpu), user and system. Each round uses both servers, one after the other. A row has each
server's minimum over all rounds, the ratio of the minima, and the ratio by round: median
(min..max). Above 1x, Petal is faster."""

import argparse
import os
import platform
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../tests/redis/lib"))
from servers import MODULE, REDISBLOOM, Server  # noqa: E402

MASK = (1 << 64) - 1
BATCH = 100


def mix(x):
    x = ((x ^ x >> 30) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ x >> 27) * 0x94D049BB133111EB) & MASK
    return x ^ x >> 31


def keys(start, count):
    """33-byte addresses."""
    return [b"https://a.example/%015x" % (mix(start + i) >> 4) for i in range(count)]


def encode(words):
    parts = [b"*%d\r\n" % len(words)]
    parts += [b"$%d\r\n%b\r\n" % (len(word), word) for word in words]
    return b"".join(parts)


def pack(items):
    """Returns the items in packed form for PETAL.MADDB and PETAL.MEXISTSB: the count, the lengths,
    the bytes."""
    numbers = [len(items), *map(len, items)]
    return b"".join([*(number.to_bytes(4, "little") for number in numbers), *items])


def singles(verb, key, items):
    return [encode([verb, key, item]) for item in items]


def batches(verb, key, items):
    return [encode([verb, key, *items[at:at + BATCH]]) for at in range(0, len(items), BATCH)]


def packed(verb, key, items):
    return [encode([verb, key, pack(items[at:at + BATCH])]) for at in range(0, len(items), BATCH)]


class Side:
    def __init__(self, program, module):
        self.server = Server(program, module=module)
        self.client = self.server.connect()

    def cpu(self):
        lines = self.client("INFO", "cpu").decode().splitlines()
        used = dict(line.split(":") for line in lines if ":" in line)
        return float(used["used_cpu_user"]) + float(used["used_cpu_sys"])

    def run(self, commands):
        """Returns the server's CPU time per command, in microseconds."""
        before = self.cpu()
        at = 0
        while at < len(commands):
            size, first = 0, at
            while at < len(commands) and (size < 65536 or at == first):
                size += len(commands[at])
                at += 1
            self.client.socket.sendall(b"".join(commands[first:at]))
            for _ in range(at - first):
                self.client.receive()
        return (self.cpu() - before) / len(commands) * 1e6


def make_cases(scale):
    """Tuples of (row, action before each round, commands)."""
    one = keys(0, 1000000 // scale)
    part, absent = one[: 200000 // scale], keys(10**9, 200000 // scale)
    mixed = [key for pair in zip(part, absent) for key in pair][: 200000 // scale]
    big = keys(2 * 10**9, 400000 // scale)
    half = len(big) // 2
    big_mixed = [key for pair in zip(big[:half], keys(3 * 10**9, half)) for key in pair]

    def fresh(client):
        client("UNLINK", "one")
        client("BF.RESERVE", "one", "0.01", 1000000)

    def filled(client):
        if client("BF.CARD", "one") < len(one) * 0.9:
            for at in range(0, len(one), 1000):
                client("BF.MADD", "one", *one[at:at + 1000])

    def large(client):
        if not client("EXISTS", "big"):
            client("BF.RESERVE", "big", "0.01", 100000000)

    names = [b"small%d" % i for i in range(10000)]

    def small(client):
        if not client("EXISTS", "small0"):
            client.pipeline([["BF.ADD", name, "first"] for name in names])

    def in_turn(verb, items):
        return [encode([verb, names[i % len(names)], item]) for i, item in enumerate(items)]

    return [
        ("PING", None, [encode([b"PING"])] * (200000 // scale)),
        ("ADD, 10^6 keys", fresh, singles(b"BF.ADD", b"one", part)),
        ("EXISTS, 10^6 keys", filled, singles(b"BF.EXISTS", b"one", mixed)),
        ("MADD x100, 10^6 keys", fresh, batches(b"BF.MADD", b"one", one)),
        ("MEXISTS x100, 10^6 keys", filled, batches(b"BF.MEXISTS", b"one", one)),
        ("MADD x100, 138 MB", large, batches(b"BF.MADD", b"big", big)),
        ("MEXISTS x100, 138 MB", large, batches(b"BF.MEXISTS", b"big", big_mixed)),
        ("EXISTS, 138 MB", large, singles(b"BF.EXISTS", b"big", big_mixed[: 200000 // scale])),
        ("EXISTS, 10^4 small filters in turn", small, in_turn(b"BF.EXISTS", part)),
        ("ADD, 10^4 small filters in turn", small, in_turn(b"BF.ADD", part)),
    ]


def make_packed(cases, scale):
    """Compares these rows' batches in packed form with the module's unpacked batches."""
    one = keys(0, 1000000 // scale)
    big = keys(2 * 10**9, 400000 // scale)
    prepare = {row: before for row, before, _ in cases}
    commands = {row: words for row, _, words in cases}
    for row, verb, key, items in [
        ("MADD x100, 10^6 keys", b"PETAL.MADDB", b"one", one),
        ("MEXISTS x100, 10^6 keys", b"PETAL.MEXISTSB", b"one", one),
        ("MEXISTS x100, 138 MB", b"PETAL.MEXISTSB", b"big", big),
    ]:
        plain = commands[row]
        if key == b"big":
            plain = batches(b"BF.MEXISTS", key, items)
        yield row.replace("x100", "packed x100"), prepare[row], packed(verb, key, items), plain


GOALS = {"ADD, 10^6 keys": 1, "EXISTS, 10^6 keys": 1, "MADD x100, 10^6 keys": 1.5,
         "MEXISTS x100, 10^6 keys": 1.2, "MADD x100, 138 MB": 2.5, "MEXISTS x100, 138 MB": 3,
         "MADD packed x100, 10^6 keys": 1.5, "MEXISTS packed x100, 10^6 keys": 1.5,
         "MEXISTS packed x100, 138 MB": 1.5}


def cpu_name():
    for line in open("/proc/cpuinfo"):
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return platform.machine()


def spread(ratios):
    return f"{statistics.median(ratios):.2f}x ({min(ratios):.2f}..{max(ratios):.2f})"


def verdict(row, ratio):
    goal = GOALS.get(row)
    return "" if goal is None else f"{goal}x | {'reached' if ratio >= goal else 'MISSED'}"


def measure(rounds, prepare, *sides):
    """Returns the times of both servers by round. The servers take turns going first."""
    times = [[], []]
    for number in range(rounds):
        for which in (0, 1) if number % 2 else (1, 0):
            side, commands = sides[which]
            if prepare:
                prepare(side.client)
            times[which].append(side.run(commands))
    return times


def report(row, one, two):
    ratio = min(two) / min(one)
    ratios = [b / a for a, b in zip(one, two)]
    print(f"| {row} | {min(one):.2f} | {min(two):.2f} | {ratio:.2f}x; {spread(ratios)} | "
          f"{verdict(row, ratio) or ' | '} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scale", type=int, default=1, help="a fraction of the commands")
    asked = parser.parse_args()
    ours, theirs = Side(asked.program, MODULE), Side(asked.program, REDISBLOOM)
    try:
        version = ours.client("INFO", "server").decode()
        fields = dict(line.split(":", 1) for line in version.splitlines() if ":" in line)
        name = "Valkey " + fields["valkey_version"] if "valkey_version" in fields else \
            "Redis " + fields["redis_version"]
        print(f"{name}, RedisBloom 2.8.2; {cpu_name()}, {os.cpu_count()} CPUs, load "
              f"{os.getloadavg()[0]:.1f}; {asked.rounds} rounds, least of all.\n")
        print("| us of server CPU per command | Petal | RedisBloom | ratio; by round | goal | |")
        print("| --- | --- | --- | --- | --- | --- |")
        cases = make_cases(asked.scale)
        for row, prepare, commands in cases:
            report(row, *measure(asked.rounds, prepare, (ours, commands), (theirs, commands)))
        print("\n| us of server CPU per command | packed | not packed | ratio; by round | goal | |")
        print("| --- | --- | --- | --- | --- | --- |")
        for row, prepare, commands, plain in make_packed(cases, asked.scale):
            report(row, *measure(asked.rounds, prepare, (ours, commands), (ours, plain)))
    finally:
        ours.server.close()
        theirs.server.close()


main()
