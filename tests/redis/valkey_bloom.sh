#!/bin/sh
# Tests valkey-bloom 1.0 filters in the module: options, arguments, replies and messages, files
# created by valkey-bloom's crates (read through BF.LOAD, RDB values and AOF files), growth,
# replicas, COPY, limits, and the commands in docs/redis/from-valkey-bloom.md. Corrupted values must
# be either refused or usable.
#
# PETAL_COMMANDS is the number of corrupted values per server (by default 2,000; in ./dev nightly,
# 100,000 in total).
set -u
. tests/redis/lib/servers.sh

needs redis-cli || finish
if [ -n "${PETAL_NIGHTLY-}" ]; then count=34000; else count=2000; fi
for server in $(servers); do
    relay python3 tests/redis/valkey_bloom.py "${server%%=*}" "${server#*=}" \
        "${PETAL_COMMANDS-$count}"
done
finish
