#!/bin/sh
# Tests every BF.* command in each server: replies in RESP2 and RESP3, errors, limits and
# description.
set -u
. tests/redis/lib/servers.sh

for server in $(every_server); do
    relay python3 tests/redis/conformance.py "${server%%=*}" "${server#*=}"
done
finish
