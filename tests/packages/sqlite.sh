#!/bin/sh
# sqlite.sh - the SQLite extension that ./dev package sqlite builds requires glibc 2.17 or later and
# no other library. SQLite on this machine loads the file for each CPU (the ARM file under QEMU).
set -u
. tests/packages/lib/packages.sh
. tests/packages/lib/binary.sh
. tests/interop/lib/packages.sh
needs sqlite3 qemu-aarch64 || finish
needs_zig

unpacked=$TMPDIR/petal-sqlite-$version-linux
unpack() { tar -xzf "$packages/petal-sqlite-$version-linux.tar.gz" -C "$TMPDIR"; }
is_extension() { # is_extension FOLDER CPU
    is_for "$unpacked/$1/petal.so" "$2" && glibc_2_17 "$unpacked/$1/petal.so" &&
        needs_only "$unpacked/$1/petal.so" $glibc_own &&
        exports_only "$unpacked/$1/petal.so" 'sqlite3_petal_init'
}
cat >"$TMPDIR/loads.sql" <<'SQL'
select petal_contains('vectors/petal/blocked.petal', 'key-980');
select petal_contains('vectors/petal/blocked.petal', 'key-981');
select hex(petal_build(value, 0.01, 1000)) from generate_series(1, 1000);
SQL
# The output must be the same as with the extension that was built on this machine.
loads() { # loads FOLDER SQLITE...
    folder=$1
    shift
    { echo ".load $unpacked/$folder/petal" && cat "$TMPDIR/loads.sql"; } | "$@" :memory: >"$TMPDIR/there"
    { echo ".load ${PETAL_BUILD_DIR:-build/release}/bindings/sqlite/petal" && cat "$TMPDIR/loads.sql"; } |
        sqlite3 :memory: >"$TMPDIR/here"
    [ "$(head -n 2 "$TMPDIR/there" | tr '\n' ' ')" = '1 0 ' ] && cmp "$TMPDIR/here" "$TMPDIR/there"
}
ok 'the package unpacks' unpack
ok 'it has the licences' has_files "$unpacked" LICENSE LICENSE-xxhash LICENSE-zlib
ok 'x86-64: glibc 2.17 or later, no other library, one name' is_extension amd64 x86_64
ok '64-bit ARM: the same' is_extension arm64 aarch64
[ "$(uname -m)" != x86_64 ] || ok "x86-64: Debian's SQLite loads it" loads amd64 sqlite3
if may_install packages-arm-sqlite 'SQLite for 64-bit ARM' packages &&
    install packages-arm-sqlite 'SQLite for 64-bit ARM' "$PWD/tests/packages/lib/arm-debian" sqlite3; then
    there=$interop/packages-arm-sqlite
    ok '64-bit ARM: SQLite loads it, under QEMU' \
        loads arm64 qemu-aarch64 -L "$there" "$there/usr/bin/sqlite3"
fi
finish
