#!/bin/sh
# Tests that this module and RedisBloom 2.8.2 give equal replies and equal bytes for the same random
# commands, and that each module loads the data that the other wrote.
#
# PETAL_COMMANDS is the number of commands per stream (by default 2,000; in ./dev nightly, 100,000
# in total).
set -u
. tests/redis/lib/servers.sh

[ -n "$redisbloom" ] || {
    skip 'RedisBloom' 'not installed: ./dev test --all or ./dev test redis/ installs it'
    finish
}
if [ -n "${PETAL_NIGHTLY-}" ]; then
    count=${PETAL_COMMANDS-17000} distinct=300000
else
    count=${PETAL_COMMANDS-2000} distinct=20000
fi
for server in $(servers); do
    relay python3 tests/redis/beside_redisbloom.py "${server%%=*}" "${server#*=}" "$count" "$distinct"
done
finish
