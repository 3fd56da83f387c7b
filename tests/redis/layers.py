"""layers.py NAME PROGRAM LAYERS - tests filters with many layers, which result from EXPANSION 1.
RedisBloom's filters, up to the last possible layer, are read from RDB and AOF files, replicated and
grown, as are chains of LAYERS layers, which only BF.LOADCHUNK can create."""

import math
import os
import random
import shutil
import struct
import sys

from effects import digest, info
from servers import MODULE, REDISBLOOM, Error, Server, Tap, wait_for

SEED = 20261124
AOF = ["--appendonly", "yes", "--aof-use-rdb-preamble", "no"]


# ---- a chain that a header makes -----------------------------------------------------------------


def header_of(layers, capacity, rate, options=5, growth=1):
    """Returns the header of a filter whose layers are all full and have the same rate, although no
    bits are set."""
    per_item = -(math.log(rate) / 0.480453013918201)
    bits = (int(capacity * per_item) + 63) // 64 * 64
    hashes = math.ceil(0.693147180559945 * per_item)
    layer = struct.pack("<QQQddIQB", bits // 8, bits, capacity, rate, per_item, hashes, capacity, 0)
    return struct.pack("<QIII", layers * capacity, layers, options, growth) + layers * layer


def make_chain(client, key, layers, capacity, rate):
    return client("BF.LOADCHUNK", key, 1, header_of(layers, capacity, rate))


# ---- what servers do with them -------------------------------------------------------------------


def items_in(client, key, items):
    return sum(sum(client("BF.MEXISTS", key, *items[at:at + 2000]))
               for at in range(0, len(items), 2000))


def is_linked(client):
    return info(client, "replication").get("master_link_status") == "up"


def offset(client, name):
    return info(client, "replication")[name]


def follow(master, replica, port):
    replica("REPLICAOF", "127.0.0.1", port)
    return wait_for(lambda: is_linked(replica))


def is_level(master, replica):
    return wait_for(lambda: offset(master, "master_repl_offset") ==
                    offset(replica, "slave_repl_offset"))


def rewrite(client):
    client("BGREWRITEAOF")
    return wait_for(lambda: info(client, "persistence")["aof_rewrite_in_progress"] == "0" and
                    info(client, "persistence")["aof_rewrite_scheduled"] == "0")


def hand_over(program, first, second, options, save, file):
    """Fills filters in one server and loads that server's file in another server. Returns, for each
    key, the result of items_in() and the number of items."""
    with Server(program, *options, module=first) as server, \
            Server(program, *options, module=None) as other:
        client = server.connect()
        items = fill(client)
        save(client)
        server.stop()
        other.stop()
        shutil.rmtree(f"{other.folder}/{file}", ignore_errors=True)
        (shutil.copytree if os.path.isdir(f"{server.folder}/{file}") else shutil.copy)(
            f"{server.folder}/{file}", f"{other.folder}/{file}")
        other.module = second
        other.start()
        return [(items_in(other.connect(), key, of_key), len(of_key))
                for key, of_key in items.items()]


def fill(client):
    """Creates filters that grow with EXPANSION 1 and 2, using commands with a single item and
    commands with many."""
    rng = random.Random(SEED)
    items = {"hundred": list(range(10000)), "many": list(range(5000, 6500)), "two": list(range(900))}
    client("BF.RESERVE", "hundred", "0.01", 100, "EXPANSION", 1)
    client("BF.RESERVE", "many", "0.1", 2, "EXPANSION", 1)
    client("BF.RESERVE", "two", "0.001", 1)
    for key, of_key in items.items():
        at = 0
        while at < len(of_key):
            count = min(rng.choice((1, 1, 5, 300)), len(of_key) - at)
            part = of_key[at:at + count]
            added = client("BF.ADD", key, *part) if count == 1 else client("BF.MADD", key, *part)
            assert not isinstance(added, Error), added
            at += count
    return items


def check_original(tap, program):
    """Tests chains that RedisBloom can create itself."""
    for name, first, second in (("RedisBloom's", REDISBLOOM, MODULE), ("ours", MODULE, MODULE)):
        if not first:
            print(f"ok 0 - {tap.about}: RedisBloom's chains # SKIP RedisBloom is not installed")
            continue
        found = hand_over(program, first, second, [], lambda client: client("SAVE"), "dump.rdb")
        tap.ok(f"an RDB file of {name} is loaded, and all items are there",
               all(seen == wanted for seen, wanted in found), found)
        found = hand_over(program, first, second, AOF, rewrite, "appendonlydir")
        tap.ok(f"a rewritten AOF of {name} is loaded, and all items are there",
               all(seen == wanted for seen, wanted in found), found)
        with Server(program, module=first, port=True) as one, Server(program) as two:
            master, replica = one.connect(), two.connect()
            items = fill(master)
            follow(master, replica, one.port)
            for key, of_key in items.items():
                of_key += range(20000, 20300)
                for item in range(20000, 20300):
                    master("BF.ADD", key, item)
            is_level(master, replica)
            found = [(items_in(replica, key, of_key), len(of_key))
                     for key, of_key in items.items()]
            tap.ok(f"as a replica of {name} all items are there, also those that came later",
                   is_linked(replica) and all(seen == wanted for seen, wanted in found), found)
            tap.equal("in the same filters",
                      [replica("DUMP", key) for key in items], [master("DUMP", key) for key in items])


def check_last_layer(tap, program):
    """Tests that a filter stops growing when the rate of the next layer would be 0."""
    ends = []
    for module in filter(None, (MODULE, REDISBLOOM)):
        with Server(program, module=module) as server:
            client, i = server.connect(), 0
            client("BF.RESERVE", "f", "0.01", 1, "EXPANSION", 1)
            while not isinstance(client("BF.ADD", "f", i), Error):
                i += 1
            ends.append((i, client("BF.INFO", "f", "ITEMS")[0], items_in(client, "f", range(i))))
    tried, layers, found = ends[0]
    tap.ok(f"a filter grows to {layers} layers, as RedisBloom's does",
           layers > 1000 and found == tried and ends.count(ends[0]) == len(ends), ends)


def check_long_chain(tap, program, layers):
    with Server(program, *AOF, port=True) as one, Server(program) as two:
        client, replica = one.connect(), two.connect()
        tap.equal(f"a header of {layers} layers makes a filter",
                  make_chain(client, "long", layers, 3, 1e-6), "OK")
        follow(client, replica, one.port)
        items = list(range(200))
        added = [client("BF.ADD", "long", item) for item in items[:50]]
        added += client("BF.MADD", "long", *items[50:])
        new = client("BF.INFO", "long", "ITEMS")[0] - 3 * layers
        tap.ok("which grows", added.count(1) == new > 150 and
               client("BF.INFO", "long", "FILTERS")[0] == layers + (new + 2) // 3, added.count(1),
               client("BF.INFO", "long"))
        is_level(client, replica)
        before = digest(client, "long")
        tap.equal("on a replica, too", digest(replica, "long"), before)
        payload = client("DUMP", "long")
        tap.equal("RESTORE takes its DUMP", client("RESTORE", "again", 0, payload), "OK")
        tap.equal("COPY", client("COPY", "long", "copy"), 1)
        tap.equal("all alike", [digest(client, key) for key in ("again", "copy")], [before] * 2)
        iterator, parts = 0, []
        while True:
            iterator, data = client("BF.SCANDUMP", "long", iterator)
            if iterator == 0:
                break
            parts.append((iterator, data))
        replies = {client("BF.LOADCHUNK", "chunks", *part) for part in parts}
        tap.ok("BF.SCANDUMP and BF.LOADCHUNK", replies == {"OK"} and
               digest(client, "chunks") == before, replies)
        rewrite(client)
        one.restart()
        tap.equal("a rewritten AOF", digest(one.connect(), "long"), before)
        replica("SAVE")
        two.restart()
        tap.equal("an RDB file", digest(two.connect(), "long"), before)
        client = one.connect()
        tap.ok("no item is lost", items_in(client, "long", items) == 200)
        tap.equal("more layers than the module takes are refused",
                  make_chain(client, "more", 8193, 1, 0.01), Error("ERR received bad data"))
        tap.equal("8,192 are not", make_chain(client, "most", 8192, 1, 0.01), "OK")
        full = client("BF.ADD", "most", "x")
        tap.ok("and then it is full", isinstance(full, Error) and "8192 layers" in full, full)


def main():
    name, program, layers = sys.argv[1:]
    tap = Tap(name)
    check_original(tap, program)
    check_last_layer(tap, program)
    check_long_chain(tap, program, int(layers))


main()
