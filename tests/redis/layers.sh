#!/bin/sh
# Tests that filters with many layers (RedisBloom's, up to the last possible layer, and chains of
# thousands of layers) can be saved and loaded through RDB files, rewritten AOF files, replicas,
# DUMP, COPY and BF.SCANDUMP. No filter may be refused or lose an item.
set -u
. tests/redis/lib/servers.sh

for server in $(servers); do
    relay python3 tests/redis/layers.py "${server%%=*}" "${server#*=}" 5000
done
finish
