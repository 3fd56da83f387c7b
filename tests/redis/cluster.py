"""cluster.py NAME PROGRAM - uses petal.redis to distribute a set over 12 filters in a cluster of 3
masters and 3 replicas, moves slots, and kills a master. Afterward, no key may be missing, and the
bits must be unchanged."""

import contextlib
import signal
import subprocess
import sys

import petal
import redis.cluster
from petal.redis import ShardedFilter
from servers import Server, Tap, wait_for

SHARDS, KEYS, SLOTS = 12, 60000, 2000
OPTIONS = ["--cluster-enabled", "yes", "--cluster-node-timeout", "5000",
           "--repl-diskless-sync-delay", "0", "--bind", "127.0.0.1"]


def redis_cli(*words):
    """Returns "" if the command succeeded, otherwise the end of its output."""
    run = subprocess.run(["redis-cli", *map(str, words)], stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True)
    return "" if run.returncode == 0 else run.stdout[-500:] or "failed"


def digests(servers, names):
    """Returns, for each key, the digests from all servers that store it (a master and its
    replicas). Asks every server, since DEBUG is not redirected to a key's server."""
    found = {name: [] for name in names}
    for server in servers:
        for name, digest in zip(names, server.connect()("DEBUG", "DIGEST-VALUE", *names)):
            if digest.strip("0"):
                found[name].append(digest)
    return found


def masters_of(server):
    """Returns (id, port) for each master that has slots. For a while after a cluster is created,
    its replicas are also listed as masters."""
    lines = server.connect()("CLUSTER", "NODES").decode().splitlines()
    words = [line.split() for line in lines if "master" in line and len(line.split()) > 8]
    return [(node[0], int(node[1].split(":")[1].split("@")[0])) for node in words]


def is_up(servers):
    return all(b"cluster_state:ok" in server.connect()("CLUSTER", "INFO") for server in servers)


def check(tap, servers):
    failed = redis_cli("--cluster", "create", *(f"127.0.0.1:{server.port}" for server in servers),
                       "--cluster-replicas", 1, "--cluster-yes")
    assert not failed, failed
    assert wait_for(lambda: is_up(servers))
    crawled = ShardedFilter(redis.cluster.RedisCluster("127.0.0.1", servers[0].port), "crawled",
                            SHARDS)
    crawled.create(KEYS, 0.01)
    names = [crawled.name_of(shard) for shard in range(SHARDS)]
    keys = [f"https://a.example/{i}" for i in range(KEYS)]
    new = sum(sum(crawled.add_batch(keys[at:at + 10000])) for at in range(0, KEYS, 10000))
    absent = crawled.contains_batch([f"https://b.example/{i}" for i in range(KEYS)])
    tap.ok(f"{KEYS} keys in {SHARDS} filters", new > 0.99 * KEYS and len(crawled) == new and
           all(crawled.contains_batch(keys)) and sum(absent) < 0.02 * KEYS, new, sum(absent))
    sample, client = keys[:600], crawled.client
    own = [petal.shard_of(key, SHARDS) for key in sample]
    in_own = [client.execute_command("BF.EXISTS", names[shard], key)
              for shard, key in zip(own, sample)]
    in_next = [client.execute_command("BF.EXISTS", names[(shard + 1) % SHARDS], key)
               for shard, key in zip(own, sample)]
    tap.ok("a key is in the filter of its shard, and in no other",
           all(in_own) and sum(in_next) < 30, in_own, in_next)
    tap.ok("one key at a time", keys[0] in crawled and not crawled.add(keys[0].encode()))

    before = digests(servers, names)
    masters = masters_of(servers[0])
    failed = redis_cli("--cluster", "reshard", f"127.0.0.1:{servers[0].port}", "--cluster-from",
                       masters[0][0], "--cluster-to", masters[1][0], "--cluster-slots", SLOTS,
                       "--cluster-yes")
    tap.ok(f"{SLOTS} slots moved: no key is missing",
           not failed and all(crawled.contains_batch(keys)), failed)

    def replicas_agree():
        return all(len(two) == 2 and two[0] == two[1] == before[name][0]
                   for name, two in digests(servers, names).items())

    tap.ok("master and replica of each filter have equal digests, those of before",
           wait_for(replicas_agree), digests(servers, names))

    port = next(port for _, port in masters if port != servers[0].port)
    killed = next(server for server in servers if server.port == port)
    killed.stop(signal.SIGKILL)
    left = [server for server in servers if server is not killed]

    def all_found():
        with contextlib.suppress(redis.RedisError):
            return is_up(left) and all(crawled.contains_batch(keys))

    tap.ok("kill -9 of a master: a replica takes over, and no key is missing", wait_for(all_found))
    tap.ok("and the digests are the same", all(
        one and set(one) == {before[name][0]} for name, one in digests(left, names).items()))
    tap.ok("adding goes on", sum(crawled.add_batch([f"new {i}" for i in range(1000)])) > 950)


def main():
    name, program = sys.argv[1:]
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(Server(program, *OPTIONS, port=True)) for _ in range(6)]
        check(Tap(name), servers)


main()
