#!/bin/sh
# recipes.sh - docs/interop.md is correct: its programs work with the real libraries, and its
# transcripts match the actual output.
set -u
. tests/interop/lib/interop.sh
. tests/interop/lib/redis.sh
. tests/docs/lib/blocks.sh
needs javac mvn go python3 || finish
needs_localhost 'the recipes, some of which run Spark' || finish
here=$TMPDIR/here
mkdir "$here"

maven guava-33.8.0-jre com.google.guava:guava:33.8.0-jre || finish
guava=$(ls "$interop"/guava-33.8.0-jre/guava-*.jar)
maven kotlin-2.2.0 org.jetbrains.kotlin:kotlin-compiler-embeddable:2.2.0 || finish
all=
python_packages pyspark-4.3.0 pyspark==4.3.0 && all=$all:$PYTHONPATH &&
    python_packages duckdb-2.0.0 duckdb==2.0.0 && all=$all:$PYTHONPATH && redis_packages || finish
PYTHONPATH=$PYTHONPATH$all

# docs/interop.md assumes that Petal is installed, and that the distinct URLs, Guava's jar, and two
# filters in Redis with their keys exist.
ok 'Petal is installed' cmake --install "$PETAL_BUILD_DIR" --prefix "$TMPDIR/prefix"
PATH=$TMPDIR/prefix/bin:$PATH CPATH=$TMPDIR/prefix/include
LIBRARY_PATH=$TMPDIR/prefix/lib LD_LIBRARY_PATH=$TMPDIR/prefix/lib
export PATH CPATH LIBRARY_PATH LD_LIBRARY_PATH
gzip -dc examples/data/urls.txt.gz | sort -u >"$here/urls.txt"
ln -s "$guava" "$here/guava.jar"

# Runs one of the two Kotlin commands, which the Maven package lacks: COMMAND -cp CLASSPATH
# ARGUMENT...
kotlin_command() { # kotlin_command NAME JAVA_ARGUMENTS
    printf '#!/bin/sh\ncp=$2:%s\nshift 2\nexec java -cp %s "$@"\n' "$kotlin_library" "$2" >"$TMPDIR/bin/$1"
    chmod +x "$TMPDIR/bin/$1"
}
mkdir "$TMPDIR/bin"
kotlin_library=$(ls "$interop"/kotlin-2.2.0/kotlin-stdlib-*.jar)
kotlin_command kotlinc "'$interop/kotlin-2.2.0/*' org.jetbrains.kotlin.cli.jvm.K2JVMCompiler -no-stdlib -no-reflect -cp \"\$cp\""
kotlin_command kotlin '"$cp"'
PATH=$TMPDIR/bin:$PATH
redis_start
seq 1 50 | sed 's/^/user-/' >"$here/monday.txt"
seq 40 90 | sed 's/^/user-/' >"$here/tuesday.txt"
for day in monday tuesday; do
    # shellcheck disable=SC2046 # a word per key
    redis_cli bf.reserve $day 0.01 100 && redis_cli bf.madd $day $(cat "$here/$day.txt")
done >"$TMPDIR/redis.filled" 2>&1
cd "$here" || exit 1

run_blocks docs/interop.md
finish
