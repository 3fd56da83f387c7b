#!/bin/sh
# What a server does with filters beside commands: replication, persistence, events, COPY, digests,
# memory, options; and corrupt values with valid checksums are refused or usable.
#
# PETAL_COMMANDS: how many corrupt values (2,000; 34,000 per server if all is installed).
set -u
. tests/redis/lib/servers.sh

if [ -n "${PETAL_INSTALL-}" ]; then count=${PETAL_COMMANDS-34000}; else count=${PETAL_COMMANDS-2000}; fi
for server in $(servers); do
    relay python3 tests/redis/server_side.py "${server%%=*}" "${server#*=}" "$count"
done
finish
