#!/bin/sh
# A set that is spread over a cluster by the rule of shards: in Python (petal.redis), and by the
# tool and the shell (redis/cluster.sh). Slots are moved, a master is killed: no key is missing.
set -u
. tests/redis/lib/servers.sh

needs redis-cli python3 pip || finish
clustered() { PATH=$PETAL_BUILD_DIR/bin:$PATH sh redis/cluster.sh "$module" "$1"; }
ok 'redis/cluster.sh' clustered "$redis7"

[ -n "$redisbloom" ] || {
    skip 'petal.redis' 'not installed: ./dev test --all or ./dev test redis/ installs redis-py'
    finish
}
needs python3-config || finish
builders=scikit-build-core-1.1.2
builders_get() {
    python3 -m pip install --disable-pip-version-check --target . scikit-build-core==1.1.2
}
install $builders scikit-build-core builders_get || finish
wheel() {
    PYTHONPATH=$interop/$builders python3 -m pip wheel --disable-pip-version-check -q --no-index \
        --no-deps --no-build-isolation -w "$TMPDIR/wheel" bindings/python \
        "--config-settings=build-dir=$PWD/build/bindings/python/redis" &&
        python3 -m zipfile -e "$TMPDIR"/wheel/*.whl "$TMPDIR/site"
}
ok 'the Python package is built' wheel || finish
PYTHONPATH=$TMPDIR/site:$PYTHONPATH
for server in $(servers); do
    [ "${server%%=*}" != redis-7.0 ] || continue # which had its turn
    relay python3 tests/redis/cluster.py "${server%%=*}" "${server#*=}"
done
finish
