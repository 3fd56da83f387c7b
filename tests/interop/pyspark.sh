#!/bin/sh
# pyspark.sh - Petal reads the filters that df.stat.bloomFilter creates from a DataFrame in a
# running Spark, and the Bloom filters in Spark's Parquet files, and creates equal filters.
set -u
. tests/interop/lib/interop.sh
. tests/interop/lib/parquet.sh
needs python3 javac pip || finish
needs_localhost 'DataFrames of a running Spark' || finish
theirs() { java_run "$@"; }

python_packages pyspark-4.3.0 pyspark==4.3.0 || finish
ran PySpark 4.3.0 'pip pyspark' 'spark, parquet'
classpath=$(ls "$interop"/pyspark-4.3.0/pyspark/jars/spark-sketch_*.jar)
java_driver tests/interop/spark/Driver.java
for type in text i32 i64; do keys $type; done

# Spark starts only once for all the tests. Without SPARK_LOCAL_IP, Spark would look up the
# machine's own name, which may have no address.
SPARK_LOCAL_IP=127.0.0.1 SPARK_LOCAL_HOSTNAME=127.0.0.1
export SPARK_LOCAL_IP SPARK_LOCAL_HOSTNAME
frames=$TMPDIR/frames
mkdir "$frames"
ok 'DataFrames are made' python3 tests/interop/pyspark/driver.py "$TMPDIR" "$frames"

# Spark treats integers of any width as longs, which correspond to Petal's i64.
column() { # column TYPE OURS N P
    at=$frames/$1.$3.$4 said="df.stat.bloomFilter($1, $3, $4)"
    ok "$said: ours is the same, byte for byte" same_as_made spark "$2" "$TMPDIR/$1.keys" "$3" "$4" "$at"
    ok "$said: we read it, and give the same answers" column_answers "$1" "$2" "$at"
    ok "$said: into a petal file and back" through_petal spark "$at"
}
same_as_made() { # same_as_made FORMAT TYPE KEYS N P FILE
    ours make "$1" "$2" "$3" "$4" "$5" "$6.ours" && cmp "$6" "$6.ours"
}
column_answers() { # column_answers TYPE OURS FILE
    theirs ask spark "$1" "$3" "$TMPDIR/$1.queries" >"$3.theirs" && ours ask spark "$2" "$3" "$TMPDIR/$1.queries" >"$3.ours.answers" &&
        telling "$1" "$3.theirs" && cmp "$3.theirs" "$3.ours.answers"
}
for size in '2000 0.01' '1500 0.05'; do
    column text text $size
    column i32 i64 $size
    column i64 i64 $size
done

for type in text i32 i64; do parquet_filter "Spark's Parquet, $type" "$frames/$type.parquet" $type 2000 0.01; done
finish
