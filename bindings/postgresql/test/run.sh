#!/bin/sh
# Tests the extension, which is built with PGXS and loaded by a temporary server: pg_regress, every
# test vector, the cases of all bindings, other encodings, files that change, dump and restore, and
# misuse. Repeats these tests under AddressSanitizer, and tests the examples in docs/postgresql.md.
set -u
. tests/install/lib/tap.sh
. tests/docs/lib/postgres.sh
. bindings/postgresql/build.sh
. bindings/binary.sh
here=$PWD/bindings/postgresql
top=$PWD
PATH=$PATH:$postgres_bin
needs initdb python3 ldd nm make cc || finish
[ -e "$postgresql_header" ] || { skip "PostgreSQL's headers" 'not installed: ./dev test bindings/postgresql installs them'; finish; }
/usr/bin/python3 -c 'import psycopg2' 2>/dev/null ||
    { skip 'python3-psycopg2' 'not installed: ./dev test bindings/postgresql installs it'; finish; }

# ---- the build -----------------------------------------------------------------------------------

extension=$top/build/bindings/postgresql
ok 'PGXS builds it without a warning' postgresql_build "$extension"
[ -e "$extension/petal.so" ] || finish
ok 'it needs libc, libm and libz only' links_only "$extension/petal.so" libc libm libz
exports() {
    nm -D --defined-only "$extension/petal.so" | awk '{ print $3 }' |
        grep -vxE 'Pg_magic_func|(pg_finfo_)?pg_petal_[a-z_]+'
    [ $? -eq 1 ]
}
ok 'it exports nothing but what SQL calls' exports

ok "the server's programs are copied" postgres_copy "$TMPDIR/copy"
ok 'it is installed' postgresql_install "$extension" "$TMPDIR/copy"
stop() {
    postgres_stop "$TMPDIR/server"
    postgres_stop "$TMPDIR/sanitized"
}
trap 'stop >/dev/null 2>&1' EXIT
ok 'PostgreSQL is up' postgres_start "$TMPDIR/server"

# ---- SQL -----------------------------------------------------------------------------------------

# Copies the files that the server reads to its data folder.
cp -R vectors "$TMPDIR/server/data/vectors" && chmod -R a+rX "$TMPDIR/server/data/vectors"
PETAL_VECTORS=vectors
export PETAL_VECTORS

# pg_regress prints "test NAME ... ok" for each file of test/sql.
regress() {
    tests=$(cd "$here/test/sql" && ls *.sql | sed 's/\.sql$//')
    # shellcheck disable=SC2086 # one word per test
    "$(dirname "$postgresql_pgxs")/../test/regress/pg_regress" --inputdir="$here/test" --bindir="$postgres_bin" \
        --outputdir="$1" --host="$PGHOST" --user="$PGUSER" --dbname=regress \
        --load-extension=petal --encoding=UTF8 --no-locale $tests >"$1.log" 2>&1
    awk '/^test / { n++; print ($4 == "ok" ? "ok " : "not ok ") n " - pg_regress: " $2 }
        END { if (!n) print "not ok 1 - pg_regress runs" }' "$1.log"
    [ ! -s "$1/regression.diffs" ] || sed 's/^/# /' "$1/regression.diffs"
}
mkdir "$TMPDIR/regress"
relay regress "$TMPDIR/regress"

run_tests() {
    PYTHONPATH=$here/test:bindings/sql/test:bindings/python/test \
        /usr/bin/python3 -B -m bare test_vectors test_cases test_types test_misuse test_sql
}
relay run_tests

# ---- AddressSanitizer ----------------------------------------------------------------------------

# The first allocation initializes libasan. In a server that is the one of a libp11-kit constructor,
# which is inside newlocale() and holds a lock that the initialization takes again, and the server
# hangs. So a library whose constructor runs before all others allocates first.
#
# Leaks are not checked here, since a server's process ends with what it has allocated. Instead,
# other tests measure the memory that many queries use.
build_first() {
    echo '#include <stdlib.h>
        __attribute__((constructor)) static void first(void) { free(malloc(1)); }' |
        cc -fno-builtin -fPIC -shared -Wl,-z,initfirst -xc - -o "$TMPDIR/first.so"
}
sanitized=$top/build/bindings/postgresql-sanitized
start_sanitized() {
    chmod 755 "$TMPDIR/first.so" && (
        LD_PRELOAD="$(cc -print-file-name=libasan.so) $TMPDIR/first.so"
        ASAN_OPTIONS=quarantine_size_mb=8:detect_leaks=0:allocator_may_return_null=1
        ASAN_OPTIONS=$ASAN_OPTIONS:log_path=$TMPDIR/sanitized/report
        export LD_PRELOAD ASAN_OPTIONS
        postgres_up "$TMPDIR/sanitized"
    )
}
run_sanitized() (
    PETAL_SANITIZED=1 # a higher memory limit, because of what the sanitizer keeps
    export PETAL_SANITIZED
    run_tests
)
no_reports() { ! cat "$TMPDIR"/sanitized/report.* 2>/dev/null; }
if nightly 'under AddressSanitizer'; then
    ok 'PGXS builds it with AddressSanitizer' \
        postgresql_build "$sanitized" COPT='-fsanitize=address -fno-omit-frame-pointer'
    ok 'that is installed' postgresql_install "$sanitized" "$TMPDIR/copy"
    ok 'what initializes libasan first is built' build_first
    ok 'the first server is stopped' postgres_stop "$TMPDIR/server" fast
    ok 'another has started' postgres_start "$TMPDIR/sanitized"
    ok 'it is stopped' postgres_stop "$TMPDIR/sanitized" fast
    ok 'it is started with AddressSanitizer' start_sanitized
    cp -R vectors "$TMPDIR/sanitized/data/vectors" && chmod -R a+rX "$TMPDIR/sanitized/data/vectors"
    mkdir "$TMPDIR/regress-sanitized"
    relay_as 'sanitized: ' regress "$TMPDIR/regress-sanitized"
    relay_as 'sanitized: ' run_sanitized
    ok 'the server has survived' psql -c 'select 1'
    ok 'nothing is reported' no_reports
fi

# ---- the document's examples ---------------------------------------------------------------------

. tests/docs/lib/blocks.sh
mkdir "$TMPDIR/page" "$TMPDIR/bin"
cd "$TMPDIR/page" && createdb page && PGDATABASE=page run_blocks docs/postgresql.md
cd "$top" || exit 2
every_function() { # checks that docs/postgresql.md mentions each function that users may call
    sed -n 's/^comment on \(function\|aggregate\) \(petal_[a-z_]*\).*/\2/p' "$here"/petal--*.sql | sort -u |
        while read -r name; do
            grep -q "$name(" docs/postgresql.md || echo "not documented: $name"
        done >"$TMPDIR/undocumented"
    ! grep . "$TMPDIR/undocumented"
}
ok 'the document has every function' every_function
finish
