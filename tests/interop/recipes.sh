#!/bin/sh
# recipes.sh - docs/interop.md does what it shows: its programs are run with the real libraries, and
# its transcripts compared.
#
# In order: a block whose first line is a comment with a file's name becomes that file; of a
# ```console block, each command is run and what it prints compared.
set -u
. tests/interop/lib/interop.sh
. tests/interop/lib/redis.sh
needs javac mvn go python3 || finish
needs_localhost 'the recipes, some of which run Spark' || finish
document=$PWD/docs/interop.md
here=$TMPDIR/here
mkdir "$here" "$TMPDIR/blocks"

maven guava-33.8.0-jre com.google.guava:guava:33.8.0-jre || finish
guava=$(ls "$interop"/guava-33.8.0-jre/guava-*.jar)
maven kotlin-2.2.0 org.jetbrains.kotlin:kotlin-compiler-embeddable:2.2.0 || finish
all=
python_packages pyspark-4.3.0 pyspark==4.3.0 && all=$all:$PYTHONPATH &&
    python_packages duckdb-2.0.0 duckdb==2.0.0 && all=$all:$PYTHONPATH && redis_packages || finish
PYTHONPATH=$PYTHONPATH$all

# What the page takes for granted: an installed Petal, the distinct URLs, Guava's jar, and in Redis
# two filters with their keys.
ok 'Petal is installed' cmake --install "$PETAL_BUILD_DIR" --prefix "$TMPDIR/prefix"
PATH=$TMPDIR/prefix/bin:$PATH CPATH=$TMPDIR/prefix/include
LIBRARY_PATH=$TMPDIR/prefix/lib LD_LIBRARY_PATH=$TMPDIR/prefix/lib
export PATH CPATH LIBRARY_PATH LD_LIBRARY_PATH
gzip -dc examples/data/urls.txt.gz | sort -u >"$here/urls.txt"
ln -s "$guava" "$here/guava.jar"

# The two commands of Kotlin, as its package for Maven does not bring them: COMMAND -cp CLASSPATH
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

# Blocks as files 1, 2, ...: the first line is LANGUAGE LINE.
awk -v folder="$TMPDIR/blocks" '
    /^```./ { inside = ++blocks; print substr($0, 4), FNR + 1 >(folder "/" blocks); next }
    /^```$/ { close(folder "/" inside); inside = 0; next }
    inside { print >(folder "/" inside) }' "$document"

transcript() { # of the commands of the console block $1
    sed -n 's/^\$ //p' "$1" | while IFS= read -r command; do
        printf '$ %s\n' "$command"
        sh -c "$command" 2>&1 </dev/null
    done
}
same_transcript() {
    sed 1d "$1" >"$TMPDIR/shown" && transcript "$TMPDIR/shown" >"$TMPDIR/got"
    diff "$TMPDIR/shown" "$TMPDIR/got"
}
name_of() { sed -n '2s|^[/#* ]*\([A-Za-z_]*\.[a-z]*\)[ */]*$|\1|p' "$1"; }

for number in $(seq 1 "$(ls "$TMPDIR/blocks" | wc -l)"); do
    block=$TMPDIR/blocks/$number
    read -r language line <"$block"
    name=$(name_of "$block")
    if [ "$language" = console ]; then
        ok "docs/interop.md:$line: prints what it shows" same_transcript "$block"
    elif [ -n "$name" ]; then
        sed 1d "$block" >"$here/$name"
    fi
done
finish
