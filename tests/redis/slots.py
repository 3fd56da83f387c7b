"""slots.py NAME PROGRAM - tests that CLUSTER MIGRATESLOTS moves slots with filters of every kind
from one master to another and back while a client writes. The slots are also moved to a server
whose bf.memory-limit is lower than the filters need, since a server must accept every filter that
another server accepted."""

import contextlib
import os
import sys
import threading
import time

from effects import digest
from servers import Error, Server, Tap, wait_for

FILTERS = {  # maps names to creating commands; each filter has its own slot
    "layers": ["BF.RESERVE", "layers", 0.01, 300, "EXPANSION", 1],
    "wide": ["BF.RESERVE", "wide", 0.01, 30_000_000],  # moved in three pieces of up to 16 MiB
    "fixed": ["BF.RESERVE", "fixed", 0.001, 200_000, "NONSCALING"],
    "growing": ["PETAL.RESERVE", "growing", 0.01, 500],
    "counting": ["PETAL.RESERVE", "counting", 0.01, 200_000, "SCHEME", "COUNTING"],
    "classic": ["PETAL.RESERVE", "classic", 0.01, 200_000, "SCHEME", "CLASSIC", "SEED", 7],
    "keyed": ["PETAL.RESERVE", "keyed", 0.01, 200_000, "KEYED"],
    "of-keys": ["PETAL.RESERVE", "of-keys", 0.01, 200_000, "WINDOW", "GENERATIONS", 6],
    "of-time": ["PETAL.RESERVE", "of-time", 0.01, 200_000, "WINDOWMS", 3_600_000],
}
ENOUGH = 500  # keys added per filter before, during and after each move


def family(name):
    return FILTERS[name][0].split(".")[0]


class Masters:
    """Two servers, and a client that sends each command to the server that stores its key."""

    def __init__(self, servers):
        self.servers = servers
        self.clients = {server.port: server.connect() for server in servers}
        self.last = servers[0].port

    def __call__(self, *words):
        for _ in range(10000):
            reply = self.clients[self.last](*words)
            if isinstance(reply, Error) and reply.startswith("MOVED"):
                self.last = int(reply.rsplit(":", 1)[1])
            elif not (isinstance(reply, Error) and reply.startswith(("TRYAGAIN", "CLUSTERDOWN"))):
                return reply
        raise RuntimeError(reply)


class Writer(threading.Thread):
    """A thread that adds keys to all filters until it is stopped, and remembers the acknowledged
    keys."""

    def __init__(self, servers):
        super().__init__()
        self.client, self.added, self.failed = Masters(servers), {name: [] for name in FILTERS}, []
        self.rounds, self.ends = 0, False

    def run(self):
        while not self.ends and not self.failed:
            for name, added in self.added.items():
                items = [f"{name} {len(added) + i}" for i in range(10)]
                reply = self.client(f"{family(name)}.MADD", name, *items)
                if isinstance(reply, Error) or any(isinstance(one, Error) for one in reply):
                    self.failed.append((name, reply))
                else:
                    added += items
            self.rounds += 1
            time.sleep(0.01)  # limits the number of layers to a few instead of hundreds

    def goes_on(self):
        goal = self.rounds + ENOUGH // 10
        return wait_for(lambda: self.rounds >= goal or self.failed) and not self.failed


def missing(client, added):
    return {name: found.count(0) for name, items in added.items()
            if (found := client(f"{family(name)}.MEXISTS", name, *items)).count(0)}


def form(servers):
    """Sets up a cluster in which the first server has all the slots."""
    first, second = (server.connect() for server in servers)
    assert first("CLUSTER", "ADDSLOTSRANGE", 0, 16383) == "OK"
    assert first("CLUSTER", "SET-CONFIG-EPOCH", 1) == "OK"
    assert first("CLUSTER", "MEET", "127.0.0.1", servers[1].port) == "OK"
    assert wait_for(lambda: all(b"cluster_state:ok" in one("CLUSTER", "INFO") and
                                b"cluster_known_nodes:2" in one("CLUSTER", "INFO")
                                for one in (first, second)))


def moves(client):
    """Returns a dictionary of all slot migrations known to this server, with their states and
    messages."""
    jobs = [dict(zip(job[::2], job[1::2])) for job in client("CLUSTER", "GETSLOTMIGRATIONS")]
    return {job[b"name"]: (job[b"state"], job[b"message"]) for job in jobs}


def move(source, target, slots):
    """Moves the slots and returns the final state of the migration, or the error."""
    ranges, known = [word for slot in slots for word in (slot, slot)], moves(source)
    reply = source("CLUSTER", "MIGRATESLOTS", "SLOTSRANGE", *ranges, "NODE",
                   target("CLUSTER", "MYID"))
    if isinstance(reply, Error):
        return reply

    def state():
        return next(state for name, state in moves(source).items() if name not in known)

    wait_for(lambda: state()[0] in (b"success", b"failed", b"cancelled"))
    return state()


def check(tap, servers):
    form(servers)
    clients = [server.connect() for server in servers]
    client = Masters(servers)
    for name, words in FILTERS.items():
        reply = client(*words)
        assert reply == "OK", (name, reply)
    slots = sorted({clients[0]("CLUSTER", "KEYSLOT", name) for name in FILTERS})
    tap.equal("each filter has a slot of its own", len(slots), len(FILTERS))
    writer = Writer(servers)
    writer.start()
    try:
        tap.ok("a client writes", writer.goes_on(), writer.failed)
        for number, (source, target) in enumerate([clients, clients[::-1]]):
            way = ["there", "back"][number]
            before = {name: len(added) for name, added in writer.added.items()}
            tap.equal(f"{way}: {len(slots)} slots move", move(source, target, slots),
                      (b"success", b""))
            tap.ok(f"{way}: writes go on after the move", writer.goes_on(), writer.failed)
            tap.ok(f"{way}: the server that had the filters has none",
                   wait_for(lambda: source("DBSIZE") == 0), source("DBSIZE"))
            tap.equal(f"{way}: no acknowledged key is missing",
                      missing(client, {name: list(items) for name, items in writer.added.items()}),
                      {})
            grown = sum(len(added) for added in writer.added.values()) - sum(before.values())
            print(f"# {way}: {grown} keys acknowledged meanwhile")
    finally:
        writer.ends = True
        writer.join()
    tap.equal("nothing failed", writer.failed, [])
    layers = client("BF.INFO", "layers", "FILTERS")
    tap.ok("a filter has many layers", layers[0] > 5, layers)
    bits = {name: digest(clients[0], name) for name in FILTERS}
    clients[1]("CONFIG", "SET", "bf.memory-limit", 1000)
    tap.equal("to a server whose limit the filters are above", move(*clients, slots),
              (b"success", b""))
    tap.equal("filters that nobody writes to are the same afterwards",
              {name: digest(clients[1], name) for name in FILTERS}, bits)


def main():
    name, program = sys.argv[1:]
    with contextlib.ExitStack() as stack:
        secret = os.environ["TMPDIR"] + "/secret"
        with open(secret, "wb") as file:
            file.write(bytes(range(16)))
        options = ["--cluster-enabled", "yes", "--cluster-node-timeout", "60000", "--bind",
                   "127.0.0.1", "--cluster-allow-replica-migration", "no", "--bf.secret-file",
                   secret]
        servers = [stack.enter_context(Server(program, *options, port=True)) for _ in range(2)]
        check(Tap(name), servers)


main()
