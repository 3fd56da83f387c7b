#!/bin/sh
# Tests PETAL.*. Filters of each kind, pushed and pulled, equal the tool's. Also tests files in
# pieces, packed batches, and replicas, restarts and corrupted values of those kinds.
#
# PETAL_COMMANDS: the number of corrupted values per server (2,000).
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
