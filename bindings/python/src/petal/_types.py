"""What petal returns beside filters, and the exception."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple


class Error(ValueError):
    """A failure of the core, in its words.

    Failures of files are OSError instead, and of memory MemoryError; they have the same attributes.
    """

    #: The name of the status, such as "damaged".
    status: str
    #: The byte of the input, or the index of the key, at which it was noticed.
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
    """What is known of a filter, or of a plan, without looking at bits. None: not recorded."""

    format: str
    scheme: str
    hash: str
    capacity: int | None
    #: As asked for.
    rate: float | None
    #: Of the exact model at capacity.
    predicted_rate: float | None
    #: Keys given to add, repeats included (growing: only new ones), minus those removed.
    items: int
    bits: int
    #: Of the bits, in whole lines of 64.
    bytes: int
    #: Allocated in all; maps do not count.
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
    #: verify() has checksums to compare with.
    verifiable: bool
    #: Each block is compared with its checksum before the first answer from it.
    verifies: bool
    #: Blocks that were not yet.
    unchecked_blocks: int
    #: Runs on this CPU: "avx2", "generic", ...
    kernel: str
    #: "add", "merge", ...: what calls can succeed.
    abilities: frozenset[str]
    _shape: tuple[int, int, int, int, int, int] = field(repr=False)

    @property
    def bits_per_key(self) -> float | None:
        """Of memory, at capacity."""
        return self.bits * (self.counter_bits or 1) / self.capacity if self.capacity else None

    def rate_at(self, keys: int) -> float | None:
        """The rate of the exact model with so many distinct keys; None for several layers."""
        from ._petal import _rate_at

        return _rate_at(self._shape, keys)


@dataclass(frozen=True, slots=True)
class Stats:
    """What the bits of a filter say."""

    #: Of a counting filter: counters that are not zero.
    bits_set: int
    fill: float
    #: Distinct keys.
    estimated_items: Estimate
    #: Of an absent key, with these very bits; NaN where it cannot be told.
    estimated_rate: float
    overfull: bool
    #: Every bit is set.
    saturated: bool
    #: Counters that stick.
    saturated_counters: int

    def __post_init__(self) -> None:
        _make_estimates(self, "estimated_items")


@dataclass(frozen=True, slots=True)
class Comparison:
    """How the keys of two filters overlap, as far as their bits tell."""

    items_a: Estimate
    items_b: Estimate
    union_items: Estimate
    intersection: Estimate
    jaccard: Estimate
    containment_a_in_b: Estimate
    containment_b_in_a: Estimate
    #: Every bit of the union is set: only bounds are known, and values are NaN.
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
class Format:
    """A format of files."""

    name: str
    #: How its library makes bytes of keys.
    keys: str
    can_read: bool
    can_write: bool
    can_create: bool
    can_recognize: bool
    can_map: bool
    has_checksum: bool


@dataclass(frozen=True, slots=True)
class ParquetFilter:
    """The Bloom filter of one column in one row group of a Parquet file, and where it is."""

    #: Its path in the schema, "a.b.c".
    column: str
    #: Of the leaf column, from 0.
    column_number: int
    row_group: int
    #: "INT64", "BYTE_ARRAY", ...: keys are its plain encoding.
    physical_type: str
    offset: int
    bytes: int
    #: It cannot be read; offset and bytes are 0.
    encrypted: bool

    @property
    def key_type(self) -> str | None:
        """For view(): how numbers become the keys of this column; None: give str or bytes."""
        return {"INT32": "i32", "INT64": "i64", "DOUBLE": "f64"}.get(self.physical_type)


def _make_estimates(self: object, *names: str) -> None:
    """The C module gives plain tuples."""
    for name in names:
        object.__setattr__(self, name, Estimate(*getattr(self, name)))
