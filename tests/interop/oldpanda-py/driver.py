"""driver.py - drives OldPanda's bloomfilter-py. See ../lib/interop.sh."""

import bloomfilter
from bloomfilter import BloomFilter
from bloomfilter.bloomfilter_strategy import MURMUR128_MITZ_32, MURMUR128_MITZ_64

import interop

FUNNELS = {"text": "UTF8_STRING_FUNNEL", "i32": "INTEGER_FUNNEL", "i64": "LONG_FUNNEL", "hex": "BYTE_ARRAY_FUNNEL"}


class Driver:
    def __init__(self, form, kind):
        self.strategy = MURMUR128_MITZ_64 if form == "guava" else MURMUR128_MITZ_32
        # Funnels were introduced in version 1.3.
        self.options = {"funnel": getattr(bloomfilter, FUNNELS[kind])} if hasattr(bloomfilter, "Funnel") else {}

    def create(self, n, p):
        self.filter = BloomFilter(n, p, strategy=self.strategy, **self.options)

    def read(self, path):
        with open(path, "rb") as file:
            self.filter = BloomFilter.loads(file.read(), **self.options)

    def write(self, path):
        with open(path, "wb") as file:
            file.write(self.filter.dumps())

    def add(self, key):
        self.filter.put(key)

    def has(self, key):
        return self.filter.might_contain(key)


interop.run(Driver)
