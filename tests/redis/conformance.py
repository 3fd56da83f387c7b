"""conformance.py SERVER - tests the replies of every BF.* command in RESP2 and RESP3, and its
errors."""

import struct
import sys

from servers import Error, Map, Server, Tap

WRONG_TYPE = Error("WRONGTYPE Operation against a key holding the wrong kind of value")
NOT_FOUND = Error("ERR not found")
FULL = Error("ERR non scaling filter is full")
NO_EXPANSION = Error("Nonscaling filters cannot expand")
RATE_RANGE = Error("ERR error rate must be in the range (0.000000, 1.000000)")
CAPACITY_RANGE = Error("ERR capacity must be in the range [1, 1073741824]")
EXPANSION_RANGE = Error("ERR expansion must be in the range [0, 32768]")
NOT_NUMERIC = Error("Second argument must be numeric")
BAD_DATA = Error("ERR received bad data")
NO_LINK = Error("ERR invalid offset - no link found")
TOO_BIG = Error("ERR invalid chunk - Too big for current filter")
EMPTY_HEADER = bytes.fromhex(
    "000000000000000001000000050000000200000090000000000000008004000000000000"
    "00000000000000007b14ae47e17a743fe9862fb2350e2640080000006400000000000000" "00"
)


def arity(command):
    return Error(f"ERR wrong number of arguments for '{command.lower()}' command")


def default_line(size):
    return f"bytes:144 bits:1152 hashes:8 hashwidth:64 capacity:100 size:{size} ratio:0.005".encode()


def run_cases(client, cases):
    """Runs each command on a server on which the key k doesn't exist and the key s contains a
    string."""
    for line, wanted in cases:
        client("DEL", "k")
        yield client(*line.split()), wanted, line


ARITY = [
    ("BF.RESERVE", "k"), ("BF.RESERVE", "k 0.01"), ("BF.RESERVE", "k 0.01 10 a b c d"),
    ("BF.ADD", "k"), ("BF.ADD", "k a b"), ("BF.MADD", "k"), ("BF.EXISTS", "k"),
    ("BF.EXISTS", "k a b"), ("BF.MEXISTS", "k"), ("BF.INSERT", "k"), ("BF.INSERT", "k ITEMS"),
    ("BF.INSERT", "k JUNK"), ("BF.INSERT", "k CAPACITY 10"), ("BF.INSERT", "k CAPACITY 10 ITEMS"),
    ("BF.INSERT", "k CAPACITY 10 ERROR"), ("BF.INFO", ""), ("BF.INFO", "k a b"), ("BF.CARD", ""),
    ("BF.CARD", "k a"), ("BF.DEBUG", ""), ("BF.DEBUG", "k a"), ("BF.SCANDUMP", "k"),
    ("BF.SCANDUMP", "k 0 a"), ("BF.LOADCHUNK", "k 1"), ("BF.LOADCHUNK", "k 1 a b"),
]

RESERVE = [
    ("BF.RESERVE k x 100", Error("ERR bad error rate")),
    ("BF.RESERVE k nan 100", Error("ERR bad error rate")),
    ("BF.RESERVE k 0 100", RATE_RANGE),
    ("BF.RESERVE k 1 100", RATE_RANGE),
    ("BF.RESERVE k -1 100", RATE_RANGE),
    ("BF.RESERVE k inf 100", RATE_RANGE),
    ("BF.RESERVE k 5e-324 100", Error("ERR could not create filter")),
    ("BF.RESERVE k 0.01 x", Error("ERR bad capacity")),
    ("BF.RESERVE k 0.01 1.5", Error("ERR bad capacity")),
    ("BF.RESERVE k 0.01 +1", Error("ERR bad capacity")),
    ("BF.RESERVE k 0.01 0", CAPACITY_RANGE),
    ("BF.RESERVE k 0.01 -1", CAPACITY_RANGE),
    ("BF.RESERVE k 0.01 1073741825", CAPACITY_RANGE),
    ("BF.RESERVE k 0.01 9223372036854775807", CAPACITY_RANGE),
    ("BF.RESERVE k 0.01 10 EXPANSION", Error("ERR no expansion")),
    ("BF.RESERVE k 0.01 10 EXPANSION x", Error("ERR bad expansion")),
    ("BF.RESERVE k 0.01 10 EXPANSION -1", EXPANSION_RANGE),
    ("BF.RESERVE k 0.01 10 EXPANSION 32769", EXPANSION_RANGE),
    ("BF.RESERVE k 0.01 10 EXPANSION 2 NONSCALING", NO_EXPANSION),
    ("BF.RESERVE k 0.01 10 NONSCALING EXPANSION 2", NO_EXPANSION),
    ("BF.RESERVE k 0.01 10 NONSCALING EXPANSION", Error("ERR no expansion")),
    ("BF.RESERVE k 0.01 10 NONSCALING EXPANSION 0", "OK"),
    ("BF.RESERVE k 0.01 10 nonscaling", "OK"),
    ("BF.RESERVE k 0.01 10 expansion 3", "OK"),
    ("BF.RESERVE k 0.01 10 EXPANSION 32768", "OK"),
    ("BF.RESERVE k 0.01 10 JUNK", "OK"),
    ("BF.RESERVE k 0.01 10 JUNK JUNK JUNK", "OK"),
    ("BF.RESERVE k 1e-300 10", "OK"),
    ("BF.RESERVE s x 10", Error("ERR bad error rate")),
    ("BF.RESERVE s 0.01 10", WRONG_TYPE),
]

INSERT = [
    ("BF.INSERT k ITEMS a", [1]),
    ("BF.INSERT k items a b a", [1, 1, 0]),
    ("BF.INSERT k I a", [1]),
    ("BF.INSERT k C 200 ITEMS a", [1]),
    ("BF.INSERT k ER 0.001 EX 4 ITEMS a", [1]),
    ("BF.INSERT k E 0.001 ITEMS a", Error("Bad expansion")),
    ("BF.INSERT k CAPACITY ITEMS a", Error("Bad capacity")),
    ("BF.INSERT k CAPACITY 0 ITEMS a", Error("Bad capacity")),
    ("BF.INSERT k CAPACITY 1073741825 ITEMS a", Error("Bad capacity")),
    ("BF.INSERT k ERROR x ITEMS a", Error("Bad error rate")),
    ("BF.INSERT k ERROR 0 ITEMS a", Error("Bad error rate")),
    ("BF.INSERT k ERROR 1 ITEMS a", Error("Bad error rate")),
    ("BF.INSERT k EXPANSION x ITEMS a", Error("Bad expansion")),
    ("BF.INSERT k EXPANSION -1 ITEMS a", Error("Bad expansion")),
    ("BF.INSERT k EXPANSION 32769 ITEMS a", Error("Bad expansion")),
    ("BF.INSERT k EXPANSION 0 ITEMS a", [1]),
    ("BF.INSERT k EXPANSION 4 NONSCALING ITEMS a", [1]),
    ("BF.INSERT k JUNK ITEMS a", Error("Unknown argument received")),
    ("BF.INSERT k a b c", Error("Unknown argument received")),
    ("BF.INSERT k NOCREATE ITEMS a", NOT_FOUND),
    ("BF.INSERT k NOC CAPACITY 10 ITEMS a", NOT_FOUND),
    ("BF.INSERT k N ITEMS a", [1]),
    ("BF.INSERT s ITEMS a", WRONG_TYPE),
]

OTHER_KEYS = [
    ("BF.ADD s a", WRONG_TYPE), ("BF.MADD s a", WRONG_TYPE), ("BF.EXISTS k a", 0),
    ("BF.EXISTS s a", 0), ("BF.MEXISTS k a b", [0, 0]), ("BF.MEXISTS s a b", [0, 0]),
    ("BF.INFO k", NOT_FOUND), ("BF.INFO s", WRONG_TYPE), ("BF.INFO k CAPACITY", NOT_FOUND),
    ("BF.CARD k", 0), ("BF.CARD s", WRONG_TYPE), ("BF.DEBUG k", NOT_FOUND),
    ("BF.DEBUG s", WRONG_TYPE), ("BF.SCANDUMP k 0", NOT_FOUND), ("BF.SCANDUMP k x", NOT_FOUND),
    ("BF.SCANDUMP s 0", WRONG_TYPE), ("BF.LOADCHUNK k 0 a", NOT_FOUND),
    ("BF.LOADCHUNK k 2 a", NOT_FOUND), ("BF.LOADCHUNK k -1 a", NOT_FOUND),
    ("BF.LOADCHUNK k x a", Error("ERR Second argument must be numeric")),
    ("BF.LOADCHUNK k 1 a", BAD_DATA), ("BF.LOADCHUNK s 1 a", WRONG_TYPE),
]


def check_errors(client, tap):
    client("SET", "s", "text")
    tap.equals("arity", [(client(c, *rest.split()), arity(c), c, rest) for c, rest in ARITY])
    tap.equals("BF.RESERVE", run_cases(client, RESERVE))
    tap.equals("BF.INSERT", run_cases(client, INSERT))
    tap.equals("keys that are missing or of another type", run_cases(client, OTHER_KEYS))
    client("DEL", "k")
    client("BF.ADD", "k", "a")
    tap.equals("what is there already", [
        (client("BF.RESERVE", "k", "0.1", "10"), Error("ERR item exists")),
        (client("BF.RESERVE", "k", "x", "10"), Error("ERR bad error rate")),
        (client("BF.INFO", "k", "Cap"), Error("Invalid information value")),
        (client("BF.INFO", "k", ""), Error("Invalid information value")),
        (client("BF.SCANDUMP", "k", "x"), NOT_NUMERIC),
        (client("BF.SCANDUMP", "k", "1.5"), NOT_NUMERIC),
    ])


def check_filters(client, tap):
    client("DEL", "k")
    tap.equals("the default filter", [
        (client("BF.ADD", "k", "a"), 1),
        (client("BF.ADD", "k", "a"), 0),
        (client("BF.ADD", "k", ""), 1),
        (client("BF.EXISTS", "k", ""), 1),
        (client("BF.EXISTS", "k", b"\xff\x00\n"), 0),
        (client("BF.MADD", "k", "a", "b", "b", b"\x00"), [0, 1, 0, 1]),
        (client("BF.MEXISTS", "k", "a", "nothing", "b"), [1, 0, 1]),
        (client("BF.INFO", "k"), ["Capacity", 100, "Size", 240, "Number of filters", 1,
                                  "Number of items inserted", 4, "Expansion rate", 2]),
        (client("BF.CARD", "k"), 4),
        (client("BF.DEBUG", "k"), [b"size:4", default_line(4)]),
        (client("TYPE", "k"), "MBbloom--"),
    ])
    tap.equals("one field of BF.INFO is an array of one", [
        (client("BF.INFO", "k", "CAPACITY"), [100]),
        (client("BF.INFO", "k", "size"), [240]),
        (client("BF.INFO", "k", "FILTERS"), [1]),
        (client("BF.INFO", "k", "Items"), [4]),
        (client("BF.INFO", "k", "EXPANSION"), [2]),
    ])
    client("DEL", "k")
    tap.equals("a filter that does not scale is full at its capacity, and says how far it came", [
        (client("BF.RESERVE", "k", "0.01", "3", "NONSCALING"), "OK"),
        (client("BF.MADD", "k", "a", "b", "c", "d", "e"), [1, 1, 1, FULL]),
        (client("BF.MADD", "k", "a", "d", "b"), [0, FULL]),
        (client("BF.INSERT", "k", "ITEMS", "z", "a"), [FULL]),
        (client("BF.ADD", "k", "z"), FULL),
        (client("BF.ADD", "k", "a"), 0),
        (client("BF.INFO", "k", "EXPANSION"), [None]),
        (client("BF.CARD", "k"), 3),
    ])
    client("DEL", "k")
    added = client("BF.INSERT", "k", "CAPACITY", 3, "ITEMS", *range(30))
    tap.equals("layers double, and are sized like RedisBloom's", [
        (added, [1] * 14 + [0] + [1] * 14 + [0]),
        (client("BF.INFO", "k"), ["Capacity", 45, "Size", 384, "Number of filters", 4,
                                  "Number of items inserted", 28, "Expansion rate", 2]),
        (client("BF.DEBUG", "k")[1:4], [
            b"bytes:8 bits:64 hashes:8 hashwidth:64 capacity:3 size:3 ratio:0.005",
            b"bytes:16 bits:128 hashes:9 hashwidth:64 capacity:6 size:6 ratio:0.0025",
            b"bytes:24 bits:192 hashes:10 hashwidth:64 capacity:12 size:12 ratio:0.00125",
        ]),
    ])
    client("DEL", "k")
    client("BF.RESERVE", "k", "0.4", "100")
    tap.equal("a rate above 0.25 is taken as that", client("BF.DEBUG", "k")[1],
              b"bytes:56 bits:448 hashes:4 hashwidth:64 capacity:100 size:0 ratio:0.125")


def check_dumps(client, tap):
    client("DEL", "k", "q")
    client("BF.RESERVE", "k", "0.01", "100")
    tap.equal("the header of an empty filter", client("BF.SCANDUMP", "k", 0), [1, EMPTY_HEADER])
    client("DEL", "k")
    client("BF.RESERVE", "k", "0.01", "3", "NONSCALING")
    client("BF.MADD", "k", "a", "b", "c")
    header = client("BF.SCANDUMP", "k", 0)[1]
    bits = client("BF.SCANDUMP", "k", 1)[1]
    tap.equals("BF.SCANDUMP", [
        (client("BF.SCANDUMP", "k", 1), [9, bits]),
        (client("BF.SCANDUMP", "k", 3), [9, bits[2:]]),
        (client("BF.SCANDUMP", "k", 8), [9, bits[7:]]),
        (client("BF.SCANDUMP", "k", 9), [0, b""]),
        (client("BF.SCANDUMP", "k", 100), [0, b""]),
        (client("BF.SCANDUMP", "k", -1), [0, b""]),
        (client("BF.SCANDUMP", "k", 2**63 - 1), [0, b""]),
    ])
    tap.equals("BF.LOADCHUNK", [
        (client("BF.LOADCHUNK", "k", 1, header), BAD_DATA),
        (client("BF.LOADCHUNK", "q", 1, b""), BAD_DATA),
        (client("BF.LOADCHUNK", "q", 1, header + b"x"), BAD_DATA),
        (client("BF.LOADCHUNK", "q", 1, header[:-1]), BAD_DATA),
        (client("BF.LOADCHUNK", "q", 1, header), "OK"),
        (client("BF.LOADCHUNK", "q", 9, bits), "OK"),
        (client("BF.LOADCHUNK", "q", 8, bits), NO_LINK),
        (client("BF.LOADCHUNK", "q", 2, bits), BAD_DATA),
        (client("BF.LOADCHUNK", "q", 0, bits), BAD_DATA),
        (client("BF.LOADCHUNK", "q", -1, bits), BAD_DATA),
        (client("BF.LOADCHUNK", "q", 10, bits), TOO_BIG),
        (client("BF.LOADCHUNK", "q", 100, bits), NO_LINK),
        (client("BF.LOADCHUNK", "q", 10, bits[:2]), TOO_BIG),
        (client("BF.LOADCHUNK", "q", 3, bits[:2]), "OK"),
        (client("BF.LOADCHUNK", "q", 2, b""), "OK"),
        (client("BF.LOADCHUNK", "q", 9, b""), NO_LINK),
        (client("BF.SCANDUMP", "q", 1), [9, bits]),
        (client("BF.DEBUG", "q"), client("BF.DEBUG", "k")),
        (client("BF.MEXISTS", "q", "a", "b", "c"), [1, 1, 1]),
        (client("BF.ADD", "q", "new"), FULL),
    ])


def header_cases():
    """Yields invalid headers: first headers with one field that RedisBloom refuses, then headers
    whose layer sizes don't add up to the total, or do so only with 64-bit overflow."""
    fields = [("<Q", 0, 1), ("<I", 8, 0), ("<I", 8, 2), ("<I", 8, 2**32 - 1), ("<I", 12, 0x15),
              ("<Q", 20, 0), ("<Q", 20, 2**63), ("<Q", 28, 0), ("<Q", 28, 1153), ("<Q", 36, 7),
              ("<d", 44, 0.0), ("<d", 44, 1.0), ("<d", 44, -0.5), ("<d", 44, float("nan")),
              ("<d", 52, 3.0), ("<d", 52, float("inf")), ("<I", 60, 0), ("<I", 60, 9),
              ("<I", 60, 2**31), ("<Q", 64, 0), ("<B", 72, 64), ("<B", 72, 11)]
    for form, at, value in fields:
        header = bytearray(EMPTY_HEADER)
        struct.pack_into(form, header, at, value)
        yield bytes(header), at, value
    for items in ([1, 1], [2**64 - 1, 1], [2**64 - 1, 2], [1, 2**64 - 1, 1], [2**63, 2**63]):
        layers = bytearray(EMPTY_HEADER[20:] * len(items))
        for number, count in enumerate(items):
            struct.pack_into("<Q", layers, 53 * number + 16, count)
        for total in {0, 1, 2**63, 2**64 - 1}:
            head = struct.pack("<QI", total, len(items)) + EMPTY_HEADER[12:20]
            yield head + bytes(layers), items, total


def check_headers(client, tap):
    client("DEL", "k")
    tap.equals("no field of a header is trusted", [
        (client("BF.LOADCHUNK", "k", 1, header), BAD_DATA, at, value)
        for header, at, value in header_cases()
    ] + [(client("EXISTS", "k"), 0)])


def check_resp3(server, tap):
    client, two = server.connect(3), server.connect(2)
    two("DEL", "k", "n")
    two("BF.RESERVE", "n", "0.01", "3", "NONSCALING")
    whole = Map({"Capacity": 100, "Size": 240, "Number of filters": 1,
                 "Number of items inserted": 2, "Expansion rate": 2})
    tap.equals("RESP3", [
        (client("BF.ADD", "k", "a"), True),
        (client("BF.ADD", "k", "a"), False),
        (client("BF.MADD", "k", "a", "b"), [False, True]),
        (client("BF.INSERT", "k", "ITEMS", "a"), [False]),
        (client("BF.EXISTS", "k", "a"), True),
        (client("BF.MEXISTS", "k", "a", "x"), [True, False]),
        (client("BF.EXISTS", "none", "a"), False),
        (client("BF.MEXISTS", "none", "a", "x"), [False, False]),
        (client("BF.INFO", "k"), whole),
        (client("BF.INFO", "k", "ITEMS"), Map({"Number of items inserted": 2})),
        (client("BF.INFO", "n", "EXPANSION"), Map({"Expansion rate": None})),
        (client("BF.MADD", "n", "a", "b", "c", "d"), [True, True, True, FULL]),
        (client("BF.CARD", "k"), 2),
        (client("BF.DEBUG", "k"), [b"size:2", default_line(2)]),
        (client("BF.SCANDUMP", "k", 0)[0], 1),
        (client("BF.RESERVE", "new", "0.01", "3"), "OK"),
    ])


WRITERS = ["bf.reserve", "bf.add", "bf.madd", "bf.insert", "bf.loadchunk"]
READERS = ["bf.exists", "bf.mexists", "bf.info", "bf.card", "bf.scandump", "bf.debug"]


def check_commands(client, tap):
    about = {name: client("COMMAND", "INFO", name)[0] for name in WRITERS + READERS}
    tap.equals("flags and keys of commands", [
        ((sorted(set(about[name][2]) & {"write", "denyoom", "readonly", "fast"}), about[name][3:6]),
         (["denyoom", "write"] if name in WRITERS else ["fast", "readonly"], [1, 1, 1]), name)
        for name in about
    ])
    specs = {name: about[name][8][0] for name in about}
    tap.equals("key specs", [
        (("RW" if name in WRITERS else "RO") in specs[name][1] and len(about[name][8]) == 1, True,
         name, specs[name]) for name in about
    ])
    docs = client("COMMAND", "DOCS", *about)
    docs = {name: dict(zip(entry[::2], entry[1::2])) for name, entry in zip(docs[::2], docs[1::2])}
    documented = [name for name in about if name != "bf.debug"]
    tap.equals("COMMAND DOCS", [
        ((docs[name.encode()][b"since"], docs[name.encode()][b"module"]),
         (b"2.4.4" if name == "bf.card" else b"1.0.0", b"bf"), name) for name in documented
    ] + [(b"summary" in docs[n.encode()] and b"arguments" in docs[n.encode()], True, n)
         for n in documented])
    modules = {m[m.index(b"name") + 1]: m for m in client("MODULE", "LIST")}
    tap.ok("MODULE LIST has bf", b"bf" in modules, modules)
    categories = client("ACL", "CAT")
    if b"bloom" in categories:
        tap.equal("ACL CAT bloom", set(client("ACL", "CAT", "bloom")) >= {n.encode() for n in about},
                  True)
    client("ACL", "SETUSER", "reader", "on", ">p", "~*", "-@all", "+@read", "+bf.exists")
    tap.equals("ACL", [
        (client("ACL", "DRYRUN", "reader", "bf.exists", "k", "a"), "OK"),
        (client("ACL", "DRYRUN", "reader", "bf.add", "k", "a") == "OK", False),
    ])


def main():
    with Server(sys.argv[2]) as server:
        tap = Tap(sys.argv[1])
        client = server.connect()
        check_errors(client, tap)
        check_filters(client, tap)
        check_dumps(client, tap)
        check_headers(client, tap)
        check_resp3(server, tap)
        check_commands(client, tap)
        tap.ok("the server is still there", client("PING") == "PONG")


main()
