#!/bin/sh
# datasketches.sh - the BloomFilter of Apache DataSketches (Java) and Petal agree in both
# directions.
set -u
. tests/interop/lib/interop.sh
needs javac mvn || finish
theirs() { java_run "$@"; }

# Version 6.2.0 is the latest that runs on Java 17.
maven datasketches-6.2.0 org.apache.datasketches:datasketches-java:6.2.0 || finish
ran DataSketches 6.2.0 'Maven org.apache.datasketches:datasketches-java' datasketches
java_options='--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED
    --add-exports=java.base/jdk.internal.ref=ALL-UNNAMED
    --add-opens=java.base/java.nio=ALL-UNNAMED --add-opens=java.base/sun.nio.ch=ALL-UNNAMED'
java_driver tests/interop/datasketches/Driver.java

# DataSketches ignores the empty string.
no_empty=yes
for PETAL_SEED in 0 9001 18446744073709551615; do
    export PETAL_SEED
    alike "DataSketches 6.2.0 (seed $PETAL_SEED)" datasketches text 2000 0.01
done
for type in i64 hex; do alike 'DataSketches 6.2.0' datasketches $type 2000 0.01; done
finish
