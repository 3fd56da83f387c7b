#!/bin/sh
# redis.sh - tests the Redis and Valkey module that ./dev package builds. The Debian package
# installs on a system that has only redis-server, and the configuration line in the documents loads
# the module. A server on this machine loads the file for each CPU (the ARM file under QEMU). The
# container recipe only copies files that exist.
set -u
. tests/packages/lib/packages.sh
. tests/packages/lib/binary.sh
. tests/packages/lib/root.sh
. tests/interop/lib/packages.sh
needs redis-server redis-cli dpkg-deb qemu-aarch64 || finish

architecture=$(dpkg --print-architecture)
file=redis-petal_$version-1_$architecture.deb
line='loadmodule /usr/lib/redis/modules/petal.so'

# serves SOCKET: succeeds if the server at SOCKET has loaded the module, and adding and finding keys
# works.
serves() {
    tries=0
    until redis-cli -s "$1" ping 2>/dev/null | grep -q PONG; do
        tries=$((tries + 1))
        [ $tries -lt 600 ] || { echo 'no server'; return 1; }
        sleep 0.1
    done
    redis-cli -s "$1" PETAL.RESERVE kept 0.01 100 | grep -qx OK &&
        redis-cli -s "$1" PETAL.ADD kept item | grep -qx 1 &&
        redis-cli -s "$1" BF.MADD old item | grep -qx 1 &&
        redis-cli -s "$1" BF.EXISTS kept item | grep -qx 1 &&
        redis-cli -s "$1" SAVE | grep -qx OK
}
ends() { redis-cli -s "$1" SHUTDOWN NOSAVE; wait "$server"; }

# ---- the files of both CPUs ----------------------------------------------------------------------

unpacked=$TMPDIR/petal-redis-$version-linux
unpack() { tar -xzf "$packages/petal-redis-$version-linux.tar.gz" -C "$TMPDIR"; }
is_module() { # is_module FOLDER CPU
    is_for "$unpacked/$1/petal.so" "$2" && [ -x "$unpacked/$1/petal.so" ] &&
        glibc_2_17 "$unpacked/$1/petal.so" && needs_only "$unpacked/$1/petal.so" $glibc_own &&
        exports_only "$unpacked/$1/petal.so" 'RedisModule_OnLoad'
}
loads() { # loads FOLDER SERVER...
    folder=$1
    shift
    mkdir -p "$TMPDIR/$folder"
    "$@" --port 0 --unixsocket "$TMPDIR/$folder/socket" --dir "$TMPDIR/$folder" --save '' \
        --loadmodule "$unpacked/$folder/petal.so" >"$TMPDIR/$folder/log" 2>&1 &
    server=$!
    serves "$TMPDIR/$folder/socket" || { tail "$TMPDIR/$folder/log"; kill $server; return 1; }
    ends "$TMPDIR/$folder/socket"
}
recipe_has() { # checks that the recipe copies existing files for each CPU and uses no other base
               # images
    grep '^FROM' "$unpacked/Containerfile" | tr '\n' ' ' |
        grep -qx 'FROM redis:8 AS redis FROM valkey/valkey:9 AS valkey ' &&
        for TARGETARCH in amd64 arm64; do
            sed -n 's/^COPY \(--[^ ]* \)*\([^ ]*\) .*/\2/p' "$unpacked/Containerfile" |
                while read -r from; do
                    from=$(printf '%s' "$from" | sed "s/\${TARGETARCH}/$TARGETARCH/")
                    ls "$unpacked"/$from || exit 1
                done || return 1
        done
}
if [ -e "$packages/petal-redis-$version-linux.tar.gz" ]; then
    ok 'the package unpacks' unpack
    ok 'x86-64: glibc 2.17 or later, no other library, one name' is_module amd64 x86_64
    ok '64-bit ARM: the same' is_module arm64 aarch64
    ok 'the recipe for containers copies files that exist' recipe_has
    [ "$(uname -m)" != x86_64 ] || ok "x86-64: Debian's server loads it" loads amd64 redis-server
    if may_install packages-arm-redis 'Redis for 64-bit ARM' packages &&
        install packages-arm-redis 'Redis for 64-bit ARM' "$PWD/tests/packages/lib/arm-debian" redis-server; then
        there=$interop/packages-arm-redis
        ok '64-bit ARM: the server loads it, under QEMU' \
            loads arm64 qemu-aarch64 -L "$there" "$there/usr/bin/redis-server"
    fi
else
    skip 'the module for other systems' 'unreachable: no zig to build it'
fi

# ---- Debian's package ----------------------------------------------------------------------------

there() { ls "$packages/$file"; }
has_page() { grep -qF "$line" docs/redis.md; }
ok 'the Debian package exists' there
ok 'the page names the line' has_page
[ "$(id -u)" -eq 0 ] || { skip 'installed in a new root' 'this machine: needs root'; finish; }
root=$TMPDIR/root
bare_debian "$root" || finish
ways
cp "$packages/$file" "$root/"
installs() {
    inside apt-get -o APT::Sandbox::User=root update &&
        inside apt-get -o APT::Sandbox::User=root install -y --no-install-recommends "/$file" redis-server
}
runs() {
    mkdir -p "$root/data"
    { echo "$line" && printf 'port 0\nunixsocket /data/socket\ndir /data\n'; } >"$root/data/redis.conf"
    inside redis-server /data/redis.conf >"$TMPDIR/log" 2>&1 &
    server=$!
    serves "$root/data/socket" || { tail "$TMPDIR/log"; kill $server; return 1; }
    ends "$root/data/socket"
}
keeps() { # checks that saved data is loaded after a restart
    inside redis-server /data/redis.conf >"$TMPDIR/log" 2>&1 &
    server=$!
    serves_kept() { redis-cli -s "$root/data/socket" PETAL.EXISTS kept item 2>/dev/null | grep -qx 1; }
    tries=0
    until serves_kept; do
        tries=$((tries + 1))
        [ $tries -lt 600 ] || { tail "$TMPDIR/log"; kill $server; return 1; }
        sleep 0.1
    done
    ends "$root/data/socket"
}
removes() { inside dpkg --purge redis-petal && ! inside ls /usr/lib/redis/modules/petal.so; }
if installs >"$TMPDIR/installs.log" 2>&1; then
    ok 'it can be installed together with redis-server' inside dpkg --verify redis-petal
    ok 'the server loads it by that line' runs
    ok 'and finds the saved keys' keeps
    ok 'it is removed again' removes
else
    ok 'it installs' log_of_failure "$TMPDIR/installs.log"
fi
finish
