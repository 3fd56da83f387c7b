"""test_spark.py - tests filters in PySpark: merging parts gives the filter of the whole, Spark's
own filter can be queried without a JVM, and a broadcast filter keeps every row of a semi-join."""

import petal
import pytest
import spark_filters
from pyspark.sql import SparkSession

TEXTS = [f"https://example.com/{number}" for number in range(20_000)]


@pytest.fixture(scope="module")
def spark():
    made = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    made = made.config("spark.sql.shuffle.partitions", "2").getOrCreate()
    yield made
    made.stop()


def frame(spark, keys):
    return spark.createDataFrame([(key,) for key in keys], ["key"]).repartition(4)


@pytest.mark.parametrize("keys", [TEXTS, range(-10_000, 10_000)], ids=["texts", "numbers"])
def test_parts_are_the_whole(spark, keys):
    made = spark_filters.build(frame(spark, keys[:10_000]), "key", 10_000)
    whole = petal.Filter(10_000, 0.01)
    whole.update(keys[:10_000])
    assert list(made.contains_batch(keys)) == list(whole.contains_batch(keys))
    assert made.stats().bits_set == whole.stats().bits_set


@pytest.mark.parametrize("keys", [TEXTS, range(-10_000, 10_000)], ids=["texts", "numbers"])
def test_of_spark(spark, keys):
    made = spark_filters.of_spark(frame(spark, keys[:10_000]), "key", 10_000)
    assert all(made.contains_batch(keys[:10_000]))
    assert 0 < sum(made.contains_batch(keys[10_000:])) < 200  # 100 at 0.01


def test_semi_join(spark):
    known, asked = set(TEXTS[:10_000]), TEXTS[5_000:]
    filter = spark_filters.build(frame(spark, known), "key", 10_000)
    rows = frame(spark, [*asked, None]).where(spark_filters.may_be_in("key", filter, spark))
    kept = [row.key for row in rows.collect()]
    assert known & set(asked) <= set(kept)
    assert sorted(kept) == sorted(key for key in asked if key in filter)
    assert 5_000 < len(kept) < 5_000 + 200
