#!/bin/sh
# Tests the extension in the newest and the oldest DuckDB that can load it: every test vector, the
# cases of all bindings, SQL types, kinds of DuckDB vectors, threads, windows, files that change,
# and misuse. Repeats these tests under AddressSanitizer, queries a filter built by DuckDB in Python
# and Redis, and tests the examples in docs/duckdb.md.
#
# ./dev test --all and ./dev test bindings/duckdb install the required packages
# (bindings/duckdb/needs) in build/interop. Without them, this test is skipped.
set -u
. tests/install/lib/tap.sh
. bindings/binary.sh
. tests/interop/lib/packages.sh
here=$PWD/bindings/duckdb

# ---- what it needs -------------------------------------------------------------------------------

needs cargo cc cmake python3 pip ldd nm || finish
. bindings/duckdb/build.sh
may_install "$duckdb_name" DuckDB bindings/duckdb || finish
duckdb_install || finish

# ---- the file ------------------------------------------------------------------------------------

case ${PETAL_BUILD_DIR:=build/release} in /*) ;; *) PETAL_BUILD_DIR=$PWD/$PETAL_BUILD_DIR ;; esac
module=$TMPDIR/petal.so
ok 'the extension is built' duckdb_build "$PETAL_BUILD_DIR" "$module"
[ -e "$module" ] || finish
ok 'it needs libc, libm and libz only' links_only "$module" libc libm libz libpthread
ok 'it exports nothing but its entry point' \
    [ "$(nm -D --defined-only "$module" | awk '{ print $3 }')" = petal_init_c_api ]

# ---- SQL -----------------------------------------------------------------------------------------

# with_duckdb VERSION COMMAND...: runs COMMAND with PETAL_DUCKDB set to the extension for this
# DuckDB's platform.
with_duckdb() {
    PYTHONPATH=$duckdb_installed/$1:$here/test:bindings/sql/test:bindings/python/test
    PYTHONDONTWRITEBYTECODE=1
    PETAL_DUCKDB=$TMPDIR/$1/petal.duckdb_extension
    export PYTHONPATH PYTHONDONTWRITEBYTECODE PETAL_DUCKDB
    mkdir -p "$TMPDIR/$1"
    shift
    duckdb_extension "$module" "$PETAL_DUCKDB" && "$@"
}
run_tests() {
    python3 -m bare test_vectors test_cases test_types test_misuse test_functions test_sql
}
for version in $duckdb_versions; do
    [ "$version" = "$duckdb_newest" ] || nightly "DuckDB $version" || continue
    relay_as "DuckDB $version: " with_duckdb "$version" run_tests
done

refused() {
    ! python3 -c 'from sql import connect; connect()' 2>"$TMPDIR/refused" &&
        grep 'petal: DuckDB 1.4 or later is needed' "$TMPDIR/refused"
}
ok "DuckDB $duckdb_refused is refused" with_duckdb "$duckdb_refused" refused

# ---- AddressSanitizer ----------------------------------------------------------------------------

# Leaks are not checked here, since Python and DuckDB also hold memory when the process exits.
# Instead, another test measures the memory that many statements use.
no_reports() { ! cat "$TMPDIR"/report.* 2>/dev/null; }
sanitized=$PWD/build/bindings/duckdb
build_sanitized() {
    cmake -S . -B "$sanitized" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DPETAL_BUILD_DUCKDB=ON \
        "-DDUCKDB_INCLUDE_DIR=$duckdb_installed/include" -DPETAL_BUILD_TOOL=OFF \
        -DPETAL_BUILD_TESTS=OFF -DPETAL_BUILD_EXAMPLES=OFF \
        '-DCMAKE_C_FLAGS=-fsanitize=address -fno-omit-frame-pointer' &&
        cmake --build "$sanitized" -j "$(nproc)" --target petal-duckdb
}
if nightly 'under AddressSanitizer'; then
    ok 'the extension is built with AddressSanitizer, by CMake' build_sanitized
    ok 'CMake adds the metadata' test -s "$sanitized/bindings/duckdb/petal.duckdb_extension"
    (
        module=$sanitized/bindings/duckdb/petal.so
        LD_PRELOAD="$(cc -print-file-name=libasan.so) $(cc -print-file-name=libstdc++.so.6)"
        ASAN_OPTIONS=quarantine_size_mb=8:detect_leaks=0:allocator_may_return_null=1
        ASAN_OPTIONS=$ASAN_OPTIONS:alloc_dealloc_mismatch=0:log_path=$TMPDIR/report
        PETAL_SANITIZED=1    # skips memory limits, which the sanitizer distorts
        export LD_PRELOAD ASAN_OPTIONS PETAL_SANITIZED
        with_duckdb "$duckdb_newest" run_tests
    ) >"$TMPDIR/sanitized" 2>&1
    relay_as 'sanitized: ' cat "$TMPDIR/sanitized"
    ok 'nothing is reported' no_reports
fi

# ---- other programs query what DuckDB built ------------------------------------------------------

make_filter() { # builds a filter of 1,000 texts, and prints its answers for 20,000 texts
    python3 - "$TMPDIR/built.petal" >"$TMPDIR/found" <<'EOF'
import sys
from sql import column, connect, one
base = connect()
filter = one(base, "select petal_build('key ' || range, 0.01, 1000) from range(1000)")
with open(sys.argv[1], "wb") as file:
    file.write(filter)
for key in column(base, "select k from (select 'key ' || range k from range(20000))"
                        " where petal_contains(?, k)", filter):
    print(key)
EOF
    [ "$(wc -l <"$TMPDIR/found")" -gt 1100 ]
}
ok 'DuckDB builds a filter and queries it' with_duckdb "$duckdb_newest" make_filter
seq 0 19999 | sed 's/^/key /' >"$TMPDIR/asked"

python_finds() {
    python3 - "$TMPDIR/built.petal" >"$TMPDIR/python-found" <<'EOF' || return 1
import sys, petal
filter = petal.Filter.open(sys.argv[1])
for i in range(20000):
    if f"key {i}" in filter:
        print(f"key {i}")
EOF
    cmp "$TMPDIR/found" "$TMPDIR/python-found"
}
if may_install scikit-build-core-1.1.2 'the same answers in Python' bindings/duckdb &&
    needs python3-config && petal_wheel "$TMPDIR/wheel"; then
    python3 -m zipfile -e "$TMPDIR"/wheel/*.whl "$TMPDIR/site"
    PYTHONPATH=$TMPDIR/site
    export PYTHONPATH
    ok 'the same answers in Python' python_finds
fi

redis_finds() {
    redis-server --port 0 --unixsocket "$TMPDIR/socket" --dir "$TMPDIR" --save '' \
        --loadmodule "$PETAL_BUILD_DIR/redis/petal.so" >"$TMPDIR/redis.log" 2>&1 &
    server=$!
    tries=0
    until redis-cli -s "$TMPDIR/socket" ping 2>/dev/null | grep -q PONG || [ $tries -gt 100 ]; do
        tries=$((tries + 1)) && sleep 0.1
    done
    redis-cli -s "$TMPDIR/socket" -x PETAL.LOAD guard duckdb 0 \
        "$(wc -c <"$TMPDIR/built.petal")" <"$TMPDIR/built.petal"
    sed 's/.*/PETAL.EXISTS guard "&"/' "$TMPDIR/asked" | redis-cli -s "$TMPDIR/socket" |
        paste -d ' ' - "$TMPDIR/asked" | sed -n 's/^1 //p' >"$TMPDIR/redis-found"
    kill "$server" && wait "$server"
    cmp "$TMPDIR/found" "$TMPDIR/redis-found"
}
if needs redis-server redis-cli; then ok 'the same answers in Redis' redis_finds; fi

# ---- the documents -------------------------------------------------------------------------------

. tests/docs/lib/blocks.sh
page_in_duckdb() {
    mkdir "$TMPDIR/page" "$TMPDIR/bin" && cp "$PETAL_DUCKDB" "$TMPDIR/page" &&
        cd "$TMPDIR/page" && run_blocks docs/duckdb.md
    cd "$top" || exit 2
}
with_duckdb "$duckdb_newest" page_in_duckdb
every_function() { # checks that docs/duckdb.md and README.md mention each function
    for name in $(grep -o '"petal_[a-z]*"' "$here/src/extension.c" | tr -d '"' | sort -u); do
        grep -q "$name(" docs/duckdb.md && grep -q "$name(" "$here/README.md" ||
            echo "not documented: $name"
    done >"$TMPDIR/undocumented"
    ! grep . "$TMPDIR/undocumented"
}
ok 'the documents have every function' every_function
finish
