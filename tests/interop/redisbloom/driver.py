"""driver.py - uses RedisBloom in the running Redis server at REDIS_URL.

See ../lib/interop.sh. A file in the format redisbloom is the output of BF.SCANDUMP: the header
followed by the chunks. A file in the format redisbloom-dump is the output of DUMP. The environment
variable REDIS_RESERVE contains additional arguments for BF.RESERVE. docs/interop.md shows the same
way to dump and restore a filter.
"""

import os
import struct

import redis

import interop

BATCH = 1000
CHUNK = 16 * 1024 * 1024
KEY = "interop"


class Driver:
    def __init__(self, form, kind):
        self.client = redis.Redis.from_url(os.environ["REDIS_URL"])
        self.client.delete(KEY)
        self.whole = form == "redisbloom-dump"
        self.waiting = []

    def command(self, *words):
        return self.client.execute_command(*words)

    def create(self, n, p):
        self.command("BF.RESERVE", KEY, p, n, *os.environ.get("REDIS_RESERVE", "").split())

    def read(self, path):
        with open(path, "rb") as file:
            dump = file.read()
        if self.whole:
            self.command("RESTORE", KEY, 0, dump)
            return
        layers = struct.unpack_from("<I", dump, 8)[0]
        header = at = 20 + 53 * layers
        self.command("BF.LOADCHUNK", KEY, 1, dump[:header])
        for layer in range(layers):
            end = at + struct.unpack_from("<Q", dump, 20 + 53 * layer)[0]
            while at < end:
                chunk = dump[at : min(end, at + CHUNK)]
                at += len(chunk)
                self.command("BF.LOADCHUNK", KEY, at - header + 1, chunk)

    def dump(self):
        place, chunk = self.command("BF.SCANDUMP", KEY, 0)
        while place != 0:
            yield chunk
            place, chunk = self.command("BF.SCANDUMP", KEY, place)

    def write(self, path):
        self.add_waiting()
        with open(path, "wb") as file:
            file.write(self.command("DUMP", KEY) if self.whole else b"".join(self.dump()))

    def add(self, key):
        self.waiting.append(key)
        if len(self.waiting) == BATCH:
            self.add_waiting()

    def add_waiting(self):
        if self.waiting:
            self.command("BF.MADD", KEY, *self.waiting)
        self.waiting = []

    def has_each(self, keys):
        for at in range(0, len(keys), BATCH):
            yield from self.command("BF.MEXISTS", KEY, *keys[at : at + BATCH])


interop.run(Driver)
