#!/usr/bin/env bats
# plan.bats - petal plan reports a filter's size and false-positive rate, and what happens if the
# filter is overfilled, as text, as JSON and as a chart.
load helper

@test "the table for 100 million keys at 1 % equals the one in the documentation" {
    run -0 --separate-stderr petal plan -n 100M -p 1%
    is "$stderr" ""
    is_as_expected plan-100M.txt
}

@test "plan --json prints one object per scheme, the default first, with the names of info --json" {
    run -0 --separate-stderr petal plan -n 100M -p 1% --json
    is "${#lines[@]}" 3
    output=$(sed 's/\(_rate":[0-9.]\{8\}\)[0-9]*/\1/' <<<"$output") # the C library's exp() determines the last digits
    is_as_expected plan-100M.json
    petal create -o f.petal -n 1000
    for name in $(petal plan -n 100M --json | head -n 1 | grep -o '"[a-z_]*":' | tr -d '":'); do
        petal info --json f.petal | grep -q "\"$name\":" || fail "info has no $name"
    done
}

@test "5 billion keys are planned immediately, with bytes, k and rate for each scheme" {
    run -0 petal plan -n 5e9 -p 1%
    contains "${lines[1]}" "blocked    5.781 GiB       9.93    6"
    contains "${lines[2]}" "classic    5.584 GiB       9.59    7"
}

@test "create makes the filter that plan describes" {
    for scheme in blocked classic; do
        for options in '-n 1000 -p 1%' '-n 12345 -p 1e-6' '-n 1 -p 50%' '-n 5000 --memory 4KiB' '-n 100 --bits 1000' \
            '-n 100 --bits 1000 --hashes 3' '--memory 10kB' '--memory 10kB -p 0.1%'; do
            petal create --force -o f.petal --scheme $scheme $options
            for name in scheme bits hashes bytes capacity target_rate predicted_rate; do
                is "$(petal plan --json --scheme $scheme $options | field $name)" "$(petal info --json f.petal | field $name)"
            done
        done
    done
}

@test "--memory with -n gives the rate, and with -p the number of keys" {
    run -0 petal plan -n 1M --memory 1MiB
    contains "${lines[0]}" "rate at 1M"
    contains "${lines[1]}" "1 MiB"
    run -0 petal plan --memory 1MiB -p 0.1%
    contains "${lines[0]}" "keys at 0.1 %"
    for scheme in blocked classic; do
        plan=$(petal plan --json --scheme $scheme --memory 1MiB -p 0.1%)
        [ "$(field bytes <<<"$plan")" -le 1048576 ]
        keys=$(field capacity <<<"$plan")
        [ "$(petal plan --json --scheme $scheme -n $((keys + keys / 1000)) -p 0.1% | field bytes)" -gt 1048576 ]
    done
}

@test "the planned rate is kept: at capacity the predicted rate is at most the requested one" {
    for keys in 10 1000 1M 1G; do
        for rate in 0.3 0.01 0.0001; do
            petal plan --json -n $keys -p $rate | while read -r line; do
                awk -v a="$(field predicted_rate <<<"$line")" -v b=$rate 'BEGIN { exit !(a > 0 && a <= b) }'
            done
        done
    done
}

@test "sizes that contradict each other are refused, and the message says what to do" {
    refuses "plan: two of -n, -p and --memory fix the third" petal plan -n 1M -p 1% --memory 1MiB
    refuses "plan: how many keys? give -n KEYS" petal plan
    refuses "plan: how many keys? give -n KEYS" petal plan -p 1%
    refuses "give -n KEYS too" petal plan --bits 100 --hashes 3
    refuses "create: --bits fixes the size; leave out -p and --memory" petal create -o x --bits 100 --hashes 3 -p 1%
    refuses "create: --bits needs --hashes, or -n" petal create -o x --bits 100
    refuses "--lines-per-key is 1 or 2" petal plan -n 5 --lines-per-key 3
    refuses "--hashes is at most 64" petal plan -n 5 --hashes 65
    refuses "too few for a classic filter of one key" petal plan --memory 8 --scheme classic
    [ ! -e x ]
}

@test "a rate that no layout reaches is refused, and the message names the lowest one" {
    refuses "no classic filter keeps a rate of 1e-30 for 10 keys; the lowest it reaches is" petal plan -n 10 -p 1e-30
    refuses "no blocked filter keeps a rate of 1e-30 for 10 keys" petal plan -n 10 -p 1e-30 --scheme blocked
    refuses "too few for a" petal plan --memory 8
    refuses "blocked with 2 lines per key takes 2 to 32 hashes, not 40" petal plan -n 10 --lines-per-key 2 --hashes 40
    refuses "the lowest it reaches is" petal create -o x -n 10 -p 1e-30
    [ ! -e x ]
}

@test "impossible numbers of bits are refused, and never wrap around" {
    refuses "2^48 bits" petal create -o x --bits 281474976710657 --hashes 3
    refuses "2^48 bits" petal create -o x --bits 18446744073709551615 --hashes 3 --scheme classic
    run -2 --separate-stderr petal create -o x -n 18446744073709551615 -p 1%
    is "${#stderr_lines[@]}" 1
    [ ! -e x ]
}

@test "if a scheme can't reach the rate, it is left out with a reason, and the other is planned" {
    run -0 --separate-stderr petal plan -n 100 --bits 5000 --hashes 40
    contains "$stderr" "petal: blocked"
    contains "$output" "classic"
}

@test "the line about more keys than planned doesn't repeat itself, and columns never touch" {
    for keys in 1 2 3 4 5 10 1G; do
        run -0 petal plan -n $keys
        line=$(grep 'more keys than planned' <<<"$output")
        is "$(grep -o '   [0-9][0-9.kMG]* ' <<<"$line" | sort | uniq -d)" ""
        ! grep -o '   [0-9][0-9.kMG]* ' <<<"$line" | grep -qx " *$keys " || fail "$line"
    done
    contains "$(petal plan -n 1)" "blocked with more keys than planned:   2 1 in 2.08G   3 1 in 1.12G"
    contains "$(petal plan --bits 10 -n 1e9 --hashes 3)" "64 bytes 0.000000512 "
}

@test "numbers of keys are printed in a form that can be typed again" {
    for keys in 1T 999T; do
        run -0 petal plan -n $keys --bits 1M --hashes 3
        contains "${lines[0]}" "rate at $keys "
    done
    run -0 petal plan -n 1e15 --bits 1M --hashes 3
    contains "${lines[0]}" "rate at 1,000,000,000,000,000 "
}

@test "an impossible number of hashes is refused, and never indexes past a table" {
    for hashes in 17 25 32; do
        refuses "blocked with 1 line per key takes 1 to 16 hashes, not $hashes" \
            petal create -o x -n 1000 -p 1% --lines-per-key 1 --hashes $hashes
    done
    [ ! -e x ]
}

@test "growing to an unreachable rate is refused" {
    refuses "the lowest it reaches is" petal create --grow -o x -n 1000 -p 1e-30
    [ ! -e x ]
}

@test "if no filter with these options fits into --memory, the message says which option is wrong" {
    refuses "blocked takes up to 32 hashes, not 40" petal create -o x --memory 1MB --hashes 40
    refuses "the lowest it reaches is" petal create -o x --memory 1MB -p 1e-30
    [ ! -e x ]
}

@test "if an allocation fails, that is an error, and never a missing row or a smaller filter" {
    case $PETAL_BUILD_DIR in *asan | *ubsan | *tsan) skip "it brings its own malloc" ;; esac
    cc -shared -fPIC -o fail.so -xc - <<'EOF'
#include <stdlib.h>
extern void *__libc_calloc(size_t, size_t);
void *calloc(size_t count, size_t size)
{
    static int left = -1;
    if (left < 0) left = atoi(getenv("FAIL_AT"));
    return left > 0 && --left == 0 ? NULL : __libc_calloc(count, size);
}
EOF
    for options in '-n 1000 -p 1%' '--memory 1MiB'; do
        petal plan $options --json >whole
        for ((at = 1, failed = 0; at < 200; at++)); do
            status=0
            FAIL_AT=$at LD_PRELOAD=$PWD/fail.so petal plan $options --json >out 2>err || status=$?
            if [ $status -eq 0 ]; then
                is "$(<out)" "$(<whole)"
                is "$(<err)" ""
                continue
            fi
            failed=$((failed + 1))
            is $status 2
            is "$(wc -l <err)" 1
            contains "$(<err)" memory
            is "$(<out)" ""
        done
        [ $failed -ge 4 ]
    done
}

@test "--chart draws an SVG with one line per scheme, the design point and labelled axes" {
    petal plan -n 10M -p 1% --chart chart.svg >/dev/null
    is "$(grep -c 'class="curve line[01]" d="M[0-9.]* [0-9.]*L' chart.svg)" 2
    is "$(grep -c '<circle class="ring"' chart.svg)" 1
    for text in '1 in 1' '1 in 100' '1 in 1,000' 10M 30M 'false positives' 'distinct keys in the filter' \
        'prefers-color-scheme:dark'; do
        grep -qF "$text" chart.svg || fail "no $text"
    done
    ! grep -Eq 'https?://[^w]|@import|url\(' chart.svg
    petal plan -n 10M -p 1% --scheme classic --chart one.svg >/dev/null
    is "$(grep -c 'class="curve line[0-9]" d="M[0-9.]* [0-9.]*L' one.svg)" 1
}

@test "--chart is well-formed for plans of any size" {
    for options in '-n 1 -p 50%' '-n 5 -p 1e-9' '-n 1G -p 1e-10' '--memory 1MiB' '-n 1T -p 99%'; do
        petal plan $options --force --chart chart.svg >/dev/null
        tail -n 1 chart.svg | grep -qx '</svg>'
        ! grep -Eiq 'nan|inf[^o]' chart.svg
        is "$(grep -o '<text' chart.svg | wc -l)" "$(grep -o '</text>' chart.svg | wc -l)"
    done
}

@test "--chart replaces a file only with --force" {
    echo precious >chart.svg
    refuses "chart.svg: exists; --force replaces it" petal plan -n 10 --chart chart.svg
    is "$(cat chart.svg)" precious
    petal plan -n 10 --chart chart.svg --force >/dev/null
    grep -q '<svg' chart.svg
    is "$(ls)" chart.svg
}
