#!/bin/sh
# soak.sh [MINUTES] - no acknowledged item is missing from a cluster of 3 masters and 3 replicas in
# which a master is killed every 30 seconds and slots are moved, while filters grow and other keys
# are evicted. `./dev soak redis [MINUTES]` runs it for 20 minutes or the given time, ./dev nightly
# for 3. PETAL_SERVER names the server; the default is Debian's.
#
# An item is acknowledged when both BF.MADD or PETAL.MADD (with `appendfsync always`) and the WAIT 1
# after it have been answered. It is then on the master's disk, and the replica has it. No master is
# killed during a reshard, because MIGRATE doesn't wait for the target's replica.
set -u
. tests/redis/lib/servers.sh

needs redis-cli || finish
[ $# -gt 0 ] || nightly 'the soak of a cluster' || finish
case ${1-3} in full) minutes=20 ;; *) minutes=${1-3} ;; esac
relay python3 tests/redis/soak.py soak "${PETAL_SERVER-$redis7}" "$minutes"
finish
