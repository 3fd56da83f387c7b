#!/usr/bin/env bats
# add.bats - petal add changes a file in place, and an interrupted change is never mistaken for a
# complete one.
load helper

@test "after adding, old and new keys are in the filter, and the file is clean" {
    petal create -o f.petal -n 1000
    seq 1 100 | petal add f.petal
    seq 101 200 | petal add f.petal -
    seq 201 300 >more
    petal add f.petal more /dev/null
    is "$(seq 300 | petal check -c f.petal)" 300
    is "$(petal info --json f.petal | field items)" 300
    petal verify f.petal
}

@test "adding keys in parts gives the same bits as adding all of them together" {
    petal create -o one.petal -n 1000
    petal create -o two.petal -n 1000
    seq 1000 | petal add one.petal
    seq 501 1000 | petal add two.petal
    seq 1 500 | petal add two.petal
    is "$(petal info --json one.petal | field content_id)" "$(petal info --json two.petal | field content_id)"
}

@test "if a filter is filled beyond its plan, one message says so, with the rate" {
    petal create -o f.petal -n 1000 -p 1%
    run -0 --separate-stderr petal add f.petal <<<"$(seq 900)"
    is "$stderr" ""
    run -0 --separate-stderr petal add f.petal <<<"$(seq 901 2000)"
    is "${#stderr_lines[@]}" 1
    contains "$stderr" "petal: f.petal: holds 2,0"
    contains "$stderr" "keys, planned for 1,000: rate now 1"
    contains "$stderr" "%, planned 1 %; plan a larger one"
}

@test "repeats of planned keys do not overfill the filter" {
    petal create -o f.petal -n 1000 -p 1%
    for i in 1 2 3; do
        run -0 --separate-stderr petal add f.petal <<<"$(seq 1000)"
        is "$stderr" ""
    done
    is "$(petal info --json f.petal | field items)" 3000
}

@test "a filter with all bits set is called full; no number is infinite" {
    petal create -o f.petal --scheme classic --bits 8 --hashes 1 -n 3
    run -0 --separate-stderr petal add f.petal <<<"$(seq 1000)"
    contains "$stderr" "every bit is set"
    run -0 petal info f.petal
    contains "$output" "every bit is set"
    is "$(petal info --json f.petal | field estimated_items)" null
    is "$(petal info --json f.petal | field saturated)" true
}

@test "if a writer is killed with kill -9 after its first store, the file is dirty and never looks clean" {
    petal create -o f.petal -n 100000
    seq 1000 | petal add f.petal
    mkfifo pipe
    "$PETAL" add f.petal pipe 3>&- &
    writer=$!
    exec 4<>pipe
    seq 1001 10000 >&4
    wait_until is_being_changed f.petal
    kill -9 $writer
    wait $writer || true
    exec 4>&-
    run -1 --separate-stderr petal info f.petal
    contains "$stderr" "f.petal: dirty"
    contains "$output" "petal 1, dirty; this is what petal verify --recover f.petal would keep"
    contains "$output" "of 100,000 planned"
    refuses "f.petal: dirty" petal check f.petal -e 1
    refuses "f.petal: dirty" petal add f.petal </dev/null
    finds "petal verify --recover" petal verify f.petal
    run -0 --separate-stderr petal verify --recover f.petal
    contains "$stderr" "recovered"
    is "$(seq 1000 | petal check -c f.petal)" 1000
    petal verify f.petal
}

@test "a second writer is refused while the first is at work" {
    petal create -o f.petal -n 1000
    mkfifo pipe
    "$PETAL" add f.petal pipe 3>&- &
    writer=$!
    exec 4<>pipe
    seq 100 >&4
    wait_until is_being_changed f.petal
    run -3 --separate-stderr petal add f.petal </dev/null
    contains "$stderr" "f.petal: busy: another process is changing it; try again when it has finished"
    exec 4>&-
    wait $writer
    is "$(seq 100 | petal check -c f.petal)" 100
}

# stopped_by SIGNAL: starts a writer that waits for input, sends it the signal, and prints its exit
# status.
stopped_by() {
    petal create --force -o f.petal -n 1000
    [ -p pipe ] || mkfifo pipe
    env --default-signal="$1" "$PETAL" add f.petal pipe 3>&- 2>message &
    local writer=$! status=0
    exec 4<>pipe
    seq 100 >&4
    wait_until is_being_changed f.petal
    kill -s "$1" $writer
    wait $writer || status=$?
    exec 4>&-
    echo $status
}

@test "SIGINT, SIGTERM and SIGHUP stop cleanly: keys read so far are kept, the file is clean, the status is 128 + the signal" {
    for signal in INT:130 TERM:143 HUP:129; do
        is "$(stopped_by ${signal%:*})" ${signal#*:}
        is "$(seq 100 | petal check -c f.petal)" 100
        petal verify f.petal
        is "$(cat message)" "petal: f.petal: stopped after adding 100 keys"
    done
}

@test "keys before an invalid line are added, and the file is clean" {
    petal create -o f.petal -n 1000 --key-type i64
    printf '1\n2\nthree\n4\n' >numbers
    run -2 --separate-stderr petal add f.petal numbers
    is "${stderr_lines[0]}" 'petal: numbers: line 3: not a whole number: "three"'
    contains "${stderr_lines[1]}" "the 2 keys before that are in"
    is "$(petal check --key-type i64 -c f.petal -e 1 -e 2)" 2
    petal verify f.petal
}

@test "a missing key file is reported before anything is added" {
    petal create -o f.petal -n 1000
    echo a >a
    refuses "missing: cannot open it: No such file or directory; if it is a key, pass it with -e" petal add f.petal a missing
    is "$(petal info --json f.petal | field items)" 0
}

@test "the filter can't be its own list of keys" {
    petal create -o f.petal -n 1000
    refuses "f.petal: is read from as well" petal add f.petal f.petal
    petal verify f.petal
}

@test "a read-only file is not changed" {
    petal create -o f.petal -n 1000
    chmod 444 f.petal
    if [ "$(id -u)" -eq 0 ]; then
        setpriv --bounding-set=-all --inh-caps=-all true 2>/dev/null || skip "this machine's root writes everything, and cannot give that up"
        refuses "f.petal: cannot open it: Permission denied" setpriv --bounding-set=-all --inh-caps=-all "$PETAL" add f.petal </dev/null
    else
        refuses "f.petal: cannot open it: Permission denied" petal add f.petal </dev/null
    fi
}
