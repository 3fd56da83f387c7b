# bench.sh - implements ./dev bench, which installs the packages that a measurement needs, builds
# the measurement and runs it. This script must be sourced, not run.

bench_help() {
    cat <<'EOF'
./dev bench [suite] [OPTION...]         ns per key beside C and C++ libraries; see suite --help
./dev bench levels [OPTION...]          each kernel that this CPU can run; see suite --help
./dev bench instructions                instructions per key, beside those of the page of that name
./dev bench shared [THREADS [ROUNDS]]   several threads adding to one filter, in several ways
./dev bench create [ROUNDS]             making a filter: which is mostly planning it
./dev bench many [ROUNDS]               an index of many filters beside asking them in turn
./dev bench many logs [FILES]           finding a word in compressed logs: petal which beside zgrep,
                                        ripgrep and COBS
./dev bench verify FILE KEYS            checking blocks before their first use; makes FILE
./dev bench redisbloom FOLDER [KEYS...] its scheme in Petal and in its own code, whose
                                        sources are in FOLDER
./dev bench peers [LIBRARY...]          beside libraries of Rust, Go, Java, Python and JavaScript
./dev bench python [--keys N] [--rounds N]
                                        the Python package beside others, in one process
./dev bench go [-keys N] [-rounds N]    the Go module beside bits-and-blooms, in one process
./dev bench rust [KEYS [ROUNDS]]        the crate beside fastbloom and bloomfilter, in one process
./dev bench java [KEYS [ROUNDS]]        the jar beside Guava, in one JVM
./dev bench dotnet [KEYS [ROUNDS]]      the C# package beside a filter in plain C#
./dev bench redis [--rounds N] [--scale N]
                                        the module beside RedisBloom: the server's CPU time
./dev bench nginx [ENTRIES [SECONDS [ROUNDS]]]
                                        a blocklist in nginx: petal.lua beside a map and Redis
./dev bench duckdb [ROWS [KEYS [ROUNDS]]]
                                        a semi-join of a Parquet file in DuckDB, with a filter and
                                        without
./dev bench postgresql [ROUNDS]         lookups in a table of PostgreSQL, with a filter and
                                        without, and building filters
./dev bench js [--keys N] [--rounds N]   the npm package beside others, in one process
./dev bench tool [LINES [ROUNDS]]       petal beside sort -u, awk, hash-set tools and DCSO's bloom
                                        (cargo install --root build/tool --locked huniq runiq)
./dev bench tool rows [ROWS [ROUNDS]]   the same for fields of rows, beside awk, grep -Fxf and xsv;
                                        10000000 ROWS take 4 GB of disk
./dev bench billions [KEYS]             five billion keys: 5 GB of memory and of disk, and a few
                                        minutes; or fewer; or more, in shards of as many
./dev bench spill [KEYS [BYTES]]        a static filter of a billion keys, built in 1 GB of
                                        memory and 9 GB of disk; or of other numbers

./dev bench publish [PAGE...]           runs the commands that bench/results/PAGE.md names, and
                                        puts in their output; all pages take 1.5 hours
./dev bench stale                       the pages of bench/results that are older than their code,
                                        and the commits that changed it

The results of past runs are in bench/results. A page says at which commit it was measured
(scripts/check-figures), and has the command before each table (scripts/publish-figures).
EOF
}

bench() {
    case ${1-} in
    help | -h | --help) bench_help && return ;;
    suite | levels | shared | create | verify | redisbloom | peers | tool) what=$1 && shift ;;
    many | billions | spill | instructions | stale) what=$1 && shift ;;
    python | go | rust | java | js | dotnet) what=$1 && shift ;;
    redis | nginx | duckdb | postgresql) what=$1 && shift ;;
    publish) shift && exec scripts/publish-figures "$@" ;;
    '' | -*) what=suite ;;
    *) say "dev: bench: no such measurement: $1"; bench_help >&2; exit 2 ;;
    esac
    [ "$what" = stale ] || say "measured at commit $(git describe --always --dirty || true)"
    "bench_$what" "$@"
}

build_bench() { build release -DPETAL_BUILD_BENCH=ON -DPETAL_BUILD_TESTS=OFF; }

bench_suite() {
    needs_bench
    set_up
    set_up_or_skip needs_bench_libraries
    set_up_fuse
    build_bench
    exec build/release/bench/runs/suite "$@"
}

# Installs the header of binary fuse filters from the sources of pyfusefilter. If the sources are
# unreachable, the suite reports that it runs without this header.
set_up_fuse() {
    folder=$PWD/build/xor_singleheader
    : "${XOR_SINGLEHEADER:=$folder}" && export XOR_SINGLEHEADER
    [ ! -e "$XOR_SINGLEHEADER/include/binaryfusefilter.h" ] || return 0
    [ "$XOR_SINGLEHEADER" = "$folder" ] || die "no include/binaryfusefilter.h in $XOR_SINGLEHEADER"
    say 'installing xor_singleheader into build/xor_singleheader'
    mkdir -p build/logs
    rm -rf "$folder" && mkdir "$folder"
    {
        python3 -m venv "$folder/venv" &&
            "$folder/venv/bin/python" -m pip download --disable-pip-version-check --no-deps \
                --no-binary pyfusefilter -d "$folder" pyfusefilter==1.3.0 &&
            tar -xzf "$folder"/pyfusefilter-*.tar.gz -C "$folder" --strip-components=3 --wildcards \
                '*/xor_singleheader/include'
    } >build/logs/xor_singleheader.log 2>&1 </dev/null ||
        say 'pyfusefilter is unreachable (build/logs/xor_singleheader.log)'
}

# Measures each kernel that this CPU supports, from a list of KERNEL:FLAG, where FLAG is Linux's
# name for the CPU feature.
bench_levels() {
    needs_bench
    set_up
    set_up_or_skip needs_bench_libraries
    build_bench >&2
    for level in generic: sse4:sse4_1 avx2:avx2 avx512:avx512dq neon:asimd; do
        grep -qw "${level#*:}" /proc/cpuinfo || continue
        printf '### %s\n\n' "${level%:*}"
        PETAL_KERNEL=${level%:*} build/release/bench/runs/suite --keys 1e4,1e6 --rates no \
            --rounds 5 --absent 1e5 --base 'petal batch' --contenders \
            'petal one,petal batch,petal classic,petal static,boost fm32 call,boost fm32 bulk' \
            --markdown - "$@" | sed -n '/^<details>/,/^<\/details>/p'
    done
}

# Counts instructions per key. The command never fails because of a higher number: whoever makes a
# code path slower should notice, but may have a good reason.
bench_instructions() {
    needs_bench
    need valgrind have valgrind
    set_up
    build_bench
    dumps=build/bench/callgrind
    rm -rf "$dumps" && mkdir -p "$dumps"
    valgrind -q --tool=callgrind --callgrind-out-file="$dumps/out" build/release/bench/runs/instructions >&2
    [ -s "$dumps/out.1" ] || die 'built before valgrind was there: rm -r build/release/bench, and again'
    echo "$(cc --version | head -n 1); $(valgrind --version)."
    echo
    # Compares with the rows recorded on the page, which have the form | PATH | COUNT | ...
    awk -v keys=65536 '
        BEGIN {
            print "| path | instructions per key | recorded | change |"
            print "| --- | --: | --: | --: |"
        }
        FNR == NR { if (split($0, part, / *\| */) > 4) recorded[part[2]] = part[3]; next }
        /^desc: Trigger: Client Request: / { name = substr($0, 32) }
        /^totals:/ && name != "" {
            count = $2 / keys
            printf "| %s | %.1f |", name, count
            if (recorded[name] > 0) {
                change = 100 * (count / recorded[name] - 1)
                mark = change > 3 || change < -3 ? "**" : ""
                printf " %.1f | %s%+.1f %%%s |\n", recorded[name], mark, change, mark
            } else print " | |"
            name = ""
        }' bench/results/instructions.md $(ls -v "$dumps"/out.*)
}

bench_stale() { exec scripts/check-figures --stale; }
bench_shared() { bench_run shared "$@"; }
bench_billions() { bench_run billions "$@"; }
bench_spill() { bench_run spill "$@"; }
bench_create() { bench_run create "$@"; }
bench_verify() { bench_run verify "$@"; }
bench_run() {
    program=$1
    shift
    needs_bench
    set_up
    build_bench
    mkdir -p build/bench # for FILE of verify
    exec "build/release/bench/runs/$program" "$@"
}

# Builds the COBS program from its source package. If the program is missing, the measurement
# reports this.
set_up_cobs() {
    [ ! -x "$1/cobs" ] || return 0
    say "building COBS in $1"
    mkdir -p "$1" build/logs
    {
        python3 -m venv "$1/venv" &&
            "$1/venv/bin/python" -m pip download --disable-pip-version-check --no-deps \
                --no-binary cobs-index -d "$1" cobs-index==0.1.2 &&
            tar -xzf "$1"/cobs_index-*.tar.gz -C "$1" &&
            cmake -S "$1/cobs_index-0.1.2" -B "$1/cobs_build" -DCMAKE_BUILD_TYPE=Release &&
            cmake --build "$1/cobs_build" --target cobs -j "$(nproc)" &&
            cp "$1"/cobs_build/src/cobs* "$1/cobs"
    } >build/logs/cobs.log 2>&1 </dev/null || say 'COBS was not built (build/logs/cobs.log)'
}

bench_many() {
    [ "${1-}" = logs ] || bench_run many "$@"
    shift
    needs_build
    need time [ -x /usr/bin/time ]
    need mawk have mawk
    need ripgrep have rg
    need g++ have c++
    need python3-venv python3 -c 'import ensurepip'
    need python3-dev have python3-config
    set_up
    build release -DPETAL_BUILD_TESTS=OFF
    set_up_cobs "$PWD/build/many"
    exec bench/tool/logs "$PWD/build/release/bin" "$PWD/build/many" "$@"
}

bench_redisbloom() {
    [ -f "${1-}/deps/bloom/bloom.c" ] ||
        die "bench redisbloom FOLDER: RedisBloom's sources, with deps/bloom/bloom.c"
    needs_build
    set_up
    build release -DPETAL_BUILD_TESTS=OFF
    mkdir -p build/bench
    # Links the shared library, because it brings its own dependencies. Disables warnings with -w,
    # because RedisBloom's sources cause some.
    cc -O3 -march=native -w -Iinclude "-I$1/deps/bloom" "-I$1/deps/murmur2" bench/runs/redisbloom.c \
        "$1/deps/bloom/bloom.c" "$1/deps/murmur2/MurmurHash2.c" build/release/lib/libpetal.so \
        -Wl,-rpath,"$PWD/build/release/lib" -lm -o build/bench/redisbloom
    shift
    exec build/bench/redisbloom "$@"
}

bench_tool() {
    needs_build
    need time [ -x /usr/bin/time ]
    need mawk have mawk
    need golang-github-dcso-bloom-cli have bloom
    set_up
    build release -DPETAL_BUILD_TESTS=OFF
    mkdir -p build/tool
    cc -O2 bench/tool/urls.c -o build/tool/urls
    script=run
    [ "${1-}" != rows ] || { script=rows && shift; }
    exec "bench/tool/$script" "$PWD/build/release/bin" "$PWD/build/tool" "$@"
}

# Unreachable packages are skipped here, too.
bench_peers() {
    needs_bench
    set_up
    set_up_or_skip needs_peers
    build_bench
    exec bench/peers/run "$@"
}

bench_python() {
    needs_build
    need python3-dev have python3-config
    need python3-venv python3 -c 'import ensurepip'
    set_up
    exec bench/python/run "$@"
}

bench_go() {
    needs_build
    needs_go
    set_up
    exec bench/go/run "$@"
}

bench_rust() {
    needs_build
    needs_rust
    set_up
    exec bench/rust/run "$@"
}

bench_java() {
    needs_build
    needs_java
    set_up
    exec bench/java/run "$@"
}

bench_dotnet() {
    needs_build
    needs_dotnet
    set_up
    exec bench/dotnet/run "$@"
}

bench_postgresql() {
    needs_build
    needs_postgresql
    set_up
    exec bench/postgresql/run "$@"
}

bench_redis() {
    needs_build
    needs_redis
    set_up
    build release -DPETAL_BUILD_TESTS=OFF -DPETAL_BUILD_REDIS=ON
    exec bench/redis/run "$@"
}

bench_duckdb() {
    needs_build
    needs_duckdb
    set_up
    build release -DPETAL_BUILD_TESTS=OFF
    exec bench/duckdb/run "$@"
}

# Unpacks Debian's Redis client for nginx, because installing the package would also install all
# nginx modules.
set_up_nginx_redis() {
    mkdir -p build/nginx build/logs
    [ ! -e build/nginx/usr/share/lua/5.1/nginx/redis.lua ] || return 0
    say 'unpacking lua-nginx-redis into build/nginx'
    (cd build/nginx && apt-get download lua-nginx-redis && dpkg-deb -x lua-nginx-redis_*.deb .) \
        >build/logs/nginx-redis.log 2>&1 || die 'no lua-nginx-redis (build/logs/nginx-redis.log)'
}

bench_nginx() {
    needs_build
    needs_lua
    need wrk have wrk
    need redis-server have redis-server
    need redis-tools have redis-cli
    set_up
    set_up_nginx_redis
    build release -DPETAL_BUILD_TESTS=OFF -DPETAL_BUILD_REDIS=ON
    exec bench/nginx/run "$@"
}

bench_js() {
    needs_build
    needs_js
    set_up
    exec bench/js/run "$@"
}
