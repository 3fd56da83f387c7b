#!/bin/sh
# Tests the built extension in Debian's SQLite: every test vector, the cases of all bindings, SQL
# types and flags, files that change, and misuse. Repeats these tests under AddressSanitizer, and
# tests the examples in docs/sqlite.md.
set -u
. tests/install/lib/tap.sh
. bindings/binary.sh
here=$PWD/bindings/sqlite
case ${PETAL_BUILD_DIR:=build/release} in /*) ;; *) PETAL_BUILD_DIR=$PWD/$PETAL_BUILD_DIR ;; esac
needs sqlite3ext.h sqlite3 python3 ldd nm || finish

PETAL_SQLITE=$PETAL_BUILD_DIR/bindings/sqlite/petal
export PETAL_SQLITE
[ -e "$PETAL_SQLITE.so" ] || {
    ok 'the build has the extension; SQLite came after it: ./dev build release' false
    finish
}

# ---- the file ------------------------------------------------------------------------------------

ok 'it needs only libc, libm and libz' links_only "$PETAL_SQLITE.so" libc libm libz
exported() { nm -D --defined-only "$1" | awk '{ print $3 }'; }
ok 'it exports only its entry point' \
    [ "$(exported "$PETAL_SQLITE.so")" = sqlite3_petal_init ]

# ---- SQL -----------------------------------------------------------------------------------------

# Some Python builds leave out support for SQLite extensions.
loads_extensions() {
    "$1" -c 'import sqlite3; sqlite3.connect(":memory:").enable_load_extension(True)' 2>/dev/null
}
python=
for candidate in python3 /usr/bin/python3; do
    [ -n "$python" ] || ! loads_extensions $candidate || python=$candidate
done
[ -n "$python" ] || {
    skip 'SQL' "this machine: no Python whose sqlite3 loads extensions (Debian's does)"
    finish
}
run_tests() {
    PYTHONPATH=$here/test:bindings/sql/test:bindings/python/test \
        "$python" -B -m bare test_vectors test_cases test_types test_misuse test_functions test_sql
}
relay run_tests

# ---- AddressSanitizer ----------------------------------------------------------------------------

# Uses Debian's SQLite, since the sanitizer can replace its allocator. Leaks are checked in SQLite's
# shell, since Python itself leaks memory.
sanitized=$PWD/build/bindings/sqlite
build_sanitized() {
    cmake -S . -B "$sanitized" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DPETAL_BUILD_SQLITE=ON \
        -DPETAL_BUILD_TOOL=OFF -DPETAL_BUILD_TESTS=OFF -DPETAL_BUILD_EXAMPLES=OFF \
        '-DCMAKE_C_FLAGS=-fsanitize=address -fno-omit-frame-pointer' &&
        cmake --build "$sanitized" -j "$(nproc)" --target petal-sqlite
}
no_reports() { ! cat "$TMPDIR"/report.* 2>/dev/null; }
no_leaks() {
    LD_PRELOAD=$(cc -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=1:exitcode=23 \
        sqlite3 :memory: <"$TMPDIR/leaks.sql"
    [ $? -eq 1 ] # some statements fail on purpose
}
if nightly 'under AddressSanitizer' && needs cc cmake; then
    ok 'the extension is built with AddressSanitizer' build_sanitized
    PETAL_SQLITE=$sanitized/bindings/sqlite/petal
    cat >"$TMPDIR/leaks.sql" <<SQL
.load $PETAL_SQLITE
create table g as select petal_build(value) f from generate_series(1, 1000);
insert into g select petal_build(value, 0.1, 100) from generate_series(1, 1000000);
select petal_contains('vectors/petal/blocked.petal', 'key-1'), petal_info(f) from g;
select petal_contains(f, 'a') from g;
select length(petal_merge(f))
from (select petal_build(value, 0.1, 100) f from generate_series(1, 50));
select sum(petal_contains((select f from g), value)) from generate_series(1, 1000);
SQL
    ok 'there are no leaks' no_leaks
    (
        LD_PRELOAD=$(cc -print-file-name=libasan.so)
        ASAN_OPTIONS=quarantine_size_mb=8:detect_leaks=0:allocator_may_return_null=1
        ASAN_OPTIONS=$ASAN_OPTIONS:log_path=$TMPDIR/report
        export LD_PRELOAD ASAN_OPTIONS
        run_tests
    ) >"$TMPDIR/sanitized" 2>&1
    relay_as 'sanitized: ' cat "$TMPDIR/sanitized"
    ok 'nothing is reported' no_reports
fi

# ---- the document's examples ---------------------------------------------------------------------

. tests/docs/lib/blocks.sh
top=$PWD
mkdir "$TMPDIR/page" "$TMPDIR/bin"
PETAL_SQLITE=$PETAL_BUILD_DIR/bindings/sqlite/petal
cd "$TMPDIR/page" && cp "$PETAL_SQLITE.so" . && run_blocks docs/sqlite.md
cd "$top" || exit 2
every_function() { # checks that docs/sqlite.md and README.md mention each function
    for name in $(sed -n 's/^    {"\(petal_[a-z]*\)", .*/\1/p' "$here/src/extension.c" | sort -u); do
        grep -q "$name(" docs/sqlite.md && grep -q "$name(" "$here/README.md" ||
            echo "not documented: $name"
    done >"$TMPDIR/undocumented"
    ! grep . "$TMPDIR/undocumented"
}
ok 'the documents have every function' every_function
finish
