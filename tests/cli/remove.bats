#!/usr/bin/env bats
# remove.bats - petal remove removes keys from a counting filter in place, once per occurrence, and
# reports absent keys.
load helper

# At a rate of 0.01 % with seed 0, no absent key queried in this file is a false positive.
counting() { petal create -o f.petal -n 1000 -p 0.01% --scheme counting "$@"; }

@test "removed keys are gone, the others stay, and the file is clean" {
    counting
    seq 1000 | petal add f.petal
    seq 1 300 >list
    seq 301 400 | petal remove f.petal list -
    is "$(seq 401 1000 | petal check -c f.petal)" 600
    is "$(seq 400 | petal check -c f.petal || true)" 0
    is "$(petal info --json f.petal | field items)" 600
    petal verify f.petal
}

@test "after removal, the filter equals one to which only the remaining keys were added, byte for byte" {
    counting
    seq 1000 | petal add f.petal
    seq 500 | petal remove f.petal
    mv f.petal thinned.petal
    counting
    seq 501 1000 | petal add f.petal
    is "$(petal info --json f.petal | field content_id)" "$(petal info --json thinned.petal | field content_id)"
}

@test "absent keys change nothing and are counted, with status 1" {
    counting
    seq 1000 | petal add f.petal
    run -1 --separate-stderr petal remove f.petal <<<"$(seq 991 1010)"
    is "$output" ""
    is "$stderr" "petal: f.petal: 10 of 20 keys were absent and could not be removed"
    is "$(seq 1000 | petal check -c f.petal)" 990
    before=$(petal info --json f.petal | field content_id)
    run -1 --separate-stderr petal remove f.petal <<<"$(seq 1001 1400)"
    is "$stderr" "petal: f.petal: 400 of 400 keys were absent and could not be removed"
    run -1 --separate-stderr petal remove f.petal <<<1000000
    is "$stderr" "petal: f.petal: 1 of 1 key was absent and could not be removed"
    is "$(petal info --json f.petal | field content_id)" "$before"
    run -0 --separate-stderr petal remove f.petal </dev/null
    is "$stderr" ""
}

@test "a key stays until it was removed as often as it was added, in build with -n and without" {
    seq 100 >once
    for size in "-n 100" ""; do
        petal build --force -p 0.01% --scheme counting -o f.petal $size once once
        is "$(petal info --json f.petal | field items)" 200
        petal remove f.petal once
        is "$(petal check -c f.petal once)" 100
        petal remove f.petal once
        is "$(petal info --json f.petal | field bits_set)" 0
        seq 100 | petal build --force -p 0.01% --scheme counting -o g.petal $size - once
        is "$(petal info --json g.petal | field items)" 200
    done
}

@test "a filter of another kind can't remove keys, and is not changed" {
    for scheme in blocked classic; do
        petal build -o f.petal --scheme $scheme <<<"$(seq 10)"
        refuses "f.petal: does not count its keys" petal remove f.petal -- <<<1
        is "$(seq 10 | petal check -c f.petal)" 10
        petal verify f.petal
        rm f.petal
    done
}

@test "keys can be typed, NUL-separated, with CR LF, and in a keyed filter" {
    head -c 16 /dev/urandom >secret
    counting --secret-file secret --key-type i64
    seq 100 | petal add --secret-file secret --key-type i64 f.petal
    seq 50 | sed 's/$/\r/' | petal remove --secret-file secret --key-type i64 --crlf f.petal
    seq 51 99 | tr '\n' '\0' | petal remove --secret-file secret --key-type i64 -0 f.petal
    is "$(petal check --secret-file secret --key-type i64 f.petal <<<"$(seq 100)")" 100
    refuses "needs the secret" petal remove f.petal </dev/null
}

@test "--verbose reports what was done" {
    counting
    seq 1000 | petal add f.petal
    run -0 --separate-stderr petal remove --verbose f.petal <<<"$(seq 400)"
    contains "$stderr" "petal: f.petal: 400 keys removed, 600 left, "
}

@test "saturated counters are reported when they occur, and by info" {
    counting
    run -0 --separate-stderr petal add f.petal <<<"$(yes often | head -n 14)"
    is "$stderr" ""
    contains "$(petal info f.petal)" "saturated         no counter"
    run -0 --separate-stderr petal add f.petal <<<often
    contains "$stderr" "counters are saturated and no longer count"
    contains "$(petal info f.petal)" "counters, which no longer count: removed keys may stay"
    is "$(petal info --json f.petal | field saturated_counters)" "$(petal info --json f.petal | field bits_set)"
    petal remove f.petal <<<often
    is "$(petal check f.petal -e often)" often
}

@test "info describes the counters; filters without counters have null" {
    counting
    petal create -o b.petal -n 1000
    contains "$(petal info f.petal)" "counters of 4 bits"
    contains "$(petal info f.petal)" "bytes of counters, 76.7 bits per key"
    is "$(petal info --json f.petal | field counter_bits)" 4
    is "$(petal info --json b.petal | field counter_bits)" null
    is "$(petal info --json b.petal | field saturated_counters)" null
}

@test "plan includes counting if requested, with all of its memory" {
    run -0 petal plan -n 1M -p 1% --scheme counting
    contains "$output" "counting"
    contains "$output" "38.4    7"
    classic=$(petal plan -n 1M -p 1% --scheme classic --json)
    counting=$(petal plan -n 1M -p 1% --scheme counting --json)
    is "$(field bits <<<"$counting")" "$(field bits <<<"$classic")"
    is "$(field bytes <<<"$counting")" $((($(field bits <<<"$counting") + 127) / 128 * 64))
    is "$(petal plan -n 1M --scheme counting --memory 1MiB --json | field bytes)" 1048576
}

@test "converted to classic, it equals the classic filter of the remaining keys, byte for byte" {
    counting
    seq 1000 | petal add f.petal
    seq 200 | petal remove f.petal
    petal convert f.petal c.petal --to-scheme classic
    petal create -o d.petal -n 1000 -p 0.01% --scheme classic
    seq 201 1000 | petal add d.petal
    petal convert d.petal e.petal
    cmp c.petal e.petal
}

@test "no other scheme can be converted" {
    counting
    petal create -o b.petal -n 1000
    petal create -o c.petal -n 1000 --scheme classic
    refuses "b.petal: a blocked filter has no counts to drop" petal convert b.petal x --to-scheme classic
    refuses "c.petal: a classic filter has no counts to drop" petal convert c.petal x --to-scheme classic
    refuses "unknown value 'blocked'; choose one of classic" petal convert f.petal x --to-scheme blocked
    refuses "cannot hold a counting filter" petal convert f.petal x --to guava
    refuses "cannot hold a classic filter" petal convert f.petal x --to-scheme classic --to guava
    [ ! -e x ]
}

@test "merging adds the counts" {
    counting
    cp f.petal g.petal
    seq 1 600 | petal add f.petal
    seq 401 1000 | petal add g.petal
    petal merge -o both.petal f.petal g.petal
    is "$(petal info --json both.petal | field items)" 1200
    seq 1 600 | petal remove both.petal
    is "$(petal info --json both.petal | field content_id)" "$(petal info --json g.petal | field content_id)"
    petal intersect -o common.petal f.petal g.petal
    seq 401 600 | petal remove common.petal
}

@test "--explain shows the counters" {
    petal create -o f.petal --scheme counting --bits 11 --hashes 2 --seed 197072
    printf 'a\nb\n' | petal add f.petal
    is "$(petal check --explain f.petal -e a | cut -f 3)" "counter 3 at 1, counter 5 at 2"
    is "$(petal check --explain f.petal -e b | cut -f 3)" "counter 5 at 2, counter 8 at 1"
}

@test "seen refuses a counting filter, which would count repeats" {
    counting
    refuses "f.petal: is a counting filter" petal seen -f f.petal </dev/null
    refuses "unknown value 'counting'; choose one of blocked|classic" petal seen --scheme counting </dev/null
}

@test "SIGTERM stops cleanly: keys read so far are removed, the file is clean, the status is 143" {
    counting
    seq 1000 | petal add f.petal
    mkfifo pipe
    env --default-signal=TERM "$PETAL" remove f.petal pipe 3>&- 2>message &
    remover=$! status=0
    exec 4<>pipe
    seq 100 >&4
    wait_until is_being_changed f.petal
    kill -s TERM $remover
    wait $remover || status=$?
    exec 4>&-
    is $status 143
    is "$(cat message)" "petal: f.petal: stopped after removing 100 keys"
    is "$(seq 1000 | petal check -c f.petal)" 900
    petal verify f.petal
}

@test "after a kill -9, the keys that were not removed are present, and recovery says what not to do" {
    counting
    seq 1000 | petal add f.petal
    mkfifo pipe
    "$PETAL" remove f.petal pipe 3>&- &
    remover=$!
    exec 4<>pipe
    seq 100 >&4
    wait_until is_being_changed f.petal
    kill -9 $remover
    wait $remover || true
    exec 4>&-
    refuses "f.petal: dirty" petal remove f.petal </dev/null
    run -0 --separate-stderr petal verify --recover f.petal
    contains "$stderr" "do not remove them again"
    is "$(seq 101 1000 | petal check -c f.petal)" 900
    petal verify f.petal
}

@test "keys before an invalid line are removed, and the file is clean" {
    counting --key-type i64
    seq 4 | petal add f.petal
    printf '1\n2\nthree\n4\n' >numbers
    run -2 --separate-stderr petal remove --key-type i64 f.petal numbers
    is "${stderr_lines[0]}" 'petal: numbers: line 3: not a whole number: "three"'
    contains "${stderr_lines[1]}" "the 2 keys before that were removed"
    run -2 --separate-stderr petal remove --key-type i64 f.petal -e three
    [[ $stderr != *"before that"* ]] || fail "no key was before that: $stderr"
    is "$(seq 4 | petal check --key-type i64 f.petal | paste -sd' ')" "3 4"
    petal verify f.petal
}

@test "misuse is reported, and nothing is changed" {
    counting
    seq 10 | petal add f.petal
    refuses "needs a filter FILE" petal remove
    refuses "none.petal: cannot open it" petal remove none.petal </dev/null
    refuses "missing: cannot open it: No such file or directory" petal remove f.petal missing
    refuses "f.petal: is read from as well" petal remove f.petal f.petal
    is "$(seq 10 | petal check -c f.petal)" 10
}

@test "with several threads, the same keys are removed" {
    petal build -o f.petal --scheme counting -n 200000 -p 0.01% <<<"$(seq 200000)"
    cp f.petal g.petal
    seq 1 2 200000 >odd
    petal remove --threads 1 f.petal odd
    petal remove --threads 4 g.petal odd
    cmp f.petal g.petal
    is "$(petal info --json f.petal | field items)" 100000
}

@test "counting filters are compared by the keys in them, and can be templates" {
    seq 1000 | petal build -o all.petal -n 1000 -p 0.01% --scheme counting
    seq 501 1500 | petal build --template all.petal -o part.petal
    seq 501 1500 | petal add part.petal # every key is added twice, but the set stays the same
    is "$(petal info --json part.petal | field scheme)" counting
    in_both=$(petal compare --json all.petal part.petal | field intersection)
    [ "${in_both%.*}" -gt 480 ] && [ "${in_both%.*}" -lt 520 ]
    for _ in 1 2; do seq 501 1000 | petal remove part.petal; done
    in_both=$(petal compare --json all.petal part.petal | field intersection)
    [ "${in_both%.*}" -lt 30 ]
}

@test "a filter is overfull until enough keys have been removed" {
    petal create -o f.petal -n 1000 --scheme counting
    run -0 --separate-stderr petal add f.petal <<<"$(seq 1500)"
    [[ $stderr == "petal: f.petal: holds 1,5"*"planned for 1,000"* ]]
    is "$(petal info --json f.petal | field overfull)" true
    seq 600 | petal remove f.petal
    is "$(petal info --json f.petal | field overfull)" false
    run -0 --separate-stderr petal add f.petal <<<1500
    is "$stderr" ""
}
