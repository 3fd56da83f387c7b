#!/bin/sh
# cassandra.sh - the three forms of Cassandra's Filter.db and Petal agree in both directions.
set -u
. tests/interop/lib/interop.sh
needs javac mvn || finish
theirs() { java_run "$@"; }

try() { # try VERSION FORMAT...
    version=$1
    shift
    maven "cassandra-$version" "org.apache.cassandra:cassandra-all:$version" || return 1
    ran Cassandra "$version" 'Maven org.apache.cassandra:cassandra-all' "$(echo "$*" | sed 's/ /, /g')"
    java_driver tests/interop/cassandra/Driver.java
    for format; do
        for type in text hex; do alike "Cassandra $version" "$format" $type 2000 0.01; done
        alike "Cassandra $version" "$format" text 3000 0.1
    done
    return 0
}

if try 5.0.9 cassandra; then
    # This version of Cassandra can read files from 3.x, but can't write them.
    at=$TMPDIR/old
    ok 'Cassandra 5.0.9, cassandra-be, text: we make one' ours make cassandra-be text "$TMPDIR/text.keys" 2000 0.01 "$at"
    ok 'Cassandra 5.0.9, cassandra-be, text: they read ours, and give the same answers' answers_alike cassandra-be text "$at"
fi
try 3.11.19 cassandra-be cassandra-2
finish
