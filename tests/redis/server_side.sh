#!/bin/sh
# Tests what a server does with filters apart from commands: replication, persistence, events, COPY,
# digests, memory, options. Corrupted values with valid checksums must be refused or usable.
#
# PETAL_COMMANDS: the number of corrupted values per server (2,000; ./dev nightly: 100,000 in
# total).
set -u
. tests/redis/lib/servers.sh

if [ -n "${PETAL_NIGHTLY-}" ]; then count=34000; else count=2000; fi
for server in $(servers); do
    relay python3 tests/redis/server_side.py "${server%%=*}" "${server#*=}" \
        "${PETAL_COMMANDS-$count}"
done
finish
