#!/bin/sh
# cookbook.sh - each recipe of docs/cookbook.md prints what the page shows, in its own folder.
set -u
. tests/install/lib/tap.sh
. tests/interop/lib/packages.sh
. tests/docs/lib/blocks.sh
page=docs/cookbook.md
mkdir "$TMPDIR/bin" "$TMPDIR/given"
PATH=$TMPDIR/bin:$PATH
gzip -dc examples/data/urls.txt.gz >"$TMPDIR/given/links.txt"
sort -u "$TMPDIR/given/links.txt" >"$TMPDIR/given/urls.txt"

# ----------------------------------------------------------------------------- what recipes need

# ./dev test --all and ./dev test docs/ install packages from registries, and keep them.
installed() { # installed FOLDER...
    for folder; do
        [ -z "${PETAL_INSTALL-}" ] && [ ! -d "$interop/$folder" ] || continue
        skip "$folder" 'not installed: ./dev test --all or ./dev test docs/ installs it'
        return 1
    done
}

# A language's package, as examples/pipeline prepares it, in $TMPDIR/LANGUAGE.
package() { # package LANGUAGE
    [ -d "$TMPDIR/$1" ] || {
        mkdir "$TMPDIR/$1"
        sh "examples/pipeline/$1/prepare" "$TMPDIR/$1" >"$TMPDIR/$1.log" 2>&1
        echo $? >"$TMPDIR/$1.status"
    }
    case $(cat "$TMPDIR/$1.status") in
    0) return 0 ;;
    77) skip "the package for $1" "$(tail -n 1 "$TMPDIR/$1.log")" ;;
    *) ok "the package for $1 is built" log_of_failure "$TMPDIR/$1.log" ;;
    esac
    return 1
}

# Petal in Python, and a foreign package in build/interop/NAME-VERSION.
python() { # python [NAME==VERSION]
    needs python3 python3-config pip && installed scikit-build-core-1.1.2 || return 1
    package python || return 1
    PYTHONPATH= PYTHONDONTWRITEBYTECODE=1
    [ $# -eq 0 ] || {
        folder=${1%==*}-${1#*==}
        installed "$folder" && python_packages "$folder" "$1" || return 1
    }
    PYTHONPATH=$TMPDIR/python/site:$PYTHONPATH
    export PYTHONPATH PYTHONDONTWRITEBYTECODE
}

# A PostgreSQL server on a socket in its own folder; root may not run one.
postgres_start() {
    PATH=$PATH:$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1)
    needs initdb psql || return 1
    as=
    mkdir "$TMPDIR/postgres"
    if [ "$(id -u)" -eq 0 ]; then
        as='setpriv --reuid postgres --regid postgres --clear-groups'
        chmod 711 "$TMPDIR" && chown postgres "$TMPDIR/postgres"
    fi
    DATABASE_URL="postgresql://petal@/postgres?host=$TMPDIR/postgres"
    export DATABASE_URL
    ok 'PostgreSQL is up' postgres_up
}
postgres_up() (
    cd "$TMPDIR/postgres" && $as initdb -D "$PWD/data" -U petal -A trust --no-sync &&
        $as pg_ctl -D "$PWD/data" -l "$PWD/log" -w -o "-k $PWD -c listen_addresses=''" start
)
postgres_stop() (
    [ ! -d "$TMPDIR/postgres/data" ] || cd "$TMPDIR/postgres" && $as pg_ctl -D data -m immediate stop
)

redis() {
    python && needs redis-server && installed redis-stack-0.1.8 || return 1
    . tests/interop/lib/redis.sh
    site=$PYTHONPATH
    redis_packages || return 1
    PYTHONPATH=$site:$PYTHONPATH
    redis_start
    trap stop EXIT
}
redis_server=
stop() {
    postgres_stop >/dev/null 2>&1
    [ -z "$redis_server" ] || { kill "$redis_server" && wait "$redis_server"; } 2>/dev/null
}
trap stop EXIT

three_languages() { # three_languages HERE
    needs go mcs mono node npm clang wasm-ld wasm-opt &&
        installed "go-pipeline-$(built_of bindings/go/go.sum)" || return 1
    package go && package csharp && package node || return 1
    cp "$TMPDIR/go/src/go.mod" "$TMPDIR/csharp/Petal.dll" "$TMPDIR/csharp/libpetal.so" "$1"
    ln -s "$TMPDIR/node/node_modules" "$1"
    GOTOOLCHAIN=local GOWORK=off GOFLAGS='-mod=mod -buildvcs=false' GOPROXY=off GOSUMDB=off
    GOCACHE=$top/build/go-cache GOMODCACHE=$interop/go-pipeline-$(built_of bindings/go/go.sum)/mod
    export GOTOOLCHAIN GOWORK GOFLAGS GOPROXY GOSUMDB GOCACHE GOMODCACHE
}

# SQLite's shell; its extension, which the build makes if SQLite's headers are installed.
sqlite() { # sqlite HERE
    needs sqlite3ext.h sqlite3 || return 1
    cp "$top/${PETAL_BUILD_DIR:-build/release}/bindings/sqlite/petal.so" "$1"
}

spark() {
    needs java mvn && installed spark-sketch-4.2.0 &&
        maven spark-sketch-4.2.0 org.apache.spark:spark-sketch_2.13:4.2.0 || return 1
    SPARK_SKETCH=$classpath
    export SPARK_SKETCH
}

ssh_here() { # ssh HOST COMMAND... runs it here, in the folder HOST
    printf '#!/bin/sh\nmkdir -p "$1" && cd "$1" && shift && exec sh -c "$*"\n' >"$TMPDIR/bin/ssh"
    chmod +x "$TMPDIR/bin/ssh"
}

# Provides what the recipe with this title needs, in its folder. If that is impossible, prints a
# skip and returns false.
provide() { # provide TITLE HERE
    case $1 in
    *'inside SQLite'*) sqlite "$2" ;;
    *'JSON lines'* | *SQLite*) python ;;
    *PostgreSQL*) python psycopg2-binary==2.9.12 && postgres_start ;;
    *Parquet*) python pyarrow==26.0.1 ;;
    *RedisBloom*) redis ;;
    *Spark*) spark ;;
    *'Go, C# and JavaScript'*) three_languages "$2" ;;
    *ssh*) ssh_here ;;
    esac
}

# ---------------------------------------------------------------------------------------- the page

grep -n '^## ' "$page" >"$TMPDIR/recipes"
ok 'there are 25 recipes or more' test "$(wc -l <"$TMPDIR/recipes")" -ge 25
while IFS=: read -r first title <&3; do
    last=$(awk -F: -v first="$first" '$1 > first { print $1 - 1; exit }' "$TMPDIR/recipes")
    here=$TMPDIR/recipe-$first
    mkdir "$here" && cp "$TMPDIR/given"/* "$here"
    provide "$title" "$here" || continue
    cd "$here" && run_blocks "$page" "$first" "${last:-0}"
    cd "$top" || exit 2
done 3<"$TMPDIR/recipes"
finish
