#!/bin/sh
# Tests that cmake --install installs a tool that runs and a module that works in each server.
set -u
. tests/redis/lib/servers.sh

prefix=$TMPDIR/prefix module=$TMPDIR/prefix/lib/redis/modules/petal.so
ok 'installs' cmake --install "$PETAL_BUILD_DIR" --prefix "$prefix"
for server in $(servers); do
    relay python3 tests/redis/conformance.py "installed, ${server%%=*}" "${server#*=}"
done
if [ -x "$PETAL_BUILD_DIR/bin/petal-redis" ]; then
    ok 'petal-redis runs' "$prefix/bin/petal-redis" --help
else
    skip 'petal-redis' 'not built, without hiredis: ./dev test --all or ./dev test redis/ installs it'
fi
finish
