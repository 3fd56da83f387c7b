#!/usr/bin/env bats
# verify.bats - petal verify finds all damage and all missing members, and measures the
# false-positive rate.
load helper

setup() {
    mkdir "$BATS_TEST_TMPDIR/here" && cd "$BATS_TEST_TMPDIR/here" || return
    seq 10000 >in
    seq 1000001 1050000 >out
    petal build -p 1% -o f.petal in
}

@test "an undamaged file is intact" {
    run -0 --separate-stderr petal verify f.petal
    is "$output" "f.petal: intact, content id $(petal info --json f.petal | field content_id)"
    is "$stderr" ""
}

@test "--present finds all members; if one is missing, the status is 1" {
    run -0 petal verify f.petal --present in
    is "${lines[1]}" "present: 10,000 of 10,000 keys found"
    { head -n 41 in; printf 'stranger\nstrange too\n'; } >mixed
    run -1 --separate-stderr petal verify f.petal --present mixed
    is "$stderr" 'petal: f.petal: 2 of 43 keys missing, the first is line 42, "stranger" of mixed: not the filter of these keys'
    run -0 petal verify f.petal --present - <in
}

@test "--absent measures the rate, and its interval contains the predicted rate" {
    run -0 petal verify f.petal --absent out
    [[ ${lines[1]} =~ ^"absent: "[0-9]+" of 50,000 keys pass: "[01]\.[0-9]+" % (95 % interval "[01]\.[0-9]+" % to "1\.[0-9]+" %), predicted "[01]\.[0-9]+" %"$ ]]
    json=$(petal verify f.petal --absent out --json)
    # Of the 50,000 absent keys, the number found must be within 5 standard deviations of the
    # predicted number.
    awk -v found="$(field absent_found <<<"$json")" -v rate="$(field estimated_rate <<<"$json")" \
        'BEGIN { mean = 50000 * rate; d = found - mean; exit !(d * d <= 25 * mean * (1 - rate)) }'
    awk -v l="$(field measured_rate_low <<<"$json")" -v m="$(field measured_rate <<<"$json")" \
        -v h="$(field measured_rate_high <<<"$json")" 'BEGIN { exit !(0 < l && l < m && m < h && h < 1) }'
}

@test "the interval is Wilson's: 0 of 100 gives 0 to 3.7 %, 100 of 100 gives 96.3 % to 1" {
    petal create -o empty.petal -n 100
    head -n 100 out >hundred
    json=$(petal verify empty.petal --absent hundred --json)
    is "$(field measured_rate_low <<<"$json")" 0
    is "$(field measured_rate_high <<<"$json" | cut -c1-6)" 0.0369
    petal build -o full.petal hundred
    json=$(petal verify full.petal --absent hundred --json)
    is "$(field measured_rate_low <<<"$json" | cut -c1-5)" 0.963
    is "$(field measured_rate_high <<<"$json")" 1
}

@test "no absent keys, or no such file, is an error" {
    run -2 --separate-stderr petal verify f.petal --absent /dev/null
    contains "$stderr" "/dev/null: has no keys; nothing was measured"
    run -2 --separate-stderr petal verify f.petal --present missing
    is "$stderr" "petal: missing: cannot open it: No such file or directory"
}

@test "several files are verified one after another; a bad file makes the status 1, an unreadable one 2" {
    cp f.petal g.petal
    flip g.petal 5000 10
    run -1 --separate-stderr petal verify f.petal g.petal f.petal
    is "${#lines[@]}" 2
    is "${#stderr_lines[@]}" 1
    contains "$stderr" "petal: g.petal: damaged at byte"
    run -1 petal verify --json g.petal
    run -2 petal verify no-such.petal g.petal f.petal
    run -2 petal verify g.petal no-such.petal f.petal
    refuses "take one FILE" petal verify f.petal g.petal --present in
}

@test "in a small file every damaged byte is found: always by verify, and if it is in the header, also when opening" {
    petal create -o tiny.petal --scheme classic --bits 11 --hashes 2 --seed 197072
    printf 'a\nb\n' | petal add tiny.petal
    size=$(stat -c %s tiny.petal)
    is $size 1152
    masks=(01 02 04 08 10 20 40 80)
    cp tiny.petal bad.petal
    step=$(nightly_step 13) # the step is odd, so that every mask is used
    for ((i = 0; i < size; i += step)); do
        flip bad.petal $i ${masks[i % 8]}
        status=0
        message=$("$PETAL" verify bad.petal 2>&1 >/dev/null) || status=$?
        ((status == 1 || status == 2)) || fail "byte $i, bit ${masks[i % 8]}: status $status"
        [[ $message == "petal: bad.petal: "* && $message != *$'\n'* ]] || fail "byte $i: $message"
        if ((i < 1024)); then ! "$PETAL" check -q bad.petal -e a 2>/dev/null || fail "byte $i: opened"; fi
        flip bad.petal $i ${masks[i % 8]}
    done
    cmp tiny.petal bad.petal
}

@test "every truncation of a small file is refused in one line" {
    petal create -o tiny.petal --scheme classic --bits 11 --hashes 2
    size=$(stat -c %s tiny.petal)
    step=$(nightly_step 13)
    for ((i = 0; i < size; i += step)); do
        head -c $i tiny.petal >cut.petal
        status=0
        message=$("$PETAL" info cut.petal 2>&1 >/dev/null) || status=$?
        ((status == 1 || status == 2)) || fail "cut to $i bytes: status $status"
        [[ $message == "petal: cut.petal: "* && $message != *$'\n'* ]] || fail "cut to $i bytes: $message"
    done
}

@test "--recover does not change a clean file" {
    cp f.petal before
    run -0 --separate-stderr petal verify --recover f.petal
    is "$stderr" ""
    cmp f.petal before
}

@test "a file of another library can only be plausible, which is not a failure" {
    seq 100 >keys
    for format in guava datasketches bits-and-blooms-json redisbloom leveldb; do
        rm -f f
        petal build --to $format -o f -n 1000 keys
        run -0 --separate-stderr petal verify --from $format f --present keys
        is "${lines[0]}" "f: looks like a valid $format file; this format has no checksums"
        is "$stderr" ""
    done
}
