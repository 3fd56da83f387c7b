# needs.sh - lists the Debian packages that each command of ./dev needs, and installs them. This
# script must be sourced, not run.
#
# A command states each need as `need PACKAGE PROBE...`. If the probe fails, the package is missing.

missing=
need() {
    package=$1
    shift
    "$@" </dev/null >/dev/null 2>&1 || missing="$missing $package"
}

header() { printf '#include <%s>\n' "$1" | cc -E -; }
generator() { have ninja || have make; }
fuzzer() { printf 'int LLVMFuzzerTestOneInput(void) { return 0; }' | clang -fsanitize=fuzzer,address -xc - -o /dev/null; }
wasi() { echo 'int main(void) { return 0; }' | clang --target=wasm32-wasi -xc - -o /dev/null; }

needs_build() {
    need gcc have cc
    need libc6-dev header stdio.h
    need libxxhash-dev header xxhash.h
    need zlib1g-dev header zlib.h
    need cmake have cmake
    need ninja-build generator
}
needs_test() {
    needs_build
    need libcmocka-dev header cmocka.h
    need bats have bats
    need pkg-config have pkg-config
    need g++ have c++
}
needs_check() {
    needs_test
    needs_bench
    need python3-venv python3 -c 'import ensurepip' # for ziglang
    need python3-dev have python3-config
    need clang have clang # for check-abi
    need clang-format have clang-format
    need clang-tidy have clang-tidy
    need binutils have nm
    need git have git
}
needs_platforms() {
    need gcc-s390x-linux-gnu have s390x-linux-gnu-gcc
    need libc6-dev-s390x-cross [ -d /usr/s390x-linux-gnu/include ]
    need gcc-aarch64-linux-gnu have aarch64-linux-gnu-gcc
    need libc6-dev-arm64-cross [ -d /usr/aarch64-linux-gnu/include ]
    need qemu-user have qemu-s390x
    need qemu-user have qemu-aarch64
    need clang have clang
    need lld have wasm-ld
    need wasi-libc [ -e /usr/include/wasm32-wasi/stdio.h ]
    need libclang-rt-dev-wasm32 wasi
    need nodejs have node
}
needs_cli() { # to run tests/cli without skips
    need mandoc have mandoc
    need man-db have man
    need groff-base have groff
    need zsh have zsh
    need fish have fish
    need bsdutils have script
    need curl have curl
    need python3 have python3
    need xz-utils have xz
    need bzip2 have bzip2
    need libc-bin have iconv
    need zstd have zstd
    need libzstd-dev header zstd.h
}
needs_bundle() { # compilers to test the folder from scripts/bundle
    need clang have clang
    need golang-go have go
    need python3-dev have python3-config
    need python3-setuptools python3 -c 'import setuptools'
}
needs_bindings() {
    need python3 have python3
    need python3-dev have python3-config
    need python3-venv python3 -c 'import ensurepip'
    need libc-bin have ldd
    need binutils have nm
    need nodejs have node # for pyright
    need npm have npm
    needs_js
    needs_go
    needs_java
    needs_dotnet
    needs_sqlite
    needs_postgresql
    needs_duckdb
    needs_rust
    needs_lua
}
needs_lua() { # OpenResty's LuaJIT, which Debian's nginx uses, too
    need luajit2 have luajit
    need python3 have python3
    need nginx have nginx
    need curl have curl
    need libnginx-mod-http-lua [ -e /usr/lib/nginx/modules/ngx_http_lua_module.so ]
}
postgres() { ls /usr/lib/postgresql/*/bin/"$1"; } # Debian doesn't put these programs in PATH
needs_postgresql() {
    needs_build
    need postgresql postgres initdb
    need postgresql-client postgres psql
    need postgresql-server-dev-all [ -e "$(pg_config --includedir-server 2>/dev/null)/postgres.h" ]
    need make have make
    need python3 have python3
    need python3-psycopg2 /usr/bin/python3 -c 'import psycopg2'
}
needs_duckdb() {
    needs_build
    needs_cargo
    need ca-certificates [ -e /etc/ssl/certs/ca-certificates.crt ]
    need python3-pip python3 -m pip --version
    need python3-dev have python3-config # for querying its filter in Python
    need binutils have nm
    need libc-bin have ldd
    need redis-server have redis-server
    need redis-tools have redis-cli
}
needs_sqlite() {
    needs_build
    need libsqlite3-dev header sqlite3ext.h
    need sqlite3 have sqlite3
}
needs_dotnet() {
    need mono-mcs have mcs
    need mono-runtime have mono
    need libmono-system-core4.0-cil [ -e /usr/lib/mono/4.5/System.Core.dll ]
    need python3-pip python3 -m pip --version # for the runtime of .NET 8
}
needs_java() {
    need cmake have cmake
    need default-jre-headless have java
    need default-jdk-headless have javac
    need maven have mvn
    need ca-certificates [ -e /etc/ssl/certs/ca-certificates.crt ]
    need unzip have unzip
    need python3-pip python3 -m pip --version # for the runtime of a newer Java
}
needs_go() {
    need golang-go have go
    need ca-certificates [ -e /etc/ssl/certs/ca-certificates.crt ]
    need libc-bin have ldd
    needs_wasm
}
needs_wasm() {
    need clang have clang
    need lld have wasm-ld
    need wasi-libc [ -e /usr/include/wasm32-wasi/stdio.h ]
    need libclang-rt-dev-wasm32 wasi
    need binaryen have wasm-opt
}
needs_js() {
    needs_wasm
    need nodejs have node
    need npm have npm
    need chromium have chromium
}
needs_web() {
    needs_build
    needs_js
    need zopfli have zopfli
    need mandoc have mandoc
    # The font for the page's pictures.
    need fonts-inter [ -d /usr/share/fonts/opentype/inter ]
    need fonts-wqy-microhei [ -d /usr/share/fonts/truetype/wqy ]
}
needs_redis() { # for tests/redis; ./dev redis only needs the first two packages
    need redis-server have redis-server
    need redis-tools have redis-cli
    need python3 have python3
    need python3-pip python3 -m pip --version
    need libhiredis-dev header hiredis/hiredis.h # petal-redis
    need libssl-dev header openssl/ssl.h
    need openssl have openssl
    need postgresql have psql # the example redis/guard.sh
    need postgresql postgres initdb
    need golang-go have go # examples/packed
    need nodejs have node
    need npm have npm
}
needs_docs() { # to run tests/docs without skips
    need xxd have xxd
    need python3-dev have python3-config
    needs_js
    needs_go
    needs_java
    needs_dotnet
    need python3-pip python3 -m pip --version
    need redis-server have redis-server
    needs_sqlite
    needs_duckdb
    needs_lua
    needs_cargo
    needs_postgresql
}
needs_package() {
    needs_build
    need git have git # to date packages by the last commit
    need python3-venv python3 -c 'import ensurepip' # for ziglang
    need dpkg-dev have dpkg-source # for the sources of zlib
    need debhelper have dh
    need build-essential [ -e /usr/share/build-essential ]
    need python3-dev have python3-config
    need mandoc have mandoc
    need bsdextrautils have col
    need ca-certificates [ -e /etc/ssl/certs/ca-certificates.crt ]
}
needs_release() {
    needs_package
    needs_go
    needs_wasm
    needs_java
    needs_dotnet
    needs_sqlite
    needs_duckdb
    need nodejs have node
    need npm have npm
    need ruby have ruby
    need gpg have gpg
    need gpg-agent have gpg-agent
    need lintian have lintian
    need debootstrap have debootstrap
}
needs_packages() { # tests/packages
    needs_package
    need qemu-user have qemu-aarch64
    need qemu-user have qemu-x86_64
    need lintian have lintian
    need debootstrap have debootstrap
    need wine64 [ -x /usr/lib/wine/wine64 ]
    need binutils have readelf
    need binutils have objdump
    needs_java # also for Python for Windows
    needs_dotnet
    needs_go
    needs_sqlite
    needs_duckdb
    needs_postgresql
    needs_web
    need dpkg have dpkg-deb
    need redis-server have redis-server
    need redis-tools have redis-cli
    needs_lua
    need luarocks have luarocks
}
needs_all() { # to run every suite except interop without skips
    needs_check
    needs_platforms
    needs_cli
    needs_bundle
    needs_bindings
    needs_web
    needs_redis
    needs_docs
    needs_clang_runtime
}
needs_languages() {
    needs_cargo
    need ca-certificates [ -e /etc/ssl/certs/ca-certificates.crt ]
    need default-jre-headless have java
    need default-jdk-headless have javac
    need maven have mvn
    need golang-go have go
    need nodejs have node
    need npm have npm
    need python3-pip python3 -m pip --version
}
needs_interop() {
    needs_languages
    need redis-server have redis-server
    need redis-tools have redis-cli
    need libleveldb-dev header leveldb/c.h
    need golang-github-dcso-bloom-cli have bloom
    needs_sqlite # interop/hosts
    needs_lua
}
needs_clang_runtime() { # for its sanitizers
    need clang have clang
    need libclang-rt-dev fuzzer
}
needs_fuzz() {
    needs_build
    needs_clang_runtime
}
needs_bench() {
    needs_build
    need libbloom-dev header bloom.h
}
# Debian 12's default Rust is too old, but Debian 12 also has packages of a newer Rust, which a
# system only knows after it has downloaded its package lists.
rust() { "$1" --version | awk '{ split($2, at, "."); new = at[1] > 1 || at[2] >= 77 } END { exit !new }'; }
needs_cargo() {
    web=
    ! { apt-cache show cargo-web || grep -x 'VERSION_ID="12"' /etc/os-release; } >/dev/null 2>&1 || web=-web
    need cargo$web rust cargo
}
needs_rust() {
    needs_cargo
    need "rust$web-clippy" have cargo-clippy
    need rustfmt$web have rustfmt
    need python3 have python3
    need libc-bin have ldd
    need ca-certificates [ -e /etc/ssl/certs/ca-certificates.crt ]
}
needs_peers() { needs_languages; }
needs_bench_libraries() { # without them, bench works but prints a note
    need python3-venv python3 -c 'import ensurepip' # for set_up_fuse
    need g++ have c++
    need clang have clang++
    need librocksdb-dev header rocksdb/c.h
    need libleveldb-dev header leveldb/c.h
}

# Installs the missing packages, or prints what it would install.
set_up() {
    [ -n "$missing" ] || return 0
    missing=$(printf '%s\n' $missing | sort -u | tr '\n' ' ')
    line="apt-get install -y --no-install-recommends ${missing% }"
    have apt-get >/dev/null || die "missing (Debian's names): ${missing% }; install them and try again"
    if [ "$(id -u)" -eq 0 ]; then
        as_root=env
    elif have sudo >/dev/null && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
        as_root='sudo env'
    else
        die "missing packages; as root run: apt-get update && $line"
    fi
    say "+ $line"
    mkdir -p build/logs
    {
        { ls /var/lib/apt/lists/*_Packages* && apt_install; } || { apt_get update && apt_install; }
    } >build/logs/apt.log 2>&1 || { tail -n 20 build/logs/apt.log >&2; die "apt-get failed (build/logs/apt.log)"; }
}
apt_get() {
    $as_root DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 "$@" </dev/null
}
apt_install() { apt_get ${line#apt-get }; }

# Unreachable packages are skipped.
set_up_interop() { set_up_or_skip needs_interop; }
set_up_or_skip() {
    missing=
    "$@"
    rm -f build/logs/apt.log
    (set_up) || [ ! -e build/logs/apt.log ] || export PETAL_DEBIAN='unreachable: apt-get failed'
}
