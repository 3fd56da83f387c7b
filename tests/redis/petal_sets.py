"""petal_sets.py NAME SERVER COMMANDS - tests the promises of PETAL.* commands about sets: growing
and full filters, windows that forget keys when they are queried, merging, BF.EXISTS, counts and
command categories. Also runs random commands on filters with different parameters, and compares the
filters with Python sets."""

import contextlib
import random
import struct
import sys

from effects import caught_up, digest, follow, info
from servers import Error, Server, Tap, wait_for

HOUR = 3600000
WRONG_TYPE = Error("WRONGTYPE Operation against a key holding the wrong kind of value")


def pack(items):
    data = [str(item).encode() for item in items]
    return b"".join([struct.pack(f"<I{len(data)}I", len(data), *map(len, data)), *data])


def bits(answer, count):
    return [answer[i // 8] >> i % 8 & 1 for i in range(count)]


def about(client, key):
    reply = client("PETAL.INFO", key)
    return dict(zip(reply[::2], reply[1::2]))


def is_error(reply, *words):
    return isinstance(reply, Error) and all(word in reply for word in words)


# ---- growing, and full filters -------------------------------------------------------------------


def check_growing(tap, client):
    client("PETAL.RESERVE", "grows", "0.01", 100)
    client("PETAL.MADD", "grows", *range(2000))
    false = sum(client("PETAL.MEXISTS", "grows", *(f"x{i}" for i in range(2000))))
    seen = about(client, "grows")
    tap.ok("a filter grows by default: 20 times its capacity keeps the rate", false < 60 and
           seen["layers"] > 1 and seen["policy"] == "growing" and seen["overfull"] == 0, false, seen)
    client("PETAL.RESERVE", "grows by 4", "0.01", 100, "EXPANSION", 4)
    client("PETAL.MADD", "grows by 4", *range(150))
    tap.equal("EXPANSION says by how much", about(client, "grows by 4")["capacity"] > 400, True)
    tap.equals("what does not grow", [
        (client("PETAL.RESERVE", "0", "0.01", 100, "EXPANSION", 0), "OK"),
        (about(client, "0")["policy"], "none"),
        (is_error(client("PETAL.RESERVE", "e", "0.01", 100, "EXPANSION", 2, "NONSCALING"),
                  "ERR petal: EXPANSION"), True),
        (is_error(client("PETAL.RESERVE", "e", "0.01", 100, "EXPANSION", 2, "WINDOW"),
                  "ERR petal: EXPANSION"), True),
        (is_error(client("PETAL.RESERVE", "e", "0.01", 100, "EXPANSION", 1), "ERR petal:"), True),
        (is_error(client("PETAL.RESERVE", "e", "0.01", 100, "WINDOW", "WINDOW"), "WINDOW"), True),
        (is_error(client("PETAL.RESERVE", "e", "0.01", 100, "GROW"), "GROW", "NONSCALING"), True),
        (client("EXISTS", "e"), 0),
    ])


def check_full(tap, client):
    full = "ERR petal: full: it does not grow, and was made for 10 items"
    for scheme in ("BLOCKED", "CLASSIC"):
        client("DEL", "f", "p")
        client("PETAL.RESERVE", "f", "0.001", 10, "NONSCALING", "SCHEME", scheme)
        client("PETAL.RESERVE", "p", "0.001", 10, "NONSCALING", "SCHEME", scheme)
        tap.equals(f"NONSCALING {scheme}: as many new items as it was made for, as in BF.*", [
            (client("PETAL.MADD", "f", *"aabbccdd"), [1, 0] * 4),
            (client("PETAL.MADD", "f", *"aefghi"), [0, 1, 1, 1, 1, 1]),
            (client("PETAL.CARD", "f"), 9),
            (client("PETAL.MADD", "f", *"ajjjakb"), [0, 1, 0, 0, 0, Error(full)]),
            (client("PETAL.ADD", "f", "k"), Error(full)),
            (client("PETAL.ADD", "f", "a"), 0),
            (client("PETAL.MADD", "f", *"abcdefghij"), [0] * 10),
            (client("PETAL.CARD", "f"), 10),
            (about(client, "f")["items"], 10),
            (about(client, "f")["overfull"], 0),
            (client("PETAL.MADDB", "p", pack("aabbccddeffghij")),
             bytes_of([1, 0, 1, 0, 1, 0, 1, 0, 1, 1, 0, 1, 1, 1, 1])),
            (client("PETAL.MADDB", "p", pack("aakb")),
             Error(full + " (the first 2 of 4 items are in)")),
            (digest(client, "p"), digest(client, "f")),
        ])
    client("PETAL.RESERVE", "c", "0.01", 100, "SCHEME", "COUNTING")
    few = about(client, "c")["overfull"]
    client("PETAL.MADD", "c", *(["again"] * 1000))
    often = about(client, "c")["overfull"]
    client("PETAL.MADD", "c", *range(300))
    tap.equal("INFO says that a counting filter is overfull: of distinct items, and of nothing else",
              (few, often, about(client, "c")["overfull"], client("PETAL.CARD", "c")),
              (0, 0, 1, 1300))
    client("PETAL.RESERVE", "w", "0.01", 10, "WINDOWMS", HOUR)
    few = about(client, "w")["overfull"]
    client("PETAL.MADD", "w", *range(100))
    tap.equal("and a window of time", (few, about(client, "w")["overfull"]), (0, 1))


def bytes_of(answers):
    packed = bytearray((len(answers) + 7) // 8)
    for i, answer in enumerate(answers):
        packed[i // 8] |= answer << i % 8
    return bytes(packed)


# ---- windows of time ----------------------------------------------------------------------------


def check_forgetting(tap, program):
    with Server(program, port=True) as one, Server(program, port=True) as two:
        master, replica = one.connect(), two.connect()
        follow(replica, one)
        master("PETAL.RESERVE", "w", "0.001", 1000, "WINDOWMS", 50, "GENERATIONS", 3)
        master("PETAL.RESERVE", "hour", "0.001", 1000, "WINDOWMS", HOUR)
        for key in ("w", "hour"):
            master("PETAL.MADD", key, "a", "b", "c")
        caught_up(master, replica)
        before = [digest(client, "w") for client in (master, replica)]
        clock = about(master, "w")["clock_ms"]
        queries = [("PETAL.EXISTS", "w", "a"), ("BF.EXISTS", "w", "b"),
                   ("PETAL.MEXISTS", "w", "a", "c"), ("BF.MEXISTS", "w", "a", "c"),
                   ("PETAL.MEXISTSB", "w", pack("abc")), ("PETAL.CARD", "w")]
        nothing = [0, 0, [0, 0], [0, 0], b"\0", 0]
        for name, client in (("a master", master), ("its replica", replica)):
            gone = wait_for(lambda: [client(*words) for words in queries] == nothing)
            tap.ok(f"{name}: queries leave out what is over, without a write", gone,
                   [client(*words) for words in queries])
        after = [digest(client, "w") for client in (master, replica)]
        tap.equal("no value has changed by that", (before[0] == before[1], after,
                                                   about(replica, "w")["clock_ms"]),
                  (True, before, clock))
        tap.equal("a window that is not over", replica("PETAL.MEXISTS", "hour", "a", "b", "x"),
                  [1, 1, 0])
        again = master("PETAL.ADD", "w", "a")
        caught_up(master, replica)
        tap.equal("what is added again is new, and the same on the replica",
                  (again, digest(replica, "w")), (1, digest(master, "w")))
    with Server(program, "--appendonly", "yes") as server:
        client = server.connect()
        client("PETAL.RESERVE", "w", "0.001", 1000, "WINDOWMS", 50)
        client("PETAL.MADD", "w", "a", "b")
        wait_for(lambda: client("PETAL.EXISTS", "w", "a") == 0)
        before = digest(client, "w")
        server.restart()
        client = server.connect()
        tap.equal("through the AOF", (client("PETAL.MEXISTS", "w", "a", "b"), digest(client, "w")),
                  ([0, 0], before))


def check_advance(tap, program):
    with Server(program, port=True) as one, Server(program, port=True) as two:
        client, replica = one.connect(), two.connect()
        follow(replica, one)
        client("PETAL.RESERVE", "h", "0.01", 100, "WINDOWMS", HOUR)
        client("PETAL.ADD", "h", "a")
        now = client("PETAL.ADVANCE", "h")
        far = [client("PETAL.ADVANCE", "h", time) for time in
               (now + 2 * HOUR, 9000000000000, 2**63 - 1)]
        tap.ok("a clock further ahead than a window is refused, and nothing changes", all(
            is_error(reply, "ERR petal:", "ahead of the server's clock") for reply in far) and
            about(client, "h")["clock_ms"] == now and client("PETAL.EXISTS", "h", "a") == 1, far)
        ahead = client("PETAL.ADVANCE", "h", now + HOUR // 2)
        tap.equals("up to a window is taken, and an earlier time changes nothing", [
            (ahead, now + HOUR // 2),
            (client("PETAL.ADVANCE", "h", 5), now + HOUR // 2),
            (client("PETAL.EXISTS", "h", "a"), 1),
            (is_error(client("PETAL.ADVANCE", "h", "x"), "milliseconds"), True),
            (is_error(client("PETAL.ADVANCE", "h", -1), "milliseconds"), True),
        ])
        caught_up(client, replica)
        tap.equal("the replica has the same clock", about(replica, "h")["clock_ms"], ahead)


# ---- merging, and filters of the other kind -----------------------------------------------------


def check_merging(tap, client):
    for kind, reserve, add, exists, words in (
            ("BF NONSCALING", "BF.RESERVE", "BF.MADD", "BF.MEXISTS", ["NONSCALING"]),
            ("NONSCALING", "PETAL.RESERVE", "PETAL.MADD", "PETAL.MEXISTS", ["NONSCALING"]),
            ("COUNTING", "PETAL.RESERVE", "PETAL.MADD", "PETAL.MEXISTS", ["SCHEME", "COUNTING"])):
        client("DEL", "m1", "m2", "m3", "union", "all", "grown", "other")
        for at, key in enumerate(("m1", "m2", "m3", "all")):
            client(reserve, key, "0.01", 1000, *words)
            client(add, key, *range(0 if key == "all" else 100 * at, 300 if key == "all" else
                                    100 * at + 100))
        client(reserve, "other", "0.02", 1000, *words)
        before = digest(client, "m1")
        refused = client("PETAL.MERGE", "m1", "m2", "other")
        tap.equals(f"{kind}: equal filters merge, and into an empty key", [
            (is_error(refused, "ERR petal:"), True), (digest(client, "m1"), before),
            (client("PETAL.MERGE", "union", "m1", "m2", "m3"), "OK"),
            (client("TYPE", "union"), client("TYPE", "m1")),
            (digest(client, "union"), digest(client, "all")),
            (client("PETAL.MERGE", "m1", "m2", "m3"), "OK"),
            (client(exists, "m1", *range(300)), [1] * 300),
            (digest(client, "m1"), digest(client, "all")),
            (client("PETAL.CARD", "m1"), 300),
            (client("PETAL.MERGE", "empty", "none"), Error("ERR not found")),
            (client("EXISTS", "empty"), 0),
            (client("RESTORE", "again", 0, client("DUMP", "m1"), "REPLACE"), "OK"),
            (digest(client, "again"), digest(client, "m1")),
        ])
    client("DEL", "m1", "m2", "m3")
    for key, items in (("m1", "abcdefg"), ("m2", "ghijklm")):
        client("BF.RESERVE", key, "0.01", 7, "NONSCALING")
        client("BF.MADD", key, *items)
    tap.equals("BF.* filters that are full: the union is full, survives RESTORE, and misses nothing", [
        (client("PETAL.MERGE", "m1", "m2"), "OK"),
        (client("BF.MEXISTS", "m1", *"abcdefghijklm"), [1] * 13),
        (client("BF.ADD", "m1", "new item"), Error("ERR non scaling filter is full")),
        (client("RESTORE", "m3", 0, client("DUMP", "m1")), "OK"),
        (digest(client, "m3"), digest(client, "m1")),
        (about(client, "m1")["overfull"] in (0, 1), True),
    ])
    client("PETAL.RESERVE", "grown", "0.01", 10)
    client("PETAL.MADD", "grown", *range(100))
    tap.ok("filters that grow do not merge, and the error says so",
           is_error(client("PETAL.MERGE", "grown", "grown"), "ERR petal:", "grow"))
    client("SET", "text", "x")
    tap.equals("keys of another type", [(client("PETAL.MERGE", "text", "m1"), WRONG_TYPE),
                                        (client("PETAL.MERGE", "m1", "text"), WRONG_TYPE),
                                        (client("PETAL.CARD", "text"), WRONG_TYPE),
                                        (client("PETAL.CARD", "none"), 0)])


def check_other_kind(tap, client):
    kinds = {"b": [], "c": ["SCHEME", "CLASSIC"], "n": ["NONSCALING"], "k": ["SCHEME", "COUNTING"],
             "w": ["WINDOW"], "t": ["WINDOWMS", HOUR]}
    answers = []
    for compat in ("redisbloom", "valkey"):
        client("CONFIG", "SET", "bf.compat", compat)
        for key, words in kinds.items():
            client("DEL", key)
            client("PETAL.RESERVE", key, "0.0001", 100, *words)
            client("PETAL.MADD", key, "a", "b")
            answers += [(client("BF.EXISTS", key, "a"), 1), (client("BF.EXISTS", key, "x"), 0),
                        (client("BF.MEXISTS", key, "a", "x", "b"), [1, 0, 1])]
    client("CONFIG", "SET", "bf.compat", "redisbloom")
    tap.equals("BF.EXISTS and BF.MEXISTS answer for filters of PETAL.*", answers)
    tap.equal("other commands of BF.* refuse them", [client("BF.ADD", "b", "a"),
                                                     client("BF.CARD", "b")], [WRONG_TYPE] * 2)


def check_huge_batch(tap, server, client):
    """Tests that the memory for a batch of a million items is freed, both in the module and in the
    connection."""
    def used():
        return int(info(client, "memory")["used_memory"])

    client("PETAL.RESERVE", "huge", "0.01", 1000, "NONSCALING")
    client("PETAL.MADDB", "huge", pack(range(10)))
    before = used()
    with contextlib.closing(server.connect()) as other:
        refused = other("PETAL.MADDB", "huge", pack(range(1000000)))
        most = used()
    client("PETAL.MADDB", "huge", pack(range(10)))
    given_back = wait_for(lambda: used() < before + 2**21)
    tap.ok("a batch of a million items leaves no memory behind", "full" in refused and
           most > before + 2**24 and given_back, before, most, used())


def check_categories(tap, client):
    categories = client("ACL", "CAT")
    if b"bloom" not in categories:
        return  # Redis 7.0 doesn't support command categories for modules
    names = {name.decode().lower() for name in client("COMMAND", "LIST", "FILTERBY", "MODULE", "bf")}
    own = {name.decode() for name in client("ACL", "CAT", "petal")} if b"petal" in categories else {}
    tap.equal("PETAL.* have a category of their own", own,
              {name for name in names if name.startswith("petal.")})
    client("ACL", "SETUSER", "u", "on", ">p", "~*", "-@all", "+@petal")
    tap.equals("+@petal", [
        (client("ACL", "DRYRUN", "u", "petal.add", "k", "a"), "OK"),
        (client("ACL", "DRYRUN", "u", "bf.add", "k", "a") == "OK", False)])


# ---- random commands ----------------------------------------------------------------------------


class Model:
    """A filter and the items that must be in it (a multiset if the filter is a counting filter)."""

    def __init__(self, rng, key):
        self.key, self.rng = key, rng
        self.rate = round(rng.uniform(0.0005, 0.05), 5)
        self.capacity = rng.randrange(1, 400)
        self.kind = rng.choice(["grows", "grows", "fixed", "fixed", "counting", "bf", "bf fixed"])
        self.items, self.given = {}, 0
        words = {"grows": ["SCHEME", rng.choice(["BLOCKED", "CLASSIC"]), "SEED",
                           rng.randrange(1 << 40)] +
                 (["EXPANSION", rng.randrange(2, 9)] if rng.random() < 0.5 else []),
                 "fixed": ["NONSCALING", "SCHEME", rng.choice(["BLOCKED", "CLASSIC"])],
                 "counting": ["SCHEME", "COUNTING"], "bf": ["EXPANSION", rng.randrange(1, 5)],
                 "bf fixed": ["NONSCALING"]}[self.kind]
        reserve = "BF.RESERVE" if self.kind.startswith("bf") else "PETAL.RESERVE"
        self.words = [reserve, key, self.rate, self.capacity, *words]

    def some(self):
        known = list(self.items)
        return [self.rng.choice(known) if known and self.rng.random() < 0.3 else
                f"{self.key}:{self.rng.randrange(10**6)}"
                for _ in range(self.rng.choice([1, 1, 2, 5, 30, 100]))]

    def take(self, item, is_new):
        if self.kind == "counting" or is_new or item in self.items:
            self.items[item] = self.items.get(item, 0) + 1

    def add(self, client):
        items, way = self.some(), self.rng.choice(["ADD", "MADD", "MADD", "MADDB"])
        if self.kind == "bf" and self.rng.random() < 0.5:
            way = "BF"
        if way == "ADD":
            items = items[:1]
            reply = client("PETAL.ADD", self.key, items[0])
            reply = reply if isinstance(reply, Error) else [reply]
        elif way == "MADDB":
            reply = client("PETAL.MADDB", self.key, pack(items))
            if not isinstance(reply, Error):
                reply = bits(reply, len(items))
            elif "(the first " in reply:
                done = int(reply.split("(the first ")[1].split()[0])
                for item in items[:done]:
                    if all(client("PETAL.MEXISTS", self.key, item)):
                        self.take(item, True)
                    else:
                        return f"missing after {reply}"
                return self.check_full(reply)
        else:
            reply = client("BF.MADD" if way == "BF" else "PETAL.MADD", self.key, *items)
        if isinstance(reply, Error):
            return self.check_full(reply)
        if isinstance(reply[-1], Error):
            refused, reply = reply[-1], reply[:-1]
            wrong = self.check_full(refused)
            if wrong:
                return wrong
        for item, is_new in zip(items, reply):
            if is_new and item in self.items:
                return f"new, though it was in: {item}"
            self.take(item, is_new)
        return None

    def check_full(self, reply):
        if "full" not in reply or "fixed" not in self.kind:
            return f"refused: {reply}"
        return None

    def check(self, client):
        known = list(self.items)
        wrong = [item for at in range(0, len(known), 500) for item, there in
                 zip(known[at:at + 500], client("BF.MEXISTS", self.key, *known[at:at + 500]))
                 if not there]
        count = client("PETAL.CARD", self.key)
        if self.kind == "fixed" and count > self.capacity:
            wrong.append(f"{count} items in {self.words}")
        if self.kind == "counting" and count != sum(self.items.values()):
            wrong.append(f"{count} items counted in {self.words}")
        return wrong

    def remove(self, client):
        known = list(self.items)
        items = [self.rng.choice(known) for _ in range(3)] if known else []
        for item in items if self.kind == "counting" else []:
            if self.items.get(item):
                if client("PETAL.REMOVE", self.key, item) != [1]:
                    return f"not removed: {item}"
                self.items[item] -= 1
                if not self.items[item]:
                    del self.items[item]
        return None


def check_random(tap, program, count):
    rng, wrong = random.Random(24), []
    with Server(program, "--appendonly", "yes", port=True) as one, \
            Server(program, port=True) as two:
        client, replica = one.connect(), two.connect()
        follow(replica, one)
        models = []
        for at in range(40):
            models.append(Model(rng, f"f{at}"))
            assert client(*models[-1].words) == "OK", models[-1].words
        for _ in range(count):
            model = rng.choice(models)
            wrong.append(model.remove(client) if rng.random() < 0.15 else model.add(client))
        wrong = [line for line in wrong if line]
        wrong += [line for model in models for line in model.check(client)]
        tap.ok(f"{count} random commands on 40 filters of distinct parameters: none is wrong "
               "(seed 24)", not wrong, wrong[:5])
        caught_up(client, replica)
        keys = [model.key for model in models]
        there = [digest(client, key) for key in keys]
        tap.equal("the replica has the same", [digest(replica, key) for key in keys], there)
        copies = [client("COPY", key, key + " copy") for key in keys]
        tap.equal("copies are the same", [digest(client, key + " copy") for key in keys], there)
        assert all(copies)
        one.restart()
        client = one.connect()
        tap.equal("and the AOF", [digest(client, key) for key in keys], there)


def main():
    name, program, count = sys.argv[1:]
    tap = Tap(name)
    with Server(program) as server:
        client = server.connect()
        check_growing(tap, client)
        check_full(tap, client)
        check_merging(tap, client)
        check_other_kind(tap, client)
        check_huge_batch(tap, server, client)
        check_categories(tap, client)
    check_forgetting(tap, program)
    check_advance(tap, program)
    check_random(tap, program, int(count))


main()
