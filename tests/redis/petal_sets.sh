#!/bin/sh
# Tests that PETAL.* commands work as Redis users expect: growing and full filters, windows that
# forget keys when they are queried, merging, BF.EXISTS, counts and categories. The results of
# random commands on filters with different parameters are compared with sets, including on a
# replica and after loading the AOF.
#
# PETAL_COMMANDS is the number of random commands per server (by default 3,000; in ./dev nightly,
# 60,000).
set -u
. tests/redis/lib/servers.sh

if [ -n "${PETAL_NIGHTLY-}" ]; then count=60000; else count=3000; fi
for server in $(servers); do
    relay python3 tests/redis/petal_sets.py "${server%%=*}" "${server#*=}" \
        "${PETAL_COMMANDS-$count}"
done
finish
