#!/usr/bin/env bats
# threads.bats - the tool writes the same bytes in the same order, with the same messages, for any
# number of threads.
#
# An input block is 256 KiB, and threads start only when full blocks arrive. So the inputs in these
# tests consist of many blocks.
load helper

# Writes 400,000 lines (2.9 MB) in two overlapping ranges. 300,000 of the lines are distinct.
make_numbers() {
    seq 1 200000 >numbers
    seq 100001 300000 >>numbers
}

@test "seen prints what awk prints, from a file, a pipe and several files; -d prints the rest" {
    make_numbers
    awk '!s[$0]++' numbers >new
    awk 's[$0]++' numbers >repeats
    for threads in 1 2 3 8; do
        petal seen -n 300k -p 1e-9 --threads $threads numbers | cmp - new
        cat numbers | petal seen -n 300k -p 1e-9 --threads $threads | cmp - new
        petal seen -n 300k -p 1e-9 --threads $threads new numbers new | cmp - new
        petal seen -n 300k -p 1e-9 --threads $threads -d numbers | cmp - repeats
    done
    petal seen -n 300k -p 1e-9 numbers | cmp - new
}

@test "seen drops the same lines and remembers the same bits" {
    make_numbers
    petal seen -n 100k -p 10% --threads 1 -f one.petal numbers >one 2>/dev/null
    for threads in 2 5; do
        petal seen -n 100k -p 10% --threads $threads -f $threads.petal numbers 2>/dev/null |
            cmp - one
        cmp one.petal $threads.petal
    done
    [ "$(wc -l <one)" -lt 300000 ] # false positives were dropped
}

@test "check prints the lines that grep prints, with their numbers" {
    make_numbers
    seq 150001 2 250000 >odd
    petal build -p 1e-9 -o odd.petal odd
    awk 'NR == FNR { in_set[$0]; next } $0 in in_set { print FNR ":" $0 }' odd numbers >numbered
    sed 's/.*://' numbered >found
    awk 'NR == FNR { in_set[$0]; next } !($0 in in_set)' odd numbers >absent
    for threads in 1 2 3 8; do
        petal check --threads $threads odd.petal numbers | cmp - found
        petal check --threads $threads -n odd.petal numbers | cmp - numbered
        petal check --threads $threads -n odd.petal - <numbers | cmp - numbered
        petal check --threads $threads -v odd.petal numbers | cmp - absent
        is "$(petal check --threads $threads -c odd.petal numbers numbers)" $((2 * $(wc -l <found)))
        petal check --threads $threads -q odd.petal numbers
    done
}

@test "build and add write the same bytes" {
    make_numbers
    for threads in 1 2 7; do
        petal build --threads $threads -o counted-$threads.petal numbers
        petal build --threads $threads -n 300k -o planned-$threads.petal numbers
        petal build --threads $threads -n 300k --to dcso -o dcso-$threads numbers
        petal create -n 300k -o added-$threads.petal
        petal add --threads $threads added-$threads.petal numbers
    done
    is "$(petal info --json counted-1.petal | field items)" 300000
    for threads in 2 7; do
        for file in counted-1.petal planned-1.petal dcso-1 added-1.petal; do
            cmp $file ${file/-1/-$threads}
        done
    done
    petal verify added-7.petal --present numbers
}

@test "lines about as long as a block are printed completely" {
    for bytes in 1 262142 262143 262144 262145 262146 1 524287 524288 524289 0 1048577 3 700000; do
        head -c $bytes /dev/zero | tr '\0' "$((bytes % 10))"
        echo
    done >long
    for i in 1 2 3; do cat long; seq $((i * 1000)) $((i * 1000 + 999)); done >lines
    awk '!s[$0]++' lines >new
    for threads in 1 2 4; do
        petal seen -p 1e-9 --threads $threads lines | cmp - new
        cat lines | petal seen -p 1e-9 --threads $threads | cmp - new
        tr '\n' '\0' <lines | petal seen -0 -p 1e-9 --threads $threads | tr '\0' '\n' | cmp - new
        sed 's/$/\r/' lines | petal seen --crlf -p 1e-9 --threads $threads | tr -d '\r' | cmp - new
        head -c -1 lines | petal seen -p 1e-9 --threads $threads | cmp - new
    done
    petal build -o long.petal -p 1e-9 lines
    petal check -c long.petal lines >count
    is "$(cat count)" "$(wc -l <lines)"
}

@test "a block of empty lines also works" {
    head -c 600000 /dev/zero | tr '\0' '\n' >empty
    petal build -o f.petal empty
    is "$(petal info --json f.petal | field items)" 1
    petal check --threads 3 f.petal empty | cmp - empty
    is "$(petal seen empty | wc -l)" 1
}

@test "lines before an invalid value are answered, later ones are not, and the value is named" {
    { seq 1 100000; echo x; seq 1 100000; } >numbers
    seq 1 100000 >good
    petal build --key-type i64 -o f.petal good
    for threads in 1 2 6; do
        run -2 --separate-stderr \
            petal check --threads $threads --key-type i64 f.petal numbers missing
        is "$(wc -l <<<"$output")" 100000
        cmp - good <<<"$output"
        is "${#stderr_lines[@]}" 1
        contains "$stderr" "numbers: line 100001: "
    done
}

@test "check skips missing files, and keeps the order of the others" {
    make_numbers
    petal build -o f.petal numbers
    for threads in 1 3; do
        run -2 --separate-stderr petal check --threads $threads f.petal numbers missing numbers
        is "${#stderr_lines[@]}" 1
        contains "$stderr" "missing: cannot open it"
        cmp <(cat numbers numbers) - <<<"$output"
    done
}

@test "typed keys, and a foreign filter that accepts no hashes, give the same results" {
    make_numbers
    for threads in 1 4; do
        petal build --threads $threads --key-type i64 -n 300k --to guava \
            -o guava-$threads numbers
        petal check --threads $threads --from guava --key-type i64 guava-$threads numbers |
            cmp - numbers
    done
    cmp guava-1 guava-4
}

@test "if the input fails within a line, earlier lines are answered, and the failure is reported" {
    # The other end of the socket is closed while it has unread bytes, so reading returns the data
    # and then fails with ECONNRESET.
    run -2 --separate-stderr perl -MSocket -e 'socketpair(A, B, AF_UNIX, SOCK_STREAM, 0) or die;
        syswrite B, "one\ntwo\nthr"; syswrite A, "x"; close B; open STDIN, "<&A" or die; exec @ARGV' "$PETAL" seen -n 10
    is "$output" $'one\ntwo'
    is "${#stderr_lines[@]}" 1
    contains "$stderr" "standard input: cannot read it"
}

@test "a full disk, or a reader that exits, ends all threads" {
    make_numbers
    petal build -o f.petal numbers
    run -2 --separate-stderr bash -c '"$1" check --threads 4 f.petal numbers >/dev/full' bash "$PETAL"
    contains "$stderr" "standard output"
    run bash -c 'set -o pipefail; "$1" check --threads 4 f.petal numbers numbers numbers | head -n 1' bash "$PETAL"
    is "$output" 1
}

@test "--threads accepts any number that is at least 1, even a large one" {
    refuses "--threads 0" petal seen --threads 0
    is "$(seq 3 | petal seen --threads 1000000 | wc -l)" 3
}
