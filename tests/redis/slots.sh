#!/bin/sh
# Tests CLUSTER MIGRATESLOTS (Valkey 9): slots with filters of every kind are moved from one master
# to another and back while clients write. No acknowledged key may be missing.
set -u
. tests/redis/lib/servers.sh

[ -n "$valkey" ] || {
    skip 'Valkey' 'not installed: ./dev test --all or ./dev test redis/ installs it'
    finish
}
relay python3 tests/redis/slots.py valkey-9.1 "$valkey"
finish
