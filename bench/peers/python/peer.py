"""peer.py - runs rbloom or pybloom_live, chosen by the argument, as a contender for ../driver.c,
which describes the protocol."""

import sys
from time import perf_counter_ns

MASK = (1 << 64) - 1


def mix(x):
    x = ((x ^ x >> 30) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ x >> 27) * 0x94D049BB133111EB) & MASK
    return x ^ x >> 31


def number(value):
    return value


def text(value):
    return "http://a.io/%016x" % value


def keys(count, start, kind):
    make = text if kind == "text" else number
    return [make(mix(start + i)) for i in range(count)]


def rbloom():
    from rbloom import Bloom

    return Bloom, lambda made: made.size_in_bits


def pybloom_live():
    from pybloom_live import BloomFilter

    return BloomFilter, lambda made: made.num_bits


def fill(made, members):
    add = made.add
    for key in members:
        add(key)


def count_found(made, asked):
    found = 0
    for key in asked:
        if key in made:
            found += 1
    return found


def round_of(create, bits, members, absent, rate, repeats):
    least = [float("inf")] * 3
    for _ in range(repeats):
        start = perf_counter_ns()
        made = create(len(members), rate)
        fill(made, members)
        added = perf_counter_ns()
        hits = count_found(made, members)
        hit = perf_counter_ns()
        found = count_found(made, absent)
        missed = perf_counter_ns()
        assert hits == len(members), "keys were lost"
        least = list(map(min, least, (added - start, hit - added, missed - hit)))
    each = ["%.4f" % (took / len(members)) for took in least]
    return "ok %s %d %d" % (" ".join(each), found, bits(made))


def main():
    create, bits = {"rbloom": rbloom, "pybloom_live": pybloom_live}[sys.argv[1]]()
    made = members = absent = None
    for line in sys.stdin:
        _, count, _, rate, kind, repeats = line.split()
        if made != (count, kind):
            made = (count, kind)
            members, absent = keys(int(count), 0, kind), keys(int(count), 1 << 40, kind)
        said = round_of(create, bits, members, absent, float(rate), int(repeats))
        last = absent[-1] if kind == "text" else "%016x" % absent[-1]
        print(said, last, flush=True)


main()
