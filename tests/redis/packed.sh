#!/bin/sh
# Tests examples/packed: packed batches from Python, Go and JavaScript, sent with third-party
# clients, give the same results as single items.
set -u
. tests/redis/lib/servers.sh

needs redis-cli python3 go node npm || finish
may_install redis-js-1 'clients of Go and JavaScript' redis/ || finish
address=
start() { # start SERVER
    address=127.0.0.1:$(python3 -c 'from servers import free_port; print(free_port())')
    "$1" --bind 127.0.0.1 --port "${address#*:}" --save '' --dir "$TMPDIR" --loadmodule "$module" \
        >"$TMPDIR/log" 2>&1 &
    server=$!
    tries=0
    until cli ping | grep -q PONG; do
        tries=$((tries + 1))
        [ $tries -lt 600 ] && kill -0 "$server" || { cat "$TMPDIR/log"; return 1; }
        sleep 0.1
    done 2>/dev/null
}
cli() { redis-cli -p "${address#*:}" "$@"; }
trap '[ -z "${server-}" ] || kill "$server" 2>/dev/null' EXIT
some() { awk -v host="$1" 'BEGIN { while (i < 3000) print "https://" host ".example/" i++ }'; }
ones() { xargs -n 100 redis-cli -p "${address#*:}" "$1" crawled | grep -cx 1; }
one_by_one() {
    cli PETAL.RESERVE crawled 0.01 1000 >/dev/null
    new=$(some a | ones PETAL.MADD)
    echo "$new of 3000 were new; found $(some a | ones PETAL.MEXISTS), and $(some b | ones PETAL.MEXISTS) others"
}
agrees() { # agrees COMMAND...
    cli flushall >/dev/null
    said=$("$@" "$address") && echo "$said" && [ "$said" = "$wanted" ]
}

ok 'a server starts' start "$redis7"
wanted=$(one_by_one)
ok "one by one: $wanted" expr "$wanted" : '2[89][0-9]* of 3000 were new; found 3000, and [0-9]\{1,2\} others$'
[ -z "$redisbloom" ] || ok 'Python, redis-py' agrees python3 examples/packed/packed.py
! go_program redis-go-1 github.com/redis/go-redis/v9@v9.0.5 examples/packed/packed.go ||
    ok 'Go, go-redis' agrees "$program"
! node_packages redis-js-1 ioredis@5.4.1 || ok 'JavaScript, ioredis' agrees node examples/packed/packed.js
finish
