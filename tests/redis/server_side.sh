#!/bin/sh
# What a server does with filters beside commands: replication, persistence, events, COPY, digests,
# memory, options; and corrupt values with valid checksums are refused or usable.
#
# PETAL_COMMANDS: how many corrupt values per server (2,000).
set -u
. tests/redis/lib/servers.sh

for server in $(servers); do
    relay python3 tests/redis/server_side.py "${server%%=*}" "${server#*=}" \
        "${PETAL_COMMANDS-2000}"
done
finish
