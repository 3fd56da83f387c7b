"""valkey_bloom.py NAME SERVER PAYLOADS - tests valkey-bloom 1.0 filters in this module: options,
arguments, replies and messages, files created by valkey-bloom's crates (vectors/valkey-bloom),
growth, RDB, AOF, replicas, COPY, limits, the page about moving from valkey-bloom, and corrupted
values."""

import glob
import random
import re
import signal
import struct
import sys

import rdb
from effects import caught_up, digest, follow, info, mutate, rewrite
from pages import run_blocks
from servers import Error, Map, Server, Tap

SEED = 9
VECTORS = "vectors/valkey-bloom"
VALKEY = ["--bf.compat", "valkey"]
FIXED = [*VALKEY, "--bf.bloom-use-random-seed", "no"]
WRONG_TYPE = Error("WRONGTYPE Operation against a key holding the wrong kind of value")
FULL = Error("ERR non scaling filter is full")
TOO_BIG = Error("ERR operation exceeds bloom object memory limit")
BAD_RATE, RATE_RANGE = Error("ERR bad error rate"), Error("ERR (0 < error rate range < 1)")
BAD_RATIO = Error("ERR bad tightening ratio")
RATIO_RANGE = Error("ERR (0 < tightening ratio range < 1)")
BAD_CAPACITY = Error("ERR bad capacity")
NO_CAPACITY = Error("ERR (capacity should be larger than 0)")
BAD_EXPANSION, UNKNOWN = Error("ERR bad expansion"), Error("ERR unknown argument received")
BAD_SEED, NOT_FOUND = Error("ERR invalid seed"), Error("ERR not found")
BAD_FIELD = Error("ERR invalid information value")
UNDECODED = Error("ERR bloom object decoding failed")
SCALE_TOO_BIG = Error("ERR provided VALIDATESCALETO causes bloom object to exceed memory limit")
SCALE_TO_0 = Error("ERR provided VALIDATESCALETO causes false positive to degrade to 0")
NOT_BOTH = Error("ERR cannot use NONSCALING and VALIDATESCALETO options together")
GIVEN_SEED = "0123456789abcdefghijklmnopqrstuv"


def arity(command):
    return Error(f"ERR wrong number of arguments for '{command}' command")


# ---- files made by its crates --------------------------------------------------------------------


def read_vectors():
    """Returns a dictionary that maps each file name to the file's bytes and keys."""
    files, name = {}, ""
    with open(f"{VECTORS}/vectors.txt", encoding="ascii") as lines:
        for line in map(str.split, lines):
            if line[0] == "file":
                name = line[1]
                with open(f"{VECTORS}/{name}", "rb") as file:
                    files[name] = file.read(), []
            elif line[0] == "ins":
                prefix = "" if line[1] == "-" else line[1]
                files[name][1].extend(f"{prefix}{i}".encode()
                                      for i in range(int(line[2]), int(line[3]) + 1))
            elif line[0] == "in":
                files[name][1].append(b"" if line[1] == "-" else bytes.fromhex(line[1]))
    return files


def layers_of(payload):
    """Returns the parts of a BF.LOAD payload: its header, and for each layer the string, the number
    of keys and the capacity."""
    head, at = struct.unpack_from("<BIddBQ", payload), 30
    layers = []
    for _ in range(head[5]):
        size, = struct.unpack_from("<Q", payload, at)
        string = payload[at + 8:at + 8 + size]
        layers.append((string, *struct.unpack_from("<QQ", payload, at + 8 + size)))
        at += 8 + size + 16
    assert at == len(payload)
    return head, layers


def length(number):
    """Encodes a length as in RDB files, in 6, 14, 32 or 64 bits."""
    if number < 64:
        return bytes([number])
    if number < 1 << 14:
        return struct.pack(">H", 0x4000 | number)
    return b"\x80" + struct.pack(">I", number) if number < 1 << 32 else b"\x81" + struct.pack(
        ">Q", number)


LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


def unsigned(number):
    return length(2) + length(number)


def value_of(payload, name="bloomfltr", encoding=1):
    """Encodes a value as in valkey-bloom's RDB files."""
    head, layers = layers_of(payload)
    kind = 0
    for letter in name:
        kind = kind << 6 | LETTERS.index(letter)
    value = b"\x07" + length(kind << 10 | encoding) + unsigned(len(layers)) + unsigned(head[1])
    value += b"".join(length(4) + struct.pack("<d", rate) for rate in head[2:4])
    value += unsigned(head[4])
    for number, (string, keys, capacity) in enumerate(layers):
        value += length(5) + length(len(string)) + string + unsigned(capacity)
        if number + 1 == len(layers):
            value += unsigned(keys)
    return value + length(0)


def load_commands(server):
    """Returns a dictionary that maps each key to its BF.LOAD payload in a rewritten AOF."""
    found = {}
    for path in glob.glob(server.folder + "/**/*.aof", recursive=True):
        with open(path, "rb") as file:
            data = file.read()
        for match in re.finditer(rb"\*3\r\n\$7\r\nBF.LOAD\r\n\$\d+\r\n(.*?)\r\n\$(\d+)\r\n", data):
            found[match[1].decode()] = data[match.end():match.end() + int(match[2])]
    return found


def check_vectors(tap, program):
    files = read_vectors()
    whole = ["--rdbcompression", "no", "--appendonly", "yes", "--aof-use-rdb-preamble", "no"]
    with Server(program, *whole) as server:
        client = server.connect()
        client("SET", "any", "thing")
        version = rdb.open_payload(client("DUMP", "any"))[1]
        tap.equals(f"BF.LOAD of {len(files)} files that its crates made", [
            (client("BF.LOAD", name, payload), "OK", name)
            for name, (payload, _) in files.items()])
        keys = [(name, key) for name, (_, keys) in files.items() for key in keys]
        tap.equals(f"all {len(keys)} keys of them are in", [
            (client("BF.MEXISTS", name, *keys), [1] * len(keys), name)
            for name, (_, keys) in files.items() if keys])
        tap.equals("their values are bloomfltr, encoding 1, field for field", [
            (rdb.open_payload(client("DUMP", name))[0], value_of(payload), name)
            for name, (payload, _) in files.items()])
        tap.equals("such values are read", [
            (client("RESTORE", name + "-", 0, rdb.seal(value_of(payload), version)), "OK", name)
            for name, (payload, _) in files.items()])
        tap.equals("and are the same", [
            (digest(client, name + "-"), digest(client, name), name) for name in files])
        payload = next(iter(files.values()))[0]
        tap.equals("of another encoding they are refused", [
            (type(client("RESTORE", "n", 0, rdb.seal(value_of(payload, encoding=n), version))),
             Error, n) for n in (0, 2)])
        rewrite(client)
        loads = load_commands(server)
        tap.equals("a rewritten AOF has the files, byte for byte", [
            (loads.get(name + more), payload, name) for name, (payload, _) in files.items()
            for more in ("", "-")])
        before = [digest(client, name) for name in files]
        server.stop(signal.SIGKILL)
        server.start()
        client = server.connect()
        tap.equal("and is read", [digest(client, name) for name in files], before)


def check_rebuilding(tap, program):
    """Tests that the same commands produce the same files that valkey-bloom's crates created with
    the fixed seed."""
    files = {name: file for name, file in read_vectors().items() if name.startswith("fixed")}
    with Server(program, *FIXED, "--appendonly", "yes", "--aof-use-rdb-preamble", "no") as server:
        client = server.connect()
        for name, (payload, keys) in files.items():
            capacity, rate = re.search(r"n(\d+)_p([^_]*?)(?:_|\.bin)", name).groups()
            client("BF.RESERVE", name, rate, capacity)
            for at in range(0, len(keys), 999):
                client("BF.MADD", name, *keys[at:at + 999])
        rewrite(client)
        loads = load_commands(server)
        tap.equals(f"{len(files)} filters with the fixed seed are its crates' files", [
            (loads.get(name), payload, name) for name, (payload, _) in files.items()])


# ---- options -------------------------------------------------------------------------------------


OPTIONS = {"bloom-capacity": ("777", "778"), "bloom-expansion": ("3", "0"),
           "bloom-fp-rate": ("0.125", "0.25"), "bloom-tightening-ratio": ("0.75", "0.5"),
           "bloom-use-random-seed": ("no", "yes"), "bloom-defrag-enabled": ("no", "yes"),
           "bloom-memory-usage-limit": ("1000000", "2000000")}
DEFAULTS = {"bloom-capacity": "100", "bloom-expansion": "2", "bloom-fp-rate": "0.01",
            "bloom-tightening-ratio": "0.5", "bloom-use-random-seed": "yes",
            "bloom-defrag-enabled": "yes", "bloom-memory-usage-limit": str(128 << 20)}
REFUSED = [("bloom-capacity", "0"), ("bloom-capacity", "-1"), ("bloom-expansion", "-1"),
           ("bloom-expansion", 2**32), ("bloom-fp-rate", "0"), ("bloom-fp-rate", "1"),
           ("bloom-fp-rate", "x"), ("bloom-tightening-ratio", "0"),
           ("bloom-tightening-ratio", "1"), ("bloom-memory-usage-limit", "-1"),
           ("bloom-use-random-seed", "2")]


def get(client, name):
    return client("CONFIG", "GET", "bf." + name)[1].decode()


def check_options(tap, program):
    with Server(program) as server:
        client = server.connect()
        tap.equal("defaults", {name: get(client, name) for name in DEFAULTS}, DEFAULTS)
        tap.equals("what is no such value is refused", [
            (type(client("CONFIG", "SET", "bf." + name, value)), Error, name, value)
            for name, value in REFUSED])
    words = [word for name, (value, _) in OPTIONS.items() for word in ("--bf." + name, value)]
    with Server(program, *VALKEY, *words) as server:
        client = server.connect()
        tap.equal("all of its options at start", {name: get(client, name) for name in OPTIONS},
                  {name: value for name, (value, _) in OPTIONS.items()})
        client("BF.ADD", "k", "x")
        tap.equal("and they hold", client("BF.INFO", "k")[:2] + client("BF.INFO", "k")[8:14],
                  ["Capacity", 777, "Error rate", b"0.125", "Expansion rate", 3,
                   "Tightening ratio", b"0.75"])
        client("BF.ADD", "l", "x")
        tap.ok("one seed for all", digest(client, "k") == digest(client, "l"))
        tap.equals("and by CONFIG SET", [
            ((client("CONFIG", "SET", "bf." + name, value), get(client, name)), ("OK", value), name)
            for name, (_, value) in OPTIONS.items()])
        client("BF.ADD", "m", "x")
        client("BF.ADD", "n", "x")
        tap.equal("those hold, too", client("BF.INFO", "m")[:2] + client("BF.INFO", "m")[8:],
                  ["Capacity", 778, "Error rate", b"0.25", "Expansion rate", None])
        tap.ok("a seed for each", digest(client, "m") != digest(client, "n"))


# ---- words and texts -----------------------------------------------------------------------------


CASES = [
    ("BF.RESERVE k x 100", BAD_RATE), ("BF.RESERVE k 0 100", RATE_RANGE),
    ("BF.RESERVE k 1 100", RATE_RANGE), ("BF.RESERVE k -1 100", RATE_RANGE),
    ("BF.RESERVE k 0.01 x", BAD_CAPACITY), ("BF.RESERVE k 0.01 1.5", BAD_CAPACITY),
    ("BF.RESERVE k 0.01 -1", BAD_CAPACITY), ("BF.RESERVE k 0.01 0", NO_CAPACITY),
    ("BF.RESERVE k 0.01 9223372036854775808", BAD_CAPACITY),
    ("BF.RESERVE k 0.01 9223372036854775807", TOO_BIG),
    ("BF.RESERVE k 0.01 100000000000", TOO_BIG),
    ("BF.RESERVE k 0.01 10 EXPANSION", Error("ERROR")),
    ("BF.RESERVE k 0.01 10 JUNK", Error("ERROR")), ("BF.RESERVE k 0.01 10 JUNK 2", Error("ERROR")),
    ("BF.RESERVE k 0.01 10 NONSCALING 2", Error("ERROR")),
    ("BF.RESERVE k 0.01 10 EXPANSION x", BAD_EXPANSION),
    ("BF.RESERVE k 0.01 10 EXPANSION 0", BAD_EXPANSION),
    ("BF.RESERVE k 0.01 10 EXPANSION 4294967296", BAD_EXPANSION),
    ("BF.RESERVE k 0.01 10 EXPANSION 4294967295", "OK"),
    ("BF.RESERVE k 0.01 10 nonscaling", "OK"), ("BF.RESERVE k 0.01 10 expansion 3", "OK"),
    ("BF.RESERVE k 0.9 10", "OK"), ("BF.RESERVE k 1e-300 10", "OK"),
    ("BF.RESERVE k 0.01", arity("BF.RESERVE")),
    ("BF.RESERVE k 0.01 10 EXPANSION 2 NONSCALING", arity("BF.RESERVE")),
    ("BF.RESERVE full 0.01 10", Error("ERR item exists")), ("BF.RESERVE s 0.01 10", WRONG_TYPE),
    ("BF.INSERT", arity("BF.INSERT")), ("BF.INSERT k", []), ("BF.INSERT k ITEMS", arity("BF.INSERT")),
    ("BF.INSERT k CAPACITY", arity("BF.INSERT")), ("BF.INSERT k ITEMS a b a", [1, 1, 0]),
    ("BF.INSERT k NOCREATE", NOT_FOUND), ("BF.INSERT k NOCREATE ITEMS a", NOT_FOUND),
    ("BF.INSERT k JUNK", UNKNOWN), ("BF.INSERT k C 200 ITEMS a", UNKNOWN),
    ("BF.INSERT k ERROR x ITEMS a", BAD_RATE), ("BF.INSERT k ERROR 1 ITEMS a", RATE_RANGE),
    ("BF.INSERT k ERROR 0 ITEMS a", RATE_RANGE), ("BF.INSERT k CAPACITY x ITEMS a", BAD_CAPACITY),
    ("BF.INSERT k CAPACITY 0 ITEMS a", NO_CAPACITY),
    ("BF.INSERT k EXPANSION 0 ITEMS a", BAD_EXPANSION),
    ("BF.INSERT k EXPANSION x ITEMS a", BAD_EXPANSION),
    ("BF.INSERT k TIGHTENING x ITEMS a", BAD_RATIO),
    ("BF.INSERT k TIGHTENING 0 ITEMS a", RATIO_RANGE),
    ("BF.INSERT k TIGHTENING 1 ITEMS a", RATIO_RANGE),
    ("BF.INSERT k SEED short ITEMS a", BAD_SEED),
    (f"BF.INSERT k SEED {GIVEN_SEED}x ITEMS a", BAD_SEED),
    (f"BF.INSERT k SEED {GIVEN_SEED} ITEMS a", [1]),
    (f"BF.INSERT k seed {GIVEN_SEED} tightening 0.3 capacity 9 error 0.2 expansion 3 items a", [1]),
    ("BF.INSERT k VALIDATESCALETO 0", NO_CAPACITY), ("BF.INSERT k VALIDATESCALETO x", BAD_CAPACITY),
    ("BF.INSERT k NONSCALING VALIDATESCALETO 10", NOT_BOTH),
    ("BF.INSERT k VALIDATESCALETO 26214300", []),
    ("BF.INSERT k VALIDATESCALETO 26214301", SCALE_TOO_BIG),
    ("BF.INSERT k CAPACITY 1 EXPANSION 1 TIGHTENING 0.001 VALIDATESCALETO 1000", SCALE_TO_0),
    ("BF.INSERT k CAPACITY 100000000000", TOO_BIG), ("BF.INSERT s ITEMS a", WRONG_TYPE),
    ("BF.INSERT full", []), ("BF.INSERT full ITEMS a", [0]), ("BF.INSERT full ITEMS n", FULL),
    ("BF.ADD full n", FULL), ("BF.ADD full a", 0), ("BF.MADD full n m", FULL),
    ("BF.ADD s a", WRONG_TYPE), ("BF.MADD s a", WRONG_TYPE), ("BF.CARD s", WRONG_TYPE),
    ("BF.EXISTS s a", WRONG_TYPE), ("BF.MEXISTS s a b", WRONG_TYPE), ("BF.EXISTS k a", 0),
    ("BF.MEXISTS k a b", [0, 0]), ("BF.CARD k", 0), ("BF.CARD full", 2), ("BF.INFO k", NOT_FOUND),
    ("BF.INFO s", WRONG_TYPE), ("BF.INFO k SIZE", NOT_FOUND), ("BF.INFO full JUNK", BAD_FIELD),
    ("BF.INFO full CAPACITY", 2), ("BF.INFO full SIZE", 267), ("BF.INFO full filters", 1),
    ("BF.INFO full ITEMS", 2), ("BF.INFO full EXPANSION", None), ("BF.INFO full ERROR", b"0.01"),
    ("BF.INFO full TIGHTENING", BAD_FIELD), ("BF.INFO full MAXSCALEDCAPACITY", BAD_FIELD),
    ("BF.INFO full", ["Capacity", 2, "Size", 267, "Number of filters", 1,
                      "Number of items inserted", 2, "Error rate", b"0.01", "Expansion rate", None]),
    ("BF.INFO plain", ["Capacity", 100, "Size", 384, "Number of filters", 1,
                       "Number of items inserted", 0, "Error rate", b"0.01", "Expansion rate", 2,
                       "Tightening ratio", b"0.5", "Max scaled capacity", 26214300]),
    ("BF.INFO plain error", b"0.01"), ("BF.INFO plain TIGHTENING", b"0.5"),
    ("BF.INFO plain MAXSCALEDCAPACITY", 26214300), ("BF.INFO tiny ERROR", b"0.0000012345"),
    ("BF.LOAD k", arity("BF.LOAD")), ("BF.LOAD k 2", Error(UNDECODED + ". Unsupported version")),
    ("BF.LOAD full x", Error("BUSYKEY Target key name already exists.")), ("BF.LOAD s x", WRONG_TYPE),
    ("BF.LOADCHUNK full 1 x", WRONG_TYPE), ("BF.SCANDUMP full 0", WRONG_TYPE),
]


def prepare(client):
    client("SET", "s", "text")
    client("BF.RESERVE", "full", "0.01", 2, "NONSCALING")
    client("BF.MADD", "full", "a", "b")
    client("BF.RESERVE", "plain", "0.01", 100)
    client("BF.RESERVE", "tiny", "0.0000012345", 10)


def head_of(rate=0.01, ratio=0.5, random=1, layers=1, version=1):
    return struct.pack("<BIddBQ", version, 2, rate, ratio, random, layers)


def layer_of(bits=b"\0" * 8, hashes=7, seed=b"s" * 32, keys=0, capacity=5, version=1, size=None):
    size = len(bits) if size is None else size
    return struct.pack("<QBQI", (45 + size) % 2**64, version, size, hashes) + seed + bits + struct.pack(
        "<QQ", keys, capacity)


LOADS = [
    (head_of() + layer_of(), "OK"), (b"", UNDECODED), (b"\1", UNDECODED), (head_of(), UNDECODED),
    (head_of(rate=0.0) + layer_of(), RATE_RANGE), (head_of(ratio=1.0) + layer_of(), RATE_RANGE),
    (head_of(rate=float("nan")) + layer_of(), RATE_RANGE), (head_of(random=2) + layer_of(), UNDECODED),
    (head_of(layers=0), UNDECODED), (head_of(layers=2) + layer_of(), UNDECODED),
    (head_of(layers=2**64 - 1) + layer_of(), Error("ERR bloom object reached max number of filters")),
    (head_of(layers=2) + layer_of() + layer_of(seed=b"t" * 32), UNDECODED),
    (head_of() + layer_of() + b"x", UNDECODED), (head_of() + layer_of()[:-1], UNDECODED),
    (head_of() + layer_of(hashes=0), UNDECODED), (head_of() + layer_of(hashes=1089), UNDECODED),
    (head_of() + layer_of(bits=b""), UNDECODED), (head_of() + layer_of(capacity=0), UNDECODED),
    (head_of() + layer_of(capacity=2**63), UNDECODED),
    (head_of() + layer_of(keys=2**63), UNDECODED),
    (head_of() + layer_of(version=2), UNDECODED), (head_of() + layer_of(size=2**48), UNDECODED),
    (head_of() + layer_of(size=2**64 - 45), UNDECODED), (head_of() + layer_of(size=9), UNDECODED),
    (head_of(layers=2) + layer_of(capacity=2**62) + layer_of(capacity=2**62), UNDECODED),
]


def check_words(tap, program):
    with Server(program, *FIXED) as server:  # another seed could cause a false positive
        client = server.connect()
        prepare(client)
        pairs = []
        for line, wanted in CASES:
            client("DEL", "k")
            pairs.append((client(*line.split()), wanted, line))
        tap.equals(f"{len(CASES)} words, replies and texts", pairs)
        pairs = []
        for payload, wanted in LOADS:
            client("DEL", "k")
            pairs.append((client("BF.LOAD", "k", payload), wanted, payload))
        tap.equals(f"{len(LOADS)} payloads of BF.LOAD", pairs)
        client("DEL", "k")
        client("BF.LOAD", "k", head_of(layers=2) + layer_of(keys=3, capacity=9) +
               layer_of(keys=99, capacity=7))
        before = digest(client, "k"), client("BF.CARD", "k")
        tap.equal("counts that a snapshot can't hold: the layers are full, before it and after",
                  (before[1], client("DEBUG", "RELOAD"), digest(client, "k"), client("BF.CARD", "k")),
                  (16, "OK", *before))
        three = server.connect(3)
        tap.equal("one field in RESP3, too", three("BF.INFO", "plain", "SIZE"), 384)
        tap.equals("RedisBloom's filters have their own fields, in its order", [
            (client("BF.LOADCHUNK", "old", 1, bytes.fromhex(
                "000000000000000001000000050000000200000090000000000000008004000000000000"
                "00000000000000007b14ae47e17a743fe9862fb2350e26400800000064000000000000000" "0")),
             "OK"),
            (client("BF.INFO", "old", "SIZE"), 240), (client("BF.INFO", "old", "ERROR"), BAD_FIELD)])
    with Server(program) as server:
        client, three = server.connect(), server.connect(3)
        tap.equals("words of its own make such a filter without bf.compat", [
            (client("BF.INSERT", "k", "SEED", GIVEN_SEED, "ITEMS", "a"), [1]),
            (client("TYPE", "k"), "bloomfltr"), (client("BF.EXISTS", "k", "a"), 1),
            (client("BF.INSERT", "l", "TIGHTENING", "0.25"), []), (client("TYPE", "l"), "bloomfltr"),
            (client("BF.INSERT", "m", "ITEMS", "SEED", "x"), [1, 1]),
            (client("TYPE", "m"), "MBbloom--"), (client("BF.INFO", "k", "SIZE"), [384]),
            (three("BF.INFO", "l", "TIGHTENING"), Map({"Tightening ratio": b"0.25"})),
            (client("BF.INSERT", "n"), arity("bf.insert"))])


# ---- growing, and what servers do with filters ---------------------------------------------------


def fill(client):
    """Returns a dictionary that maps each key to its number of items (0, 1, 2 and so on)."""
    counts = {"grown": 20000, "chain": 3000, "full": 5, "given": 300, "once": 1}
    client("BF.RESERVE", "chain", "0.000001", 3, "EXPANSION", 1)
    client("BF.INSERT", "full", "CAPACITY", 9, "NONSCALING")
    client("BF.INSERT", "given", "SEED", GIVEN_SEED, "TIGHTENING", "0.9", "ERROR", "0.123456789",
           "EXPANSION", 7, "CAPACITY", 11, "ITEMS", 0, 1)
    for key, count in counts.items():
        for at in range(0, count, 500):
            client("BF.MADD", key, *range(at, min(at + 500, count)))
    client("BF.INSERT", "empty", "ERROR", "0.2")
    return counts


def all_in(client, counts):
    return [sum(sum(client("BF.MEXISTS", key, *range(at, min(at + 1000, count))))
                for at in range(0, count, 1000)) for key, count in counts.items()]


def state(client, counts):
    return [(digest(client, key), client("BF.INFO", key)) for key in [*counts, "empty"]]


def check_growth(tap, program):
    with Server(program, *VALKEY, "--bf.bloom-tightening-ratio", "0.999") as server:
        client = server.connect()
        counts = fill(client)
        tap.equal("all keys are in", all_in(client, counts), list(counts.values()))
        tap.equal("layers of grown, given and full", [
            client("BF.INFO", key, "FILTERS") for key in ("grown", "given", "full")], [8, 3, 1])
        chain = client("BF.INFO", "chain", "FILTERS")
        tap.ok("a chain of more than 500 layers", chain > 500, chain)
        tap.equals("COPY", [((client("COPY", key, "c"), digest(client, "c"), client("DEL", "c")),
                             (1, digest(client, key), 1), key) for key in counts])
        before, seen = state(client, counts), info(client, "bf")
        tap.equal("DEBUG RELOAD", (client("DEBUG", "RELOAD"), state(client, counts)), ("OK", before))
        sums = [sum(state[1][at] for state in before) for at in (5, 7, 1)]
        wanted = dict(zip(("filters_across_objects", "items_across_objects"), map(str, sums)))
        again = info(client, "bf")
        tap.equals("INFO counts objects, layers, keys and capacity", [
            ([from_["bf_bloom_num_" + name] for name in wanted] +
             [from_["bf_bloom_num_objects"], from_["bf_bloom_capacity_across_objects"]],
             [*wanted.values(), str(len(before)), str(sums[2])]) for from_ in (seen, again)])
        client("FLUSHALL")
        tap.equals("and nothing after FLUSHALL", [
            (value, "0", name) for name, value in info(client, "bf").items()
            if name.startswith("bf_bloom") and "defrag" not in name])


def check_persistence(tap, program):
    for preamble in ("yes", "no"):
        with Server(program, *VALKEY, "--appendonly", "yes", "--appendfsync", "always",
                    "--aof-use-rdb-preamble", preamble) as server:
            client = server.connect()
            counts = fill(client)
            before = state(client, counts)
            for what in ("as it was written", "rewritten"):
                server.stop(signal.SIGKILL)
                server.options = [option.replace("valkey", "redisbloom") for option in server.options]
                server.start()
                client = server.connect()
                client("CONFIG", "SET", "bf.compat", "valkey")
                tap.equal(f"AOF {what} (RDB preamble: {preamble}), kill -9, then another bf.compat",
                          (state(client, counts), all_in(client, counts)),
                          (before, list(counts.values())))
                rewrite(client)


def check_replicas(tap, program):
    others = ["--bf.bloom-capacity", "7", "--bf.bloom-fp-rate", "0.3", "--bf.bloom-expansion", "5",
              "--bf.bloom-memory-usage-limit", "300"]
    with Server(program, *VALKEY, port=True) as one, \
            Server(program, *VALKEY, *others, port=True) as two, \
            Server(program, *others, port=True) as three:
        master = one.connect()
        replicas = [two.connect(), three.connect()]
        follow(replicas[0], one)
        counts = fill(master)
        follow(replicas[1], one)
        master("BF.MADD", "grown", *range(30000, 40000))
        master("BF.INSERT", "wide", "EXPANSION", 4000000000, "ITEMS", "x")
        master("BF.INSERT", "wide", "EXPANSION", 4000000000, "ITEMS", "y")
        master("CONFIG", "SET", "bf.compat", "redisbloom")
        master("BF.ADD", "theirs", "x")
        master("BF.RESERVE", "reserved", "0.1", 9)
        keys = [*counts, "empty", "wide", "theirs", "reserved"]
        for replica, what in zip(replicas, ("with lower limits", "without bf.compat")):
            caught_up(master, replica)
            tap.equals(f"a replica {what} gets the same filters", [
                ((digest(replica, key), replica("TYPE", key)),
                 (digest(master, key), master("TYPE", key)), key) for key in keys])
        offset = int(info(master, "replication")["master_repl_offset"])
        for words in (["BF.ADD", "once", "0"], ["BF.INSERT", "empty"],
                      ["BF.INSERT", "grown", "ITEMS", "1"], ["BF.LOAD", "once", "x"]) * 20:
            master(*words)
        sent = int(info(master, "replication")["master_repl_offset"]) - offset
        tap.ok("what changes nothing is not sent", sent < 500, sent)


def check_sent(tap, program):
    """Tests that creating a filter is replicated with all its parameters, as in valkey-bloom."""
    with Server(program, *FIXED, "--appendonly", "yes", "--aof-use-rdb-preamble", "no",
                "--appendfsync", "always") as server:
        client = server.connect()
        client("BF.ADD", "a", "x")
        client("BF.RESERVE", "b", "0.001", 5, "NONSCALING")
        path, = glob.glob(server.folder + "/**/*.incr.aof", recursive=True)
        with open(path, "rb") as file:
            parts = file.read().split(b"\r\n")
        seed = read_vectors()["fixed_n1_p0.5.bin"][0][51:83]
        words = [part for part in parts if part[:1] not in (b"*", b"$")]
        start = words.index(b"BF.INSERT")
        tap.equal("BF.ADD", words[start:start + 14], [
            b"BF.INSERT", b"a", b"CAPACITY", b"100", b"ERROR", b"0.01", b"TIGHTENING", b"0.5",
            b"SEED", seed, b"EXPANSION", b"2", b"ITEMS", b"x"])
        start = words.index(b"BF.INSERT", start + 1)
        tap.equal("BF.RESERVE", words[start:start + 11], [
            b"BF.INSERT", b"b", b"CAPACITY", b"5", b"ERROR", b"0.001", b"TIGHTENING", b"0.5",
            b"SEED", seed, b"NONSCALING"])


def check_limit(tap, program):
    with Server(program, *VALKEY, "--bf.bloom-memory-usage-limit", "100") as server:
        client = server.connect()
        tap.equals("nothing is made above bf.bloom-memory-usage-limit", [
            (client(*line.split()), TOO_BIG, line) for line in (
                "BF.RESERVE k 0.001 100000", "BF.INSERT k ITEMS a", "BF.ADD k a", "BF.MADD k a b")])
        client("CONFIG", "SET", "bf.bloom-memory-usage-limit", 1000)
        client("BF.RESERVE", "k", "0.001", 100, "EXPANSION", 10)
        at = 0
        while client("BF.CARD", "k") < 100:
            client("BF.ADD", "k", at)
            at += 1
        new = [n for n in range(at, at + 50) if not client("BF.EXISTS", "k", n)][:3]
        tap.equals("growing above it is refused, and what is in stays", [
            (client("BF.ADD", "k", new[0]), TOO_BIG), (client("BF.MADD", "k", 0, new[0]), [0, TOO_BIG]),
            (client("BF.INSERT", "k", "ITEMS", new[0]), [TOO_BIG]), (client("BF.CARD", "k"), 100),
            (client("BF.INFO", "k", "MAXSCALEDCAPACITY"), 100)])
        payload = head_of() + layer_of(bits=b"\0" * 1000)
        tap.equal("BF.LOAD, too", client("BF.LOAD", "l", payload), TOO_BIG)
        value = value_of(payload)
        version = rdb.open_payload(client("DUMP", "k"))[1]
        tap.ok("and RESTORE", isinstance(client("RESTORE", "l", 0, rdb.seal(value, version)), Error))
        client("CONFIG", "SET", "bf.bloom-memory-usage-limit", 10000)
        tap.equal("below it they go on", (client("BF.ADD", "k", new[0]), client("BF.LOAD", "l", payload)),
                  (1, "OK"))
        client("BF.INSERT", "zero", "CAPACITY", 1, "EXPANSION", 1, "TIGHTENING", "1e-200", "ITEMS", "a")
        replies = client("BF.MADD", "zero", *range(20))
        tap.equal("a rate of 0 is not made", replies[-1],
                  Error("ERR false positive degrades to 0 on scale out"))


# ---- the page about moving from it ---------------------------------------------------------------


def check_page(tap, program):
    page = "docs/redis/from-valkey-bloom.md"
    with Server(program, *VALKEY, port=True) as old, Server(program, port=True) as new:
        client, moved = old.connect(), new.connect()
        counts = fill(client)
        client("RENAME", "grown", "crawled")
        counts["crawled"] = counts.pop("grown")
        client("SET", "text", "x")
        client("EXPIRE", "once", 100000)
        tap.equal(f"{page}: its commands run",
                  run_blocks(page, "another server", old.port, new.port), "")
        tap.equal("every filter is in the other server, and nothing else",
                  (state(moved, counts), moved("DBSIZE")), (state(client, counts), len(counts) + 1))
        tap.ok("with its expiry time", moved("TTL", "once") > 0 and moved("TTL", "crawled") == -1)


# ---- corrupted values ----------------------------------------------------------------------------


def is_usable(client, key):
    for words in (["BF.MEXISTS", key, "a", "b"], ["BF.MADD", key, "a", "b", "c"], ["BF.INFO", key],
                  ["BF.DEBUG", key], ["BF.CARD", key], ["COPY", key, "copied"], ["DEL", "copied"]):
        client(*words)
    dump = client("DUMP", key)
    return client("RESTORE", key, 0, dump, "REPLACE") == "OK" and client("DUMP", key) == dump


def check_corrupt(tap, program, count):
    with Server(program, *VALKEY, "--loglevel", "warning", "--bf.bloom-memory-usage-limit",
                2**24) as server:
        client, rng = server.connect(), random.Random(SEED)
        client("CONFIG", "SET", "sanitize-dump-payload", "no")
        three = head_of(rate=0.3, layers=3) + b"".join(
            layer_of(bits=bytes(range(size)), keys=size, capacity=size) for size in (5, 9, 20))
        loads = [head_of() + layer_of(), three]
        client("SET", "any", "thing")
        version = rdb.open_payload(client("DUMP", "any"))[1]
        values = [value_of(load) for load in loads]
        taken, unusable = [0, 0], 0
        for number in range(count):
            if number % 2:
                reply = client("RESTORE", "k", 0, rdb.seal(mutate(rng, rng.choice(values)), version))
            else:
                reply = client("BF.LOAD", "k", mutate(rng, rng.choice(loads)))
            if reply == "OK" and client("TYPE", "k") == "bloomfltr":
                taken[number % 2] += 1
                unusable += not is_usable(client, "k")
            client("DEL", "k")
        tap.ok(f"{count} corrupt payloads of BF.LOAD and RESTORE: {taken[0]} and {taken[1]} taken, "
               f"all usable (seed {SEED})",
               min(taken) > 0 and unusable == 0 and client("PING") == "PONG", unusable)


def main():
    name, program, count = sys.argv[1:]
    tap = Tap(name)
    check_vectors(tap, program)
    check_rebuilding(tap, program)
    check_options(tap, program)
    check_words(tap, program)
    check_growth(tap, program)
    check_persistence(tap, program)
    check_replicas(tap, program)
    check_sent(tap, program)
    check_limit(tap, program)
    check_page(tap, program)
    check_corrupt(tap, program, int(count))


main()
