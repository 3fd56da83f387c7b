"""effects.py - checks and waits for effects other than replies (digests, INFO, replication, AOF),
and creates corrupted values."""

import struct

from servers import wait_for


def digest(client, key):
    return client("DEBUG", "DIGEST-VALUE", key)[0]


def info(client, section):
    lines = client("INFO", section).decode().splitlines()
    return dict(line.split(":", 1) for line in lines if ":" in line)


def follow(replica, master):
    replica("REPLICAOF", "127.0.0.1", master.port)
    return wait_for(lambda: info(replica, "replication").get("master_link_status") == "up")


def caught_up(master, replica):
    """Waits until the replica has received everything that the master sent, according to the
    offsets in INFO."""
    def done():
        sent = info(master, "replication")["master_repl_offset"]
        return info(replica, "replication")["slave_repl_offset"] == sent
    return wait_for(done)


def rewrite(client):
    client("BGREWRITEAOF")
    wait_for(lambda: info(client, "persistence")["aof_rewrite_in_progress"] == "0" and
             info(client, "persistence")["aof_rewrite_scheduled"] == "0")


def mutate(rng, data):
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        kind, at = rng.random(), rng.randrange(len(data))
        if kind < 0.6:
            data[at] = rng.choice([0, 1, 2, 0x7F, 0x80, 0x81, 0xFF, rng.randrange(256)])
        elif kind < 0.75:
            data[at:at + 1] = rng.randbytes(rng.randrange(4))
        elif kind < 0.9:
            del data[at:at + rng.randrange(1, 9)]
        else:
            data[at:at + 8] = struct.pack("<Q", rng.choice([0, 1, 2**31, 2**40, 2**63, 2**64 - 1]))
        if not data:
            return b"\0"
    return bytes(data)
