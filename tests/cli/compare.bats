#!/usr/bin/env bats
# compare.bats - petal compare reports how the keys of two filters overlap, with intervals that
# contain the true values, and refuses filters that can't be compared.
load helper

setup() {
    mkdir "$BATS_TEST_TMPDIR/here" && cd "$BATS_TEST_TMPDIR/here" || return
    seq -f 'user-%.0f' 1 30000 | petal build -n 50000 -o a.petal
    seq -f 'user-%.0f' 20001 60000 | petal build -n 50000 -o b.petal
}

# between JSON NAME TRUTH: checks that the interval contains both the true value and the estimate.
between() {
    awk -v value="$(field "$2" <<<"$1")" -v low="$(field "$2_low" <<<"$1")" -v high="$(field "$2_high" <<<"$1")" -v truth="$3" \
        'BEGIN { exit !(low <= truth && truth <= high && low <= value && value <= high) }' || fail "$2 is not about $3: $1"
}

@test "people get a table and a sentence" {
    run -0 --separate-stderr petal compare a.petal b.petal
    is "$stderr" ""
    is_as_expected compare.txt
}

# The intervals have a confidence of 95 %, so one test in 20 would fail if its keys were chosen at
# random. tests/stat/overlap.c tests the coverage of the intervals.
@test "programs get the numbers with their intervals, and every interval contains the true value" {
    run -0 --separate-stderr petal compare --json a.petal b.petal
    is "${#lines[@]}" 1
    between "$output" items_a 30000
    between "$output" items_b 40000
    between "$output" union 60000
    between "$output" intersection 10000
    between "$output" jaccard 0.1666667
    between "$output" containment 0.3333333
    between "$output" containment_of_b 0.25
    is "$(field saturated <<<"$output")" false
    is "$(field file_a <<<"$output")" a.petal
}

@test "the order of the two filters changes only their names" {
    one=$(petal compare --json a.petal b.petal) other=$(petal compare --json b.petal a.petal)
    for name in union intersection jaccard jaccard_low; do is "$(field $name <<<"$one")" "$(field $name <<<"$other")"; done
    is "$(field containment <<<"$one")" "$(field containment_of_b <<<"$other")"
}

@test "equal, contained, disjoint, empty and full filters are described with these words" {
    seq -f 'user-%.0f' 1 1000 | petal build --template a.petal -o part.petal
    seq 100001 120000 | petal build --template a.petal -o far.petal
    petal create --template a.petal -o empty.petal
    contains "$(petal compare a.petal a.petal)" "the keys of a.petal and a.petal are probably the same"
    contains "$(petal compare part.petal a.petal)" "all keys of part.petal are in a.petal"
    contains "$(petal compare a.petal part.petal)" "all keys of part.petal are in a.petal"
    contains "$(petal compare a.petal far.petal)" "may have no key in common; at most about"
    contains "$(petal compare a.petal empty.petal)" "An empty filter shares no keys."
    is "$(petal compare --json a.petal empty.petal | field containment_of_b)" null
    petal create --bits 512 --hashes 4 -o full.petal
    seq 10000 | petal add full.petal
    contains "$(petal compare full.petal full.petal)" "what they share is unknown"
    is "$(petal compare --json full.petal full.petal | field jaccard)" null
    is "$(petal compare --json full.petal full.petal | field jaccard_high)" 1
    is "$(petal compare --json full.petal full.petal | field saturated)" true
}

@test "filters that differ in a parameter are refused, and the parameter is named" {
    seq 10 | petal build -n 50000 -p 0.1% -o p.petal
    seq 10 | petal build -n 50000 --seed 7 -o s.petal
    seq 10 | petal build -n 50000 --scheme classic -o c.petal
    refuses "p.petal: cannot compare with a.petal (they differ in bits (" petal compare a.petal p.petal
    refuses "s.petal: cannot compare with a.petal (they differ in seed (0 against 7))" petal compare a.petal s.petal
    refuses "c.petal: cannot compare with a.petal (they differ in scheme" petal compare --json a.petal c.petal
    refuses "needs two filters" petal compare a.petal
    refuses "needs two filters" petal compare a.petal b.petal p.petal
    refuses "missing: cannot open it" petal compare a.petal missing
}

@test "filters of other libraries can be compared too" {
    seq 1 3000 | petal build --to guava -n 5000 -p 1% -o a.guava
    seq 1001 5000 | petal build --template a.guava -o b.guava 2>/dev/null
    is "$(wc -c <a.guava)" "$(wc -c <b.guava)"
    between "$(petal compare --json --from guava a.guava b.guava)" intersection 2000
}

@test "keyed filters can be compared if their secret is given" {
    head -c 16 /dev/zero >secret
    for part in 1 2; do seq $part | petal build -n 10 --secret-file secret -o k$part.petal; done
    between "$(petal compare --json --secret-file secret k1.petal k2.petal)" intersection 1
    refuses "needs the secret" petal compare k1.petal k2.petal
}
