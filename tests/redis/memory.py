"""memory.py NAME PROGRAM MIB COUNT - tests a server's memory use. The child process that saves a
filter of MIB MiB must need no additional memory, and RESTORE must need only the payload and the
filter. Creating and deleting COUNT filters must not leak memory. Defragmentation must move filters
without losing any."""

import os
import sys

from effects import digest, info
from servers import Error, Server, Tap, wait_for

MIB = 1 << 20
CHUNK = 16 * MIB
LONG_STRINGS = ["--proto-max-bulk-len", "4gb", "--client-query-buffer-limit", "4gb"]


# ---- a large filter whose bits do not compress ---------------------------------------------------


def make_big(client, key, size_bytes):
    capacity = size_bytes * 8 // 12  # 11.03 bits per item
    client("BF.RESERVE", key, "0.01", capacity)
    bits, chunk = client("BF.INFO", key, "SIZE")[0] - 96, os.urandom(CHUNK)
    for at in range(0, bits, CHUNK):
        part = chunk[: min(CHUNK, bits - at)]
        assert client("BF.LOADCHUNK", key, 1 + at + len(part), part) == "OK"
    return bits


def rollup(pid, field):
    try:
        with open(f"/proc/{pid}/smaps_rollup") as lines:
            return sum(int(line.split()[1]) for line in lines if line.startswith(field)) << 10
    except (FileNotFoundError, ProcessLookupError):
        return 0


def resident(server, field):
    """Returns the server's resident memory. The server's own count is not used, since it includes
    memory that was reserved but never touched."""
    with open(f"/proc/{server.process.pid}/status") as lines:
        return sum(int(line.split()[1]) for line in lines if line.startswith(field)) << 10


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as words:
        return words.read().split()


def max_private(server, is_done):
    """Returns the maximum private memory of the server's child process, sampled until the process
    ends."""
    most, looks = 0, 0

    def look():
        nonlocal most, looks
        for child in children(server.process.pid):
            most, looks = max(most, rollup(child, "Private_Dirty:")), looks + 1
        return is_done()

    wait_for(look, 600, 0.01)
    return most, looks


def check_saving(tap, program, size_mib):
    with Server(program) as server:
        client = server.connect()
        make_big(client, "big", size_mib * MIB)
        before = digest(client, "big")
        client.close()  # else the server frees these buffers, and the child is charged for them
        client = server.connect()
        client("MEMORY", "PURGE")
        client("BGSAVE")
        most, looks = max_private(
            server, lambda: info(client, "persistence")["rdb_bgsave_in_progress"] == "0")
        tap.ok(f"BGSAVE of {size_mib} MiB: the child takes {most / MIB:.1f} MiB of its own",
               looks > 0 and most < 32 * MIB and
               info(client, "persistence")["rdb_last_bgsave_status"] == "ok", most, looks)
        tap.equal("options are what they were", client("CONFIG", "GET", "rdbcompression"),
                  [b"rdbcompression", b"yes"])
        server.restart()
        tap.equal("what it saved is the filter", digest(server.connect(), "big"), before)


def check_restoring(tap, program, size_mib):
    with Server(program) as server:
        client = server.connect()
        make_big(client, "big", size_mib * MIB)
        before = digest(client, "big")
        payload = client("DUMP", "big")
    with Server(program, *LONG_STRINGS) as server:
        client = server.connect()
        base = resident(server, "VmRSS:")
        client("RESTORE", "big", 0, payload)
        peak = resident(server, "VmHWM:") - base
        used = client("MEMORY", "USAGE", "big", "SAMPLES", 0)
        part = peak / (len(payload) + used)
        tap.ok(f"RESTORE of {size_mib} MiB takes {part:.2f} of payload and filter at most",
               part < 1.1 and digest(client, "big") == before, peak, len(payload), used)


# ---- a large new layer ---------------------------------------------------------------------------


def check_growing(tap, program, size_mib):
    """Tests that the server doesn't write zeros to a new layer, and that the first items don't wait
    for huge pages: only memory that items have touched may be resident."""
    with Server(program) as server:
        client = server.connect()
        expansion = size_mib * (8 << 20) // 12 // 24000  # 12.5 bits per item
        assert client("BF.RESERVE", "f", "0.01", 24000, "EXPANSION", expansion) == "OK"
        item = 0
        while (room := 24000 - client("BF.INFO", "f", "ITEMS")[0]) > 0:
            client("BF.MADD", "f", *range(item, item + room))
            item += room
        rss, used = resident(server, "VmRSS:"), int(info(client, "memory")["used_memory"])
        while client("BF.INFO", "f", "FILTERS")[0] == 1:  # items can be false positives
            client("BF.ADD", "f", item)
            item += 1
        taken = int(info(client, "memory")["used_memory"]) - used
        touched = resident(server, "VmRSS:") - rss
        tap.ok(f"of a new layer of {taken >> 20} MiB {touched / MIB:.1f} MiB are touched",
               taken > size_mib * MIB * 0.8 and touched < 8 * MIB, taken, touched)
        for item in range(300):
            client("BF.ADD", "f", f"after {item}")
        touched = resident(server, "VmRSS:") - rss
        tap.ok(f"and {touched / MIB:.1f} MiB after 300 items", touched < 32 * MIB, touched)


def check_zeros(tap, program):
    """Tests that when the memory of a freed filter is reused, it contains none of the old filter's
    bits."""
    with Server(program) as server:
        client = server.connect()
        bad = []
        for size in (30 << 10, 250 << 10, 300 << 10, 1 << 20, (1 << 20) + 4096 * 3 + 8, 24 << 20):
            for turn in range(3):
                for i in range(4):
                    make_big(client, f"old{i}", size)
                client("DEL", "old1", "old2")
                client("BF.RESERVE", "new", "0.01", size * 8 // 12)
                iterator = client("BF.SCANDUMP", "new", 0)[0]
                while iterator:
                    iterator, data = client("BF.SCANDUMP", "new", iterator)
                    if data.strip(b"\0"):
                        bad.append((size, turn))
                client("FLUSHALL", "SYNC")
        tap.ok("filters in memory that others had begin with no bit set", not bad, bad)


# ---- filters that are created and deleted --------------------------------------------------------


def run_raw(client, commands, times):
    """Sends the same commands repeatedly, and checks that the replies are the same each time."""
    reply = b"".join(
        b":%d\r\n" % one if isinstance(one, int) else
        b"*%d\r\n" % len(one) + b"".join(b":%d\r\n" % number for number in one)
        for one in client.pipeline(commands))
    words = b"".join(b"*%d\r\n" % len(command) + b"".join(
        b"$%d\r\n%b\r\n" % (len(word), word) for word in command) for command in commands)
    for _ in range(times):
        client.socket.sendall(words)
        assert client.file.read(len(reply)) == reply


def check_deleting(tap, program, count):
    group = [[b"BF.ADD", b"k", b"x"], [b"DEL", b"k"]] * 499
    group += [[b"BF.INSERT", b"k", b"CAPACITY", b"1", b"ITEMS", *b"a b c d e f g h i j".split()],
              [b"DEL", b"k"]]
    with Server(program) as server:
        client = server.connect()
        run_raw(client, group, max(count // 5000, 1))
        first = int(info(client, "memory")["used_memory"]), resident(server, "VmRSS:")
        run_raw(client, group, count // 500)
        last = int(info(client, "memory")["used_memory"]), resident(server, "VmRSS:")
        tap.ok(f"{count} filters made and deleted leave nothing behind",
               all(after < before + 2 * MIB for before, after in zip(first, last)), first, last)


# ---- filters with different parameters -----------------------------------------------------------


def used_memory(server):
    """Returns the server's memory use. Uses a new connection, since an old one keeps its buffers
    for long replies."""
    client = server.connect()
    used = int(info(client, "memory")["used_memory"])
    client.close()
    return used


def usages(client, names):
    return client.pipeline([["MEMORY", "USAGE", name, "SAMPLES", 0] for name in names])


def check_distinct(tap, program, count):
    with Server(program) as server:
        client = server.connect()
        before, used = used_memory(server), 0
        for at in range(0, count, 1000):
            names = [f"own{i}" for i in range(at, at + 1000)]
            client.pipeline([["BF.RESERVE", name, repr(0.001 + i * 1e-7), 20 + i % 90, "EXPANSION",
                              1 + i % 3] for i, name in enumerate(names, at)])
            client.pipeline([["BF.MADD", name, *range(10 + i % 50)]
                             for i, name in enumerate(names, at)])
            used += sum(usages(client, names))
        client.close()
        taken = used_memory(server) - before
        tap.ok(f"MEMORY USAGE of {count} filters is {used / taken:.3f} of what they take",
               0.9 < used / taken < 1.1, used, taken)
        client = server.connect()
        client("BF.INSERT", "many", "CAPACITY", 3, "EXPANSION", 1, "ITEMS", *range(600))
        client("FLUSHALL", "SYNC")
        client.close()
        left = used_memory(server) - before
        tap.ok(f"FLUSHALL leaves {left} bytes of a fresh server's", left < 256 << 10, left)
        parts = []
        for command in ("BF.RESERVE", "PETAL.RESERVE"):
            for capacity in (1000, 30000, 1000000, 3000000):
                before, names = used_memory(server), range(1 + 300000 // capacity)
                client = server.connect()
                for name in names:
                    client(command, f"{command}{capacity}{name}", "0.01", capacity)
                used = sum(usages(client, [f"{command}{capacity}{name}" for name in names]))
                client.close()
                parts.append((command, capacity, used / (used_memory(server) - before)))
        tap.ok("and of big ones it is what they take",
               all(0.9 < part[-1] < 1.1 for part in parts), parts)


# ---- defragmentation -----------------------------------------------------------------------------


def check_defragmentation(tap, program):
    with Server(program, "--active-defrag-ignore-bytes", "1", "--active-defrag-threshold-lower", "1",
                "--active-defrag-cycle-min", "50") as server:
        client = server.connect()
        reply = client("CONFIG", "SET", "activedefrag", "yes")
        if isinstance(reply, Error):
            print(f"ok 0 - {tap.about}: defragmentation # SKIP this server was built without it: "
                  "this machine")
            return
        client("CONFIG", "SET", "activedefrag", "no")
        names = [f"k{i}" for i in range(8000)]
        client.pipeline([["BF.MADD", name, name, *range(i % 400)] for i, name in enumerate(names)])
        client("PETAL.RESERVE", "grows", "0.01", 10)
        client("PETAL.MADD", "grows", *range(3000))
        client.pipeline([["DEL", name] for i, name in enumerate(names) if i % 4])
        kept = ["grows", *names[::4]]
        before = [digest(client, name) for name in kept]
        client("CONFIG", "SET", "activedefrag", "yes")
        moved = wait_for(lambda: int(info(client, "bf")["bf_defrag_hits"]) > len(names) // 4)
        tap.ok("defragmentation moves filters", moved, info(client, "bf"))
        tap.equal("and loses none", [digest(client, name) for name in kept], before)
        added = client.pipeline([["BF.MADD", name, *range(1000, 1400)] for name in names[::4]])
        tap.ok("which go on growing", all(sum(replies) > 350 for replies in added) and
               all(client.pipeline([["BF.EXISTS", name, name] for name in names[::4]])))


def main():
    name, program, size_mib, count = sys.argv[1:]
    tap = Tap(name)
    check_saving(tap, program, int(size_mib))
    check_restoring(tap, program, int(size_mib))
    check_growing(tap, program, int(size_mib))
    check_zeros(tap, program)
    check_deleting(tap, program, int(count))
    check_distinct(tap, program, int(count) // 10)
    check_defragmentation(tap, program)


main()
