"""clients.py NAME PROGRAM [SUITE] - tests the module with the clients redis-py and redis-cli, in
RESP2 and RESP3. Also runs redis-py's own Bloom filter tests from the folder SUITE."""

import os
import re
import subprocess
import sys

import redis
from servers import Server, Tap


# ---- redis-py -----------------------------------------------------------------------------------


def check_redis_py(tap, server, protocol):
    client = redis.Redis(unix_socket_path=server.socket, protocol=protocol)
    client.flushall()
    bf = client.bf()
    tap.equals(f"redis-py, RESP{protocol}", [
        (bool(bf.reserve("k", 0.01, 1000)), True),
        (bf.add("k", "a"), 1 if protocol == 2 else True),
        (bf.add("k", "a"), 0 if protocol == 2 else False),
        (list(map(int, bf.madd("k", "a", "b", "c"))), [0, 1, 1]),
        (list(map(int, bf.insert("n", ["x", "y"], capacity=10, error=0.1, noScale=True))), [1, 1]),
        (int(bf.exists("k", "b")), 1),
        (list(map(int, bf.mexists("k", "a", "x"))), [1, 0]),
        (bf.card("k"), 3),
    ])
    about = bf.info("k")
    seen = [about.capacity, about.filterNum, about.insertedNum, about.expansionRate] \
        if protocol == 2 else [about[b"Capacity"], about[b"Number of filters"],
                               about[b"Number of items inserted"], about[b"Expansion rate"]]
    tap.equal(f"redis-py, RESP{protocol}: info", seen, [1000, 1, 3, 2])
    iterator, chunks = 0, []
    while True:
        iterator, data = bf.scandump("k", iterator)
        if iterator == 0:
            break
        chunks.append((iterator, data))
    for iterator, data in chunks:
        bf.loadchunk("copy", iterator, data)
    tap.equal(f"redis-py, RESP{protocol}: scandump, loadchunk", client.dump("copy"), client.dump("k"))
    client.execute_command("PETAL.RESERVE", "own", 0.01, 1000, "SCHEME", "COUNTING")
    with client.pipeline() as pipe:
        for item in range(100):
            pipe.execute_command("PETAL.ADD", "own", item)
        pipe.execute_command("PETAL.REMOVE", "own", 7)
        pipe.execute_command("PETAL.EXISTS", "own", 8)
        replies = pipe.execute()
    tap.equal(f"redis-py, RESP{protocol}: PETAL.*", list(map(bool, replies[:100])) + replies[100:],
              [True] * 100 + ([[1], 1] if protocol == 2 else [[True], True]))
    try:
        bf.reserve("k", 0.01, 1000)
        tap.ok(f"redis-py, RESP{protocol}: errors", False)
    except redis.ResponseError as error:
        tap.equal(f"redis-py, RESP{protocol}: errors", str(error), "item exists")


# ---- redis-cli ----------------------------------------------------------------------------------


def check_redis_cli(tap, server, protocol):
    def cli(*words, data=None):
        return subprocess.run(["redis-cli", f"-{protocol}", "-s", server.socket, *words], input=data,
                              stdout=subprocess.PIPE).stdout

    yes, no = (b"1", b"0") if protocol == 2 else (b"(true)", b"(false)")
    cli("FLUSHALL")
    cli("BF.MADD", "k", "a", "b")
    header = cli("--raw", "BF.SCANDUMP", "k", "0")[len(b"1\n"):-1]
    bits = cli("--raw", "BF.SCANDUMP", "k", "1").split(b"\n", 1)
    tap.equals(f"redis-cli, RESP{protocol}", [
        (cli("BF.RESERVE", "r", "0.01", "100"), b"OK\n"),
        (cli("BF.ADD", "r", "a"), yes + b"\n"),
        (cli("BF.MEXISTS", "r", "a", "b"), yes + b"\n" + no + b"\n"),
        (cli("BF.CARD", "r"), b"1\n"),
        (cli("BF.RESERVE", "r", "0.01", "100"), b"ERR item exists\n\n"),
        (cli("-x", "BF.LOADCHUNK", "copy", "1", data=header), b"OK\n"),
        (cli("-x", "BF.LOADCHUNK", "copy", bits[0].decode(), data=bits[1][:-1]), b"OK\n"),
        (cli("--raw", "DUMP", "copy"), cli("--raw", "DUMP", "k")),
        (cli("BF.INFO", "k", "ITEMS").split()[-1:], [b"2"]),
    ])


# ---- another project's tests --------------------------------------------------------------------


def check_suite(tap, server, suite, protocol):
    """Runs redis-py's tests of BF.*. A few of these tests also use RedisBloom's other types, which
    this module lacks."""
    source = next(name for name in os.listdir(suite) if re.fullmatch(r"redis-[\d.]+", name))
    url = f"redis://127.0.0.1:{server.port}"
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "pytest_asyncio", "-o",
         "asyncio_mode=auto", "-W", "ignore", "-q", "--redis-url", url + "/0", "--redis-mod-url", url,
         "--protocol", str(protocol), "-k", "test_bf and not reserve", "tests/test_bloom.py",
         "tests/test_asyncio/test_bloom.py"], cwd=f"{suite}/{source}", text=True,
        env={**os.environ, "PYTHONPATH": f"{suite}/packages"}, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT)
    passed = re.search(r"(\d+) passed", run.stdout)
    count = int(passed[1]) if passed else 0
    tap.ok(f"redis-py's own tests of BF.*, RESP{protocol}: {count} pass",
           run.returncode == 0 and count >= 15, run.stdout[-2000:])


def main():
    name, program, *suite = sys.argv[1:]
    tap = Tap(name)
    with Server(program, port=True) as server:
        for protocol in (2, 3):
            check_redis_py(tap, server, protocol)
            check_redis_cli(tap, server, protocol)
            for folder in suite:
                check_suite(tap, server, folder, protocol)


main()
