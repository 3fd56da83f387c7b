#!/bin/sh
# guard.sh MODULE [SERVER] - a filter in front of a database rejects names that do not exist before
# they cause a query ("cache penetration").
#
# Starts PostgreSQL (15 or later) with 10,000 accounts and Redis with the module, both in a
# temporary folder. Then looks up 20,000 names, half of which do not exist. PostgreSQL itself counts
# the queries. A name that exists is never rejected; a false positive costs one query.
#
# PostgreSQL refuses to run as root, so if this script runs as root, it runs PostgreSQL as the user
# postgres that Debian's package creates. SERVER is redis-server by default. Exits with status 1 if
# an account was missed.
set -eu
[ $# -ge 1 ] || { echo "usage: guard.sh MODULE [SERVER]" >&2; exit 2; }
module=$1 program=${2:-redis-server} accounts=10000
for folder in /usr/lib/postgresql/*/bin; do PATH=$PATH:$folder; done
command -v initdb >/dev/null || { echo 'guard: PostgreSQL is not installed (Debian: postgresql)' >&2; exit 2; }
[ "$(id -u)" -ne 0 ] || export TMPDIR=/tmp # which the user postgres may enter
temp=$(mktemp -d)
chmod 755 "$temp"
mkdir "$temp/redis" "$temp/pg"
as=
[ "$(id -u)" -ne 0 ] || { as='runuser -u postgres --'; chown postgres "$temp/pg"; }
server=
end() {
    # shellcheck disable=SC2086 # words
    $as pg_ctl -D "$temp/pg/data" -m immediate stop >/dev/null 2>&1 || true
    [ -z "$server" ] || { kill "$server" && wait "$server"; } 2>/dev/null || true
    rm -rf "$temp"
}
trap end EXIT
trap 'exit 130' INT TERM
cd "$temp/pg" # a folder that both users may enter

# ---- both servers --------------------------------------------------------------------------------

# shellcheck disable=SC2086 # words
start_postgres() {
    $as initdb -D "$temp/pg/data" -U guard --auth=trust --no-sync &&
        $as pg_ctl -D "$temp/pg/data" -w -l "$temp/pg/log" \
            -o "-k $temp/pg -c listen_addresses= -c fsync=off" start
}
start_postgres >"$temp/started" 2>&1 || { cat "$temp/started" >&2; exit 1; }
sql() { psql -h "$temp/pg" -U guard -d postgres -XqAt -v ON_ERROR_STOP=1 "$@"; }

"$program" --port 0 --unixsocket "$temp/redis/socket" --dir "$temp/redis" --save '' \
    --loadmodule "$module" >"$temp/redis/log" 2>&1 &
server=$!
redis() { redis-cli -s "$temp/redis/socket" "$@"; }
tries=0
until redis ping 2>/dev/null | grep -q PONG; do
    tries=$((tries + 1))
    [ "$tries" -lt 600 ] && kill -0 "$server" 2>/dev/null || { cat "$temp/redis/log" >&2; exit 1; }
    sleep 0.1
done

# ---- accounts, and the filter of their names -----------------------------------------------------

sql -c "CREATE TABLE account (name text PRIMARY KEY, since date NOT NULL);
    INSERT INTO account SELECT 'user' || to_char(2 * i, 'FM000000'), DATE '2020-01-01' + i % 2000
    FROM generate_series(0, $accounts - 1) i; ANALYZE account"
redis BF.RESERVE accounts 0.01 $accounts NONSCALING >/dev/null
sql -c 'SELECT name FROM account' >"$temp/accounts"
xargs -n 1000 redis-cli -s "$temp/redis/socket" BF.MADD accounts <"$temp/accounts" >/dev/null

# ---- looking names up ----------------------------------------------------------------------------

queries() { sql -c "SELECT idx_scan FROM pg_stat_user_tables WHERE relname = 'account'"; }
look_up() { # prints those names from stdin that are accounts; runs one query per name
    {
        echo "SET enable_seqscan = off; PREPARE find (text) AS SELECT name FROM account WHERE name = \$1;"
        sed "s/.*/EXECUTE find('&');/"
        echo 'DO $$ BEGIN PERFORM pg_stat_force_next_flush(); END $$' # otherwise the count is
                                                                      # delayed
    } | sql
}
guarded() { # the names in file $1 that may be accounts
    xargs -n 1000 redis-cli -s "$temp/redis/socket" BF.MEXISTS accounts <"$1" | paste -d ' ' - "$1" |
        sed -n 's/^1 //p'
}

awk -v n=$((2 * accounts)) 'BEGIN { for (i = 0; i < n; i++) printf "user%06d\n", i }' >"$temp/names"
began=$(queries)
look_up <"$temp/names" >"$temp/found"
between=$(queries)
guarded "$temp/names" | look_up >"$temp/found-guarded"
ended=$(queries)

all=$((between - began)) some=$((ended - between)) found=$(wc -l <"$temp/found-guarded")
size=$(redis BF.INFO accounts SIZE)
echo "$((2 * accounts)) names looked up, of which $(wc -l <"$temp/found") exist; queries that PostgreSQL counted:"
echo "  without the filter   $all"
echo "  with the filter      $some: $found accounts, and $((some - found)) false positives"
echo "  saved                $((all - some)), by a filter of $size bytes"
cmp "$temp/found" "$temp/found-guarded" >&2 && [ "$all" -eq $((2 * accounts)) ] &&
    [ "$found" -eq $accounts ] && [ "$some" -lt $((accounts + accounts / 50)) ] || {
    echo 'guard: an account was missed, or too many queries' >&2
    exit 1
}
