"""soak.py NAME SERVER MINUTES - kills masters in a cluster and moves slots while filters grow, and
reports acknowledged items that are missing. See soak.sh for the definition of "acknowledged".

Two writers add items to filters of several kinds, each item once. When a filter has received its
share of items, it is queried for all of them, deleted, and replaced with a new filter, so that
memory use stays bounded however long the test runs. A third client writes keys with a TTL, which
are evicted when memory is full."""

import binascii
import contextlib
import random
import signal
import subprocess
import sys
import threading
import time

from effects import info
from servers import Connection, Error, Server, Tap, wait_for

BATCH, SECONDS_BETWEEN_KILLS, SLOTS_PER_RESHARD = 200, 30, 150
OPTIONS = ["--cluster-enabled", "yes", "--cluster-node-timeout", "3000",
           "--cluster-allow-replica-migration", "no", "--repl-diskless-sync-delay", "0",
           "--appendonly", "yes", "--appendfsync", "always", "--bind", "127.0.0.1",
           "--maxmemory", "24mb", "--maxmemory-policy", "volatile-lru"]
KINDS = [("BF.RESERVE", "BF.MADD", []), ("PETAL.RESERVE", "PETAL.MADD", []),
         ("PETAL.RESERVE", "PETAL.MADD", ["SCHEME", "CLASSIC", "EXPANSION", 3]),
         ("BF.RESERVE", "BF.MADD", ["EXPANSION", 4])]


class Failed(Exception):
    """The server did not reply, or replied that the client should try again."""


class Client:
    """A client that sends each command to the master that stores its key."""

    def __init__(self, servers):
        self.ports = [server.port for server in servers]
        self.connections, self.owners = {}, {}

    def connect(self, port):
        if port not in self.connections:
            self.connections[port] = Connection(port)
            self.connections[port].socket.settimeout(20)
        return self.connections[port]

    def drop(self, port):
        with contextlib.suppress(OSError, KeyError):
            self.connections.pop(port).close()

    def look_up(self):
        for port in random.sample(self.ports, len(self.ports)):
            try:
                ranges = self.connect(port)("CLUSTER", "SLOTS")
            except (OSError, ValueError):
                self.drop(port)
                continue
            if not isinstance(ranges, Error):
                self.owners = {slot: entry[2][1] for entry in ranges
                               for slot in range(entry[0], entry[1] + 1)}
                return

    def once(self, commands, key):
        slot = binascii.crc_hqx(key.encode(), 0) % 16384
        port = self.owners.get(slot)
        if port is None:
            raise Failed("no owner")
        try:
            replies = self.connect(port).pipeline(commands)
            if isinstance(replies[0], Error) and replies[0].startswith("ASK "):
                port = int(replies[0].rsplit(":", 1)[1])
                replies = self.connect(port).pipeline([("ASKING",), *commands])[1:]
        except (OSError, ValueError) as error:
            self.drop(port)
            raise Failed(str(error)) from error
        if isinstance(replies[0], Error) and replies[0].split()[0] in (
                "MOVED", "ASK", "TRYAGAIN", "CLUSTERDOWN", "LOADING", "READONLY", "OOM", "MISCONF"):
            raise Failed(replies[0])
        return replies

    def __call__(self, key, *words, acknowledged=False):
        """Returns the reply to a command. If acknowledged=True, waits until a replica has also
        received the command."""
        commands = [words, ("WAIT", 1, 5000)] if acknowledged else [words]
        while True:
            with contextlib.suppress(Failed):
                replies = self.once(commands, key)
                if not acknowledged or (isinstance(replies[1], int) and replies[1] >= 1):
                    return replies[0]
            time.sleep(0.05)
            self.look_up()


class Filter:
    def __init__(self, client, rng, number):
        self.reserve, self.add, self.words = KINDS[number % len(KINDS)]
        self.key, self.count = f"filter:{number}", 0
        self.share = rng.choice([20000, 60000, 150000])
        reply = client(self.key, self.reserve, self.key, "0.01", rng.randrange(100, 3000),
                       *self.words, acknowledged=True)
        assert reply == "OK" or "exists" in reply, reply

    def items(self, first, last):
        return [f"{self.key}/{i}" for i in range(first, last)]

    def fill(self, client):
        items = self.items(self.count, self.count + BATCH)
        reply = client(self.key, self.add, self.key, *items, acknowledged=True)
        assert isinstance(reply, list) and len(reply) == BATCH and \
            not isinstance(reply[-1], Error), reply
        self.count += BATCH

    def missing(self, client):
        lost = 0
        for at in range(0, self.count, 2000):
            items = self.items(at, min(at + 2000, self.count))
            reply = client(self.key, "BF.MEXISTS", self.key, *items)
            lost += reply.count(0) if isinstance(reply, list) else len(items)
        return lost


class Writer(threading.Thread):
    def __init__(self, servers, number, stop):
        super().__init__(daemon=True)
        self.client, self.stop, self.number = Client(servers), stop, number
        self.rng = random.Random(number)
        self.acknowledged = self.missing = self.filters = 0
        self.failure = None

    def next_filter(self):
        self.filters += 1
        return Filter(self.client, self.rng, self.number + 2 * self.filters)

    def retire(self, filter):
        self.missing += filter.missing(self.client)
        self.client(filter.key, "DEL", filter.key, acknowledged=True)

    def run(self):
        try:
            filters = [self.next_filter() for _ in range(12)]
            while not self.stop.is_set():
                at = self.rng.randrange(len(filters))
                filters[at].fill(self.client)
                self.acknowledged += BATCH
                if filters[at].count >= filters[at].share:
                    self.retire(filters[at])
                    filters[at] = self.next_filter()
            for filter in filters:
                self.missing += filter.missing(self.client)
        except Exception as error:  # if the thread ended silently, the test would pass
            self.failure = repr(error)


class Cache(threading.Thread):
    """A thread that writes more keys with a TTL than fit in memory."""

    def __init__(self, servers, stop):
        super().__init__(daemon=True)
        self.client, self.stop = Client(servers), stop

    def run(self):
        value, rng = "x" * 40000, random.Random(3)
        while not self.stop.is_set():
            key = f"cache:{rng.randrange(20000)}"
            self.client.look_up() if not self.client.owners else None
            with contextlib.suppress(Failed):
                self.client.once([("SET", key, value, "EX", 3600)], key)
            time.sleep(0.01)


# ---- what happens to the cluster -----------------------------------------------------------------


def ask(server, *words):
    """Raises OSError if the server doesn't reply or is still loading its files."""
    connection = Connection(server.port)
    connection.socket.settimeout(20)
    try:
        reply = connection(*words)
    finally:
        connection.close()
    if isinstance(reply, Error):
        raise ConnectionError(reply)
    return reply


def masters(servers):
    """Returns the id and port of each master that has slots."""
    for server in servers:
        with contextlib.suppress(OSError, ValueError):
            lines = [line.split() for line in ask(server, "CLUSTER", "NODES").decode().splitlines()]
            return [(line[0], int(line[1].split(":")[1].split("@")[0])) for line in lines
                    if "master" in line[2] and "fail" not in line[2] and len(line) > 8]
    return []


def replication(servers):
    return [info(lambda *words, server=server: ask(server, *words), "replication")
            for server in servers]


def is_well(servers):
    """Returns True if all slots are served, and each master has a replica that has received
    everything the master sent."""
    try:
        up = all(b"cluster_state:ok" in ask(server, "CLUSTER", "INFO") for server in servers)
        roles = replication(servers)
        leaders = {str(server.port): int(about["master_repl_offset"])
                   for server, about in zip(servers, roles) if about["role"] == "master"}
        followers = [about for about in roles if about["role"] == "slave"]
        return up and len(leaders) == 3 and len({about["master_port"] for about in followers}) == 3 \
            and all(about["master_link_status"] == "up" for about in followers)
    except (OSError, ValueError, KeyError):
        return False


def replicas_hold(servers):
    """Waits until the replicas have received all data that the masters have now. Returns False if
    this takes too long."""
    offsets = {str(server.port): int(about["master_repl_offset"])
               for server, about in zip(servers, replication(servers))
               if about["role"] == "master"}

    def done():
        with contextlib.suppress(OSError):
            return all(about["role"] == "master" or int(about["slave_repl_offset"]) >=
                       offsets.get(about["master_port"], 0) for about in replication(servers))
    return wait_for(done)


def kill_a_master(servers, rng):
    """Kills a random master. Returns True if its replica took over."""
    port = rng.choice(masters(servers))[1]
    killed = next(server for server in servers if server.port == port)
    killed.stop(signal.SIGKILL)
    others = [server for server in servers if server is not killed]
    over = wait_for(lambda: len(masters(others)) == 3 and
                    port not in [at for _, at in masters(others)], 30, 0.2)
    killed.start()
    return over


def reshard(servers, rng):
    source, target = rng.sample(masters(servers), 2)
    run = subprocess.run(
        ["redis-cli", "--cluster", "reshard", f"127.0.0.1:{servers[0].port}", "--cluster-from",
         source[0], "--cluster-to", target[0], "--cluster-slots", str(SLOTS_PER_RESHARD),
         "--cluster-yes"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if run.returncode:
        subprocess.run(["redis-cli", "--cluster", "fix", f"127.0.0.1:{servers[0].port}"],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return run.returncode == 0 and replicas_hold(servers)


def evicted(servers):
    return sum(int(info(lambda *words, server=server: ask(server, *words), "stats")["evicted_keys"])
               for server in servers)


def soak(tap, servers, minutes):
    rng, stop = random.Random(7), threading.Event()
    made = subprocess.run(
        ["redis-cli", "--cluster", "create", *(f"127.0.0.1:{s.port}" for s in servers),
         "--cluster-replicas", "1", "--cluster-yes"], stdout=subprocess.PIPE, text=True)
    assert made.returncode == 0, made.stdout[-500:]
    assert wait_for(lambda: is_well(servers))
    writers = [Writer(servers, number, stop) for number in range(2)]
    threads = [*writers, Cache(servers, stop)]
    for thread in threads:
        thread.start()
    end, kills, takeovers, reshards, evictions = time.time() + 60 * minutes, 0, 0, 0, 0
    well = True
    while well and time.time() < end and not any(writer.failure for writer in writers):
        began = time.time()
        reshards += reshard(servers, rng)
        well = wait_for(lambda: is_well(servers), 120, 0.5)
        time.sleep(max(0, min(began + SECONDS_BETWEEN_KILLS, end) - time.time()))
        gone = evicted(servers)  # the killed server's count restarts at 0
        takeovers += kill_a_master(servers, rng)
        kills += 1
        well = well and wait_for(lambda: is_well(servers), 180, 0.5)
        evictions += max(0, gone - evicted(servers))
        if kills % 5 == 0:
            print(f"# {kills} kills, {sum(w.acknowledged for w in writers)} acknowledged, "
                  f"{sum(w.missing for w in writers)} missing", file=sys.stderr, flush=True)
    evictions += evicted(servers)
    stop.set()
    for writer in writers:
        writer.join(600)
    count = sum(writer.acknowledged for writer in writers)
    missing = sum(writer.missing for writer in writers)
    failures = [writer.failure for writer in writers if writer.failure]
    failures += ["a writer has not ended"] * any(writer.is_alive() for writer in writers)
    tap.ok("no acknowledged item is missing", count > 0 and missing == 0 and not failures,
           missing, failures)
    tap.ok("the cluster comes back after each kill", well and kills > 0 and takeovers > 0, kills,
           takeovers)
    tap.ok("slots were moved, and other keys evicted", reshards > 0 and evictions > 0, reshards,
           evictions)
    print(f"# counts: {count:,} items acknowledged in {sum(w.filters for w in writers)} filters, "
          f"{missing} missing; {kills} kills of a master, {takeovers} takeovers, {reshards} reshards "
          f"of {SLOTS_PER_RESHARD} slots, {evictions:,} keys evicted")


def main():
    name, program, minutes = sys.argv[1:]
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(Server(program, *OPTIONS, port=True)) for _ in range(6)]
        soak(Tap(name), servers, float(minutes))


main()
