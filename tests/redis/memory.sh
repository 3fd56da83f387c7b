#!/bin/sh
# Tests how much memory a server uses. The child process that saves a large filter must need no
# additional memory, and RESTORE must need only the payload and the filter. Creating and deleting
# filters must not leak memory. Defragmentation must move filters.
#
# PETAL_MIB is the size of the large filter in MiB (by default 256). PETAL_FILTERS is the number of
# filters created and deleted (by default 100,000; in ./dev nightly, 1,000,000).
set -u
. tests/redis/lib/servers.sh

if [ -n "${PETAL_NIGHTLY-}" ]; then count=1000000; else count=100000; fi
for server in $(servers); do
    relay python3 tests/redis/memory.py "${server%%=*}" "${server#*=}" "${PETAL_MIB-256}" \
        "${PETAL_FILTERS-$count}"
done
finish
