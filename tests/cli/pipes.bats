#!/usr/bin/env bats
# pipes.bats - if a command accepts FILE, it can also read the filter from standard input or write
# it to standard output, complete and verified.
load helper

setup() {
    cd "$BATS_TEST_TMPDIR"
    seq 1 1000 >numbers
    seq 500 2000 >others
    petal build -o a.petal numbers
}

@test "a filter that goes through a pipe equals the file" {
    petal build -o - numbers | cmp - a.petal
    petal create -o - -n 1000 >empty.petal
    petal create -o made.petal -n 1000
    cmp empty.petal made.petal
    petal convert a.petal - | cmp - a.petal
    petal convert - again.petal <a.petal
    cmp again.petal a.petal
    petal build --template a.petal -o b.petal others
    petal merge -o ab.petal a.petal b.petal
    petal merge -o - a.petal - <b.petal | cmp - ab.petal
    petal merge -o - - b.petal <a.petal | cmp - ab.petal
}

@test "a filter in a pipe can be queried, described, verified and compared" {
    is "$(petal check - others <a.petal)" "$(petal check a.petal others)"
    is "$(petal check -c - -e 1 -e 2 <a.petal)" 2
    is "$(petal info - <a.petal | sed 1d)" "$(petal info a.petal | sed 1d)"
    contains "$(petal verify - <a.petal)" "intact"
    contains "$(petal compare a.petal - <a.petal)" "The bits are equal"
    head -c 16 /dev/zero >secret
    petal build --secret-file secret -o k.petal numbers
    is "$(petal check --secret-file secret -c - numbers <k.petal)" 1000
}

@test "a filter of another library in a pipe is recognized by all its bytes, or named with --from" {
    petal build --to guava -o f.guava numbers
    run -0 --separate-stderr petal check -c - numbers <f.guava
    is "$output" 1000
    contains "$stderr" "standard input: looks like guava (no other format fits)"
    is "$(petal check --from guava -c - numbers <f.guava)" 1000
    petal convert --from guava --to guava - - <f.guava | cmp - f.guava
}

@test "damage, a truncated stream and an empty stream are refused in one line" {
    finds "standard input: truncated" petal info - < <(head -c 1000 a.petal)
    { head -c 1200 a.petal; printf X; tail -c +1202 a.petal; } >bad.petal
    refuses "standard input: damaged" petal check - numbers <bad.petal
    refuses "standard input: not a filter" petal info - </dev/null
    refuses "standard input: not a filter" petal info - <numbers
    { cat a.petal; echo more; } >long.petal
    finds "standard input: " petal info - <long.petal
}

@test "standard input is read once, for one purpose, and can't be changed" {
    refuses "standard input: was read already; name a file" petal compare - - <a.petal
    refuses "standard input: is the filter; name the files of the keys, or use -e" petal check - <a.petal
    refuses "standard input: is the filter" petal check - numbers - <a.petal
    refuses "standard input: cannot be changed in place; name a file" petal add - -e 1 <a.petal
    refuses "name a file" petal seen -f - numbers
}

@test "a full disk after the pipe is an error" {
    [ -e /dev/full ] || skip "this machine has no /dev/full"
    fill() { petal build -o - numbers >/dev/full; }
    run -2 --separate-stderr fill
    is "$stderr" "petal: standard output: No space left on device"
}

@test "a filter is never written to a terminal" {
    needs script
    run script -qec "'$PETAL' build -o - numbers" /dev/null
    contains "$output" "standard output: is a terminal; redirect it, or name a file"
}
