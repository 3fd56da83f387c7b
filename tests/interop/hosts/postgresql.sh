# postgresql.sh - the extension in PostgreSQL; see hosts.sh.
name=PostgreSQL
prepare() {
    . tests/docs/lib/postgres.sh
    . bindings/postgresql/build.sh
    PATH=$PATH:$postgres_bin
    needs initdb make cc /usr/bin/python3 || return 1
    [ -e "$postgresql_header" ] && /usr/bin/python3 -c 'import psycopg2' 2>/dev/null || {
        skip "$name" 'not installed: ./dev test bindings/postgresql installs it'
        return 1
    }
    trap 'postgres_stop "$TMPDIR/server" >/dev/null 2>&1' EXIT
    postgresql_build "$top/build/bindings/postgresql" && postgres_copy "$TMPDIR/copy" &&
        postgresql_install "$top/build/bindings/postgresql" "$TMPDIR/copy" >"$1/log" 2>&1 &&
        postgres_start "$TMPDIR/server" >"$1/log" 2>&1
}
ask() {
    PYTHONPATH=bindings/postgresql/test /usr/bin/python3 -B "$hosts/postgresql.py" "$@"
    asked=$?
    postgres_stop "$TMPDIR/server" >/dev/null 2>&1
    return "$asked"
}
