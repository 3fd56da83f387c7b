"""driver.py - drives df.stat.bloomFilter in Spark, and writes Parquet files with Bloom filters
using Spark.

    driver.py KEYS_FOLDER OUT_FOLDER

Reads text.keys, i32.keys and i64.keys from KEYS_FOLDER, and adds a null row to each column. Writes
each column's filter to OUT_FOLDER/TYPE.N.P, and the column itself to OUT_FOLDER/TYPE.parquet.
"""

import glob
import os
import shutil
import sys

from pyspark.sql import SparkSession

import interop

# Spark distributes the rows among several tasks and merges their filters.
PARTITIONS = 5
COLUMNS = {"text": "string", "i32": "int", "i64": "long"}


def start():
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.log.level": "ERROR",
    }
    builder = SparkSession.builder.master("local[2]").appName("interop")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def write_filter(spark, frame, n, p, path):
    """PySpark has no bloomFilter(), so this function calls the Java DataFrame's bloomFilter()."""
    made = frame._jdf.stat().bloomFilter("key", n, p)
    out = spark._jvm.java.io.FileOutputStream(path)
    made.writeTo(out)
    out.close()


def write_parquet(frame, path):
    writer = frame.coalesce(1).write.option("parquet.enable.dictionary", "false")
    for name, value in {"enabled": "true", "expected.ndv": "2000", "fpp": "0.01"}.items():
        writer = writer.option(f"parquet.bloom.filter.{name}#key", value)
    writer.parquet(path + ".d")
    os.rename(glob.glob(path + ".d/part-*.parquet")[0], path)
    shutil.rmtree(path + ".d")


def main():
    source, out = sys.argv[1:]
    spark = start()
    for kind, column in COLUMNS.items():
        rows = [(key,) for key in interop.keys(f"{source}/{kind}.keys", kind)] + [(None,)]
        frame = spark.createDataFrame(rows, f"key {column}").repartition(PARTITIONS)
        for n, p in ((2000, 0.01), (1500, 0.05)):
            write_filter(spark, frame, n, p, f"{out}/{kind}.{n}.{p}")
        write_parquet(frame, f"{out}/{kind}.parquet")
    spark.stop()


main()
