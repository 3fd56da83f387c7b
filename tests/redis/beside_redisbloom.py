"""beside_redisbloom.py NAME SERVER COMMANDS - sends the same commands to RedisBloom and to this
module, each in its own server.

Streams of random commands must give equal replies, and equal bytes in BF.SCANDUMP and DUMP. Then
each module must load the other module's values, RDB files and AOF files.
"""

import os
import random
import shutil
import sys

from effects import info, rewrite
from servers import MODULE, REDISBLOOM, Error, Server, Tap, is_same

SEED = 20261122
KEYS = ["a", "b", "c", "d", "text"]


def item(rng):
    return rng.choice([str(rng.randrange(500)), "", "x" * rng.randrange(200), rng.randbytes(8)])


def items(rng, most=8):
    return [item(rng) for _ in range(rng.randint(1, most))]


def options(rng):
    """Returns random arguments for BF.INSERT and BF.RESERVE that both modules treat the same
    way."""
    rate = rng.choice(["0.01", "0.001", "0.25", "0.1", "1e-7", repr(rng.uniform(1e-9, 0.25))])
    capacity = rng.choice([1, 2, 5, 10, 63, 64, 100, 1000, rng.randint(1, 3000)])
    growth = rng.choice([[], ["EXPANSION", rng.choice([2, 3, 4, 10])], ["NONSCALING"]])
    return rate, capacity, growth


BAD = [
    ["BF.RESERVE", "a", "x", "10"], ["BF.RESERVE", "a", "0.1", "x"], ["BF.RESERVE", "a"],
    ["BF.RESERVE", "a", "0.1", "10", "EXPANSION"], ["BF.RESERVE", "a", "0.1", "10", "EXPANSION", "x"],
    ["BF.RESERVE", "a", "0.1", "10", "NONSCALING", "EXPANSION", "2"], ["BF.INFO", "a", "NOTHING"],
    ["BF.INSERT", "a", "CAPACITY", "x", "ITEMS", "b"], ["BF.INSERT", "a", "ERROR", "x", "ITEMS", "b"],
    ["BF.INSERT", "a", "EXPANSION", "x", "ITEMS", "b"], ["BF.INSERT", "a", "JUNK", "ITEMS", "b"],
    ["BF.INSERT", "a", "ITEMS"], ["BF.ADD", "a"], ["BF.SCANDUMP", "a", "x"],
    ["BF.LOADCHUNK", "a", "x", "y"], ["BF.CARD", "a", "b"], ["BF.MADD", "a"], ["BF.MEXISTS", "a"],
]


def command(rng):
    key = rng.choice(KEYS)
    rate, capacity, growth = options(rng)
    kind = rng.random()
    if kind < 0.25:
        return ["BF.ADD", key, item(rng)]
    if kind < 0.40:
        return ["BF.MADD", key, *items(rng, rng.choice([3, 40]))]
    if kind < 0.50:
        words = ["BF.INSERT", key]
        if rng.random() < 0.5:
            words += ["CAPACITY", capacity]
        if rng.random() < 0.5:
            words += ["ERROR", rate]
        words += growth
        if rng.random() < 0.2:
            words += ["NOCREATE"]
        return [*words, "ITEMS", *items(rng)]
    if kind < 0.62:
        return ["BF.EXISTS", key, item(rng)]
    if kind < 0.74:
        return ["BF.MEXISTS", key, *items(rng)]
    if kind < 0.78:
        return ["BF.RESERVE", key, rate, capacity, *growth]
    if kind < 0.82:
        fields = [[], ["CAPACITY"], ["SIZE"], ["FILTERS"], ["ITEMS"], ["EXPANSION"]]
        return ["BF.INFO", key, *rng.choice(fields)]
    if kind < 0.84:
        return ["BF.CARD", key]
    if kind < 0.86:
        return ["BF.DEBUG", key]
    if kind < 0.89:
        return ["BF.SCANDUMP", key, rng.choice([0, 1, 2, 9, rng.randrange(-2, 5000)])]
    if kind < 0.92:
        return ["BF.LOADCHUNK", key, rng.randrange(-2, 3000), rng.randbytes(rng.randrange(64))]
    if kind < 0.96:
        return rng.choice(BAD)
    return ["SET", "text", "x"] if key == "text" else ["DEL", key]


def whole(client, key):
    """Returns the output of BF.SCANDUMP as a list of pairs, which ends with the error if one
    occurred."""
    reply = client("BF.SCANDUMP", key, 0)
    pairs = [reply]
    while not isinstance(reply, Error) and reply[0]:
        reply = client("BF.SCANDUMP", key, reply[0])
        pairs.append(reply)
    return pairs


def values(client):
    return [(key, whole(client, key), client("DUMP", key)) for key in KEYS]


def stream(ours, theirs, rng, count, pairs):
    """Appends the differences."""
    for done in range(0, count, 200):
        commands = [command(rng) for _ in range(200)]
        for words, one, two in zip(commands, ours.pipeline(commands), theirs.pipeline(commands)):
            if not is_same(one, two):
                pairs.append((words, one, two))
        if values(ours) != values(theirs):
            pairs.append(("the filters differ after", done + 200, [
                key for key, one, two in zip(KEYS, values(ours), values(theirs)) if one != two]))
        if pairs:
            return


def check_streams(tap, program, count):
    with Server(program) as one, Server(program, module=REDISBLOOM) as two:
        for protocol in (2, 3):
            rng, pairs = random.Random(SEED + protocol), []
            ours, theirs = one.connect(protocol), two.connect(protocol)
            ours("FLUSHALL"), theirs("FLUSHALL")
            ours("SET", "text", "x"), theirs("SET", "text", "x")
            stream(ours, theirs, rng, count, pairs)
            tap.ok(f"{count} commands in RESP{protocol}: equal replies, equal SCANDUMP and DUMP "
                   f"(seed {SEED + protocol})", not pairs, *pairs[:3])


def fill(client):
    """Creates filters of many kinds. Returns the filters' keys."""
    made = []
    for number, words in enumerate([
        ["0.01", 100], ["0.01", 100, "NONSCALING"], ["0.001", 7, "EXPANSION", 3], ["0.25", 1],
        ["1e-7", 50000], ["0.01", 1000000], ["1e-12", 3, "EXPANSION", 2], ["0.2", 64, "NONSCALING"],
    ]):
        key = f"filter{number}"
        client("BF.RESERVE", key, *words)
        for at in range(0, min(int(words[1]) * 4, 40000), 500):
            client("BF.MADD", key, *range(at, at + 500))
        made.append(key)
    client("BF.RESERVE", "empty", "0.01", 10)
    return [*made, "empty"]


def check_values(tap, program):
    """Each module loads the other module's DUMP and SCANDUMP, and must dump the same bytes
    again."""
    with Server(program) as one, Server(program, module=REDISBLOOM) as two:
        sides = {"RedisBloom's": (two.connect(), one.connect()),
                 "ours": (one.connect(), two.connect())}
        for name, (source, target) in sides.items():
            keys, pairs = fill(source), []
            target("FLUSHALL")
            for key in keys:
                dump = source("DUMP", key)
                pairs.append((target("RESTORE", key, 0, dump), "OK", key))
                pairs.append((target("DUMP", key), dump, key))
                for iterator, data in whole(source, key)[:-1]:
                    pairs.append((target("BF.LOADCHUNK", key + "+", iterator, data), "OK", key))
                pairs.append((whole(target, key + "+"), whole(source, key), key))
                probes = list(range(-500, 1500))
                pairs.append((target("BF.MEXISTS", key, *probes),
                              source("BF.MEXISTS", key, *probes), key))
                pairs.append((target("BF.MADD", key, *probes), source("BF.MADD", key, *probes), key))
                pairs.append((target("DUMP", key), source("DUMP", key), key))
            tap.equals(f"DUMP and SCANDUMP of {name} go to the other and back byte for byte", pairs)


def hand_over(tap, program, name, first, second, options, save, files):
    """Tests that one module can open a data folder written by the other module."""
    with Server(program, *options, module=first) as server:
        client = server.connect()
        keys = fill(client)
        before = [client("DUMP", key) for key in keys]
        save(client)
        server.stop()
        with Server(program, *options, module=None) as other:
            other.stop()
            for file in files:
                source, target = f"{server.folder}/{file}", f"{other.folder}/{file}"
                if os.path.isdir(source):
                    shutil.rmtree(target, ignore_errors=True)
                    shutil.copytree(source, target)
                else:
                    shutil.copy(source, target)
            other.module = second
            other.start()
            after = [other.connect()("DUMP", key) for key in keys]
            tap.ok(f"{name} by the other, equal values", before == after, len(before), len(after))


def check_files(tap, program):
    aof = ["--appendonly", "yes", "--aof-use-rdb-preamble", "no"]
    for name, first, second in (("RedisBloom's", REDISBLOOM, MODULE), ("ours", MODULE, REDISBLOOM)):
        hand_over(tap, program, f"an RDB file of {name} is loaded", first, second, [],
                  lambda client: client("SAVE"), ["dump.rdb"])
        hand_over(tap, program, f"a rewritten AOF of {name} is loaded", first, second, aof, rewrite,
                  ["appendonlydir"])
        hand_over(tap, program, f"the AOF of {name}, as it came, is loaded", first, second, aof,
                  lambda client: None, ["appendonlydir"])


SMALL = 3000  # number of filters created in the same way


def fill_alike(client, rng):
    """Adds keys to filters with the same parameters, some of which grow."""
    names = [f"small{i}" for i in range(SMALL)]
    for _ in range(10):
        words = [["BF.ADD", rng.choice(names), rng.randrange(10000)] for _ in range(SMALL)]
        words += [["BF.MADD", rng.choice(names[:50]), *range(at, at + 60)]
                  for at in range(0, 6000, 60)]
        client.pipeline(words)
    return names


def fill_apart(client, count):
    """Adds keys to filters with different parameters, some of which grow."""
    for at in range(0, count, 1000):
        names = range(at, min(at + 1000, count))
        client.pipeline([["BF.RESERVE", f"own{i}", repr(0.001 + i * 1e-7), 20 + i % 90, "EXPANSION",
                          1 + i % 3] for i in names])
        client.pipeline([["BF.MADD", f"own{i}", *range(10 + i % 50)] for i in names])


def used_memory(server):
    """Returns the server's memory use. Uses a new connection, since an old one keeps its buffers
    for long commands and replies."""
    client = server.connect()
    used = int(info(client, "memory")["used_memory"])
    client.close()
    return used


def check_distinct(tap, program, count):
    taken, held = [], []
    for module in (MODULE, REDISBLOOM):
        with Server(program, module=module) as server:
            before = used_memory(server)
            fill_apart(server.connect(), count)
            taken.append((used_memory(server) - before) / count)
    limit = before + int(count * taken[1] * 1.2) + (4 << 20)
    for module in (MODULE, REDISBLOOM):
        with Server(program, "--maxmemory", limit, "--maxmemory-policy", "allkeys-lru",
                    module=module) as server:
            client = server.connect()
            fill_apart(client, count)
            held.append(client("DBSIZE"))
    tap.ok(f"{count} filters with parameters of their own, bytes each: {taken[0]:.0f}, "
           f"RedisBloom's {taken[1]:.0f}", taken[0] <= 1.01 * taken[1])
    tap.ok("and a maxmemory that has room for RedisBloom's evicts none", held[0] == held[1] == count,
           held)


def check_memory(tap, program):
    with Server(program) as one, Server(program, module=REDISBLOOM) as two:
        ours, theirs = one.connect(), two.connect()
        taken, dumps = [], []
        for client in (ours, theirs):
            rng = random.Random(SEED)
            client("FLUSHALL"), fill_alike(client, rng), client("FLUSHALL", "SYNC")
            server = one if client is ours else two
            before = used_memory(server)
            names = fill_alike(client, rng)
            taken.append((used_memory(server) - before) / SMALL)
            dumps.append(client.pipeline([["DUMP", name] for name in names]))
        tap.ok(f"{SMALL} filters that were created alike, bytes each: {taken[0]:.0f}, "
               f"RedisBloom's {taken[1]:.0f}", taken[0] <= 1.01 * taken[1])
        tap.ok("and they are the same, byte for byte", dumps[0] == dumps[1])
        for _ in range(20):  # another thread frees the old filters meanwhile
            ours("FLUSHALL", "ASYNC")
            again = fill_alike(ours, random.Random(SEED))
        theirs("FLUSHALL"), fill_alike(theirs, random.Random(SEED))
        ask = [["DUMP", name] for name in again]
        tap.ok("filters that are made while others like them are freed in the background",
               ours.pipeline(ask) == theirs.pipeline(ask))


def main():
    name, program, count, distinct = sys.argv[1:]
    tap = Tap(name)
    check_streams(tap, program, int(count))
    check_values(tap, program)
    check_files(tap, program)
    check_memory(tap, program)
    check_distinct(tap, program, int(distinct))


main()
