#!/bin/sh
# Filters of valkey-bloom 1.0 in the module: its options, words, replies and texts; files made by
# its crates, through BF.LOAD, RDB values and AOF files; growth, replicas, COPY; its limits; the
# commands of docs/redis/from-valkey-bloom.md. Corrupted values are refused or usable.
#
# PETAL_COMMANDS: how many corrupt values per server (2,000; ./dev nightly gives 100,000 in all).
set -u
. tests/redis/lib/servers.sh

needs redis-cli || finish
if [ -n "${PETAL_NIGHTLY-}" ]; then count=34000; else count=2000; fi
for server in $(servers); do
    relay python3 tests/redis/valkey_bloom.py "${server%%=*}" "${server#*=}" \
        "${PETAL_COMMANDS-$count}"
done
finish
