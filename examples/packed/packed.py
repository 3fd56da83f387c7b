"""packed.py HOST:PORT - batches with PETAL.MADDB and PETAL.MEXISTSB, using redis-py
(docs/redis.md).

A packed batch is one argument: a count, that many lengths (32 bits each, little-endian), and the
items' bytes. The reply is a bitmap, with item i in bit i mod 8 of byte i / 8."""

import struct
import sys

import redis


def pack(items):
    data = [item.encode() if isinstance(item, str) else item for item in items]
    return struct.pack(f"<I{len(data)}I", len(data), *map(len, data)) + b"".join(data)


def answers(bitmap, count):
    return [bool(bitmap[i // 8] >> i % 8 & 1) for i in range(count)]


def main():
    host, port = sys.argv[1].rsplit(":", 1)
    client = redis.Redis(host, int(port))
    client.execute_command("PETAL.RESERVE", "crawled", 0.01, 1000)
    urls = [f"https://a.example/{i}" for i in range(3000)]
    others = [f"https://b.example/{i}" for i in range(3000)]
    new = answers(client.execute_command("PETAL.MADDB", "crawled", pack(urls)), len(urls))
    found = answers(client.execute_command("PETAL.MEXISTSB", "crawled", pack(urls)), len(urls))
    false = answers(client.execute_command("PETAL.MEXISTSB", "crawled", pack(others)), len(others))
    print(f"{sum(new)} of {len(urls)} were new; found {sum(found)}, and {sum(false)} others")


main()
