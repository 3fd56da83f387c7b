"""job.py - a job that uses Spark instead of Petal: creates a filter that contains a file's lines,
and queries it. examples/pipeline/README.md describes how it is called."""

import sys
from pathlib import Path

from pyspark.sql import SparkSession


def session() -> SparkSession:
    made = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    return made.config("spark.log.level", "ERROR").getOrCreate()


def make(keys: str, out: str, rate: str) -> None:
    spark = session()
    lines = [(line,) for line in Path(keys).read_text().splitlines()]
    frame = spark.createDataFrame(lines, ["key"]).coalesce(1)
    # PySpark can't create Bloom filters itself, so this calls the JVM's methods.
    filter = frame._jdf.stat().bloomFilter("key", len(lines), float(rate))
    stream = spark._jvm.java.io.FileOutputStream(out)
    filter.writeTo(stream)
    stream.close()


def ask(path: str) -> None:
    jvm = session()._jvm
    stream = jvm.java.io.FileInputStream(path)
    filter = jvm.org.apache.spark.util.sketch.BloomFilter.readFrom(stream)
    for line in sys.stdin.read().splitlines():
        print(int(filter.mightContainString(line)))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["make", keys, out, rate]:
            make(keys, out, rate)
        case ["ask", path]:
            ask(path)
        case _:
            sys.exit("usage: spark make KEYS OUT RATE | ask FILE")
