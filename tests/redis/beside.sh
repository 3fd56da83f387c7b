#!/bin/sh
# Tests that with COMMANDS petal, the module serves only PETAL.* and runs in the same server as
# RedisBloom. RedisBloom's filters are moved to the module with the commands in
# docs/redis/from-redisbloom.md and from-redis-8.md.
set -u
. tests/redis/lib/servers.sh

needs redis-cli || finish
[ -n "$redisbloom" ] || {
    skip 'RedisBloom' 'not installed: ./dev test --all or ./dev test redis/ installs it'
    finish
}
[ -x "$PETAL_BUILD_DIR/bin/petal-redis" ] || {
    skip 'petal-redis' 'not built, without hiredis: ./dev test --all or ./dev test redis/ installs it'
    finish
}
for server in $(every_server); do
    relay python3 tests/redis/beside.py "${server%%=*}" "${server#*=}"
done
finish
