#!/usr/bin/env bats
# delivery.bats - petal seen -f remembers which lines were delivered: a second run prints only the
# undelivered lines.
load helper

# Creates enough lines to fill several blocks.
setup() {
    mkdir "$BATS_TEST_TMPDIR/here" && cd "$BATS_TEST_TMPDIR/here" || return
    seq 100000 200000 >lines
}

# Prints the number of unread bytes in the pipe on standard input (Linux only).
unread() { perl -e '$n = pack "i", 0; ioctl(STDIN, 0x541B, $n) or die; print unpack "i", $n'; }

# fail_at KIB OPTION...: runs petal seen with a file size limit, which acts like a full disk, and
# prints the exit status. Create s.petal first, so that only the output reaches the limit.
fail_at() {
    local status=0 limit=$1
    shift
    (
        ulimit -f "$limit"
        exec "$PETAL" seen -f s.petal "$@" >out 2>message
    ) || status=$?
    echo $status
}

@test "if the output is full, exactly the lines that were written are remembered" {
    for threads in 1 2 5; do
        rm -f s.petal
        petal seen -f s.petal -n 150k -p 1e-4 </dev/null
        is "$(fail_at 400 --threads $threads lines)" 2
        is "$(cat message)" "petal: standard output: File too large"
        is "$(wc -c <out)" 409598 # the limit is 409,600, but an incomplete line is removed
        delivered=$(wc -l <out)
        is "$(head -n "$delivered" lines | petal check -v -c s.petal)" 0
        petal seen -f s.petal lines >rest
        head -n "$delivered" out | cat - rest | grep -vxFf - lines >lost || true
        # A new line is wrongly dropped with a probability of at most 1e-4, so 10 of the 100,001
        # lines plus 5 standard deviations may be lost.
        [ "$(wc -l <lost)" -le 26 ] || fail "lost: $(wc -l <lost)"
        is "$(head -n 1 rest)" "$((100000 + delivered))"
    done
}

@test "a full output does not make it forget lines that earlier runs delivered" {
    seq 1000 | petal seen -f s.petal -n 150k -p 1e-4 >first
    is "$(fail_at 400 lines)" 2
    is "$(petal seen -f s.petal first)" ""
    petal verify s.petal
}

@test "lines that were not delivered are not remembered, even if they repeat" {
    cat lines lines >twice
    petal seen -f s.petal -n 150k -p 1e-4 </dev/null
    is "$(fail_at 400 twice)" 2
    is "$(cat message)" "petal: standard output: File too large"
    delivered=$(wc -l <out)
    is "$(petal seen -f s.petal twice | head -n 1)" "$((100000 + delivered))"
}

@test "if the reader exits in the middle, a rerun prints the rest" {
    set +o pipefail
    petal seen -f s.petal -p 1e-6 -n 150k lines 2>message | head -c 70000 >got
    statuses=("${PIPESTATUS[@]}")
    is "${statuses[0]}" 141
    is "$(cat message)" ""
    petal seen -f s.petal lines >rest
    # head may read more lines than it prints, because it fills its buffer and the pipe holds more
    # lines.
    whole=$(wc -l <got)
    [ "$(wc -l <rest)" -le $((100001 - whole)) ]
    [ "$(head -n 1 rest)" -ge $((100000 + whole)) ]
    is "$(tail -n 1 rest)" 200000
}

@test "lines that are still in the pipe when its reader exits are not remembered" {
    [ "$(uname)" = Linux ] || skip "what a pipe holds can be found out on Linux only"
    mkfifo in out
    "$PETAL" seen -n 1000 -p 1e-6 -f s.petal <in >out 3>&- 2>message &
    running=$!
    exec 4<>in 5<>out
    printf 'first\nsecond\n' >&4
    wait_until eval '[ "$(unread <&5)" = 13 ]'
    is "$(head -c 6 <&5)" first
    exec 5<&-
    status=0
    wait $running || status=$?
    is $status 141
    exec 4>&-
    is "$(cat message)" ""
    is "$(printf 'first\nsecond\n' | petal seen -f s.petal)" second
}

@test "lines still in the pipe are not remembered either if the reader exits after the end of the input" {
    [ "$(uname)" = Linux ] || skip "what a pipe holds can be found out on Linux only"
    mkfifo out
    printf 'first\nsecond\n' >lines
    exec 5<>out
    "$PETAL" seen -n 1000 -p 1e-6 -f s.petal <lines >out 2>message 5<&- &
    running=$!
    wait_until eval '[ "$(unread <&5)" = 13 ]'
    is "$(head -c 6 <&5)" first
    exec 5<&-
    status=0
    wait $running || status=$?
    is $status 0
    is "$(cat message)" ""
    is "$(petal seen -f s.petal <lines)" second
}

@test "after a signal, all printed lines are remembered if the reader reads on" {
    mkfifo in
    "$PETAL" seen -n 1000 -f s.petal <in >out 3>&- &
    running=$!
    exec 4<>in
    seq 100 >&4
    wait_until grep -qx 100 out
    kill -TERM $running
    wait $running || true
    exec 4>&-
    is "$(seq 100 | petal check -c s.petal)" 100
}

@test "after kill -9 in the middle of a stream, a rerun prints everything that was not saved" {
    seq 10 | petal seen -f s.petal -n 1000 >first
    mkfifo in
    "$PETAL" seen -f s.petal <in >out 3>&- &
    running=$!
    exec 4<>in
    seq 11 20 >&4
    wait_until grep -qx 20 out
    kill -9 $running
    wait $running || true
    exec 4>&-
    petal verify s.petal
    is "$(seq 20 | petal seen -f s.petal | paste -sd' ')" "11 12 13 14 15 16 17 18 19 20"
}

@test "with -d, remembered lines are printed, so a full output makes it forget nothing" {
    cat lines lines >twice
    petal seen -f s.petal -n 150k -p 1e-4 </dev/null
    is "$(fail_at 400 -d twice)" 2
    is "$(petal seen -d -f s.petal lines | wc -l)" 100001
}

@test "growing filters and windows also remember what was delivered" {
    set +o pipefail
    for options in "-p 1e-4" "-p 1e-4 --window 200k" "-p 1e-4 --window 7d -n 200k --now 1000000"; do
        rm -f s.petal
        petal seen -f s.petal $options lines | head -c 300000 >got
        whole=$(wc -l <got)
        petal seen -f s.petal $options lines >rest
        [ "$(wc -l <rest)" -le $((100001 - whole)) ]
        [ "$(wc -l <rest)" -ge 20000 ]
        is "$(tail -n 1 rest)" 200000
    done
}

@test "if a scheme's keys are longer than a hash, a failed output makes it forget this run and no more" {
    petal create --to datasketches -o s.ds -n 150k -p 1e-4
    seq 10 | petal seen -f s.ds >first
    (
        ulimit -f 400
        exec "$PETAL" seen -f s.ds lines >out 2>message
    ) || true
    is "$(seq 10 | petal seen -f s.ds)" ""
    [ "$(petal seen -f s.ds lines | wc -l)" -ge 99900 ]
}
