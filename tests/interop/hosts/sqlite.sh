# sqlite.sh - queries the keys with the SQLite extension; see hosts.sh.
name=SQLite
prepare() {
    needs sqlite3ext.h python3 || return 1
    # Some Python builds leave out support for SQLite extensions, but Debian's includes it.
    for sqlite_python in python3 /usr/bin/python3; do
        "$sqlite_python" -c 'import sqlite3; sqlite3.connect(":memory:").enable_load_extension(True)' \
            2>/dev/null && return
    done
    skip "$name" "this machine: no Python whose sqlite3 loads extensions (Debian's does)"
    return 1
}
ask() {
    PETAL_SQLITE=$PETAL_BUILD_DIR/bindings/sqlite/petal \
        PYTHONPATH=bindings/sqlite/test:bindings/sql/test \
        "$sqlite_python" -B "$hosts/sqlite.py" "$@"
}
