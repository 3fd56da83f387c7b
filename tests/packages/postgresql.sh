#!/bin/sh
# postgresql.sh - the sources that ./dev package postgresql creates build without any other file
# from this tree, and a server loads the extension.
set -u
. tests/packages/lib/packages.sh
. tests/docs/lib/postgres.sh
PATH=$PATH:$postgres_bin
needs initdb psql make cc || finish

unpacked=$TMPDIR/petal-postgresql-$version
unpack() { tar -xzf "$packages/petal-postgresql-$version.tar.gz" -C "$TMPDIR"; }
pg_config=$postgres_bin/pg_config
builds() { make -C "$unpacked" -j "$(nproc)" "PG_CONFIG=$pg_config"; }
installs() {
    postgres_copy "$TMPDIR/copy" &&
        make -C "$unpacked" install "PG_CONFIG=$pg_config" "DESTDIR=$TMPDIR/copy"
}
answers() {
    psql -X -q -A -t -v ON_ERROR_STOP=1 -c 'create extension petal' -c "
        select bool_and(petal_contains((select petal_build(i) from generate_series(1, 1000) i), i)),
               extversion from generate_series(1, 1000) i, pg_extension where extname = 'petal'
        group by extversion" >"$TMPDIR/answer" && grep -Fx "t|$version" "$TMPDIR/answer"
}
trap 'postgres_stop "$TMPDIR/server" >/dev/null 2>&1' EXIT
ok 'the package unpacks' unpack
ok 'it has the licences' has_files "$unpacked" LICENSE LICENSE-xxhash
ok 'make builds it' builds
ok 'make install installs it' installs
ok 'PostgreSQL has started' postgres_start "$TMPDIR/server"
ok 'a server loads it, with its version' answers
finish
