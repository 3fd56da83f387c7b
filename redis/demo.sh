#!/bin/sh
# demo.sh BUILD_DIR - starts a server with the module in a temporary folder, and runs ten commands.
#
# Every line that starts with $ is run exactly as shown. The server listens on a socket in that
# folder, and stops when this script ends. `./dev redis` builds the module and calls this.
set -eu
[ $# -eq 1 ] || { echo "usage: demo.sh BUILD_DIR (the folder that holds redis/petal.so)" >&2; exit 2; }
module=$(cd "$1/redis" && pwd)/petal.so
[ -f "$module" ] || { echo "demo: no $module" >&2; exit 2; }
temp=$(mktemp -d)
server=
trap '[ -z "$server" ] || { kill "$server" && wait "$server"; } 2>/dev/null; rm -rf "$temp"' EXIT
trap 'exit 130' INT TERM

redis-server --port 0 --unixsocket "$temp/socket" --dir "$temp" --save '' \
    --enable-debug-command yes --loadmodule "$module" >"$temp/log" 2>&1 &
server=$!
tries=0
until redis-cli -s "$temp/socket" ping 2>/dev/null | grep -q PONG; do
    tries=$((tries + 1))
    [ "$tries" -lt 100 ] && kill -0 "$server" 2>/dev/null || { cat "$temp/log" >&2; exit 1; }
    sleep 0.1
done

show() {
    printf '$ redis-cli %s\n' "$*"
    eval "redis-cli -s '$temp/socket' $*"
}
echo "redis-server with --loadmodule $module"
echo
show BF.RESERVE crawled 0.01 1000000
show BF.ADD crawled https://example.com/
show BF.MADD crawled https://example.com/ https://example.net/
show BF.EXISTS crawled https://example.net/
show BF.MEXISTS crawled https://example.net/ https://example.org/
show BF.INFO crawled
show COPY crawled yesterday
show DEBUG DIGEST-VALUE crawled yesterday
show MEMORY USAGE crawled
show INFO bf
