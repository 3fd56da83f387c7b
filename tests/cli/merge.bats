#!/usr/bin/env bats
# merge.bats - petal merge produces exactly the filter of all the keys, and petal intersect keeps
# every common key.
load helper

setup() {
    mkdir "$BATS_TEST_TMPDIR/here" && cd "$BATS_TEST_TMPDIR/here" || return
    for part in 1 2 3; do
        seq $((part * 1000 - 999)) $((part * 1000 + 500)) | petal build -n 5000 -o $part.petal
    done
}

@test "merged parts equal the filter built at once, in any order" {
    seq 3500 | petal build -n 5000 -o whole.petal
    petal merge -o a.petal 1.petal 2.petal 3.petal
    petal merge -o b.petal 3.petal 1.petal 2.petal
    is "$(petal info --json a.petal | field content_id)" "$(petal info --json whole.petal | field content_id)"
    is "$(petal info --json b.petal | field content_id)" "$(petal info --json whole.petal | field content_id)"
    is "$(petal info --json a.petal | field items)" 4500
    petal verify a.petal
}

@test "one filter merged gives the same filter, and the inputs are unchanged" {
    cp 1.petal copy
    petal merge -o a.petal 1.petal
    is "$(petal info --json a.petal | field content_id)" "$(petal info --json 1.petal | field content_id)"
    petal merge --force -o 1.petal 1.petal 2.petal
    is "$(seq 2500 | petal check -c 1.petal)" 2500
    ! cmp -s 1.petal copy
}

@test "the intersection has all common keys and few others" {
    petal intersect -o both.petal 1.petal 2.petal
    is "$(seq 1001 1500 | petal check -c both.petal)" 500
    # Each of these keys is in one of the filters and passes if it is a false positive of the other
    # filter: at most 1 % of 1,000 keys plus 5 standard deviations.
    [ "$(seq 1 1000 | petal check -c both.petal)" -le $((10 + 5 * 3 + 1)) ]
}

@test "filters that differ are not merged: the message names the parameter, and nothing is written" {
    petal create -o p.petal -n 5000 -p 2%
    petal create -o s.petal -n 5000 --seed 1
    petal create -o c.petal -n 5000 --scheme classic
    petal create -o k.petal -n 5000 --hashes 4
    echo 000102030405060708090a0b0c0d0e0f >secret
    petal create -o keyed.petal -n 5000 --secret-file secret
    bits=$(petal info --json 1.petal | field bits)
    refuses "p.petal: cannot merge with 1.petal (they differ in bits ($bits against " petal merge -o o.petal 1.petal p.petal
    refuses "s.petal: cannot merge with 1.petal (they differ in seed (0 against 1)" petal merge -o o.petal 1.petal s.petal
    refuses "c.petal: cannot merge with 1.petal (they differ in scheme (blocked against classic)" petal merge -o o.petal 1.petal c.petal
    refuses "k.petal: cannot intersect with 1.petal (they differ in" petal intersect -o o.petal 1.petal k.petal
    refuses "keyed.petal: needs the secret with id" petal merge -o o.petal 1.petal keyed.petal
    [ ! -e o.petal ]
}

@test "keyed filters can be merged with their secret" {
    head -c 16 /dev/zero >secret
    for part in 1 2; do seq $part | petal build -n 10 --secret-file secret -o k$part.petal; done
    petal merge --secret-file secret -o o.petal k1.petal k2.petal
    is "$(petal check --secret-file secret -c o.petal -e 1 -e 2)" 2
}

@test "a damaged or missing part, or an existing output, stops the merge before anything is written" {
    cp 2.petal bad.petal
    flip bad.petal 3000 01
    refuses "bad.petal: damaged at byte" petal merge -o o.petal 1.petal bad.petal
    refuses "bad.petal: damaged at byte" petal merge -o o.petal bad.petal 1.petal
    refuses "missing: cannot open it" petal merge -o o.petal 1.petal missing
    refuses "3.petal: exists; --force" petal merge -o 3.petal 1.petal 2.petal
    [ ! -e o.petal ]
}

@test "if a merged filter exceeds its plan, a message says so" {
    seq 5001 12000 | petal build -n 5000 -o more.petal 2>/dev/null
    run -0 --separate-stderr petal merge -o o.petal 1.petal 2.petal 3.petal more.petal
    contains "$stderr" "petal: o.petal: holds 10."
    contains "$stderr" "planned for 5,000: rate now"
}
