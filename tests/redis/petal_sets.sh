#!/bin/sh
# PETAL.* works as Redis users expect: growing and full filters, windows that forget when they are
# queried, merging, BF.EXISTS, counts, categories. Random commands on filters with different
# parameters are compared with sets, including on a replica and after loading the AOF.
#
# PETAL_COMMANDS: the number of random commands per server (3,000; ./dev nightly: 60,000).
set -u
. tests/redis/lib/servers.sh

if [ -n "${PETAL_NIGHTLY-}" ]; then count=60000; else count=3000; fi
for server in $(servers); do
    relay python3 tests/redis/petal_sets.py "${server%%=*}" "${server#*=}" \
        "${PETAL_COMMANDS-$count}"
done
finish
