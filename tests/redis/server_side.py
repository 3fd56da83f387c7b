"""server_side.py NAME SERVER PAYLOADS - tests how the server handles the module's values:
replication, persistence, events, COPY, digests, memory, options and corrupted values."""

import random
import signal
import sys

import rdb
from effects import caught_up, digest, follow, info, mutate, rewrite
from servers import REDISBLOOM, Error, Server, Tap, wait_for

SEED = 14


# ---- replication --------------------------------------------------------------------------------


def option(client, name, value):
    """Sets a RedisBloom option, which requires a prefix before Redis 8."""
    if isinstance(client("CONFIG", "SET", name, value), Error):
        assert client("CONFIG", "SET", "bf." + name, value) == "OK"


def other_defaults(client):
    option(client, "bf-error-rate", "0.2")
    option(client, "bf-initial-size", 7)
    option(client, "bf-expansion-factor", 5)
    client("CONFIG", "SET", "bf.memory-limit", 64)


WRITES = [
    "BF.ADD added x", "BF.MADD madded x y z", "BF.INSERT inserted ITEMS x",
    "BF.INSERT capacity CAPACITY 1000 ITEMS x y", "BF.INSERT once NONSCALING CAPACITY 3 ITEMS a",
    "BF.INSERT flat EXPANSION 0 ITEMS a", "BF.MADD once b c d e", "BF.INSERT over NONSCALING CAPACITY "
    "2 ITEMS a b c d", "BF.RESERVE reserved 0.001 500", "BF.RESERVE fixed 0.001 500 NONSCALING",
    "BF.RESERVE half 0.5 500 EXPANSION 3", "BF.RESERVE none 0.01 100 EXPANSION 0",
    "BF.RESERVE digits 0.012345678901234567 100",
]


def write_all(client):
    for line in WRITES:
        client(*line.split())
    for at in range(0, 3000, 100):
        client("BF.MADD", "grown", *range(at, at + 100))
    return list(dict.fromkeys(line.split()[1] for line in WRITES)) + ["grown"]


def check_replication(tap, program):
    with Server(program, port=True) as one, Server(program, port=True) as two:
        master, replica = one.connect(), two.connect()
        other_defaults(replica)
        tap.ok("a replica follows", follow(replica, one))
        keys = write_all(master)
        caught_up(master, replica)
        tap.equals("a replica with other defaults and a lower limit gets the same filters", [
            (digest(replica, key), digest(master, key), key) for key in keys])
        offset = int(info(master, "replication")["master_repl_offset"])
        for words in (["BF.ADD", "added", "x"], ["BF.MADD", "madded", "x", "y"],
                      ["BF.INSERT", "inserted", "ITEMS", "x"], ["BF.ADD", "once", "new"],
                      ["BF.MADD", "once", "new"], ["BF.RESERVE", "added", "0.1", "10"]) * 20:
            master(*words)
        # The server's own messages (pings, requests for acknowledgement) take only a few bytes.
        sent = int(info(master, "replication")["master_repl_offset"]) - offset
        tap.ok("what changes nothing is not sent", sent < 500, sent)
        with Server(program, port=True) as three:
            fresh = three.connect()
            other_defaults(fresh)
            follow(fresh, one)
            caught_up(master, fresh)
            tap.equals("full synchronisation brings the same filters", [
                (digest(fresh, key), digest(master, key), key) for key in keys])
        two.process.send_signal(signal.SIGSTOP)
        master("CLIENT", "KILL", "TYPE", "replica")
        master("BF.MADD", "grown", *range(5000, 6000))
        two.process.send_signal(signal.SIGCONT)
        wait_for(lambda: int(info(master, "stats")["sync_partial_ok"]) > 0)
        caught_up(master, replica)
        tap.equal("partial synchronisation, too", digest(replica, "grown"), digest(master, "grown"))


def check_mixed_pair(tap, program):
    if not REDISBLOOM:
        return
    with Server(program, port=True) as one, \
            Server(program, port=True, module=REDISBLOOM) as two:
        master, replica = one.connect(), two.connect()
        follow(replica, one)
        keys = [key for key in write_all(master) if key not in ("flat", "none")]
        caught_up(master, replica)
        tap.equals("RedisBloom as our replica gets the same filters", [
            (replica("DUMP", key), master("DUMP", key), key) for key in keys])
    with Server(program, port=True) as two, \
            Server(program, port=True, module=REDISBLOOM) as one:
        master, replica = one.connect(), two.connect()
        follow(replica, one)
        keys = [key for key in write_all(master) if key not in ("flat", "none", "half")]
        caught_up(master, replica)
        tap.equals("as RedisBloom's replica we get the same filters", [
            (replica("DUMP", key), master("DUMP", key), key) for key in keys])


# ---- persistence --------------------------------------------------------------------------------


def check_persistence(tap, program):
    with Server(program) as server:
        client = server.connect()
        keys = write_all(client)
        before = [digest(client, key) for key in keys]
        tap.equal("DEBUG RELOAD", (client("DEBUG", "RELOAD"), [digest(client, k) for k in keys]),
                  ("OK", before))
        client("SAVE")
        server.restart()
        client = server.connect()
        tap.equal("save and restart", [digest(client, key) for key in keys], before)
    aof = ["--appendonly", "yes", "--appendfsync", "always"]
    for preamble in ("yes", "no"):
        with Server(program, *aof, "--aof-use-rdb-preamble", preamble) as server:
            client = server.connect()
            keys = write_all(client)
            before = [digest(client, key) for key in keys]
            rewrite(client)
            client("BF.ADD", "later", "x")
            server.stop(signal.SIGKILL)
            server.start()
            client = server.connect()
            tap.equal(f"AOF rewritten (RDB preamble: {preamble}), then kill -9",
                      ([digest(client, key) for key in keys], client("BF.EXISTS", "later", "x")),
                      (before, 1))


# ---- what RedisBloom doesn't have ----------------------------------------------------------------


def check_extras(tap, program):
    with Server(program) as server:
        client, listener = server.connect(), server.connect()
        client("CONFIG", "SET", "notify-keyspace-events", "KEg")
        listener.subscribe("__keyevent@0__:*")
        for words in (["BF.RESERVE", "k", "0.01", "10"], ["BF.ADD", "k", "a"], ["BF.ADD", "k", "a"],
                      ["BF.MADD", "k", "a", "b"], ["BF.ADD", "n", "x"]):
            client(*words)
        events = [listener.receive()[2:] for _ in range(5)]
        names = [b"bloom.reserve", b"bloom.add", b"bloom.add", b"bloom.reserve", b"bloom.add"]
        tap.equal("events", events, [[b"__keyevent@0__:" + name, key] for name, key in
                                     zip(names, [b"k", b"k", b"k", b"n", b"n"])])
        keys = write_all(client)
        copied = [client("COPY", key, key + "+") for key in keys]
        tap.equal("COPY, and equal digests", (copied, [digest(client, key + "+") for key in keys]),
                  ([1] * len(keys), [digest(client, key) for key in keys]))
        client("BF.ADD", "grown+", "another")
        tap.ok("a copy is its own", digest(client, "grown+") != digest(client, "grown"))
        watcher = server.connect()
        watcher("WATCH", "added")
        client("BF.ADD", "added", "x")
        watcher("MULTI")
        watcher("PING")
        unchanged = watcher("EXEC")
        watcher("WATCH", "added")
        client("BF.ADD", "added", "more")
        watcher("MULTI")
        watcher("PING")
        tap.equal("WATCH sees changes only", (unchanged, watcher("EXEC")), (["PONG"], None))
        client("FLUSHALL")
        client("BF.RESERVE", "big", "0.01", 1000000)
        size = client("BF.INFO", "big", "SIZE")[0]  # SIZE includes 96 bytes besides the bits
        # FLUSHALL in Valkey frees memory in the background.
        tap.ok("INFO bf", wait_for(lambda: info(client, "bf")["bf_num_objects"] == "1") and
               size - 96 < int(info(client, "bf")["bf_total_memory_bytes"]) < size + (64 << 10),
               info(client, "bf"))
        client("UNLINK", "big")
        tap.ok("UNLINK frees in the background",
               wait_for(lambda: info(client, "bf")["bf_num_objects"] == "0") and
               int(info(client, "memory")["lazyfreed_objects"]) > 0)


def check_options(tap, program):
    with Server(program, "--bf.memory-limit", "1mb", arguments=["ERROR_RATE", "0.02", "INITIAL_SIZE",
                                                               "50"]) as server:
        client = server.connect()
        client("BF.ADD", "k", "x")
        tap.equal("arguments of the module", client("BF.DEBUG", "k")[1],
                  b"bytes:64 bits:512 hashes:7 hashwidth:64 capacity:50 size:1 ratio:0.01")
        used = int(info(client, "memory")["used_memory"])
        over = client("BF.RESERVE", "big", "0.01", 1000000)
        tap.ok("a filter above bf.memory-limit is refused, and takes nothing",
               isinstance(over, Error) and over.startswith("ERR petal: the filter takes 13") and
               client("EXISTS", "big") == 0 and
               int(info(client, "memory")["used_memory"]) < used + 100000, over)
        client("BF.RESERVE", "grows", "0.01", 100000)
        added, failed = 0, None
        for at in range(0, 1000000, 1000):
            replies = client("BF.MADD", "grows", *range(at, at + 1000))
            added += sum(reply for reply in replies if not isinstance(reply, Error))
            if isinstance(replies[-1], Error):
                failed = replies
                break
        tap.ok("growing above it is refused, and what was added stays",
               failed is not None and failed[-1].startswith("ERR petal: the filter is full") and
               client("BF.CARD", "grows") == added == 300000, failed and failed[-1], added)
        client("CONFIG", "SET", "bf.memory-limit", 0)
        tap.equal("without a limit it goes on", client("BF.ADD", "grows", "more"), 1)
        client("CONFIG", "SET", "bf.max-capacity", 2**40)
        client("CONFIG", "SET", "bf.memory-limit", "1mb")
        many = client("BF.RESERVE", "many", "0.01", 2**40)
        tap.ok("2^40 keys, if they are allowed", isinstance(many, Error) and "memory-limit" in many,
               many)
        client("CONFIG", "SET", "bf.compat", "valkey")
        client("CONFIG", "SET", "bf.bloom-use-random-seed", "no")
        client("SET", "s", "x")
        client("BF.RESERVE", "full", "0.01", 3, "NONSCALING")
        client("BF.ADD", "full", "a")
        tap.equal("bf.compat valkey", [
            client("BF.INFO", "k", "ITEMS"), client("BF.EXISTS", "s", "x"),
            client("BF.MADD", "full", "a", "b", "c", "d"), client("BF.CARD", "full"),
            client("BF.MADD", "full", "a", "b", "c"), client("BF.INFO", "k", "x")],
            [1, Error("WRONGTYPE Operation against a key holding the wrong kind of value"),
             Error("ERR non scaling filter is full"), 1, [0, 1, 1],
             Error("ERR invalid information value")])
        client("CONFIG", "SET", "bf.compat", "redisbloom")
        option(client, "bf-expansion-factor", 0)
        client("BF.ADD", "plain", "x")
        tap.equal("bf-expansion-factor 0", client("BF.INFO", "plain", "EXPANSION"), [None])
        bad = client("CONFIG", "SET", "bf-error-rate", "1")
        bad = bad if "Unknown" not in bad else client("CONFIG", "SET", "bf.bf-error-rate", "1")
        tap.ok("a rate of 1 is refused", isinstance(bad, Error) and "below 1" in bad, bad)


def check_loading(tap, program):
    def refused(*options, module=None, arguments=()):
        try:
            with Server(program, *options, module=module or sys_module, arguments=arguments):
                return "it was loaded"
        except RuntimeError as error:
            return str(error)

    from servers import MODULE as sys_module

    text = refused("--loadmodule", sys_module)
    tap.ok("loaded twice: one clear line", text.count("a module named bf is loaded already") == 1 or
           "already loaded" in text, text)
    if REDISBLOOM:
        text = refused("--loadmodule", REDISBLOOM)
        tap.ok("beside RedisBloom: one clear line",
               text.count("a module named bf is loaded already") == 1, text)
    tap.ok("an unknown argument is refused",
           "unknown argument SIZE" in refused(arguments=["SIZE", "1"]))


# ---- corrupt values -----------------------------------------------------------------------------


def is_usable(client, key):
    """Returns True if the value answers queries, accepts keys, and can be saved and loaded."""
    for words in (["BF.MEXISTS", key, "a", "b"], ["BF.MADD", key, "a", "b", "c"], ["BF.INFO", key],
                  ["BF.DEBUG", key], ["BF.SCANDUMP", key, 0], ["BF.SCANDUMP", key, 1]):
        client(*words)
    dump = client("DUMP", key)
    return client("RESTORE", key, 0, dump, "REPLACE") == "OK" and client("DUMP", key) == dump


def check_corrupt(tap, program, count):
    with Server(program, "--loglevel", "warning") as server:
        client, rng = server.connect(), random.Random(SEED)
        client("CONFIG", "SET", "bf.memory-limit", 2**24)
        client("CONFIG", "SET", "sanitize-dump-payload", "no")
        client("BF.MADD", "one", "a", "b")
        client("BF.RESERVE", "three", "0.1", 2)
        client("BF.MADD", "three", *range(9))
        payloads = [rdb.open_payload(client("DUMP", key)) for key in ("one", "three")]
        headers = [client("BF.SCANDUMP", key, 0)[1] for key in ("one", "three")]
        taken = unusable = 0
        for number in range(count):
            if number % 2:
                value, version = rng.choice(payloads)
                reply = client("RESTORE", "k", 0, rdb.seal(mutate(rng, value), version))
            else:
                reply = client("BF.LOADCHUNK", "k", 1, mutate(rng, rng.choice(headers)))
                client("BF.LOADCHUNK", "k", rng.randrange(300), rng.randbytes(rng.randrange(99)))
            if reply == "OK" and client("TYPE", "k") == "MBbloom--":
                taken += 1
                unusable += not is_usable(client, "k")
            client("DEL", "k")
        tap.ok(f"{count} corrupt values with valid checksums: {taken} taken, all usable "
               f"(seed {SEED})", taken > 0 and unusable == 0 and client("PING") == "PONG", unusable)


def main():
    name, program, count = sys.argv[1:]
    tap = Tap(name)
    check_replication(tap, program)
    check_mixed_pair(tap, program)
    check_persistence(tap, program)
    check_extras(tap, program)
    check_options(tap, program)
    check_loading(tap, program)
    check_corrupt(tap, program, int(count))


main()
