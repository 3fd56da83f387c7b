"""helpers.py - code that the tests of all SQL databases share: it creates files, compares with the
tool, and measures memory. Run the tests from the top of the tree.

The `sql` module of each database's tests provides what differs, such as connect() and table(). A
filter is passed as a file name (str) or as the file's bytes."""

import json
import os
import subprocess
import tempfile
import threading
from contextlib import contextmanager

from sql import built, table

# Each run has a new folder, since some tests create their files only once. A database's server may
# run as another user, who must be able to read the files.
HERE = tempfile.mkdtemp()
os.chmod(HERE, 0o755)


def filter_of(base, keys, *options):
    """Lets the database build a filter of these keys, which all have the same type."""
    table(base, keys)
    return built(base, *options)


def saved(name, filter):
    """Writes the filter to a file and returns the file's path."""
    path = f"{HERE}/{name}"
    with open(path, "wb") as file:
        file.write(filter)
    return path


@contextmanager
def kept_changing(path):
    """Lets a thread truncate, rewrite and replace the file until the block ends. Afterwards, the
    file has the same contents as before."""
    with open(path, "rb") as file:
        whole = file.read()
    stop = threading.Event()

    def change():
        while not stop.is_set():
            with open(path, "wb") as file:  # truncated, and longer again
                file.write(whole[: len(whole) // 2])
                file.flush()
                file.write(whole[len(whole) // 2 :])
            for _ in range(2):
                os.replace(saved("new", whole), path)

    writer = threading.Thread(target=change)
    writer.start()
    try:
        yield
    finally:
        stop.set()
        writer.join()


def resident(process="self"):
    """Returns the size of the memory that this process uses."""
    with open(f"/proc/{process}/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGESIZE")


# ---- the tool ----


def tool_build(name, keys, *options):
    """Creates a file with these keys and options using the tool, and returns the file's path."""
    path = f"{HERE}/{name}"
    words = ["petal", "build", "--force", "-o", path, *options]
    lines = "".join(f"{key}\n" for key in keys)
    made = subprocess.run(words, input=lines, capture_output=True, text=True)
    assert made.returncode == 0, (words, made.stderr)
    return path


def filter_file(name, keys, *options):
    """Creates a file with capacity for 1,000 keys. Its modification time is old enough for a
    database to keep the filter in memory."""
    path = tool_build(name, keys, "-n", "1000", *options)
    os.utime(path, (1_000_000_000, 1_000_000_000))
    return path


def tool_info(path):
    """Returns the output of `petal info`, or None if the tool cannot open the file."""
    ran = subprocess.run(["petal", "info", "--json", path], capture_output=True, text=True)
    return json.loads(ran.stdout) if ran.returncode == 0 else None


def tool_answers(path, lines, key_type="text"):
    """Returns a list with 1 for each line that the tool finds and 0 for each other line."""
    ask = ["petal", "check", "-n", "--key-type", key_type, path]
    text = "".join(f"{line}\n" for line in lines)
    ran = subprocess.run(ask, input=text, capture_output=True, text=True)
    assert ran.returncode in (0, 1), ran.stderr
    found = {int(line.split(":")[0]) - 1 for line in ran.stdout.splitlines()}
    return [int(i in found) for i in range(len(lines))]
