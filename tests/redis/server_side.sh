#!/bin/sh
# Tests how the server handles filters: replication, persistence, events, COPY, digests, memory and
# options. Corrupted values with valid checksums must be either refused or usable.
#
# PETAL_COMMANDS is the number of corrupted values per server (by default 2,000; in ./dev nightly,
# 100,000 in total).
set -u
. tests/redis/lib/servers.sh

if [ -n "${PETAL_NIGHTLY-}" ]; then count=34000; else count=2000; fi
for server in $(servers); do
    relay python3 tests/redis/server_side.py "${server%%=*}" "${server#*=}" \
        "${PETAL_COMMANDS-$count}"
done
finish
