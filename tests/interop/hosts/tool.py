"""Runs the tool. tool.py make KEYS FOLDER creates the filters; tool.py ask KEYS FOLDER queries each
key."""

import subprocess
import sys

import keys as given

OPTIONS = {"text": "text", "i64": "i64", "f64": "f64", "bytes": "hex"}


def line(key: given.Key) -> bytes:
    if isinstance(key, bytes):
        return key.hex().encode()
    return key.encode() if isinstance(key, str) else repr(key).encode()


def petal(*arguments: str, keys: list[bytes]) -> list[bytes]:
    lines = b"".join(key + b"\n" for key in keys)
    done = subprocess.run(["petal", *arguments], input=lines, stdout=subprocess.PIPE, check=False)
    if done.returncode > 1:
        sys.exit(done.returncode)
    return done.stdout.split(b"\n")[:-1]


def make(type: str, lines: list[bytes], path: str) -> None:
    # The filter is so small that some absent keys are false positives.
    size = ["--scheme", "classic", "--bits", "64", "--hashes", "1"]
    petal("build", "--key-type", OPTIONS[type], *size, "-o", path, keys=given.members(lines))


def main(verb: str, path: str, folder: str) -> None:
    for type, keys in given.read(path).items():
        lines = [line(key) for key in keys]
        if verb == "make":
            make(type, lines, f"{folder}/{type}.petal")
        else:
            found = set(petal("check", f"{folder}/{type}.petal", keys=lines))
            native = f"`--key-type {OPTIONS[type]}`"
            given.say(type, native, (line in found for line in lines))


main(*sys.argv[1:])
