#!/usr/bin/env python3
"""access_log.py SEED ROWS DAYS WINDOW_MS SPAN_MS: writes an artificial web server log in three
formats: log.apache, log.csv (ISO 8601 times) and log.jsonl (times in milliseconds). A tenth of the
lines are up to 40 s late.

Each line contains its request number. An exact model remembers all clients: each line refreshes its
client with the latest time in the log so far. The file `repeats` lists the requests that came
within WINDOW_MS of the same client's last request. The file `fresh` lists the requests that were a
client's first, or came more than WINDOW_MS + SPAN_MS after its last one. All other requests may
belong to either group."""
import json
import random
import sys
import time

seed, rows, days, window, span = map(int, sys.argv[1:])
rng = random.Random(seed)
at = 1704067200.0  # 2024-01-01
clock, last = 0, {}
files = {name: open(name, "w") for name in ("log.apache", "log.csv", "log.jsonl", "repeats", "fresh")}
files["log.csv"].write("request,time,client\n")
for i in range(rows):
    # The log has bursts and quiet periods, so that some generations end because they are full and
    # others because of their age.
    at += rng.expovariate(rows / (days * 86400)) * rng.choice((0.1, 0.1, 2.8))
    if rng.random() < 0.0005:
        at += 86400 * rng.random()
    seconds = int(at) - (rng.randrange(40) if rng.random() < 0.1 else 0)
    client = "10.0.%d.%d" % (rng.paretovariate(0.4) % 200, rng.randrange(8))
    local = time.strftime("%d/%b/%Y:%H:%M:%S +0530", time.gmtime(seconds + 19800))
    utc = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
    files["log.apache"].write('%s - - [%s] "GET /%d HTTP/1.1" 200\n' % (client, local, i))
    files["log.csv"].write("%d,%s,%s\n" % (i, utc, client))
    files["log.jsonl"].write(json.dumps({"request": i, "t": seconds * 1000, "client": client}) + "\n")
    clock = max(clock, seconds * 1000)
    age = clock - last.get(client, -(1 << 62))
    if age <= window:
        files["repeats"].write("%d\n" % i)
    elif age > window + span:
        files["fresh"].write("%d\n" % i)
    last[client] = clock
for file in files.values():
    file.close()
