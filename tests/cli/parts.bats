#!/usr/bin/env bats
# parts.bats - tests large sets in parts: filters built in parallel from a template merge to the
# same bytes as a single build, and petal shard splits keys the same way on every machine.
load helper

@test "eight parts, built by eight processes and merged, equal the single build byte for byte" {
    make_urls
    awk '{ print > ("part." NR % 8) }' urls.txt
    for kind in '-p 1%' '-p 0.001%' '--scheme classic' '--seed 42'; do
        petal create -n 30000 $kind --force -o template.petal
        for i in 0 1 2 3 4 5 6 7; do
            petal build --template template.petal --force -o $i.petal part.$i &
        done
        wait
        petal merge --force -o merged.petal [0-7].petal
        petal build -n 30000 $kind --force -o single.petal urls.txt
        cmp merged.petal single.petal || fail "differs: $kind"
        petal merge --force -o backwards.petal {7,3,5,1,6,0,2,4}.petal
        cmp backwards.petal single.petal || fail "differs backwards: $kind"
    done
    petal verify single.petal --present urls.txt
}

@test "capacity, rate, seed and secret come from the template, but its keys and metadata do not" {
    head -c 16 /dev/zero >secret
    seq 100 | petal build -n 1000 -p 0.1% --scheme classic --secret-file secret --metadata old \
        -o t.petal
    petal create --template t.petal --secret-file secret -o o.petal
    for name in scheme hash bits hashes capacity target_rate secret_id seed; do
        is "$(petal info --secret-file secret --json o.petal | field $name)" "$(petal info --secret-file secret --json t.petal | field $name)"
    done
    is "$(petal info --secret-file secret --json o.petal | field bits_set)" 0
    is "$(petal info --secret-file secret --json o.petal | field metadata)" null
    petal create --template t.petal --secret-file secret --metadata new -o m.petal
    is "$(petal info --secret-file secret --metadata m.petal)" new
}

@test "a template in another library's format makes a file in that format" {
    seq 100 | petal build --to redisbloom -n 1000 -p 1% -o t.bloom
    seq 200 | petal build --template t.bloom -o o.bloom 2>/dev/null
    is "$(petal info --from redisbloom --json o.bloom | field format)" redisbloom
    is "$(seq 200 | petal check --from redisbloom -c o.bloom)" 200
    is "$(petal info --from redisbloom --json o.bloom | field bits)" "$(petal info --from redisbloom --json t.bloom | field bits)"
}

@test "options that contradict the template are refused" {
    petal create -n 1000 -o t.petal
    for option in '-n 5' '-p 1%' '--memory 1M' '--bits 512' '--hashes 3' '--lines-per-key 2'; do
        refuses "--template fixes the size" petal create --template t.petal $option -o o.petal
        refuses "--template fixes the size" petal build --template t.petal $option -o o.petal /dev/null
    done
    for option in '--scheme classic' '--seed 4' '--to guava'; do
        refuses "--template fixes the kind" petal create --template t.petal $option -o o.petal
    done
    refuses "missing: cannot open it" petal create --template missing -o o.petal
    [ ! -e o.petal ]
}

# ---- shards

@test "each key has the shard of the rule, as in the vectors" {
    grep -v '^#' "$PETAL_ROOT/vectors/shards/shards.txt" | while read -r key _ shards shard; do
        [ "$key" != - ] || key=
        is "$(echo "$key" | petal shard --key-type hex -n "$shards")" "$shard"$'\t'"$key"
    done
}

@test "shard numbers before the keys, the keys of one shard, and a file per shard agree" {
    make_urls
    petal shard -n 8 urls.txt >numbered
    is "$(cut -f2- numbered | cmp - urls.txt)" ""
    petal shard -n 8 -o part-%d.txt urls.txt
    for i in 0 1 2 3 4 5 6 7; do
        awk -F'\t' -v i=$i '$1 == i' numbered | cut -f2- >expected
        cmp expected part-$i.txt
        petal shard -n 8 -i $i urls.txt | cmp - expected
    done
    is "$(ls | wc -l)" 11
}

@test "a set in eight shards misses no key and keeps its rate" {
    make_urls
    petal shard -n 8 -o part-%d.txt urls.txt
    seq 1 80000 | sed 's,^,https://elsewhere.example/,' >absent.txt
    petal shard -n 8 -o absent-%d.txt absent.txt
    passed=0
    for i in 0 1 2 3 4 5 6 7; do
        petal build -o $i.petal part-$i.txt
        is "$(petal check -v -c $i.petal part-$i.txt || true)" 0
        passed=$((passed + $(petal check -c $i.petal absent-$i.txt)))
    done
    # at most 1 % of 80,000 keys plus 5 standard deviations
    [ $passed -gt 650 ] && [ $passed -le $((800 + 5 * 29)) ] || fail "$passed pass"
}

@test "keyed sets are sharded with their secret" {
    head -c 16 /dev/zero >secret
    seq 1000 >keys
    petal shard -n 8 keys >open
    petal shard -n 8 --secret-file secret keys >closed
    petal shard -n 8 --secret-file secret keys | cmp - closed
    ! cmp -s open closed
    is "$(cut -f1 closed | sort -u | tr -d '\n')" 01234567
}

@test "separators and key types work as in the other commands" {
    printf 'a\nb\0c\0' | petal shard -0 -n 1000 | tr '\0\n' '\n_' >nul
    is "$(cut -f2 nul | paste -sd,)" "a_b,c"
    is "$(echo 0061 | petal shard --key-type hex -n 1000)" "$(printf '\0a\n' | petal shard -n 1000 | sed 's/\t.*/\t0061/')"
    is "$(petal shard -n 4 </dev/null)" ""
}

@test "options that make no sense are refused, and nothing is written" {
    refuses "needs -n N" petal shard /dev/null
    refuses "numbered from 0 to 7" petal shard -n 8 -i 8 /dev/null
    refuses "give one of them" petal shard -n 8 -i 1 -o p-%d /dev/null
    refuses "needs one %d" petal shard -n 8 -o part /dev/null
    refuses "needs one %d" petal shard -n 8 -o part-%s /dev/null
    refuses "needs one %d" petal shard -n 8 -o %d-%d /dev/null
    refuses "at most 4096 files" petal shard -n 5000 -o p-%d /dev/null
    refuses "at most 4294967295 shards" petal shard -n 5G /dev/null
    refuses "missing: cannot open it" petal shard -n 8 -o p-%d missing
    is "$(ls)" ""
    echo old >p-3
    refuses "p-3: exists; --force" petal shard -n 8 -o p-%d /dev/null
    is "$(ls)" p-3
    seq 100 | petal shard -n 8 --force -o p-%d
    is "$(ls | wc -l)" 8
    is "$(cat p-* | sort -n | paste -sd,)" "$(seq 100 | paste -sd,)"
    refuses "p-3: is read from as well" petal shard -n 8 --force -o p-%d p-3
}

@test "an invalid line stops the command, and leaves no file" {
    printf '1\n2\nx\n' >keys
    refuses "keys" petal shard --key-type i64 -n 4 -o p-%d keys
    is "$(ls)" keys
}

@test "a full disk stops the command, and leaves no file" {
    seq 200000 >keys
    run -2 --separate-stderr bash -c 'ulimit -f 100; exec "$1" shard -n 4 -o p-%d keys' bash "$PETAL"
    contains "$stderr" "p-%d: cannot write it: File too large"
    is "${#stderr_lines[@]}" 1
    is "$(ls)" keys
}

@test "a signal stops the command, and leaves no file" {
    mkfifo pipe
    "$PETAL" shard -n 4 -o p-%d pipe 3>&- &
    pid=$!
    exec 4<>pipe
    seq 10 >&4
    wait_until eval 'ls p-3.tmp-* >/dev/null 2>&1'
    kill -TERM $pid
    status=0
    wait $pid || status=$?
    exec 4>&-
    is "$status" 143
    is "$(ls p-* 2>/dev/null)" ""
}
