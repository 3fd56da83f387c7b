"""compare.py [--keys N] [--rounds N] - compares petal-bloom with rbloom, fastbloom-rs and
pybloom_live.

Times are CPU time per key, the minimum of all rounds. Each round runs every contender in turn.
Texts are new objects each time (a str keeps its hash, so a second pass would favour rbloom). The
script prints the ratio of these minima, and then the ratio by round: median (min..max). Above 1x,
Petal is faster.

Rows "in, again" query the same objects that were added; rows "in, absent" query new objects.
"""

import argparse
import gc
import hashlib
import importlib.metadata
import os
import platform
import statistics
import sys
import time

import fastbloom_rs
import numpy
import petal
import pybloom_live
import rbloom

MASK = (1 << 64) - 1
RATE = 0.01
SLOW = 10  # slow libraries get a tenth of the keys


def mix(x):
    x = ((x ^ x >> 30) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ x >> 27) * 0x94D049BB133111EB) & MASK
    return x ^ x >> 31


def addresses(count, start):
    return [b"https://a.example/%015x" % (mix(start + i) >> 4) for i in range(count)]


def portable(key):
    """The hash that rbloom's documentation recommends for filters that are saved."""
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:16], "big", signed=True)


# ---- the measurements: functions that are timed as a whole ---------------------------------------


def add_each(filter, keys):
    add = filter.add
    for key in keys:
        add(key)


def ask_each(filter, keys):
    found = 0
    for key in keys:
        if key in filter:
            found += 1
    return found


def timed(call, *arguments):
    start = time.process_time_ns()
    answer = call(*arguments)
    return time.process_time_ns() - start, answer


class Table:
    """The times per key, by contender and row, as lists with one entry per round."""

    def __init__(self):
        self.times = {}
        self.rates = {}

    def put(self, contender, row, nanoseconds, keys):
        self.times.setdefault((contender, row), []).append(nanoseconds / keys)

    def least(self, contender, row):
        return min(self.times[contender, row])

    def ratio(self, ours, theirs):
        """Formats the ratio of the minima, and the ratio by round."""
        each = [b / a for a, b in zip(self.times[ours], self.times[theirs], strict=True)]
        of_least = self.least(*theirs) / self.least(*ours)
        return of_least, statistics.median(each), min(each), max(each)


ONE = ("add", "in, again", "in, absent")


def one_by_one(table, name, filter, members, absent):
    took, _ = timed(add_each, filter, members)
    table.put(name, "add", took, len(members))
    took, found = timed(ask_each, filter, members)
    assert found == len(members), name
    table.put(name, "in, again", took, len(members))
    took, found = timed(ask_each, filter, absent)
    table.put(name, "in, absent", took, len(absent))
    table.rates[name] = found / len(absent)


def in_batches(table, name, update, ask, members, absent):
    took, _ = timed(update, members)
    table.put(name, "update", took, len(members))
    took, answers = timed(ask, members)
    assert all(answers), name
    table.put(name, "batch, again", took, len(members))
    took, answers = timed(ask, absent)
    table.put(name, "batch, absent", took, len(absent))
    table.rates[name] = sum(map(int, answers)) / len(absent)


# ---- contenders ----------------------------------------------------------------------------------


def unchecked(ask):
    """Runs fastbloom-rs at its fastest, without a Python loop over the keys' types."""
    return lambda keys: ask(keys, check_type=False)


def text_contenders(table, raw_members, raw_absent):
    count = len(raw_members)

    def fresh(part=1):
        halves = raw_members, raw_absent
        return [[raw.decode() for raw in half[: count // part]] for half in halves]

    def petal_one():
        one_by_one(table, "petal", petal.Filter(count, RATE), *fresh())

    def petal_classic():
        one_by_one(table, "petal classic", petal.Filter(count, RATE, scheme="classic"), *fresh())

    def petal_batch():
        filter = petal.Filter(count, RATE)
        in_batches(table, "petal, batch", filter.update, filter.contains_batch, *fresh())

    def rbloom_one():
        one_by_one(table, "rbloom", rbloom.Bloom(count, RATE), *fresh())

    def rbloom_portable():
        one_by_one(table, "rbloom, portable hash", rbloom.Bloom(count, RATE, portable), *fresh())

    def rbloom_update():
        filter = rbloom.Bloom(count, RATE)
        took, _ = timed(filter.update, fresh()[0])
        table.put("rbloom", "update", took, count)

    def fastbloom_batch():
        filter = fastbloom_rs.FilterBuilder(count, RATE).build_bloom_filter()
        calls = filter.add_str_batch, unchecked(filter.contains_str_batch)
        in_batches(table, "fastbloom-rs, batch", *calls, *fresh())

    def pybloom_one():
        filter = pybloom_live.BloomFilter(count // SLOW, RATE)
        one_by_one(table, "pybloom_live", filter, *fresh(SLOW))

    return [petal_one, rbloom_one, petal_batch, rbloom_update, petal_classic, rbloom_portable,
            fastbloom_batch, pybloom_one]  # fmt: skip


def integer_contenders(table, members, absent):
    count = len(members)
    lists = members.tolist(), absent.tolist()

    def petal_array():
        filter = petal.Filter(count, RATE)
        in_batches(table, "petal, array", filter.update, filter.contains_batch, members, absent)

    def petal_one():
        one_by_one(table, "petal, integers", petal.Filter(count, RATE), *lists)

    def rbloom_one():
        one_by_one(table, "rbloom, integers", rbloom.Bloom(count, RATE), *lists)

    def fastbloom(name, keys):
        filter = fastbloom_rs.FilterBuilder(count, RATE).build_bloom_filter()
        calls = filter.add_int_batch, unchecked(filter.contains_int_batch)
        in_batches(table, name, *calls, *keys)

    def fastbloom_array():
        fastbloom("fastbloom-rs, array", (members, absent))

    def fastbloom_list():
        fastbloom("fastbloom-rs, list", lists)

    def pybloom_one():
        filter = pybloom_live.BloomFilter(count // SLOW, RATE)
        keys = [keys[: count // SLOW] for keys in lists]
        one_by_one(table, "pybloom_live, integers", filter, *keys)

    return [petal_array, fastbloom_list, petal_one, rbloom_one, fastbloom_array, pybloom_one]


# ---- the report ----------------------------------------------------------------------------------

ROWS = (*ONE, "update", "batch, again", "batch, absent")

COMPARED = [
    # Petal's row, the other library's row, and the minimum ratio to reach
    *((("petal", row), ("rbloom", row), 1) for row in ONE),
    *((("petal", row), ("rbloom, portable hash", row), 8) for row in ONE),
    (("petal, batch", "update"), ("rbloom", "update"), 1.8),
    (("petal, batch", "batch, again"), ("rbloom", "in, again"), 2.5),
    (("petal, batch", "batch, absent"), ("rbloom", "in, absent"), 2.5),
    *((("petal classic", row), ("rbloom", row), None) for row in ONE),
    *((("petal, batch", row), ("fastbloom-rs, batch", row), None) for row in ROWS[3:]),
    *((("petal", row), ("pybloom_live", row), None) for row in ONE),
    *((("petal, array", row), ("fastbloom-rs, array", row), 15) for row in ROWS[3:]),
    *((("petal, array", row), ("fastbloom-rs, list", row), None) for row in ROWS[3:]),
    *((("petal, integers", row), ("rbloom, integers", row), None) for row in ONE),
    *((("petal, integers", row), ("pybloom_live, integers", row), None) for row in ONE),
]


def cpu():
    with open("/proc/cpuinfo", encoding="ascii") as lines:
        for line in lines:
            if line.startswith("model name"):
                return line.split(":")[1].strip()
    return platform.processor()


def say_table(table):
    print("| CPU ns per key | rate |", " | ".join(ROWS), "|")
    print("| --- |" + " --- |" * (len(ROWS) + 1))
    for name in dict.fromkeys(name for name, _ in table.times):
        cells = [
            f"{min(table.times[name, row]):.1f}" if (name, row) in table.times else "" for row in ROWS
        ]
        print(f"| {name} | {100 * table.rates[name]:.2f} % |", " | ".join(cells), "|")


def say_ratios(table):
    print("| times as fast as | | of least times; by round | goal | |")
    print("| --- | --- | --- | --- | --- |")
    for ours, theirs, goal in COMPARED:
        least, median, low, high = table.ratio(ours, theirs)
        reached = ("reached" if least >= goal else "**missed**") if goal else ""
        ratio = f"{least:.1f}x; {median:.1f}x ({low:.1f}..{high:.1f})"
        print(f"| {theirs[0]}, {theirs[1]} | {ours[0]}, {ours[1]} | {ratio} |", end="")
        print(f" {goal}x | {reached} |" if goal else " | |")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--keys", type=int, default=1_000_000)
    arguments.add_argument("--rounds", type=int, default=7)
    asked = arguments.parse_args()
    table, count = Table(), asked.keys
    texts = addresses(count, 0), addresses(count, 1 << 40)
    assert len(texts[0][0]) == 33
    numbers = [numpy.array([mix(start + i) >> 1 for i in range(count)]) for start in (0, 1 << 40)]
    contenders = text_contenders(table, *texts) + integer_contenders(table, *numbers)

    versions = [f"{name} {importlib.metadata.version(name)}"
                for name in ("rbloom", "fastbloom-rs", "pybloom_live", "numpy")]  # fmt: skip
    print(f"{time.strftime('%Y-%m-%d')}, {cpu()}, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f};",
          f"Python {platform.python_version()}, petal {petal.__version__}, {', '.join(versions)};",
          f"{count} keys, {asked.rounds} rounds; pybloom_live has {count // SLOW} keys")  # fmt: skip
    print(f"load average before: {os.getloadavg()[0]:.1f}", file=sys.stderr)
    gc.disable()
    for round in range(asked.rounds):
        for contender in contenders[round % 2 :] + contenders[: round % 2]:
            contender()
            gc.collect()
        print(f"round {round + 1} of {asked.rounds}", file=sys.stderr)
    print()
    say_table(table)
    print()
    say_ratios(table)
    return 0


sys.exit(main())
