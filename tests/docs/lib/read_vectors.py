"""read_vectors.py hashes | answers FILE STEP | refusals | refused FILE WHY - compares the reader in
docs/format.md with the tool and the test vectors. The reader must be on PYTHONPATH. It queries
every STEP-th key."""
import pathlib
import subprocess
import sys
import tempfile

from hashes import siphash, xxh3
from query import contains
from reader import Refused, open_filter

SECRET = bytes(range(16))
# The reader accepts these files, since their defects don't affect queries.
TAKEN = {
    "key-type-8", "rate-nan", "rate-infinite", "rate-1", "rate-minus-0", "reserved-not-zero",
    "time-of-a-layer", "secret-without-siphash",
}


def hashes():
    assert xxh3(b"hello", 0) == 0x9555E8555C62DCFD
    assert siphash(bytes(range(15)), SECRET) == 0xA129CA6149BE45E5  # the SipHash paper's example


def tool(path, key_type, keys):
    """Returns the keys that the tool finds, or None if the file records a different key type."""
    with tempfile.NamedTemporaryFile() as secret:
        secret.write(SECRET)
        secret.flush()
        clock = {"rotating-time": 1712664000, "rotating-burst": 1704067200}.get(path.stem)
        command = ["petal", "check", "--key-type", key_type, path]
        command += ["--now", str(clock)] if clock else []
        command += ["--secret-file", secret.name] if "keyed" in path.stem or path.stem == "rotating-time" else []
        lines = "".join(f"{key}\n" for key in keys)
        run = subprocess.run(command, input=lines, capture_output=True, text=True)
    if run.returncode == 2 and "key" in run.stderr:
        return None
    assert run.returncode < 2, run.stderr
    return run.stdout.split()


def answers(path, step):
    opened = open_filter(path.read_bytes(), SECRET)
    texts = [f"key-{i}" for i in range(0, 1000, step)] + ["a", "b", "c", "d", "g"]
    numbers = [str(i) for i in range(-1, 3000, step)]
    as_i64 = lambda key: int(key).to_bytes(8, "little", signed=True)
    asked = 0
    for key_type, keys, encode in ("text", texts, str.encode), ("i64", numbers, as_i64):
        theirs = tool(path, key_type, keys)
        if theirs is None:
            continue
        ours = [key for key in keys if contains(opened, encode(key))]
        assert ours == theirs, (path, key_type, len(ours), len(theirs))
        print(path.stem, key_type, len(ours), "of", len(keys))
        asked += 1
    assert asked, "no type of keys was taken"


def refused(path, why):
    try:
        open_filter(path.read_bytes())
    except Refused as refusal:
        assert str(refusal) == why, (path.stem, str(refusal), why)
    else:
        assert path.stem in TAKEN, f"{path.stem} was taken"


def refusals():
    lines = pathlib.Path("vectors/reject/expected.txt").read_text().splitlines()
    rows = [line.split(" ", 1) for line in lines if line[0] != "#"]
    assert len(rows) > 40
    for name, why in rows:
        refused(pathlib.Path(f"vectors/reject/{name}.petal"), why)


verb, arguments = sys.argv[1], sys.argv[2:]
if verb == "hashes":
    hashes()
elif verb == "answers":
    answers(pathlib.Path(arguments[0]), int(arguments[1]))
elif verb == "refusals":
    refusals()
else:
    refused(pathlib.Path(arguments[0]), arguments[1])
