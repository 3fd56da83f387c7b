"""beside.py NAME PROGRAM - tests that this module (with COMMANDS petal) and RedisBloom work in the
same server: the modules don't interfere, values can be saved and loaded, and filters can be moved
from one module to the other."""

import os
import shutil
import sys

from effects import digest, info, rewrite
from pages import run_blocks
from servers import Error, MODULE, REDISBLOOM, Server, Tap

OWN = ["--loadmodule", MODULE, "COMMANDS", "petal"]
OTHER = ["--loadmodule", REDISBLOOM]
KEYS = [f"https://a.example/{i}" for i in range(5000)]
OTHERS = [f"https://b.example/{i}" for i in range(20000)]


def both(program, *options, own_first=False, **more):
    modules = OWN + OTHER if own_first else OTHER + OWN
    return Server(program, *options, *modules, module=None, **more)


def modules(client):
    return sorted(dict(zip(entry[::2], entry[1::2]))[b"name"].decode()
                  for entry in client("MODULE", "LIST"))


def fill(client):
    """Adds values of all of RedisBloom's types, so that the answers can be compared before and
    after loading this module."""
    client("BF.RESERVE", "crawled", 0.01, 1000)
    client("BF.MADD", "crawled", *KEYS)
    client("CF.RESERVE", "cuckoo", 1000)
    client("TOPK.RESERVE", "top", 3)
    client("CMS.INITBYDIM", "counts", 100, 5)
    client("TDIGEST.CREATE", "times")
    for command, *words in [("CF.ADD", "cuckoo", "x"), ("TOPK.ADD", "top", "x", "y"),
                            ("CMS.INCRBY", "counts", "x", 5), ("TDIGEST.ADD", "times", 1, 2, 3)]:
        reply = client(command, *words)
        assert not isinstance(reply, Error), reply
    client("PETAL.RESERVE", "own", 0.01, 1000)
    client("PETAL.MADD", "own", *KEYS)


def answers(client):
    return [client("BF.MEXISTS", "crawled", *KEYS[:99], *OTHERS[:99]), client("BF.INFO", "crawled"),
            client("CF.EXISTS", "cuckoo", "x"), client("TOPK.QUERY", "top", "x", "z"),
            client("CMS.QUERY", "counts", "x", "z"), client("TDIGEST.MAX", "times"),
            sum(client("PETAL.MEXISTS", "own", *KEYS)), digest(client, "own")]


def check_side_by_side(tap, program):
    for own_first in (False, True):
        order = "before" if own_first else "after"
        with both(program, "--petal.memory-limit", "1gb", own_first=own_first) as server:
            client = server.connect()
            tap.ok(f"loaded {order} RedisBloom", {"bf", "petal"} <= set(modules(client)),
                   modules(client))
            fill(client)
            tap.ok("PETAL.* adds and finds", sum(client("PETAL.MEXISTS", "own", *KEYS)) == len(KEYS))
            tap.equal("its options have their own prefix",
                      client("CONFIG", "GET", "petal.memory-limit"),
                      [b"petal.memory-limit", b"1073741824"])
            tap.equal("INFO petal", info(client, "petal").get("petal_num_objects"), "1")
            reply = client("PETAL.MADD", "crawled", "x")
            tap.equal("a filter of the other module is another type", str(reply)[:9], "WRONGTYPE")
            tap.ok("so is its own to the other", all(
                isinstance(client(*words), Error) for words in [
                    ("BF.ADD", "own", "x"), ("BF.INFO", "own"), ("BF.SCANDUMP", "own", 0)]))
            client("CONFIG", "SET", "petal.memory-limit", 1000)
            refusal = client("PETAL.RESERVE", "big", 0.01, 100000)
            tap.ok("a refusal names the option by its prefix",
                   isinstance(refusal, Error) and "petal.memory-limit" in refusal, refusal)


def check_stored(tap, program):
    with both(program, "--appendonly", "yes", "--aof-use-rdb-preamble", "no") as server:
        client = server.connect()
        fill(client)
        before = answers(client)
        rewrite(client)
        server.restart()
        tap.equal("both come back from a rewritten AOF", answers(server.connect()), before)
    with both(program) as server:
        client = server.connect()
        fill(client)
        before = answers(client)
        client("SAVE")
        server.options += ("--dbfilename", "dump.rdb")
        server.restart()
        client = server.connect()
        tap.equal("both come back from RDB", answers(client), before)
        client("DEL", "cuckoo", "top", "counts", "times")
        client("SAVE")
        server.module, server.options = MODULE, ("--dbfilename", "dump.rdb")
        server.restart()
        client = server.connect()
        tap.equal("without the types that are RedisBloom's alone, BF.* and PETAL.* of this module "
                  "go on", [client("BF.MEXISTS", "crawled", *KEYS[:99], *OTHERS[:99]),
                            client("BF.INFO", "crawled"), digest(client, "own")],
                  [before[0], before[1], before[-1]])


def check_moved(tap, program):
    with Server(program, "--enable-module-command", "yes", module=REDISBLOOM, port=True) as server:
        client = server.connect()
        client("BF.RESERVE", "crawled", 0.01, 1000)
        client("BF.MADD", "crawled", *KEYS)
        client("BF.ADD", "crawled", "https://example.com/")
        client("CF.ADD", "cuckoo", "x")
        found = client("BF.MEXISTS", "crawled", *KEYS, *OTHERS)
        layers = client("BF.INFO", "crawled", "FILTERS")[0]
        page = "docs/redis/from-redisbloom.md"
        tap.equal(f"{page}: its commands run", run_blocks(page, "beside", server.port), "")
        tap.equal("the filter has moved: every answer is the same",
                  client("PETAL.MEXISTS", "crawled", *KEYS, *OTHERS), found)
        client("BF.RESERVE", "like", 0.01, 1000)
        client("BF.MADD", "like", *KEYS, "https://example.com/")
        more = [f"https://c.example/{i}" for i in range(20000)]
        tap.equal("it grows as RedisBloom's does", client("PETAL.MADD", "crawled", *more),
                  client("BF.MADD", "like", *more))
        tap.ok("and has more layers", client("BF.INFO", "like", "FILTERS")[0] > layers)
        tap.equal("the cuckoo filter is still there", client("CF.EXISTS", "cuckoo", "x"), 1)


def check_moved_to_another(tap, program):
    with Server(program, module=REDISBLOOM, port=True) as old, Server(program, port=True) as new:
        client = old.connect()
        client("BF.RESERVE", "crawled", 0.01, 1000)
        client("BF.MADD", "crawled", *KEYS)
        client("CF.ADD", "cuckoo", "x")
        page = "docs/redis/from-redis-8.md"
        tap.equal(f"{page}: its commands run", run_blocks(page, "another server", old.port, new.port), "")
        tap.equal("in the new server BF.* answer the same",
                  new.connect()("BF.MEXISTS", "crawled", *KEYS, *OTHERS),
                  client("BF.MEXISTS", "crawled", *KEYS, *OTHERS))
        tap.equal("and give the same bytes", new.connect()("BF.SCANDUMP", "crawled", 0),
                  client("BF.SCANDUMP", "crawled", 0))


def check_refused(tap, program):
    copy = shutil.copy(MODULE, os.environ["TMPDIR"] + "/copy.so")
    wrong = [(["COMMANDS", "none"], "COMMANDS none: must be all, or petal"),
             (["COMMANDS"], "argument COMMANDS lacks its value"),
             (["COMMANDS", "petal", "--loadmodule", MODULE, "COMMANDS", "petal"],
              "a module named petal is loaded already"),
             (["--loadmodule", MODULE, "COMMANDS", "petal"], "a module named bf is loaded already"),
             (["COMMANDS", "petal", "--loadmodule", copy], "a module named petal is loaded already")]
    for arguments, line in wrong:
        try:
            Server(program, arguments=arguments).close()
            tap.ok(" ".join(map(os.path.basename, arguments)) + ": refused", False)
        except RuntimeError as error:
            tap.ok(" ".join(map(os.path.basename, arguments)) + ": refused, and why is logged",
                   line in str(error), str(error))


def main():
    name, program = sys.argv[1:]
    tap = Tap(name)
    check_side_by_side(tap, program)
    check_stored(tap, program)
    check_moved(tap, program)
    check_moved_to_another(tap, program)
    check_refused(tap, program)


main()
