#!/bin/sh
# soak.sh [MINUTES] - tests that no acknowledged item is lost in a cluster of 3 masters and 3
# replicas while a master is killed every 30 seconds, slots are moved, filters grow and other keys
# are evicted. `./dev soak redis [MINUTES]` runs this test for 20 minutes or the given time, and
# ./dev nightly runs it for 3 minutes. PETAL_SERVER names the server; the default is Debian's.
#
# An item is acknowledged when the server has replied to both the BF.MADD or PETAL.MADD (with
# `appendfsync always`) and the WAIT 1 that follows it. The item is then on the master's disk and on
# the replica. No master is killed during resharding, because MIGRATE doesn't wait for the target's
# replica.
set -u
. tests/redis/lib/servers.sh

needs redis-cli || finish
[ $# -gt 0 ] || nightly 'the soak of a cluster' || finish
case ${1-3} in full) minutes=20 ;; *) minutes=${1-3} ;; esac
relay python3 tests/redis/soak.py soak "${PETAL_SERVER-$redis7}" "$minutes"
finish
