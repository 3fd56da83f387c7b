"""Bloom filters, with one C core and one file format for every language.

>>> import petal
>>> seen = petal.Filter(1_000_000, 0.01)
>>> seen.update(["https://example.com/", "https://example.net/"])
2
>>> "https://example.com/" in seen, "https://example.org/" in seen
(True, False)

Filters are saved as files that the `petal` command, C and other languages can also read. Filters
written by Guava, Spark, Redis, Parquet and others can be opened directly: see open() and formats().
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Literal

from ._petal import (
    Answers,
    Filter,
    Index,
    __version__,
    formats,
    parquet_filters,
    plan,
    recognize,
    shard_of,
)
from ._types import Comparison, Error, Estimate, Format, IndexInfo, Info, ParquetFilter, Stats

__all__ = [
    "Answers",
    "Comparison",
    "Error",
    "Estimate",
    "Filter",
    "Format",
    "Index",
    "IndexInfo",
    "Info",
    "ParquetFilter",
    "Stats",
    "__version__",
    "formats",
    "open",
    "parquet_filters",
    "plan",
    "recognize",
    "shard_of",
]


def open(
    path: str | bytes | PathLike[str] | PathLike[bytes],
    mode: Literal["r", "r+", "load"] = "r",
    *,
    format: str = "auto",
    secret: bytes | None = None,
    key_type: str | None = None,
    verify: bool | None = None,
    recover: bool = False,
    live: bool = False,
    locked: bool = False,
    no_lock: bool = False,
    memory_limit: int | None = None,
) -> Filter:
    """Opens a filter file written by Petal or another library; see Filter.open().

    >>> import petal, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "seen.petal")
    >>> petal.Filter(1000).save(path)
    >>> with petal.open(path, "r+") as seen:
    ...     seen.add("a")
    True
    >>> "a" in petal.open(path)
    True
    """
    return Filter.open(
        path,
        mode,
        format=format,
        secret=secret,
        key_type=key_type,
        verify=verify,
        recover=recover,
        live=live,
        locked=locked,
        no_lock=no_lock,
        memory_limit=memory_limit,
    )


Sequence.register(Answers)  # pyright: ignore[reportAttributeAccessIssue]


def _unpickle(kind: type[Filter], data: bytes, key_type: str | None) -> Filter:
    return kind.from_bytes(data, format="petal", key_type=key_type)
