"""petal_commands.py NAME SERVER PAYLOADS - tests that PETAL.* commands create filters of each kind
that equal the tool's. Also tests files in pieces, packed batches, and the replication, persistence
and corruption of filters of each kind."""

import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile

import rdb
from effects import caught_up, digest, follow, info, mutate, rewrite
from servers import Error, Server, Tap

KEYS = [f"https://a.example/{i}" for i in range(3000)]
ABSENT = [f"https://b.example/{i}" for i in range(3000)]
KINDS = {
    "blocked": (["NONSCALING"], []),
    "classic": (["SCHEME", "classic", "NONSCALING"], ["--scheme", "classic"]),
    "counting": (["SCHEME", "counting"], ["--scheme", "counting"]),
    "seeded": (["SEED", 7, "NONSCALING"], ["--seed", "7"]), "growing": ([], ["--grow"]),
}
OTHERS = {"window": ["WINDOW"], "window of time": ["WINDOWMS", 3600000], "keyed": ["KEYED"],
          "keyed, fixed": ["KEYED", "NONSCALING"],
          "keyed, counting": ["KEYED", "SCHEME", "counting"]}
SECRET = "000102030405060708090a0b0c0d0e0f"


def pack(items):
    data = [item.encode() if isinstance(item, str) else item for item in items]
    return b"".join([struct.pack(f"<I{len(data)}I", len(data), *map(len, data)), *data])


def bits(answer, count):
    return [answer[i // 8] >> i % 8 & 1 for i in range(count)]


def tool(*words, text=None):
    return subprocess.run(words, input=text, capture_output=True, text=True, check=False)


def push_or_pull(verb, address, key, path, *options):
    return tool("petal-redis", verb, *options, address, key, path)


def check_kinds(tap, server, client, folder):
    """Creates a filter with commands and pulls it. The filter's content must equal that of the file
    created by the tool."""
    lines = "\n".join(KEYS) + "\n"
    for kind, (words, options) in KINDS.items():
        capacity = 1000 if kind == "growing" else 3000
        path = f"{folder}/{kind}.petal"
        size = ["-n", str(capacity), "-p", "0.01", "-o", path, *options]
        made = [tool("petal", "create", *size), tool("petal", "add", path, text=lines)]
        assert all(step.returncode == 0 for step in made), made
        client("PETAL.RESERVE", kind, "0.01", capacity, *words)
        added = []
        for at in range(0, len(KEYS), 500):
            added += client("PETAL.MADD", kind, *KEYS[at:at + 500])
        pulled = f"{folder}/{kind}.pulled"
        done = push_or_pull("pull", "unix:" + server.socket, kind, pulled)
        same = tool("petal", "compare", path, pulled) if kind != "growing" else None
        ids = [[line for line in tool("petal", "info", file).stdout.splitlines()
                if line.startswith("content id")] for file in (path, pulled)]
        tap.ok(f"{kind}: pulled, it is the tool's filter", done.returncode == 0 and ids[0] == ids[1]
               and len(ids[0]) == 1, done.stderr, ids, same and same.stderr)
        earlier = kind + " earlier"
        client("PETAL.RESERVE", earlier, "0.01", capacity, *words)
        client("PETAL.MADD", earlier, *KEYS[:len(KEYS) // 2])
        before, file = f"{folder}/{kind}.earlier", f"{folder}/{kind}.patch"
        push_or_pull("pull", "unix:" + server.socket, earlier, before)
        made = tool("petal", "diff", before, pulled, "-o", file)
        patch = open(file, "rb").read() if made.returncode == 0 else made.stderr
        cut = client("PETAL.PATCH", earlier, patch[:-1])
        tap.equal(f"{kind}: a patch makes it of an earlier one, whole and once",
                  (isinstance(cut, Error), client("PETAL.PATCH", earlier, patch),
                   digest(client, earlier) == digest(client, kind),
                   isinstance(client("PETAL.PATCH", earlier, patch), Error)),
                  (True, "OK", True, True))
        again = push_or_pull("push", "unix:" + server.socket, kind + " pushed", path)
        known = tool("petal", "check", "-v", path, text="\n".join(ABSENT) + "\n").stdout.split()
        tap.equal(f"{kind}: pushed, it answers like the file",
                  (again.returncode, client("PETAL.MEXISTS", kind + " pushed", *KEYS[:1000]),
                   [ABSENT[i] for i, bit in enumerate(
                       client("PETAL.MEXISTS", kind + " pushed", *ABSENT)) if not bit]),
                  (0, [1] * 1000, known))
        tap.equal(f"{kind}: EXISTS, MEXISTS and packed are one answer",
                  (bits(client("PETAL.MEXISTSB", kind, pack(ABSENT)), len(ABSENT)),
                   [client("PETAL.EXISTS", kind, key) for key in ABSENT[:300]]),
                  (client("PETAL.MEXISTS", kind, *ABSENT),
                   client("PETAL.MEXISTS", kind, *ABSENT[:300])))
        client("PETAL.RESERVE", kind + " packed", "0.01", capacity, *words)
        tap.equal(f"{kind}: packed adding is adding",
                  (sum((bits(client("PETAL.MADDB", kind + " packed", pack(KEYS[at:at + 500])), 500)
                        for at in range(0, len(KEYS), 500)), []), digest(client, kind + " packed")),
                  (added, digest(client, kind)))


def check_replies(tap, client):
    client("DEL", "k")
    client("SET", "s", "x")
    wrong = Error("WRONGTYPE Operation against a key holding the wrong kind of value")
    missing = Error("ERR not found")
    tap.equals("replies", [
        (client("PETAL.RESERVE", "k", "0.01", 1000, "NONSCALING"), "OK"),
        (client("PETAL.RESERVE", "k", "0.01", 1000), Error("ERR item exists")),
        (client("PETAL.RESERVE", "s", "0.01", 1000), wrong),
        (client("PETAL.RESERVE", "k2", "x", 1000), Error("ERR bad error rate")),
        (client("PETAL.RESERVE", "k2", "0.1", "x"), Error("ERR bad capacity")),
        (client("PETAL.ADD", "k", "a"), 1), (client("PETAL.ADD", "k", "a"), 0),
        (client("PETAL.ADD", "none", "a"), missing), (client("PETAL.ADD", "s", "a"), wrong),
        (client("PETAL.MADD", "k", "a", "b", ""), [0, 1, 1]),
        (client("PETAL.EXISTS", "k", ""), 1), (client("PETAL.EXISTS", "none", "a"), 0),
        (client("PETAL.EXISTS", "s", "a"), wrong), (client("PETAL.MEXISTS", "s", "a"), wrong),
        (client("PETAL.MEXISTS", "none", "a", "b"), [0, 0]),
        (client("PETAL.MEXISTSB", "none", pack(["a"] * 9)), b"\0\0"),
        (client("PETAL.MEXISTSB", "k", pack(["a", "zz", "b"])), b"\5"),
        (client("PETAL.MADDB", "k", pack([])), b""),
        (client("PETAL.INFO", "none"), missing), (client("PETAL.DUMP", "none", 0), missing),
        (client("BF.ADD", "k", "a"), wrong),
    ])
    for words in (["PETAL.MEXISTSB", "k", b"\1\0\0"], ["PETAL.MADDB", "k", pack(["a"]) + b"x"],
                  ["PETAL.MADDB", "k", struct.pack("<II", 1, 2) + b"x"],
                  ["PETAL.MADDB", "k", struct.pack("<I", 2**32 - 1)],
                  ["PETAL.MADDB", "k", struct.pack("<III", 2, 2**32 - 1, 2) + b"x"],
                  ["PETAL.RESERVE", "n", "0.01", 10, "JUNK"], ["PETAL.RESERVE", "n", "0", 10],
                  ["PETAL.RESERVE", "n", "0.01", 0], ["PETAL.REMOVE", "k", "a"],
                  ["PETAL.RESERVE", "n", "0.01", 10, "SCHEME", "cuckoo"],
                  ["PETAL.ADVANCE", "k", 5], ["PETAL.MERGE", "k", "n2"]):
        client("PETAL.RESERVE", "n2", "0.5", 77, "NONSCALING")
        reply = client(*words)
        tap.ok(f"refused: {words[0]} {words[-1]!r}", isinstance(reply, Error) and
               reply.startswith("ERR petal: "), reply)
    client("PETAL.RESERVE", "count", "0.01", 100, "SCHEME", "counting")
    client("PETAL.MADD", "count", "a", "a", "b")
    tap.equals("counting", [
        (client("PETAL.REMOVE", "count", "a", "x"), [1, 0]),
        (client("PETAL.MEXISTS", "count", "a", "b"), [1, 1]),
        (client("PETAL.REMOVE", "count", "a", "b"), [1, 1]),
        (client("PETAL.MEXISTS", "count", "a", "b"), [0, 0]),
    ])
    client("PETAL.RESERVE", "m1", "0.01", 1000, "NONSCALING")
    client("PETAL.RESERVE", "m2", "0.01", 1000, "NONSCALING")
    client("PETAL.MADD", "m2", *range(100))
    tap.equals("merging", [(client("PETAL.MERGE", "m1", "m2", "k"), "OK"),
                           (client("PETAL.MEXISTS", "m1", "a", "99", "none"), [1, 1, 0]),
                           (client("PETAL.MERGE", "m1", "gone"), missing)])
    client("PETAL.RESERVE", "hour", "0.01", 100, "WINDOWMS", 3600000)
    client("PETAL.ADD", "hour", "a")
    now = client("PETAL.ADVANCE", "hour")
    tap.equals("a window of time", [
        (client("PETAL.EXISTS", "hour", "a"), 1),
        (client("PETAL.ADVANCE", "hour", now - 1000), now),
        (client("PETAL.ADVANCE", "hour", now + 3600000), now + 3600000),
        (client("PETAL.EXISTS", "hour", "a"), 1)])


def check_fold(tap, program):
    """Tests that PETAL.FOLD gives the same filter as creating it at the smaller size, including on
    a replica and after loading the AOF."""
    with Server(program, "--appendonly", "yes", "--appendfsync", "always", "--aof-use-rdb-preamble",
                "no", port=True) as server, Server(program, port=True) as other:
        client, replica = server.connect(), other.connect()
        follow(replica, server)
        kinds = {"one size": ["NONSCALING"], "growing": [],
                 "classic": ["SCHEME", "classic", "SEED", 7]}
        for kind, words in kinds.items():
            client("PETAL.RESERVE", kind, "0.01", 1000000, "FOLDABLE", *words)
            for at in range(0, len(KEYS), 500):
                client("PETAL.MADD", kind, *KEYS[at:at + 500])
            large = dict_of(client("PETAL.INFO", kind))
            bits_now = client("PETAL.FOLD", kind)
            small = dict_of(client("PETAL.INFO", kind))
            tap.equal(f"{kind}: folded, it has its items, its rate, and few bytes",
                      (bits_now, sum(client("PETAL.MEXISTS", kind, *KEYS)), small["items"],
                       small["rate"], small["bytes"] < 7000 < large["bytes"] // 100,
                       small["policy"], client("PETAL.FOLD", kind)),
                      (small["bits"], len(KEYS), len(KEYS), large["rate"], True, "none",
                       small["bits"]))
            client("PETAL.RESERVE", kind + " small", "0.01", 1000000, "FOLDABLE", *words)
            client("PETAL.MADD", kind + " small", *KEYS)
            tap.equal(f"{kind}: to these bits it is the same filter",
                      (client("PETAL.FOLD", kind + " small", "BITS", small["bits"]),
                       digest(client, kind + " small")), (small["bits"], digest(client, kind)))
            client("PETAL.RESERVE", kind + " room", "0.001", 1000000, "FOLDABLE", *words)
            client("PETAL.MADD", kind + " room", *KEYS)
            client("PETAL.FOLD", kind + " room", "rate", "0.02", "capacity", 100000)
            room = dict_of(client("PETAL.INFO", kind + " room"))
            tap.ok(f"{kind}: at another rate, with room for more",
                   room["capacity"] >= 100000 and float(room["rate"]) == 0.02 and
                   room["bits"] > 10 * small["bits"], room)
        names = [kind + more for kind in kinds for more in ("", " small", " room")]
        before = [digest(client, name) for name in names]
        caught_up(client, replica)
        tap.equal("a replica has folded them into the same bytes",
                  [digest(replica, name) for name in names], before)
        server.restart()
        client = server.connect()
        tap.equal("and so has a server that runs the AOF", [digest(client, n) for n in names],
                  before)
        offset = int(info(client, "replication")["master_repl_offset"])
        for _ in range(50):
            client("PETAL.FOLD", "one size")
        sent = int(info(client, "replication")["master_repl_offset"]) - offset
        tap.ok("a fold that changes nothing is not sent", sent < 500, sent)
        client("PETAL.RESERVE", "count", "0.01", 100, "SCHEME", "counting")
        client("PETAL.RESERVE", "window", "0.01", 100, "WINDOW")
        client("PETAL.RESERVE", "grown", "0.01", 100)
        client("PETAL.MADD", "grown", *KEYS)
        client("BF.ADD", "bloom", "a")
        for words in (["count"], ["window"], ["grown"], ["bloom"], ["one size", "BITS", 7777],
                      ["one size", "BITS", 0], ["one size", "RATE", 0], ["one size", "RATE", 2],
                      ["one size", "RATE", "nan"], ["one size", "CAPACITY", -1],
                      ["one size", "JUNK", 5], ["one size", "RATE", "1e-300"],
                      ["one size", "BITS", 512, "CAPACITY", 5]):
            was = digest(client, words[0])
            reply = client("PETAL.FOLD", *words)
            tap.ok(f"refused: PETAL.FOLD {words}", isinstance(reply, Error) and
                   reply.startswith("ERR petal: ") and digest(client, words[0]) == was, reply)
        docs = client("COMMAND", "DOCS", "petal.fold")
        told = dict_of(docs[1]) if len(docs) == 2 else {}
        tap.equal("the server describes PETAL.FOLD and its options",
                  (told.get("complexity"),
                   [dict_of(word).get("token") for word in told.get("arguments", [])]),
                  (b"O(n), where n is the size of the filter",
                   [None, b"RATE", b"CAPACITY", b"BITS"]))
        client("ACL", "SETUSER", "reader", "on", ">p", "~*", "+@read", "+@connection")
        limited = server.connect()
        limited("AUTH", "reader", "p")
        refused = limited("PETAL.FOLD", "one size")
        tap.ok("who may only read may not fold", isinstance(refused, Error) and
               refused.startswith("NOPERM"), refused)
        client("SET", "s", "x")
        tap.equals("PETAL.FOLD of other keys", [
            (client("PETAL.FOLD", "none"), Error("ERR not found")),
            (client("PETAL.FOLD", "s"), Error(
                "WRONGTYPE Operation against a key holding the wrong kind of value")),
            (isinstance(client("PETAL.FOLD", "one size", "BITS"), Error), True)])
        client("PETAL.RESERVE", "large", "0.01", 1000000, "FOLDABLE")
        held = dict_of(client("PETAL.INFO", "large"))["bytes"]
        client("CONFIG", "SET", "bf.memory-limit", held + 100)
        reply = client("PETAL.FOLD", "large", "CAPACITY", 400000)
        client("CONFIG", "SET", "bf.memory-limit", 0)
        tap.ok("while both filters would be above bf.memory-limit it is refused",
               isinstance(reply, Error) and "bf.memory-limit" in reply and
               dict_of(client("PETAL.INFO", "large"))["bytes"] == held, reply)
        for scheme, words in {"blocked": [300000000], "classic": [20000000]}.items():
            client("PETAL.RESERVE", "huge", "0.01", *words, "SCHEME", scheme, "FOLDABLE")
            reply = client("PETAL.FOLD", "huge")
            tap.ok(f"what would stop the server for too long is refused: {scheme}",
                   isinstance(reply, Error) and "petal-redis pull" in reply, reply)
            client("DEL", "huge")
        used = int(info(client, "memory")["used_memory"])
        tap.ok("folding gives the memory back", client("PETAL.FOLD", "large") > 0 and
               used - int(info(client, "memory")["used_memory"]) > held * 9 // 10)


def dict_of(reply):
    return {reply[i].decode() if isinstance(reply[i], bytes) else reply[i]: reply[i + 1]
            for i in range(0, len(reply), 2)}


def load(client, key, part, image, piece, start=0):
    reply = None
    for at in range(start, len(image), piece):
        reply = client("PETAL.LOAD", key, part, at, len(image), image[at:at + piece])
    return reply


def check_load(tap, server, client, folder):
    image = open(f"{folder}/blocked.petal", "rb").read()
    client("DEL", "file", "part")
    client("PETAL.RESERVE", "file", "0.01", 10)
    client("PETAL.ADD", "file", "old")
    client("PETAL.LOAD", "file", "part", 0, len(image), image[:1000])
    tap.equals("pieces", [
        (client("PETAL.LOAD", "file", "part", 1000, len(image), image[1000:2000]), 2000),
        (client("PETAL.LOAD", "file", "part"), 2000),
        (client("PETAL.LOAD", "file", "part", 1000, len(image), image[1000:2000]),
         Error("ERR petal: 2000 bytes have come; go on there")),
        (client("PETAL.LOAD", "file", "part", 2000, 5000, image[2000:3000]),
         Error(f"ERR petal: another file is being loaded under this name: {len(image)} bytes")),
        (client("PETAL.EXISTS", "file", "old"), 1),
        (client("PETAL.ADD", "part", "x"), Error(
            "WRONGTYPE Operation against a key holding the wrong kind of value")),
    ])
    client("SAVE")
    server.restart()
    client = server.connect()
    come = client("PETAL.LOAD", "file", "part")
    done = load(client, "file", "part", image, 1000, come)
    tap.equal("after a restart it goes on, and the filter is replaced at the end",
              (come, done, client("EXISTS", "part"), client("PETAL.MEXISTS", "file", *KEYS[:500])),
              (2000, len(image), 0, [1] * 500))
    before = digest(client, "file")
    bad = bytearray(image)
    bad[len(image) // 2] ^= 1
    reply = load(client, "file", "part", bytes(bad), 1000)
    tap.ok("a damaged file is refused in the core's words; the old filter stays",
           isinstance(reply, Error) and reply.startswith("ERR petal: ") and "checksum" in reply and
           digest(client, "file") == before and client("EXISTS", "part") == 0, reply)
    client("CONFIG", "SET", "bf.memory-limit", 1000)
    reply = client("PETAL.LOAD", "file", "part", 0, len(image), image[:100])
    client("CONFIG", "SET", "bf.memory-limit", 0)
    tap.ok("a file above bf.memory-limit is refused", isinstance(reply, Error) and
           client("EXISTS", "part") == 0, reply)
    return client


def check_static(tap, server, client, folder):
    """Tests static filters with one layer and with several layers: queries are answered, and
    commands that would change the filter are refused with a reason."""
    for count in 400, 100000:
        key, path = f"static {count}", f"{folder}/{count}.static"
        keys = [f"https://a.example/{i}" for i in range(count)]
        made = tool("petal", "build", "--scheme", "static", "-o", path, text="\n".join(keys))
        pushed = push_or_pull("push", "unix:" + server.socket, key, path)
        known = tool("petal", "check", path, text="\n".join(ABSENT) + "\n").stdout.split()
        tap.equal(f"{key}: pushed, it answers like the file",
                  (made.returncode, pushed.returncode, client("PETAL.MEXISTS", key, *keys[:3000]),
                   [ABSENT[i] for i, bit in enumerate(client("PETAL.MEXISTS", key, *ABSENT))
                    if bit], client("PETAL.CARD", key)),
                  (0, 0, [1] * min(count, 3000), known, count))
        before = digest(client, key)
        replies = [client("PETAL.ADD", key, keys[0]), client("PETAL.ADD", key, "new"),
                   *client("PETAL.MADD", key, keys[0], "new"), client("PETAL.PATCH", key, "x"),
                   client("PETAL.MERGE", key, key), client("PETAL.MERGE", "merged", key, key)]
        client("COPY", key, key + " copied")
        client("DEBUG", "RELOAD")
        pulled = push_or_pull("pull", "unix:" + server.socket, key + " copied", path + ".back")
        tap.ok(f"{key}: what would change it is refused, and says why",
               all(isinstance(reply, Error) and "static filter" in reply for reply in replies) and
               digest(client, key) == before and client("EXISTS", "merged") == 0, replies)
        tap.ok(f"{key}: copied, saved, loaded and pulled, it is the file", pulled.returncode == 0 and
               open(path, "rb").read() == open(path + ".back", "rb").read(), pulled.stderr)
    reply = client("PETAL.RESERVE", "k3", "0.01", 100, "SCHEME", "static")
    tap.ok("PETAL.RESERVE: a static filter is built elsewhere, and loaded",
           isinstance(reply, Error) and "petal-redis push" in reply, reply)


def check_tool(tap, program, folder):
    with Server(program, "--requirepass", "a pass", port=True) as server:
        client = server.connect()
        client("AUTH", "a pass")
        environment = dict(os.environ, REDISCLI_AUTH="a pass")
        address, path = f"127.0.0.1:{server.port}", f"{folder}/classic.petal"

        def run(verb, key, file, *options, env=environment):
            words = ["petal-redis", verb, *options, address, key, file]
            return subprocess.run(words, capture_output=True, text=True, env=env, check=False)

        refused = run("push", "k", path, env=os.environ)
        tap.ok("petal-redis needs the password", refused.returncode == 1 and "NOAUTH" in
               refused.stderr, refused.stderr)
        tap.equal("petal-redis with a password, in small pieces",
                  run("push", "k", path, "--piece", "100").returncode, 0)
        bloom = f"{folder}/bloom.redis"
        tool("petal", "build", "-n", "3000", "-p", "0.01", "--to", "redisbloom", "-o", bloom,
             text="\n".join(KEYS))
        pushed = run("push", "bloom", bloom, "--from", "redisbloom", "--piece", "1000")
        pulled = run("pull", "bloom", bloom + ".back", "--to", "redisbloom")
        tap.equal("RedisBloom's filters are pushed to BF.*, and pulled byte for byte",
                  (pushed.returncode, pulled.returncode, client("TYPE", "bloom"),
                   client("BF.MEXISTS", "bloom", *KEYS[:100]), client("KEYS", "*part*"),
                   os.path.exists(bloom + ".back") and
                   open(bloom, "rb").read() == open(bloom + ".back", "rb").read()),
                  (0, 0, "MBbloom--", [1] * 100, [], True))
        tap.equal("petal-redis: what is not there, or no server",
                  (run("pull", "none", folder + "/x").returncode,
                   tool("petal-redis", "pull", "127.0.0.1:1", "k", folder + "/x").returncode,
                   tool("petal-redis", "pull").returncode), (1, 1, 2))
        # If a run is interrupted, the next run continues from the partial file that was left
        # behind.
        parts = f"{folder}/half"
        run("pull", "k", parts)
        whole = open(parts, "rb").read()
        bits_of = b""
        iterator = 1
        while iterator:
            iterator, chunk = client("PETAL.DUMP", "k", iterator)
            bits_of += chunk
        os.remove(parts)
        open(parts + ".part", "wb").write(bits_of[:1000])
        again = run("pull", "k", parts)
        tap.ok("pull goes on where it broke off", again.returncode == 0 and "after 1000" in
               again.stderr and open(parts, "rb").read() == whole, again.stderr)


def check_tls(tap, program, folder):
    if tool("openssl", "version").returncode != 0:
        return
    made = tool("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
                "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout",
                f"{folder}/key.pem", "-out", f"{folder}/cert.pem")
    assert made.returncode == 0, made.stderr
    from servers import free_port
    port = free_port()
    try:
        server = Server(program, "--tls-port", port, "--tls-cert-file", f"{folder}/cert.pem",
                        "--tls-key-file", f"{folder}/key.pem", "--tls-ca-cert-file",
                        f"{folder}/cert.pem", "--tls-auth-clients", "no")
    except RuntimeError:
        print(f"ok 0 - {tap.about}: TLS # SKIP this server was built without TLS: this machine")
        return
    with server:
        address, path = f"localhost:{port}", f"{folder}/classic.petal"
        known = ["--tls", "--cacert", f"{folder}/cert.pem"]
        good = push_or_pull("push", address, "k", path, *known)
        unknown = push_or_pull("push", address, "k", path, "--tls")
        name = push_or_pull("push", f"127.0.0.1:{port}", "k", path, *known)
        tap.equal("TLS: a known certificate, an unknown one, and one of another name",
                  (good.returncode, server.connect()("EXISTS", "k"), unknown.returncode,
                   name.returncode), (0, 1, 1, 1))
        tap.ok("it says why", "certificate verify failed" in unknown.stderr, unknown.stderr)


def make_all(client):
    kinds = {**{kind: words for kind, (words, _) in KINDS.items()}, **OTHERS}
    for kind, words in kinds.items():
        client("PETAL.RESERVE", kind, "0.01", 500, *words)
        client("PETAL.MADD", kind, *range(700))
        client("PETAL.MADDB", kind, pack([str(i) for i in range(600, 800)]))
        client("PETAL.ADD", kind, "one")
        client("PETAL.ADD", kind, "one")
        client("PETAL.REMOVE", kind, "one", "5", "x")
    client("PETAL.MERGE", "blocked", "blocked")
    return list(kinds)


def check_persistence(tap, program, folder):
    secret = f"{folder}/secret"
    with open(secret, "w") as file:
        file.write(SECRET + "\n")
    os.chmod(secret, 0o600)
    keyed = ["--bf.secret-file", secret]
    with Server(program, *keyed, port=True) as one, Server(program, *keyed, port=True) as two:
        master, replica = one.connect(), two.connect()
        follow(replica, one)
        kinds = make_all(master)
        image = open(f"{folder}/classic.petal", "rb").read()
        load(master, "loaded", "loading", image, 1000)
        master("PETAL.LOAD", "half", "halfway", 0, len(image), image[:1000])
        kinds += ["loaded", "halfway"]
        caught_up(master, replica)
        before = [digest(master, kind) for kind in kinds]
        tap.equal("a replica has the same filters of all kinds",
                  [digest(replica, kind) for kind in kinds], before)
        offset = int(info(master, "replication")["master_repl_offset"])
        for _ in range(50):
            master("PETAL.MADD", "blocked", "1", "2", "3")
            master("PETAL.ADD", "growing", "1")
        sent = int(info(master, "replication")["master_repl_offset"]) - offset
        tap.ok("what changes nothing is not sent", sent < 500, sent)
        dumps = [master("DUMP", kind) for kind in kinds]
        tap.equal("DEBUG RELOAD", (master("DEBUG", "RELOAD"), [digest(master, k) for k in kinds]),
                  ("OK", before))
        with Server(program) as other:
            client = other.connect()
            replies = {kind: client("RESTORE", kind, 0, dump) for kind, dump in zip(kinds, dumps)}
            tap.ok("RESTORE without the secret: all but keyed filters",
                   all((reply == "OK") == ("keyed" not in kind) for kind, reply in replies.items()),
                   replies)
            tap.ok("the log says why", "secret" in other.read_log(), other.read_log()[-500:])
    for preamble in ("yes", "no"):
        with Server(program, *keyed, "--appendonly", "yes", "--appendfsync", "always",
                    "--aof-use-rdb-preamble", preamble) as server:
            client = server.connect()
            kinds = make_all(client)
            client("PETAL.LOAD", "half", "halfway", 0, len(image), image[:1000])
            kinds += ["halfway"]
            before = [digest(client, kind) for kind in kinds]
            rewrite(client)
            server.restart()
            client = server.connect()
            tap.equal(f"AOF rewritten (RDB preamble: {preamble})",
                      [digest(client, kind) for kind in kinds], before)


def check_corrupt(tap, program, count, folder):
    with Server(program, "--loglevel", "warning") as server:
        client, rng = server.connect(), random.Random(15)
        client("CONFIG", "SET", "bf.memory-limit", 2**24)
        client("CONFIG", "SET", "sanitize-dump-payload", "no")
        client("CONFIG", "SET", "rdbcompression", "no")
        payloads = []
        for kind, words in {**{k: w for k, (w, _) in KINDS.items()}, "window": ["WINDOW"]}.items():
            client("PETAL.RESERVE", kind, "0.1", 20, *words)
            client("PETAL.MADD", kind, *range(30))
            payloads.append(rdb.open_payload(client("DUMP", kind)))
        for keys in 400, 1000: # 400 keys need only pages, 1000 keys also a list of hashes
            file = f"{folder}/{keys}.corrupt"
            tool("petal", "build", "--scheme", "static", "-p", "1e-6", "-o", file,
                 text="\n".join(map(str, range(keys))))
            assert push_or_pull("push", "unix:" + server.socket, "static", file).returncode == 0
            payloads.append(rdb.open_payload(client("DUMP", "static")))
        taken = unusable = 0
        for _ in range(count):
            value, version = rng.choice(payloads)
            head = rng.random() < 0.5  # half of the mutations change only the header
            changed = mutate(rng, value[:200]) + value[200:] if head else mutate(rng, value)
            if client("RESTORE", "k", 0, rdb.seal(changed, version)) == "OK":
                taken += 1
                client("PETAL.MEXISTS", "k", "a", "b")
                client("PETAL.MADD", "k", "a", "b")
                dump = client("DUMP", "k")
                unusable += client("RESTORE", "k", 0, dump, "REPLACE") != "OK"
            client("DEL", "k")
        tap.ok(f"{count} corrupt values with valid checksums: {taken} taken, all usable (seed 15)",
               taken > 0 and unusable == 0 and client("PING") == "PONG", unusable)


def main():
    name, program, count = sys.argv[1:]
    tap = Tap(name)
    folder = tempfile.mkdtemp()
    try:
        with Server(program) as server:
            client = server.connect()
            check_kinds(tap, server, client, folder)
            check_replies(tap, client)
            check_load(tap, server, client, folder)
        with Server(program, "--enable-debug-command", "yes") as server:
            check_static(tap, server, server.connect(), folder)
        check_fold(tap, program)
        check_tool(tap, program, folder)
        check_tls(tap, program, folder)
        check_persistence(tap, program, folder)
        check_corrupt(tap, program, int(count), folder)
    finally:
        shutil.rmtree(folder)


main()
