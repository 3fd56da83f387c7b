#!/bin/sh
# java.sh - Petal's jar reads, queries, fills and writes Guava's and Spark's filters exactly as
# Guava and Spark do, and works as a UDF in a running Spark.
set -u
. tests/interop/lib/interop.sh
needs java javac mvn cmake || finish
petal_jar interop || finish
theirs() {
    java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$their_classes:$their_jars" Driver "$@"
}
ours() { java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$our_classes:$jar" Driver "$@"; }
drive() { # drive SOURCE: compiles and runs the other library's driver with the jars in $classpath
    java_driver "$1"
    their_classes=$java_classes their_jars=$classpath
}
classpath=$jar
java_driver tests/interop/java/Driver.java
our_classes=$java_classes

if maven guava-33.8.0-jre com.google.guava:guava:33.8.0-jre; then
    drive tests/interop/guava/Driver.java
    for type in text utf16le units i32 i64 hex; do
        alike 'Guava 33.8.0, the jar' guava $type 2000 0.01
    done
fi
if maven spark-4.2.0 org.apache.spark:spark-sketch_2.13:4.2.0; then
    drive tests/interop/spark/Driver.java
    for type in text i64 hex; do alike 'Spark 4.2.0, the jar' spark $type 2000 0.01; done
    alike 'Spark 4.2.0, the jar' spark-v1 text 2000 0.01
fi

# ---- a running Spark -----------------------------------------------------------------------------

needs python3 pip || finish
needs_localhost 'a running Spark' || finish
python_packages pyspark-4.3.0 pyspark==4.3.0 || finish
SPARK_LOCAL_IP=127.0.0.1 SPARK_LOCAL_HOSTNAME=127.0.0.1
export SPARK_LOCAL_IP SPARK_LOCAL_HOSTNAME
spark_jars="$interop/pyspark-4.3.0/pyspark/jars/*"
classes=$TMPDIR/spark
ok 'the UDF compiles' javac -nowarn -encoding UTF-8 -cp "$jar:$spark_jars" -d "$classes" \
    bindings/java/example/KnownUrls.java tests/interop/java/Spark.java
in_spark() {
    opens=
    for package in java.lang java.lang.invoke java.io java.net java.nio java.util \
        java.util.concurrent sun.nio.ch sun.util.calendar; do
        opens="$opens --add-opens=java.base/$package=ALL-UNNAMED"
    done
    # shellcheck disable=SC2086 # words
    java $opens -cp "$classes:$jar:$spark_jars" Spark "$TMPDIR/known.petal" &&
        petal info "$TMPDIR/known.petal"
}
ok 'a UDF, a broadcast filter and parts built by workers, in Spark 4.3.0' in_spark
finish
