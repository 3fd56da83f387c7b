#!/bin/sh
# orc.sh - the Bloom filters of Apache ORC, for strings and numbers, and Petal agree in both
# directions.
set -u
. tests/interop/lib/interop.sh
needs javac mvn || finish
theirs() { java_run "$@"; }

maven orc-2.3.0 org.apache.orc:orc-core:2.3.0 com.google.protobuf:protobuf-java:3.25.5 || finish
ran ORC 2.3.0 'Maven org.apache.orc:orc-core' 'orc, orc-long'
java_driver tests/interop/orc/Driver.java
for type in text hex; do alike 'ORC 2.3.0' orc $type 2000 0.01; done
alike 'ORC 2.3.0' orc text 3000 0.05
alike 'ORC 2.3.0' orc-long i64 2000 0.01
finish
