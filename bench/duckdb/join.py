#!/usr/bin/env python3
"""join.py FOLDER [ROWS [KEYS [ROUNDS]]] - measures a semi-join in DuckDB of ROWS (10^8) rows of a
Parquet file with KEYS (10^7) keys in another one. 1 % of the rows match a key. Each query runs in a
process of its own, and each round runs every query in turn. The table shows the median and the
range.

The queries read a prebuilt filter from its file. Building this filter is a separate row of the
table."""

import os
import statistics
import subprocess
import sys
import time

import duckdb

ROUNDS = 3
# Every 100th row contains one of the keys, which are the hashes of 0 to KEYS - 1.
MAKE_KEYS = """copy (select (hash(range)::hugeint - 9223372036854775808)::bigint as k
    from range({keys})) to '{out}'"""
MAKE_ROWS = """copy (select (case when range % 100 = 0 then hash((range // 100 * 7919) % {keys})
    else hash(range + 1000000000000) end::hugeint - 9223372036854775808)::bigint as k,
    (range % 1000)::integer as v from range({rows})) to '{out}'"""
SEMI_JOIN = "select count(*), sum(v) from '{rows}' where {guard}k in (select k from '{keys}')"
GUARD = "petal_contains('{filter}', k)"
QUERIES = {
    "only the rows": "select bit_xor(k), sum(v) from '{rows}'",
    "the join, without a filter": SEMI_JOIN.format(rows="{rows}", keys="{keys}", guard=""),
    "the filter, then the join": SEMI_JOIN.format(rows="{rows}", keys="{keys}", guard=GUARD + " and "),
    "the filter alone": "select count(*), sum(v) from '{rows}' where " + GUARD,
    "building the filter": "select octet_length(petal_build(k)), 0 from '{keys}'",
}


def connect():
    base = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    base.execute("set enable_progress_bar = false")
    base.load_extension(os.environ["PETAL_DUCKDB"])
    return base


def make(folder, rows, keys):
    files = {"rows": f"{folder}/rows-{rows}-{keys}.parquet", "keys": f"{folder}/keys-{keys}.parquet",
             "filter": f"{folder}/keys-{keys}.petal"}
    base = connect()
    if not os.path.exists(files["keys"]):
        base.execute(MAKE_KEYS.format(keys=keys, out=files["keys"]))
    if not os.path.exists(files["rows"]):
        base.execute(MAKE_ROWS.format(keys=keys, rows=rows, out=files["rows"]))
    built = base.execute(f"select petal_build(k) from '{files['keys']}'").fetchone()[0]
    with open(files["filter"], "wb") as file:
        file.write(built)
    os.utime(files["filter"], (1_000_000_000, 1_000_000_000))
    return files, len(built)


def run_one(query):
    """Runs in a process of its own. Prints the result, the seconds, the CPU seconds, and the peak
    memory in MB."""
    base = connect()
    start, before = time.monotonic(), time.process_time()
    found = base.execute(query).fetchone()
    wall, cpu = time.monotonic() - start, time.process_time() - before
    with open("/proc/self/status") as status:  # getrusage() would include the parent's memory
        peak, = [int(line.split()[1]) for line in status if line.startswith("VmHWM:")]
    print(found[0], found[1], wall, cpu, peak / 1024)


def measure(query):
    ran = subprocess.run([sys.executable, __file__, "--query", query], stdout=subprocess.PIPE,
                         text=True, check=True)
    count, total, wall, cpu, peak = ran.stdout.split()
    return (int(count), int(total)), float(wall), float(cpu), float(peak)


def shown(values, digits):
    low, middle, high = min(values), statistics.median(values), max(values)
    return f"{middle:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


def main():
    if sys.argv[1] == "--query":
        return run_one(sys.argv[2])
    folder, (rows, keys, rounds) = sys.argv[1], [
        int(sys.argv[i]) if len(sys.argv) > i else default
        for i, default in ((2, 100_000_000), (3, 10_000_000), (4, ROUNDS))]
    files, size = make(folder, rows, keys)
    measured = {name: [] for name in QUERIES}
    for _ in range(rounds):
        for name, query in QUERIES.items():
            measured[name].append(measure(query.format(**files)))
    exact = measured["the join, without a filter"][0][0]
    assert measured["the filter, then the join"][0][0] == exact, measured
    alone = measured["the filter alone"][0][0][0]
    assert exact[0] <= alone < exact[0] + 0.02 * rows, (exact, alone)
    threads = connect().execute("select current_setting('threads')").fetchone()[0]
    print(f"DuckDB {duckdb.__version__}, {threads} threads; {rows} rows, of which {exact[0]} have one of"
          f" {keys} keys; a static filter of {size / 1e6:.1f} MB; {rounds} rounds.\n")
    print("| query | CPU seconds | seconds | MB at the peak | rows |")
    print("| --- | --- | --- | --- | --- |")
    for name, runs in measured.items():
        walls, cpus, peaks = ([run[i] for run in runs] for i in (1, 2, 3))
        found = "" if name in ("only the rows", "building the filter") else runs[0][0][0]
        print(f"| {name} | {shown(cpus, 1)} | {shown(walls, 1)} | {shown(peaks, 0)} | {found} |")


main()
