#!/bin/sh
# Tests redis/guard.sh: a filter in front of a real PostgreSQL avoids queries for names that don't
# exist (except for false positives), and misses no account.
set -u
. tests/redis/lib/servers.sh

needs psql redis-cli || finish
ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || {
    skip 'PostgreSQL' 'not installed: ./dev test --all or ./dev test redis/ installs it'
    finish
}
for server in $(servers); do
    ok "${server%%=*}: the guard" sh redis/guard.sh "$module" "${server#*=}"
    sed 's/^/# /' "$TMPDIR/tap.out"
done
finish
