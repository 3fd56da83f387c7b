#!/bin/sh
# Filters with many layers (RedisBloom's, up to their last layer, and chains of thousands) are saved
# and loaded through RDB files, rewritten AOF files, replicas, DUMP, COPY and BF.SCANDUMP. None is
# refused, and none loses an item.
set -u
. tests/redis/lib/servers.sh

for server in $(servers); do
    relay python3 tests/redis/layers.py "${server%%=*}" "${server#*=}" 5000
done
finish
