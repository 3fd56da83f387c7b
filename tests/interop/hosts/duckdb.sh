# duckdb.sh - the extension in DuckDB, in Python; see hosts.sh.
name=DuckDB
prepare() {
    needs cargo cc cmake python3 pip || return 1
    . bindings/duckdb/build.sh
    duckdb_install && duckdb_build "$PETAL_BUILD_DIR" "$1/petal.so" &&
        PYTHONPATH=$duckdb_installed/$duckdb_newest \
            duckdb_extension "$1/petal.so" "$1/petal.duckdb_extension"
}
ask() {
    PETAL_DUCKDB=$here/petal.duckdb_extension \
        PYTHONPATH=$duckdb_installed/$duckdb_newest:bindings/duckdb/test:bindings/sql/test \
        python3 -B "$hosts/duckdb_columns.py" "$@"
}
