#!/bin/sh
# duckdb.sh - the DuckDB extension that ./dev package duckdb builds requires glibc 2.17 or later and
# no other library. On this machine, the newest and the oldest supported DuckDB load the file for
# their platform. The files for 64-bit ARM are checked but not loaded.
set -u
. tests/packages/lib/packages.sh
. tests/packages/lib/binary.sh
. tests/interop/lib/packages.sh
. bindings/duckdb/build.sh
needs cargo python3 pip || finish
needs_zig

unpacked=$TMPDIR/petal-duckdb-$version-linux
unpack() { tar -xzf "$packages/petal-duckdb-$version-linux.tar.gz" -C "$TMPDIR"; }
is_extension() { # is_extension PLATFORM CPU
    is_for "$unpacked/$1/petal.duckdb_extension" "$2" &&
        glibc_2_17 "$unpacked/$1/petal.duckdb_extension" &&
        needs_only "$unpacked/$1/petal.duckdb_extension" $glibc_own &&
        exports_only "$unpacked/$1/petal.duckdb_extension" 'petal_init_c_api'
}
names_itself() { # names_itself PLATFORM: checks the file's metadata
    tail -c 534 "$unpacked/$1/petal.duckdb_extension" | tr '\0' '\n' | grep -v '^$' | tail -n 5 |
        tr '\n' ' ' | grep -qx "C_STRUCT v$version v1.2.0 $1 4 "
}
loads() { # loads VERSION
    PYTHONPATH=$duckdb_installed/$1 python3 - "$unpacked" <<'EOF'
import sys, duckdb
base = duckdb.connect(config={"allow_unsigned_extensions": "true"})
platform = base.execute("pragma platform").fetchone()[0]
base.load_extension(f"{sys.argv[1]}/{platform}/petal.duckdb_extension")
file = "vectors/petal/blocked.petal"
query = "select petal_contains(?, 'key-980'), petal_contains(?, 'key-981')"
assert base.execute(query, [file, file]).fetchone() == (True, False)
built = base.execute("select petal_build('key-' || range, 0.01, 1000) from range(1000)").fetchone()[0]
open(f"{sys.argv[1]}/built.petal", "wb").write(built)
EOF
    [ $? -eq 0 ] && [ "$(petal check -c "$unpacked/built.petal" -e key-0 -e key-999)" = 2 ]
}
ok 'the package unpacks' unpack
ok 'it has the licences' has_files "$unpacked" LICENSE LICENSE-xxhash LICENSE-zlib
for platform in linux_amd64:x86_64 linux_arm64:aarch64; do
    cpu=${platform#*:} platform=${platform%:*}
    ok "$platform: glibc 2.17 or later, no other library, one name" is_extension $platform $cpu
    ok "$platform: the metadata" names_itself $platform
done
if [ "$(uname -m)" = x86_64 ] && may_install "$duckdb_name" DuckDB packages && duckdb_install; then
    for duckdb_version in $duckdb_versions; do
        ok "x86-64: DuckDB $duckdb_version loads it" loads "$duckdb_version"
    done
fi
finish
