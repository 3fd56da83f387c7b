#!/bin/sh
# Tests that a set can be distributed over a cluster by Petal's sharding rule, in Python
# (petal.redis) and with the tool in a shell script (redis/cluster.sh). Although slots are moved and
# a master is killed, no key may be missing.
set -u
. tests/redis/lib/servers.sh

needs redis-cli python3 pip || finish
clustered() { PATH=$PETAL_BUILD_DIR/bin:$PATH sh redis/cluster.sh "$module" "$1"; }
ok 'redis/cluster.sh' clustered "$redis7"

[ -n "$redisbloom" ] || {
    skip 'petal.redis' 'not installed: ./dev test --all or ./dev test redis/ installs redis-py'
    finish
}
nightly 'petal.redis in clusters of other servers' || finish
needs python3-config || finish
petal_wheel "$TMPDIR/wheel" || finish
ok 'it is unpacked' python3 -m zipfile -e "$TMPDIR"/wheel/*.whl "$TMPDIR/site"
PYTHONPATH=$TMPDIR/site:$PYTHONPATH
for server in $(servers); do
    [ "${server%%=*}" != redis-7.0 ] || continue # Debian's server has already been tested
    relay python3 tests/redis/cluster.py "${server%%=*}" "${server#*=}"
done
finish
