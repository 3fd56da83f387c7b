#!/bin/sh
# Tests that filters of each kind, pushed and pulled with PETAL.* commands, equal the tool's. Also
# tests files in pieces, packed batches, and replicas, restarts and corrupted values for each kind.
#
# PETAL_COMMANDS is the number of corrupted values per server (by default 2,000).
set -u
. tests/redis/lib/servers.sh

needs openssl || finish
[ -x "$PETAL_BUILD_DIR/bin/petal-redis" ] || {
    skip 'petal-redis' 'not built, without hiredis: ./dev test --all or ./dev test redis/ installs it'
    finish
}
for server in $(servers); do
    relay python3 tests/redis/petal_commands.py "${server%%=*}" "${server#*=}" \
        "${PETAL_COMMANDS-2000}"
done
finish
