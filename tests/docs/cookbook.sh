#!/bin/sh
# cookbook.sh - checks that each recipe in docs/cookbook.md prints the output shown on the page.
# Each recipe runs in its own folder.
set -u
. tests/install/lib/tap.sh
. tests/interop/lib/packages.sh
. tests/docs/lib/blocks.sh
. tests/docs/lib/postgres.sh
. bindings/postgresql/build.sh
page=docs/cookbook.md
mkdir "$TMPDIR/bin" "$TMPDIR/given"
PATH=$TMPDIR/bin:$PATH
gzip -dc examples/data/urls.txt.gz >"$TMPDIR/given/links.txt"
sort -u "$TMPDIR/given/links.txt" >"$TMPDIR/given/urls.txt"

# ----------------------------------------------------------------------------- what recipes need

# Returns true if these packages from registries are installed or may be installed, as in ./dev test
# --all and ./dev test docs/. Otherwise reports a skip and returns false.
installed() { # installed FOLDER...
    for folder; do
        [ -z "${PETAL_INSTALL-}" ] && [ ! -d "$interop/$folder" ] || continue
        skip "$folder" 'not installed: ./dev test --all or ./dev test docs/ installs it'
        return 1
    done
}

# Builds the package for a language in $TMPDIR/LANGUAGE, as examples/pipeline does.
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

# Sets up Petal's Python package and, if requested, another package in build/interop/NAME-VERSION.
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

postgres() {
    PATH=$PATH:$postgres_bin
    needs initdb psql || return 1
    ok 'PostgreSQL has started' postgres_start "$TMPDIR/postgres"
    DATABASE_URL="postgresql://petal@/postgres?host=$TMPDIR/postgres"
    export DATABASE_URL
}

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
    postgres_stop "$TMPDIR/postgres" >/dev/null 2>&1
    postgres_stop "$TMPDIR/extended" >/dev/null 2>&1
    [ -z "$redis_server" ] || { kill "$redis_server" && wait "$redis_server"; } 2>/dev/null
}
trap stop EXIT

three_languages() { # three_languages HERE
    needs go mcs mono node npm clang wasm-ld wasm-opt &&
        installed "$(go_pipeline_folder)" || return 1
    package go && package csharp && package node || return 1
    cp "$TMPDIR/go/src/go.mod" "$TMPDIR/csharp/Petal.dll" "$TMPDIR/csharp/libpetal.so" "$1"
    ln -s "$TMPDIR/node/node_modules" "$1"
    go_pipeline_offline
}

# Creates Petal's crates and a Cargo configuration for the crates that they depend on.
rust() { # rust HERE
    needs cargo cc python3 && installed "$(petal_crates_folder)" && petal_crates || return 1
    ok 'the crates are made' bindings/rust/crates "$1/petal-rust"
    mkdir "$1/.cargo" && vendored "$(petal_crates_folder)" >"$1/.cargo/config.toml"
    CARGO_NET_OFFLINE=true CARGO_TERM_COLOR=never
    export CARGO_NET_OFFLINE CARGO_TERM_COLOR
}

# Sets up SQLite's shell and the extension, which has been built if SQLite's headers are installed.
sqlite() { # sqlite HERE
    needs sqlite3ext.h sqlite3 || return 1
    cp "$PETAL_BUILD_DIR/bindings/sqlite/petal.so" "$1"
}

# Sets up a PostgreSQL server with the extension, in a copy of Debian's programs.
postgresql() {
    needs initdb psql make cc || return 1
    [ -e "$postgresql_header" ] || {
        skip "PostgreSQL's headers" 'not installed: ./dev test bindings/postgresql installs them'
        return 1
    }
    ok 'the extension for PostgreSQL is built' postgresql_build "$top/build/bindings/postgresql"
    postgres_copy "$TMPDIR/copy" &&
        postgresql_install "$top/build/bindings/postgresql" "$TMPDIR/copy" >"$TMPDIR/log" 2>&1
    ok 'PostgreSQL has started with it' postgres_start "$TMPDIR/extended"
}

# Sets up DuckDB in Python and its extension.
duckdb() { # duckdb HERE
    needs cargo cc cmake python3 pip || return 1
    . bindings/duckdb/build.sh
    installed "$duckdb_name" && duckdb_install || return 1
    ok 'the extension for DuckDB is built' \
        duckdb_build "${PETAL_BUILD_DIR:-build/release}" "$TMPDIR/duckdb.so"
    PYTHONPATH=$duckdb_installed/$duckdb_newest
    export PYTHONPATH
    duckdb_extension "$TMPDIR/duckdb.so" "$1/petal.duckdb_extension"
}

# Sets up nginx with its Lua module, and the library next to petal.lua. nginx's workers must not run
# as root.
gateway() { # gateway HERE
    needs nginx curl || return 1
    [ -e /usr/lib/nginx/modules/ngx_http_lua_module.so ] || {
        skip 'nginx with Lua' 'not installed: ./dev test --all installs it'
        return 1
    }
    [ "$(id -u)" -eq 0 ] || { skip 'nginx' "this machine: Debian's nginx starts as root"; return 1; }
    cp "$top/bindings/lua/src/petal.lua" "$PETAL_BUILD_DIR/lib/libpetal.so" "$1"
    chmod 711 "$TMPDIR"
}

spark() {
    needs java mvn && installed spark-sketch-4.2.0 &&
        maven spark-sketch-4.2.0 org.apache.spark:spark-sketch_2.13:4.2.0 || return 1
    SPARK_SKETCH=$classpath
    export SPARK_SKETCH
}

ssh_here() { # creates a fake `ssh HOST COMMAND...`, which runs COMMAND in the local folder HOST
    printf '#!/bin/sh\nmkdir -p "$1" && cd "$1" && shift && exec sh -c "$*"\n' >"$TMPDIR/bin/ssh"
    chmod +x "$TMPDIR/bin/ssh"
}

# Sets up everything that the recipe with this title needs in the recipe's folder. If this is
# impossible, reports a skip and returns false.
provide() { # provide TITLE HERE
    case $1 in
    *'inside SQLite'*) sqlite "$2" ;;
    *'inside PostgreSQL'*) postgresql ;;
    *DuckDB*) duckdb "$2" ;;
    *'JSON lines'* | *SQLite*) python ;;
    *PostgreSQL*) python psycopg2-binary==2.9.12 && postgres ;;
    *Parquet*) python pyarrow==26.0.1 ;;
    *RedisBloom*) redis ;;
    *Spark*) spark ;;
    *'Go, C# and JavaScript'*) three_languages "$2" ;;
    *nginx*) gateway "$2" ;;
    *ssh*) ssh_here ;;
    *Rust*) rust "$2" ;;
    esac
}

# ---------------------------------------------------------------------------------------- the page

grep -n '^## ' "$page" >"$TMPDIR/recipes"
ok 'there are at least 25 recipes' test "$(wc -l <"$TMPDIR/recipes")" -ge 25
while IFS=: read -r first title <&3; do
    last=$(awk -F: -v first="$first" '$1 > first { print $1 - 1; exit }' "$TMPDIR/recipes")
    here=$TMPDIR/recipe-$first
    mkdir "$here" && cp "$TMPDIR/given"/* "$here"
    provide "$title" "$here" || continue
    cd "$here" && run_blocks "$page" "$first" "${last:-0}"
    cd "$top" || exit 2
done 3<"$TMPDIR/recipes"
finish
