#!/bin/sh
# Tests that the clients redis-py and redis-cli work with the module, in RESP2 and RESP3, and that
# the module passes the Bloom filter tests in redis-py's source package.
set -u
. tests/redis/lib/servers.sh

needs redis-cli python3 pip || finish
[ -n "$redisbloom" ] || {
    skip 'redis-py' 'not installed: ./dev test --all or ./dev test redis/ installs it'
    finish
}
suite_get() {
    python3 -m pip download --disable-pip-version-check --no-deps --no-binary :all: redis==5.2.1 &&
        tar xzf redis-5.2.1.tar.gz &&
        python3 -m pip install --disable-pip-version-check --target packages redis==5.2.1 \
            pytest==8.3.4 pytest-asyncio==0.23.8
}
suite=
! install redis-py-tests-1 'the tests of redis-py' suite_get || suite=$interop/redis-py-tests-1
for server in $(servers); do
    relay python3 tests/redis/clients.py "${server%%=*}" "${server#*=}" ${suite:+"$suite"}
done
finish
