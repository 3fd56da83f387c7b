"""Queries the keys in Redis. Redis keys are bytes, so this client encodes integers and floats."""

import sys
from pathlib import Path

import keys as given
import servers

NATIVE = {
    "text": "UTF-8",
    "i64": "8 bytes, little-endian",
    "f64": "8 bytes, little-endian",
    "bytes": "bytes",
}

path, folder = sys.argv[1:]
with servers.Server("redis-server") as server:
    ask = server.connect()
    for type, keys in given.read(path).items():
        file = Path(f"{folder}/{type}.petal").read_bytes()
        ask("PETAL.LOAD", type, "part", 0, len(file), file)
        answers = [ask("BF.EXISTS", type, given.encoded(key)) for key in keys]
        given.say(type, NATIVE[type], answers)
