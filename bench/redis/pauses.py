#!/usr/bin/env python3
"""pauses.py [--rounds N] [--large] NAME=SERVER... - measures how long a command blocks a server
whose filter grows by a layer of more than 1 GiB, compared with RedisBloom. With --large, it also
measures how long DUMP, COPY, SAVE and DEL take for such a layer, filled with random bits.

$module and $redisbloom are the modules' paths, as in tests/redis. Each module runs in its own
server, one command at a time; the server reports how long each command took (SLOWLOG, wall time).
The result is the median, over all rounds, of the longest BF.ADD of a round (min..max). On a busy
machine all times are longer.
"""

import argparse
import os
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "tests", "redis", "lib"))

from servers import MODULE, REDISBLOOM, Server  # noqa: E402

ITEMS, EXPANSION, AFTER = 24000, 32768, 3000
LONG = ["--slowlog-log-slower-than", "0", "--slowlog-max-len", "2000000", "--proto-max-bulk-len",
        "4gb", "--client-query-buffer-limit", "4gb"]


def took(client, command):
    """Returns the times in ms of all commands with this name since the last call."""
    entries = client("SLOWLOG", "GET", -1)
    client("SLOWLOG", "RESET")
    return [entry[2] / 1000 for entry in entries if entry[3][0] == command.encode()]


def grow(client):
    """Grows the filter by a layer for 786 million items. Returns the times in ms of the BF.ADDs,
    the first of which creates that layer."""
    client("BF.RESERVE", "f", "0.01", ITEMS, "EXPANSION", EXPANSION)
    item = 0
    while (room := ITEMS - client("BF.INFO", "f", "ITEMS")[0]) > 0:
        client("BF.MADD", "f", *range(item, item + room))
        item += room
    client("SLOWLOG", "RESET")
    for item in range(1000000, 1000000 + AFTER):
        client("BF.ADD", "f", item)
    return took(client, "BF.ADD")


def one_round(program, module):
    with Server(program, *LONG, module=module) as server:
        times = sorted(grow(server.connect()))
        return times[-1], times[int(len(times) * 0.999)]


def in_words(values):
    return f"{statistics.median(values):.2f} ({min(values):.2f}..{max(values):.2f})"


def compare(name, program, rounds):
    seen = {module: [one_round(program, module) for _ in range(rounds)]
            for module in (MODULE, REDISBLOOM)}
    ours, theirs = seen[MODULE], seen[REDISBLOOM]
    longest, bound = (statistics.median(one[0] for one in of) for of in (ours, theirs))
    word = "reached" if longest <= max(2 * bound, 5) else "MISSED"
    print(f"| {name} | {in_words([one[0] for one in ours])} | {in_words([one[0] for one in theirs])} "
          f"| {in_words([one[1] for one in ours])} | {in_words([one[1] for one in theirs])} "
          f"| {word} |", flush=True)


def large(name, program):
    with Server(program, *LONG, module=MODULE) as server:
        client = server.connect()
        grow(client)
        size, chunk = client("BF.INFO", "f", "SIZE")[0], os.urandom(1 << 24)
        for at in range(64 << 10, size - (65 << 10), len(chunk)):
            part = chunk[: min(len(chunk), size - (65 << 10) - at)]
            client("BF.LOADCHUNK", "f", 1 + at + len(part), part)
        client("SLOWLOG", "RESET")
        cells = []
        for words in (["DUMP", "f"], ["COPY", "f", "g"], ["SAVE"], ["UNLINK", "g"], ["DEL", "f"]):
            client(*words)
            cells.append(f"{took(client, words[0])[0]:.0f}")
        print(f"| {name} | {size >> 20} MiB | " + " | ".join(cells) + " |", flush=True)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--large", action="store_true")
    options.add_argument("servers", nargs="+")
    options = options.parse_args()
    servers = [one.split("=", 1) for one in options.servers]
    print("| ms, while a filter grows by 1.1 GiB | longest BF.ADD | RedisBloom's | p99.9 "
          "| RedisBloom's | 2x, or 5 ms |")
    print("|---|---|---|---|---|---|")
    for name, program in servers:
        compare(name, program, options.rounds)
    if not options.large:
        return
    print("\n| ms | layer | DUMP | COPY | SAVE | UNLINK | DEL |")
    print("|---|---|---|---|---|---|---|")
    for name, program in servers:
        large(name, program)


main()
