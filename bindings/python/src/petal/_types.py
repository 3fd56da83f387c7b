"""The types that petal returns in addition to filters, and its exception."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple


class Error(ValueError):
    """An error from the core, with the core's message.

    File failures raise OSError and failed allocations raise MemoryError, with the same attributes.
    """

    #: The name of the status, such as "damaged".
    status: str
    #: The offset in the input or the index of the key at which the failure was noticed.
    offset: int | None
    #: The file, if there is one.
    filename: str | bytes | None = None


class Estimate(NamedTuple):
    """An estimate with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Info:
    """Describes a filter or a plan without reading any bits. None means that a value is not
    recorded."""

    format: str
    scheme: str
    hash: str
    capacity: int | None
    #: As requested.
    rate: float | None
    #: The exact model's rate at capacity.
    predicted_rate: float | None
    #: The number of keys added, including repeats (growing: only new keys), minus those removed.
    items: int
    bits: int
    #: The size of the bits, in whole 64-byte lines.
    bytes: int
    #: All memory allocated; maps are not counted.
    memory_bytes: int
    hashes: int
    lines_per_key: int | None
    counter_bits: int | None
    layers: int
    seed: int
    keyed: bool
    secret_id: int | None
    key_type: str | None
    #: "growing", "keys" or "time" (windows).
    policy: str | None
    growth_step: int | None
    growth_ratio: float | None
    window: int | None
    window_ms: int | None
    clock_ms: int | None
    generations: int | None
    metadata_bytes: int
    live: bool
    recovered_blocks: int
    #: Whether there are checksums for verify() to check.
    verifiable: bool
    #: Whether each block is checked against its checksum before the first answer from it.
    verifies: bool
    #: The number of blocks that have not been checked yet.
    unchecked_blocks: int
    #: The format of the file or stream that the filter was read from; None if it was created in
    #: memory. A petal file may hold a filter of another format: then this is "petal", and format is
    #: the other format.
    file_format: str | None
    #: The kernel used on this CPU: "avx2", "generic", ...
    kernel: str
    #: The calls that can succeed: "add", "merge", ...
    abilities: frozenset[str]
    _shape: tuple[int, int, int, int, int, int] = field(repr=False)

    @property
    def bits_per_key(self) -> float | None:
        """Returns the number of bits per key at capacity."""
        return self.bits * (self.counter_bits or 1) / self.capacity if self.capacity else None

    def rate_at(self, keys: int) -> float | None:
        """Returns the exact model's rate for this number of distinct keys, or None if the filter
        has several layers."""
        from ._petal import _rate_at

        return _rate_at(self._shape, keys)


@dataclass(frozen=True, slots=True)
class Stats:
    """Statistics computed from a filter's bits."""

    #: Set bits; for a counting filter, counters that are not zero.
    bits_set: int
    fill: float
    #: Distinct keys.
    estimated_items: Estimate
    #: The rate at which absent keys pass, given the bits; NaN if it is unknown.
    estimated_rate: float
    overfull: bool
    #: Whether every bit is set.
    saturated: bool
    #: The number of counters stuck at 15.
    saturated_counters: int

    def __post_init__(self) -> None:
        _make_estimates(self, "estimated_items")


@dataclass(frozen=True, slots=True)
class Comparison:
    """The overlap of two filters' keys, estimated from their bits."""

    items_a: Estimate
    items_b: Estimate
    union_items: Estimate
    intersection: Estimate
    jaccard: Estimate
    containment_a_in_b: Estimate
    containment_b_in_a: Estimate
    #: Whether every bit of the union is set, so that only bounds are known, and values are NaN.
    saturated: bool

    def __post_init__(self) -> None:
        _make_estimates(
            self,
            "items_a",
            "items_b",
            "union_items",
            "intersection",
            "jaccard",
            "containment_a_in_b",
            "containment_b_in_a",
        )


@dataclass(frozen=True, slots=True)
class IndexInfo:
    """Describes an index of many filters without reading any bits."""

    filters: int
    #: The number of groups (filters of equal size and hashes); a query reads each group.
    groups: int
    #: The 64-bit words of a key's row in bits_batch(): filters / 64, rounded up.
    row_words: int
    #: The size of the file that save() would write, or of the open file.
    bytes: int
    #: The part of the file that holds the groups' rows.
    bits_bytes: int
    #: The total size of the filters' bits outside the index.
    filter_bytes: int
    #: All memory allocated; maps are not counted.
    memory_bytes: int
    #: The key type of all filters, or None if there are no filters yet.
    key_type: str | None
    secret_id: int | None
    #: Whether the index was opened from a file and is read-only.
    opened: bool


@dataclass(frozen=True, slots=True)
class Format:
    """A file format."""

    name: str
    #: How the format's library turns keys into bytes.
    keys: str
    can_read: bool
    can_write: bool
    can_create: bool
    can_recognize: bool
    can_map: bool
    has_checksum: bool


@dataclass(frozen=True, slots=True)
class ParquetFilter:
    """The location of the Bloom filter for one column in one row group of a Parquet file."""

    #: The column's path in the schema, "a.b.c".
    column: str
    #: The number of the leaf column, from 0.
    column_number: int
    row_group: int
    #: "INT64", "BYTE_ARRAY", ...: keys are in its plain encoding.
    physical_type: str
    offset: int
    bytes: int
    #: Whether the column is encrypted: the filter can't be read; offset and bytes are 0.
    encrypted: bool

    @property
    def key_type(self) -> str | None:
        """Returns the key type to pass to view(), so that numbers become keys of this column. None
        means that keys are str or bytes."""
        return {"INT32": "i32", "INT64": "i64", "DOUBLE": "f64"}.get(self.physical_type)


def _make_estimates(self: object, *names: str) -> None:
    """The C module returns plain tuples."""
    for name in names:
        object.__setattr__(self, name, Estimate(*getattr(self, name)))
