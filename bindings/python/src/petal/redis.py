"""Defines ShardedFilter, a set that is stored as Bloom filters on many Redis or Valkey servers,
with redis-py.

    import redis.cluster
    from petal.redis import ShardedFilter

    cluster = redis.cluster.RedisCluster("localhost", 7000)
    crawled = ShardedFilter(cluster, "crawled", 12)
    crawled.create(60_000_000, 0.01)
    crawled.add_batch(["https://example.com/", "https://example.net/"])   # [True, True]
    "https://example.org/" in crawled                                     # False: certainly not

The filters are stored under the Redis keys NAME:{0} to NAME:{N-1}, which a cluster distributes over
its servers. petal.shard_of() determines the filter to which a key belongs. It returns the same
number in every language and in `petal shard`. The filters support the BF.* commands of Petal's
module and RedisBloom. A single server, redis.Redis, also works. A cluster acknowledges a key once
the master has stored it. Use WAIT if a replica must also store it.
"""

from __future__ import annotations

import math
from typing import Any, Iterable, Sequence

from ._petal import shard_of

__all__ = ["ShardedFilter"]

_BATCH = 1000  # items per command; longer commands would make other clients wait too long


class ShardedFilter:
    """See the module's docstring. Keys are str (as UTF-8) or bytes."""

    def __init__(self, client: Any, name: str, shards: int) -> None:
        if not 1 <= shards <= 16384:
            raise ValueError("shards must be from 1 to 16384, as many as a cluster has slots")
        self.client, self.name, self.shards = client, name, shards

    def name_of(self, shard: int) -> str:
        """Returns the Redis key of a shard's filter."""
        return f"{self.name}:{{{shard}}}"

    def create(self, capacity: int, rate: float) -> None:
        """Creates the filters. Each has a capacity of its share of the keys plus 6 standard
        deviations, and grows if more keys are added."""
        part = capacity / self.shards
        room = math.ceil(part + 6 * math.sqrt(part))
        for shard in range(self.shards):
            self.client.execute_command("BF.RESERVE", self.name_of(shard), rate, room)

    def add(self, key: str | bytes) -> bool:
        """Returns True if the key was certainly new."""
        return self.add_batch([key])[0]

    def add_batch(self, keys: Iterable[str | bytes]) -> list[bool]:
        """Returns True for each key that was certainly new. After an error, all keys can safely be
        added again."""
        return self._batch("BF.MADD", list(keys))

    def __contains__(self, key: str | bytes) -> bool:
        return self.contains_batch([key])[0]

    def contains_batch(self, keys: Iterable[str | bytes]) -> list[bool]:
        """Returns False for each key that is certainly absent, otherwise True."""
        return self._batch("BF.MEXISTS", list(keys))

    def __len__(self) -> int:
        """Returns the number of keys that were new."""
        counts = [
            self.client.execute_command("BF.CARD", self.name_of(shard))
            for shard in range(self.shards)
        ]
        return sum(map(int, counts))

    def _batch(self, command: str, keys: Sequence[str | bytes]) -> list[bool]:
        """Uses one pipeline, and returns the answers in the order of the keys."""
        places: list[list[int]] = [[] for _ in range(self.shards)]
        for place, key in enumerate(keys):
            if not isinstance(key, (str, bytes)):
                raise TypeError(f"a key must be str or bytes, not {type(key).__name__}")
            places[shard_of(key, self.shards)].append(place)
        parts = [
            (shard, there[at : at + _BATCH])
            for shard, there in enumerate(places)
            for at in range(0, len(there), _BATCH)
        ]
        pipeline = self.client.pipeline(transaction=False)
        for shard, part in parts:
            pipeline.execute_command(command, self.name_of(shard), *(keys[i] for i in part))
        answers = [False] * len(keys)
        for (_, part), replies in zip(parts, pipeline.execute() if parts else []):
            for place, reply in zip(part, replies):
                if isinstance(reply, Exception):  # a full filter
                    raise reply
                answers[place] = bool(reply)
        return answers
