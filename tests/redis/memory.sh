#!/bin/sh
# Tests how much memory a server uses. The child process that saves a large filter needs no
# additional memory, and RESTORE needs only the payload and the filter. Creating and deleting
# filters leaks nothing. Defragmentation moves filters.
#
# PETAL_MIB: size of the large filter (256). PETAL_FILTERS: the number of filters created and
# deleted (100,000; ./dev nightly: 1,000,000).
set -u
. tests/redis/lib/servers.sh

if [ -n "${PETAL_NIGHTLY-}" ]; then count=1000000; else count=100000; fi
for server in $(servers); do
    relay python3 tests/redis/memory.py "${server%%=*}" "${server#*=}" "${PETAL_MIB-256}" \
        "${PETAL_FILTERS-$count}"
done
finish
