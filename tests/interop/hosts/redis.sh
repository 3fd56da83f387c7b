# redis.sh - queries the keys with the module in Debian's Redis; see hosts.sh.
name=Redis
prepare() {
    needs redis-server python3 || return 1
    [ -e "$PETAL_BUILD_DIR/redis/petal.so" ]
}
ask() {
    module=$PETAL_BUILD_DIR/redis/petal.so PYTHONPATH=tests/redis/lib \
        python3 -B "$hosts/redis.py" "$@"
}
