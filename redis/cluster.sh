#!/bin/sh
# cluster.sh MODULE [SERVER] - starts a cluster of 3 masters and 3 replicas on loopback, and
# distributes a set over it by Petal's sharding rule. Moves 2,000 slots, kills a master, and checks
# that no key is missing.
#
# A set that is too large for one server becomes N filters NAME:{0} .. NAME:{N-1}. A key goes into
# its shard's filter (petal_shard_of(), `petal shard`, and petal.shard_of() in Python all compute
# the same shard). Needs redis-cli and petal; SERVER is redis-server by default. Exits with status 1
# if a key is missing. All files are in a temporary folder, which is removed at the end.
set -eu
[ $# -ge 1 ] || { echo "usage: cluster.sh MODULE [SERVER]" >&2; exit 2; }
module=$1 program=${2:-redis-server} shards=12 keys=60000
temp=$(mktemp -d)
pids=
end() {
    for pid in $pids; do kill -9 "$pid" 2>/dev/null || true; done
    wait 2>/dev/null || true
    rm -rf "$temp"
}
trap end EXIT
trap 'exit 130' INT TERM

say() { printf '\n%s\n' "$*"; }
die() { echo "cluster: $*" >&2; exit 1; }
patiently() { # patiently WHAT COMMAND...: repeats COMMAND until it succeeds, for at most a minute
    what=$1
    shift
    for _ in $(seq 600); do
        if "$@"; then return; fi
        sleep 0.1
    done
    die "never: $what"
}

# ---- six servers ---------------------------------------------------------------------------------

first=$((10000 + $$ % 10000)) # cluster bus ports are 10000 higher; these are below client ports
ports=
for at in 0 1 2 3 4 5; do ports="$ports $((first + at))"; done
for port in $ports; do
    mkdir "$temp/$port"
    "$program" --port "$port" --dir "$temp/$port" --save '' --cluster-enabled yes \
        --cluster-node-timeout 5000 --repl-diskless-sync-delay 0 --bind 127.0.0.1 \
        --enable-debug-command yes --loadmodule "$module" >"$temp/$port/log" 2>&1 &
    eval "pid_$port=$!"
    pids="$pids $!"
done
cli() { redis-cli -h 127.0.0.1 -p "$@" 2>/dev/null; }
is_up() { [ "$(cli "$1" ping)" = PONG ]; }
for port in $ports; do patiently "a server at $port" is_up "$port"; done
nodes=
for port in $ports; do nodes="$nodes 127.0.0.1:$port"; done
# shellcheck disable=SC2086 # words
redis-cli --cluster create $nodes --cluster-replicas 1 --cluster-yes >"$temp/created" ||
    { cat "$temp/created" >&2; exit 1; }
is_ok() { cli "$1" cluster info | grep -q 'cluster_state:ok'; }
for port in $ports; do patiently 'the cluster is ready' is_ok "$port"; done
say "3 masters and 3 replicas at ports$ports"

# ---- a filter of $shards shards ------------------------------------------------------------------

awk -v n=$keys 'BEGIN { for (i = 0; i < n; i++) print "https://a.example/" i }' >"$temp/keys"
petal shard -n $shards -o "$temp/shard-%d" "$temp/keys"
numbers=$(awk -v n=$shards 'BEGIN { while (i < n) print i++ }')
in_cluster() { redis-cli -c -h 127.0.0.1 -p "$first" "$@"; }
# Each shard has room for its share of the keys plus 6 standard deviations.
room=$(awk -v n=$keys -v s=$shards 'BEGIN { printf "%d", n / s + 6 * sqrt(n / s) + 1 }')
for shard in $numbers; do
    in_cluster BF.RESERVE "crawled:{$shard}" 0.01 "$room" >/dev/null
    xargs -n 1000 redis-cli -c -h 127.0.0.1 -p "$first" BF.MADD "crawled:{$shard}" \
        <"$temp/shard-$shard" >/dev/null
done

missing() { # counts keys that are not found, or all of them if a shard's server doesn't answer
    for shard in $numbers; do
        xargs -n 1000 redis-cli -c -h 127.0.0.1 -p "$1" BF.MEXISTS "crawled:{$shard}" \
            <"$temp/shard-$shard"
    done 2>/dev/null | awk -v n=$keys '{ found += $1 == 1 } END { print n - found }'
}
say "$keys keys in $shards filters of $room keys each; missing: $(missing "$first")"
[ "$(missing "$first")" -eq 0 ] || exit 1

filters=$(for shard in $numbers; do printf 'crawled:{%s} ' "$shard"; done)
digests() { # for all filters on all servers that answer; a cluster doesn't redirect DEBUG
    for port in $ports; do
        # shellcheck disable=SC2086 # words
        cli "$port" debug digest-value $filters || true
    done | grep -v '^0*$' | sort
}
# Each filter must be on a master and on its replica, with equal bits.
by_twos() { [ "$(digests | uniq -c | awk '$1 == 2' | wc -l)" -eq "$shards" ]; }
patiently 'the replicas hold the filters' by_twos
bits=$(digests | uniq)

# ---- moving slots --------------------------------------------------------------------------------

masters() { cli "$first" cluster nodes | awk '/master/ && NF > 8'; } # those with slots
master_of() { masters | awk -v nth="$1" 'NR == nth { print $1 }'; }
redis-cli --cluster reshard "127.0.0.1:$first" --cluster-from "$(master_of 1)" \
    --cluster-to "$(master_of 2)" --cluster-slots 2000 --cluster-yes >"$temp/moved" ||
    { tail "$temp/moved" >&2; exit 1; }
say "2,000 slots moved; missing: $(missing "$first")"
[ "$(missing "$first")" -eq 0 ] || exit 1

# ---- kill -9 -------------------------------------------------------------------------------------

# Only replicas that have the keys can take over.
patiently 'the replicas hold the filters' by_twos
[ "$(digests | uniq)" = "$bits" ] || die 'the bits are not those of before'
killed=$(masters | awk '!/myself/ { split($2, at, "[:@]"); print at[2]; exit }')
eval "kill -9 \"\$pid_$killed\""
took_over() { [ "$(missing "$first")" -eq 0 ]; }
patiently 'a replica takes over' took_over
is_ok "$first" || die 'the cluster is not ok'
[ "$(digests | uniq)" = "$bits" ] || die 'the bits are not those of before'
say "kill -9 of the master at $killed; a replica took over; missing: $(missing "$first")"
