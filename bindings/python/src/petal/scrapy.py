"""A dupefilter for Scrapy that remembers requests in a Bloom filter, which takes 5 bytes per
request instead of 100.

In settings.py, or in a spider's custom_settings:

    DUPEFILTER_CLASS = "petal.scrapy.DupeFilter"
    PETAL_DUPEFILTER_FILE = "seen.petal"

PETAL_DUPEFILTER_FILE      remembers what finished crawls have requested, for later crawls; only
                           one crawl at a time may use it. Not set: each crawl starts with nothing.
PETAL_DUPEFILTER_CAPACITY  requests expected (1,000,000); with more, the filter grows
PETAL_DUPEFILTER_RATE      share of new requests that are mistaken for seen ones (0.000001)
DUPEFILTER_DEBUG           as for Scrapy's own filter: log every duplicate, not only the first

If the filter forgets requests because of a crash, they are repeated, so no request is lost. The
file is replaced, atomically, only when a crawl ends as "finished", with no request pending. To
continue a stopped crawl, use Scrapy's JOBDIR, in which this filter is stored next to the queue.
Without JOBDIR, or after a crash, the next crawl uses the file from the last finished crawl. If a
continued job crashes, Scrapy's queue is damaged, and a crawl that continued with this queue might
never end, so the next crawl rejects that JOBDIR. Start requests must not be filtered
(dont_filter=True, which is the default unless you write them yourself).
"""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any, Protocol

from ._petal import Filter

__all__ = ["DupeFilter"]

logger = logging.getLogger(__name__)


class _Settings(Protocol):
    def get(self, name: str, default: Any = None) -> Any: ...
    def getbool(self, name: str, default: bool = False) -> bool: ...
    def getint(self, name: str, default: int = 0) -> int: ...
    def getfloat(self, name: str, default: float = 0.0) -> float: ...


class DupeFilter:
    """See the module's docstring."""

    def __init__(self, crawler: Any) -> None:
        settings: _Settings = crawler.settings
        self.fingerprint = crawler.request_fingerprinter.fingerprint
        self.stats = crawler.stats
        self.log_all = settings.getbool("DUPEFILTER_DEBUG")
        self.log_next = True
        self.capacity = settings.getint("PETAL_DUPEFILTER_CAPACITY", 1_000_000)
        self.rate = settings.getfloat("PETAL_DUPEFILTER_RATE", 1e-6)
        path, job = settings.get("PETAL_DUPEFILTER_FILE"), settings.get("JOBDIR")
        self.path = Path(path) if path else None
        self.paused = Path(job, "requests.petal") if job else None

    @classmethod
    def from_crawler(cls, crawler: Any) -> DupeFilter:
        return cls(crawler)

    def open(self) -> None:
        if self.paused and self.paused.exists():
            self.seen = Filter.open(self.paused, "load")
            # The file corresponds to the current state of the queue. After a crash, it would hide
            # the fact that the queue has lost requests.
            self.paused.unlink()
        elif self.paused and self._queue_is_left():
            raise RuntimeError(f"{self.paused.parent}: its job crashed; remove it to begin again")
        elif self.path:
            if not self.path.exists():
                self._empty().save(self.path, replace=False)
            self.seen = Filter.open(self.path, "load", locked=True)
        else:
            self.seen = self._empty()

    def _queue_is_left(self) -> bool:
        """When a job ends, Scrapy lists the queues in this file. If the job has finished, the list
        is empty."""
        assert self.paused
        queues = self.paused.with_name("requests.queue") / "active.json"
        return queues.exists() and bool(json.loads(queues.read_text()))

    def _empty(self) -> Filter:
        return Filter(self.capacity, self.rate, grow=True)

    def request_seen(self, request: Any) -> bool:
        return not self.seen.add(self.fingerprint(request))

    def close(self, reason: str) -> None:
        if reason == "finished":
            if self.path:
                self.seen.save(self.path)
        elif self.paused:
            self.seen.save(self.paused)
        self.seen.close()

    def log(self, request: Any, spider: Any) -> None:
        if self.log_all or self.log_next:
            more = "" if self.log_all else " (no more are shown, see DUPEFILTER_DEBUG)"
            logger.debug("duplicate request: %s%s", request, more, extra={"spider": spider})
            self.log_next = False
        self.stats.inc_value("dupefilter/filtered")
