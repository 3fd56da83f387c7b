# build.sh - installs what bindings/duckdb/needs lists in build/interop, and builds the extension.
# Sourced, not run, after tests/interop/lib/packages.sh, at the top of the tree.
#
# $duckdb_installed/VERSION is the Python package of DuckDB; $duckdb_installed/include has its
# headers.
duckdb_name=duckdb-$(built_of bindings/duckdb/needs bindings/duckdb/headers)
duckdb_installed=$interop/$duckdb_name
duckdb_all=$(sed -n 's/^duckdb==//p' bindings/duckdb/needs)
duckdb_versions=$(echo "$duckdb_all" | head -n 2)
duckdb_newest=$(echo "$duckdb_all" | head -n 1)
duckdb_refused=$(echo "$duckdb_all" | tail -n 1)

duckdb_install() { install "$duckdb_name" 'what bindings/duckdb/needs lists' duckdb_get; }
duckdb_get() {
    for version in $duckdb_all; do
        python3 -m pip install --disable-pip-version-check --target "$version" "duckdb==$version" ||
            return 1
    done
    "$top/bindings/duckdb/headers" include
}

# Builds the extension's module from the library in this build, which takes seconds.
duckdb_build() { # duckdb_build BUILD MODULE
    cc -std=c11 -O3 -DNDEBUG -fPIC -shared -fvisibility=hidden -Wall -Wextra -Wpedantic -Werror \
        -Iinclude -isystem "$duckdb_installed/include" bindings/duckdb/src/*.c bindings/sql/*.c \
        "$1/lib/libpetal.a" -Wl,--exclude-libs,ALL -lz -lpthread -lm -o "$2"
}

# Makes FILE, the extension for the platform of this DuckDB: that of PYTHONPATH.
duckdb_extension() { # duckdb_extension MODULE FILE
    bindings/duckdb/footer "$1" \
        "$(python3 -c 'import duckdb; print(duckdb.execute("pragma platform").fetchone()[0])')" v0 "$2"
}
