"""driver.py - drives pybloom_live's BloomFilter (format pybloom) and ScalableBloomFilter (format
pybloom-scalable). See ../lib/interop.sh."""

from pybloom_live import BloomFilter, ScalableBloomFilter

import interop


class Driver:
    def __init__(self, form, kind):
        self.type = ScalableBloomFilter if form == "pybloom-scalable" else BloomFilter

    def create(self, n, p):
        self.filter = self.type(n, p)

    def read(self, path):
        with open(path, "rb") as file:
            self.filter = self.type.fromfile(file)

    def write(self, path):
        with open(path, "wb") as file:
            self.filter.tofile(file)

    def add(self, key):
        self.filter.add(key)

    def has(self, key):
        return key in self.filter


interop.run(Driver)
