"""compare.py [ENTRIES [SECONDS [ROUNDS]]] - compares ways to check the same blocklist of tokens in
nginx: petal.lua, nginx's map, and BF.EXISTS in Redis with Petal's module. Prints a table.

nginx has two workers, and wrk sends requests over 32 connections. One request in a hundred has a
token from the list. Each round measures every way in turn. The script writes to the folder TMPDIR,
and must be started at the top of the tree."""

import os
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import time
from pathlib import Path

ENTRIES = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
SECONDS = int(sys.argv[2]) if len(sys.argv) > 2 else 5
ROUNDS = int(sys.argv[3]) if len(sys.argv) > 3 else 3
WORKERS, CONNECTIONS = 2, 32
with socket.socket() as one:
    one.bind(("127.0.0.1", 0))
    PORT = one.getsockname()[1]
HERE, TOP = Path(os.environ["TMPDIR"]), Path.cwd()
RATE = "0.0001%"
TICKS = os.sysconf("SC_CLK_TCK")

CONF = """
load_module /usr/lib/nginx/modules/ndk_http_module.so;
load_module /usr/lib/nginx/modules/ngx_http_lua_module.so;
{user}
worker_processes {workers};
pid {here}/nginx.pid;
error_log {here}/error.log error;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    keepalive_requests 1000000;
    lua_package_path "{here}/?.lua;{top}/build/nginx/usr/share/lua/5.1/?.lua;;";
    {http}
    server {{
        listen 127.0.0.1:{port} reuseport;
        location / {{
            {location}
        }}
    }}
}}
"""

BLOCK = 'if blocked then return ngx.exit(403) end ngx.say("welcome")'
WAYS = {
    "no list": ("", "content_by_lua_block {{ local blocked = false " + BLOCK + " }}"),
    "petal.lua": (
        'init_by_lua_block {{ list = assert(require("petal").watch("{here}/list.petal")) }}',
        "content_by_lua_block {{ local blocked = list:contains(ngx.var.http_token) " + BLOCK + " }}",
    ),
    "map": (
        "map_hash_bucket_size {bucket}; map_hash_max_size {most};\n"
        "    map $http_token $blocked {{ default 0; include {here}/list.map; }}",
        "content_by_lua_block {{ local blocked = ngx.var.blocked == '1' " + BLOCK + " }}",
    ),
    "map, without Lua": (
        "map_hash_bucket_size {bucket}; map_hash_max_size {most};\n"
        "    map $http_token $blocked {{ default 0; include {here}/list.map; }}",
        'if ($blocked) {{ return 403; }} return 200 "welcome\\n";',
    ),
    "Redis, BF.EXISTS": (
        "",
        """content_by_lua_block {{
                local redis = require("nginx.redis"):new()
                assert(redis:connect("unix:{here}/redis"))
                local blocked = redis["bf.exists"](redis, "list", ngx.var.http_token) == 1
                redis:set_keepalive(10000, 100)
                """ + BLOCK + " }}",
    ),
}

WRK = """
local place = 0
request = function()
    place = place + 1
    local token = place %% 100 == 0 and math.floor(place / 100) * 7919 %% %d or %d + place
    wrk.headers["Token"] = ("token-%%012d"):format(token)
    return wrk.format("GET", "/")
end
"""


def lists():
    for file in ("bindings/lua/src/petal.lua", "build/release/lib/libpetal.so"):
        shutil.copy(TOP / file, HERE)
    with open(HERE / "list.txt", "w") as text, open(HERE / "list.map", "w") as table:
        for i in range(ENTRIES):
            text.write(f"token-{i:012}\n")
            table.write(f"token-{i:012} 1;\n")
    path = HERE / "list.petal"
    subprocess.run(["petal", "build", "-p", RATE, "-o", path, HERE / "list.txt"], check=True)
    path.chmod(0o644)
    (HERE / "wrk.lua").write_text(WRK % (ENTRIES, 10 * ENTRIES))


def redis():
    server = subprocess.Popen(
        ["redis-server", "--port", "0", "--unixsocket", HERE / "redis", "--unixsocketperm", "777", "--save", "",
         "--loadmodule", TOP / "build/release/redis/petal.so"], stdout=subprocess.DEVNULL)
    while not (HERE / "redis").exists():
        time.sleep(0.1)
    ask = ["redis-cli", "-s", HERE / "redis"]
    subprocess.run([*ask, "BF.RESERVE", "list", "0.000001", str(ENTRIES), "NONSCALING"], check=True,
                   stdout=subprocess.DEVNULL)
    batches = ["xargs", "-n", "1000", *ask, "BF.MADD", "list"]
    with open(HERE / "list.txt") as text:
        subprocess.run(batches, stdin=text, stdout=subprocess.DEVNULL, check=True)
    return server


def cpu(pid):
    words = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / TICKS


def pss(pid):
    return int(re.search(r"^Pss: +(\d+) kB", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.M)[1]) / 1024


def children(master):
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(stat.read_text().rsplit(")", 1)[1].split()[1]) == master:
                found.append(int(stat.parent.name))
        except OSError:  # it has ended
            continue
    return found


def start(way):
    http, location = WAYS[way]
    facts = dict(here=HERE, top=TOP, bucket=512, most=4 * ENTRIES)
    text = CONF.format(user="user root;" if os.getuid() == 0 else "", workers=WORKERS, port=PORT,
                       http=http.format(**facts), location=location.format(**facts), **facts)
    (HERE / "nginx.conf").write_text(text)
    began = time.monotonic()
    subprocess.run(["nginx", "-p", HERE, "-c", HERE / "nginx.conf"], check=True)
    while not (HERE / "nginx.pid").exists() or not (HERE / "nginx.pid").read_text().strip():
        time.sleep(0.01)
    master = int((HERE / "nginx.pid").read_text())
    while len(children(master)) < WORKERS:
        time.sleep(0.01)
    return master, time.monotonic() - began


def stop(master):
    os.kill(master, signal.SIGTERM)
    while Path(f"/proc/{master}").exists() and children(master):
        time.sleep(0.05)
    while (HERE / "nginx.pid").exists():
        time.sleep(0.05)


def load(seconds):
    ran = subprocess.run(
        ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "-s", HERE / "wrk.lua", f"http://127.0.0.1:{PORT}/"],
        capture_output=True, text=True, check=True).stdout
    count = int(re.search(r"(\d+) requests in", ran)[1])
    blocked = re.search(r"Non-2xx or 3xx responses: (\d+)", ran)
    if "Socket errors" in ran:
        sys.exit(f"bench nginx: {ran}")
    return count, int(blocked[1]) if blocked else 0, float(re.search(r"Requests/sec: +([\d.]+)", ran)[1])


def measure(way, server):
    master, seconds = start(way)
    try:
        return (*asked(way, master, server), seconds)
    finally:
        stop(master)


def asked(way, master, server):
    load(1)
    workers = children(master)
    counted = workers + ([server.pid] if "Redis" in way else [])
    before = sum(map(cpu, counted))
    count, blocked, rate = load(SECONDS)
    used = sum(map(cpu, counted)) - before
    share = blocked / count
    expected = 0 if way == "no list" else 0.01
    if abs(share - expected) > 0.003:
        sys.exit(f"bench nginx: {way}: {share:.4f} of the requests were blocked, not {expected}")
    memory = statistics.mean(map(pss, workers))
    whole = sum(map(pss, [master, *counted]))
    return rate, used / count * 1e6, memory, whole


def version(program, before):
    ran = subprocess.run([program, "-v"], capture_output=True, text=True)
    return re.search(before + r"(\S+)", ran.stdout + ran.stderr)[1]


def main():
    lists()
    server = redis()
    try:
        found = {way: [] for way in WAYS}
        for _ in range(ROUNDS):
            for way in WAYS:
                found[way].append(measure(way, server))
    finally:
        server.kill()
        server.wait()
    size = (HERE / "list.petal").stat().st_size / 2**20
    print(f"nginx {version('nginx', '/')} with {WORKERS} workers, Redis "
          f"{version('redis-server', 'v=')}; {ENTRIES:,} tokens, a filter of {size:.1f} MiB; "
          f"{ROUNDS} rounds of {SECONDS} seconds.\n")
    print("| list | requests per second | by round | CPU us per request | MiB per worker | MiB in all | start, s |")
    print("| --- | --: | --- | --: | --: | --: | --: |")
    for way, rows in found.items():
        rates = sorted(row[0] for row in rows)
        middle = [statistics.median(column) for column in zip(*rows)]
        print(f"| {way} | {middle[0]:,.0f} | {rates[0]:,.0f} to {rates[-1]:,.0f} | {middle[1]:.1f} | {middle[2]:.1f} "
              f"| {middle[3]:.1f} | {middle[4]:.1f} |")


main()
