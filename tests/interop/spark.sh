#!/bin/sh
# spark.sh - both versions of the BloomFilter in Apache Spark's sketch library and Petal agree in
# both directions.
set -u
. tests/interop/lib/interop.sh
needs javac mvn || finish
theirs() { java_run "$@"; }

if maven spark-4.2.0 org.apache.spark:spark-sketch_2.13:4.2.0; then
    ran 'Spark sketch' 4.2.0 'Maven org.apache.spark:spark-sketch_2.13' 'spark, spark-v1'
    java_driver tests/interop/spark/Driver.java
    for format in spark spark-v1; do
        for type in text i64 hex; do alike 'Spark 4.2.0' $format $type 2000 0.01; done
    done
    # Spark widens an int to a long, which corresponds to Petal's i64.
    keys i32
    ints() {
        theirs make spark i32 "$TMPDIR/i32.keys" 2000 0.03 "$TMPDIR/ints" &&
            theirs ask spark i32 "$TMPDIR/ints" "$TMPDIR/i32.queries" >"$TMPDIR/ints.theirs" &&
            ours ask spark i64 "$TMPDIR/ints" "$TMPDIR/i32.queries" >"$TMPDIR/ints.ours" &&
            telling i32 "$TMPDIR/ints.theirs" && cmp "$TMPDIR/ints.theirs" "$TMPDIR/ints.ours"
    }
    ok 'Spark 4.2.0, spark, i32: we read theirs as i64, and give the same answers' ints
    for SPARK_SEED in 1 -1 2147483647; do
        PETAL_SEED=$((SPARK_SEED & 0xffffffff))
        export SPARK_SEED PETAL_SEED
        alike "Spark 4.2.0 (seed $SPARK_SEED)" spark text 2000 0.01
    done
    unset SPARK_SEED PETAL_SEED
fi

# This version of Spark predates version 2 of the format.
if maven spark-3.5.9 org.apache.spark:spark-sketch_2.13:3.5.9; then
    ran 'Spark sketch' 3.5.9 'Maven org.apache.spark:spark-sketch_2.13' spark-v1
    java_driver tests/interop/spark/Driver.java
    for type in text i64 hex; do alike 'Spark 3.5.9' spark-v1 $type 2000 0.01; done
fi
finish
