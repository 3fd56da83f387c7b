"""Builds and queries filters on PySpark's executors, and queries Spark's own filter without a
JVM."""

from collections.abc import Iterable, Iterator
from typing import Any

import pandas as pd
import pyarrow as pa
from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql.pandas.functions import pandas_udf

import petal


def build(frame: DataFrame, key: str, capacity: int, rate: float = 0.01) -> petal.Filter:
    """Returns a filter with a column's keys. Each executor builds a filter from part of the rows,
    and these filters are merged pair by pair."""

    def part(rows: Iterable[Row]) -> Iterable[bytes]:
        made = petal.Filter(capacity, rate)  # sized for all keys, so parts can be merged
        made.update(row[0] for row in rows if row[0] is not None)
        yield made.to_bytes()

    def merge(a: bytes, b: bytes) -> bytes:
        return (petal.Filter.from_bytes(a) | petal.Filter.view(b)).to_bytes()

    return petal.Filter.from_bytes(frame.select(key).rdd.mapPartitions(part).treeReduce(merge))


def may_be_in(key: str, filter: petal.Filter, spark: SparkSession) -> Column:
    """Returns a condition for a semi-join or, with ~, for an anti-join. Each executor receives the
    filter once.

    frame.where(may_be_in("url", filter, spark)) keeps every row whose key is in the filter, and
    other rows at the filter's false-positive rate. Join only the remaining rows with the large
    table.
    """
    sent = spark.sparkContext.broadcast(filter.to_bytes())

    def ask(column: Iterator[pd.Series]) -> Iterator[pd.Series]:
        with petal.Filter.view(sent.value) as filter:  # no copy
            for keys in column:
                # answers as an Arrow array, since a bool array can't represent a missing key
                yield pa.array(filter.contains_batch(pa.array(keys, from_pandas=True))).to_pandas()

    # Spark determines a function's kind from its type annotations.
    return pandas_udf(ask, "boolean")(key)  # type: ignore[call-overload, no-any-return]


def of_spark(frame: DataFrame, key: str, capacity: int, rate: float = 0.01) -> petal.Filter:
    """Returns the result of Spark's own df.stat.bloomFilter, which can be saved and queried without
    Spark."""
    of_jvm: Any = frame._jdf  # PySpark has no function for this
    made = of_jvm.stat().bloomFilter(key, capacity, rate)
    jvm: Any = frame.sparkSession._jvm
    stream = jvm.java.io.ByteArrayOutputStream()
    made.writeTo(stream)
    text = frame.schema[key].dataType.typeName() == "string"
    key_type = "text" if text else "i64"  # the file doesn't record the key type
    return petal.Filter.from_bytes(bytes(stream.toByteArray()), format="spark", key_type=key_type)


if __name__ == "__main__":
    spark = SparkSession.builder.master("local[2]").getOrCreate()
    seen = spark.createDataFrame([(f"https://example.com/{i}",) for i in range(10_000)], ["url"])
    today = spark.createDataFrame([(f"https://example.com/{i}",) for i in range(9_000, 19_000)], ["url"])
    print(today.where(may_be_in("url", build(seen, "url", 10_000), spark)).count(), "rows to join")
    print("https://example.com/7" in of_spark(seen, "url", 10_000))
